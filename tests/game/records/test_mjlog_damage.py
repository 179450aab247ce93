import re

import pytest

from mjbot.game.records.game import IncompleteGameError, RecordError
from mjbot.game.records.mjlog import read_mjlog
from mjbot.protocol.messages import Message
from tests.game.records import conftest

SCORES = 'ba="0,0" sc="250,0,250,0,250,0,250,0"'


WIN = (
    f'<AGARI {SCORES} ten="30,1000,0" doraHai="2" who="0" fromWho="0" '
    'hai="0,8" machi="0" yaku="1,1"/>'
)


def _deal(seed: str) -> str:
    return conftest.deal(seed=seed)


def events_of(document: bytes) -> list[Message]:
    return [entry.event for entry in read_mjlog(document, "game")]


def test_every_cut_is_noticed(tenhou) -> None:
    whole = tenhou.mjlog(tenhou.deal(), "T60", "D60", tenhou.OVER)
    for length in range(len(whole)):
        with pytest.raises(RecordError, match="game"):
            events_of(whole[:length])
    assert events_of(whole)


@pytest.mark.parametrize(
    ("tags", "problem"),
    [
        (("T60",), "tag 4: <T60> outside a hand"),
        (("DEAL", "T136", "OVER"), "tag 5: T136: names a tile outside 0..135"),
        (("DEAL", "X5", "OVER"), "tag 5: X5: no such tag"),
        (("DEAL", "T60"), "tag 5: the record ends inside a hand"),
        (("DEAL", "T60", "DEAL"), "tag 6: a hand begins before the one before it has ended"),
        (("DEAL", "OVER", "T60"), "tag 6: <T60> outside a hand"),
        (("DEAL", '<N who="1"/>'), "tag 5: N.m: missing"),
        (("DEAL", '<N who="7" m="1"/>'), "tag 5: N.who: expected int <= 3"),
        (("DEAL", '<N who="1" m="x"/>'), "tag 5: N.m: expected int, got 'x'"),
        (("DEAL", "T0", "D0", '<N who="2" m="769"/>'), "which has not discarded"),
        (("DEAL", "T0", '<N who="1" m="30752"/>'), "tag 6: N.m: call code 30752 is a north call"),
        (("DEAL", '<REACH who="1" step="3"/>'), "REACH.step: expected int <= 2, got '3'"),
        (("DEAL", '<DORA hai="200"/>'), "DORA.hai: expected int <= 135, got '200'"),
        (("DEAL", f'<RYUUKYOKU type="odd" {SCORES}/>'), "RYUUKYOKU.type: 'odd' is no kind of draw"),
        (("DEAL", f'<RYUUKYOKU type="yao9" {SCORES}/>'), "no seat has just drawn"),
        (("DEAL", '<RYUUKYOKU ba="0,0" sc="1,2"/>'), "RYUUKYOKU.sc: expected list of length >= 8"),
        (("DEAL", f'<RYUUKYOKU {SCORES} owari="a,b"/>'), "RYUUKYOKU.owari: 'a,b' is no"),
        (('<INIT seed="0,0,0,1,2,132" ten="250,250,250,250"/>',), "tag 4: INIT."),
        ((_deal("1,0,0,1,2,132"),), "INIT.oya: 0 does not deal hand 1"),
        ((_deal("16,0,0,1,2,132"),), "INIT.seed: expected int <= 15"),
        ((_deal("0,70000,0,1,2,132"),), "INIT.seed: expected int <= 10000"),
        ((_deal("0,0,70000,1,2,132"),), "INIT.seed: expected int <= 10000"),
        (("WIN",), "<AGARI> before the first <INIT>"),
        (
            ("DEAL", '<RYUUKYOKU ba="0,0" sc="99999999,0,0,0,0,0,0,0"/>'),
            "RYUUKYOKU.sc: expected int <= 10000000",
        ),
        (("DEAL", f'<RYUUKYOKU {SCORES} owari="99999999,0,0,0,0,0,0,0"/>'), "no final result"),
        ((), "the record holds no hand"),
    ],
)
def test_damage_is_named_with_its_tag(tenhou, tags: tuple[str, ...], problem: str) -> None:
    known = {"DEAL": tenhou.deal(), "OVER": tenhou.OVER, "WIN": WIN}
    document = tenhou.mjlog(*(known.get(tag, tag) for tag in tags))
    with pytest.raises(RecordError, match=re.escape(problem)) as caught:
        events_of(document)
    assert str(caught.value).startswith("game: ")


@pytest.mark.parametrize(
    ("attributes", "problem"),
    [
        ('yaku="1,1"', "AGARI.hai: missing"),
        ('hai="4,8" machi="0" yaku="1,1"', "AGARI.machi: 0 is not among its hai"),
        ('hai="0,8" machi="0"', "AGARI.yaku: needs pairs"),
        ('hai="0,8" machi="0" yaku="1,1,7"', "AGARI.yaku: needs pairs"),
        ('hai="0,8" machi="0" yaku="60,1"', "AGARI.yaku: yaku 60 is unknown"),
        ('hai="0,8" machi="0" yakuman="7"', "AGARI.yakuman: yakuman 7 is unknown"),
    ],
)
def test_damaged_wins(tenhou, attributes: str, problem: str) -> None:
    rest = f'{SCORES} ten="30,1000,0" doraHai="2" who="0" fromWho="0"'
    document = tenhou.mjlog(tenhou.deal(), "T0", f"<AGARI {rest} {attributes}/>")
    with pytest.raises(RecordError, match=problem):
        events_of(document)


def test_a_fourth_hand_among_three_players_is_damage(tenhou) -> None:
    with pytest.raises(RecordError, match=r"INIT.hai3: 13 tiles in a game of 3 players"):
        events_of(tenhou.mjlog(tenhou.deal(), tenhou.OVER, rules=169 | 16))


def test_rules_that_are_not_played_here_are_named(tenhou) -> None:
    rules, what = 1 | 0x200, "of parlour rules"
    with pytest.raises(IncompleteGameError) as refused:
        events_of(tenhou.mjlog(tenhou.deal(), tenhou.OVER, rules=rules))
    assert str(refused.value) == f"game: tag 1: GO.type: {rules} is a table {what}, not played here"


def test_other_documents_are_refused() -> None:
    with pytest.raises(RecordError, match="begins with <html>, not with <mjloggm>"):
        events_of(b"<html><T60/></html>")
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaa">]><mjloggm/>'
    with pytest.raises(RecordError, match="document type"):
        events_of(bomb)
