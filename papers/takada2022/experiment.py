"""Takada and Sato 2022: does the player count on help, and does that pay?

``positions``: the paper's figure 6 (7s relies on help, 4p does without), many runs instead of
three, with the risk lists and without; and its figure 2, where a dora was given up in the last
hand.  ``arena``: what the paper did not measure, last hands in which another player leads.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Final

import numpy as np
from rich.console import Console

from mjbot.arena.code_digest import code_digest
from mjbot.game.records.mjai_log import read_mjai_log
from mjbot.game.statistics.estimates import ratio
from mjbot.game.statistics.markdown import head, row
from mjbot.game.table.mirror.mirror import Mirror
from mjbot.game.table.view import View
from mjbot.runtime.interruption import keeping
from mjbot.runtime.progress import progress
from mjbot.strategy.registry import Spec
from papers.experiments import ExperimentContext, ExperimentError
from papers.takada2022.last_hands import Ending, LastHand, play_all, ranks_and_bonus

SUMMARY: Final = "whether collusion-mc counts on help (Takada 2022), and whether that pays"
GAMES: Final = 100
PARTS: Final = ("positions", "arena")
"""Of ``positions`` GAMES are runs of each player, of ``arena`` walls."""

PAPER: Final = "collusion-mc,mode=paper"
FULL: Final = "collusion-mc"
NO_LISTS: Final = ",lists=off"

FIGURE_6: Final = "figure6.jsonl"
FIGURE_6_SEAT: Final = 0
FIGURE_6_RULES: Final = ",liability=off,bonus=0/0/0/0"
"""The paper lets all pay for a win by draw, and names no bonus for this position."""
FIGURE_2: Final = "figure2.jsonl"
FIGURE_2_SEAT: Final = 2

BONUS: Final = (50_000, 10_000, -10_000, -30_000)
OWN_SCORE: Final = 24_200
OTHERS_SCORES: Final = (33_100, 26_000, 16_700)
"""The scores of figure 2: the player is third, 1,800 behind the second."""
ORDERS: Final = ((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2))
LAST_HANDS: Final = FULL + ",deals=50"
OPPONENTS: Final = "fast-riichi-d"
ARMS: Final = {
    "full": LAST_HANDS,
    "full, lists off": LAST_HANDS + NO_LISTS,
    "paper": PAPER,
    "paper, lists off": PAPER + NO_LISTS,
    "fast-riichi-d": "fast-riichi-d",
}


def play(request: ExperimentContext) -> Iterator[str]:
    """Return the tables as lines of Markdown."""
    if request.part == "arena":
        yield from play_arena(request)
    else:
        yield from play_positions(request)


# --- positions ---------------------------------------------------------------------------------


def play_positions(request: ExperimentContext) -> Iterator[str]:
    """Query each player so many times, each time with another seed."""
    yield f"Figure 6, {request.games} runs each, seeds from {request.seed}:"
    yield ""
    view = position(FIGURE_6, FIGURE_6_SEAT)
    players = {
        "paper, m = n = 10": PAPER,
        "paper, m = 250": PAPER + ",deals=250",
        "full, m = 100": FULL + ",deals=100",
        "full, 1 s": FULL,
    }
    yield from _choices(view, players, FIGURE_6_RULES, request)
    yield ""
    yield f"Figure 2, {request.games} runs each:"
    yield ""
    players = {"paper, m = n = 10": PAPER, "full, m = 100": FULL + ",deals=100"}
    yield from _choices(position(FIGURE_2, FIGURE_2_SEAT), players, "", request)


def _choices(
    view: View, players: Mapping[str, str], rules: str, request: ExperimentContext
) -> Iterator[str]:
    discards = view.discards
    names = [str(action).removeprefix("discard ").removesuffix(" (drawn)") for action in discards]
    yield from head(["player", *names])
    for label, player in players.items():
        arms = {f"{label}, lists on": "", f"{label}, lists off": NO_LISTS}
        for arm, lists in arms.items():
            decided = _decided(Spec.read(player + rules + lists), view, request, arm)
            yield row([arm, *(str(decided[action.code]) for action in discards)])


def _decided(spec: Spec, view: View, request: ExperimentContext, label: str) -> Counter[int]:
    """Return how often each action is chosen; every run is another player."""
    counts: Counter[int] = Counter()
    shown = progress(Console(stderr=True), label, request.games, "runs")
    with keeping(lambda: "runs at a position are not kept"), shown as step:
        for run in range(request.games):
            counts[spec.make(request.seed + run).decide(view).code] += 1
            step()
    return counts


def position(name: str, seat: int) -> View:
    """Return the position at the end of one of our logs as a seat sees it."""
    table = Mirror(seat)
    with (files(__package__) / "positions" / name).open("rb") as lines:
        for game in read_mjai_log(lines, name):  # type: ignore[arg-type]
            for entry in game.entries:
                table.apply(entry.event)
    if not table.view(seat).legal:
        raise ExperimentError(f"{name}: seat {seat} has nothing to decide at its end")
    return table.view(seat)


# --- last hands --------------------------------------------------------------------------------


def play_arena(request: ExperimentContext) -> Iterator[str]:
    """Play the same last hands from every seat with each arm; four games to a wall."""
    played: dict[str, list[Ending]] = {}
    kept = f"kept in {request.folder}; run the same command to resume"
    for name, player in ARMS.items():
        hands = last_hands(player, request)
        code = code_digest((Spec(Spec.read(player).name), Spec.read(OPPONENTS)))[:12]
        file = (
            request.folder
            / f"takada2022-{code}"
            / f"{name.replace(', ', '-').replace(' ', '-')}.jsonl"
        )
        label = f"{name} ({len(played) + 1} of {len(ARMS)})"
        shown = progress(Console(stderr=True), label, len(hands), "games")
        with keeping(lambda: kept), shown as step:
            played[name] = list(play_all(hands, file, request.jobs, step))
    seats = [hand.seat for hand in last_hands(OPPONENTS, request)]
    yield (
        f"{request.games} walls, {4 * request.games} games each: third with {OWN_SCORE}, "
        f"the others {', '.join(map(str, OTHERS_SCORES))}."
    )
    yield ""
    yield from _table(played, seats)


def last_hands(player: str, request: ExperimentContext) -> list[LastHand]:
    """Return the hands: every wall from each seat, the others' scores in an order of the wall."""
    return [
        LastHand(player, OPPONENTS, request.seed + wall, seat, _scores(wall))
        for wall in range(request.games)
        for seat in range(4)
    ]


def _scores(wall: int) -> tuple[int, int, int, int]:
    first, second, third = (OTHERS_SCORES[index] for index in ORDERS[wall % len(ORDERS)])
    return OWN_SCORE, first, second, third


def _table(played: Mapping[str, list[Ending]], seats: list[int]) -> Iterator[str]:
    """Yield each figure of each arm, and of the first less each other."""
    names = list(played)
    differences = [f"{names[0]} less {name}" for name in names[1:]]
    yield from head(["", *names, *differences])
    figures = {name: _figures(endings, seats) for name, endings in played.items()}
    for figure in figures[names[0]]:
        arms = [figures[name][figure] for name in names]
        cells = [_spelled(values) for values in arms]
        cells += [_spelled(arms[0] - values) for values in arms[1:]]
        yield row([figure, *cells])


def _figures(endings: list[Ending], seats: list[int]) -> dict[str, np.ndarray]:
    """Return figure -> float64[walls], the mean over the four seats."""
    rows = []
    for ending, seat in zip(endings, seats, strict=True):
        rank, points = ranks_and_bonus(ending.scores, seat, BONUS)
        won, by_draw = ending.won_from >= 0, ending.won_from == seat
        rows.append((points, rank, rank <= 2, won, won and not by_draw, ending.dealt_in))
    means = np.array(rows, np.float64).reshape(-1, 4, len(rows[0])).mean(axis=1)
    names = (
        "points with bonus", "rank", "first or second", "hand won", "won off another",
        "dealt in",
    )  # fmt: skip
    return {name: means[:, index] for index, name in enumerate(names)}


def _spelled(values: np.ndarray) -> str:
    estimate = ratio(values, np.ones(len(values)))
    digits = 0 if abs(estimate.value) > 10 or estimate.half_width > 10 else 3
    return f"{estimate.value:.{digits}f} ± {estimate.half_width:.{digits}f}"
