"""Events of a table as text: the line below the board, a result, a feed."""

import re
from collections.abc import Sequence
from typing import Any, Final, assert_never

import numpy as np

from mjbot.game.rules.points import base_points
from mjbot.game.rules.yaku_table import DORA, RED_DORA, URA_DORA, YAKU, yaku_han
from mjbot.game.table.hand_score import limit_name
from mjbot.game.table.settle import PAYMENT, win_payment
from mjbot.game.table.state import State
from mjbot.protocol import messages as m
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.tiles import TILE_BY_NAME, TILE_NAMES
from mjbot.runtime.languages import marked, translate
from mjbot.viewer.drawing.board_data import SEATS
from mjbot.viewer.drawing.tiles import tile_text

DRAWS: Final = {
    "fanpai": marked("exhaustive draw"),
    "nagashimangan": marked("mangan by discards"),
    "kyushukyuhai": marked("abortive draw: nine terminals"),
    "sufonrenta": marked("abortive draw: four equal winds"),
    "sukaikan": marked("abortive draw: four kans"),
    "suchareach": marked("abortive draw: four riichi"),
    "sanchaho": marked("abortive draw: three wins at once"),
    "error": marked("a penalty for a fault"),
}
MOST_LETTERS: Final = 80
_PAIR_NAME: Final = re.compile(r"^(.*) \(team ([12])/2\)$", re.DOTALL)


def pairs_of(names: Sequence[str]) -> dict[int, int]:
    """Return seat -> ally of the players whose names mark them as a pair.

    >>> pairs_of(("a (team 2/2)", "x", "a (team 1/2)", "b (team 1/2)"))
    {0: 2, 2: 0}
    """
    matches = [_PAIR_NAME.match(name) for name in names]
    return {
        seat: ally
        for seat, one in enumerate(matches)
        for ally, other in enumerate(matches)
        if one and other and one[1] == other[1] and one[2] != other[2]
    }


def named(tile: str) -> str:
    """Return a wire name of a tile as players write it; other texts as they are.

    >>> named("5sr"), named("E"), named("ankan")
    ('red 5s', 'East', 'ankan')
    """
    return tile_text(TILE_BY_NAME[tile]) if tile in TILE_BY_NAME else one_line(tile)


def event_text(event: m.Event, names: Sequence[str], is_seen: bool) -> str:
    """Describe an event, without its actor; ``is_seen`` is whether the actor's hand is shown."""
    match event:
        case m.Dora():
            return translate("new dora indicator {tile}", tile=named(event.dora_marker))
        case m.Ryukyoku():
            return translate(draw_text(event))
        case m.StartGame() | m.StartKyoku() | m.EndKyoku() | m.EndGame():
            return translate(_PLAIN[type(event)])
        case _:
            return _act_text(event, names, is_seen)


_Act = (
    m.Tsumo | m.Dahai | m.Chi | m.Pon | m.Daiminkan | m.Kakan | m.Ankan | m.Kita | m.Reach
    | m.ReachAccepted | m.Hora
)  # fmt: skip
_PLAIN: Final[dict[type[m.Event], str]] = {
    m.StartGame: marked("the game begins"),
    m.StartKyoku: marked("the tiles are dealt"),
    m.EndKyoku: marked("the kyoku is over"),
    m.EndGame: marked("the game is over"),
    m.Reach: marked("declares riichi"),
    m.ReachAccepted: marked("pays the riichi stick"),
}
_CALLS: Final = {m.Chi: marked("chi"), m.Pon: marked("pon"), m.Daiminkan: marked("kan")}


def _act_text(event: _Act, names: Sequence[str], is_seen: bool) -> str:
    match event:
        case m.Tsumo():
            is_named = is_seen and event.pai != "?"
            return (
                translate("draws {tile}", tile=named(event.pai)) if is_named else translate("draws")
            )
        case m.Dahai():
            if event.tsumogiri:
                return translate("discards {tile}, as drawn", tile=named(event.pai))
            return translate("discards {tile}", tile=named(event.pai))
        case m.Chi() | m.Pon() | m.Daiminkan():
            text, call = marked("calls {call}: {tile} from {name}"), translate(_CALLS[type(event)])
            return translate(text, call=call, tile=named(event.pai), name=names[event.target])
        case m.Kakan():
            return translate("adds {tile} to the pon: kan", tile=named(event.pai))
        case m.Ankan():
            return translate("declares a concealed kan of {tile}", tile=named(event.consumed[0]))
        case m.Kita():
            return translate("sets {tile} aside", tile=named(event.pai))
        case m.Reach() | m.ReachAccepted():
            return translate(_PLAIN[type(event)])
        case m.Hora():
            if event.target == event.actor:
                return translate("wins by draw")
            return translate("wins off {name}", name=names[event.target])
        case _:
            assert_never(event)


def draw_text(event: m.Ryukyoku) -> str:
    """Describe how a kyoku was drawn."""
    return DRAWS.get(event.reason or "fanpai", one_line(event.reason, MOST_LETTERS))


def feed_text(event: m.Event, names: Sequence[str], pairs: dict[int, int]) -> str:
    """Return what one of a pair fed the other, empty if nothing.

    Whether it was meant does not show at the table.
    """
    actor, target = getattr(event, "actor", None), getattr(event, "target", None)
    if actor is None or target is None or actor == target or pairs.get(actor) != target:
        return ""
    if isinstance(event, m.Hora):
        tile = f": {named(event.pai)}" if event.pai else ""
        text = marked("{giver} feeds {taker} a win (sashikomi)")
        return translate(text, giver=names[target], taker=names[actor]) + tile
    if isinstance(event, m.Chi | m.Pon | m.Daiminkan):
        return translate(
            "{giver} feeds {taker} a {call}: {tile}",
            giver=names[target],
            taker=names[actor],
            call=translate(_CALLS[type(event)]),
            tile=named(event.pai),
        )
    return ""


def no_result() -> dict[str, Any]:
    """Return the result of a kyoku in which nothing was won or paid yet."""
    return {"title": "", "wins": [], "tenpai": [], "deltas": [0, 0, 0, 0], "ranks": []}


def win_of(state: State, event: m.Hora) -> dict[str, Any]:
    """Return the value of a win that was applied to the state just now.

    Computed by our rules where the hand is known, else as in the event; ``han`` 0 is unknown.
    """
    winner = event.actor
    by_draw = event.target == winner
    tile = int(state["drawn" if by_draw else "last_tile"])
    result: dict[str, Any] = {
        "seat": winner,
        "from": event.target,
        "tile": event.pai or "",
        "yaku": [[yaku_name(name), han] for name, han in event.yakus or ()],
        "fu": event.fu or 0,
        "han": event.fan or 0,
        "points": event.hora_points or 0,
        "limit": "",
    }
    hidden_ura = state["riichi"][winner] and event.uradora_markers is None
    if not state["hand_known"][winner] or hidden_ura or not 0 <= tile < len(TILE_NAMES) - 1:
        return result
    result["tile"] = TILE_NAMES[tile]
    win: Any = np.zeros(1, PAYMENT)[0]
    win_payment(state, winner, tile, by_draw, win)
    han, fu, yakuman = int(win["han"]), int(win["fu"]), int(win["yakuman"])
    if not han:
        return result
    flags = int(state["rules"]["scoring"])
    base = base_points(han, fu, yakuman, flags)
    bonus = (int(win["dora"]), int(win["ura"]), int(win["red"]))
    ids = yaku_han(int(win["yaku_mask"]), bool(state["is_open"][winner]), bonus, flags)
    yaku = [[YAKU[yaku].name, value] for yaku, value in ids]
    points, limit = int(win["points"]), limit_name(base)
    return {**result, "yaku": yaku, "fu": fu, "han": han, "points": points, "limit": limit}


_ENGLISH: Final = {
    **{yaku.mjai_name: yaku.name for yaku in reversed(YAKU)},
    "jikaze": marked("seat wind"),
    "bakaze": marked("round wind"),
    "sangenpai": marked("dragons"),
}


def yaku_name(name: str) -> str:
    """Return the English name of a yaku that the wire calls ``name``; unknown names are kept.

    >>> [yaku_name(name) for name in ("menzenchin_tsumoho", "akadora", "jikaze", "sanrenko")]
    ['fully concealed self-draw', 'red dora', 'seat wind', 'sanrenko']
    """
    return _ENGLISH.get(name, one_line(name, MOST_LETTERS))


def yaku_text(yakus: Sequence[tuple[str, int]]) -> str:
    """Return a win's yaku as one text, dora with their number.

    >>> yaku_text([("dora", 2), ("reach", 1), ("honiso", 3), ("akadora", 1)])
    'dora 2, riichi, half flush, red dora'
    """
    counted = {YAKU[yaku].mjai_name for yaku in (DORA, URA_DORA, RED_DORA)}
    return ", ".join(
        f"{yaku_name(name)} {han}" if name in counted and han > 1 else yaku_name(name)
        for name, han in yakus
    )


def revealed(event: m.Event) -> list[int]:
    """Return the seats whose hands an event reveals to all players."""
    if isinstance(event, m.Hora):
        return [event.actor]
    if not isinstance(event, m.Ryukyoku):
        return []
    if event.reason == "kyushukyuhai":
        return [] if event.actor is None else [event.actor]
    return [seat for seat in SEATS if event.tenpais and event.tenpais[seat]]
