"""RiichiEnv's walls, offers and events in our terms."""

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from riichienv import Action as PeerAction
from riichienv import ActionType, RiichiEnv

from mjbot.game.rules.wall_plan import WallPlan, wall_plan
from mjbot.game.table.actions import (
    ADDED_KAN,
    CALL_KAN,
    CHI_LOW,
    CHI_LOW_RED,
    CONCEALED_KAN,
    DECLARE_RIICHI,
    DISCARD,
    DISCARD_DRAWN,
    KITA,
    NINE_TERMINALS,
    PASS,
    PON_PLAIN,
    PON_RED,
    RON,
    TSUMO,
)
from mjbot.protocol import messages as m
from mjbot.protocol.tiles import N_KINDS, RED_FIVES, TILE_BY_NAME, tile_kind

DEAD_WALL: Final = 14
_REDS: Final = dict(zip((16, 52, 88), RED_FIVES, strict=True))
_ONE_CODE: Final = {
    ActionType.RIICHI: DECLARE_RIICHI,
    ActionType.TSUMO: TSUMO,
    ActionType.RON: RON,
    ActionType.KYUSHU_KYUHAI: NINE_TERMINALS,
    ActionType.PASS: PASS,
    ActionType.DAIMINKAN: CALL_KAN,
    ActionType.KITA: KITA,
}
Plain = tuple[Any, ...]
"""An event as a tuple that starts with its wire type; tiles as names, unordered ones sorted."""


def tile_of(number: int) -> int:
    """Return the tile (0..36) of one of the 136 pieces; 16, 52 and 88 are the red fives.

    >>> tile_of(16), tile_of(17), tile_of(135)
    (34, 4, 33)
    """
    return _REDS.get(number, number // 4)


def pieces_of(tiles: Iterable[int]) -> list[int]:
    """Return distinct pieces (0..135) for up to four tiles of each kind; inverse of `tile_of`.

    >>> pieces_of([4, 34, 4])
    [17, 16, 18]
    """
    pieces: list[int] = []
    unused = {kind: [4 * kind + copy for copy in range(4)] for kind in range(N_KINDS)}
    for kind in (4, 13, 22):
        unused[kind].remove(4 * kind)
    reds = {tile: piece for piece, tile in _REDS.items()}
    for tile in tiles:
        pieces.append(reds[tile] if tile in reds else unused[tile].pop(0))
    return pieces


def peer_plan(players: int) -> WallPlan:
    """Return where the parts of a wall lie, for our referee to play on RiichiEnv's walls.

    Of three players its fourth and fifth markers lie above their ura markers in the order of the
    draws, those of Tenhou below.
    """
    plan = wall_plan(players)
    if players == 3:
        plan["dora"], plan["ura"] = plan["ura"], plan["dora"]
    return plan


def read_wall(env: RiichiEnv, wall: NDArray[np.int8]) -> None:
    """Copy the wall of the kyoku just dealt into our layout (:func:`peer_plan`).

    RiichiEnv draws from the end of its list; its first 14 pieces are the rinshan tiles, then dora
    and ura markers in turn.
    """
    pieces = [tile_of(piece) for piece in env.wall]
    hands = [list(hand) for hand in env.hands]
    hands[env.oya].remove(env.drawn_tile)
    for seat, hand in enumerate(hands):
        wall[13 * seat : 13 * seat + 13] = [tile_of(piece) for piece in hand]
    plan = peer_plan(env.num_players)
    wall[plan["live"] : plan["live"] + plan["n_live"]] = [
        tile_of(env.drawn_tile),
        *pieces[: DEAD_WALL - 1 : -1],
    ]
    n_rinshan = plan["n_tiles"] - plan["rinshan"]
    wall[plan["rinshan"] : plan["n_tiles"]] = pieces[:n_rinshan]
    for place in range((DEAD_WALL - n_rinshan) // 2):
        marker = n_rinshan + 2 * place
        wall[plan["dora"] + plan["marker_step"] * place] = pieces[marker]
        wall[plan["ura"] + plan["marker_step"] * place] = pieces[marker + 1]


def lay_wall(wall: NDArray[np.int8], dealer: int, players: int) -> list[int]:
    """Return our wall as the argument ``wall`` of ``RiichiEnv.reset``, which deals from its front.

    Four tiles three times round from the dealer on, then one each.
    """
    tiles, plan = wall.tolist(), peer_plan(players)
    hands = [tiles[13 * seat : 13 * seat + 13] for seat in range(players)]
    order = [(dealer + step) % players for step in range(players)]
    dealt = [tile for turn in range(3) for seat in order for tile in hands[seat][4 * turn :][:4]]
    dealt += [hands[seat][12] for seat in order]
    dead = [*tiles[plan["rinshan"] : plan["n_tiles"]]]
    for place in range((DEAD_WALL - len(dead)) // 2):
        step = plan["marker_step"] * place
        dead += [tiles[plan["dora"] + step], tiles[plan["ura"] + step]]
    return pieces_of(
        [*dealt, *tiles[plan["live"] : plan["live"] + plan["n_live"]], *reversed(dead)]
    )


# --- offers ----------------------------------------------------------------------------------


def offers(env: RiichiEnv, observation: Any) -> dict[int, PeerAction]:
    """Return what RiichiEnv lets a seat do, by our action codes, one action for each."""
    drawn = env.drawn_tile
    return {_code(action, drawn): action for action in reversed(observation.legal_actions())}


def _code(action: PeerAction, drawn: int | None) -> int:
    type_ = action.action_type
    tile: int = action.tile or 0
    if type_ == ActionType.DISCARD:
        return (DISCARD_DRAWN if tile == drawn else DISCARD) + tile_of(tile)
    if type_ in _ONE_CODE:
        return _ONE_CODE[type_]
    kind = tile // 4
    has_red = any(piece in _REDS for piece in action.consume_tiles)
    if type_ == ActionType.PON:
        return PON_RED if has_red else PON_PLAIN
    if type_ == ActionType.CHI:
        low: int = min(kind, *(piece // 4 for piece in action.consume_tiles))
        return (CHI_LOW_RED if has_red else CHI_LOW) + kind - low
    return (CONCEALED_KAN if type_ == ActionType.ANKAN else ADDED_KAN) + kind


# --- events ----------------------------------------------------------------------------------


def plain(event: m.Message) -> Plain:
    """Return what both referees report of one of our events, with lists by seat as theirs."""
    match event:
        case m.Dahai():
            return "dahai", event.actor, event.pai, event.tsumogiri
        case m.Chi() | m.Pon() | m.Daiminkan():
            name = type(event).__name__.lower()
            return name, event.actor, event.target, event.pai, _sorted(event.consumed)
        case m.Kakan():
            return "kakan", event.actor, event.pai, _sorted(event.consumed)
        case m.Ankan():
            return "ankan", event.actor, _sorted(event.consumed)
        case m.Hora():
            return "hora", event.actor, event.target, event.uradora_markers, event.deltas
        case m.Ryukyoku():
            return "ryukyoku", event.reason, event.deltas
        case m.StartKyoku():
            kyoku = (event.bakaze, event.kyoku, event.honba, event.kyotaku, event.oya)
            hands = tuple(_sorted(hand) for hand in event.tehais)
            return "start_kyoku", *kyoku, event.dora_marker, event.scores, hands
        case m.Tsumo():
            return "tsumo", event.actor, event.pai
        case m.Dora():
            return "dora", event.dora_marker
        case m.Reach() | m.ReachAccepted() | m.Kita():
            return m.wire_name(event), event.actor
    return (type(event).__name__,)


_REASONS: Final = {
    "exhaustive_draw": "fanpai",
    "nagashimangan": "nagashimangan",
    "kyushu_kyuhai": "kyushukyuhai",
    "sufuurenta": "sufonrenta",
    "suukansansen": "sukaikan",
    "suucha_riichi": "suchareach",
    "sanchaho": "sanchaho",
}
_FIELDS: Final = {
    "tsumo": ("actor", "pai"),
    "dahai": ("actor", "pai", "tsumogiri"),
    "reach": ("actor",),
    "reach_accepted": ("actor",),
    "dora": ("dora_marker",),
    "chi": ("actor", "target", "pai", "consumed"),
    "pon": ("actor", "target", "pai", "consumed"),
    "daiminkan": ("actor", "target", "pai", "consumed"),
    "kakan": ("actor", "pai", "consumed"),
    "ankan": ("actor", "consumed"),
    "kita": ("actor",),
    "hora": ("actor", "target", "ura_markers", "deltas"),
    "ryukyoku": ("reason", "deltas"),
    "start_kyoku": (
        *("bakaze", "kyoku", "honba", "kyotaku", "oya"),
        *("dora_marker", "scores", "tehais"),
    ),
    "start_game": (),
    "end_kyoku": (),
    "end_game": (),
}
_OUR_NAMES: Final = {"start_game": "StartGame", "end_kyoku": "EndKyoku", "end_game": "EndGame"}


def plain_peer(event: dict[str, Any]) -> Plain:
    """Return the same of one of RiichiEnv's events."""
    type_ = event["type"]
    name = _OUR_NAMES.get(type_, type_)
    return name, *(_value(field, event[field]) for field in _FIELDS[type_])


def _value(field: str, value: Any) -> Any:
    if field == "consumed":
        return _sorted(value)
    if field == "tehais":
        return tuple(_sorted(hand) for hand in value)
    if field == "reason":
        return _REASONS.get(value, value)
    return tuple(value) if isinstance(value, list) else value


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=_order))


def _order(name: str) -> tuple[int, int]:
    tile = TILE_BY_NAME[name]
    return tile_kind(tile), tile
