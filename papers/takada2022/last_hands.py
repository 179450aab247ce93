"""Last hands from given scores on shared walls: the value of one seat's choices there.

A game starts at South 4 with the same four scores, dealt out to the seats in every turn of the
table, and is played to its end (a dealer's repeat and extra rounds included).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import msgspec

from mjbot.game.referee import Referee
from mjbot.game.referee.referee import Position
from mjbot.game.referee.step import Outcome
from mjbot.game.table.settle import ranks_of
from mjbot.game.table.state import NO_DRAW, State
from mjbot.runtime.append_log import AppendLog, Cures
from mjbot.runtime.processes import in_processes
from mjbot.runtime.progress import Step
from mjbot.strategy.registry import Spec

SOUTH_4: Final = 7
SEATS: Final = 4


@dataclass(frozen=True)
class LastHand:
    """One game to play: ``player`` in ``seat``, three of ``others``, on the walls of ``seed``.

    ``scores`` are those of the player and of the seats after it, in the order of play.
    """

    player: str
    others: str
    seed: int
    seat: int
    scores: tuple[int, int, int, int]


@dataclass(frozen=True)
class Ending:
    """How it ended: final points by seat, and what the player did in the first kyoku.

    ``won`` points by the paying seat: -1 no win, its own seat for a win by draw.
    """

    scores: tuple[int, int, int, int]
    won_from: int
    dealt_in: bool


class LastHandsHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The first line of a file; its name identifies the code that played."""

    what: Literal["last hands"] = "last hands"


class PlayedHand(msgspec.Struct, frozen=True):
    """A further line: one game."""

    hand: LastHand
    ending: Ending


_CURES: Final = Cures("name another --out", "move the file away")


def _decode(text: bytes) -> PlayedHand:
    return msgspec.json.decode(text, type=PlayedHand)


def play_last_hand(hand: LastHand) -> Ending:
    """Play it to the end of the game."""
    referee = Referee(hand.seed, "hanchan")
    bots = [Spec.read(hand.others).make(hand.seed * SEATS + seat) for seat in range(SEATS)]
    bots[hand.seat] = Spec.read(hand.player).make(hand.seed)
    scores = [0] * SEATS
    for step, points in enumerate(hand.scores):
        scores[(hand.seat + step) % SEATS] = points
    for seat, bot in enumerate(bots):
        bot.start_game(seat, ("", "", "", ""))
    seen: list[tuple[int, bool]] = []
    referee.play(
        bots,
        Position(round=SOUTH_4, scores=(scores[0], scores[1], scores[2], scores[3])),
        watch=lambda state, outcome, wins: seen.append(_first(state, outcome, hand.seat)),
    )
    final = [int(points) for points in referee.state["scores"]]
    return Ending((final[0], final[1], final[2], final[3]), *seen[0])


def _first(state: State, outcome: Outcome, seat: int) -> tuple[int, bool]:
    """Return the seat that paid the win and whether the seat dealt in."""
    if int(outcome["reason"]) != NO_DRAW:
        return -1, False
    winners = [other for other in range(SEATS) if int(state["wins"]) >> other & 1]
    loser = int(outcome["target"])
    return (loser if seat in winners else -1), (loser == seat and seat not in winners)


def play_all(
    hands: Sequence[LastHand], file: Path, jobs: int, step: Step = lambda *_: None
) -> Iterator[Ending]:
    """Play what ``file`` does not have yet, in so many processes; yield all endings in order.

    ``step`` receives the number of finished walls, then each one that has been played.
    Raises :class:`~mjbot.runtime.append_log.LogError`.
    """
    with AppendLog(file, LastHandsHeader(), _CURES, decode=_decode) as log:
        known = {line.hand: line.ending for line in log.lines}
        missing = [hand for hand in hands if hand not in known]
        step(len(hands) - len(missing))
        endings = in_processes(play_last_hand, missing, jobs)
        for hand, ending in zip(missing, endings, strict=True):
            known[hand] = ending
            log.append(PlayedHand(hand, ending))
            step()
    yield from (known[hand] for hand in hands)


def ranks_and_bonus(scores: Sequence[int], seat: int, bonus: Sequence[int]) -> tuple[int, int]:
    """Return the seat's rank (1..4, ties to the earlier seat) and its points with the bonus.

    >>> ranks_and_bonus((31100, 26000, 26200, 16700), 2, (50000, 10000, -10000, -30000))
    (2, 36200)
    """
    rank = ranks_of(scores)[seat]
    return rank, scores[seat] + bonus[rank - 1]
