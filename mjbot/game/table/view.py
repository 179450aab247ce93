"""What one seat sees of a table: its information set, read-only, made for one decision.

Strategies get one through :class:`Sealed`: nothing of it can be written to (numpy refuses with the
line in question), and what the seat cannot see is not in it.  Compiled code takes its arrays and
its record as any others.
"""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Generic, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.kinds import Counts
from mjbot.game.rules.ruleset import rules_of
from mjbot.game.rules.tile_sets import shanten_of, waits_of
from mjbot.game.table.actions import ACTIONS, DECLARE_RIICHI, N_ACTIONS, Action
from mjbot.game.table.apply import apply_discard
from mjbot.game.table.assume import hide
from mjbot.game.table.default_action import default_code
from mjbot.game.table.hands import concealed_tiles, kind_of
from mjbot.game.table.legal import is_furiten, legal_codes
from mjbot.game.table.observe import dora_values, genbutsu, unseen_kinds
from mjbot.game.table.seats import steps_between
from mjbot.game.table.state import DECLARED, STATE, MeldType, Phase, State
from mjbot.protocol.rules import Rules
from mjbot.protocol.tiles import FIVE_KINDS, N_KINDS, N_TILES, RED_FIVES, WIND_NAMES
from mjbot.runtime.checked_arguments import flag, type_error, whole_number
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.errors import ArgumentError

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Meld:
    """A called or declared meld.

    ``kind`` is that of its tiles, for a chi the lowest; ``red`` has a bit per red five (man, pin,
    sou); ``called`` is the claimed tile (-1 for an ankan) and ``source`` the seat it came from.
    """

    type: MeldType
    kind: int
    red: int
    called: int
    source: int

    @property
    def tiles(self) -> list[int]:
        """Its tiles (0..36) in order, red fives in place of the first fives."""
        kinds = [self.kind + (step if self.type == MeldType.CHI else 0) for step in range(3)]
        kinds += [self.kind] if self.type.is_kan else []
        for bit, suit in enumerate((0, 1, 2, 1)):
            if self.red >> bit & 1:
                kinds[kinds.index(FIVE_KINDS[suit])] = RED_FIVES[suit]
        return kinds


class derived(Generic[Value]):  # noqa: N801  # a decorator, named as functools.cached_property is
    """A property that is computed once for each view.

    ``functools.cached_property`` of Python 3.11 takes a lock, which costs as much as a value here.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute: Final = compute
        self._name: Final = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, view: None, owner: type) -> "derived[Value]": ...
    @overload
    def __get__(self, view: object, owner: type) -> Value: ...
    def __get__(self, view: object, owner: type) -> "derived[Value] | Value":
        if view is None:
            return self
        value = self._compute(view)
        view.__dict__[self._name] = value  # found before this descriptor from now on
        return value


_PHASES: Final = tuple(Phase)
"""``_PHASES[phase] == phase``."""


class View:
    """The table as ``seat`` sees it.

    Arrays are int8 counts per kind of shape (34,) unless noted otherwise, seats are absolute,
    masks have bit ``1 << kind``.  Nothing here may be written to: ``copy()`` an array to change
    it.  A seat that is none is a ``ValueError``; the fourth of three players is empty.  A view is
    good for the moment it was made for: do not keep it.
    """

    renderer: ClassVar[Callable[["View"], str] | None] = None
    """Draws a view as HTML for notebooks; :mod:`mjbot.viewer.drawing`, which is above, sets it."""

    time_left_ms: float | None = None
    """What the table leaves for this decision; None where there is no clock."""

    seat: int
    state: Any
    """The record behind the view (:data:`mjbot.game.table.state.STATE`), for compiled code.

    A strategy's has neither other hands nor the wall (:class:`Sealed`), also where a referee has
    them.
    """
    _fields: Any
    """The fields of the record, by name; :class:`Sealed` has them at hand as arrays."""

    def __init__(self, state: State, seat: int) -> None:
        if getattr(state, "dtype", None) is not STATE:
            _require_state(state)
        attributes = self.__dict__  # the view itself is read-only
        attributes["seat"] = _seat(seat)
        attributes["state"] = attributes["_fields"] = state

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a View is read-only: {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a View is read-only: {name} cannot be deleted")

    def __repr__(self) -> str:
        kyoku = f"{WIND_NAMES[self.round // 4 % 4]}{self.round % 4 + 1}-{self.honba}"
        return f"<View of seat {self.seat} in {kyoku}, {self.wall_left} tiles left>"

    def _repr_html_(self) -> str | None:
        return View.renderer(self) if View.renderer else None

    # --- what to decide ----------------------------------------------------------------------

    @derived
    def codes(self) -> bytes:
        """The codes of all legal actions, ascending (:mod:`mjbot.game.table.actions`)."""
        codes = np.empty(N_ACTIONS, np.uint8)
        return codes[: legal_codes(self.state, self.seat, codes)].tobytes()

    @derived
    def legal(self) -> tuple[Action, ...]:
        """All legal actions, by ascending code; empty when there is nothing to decide."""
        return tuple([ACTIONS[code] for code in self.codes])

    @derived
    def discard_codes(self) -> bytes:
        """The codes of the legal actions that are discards, ascending."""
        return self.codes[: bisect_left(self.codes, DECLARE_RIICHI)]

    @derived
    def discards(self) -> tuple[Action, ...]:
        """The legal actions that are discards."""
        return self.legal[: len(self.discard_codes)]

    @property
    def default_action(self) -> Action:
        """A safe legal action: tsumogiri where possible, else some discard, else a pass."""
        return ACTIONS[default_code(self.state, self.seat)]

    @property
    def phase(self) -> Phase:
        """What the table waits for."""
        phase: Phase = _PHASES[self._fields["phase"]]
        return phase

    @property
    def turn(self) -> int:
        """The seat that draws and discards now, or whose tile is on offer."""
        return int(self._fields["turn"])

    @property
    def claim_tile(self) -> int:
        """The tile (0..36) on offer or discarded last, -1 before the first discard."""
        return int(self._fields["last_tile"])

    def after_discard(self, source: int, tile: int, tsumogiri: bool = False) -> "View":
        """Return what the seat would see once ``source`` has discarded ``tile`` (0..36).

        Raises ``ValueError`` for a tile that the own hand does not hold or cannot discard now.
        """
        if type(tile) is not int or not 0 <= tile < N_TILES:
            tile = whole_number("tile", tile, range(N_TILES))
        copies = np.empty(1, STATE)
        drawn = flag("tsumogiri", tsumogiri)
        problem = _after_discard(
            copies, self.state, self.seat, _seat(source, "source"), tile, drawn
        )
        if problem:
            raise ArgumentError(_DISCARD_PROBLEMS[problem].format(source=source, tile=tile))
        return View(cast(State, copies[0]), self.seat)

    # --- own hand ----------------------------------------------------------------------------

    @property
    def hand(self) -> Counts:
        """Own concealed tiles, the drawn one included; red fives count as fives."""
        hand: Counts = self._fields["hand"][self.seat]
        return hand

    @property
    def red(self) -> Counts:
        """Own concealed red fives: int8[3], man, pin, sou."""
        red: Counts = self._fields["red"][self.seat]
        return red

    @property
    def tiles(self) -> list[int]:
        """Own concealed tiles (0..36) in order, the drawn one included, red fives after fives."""
        return concealed_tiles(self.state, self.seat)

    @property
    def drawn(self) -> int:
        """The tile (0..36) just drawn by this seat, else -1."""
        return int(self._fields["drawn"]) if self.turn == self.seat else -1

    @property
    def shanten(self) -> int:
        """Own shanten: 0 tenpai, -1 complete."""
        return int(shanten_of(self.hand, self.n_melds, self.players))

    @property
    def waits(self) -> int:
        """Mask of kinds that complete the own hand of 3n+1 tiles; 0 on the own turn."""
        if self.drawn >= 0:
            return 0
        return int(waits_of(self.hand, self.n_melds, self.players))

    @property
    def players(self) -> int:
        """How many play, 3 or 4."""
        return int(self._fields["rules"]["players"])

    @property
    def furiten(self) -> bool:
        """Whether the seat may not win by ron now."""
        return bool(is_furiten(self.state, self.seat))

    @property
    def n_melds(self) -> int:
        """Own called and declared melds."""
        return int(self._fields["n_melds"][self.seat])

    # --- the table ---------------------------------------------------------------------------

    def melds(self, seat: int) -> tuple[Meld, ...]:
        """Return the melds of a seat in the order in which they were made."""
        fields = ("meld_type", "meld_kind", "meld_red", "meld_called", "meld_from")
        seat = _seat(seat)
        columns = [self._fields[name][seat].tolist() for name in fields]
        melds = list(zip(*columns, strict=True))[: int(self._fields["n_melds"][seat])]
        return tuple([Meld(MeldType(type_), *others) for type_, *others in melds])

    def kita(self, seat: int) -> int:
        """Return how many norths the seat has set aside, each a dora; 0 with four players."""
        return int(self._fields["kita"][_seat(seat)])

    def is_open(self, seat: int) -> bool:
        """Whether the seat has called a tile (an ankan keeps a hand closed)."""
        return bool(self._fields["is_open"][_seat(seat)])

    def river(self, seat: int) -> Counts:
        """Return the seat's discards as tiles (0..36) in order, called ones included."""
        seat = _seat(seat)
        river: Counts = self._fields["river"][seat][: self._fields["n_river"][seat]]
        return river

    def river_flags(self, seat: int) -> NDArray[np.uint8]:
        """Return what is known of each discard, as a sum of :class:`RiverFlag`."""
        fields, seat = self._fields, _seat(seat)
        flags: NDArray[np.uint8] = fields["river_flags"][seat][: fields["n_river"][seat]]
        return flags

    def riichi(self, seat: int) -> bool:
        """Whether the seat has declared riichi."""
        return bool(self._fields["riichi"][_seat(seat)] >= DECLARED)

    def genbutsu(self, seat: int) -> int:
        """Mask of kinds that the seat cannot win by ron: its discards and what it let pass."""
        return int(genbutsu(self.state, _seat(seat)))

    @derived
    def unseen(self) -> Counts:
        """Copies of each kind that this seat cannot see, 0 of kinds that are not in the game.

        They are 4 - hand - melds - kita - rivers - markers.
        """
        unseen = np.empty(N_KINDS, np.int8)
        unseen_kinds(self.state, self.seat, unseen)
        return unseen

    @derived
    def dora(self) -> Counts:
        """How many dora each tile of a kind is (red fives apart)."""
        dora = np.empty(N_KINDS, np.int8)
        dora_values(self.state, dora)
        dora.flags.writeable = self._fields is self.state  # a sealed view has fields of its own
        return dora

    @property
    def dora_markers(self) -> Counts:
        """The turned dora markers as tiles."""
        markers: Counts = self._fields["dora_markers"][: self._fields["n_dora"]]
        return markers

    @property
    def scores(self) -> NDArray[np.int32]:
        """Points of the four seats."""
        scores: NDArray[np.int32] = self._fields["scores"]
        return scores

    @property
    def dealer(self) -> int:
        """The dealer's seat."""
        return int(self._fields["dealer"])

    @property
    def round(self) -> int:
        """0 East 1 .. 3 East 4, 4 South 1 .. 11 West 4."""
        return int(self._fields["round"])

    @property
    def last_round(self) -> int:
        """The last scheduled round: 3 tonpu, 7 hanchan."""
        return int(self.state["rules"]["last_round"])

    @property
    def rules(self) -> Rules:
        """The rules of the game; a server that announces none is taken to play the default ones."""
        return rules_of(self.state["rules"])

    @property
    def round_wind(self) -> int:
        """0 East .. 3 North."""
        return self.round // 4

    def seat_wind(self, seat: int) -> int:
        """0 East (the dealer) .. 3 North."""
        if _seat(seat) >= self.players:
            raise ArgumentError(f"seat must be 0 to {self.players - 1}, not {seat}")
        return steps_between(self.state, self.dealer, seat)

    @property
    def honba(self) -> int:
        """Counters for repeated or drawn kyoku."""
        return int(self._fields["honba"])

    @property
    def sticks(self) -> int:
        """Riichi sticks on the table."""
        return int(self._fields["sticks"])

    @property
    def wall_left(self) -> int:
        """Live tiles left to draw."""
        return int(self._fields["wall_left"])


class Sealed:
    """Makes views of honest, read-only copies: what the seat may not see is blank in them.

    What a strategy does to one cannot reach the table.  The copy is one and the same record for
    all views; making the next one changes it.
    """

    def __init__(self) -> None:
        self._copy: Final = np.empty(1, STATE)
        self._codes: Final = np.empty(N_ACTIONS, np.uint8)
        locked = self._copy.view()
        locked.flags.writeable = False
        self._record: Final = cast(State, locked[0])
        self._fields: Final = _StateFields(locked.reshape(()))
        self._unseen: Final = np.empty(N_KINDS, np.int8)
        self._locked_unseen: Final = self._unseen.view()
        self._locked_unseen.flags.writeable = False

    def view(self, view: View) -> View:
        """Return what ``view`` sees now."""
        n_codes = _copy_for(view.seat, view.state, self._copy, self._codes, self._unseen)
        sealed = View(self._record, view.seat)
        known = vars(sealed)
        known["_fields"] = self._fields
        known["codes"], known["unseen"] = self._codes[:n_codes].tobytes(), self._locked_unseen
        return sealed


class _StateFields(dict[str, NDArray[Any]]):
    """The fields of a record as arrays, each made when it is read for the first time."""

    def __init__(self, record: NDArray[Any]) -> None:
        self._record: Final = record

    def __missing__(self, name: str) -> NDArray[Any]:
        self[name] = field = self._record[name]
        return field


def _seat(seat: int, name: str = "seat") -> int:
    """Return a seat 0..3; the last one of three players is empty."""
    if type(seat) is int and 0 <= seat < 4:
        return seat
    return whole_number(name, seat, range(4))


def _require_state(state: object) -> None:
    if getattr(state, "dtype", None) != STATE or getattr(state, "shape", None) != ():
        raise type_error("state", "the record of a table", state)


_NO_SUCH_PLAYER: Final = 1
_NOTHING_TO_DISCARD: Final = 2
_NOT_HELD: Final = 3
_DISCARD_PROBLEMS: Final = {
    _NO_SUCH_PLAYER: "source must be 0 to 2 with three players, not {source}",
    _NOTHING_TO_DISCARD: "source {source} is the own seat, which has no tile too many to discard",
    _NOT_HELD: "tile {tile} is not in the own hand",
}


@compiled
def _after_discard(
    copies: NDArray[Any], state: State, seat: int, source: int, tile: int, tsumogiri: int
) -> int:
    """Fill a copy of the state after a discard; return 0, or what cannot be."""
    if source >= state.rules.players:
        return _NO_SUCH_PLAYER
    if source == seat and state.hand_known[seat]:
        held = 0
        for kind in range(N_KINDS):
            held += state.hand[seat, kind]
        if held % 3 != 2:
            return _NOTHING_TO_DISCARD
        if state.hand[seat, kind_of(tile)] < 1 or (
            tile >= N_KINDS and not state.red[seat, tile - N_KINDS]
        ):
            return _NOT_HELD
    copies[0] = state
    apply_discard(copies[0], source, tile, tsumogiri)
    return 0


@compiled
def _copy_for(
    seat: int, state: State, copies: NDArray[Any], codes: NDArray[np.uint8], unseen: Counts
) -> int:
    """Copy what the seat sees; write what it may do, and return how many actions that are."""
    copies[0] = state
    hide(copies[0], seat)
    unseen_kinds(copies[0], seat, unseen)
    return legal_codes(copies[0], seat, codes)
