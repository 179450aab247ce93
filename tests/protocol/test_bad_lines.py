"""What is not mjai is refused with the field named and what was expected."""

import contextlib

import pytest

from mjbot.protocol.codec import decode_line
from mjbot.protocol.dialects import ARRAYS, LINES
from mjbot.protocol.errors import ProtocolError
from mjbot.protocol.framing import MAX_LINE_BYTES
from mjbot.protocol.messages import Dahai, Tsumo
from mjbot.protocol.plain_text import CUT, MOST_OF_LINE
from mjbot.protocol.sessions.pipes import pipe_session
from mjbot.protocol.tenhou.codec import CLIENT_TAGS, SERVER_TAGS, Spelling, TagReader

MOST_SHOWN = 40
ROW = '["?","?","?","?","?","?","?","?","?","?","?","?","?"]'
SHORT = ROW.replace('"?",', "", 1)


def deal(**changes: str) -> str:
    fields = {
        "bakaze": '"E"', "kyoku": "1", "honba": "0", "kyotaku": "0", "oya": "0",
        "dora_marker": '"N"', "tehais": f"[{ROW},{ROW},{ROW},{ROW}]",
    } | changes  # fmt: skip
    inner = ",".join(f'"{key}":{value}' for key, value in fields.items())
    return f'{{"type":"start_kyoku",{inner}}}'


@pytest.mark.parametrize(
    ("line", "field", "problem"),
    [
        ("{oops", "line", "not JSON"),
        ('{"type":"none"} trailing', "line", "not JSON"),
        ("5", "line", "expected an object or an array of objects, got 5"),
        ('["none"]', "line", "expected an object or an array of objects"),
        ("{}", "type", "missing"),
        ('{"type":7}', "type", "expected a string, got 7"),
        ('{"type":"dahai","pai":"E","tsumogiri":true}', "dahai.actor", "missing"),
        ('{"type":"dahai","actor":"1","pai":"E"}', "dahai.actor", 'expected int, got "1"'),
        ('{"type":"dahai","actor":1.0,"pai":"E"}', "dahai.actor", "expected int, got 1.0"),
        ('{"type":"dahai","actor":true,"pai":"E"}', "dahai.actor", "expected int, got true"),
        ('{"type":"tsumo","actor":4,"pai":"E"}', "tsumo.actor", "expected int <= 3, got 4"),
        ('{"type":"tsumo","actor":-1,"pai":"E"}', "tsumo.actor", "expected int >= 0, got -1"),
        ('{"type":"tsumo","actor":1,"pai":"9z"}', "tsumo.pai", '"9z" is not a tile'),
        ('{"type":"tsumo","actor":1,"pai":"0p"}', "tsumo.pai", '"0p" is not a tile'),
        ('{"type":"tsumo","actor":1,"pai":5}', "tsumo.pai", "expected str, got 5"),
        ('{"type":"tsumo","actor":1}', "tsumo.pai", "missing"),
        ('{"type":"dahai","actor":1,"pai":"E","tsumogiri":1}', "dahai.tsumogiri", "expected bool"),
        (
            '{"type":"pon","actor":1,"target":0,"pai":"E","consumed":["E"]}',
            "pon.consumed",
            'expected array of length 2, got ["E"]',
        ),
        (
            '{"type":"chi","actor":1,"target":0,"pai":"E","consumed":["E","x"]}',
            "chi.consumed[1]",
            '"x" is not a tile',
        ),
        ('{"type":"hora","actor":1}', "hora.target", "missing"),
        ('{"type":"hora","actor":1,"target":0,"deltas":[1,2]}', "hora.deltas", "length 4"),
        (
            '{"type":"hora","actor":1,"target":0,"deltas":[4294967296,0,0,0]}',
            "hora.deltas[0]",
            "expected int <= 1000000000, got 4294967296",
        ),
        (
            '{"type":"reach_accepted","actor":1,"scores":[0,-4294967296,0,0]}',
            "reach_accepted.scores[1]",
            "expected int >= -1000000000, got -4294967296",
        ),
        (deal(honba="70000"), "start_kyoku.honba", "expected int <= 10000, got 70000"),
        (deal(kyotaku="70000"), "start_kyoku.kyotaku", "expected int <= 10000, got 70000"),
        ('{"type":"ryukyoku","reason":5}', "ryukyoku.reason", "expected str"),
        ('{"type":"ryukyoku","tehais":[["1x"]]}', "ryukyoku.tehais[0][0]", '"1x" is not a tile'),
        ('{"type":"request_action","time":3}', "request_action.time", "expected an object"),
        ('{"type":"action_ack"}', "action_ack.status", "missing"),
        (deal(tehais=f"[{ROW},{ROW},{SHORT},{ROW}]"), "start_kyoku.tehais[2]", "length"),
        (deal(tehais=f"[{ROW},{ROW},{ROW},{ROW},{ROW}]"), "start_kyoku.tehais", "length 4"),
        (deal(tehais="null"), "start_kyoku.tehais", "missing"),
        (deal(kyoku="5", oya="3"), "start_kyoku.oya", "seat 3 does not deal in kyoku 5"),
        (deal(kyoku="3"), "start_kyoku.oya", "seat 0 does not deal in kyoku 3"),
        (deal(honba="-1"), "start_kyoku.honba", ">= 0"),
        (deal(bakaze='"Q"'), "start_kyoku.bakaze", '"Q" is not a tile'),
        (deal(dora_marker='["1m","2m"]'), "start_kyoku.dora_marker", "expected str"),
        (deal(scores="[1,2,3,4.5]"), "start_kyoku.scores[3]", "expected int, got 4.5"),
    ],
)
def test_the_field_is_named(line, field, problem):
    with pytest.raises(ProtocolError) as caught:
        decode_line(line)
    assert caught.value.field == field
    assert problem in caught.value.problem
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 200


@pytest.mark.parametrize(
    "line",
    [
        '{"type":"kita","actor":0,"pai":"N"}',
        '{"type":"nukidora","actor":0,"pai":"N"}',
        '{"type":"start_game","id":0,"num_players":3}',
        '{"type":"start_game","names":["a","b","c"]}',
        deal(tehais=f"[{ROW},{ROW},{ROW}]"),
        deal(scores="[35000,35000,35000]"),
    ],
)
def test_three_player_mahjong_is_refused_by_name(line):
    with pytest.raises(ProtocolError, match="three-player"):
        decode_line(line)


GOOD = b'{"type":"pon","actor":1,"target":0,"pai":"5p","consumed":["5p","5pr"]}'


@pytest.mark.parametrize("cut", range(1, len(GOOD)))
def test_a_line_cut_anywhere_is_not_json(cut):
    with pytest.raises(ProtocolError) as caught:
        decode_line(GOOD[:cut])
    assert caught.value.field == "line"


@pytest.mark.parametrize("at", range(len(GOOD)))
def test_a_line_with_any_byte_spoilt_never_fails_otherwise(at):
    for byte in (0x00, 0x22, 0x5B, 0x80, 0xFF):
        try:
            decode_line(GOOD[:at] + bytes([byte]) + GOOD[at + 1 :])
        except ProtocolError:
            continue


def test_invalid_utf8_is_named():
    with pytest.raises(ProtocolError, match="line: not UTF-8 at byte 27"):
        decode_line(b'{"type":"none","note":"abcd\xff"}')


def test_a_line_past_the_limit_is_refused_and_one_at_the_limit_is_not():
    padding = "x" * (MAX_LINE_BYTES - len('{"type":"none","log":""}'))
    assert decode_line(f'{{"type":"none","log":"{padding}"}}')
    with pytest.raises(ProtocolError, match="line: longer than the limit of 1048576 bytes"):
        decode_line(f'{{"type":"none","log":"{padding}x"}}')


@pytest.mark.parametrize("opening", ["[", '{"a":', '{"type":"none","meta":' + "[", "[{"])
def test_deep_nesting_is_refused(opening):
    with pytest.raises(ProtocolError) as caught:
        decode_line(opening * 100_000)
    assert caught.value.field in ("line", "type")


@pytest.mark.parametrize(
    "inner", ["[" * 100_000 + "]" * 100_000, '{"a":' * 50_000 + "1" + "}" * 50_000]
)
def test_deep_nesting_in_an_ignored_field_is_refused(inner):
    for kind in ("none", "start_game", "nobody_knows"):
        with pytest.raises(ProtocolError, match="line: nested too deeply"):
            decode_line(f'{{"type":"{kind}","x":{inner}}}')


@pytest.mark.parametrize("place", ['"type":{}', '"type":"tsumo","actor":{}', '"error":{}'])
def test_whatever_nesting_can_just_be_read_can_be_reported(place):
    for depth in range(850, 1010, 3):
        with contextlib.suppress(ProtocolError):
            decode_line("{" + place.format("[" * depth + "]" * depth) + "}")


JUNK = [
    (b"HTTP/1.1 400 Bad Request", "'HTTP/1.1 400 Bad Request'"),
    (b"thinking\x1b[2J \xe2\x80\xae", r"'thinking\x1b[2J \u202e'"),
    (b"\xff\xfe {}", r"'\xff\xfe {}'"),
    ("東".encode() * 500, f"'{'東' * MOST_OF_LINE}{CUT}'"),
    (b"[" * 5000, f"'{'[' * MOST_OF_LINE}{CUT}'"),
    (b'{"type":"tsumo"', """'{"type":"tsumo"'"""),
]


@pytest.mark.parametrize(("line", "shown"), JUNK)
@pytest.mark.parametrize("players", [3, 4])
def test_a_line_that_is_no_json_is_shown_as_it_came(line, shown, players):
    with pytest.raises(ProtocolError) as caught:
        decode_line(line, players)
    assert caught.value.field == "line" and caught.value.problem.endswith(f"; {shown}")


@pytest.mark.parametrize(("line", "shown"), JUNK)
@pytest.mark.parametrize("spelling", Spelling)
def test_what_is_no_tag_is_shown_as_it_came(line, shown, spelling):
    """A tag is cut after fewer letters; of a login nothing but its name is shown."""
    reader = TagReader(spelling, SERVER_TAGS)
    with pytest.raises(ProtocolError) as caught:
        reader.feed(line + b"\0")
    begin = shown.removesuffix("'").removesuffix(CUT)[: MOST_SHOWN + 1]
    assert begin in str(caught.value)
    for login in (b'{"tag":"HELO","name":"ID1234', b'<HELO name="ID1234" tid="', b'{"AUTH ID1234'):
        with pytest.raises(ProtocolError) as caught:
            TagReader(spelling, CLIENT_TAGS).feed(login + b"\0")
        assert "ID12" not in str(caught.value)


@pytest.mark.parametrize("session", [LINES, ARRAYS])
def test_an_answer_that_is_no_json_is_shown_as_it_came(session):
    bot = pipe_session(session, 0)
    for line, shown in JUNK:
        bot.send(Tsumo(actor=0, pai="E"), (Dahai(actor=0, pai="E", tsumogiri=True),))
        with pytest.raises(ProtocolError) as caught:
            bot.receive(line)
        assert shown in str(caught.value)
