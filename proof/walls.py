"""Recorded kyoku of three players on their own walls: the referee deals, draws and pays the same.

``walls.txt`` has a line for each kyoku: game, number in the game, Tenhou's 108 tile ids in hex,
the dice.  Draws go down from the last of them; the deal takes 4+4+4+1 a seat from the dealer on.
"""

import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.records.game import Game
from mjbot.game.referee import Position, Referee
from mjbot.game.rules.wall_plan import HAND_TILES, wall_plan
from mjbot.game.table.actions import ACTIONS, PASS, Action
from mjbot.game.table.mirror.wire import to_action
from mjbot.protocol import messages as m
from mjbot.protocol.rules import Rules
from mjbot.protocol.tenhou.tiles import RED_TILES
from mjbot.protocol.tiles import TILE_BY_NAME, WIND_NAMES

PLAYERS: Final = 3
N_TILES: Final = 108
_CLAIMS: Final = (m.Hora, m.Pon, m.Daiminkan)
_BETWEEN: Final = (m.ReachAccepted, m.Dora)
_COMPARED: Final = (
    "actor", "target", "pai", "tsumogiri", "dora_marker", "deltas", "uradora_markers", "reason",
    "tenpais", "fan", "fu", "hora_points", "pao",
)  # fmt: skip

Walls = dict[tuple[str, int], Sequence[int]]


class WallError(ValueError):
    """The referee and the record of a kyoku differ."""


def read_walls(path: Path) -> Walls:
    """Return the tile ids of each wall by game and number of the kyoku."""
    walls: Walls = {}
    with zipfile.ZipFile(path) as archive, archive.open("walls.txt") as lines:
        for line in lines:
            game, kyoku, ids, *_ = line.split()
            walls[game.decode(), int(kyoku)] = bytes.fromhex(ids.decode())
    return walls


def lay(ids: Sequence[int], dealer: int) -> NDArray[np.int8]:
    """Return Tenhou's wall int8[136] as our plan has it."""
    plan, wall = wall_plan(PLAYERS), np.full(136, -1, np.int8)
    tiles = [TILE_BY_NAME[RED_TILES[tile]] for tile in reversed(ids)]
    next_places = {seat: HAND_TILES * seat for seat in range(PLAYERS)}
    dealt = 0
    for size in (4, 4, 4, 1):
        for steps in range(PLAYERS):
            seat = (dealer + steps) % PLAYERS
            first = next_places[seat]
            wall[first : first + size] = tiles[dealt : dealt + size]
            next_places[seat] += size
            dealt += size
    wall[dealt:N_TILES] = tiles[dealt:]
    replacements = int(
        plan["rinshan"]
    )  # of a pair of places the upper tile, nearer to the end, first
    for place in range(replacements, N_TILES):
        wall[place] = tiles[N_TILES - 1 - ((place - replacements) ^ 1)]
    return wall


def check_walls(game: Game, name: str, walls: Walls, checked: Counter[str]) -> None:
    """Play each kyoku of a game on its wall; raises :class:`WallError` at the first difference."""
    for number, (kyoku, following) in enumerate(_kyoku(entry.event for entry in game.entries)):
        if (name, number) in walls:
            try:
                _check_kyoku(kyoku, following, walls[name, number], checked)
            except WallError as error:
                raise WallError(f"{game.name}: kyoku {number}: {error}") from None


def _kyoku(events: Iterable[m.Event]) -> Iterator[tuple[list[m.Event], m.Event | None]]:
    """Yield the events of each kyoku with its ``end_kyoku``, and the event that follows it."""
    kyoku: list[m.Event] = []
    for event in events:
        if kyoku and isinstance(kyoku[-1], m.EndKyoku):
            yield kyoku, event
            kyoku = []
        if kyoku or isinstance(event, m.StartKyoku):
            kyoku.append(event)
    if kyoku:
        yield kyoku, None


def _check_kyoku(
    recorded: list[m.Event], following: m.Event | None, ids: Sequence[int], checked: Counter[str]
) -> None:
    deal = recorded[0]
    assert isinstance(deal, m.StartKyoku)
    wall = lay(ids, deal.oya)

    def fill(_round: int, _honba: int, places: NDArray[np.int8]) -> None:
        places[:] = wall

    referee = Referee(0, Rules(players=PLAYERS), walls=fill)
    round_ = 4 * WIND_NAMES.index(deal.bakaze) + deal.kyoku - 1
    ours = referee.start(Position(round_, deal.honba, deal.kyotaku, deal.scores))[1:]
    while not isinstance(ours[-1], m.EndGame) and m.EndKyoku() not in ours:
        coming = recorded[len(ours) :]
        choices = {seat: _choice(referee, seat, coming) for seat in referee.asked}
        ours += referee.step(choices)
    _compare(ours[: len(recorded)], recorded, checked)
    _compare_following(ours[len(recorded) :], following, checked)
    checked["walls"] += 1


def _choice(referee: Referee, seat: int, coming: list[m.Event]) -> Action:
    """Return what the seat did, by the events that come."""
    coming = [event for event in coming[:8] if not isinstance(event, _BETWEEN)]
    state = referee.state
    if coming and seat == int(state["turn"]):
        return to_action(state, seat, coming[0])
    for event in takewhile(lambda event: isinstance(event, _CLAIMS), coming):
        if getattr(event, "actor", None) == seat:
            return to_action(state, seat, event)
    return ACTIONS[PASS]


def _compare(ours: list[m.Event], recorded: list[m.Event], checked: Counter[str]) -> None:
    if len(ours) != len(recorded):
        raise WallError(f"{len(ours)} events, recorded are {len(recorded)}: {ours[-3:]}")
    for one, other in zip(ours, recorded, strict=True):
        if _facts(one) != _facts(other):
            raise WallError(f"{one}, recorded is {other}")
        checked[f"event {m.wire_name(one)} of the referee"] += 1


def _facts(event: m.Event) -> list[Any]:
    facts: list[Any] = [type(event)]
    facts += [getattr(event, name, None) for name in _COMPARED]
    facts.append(sorted(getattr(event, "consumed", ())))
    if isinstance(event, m.StartKyoku):
        facts += [sorted(hand) for hand in event.tehais]
    if isinstance(event, m.Hora):
        facts.append(sorted(pair for pair in event.yakus or () if pair[1]))
    return facts


def _compare_following(
    ours: list[m.Event], following: m.Event | None, checked: Counter[str]
) -> None:
    """The same kyoku follows, or the game ends with the same scores."""
    fields = ("bakaze", "kyoku", "honba", "kyotaku", "oya", "scores")
    if ours and following is not None:
        pair = [[getattr(event, name, None) for name in fields] for event in (ours[0], following)]
        if type(ours[0]) is not type(following) or pair[0] != pair[1]:
            raise WallError(f"{ours[0]} follows, recorded is {following}")
        checked["what follows a kyoku"] += 1
