"""The original server's side of one connection: no clock, no socket, no knowledge of the rules.

Handshake: send :meth:`LockstepSession.hello`, give the first line to
:meth:`LockstepSession.join`. Game: send what :meth:`LockstepSession.send` returns for an event,
then give the one line that comes back to :meth:`LockstepSession.receive` (or report
:meth:`~LockstepSession.timeout`, :meth:`~LockstepSession.vanish`).

Of a reply that is checked which needs no table (:func:`read_reply`); the rest is the server's.
As at the original, a known field of a wrong type voids the game even where the message has no use
for it, ``null`` counts as absent, and unknown fields are ignored.
"""

import contextlib
from collections import deque
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from mjbot.protocol import messages as m
from mjbot.protocol.codec import encode
from mjbot.protocol.dialects import LOCKSTEP, OFFERS
from mjbot.protocol.errors import NOT_JSON, LocalProtocolError
from mjbot.protocol.framing import without_mark
from mjbot.protocol.plain_text import is_name
from mjbot.protocol.reading import SPELLINGS_OF_KITA
from mjbot.protocol.rules import RANKED, announced_players
from mjbot.protocol.seats import seated
from mjbot.protocol.sessions.turns import Due, due_after

_ints = tuple[int, ...]
_tiles = tuple[m.Tile, ...]


class ReplyFields(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Every field of the original server, with its type, in its order."""

    type: str
    reason: str | None = None
    actor: m.Seat | None = None
    target: m.Seat | None = None
    pao: m.Seat | None = None
    pai: m.Tile | None = None
    consumed: _tiles | None = None
    pais: _tiles | None = None
    tsumogiri: bool | None = None
    possible_actions: tuple[dict[str, Any], ...] | None = None
    cannot_dahai: _tiles | None = None
    id: m.Seat | None = None
    bakaze: m.Tile | None = None
    kyoku: int | None = None
    honba: int | None = None
    kyotaku: int | None = None
    oya: m.Seat | None = None
    dora_marker: m.Tile | None = None
    uradora_markers: _tiles | None = None
    tehais: tuple[_tiles, ...] | None = None
    uri: str | None = None
    names: tuple[str, ...] | None = None
    hora_tehais: _tiles | None = None
    yakus: tuple[tuple[str, int], ...] | None = None
    fu: int | None = None
    fan: int | None = None
    hora_points: int | None = None
    tenpais: tuple[bool, ...] | None = None
    deltas: _ints | None = None
    scores: _ints | None = None
    text: str | None = None
    message: str | None = None
    log: str | None = None
    logs: tuple[str | None, ...] | None = None


_fields: Final = msgspec.json.Decoder(ReplyFields)

REQUIRED: Final[dict[str, tuple[str, ...]]] = {
    "none": (),
    "dahai": ("pai", "tsumogiri"),
    "reach": (),
    "chi": ("target", "pai", "consumed"),
    "pon": ("target", "pai", "consumed"),
    "daiminkan": ("target", "pai", "consumed"),
    "kakan": ("pai", "consumed"),
    "ankan": ("consumed",),
    "hora": ("target", "pai"),
    "ryukyoku": ("reason",),
    "kita": (),
}
_CONSUMED: Final = {"chi": 2, "pon": 2, "daiminkan": 3, "kakan": 3, "ankan": 4}
_FURO: Final = "The furo is not allowed."


class BadReplyError(ValueError):
    """A reply that the original server would not take; ``response`` is how it quotes it."""

    def __init__(self, reason: str, response: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.response = response


def read_reply(line: bytes, seat: m.Seat, due: Due, event: str, players: int = 4) -> m.PlayerAction:
    """Return the action that ``line`` means as the reply of ``seat``, at a table of ``players``.

    ``due`` is what was called for, ``event`` the JSON text of the event, for the complaint.
    Raises :class:`BadReplyError` with the original server's text where it is known.
    """
    given = _parsed(line)
    response = quoted(given)
    if players == 3 and given.type in SPELLINGS_OF_KITA:
        given = replace(given, type="kita", pai=given.pai or "N")
    if reason := _objection(given, seat, due, event, players):
        raise BadReplyError(reason, response)
    fields = {
        name: value for name, value in msgspec.structs.asdict(given).items() if value is not None
    }
    try:
        return msgspec.convert(fields, m.PlayerAction)  # type: ignore[no-any-return]
    except msgspec.ValidationError as error:
        raise BadReplyError(f"{error}.", response) from None


def quoted(fields: ReplyFields) -> str:
    """Return the reply as the complaint quotes it: known fields only, a pass as nothing."""
    return "" if fields.type == "none" else msgspec.json.encode(fields).decode()


def _parsed(line: bytes) -> ReplyFields:
    line = without_mark(line)
    try:
        line.decode("utf-8")
        return _fields.decode(line)
    except msgspec.ValidationError as error:
        reason = f"Validation failed: {error}."
    except NOT_JSON as error:
        reason = f"JSON syntax error: {error}"
    # The original quotes an error object of its own here, of which the player's line is no part.
    raise BadReplyError(reason, line.decode("utf-8", "replace").strip())


def _objection(fields: ReplyFields, seat: m.Seat, due: Due, event: str, players: int) -> str | None:
    """Return what is wrong with the reply, in the order in which the original server looks."""
    name = fields.type
    if name != "none" and fields.actor != seat:
        return "Invalid actor."
    if name == "error":
        return fields.message or "Unknown error."
    if name not in due.value or (name == "kita" and players != 3):
        return f"Unexpected response type '{name}' for {event}."
    for field in REQUIRED[name]:
        if getattr(fields, field) is None:
            return f"{field} missing."
    return _bad_content(fields)


def _bad_content(fields: ReplyFields) -> str | None:
    expected = _CONSUMED.get(fields.type)
    if expected is not None and len(fields.consumed or ()) != expected:
        return _FURO
    if fields.type == "ankan" and fields.pai is not None:
        return _FURO
    if fields.type == "ryukyoku" and fields.reason != "kyushukyuhai":
        return "Unexpected reason."
    return None


def timeout_reply(seat: m.Seat, limit_s: float) -> BadReplyError:
    """Return the objection to a reply that did not come."""
    reason = f"Timeout. No response in {limit_s:g} sec."
    response = msgspec.json.encode({"type": "error", "actor": seat, "message": reason}).decode()
    return BadReplyError(reason, response)


def silent_reply(due: Due, event: str) -> m.Skip:
    """Return the reply of a closed socket: ``none``, where that is an answer."""
    if "none" not in due.value:
        raise BadReplyError(f"Unexpected response type 'none' for {event}.", "")
    return m.Skip()


EXPECTED_JOIN: Final = 'Expected e.g. {"type":"join","name":"noname","room":"default"}'
BUSY: Final = "The room is busy. Retry after a while."
MOST_LETTERS_OF_NAME: Final = 64
LONG_NAME: Final = f"The name is longer than {MOST_LETTERS_OF_NAME} characters."
"""All names are sent to all seats, in each game."""

BLANK_NAME: Final = "The name must show a character, and have no control characters."


class JoinRefusedError(ValueError):
    """A join that is not accepted; send :attr:`line` and close."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.line = encode(m.Error(message=reason), LOCKSTEP)


class FaultError(ValueError):
    """A reply that voids the game; all seats receive its text in an ``error``."""

    def __init__(self, seat: m.Seat, reason: str, response: str) -> None:
        self.seat = seat
        self.reason = reason
        self.response = response
        super().__init__(f"Error in player {seat}'s response: {reason} Response: {response}")


class LockstepSession:
    """One player's connection to a table in the original server's dialect.

    ``room`` is what a join must name; ``None`` takes any.
    """

    def __init__(self, room: str | None = "default") -> None:
        self.room: Final = room
        self.name: str | None = None
        self.seat: m.Seat | None = None
        self.missing: Final[deque[Due]] = deque()
        """What is due in replies that were not waited for, and may still come."""
        self._players = RANKED.players
        self._due = Due.NOTHING
        self._event: m.Message | None = None

    # --- handshake ---------------------------------------------------------------------------

    def hello(self) -> bytes:
        """Return the first line."""
        return b'{"type":"hello","protocol":"mjsonp","protocol_version":3}'

    def join(self, line: bytes) -> m.Join:
        """Take in the first line of the client.

        Raises :class:`JoinRefusedError` with the original server's text.
        """
        join = _read_join(line)
        if self.room not in (None, join.room):
            raise JoinRefusedError(f"No such room. Available room: {self.room}")
        self.name = join.name
        return join

    # --- game --------------------------------------------------------------------------------

    @property
    def due(self) -> Due:
        """What the last line sent calls for; ``NOTHING`` when no reply is awaited."""
        return self._due

    def send(self, message: m.Message) -> bytes:
        """Return the line for ``message``, which must be masked for this seat already.

        Raises :class:`LocalProtocolError` while a reply is still awaited.
        """
        if self._due is not Due.NOTHING and not isinstance(message, m.Error):
            raise LocalProtocolError(m.wire_name(message), "the line before still awaits its reply")
        if isinstance(message, m.StartGame):
            self.seat = message.id
            self._players = announced_players(message.mjbot_rules)
        self._due = due_after(message, self.seat)
        self._event = message
        return self.last_line(message)

    def last_line(self, message: m.Message) -> bytes:
        """Return the line for ``message``, to which no reply is awaited, whatever came before."""
        return encode(seated(message, self._players), LOCKSTEP)

    def receive(self, line: bytes) -> m.PlayerAction:
        """Return the reply in ``line``; raises :class:`FaultError`."""
        seat, due = self._awaited()
        try:
            return read_reply(line, seat, due, self._quoted_event(), self._players)
        except BadReplyError as error:
            raise FaultError(seat, error.reason, error.response) from None

    def vanish(self) -> m.PlayerAction:
        """Return what a closed socket answers (a pass); raises :class:`FaultError`."""
        seat, due = self._awaited()
        try:
            return silent_reply(due, self._quoted_event())
        except BadReplyError as error:
            raise FaultError(seat, error.reason, error.response) from None

    def forgo(self) -> None:
        """Do not wait for a reply that nothing depends on: the player is at an earlier event."""
        self.missing.append(self._awaited()[1])

    def is_missing(self, line: bytes) -> bool:
        """Return whether a line is a missing reply, which nothing reads any more.

        Replies come in order.  A missing one that this line cannot be was left out by the client.
        """
        name = _type_of(line)
        while self.missing:
            if name in (None, "error", *self.missing.popleft().value):
                return True
        return False

    def timeout(self, limit_s: float) -> FaultError:
        """Return the fault of not having answered within ``limit_s`` seconds."""
        seat, due = self._awaited()
        self.missing.append(due)
        error = timeout_reply(seat, limit_s)
        return FaultError(seat, error.reason, error.response)

    def _quoted_event(self) -> str:
        fields = msgspec.to_builtins(self._event)
        for offer in OFFERS:
            fields.pop(offer, None)
        return msgspec.json.encode(fields).decode()

    def _awaited(self) -> tuple[m.Seat, Due]:
        if self.seat is None or self._due is Due.NOTHING:
            raise LocalProtocolError("reply", "none is awaited")
        due, self._due = self._due, Due.NOTHING
        return self.seat, due


def _type_of(line: bytes) -> str | None:
    """Return the type of a message, ``None`` if it has none."""
    with contextlib.suppress(*NOT_JSON):
        match msgspec.json.decode(line):
            case {"type": str(name)}:
                return name
    return None


def _read_join(line: bytes) -> m.Join:
    try:
        value = msgspec.json.decode(without_mark(line).decode())
    except NOT_JSON as error:
        raise JoinRefusedError(f"JSON syntax error: {error}") from None
    match value:
        case {"type": "join", "name": str(name), "room": str(room)} if name and room:
            if len(name) > MOST_LETTERS_OF_NAME:
                raise JoinRefusedError(LONG_NAME)
            if not is_name(name):
                raise JoinRefusedError(BLANK_NAME)
            return m.Join(name=name, room=room)
    raise JoinRefusedError(EXPECTED_JOIN)
