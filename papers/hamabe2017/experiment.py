"""Hamabe 2017, tables 4.1 to 4.3: does a partner help, and what does it cost the pair?

The paper seats its "top AI" with three stock AIs of a Java program that is no longer available,
then with its "support AI" and two of them: 50 hanchan each, on unrelated walls.  Here
the opponents are fast-riichi-a, built on the same book's AI (or the external AI majiang), all
runs are on the same walls with every way to sit, and there are the arms that the paper lacks:
the same two bots with every technique switched off, the top AI with an independent bot, and two
independent bots, which give the value of the pair.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Final

from mjbot.game.statistics.estimate_text import format_estimate
from mjbot.game.statistics.estimates import Estimate
from mjbot.game.statistics.figures import Figure
from mjbot.game.statistics.markdown import head, row
from papers.experiments import ExperimentContext
from papers.hamabe2017.sums import (
    ALLYS_SHARE,
    BEST_RANK,
    DEAL_INS,
    INDEPENDENT,
    PARTNER,
    RANK,
    RANK_SHARES,
    SCORE_SUM,
    TO_ALLY,
    TO_RIVALS,
    TOP,
    WINS,
    Sums,
    difference,
    run_of,
    wall_sums,
)
from papers.hamabe2017.switches import MATES, play_switches

SUMMARY: Final = "the pair of Hamabe 2017 against two, and the top AI alone against three"
GAMES: Final = {
    "all": 2004,
    "majiang": 96,
    "switches": 240,
    "switches-of-two": 240,
    "each-alone": 240,
}
PARTS: Final = tuple(GAMES)

PAPER_GAMES: Final = 50
PAPER_KYOKU: Final = {"alone": 570, "pair": 577}
PAPER_DEAL_INS: Final = 73 + 36

PAPER: Final[Mapping[tuple[str, Figure], float]] = {
    ("alone", WINS): 11.4,
    ("pair", WINS): 17.0,
    ("alone", DEAL_INS): 16.7,
    ("pair", DEAL_INS): 11.6,
    **dict(zip([("alone", q) for q in RANK_SHARES], (4.0, 12.0, 42.0, 42.0), strict=True)),
    **dict(zip([("pair", q) for q in RANK_SHARES], (10.0, 26.0, 42.0, 22.0), strict=True)),
    ("pair", TO_RIVALS): 12.7,
    ("pair", TO_ALLY): 6.2,
    ("pair", ALLYS_SHARE): 100 * 36 / (73 + 36),
}
"""Per cent, of which the paper gives no intervals."""


@dataclass(frozen=True)
class Arm:
    """One run: its players with the opponents (one: alone against three; two: as a pair).

    In the part *all*, ``share`` scales the number of games: fewer where the result is
    clear, more where the arms are close.
    """

    label: str
    players: tuple[str, ...]
    share: float = 1.0


ARMS: Final[Mapping[str, Arm]] = {
    "alone": Arm("alone", (TOP,)),
    "pair": Arm("with a partner", (TOP, PARTNER)),
    "paper": Arm("with the paper's techniques", (TOP, f"{PARTNER},techniques=paper")),
    "off": Arm("all techniques off", (TOP, f"{PARTNER},techniques=none")),
    "beside": Arm(f"with {INDEPENDENT}", (TOP, INDEPENDENT)),
    "two": Arm(f"two {INDEPENDENT}", (INDEPENDENT, INDEPENDENT), 3.0),
    "both": Arm(f"two {PARTNER}", (PARTNER, PARTNER), 2.0),
}
ONLY_IN_VOLUME: Final = ("paper", "beside")
"""Arms that are not played against the slow external AI."""
WITH_TOP: Final = ("alone", "beside", "off", "paper", "pair")
WITH_PARTNER: Final = ("beside", "off", "paper", "pair")
PAIRS: Final = ("two", "beside", "off", "paper", "pair", "both")

Found = Mapping[str, Sums]


def play(request: ExperimentContext) -> Iterator[str]:
    """Return the tables as lines of Markdown."""
    if request.part in MATES:
        yield from play_switches(request, MATES[request.part])
        return
    in_volume = request.part == "all"
    names = [name for name in ARMS if in_volume or name not in ONLY_IN_VOLUME]
    arms = [ARMS[name] for name in names]
    runs = [run_of(request, arm.label, arm.players, arm.share if in_volume else 1) for arm in arms]
    sums = dict(zip(names, map(wall_sums, request.arenas(runs)), strict=True))
    yield from _sizes(sums)
    for table in (_table_1, _table_2, _table_3, _effect, _partner, _pairs):
        yield ""
        yield from table(sums)


def _sizes(by_arm: Found) -> Iterator[str]:
    yield from head(["arm", "players", "walls", "hanchan", "kyoku"])
    for name, sums in by_arm.items():
        arm = ARMS[name]
        games, kyoku = (int(sums[field].sum()) for field in ("games", "kyoku"))
        yield row([arm.label, " + ".join(arm.players), *map(str, (len(sums), games, kyoku))])


def _table_1(sums: Found) -> Iterator[str]:
    yield "Table 4.1: wins and deal-ins of the top AI, per kyoku."
    yield ""
    yield from _with_paper(sums, WITH_TOP, (WINS, DEAL_INS))


def _table_2(sums: Found) -> Iterator[str]:
    yield "Table 4.2: ranks of the top AI."
    yield ""
    yield from _with_paper(sums, WITH_TOP, (*RANK_SHARES, RANK))


def _table_3(sums: Found) -> Iterator[str]:
    yield "Table 4.3: kyoku in which the partner deals in, and to which side."
    yield ""
    yield from _with_paper(sums, WITH_PARTNER, (TO_RIVALS, TO_ALLY, ALLYS_SHARE))


def _with_paper(sums: Found, arms: tuple[str, ...], rows: tuple[Figure, ...]) -> Iterator[str]:
    arms = tuple(arm for arm in arms if arm in sums)
    names = [[ARMS[arm].label, *["the paper's"] * (arm in PAPER_KYOKU)] for arm in arms]
    yield from head(["", *[name for of_arm in names for name in of_arm]])
    for figure in rows:
        cells = []
        for arm in arms:
            cells.append(format_estimate(figure.estimate(sums[arm]), figure.kind))
            if arm in PAPER_KYOKU:
                cells.append(_paper(arm, figure))
        yield row([figure.label, *cells])


def _paper(arm: str, figure: Figure) -> str:
    """Return the paper's figure with the interval that independent kyoku or games would have."""
    if (arm, figure) not in PAPER:
        return ""
    value = PAPER[arm, figure]
    n = {"kyoku": PAPER_KYOKU[arm], "games": PAPER_GAMES}.get(figure.per, PAPER_DEAL_INS)
    share = value / 100
    return f"{value:.1f} ± {196 * sqrt(share * (1 - share) / n):.1f} %"


def _effect(sums: Found) -> Iterator[str]:
    yield "What the partner does for the top AI; differences are paired by wall."
    yield ""
    yield from _compared(sums, "pair", ("alone", "beside", "off", "paper"), (WINS, DEAL_INS, RANK))


def _partner(sums: Found) -> Iterator[str]:
    yield f"The partner's deal-ins to the two rivals against those of {INDEPENDENT} in its seat."
    yield ""
    yield from _compared(sums, "pair", ("beside", "off", "paper"), (TO_RIVALS,))


def _compared(
    sums: Found, one: str, others: tuple[str, ...], rows: tuple[Figure, ...]
) -> Iterator[str]:
    others = tuple(other for other in others if other in sums)
    names = [(f"less {ARMS[arm].label}", "intervals") for arm in others]
    yield from head(["", *[name for two in names for name in two]])
    for figure in rows:
        cells = []
        for other in others:
            less = difference(figure, sums[one], sums[other])
            cells += [
                format_estimate(less, figure.kind, signed=True),
                _apart(sums, figure, one, other),
            ]
        yield row([f"{figure.label}, {ARMS[one].label}", *cells])


def _apart(sums: Found, figure: Figure, one: str, other: str) -> str:
    """Return whether the two figures' own intervals do not overlap.

    Arms differ in their walls; on those that both have, the paired difference must leave out 0,
    too.
    """
    own = apart(*[figure.estimate(sums[arm]) for arm in (one, other)])
    paired = difference(figure, sums[one], sums[other]).leaves_out_zero
    return "apart" if own and paired else "overlap"


def apart(one: Estimate, other: Estimate) -> bool:
    """Whether two intervals have nothing in common.

    >>> apart(Estimate(1, 0, 2), Estimate(4, 3, 5)), apart(Estimate(1, 0, 2), Estimate(3, 2, 4))
    (True, False)
    """
    return one.high < other.low or other.high < one.low


def _pairs(sums: Found) -> Iterator[str]:
    yield f"The value of the pair, compared with two independent {INDEPENDENT}."
    yield ""
    yield from head(["", "sum of scores", "less two", "", "better rank", "less two", ""])
    for name in [name for name in PAIRS if name in sums]:
        cells = []
        for figure in (SCORE_SUM, BEST_RANK):
            cells.append(format_estimate(figure.estimate(sums[name]), figure.kind))
            if name == "two":
                cells += ["", ""]
                continue
            less = difference(figure, sums[name], sums["two"])
            cells += [
                format_estimate(less, figure.kind, signed=True),
                _apart(sums, figure, name, "two"),
            ]
        yield row([ARMS[name].label, *cells])
