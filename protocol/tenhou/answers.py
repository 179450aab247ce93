"""What a client's frame means among the actions that are open to it."""

from collections.abc import Sequence
from typing import Final

from protocol.errors import ProtocolError
from protocol.messages import (
    Ankan,
    Chi,
    Dahai,
    Daiminkan,
    Hora,
    Kakan,
    PlayerAction,
    Pon,
    Reach,
    Ryukyoku,
    Skip,
)
from protocol.tenhou.hand import OwnHand
from protocol.tenhou.tags import Answer, DeclareRiichi, Discarding
from protocol.tiles import TILE_BY_NAME, tile_kind

Said = Discarding | DeclareRiichi | Answer

_KINDS: Final[dict[int | None, type[PlayerAction]]] = {
    None: Skip,
    1: Pon,
    2: Daiminkan,
    3: Chi,
    4: Ankan,
    5: Kakan,
    6: Hora,
    7: Hora,
    9: Ryukyoku,
}
"""``N type`` -> what it does."""


def meant(
    tag: Said, open_actions: Sequence[PlayerAction], hand: OwnHand, names: Sequence[str]
) -> PlayerAction:
    """Return the one of ``open_actions`` that the frame of the holder of ``hand`` says.

    ``names`` gives the mjai tile of each id.  Raises :class:`ProtocolError` naming tag and
    attribute where it is none of them.
    """
    for attribute in ("p", "hai", "hai0", "hai1"):
        tile = getattr(tag, attribute, None)
        if tile is not None and tile not in hand.tiles:
            raise ProtocolError(f"{_name(tag)}.{attribute}", f"tile {tile} is not in the hand")
    fitting = [action for action in open_actions if _fits(tag, action, names)]
    if not fitting:
        raise ProtocolError(_name(tag), f"{_words(tag, names)} is not open to this player now")
    if isinstance(tag, Discarding):
        drawn = [said for said in fitting if getattr(said, "tsumogiri", False)]
        if drawn and tag.p == hand.drawn:
            return drawn[0]
    return fitting[0]


def _fits(tag: Said, action: PlayerAction, names: Sequence[str]) -> bool:
    match tag, action:
        case Discarding(p=tile), Dahai(pai=pai):
            return names[tile] == pai
        case DeclareRiichi(), Reach():
            return True
        case Answer(type=kind), _ if _KINDS.get(kind or None) is type(action):
            return _fits_tiles(tag, action, names)
    return False


def _fits_tiles(tag: Answer, action: PlayerAction, names: Sequence[str]) -> bool:
    match action:
        case Pon(consumed=consumed) | Chi(consumed=consumed):
            if tag.hai0 is None or tag.hai1 is None:
                return False
            return sorted(consumed) == sorted((names[tag.hai0], names[tag.hai1]))
        case Ankan(consumed=consumed):
            return tag.hai is not None and tag.hai // 4 == tile_kind(TILE_BY_NAME[consumed[0]])
        case Kakan(pai=pai):
            return tag.hai is not None and names[tag.hai] == pai
        case Hora():
            return (tag.type == 7) == (action.actor == action.target)
    return True


def _name(tag: Said) -> str:
    if isinstance(tag, Answer):
        return "N"
    return "D" if isinstance(tag, Discarding) else "REACH"


def _words(tag: Said, names: Sequence[str]) -> str:
    if isinstance(tag, Answer):
        return "a pass" if tag.type is None else f"type {tag.type}"
    return f"to discard {names[tag.p]}" if isinstance(tag, Discarding) else "riichi"
