"""How the players of a game treat each other, by what everybody at the table sees.

Of each ordered pair of seats (i, j): how often i dealt in to j, what j called of i's discards, and
how i discarded while j was in riichi.  Of each seat: wins and rank.  No concealed hand is read, so
a record of one seat, or a ladder's public log, is enough.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.analysis.collusion.games import unique_names
from mjbot.analysis.stats.counted_games import ScoreKeeper, rule_set
from mjbot.game.records.game import Game, GameDigester, GameIdentity
from mjbot.game.records.sources import Source
from mjbot.game.table.hands import kind_of
from mjbot.game.table.mirror.wire import tile_code
from mjbot.game.table.settle import ranks_of
from mjbot.protocol import messages as m
from mjbot.protocol.rules import announced_players

Floats = NDArray[np.float64]

COUNTS: Final = ("deal_ins", "pons", "chis", "pushes", "wins", "ranks")
"""What is counted of an ordered pair (i, j): deal-ins of i to j, pons (and open kans) and chis by j
of i's discards, discards of i that j could win on while j is in riichi and i is not, wins of i and
rank of i in games with j."""
DEAL_INS, PONS, CHIS, PUSHES, WINS, RANKS = range(len(COUNTS))


class Conduct(NamedTuple):
    """One game: ``counts`` and ``chances`` float64[4, 4, len(COUNTS)], the diagonals 0.

    There are as many ``names`` as players; of three those of the fourth chair are 0.  A chance is a
    kyoku for deal-ins, calls and wins (of chis: where j sits after i at a table of four), a discard
    for pushes, a finished game for ranks.  ``length`` and ``rules`` as :func:`rule_set` has them.
    """

    names: tuple[str, ...]
    counts: Floats
    chances: Floats
    length: str = ""
    rules: str = ""


class Observer:
    """Takes the events of a game in order."""

    def __init__(self) -> None:
        self._counts: Final[Floats] = np.zeros((4, 4, len(COUNTS)))
        self._chances: Final[Floats] = np.zeros((4, 4, len(COUNTS)))
        self._start = m.StartGame()
        self._kyoku = 0
        self._wins = [0, 0, 0, 0]
        self._scores: Final = ScoreKeeper()
        self._riichi: set[int] = set()
        self._safe: list[set[int]] = []

    def add(self, event: m.Event) -> None:
        """Take in one event."""
        self._scores.add(event)
        match event:
            case m.StartGame():
                self._start = event
            case m.StartKyoku():
                self._kyoku += 1
                self._riichi, self._safe = set(), [set(), set(), set(), set()]
            case m.ReachAccepted():
                self._riichi.add(event.actor)
            case m.Dahai():
                self._discard(event.actor, kind_of(tile_code(event.pai)))
            case m.Pon() | m.Daiminkan():
                self._counts[event.target, event.actor, PONS] += 1
            case m.Chi():
                self._counts[event.target, event.actor, CHIS] += 1
            case m.Hora():
                self._wins[event.actor] += 1
                if event.actor != event.target:
                    self._counts[event.target, event.actor, DEAL_INS] += 1

    def _discard(self, seat: int, kind: int) -> None:
        if not self._safe:
            return
        if seat not in self._riichi:
            for other in self._riichi:
                self._chances[seat, other, PUSHES] += 1
                self._counts[seat, other, PUSHES] += kind not in self._safe[other]
        self._safe[seat].add(kind)
        for other in self._riichi:
            self._safe[other].add(kind)  # what a riichi lets pass it can no longer win on

    @property
    def conduct(self) -> Conduct | None:
        """What was seen; ``None`` if there was no kyoku."""
        if not self._kyoku:
            return None
        players = announced_players(self._start.mjbot_rules)
        seated = np.arange(4) < players
        apart = ~np.eye(4, dtype=bool) & seated & seated[:, None]
        self._counts[:, :, WINS] = np.array(self._wins)[:, None] * apart
        for count in (DEAL_INS, PONS, WINS):
            self._chances[:, :, count] = self._kyoku * apart
        for seat in range(4 if players == 4 else 0):
            self._chances[seat, (seat + 1) % 4, CHIS] = self._kyoku
        if self._scores.final is not None:
            ranks = np.zeros(4)
            ranks[:players] = ranks_of(self._scores.final[:players])
            self._counts[:, :, RANKS] = ranks[:, None] * apart
            self._chances[:, :, RANKS] = apart
        names = unique_names((self._start.names or ("",) * 4)[:players])
        rules = rule_set(self._start, self._scores)
        return Conduct(names, self._counts, self._chances, *rules)


class ObservedGame(NamedTuple):
    """A recorded game, whatever its players are called in another copy of it."""

    identity: GameIdentity
    conduct: Conduct | None


def observe(game: Game, source: Source | None = None) -> ObservedGame:
    """Return what everybody sees of a game.  Raises ``RecordError`` as its entries do."""
    observer, digester = Observer(), GameDigester()
    for entry in game.entries:
        observer.add(entry.event)
        digester.add(entry.event)
    return ObservedGame(digester.identity(), observer.conduct)
