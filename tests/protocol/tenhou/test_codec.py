"""Tags as bytes: wherever they are cut, in both spellings, and what is refused in one line."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mjbot.protocol.errors import ProtocolError
from mjbot.protocol.tenhou import tags
from mjbot.protocol.tenhou.codec import (
    CLIENT_TAGS,
    MAX_TAG_BYTES,
    SERVER_TAGS,
    Spelling,
    TagReader,
    write,
)

INIT = (
    b'<INIT seed="0,0,0,2,2,81" ten="250,250,250,250" oya="3" '
    b'hai="0,61,97,127,21,126,23,20,71,35,114,88,41"/>'
)
SAID = b'<HELO uname="%41" PF4="9,1,2" new="in 2030"/>\0' + INIT + b'\0<T68 t="32"/>\0<e103/>\0'


def reader(spelling=Spelling.XML, known=SERVER_TAGS, lenient=False):
    return TagReader(spelling, known, lenient=lenient)


@given(st.lists(st.integers(0, len(SAID)), max_size=5))
def test_a_stream_may_be_cut_anywhere(cuts):
    whole = reader().feed(SAID)
    places = [0, *sorted(cuts), len(SAID)]
    pieces = reader()
    read = [tag for start, end in pairwise(places) for tag in pieces.feed(SAID[start:end])]
    pieces.finish()
    assert read == whole
    assert read[2:] == [
        tags.DrawTag(seat=0, tile=68, t=32),
        tags.DiscardTag(seat=1, tile=103, drawn=True),
    ]


def test_a_client_speaks_json_numbers_and_bare_tags_and_is_understood():
    frames = reader(Spelling.JSON, CLIENT_TAGS)
    assert frames.feed(b'{"tag":"D","p":115}') == [tags.Discarding(p=115)]
    assert frames.feed(b'{"tag":"D","p":"115"}') == [tags.Discarding(p=115)]
    assert frames.feed(b"<Z/>") == [tags.KeepAlive()]
    assert frames.feed(b'<PXR V="137" />') == [tags.AskUsers(v=137)]
    assert frames.feed(b"<BYE/>") == [tags.ClientBye()]


def test_a_server_writes_json_strings():
    assert write(tags.Taikyoku(oya=2), Spelling.JSON) == b'{"tag":"TAIKYOKU","oya":"2"}'
    assert write(tags.DrawTag(seat=0, tile=68), Spelling.JSON) == b'{"tag":"T68"}'
    assert write(tags.KeepAlive(), Spelling.JSON) == b"<Z />"


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        (b'<FOO a="1"/>', "FOO: no such tag"),
        (b'<N who="0" m="1" z="2"/>', "N.z: no such attribute"),
        (b'<N who="0"/>', "N.m: missing"),
        (b'<DORA hai="136"/>', "DORA.hai: expected int <= 135, got '136'"),
        (b'<DORA hai="x"/>', "DORA.hai: expected int, got 'x'"),
        (b"<T136/>", "T136: names a tile outside 0..135"),
        (b'<REACH who="4" step="1"/>', "REACH.who: expected int <= 3, got '4'"),
        (b'<REACH who="0" step="3"/>', "REACH.step: expected int <= 2, got '3'"),
        (b'<T1 tile="5"/>', "T1: only the attribute t belongs here"),
        (INIT.replace(b",41", b""), "INIT.hai: expected list of length >= 13, got"),
        (INIT.replace(b",41", b",999"), "INIT.hai: expected int <= 135, got"),
        (INIT.replace(b'"250,', b'"99999999999,'), "INIT.ten: expected int <= 10000000, got"),
        (b'<U/><E5 t="1"/>', "tag '<U/><E5 t=\"1\"/>': NUL is missing after it"),
        (b"<U", "tag '<U': not one tag"),
        (b'<UN n0="a" n0="b"/>', "UN: an attribute stands twice"),
        (b"<U/\xff>", "not UTF-8 at byte 3"),
        (b'<HELO name="ID12345678-abcdefgh"', "tag '<HELO': not one tag"),
    ],
)
def test_bad_xml_is_refused_by_tag_and_attribute(output, problem):
    with pytest.raises(ProtocolError) as refused:
        reader().feed(output + b"\0")
    assert problem in str(refused.value)
    assert "\n" not in str(refused.value)
    assert "12345678" not in str(refused.value)


@pytest.mark.parametrize(
    ("frame", "problem"),
    [
        (b'{"tag":"D","p":"136"}', "D.p: expected int <= 135, got '136'"),
        (b'{"tag":"D","p":[1]}', "D.p: expected a string or a number"),
        (b'{"tag":"D","p":1.5}', "D.p: expected int, got '1.5'"),
        (b'{"tag":"D"}', "D.p: missing"),
        (b'{"tag":7}', "frame.tag: missing"),
        (b'{"p":7}', "frame.tag: missing"),
        (b"[]", "frame.tag: missing"),
        (b'{"tag":"D","p":', "frame: neither JSON nor a tag"),
        (b"\xff", "frame: neither JSON nor a tag"),
        (b'{"tag":' + b"[" * 30_000, "frame: n"),
        (b'{"tag":"N","type":11}', "N.type: expected int <= 10, got '11'"),
        (b'{"tag":"T5"}', "T5: no such tag"),
    ],
)
def test_bad_frames_are_refused_by_tag_and_attribute(frame, problem):
    with pytest.raises(ProtocolError) as refused:
        reader(Spelling.JSON, CLIENT_TAGS).feed(frame)
    assert problem in str(refused.value)
    assert len(str(refused.value)) < 200


def test_a_megabyte_without_end_is_cut_off_early():
    endless = reader()
    with pytest.raises(ProtocolError, match="longer than the limit"):
        for _ in range(16):
            endless.feed(b"<" + b"x" * (1 << 16))
    with pytest.raises(ProtocolError, match="longer than the limit"):
        reader(Spelling.JSON).feed(b'{"tag":"' + b"x" * MAX_TAG_BYTES + b'"}')


def test_a_stream_that_ends_inside_a_tag_lacks_its_nul():
    cut = reader()
    assert cut.feed(b"<U/>\0<V/>") == [tags.DrawTag(seat=1)]
    with pytest.raises(ProtocolError, match="NUL is missing"):
        cut.finish()


def test_new_attributes_pass_around_a_game_and_with_a_lenient_reader_everywhere():
    assert reader().feed(b'<GO type="9" new="1"/>\0') == [tags.Go(type=9)]
    lenient = reader(lenient=True)
    assert lenient.feed(b'<DORA hai="5" new="1"/>\0') == [tags.DoraIndicator(hai=5)]
    assert lenient.feed(b'<FOO a="1"/>\0') == [tags.Other(name="FOO")]


def test_what_cannot_stand_in_an_attribute_is_not_written():
    with pytest.raises(ValueError, match="cannot stand"):
        write(tags.ServerChat(text='a"b'), Spelling.XML)
