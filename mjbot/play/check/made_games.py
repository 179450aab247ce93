"""Games whose walls and opponents are scripted, so that a bot meets the situation of a check.

Draws are pinned (:mod:`mjbot.game.referee.wall`): what a seat draws is the same whatever the bot
calls. Opponents do what a deal wishes as soon as it is legal, and otherwise discard what they draw.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.referee import Position, Referee
from mjbot.game.referee.wall import shuffle_wall
from mjbot.game.rules.wall_plan import wall_plan
from mjbot.game.table.actions import Action
from mjbot.game.table.assume import pin_draws
from mjbot.protocol.messages import EndGame, EndKyoku, Event
from mjbot.protocol.rules import STICK_POINTS, Length, Rules
from mjbot.protocol.tiles import FIVE_KINDS, N_KINDS, RED_FIVES, parse_tiles, tile_kind

_MISSING: Final = {3: range(1, 8), 4: range(0)}
"""The kinds that are not in a game of so many players."""


def _full_set(players: int) -> list[int]:
    plain = [kind for kind in range(N_KINDS) for _ in range(3 if kind in FIVE_KINDS else 4)]
    return [tile for tile in (*plain, *RED_FIVES) if tile_kind(tile) not in _MISSING[players]]


@dataclass(frozen=True)
class Deal:
    """One kyoku: ``hands``, ``draws`` and ``wishes`` (actions as text, in order) by seat.

    What is left open is random; a seat without wishes tsumogiris and passes.
    """

    hands: Mapping[int, str] = field(default_factory=dict)
    draws: Mapping[int, str] = field(default_factory=dict)
    wishes: Mapping[int, Sequence[str]] = field(default_factory=dict)
    rinshan: str = ""
    dora: str = "4z"

    def wall(self, dealer: int, seed: int, players: int = 4) -> NDArray[np.int8]:
        """Return int8[136], of three players int8[108].

        Raises ``ValueError`` if a tile is used too often.
        """
        plan = wall_plan(players)
        positions: dict[int, int] = {}
        for seat, hand in self.hands.items():
            positions |= dict(enumerate(parse_tiles(hand), 13 * seat))
        for seat, draws in self.draws.items():
            for turn, tile in enumerate(parse_tiles(draws)):
                draw = (seat - dealer) % players + players * turn
                assert draw < plan["n_live"]
                positions[int(plan["live"]) + draw] = tile
        positions |= dict(enumerate(parse_tiles(self.rinshan), int(plan["rinshan"])))
        for number, tile in enumerate(parse_tiles(self.dora)):
            positions[int(plan["dora"] + plan["marker_step"] * number)] = tile
        wall = np.full(int(plan["n_tiles"]), -1, np.int8)
        rest = _full_set(players)
        for position, tile in positions.items():
            rest.remove(tile)
            wall[position] = tile
        Random(seed).shuffle(rest)
        wall[wall < 0] = rest
        return wall


class MadeGame:
    """A referee with scripted walls and scripted opponents of ``bot``, a seat.

    After the last of ``deals`` the game ends, as a game of one kyoku does, or sooner by the rules.
    """

    def __init__(
        self,
        bot: int,
        deals: Sequence[Deal | None],
        *,
        position: Position | None = None,
        length: Length = "hanchan",
        players: int = 4,
    ) -> None:
        self.bot: Final = bot
        self._players: Final = players
        self._deals: Final = tuple(deals)
        self._position: Final = position or Position()
        self._dealt = 0
        self._wishes: dict[int, list[str]] = {}
        self.over = False
        self.referee: Final = Referee(0, Rules(length=length, players=players), walls=self._wall)
        pin_draws(self.referee.state, True)

    def _wall(self, round_: int, honba: int, wall: NDArray[np.int8]) -> None:
        deal = self._deals[self._dealt] if self._dealt < len(self._deals) else None
        self._dealt += 1
        if deal is None:
            shuffle_wall(self._dealt, round_, honba, wall, self._players)
            self._wishes = {}
            return
        tiles = deal.wall(round_ % 4, self._dealt, self._players)
        wall[: len(tiles)] = tiles
        self._wishes = {seat: list(texts) for seat, texts in deal.wishes.items()}

    def start(self) -> list[Event]:
        """Return the events up to the first decision."""
        return self.referee.start(self._position)

    def step(self, own: Action | None) -> list[Event]:
        """Let all seats act, the bot by ``own``; return the events up to the next decision."""
        choices = {}
        for seat, legal in self.referee.asked.items():
            default = self.referee.view(seat).default_action
            if seat == self.bot:
                choices[seat] = own or default
            else:
                choices[seat] = self._wished(seat, legal) or default
        return self._cut(self.referee.step(choices))

    def _wished(self, seat: int, legal: Sequence[Action]) -> Action | None:
        texts = self._wishes.get(seat)
        if not texts:
            return None
        wish = texts[0]
        for action in reversed(legal):  # of two equal tiles the drawn one
            if wish in (str(action).removesuffix(" (drawn)"), action.name):
                del texts[0]
                return action
        return None

    def _cut(self, events: list[Event]) -> list[Event]:
        """End the game after the last of the deals."""
        self.over = self.referee.over
        if self.over or self._dealt <= len(self._deals):
            return events
        self.over = True
        end = next(index for index, event in enumerate(events) if isinstance(event, EndKyoku))
        scores = self.referee.state["scores"].tolist()
        if (sticks := int(self.referee.state["sticks"])) > 0:
            scores[scores.index(max(scores[: self._players]))] += STICK_POINTS * sticks
        return [*events[: end + 1], EndGame(scores=(scores[0], scores[1], scores[2], scores[3]))]


_NOTHING: Final[Mapping[int, str]] = {}
_NO_WISHES: Final[Mapping[int, Sequence[str]]] = {}
CLOSING: Final = "123m456m789p123s9s"
"""A hand that wins cheaply on ``9s``."""
ROUND: Final = "19m19p19s1234567z"
"""Waits for every terminal and honour; at the first turn it may also declare nine terminals."""
JUNK: Final = "147m258p369s1234z"
"""No discard can be called with it until a tile that fits is drawn."""


def closed_by(
    seat: int,
    turn: int,
    others: Mapping[int, str] = _NOTHING,
    *,
    draws: Mapping[int, str] = _NOTHING,
    wishes: Mapping[int, Sequence[str]] = _NO_WISHES,
    rinshan: str = "",
    dora: str = "4z",
    filler: str = "6z",
) -> Deal:
    """Return a deal that ``seat`` ends by winning on its draw number ``turn``, cheaply.

    ``others`` are hands; until its win the seat draws three of ``filler``, then others.
    """
    waiting = filler * min(turn - 1, 3) + ("7z" if filler == "6z" else "6z") * max(0, turn - 4)
    return Deal(
        {seat: CLOSING, **others},
        {seat: f"{waiting}9s", **draws},
        {seat: ("tsumo",), **wishes},
        rinshan,
        dora,
    )


def aborted_by(seat: int, rest: str = "258m") -> Deal:
    """Return a deal in which ``seat`` declares nine terminals at once, with three other tiles."""
    return Deal({seat: f"19m19p19s1234z{rest}"}, {seat: "5z"}, {seat: ("nine terminals",)})


def ruined_by(seat: int, drawn: str = "5m") -> Deal:
    """Return a deal in which ``seat`` draws a yakuman at its second turn, after this tile."""
    return Deal({seat: ROUND}, {seat: f"{drawn}1z"}, {seat: ("tsumo",)})
