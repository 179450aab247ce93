"""Event by event: what the AI is told, and what its answers become."""

import json
import subprocess
from pathlib import Path

import pytest

import mjbot.play.match

HERE = Path(__file__).parent
TRANSLATOR = Path(mjbot.play.match.__file__).with_name("translator.js")
HIDDEN = ["?"] * 13
HAND = ["1m", "2m", "5mr", "5m", "5m", "4p", "5p", "6p", "E", "E", "P", "P", "P"]
PASS = {"type": "none"}


@pytest.fixture
def drive(node, packages):
    def run(lines):
        text = "\n".join(json.dumps(line) for line in lines)
        command = [node, str(HERE / "drive_translator.js"), str(TRANSLATOR), str(packages)]
        done = subprocess.run(
            command, input=text, capture_output=True, text=True, timeout=300, check=True
        )
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run


def deal(seat=1, hand=HAND, **fields):
    tehais = [HIDDEN] * 4
    tehais[seat] = hand
    start = {
        "type": "start_kyoku", "bakaze": "E", "kyoku": 1, "honba": 0, "kyotaku": 0, "oya": 0,
        "dora_marker": "9s", "tehais": tehais,
    }  # fmt: skip
    return [
        {"event": {"type": "start_game", "id": seat, "names": list("abcd")}, "answer": None},
        {"event": start | fields, "answer": None},
    ]


def output(event, answer=None):
    return {"event": event, "answer": answer}


def own_draw(pai, answer, **fields):
    return output({"type": "tsumo", "actor": 1, "pai": pai, **fields}, answer)


def discard(actor, pai, answer=None, tsumogiri=True, **fields):
    event = {"type": "dahai", "actor": actor, "pai": pai, "tsumogiri": tsumogiri, **fields}
    return output(event, answer)


def test_the_deal_is_told_by_seat_wind(drive):
    last = drive(deal(oya=2, kyoku=3, bakaze="S", honba=1, kyotaku=2, scores=[1, 2, 3, 99994]))[-1]
    kaiju, qipai = (message for message in last["told"])
    assert kaiju["kaiju"]["id"] == 1
    assert kaiju["kaiju"]["qijia"] == 0
    assert qipai["qipai"] == {
        "zhuangfeng": 1, "jushu": 2, "changbang": 1, "lizhibang": 2, "baopai": "s9",
        "defen": [3, 99994, 1, 2],
        "shoupai": ["", "", "", "m1m2m0m5m5p4p5p6z1z1z5z5z5"],
    }  # fmt: skip


def test_scores_are_kept_where_the_deal_has_none(drive):
    result = {"type": "hora", "actor": 0, "target": 1, "pai": "E", "scores": [5, 6, 7, 8]}
    answers = drive([*deal(), output(result), deal()[1]])
    assert answers[-1]["told"][-1]["qipai"]["defen"] == [5, 6, 7, 8]


def test_hidden_draws_and_draws_after_a_kan(drive):
    kan = {"type": "ankan", "actor": 2, "consumed": ["9p"] * 4}
    dora = {"type": "dora", "dora_marker": "5sr"}
    draws = {"type": "tsumo", "actor": 2, "pai": "?"}
    report = [
        line["told"] for line in drive([*deal(), *map(output, [draws, kan, dora, draws])])[2:]
    ]
    assert report == [
        [{"zimo": {"l": 2, "p": ""}}],
        [{"gang": {"l": 2, "m": "p9999"}}],
        [{"kaigang": {"baopai": "s0"}}],
        [{"gangzimo": {"l": 2, "p": ""}}],
    ]


def test_a_riichi_is_held_back_and_marks_the_discard(drive):
    riichi = output({"type": "reach", "actor": 3})
    answers = drive([*deal(), riichi, discard(3, "7s", tsumogiri=False)])
    assert answers[-2]["told"] == []
    assert answers[-1]["told"] == [{"dapai": {"l": 3, "p": "s7*"}}]


def test_our_riichi_comes_in_two_steps(drive):
    riichi = output({"type": "reach", "actor": 1, "cannot_dahai": []})
    answers = drive([*deal(), own_draw("E", {"dapai": "p4*"}), riichi])
    assert answers[-2]["reply"] == {"type": "reach", "actor": 1}
    assert answers[-1]["reply"] == {"type": "dahai", "actor": 1, "pai": "4p", "tsumogiri": False}


@pytest.mark.parametrize(
    ("drawn", "answer", "pai", "tsumogiri"),
    [
        ("9m", "m9_", "9m", True),
        ("9m", "m1", "1m", False),
        ("E", "z1", "E", False),
        ("E", "z1_", "E", True),
        ("5p", "p5", "5p", False),
        ("5pr", "p0_", "5pr", True),
        # The AI counts a red five among the fives and so offers the drawn one "from the hand".
        ("5s", "s5", "5s", True),
    ],
)
def test_tsumogiri_is_what_the_hand_says(drive, drawn, answer, pai, tsumogiri):
    reply = drive([*deal(), own_draw(drawn, {"dapai": answer})])[-1]["reply"]
    assert reply == {"type": "dahai", "actor": 1, "pai": pai, "tsumogiri": tsumogiri}


@pytest.mark.parametrize(
    ("actor", "tile", "meld", "reply"),
    [
        (0, "3m", "m12-3", None),
        (0, "3m", "m123-", {"type": "chi", "pai": "3m", "consumed": ["1m", "2m"]}),
        (0, "4m", "m4-06", {"type": "chi", "pai": "4m", "consumed": ["5mr", "6m"]}),
        (2, "5m", "m505+", {"type": "pon", "pai": "5m", "consumed": ["5m", "5mr"]}),
        (3, "5mr", "m550=", {"type": "pon", "pai": "5mr", "consumed": ["5m", "5m"]}),
        (0, "P", "z5555-", {"type": "daiminkan", "pai": "P", "consumed": ["P", "P", "P"]}),
        (3, "E", "z111=", {"type": "pon", "pai": "E", "consumed": ["E", "E"]}),
    ],
)
def test_calls_name_the_tiles_from_the_hand(drive, actor, tile, meld, reply):
    offers = [] if reply is None else [{**reply, "actor": 1, "target": actor}]
    line = discard(actor, tile, {"fulou": meld}, possible_actions=offers)
    last = drive([*deal(), line])[-1]
    if reply is None:  # not offered: passed over, with a word about it
        assert last["reply"] == PASS
        assert len(last["warnings"]) == 1
    else:
        assert last["reply"] == {**reply, "actor": 1, "target": actor}


@pytest.mark.parametrize(
    ("event", "meld"),
    [
        ({"type": "chi", "actor": 2, "target": 1, "pai": "6s", "consumed": ["5sr", "7s"]}, "s06-7"),
        ({"type": "pon", "actor": 2, "target": 3, "pai": "5p", "consumed": ["5pr", "5p"]}, "p505+"),
        ({"type": "pon", "actor": 3, "target": 1, "pai": "5pr", "consumed": ["5p", "5p"]}, "p550="),
        (
            {"type": "daiminkan", "actor": 0, "target": 3, "pai": "5s",
             "consumed": ["5s", "5sr", "5s"]},
            "s5505-",
        ),
        ({"type": "ankan", "actor": 0, "consumed": ["5m", "5m", "5m", "5mr"]}, "m5550"),
    ],
)  # fmt: skip
def test_melds_are_spelled_canonically(drive, event, meld):
    before = [discard(event["target"], event["pai"])] if "target" in event else []
    (report,) = drive([*deal(seat=1, hand=["9s"] * 13), *before, output(event)])[-1]["told"]
    assert next(iter(report.values())) == {"l": event["actor"], "m": meld}


def test_an_added_kan_extends_the_very_pon(drive):
    pon = {"type": "pon", "actor": 2, "target": 0, "pai": "5p", "consumed": ["5p", "5pr"]}
    kakan = {"type": "kakan", "actor": 2, "pai": "5p", "consumed": ["5p", "5p", "5pr"]}
    answers = drive([*deal(), discard(0, "5p"), output(pon), output(kakan, {"hule": "-"})])
    assert answers[-1]["told"] == [{"gang": {"l": 2, "m": "p505=5"}}]
    assert answers[-1]["reply"] == {"type": "hora", "actor": 1, "target": 2, "pai": "5p"}


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        ({"hule": "-"}, {"type": "hora", "actor": 1, "target": 1, "pai": "5m"}),
        ({"daopai": "-"}, {"type": "ryukyoku", "actor": 1, "reason": "kyushukyuhai"}),
        ({"gang": "m5550"}, {"type": "ankan", "actor": 1, "consumed": ["5m", "5m", "5m", "5mr"]}),
        (
            {"gang": "z111+1"},
            {"type": "kakan", "actor": 1, "pai": "E", "consumed": ["E", "E", "E"]},
        ),
        (
            {"gang": "m550-5"},
            {"type": "kakan", "actor": 1, "pai": "5m", "consumed": ["5m", "5m", "5mr"]},
        ),
    ],
)
def test_wins_draws_and_kans_on_our_own_tile(drive, answer, reply):
    assert drive([*deal(), own_draw("5m", answer)])[-1]["reply"] == reply


def test_the_next_discard_after_a_call_may_not_be_barred(drive):
    pon = {"type": "pon", "actor": 1, "target": 0, "pai": "E", "consumed": ["E", "E"]}
    line = output(pon | {"cannot_dahai": ["P"]}, {"dapai": "z5"})
    reply = drive([*deal(), discard(0, "E"), line])[-1]["reply"]
    assert reply == {"type": "dahai", "actor": 1, "pai": "6p", "tsumogiri": False}


def test_a_failing_ai_plays_safe_until_the_next_deal(drive):
    broken = {"type": "kakan", "actor": 3, "pai": "9p", "consumed": ["9p"] * 3}  # no such pon
    lines = [
        *deal(),
        output(broken),
        own_draw("7s", {"dapai": "m1"}),
        discard(0, "E", {"hule": "-"}),
    ]
    answers = drive([*lines, deal()[1], own_draw("7s", {"dapai": "m1"})])
    assert len(answers[2]["warnings"]) == 1
    assert answers[3]["reply"]["pai"] == "7s"
    assert answers[4]["reply"] == PASS
    assert answers[6]["reply"]["pai"] == "1m"
