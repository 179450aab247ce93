"""A complete game: fields that its events leave out are filled in by the strict table.

Dialects differ in the fields of a payment, and no mjai dialect includes which dragon was a
triplet or which limit a hand reached.  A record in another format needs all of it.  So the events
go through the strict table, and each comes out with everything that the table knows, in one form
for every source: two records of one game are equal once they are complete.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import numpy as np

from mjbot.game.records.game import Entry, Game, IncompleteGameError, WinRecord, hand_name
from mjbot.game.rules import yaku_table
from mjbot.game.rules.points import MANGAN, YAKUMAN_BASE, base_points
from mjbot.game.rules.ruleset import rules_of
from mjbot.game.table import state as s
from mjbot.game.table.assume import show_ura
from mjbot.game.table.hands import concealed_tiles
from mjbot.game.table.mirror.mirror import Mirror, TableError
from mjbot.game.table.mirror.wire import tile_code
from mjbot.game.table.settle import PAYMENT, abort_reason, has_nagashi, win_payment
from mjbot.protocol import messages as m
from mjbot.protocol.rules import Rules
from mjbot.protocol.seats import by_seat, paid, riichi_deltas
from mjbot.protocol.tenhou.results import yaku_order
from mjbot.protocol.tiles import (
    FIRST_HONOUR,
    N_KINDS,
    RED_FIVES,
    TILE_NAMES,
    UNKNOWN,
    tile_kind,
    tile_names,
)
from mjbot.protocol.yaku import YAKUMAN_FAN, named_yaku

_LIMITS: Final = (MANGAN, 3 * MANGAN // 2, 2 * MANGAN, 3 * MANGAN, YAKUMAN_BASE)
_PLAYER_FIELDS: Final = ("id", "log", "possible_actions", "cannot_dahai")
"""What servers add for a player, which is no part of what happened and is left out."""
_REDS: Final = frozenset(tile_names(RED_FIVES))
_Melds = m.Chi | m.Pon | m.Daiminkan | m.Kakan | m.Ankan
_OVER: Final = (s.IDLE, s.WON, s.DRAWN, s.GAME_OVER)


class _MissingFactError(ValueError):
    """Information that cannot be reconstructed."""


@dataclass(frozen=True, slots=True)
class CompleteGame:
    """A game with all fields.

    Of ``rules`` that the record does not contain, the length is a hanchan unless the course of the
    game excludes it.  Red fives are played with if one was seen, whatever the record announces.
    """

    entries: tuple[Entry, ...]
    names: tuple[str, str, str, str]
    rules: Rules


def complete(game: Game) -> CompleteGame:
    """Return a game with every field of each event filled in, and each win's record.

    Raises :class:`~mjbot.game.records.game.IncompleteGameError` where the events are incomplete
    or break the rules, and :class:`~mjbot.game.records.game.RecordError` where they cannot be read.
    """
    builder = _GameBuilder()
    entries: list[Entry] = []
    number = hands = 0
    for number, event, *_ in game.entries:
        hands += isinstance(event, m.StartKyoku)
        try:
            entries.append(Entry(number, *builder.add(event)))
        except (TableError, _MissingFactError) as error:
            problem = error.problem if isinstance(error, TableError) else str(error)
            raise IncompleteGameError(game.name, game.place(number), problem) from None
    if not hands:
        raise IncompleteGameError(game.name, "", "it has no hand")
    if int(builder.state["phase"]) not in _OVER:
        raise IncompleteGameError(game.name, game.place(number), "the log ends inside a hand")
    return builder.game(entries)


def _announcing(entry: Entry, rules: Rules) -> Entry:
    if not isinstance(entry.event, m.StartGame):
        return entry
    return entry._replace(event=msgspec.structs.replace(entry.event, mjbot_rules=rules.announced))


class _GameBuilder:
    """Takes a game's events one by one through a table where all hands are seen."""

    def __init__(self) -> None:
        self._table = Mirror()
        self.state: s.State = self._table.state
        self._has_reds = False
        self._rules_announced = False
        self._hand = ""

    def game(self, entries: Iterable[Entry]) -> CompleteGame:
        """Return the game of these entries."""
        names = by_seat([*self._table.names, "", "", "", ""][:4])
        rules = rules_of(self.state["rules"])
        red_fives = self._has_reds or (self._rules_announced and rules.red_fives)
        rules = msgspec.structs.replace(rules, red_fives=red_fives)
        completed = tuple([_announcing(entry, rules) for entry in entries])
        return CompleteGame(completed, names, rules)

    def add(self, event: m.Event) -> tuple[m.Event, WinRecord | None]:
        """Apply an event; return it with every field, and of a win its record."""
        state = self.state
        match event:
            case m.Hora():
                win = self._win(event)
                self._has_reds |= not _REDS.isdisjoint(win.ura_markers)
                hand = _winning_hand(state, event.actor, win)
                completed: m.Event = _hora(win, hand, _four(state["scores"]))
                self._table.apply(event)
                return completed, win
            case m.Ryukyoku():
                shown = _drawn(state, event)
                before = state["scores"].copy()
                self._table.apply(event)
                deltas, scores = _four(state["scores"] - before), _four(state["scores"])
                return msgspec.structs.replace(shown, deltas=deltas, scores=scores), None
            case m.StartGame(mjbot_rules=rules):
                self._rules_announced = rules is not None
            case m.StartKyoku(tehais=hands, dora_marker=marker):
                self._hand = hand_name(event)
                self._has_reds |= marker in _REDS
                for seat, hand in enumerate(hands[: int(state["rules"]["players"])]):
                    if "?" in hand:
                        raise _MissingFactError(f"the hand of seat {seat} is hidden")
                    self._has_reds |= not _REDS.isdisjoint(hand)
            case m.EndKyoku() | m.EndGame() if int(state["phase"]) not in _OVER:
                raise _MissingFactError(f"the hand {self._hand} has no result")
            case m.Tsumo(pai=tile) | m.Dora(dora_marker=tile):
                self._has_reds |= tile in _REDS
        self._table.apply(event)
        return self._with_scores(event), None

    def _with_scores(self, event: m.Event) -> m.Event:
        scores = _four(self.state["scores"])
        match event:
            case m.StartKyoku():
                return msgspec.structs.replace(event, scores=scores, can_act=True)
            case m.EndGame():
                return m.EndGame(scores=scores)
            case m.ReachAccepted(actor=seat):
                return m.ReachAccepted(
                    actor=seat,
                    deltas=riichi_deltas(seat, int(self.state["rules"]["stick_points"])),
                    scores=scores,
                )
        changed: dict[str, Any] = {
            name: None for name in _PLAYER_FIELDS if getattr(event, name, None) is not None
        }
        if isinstance(event, _Melds):
            changed["consumed"] = in_id_order(event.consumed)
        return msgspec.structs.replace(event, can_act=True, **changed)

    def _win(self, event: m.Hora) -> WinRecord:
        """Return the payment of a win, before it is paid."""
        state, seat = self.state, event.actor
        if state["riichi"][seat] == s.ACCEPTED:
            if event.uradora_markers is None:
                raise _MissingFactError("the ura dora markers of a win after riichi are missing")
            show_ura(state, [tile_code(name) for name in event.uradora_markers])
        by_draw = event.target == seat
        tile = int(state["drawn" if by_draw else "last_tile"])
        if not 0 <= tile < UNKNOWN:
            raise _MissingFactError(f"seat {seat} wins, but there is no tile to win on")
        payment: Any = np.zeros(1, PAYMENT)[0]
        win_payment(state, seat, tile, by_draw, payment)
        return _win_record(state, event, payment, tile)


def _win_record(state: s.State, event: m.Hora, payment: Any, tile: int) -> WinRecord:
    seat, yakuman, liable = event.actor, int(payment["yakuman"]), int(payment["liable"])
    is_first = int(state["wins"]) == 0
    riichi = int(state["riichi"][seat]) == s.ACCEPTED
    yaku = () if yakuman else _yaku(state, seat, tile, payment)
    return WinRecord(
        winner=seat,
        source=event.target,
        liable=liable if liable >= 0 else None,
        yaku=yaku,
        yakuman=tuple(yaku_table.wire_ids(int(payment["yaku_mask"]) & yaku_table.YAKUMAN)),
        fu=int(payment["fu"]) if event.fu is None or not yakuman else event.fu,
        hand_points=int(payment["points"]),
        limit=sum(limit <= _base(state, payment) for limit in _LIMITS),
        honba=int(state["honba"]),
        sticks=int(state["sticks"]) if is_first else 0,
        winning_tile=TILE_NAMES[tile],
        dora_markers=tile_names(state["dora_markers"][: state["n_dora"]].tolist()),
        ura_markers=tile_names(state["ura_markers"][: state["n_ura"]].tolist()) if riichi else (),
        deltas=_four(payment["deltas"]),
    )


def _hora(win: WinRecord, hand: Sequence[str], before: m.FourInts) -> m.Hora:
    """Return the event of a win with a concealed hand, ``before`` being the points before it."""
    return m.Hora(
        actor=win.winner,
        target=win.source,
        pai=win.winning_tile,
        pao=win.liable,
        uradora_markers=win.ura_markers,
        hora_tehais=tuple(hand),
        yakus=named_yaku(win.yaku, win.yakuman),
        fu=win.fu,
        fan=YAKUMAN_FAN * len(win.yakuman) or sum(han for _, han in win.yaku),
        hora_points=win.hand_points,
        deltas=win.deltas,
        scores=paid(before, win.deltas),
    )


def _base(state: s.State, payment: Any) -> int:
    han, fu, yakuman = int(payment["han"]), int(payment["fu"]), int(payment["yakuman"])
    return int(base_points(han, fu, yakuman, int(state["rules"]["scoring"])))


def _yaku(state: s.State, seat: int, tile: int, payment: Any) -> tuple[tuple[int, int], ...]:
    """Return ids and han in Tenhou's order; ura dora stand there with 0 too after riichi."""
    mask = int(payment["yaku_mask"])
    order = yaku_order(_honour_triplets(state, seat, tile))
    han = yaku_table.OPEN_HAN if state["is_open"][seat] else yaku_table.CLOSED_HAN
    ordinary = mask & yaku_table.ORDINARY
    pairs = [(yaku, int(han[yaku])) for yaku in order if ordinary >> yaku & 1]
    bonus = ((yaku_table.DORA, int(payment["dora"])), (yaku_table.RED_DORA, int(payment["red"])))
    pairs += [(yaku, count) for yaku, count in bonus if count]
    if state["riichi"][seat] == s.ACCEPTED:
        pairs.append((yaku_table.URA_DORA, int(payment["ura"])))
    return tuple(pairs)


def _honour_triplets(state: s.State, seat: int, tile: int) -> list[int]:
    """Return the kinds of triplets of honours: concealed ones first, then the calls."""
    concealed = state["hand"][seat].copy()
    if int(state["turn"]) != seat:
        concealed[tile_kind(tile)] += 1
    kinds = [kind for kind in range(FIRST_HONOUR, N_KINDS) if concealed[kind] >= 3]
    kinds += state["meld_kind"][seat][: state["n_melds"][seat]].tolist()
    return [kind for kind in kinds if kind >= FIRST_HONOUR]


def _winning_hand(state: s.State, seat: int, win: WinRecord) -> tuple[str, ...]:
    """Return the concealed tiles, and at the end the one that was drawn to win."""
    hand = _shown(state, seat)
    if win.winner == win.source:
        hand.remove(win.winning_tile)
        hand.append(win.winning_tile)
    return tuple(hand)


def _shown(state: s.State, seat: int) -> list[str]:
    """Return a hand in the order of Tenhou's ids."""
    return [*in_id_order(tile_names(concealed_tiles(state, seat)))]


def _drawn(state: s.State, event: m.Ryukyoku) -> m.Ryukyoku:
    """Return a draw with its reason and the hands that Tenhou shows."""
    reason = _reason(state, event)
    turn = int(state["turn"])
    shown = [False] * 4
    if reason == s.NINE_TERMINALS:
        shown[turn] = True
    elif reason == s.TRIPLE_RON:
        shown = [seat != turn for seat in range(4)]
    elif reason == s.FOUR_RIICHI:
        shown = [True] * 4
    elif reason in (s.EXHAUSTIVE, s.NAGASHI):
        shown = [int(waits) != 0 for waits in state["waits"]]
    hands = (
        tuple(_shown(state, seat)) if shown[seat] else ("?",) * (13 - 3 * melds)
        for seat, melds in enumerate(state["n_melds"].tolist())
    )
    nine = reason == s.NINE_TERMINALS
    return m.Ryukyoku(
        actor=turn if nine else None,
        reason=s.WIRE_REASONS[reason],
        tehais=tuple(hands),
        tenpais=by_seat(seen and not nine for seen in shown),
    )


def _reason(state: s.State, event: m.Ryukyoku) -> int:
    """Return why the hand is drawn; the table decides where the server does not."""
    if event.reason in s.WIRE_REASONS[1:-1]:
        return s.WIRE_REASONS.index(event.reason)
    if event.reason is not None:
        raise _MissingFactError(f"ryukyoku.reason is {event.reason!r}, which Tenhou does not know")
    if int(state["phase"]) == s.TURN:
        return s.NINE_TERMINALS
    if aborted := int(abort_reason(state)):
        return aborted
    if int(state["wall_left"]) > 0:
        return s.TRIPLE_RON
    return s.NAGASHI if any(has_nagashi(state, seat) for seat in range(4)) else s.EXHAUSTIVE


def _four(points: Any) -> m.FourInts:
    return by_seat(points.tolist())


def in_id_order(tiles: Iterable[str]) -> tuple[str, ...]:
    """Return known tiles as Tenhou's ids order them: a red five is the first of its kind.

    >>> in_id_order(["E", "5m", "1m", "5mr"])
    ('1m', '5mr', '5m', 'E')
    """
    return tuple(sorted(tiles, key=_id_place))


def _id_place(name: str) -> tuple[int, int]:
    tile = tile_code(name)
    return tile_kind(tile), -tile
