"""How well and how soon ``mjbot detect`` finds known pairs, and its false positives.

``pairs``: how early known pairs rank first, and how early they are caught.  ``honest``: how often
tables of independent players, and people's games combined at random, are accused.  ``live``:
after how many games ``mjbot serve --watch-for-pairs`` reports which pairs.  ``all`` is all three.

Every table is a run of the arena with records in a folder of its own below ``--out``, next to the
counts of its games.  ``--games`` is the number of judged games of each table, ``--records`` are
games of people that were not used in training.  Without them there is no comparison with unrelated
players.
"""

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from rich.console import Console

from mjbot.analysis.collusion.games import Models
from mjbot.analysis.collusion.hidden import Floats
from mjbot.analysis.collusion.verdicts import OF_PLAYERS, shipped_weights
from mjbot.game.statistics.estimates import Estimate
from mjbot.game.statistics.markdown import head, row
from mjbot.game.statistics.origin import origin_of
from mjbot.learning.training.requests import players_field
from mjbot.runtime.progress import Step, progress
from mjbot.runtime.requests import option
from papers import PROGRAM
from papers.detection import judging, tables
from papers.detection.judging import LEVELS, Judge, shares_below
from papers.detection.tables import (
    TableGames,
    TableKind,
    count_table,
    count_unrelated,
    run_of,
)
from papers.experiments import ExperimentContext, ExperimentRequest

SUMMARY: Final = "how well and how soon pairs are found in records, and the false positives"
GAMES: Final = 96
"""Of each table; of the first honest one twice as many."""
PARTS: Final = ("all", "pairs", "honest", "live")

SIZES: Final = (5, 10, 20, 50, 200)
"""Games of a group in which a known pair is searched for."""
HONEST_SIZES: Final = (10, 25, 50, 200)
UNRELATED_SIZES: Final = (5, 10, 25, 50, 200)
BINOMIAL: Final = 1.96


@dataclass(frozen=True, kw_only=True)
class DetectionRequest(ExperimentRequest):
    """Arguments of the experiment."""

    records: Path | None = option(
        None, "people's games, to judge too (default: none)", type=Path, metavar="FILE"
    )
    players: int = players_field()


REQUEST: Final = DetectionRequest


@dataclass(frozen=True)
class Material:
    """What is judged: games of each kind of table, and people's games if there are any.

    ``unrelated`` has the deviates of groups of so many of the ``n_unrelated`` games of people.
    """

    judge: Judge
    played: Mapping[TableKind, TableGames]
    unrelated: Mapping[int, Floats]
    n_unrelated: int


def play(request: ExperimentContext) -> Iterator[str]:
    """Return the tables as lines of Markdown."""
    parts: Mapping[str, Callable[[Material, Step], Iterator[str]]] = {
        "pairs": pairs_table, "honest": honest_table, "live": live_table,
    }  # fmt: skip
    material = gather(request)
    origin = origin_of(_command(request))
    by = f", {origin.version}" if origin.version else ""
    yield f"{origin.date}{by}: `{origin.command}`"
    if not material.n_unrelated and request.part != "live":
        yield ""
        yield "No `--records`: no comparison with people's games."
    for part, table in parts.items():
        if request.part in ("all", part):
            with progress(Console(stderr=True), f"judging: {part}", unit="rows") as step:
                lines = list(table(material, step))
            yield ""
            yield from lines


def gather(request: ExperimentContext) -> Material:
    """Play, count and group what is missing."""
    players = request.own.players
    judge = Judge(shipped_weights(OF_PLAYERS[players]))
    models = {players: judge.weights.model}
    unrelated, n_unrelated = judge_unrelated(judge, models, request)
    every = {"pairs": tables.PAIRS, "honest": tables.HONEST}.get(
        request.part, tables.PAIRS + tables.HONEST
    )
    kinds = [kind for kind in every if kind.players == players]
    outcomes = request.arenas([run_of(table_kind, request) for table_kind in kinds])
    played = {
        table_kind: count_table(table_kind, outcome, models, request)
        for table_kind, outcome in zip(kinds, outcomes, strict=True)
    }
    return Material(judge, played, unrelated, n_unrelated)


def judge_unrelated(
    judge: Judge, models: Models, request: ExperimentContext
) -> tuple[dict[int, Floats], int]:
    """Return the deviates of groups of people's games by size, and how many games there are."""
    path = request.own.records
    if path is None or request.part == "live":
        return {}, 0
    games = count_unrelated(path, models, request)
    wanted = {"pairs": SIZES, "honest": UNRELATED_SIZES}.get(request.part, SIZES + UNRELATED_SIZES)
    sizes = [size for size in sorted(set(wanted)) if len(games) >= 2 * size]
    deviates = {}
    with progress(Console(stderr=True), "judging unrelated players", len(sizes), "sizes") as step:
        for size in sizes:
            deviates[size] = judge.unrelated(games, size)
            step()
    return deviates, len(games)


def pairs_table(material: Material, step: Step) -> Iterator[str]:
    """Yield how well each known pair is found in groups of so many games."""
    yield from head([
        "pair", "games", "AUC against unrelated players", "against the other pairs of its tables",
        "caught at p < 0.01", "0.001", "others there at p < 0.01",
    ])  # fmt: skip
    for table_kind, judged in material.played.items():
        if not table_kind.pair:
            continue
        sizes = [size for size in SIZES if len(judged.games) >= 2 * size]
        if not sizes:
            yield row([str(table_kind), _too_few(judged, SIZES), *["-"] * 5])
        for size in sizes:
            strange = material.unrelated.get(size)
            null = None if strange is None else strange.max(axis=1)
            evidence = material.judge.found(judged, judged.pairs.index(table_kind.pair), size, null)
            step()
            yield row([str(table_kind), str(size), *map(_spelled, evidence)])


def honest_table(material: Material, step: Step) -> Iterator[str]:
    """Yield how often groups of games of the honest are accused, at each level."""
    levels = [f"p < {level:g}" for level in LEVELS]
    yield from head(["honest", "games", *levels, f"most accused, at {levels[0]}"])
    if material.n_unrelated:
        yield from _unrelated_rows(material)
    for table_kind, judged in material.played.items():
        if table_kind.pair:
            continue
        label = f"{table_kind} ({len(judged.games)} hanchan)"
        sizes = [size for size in HONEST_SIZES if len(judged.games) >= 2 * size]
        if not sizes:
            yield row([label, _too_few(judged, HONEST_SIZES), *["-"] * 4])
        for size in sizes:
            shares = material.judge.alarms(judged, size)
            step()
            most = judged.pairs[int(shares[0].argmax())] if shares[0].any() else {"none"}
            yield _alarms_row(f"{label}: most of all pairs", size, shares.max(axis=1), most)
            if table_kind.copies:
                copies = shares[:, judged.pairs.index(table_kind.copies)]
                yield _alarms_row("of these two copies of one", size, copies, table_kind.copies)


def _unrelated_rows(material: Material) -> Iterator[str]:
    many = judging.PSEUDO_PAIRS
    label = f"{many:,} pseudo-pairs of people ({material.n_unrelated} hanchan)"
    for size in UNRELATED_SIZES:
        if size in material.unrelated:
            shares = shares_below(material.judge.weights.p_values(material.unrelated[size]))
            yield row([label, str(size), *[f"{x:.5f}" for x in shares], ""])
    bounds = [(level, BINOMIAL * (level * (1 - level) / many) ** 0.5) for level in LEVELS]
    cells = [f"{max(level - off, 0):.5f}-{level + off:.5f}" for level, off in bounds]
    yield row(["binomial 95 %, were p exact", "", *cells, ""])


def live_table(material: Material, step: Step) -> Iterator[str]:
    """Yield after how many games pairs are reported, and how often other players are."""
    yield from head(["reported in play", "games", "after (median)", "90 %", "false reports, ever"])
    for kind, judged in material.played.items():
        after = material.judge.log_e_values_live(judged)
        is_pair = np.array([pair == kind.pair for pair in judged.pairs])
        wrongly = int(np.isfinite(after[:, ~is_pair]).any(axis=1).sum())
        cells = ["-", "-"]
        if kind.pair:
            middle = [np.quantile(after[:, is_pair], q, method="higher") for q in (0.5, 0.9)]
            never = f"more than {len(judged.games)}"
            cells = [f"{n:.0f}" if np.isfinite(n) else never for n in middle]
        step()
        yield row([str(kind), str(len(judged.games)), *cells, f"{wrongly} of {len(after)} orders"])


def _alarms_row(label: str, size: int, shares: Floats, names: Iterable[str]) -> str:
    cells = [f"{share:.3f}" for share in shares]
    return row([label, str(size), *cells, " + ".join(sorted(names))])


def _too_few(judged: TableGames, sizes: tuple[int, ...]) -> str:
    return f"{len(judged.games)} played, {2 * sizes[0]} are needed"


def _spelled(estimate: Estimate) -> str:
    return "-" if np.isnan(estimate.value) else estimate.text(".3f")


def _command(request: ExperimentContext) -> Iterator[str]:
    """Yield the arguments that give the same tables; locations of files are left out."""
    yield from (PROGRAM, "detection", "--part", request.part)
    yield from ("--games", str(request.games), "--seed", str(request.seed))
    if request.own.players != 4:
        yield from ("--players", str(request.own.players))
    records = request.own.records
    if records and request.part != "live":
        yield from ("--records", shlex.quote(records.name))
