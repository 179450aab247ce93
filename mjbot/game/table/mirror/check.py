"""Does an event from outside fit the state?  Each check raises ``ValueError`` saying why not.

A seat whose hand is known is held to its legal actions; of the others only what everybody sees
is checked: turns, the wall, calls, riichi, and that no tile shows up a fifth time.
"""

from collections import Counter
from typing import Any, Final

import numpy as np

from mjbot.game.table import state as s
from mjbot.game.table.actions import ACTIONS, N_ACTIONS, RON, Action
from mjbot.game.table.hands import concealed_tiles, red_copies
from mjbot.game.table.legal import can_abort, can_ron, legal_codes
from mjbot.game.table.mirror.wire import tile_code, to_action, to_message
from mjbot.game.table.observe import extra_copy
from mjbot.game.table.seats import next_seat
from mjbot.game.table.settle import abort_reason, three_rons_draw
from mjbot.protocol import messages as m
from mjbot.protocol.tiles import N_KINDS, TILE_NAMES, tile_kind, tile_names

_PHASES: Final = {
    s.IDLE: "no kyoku is under way",
    s.DRAW: "seat {turn} is to draw",
    s.TURN: "seat {turn} has drawn and is to discard",
    s.CALLED: "seat {turn} has called and is to discard",
    s.RIICHI: "seat {turn} has declared riichi and is to discard",
    s.REACTION: "seat {turn} has discarded {tile}",
    s.CHANKAN: "seat {turn} has added {tile} to its pon",
    s.RINSHAN: "seat {turn} is to draw after its kan",
    s.GAME_OVER: "the game is over",
}


_REASON_CODES: Final = {name: code for code, name in enumerate(s.WIRE_REASONS)}


def situation(state: s.State) -> str:
    """Describe what the table waits for, for error messages."""
    phase = int(state["phase"])
    text = _PHASES.get(phase, "the kyoku is over")
    if phase == s.CHANKAN and state["chankan"] != s.OF_KAKAN:
        by_ankan = state["chankan"] == s.OF_ANKAN
        text = "seat {turn} has " + ("a kan of {tile}" if by_ankan else "set {tile} aside")
    return text.format(turn=int(state["turn"]), tile=TILE_NAMES[int(state["last_tile"])])


def _expect(condition: bool, problem: str) -> None:
    if not condition:
        raise ValueError(problem)


def check_start_kyoku(state: s.State, event: m.StartKyoku, seat: int | None) -> None:
    """The dealer is ``kyoku - 1``, the own hand is shown and no tile is dealt five times."""
    _expect(event.oya == event.kyoku - 1, f"oya is {event.oya}, expected kyoku - 1")
    players = int(state["rules"]["players"])
    _expect(
        event.oya < players, f"oya is {event.oya}, but {players} play: seats 0 to {players - 1}"
    )
    if seat is not None:
        _expect("?" not in event.tehais[seat], f"tehais[{seat}], the own hand, is hidden")
    dealt = Counter((event.dora_marker, *(name for hand in event.tehais for name in hand)))
    kinds: Counter[int] = Counter()
    for name, count in dealt.items():
        if name != "?":
            tile = tile_code(name)
            kinds[tile_kind(tile)] += count
            most = 4 if tile < N_KINDS else red_copies(state["rules"], tile - N_KINDS)
            _expect(count <= most, f"{name} is dealt {count} times")
    for kind, count in kinds.items():
        _expect(count <= 4, f"{TILE_NAMES[kind]} is dealt {count} times")


def check_draw(state: s.State, event: m.Tsumo) -> None:
    """The right seat draws, and there is something to draw."""
    phase, turn = int(state["phase"]), int(state["turn"])
    after_kan = phase in (s.RINSHAN, s.CHANKAN)
    _expect(
        after_kan or phase in (s.DRAW, s.REACTION),
        f"no seat may draw now: {situation(state)}",
    )
    expected = next_seat(state, turn) if phase == s.REACTION else turn
    _expect(event.actor == expected, f"actor is {event.actor}, but seat {expected} is to draw")
    _expect(int(state["wall_left"]) > 0, "the wall is empty")
    at_once = bool(state["rules"]["open_kan_dora_at_once"])
    owed = (phase == s.REACTION or at_once) and int(state["pending_dora"]) > 0
    _expect(not owed, "the dora marker of a kan is still to be turned")
    known = bool(state["hand_known"][event.actor])
    _expect(event.pai != "?" or not known, "pai is '?' for a seat whose hand is known")


def check_action(state: s.State, seat: int, event: m.PlayerAction) -> Action:
    """The event is an action that this seat may take now; return the action."""
    action = to_action(state, seat, event)
    if not state["hand_known"][seat]:
        _check_public(state, seat, event)
        return action
    if action not in allowed_actions(state, seat):
        names = ", ".join(str(other) for other in allowed_actions(state, seat)) or "nothing"
        raise ValueError(f"seat {seat} may not {action} ({situation(state)}); legal: {names}")
    _check_tiles(state, seat, action, event)
    return action


def allowed_actions(state: s.State, seat: int) -> tuple[Action, ...]:
    """Return the legal actions; after a first ron those of the further winners."""
    if int(state["phase"]) == s.WON:
        if state["rules"]["head_bump"]:
            return ()
        may_win = seat != int(state["turn"]) and not int(state["wins"]) >> seat & 1
        return (ACTIONS[RON],) if may_win and can_ron(state, seat) else ()
    codes = np.empty(N_ACTIONS, np.uint8)
    n = legal_codes(state, seat, codes)
    return tuple([ACTIONS[code] for code in codes[:n].tolist()])


def _check_tiles(state: s.State, seat: int, action: Action, event: m.PlayerAction) -> None:
    """The tiles named in a call or kan are those that the hand gives.

    Of two red 5p with a plain one a pon may give both.
    """
    if isinstance(event, m.Pon) and action.red and state["rules"]["two_red_5p"]:
        held = Counter(tile_names(concealed_tiles(state, seat)))
        _expect(Counter(event.consumed) <= held, f"consumed is {event.consumed}, which is not held")
        return
    expected: Any = to_message(state, seat, action)
    for field in ("pai", "consumed"):
        value = getattr(event, field, None)
        ours = getattr(expected, field, None)
        if value is not None and ours is not None and sorted(value) != sorted(ours):
            raise ValueError(f"{field} is {value}, but the hand gives {ours}")


def _check_public(state: s.State, seat: int, event: m.PlayerAction) -> None:
    match event:
        case m.Dahai():
            _check_hidden_discard(state, seat, event)
        case m.Reach():
            _expect(_own_turn(state, seat, s.TURN), f"seat {seat} may not declare riichi now")
            _expect(not state["is_open"][seat], f"seat {seat} has called and may not riichi")
            _expect(not state["riichi"][seat], f"seat {seat} is in riichi already")
            stick = int(state["rules"]["stick_points"])
            _expect(int(state["scores"][seat]) >= stick, f"seat {seat} lacks the {stick} points")
        case m.Chi() | m.Pon() | m.Daiminkan():
            _check_hidden_call(state, seat, event)
        case m.Ankan() | m.Kakan():
            _expect(_own_turn(state, seat, s.TURN), f"seat {seat} may not declare a kan now")
            _expect(int(state["wall_left"]) > 0, "no kan once the wall is empty")
        case m.Kita():
            _expect(_own_turn(state, seat, s.TURN), f"seat {seat} may not set a north aside now")
            _expect(int(state["rules"]["players"]) == 3, "kita is of three players")
            _expect(int(state["wall_left"]) > 0, "no kita once the wall is empty")
        case m.Hora():
            _check_hidden_win(state, seat)


def _own_turn(state: s.State, seat: int, *phases: int) -> bool:
    return int(state["turn"]) == seat and int(state["phase"]) in phases


def _check_hidden_discard(state: s.State, seat: int, event: m.Dahai) -> None:
    on_turn = _own_turn(state, seat, s.TURN, s.CALLED, s.RIICHI)
    _expect(on_turn, f"seat {seat} may not discard now: {situation(state)}")
    drew = int(state["drawn"]) >= 0
    _expect(drew or not event.tsumogiri, "tsumogiri is true, but the seat has not drawn")
    riichi = int(state["riichi"][seat]) == s.ACCEPTED
    _expect(event.tsumogiri or not riichi, f"seat {seat} is in riichi and must tsumogiri")
    banned = int(state["kuikae"]) >> tile_kind(tile_code(event.pai)) & 1
    _expect(not banned, f"{event.pai} is kuikae after the call")


def _check_hidden_call(state: s.State, seat: int, event: m.Chi | m.Pon | m.Daiminkan) -> None:
    offered = int(state["phase"]) == s.REACTION and int(state["turn"]) != seat
    _expect(offered, f"seat {seat} may not call now: {situation(state)}")
    may_call = int(state["wall_left"]) > 0
    may_call |= not isinstance(event, m.Daiminkan) and bool(state["rules"]["last_discard_calls"])
    _expect(may_call, "no call on the last discard")
    _expect(not state["riichi"][seat], f"seat {seat} is in riichi and may not call")
    if isinstance(event, m.Chi):
        _expect(int(state["rules"]["players"]) == 4, "chi is of four players")
        left = next_seat(state, int(state["turn"]))
        _expect(left == seat, f"chi by seat {seat}, but only seat {left} may chi this tile")


def _check_hidden_win(state: s.State, seat: int) -> None:
    by_draw = _own_turn(state, seat, s.TURN)
    phase = int(state["phase"])
    by_ron = phase in (s.REACTION, s.CHANKAN, s.WON) and int(state["turn"]) != seat
    _expect(by_draw or by_ron, f"seat {seat} may not win now: {situation(state)}")


def check_riichi_accepted(state: s.State, event: m.ReachAccepted) -> None:
    """The seat declared riichi and its discard was not won."""
    ready = int(state["phase"]) == s.REACTION and int(state["turn"]) == event.actor
    declared = int(state["riichi"][event.actor]) == s.DECLARED
    _expect(ready and declared, f"seat {event.actor} has no riichi to accept: {situation(state)}")


def check_dora(state: s.State, event: m.Dora) -> None:
    """There are five places for markers, one more than kans."""
    tile_code(event.dora_marker)
    _expect(int(state["phase"]) != s.IDLE, "no kyoku is under way")
    kans = int(state["kans"]) if state["rules"]["kan_dora"] else 0
    _expect(int(state["n_dora"]) <= kans, "more dora markers than kans allow")


def check_draw_reason(state: s.State, event: m.Ryukyoku) -> None:
    """The reported reason of a draw and its list of tenpai hands hold."""
    under_way = int(state["phase"]) not in (s.IDLE, s.WON, s.DRAWN, s.GAME_OVER)
    _expect(under_way, f"there is nothing to draw: {situation(state)}")
    reason = _REASON_CODES.get(event.reason or "", s.NO_DRAW)
    if reason in (s.EXHAUSTIVE, s.NAGASHI):
        left = int(state["wall_left"])
        _expect(left == 0, f"the wall is not empty: {left} tiles are left")
        _expect(
            int(state["phase"]) == s.REACTION, f"no tile was discarded last: {situation(state)}"
        )
        _check_tenpai_list(state, event)
        return
    holds = reason not in _BY_DISCARD or _is_abort(state, reason)
    if reason == s.NINE_TERMINALS:
        holds = _has_nine_terminals(state)
    elif reason == s.TRIPLE_RON:
        holds = _may_be_triple_ron(state)
    _expect(holds, f"reason {event.reason!r} does not hold")


_BY_DISCARD: Final = {
    s.FOUR_WINDS: "four_winds_draw",
    s.FOUR_KANS: "four_kans_draw",
    s.FOUR_RIICHI: "four_riichi_draw",
}
"""Draws that a discard brings, and their rules."""


def _is_abort(state: s.State, reason: int) -> bool:
    """Return whether this draw is brought by the discard, be it with another one."""
    alone = s.copy_state(state)
    for other, rule in _BY_DISCARD.items():
        if other != reason:
            alone["rules"][rule] = 0
    return int(abort_reason(alone)) == reason


def _check_tenpai_list(state: s.State, event: m.Ryukyoku) -> None:
    for seat, value in enumerate(event.tenpais or ()):
        ours = bool(state["waits"][seat])
        if state["hand_known"][seat]:
            _expect(value == ours, f"tenpais[{seat}] is {value}, expected {ours}")


def _has_nine_terminals(state: s.State) -> bool:
    seat = int(state["turn"])
    if int(state["phase"]) != s.TURN:
        return False
    if state["hand_known"][seat]:
        return bool(can_abort(state, seat))
    is_first = not (state["n_river"][seat] or state["calls_made"])
    return is_first and bool(state["rules"]["nine_terminals_draw"])


def _may_be_triple_ron(state: s.State) -> bool:
    if int(state["phase"]) not in (s.REACTION, s.CHANKAN):
        return False
    others = (seat for seat in range(4) if seat != int(state["turn"]))
    able = all(can_ron(state, seat) or not state["hand_known"][seat] for seat in others)
    return able and bool(three_rons_draw(state["rules"]))


def check_copies(state: s.State) -> None:
    """No tile is seen a fifth time."""
    kind = int(extra_copy(state, np.empty(34, np.int8)))
    _expect(kind < 0, f"a fifth {TILE_NAMES[kind]} has appeared")
