"""The partner of Hamabe 2017 with each of its techniques switched over: what gains, what costs."""

from collections.abc import Iterator, Mapping
from typing import Final

from mjbot.arena.runs import Run
from mjbot.game.statistics.estimate_text import format_estimate
from mjbot.game.statistics.markdown import head, row
from papers.experiments import ExperimentContext
from papers.hamabe2017.sums import (
    BEST_RANK,
    DEAL_INS,
    PARTNER,
    RANK,
    SCORE_SUM,
    TO_RIVALS,
    TOP,
    WINS,
    Sums,
    difference,
    run_of,
    wall_sums,
)

SWITCHES: Final[Mapping[str, tuple[str, str]]] = {
    "sashikomi": ("yes", "no"),
    "nakase": ("yes", "no"),
    "dora_fuyashi": ("yes", "no"),
    "spare_ally": ("yes", "no"),
    "own_calls": ("yes", "no"),
    "leader_caution": ("4.0", "0"),
    "caution": ("1.0", "0"),
}
"""The partner's techniques: value by default and the other one."""
OFF: Final = {name: "0" if "caution" in name else "no" for name in SWITCHES}

SWITCHED: Final = (SCORE_SUM, BEST_RANK, WINS, DEAL_INS, RANK, TO_RIVALS)


MATES: Final[Mapping[str, str | None]] = {
    "switches": TOP,
    "switches-of-two": None,
    "each-alone": TOP,
}
"""Part -> the mate of the partner whose techniques are switched; ``None``: its like."""
ONLY_WITH: Final[Mapping[str, str | None]] = {"leader_caution": TOP, "caution": None}
"""Switches that have an effect only with this mate."""


def play_switches(request: ExperimentContext, mate: str | None) -> Iterator[str]:
    """Play the default pair and each technique switched over, or none and each alone."""
    alone = request.part == "each-alone"
    runs = list(_runs(request, mate, alone))
    played = zip(runs, map(wall_sums, request.arenas(runs)), strict=True)
    _, start = next(played)
    yield f"{mate or 'its like'} + {PARTNER}, {int(start['games'].sum())} hanchan each."
    yield ""
    yield from head(["", *[figure.label for figure in SWITCHED]])
    yield _row(runs[0].label, start)
    for run, sums in played:
        yield _row(run.label, sums, start)


def _runs(request: ExperimentContext, mate: str | None, alone: bool) -> Iterator[Run]:
    """Yield what the others are compared with, then these."""
    yield _run(request, "none" if alone else "default", mate, OFF if alone else {})
    if not alone:
        yield _run(request, "none, less default", mate, OFF)
    for switch, values in SWITCHES.items():
        if ONLY_WITH.get(switch, mate) != mate:
            continue
        (on,) = set(values) - {OFF[switch]}
        changes = {**OFF, switch: on} if alone else {switch: values[1]}
        label = f"only {switch}, less none" if alone else f"{switch}={values[1]}, less default"
        yield _run(request, label, mate, changes)


def _run(
    request: ExperimentContext, label: str, mate: str | None, changes: Mapping[str, str]
) -> Run:
    """Return the run of a partner with these options, with ``mate`` or its like."""
    player = ",".join([PARTNER, *[f"{name}={value}" for name, value in changes.items()]])
    return run_of(request, label, (mate or player, player))


def _row(label: str, sums: Sums, less: Sums | None = None) -> str:
    cells = []
    for figure in SWITCHED:
        estimate = figure.estimate(sums) if less is None else difference(figure, sums, less)
        cells.append(format_estimate(estimate, figure.kind, signed=less is not None))
    return row([label, *cells])
