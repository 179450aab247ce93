"""What Tenhou's server offers, as the bits of the attribute ``t``.

On another's discard, kakan or kita an offer must be answered, a pass included; on the own draw it
only lists what is allowed in addition to discarding.  Concealed and added kans are never offered.
"""

import enum
from collections.abc import Iterable
from typing import Final

from mjbot.protocol import messages as m


class Offer(enum.IntFlag):
    """One bit for each kind of action."""

    PON = 1
    DAIMINKAN = 2
    CHI = 4
    RON = 8
    TSUMO = 16
    RIICHI = 32
    NINE_TERMINALS = 64
    KITA = 128


NO_OFFER: Final = Offer(0)
_CLAIMS: Final = Offer.PON | Offer.DAIMINKAN | Offer.CHI | Offer.RON
_DEAREST_FIRST: Final = (Offer.TSUMO, Offer.NINE_TERMINALS, Offer.RIICHI, Offer.KITA)


def offered(actions: Iterable[m.PlayerAction]) -> Offer:
    """Return the offer of these actions; those that Tenhou does not offer are left out.

    >>> offered([m.Reach(actor=0), m.Hora(actor=0, target=0)])
    <Offer.TSUMO|RIICHI: 48>
    """
    offer = NO_OFFER
    for action in actions:
        match action:
            case m.Pon():
                offer |= Offer.PON
            case m.Daiminkan():
                offer |= Offer.DAIMINKAN
            case m.Chi():
                offer |= Offer.CHI
            case m.Hora():
                offer |= Offer.TSUMO if action.actor == action.target else Offer.RON
            case m.Reach():
                offer |= Offer.RIICHI
            case m.Ryukyoku():
                offer |= Offer.NINE_TERMINALS
            case m.Kita():
                offer |= Offer.KITA
    return offer


def dearest(offer: Offer) -> Offer:
    """Return what the server of 2018 named of it: of an own turn's choices one only.

    >>> dearest(Offer.RIICHI | Offer.TSUMO), dearest(Offer.PON | Offer.CHI)
    (<Offer.TSUMO: 16>, <Offer.PON|CHI: 5>)
    """
    return next((bit for bit in _DEAREST_FIRST if offer & bit), offer)


def takes(offer: Offer, action: m.PlayerAction) -> bool:
    """Return whether a server that offers this takes an action: of claims, what it names.

    >>> takes(Offer.PON, m.Skip()), takes(Offer.PON, m.Hora(actor=0, target=2))
    (True, False)
    """
    return not offered([action]) & _CLAIMS & ~offer


def disagreement(offer: Offer, ours: Iterable[m.PlayerAction]) -> str | None:
    """Return how the server's offer and our legal actions differ, or ``None``."""
    expected = offered(ours)
    if offer in (expected, dearest(expected)):
        return None
    return f"the server offers {offer.name or 'nothing'}, expected {expected.name or 'nothing'}"
