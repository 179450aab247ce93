"""One game as counts: for each detector the chances and hits of each ordered pair of seats.

Only what the acting player decided counts: no discard of a player in riichi, no riichi that could
not be declared.  Where there is no chance (only the next player may take a tile for a run) none is
counted; that some things happen more often to the next player is left to
:mod:`mjbot.detection.pairs`.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.compiler.compiled import compiled
from mjbot.detection.detectors import (
    CHEAP_POINTS,
    CHEAP_RON,
    CHI_FED,
    DEAR_RON,
    INTO_WAIT,
    PASSED,
    PON_FED,
    SACRIFICE,
    UNSAFE,
    USEFUL,
    WITHHELD,
    YIELDED,
    N,
)
from mjbot.rules.shanten import shanten
from mjbot.table.hands import kind_of
from mjbot.table.legal import can_declare_riichi, can_ron
from mjbot.table.mirror.wire import tile_code
from mjbot.table.observe import genbutsu
from mjbot.table.state import ACCEPTED, NO_RIICHI, PON, TURN, WIRE_REASONS, State
from mjbot.training.positions import GameStep
from protocol import messages as m

Counts = NDArray[np.int32]
"""By ``[actor, other, detector]``: int32[4, 4, N]."""

NEAR: Final = 1
"""The shanten from which on a player is near a win."""
WORTH_KEEPING: Final = 2
"""The shanten up to which a hand is broken for a reason."""
MOST_KANS: Final = 4
BY_TRIPLE_RON: Final = WIRE_REASONS[7]


@dataclass
class GameCounts:
    """What was counted in one game.

    ``names`` says who sat where, one name per seat: of two with the same name the later seat's is
    ``name #2``.  ``scores`` are the last that are known.
    """

    names: tuple[str, ...] = ()
    scores: tuple[int, ...] = (0, 0, 0, 0)
    kyoku: int = 0
    chances: Counts = field(default_factory=lambda: np.zeros((4, 4, N), np.int32))
    hits: Counts = field(default_factory=lambda: np.zeros((4, 4, N), np.int32))


def count_game(steps: Iterable[GameStep]) -> GameCounts:
    """Count one game; raises as its steps do."""
    counter = GameCounter()
    for step in steps:
        counter.add(step.event, step.state)
    return counter.counted


def told_apart(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of which no two are equal.

    >>> told_apart(["a", "b", "a", ""])
    ('a', 'b', 'a #2', 'seat 3')
    """
    seen: Counter[str] = Counter()
    apart = []
    for seat, name in enumerate(names):
        name = name or f"seat {seat}"
        seen[name] += 1
        apart.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    return tuple(apart)


class GameCounter:
    """Counts a game event by event; :meth:`add` takes each with the table as it was before it."""

    def __init__(self) -> None:
        self.counted: Final = GameCounts()
        self._offer: m.Dahai | None = None  # not yet answered
        self._able: list[int] | None = None  # who could win on it and has not
        self._row: Final = np.zeros((2, 4, N), np.int32)

    def add(self, event: m.Event, state: State) -> None:
        """Count what an event decides."""
        self._answer(event, state)
        match event:
            case m.StartGame():
                self.counted.names = told_apart(event.names or ("",) * 4)
            case m.StartKyoku():
                self.counted.kyoku += 1
                self.counted.chances[:, :, [CHEAP_RON, DEAR_RON]] += 1
            case m.Dahai():
                self._discard(event, state)
            case m.Reach() | m.Ankan() | m.Kakan():
                self._declared(event.actor, state)
            case m.Pon() | m.Daiminkan():
                self._hit(event.target, event.actor, PON_FED)
            case m.Chi():
                self._hit(event.target, event.actor, CHI_FED)
            case m.Hora() if event.target != event.actor:
                paid = -event.deltas[event.target] if event.deltas else 0
                detector = CHEAP_RON if paid <= CHEAP_POINTS else DEAR_RON
                self._hit(event.target, event.actor, detector)
            case m.EndGame() if event.scores is not None:
                self.counted.scores = event.scores
            case _:
                pass

    def _discard(self, event: m.Dahai, state: State) -> None:
        seat, row = event.actor, self._row
        row[...] = 0
        count_discard(state, seat, tile_code(event.pai), row[0], row[1])
        self.counted.chances[seat] += row[0]
        self.counted.hits[seat] += row[1]
        self._offer, self._able = event, None

    def _declared(self, seat: int, state: State) -> None:
        """Count a chance to declare that was taken."""
        row = self._row[0]
        row[...] = 0
        count_declaring(state, seat, row)
        self.counted.chances[seat] += row

    def _answer(self, event: m.Event, state: State) -> None:
        """Count who could win on the last discard and did not, once that is known."""
        if self._offer is None:
            return
        target = self._offer.actor
        if self._able is None:
            known = [seat for seat in range(4) if seat != target and state["hand_known"][seat]]
            # In the last hand an honest player passes on what would not better its placement.
            asked = known if state["round"] < state["rules"]["last_round"] else []
            self._able = [seat for seat in asked if can_ron(state, seat)]
            self.counted.chances[self._able, target, PASSED] += 1
        if isinstance(event, m.Hora):
            self._able = [seat for seat in self._able if seat != event.actor]
            return
        if not (isinstance(event, m.Ryukyoku) and event.reason == BY_TRIPLE_RON):
            for seat in self._able:
                self._hit(seat, target, PASSED)
        self._offer = None

    def _hit(self, actor: int, other: int, detector: int) -> None:
        self.counted.hits[actor, other, detector] += 1


# --- decisions -----------------------------------------------------------------------------------


@compiled
def count_discard(
    state: State, seat: int, tile: int, chances: NDArray[np.int32], hits: NDArray[np.int32]
) -> None:
    """Add the chances and hits of a discard, ``[other, detector]``; ``state`` is as before it."""
    if state.riichi[seat] == ACCEPTED:
        return
    kind = kind_of(tile)
    for other in range(4):
        if other != seat:
            _count_public(state, seat, other, kind, chances[other], hits[other])
    if not state.hand_known[seat]:
        return
    hand = state.hand[seat].copy()
    before = shanten(hand, state.n_melds[seat])
    if hand[kind] > 0:
        hand[kind] -= 1
    breaks = shanten(hand, state.n_melds[seat]) > before
    served = _served(state, seat, kind)
    for other in range(4):
        if other == seat or not state.hand_known[other]:
            continue
        _count_hidden(state, other, kind, served, chances[other], hits[other])
        if breaks:
            chances[other, SACRIFICE] += 1
            hits[other, SACRIFICE] += served == 1 << other
        if state.waits[other] and before <= WORTH_KEEPING:
            chances[other, YIELDED] += 1
            hits[other, YIELDED] += breaks
    _count_withheld(state, seat, chances, hits, 1)


@compiled
def _served(state: State, seat: int, kind: int) -> int:
    """Return whom a discard serves, one bit per seat."""
    served = 0
    for other in range(4):
        if other != seat and state.hand_known[other] and serves(state, seat, other, kind):
            served |= 1 << other
    return served


@compiled
def _count_hidden(
    state: State,
    other: int,
    kind: int,
    served: int,
    chances: NDArray[np.int32],
    hits: NDArray[np.int32],
) -> None:
    """Add chances to serve a hand that has not declared riichi, and to deal in to it."""
    if state.riichi[other] != NO_RIICHI:
        return
    waited_for = (state.waits[other] >> kind) & 1
    if state.wall_left > 0:
        chances[USEFUL] += 1
        hits[USEFUL] += (served >> other) & 1 and not waited_for
    if state.waits[other]:
        chances[INTO_WAIT] += 1
        hits[INTO_WAIT] += waited_for


@compiled
def count_declaring(state: State, seat: int, chances: NDArray[np.int32]) -> None:
    """Add the chances to withhold a riichi or kan that was declared."""
    if state.hand_known[seat]:
        _count_withheld(state, seat, chances, chances, 0)


@compiled
def serves(state: State, seat: int, other: int, kind: int) -> bool:
    """Return whether a discard of ``seat`` completes the other's hand or a call of it helps."""
    if (state.waits[other] >> kind) & 1:
        return True
    if state.riichi[other] != NO_RIICHI or state.wall_left == 0:
        return False
    is_next = other == (seat + 1) & 3
    return call_helps(state.hand[other], state.n_melds[other], kind, is_next)


@compiled
def call_helps(held: NDArray[np.int8], n_melds: int, kind: int, is_next: bool) -> bool:
    """Return whether a pon of a kind, or a chi of the next player, lowers a hand's shanten."""
    low_ends = is_next and kind < 27
    if held[kind] < 2 and not low_ends:
        return False
    hand = held.copy()
    here = shanten(hand, n_melds)
    if hand[kind] >= 2:
        hand[kind] -= 2
        if shanten(hand, n_melds + 1) < here:
            return True
        hand[kind] += 2
    if not low_ends:
        return False
    for low in range(max(kind - kind % 9, kind - 2), min(kind, kind - kind % 9 + 6) + 1):
        one, two = low, low + 1
        if one == kind:
            one = low + 2
        elif two == kind:
            two = low + 2
        if hand[one] and hand[two]:
            hand[one] -= 1
            hand[two] -= 1
            helps = shanten(hand, n_melds + 1) < here
            hand[one] += 1
            hand[two] += 1
            if helps:
                return True
    return False


@compiled
def _count_public(
    state: State,
    seat: int,
    other: int,
    kind: int,
    chances: NDArray[np.int32],
    hits: NDArray[np.int32],
) -> None:
    """Add chances to feed calls, and discards into a riichi."""
    if state.riichi[other] == NO_RIICHI and state.wall_left > 0:
        chances[PON_FED] += 1
        chances[CHI_FED] += other == (seat + 1) & 3
    if state.riichi[other] == ACCEPTED and state.hand_known[seat]:
        safe = genbutsu(state, other)
        for own in range(34):
            if state.hand[seat, own] and (safe >> own) & 1:
                chances[UNSAFE] += 1
                hits[UNSAFE] += 1 - ((safe >> kind) & 1)
                break


@compiled
def _count_withheld(
    state: State, seat: int, chances: NDArray[np.int32], hits: NDArray[np.int32], hit: int
) -> None:
    if state.phase != TURN or not (can_declare_riichi(state, seat) or _can_kan(state, seat)):
        return
    for other in range(4):
        if other == seat or not state.hand_known[other]:
            continue
        if shanten(state.hand[other], state.n_melds[other]) <= NEAR:
            if hit:
                hits[other, WITHHELD] += 1
            chances[other, WITHHELD] += 1


@compiled
def _can_kan(state: State, seat: int) -> bool:
    if state.wall_left < 1 or state.kans >= MOST_KANS or state.riichi[seat] != NO_RIICHI:
        return False
    for kind in range(34):
        if state.hand[seat, kind] == 4:
            return True
    for place in range(state.n_melds[seat]):
        is_pon = state.meld_type[seat, place] == PON
        if is_pon and state.hand[seat, state.meld_kind[seat, place]]:
            return True
    return False
