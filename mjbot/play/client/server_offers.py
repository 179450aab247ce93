"""A server's own list of legal actions: compared with ours, and answered without ours."""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from mjbot.protocol.messages import (
    Ankan,
    Dahai,
    Daiminkan,
    Hint,
    Kakan,
    PlayerAction,
    Seat,
    Skip,
    Tile,
    wire_name,
)
from mjbot.protocol.sessions.turns import Due

_UNLISTED: Final = frozenset({"dahai", "none"})
_KANS: Final = (Ankan, Kakan, Daiminkan)


def fits(hint: Hint, action: PlayerAction) -> bool:
    """Return whether the hint means the action: no field of it contradicts the action.

    Hints may leave out anything but the type, name a tile once per physical copy and list
    ``consumed`` in any order; a kan is known by its kind of tile alone.  ``tsumogiri`` is passed
    over: servers disagree on it.

    >>> from mjbot.protocol.messages import Pon
    >>> pon = Pon(actor=1, target=0, pai="5p", consumed=("5pr", "5p"))
    >>> fits(Hint(type="pon", consumed=("5p", "5pr")), pon), fits(Hint(type="pon", pai="5pr"), pon)
    (True, False)
    """
    if hint.type != wire_name(action):
        return False
    fields = ("actor", "target") if isinstance(action, _KANS) else ("pai", "actor", "target")
    for field in fields:
        value = getattr(action, field, None)  # an action may lack what a server adds to it
        if value is not None and getattr(hint, field) not in (None, value):
            return False
    if isinstance(action, _KANS):
        return _kinds(hint) <= _kinds(action)
    return not hint.consumed or sorted(hint.consumed) == sorted(getattr(action, "consumed", ()))


def _kinds(kan: Hint | Ankan | Kakan | Daiminkan) -> set[str]:
    """Return the kinds of a kan's tiles by name, red fives as plain ones."""
    return {tile[:2] for tile in (getattr(kan, "pai", None), *(kan.consumed or ())) if tile}


def disagreement(
    hints: Iterable[Hint], ours: Sequence[PlayerAction], *, complete: bool
) -> str | None:
    """Return how the server's list and ours differ, with both, or ``None`` if they agree.

    ``complete``: the list names discards and the pass too (RiichiLab); the original
    server's leaves them out.
    """
    offered = [hint for hint in hints if complete or hint.type not in _UNLISTED]
    expected = [action for action in ours if complete or wire_name(action) not in _UNLISTED]
    if problem := _difference(offered, expected):
        return (
            f"{problem}; offered by the server: {listed(offered)}; by our rules: {listed(expected)}"
        )
    return None


def _difference(offered: Sequence[Hint], expected: Sequence[PlayerAction]) -> str | None:
    for hint in offered:
        if not any(fits(hint, action) for action in expected):
            return f"the server offers {_text(hint)}, which our rules do not allow"
    for action in expected:
        if not any(fits(hint, action) for hint in offered):
            return f"our rules allow {_text(action)}, which the server does not offer"
    return None


def is_offered(hints: Iterable[Hint], action: PlayerAction, *, complete: bool) -> bool:
    """Return whether the server's list holds an action, or need not (see :func:`disagreement`)."""
    is_listed = complete or wire_name(action) not in _UNLISTED
    return not is_listed or any(fits(hint, action) for hint in hints)


def discard_disagreement(
    cannot_discard: Sequence[Tile], held: Iterable[Tile], ours: Iterable[Tile]
) -> str | None:
    """Return how ``cannot_dahai`` differs from our legal discards, with both, or ``None``.

    ``held`` are the tiles of the hand, ``ours`` those of them that we think may be discarded.
    """
    mine, theirs = set(ours), set(held) - set(cannot_discard)
    if mine == theirs:
        return None
    if surplus := sorted(mine - theirs):
        problem = f"the server forbids to discard {', '.join(surplus)}, which our rules allow"
    else:
        surplus = sorted(theirs - mine)
        problem = f"the server allows to discard {', '.join(surplus)}, which our rules forbid"
    lists = f"forbidden by the server: {', '.join(cannot_discard) or 'none'}"
    return f"{problem}; {lists}; allowed by our rules: {', '.join(sorted(mine)) or 'none'}"


def listed(actions: Iterable[Hint | PlayerAction]) -> str:
    """Return actions as a log names them.

    >>> listed([Hint(type="dahai", pai="E"), Hint(type="reach")]), listed([])
    ('dahai E, reach', 'none')
    """
    return ", ".join(dict.fromkeys([_short(action) for action in actions])) or "none"


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


def _short(action: Hint | PlayerAction) -> str:
    kind = action.type if isinstance(action, Hint) else wire_name(action)
    tiles = [getattr(action, "pai", None) or "", *(getattr(action, "consumed", None) or ())]
    return " ".join([kind, *[tile for tile in tiles if tile]])


def _text(value: Hint | PlayerAction) -> str:
    return msgspec.json.encode(value).decode()
