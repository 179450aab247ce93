import pytest

from mjbot.protocol.errors import ProtocolError
from mjbot.protocol.framing import LineBuffer

STREAM = '{"type":"hello"}\r\n\n{"type":"join","name":"é東"}\n[]\n'.encode()
LINES = [b'{"type":"hello"}', b"", '{"type":"join","name":"é東"}'.encode(), b"[]"]


@pytest.mark.parametrize("cut", range(len(STREAM) + 1))
def test_a_stream_may_be_cut_anywhere(cut):
    lines = LineBuffer()
    assert lines.feed(STREAM[:cut]) + lines.feed(STREAM[cut:]) == LINES
    lines.finish()


def test_a_stream_may_come_byte_by_byte():
    lines = LineBuffer()
    assert [line for byte in STREAM for line in lines.feed(bytes([byte]))] == LINES


def test_a_stream_that_ends_within_a_line_is_named():
    lines = LineBuffer()
    lines.feed(b'{"type":"none"}\n{"type":"da')
    with pytest.raises(ProtocolError, match=r'line: cut off .* after \'{"type":"da\''):
        lines.finish()


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_line_may_reach_the_limit_but_not_pass_it(end):
    LineBuffer(max_line_bytes=10).feed(b"x" * 10 + end)
    with pytest.raises(ProtocolError, match="line: longer than the limit of 10 bytes"):
        LineBuffer(max_line_bytes=10).feed(b"x" * 11 + end)


def test_the_limit_holds_for_a_line_that_comes_in_pieces():
    lines = LineBuffer(max_line_bytes=10)
    lines.feed(b"x" * 6)
    with pytest.raises(ProtocolError):
        lines.feed(b"x" * 6)
