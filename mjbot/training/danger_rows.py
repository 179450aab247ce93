"""Discards in records as rows for the deal-in model: what was seen, and what would have happened.

A row is one kind in the hand of a player about to discard, against one opponent that it might
deal in to.  All hands of a record are known, so the label is whether that opponent would win on
it: the shape, a yaku, no furiten.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.compiler.compiled import compiled, keep_alive
from mjbot.models.danger_features import (
    LOSS_ACTIVE,
    MAX_ACTIVE,
    OPPONENT_SIGNS,
    active_features,
    grade,
    loss_features,
    read_opponent,
)
from mjbot.table.hands import kind_of
from mjbot.table.legal import is_furiten
from mjbot.table.observe import dora_values, genbutsu, unseen_kinds
from mjbot.table.settle import has_yaku
from mjbot.table.state import ACCEPTED, State
from mjbot.training.positions import GameStep
from protocol.messages import Dahai, EndKyoku, Hora, StartKyoku

KEEP_OPEN: Final = 4
"""One of so many kinds against an opponent with melds becomes a row."""
KEEP_CLOSED: Final = 16
"""One of so many against one without melds and riichi."""
MAX_ROWS: Final = 42
"""Rows of one discard: 14 kinds, three opponents."""
MAX_TURN: Final = 18
OUTCOMES: Final = 5  # the seat discards again, another wins, it deals in, it wins, a draw

Rows = NDArray[np.int16]
"""int16[n, 17]: label, grade, whether in riichi, then the active features, -1 for none."""
FIRST_FEATURE: Final = 3
ROW_SIZE: Final = FIRST_FEATURE + MAX_ACTIVE


class Found(NamedTuple):
    """What one game gives.

    ``tiles`` are :data:`Rows`; ``losses`` int16[n, 9] the points of each ron in hundreds and its
    features; ``pace`` int64[18, 4, 5] counts what followed a discard, by the seat's discards so
    far, the opponents in riichi, and the outcome.
    """

    tiles: Rows
    losses: Rows
    pace: NDArray[np.int64]


def rows_of(game: Iterator[GameStep]) -> Found:
    """Collect the rows of one game."""
    tiles: list[Rows] = []
    losses: list[Rows] = []
    pace = _Pace()
    random = np.ones(1, np.uint64)
    rows = np.empty((MAX_ROWS, ROW_SIZE), np.int16)
    for step in game:
        match step.event:
            case StartKyoku() | EndKyoku():
                pace.end_kyoku()
            case Dahai(actor=actor):
                random[0] += np.uint64(step.game)
                n = discard_rows(step.state, actor, random, rows)
                tiles.append(rows[:n].copy())
                pace.discard(step.state, actor)
            case Hora(actor=actor, target=target):
                pace.win(actor, target)
                if actor != target and step.event.hora_points:
                    losses.append(_loss_row(step.state, actor, step.event.hora_points))
            case _:
                pass
    return Found(_joined(tiles, ROW_SIZE), _joined(losses, 1 + LOSS_ACTIVE), pace.counts)


def _joined(parts: list[Rows], width: int) -> Rows:
    return np.concatenate([np.empty((0, width), np.int16), *parts])


def _loss_row(state: State, winner: int, points: int) -> Rows:
    row = np.empty((1, 1 + LOSS_ACTIVE), np.int16)
    dora = np.empty(34, np.int8)
    dora_values(state, dora)
    row[0, 0] = points // 100
    loss_features(state, winner, kind_of(int(state["last_tile"])), dora, row[0, 1:])
    return row


class _Pace:
    """Counts what happens between two discards of a seat."""

    def __init__(self) -> None:
        self.counts = np.zeros((MAX_TURN, 4, OUTCOMES), np.int64)
        self._waiting: dict[int, tuple[int, int]] = {}

    def discard(self, state: State, actor: int) -> None:
        self._settle(actor, 0)
        threats = sum(int(state["riichi"][seat] > 0) for seat in range(4) if seat != actor)
        self._waiting[actor] = (min(int(state["n_river"][actor]), MAX_TURN - 1), threats)

    def win(self, actor: int, target: int) -> None:
        self._settle(actor, 3)
        if target != actor:
            self._settle(target, 2)
        for seat in list(self._waiting):
            self._settle(seat, 1)

    def end_kyoku(self) -> None:
        for seat in list(self._waiting):
            self._settle(seat, 4)

    def _settle(self, seat: int, outcome: int) -> None:
        if seat in self._waiting:
            turn, threats = self._waiting.pop(seat)
            self.counts[turn, threats, outcome] += 1


@compiled
def discard_rows(state: State, seat: int, random: NDArray[np.uint64], out: Rows) -> int:
    """Write the rows of what ``seat`` may discard now; return how many."""
    if state.riichi[seat] == ACCEPTED:
        return 0
    unseen, dora = np.empty(34, np.int8), np.empty(34, np.int8)
    unseen_kinds(state, seat, unseen)
    dora_values(state, dora)
    all_signs = np.empty(1, OPPONENT_SIGNS)
    signs = all_signs[0]
    n = 0
    for step in range(1, 4):
        opponent = (seat + step) & 3
        keep = 1
        if not state.riichi[opponent]:
            keep = KEEP_OPEN if state.is_open[opponent] else KEEP_CLOSED
        read_opponent(state, opponent, unseen, signs)
        safe = genbutsu(state, opponent)
        furiten = is_furiten(state, opponent)
        for kind in range(34):
            if state.hand[seat, kind] == 0 or safe >> kind & 1:
                continue
            random[0] = random[0] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            if (random[0] >> np.uint64(33)) % np.uint64(keep):
                continue
            out[n, :] = -1
            hit = state.waits[opponent] >> kind & 1 == 1 and not furiten
            riichi = state.riichi[opponent] > 0
            out[n, 0] = hit and (riichi or has_yaku(state, opponent, kind, False))
            out[n, 1] = grade(kind, safe, unseen)
            out[n, 2] = state.riichi[opponent] > 0
            active_features(state, opponent, kind, unseen, dora, signs, out[n, FIRST_FEATURE:])
            n += 1
    keep_alive(all_signs)
    return n
