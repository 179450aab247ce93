"""Safe replies for when the mirror contradicts the server but a reply is due."""

from collections.abc import Sequence

import msgspec

from protocol.messages import Dahai, Hint, PlayerAction, Seat, Skip, Tile
from protocol.sessions.turns import Due


def last_resort(
    due: Due,
    seat: Seat,
    drawn: Tile | None,
    held: Sequence[Tile],
    offers: Sequence[Hint],
) -> PlayerAction:
    """Return the likeliest legal answer: one that is offered, a tsumogiri, any discard.

    ``drawn`` is the tile last drawn by the seat and not yet discarded, ``held`` its hand without
    the tiles that the server forbids.  ``offers`` is the server's list of all that is legal,
    empty if it makes none.  A discard that is due is made even where no tile is known: as ``?``.
    """
    discards = [hint.pai for hint in offers if hint.type == "dahai" and hint.pai is not None]
    if discards:
        pai = drawn if drawn in discards else discards[0]
        return Dahai(actor=seat, pai=pai or "?", tsumogiri=pai == drawn)
    if "none" in ([hint.type for hint in offers] or due.value):
        return Skip()
    for hint in offers:
        if action := _taken(hint, seat):
            return action
    if drawn is not None and (due is Due.TURN or not held):
        return Dahai(actor=seat, pai=drawn, tsumogiri=True)
    if held:
        return Dahai(actor=seat, pai=held[-1], tsumogiri=held[-1] == drawn)
    return Dahai(actor=seat, pai="?", tsumogiri=due is Due.TURN)


def _taken(hint: Hint, seat: Seat) -> PlayerAction | None:
    """Return the action that a hint offers, if it is complete enough."""
    fields = msgspec.to_builtins(hint)
    if hint.type == "hora" and hint.target is None:
        fields["target"] = seat
    try:
        action: PlayerAction = msgspec.convert({**fields, "actor": seat}, PlayerAction)
    except msgspec.ValidationError:
        return None
    return action
