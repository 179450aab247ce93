"""encode and decode are inverse, up to what a dialect leaves unsaid."""

import json
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mjbot.protocol.codec import decode_line, encode
from mjbot.protocol.dialects import DEMANDED, UNSAID, Dialect
from mjbot.protocol.errors import LocalProtocolError
from mjbot.protocol.messages import (
    DRAW_REASONS,
    ActionAck,
    Ankan,
    Chi,
    Daiminkan,
    Error,
    Event,
    Hello,
    Hint,
    Hora,
    Join,
    Kakan,
    Kita,
    Pon,
    Reach,
    RequestAction,
    Ryukyoku,
    Skip,
    StartGame,
    StartKyoku,
    ValidationResult,
    wire_name,
)
from mjbot.protocol.tiles import TILE_NAMES

CLASSES = (
    *get_args(Event), Skip, Hello, Join, Error, RequestAction, ActionAck, ValidationResult
)  # fmt: skip

seats = st.integers(0, 3)
tiles = st.sampled_from(TILE_NAMES)
points = st.integers(-200_000, 200_000)
counts = st.integers(0, 10**6)
sticks = st.integers(0, 10**4)
texts = st.text(max_size=20)
four_points = st.tuples(points, points, points, points)
some_tiles = st.lists(tiles, max_size=5).map(tuple)
hand = st.tuples(*[tiles] * 13)
hints = st.builds(
    Hint, type=st.sampled_from(["hora", "pon"]), actor=st.none() | seats, pai=st.none() | tiles,
    target=st.none() | seats, consumed=st.none() | some_tiles, tsumogiri=st.none() | st.booleans(),
)  # fmt: skip

FIELDS = {
    **dict.fromkeys(("actor", "target", "pao", "id"), seats),
    **dict.fromkeys(("pai", "dora_marker"), tiles),
    **dict.fromkeys(("deltas", "scores"), four_points),
    **dict.fromkeys(("uradora_markers", "hora_tehais", "cannot_dahai"), some_tiles),
    **dict.fromkeys(("fu", "fan", "hora_points", "protocol_version"), counts),
    **dict.fromkeys(("honba", "kyotaku"), sticks),
    **dict.fromkeys(("request_id", "grace_ms", "bank_ms", "deadline_ms", "elapsed_ms"), counts),
    **dict.fromkeys(("bank_consumed_ms", "kyoku_first"), counts),
    "legal_types": st.lists(texts, max_size=3).map(tuple),
    **dict.fromkeys(("message", "name", "room", "protocol", "status", "log"), texts),
    **dict.fromkeys(("tsumogiri", "passed", "can_act"), st.booleans()),
    "bakaze": st.sampled_from("ESWN"),
    "mjbot_rules": st.fixed_dictionaries({"open_tanyao": st.booleans()}),
    "names": st.lists(texts, min_size=4, max_size=4).map(tuple),
    "num_players": st.sampled_from([3, 4]),
    "possible_actions": st.lists(hints, max_size=3).map(tuple),
    "yakus": st.lists(st.tuples(texts, counts), max_size=3).map(tuple),
    "tenpais": st.tuples(*[st.booleans()] * 4),
    "reason": st.sampled_from(DRAW_REASONS),
}
CONSUMED = {Chi: 2, Pon: 2, Daiminkan: 3, Kakan: 3, Ankan: 4}


def field_strategy(kind, name):
    if name == "consumed":
        return st.tuples(*[tiles] * CONSUMED[kind])
    if name == "tehais":
        return st.tuples(*[hand if kind is StartKyoku else some_tiles] * 4)
    return FIELDS[name]


@st.composite
def messages(draw, kind, *, complete=False):
    required = len(kind.__struct_fields__) - len(kind.__struct_defaults__)
    names = kind.__struct_fields__
    optional = dict(zip(names[required:], kind.__struct_defaults__, strict=True))
    output = {}
    for name in names:
        if name in ("kyoku", "oya"):
            continue
        strategy = field_strategy(kind, name)
        if optional.get(name, 0) is None and not complete:
            strategy = st.none() | strategy
        output[name] = draw(strategy)
    if kind is StartKyoku:
        output["oya"] = draw(seats)
        output["kyoku"] = output["oya"] + 1
    return kind(**output)


def received(message, dialect):
    """The message as it must arrive: without what the dialect leaves out."""
    table = UNSAID[dialect]
    unsaid = {*table.get("*", ()), *table.get(wire_name(message), ())}
    defaults = {name: True if name == "can_act" else None for name in unsaid}
    return replace(message, **{n: v for n, v in defaults.items() if hasattr(message, n)})


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("kind", CLASSES)
def test_what_is_said_is_heard(kind, dialect):
    @given(messages(kind))
    def check(message):
        demanded = DEMANDED[dialect].get(wire_name(message), ())
        if any(getattr(message, field) is None for field in demanded):
            with pytest.raises(LocalProtocolError):
                encode(message, dialect)
            return
        line = encode(message, dialect)
        assert b"\n" not in line
        players = 3 if kind is Kita else 4  # whose lines have it only
        assert decode_line(line, players) == (received(message, dialect),)
        two = decode_line(b"[" + line + b"," + line + b"]", players)
        assert two == (received(message, dialect),) * 2

    check()


def test_every_way_that_messages_were_drawn_covers_every_field():
    for kind in CLASSES:
        for name in kind.__struct_fields__:
            assert name in ("kyoku", "oya", "consumed", "tehais") or name in FIELDS


def output(message, dialect, **extra):
    return json.loads(encode(message, dialect, extra or None))


WIN = Hora(
    actor=1, target=1, pai="5sr", uradora_markers=("E",), fu=30, fan=2, deltas=(-1, 3, -1, -1)
)


def test_a_win_in_each_dialect():
    assert output(WIN, Dialect.TCP)["uradora_markers"] == ["E"]
    assert output(WIN, Dialect.TCP)["pai"] == "5sr"
    mortal = {"type": "hora", "actor": 1, "target": 1, "deltas": [-1, 3, -1, -1]}
    assert output(WIN, Dialect.STDIO_LINES) == mortal | {"ura_markers": ["E"]}
    assert output(WIN, Dialect.STDIO_ARRAYS) == mortal | {"ura_markers": ["E"]}
    ours = output(WIN, Dialect.RIICHILAB)
    assert ours == mortal | {"ura_markers": ["E"], "pai": "5sr", "tsumo": True}
    assert "tsumo" not in output(replace(WIN, target=0), Dialect.RIICHILAB)


def test_an_ankan_names_its_tile_only_to_riichilab():
    kan = Ankan(actor=0, consumed=("5pr", "5p", "5p", "5p"))
    assert "pai" not in output(kan, Dialect.TCP)
    assert output(kan, Dialect.RIICHILAB)["pai"] == "5p"


def test_nine_terminals_in_each_dialect():
    abort = Ryukyoku(actor=2, reason="kyushukyuhai")
    full = {"type": "ryukyoku", "actor": 2, "reason": "kyushukyuhai"}
    assert output(abort, Dialect.TCP) == output(abort, Dialect.LOG) == full
    assert output(abort, Dialect.STDIO_LINES) == {"type": "ryukyoku"}
    assert output(abort, Dialect.RIICHILAB) == full | {"reason": "kyushu_kyuhai"}


def test_a_reply_carries_its_request_id():
    assert output(Skip(), Dialect.RIICHILAB, request_id=7) == {"type": "none", "request_id": 7}


def test_request_limits_travel_in_a_time_object():
    asked = output(RequestAction(request_id=1, grace_ms=3, deadline_ms=5), Dialect.RIICHILAB)
    assert asked == {
        "type": "request_action",
        "request_id": 1,
        "time": {"grace_ms": 3, "deadline_ms": 5},
    }


def test_start_game_tells_each_dialect_what_it_wants():
    start = StartGame(id=1, names=("a", "b", "c", "d"))
    assert "names" not in output(start, Dialect.RIICHILAB)
    assert output(start, Dialect.TCP)["id"] == output(start, Dialect.STDIO_ARRAYS)["id"] == 1


def test_offers_stay_within_tcp_and_logs():
    riichi = Reach(actor=0, cannot_dahai=())
    assert output(riichi, Dialect.TCP) == {"type": "reach", "actor": 0, "cannot_dahai": []}
    for dialect in (Dialect.STDIO_LINES, Dialect.STDIO_ARRAYS, Dialect.RIICHILAB):
        assert output(riichi, dialect) == {"type": "reach", "actor": 0}


@pytest.mark.parametrize(
    ("message", "dialect", "field"),
    [
        (Hora(actor=0, target=1), Dialect.TCP, "hora.pai"),
        (Ryukyoku(actor=0), Dialect.TCP, "ryukyoku.reason"),
        (StartGame(), Dialect.TCP, "start_game.id"),
        (RequestAction(), Dialect.RIICHILAB, "request_action.request_id"),
    ],
)
def test_what_a_dialect_demands_is_not_forgotten(message, dialect, field):
    with pytest.raises(LocalProtocolError) as caught:
        encode(message, dialect)
    assert caught.value.field == field
