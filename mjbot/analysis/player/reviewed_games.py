"""Games of a player, reviewed one by one and kept line by line, so that a run resumes.

A line holds what the report needs of a file of records: the player's different choices with their
costs, the kyoku with what they did to the expected place, the luck of the draws, and the counts of
:mod:`mjbot.analysis.stats`.  Positions are not kept: they are read again from the record.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import numpy as np

from mjbot.analysis.review.decisions import Judged, ReviewedDecision, judge
from mjbot.analysis.review.players import SeatedPlayers
from mjbot.analysis.review.playouts import CostEstimator, Shown, Verdict, verdict_of
from mjbot.analysis.review.reasons import MistakeClass, class_of_mistake, is_last_hand
from mjbot.analysis.review.sentences import sentence, sentence_and_cost
from mjbot.analysis.review.summary import agreement, known_seats
from mjbot.analysis.stats.counted_games import BreakdownRows, count_game, file_day
from mjbot.game.records.choices import ReplayStep, steps_of
from mjbot.game.records.game import EVENTS_SIZE, Game, RecordError, hand_problems
from mjbot.game.records.sources import Source, content_digest, games_of
from mjbot.game.rules.tile_sets import acceptance_of, shanten_of
from mjbot.game.statistics.estimates import Estimate
from mjbot.game.table.mirror.mirror import TableError
from mjbot.game.table.view import View
from mjbot.protocol import messages as m
from mjbot.protocol.errors import NOT_JSON
from mjbot.protocol.tiles import N_KINDS, TILE_BY_NAME, tile_kind
from mjbot.runtime.append_log import (
    AppendLog,
    Cures,
    decode_checked,
    emptied,
    encode_checked,
    read_log,
)
from mjbot.runtime.languages import ENGLISH, marked, translate, using_language
from mjbot.runtime.processes import in_processes
from mjbot.strategy.options import StrategyError
from mjbot.strategy.registry import Spec

FORMAT: Final = "mjbot reviewed games 6"
NO_ACTION: Final = -1
MOST_CHOICES: Final = 6
"""Rated choices that are kept of a decision, besides the two that were compared."""


class Outcome(StrEnum):
    """How a kyoku ended for a player.

    A deal-in is *without a better choice* where the reviewer discards the same tile or the seat had
    no choice.
    """

    WON = marked("won")
    NO_BETTER_CHOICE = marked("dealt in without a better choice")
    OTHER_CHOICE = marked("dealt in after another choice")
    OTHERS_TSUMO = marked("another's tsumo")
    OTHERS_RON = marked("a ron between others")
    NO_WIN = marked("no win")


class Situation(NamedTuple):
    """In what kind of situation a choice was.

    ``shanten`` and ``riichi``, the number of opponents in riichi, are counted up to 2.
    """

    shanten: int
    riichi: int
    is_last_hand: bool

    @property
    def parts(self) -> list[str]:
        """The situation in English terms."""
        hand = (marked("tenpai"), marked("1-shanten"), marked("2-shanten or more"))[self.shanten]
        threats = (marked("no riichi"), marked("one riichi"), marked("two riichi or more"))
        last = [marked("last hands")] if self.is_last_hand else []
        return [hand, threats[self.riichi], *last]


class Mistake(msgspec.Struct, frozen=True):
    """A choice other than the reviewer's.

    Actions are codes (:mod:`mjbot.game.table.actions`), ``then`` the discards after a riichi or
    call, :data:`NO_ACTION` where there are none.  ``places`` are value, low and high of what it is
    to be expected to cost after playouts, ``points`` the same in points, ``mean`` the plain mean in
    places of the worlds that every choice gets, for sums; ``loss`` is what the reviewer estimates,
    in the ``loss_unit`` of the game, ``is_close`` whether that is too little to distinguish them.
    ``choices`` are codes and the reviewer's values.
    """

    event: int
    at: str
    mistake_class: MistakeClass
    situation: Situation
    actual: int
    then: int
    better: int
    better_then: int
    loss: float
    places: tuple[float, float, float] | None
    mean: float
    points: float
    is_close: bool
    text: str
    choices: tuple[tuple[int, int, float], ...]

    @property
    def is_shown(self) -> bool:
        """Whether playouts show that it cost something."""
        return self.places is not None and verdict_of(Estimate(*self.places)) is Verdict.SHOWN


class KyokuChange(msgspec.Struct, frozen=True):
    """How a kyoku ended for the player, and what it added to its expected place (+: worse)."""

    name: str
    outcome: Outcome
    change: float


class DrawLuck(msgspec.Struct, frozen=True):
    """Draws of a hand that could improve: how many did, and how many were to be expected."""

    draws: int = 0
    hits: int = 0
    expected: float = 0.0


class ReviewedGame(msgspec.Struct, frozen=True):
    """One game of one player.

    ``number`` counts the games of the file from 0. ``length`` and ``rules`` are those of
    :class:`mjbot.analysis.stats.counted_games.BreakdownRows`. ``expected`` is the final rank to be
    expected as it begins. ``improving`` are draws before tenpai, ``winning`` in tenpai. ``starts``
    is the sum of the shanten of the hands dealt to the player, ``room_starts`` of the others whose
    hands the record shows, each with the number of hands. ``agreement`` is the sum of the parts of
    the grade (:func:`mjbot.analysis.review.summary.rating`) and the number of decisions that have
    one. ``counts`` are those of :data:`mjbot.analysis.stats.counted_games.FIELDS`, ``room`` the
    sums over the others.
    """

    source: str
    number: int
    digest: str
    day: str
    length: str
    rules: str
    players: int
    player: str
    seat: int
    final_rank: int
    expected: float
    loss_unit: str
    decisions: int
    agreement: tuple[float, int]
    mistakes: tuple[Mistake, ...]
    kyoku: tuple[KyokuChange, ...]
    improving: DrawLuck
    winning: DrawLuck
    starts: tuple[int, int]
    room_starts: tuple[int, int]
    counts: tuple[float, ...]
    room: tuple[float, ...]


class ReviewedSource(msgspec.Struct, frozen=True):
    """A file of records: its games of the player, and why some could not be reviewed.

    ``content`` is a digest of the file as it was read: what is kept holds for that content alone.
    """

    source: str
    content: str
    games: tuple[ReviewedGame, ...] = ()
    problems: tuple[str, ...] = ()


class ReviewedHeader(msgspec.Struct, frozen=True):
    """What the lines of a file depend on; ``player`` is empty where all players are reviewed.

    ``language`` is that of the sentences, ``code`` a digest of all that judges, the reviewer's code
    and ours; ``file_dates``: whether files date games that have no date; ``rules`` replace those of
    the records, empty: they do not.
    """

    player: str
    by: str
    playouts_s: float
    seed: int
    format: str = FORMAT
    language: str = ENGLISH
    code: str = ""
    file_dates: bool = False
    rules: str = ""


FORMAT_MARK: Final = b'"format":"mjbot reviewed games'
CURES: Final = Cures("choose another --out", "delete it to review the games again")


_DECODE: Final = partial(decode_checked, type=ReviewedSource)


def empty_if_stale(path: Path, header: ReviewedHeader) -> bool:
    """Empty a file of reviews that another version of the code made with the same options.

    Returns whether it was one.  Raises ``OSError`` and ``append_log.LogError``.
    """
    if not is_games_file(path):
        return False
    with path.open("rb") as file:
        first = file.readline()
    try:
        kept = msgspec.json.decode(first, type=ReviewedHeader)
    except NOT_JSON:
        return False  # it is reported where the file is opened
    ours = msgspec.structs.replace(kept, code=header.code, format=header.format)
    if kept == header or ours != header:
        return False
    with emptied(path, ReviewedHeader, _DECODE, CURES.elsewhere):
        return True


def open_games_file(
    path: Path, header: ReviewedHeader
) -> AppendLog[ReviewedHeader, ReviewedSource]:
    """Open the file of a run, or resume it; raises :class:`~mjbot.runtime.append_log.LogError`."""
    return AppendLog(path, header, CURES, decode=_DECODE, encode=encode_checked)


def read_games_file(path: Path) -> tuple[ReviewedHeader, list[ReviewedSource]]:
    """Return what a file holds; raises ``OSError`` and ``append_log.LogError``.

    Of a file of records that was reviewed again the latest review counts.
    """
    kept: list[ReviewedHeader] = []
    lines = read_log(path, ReviewedHeader, decode=_DECODE, cures=CURES, difference=kept.append)
    return kept[0], list({line.source: line for line in lines}.values())


def is_games_file(path: Path) -> bool:
    """Return whether a file is that of an earlier run."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return FORMAT_MARK in file.readline(4096)


def review_sources(
    sources: Sequence[Source], header: ReviewedHeader, jobs: int
) -> Iterator[ReviewedSource]:
    """Yield each file of records reviewed, in order."""
    review = partial(review_source, header=header)
    yield from in_processes(review, sources, jobs)


def review_source(source: Source, header: ReviewedHeader) -> ReviewedSource:
    """Review the games of a file in which the player has a seat whose hand the record shows."""
    content = content_digest(source)  # first: what is appended meanwhile is reviewed next time
    games: list[ReviewedGame] = []
    problems: list[str] = []
    with using_language(header.language):
        try:
            for number, game in enumerate(games_of(source, players=(3, 4))):
                try:
                    games += _games(source, number, game, header)
                except RecordError as error:
                    problems.append(str(error))
                except (TableError, StrategyError) as error:
                    problems.append(f"{game.name}: {error}")
                problems += [problem.text for problem in hand_problems(game)]
        except RecordError as error:
            problems.append(str(error))
    return ReviewedSource(source.name, content, tuple(games), tuple(problems))


@dataclass(frozen=True)
class _ReadGame:
    """A game that was read: where it comes from, its events, counts and judged decisions."""

    source: Source
    number: int
    events: Sequence[m.Event]
    rows: BreakdownRows
    known: Sequence[int]
    judged: Judged

    def decisions(self, seat: int) -> list[ReviewedDecision]:
        return [decision for decision in self.judged.decisions if decision.seat == seat]


def _games(
    source: Source, number: int, game: Game, header: ReviewedHeader
) -> Iterator[ReviewedGame]:
    entries = list(game.entries)
    events = [entry.event for entry in entries]
    rows = count_game(replace(game, entries=entries), file_day(source) if header.file_dates else "")
    known = known_seats(events)
    seats = [seat for seat in known if header.player in ("", rows.names[seat])]
    if not seats:
        return
    if not rows.ranks:
        raise RecordError(game.name, "", "the game did not end")
    judged = judge(events, SeatedPlayers(Spec.read(header.by), header.seed), seats, ())
    read = _ReadGame(source, number, events, rows, known, judged)
    costs = None
    if header.playouts_s:
        costs = CostEstimator(header.playouts_s, header.seed, judged.players)
    for seat in seats:
        yield _reviewed(read, seat, costs.estimate(read.decisions(seat)) if costs else {})


def _reviewed(game: _ReadGame, seat: int, shown: dict[ReviewedDecision, Shown]) -> ReviewedGame:
    judged, rows, decisions = game.judged, game.rows, game.decisions(seat)
    starts, luck = _starts(game), _Draws(seat)
    for step in steps_of(game.events):
        luck.see(step)
    others = [other for other in range(judged.players) if other != seat]
    dealt = [starts[other] for other in others if other in starts]
    return ReviewedGame(
        source=game.source.name,
        number=game.number,
        digest=rows.identity.whole[-EVENTS_SIZE:].hex(),
        day=rows.day,
        length=rows.length,
        rules=rows.rules,
        players=judged.players,
        player=rows.names[seat],
        seat=seat,
        final_rank=judged.final_ranks[seat],
        expected=judged.kyoku[0].expected_rank(seat),
        loss_unit=next((d.loss_unit for d in decisions if not d.is_equal), ""),
        decisions=len(decisions),
        agreement=_agreement(decisions),
        mistakes=tuple([_mistake(d, shown.get(d)) for d in decisions if _is_different(d)]),
        kyoku=tuple(_changes(judged, seat)),
        improving=luck.improving,
        winning=luck.winning,
        starts=starts[seat],
        room_starts=(sum(start[0] for start in dealt), sum(start[1] for start in dealt)),
        counts=tuple(rows.rows[seat]),
        room=tuple(np.sum([rows.rows[o] for o in others], axis=0).tolist()),
    )


def _agreement(decisions: Sequence[ReviewedDecision]) -> tuple[float, int]:
    parts = [part for part in map(agreement, decisions) if part is not None]
    return round(sum(parts), 6), len(parts)


def _is_different(decision: ReviewedDecision) -> bool:
    """Whether something else was done; a win that a pair lets pass on an ally's tile is no such."""
    return not decision.is_equal and not (decision.is_on_ally and decision.expected.is_win)


def _mistake(decision: ReviewedDecision, shown: Shown | None) -> Mistake:
    better, better_then = decision.expected, decision.expected_then
    if shown is not None and shown.better is not None:
        better, better_then = shown.better, shown.better_then
    rated = decision.explanation.best_first[:MOST_CHOICES]
    kept = [*rated, *filter(None, [decision.done])]
    places = (shown.ranks.value, shown.ranks.low, shown.ranks.high) if shown else None
    choices = {
        option.action.code: (
            option.action.code,
            _code(option.then),
            round(option.value, 3),
        )
        for option in kept
        if option.value > float("-inf")
    }
    return Mistake(
        event=decision.event,
        at=decision.at,
        mistake_class=class_of_mistake(decision, better, better_then),
        situation=situation(decision.view),
        actual=decision.actual.code,
        then=_code(decision.then),
        better=better.code,
        better_then=_code(better_then),
        loss=decision.loss or 0.0,
        places=places,
        mean=shown.first.ranks if shown else 0.0,
        points=shown.points.value if shown else 0.0,
        is_close=decision.is_close,
        text=sentence_and_cost(sentence(decision), decision, shown),
        choices=tuple(choices.values()),
    )


def _code(action: object) -> int:
    return int(getattr(action, "code", NO_ACTION))


def situation(view: View) -> Situation:
    """Return in what kind of situation a choice was."""
    riichi = sum(bool(view.riichi(seat)) for seat in range(view.players) if seat != view.seat)
    return Situation(min(max(view.shanten, 0), 2), min(riichi, 2), is_last_hand(view))


def situation_text(mistake_class: MistakeClass, of: Situation) -> str:
    """Return a class of mistakes and a situation, in the language of the process."""
    terms = translate(", ").join(map(translate, of.parts))
    return translate("{kind}: {situation}", kind=translate(mistake_class), situation=terms)


# --- luck --------------------------------------------------------------------------------------


def _changes(judged: Judged, seat: int) -> Iterator[KyokuChange]:
    """Yield what each kyoku did to the place that the seat could expect."""
    ranks = [kyoku.expected_rank(seat) for kyoku in judged.kyoku]
    ranks.append(float(judged.final_ranks[seat]))
    for number, kyoku in enumerate(judged.kyoku):
        change = ranks[number + 1] - ranks[number]
        yield KyokuChange(kyoku.name, outcome_of(judged, number, seat), round(change, 6))


def outcome_of(judged: Judged, number: int, seat: int) -> Outcome:
    """Return how a kyoku ended for a seat."""
    wins = [result for result in judged.kyoku[number].results if isinstance(result, m.Hora)]
    if not wins:
        return Outcome.NO_WIN
    if any(win.actor == seat for win in wins):
        return Outcome.WON
    if wins[0].actor == wins[0].target:
        return Outcome.OTHERS_TSUMO
    if wins[0].target != seat:
        return Outcome.OTHERS_RON
    deal_ins = [
        deal_in for deal_in in judged.deal_ins if (deal_in.kyoku, deal_in.seat) == (number, seat)
    ]
    avoidable = any(
        deal_in.decision is not None and not deal_in.decision.is_equal for deal_in in deal_ins
    )
    return Outcome.OTHER_CHOICE if avoidable else Outcome.NO_BETTER_CHOICE


def _starts(game: _ReadGame) -> dict[int, tuple[int, int]]:
    """Return the shanten of the hands that were dealt, summed, and their number, by seat."""
    starts = dict.fromkeys(game.known, (0, 0))
    for event in game.events:
        if isinstance(event, m.StartKyoku):
            for seat, (total, hands) in starts.items():
                hand = np.zeros(N_KINDS, np.int8)
                for name in event.tehais[seat]:
                    hand[tile_kind(TILE_BY_NAME[name])] += 1
                away = int(shanten_of(hand, 0, game.judged.players))
                starts[seat] = total + away, hands + 1
    return starts


class _Draws:
    """Compares a seat's draws with what its hand accepts, by the tiles that the wall still has.

    The wall is what no hand holds and nobody has seen, in random order whatever was played, so that
    hits less expected is 0 on average.  (By the tiles that the seat itself does not see it is not:
    others keep what it waits for.)  Draws count where the record shows all hands.
    """

    def __init__(self, seat: int) -> None:
        self.improving = DrawLuck()
        self.winning = DrawLuck()
        self._seat: Final = seat

    def see(self, step: ReplayStep) -> None:
        if not (isinstance(step.event, m.Tsumo) and step.event.actor == self._seat):
            return
        state, view = step.table.state, step.table.view(self._seat)
        if not state["hand_known"][: view.players].all():
            return
        kind = tile_kind(view.drawn)
        hand, wall = view.hand.copy(), view.unseen.astype(np.int64)
        wall -= state["hand"].astype(np.int64).sum(axis=0) - hand
        hand[kind] -= 1
        wall[kind] += 1
        away, mask = acceptance_of(hand, view.n_melds, view.players)
        accepted = sum(int(wall[better]) for better in range(N_KINDS) if mask >> better & 1)
        chance, hit = accepted / int(wall.sum()), int(mask >> kind & 1)
        if away > 0:
            self.improving = _added(self.improving, chance, hit)
        else:
            self.winning = _added(self.winning, chance, hit)


def _added(luck: DrawLuck, chance: float, hit: int) -> DrawLuck:
    return DrawLuck(luck.draws + 1, luck.hits + hit, luck.expected + chance)
