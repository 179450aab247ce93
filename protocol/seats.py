"""Values by seat, as messages have them: one for each of four chairs."""

from collections.abc import Iterable
from typing import Final, TypeVar

from msgspec.structs import replace

from mjbot.protocol.messages import FourInts, Message, StartGame, StartKyoku
from mjbot.protocol.rules import STICK_POINTS, announced_players

T = TypeVar("T")

_BY_SEAT: Final = ("names", "tehais", "scores", "deltas", "tenpais")


def by_seat(values: Iterable[T]) -> tuple[T, T, T, T]:
    """Return four values as a tuple that is known to have four.

    >>> by_seat(10 * seat for seat in range(4))
    (0, 10, 20, 30)
    """
    a, b, c, d = values
    return a, b, c, d


def seated(message: Message, players: int) -> Message:
    """Return a message as lists by seat have it without the empty fourth one, to be written.

    >>> from mjbot.protocol.messages import EndGame
    >>> seated(EndGame(scores=(40000, 35000, 30000, 0)), 3)
    EndGame(can_act=True, scores=(40000, 35000, 30000))
    """
    if players == 4:
        return message
    rows = {name: getattr(message, name, None) for name in _BY_SEAT}
    return replace(message, **{name: row[:players] for name, row in rows.items() if row})


def players_after(event: Message, before: int) -> int:
    """Return how many play after an event: a start of a game, or a deal, states it.

    >>> from mjbot.protocol.messages import StartGame
    >>> players_after(StartGame(mjbot_rules={"players": 3}), 4)
    3
    """
    match event:
        case StartGame():
            return announced_players(event.mjbot_rules)
        case StartKyoku(num_players=int(players)):
            return players
    return before


def paid(scores: FourInts, deltas: FourInts) -> FourInts:
    """Return the points after a payment.

    >>> paid((25000, 25000, 25000, 25000), (-1000, 3000, -1000, -1000))
    (24000, 28000, 24000, 24000)
    """
    return by_seat(score + delta for score, delta in zip(scores, deltas, strict=True))


def riichi_deltas(actor: int, points: int = STICK_POINTS) -> FourInts:
    """Return what an accepted riichi of the seat moves: its stick of so many points.

    >>> riichi_deltas(2)
    (0, 0, -1000, 0)
    """
    return by_seat(-points * (seat == actor) for seat in range(4))
