"""Actions as protocol messages, and back; both need the state for what a code leaves out.

And yaku as the original mjai server lists them in a hora.
"""

from typing import Final

from mjbot.game.rules.yaku_table import (
    DORA,
    HAKU,
    ORDINARY,
    RED_DORA,
    URA_DORA,
    YAKU,
    YAKUMAN,
    yaku_ids,
)
from mjbot.game.table import actions as a
from mjbot.game.table.hands import count_meld_reds
from mjbot.game.table.state import PON, State
from mjbot.protocol import messages as m
from mjbot.protocol.tiles import FIVE_KINDS, N_KINDS, NORTH, TILE_BY_NAME, TILE_NAMES, tile_kind
from mjbot.protocol.yaku import YAKUMAN_FAN

NINE_TERMINALS_REASON: Final = "kyushukyuhai"


def tile_code(name: str) -> int:
    """Return the tile (0..36) of a wire name; ``ValueError`` for anything else."""
    tile = TILE_BY_NAME.get(name, N_KINDS + 3)
    if tile >= N_KINDS + 3:
        raise ValueError(f"tile {name!r} is not a known tile")
    return tile


# --- to messages -----------------------------------------------------------------------------


def to_message(state: State, seat: int, action: a.Action) -> m.PlayerAction:
    """Return the message of ``action`` by ``seat`` in this state."""
    match action.name:
        case "discard":
            return m.Dahai(actor=seat, pai=TILE_NAMES[action.tile], tsumogiri=action.tsumogiri)
        case "riichi":
            return m.Reach(actor=seat)
        case "pass":
            return m.Skip()
        case "kita":
            return m.Kita(actor=seat, pai=TILE_NAMES[NORTH])
        case "nine terminals":
            return m.Ryukyoku(actor=seat, reason=NINE_TERMINALS_REASON)
        case "tsumo":
            return m.Hora(actor=seat, target=seat, pai=TILE_NAMES[int(state["drawn"])])
        case "ron":
            pai = TILE_NAMES[int(state["last_tile"])]
            return m.Hora(actor=seat, target=int(state["turn"]), pai=pai)
        case "ankan" | "kakan":
            return _own_kan(state, seat, action)
        case "chi" | "pon" | "daiminkan":
            return _call(state, seat, action)


def _own_kan(state: State, seat: int, action: a.Action) -> m.PlayerAction:
    kind = action.tile
    if action.name == "ankan":
        names = _copies(kind, 4, _held_reds(state, seat, kind))
        return m.Ankan(actor=seat, consumed=(names[0], names[1], names[2], names[3]))
    meld = _pon_index(state, seat, kind)
    names = _copies(kind, 3, int(count_meld_reds(state["meld_red"][seat][meld])))
    added = _copies(kind, 1, min(1, _held_reds(state, seat, kind)))[0]
    return m.Kakan(actor=seat, pai=added, consumed=(names[0], names[1], names[2]))


def _held_reds(state: State, seat: int, kind: int) -> int:
    return int(state["red"][seat][kind // 9]) if kind in FIVE_KINDS else 0


def _pon_index(state: State, seat: int, kind: int) -> int:
    for meld in range(int(state["n_melds"][seat])):
        if state["meld_type"][seat][meld] == PON and state["meld_kind"][seat][meld] == kind:
            return meld
    raise ValueError(f"seat {seat} has no pon of {TILE_NAMES[kind]}")


def _copies(kind: int, count: int, n_reds: int) -> list[str]:
    """Return ``count`` tile names of a kind, the red ones last."""
    reds = [TILE_NAMES[N_KINDS + kind // 9]] * n_reds if n_reds else []
    return [TILE_NAMES[kind]] * (count - n_reds) + reds


def consumed_tiles(state: State, seat: int, action: a.Action) -> tuple[int, ...]:
    """Return the tiles (0..36) that a chi, pon or daiminkan takes from the seat's hand."""
    kind = tile_kind(int(state["last_tile"]))
    if action.name == "chi":
        low = kind - action.offset
        return tuple(
            N_KINDS + tile // 9 if action.red and tile in FIVE_KINDS else tile
            for tile in range(low, low + 3)
            if tile != kind
        )
    count = 2 if action.name == "pon" else 3
    n_reds = _held_reds(state, seat, kind)
    if action.name == "pon":  # a red five with a plain one, where there is one
        n_reds = max(1, count - int(state["hand"][seat][kind]) + n_reds) if action.red else 0
    return (kind,) * (count - n_reds) + (N_KINDS + kind // 9,) * n_reds


def _call(state: State, seat: int, action: a.Action) -> m.PlayerAction:
    pai = TILE_NAMES[int(state["last_tile"])]
    target = int(state["turn"])
    names = [TILE_NAMES[tile] for tile in consumed_tiles(state, seat, action)]
    if action.name == "chi":
        return m.Chi(actor=seat, target=target, pai=pai, consumed=(names[0], names[1]))
    if action.name == "pon":
        return m.Pon(actor=seat, target=target, pai=pai, consumed=(names[0], names[1]))
    return m.Daiminkan(actor=seat, target=target, pai=pai, consumed=(names[0], names[1], names[2]))


# --- from messages ---------------------------------------------------------------------------


def to_action(state: State, seat: int, message: m.Message) -> a.Action:
    """Return the action that ``message`` means when sent by ``seat`` in this state.

    Whether it is legal is another question (:mod:`mjbot.game.table.legal`).  Raises ``ValueError``
    naming the field where the message does not fit the state.
    """
    actor = getattr(message, "actor", None)
    if actor is not None and actor != seat:
        raise ValueError(f"actor is {actor}, expected {seat}")
    return a.ACTIONS[_code(state, seat, message)]


def _code(state: State, seat: int, message: m.Message) -> int:
    match message:
        case m.Dahai(pai=pai, tsumogiri=tsumogiri):
            return _discard_code(state, pai, tsumogiri)
        case m.Reach():
            return a.DECLARE_RIICHI
        case m.Kita(pai=pai):
            _expect_tile("pai", pai, NORTH)
            return a.KITA
        case m.Skip():
            return a.PASS
        case m.Ryukyoku(reason=reason):
            if reason not in (NINE_TERMINALS_REASON, None):
                raise ValueError(f"reason is {reason!r}, expected {NINE_TERMINALS_REASON!r}")
            return a.NINE_TERMINALS
        case m.Hora():
            return _win_code(state, seat, message)
        case m.Chi() | m.Pon() | m.Daiminkan():
            return _call_code(state, message)
        case m.Ankan(consumed=consumed):
            return a.CONCEALED_KAN + _one_kind(consumed, "consumed")
        case m.Kakan(pai=pai, consumed=consumed):
            return a.ADDED_KAN + _one_kind((pai, *consumed), "pai and consumed")
    raise ValueError(f"type {type(message).__name__} is not an action")


def _discard_code(state: State, pai: str, tsumogiri: bool) -> int:
    tile = tile_code(pai)
    drawn = int(state["drawn"])
    if tsumogiri and drawn not in (tile, N_KINDS + 3):
        raise ValueError(f"tsumogiri is true, but {pai} is not the drawn tile")
    return (a.DISCARD_DRAWN if tsumogiri else a.DISCARD) + tile


def _win_code(state: State, seat: int, message: m.Hora) -> int:
    if message.target == seat:
        _expect_tile("pai", message.pai, int(state["drawn"]))
        return a.TSUMO
    _expect_target(state, message.target)
    _expect_tile("pai", message.pai, int(state["last_tile"]))
    return a.RON


def _expect_target(state: State, target: int) -> None:
    if target != int(state["turn"]):
        raise ValueError(f"target is {target}, but the tile on offer is seat {state['turn']}'s")


def _expect_tile(field: str, name: str | None, tile: int) -> None:
    if name is not None and 0 <= tile < N_KINDS + 3 and name != TILE_NAMES[tile]:
        raise ValueError(f"{field} is {name}, but the tile is {TILE_NAMES[tile]}")


def _call_code(state: State, message: m.Chi | m.Pon | m.Daiminkan) -> int:
    _expect_target(state, message.target)
    _expect_tile("pai", message.pai, int(state["last_tile"]))
    used = [tile_code(name) for name in message.consumed]
    has_red = any(tile >= N_KINDS for tile in used)
    if isinstance(message, m.Chi):
        return chi_code(message, used, has_red)
    _one_kind((message.pai, *message.consumed), "consumed")
    if isinstance(message, m.Daiminkan):
        return a.CALL_KAN
    return a.PON_RED if has_red else a.PON_PLAIN


def chi_code(message: m.Chi, used: list[int], has_red: bool) -> int:
    """Return the code of a chi.  Raises ``ValueError`` for tiles that make no run."""
    called = tile_kind(tile_code(message.pai))
    run = sorted([called, *(tile_kind(tile) for tile in used)])
    low = run[0]
    if run != [low, low + 1, low + 2] or run[2] >= 27 or low // 9 != run[2] // 9:
        raise ValueError(f"consumed {list(message.consumed)} makes no run with {message.pai}")
    return (a.CHI_LOW_RED if has_red else a.CHI_LOW) + called - low


def _one_kind(names: tuple[str, ...], field: str) -> int:
    kinds = {tile_kind(tile_code(name)) for name in names}
    if len(kinds) != 1:
        raise ValueError(f"{field} {list(names)} are not tiles of one kind")
    return kinds.pop()


DRAGONS: Final = range(HAKU, HAKU + 3)


def wire_yakus(
    yaku_mask: int, is_open: bool, bonus: tuple[int, int, int]
) -> tuple[tuple[str, int], ...]:
    """Return (name, fan) pairs, dora first; ``bonus`` counts dora, ura dora and red fives.

    ``sangenpai`` stands once with the number of dragon triplets; a yakuman counts 100,
    also where the rules count it twice.

    >>> wire_yakus(1 << 7 | 1 << 8, False, (2, 0, 0))
    (('dora', 2), ('pinfu', 1), ('tanyaochu', 1))
    """
    if yaku_mask & YAKUMAN:
        return tuple((YAKU[yaku].mjai_name, YAKUMAN_FAN) for yaku in yaku_ids(yaku_mask & YAKUMAN))
    pairs = [
        (YAKU[yaku].mjai_name, count)
        for yaku, count in zip((DORA, URA_DORA, RED_DORA), bonus, strict=True)
        if count
    ]
    dragons = 0
    for yaku in yaku_ids(yaku_mask & ORDINARY):
        if yaku in DRAGONS:
            dragons += 1
        else:
            pairs.append(
                (YAKU[yaku].mjai_name, YAKU[yaku].open_han if is_open else YAKU[yaku].closed_han)
            )
    if dragons:
        pairs.append(("sangenpai", dragons))
    return tuple(pairs)
