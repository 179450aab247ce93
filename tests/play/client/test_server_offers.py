import msgspec
import pytest

from mjbot.play.client.server_offers import disagreement, discard_disagreement, fits
from mjbot.protocol.messages import (
    Ankan,
    Chi,
    Dahai,
    Daiminkan,
    Hint,
    Hora,
    Kakan,
    Pon,
    Reach,
    Ryukyoku,
    Skip,
    hint,
    wire_name,
)

CHI = Chi(actor=1, target=0, pai="4p", consumed=("5pr", "6p"))
OWN_TURN = [Dahai(actor=1, pai="E", tsumogiri=True), Reach(actor=1), Hora(actor=1, target=1)]


@pytest.mark.parametrize(
    "output",
    [
        hint(CHI),
        Hint(type="chi"),
        Hint(type="chi", consumed=("6p", "5pr")),
        Hint(type="chi", actor=1, target=0, pai="4p"),
    ],
)
def test_a_hint_may_leave_anything_out(output):
    assert fits(output, CHI)


@pytest.mark.parametrize(
    "output",
    [
        Hint(type="pon"),
        Hint(type="chi", consumed=("5p", "6p")),
        Hint(type="chi", pai="7p"),
        Hint(type="chi", actor=2),
        Hint(type="chi", target=3),
    ],
)
def test_but_what_it_says_must_be_true(output):
    assert not fits(output, CHI)


def test_an_ankan_may_name_its_tile_and_a_draw_its_reason():
    assert fits(Hint(type="ankan", pai="E"), Ankan(actor=0, consumed=("E",) * 4))
    assert fits(Hint(type="ryukyoku", reason="kyushu_kyuhai"), Ryukyoku(actor=0, reason="x"))


ALL_KINDS = [
    Skip(),
    Dahai(actor=1, pai="5pr", tsumogiri=False),
    CHI,
    Pon(actor=1, target=3, pai="5p", consumed=("5p", "5pr")),
    Daiminkan(actor=1, target=3, pai="5p", consumed=("5p", "5p", "5pr")),
    Kakan(actor=1, pai="5p", consumed=("5p", "5p", "5pr")),
    Ankan(actor=1, consumed=("5p", "5p", "5p", "5pr")),
    Reach(actor=1),
    Hora(actor=1, target=1, pai="E"),
    Hora(actor=1, target=3, pai="E"),
    Ryukyoku(actor=1, reason="kyushukyuhai"),
]


@pytest.mark.parametrize("action", ALL_KINDS, ids=lambda action: type(action).__name__)
def test_a_field_more_or_less_is_the_same_offer(action):
    whole = {"type": wire_name(action), "actor": 1} | msgspec.to_builtins(action)
    named = {"dahai": "pai", "chi": "consumed", "pon": "consumed", "ankan": "consumed"}
    kept = {"type", named.get(whole["type"], "type")}
    if isinstance(action, Skip):
        whole |= {"pai": "E", "target": 3}
    for field in [*whole.keys() - kept, None]:
        less = {name: value for name, value in whole.items() if name != field}
        for more in ({}, {"tsumogiri": True, "reason": "x", "comment": 1}):
            assert fits(msgspec.convert(more | less, Hint), action), (field, more)
    assert not fits(msgspec.convert(whole | {"type": "kita"}, Hint), action)


def test_a_kan_is_known_by_its_kind():
    ankan, kakan = ALL_KINDS[6], ALL_KINDS[5]
    assert fits(Hint(type="ankan", pai="5pr", consumed=("5pr", "5p", "5p", "5p")), ankan)
    assert fits(Hint(type="kakan", pai="5pr", consumed=("5p",)), kakan)
    assert not fits(Hint(type="ankan", consumed=("6p",) * 4), ankan)
    assert not fits(Hint(type="kakan", pai="6p"), kakan)


def test_agreement_with_a_list_without_discards():
    assert disagreement([Hint(type="hora"), Hint(type="reach")], OWN_TURN, complete=False) is None
    assert disagreement([], [Skip()], complete=False) is None


def test_agreement_with_a_complete_list_that_repeats_itself():
    offered = [Hint(type="dahai", pai="E"), Hint(type="dahai", pai="E"), Hint(type="hora")]
    assert disagreement([*offered, Hint(type="reach")], OWN_TURN, complete=True) is None


def test_what_the_server_offers_beyond_ours_is_quoted():
    problem = disagreement([Hint(type="pon", pai="E")], [Skip()], complete=False)
    assert problem == (
        'the server offers {"type":"pon","pai":"E"}, which our rules do not allow;'
        " offered by the server: pon E; by our rules: none"
    )


def test_what_the_server_does_not_offer_is_quoted():
    problem = disagreement([Hint(type="reach")], OWN_TURN, complete=False)
    ours = '{"type":"hora","actor":1,"target":1}'
    assert problem == (
        f"our rules allow {ours}, which the server does not offer;"
        " offered by the server: reach; by our rules: reach, hora"
    )
    assert "dahai" in disagreement([Hint(type="hora")], OWN_TURN[:1] + OWN_TURN[2:], complete=True)


def test_red_and_plain_fives_are_different_offers():
    plain = Pon(actor=1, target=0, pai="5p", consumed=("5p", "5p"))
    red = Pon(actor=1, target=0, pai="5p", consumed=("5p", "5pr"))
    assert disagreement([hint(plain), hint(red)], [red, plain], complete=False) is None
    assert "5pr" in disagreement([hint(plain)], [red, plain], complete=False)


def test_forbidden_discards():
    held = ["1m", "4m", "4m", "E"]
    assert discard_disagreement(["4m", "9s"], held, ["1m", "E"]) is None
    assert discard_disagreement(["E"], held, ["1m", "4m", "E"]) == (
        "the server forbids to discard E, which our rules allow;"
        " forbidden by the server: E; allowed by our rules: 1m, 4m, E"
    )
    assert "allows to discard 4m" in discard_disagreement([], held, ["1m", "E"])
