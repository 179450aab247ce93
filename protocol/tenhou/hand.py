"""The receiver's own hand by tile ids: what our actions need to become frames."""

from collections.abc import Iterable, Sequence
from typing import Final

from protocol.errors import LocalProtocolError, ProtocolError
from protocol.messages import Ankan, Chi, Dahai, Kakan, PlayerAction, Pon, wire_name
from protocol.tenhou.calls import Call
from protocol.tenhou.tags import Answer, Discarding


class OwnHand:
    """The concealed tiles; ``drawn`` is the tile drawn and not yet discarded.

    ``names`` gives the mjai tile of each id.
    """

    def __init__(self, tiles: Iterable[int], names: Sequence[str], field: str) -> None:
        self.tiles: list[int] = []
        self.drawn: int | None = None
        self._names: Final = names
        for tile in tiles:
            self._add(tile, field)

    def draw(self, tile: int) -> None:
        """Take in a draw."""
        self._add(tile, "T")
        self.drawn = tile

    def discard(self, tile: int) -> bool:
        """Give up a tile; return whether it is the one just drawn."""
        self._remove((tile,), "D")
        is_drawn, self.drawn = tile == self.drawn, None
        return is_drawn

    def call(self, call: Call) -> None:
        """Give up what a call takes."""
        self._remove((call.tile,) if call.kind == "kakan" else call.own, "N.m")
        self.drawn = None

    def _add(self, tile: int, field: str) -> None:
        if tile in self.tiles:
            raise ProtocolError(field, f"tile {tile} is in our hand already")
        self.tiles.append(tile)

    def _remove(self, tiles: Iterable[int], field: str) -> None:
        for tile in tiles:
            if tile not in self.tiles:
                raise ProtocolError(field, f"tile {tile} is not in our hand")
            self.tiles.remove(tile)

    # --- our actions -------------------------------------------------------------------------

    def discarding(self, action: Dahai) -> Discarding:
        """Return the frame of a discard; of equal tiles the one with the lowest id goes."""
        if action.tsumogiri and self.drawn is not None:
            if self._names[self.drawn] != action.pai:
                drawn = self._names[self.drawn]
                raise LocalProtocolError("dahai.pai", f"{action.pai} is not the drawn {drawn}")
            return Discarding(p=self.drawn)
        return Discarding(p=self._pick((action.pai,), "dahai.pai")[0])

    def calling(self, action: Chi | Pon) -> Answer:
        """Return the frame of a chi or pon."""
        low, high = sorted(self._pick(action.consumed, f"{wire_name(action)}.consumed"))
        return Answer(type=3 if isinstance(action, Chi) else 1, hai0=low, hai1=high)

    def own_kan(self, action: Ankan | Kakan) -> Answer:
        """Return the frame of a concealed or added kan."""
        if isinstance(action, Kakan):
            return Answer(type=5, hai=self._pick((action.pai,), "kakan.pai")[0])
        return Answer(type=4, hai=min(self._pick(action.consumed, "ankan.consumed")))

    def _pick(self, names: Iterable[str], field: str) -> list[int]:
        """Return ids of these tiles; the drawn tile goes only where no other will do."""
        left = sorted(self.tiles, key=lambda tile: (tile == self.drawn, tile))
        picked: list[int] = []
        for name in names:
            found = next((tile for tile in left if self._names[tile] == name), None)
            if found is None:
                raise LocalProtocolError(field, f"{name} is not in our hand")
            left.remove(found)
            picked.append(found)
        return picked


def answering(action: PlayerAction, hand: OwnHand) -> Answer:
    """Return the frame of anything but a discard and a riichi."""
    match action:
        case Chi() | Pon():
            return hand.calling(action)
        case Ankan() | Kakan():
            return hand.own_kan(action)
    kind = wire_name(action)
    if kind == "hora":
        return Answer(type=7 if action.actor == getattr(action, "target", None) else 6)
    return Answer(type={"daiminkan": 2, "ryukyoku": 9}.get(kind))
