"""Matsuda and Ito 2021: networks learned from records, and their learning environment.

The paper's figures next to those in the manifests of weights, which ``mjbot train`` wrote with
them: nothing is trained here.  The paper gives no intervals and not how common each answer was
among its positions; on natural ones "no" alone has more than its chi and its kan, so the majority
rate is listed next to each agreement, with the figures that "no" alone cannot reach.

*networks*: the five decisions.  *rank*: the rank model.  *curve*: discards by the number of games
learned from, of whatever runs ``curve-GAMES`` are in the folder of ``--out``
(``python -m papers train-networks ... --games 0:GAMES --kinds discard --out FOLDER/curve-GAMES``).
*reinforcement*: greedy play against three of the supervised networks by the number of episodes, of
the runs ``reinforce-NAME`` there (``python -m papers train-reinforce --folder
FOLDER/reinforce-NAME``).
*environment*: hanchan of our own table per second of one core, which is timed here.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from mjbot.game.referee import Referee
from mjbot.game.referee.bulk import RANDOM, play_games
from mjbot.game.rules.ruleset import rule_set
from mjbot.game.statistics.markdown import head, row
from mjbot.learning.models.networks.rank import NAME as RANK
from mjbot.learning.models.weights import SHIPPED, Manifest, WeightsError, load_manifest
from papers.experiments import ExperimentContext, ExperimentError
from papers.matsuda2021.networks import CLASSES, WEIGHTS, weights_name
from papers.matsuda2021.reinforcement import CURVE_FILE, read_curve
from papers.matsuda2021.supervised_paper import SupervisedPaper

SUMMARY: Final = "the five networks, rank model and environment of Matsuda and Ito 2021"
PARTS: Final = ("networks", "rank", "curve", "environment", "reinforcement")
GAMES: Final = {"networks": 1, "rank": 1, "curve": 1, "environment": 2000, "reinforcement": 1}
"""Hanchan to time in the environment; nothing is played in the other parts."""

OURS: Final = "policy"
"""The weights of our own network, if any: what ``mjbot train policy`` calls them."""
PAPER_ACCURACY: Final[Mapping[str, float]] = {
    "discard": 63.5, "riichi": 74.4, "pon": 87.6, "chi": 83.5, "kan": 84.5,
}  # fmt: skip
PAPER_POSITIONS: Final = 800_000
PAPER_ERROR: Final = 0.763
PAPER_STANDS: Final = 1.119
PAPER_HANCHAN_S: Final = 50.0
PAPER_EPISODES: Final = 150_000
NETWORK_SHARE: Final = 200
"""Of so many hanchan at random one by the networks is timed."""
FIGURES: Final = (
    "majority",
    "mean recall",
    "balanced recall",
    "log loss",
    "prior's log loss",
    "auc",
    "top 3",
)
PERCENT: Final = ("accuracy", "majority", "mean recall", "balanced recall", "top 3")
PARTS_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "riichi": ("first chance",),
    "kan": ("ankan", "kakan", "daiminkan"),
}


def play(request: ExperimentContext) -> Iterator[str]:
    """Return the tables of a part as lines of Markdown."""
    match request.part:
        case "rank":
            yield from rank_table(_manifest(RANK, SHIPPED))
        case "curve":
            yield from curve_table(request.folder)
        case "environment":
            yield from environment(request.games, request.seed)
        case "reinforcement":
            yield from reinforcement_table(request.folder)
        case _:
            ours = load_manifest(OURS) if (SHIPPED / f"{OURS}.json").exists() else None
            for kind in CLASSES:
                yield from network_table(kind, _manifest(weights_name(kind), WEIGHTS), ours)
                yield ""


def network_table(kind: str, manifest: Manifest, ours: Manifest | None = None) -> Iterator[str]:
    """Return the table of one decision: a row for each set of games checked with.

    ``ours`` is the manifest of ``mjbot train policy``, if there is one.
    """
    there = [_has(manifest, name) or bool(ours and _has(ours, name, kind)) for name in FIGURES]
    figures = [name for name, known in zip(FIGURES, there, strict=True) if known]
    yield f"{kind}: {manifest.scores.get('rows shown', '?')} positions shown ({manifest.data});"
    yield f"the paper: {PAPER_POSITIONS}"
    yield ""
    yield from head([kind, "positions", "accuracy", "paper", *figures])
    for label in labels(manifest):
        for part in ("", *PARTS_OF.get(kind, ())):
            name = f"{label}, {part}" if part else label
            before = f"{part}: " if part else ""
            paper = "" if part else f"{PAPER_ACCURACY[kind]}"
            yield _network_row(name, paper, manifest, f"{label}: {before}", figures)
            if ours and f"{label}, {kind}: {before}rows" in ours.scores:
                prefix = f"{label}, {kind}: {before}"
                yield _network_row(f"ours, {name}", "", ours, prefix, figures)


def _network_row(
    name: str, paper: str, manifest: Manifest, prefix: str, figures: Sequence[str]
) -> str:
    cells = [name, str(manifest.scores.get(f"{prefix}rows", "?"))]
    cells += [_cell(manifest, prefix, "accuracy"), paper]
    cells += [_cell(manifest, prefix, figure) for figure in figures]
    return row(cells)


def rank_table(manifest: Manifest) -> Iterator[str]:
    """Return the rank model and its controls, by set of games."""
    yield from head(["rank model", "paper", *labels(manifest)])
    share = PAPER_ERROR / PAPER_STANDS
    paper = {
        "as it stands: squared error": f"{PAPER_STANDS:.3f}",
        "the paper's form: squared error": f"{PAPER_ERROR:.3f}",
        "the paper's form: share of as it stands": f"{share:.3f}",
    }
    for name in figures_of(manifest):
        cells = [str(manifest.scores.get(f"{label}: {name}", "-")) for label in labels(manifest)]
        yield row([name, paper.get(name, ""), *cells])


def curve_table(folder: Path) -> Iterator[str]:
    """Return the agreement of discards by games learned from, as far as there are runs."""
    manifests = {}
    for path in folder.glob("curve-*"):
        games = path.name.removeprefix("curve-")
        if games.isdigit():
            manifests[int(games)] = _manifest(weights_name("discard"), path)
    if not manifests:
        problem = "has no runs curve-GAMES; see docs/results/networks.md"
        raise ExperimentError(f"{folder}: {problem}")
    names = labels(manifests[min(manifests)])
    yield from head(["games", "positions shown", *names])
    for number, manifest in sorted(manifests.items()):
        cells = [_cell(manifest, f"{label}: ", "accuracy") for label in names]
        yield row([str(number), str(manifest.scores.get("rows shown", "?")), *cells])


def reinforcement_table(folder: Path) -> Iterator[str]:
    """Return how greedy play got on with the episodes, as far as there are runs."""
    runs = sorted(path.parent for path in folder.glob(f"reinforce-*/{CURVE_FILE}"))
    if not runs:
        problem = "has no runs reinforce-NAME; see docs/results/networks.md"
        raise ExperimentError(f"{folder}: {problem}")
    yield from head(
        ["run", "episodes", "epsilon", "reward", "greedy: reward", "mean rank", "games"]
    )
    yield f"| paper | {PAPER_EPISODES} planned | 1 to 0.01 | | | no result | |"
    for run in runs:
        name = run.name.removeprefix("reinforce-")
        curve = read_curve(run)
        for point in curve:
            reward = f"{point.reward:+.3f}" if point.episode else ""
            rank = f"{point.mean_rank:.3f} ± {(point.high - point.low) / 2:.3f}"
            yield (
                f"| ours, {name} | {point.episode} | {point.epsilon:.2f} | {reward}"
                f" | {point.greedy_reward:+.3f} | {rank} | {point.games} |"
            )
        last = curve[-1]
        speed = last.episode / max(last.processor_s, 1e-9)
        yield (
            f"| ours, {name} | {last.episode} in {last.processor_s:.0f} s of processor | |"
            f" | | {speed:.1f} episodes/s, evaluations included | |"
        )


def environment(games: int, seed: int) -> Iterator[str]:
    """Time hanchan on one core, in seconds of its clock: at random, and by the five networks."""
    yield from head(
        ["environment", "hanchan", "processor s", "s each", "hanchan/s", "times the paper"]
    )
    yield f"| paper | | | {PAPER_HANCHAN_S:.0f} | {1 / PAPER_HANCHAN_S:g} | 1 |"
    for who, n, play_all in (
        ("players at random", games, _play_at_random),
        (
            "four supervised-paper, each queried alone",
            -(-games // NETWORK_SHARE),
            _play_by_networks,
        ),
    ):
        play_all(range(seed, seed + 1))
        started = time.process_time()
        play_all(range(seed, seed + n))
        spent = max(time.process_time() - started, 1e-9)
        yield (
            f"| ours, {who} | {n} | {spent:.2f} | {spent / n:.5f} | {n / spent:.2f}"
            f" | {PAPER_HANCHAN_S * n / spent:.0f} |"
        )


def _play_at_random(seeds: range) -> None:
    policies = np.full(4, RANDOM, np.int8)
    play_games(policies, np.array(seeds, np.int64), rule_set())


def _play_by_networks(seeds: range) -> None:
    for seed in seeds:
        bots = [SupervisedPaper() for _ in range(4)]
        referee = Referee(seed, "hanchan")
        referee.start()
        while asked := referee.asked:
            referee.step({seat: bots[seat].decide(referee.view(seat)) for seat in asked})


# --- figures of manifests ----------------------------------------------------------------------


def labels(manifest: Manifest) -> list[str]:
    """Return the sets of games that weights were checked with."""
    counts = [name for name in manifest.scores if name.endswith(": rows")]
    return [name.removesuffix(": rows") for name in counts if name.count(":") == 1]


def figures_of(manifest: Manifest) -> list[str]:
    """Return the names of the figures of the first set of games, without its rows."""
    first = f"{labels(manifest)[0]}: " if labels(manifest) else "-"
    names = [name.removeprefix(first) for name in manifest.scores if name.startswith(first)]
    return [name for name in names if name != "rows"]


def _manifest(name: str, folder: Path) -> Manifest:
    try:
        return load_manifest(name, folder)
    except WeightsError as error:
        raise ExperimentError(str(error)) from None


def _has(manifest: Manifest, figure: str, kind: str = "") -> bool:
    ending = f", {kind}: {figure}" if kind else f": {figure}"
    return any(name.endswith(ending) and name.count(":") == 1 for name in manifest.scores)


def _cell(manifest: Manifest, prefix: str, figure: str) -> str:
    """Return a figure as ``72.5 ± 0.5``, of those that are shares in per cent.

    >>> scores = {"x: accuracy": "0.7250 [0.7200, 0.7300]"}
    >>> _cell(Manifest(data="", command="", seed=0, scores=scores), "x: ", "accuracy")
    '72.5 ± 0.5'
    """
    text = str(manifest.scores.get(f"{prefix}{figure}", ""))
    if not text:
        return "-"
    value, low, high = (float(part.strip("[],")) for part in text.split())
    if figure in PERCENT:
        return f"{100 * value:.1f} ± {50 * (high - low):.1f}"
    return f"{value:.3f} ± {(high - low) / 2:.3f}"
