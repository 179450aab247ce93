"""A player's own hand by tile ids: what actions need to become frames, and frames actions."""

from collections.abc import Iterable, Sequence
from typing import Final

from mjbot.protocol import messages as m
from mjbot.protocol.errors import LocalProtocolError, ProtocolError
from mjbot.protocol.tenhou.calls import Call
from mjbot.protocol.tenhou.tags import DeclareRiichi, Discarding, OfferReply
from mjbot.protocol.tiles import TILE_BY_NAME, tile_kind


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

    def discarding(self, action: m.Dahai) -> Discarding:
        """Return the frame of a discard; of equal tiles the one with the lowest id goes."""
        if action.tsumogiri and self.drawn is not None:
            if self._names[self.drawn] != action.pai:
                drawn = self._names[self.drawn]
                raise LocalProtocolError("dahai.pai", f"{action.pai} is not the drawn {drawn}")
            return Discarding(p=self.drawn)
        return Discarding(p=self.pick((action.pai,), "dahai.pai")[0])

    def calling(self, action: m.Chi | m.Pon) -> OfferReply:
        """Return the frame of a chi or pon."""
        low, high = sorted(self.pick(action.consumed, f"{m.wire_name(action)}.consumed"))
        return OfferReply(type=3 if isinstance(action, m.Chi) else 1, hai0=low, hai1=high)

    def own_kan(self, action: m.Ankan | m.Kakan) -> OfferReply:
        """Return the frame of a concealed or added kan."""
        if isinstance(action, m.Kakan):
            return OfferReply(type=5, hai=self.pick((action.pai,), "kakan.pai")[0])
        return OfferReply(type=4, hai=min(self.pick(action.consumed, "ankan.consumed")))

    def pick(self, names: Iterable[str], field: str) -> list[int]:
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


def answering(action: m.PlayerAction, hand: OwnHand) -> OfferReply:
    """Return the frame of anything but a discard and a riichi."""
    match action:
        case m.Chi() | m.Pon():
            return hand.calling(action)
        case m.Ankan() | m.Kakan():
            return hand.own_kan(action)
    kind = m.wire_name(action)
    if kind == "hora":
        return OfferReply(type=7 if action.actor == getattr(action, "target", None) else 6)
    return OfferReply(type={"daiminkan": 2, "ryukyoku": 9, "kita": 10}.get(kind))


def call_event(call: Call, caller: m.Seat, names: Sequence[str]) -> m.Event:
    """Return the event of a call; ``names`` gives the mjai tile of each id."""
    if call.kind == "kita":
        return m.Kita(actor=caller, pai=names[call.tile])
    a, b, *rest = (names[tile] for tile in call.own)
    pai = names[call.tile]
    if call.kind == "ankan":
        return m.Ankan(actor=caller, consumed=(a, b, rest[0], rest[1]))
    if call.kind == "kakan":
        return m.Kakan(actor=caller, pai=pai, consumed=(a, b, rest[0]))
    target = (call.source + caller) % 4
    if call.kind == "daiminkan":
        return m.Daiminkan(actor=caller, target=target, pai=pai, consumed=(a, b, rest[0]))
    kind = m.Chi if call.kind == "chi" else m.Pon
    return kind(actor=caller, target=target, pai=pai, consumed=(a, b))


# --- what a frame means ------------------------------------------------------------------------

ReplyTag = Discarding | DeclareRiichi | OfferReply

_KINDS: Final[dict[int | None, type[m.PlayerAction]]] = {
    None: m.Skip,
    1: m.Pon,
    2: m.Daiminkan,
    3: m.Chi,
    4: m.Ankan,
    5: m.Kakan,
    6: m.Hora,
    7: m.Hora,
    9: m.Ryukyoku,
    10: m.Kita,
}
"""``N type`` -> what it does."""


def meant(
    tag: ReplyTag, open_actions: Sequence[m.PlayerAction], hand: OwnHand, names: Sequence[str]
) -> m.PlayerAction:
    """Return the one of ``open_actions`` that the tag of the holder of ``hand`` stands for.

    ``names`` gives the mjai tile of each id.  Raises :class:`ProtocolError` naming tag and
    attribute where it is none of them.
    """
    for attribute in ("p", "hai", "hai0", "hai1"):
        tile = getattr(tag, attribute, None)
        if tile is not None and tile not in hand.tiles:
            raise ProtocolError(f"{_name(tag)}.{attribute}", f"tile {tile} is not in the hand")
    if isinstance(tag, OfferReply) and tag.hai0 is not None and tag.hai0 == tag.hai1:
        raise ProtocolError("N.hai1", f"tile {tag.hai1} is named twice")
    fitting = [action for action in open_actions if _fits(tag, action, names)]
    if not fitting:
        raise ProtocolError(_name(tag), f"{_described(tag, names)} is not open to this player now")
    if isinstance(tag, Discarding):
        drawn = [action for action in fitting if getattr(action, "tsumogiri", False)]
        if drawn and tag.p == hand.drawn:
            return drawn[0]
    return fitting[0]


def _fits(tag: ReplyTag, action: m.PlayerAction, names: Sequence[str]) -> bool:
    match tag, action:
        case Discarding(p=tile), m.Dahai(pai=pai):
            return names[tile] == pai
        case DeclareRiichi(), m.Reach():
            return True
        case OfferReply(type=kind), _ if _KINDS.get(kind or None) is type(action):
            return _fits_tiles(tag, action, names)
    return False


def _fits_tiles(tag: OfferReply, action: m.PlayerAction, names: Sequence[str]) -> bool:
    match action:
        case m.Pon(consumed=consumed) | m.Chi(consumed=consumed):
            if tag.hai0 is None or tag.hai1 is None:
                return False
            return sorted(consumed) == sorted((names[tag.hai0], names[tag.hai1]))
        case m.Ankan(consumed=consumed):
            return tag.hai is not None and tag.hai // 4 == tile_kind(TILE_BY_NAME[consumed[0]])
        case m.Kakan(pai=pai):
            return tag.hai is not None and names[tag.hai] == pai
        case m.Hora():
            return (tag.type == 7) == (action.actor == action.target)
    return True


def _name(tag: ReplyTag) -> str:
    if isinstance(tag, OfferReply):
        return "N"
    return "D" if isinstance(tag, Discarding) else "REACH"


def _described(tag: ReplyTag, names: Sequence[str]) -> str:
    if isinstance(tag, OfferReply):
        return "a pass" if tag.type is None else f"type {tag.type}"
    return f"to discard {names[tag.p]}" if isinstance(tag, Discarding) else "riichi"
