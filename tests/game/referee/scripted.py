"""Games whose first kyoku is scripted: readable hands and draws, the rest of the wall at random."""

from random import Random
from typing import TypeVar

import numpy as np

from mjbot.game.referee import Position, Referee
from mjbot.game.referee.wall import shuffle_wall
from mjbot.game.rules.wall_plan import wall_plan
from mjbot.game.table.actions import Action
from mjbot.protocol import messages as m
from mjbot.protocol.rules import Rules
from mjbot.protocol.tiles import FIVE_KINDS, N_KINDS, RED_FIVES, parse_tiles, tile_kind

Event = TypeVar("Event", bound=m.Event)
FULL_SET = [kind for kind in range(N_KINDS) for _ in range(3 if kind in FIVE_KINDS else 4)]
FULL_SET += RED_FIVES
MISSING_OF_THREE = {*range(1, 8), 34}
MOST_STEPS = 200


class Game:
    """A game of one referee whose seats do what the test says, and else nothing of note.

    ``hands`` are the four hands, at most 13 tiles each, ``draws`` the first live tiles from the
    dealer on, ``last`` the last ones of the live wall; what is left open is random.  Seats that
    a test does not mention tsumogiri and pass.
    """

    def __init__(
        self,
        hands: list[str],
        draws: str = "",
        *,
        last: str = "",
        rinshan: str = "",
        dora: str = "",
        ura: str = "",
        position: Position | None = None,
        length: str = "hanchan",
        rules: Rules | None = None,
    ) -> None:
        rules = rules or Rules(length=length)
        wall = wall_plan(rules.players)
        lasts = parse_tiles(last)
        assert all(len(parse_tiles(hand)) <= 13 for hand in hands)
        places = dict(
            tile_at
            for seat, hand in enumerate(hands[: rules.players])
            for tile_at in enumerate(parse_tiles(hand), 13 * seat)
        )
        places |= enumerate(parse_tiles(draws), int(wall["live"]))
        places |= enumerate(lasts, int(wall["live"] + wall["n_live"]) - len(lasts))
        places |= enumerate(parse_tiles(rinshan), int(wall["rinshan"]))
        for part, tiles in (("dora", dora), ("ura", ura)):
            for number, tile in enumerate(parse_tiles(tiles)):
                places[int(wall[part] + wall["marker_step"] * number)] = tile
        self._first_wall = make_wall(places, rules.players)
        self.kyoku = 0
        self.referee = Referee(0, rules, walls=self._wall)
        self.events = self.referee.start(position or Position())

    def _wall(self, round_: int, honba: int, wall: np.ndarray) -> None:
        shuffle_wall(0, round_, honba, wall, self.referee.rules.players)
        if self.kyoku == 0:
            wall[:] = self._first_wall
        self.kyoku += 1

    # --- doing -------------------------------------------------------------------------------

    def do(self, seat: int, text: str) -> "Game":
        """Play on until ``seat`` may do ``text`` (an action or its name), and let it."""
        return self.together({seat: text})

    def together(self, wanted: dict[int, str]) -> "Game":
        """Play on until all these seats may do these things, and let them."""
        for _ in range(MOST_STEPS):
            found = {seat: self._find(seat, text) for seat, text in wanted.items()}
            if all(found.values()):
                return self._step({seat: action for seat, action in found.items() if action})
            self._step({})
        raise AssertionError(f"nobody could {wanted}")

    def riichi(self, seat: int, tile: str) -> "Game":
        """Let the seat declare riichi at its next turn and discard the tile."""
        return self.to_turn(seat).do(seat, "riichi").discard(seat, tile)

    def discard(self, seat: int, tile: str) -> "Game":
        """Let the seat discard the tile at its next chance, drawn or not."""
        text = f"discard {tile}"
        if self.referee.view(seat).turn != seat or seat not in self.referee.asked:
            self.to_turn(seat)
        return self.do(seat, text if text in self.legal(seat) else f"{text} (drawn)")

    def tsumogiri(self) -> "Game":
        """Let the seat whose turn it is discard what it drew."""
        return self._step({})

    def to_turn(self, seat: int) -> "Game":
        """Play on until the seat has drawn."""
        while "discard" not in {action.name for action in self.referee.asked.get(seat, ())}:
            self._step({})
        return self

    def finish_kyoku(self) -> "Game":
        """Play the first kyoku to its end."""
        while self.kyoku == 1 and not self.referee.over:
            self._step({})
        return self

    def _find(self, seat: int, text: str) -> Action | None:
        actions = self.referee.asked.get(seat, ())
        return next((action for action in actions if text in (str(action), action.name)), None)

    def _step(self, chosen: dict[int, Action]) -> "Game":
        assert self.kyoku == 1 and not self.referee.over, f"kyoku ended: {self.events[-8:]}"
        asked = self.referee.asked
        defaults = {seat: self.referee.view(seat).default_action for seat in asked}
        self.events += self.referee.step(defaults | chosen)
        return self

    # --- looking -----------------------------------------------------------------------------

    def legal(self, seat: int) -> set[str]:
        """The seat's legal actions as text."""
        return set(map(str, self.referee.asked.get(seat, ())))

    def all(self, kind: type[Event]) -> list[Event]:
        """All events of a kind so far."""
        return [event for event in self.events if isinstance(event, kind)]

    def last(self, kind: type[Event]) -> Event:
        """The last event of a kind."""
        return self.all(kind)[-1]

    def names(self) -> list[str]:
        """Names of all events so far."""
        return [type(event).__name__ for event in self.events]

    @property
    def scores(self) -> list[int]:
        return self.referee.state["scores"].tolist()


def make_wall(places: dict[int, int], players: int) -> np.ndarray:
    """Return a wall int8[136] with these tiles at these places, the rest at random."""
    wall = np.full(136, -1, np.int8)
    rest = [tile for tile in FULL_SET if players == 4 or tile not in MISSING_OF_THREE]
    n_tiles = len(rest)
    for place, tile in places.items():
        wall[place] = tile
        rest.remove(tile if tile in rest else tile_kind(tile))  # a second red 5p
    Random(0).shuffle(rest)
    played = wall[:n_tiles]
    played[played < 0] = rest
    return wall


def random_game(seed: int, rules: Rules) -> list[m.Event]:
    """Return the events of a game whose seats like wins, riichi and kita."""
    referee, random = Referee(seed, rules), Random(seed)
    events = referee.start()
    while not referee.over:
        choices = {}
        for seat, legal in referee.asked.items():
            liked = [action for action in legal if action.is_win or action.is_riichi]
            liked += [action for action in legal if action.is_kita] * random.randrange(2)
            choices[seat] = random.choice(liked or legal)
        events += referee.step(choices)
    return events
