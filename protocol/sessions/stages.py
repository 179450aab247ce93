"""Where a conversation stands, and which messages move it on: the second transition table.

::

    message        stands at                         then stands at
    hello          CONNECTED                         JOINED (elsewhere than TCP: unchanged)
    start_game     JOINED                            BETWEEN
    start_kyoku    BETWEEN                           PLAYING
    kyoku events   PLAYING                           PLAYING
    end_kyoku      PLAYING                           BETWEEN
    end_game       BETWEEN, PLAYING                  OVER
    error          anywhere                          OVER (RiichiLab: unchanged)

Off TCP the server may restart its players in mid-game (mjai.app does): start_game may come at
any time, a lone end_kyoku after it, and a start_kyoku that nothing has ended.
"""

import enum
from typing import Final

from mjbot.protocol import messages as m
from mjbot.protocol.dialects import Dialect
from mjbot.protocol.errors import ProtocolError


class Stage(enum.Enum):
    """Where a conversation stands; the value completes the sentence "the client is ..."."""

    CONNECTED = "waiting for hello"
    JOINED = "waiting for start_game"
    BETWEEN = "between two kyokus"
    PLAYING = "in a kyoku"
    OVER = "done, the game is over"


_ANYWHERE: Final = frozenset(Stage)
_FROM: Final[dict[type[m.Message], frozenset[Stage]]] = {
    m.Hello: frozenset({Stage.CONNECTED}),
    m.StartGame: frozenset({Stage.JOINED}),
    m.StartKyoku: frozenset({Stage.BETWEEN}),
    m.EndKyoku: frozenset({Stage.PLAYING}),
    m.EndGame: frozenset({Stage.BETWEEN, Stage.PLAYING}),
    m.Error: _ANYWHERE,
}
_FROM_WITHOUT_HELLO: Final = _FROM | {
    m.StartGame: _ANYWHERE,
    m.StartKyoku: frozenset({Stage.BETWEEN, Stage.PLAYING}),
    m.EndKyoku: frozenset({Stage.BETWEEN, Stage.PLAYING}),
}
_TO: Final[dict[type[m.Message], Stage]] = {
    m.Hello: Stage.JOINED,
    m.StartGame: Stage.BETWEEN,
    m.StartKyoku: Stage.PLAYING,
    m.EndKyoku: Stage.BETWEEN,
    m.EndGame: Stage.OVER,
    m.Error: Stage.OVER,
}
_IN_KYOKU: Final = frozenset({Stage.PLAYING})


def first_stage(dialect: Dialect) -> Stage:
    """Return where a conversation begins."""
    return Stage.CONNECTED if dialect.traits.opens_with_hello else Stage.JOINED


def next_stage(dialect: Dialect, stage: Stage, message: m.Message) -> Stage:
    """Return where the conversation stands after ``message``.

    Raises :class:`ProtocolError` for a message that has no place there.

    >>> from mjbot.protocol.dialects import LOCKSTEP
    >>> next_stage(LOCKSTEP, Stage.BETWEEN, m.EndKyoku())
    Traceback (most recent call last):
    mjbot.protocol.errors.ProtocolError: end_kyoku: out of order, the client is between two kyokus
    """
    message_type = type(message)
    if message_type not in _FROM and not isinstance(message, m.Event):
        return stage
    traits = dialect.traits
    if message_type is m.Error and not traits.error_is_fatal:
        return stage
    if message_type is m.Hello and not traits.opens_with_hello:
        return stage
    origins = _FROM if traits.opens_with_hello else _FROM_WITHOUT_HELLO
    if stage not in origins.get(message_type, _IN_KYOKU):
        raise ProtocolError(m.wire_name(message), f"out of order, the client is {stage.value}")
    return _TO.get(message_type, stage)
