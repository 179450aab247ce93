"""Wire formats: mjai lines with their replies, and Tenhou's tags."""

import contextlib
from collections.abc import Iterable
from typing import Final

from mjbot.protocol.codec import decode_all, encode
from mjbot.protocol.dialects import ARRAYS, LINES, Dialect
from mjbot.protocol.errors import LocalProtocolError, ProtocolError
from mjbot.protocol.framing import LineBuffer
from mjbot.protocol.messages import Dahai, Message, Pon, Skip, StartGame, Tsumo, Unknown
from mjbot.protocol.sessions.client import ClientSession
from mjbot.protocol.sessions.lockstep_server import (
    BadReplyError,
    JoinRefusedError,
    LockstepSession,
    read_reply,
)
from mjbot.protocol.sessions.pipes import pipe_session
from mjbot.protocol.sessions.request_server import RequestSession
from mjbot.protocol.sessions.turns import Due, ReplyDuty
from mjbot.protocol.tenhou.calls import decode_call, encode_call
from mjbot.protocol.tenhou.client import TenhouClient
from mjbot.protocol.tenhou.codec import CLIENT_TAGS, SERVER_TAGS, Spelling, TagReader, write
from mjbot.protocol.tenhou.login import Login, TableType
from mjbot.protocol.tenhou.server import TenhouServer
from mjbot.protocol.tenhou.tags import Tag

_LINES: Final = 24
"""Of one input: more adds no coverage."""
_OFFERS: Final = (
    Skip(),
    Pon(actor=0, target=3, pai="5m", consumed=("5mr", "5m")),
    Dahai(actor=0, pai="E", tsumogiri=True),
)
_MJAI: Final = tuple(dialect for dialect in Dialect if not dialect.traits.is_tenhou)
_DUE: Final = (Due.TURN, Due.CLAIM)
_STATUSES: Final = ("accepted", "rejected", "unparseable", "stale")


def check_codec(choice: int, data: bytes) -> None:
    """Lines are read or refused, and what is read is written and read again as it was.

    The choice is the dialect of the client.
    """
    lines = LineBuffer().feed(data + b"\n")[:_LINES]
    pieces = LineBuffer()
    cut = len(data) // 2
    assert [*pieces.feed(data[:cut]), *pieces.feed(data[cut:] + b"\n")][:_LINES] == lines
    for line in lines:
        with contextlib.suppress(ProtocolError):
            for message in decode_all(line):
                for dialect in _MJAI:
                    _check_written(message, dialect)
        _check_reply(line)
    _check_client(lines, _MJAI[choice % len(_MJAI)])


def _check_written(message: Message, dialect: Dialect) -> None:
    if isinstance(message, Unknown):
        return
    try:
        data_ = encode(message, dialect)
    except LocalProtocolError:
        return  # the dialect demands what another leaves out
    (again,) = decode_all(data_)
    assert encode(again, dialect) == data_, (data_, again)
    if dialect is Dialect.LOG:
        assert encode(again, dialect) == encode(message, dialect)


def _check_reply(line: bytes) -> None:
    """Each kind of server accepts a line, or refuses it with its own error."""
    for due in _DUE:
        with contextlib.suppress(BadReplyError):
            reply = read_reply(line, 0, due, "{}")
            assert isinstance(reply, Skip) or reply.actor == 0
    with contextlib.suppress(JoinRefusedError):
        LockstepSession().join(line)
    requests = RequestSession()
    requests.request(_OFFERS)
    verdict = requests.receive(line, 10)
    assert verdict.status in _STATUSES and (verdict.choice is None) == (
        verdict.status != "accepted"
    )
    decode_all(verdict.ack)
    for dialect in (LINES, ARRAYS):
        pipe = pipe_session(dialect, 0)
        pipe.send(StartGame(id=0, names=("a", "b", "c", "d")))
        pipe.send(Tsumo(actor=0, pai="E"), _OFFERS)
        with contextlib.suppress(ProtocolError):
            pipe.receive(line)


def _check_client(lines: Iterable[bytes], dialect: Dialect) -> None:
    """A client receives the lines one after the other, and answers what it owes."""
    client = ClientSession(dialect, seat=0)
    with contextlib.suppress(ProtocolError):
        for line in lines:
            received = client.receive(line)
            if received.duty is not ReplyDuty.MUST_NOT:
                own = client.seat or 0
                none_is_answer = "none" in received.due.value or not received.due.value
                discard = Dahai(actor=own, pai="E", tsumogiri=False)
                client.reply(None if none_is_answer or received.due is Due.JOIN else discard)


# --- Tenhou ----------------------------------------------------------------------------------


def check_tenhou(choice: int, data: bytes) -> None:
    """Tags are read or refused, however they were cut, and are written as they were read.

    The choice is the spelling (bit 0), the side (1), and whether the reader is lenient (2).
    """
    spelling = Spelling.JSON if choice & 1 else Spelling.XML
    known = CLIENT_TAGS if choice & 2 else SERVER_TAGS
    lenient = bool(choice & 4)
    frames = data.split(b"\n")[:_LINES] if spelling is Spelling.JSON else [data]
    tags = _read(frames, TagReader(spelling, known, lenient=lenient))
    if spelling is Spelling.XML:
        cut = len(data) // 2
        pieces = TagReader(spelling, known, lenient=lenient)
        assert _read([data[:cut], data[cut:]], pieces) == tags
    for tag in tags or ():
        with contextlib.suppress(ValueError):
            frame = write(tag, spelling)
            assert TagReader(spelling, known, lenient=True).feed(frame) == [tag], (frame, tag)
    _check_call(int.from_bytes(data[:2], "little"))
    _check_tenhou_client(frames, spelling, lenient)
    if known is CLIENT_TAGS:
        server = TenhouServer(spelling)
        with contextlib.suppress(ProtocolError):
            for frame in frames:
                server.receive(frame)


def _read(pieces: Iterable[bytes], reader: TagReader) -> list[Tag] | None:
    """Return the tags, or ``None`` if they are refused."""
    try:
        return [tag for piece in pieces for tag in reader.feed(piece)]
    except ProtocolError:
        return None


def _check_call(code: int) -> None:
    try:
        call = decode_call(code)
    except ValueError:
        return
    assert decode_call(encode_call(call)) == call


def _check_tenhou_client(frames: Iterable[bytes], spelling: Spelling, lenient: bool) -> None:
    client = TenhouClient(Login(), TableType(0, 9), spelling, lenient=lenient)
    client.open()
    with contextlib.suppress(ProtocolError):
        for frame in frames:
            if client.receive(frame).duty is ReplyDuty.MUST:
                client.reply_safely()
