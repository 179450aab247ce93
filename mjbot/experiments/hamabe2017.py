"""Hamabe 2017, tables 4.1 to 4.3: does a partner help, and what does it cost the pair?

The paper seats its "top AI" with three stock AIs of a Java program that is not to be had any
more, then with its "support AI" and two of them: 50 hanchan each, on whatever walls came.  Here
the opponents are fast-riichi-a, built on the same book's AI (or the external AI majiang), all
runs are on the same walls with every way to sit, and there are the arms that the paper lacks:
the same two bots with every technique switched off, the top AI beside an independent bot, and two
independent bots, who say what the pair is worth.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Final

from mjbot.arena.figures import Figure
from mjbot.arena.setup import Setup, code_digest
from mjbot.arena.show import spelled
from mjbot.experiments.pair_sums import RANKS, Sums, wall_sums
from mjbot.experiments.request import Request
from mjbot.statistics import Estimate

SUMMARY: Final = "the pair of Hamabe 2017 against two, beside the top AI alone against three"
GAMES: Final = {
    "all": 2004,
    "majiang": 96,
    "switches": 240,
    "switches-of-two": 240,
    "each-alone": 240,
}
PARTS: Final = tuple(GAMES)

TOP: Final = "yaku-evaluation"
PARTNER: Final = "combo-partner"
INDEPENDENT: Final = "fast-riichi-d"
OPPONENTS: Final = {"all": "fast-riichi-a", "majiang": "external:majiang"}

SWITCHES: Final[Mapping[str, tuple[str, str]]] = {
    "sashikomi": ("yes", "no"),
    "nakase": ("yes", "no"),
    "bluff": ("no", "yes"),
    "haitei_okuri": ("yes", "no"),
    "dora_fuyashi": ("yes", "no"),
    "open_way": ("yes", "no"),
    "hold_back": ("yes", "no"),
    "spare_ally": ("yes", "no"),
    "own_calls": ("yes", "no"),
    "leader_caution": ("4.0", "0"),
    "caution": ("1.0", "0"),
}
"""The partner's techniques: value by default and the other one."""
OFF: Final = {name: "0" if "caution" in name else "no" for name in SWITCHES}

PAPER_GAMES: Final = 50
PAPER_KYOKU: Final = {"alone": 570, "pair": 577}
PAPER_DEAL_INS: Final = 73 + 36

WINS: Final = Figure("win", "wins of the top AI", "rate", "top_wins", "kyoku")
DEAL_INS: Final = Figure("deal_in", "deal-ins of the top AI", "rate", "top_deal_ins", "kyoku")
RANK: Final = Figure("rank", "average rank of the top AI", "mean", "top_rank", "games")
RANK_SHARES: Final = tuple(
    Figure(name, label, "rate", f"top_{name}", "games")
    for label, name in zip(("1st", "2nd", "3rd", "4th"), RANKS, strict=True)
)
TO_RIVALS: Final = Figure(
    "to_rivals", "partner deals in to rivals", "rate", "partner_to_rivals", "kyoku"
)
TO_ALLY: Final = Figure(
    "to_ally", "partner deals in to its ally", "rate", "partner_to_ally", "kyoku"
)
ALLYS_SHARE: Final = Figure(
    "allys_share",
    "of the partner's deal-ins to the ally",
    "rate",
    "partner_to_ally",
    "partner_deal_ins",
)
SCORE_SUM: Final = Figure("score_sum", "sum of the pair's scores", "points", "score_sum", "games")
BEST_RANK: Final = Figure("best_rank", "better of the pair's ranks", "mean", "best_rank", "games")

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
    """One run: who sits with the opponents (one: alone against three; two: as a pair).

    In the part *all*, ``share`` times the games that are asked for are played: fewer where the
    answer is plain, more where the arms are close.
    """

    label: str
    players: tuple[str, ...]
    share: float = 1.0


ARMS: Final[Mapping[str, Arm]] = {
    "alone": Arm("alone", (TOP,)),
    "pair": Arm("with a partner", (TOP, PARTNER)),
    "paper": Arm("with the paper's techniques", (TOP, f"{PARTNER},techniques=paper")),
    "off": Arm("all techniques off", (TOP, f"{PARTNER},techniques=none")),
    "beside": Arm(f"beside {INDEPENDENT}", (TOP, INDEPENDENT)),
    "two": Arm(f"two {INDEPENDENT}", (INDEPENDENT, INDEPENDENT), 3.0),
    "both": Arm(f"two {PARTNER}", (PARTNER, PARTNER), 2.0),
}
ONLY_IN_VOLUME: Final = ("paper", "beside")
"""Arms that are not played against the slow external AI."""
WITH_TOP: Final = ("alone", "beside", "off", "paper", "pair")
WITH_PARTNER: Final = ("beside", "off", "paper", "pair")
PAIRS: Final = ("two", "beside", "off", "paper", "pair", "both")

Found = Mapping[str, Sums]


def play(request: Request) -> Iterator[str]:
    """Return the tables as lines of Markdown."""
    if request.part in MATES:
        yield from _switches(request, MATES[request.part])
        return
    found = {
        name: _played(request, arm.players, arm.share if request.part == "all" else 1)
        for name, arm in ARMS.items()
        if request.part == "all" or name not in ONLY_IN_VOLUME
    }
    yield from _sizes(found)
    for table in (_table_1, _table_2, _table_3, _effect, _partner, _pairs):
        yield ""
        yield from table(found)


def make_setup(players: tuple[str, ...], opponent: str, seed: int) -> Setup:
    """Return an arm's run; equal players of a pair need but half of the ways to sit."""
    named = players[:1] if len(set(players)) == 1 else players
    strategies = (*named, opponent)
    return Setup(
        strategies=strategies,
        format="1v3" if len(players) == 1 else "pair",
        seed=seed,
        code=code_digest(strategies),
    )


def walls_for(setup: Setup, games: float) -> int:
    """Return how many walls give the first strategy (or its pair) so many games."""
    return ceil(games / len({place.seating for place in setup.seating.rows[0]}))


def _played(request: Request, players: tuple[str, ...], share: float = 1.0) -> Sums:
    setup = make_setup(players, OPPONENTS.get(request.part, OPPONENTS["all"]), request.seed)
    return wall_sums(request.arena(setup, walls_for(setup, share * request.games)))


def _sizes(found: Found) -> Iterator[str]:
    yield "| arm | who plays | walls | hanchan | kyoku |"
    yield "|---|---|---|---|---|"
    for name, sums in found.items():
        arm = ARMS[name]
        games, kyoku = (int(sums[field].sum()) for field in ("games", "kyoku"))
        yield f"| {arm.label} | {' + '.join(arm.players)} | {len(sums)} | {games} | {kyoku} |"


def _table_1(found: Found) -> Iterator[str]:
    yield "Table 4.1: wins and deal-ins of the top AI, per kyoku."
    yield ""
    yield from _with_paper(found, WITH_TOP, (WINS, DEAL_INS))


def _table_2(found: Found) -> Iterator[str]:
    yield "Table 4.2: ranks of the top AI."
    yield ""
    yield from _with_paper(found, WITH_TOP, (*RANK_SHARES, RANK))


def _table_3(found: Found) -> Iterator[str]:
    yield "Table 4.3: kyoku in which the partner deals in, and to whom."
    yield ""
    yield from _with_paper(found, WITH_PARTNER, (TO_RIVALS, TO_ALLY, ALLYS_SHARE))


def _with_paper(found: Found, arms: tuple[str, ...], rows: tuple[Figure, ...]) -> Iterator[str]:
    arms = tuple(arm for arm in arms if arm in found)
    heads = [
        f"{ARMS[arm].label} | the paper's" if arm in PAPER_KYOKU else ARMS[arm].label
        for arm in arms
    ]
    yield f"| | {' | '.join(heads)} |"
    yield "|---" * (1 + " | ".join(heads).count("|") + 1) + "|"
    for figure in rows:
        cells = []
        for arm in arms:
            cells.append(spelled(figure.estimate(found[arm]), figure.kind))
            if arm in PAPER_KYOKU:
                cells.append(_paper(arm, figure))
        yield f"| {figure.label} | {' | '.join(cells)} |"


def _paper(arm: str, figure: Figure) -> str:
    """Return the paper's figure with the interval that independent kyoku or games would have."""
    if (arm, figure) not in PAPER:
        return ""
    value = PAPER[arm, figure]
    n = {"kyoku": PAPER_KYOKU[arm], "games": PAPER_GAMES}.get(figure.per, PAPER_DEAL_INS)
    share = value / 100
    return f"{value:.1f} ± {196 * sqrt(share * (1 - share) / n):.1f} %"


def _effect(found: Found) -> Iterator[str]:
    yield "What the partner does for the top AI; differences are paired by wall."
    yield ""
    yield from _compared(found, "pair", ("alone", "beside", "off", "paper"), (WINS, DEAL_INS, RANK))


def _partner(found: Found) -> Iterator[str]:
    yield f"The partner's deal-ins to the two rivals against those of {INDEPENDENT} in its seat."
    yield ""
    yield from _compared(found, "pair", ("beside", "off", "paper"), (TO_RIVALS,))


def _compared(
    found: Found, one: str, others: tuple[str, ...], rows: tuple[Figure, ...]
) -> Iterator[str]:
    others = tuple(other for other in others if other in found)
    yield "| | " + " | ".join([f"less {ARMS[arm].label} | intervals" for arm in others]) + " |"
    yield "|---" * (1 + 2 * len(others)) + "|"
    for figure in rows:
        cells = []
        for other in others:
            less = figure.difference(found[one], found[other])
            cells += [
                spelled(less, figure.kind, signed=True),
                _apart(found, figure, one, other),
            ]
        yield f"| {figure.label}, {ARMS[one].label} | {' | '.join(cells)} |"


def _apart(found: Found, figure: Figure, one: str, other: str) -> str:
    """Say whether the two figures' own intervals have nothing in common."""
    return "apart" if apart(*[figure.estimate(found[arm]) for arm in (one, other)]) else "overlap"


def apart(one: Estimate, other: Estimate) -> bool:
    """Whether two intervals have nothing in common.

    >>> apart(Estimate(1, 0, 2), Estimate(4, 3, 5)), apart(Estimate(1, 0, 2), Estimate(3, 2, 4))
    (True, False)
    """
    return one.high < other.low or other.high < one.low


def _pairs(found: Found) -> Iterator[str]:
    yield f"What the pair is worth, beside two independent {INDEPENDENT}."
    yield ""
    yield "| | sum of scores | less two | | better rank | less two | |"
    yield "|---|---|---|---|---|---|---|"
    for name in [name for name in PAIRS if name in found]:
        cells = []
        for figure in (SCORE_SUM, BEST_RANK):
            cells.append(spelled(figure.estimate(found[name]), figure.kind))
            if name == "two":
                cells += ["", ""]
                continue
            less = figure.difference(found[name], found["two"])
            cells += [
                spelled(less, figure.kind, signed=True),
                _apart(found, figure, name, "two"),
            ]
        yield f"| {ARMS[name].label} | {' | '.join(cells)} |"


# --- one run per switch ----------------------------------------------------------------------

SWITCHED: Final = (SCORE_SUM, BEST_RANK, WINS, DEAL_INS, RANK, TO_RIVALS)


MATES: Final[Mapping[str, str | None]] = {
    "switches": TOP,
    "switches-of-two": None,
    "each-alone": TOP,
}
"""Part -> who sits beside the partner whose techniques are switched; ``None``: its like."""
ONLY_BESIDE: Final[Mapping[str, str | None]] = {"leader_caution": TOP, "caution": None}
"""Switches that change nothing beside anybody else."""


def _switches(request: Request, mate: str | None) -> Iterator[str]:
    """Play the default pair and each technique switched over, or none and each alone."""
    alone = request.part == "each-alone"
    start = _with(request, mate, OFF if alone else {})
    yield f"{mate or 'its like'} + {PARTNER}, {int(start['games'].sum())} hanchan each."
    yield ""
    yield f"| | {' | '.join(figure.label for figure in SWITCHED)} |"
    yield "|---" * (1 + len(SWITCHED)) + "|"
    yield _row("none" if alone else "default", start)
    if not alone:
        yield _row("none, less default", _with(request, mate, OFF), start)
    for switch, values in SWITCHES.items():
        if ONLY_BESIDE.get(switch, mate) != mate:
            continue
        (on,) = set(values) - {OFF[switch]}
        changes = {**OFF, switch: on} if alone else {switch: values[1]}
        label = f"only {switch}, less none" if alone else f"{switch}={values[1]}, less default"
        yield _row(label, _with(request, mate, changes), start)


def _with(request: Request, mate: str | None, changes: Mapping[str, str]) -> Sums:
    """Return the sums of a partner with these options, beside ``mate`` or its like."""
    player = ",".join([PARTNER, *[f"{name}={value}" for name, value in changes.items()]])
    return _played(request, (mate or player, player))


def _row(label: str, sums: Sums, less: Sums | None = None) -> str:
    cells = []
    for figure in SWITCHED:
        estimate = figure.estimate(sums) if less is None else figure.difference(sums, less)
        cells.append(spelled(estimate, figure.kind, signed=less is not None))
    return f"| {label} | {' | '.join(cells)} |"
