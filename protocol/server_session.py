"""The original server's side of one connection: no clock, no socket, no knowledge of the rules.

Handshake: send :meth:`LockstepSession.hello`, give the first line to :meth:`LockstepSession.join`.
Game: send what :meth:`LockstepSession.say` returns for an event, then give the one line that comes
back to :meth:`LockstepSession.receive` (or report :meth:`~LockstepSession.timeout`,
:meth:`~LockstepSession.vanish`).  What needs a table is the referee's to check.
"""

from typing import Final

import msgspec

from protocol.codec import encode
from protocol.dialects import OFFERS, Dialect
from protocol.errors import LocalProtocolError
from protocol.messages import Error, Join, Message, PlayerAction, Seat, StartGame, wire_name
from protocol.replies import BadReplyError, read_reply, silent_reply, timeout_reply
from protocol.turns import Due, due_after

EXPECTED_JOIN: Final = 'Expected e.g. {"type":"join","name":"noname","room":"default"}'
BUSY: Final = "The room is busy. Retry after a while."
MOST_LETTERS_OF_NAME: Final = 64
LONG_NAME: Final = f"The name is longer than {MOST_LETTERS_OF_NAME} characters."
"""Every name is told to everybody, in each game."""


class RefusedError(ValueError):
    """A join that is not accepted; send :attr:`line` and close."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.line = encode(Error(message=reason), Dialect.TCP)


class FaultError(ValueError):
    """A reply that voids the game; the text is what every seat is told in an ``error``."""

    def __init__(self, seat: Seat, reason: str, response: str) -> None:
        self.seat = seat
        self.reason = reason
        self.response = response
        super().__init__(f"Error in player {seat}'s response: {reason} Response: {response}")


class LockstepSession:
    """One player's connection to a table that speaks the original server's dialect.

    ``room`` is what a join must name; ``None`` takes any.
    """

    def __init__(self, room: str | None = "default") -> None:
        self.room: Final = room
        self.name: str | None = None
        self.seat: Seat | None = None
        self._due = Due.NOTHING
        self._event: Message | None = None

    # --- handshake ---------------------------------------------------------------------------

    def hello(self) -> bytes:
        """Return the first line."""
        return b'{"type":"hello","protocol":"mjsonp","protocol_version":3}'

    def join(self, line: bytes, *, busy: bool = False) -> Join:
        """Take in the first line of the client; ``busy`` when the room already has four.

        Raises :class:`RefusedError` in the original server's words.
        """
        join = _read_join(line)
        if self.room not in (None, join.room):
            raise RefusedError(f"No such room. Available room: {self.room}")
        if busy:
            raise RefusedError(BUSY)
        self.name = join.name
        return join

    # --- game --------------------------------------------------------------------------------

    @property
    def due(self) -> Due:
        """What the last line said calls for; ``NOTHING`` when no reply is awaited."""
        return self._due

    def say(self, message: Message) -> bytes:
        """Return the line for ``message``, which must be masked for this seat already.

        Raises :class:`LocalProtocolError` while a reply is still awaited.
        """
        if self._due is not Due.NOTHING and not isinstance(message, Error):
            raise LocalProtocolError(wire_name(message), "the line before still awaits its reply")
        if isinstance(message, StartGame):
            self.seat = message.id
        line = encode(message, Dialect.TCP)
        self._due = due_after(message, self.seat)
        self._event = message
        return line

    def receive(self, line: bytes) -> PlayerAction:
        """Return the reply in ``line``; raises :class:`FaultError`."""
        seat, due = self._awaited()
        try:
            return read_reply(line, seat, due, self._quoted_event())
        except BadReplyError as error:
            raise FaultError(seat, error.reason, error.response) from None

    def vanish(self) -> PlayerAction:
        """Return what a closed socket answers (a pass); raises :class:`FaultError`."""
        seat, due = self._awaited()
        try:
            return silent_reply(due, self._quoted_event())
        except BadReplyError as error:
            raise FaultError(seat, error.reason, error.response) from None

    def timeout(self, limit_s: float) -> FaultError:
        """Return the fault of not having answered within ``limit_s`` seconds."""
        seat, _ = self._awaited()
        error = timeout_reply(seat, limit_s)
        return FaultError(seat, error.reason, error.response)

    def _quoted_event(self) -> str:
        said = msgspec.to_builtins(self._event)
        for offer in OFFERS:
            said.pop(offer, None)
        return msgspec.json.encode(said).decode()

    def _awaited(self) -> tuple[Seat, Due]:
        if self.seat is None or self._due is Due.NOTHING:
            raise LocalProtocolError("reply", "none is awaited")
        due, self._due = self._due, Due.NOTHING
        return self.seat, due


def _read_join(line: bytes) -> Join:
    try:
        value = msgspec.json.decode(line.decode())
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RefusedError(f"JSON syntax error: {error}") from None
    match value:
        case {"type": "join", "name": str(name), "room": str(room)} if name and room:
            if len(name) > MOST_LETTERS_OF_NAME:
                raise RefusedError(LONG_NAME)
            return Join(name=name, room=room)
    raise RefusedError(EXPECTED_JOIN)
