"""What is drawn of a table at one moment, as plain JSON, derived from the table's own state.

A board is::

    {"kyoku": "East 1", "honba": 0, "sticks": 0, "wall": 70, "dora": "3p", "ura": "",
     "turn": 0, "dealer": 0, "last": -1, "scores": [25000, 25000, 25000, 25000],
     "seats": [{"wind": "E", "hand": "1m 2m ...", "size": 13, "drawn": "", "river": [], "melds": [],
                "riichi": 0, "shanten": 2, "waits": "", "furiten": false}, ...],
     "result": null}

Tiles are wire names, a list of them one text with blanks.  ``turn`` is the acting seat (-1: none),
``last`` the seat whose newest discard may be claimed (-1: none).  A seat's ``hand`` has its
concealed tiles in order without the ``drawn`` one, and is ``null`` where it may not be seen;
``size`` counts them. ``riichi`` is 1 declared, 2 accepted.  Each tile of a ``river`` and each of a
meld is its name and marks: ``_`` lies turned, ``-`` was discarded as drawn, ``^`` was called away,
``+`` lies upon the turned one, ``#`` lies face down.  Norths that are set aside lie together,
behind the melds.  Of three players lists by seat have three items.  Where the hand is hidden
``shanten`` is ``null``, ``waits`` is empty.
"""

from collections.abc import Collection, Sequence
from typing import Any, Final

from mjbot.game.rules.tile_sets import shanten_of
from mjbot.game.table import state as s
from mjbot.game.table.hands import concealed_tiles
from mjbot.game.table.legal import is_furiten
from mjbot.game.table.view import Meld, View
from mjbot.protocol.tiles import (
    N_KINDS,
    NORTH,
    TILE_NAMES,
    UNKNOWN,
    WIND_NAMES,
    tile_kind,
    tile_names,
)
from mjbot.runtime.languages import translate

Board = dict[str, Any]

SEATS: Final = range(4)
WINDS: Final = ("East", "South", "West", "North")
_NOBODY_ACTS: Final = (s.IDLE, s.WON, s.DRAWN, s.GAME_OVER)


def board_of(
    state: s.State,
    seen: Collection[int],
    result: Board | None = None,
    added: Collection[tuple[int, int]] = (),
) -> Board:
    """Return the board of a state, with the hands of the seats in ``seen`` open.

    ``added`` are seat and tile of the fourth tiles that were added to a pon, which the state does
    not separate from the other three.
    """
    view = View(state, 0)
    phase = int(state["phase"])
    return {
        "kyoku": kyoku_title(state),
        "honba": view.honba,
        "sticks": view.sticks,
        "wall": view.wall_left,
        "dora": _names(view.dora_markers.tolist()),
        "ura": _names(state["ura_markers"][: int(state["n_ura"])].tolist()),
        "turn": -1 if phase in _NOBODY_ACTS else view.turn,
        "dealer": view.dealer,
        "last": view.turn if phase == s.REACTION else -1,
        "scores": view.scores.tolist()[: view.players],
        "seats": [_seat(view, seat, seat in seen, added) for seat in SEATS[: view.players]],
        "result": result,
    }


def kyoku_text(board: Board) -> str:
    """Return the kyoku of a board in the language in use, without its honba."""
    wind, number = board["kyoku"].split()
    return translate(f"{wind} {{number}}", number=number)


def board_title(board: Board, names: Sequence[str]) -> str:
    """Return who plays where, from East on, and the kyoku: the title of a board.

    >>> seats = [{"wind": wind} for wind in "NES"]
    >>> board_title({"kyoku": "East 2", "honba": 1, "dealer": 1, "seats": seats}, "abc")
    'E: b, S: c, N: a · East 2, 1 honba'
    """
    seats = board["seats"]
    order = sorted(range(len(seats)), key=lambda seat: WIND_NAMES.index(seats[seat]["wind"]))
    players = [
        translate("{title}: ", title=translate(seats[seat]["wind"])) + names[seat] for seat in order
    ]
    honba = translate(", {n} honba", n=board["honba"]) if board["honba"] else ""
    return f"{translate(', ').join(players)} · {kyoku_text(board)}{honba}"


def kyoku_title(state: s.State) -> str:
    """Return ``South 3``."""
    wind, number = divmod(int(state["round"]), 4)
    return f"{WINDS[wind % 4]} {number + 1}"


def _seat(
    view: View, seat: int, is_seen: bool, added: Collection[tuple[int, int]]
) -> dict[str, Any]:
    state = view.state
    known = is_seen and bool(state["hand_known"][seat])
    drawn = int(state["drawn"]) if view.turn == seat else -1
    size = int(state["hand_size"][seat]) - (drawn >= 0)
    tiles = concealed_tiles(state, seat) if known else []
    if known and drawn in tiles:
        tiles.remove(drawn)
    waits = int(state["waits"][seat]) if known else 0
    return {
        "wind": WIND_NAMES[view.seat_wind(seat)],
        "hand": _names(tiles) if known else None,
        "size": size,
        "drawn": "" if drawn < 0 else TILE_NAMES[drawn if known else UNKNOWN],
        "river": _river(view, seat),
        "melds": [*[_meld(meld, seat, added) for meld in view.melds(seat)], *_norths(view, seat)],
        "riichi": int(state["riichi"][seat]),
        "shanten": int(shanten_of(state["hand"][seat], int(state["n_melds"][seat]), view.players))
        if known
        else None,
        "waits": _names([kind for kind in range(N_KINDS) if waits >> kind & 1]),
        "furiten": bool(waits) and bool(is_furiten(state, seat)),
    }


def _river(view: View, seat: int) -> list[str]:
    """Return the discards with their marks; riichi turns the first one that stays."""
    tokens, turns = [], False
    flags = view.river_flags(seat).tolist()
    for tile, flag in zip(view.river(seat).tolist(), flags, strict=True):
        turns = turns or bool(flag & s.RIICHI_DISCARD)
        called = bool(flag & s.CALLED_AWAY)
        marks = "_" * turns + "-" * bool(flag & s.TSUMOGIRI) + "^" * called
        turns = turns and called
        tokens.append(TILE_NAMES[tile] + marks)
    return tokens


def _meld(meld: Meld, seat: int, added: Collection[tuple[int, int]]) -> str:
    """Return a meld's tiles from left to right; the turned one points at the discarder."""
    tiles = meld.tiles
    if meld.type == s.ANKAN:
        names = list(tile_names(sorted(tiles, key=lambda tile: tile >= N_KINDS)))
        return " ".join([f"{names[0]}#", names[3], names[1], f"{names[2]}#"])
    upon = None
    if meld.type == s.KAKAN:
        upon = next((tile for owner, tile in added if owner == seat and tile in tiles), meld.kind)
        if tile_kind(upon) != meld.kind or tiles.count(upon) - (upon == meld.called) < 1:
            upon = meld.kind
        tiles.remove(upon)
    tiles.remove(meld.called)
    names = list(tile_names(tiles))
    side = (meld.source - seat) % 4  # 1 to the right, 2 across, 3 to the left
    index = {1: len(names), 2: 1, 3: 0}.get(side, 0)
    names.insert(index, f"{TILE_NAMES[meld.called]}_")
    if upon is not None:
        names.insert(index + 1, f"{TILE_NAMES[upon]}+")
    return " ".join(names)


def _norths(view: View, seat: int) -> list[str]:
    """Return the norths that are set aside as one text, if there are any."""
    return [_names([NORTH] * view.kita(seat))] if view.kita(seat) else []


def _names(tiles: list[int]) -> str:
    return " ".join(tile_names(tiles))


def difference(before: Any, after: Any) -> Any:
    """Return what makes ``before`` to ``after``, both boards or parts of them of one shape.

    Of objects what has changed, by key, of lists that have not shrunk by place; else the new value.

    >>> difference({"wall": 70, "river": ["E"]}, {"wall": 69, "river": ["E", "5mr"]})
    {'wall': 69, 'river': {'1': '5mr'}}
    """
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        pairs = [(key, before[key], after[key]) for key in after]
    elif isinstance(before, list) and isinstance(after, list) and len(before) <= len(after):
        pairs = [
            (str(index), before[index] if index < len(before) else None, value)
            for index, value in enumerate(after)
        ]
    else:
        return after
    return {key: difference(old, new) for key, old, new in pairs if old != new}


def changed(board: Any, change: Any) -> Any:
    """Return a board after a :func:`difference`, as the page makes it; ``board`` stays."""
    if not isinstance(change, dict) or not isinstance(board, dict | list):
        return change
    if isinstance(board, dict):
        return {**board, **{key: changed(board[key], new) for key, new in change.items()}}
    after = list(board)
    for key, new in change.items():
        index = int(key)
        if index < len(after):
            after[index] = changed(after[index], new)
        else:
            after.append(new)
    return after
