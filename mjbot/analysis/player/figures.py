"""What the games of a player add up to, next to a reference group: tables that all outputs share.

Costs are in places, by playouts.  Without playouts different choices are counted instead: sums of
the reviewer's estimates are no measure of a cost (docs/results/reviews.md).  In sums a cost counts
whether it is shown or not, also below 0, by the plain mean of the worlds that every choice gets:
each is an estimate, and errors cancel.  Of a mistake that is selected as a costly one they do not;
it is reported with the cost to be expected after all its playouts
(:mod:`mjbot.analysis.review.playouts`). In all intervals a game is one observation; of a reference
group the seats of one game are one.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise, zip_longest
from math import ceil, isfinite
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.analysis.player.reviewed_games import (
    DrawLuck,
    Mistake,
    Outcome,
    ReviewedGame,
    Situation,
    situation_text,
)
from mjbot.analysis.review.playouts import Verdict
from mjbot.analysis.review.reasons import MistakeClass, mistake_classes, number
from mjbot.analysis.review.sentences import with_unit
from mjbot.analysis.stats.sums import PLAYER_FIGURES, GroupSums
from mjbot.game.statistics.estimate_text import compact, estimate_json, plus_minus
from mjbot.game.statistics.estimates import NOTHING, Estimate, difference, ratio
from mjbot.game.statistics.figures import RANKS as RANK_NAMES
from mjbot.protocol.rules import RANKED
from mjbot.runtime.languages import marked, translate, translate_count
from mjbot.strategy.explanation import RANKS

MOST_SITUATIONS: Final = 10
EXAMPLES: Final = 3
LEAST_IN_BLOCK: Final = 5
MOST_BLOCKS: Final = 12
WORTH_SHOWING: Final = 0.05
"""Places a game: the cost for which a report gives the number of games that would show it."""
RATES: Final = {
    "rank": marked("average place"),
    "first": marked("1st"),
    "third": marked("3rd"),
    "fourth": marked("4th"),
    "win": marked("win rate"),
    "deal_in": marked("deal-in rate"),
    "riichi": marked("riichi rate"),
    "call": marked("call rate"),
    "tenpai": marked("tenpai rate at draws"),
    "tsumo": marked("tsumo share"),
    "win_points": marked("average win"),
    "deal_in_points": marked("average deal-in"),
    "win_turn": marked("average turn of a win"),
}
"""Figures that are reported, with their names; of ranks the first and the last."""

DRAWS: Final = {
    "improving": marked("draws before tenpai that helped"),
    "winning": marked("draws in tenpai that helped"),
}

Floats = NDArray[np.float64]
Measure = Callable[[ReviewedGame], float]


@dataclass(frozen=True)
class FigureTable:
    """A table of the report: plain text in the language of the process, and the same as JSON.

    ``title`` is English; it is the key of the table in the JSON.
    """

    title: str
    note: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    values: Sequence[dict[str, Any]]


@dataclass(frozen=True)
class CostlySituation:
    """A class of mistakes in one situation, with the positions that cost most in it."""

    mistake_class: MistakeClass
    situation: Situation
    mistakes: int
    total: float
    per_game: Estimate
    examples: Sequence[tuple[ReviewedGame, Mistake]]

    @property
    def name(self) -> str:
        """The class and the situation, in English."""
        return f"{self.mistake_class}: {', '.join(self.situation.parts)}"

    @property
    def text(self) -> str:
        """The same in the language of the process."""
        return situation_text(self.mistake_class, self.situation)


@dataclass(frozen=True)
class PlayerReport:
    """The reviewed games of a player and of a reference group, in the order in which to show them.

    ``reference_name`` names the group; without games there is none.  ``is_played``: whether
    playouts were run; if not, what is counted are different choices, each as one.
    """

    player: str
    games: Sequence[ReviewedGame]
    reference: Sequence[ReviewedGame] = ()
    reference_name: str = ""
    is_played: bool = True
    problems: Sequence[str] = field(default=())

    @property
    def players(self) -> int:
        """How many play; the games of a report are under one rule set."""
        return next((game.players for game in self.games), RANKED.players)

    @property
    def unit_text(self) -> str:
        """The unit of costs as a table's head has it, in English."""
        return marked("places") if self.is_played else marked("different choices")

    def cost(self, mistake: Mistake) -> float:
        """Return what a mistake adds to sums over all of them, in :attr:`unit_text`."""
        return mistake.mean if self.is_played else 1.0

    def expected_cost(self, mistake: Mistake) -> float:
        """Return what a single mistake is to be expected to have cost, in places.

        Without playouts that is the reviewer's estimate, by which mistakes are ordered.
        """
        if not self.is_played:
            return mistake.loss
        return mistake.places[0] if mistake.places else 0.0

    def with_unit(self, text: str) -> str:
        """Return a cost that is text already with its unit."""
        return with_unit(text, RANKS if self.is_played else self.unit_text)

    def text(self, value: float) -> str:
        """Return a cost as text."""
        return number(value, RANKS) if self.is_played else f"{value:.1f}"

    def costliest(
        self, mistake_class: MistakeClass | None = None
    ) -> list[tuple[ReviewedGame, Mistake]]:
        """Return the mistakes that cost most, shown ones first; of one class, if it is named."""
        pairs = [
            (game, mistake)
            for game in self.games
            for mistake in _of_class(game, mistake_class)
            if self.expected_cost(mistake) > 0
        ]
        return sorted(pairs, key=self._costliest_first)

    def _costliest_first(self, pair: tuple[ReviewedGame, Mistake]) -> tuple[bool, float]:
        return not pair[1].is_shown, -self.expected_cost(pair[1])

    def exercises(self, n: int) -> list[tuple[ReviewedGame, Mistake]]:
        """Return at most ``n`` mistakes to learn from, of all classes in turn, costliest first.

        With playouts only what they show to be a loss; without, what is estimated to be one.
        """
        classes = [
            [pair for pair in self.costliest(mistake_class) if self.counts(pair[1])]
            for mistake_class in MistakeClass
        ]
        classes.sort(key=lambda pairs: -sum(self.expected_cost(mistake) for _, mistake in pairs))
        in_turn = zip_longest(*classes)
        return [pair for turn in in_turn for pair in turn if pair is not None][:n]

    def counts(self, mistake: Mistake) -> bool:
        """Whether a different choice is a mistake: shown by playouts, without them by estimate."""
        if self.is_played:
            return mistake.is_shown
        return mistake.loss > 0 and not mistake.is_close

    @cached_property
    def situations(self) -> list[CostlySituation]:
        """The situations that cost most in all."""
        pairs: dict[tuple[MistakeClass, Situation], list[tuple[ReviewedGame, Mistake]]] = {}
        for game in self.games:
            for m in game.mistakes:
                pairs.setdefault((m.mistake_class, m.situation), []).append((game, m))
        total = {name: sum(self.cost(m) for _, m in of) for name, of in pairs.items()}
        names = sorted([name for name in pairs if total[name] > 0], key=lambda name: -total[name])
        return [self._situation(name, pairs[name]) for name in names[:MOST_SITUATIONS]]

    def _situation(
        self,
        name: tuple[MistakeClass, Situation],
        pairs: Sequence[tuple[ReviewedGame, Mistake]],
    ) -> CostlySituation:
        by_cost = sorted(pairs, key=self._costliest_first)

        def cost_in(game: ReviewedGame) -> float:
            return sum(self.cost(m) for m in _of_class(game, name[0]) if m.situation == name[1])

        total = sum(self.cost(mistake) for _, mistake in pairs)
        examples = [pair for pair in by_cost if self.expected_cost(pair[1]) > 0][:EXAMPLES]
        return CostlySituation(*name, len(pairs), total, mean_of(self.games, cost_in), examples)

    @property
    def tables(self) -> Iterator[FigureTable]:
        """The tables of the report, in order."""
        yield self.class_table
        yield self.trend_table
        yield self.situation_table
        yield self.rate_table
        yield self.outcome_table
        yield self.draw_table

    # --- losses ---------------------------------------------------------------------------------

    def cost_per_game(
        self, games: Sequence[ReviewedGame], mistake_class: MistakeClass | None = None
    ) -> Estimate:
        """Return the mean cost of a seat in a game, of all mistakes or of a class."""
        return mean_of(games, self._cost_of(mistake_class))

    def _cost_of(self, mistake_class: MistakeClass | None = None) -> Measure:
        return lambda game: sum(self.cost(m) for m in _of_class(game, mistake_class))

    @property
    def class_table(self) -> FigureTable:
        """The losses by class, with all at the end."""
        rows, values = [], []
        for mistake_class in (*mistake_classes(self.players), None):
            own = [m for game in self.games for m in _of_class(game, mistake_class)]
            figures = [self.cost_per_game(self.games, mistake_class)]
            if self.reference:
                measure = self._cost_of(mistake_class)
                figures.append(mean_of(self.reference, measure))
                figures.append(apart(self.games, self.reference, measure))
            shown = [m for m in own if m.is_shown]
            cells = [*map(self._spelled, figures)]
            if self.is_played:
                n = f"{len(own) / max(len(self.games), 1):.1f}"
                by_shown = f"{len(shown)} ({self.text(sum(map(self.expected_cost, shown)))})"
                cells = [n, *cells, by_shown]
            rows.append([translate(mistake_class or "all"), *cells])
            names = ("cost_per_game", "reference", "difference")
            values.append({
                "class": mistake_class or "all",
                "different_choices": len(own),
                "shown": len(shown),
                **{n: estimate_json(e) for n, e in zip(names, figures, strict=False)},
            })  # fmt: skip
        heads = [translate("class"), self.cost_per_game_text]
        if self.is_played:
            heads.insert(1, translate("different choices a game"))
        heads += [self.reference_name, translate("difference")] if self.reference else []
        heads += [translate("shown by playouts (sum)")] if self.is_played else []
        return FigureTable(marked("Losses by class"), "", heads, rows, values)

    @property
    def cost_per_game_text(self) -> str:
        """The head of a column with the cost of a game."""
        if not self.is_played:
            return translate("different choices a game")
        return translate("cost a game, {unit}", unit=translate(self.unit_text))

    def _spelled(self, estimate: Estimate) -> str:
        return plus_minus(estimate, self.text)

    @cached_property
    def blocks(self) -> list[tuple[str, Estimate]]:
        """The mean cost of a game over time: of blocks of successive games, oldest first."""
        n = min(MOST_BLOCKS, len(self.games) // LEAST_IN_BLOCK)
        if n < 2:
            return []
        ends = np.linspace(0, len(self.games), n + 1).astype(int)
        blocks = []
        for first, last in pairwise(ends.tolist()):
            games = self.games[first:last]
            days = [game.day for game in (games[0], games[-1]) if game.day]
            label = translate("games {first} to {last}", first=first + 1, last=last)
            if days:
                spread = translate("{first} to {last}", first=days[0], last=days[-1])
                label = days[0] if days[0] == days[-1] else spread
            blocks.append((label, self.cost_per_game(games)))
        return blocks

    @property
    def trend_table(self) -> FigureTable:
        """The mean cost of a game over time."""
        rows = [[label, self._spelled(estimate)] for label, estimate in self.blocks]
        values = [{"games": label, "cost": estimate_json(e)} for label, e in self.blocks]
        note = "" if rows else translate("needs {n} games", n=2 * LEAST_IN_BLOCK)
        return FigureTable(marked("Over time"), note, ["", self.cost_per_game_text], rows, values)

    @property
    def situation_table(self) -> FigureTable:
        """The situations that cost most in all."""
        rows, values = [], []
        for costs in self.situations:
            cells = [str(costs.mistakes), self.text(costs.total), self._spelled(costs.per_game)]
            rows.append([costs.text, *(cells if self.is_played else cells[::2])])
            values.append({
                "situation": costs.name,
                "different_choices": costs.mistakes,
                "cost": costs.total,
                "cost_per_game": estimate_json(costs.per_game),
                "positions": [
                    {"game": game.source, "number": game.number, "seat": game.seat,
                     "position": m.at, "event": m.event,
                     "cost": self.expected_cost(m) if self.is_played else None, "text": m.text}
                    for game, m in costs.examples
                ],
            })  # fmt: skip
        heads = [translate("situation"), translate("different choices")]
        if self.is_played:
            heads.append(translate("cost, {unit}", unit=translate(self.unit_text)))
        heads.append(translate("a game"))
        title = marked("What cost most in all")
        if not self.is_played:
            title = marked("Most different choices")
        return FigureTable(title, "", heads, rows, values)

    # --- rates and luck -------------------------------------------------------------------------

    @property
    def rate_table(self) -> FigureTable:
        """The rates of the player, of the others at the table, and of the reference group."""
        groups = GroupSums()
        rows = [[*(g.counts for g in self.games)], [*(g.room for g in self.games)]]
        rows += [[g.counts for g in self.reference]] if self.reference else []
        for group, counts in enumerate(rows):
            games = self.reference if group == 2 else self.games
            groups.add(np.array(counts, float), [group] * len(counts), _clusters(games))
        table, values = [], []
        between = (*RANK_NAMES[1 : self.players - 1], *RANK_NAMES[self.players :])
        for figure in PLAYER_FIGURES:
            if figure.key in RATES and figure.key not in between:
                estimates = [groups.estimate(group, figure) for group in range(len(rows))]
                cells = [compact(estimate, figure.kind) for estimate in estimates]
                name = translate(RATES[figure.key])
                if figure.kind == "rate":
                    name = translate("{name}, {unit}", name=name, unit="%")
                table.append([name, *cells])
                names = ("player", "room", "reference")
                pairs = zip(names, estimates, strict=False)
                values.append({"figure": figure.key, **{n: estimate_json(e) for n, e in pairs}})
        heads = ["", translate("player"), translate("the others at the table")]
        heads += [self.reference_name] if self.reference else []
        return FigureTable(marked("Rates"), "", heads, table, values)

    @property
    def outcome_table(self) -> FigureTable:
        """How the kyoku ended, and what that did to the place to be expected."""
        rows, values = [], []
        kyoku = sum(len(game.kyoku) for game in self.games)
        for outcome in (*Outcome, None):
            measure = _change_by(outcome)
            n = sum(outcome in (None, k.outcome) for g in self.games for k in g.kyoku)
            figures = [mean_of(self.games, measure)]
            figures += [mean_of(self.reference, measure)] if self.reference else []
            spelled = [_places(estimate) for estimate in figures]
            rows.append([translate(outcome or "all"), f"{100 * n / max(kyoku, 1):.1f}", *spelled])
            names = ("change_per_game", "reference")
            pairs = {n: estimate_json(e) for n, e in zip(names, figures, strict=False)}
            values.append({"outcome": outcome or "all", "kyoku": n, **pairs})
        heads = [translate("kyoku that ended with"), translate("% of kyoku")]
        heads.append(translate("places a game (+: lower)"))
        heads += [self.reference_name] if self.reference else []
        note = translate(
            "What each kyoku added to the place to be expected. Another's tsumo, a ron between"
            " others and a deal-in without a better choice are luck, as far as the reviewer sees."
        )
        title = marked("Where places were won and lost")
        return FigureTable(title, note, heads, rows, values)

    @property
    def draw_table(self) -> FigureTable:
        """The luck of the draws."""
        rows, values = [], []
        for of, name in DRAWS.items():
            luck = [getattr(game, of) for game in self.games]
            more = mean_of(self.games, _hits_beyond(of))
            total = (sum(draws.hits for draws in luck), sum(draws.expected for draws in luck))
            cells = [str(sum(draws.draws for draws in luck)), str(total[0]), f"{total[1]:.1f}"]
            rows.append([translate(name), *cells, _places(more)])
            values.append({"draws": of, "hits": total[0], "expected": total[1],
                           "more_per_game": estimate_json(more)})  # fmt: skip
        own = _ratio_of([game.starts for game in self.games])
        room = _ratio_of([game.room_starts for game in self.games])
        note = translate(
            "Expected: by the tiles left in the wall, in games whose record shows all hands."
        )
        if isfinite(own) and isfinite(room):
            dealt = marked(" Hands dealt: {own} shanten on average, the others' {others}.")
            note += translate(dealt, own=f"{own:.2f}", others=f"{room:.2f}")
        heads = ["", translate("draws"), translate("helped"), translate("expected")]
        heads.append(translate("more a game than expected"))
        return FigureTable(marked("Draws"), note, heads, rows, values)

    # --- the whole ------------------------------------------------------------------------------

    @property
    def summary(self) -> list[str]:
        """Some lines that report what was found."""
        n = len(self.games)
        mean_rank = mean_of(self.games, lambda game: game.final_rank)
        lines = [
            translate(
                "{games} of {player}: average place {place}; {decisions} decisions, {different}"
                " different from the reviewer's",
                games=translate_count("{n} game", "{n} games", n),
                player=self.player,
                place=_places(mean_rank, ""),
                decisions=f"{sum(game.decisions for game in self.games):,}",
                different=f"{sum(len(game.mistakes) for game in self.games):,}",
            )
        ]
        lines += [*self._shown_lines, *self._cost_lines, *self._grade_lines]
        if self.is_played and n:
            luck = mean_of(self.games, lambda g: g.final_rank - g.expected - self._cost_of()(g))
            text = translate(
                "luck apart from play: {luck} places a game (final place, less the place to be"
                " expected at the start, less these costs; +: bad luck)",
                luck=_places(luck),
            )
            lines.append(text)
        return [*lines, *([self._comparison] if self.reference else [])]

    @property
    def _shown_lines(self) -> Iterator[str]:
        """What single choices are shown to have cost, and the costliest of them."""
        if not self.is_played:
            return
        shown = [(game, m) for game, m in self.costliest() if m.is_shown]
        if not shown:
            yield translate("playouts show no single choice to be a loss")
            return
        cost = number(sum(self.expected_cost(mistake) for _, mistake in shown), RANKS)
        yield translate(
            "losses shown by playouts: {n}, {cost} in all, most of them {kind}",
            n=len(shown),
            cost=with_unit(cost, RANKS),
            kind=translate(self._worst_shown(shown)),
        )
        game, mistake = shown[0]
        yield translate(
            "the costliest: {at} of {game}: {sentence}",
            at=mistake.at,
            game=game.source,
            sentence=mistake.text.rstrip(".。"),
        )

    @staticmethod
    def _worst_shown(shown: Sequence[tuple[ReviewedGame, Mistake]]) -> MistakeClass:
        """Return the class of most of them, of as many the first in the order of the report."""
        counts = Counter(mistake.mistake_class for _, mistake in shown)
        return max(MistakeClass, key=lambda one: counts[one])

    @property
    def _cost_lines(self) -> Iterator[str]:
        """What different choices cost a game, and how many games more would show a cost."""
        if not self.is_played:
            seconds = "--playouts SECONDS"
            yield translate(
                "what they cost is not known without playouts: {option}", option=seconds
            )
            return
        cost = self.cost_per_game(self.games)
        spelled = self.with_unit(self._spelled(cost))
        yield translate("cost of different choices: {cost} a game", cost=spelled)
        if cost.leaves_out_zero:
            return
        size = number(WORTH_SHOWING, RANKS)
        if not cost.is_bounded or not cost.half_width:
            yield translate("no cost a game is shown; the interval needs more games")
            return
        n = len(self.games)
        more = max(2, ceil(n * (cost.half_width / WORTH_SHOWING) ** 2) - n)
        yield translate(
            "no cost a game is shown; about {n} more games would show one of {size}",
            n=f"{more:,}",
            size=with_unit(size, RANKS),
        )

    @property
    def _grade_lines(self) -> Iterator[str]:
        sums = _sums(self.games, lambda game: game.agreement[0])[0]
        counts = _sums(self.games, lambda game: game.agreement[1])[0]
        grade = ratio(sums, counts)
        if isfinite(grade.value):
            yield translate(
                "grade by the reviewer: {grade} of 100 (100: each choice as the reviewer's)",
                grade=plus_minus(grade, lambda share: f"{100 * share:.1f}"),
            )

    @property
    def _comparison(self) -> str:
        gap = apart(self.games, self.reference, self._cost_of())
        verdict = marked("shown to differ") if gap.leaves_out_zero else Verdict.NOT_SHOWN
        return translate(
            "compared with {group} ({seats}): {gap} a game, {verdict}",
            group=self.reference_name,
            seats=translate_count("{n} seat", "{n} seats", len(self.reference)),
            gap=self.with_unit(self._spelled(gap)),
            verdict=translate(verdict),
        )

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "player": self.player,
            "games": len(self.games),
            "unit": self.unit_text,
            "confidence": 0.95,
            "summary": self.summary,
            "reference": {"name": self.reference_name, "seats": len(self.reference)},
            "tables": {table.title: list(table.values) for table in self.tables},
            "problems": list(self.problems),
        }


def _of_class(game: ReviewedGame, mistake_class: MistakeClass | None) -> list[Mistake]:
    """Return a game's mistakes of a class, of all classes without one."""
    return [m for m in game.mistakes if mistake_class in (None, m.mistake_class)]


def _change_by(outcome: Outcome | None) -> Measure:
    return lambda game: sum(k.change for k in game.kyoku if outcome in (None, k.outcome))


def _hits_beyond(of: str) -> Measure:
    def more(game: ReviewedGame) -> float:
        luck: DrawLuck = getattr(game, of)
        return luck.hits - luck.expected

    return more


def _ratio_of(pairs: Sequence[tuple[int, int]]) -> float:
    total, n = (sum(column) for column in zip(*pairs, strict=True)) if pairs else (0, 0)
    return total / n if n else float("nan")


def _places(estimate: Estimate, sign: str = "+") -> str:
    return plus_minus(estimate, lambda places: f"{places:{sign}.3f}")


# --- clustered means -----------------------------------------------------------------------------


def _clusters(games: Sequence[ReviewedGame]) -> list[int]:
    """Return the number of each game's cluster: seats of one game are one."""
    known: dict[tuple[str, int], int] = {}
    return [known.setdefault((game.source, game.number), len(known)) for game in games]


def _sums(games: Sequence[ReviewedGame], measure: Measure) -> tuple[Floats, Floats]:
    """Return the sum of a measure and the number of seats of each cluster."""
    clusters = _clusters(games)
    sums, seats = np.zeros(max(clusters, default=-1) + 1), np.zeros(max(clusters, default=-1) + 1)
    for cluster, game in zip(clusters, games, strict=True):
        sums[cluster] += measure(game)
        seats[cluster] += 1
    return sums, seats


def mean_of(games: Sequence[ReviewedGame], measure: Measure) -> Estimate:
    """Return the mean of a measure over seats; the seats of a game are one observation."""
    return ratio(*_sums(games, measure)) if games else NOTHING


def apart(
    games: Sequence[ReviewedGame], reference: Sequence[ReviewedGame], measure: Measure
) -> Estimate:
    """Return the mean over some games less that over others, both with their own luck."""
    one, other = _sums(games, measure), _sums(reference, measure)
    pad = np.zeros(len(one[0])), np.zeros(len(other[0]))
    return difference(
        (np.append(one[0], pad[1]), np.append(one[1], pad[1])),
        (np.append(pad[0], other[0]), np.append(pad[0], other[1])),
    )
