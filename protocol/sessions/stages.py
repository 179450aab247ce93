"""Where a conversation stands, and which messages move it on: the second transition table.

::

    message        stands at                         then stands at
    hello          CONNECTED                         JOINED
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

from protocol.dialects import Dialect
from protocol.errors import ProtocolError
from protocol.messages import (
    EndGame,
    EndKyoku,
    Error,
    Event,
    Hello,
    Message,
    StartGame,
    StartKyoku,
    wire_name,
)


class Stage(enum.Enum):
    """Where a conversation stands; the value completes the sentence "the client is ..."."""

    CONNECTED = "waiting for hello"
    JOINED = "waiting for start_game"
    BETWEEN = "between two kyokus"
    PLAYING = "in a kyoku"
    OVER = "done, the game is over"


_ANYWHERE: Final = frozenset(Stage)
_FROM: Final[dict[type[Message], frozenset[Stage]]] = {
    Hello: frozenset({Stage.CONNECTED}),
    StartGame: frozenset({Stage.JOINED}),
    StartKyoku: frozenset({Stage.BETWEEN}),
    EndKyoku: frozenset({Stage.PLAYING}),
    EndGame: frozenset({Stage.BETWEEN, Stage.PLAYING}),
    Error: _ANYWHERE,
}
_FROM_WITHOUT_HELLO: Final = _FROM | {
    StartGame: _ANYWHERE,
    StartKyoku: frozenset({Stage.BETWEEN, Stage.PLAYING}),
    EndKyoku: frozenset({Stage.BETWEEN, Stage.PLAYING}),
}
_TO: Final[dict[type[Message], Stage]] = {
    Hello: Stage.JOINED,
    StartGame: Stage.BETWEEN,
    StartKyoku: Stage.PLAYING,
    EndKyoku: Stage.BETWEEN,
    EndGame: Stage.OVER,
    Error: Stage.OVER,
}
_IN_KYOKU: Final = frozenset({Stage.PLAYING})


def first_stage(dialect: Dialect) -> Stage:
    """Return where a conversation begins."""
    return Stage.CONNECTED if dialect.traits.opens_with_hello else Stage.JOINED


def next_stage(dialect: Dialect, stage: Stage, message: Message) -> Stage:
    """Return where the conversation stands after ``message``.

    Raises :class:`ProtocolError` for a message that has no place there.

    >>> from protocol.dialects import LOCKSTEP
    >>> next_stage(LOCKSTEP, Stage.BETWEEN, EndKyoku())
    Traceback (most recent call last):
    protocol.errors.ProtocolError: end_kyoku: out of order, the client is between two kyokus
    """
    kind = type(message)
    if kind not in _FROM and not isinstance(message, Event):
        return stage
    if kind is Error and not dialect.traits.error_is_fatal:
        return stage
    origins = _FROM if dialect.traits.opens_with_hello else _FROM_WITHOUT_HELLO
    if stage not in origins.get(kind, _IN_KYOKU):
        raise ProtocolError(wire_name(message), f"out of order, the client is {stage.value}")
    return _TO.get(kind, stage)
