"""The numbers of a Tenhou table: the bits of ``GO type`` and ``JOIN``, and thinking times."""

import enum
from collections.abc import Collection
from typing import Final

import msgspec

from mjbot.protocol.errors import ProtocolError, ThreePlayersError
from mjbot.protocol.rules import Rules, spelled
from mjbot.protocol.sessions.request_server import TimeLimits


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
"""How often a client must send something: the longest gap that a browser client leaves."""


def time_limits(rules: int) -> TimeLimits:
    """Return how long a player may think under these rules (those of light-speed are unknown).

    >>> time_limits(9).grace_ms, time_limits(225).grace_ms
    (5000, 3000)
    """
    return FAST_LIMITS if rules & GameType.FAST else USUAL_LIMITS


def check_playable(rules: int, where: str, players: Collection[int] = (4,)) -> None:
    """Raise for rules that we do not play; ``where`` names their attribute.

    ``players`` are the numbers of players that the caller implements.
    """
    if rules & GameType.THREE_PLAYERS and 3 not in players:
        raise ThreePlayersError(where, f"{rules} is three-player mahjong, not played here")
    if rules & GameType.PARLOUR:
        raise ProtocolError(where, f"{rules} is a table of parlour rules, not played here")


_LEFT_OUT: Final = {"red_fives": GameType.NO_RED_FIVES, "open_tanyao": GameType.NO_OPEN_TANYAO}
"""The rules that a bit of the type switches off."""


def rules_of(game_type: int) -> Rules:
    """Return the rules of a table's type.

    >>> rules_of(GENERAL_HANCHAN) == Rules(), rules_of(GameType.NO_OPEN_TANYAO).announced
    (True, {'length': 'tonpu', 'open_tanyao': False})
    """
    rules = Rules(
        length="hanchan" if game_type & GameType.HANCHAN else "tonpu",
        players=3 if game_type & GameType.THREE_PLAYERS else 4,
    )
    played = {name: not game_type & bit for name, bit in _LEFT_OUT.items()}
    return msgspec.structs.replace(rules, **played)


class NoTableError(ValueError):
    """Rules that no type of table has."""


def game_type(rules: Rules) -> GameType:
    """Return the type of a table against people under these rules.

    Raises :class:`NoTableError` that names what no type of Tenhou has.

    >>> game_type(Rules(bust=False))
    Traceback (most recent call last):
    mjbot.protocol.tenhou.game_type.NoTableError: Tenhou has no tables with the rules bust=no
    """
    bits = GENERAL_HANCHAN if rules.length == "hanchan" else GENERAL_TONPUU
    bits |= GameType.THREE_PLAYERS if rules.players == 3 else 0
    for name, bit in _LEFT_OUT.items():
        bits |= 0 if getattr(rules, name) else bit
    lost = rules.differences.items() - rules_of(bits).differences.items()
    if lost:
        text = ", ".join(f"{name}={spelled(value)}" for name, value in sorted(lost))
        raise NoTableError(f"Tenhou has no tables with the rules {text}")
    return bits
