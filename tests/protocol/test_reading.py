"""Every dialect's spelling becomes the same message."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mjbot.protocol.codec import decode_all, decode_line, encode
from mjbot.protocol.dialects import Dialect
from mjbot.protocol.errors import LocalProtocolError
from mjbot.protocol.messages import (
    ActionAck,
    Ankan,
    Dahai,
    Dora,
    EndGame,
    EndKyoku,
    Error,
    Event,
    Hint,
    Hora,
    Kakan,
    Reach,
    ReachAccepted,
    RequestAction,
    Ryukyoku,
    ScoresOnly,
    Skip,
    StartGame,
    StartKyoku,
    Tsumo,
    Unknown,
    ValidationResult,
)

HIDDEN = ["?"] * 13
DEAL = {
    "type": "start_kyoku",
    "bakaze": "E",
    "kyoku": 2,
    "honba": 0,
    "kyotaku": 1,
    "oya": 1,
    "dora_marker": "5sr",
    "tehais": [HIDDEN, HIDDEN, HIDDEN, ["1m"] * 13],
}


def read(**fields):
    (message,) = decode_line(json.dumps(fields))
    return message


def test_objects_and_arrays():
    line = '{"type":"tsumo","actor":0,"pai":"?"}'
    assert decode_line(line) == (Tsumo(actor=0, pai="?"),)
    assert decode_line(f" [{line}, {line}] \r\n") == (Tsumo(actor=0, pai="?"),) * 2
    assert decode_line(f'[{line},{{"type":"end_game"}}]') == (Tsumo(actor=0, pai="?"), EndGame())
    assert decode_line("[]") == decode_line(b"  ") == ()


def test_unknown_types_and_keys_are_passed_over():
    assert decode_line('{"type":"seat_taken","id":9}') == ()
    assert decode_line('[{"type":"seat_taken"},{"type":"end_kyoku","q":[{}]}]') == (EndKyoku(),)
    assert decode_all('{"type":"seat_taken","id":9}') == (Unknown(name="seat_taken"),)
    assert read(type="reach", actor=1, pai="4p", meta={"q_values": [0.5]}) == Reach(actor=1)


def test_null_is_absent():
    output = read(type="dahai", actor=2, pai="E", tsumogiri=True, possible_actions=None)
    assert output == Dahai(actor=2, pai="E", tsumogiri=True)
    assert read(type="none", actor=None) == Skip()
    assert read(type="reach_accepted", actor=0, deltas=None) == ReachAccepted(actor=0)


@pytest.mark.parametrize("key", ["uradora_markers", "ura_markers", "uradora_marker"])
def test_every_spelling_of_ura_markers(key):
    output = read(type="hora", actor=1, target=0, **{key: ["6s"]})
    assert output == Hora(actor=1, target=0, uradora_markers=("6s",))


def test_a_single_ura_marker_without_brackets():
    assert read(type="hora", actor=1, target=0, uradora_marker="6s").uradora_markers == ("6s",)


def test_the_original_servers_hora():
    output = read(
        type="hora", actor=3, target=2, pai="5pr", uradora_markers=[], hora_tehais=["2m"],
        yakus=[["akadora", 1], ["chankan", 1]], fu=40, fan=2, hora_points=2600,
        deltas=[0, 0, -2600, 2600], scores=[25000, 25000, 22400, 27600],
    )  # fmt: skip
    assert output.yakus == (("akadora", 1), ("chankan", 1))
    assert output.uradora_markers == () and output.scores == (25000, 25000, 22400, 27600)


def test_a_self_drawn_win_may_leave_out_the_target():
    assert read(type="hora", actor=2, tsumo=True).target == 2


def test_a_gateway_hora_with_scores_only_is_no_event():
    output = read(type="hora", scores=[1, 2, 3, 4])
    assert output == ScoresOnly(scores=(1, 2, 3, 4)) and not isinstance(output, Event)
    assert read(type="ryukyoku", scores=[1, 2, 3, 4]) == Ryukyoku(scores=(1, 2, 3, 4))
    with pytest.raises(LocalProtocolError, match=r"hora\.pai: TCP demands it"):
        encode(output, Dialect.TCP)


@pytest.mark.parametrize(
    ("theirs", "canonical"),
    [
        ("exhaustive_draw", "fanpai"),
        ("nagashimangan", "nagashimangan"),
        ("kyushu_kyuhai", "kyushukyuhai"),
        ("sufuurenta", "sufonrenta"),
        ("suukansansen", "sukaikan"),
        ("suucha_riichi", "suchareach"),
        ("sanchaho", "sanchaho"),
        ("Error: Illegal Action by Player 3", "error"),
        ("error", "error"),
        ("fanpai", "fanpai"),
        ("the roof fell in", "the roof fell in"),
    ],
)
def test_draw_reasons(theirs, canonical):
    assert read(type="ryukyoku", reason=theirs).reason == canonical


def test_a_bare_ryukyoku():
    assert read(type="ryukyoku") == Ryukyoku()


@pytest.mark.parametrize("kyoku", [1, 2])
def test_a_gateway_counts_kyoku_from_zero(kyoku):
    assert read(**DEAL | {"kyoku": kyoku}).kyoku == 2


def test_start_kyoku_with_or_without_scores_and_with_a_list_of_one_marker():
    assert read(**DEAL).scores is None
    output = read(**DEAL | {"scores": [1, 2, 3, 4], "dora_marker": ["5sr"]})
    assert isinstance(output, StartKyoku)
    assert output.scores == (1, 2, 3, 4) and output.dora_marker == "5sr"
    assert output.tehais[3] == ("1m",) * 13


def test_a_dora_marker_in_a_list():
    assert read(type="dora", dora_marker=["C"]) == Dora(dora_marker="C")


def test_start_game_bare_or_full():
    assert read(type="start_game") == StartGame()
    names = ["a", "b", "c", "d"]
    output = read(type="start_game", id=2, names=names, uri="x", aka_flag=True, kyoku_first=4)
    assert output == StartGame(id=2, names=tuple(names), kyoku_first=4)
    assert read(type="start_game", kyoku_first="E1") == StartGame()


def test_a_kakan_with_one_consumed_tile_is_filled_up():
    assert read(type="kakan", actor=0, pai="C", consumed=["C"]) == Kakan(
        actor=0, pai="C", consumed=("C", "C", "C")
    )
    filled = read(type="kakan", actor=0, pai="5p", consumed=["5pr"])
    assert filled.consumed == ("5p", "5p", "5pr")
    assert read(type="kakan", actor=0, pai="5pr", consumed=["5p"]).consumed == ("5p", "5p", "5p")


def test_an_ankan_may_say_its_tile_again():
    output = read(type="ankan", actor=1, pai="W", consumed=["W"] * 4)
    assert output == Ankan(actor=1, consumed=("W",) * 4)


def test_dahai_without_tsumogiri_is_from_the_hand():
    assert read(type="dahai", actor=1, pai="W") == Dahai(actor=1, pai="W", tsumogiri=False)


def test_hints_may_be_bare():
    output = read(type="tsumo", actor=0, pai="E", possible_actions=[{"type": "hora"}])
    assert output.possible_actions == (Hint(type="hora"),)


def test_request_action():
    output = read(
        type="request_action", request_id=91, observation="AAAA",
        time={"grace_ms": 3000, "bank_ms": 12000, "deadline_ms": 15000},
        possible_actions=[{"type": "chi", "pai": "3p", "consumed": ["1p", "2p"]}, {"type": "none"}],
    )  # fmt: skip
    hints = (Hint(type="chi", pai="3p", consumed=("1p", "2p")), Hint(type="none"))
    assert output == RequestAction(
        request_id=91, grace_ms=3000, bank_ms=12000, deadline_ms=15000, possible_actions=hints
    )


def test_acknowledgements_and_verdicts():
    ack = read(type="action_ack", request_id=3, status="stale", elapsed_ms=9, legal_types=["none"])
    stale = ActionAck(request_id=3, status="stale", elapsed_ms=9, legal_types=("none",))
    assert ack == stale
    assert read(type="action_ack", request_id=3, status="accepted", bank_ms="?", reason=7) == (
        ActionAck(request_id=3, status="accepted")
    )
    assert read(type="validation_result", passed=True) == ValidationResult(passed=True)
    failed = read(type="validation_result", success=False, message="chombo")
    assert failed == ValidationResult(passed=False, reason="chombo")


def test_errors_in_both_forms():
    assert read(type="error", message="no such room") == Error(message="no such room")
    assert read(error="already connected") == Error(message="already connected")
    assert read(error={"code": 4}) == Error(message='{"code":4}')
    assert read(type="error") == Error(message="no reason given")


def test_mortals_can_act():
    assert read(type="tsumo", actor=0, pai="E", can_act=False).can_act is False
    assert read(type="tsumo", actor=0, pai="E").can_act


def test_the_first_message_of_a_process_needs_no_look_into_its_type():
    """Two threads that look into one type at once can crash the process."""
    program = """
import msgspec, sys
from pathlib import Path
from mjbot.protocol.codec import decode_line
from mjbot.protocol.messages import Hora, StartGame
looked = []
home = str(Path(msgspec.__file__).parent)
sys.setprofile(lambda frame, *_: looked.append(frame.f_code.co_filename))
(start,) = decode_line('{"type":"start_game","id":0,"names":["a","b","c","d"]}')
(win,) = decode_line('{"type":"hora","scores":[1,2,3,4]}')
sys.setprofile(None)
assert isinstance(start, StartGame), start
assert not any(file.startswith(home) for file in looked)
"""
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", program], check=True, cwd=root)


@pytest.mark.parametrize("kind", ["request_action", "tsumo", "dahai", "kakan"])
def test_a_field_of_an_offer_that_cannot_be_read_is_left_out(kind):
    odd = {"type": "pon", "actor": 1, "target": -1, "pai": "0p", "consumed": "E", "reason": 3}
    fields = {"actor": 0, "pai": "E", "tsumogiri": False, "consumed": ["E", "E", "E"]}
    fields = {} if kind == "request_action" else fields
    message = read(type=kind, possible_actions=[odd, {"type": "none", "pai": None}], **fields)
    assert message.possible_actions == (Hint(type="pon", actor=1), Hint(type="none"))


GAPS = [
    ({"deltas": []}, {"deltas": None}),
    ({"deltas": [None] * 4}, {"deltas": None}),
    ({"deltas": [None, 3000, -1000, -1000]}, {"deltas": None}),
    ({"scores": []}, {"scores": None}),
    ({"tenpais": [True, None, False, False]}, {"tenpais": None}),
    ({"tehais": [["1m"], None, None, None]}, {"tehais": (("1m",), *[("?",) * 13] * 3)}),
    ({"tehais": []}, {"tehais": None}),
]


@pytest.mark.parametrize(("fields", "known"), GAPS)
def test_a_list_with_gaps_is_not_known_and_a_missing_hand_hidden(fields, known) -> None:
    message = read(type="ryukyoku", reason="fanpai", **fields)
    assert message == Ryukyoku(reason="fanpai", **known)


@pytest.mark.parametrize("name", ["deltas", "scores", "yakus", "hora_tehais", "ura_markers"])
def test_a_win_keeps_what_has_no_gap(name: str) -> None:
    fields = {"deltas": [0, 0, 0, 0], "yakus": [["reach", 1]], "hora_tehais": ["1m"]}
    message = read(type="hora", actor=0, target=1, **(fields | {name: [["x", None], None]}))
    assert getattr(message, name.replace("ura", "uradora")) is None
    assert sum(getattr(message, other) is not None for other in fields) == 3 - (name in fields)


def test_a_deal_hides_a_missing_hand() -> None:
    deal = read(**(DEAL | {"tehais": [["1m"] * 13, None, None, None]}))
    assert deal.tehais[1] == ("?",) * 13 and deal.tehais[0] == ("1m",) * 13
