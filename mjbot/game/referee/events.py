"""The rows and the outcome of a step buffer as protocol events."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mjbot.game.referee import step as buffer
from mjbot.game.rules.wall_plan import HAND_TILES
from mjbot.game.table.hands import concealed_tiles
from mjbot.game.table.mirror.wire import wire_yakus
from mjbot.game.table.state import ACCEPTED, NINE_TERMINALS, NO_DRAW, WIRE_REASONS, State
from mjbot.protocol import messages as m
from mjbot.protocol.seats import by_seat, paid, riichi_deltas
from mjbot.protocol.tiles import N_KINDS, TILE_NAMES, UNKNOWN, WIND_NAMES, tile_names


def four(values: NDArray[np.int32]) -> m.FourInts:
    """Return four numbers as a tuple of plain integers."""
    return by_seat(values.tolist())


def start_kyoku(state: State) -> m.StartKyoku:
    """Emit the deal, all hands open; right after :func:`mjbot.game.referee.flow.deal`."""
    wall, players = state["wall"].tolist(), int(state["rules"]["players"])
    hands = [sorted(wall[HAND_TILES * seat :][:HAND_TILES], key=_order) for seat in range(players)]
    hands += [[UNKNOWN] * HAND_TILES] * (4 - players)
    round_ = int(state["round"])
    return m.StartKyoku(
        bakaze=WIND_NAMES[round_ // 4],
        kyoku=round_ % 4 + 1,
        honba=int(state["honba"]),
        kyotaku=int(state["sticks"]),
        oya=int(state["dealer"]),
        dora_marker=TILE_NAMES[int(state["dora_markers"][0])],
        scores=four(state["scores"]),
        tehais=by_seat(map(tile_names, hands)),
    )


def _order(tile: int) -> float:
    return tile if tile < N_KINDS else 9 * (tile - N_KINDS) + 4.5


def log_events(log: NDArray[np.int8], scores: m.FourInts, stick_points: int) -> Iterator[m.Event]:
    """Emit the events of the rows int8[n, 9] of the log of :mod:`mjbot.game.referee.step`.

    ``scores`` are the points before the first of them.
    """
    for type_, actor, target, tile, a, b, c, d, flag in log.tolist():
        if type_ == buffer.LOG_DRAW:
            yield m.Tsumo(actor=actor, pai=TILE_NAMES[tile])
        elif type_ == buffer.LOG_DISCARD:
            yield m.Dahai(actor=actor, pai=TILE_NAMES[tile], tsumogiri=bool(flag))
        elif type_ == buffer.LOG_KITA:
            yield m.Kita(actor=actor, pai=TILE_NAMES[tile])
        elif type_ == buffer.LOG_DORA:
            yield m.Dora(dora_marker=TILE_NAMES[tile])
        elif type_ == buffer.LOG_RIICHI:
            yield m.Reach(actor=actor)
        elif type_ == buffer.LOG_RIICHI_ACCEPTED:
            deltas = riichi_deltas(actor, stick_points)
            scores = paid(scores, deltas)
            yield m.ReachAccepted(actor=actor, deltas=deltas, scores=scores)
        else:
            yield _meld(type_, actor, target, tile, tile_names([a, b, c, d]))


def scores_after(events: list[m.Event], scores: m.FourInts, stick_points: int) -> m.FourInts:
    """Return the points after the riichi sticks among these events were paid."""
    for event in events:
        if isinstance(event, m.ReachAccepted):
            scores = paid(scores, riichi_deltas(event.actor, stick_points))
    return scores


def _meld(type_: int, actor: int, target: int, tile: int, used: tuple[str, ...]) -> m.Event:
    a, b, c, d = used
    pai = TILE_NAMES[tile]
    if type_ == buffer.LOG_CHI:
        return m.Chi(actor=actor, target=target, pai=pai, consumed=(a, b))
    if type_ == buffer.LOG_PON:
        return m.Pon(actor=actor, target=target, pai=pai, consumed=(a, b))
    if type_ == buffer.LOG_DAIMINKAN:
        return m.Daiminkan(actor=actor, target=target, pai=pai, consumed=(a, b, c))
    if type_ == buffer.LOG_KAKAN:
        return m.Kakan(actor=actor, pai=pai, consumed=(a, b, c))
    return m.Ankan(actor=actor, consumed=(a, b, c, d))


# --- the end of a kyoku ----------------------------------------------------------------------


def ending(state: State, outcome: Any, wins: Any, scores_before: m.FourInts) -> list[m.Event]:
    """Emit a finished kyoku: its wins or its draw, and ``end_kyoku``.

    ``scores_before`` are the points before anything was paid.
    """
    if int(outcome["reason"]) != NO_DRAW:
        return [_ryukyoku(state, outcome), m.EndKyoku()]
    events: list[m.Event] = []
    scores = scores_before
    for win in wins[: outcome["n_wins"]]:
        scores = paid(scores, four(win["deltas"]))
        events.append(_hora(state, outcome, win, scores))
    return [*events, m.EndKyoku()]


def _hora(state: State, outcome: Any, win: Any, scores: m.FourInts) -> m.Hora:
    winner = int(win["winner"])
    target = int(outcome["target"])
    tile = int(outcome["tile"])
    riichi = int(state["riichi"][winner]) == ACCEPTED
    liable = int(win["liable"])
    yakuman = int(win["yakuman"])
    return m.Hora(
        actor=winner,
        target=target,
        pai=TILE_NAMES[tile],
        pao=liable if liable >= 0 else None,
        uradora_markers=tile_names(
            state["ura_markers"][: state["n_ura"]].tolist() if riichi else []
        ),
        hora_tehais=_winning_hand(state, winner, tile if target == winner else -1),
        yakus=wire_yakus(
            int(win["yaku_mask"]),
            bool(state["is_open"][winner]),
            (int(win["dora"]), int(win["ura"]), int(win["red"])),
        ),
        fu=int(win["fu"]),
        fan=100 * yakuman if yakuman else int(win["han"]),
        hora_points=int(win["points"]),
        deltas=four(win["deltas"]),
        scores=scores,
    )


def _winning_hand(state: State, seat: int, drawn: int) -> tuple[str, ...]:
    """The concealed tiles; a win by draw shows the drawn tile last."""
    tiles = concealed_tiles(state, seat)
    if drawn >= 0:
        tiles.remove(drawn)
        tiles.append(drawn)
    return tile_names(tiles)


def _ryukyoku(state: State, outcome: Any) -> m.Ryukyoku:
    reason = int(outcome["reason"])
    tenpais = by_seat(map(bool, outcome["tenpai"].tolist()))
    declarer = int(outcome["actor"]) if reason == NINE_TERMINALS else None
    shown = [flag or seat == declarer for seat, flag in enumerate(tenpais)]
    hands = tuple(
        tile_names(concealed_tiles(state, seat) if shown[seat] else [UNKNOWN] * size)
        for seat, size in enumerate(state["hand_size"].tolist())
    )
    return m.Ryukyoku(
        actor=declarer,
        reason=WIRE_REASONS[reason],
        tehais=hands,
        tenpais=tenpais,
        deltas=four(outcome["deltas"]),
        scores=four(state["scores"]),
    )
