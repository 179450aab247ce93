"""What to say when the mirror has lost the thread but the server still waits for a word."""

from collections.abc import Sequence

from mjbot.table.view import View
from protocol.messages import Dahai, Hint, PlayerAction, Seat, Skip, Tile
from protocol.tiles import N_KINDS, TILE_NAMES
from protocol.turns import Due


def last_resort(
    due: Due,
    seat: Seat,
    drawn: Tile | None,
    held: Sequence[Tile],
    hints: Sequence[Hint] | None,
) -> PlayerAction:
    """Return the likeliest legal answer: what the server offers, a tsumogiri, any discard.

    ``drawn`` is the tile last drawn by the seat and not yet discarded, ``held`` its hand without
    the tiles that the server forbids.
    """
    offered = [hint for hint in hints or () if hint.type == "dahai" and hint.pai is not None]
    if offered:
        drawn_first = [hint for hint in offered if hint.pai == drawn] + offered
        pai = drawn_first[0].pai or "?"
        return Dahai(actor=seat, pai=pai, tsumogiri=pai == drawn)
    if "none" in due.value or (drawn is None and not held):
        return Skip()
    if drawn is not None and due is Due.TURN:
        return Dahai(actor=seat, pai=drawn, tsumogiri=True)
    tiles = held or (drawn or "?",)
    return Dahai(actor=seat, pai=tiles[-1], tsumogiri=tiles[-1] == drawn)


def held_tiles(view: View) -> tuple[Tile, ...]:
    """Return the names of the seat's concealed tiles, red fives as such."""
    names: list[Tile] = []
    for kind in range(N_KINDS):
        names += [TILE_NAMES[kind]] * int(view.hand[kind])
    for suit in range(3):
        if view.red[suit] and (plain := TILE_NAMES[9 * suit + 4]) in names:
            names[names.index(plain)] = TILE_NAMES[N_KINDS + suit]
    return tuple(names)
