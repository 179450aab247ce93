"""What a player sees when it chooses a discard, as one flat record, and where records show it.

The paper's positions (Mizukami et al. 2013, section 5.3): every discard of the player who is the
first of a kyoku to declare riichi, up to the discard that declares it.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.compiler.compiled import compiled, record_type
from mjbot.table.observe import dora_values, unseen_kinds
from mjbot.table.state import ACCEPTED, State
from mjbot.training.positions import Step
from protocol.messages import Dahai, Reach, StartKyoku
from protocol.tiles import TILE_BY_NAME

HAND_POSITION: Final = record_type(
    [
        ("own", np.int64),  # mask of the kinds this seat has discarded
        ("game", np.int32),  # number of the game in the records
        ("hand", np.int8, (34,)),  # concealed counts per kind, 3n+2 tiles
        ("red", np.int8, (3,)),  # concealed red fives: man, pin, sou
        ("n_melds", np.int8),
        ("unseen", np.int8, (34,)),  # copies of each kind that the seat does not see
        ("dora", np.int8, (34,)),  # how many dora a tile of each kind is
        ("seat_wind", np.int8),  # 0 East .. 3 North, -1 none: no wind is worth anything
        ("round_wind", np.int8),  # the same
        ("dragons", np.int8),  # 1 if dragons are worth a yaku
        ("turn", np.int8),  # own discards so far
        ("riichis", np.int8),  # how many of the three others have declared riichi
        ("open_melds", np.int8),  # of the three others
        ("safe", np.int8, (34,)),  # how many others cannot win by a tile of the kind
        ("tile", np.int8),  # 0..36: what was discarded
        ("before_riichi", np.int8),  # 1: by the kyoku's first to declare riichi, up to then
    ]
)

if TYPE_CHECKING:

    class HandPosition:
        """One record of :data:`HAND_POSITION`."""

        own: int
        game: int
        hand: NDArray[np.int8]
        red: NDArray[np.int8]
        n_melds: int
        unseen: NDArray[np.int8]
        dora: NDArray[np.int8]
        seat_wind: int
        round_wind: int
        dragons: int
        turn: int
        riichis: int
        open_melds: int
        safe: NDArray[np.int8]
        tile: int
        before_riichi: int

        def __getitem__(self, field: str) -> Any: ...
        def __setitem__(self, field: str, value: Any) -> None: ...

else:
    HandPosition = np.void

Positions = NDArray[np.void]
"""Records of :data:`HAND_POSITION`, [n]."""

MOST_DISCARDS: Final = 40
"""More than a seat can make in a kyoku."""


@compiled
def observe(state: State, seat: int, position: HandPosition) -> None:
    """Write what ``seat``, which is to discard, sees; ``game`` and ``tile`` stay as they are."""
    position.hand[:] = state.hand[seat]
    position.red[:] = state.red[seat]
    position.n_melds = state.n_melds[seat]
    unseen_kinds(state, seat, position.unseen)
    dora_values(state, position.dora)
    position.seat_wind = (seat - state.dealer) % 4
    position.round_wind = state.round // 4
    position.dragons = 1
    position.turn = state.n_river[seat]
    position.own = state.discarded[seat]
    position.riichis = 0
    position.open_melds = 0
    position.safe[:] = 0
    for other in range(4):
        if other != seat:
            position.riichis += state.riichi[other] > 0
            passed = state.discarded[other] | state.passed[other]
            for kind in range(34):
                position.safe[kind] += passed >> kind & 1
            for place in range(state.n_melds[other]):
                position.open_melds += state.meld_from[other, place] != other


def before_first_riichi(game: Iterator[Step]) -> Positions:
    """Return a game's discards of the first to declare riichi in each kyoku, that one included."""
    return _discards(game, every_hand=False)


def of_closed_hands(game: Iterator[Step]) -> Positions:
    """Return all discards of a game by seats that have neither called nor accepted riichi.

    These are the paper's test positions: folding players are among them, where ``riichis`` is
    not 0.  ``before_riichi`` marks those of :func:`before_first_riichi`.
    """
    return _discards(game, every_hand=True)


def _discards(game: Iterator[Step], every_hand: bool) -> Positions:
    kyoku = _Kyoku()
    found = [kyoku.discards(every_hand)]
    for number, event, state in game:
        match event:
            case StartKyoku():
                found.append(kyoku.discards(every_hand))
                kyoku = _Kyoku()
            case Reach(actor=actor) if kyoku.declarer < 0:
                kyoku.declarer = actor
            case Dahai(actor=actor, pai=pai):
                if state["riichi"][actor] < ACCEPTED and not state["is_open"][actor]:
                    position = kyoku.add(actor)
                    observe(state, actor, position)
                    position["game"] = number
                    position["tile"] = TILE_BY_NAME[pai]
    return np.concatenate([*found, kyoku.discards(every_hand)])


class _Kyoku:
    """The discards of one kyoku; nobody knows beforehand whose are asked for."""

    def __init__(self) -> None:
        self._seen: Any = np.zeros((4, MOST_DISCARDS), HAND_POSITION)
        self._counts = [0, 0, 0, 0]
        self.declarer = -1

    def add(self, actor: int) -> HandPosition:
        position: HandPosition = self._seen[actor, self._counts[actor]]
        self._counts[actor] += 1
        return position

    def discards(self, every_hand: bool) -> Positions:
        """Return copies of those asked for, seat by seat."""
        chosen = []
        for seat, count in enumerate(self._counts):
            self._seen[seat]["before_riichi"] = seat == self.declarer
            if every_hand or seat == self.declarer:
                chosen.append(self._seen[seat, :count].copy())
        return np.concatenate([self._seen[0, :0], *chosen])
