"""The numbers of a Tenhou table: the bits of ``GO type`` and ``JOIN``, and thinking times."""

import enum
from typing import Final

from protocol.errors import ProtocolError, ThreePlayersError
from protocol.sessions.request_server import TimeLimits


class GameType(enum.IntFlag):
    """The rules of a table; all that is not set is the usual: red fives, open tanyao, East only."""

    AGAINST_PEOPLE = 0x0001
    NO_RED_FIVES = 0x0002
    NO_OPEN_TANYAO = 0x0004
    HANCHAN = 0x0008
    THREE_PLAYERS = 0x0010
    TOKUJOU = 0x0020
    FAST = 0x0040
    JOUKYUU = 0x0080
    CUSTOM = 0x0100
    PARLOUR = 0x0E00
    LIGHT_SPEED = 0x1000


GENERAL_HANCHAN: Final = GameType.AGAINST_PEOPLE | GameType.HANCHAN
GENERAL_TONPUU: Final = GameType.AGAINST_PEOPLE

USUAL_LIMITS: Final = TimeLimits(grace_ms=5000, bank_ms=10_000)
FAST_LIMITS: Final = TimeLimits(grace_ms=3000, bank_ms=5000)
"""Each action has its grace; what it takes beyond is used up from a bank that each deal refills."""

KEEP_ALIVE_S: Final = 10.0
"""How often a client must say something: the longest gap that a browser client leaves."""


def time_limits(rules: int) -> TimeLimits:
    """Return how long a player may think under these rules (those of light-speed are unknown).

    >>> time_limits(9).grace_ms, time_limits(225).grace_ms
    (5000, 3000)
    """
    return FAST_LIMITS if rules & GameType.FAST else USUAL_LIMITS


def check_playable(rules: int, where: str) -> None:
    """Raise for rules that we do not play; ``where`` names the attribute that said them."""
    if rules & GameType.THREE_PLAYERS:
        raise ThreePlayersError(where, f"{rules} is three-player mahjong, not played here")
    for bit, what in (
        (GameType.NO_OPEN_TANYAO, "without open tanyao"),
        (GameType.PARLOUR, "of parlour rules"),
    ):
        if rules & bit:
            raise ProtocolError(where, f"{rules} is a table {what}, not played here")
