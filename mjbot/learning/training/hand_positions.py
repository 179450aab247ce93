"""The positions that the hand evaluator learns from, found in records.

The paper's positions (Mizukami et al. 2013, section 5.3): every discard of the player who is the
first of a kyoku to declare riichi, up to the discard that declares it.
"""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.table.state import ACCEPTED
from mjbot.learning.models.hand_position import HAND_POSITION, HandPosition, observe
from mjbot.learning.training.positions import GameRef, GameStep, file_digests
from mjbot.protocol.messages import Dahai, Reach, StartKyoku
from mjbot.protocol.tiles import TILE_BY_NAME
from mjbot.runtime.compiler.sources import source_digest

Positions = NDArray[np.void]
"""Records of :data:`HAND_POSITION`, [n]."""

MOST_DISCARDS: Final = 40
"""More than a seat can make in a kyoku."""


def before_first_riichi(game: Iterator[GameStep]) -> Positions:
    """Return a game's discards of the first to declare riichi in each kyoku, that one included."""
    return _discards(game, every_hand=False)


def of_closed_hands(game: Iterator[GameStep]) -> Positions:
    """Return all discards of a game by seats that have neither called nor accepted riichi.

    These are the paper's test positions: folding players are among them, where ``riichis`` is
    not 0.  ``before_riichi`` marks those of :func:`before_first_riichi`.
    """
    return _discards(game, every_hand=True)


def _discards(game: Iterator[GameStep], every_hand: bool) -> Positions:
    kyoku = _Kyoku()
    found = [kyoku.discards(every_hand)]
    for number, event, state in game:
        match event:
            case StartKyoku():
                found.append(kyoku.discards(every_hand))
                kyoku = _Kyoku()
            case Reach(actor=actor) if kyoku.declarer < 0:
                kyoku.declarer = actor
            case Dahai(actor=actor, pai=pai):
                if state["riichi"][actor] < ACCEPTED and not state["is_open"][actor]:
                    position = kyoku.add(actor)
                    observe(state, actor, position)
                    position["game"] = number
                    position["tile"] = TILE_BY_NAME[pai]
    return np.concatenate([*found, kyoku.discards(every_hand)])


def identity_of(games: Sequence[GameRef]) -> str:
    """Return twelve letters and digits of the positions in these games, source code included."""
    files = file_digests(games)
    parts = [
        f"{game.number} {game.place} {game.source.name} {files[game.source.path]}" for game in games
    ]
    return short_digest("\n".join([source_digest(__name__), *parts]))


def short_digest(text: str) -> str:
    """Return twelve letters and digits that no other text shares."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


class _Kyoku:
    """The discards of one kyoku; which seats are needed is known only at its end."""

    def __init__(self) -> None:
        self._seen: Any = np.zeros((4, MOST_DISCARDS), HAND_POSITION)
        self._counts = [0, 0, 0, 0]
        self.declarer = -1

    def add(self, actor: int) -> HandPosition:
        position: HandPosition = self._seen[actor, self._counts[actor]]
        self._counts[actor] += 1
        return position

    def discards(self, every_hand: bool) -> Positions:
        """Return copies of the positions of these seats, seat by seat."""
        chosen = []
        for seat, count in enumerate(self._counts):
            self._seen[seat]["before_riichi"] = seat == self.declarer
            if every_hand or seat == self.declarer:
                chosen.append(self._seen[seat, :count].copy())
        return np.concatenate([self._seen[0, :0], *chosen])
