"""Client and server sessions face to face: whole games of our own referee, in both spellings."""

import random
from pathlib import Path

import pytest

from mjbot.protocol.messages import Kita, StartGame
from mjbot.protocol.rules import Rules
from mjbot.protocol.tenhou.client import TenhouStage
from mjbot.protocol.tenhou.codec import Spelling
from proof.records import RecordFindings
from proof.wire import check_session
from tests.protocol.tenhou.face_to_face import (
    NAMES,
    Player,
    at_random,
    by_strategy,
    plain,
    play,
    seated,
)

THREE = Rules(players=3)
RECORDED = Path(__file__).parent / "recorded"


@pytest.mark.parametrize(
    ("spelling", "choose"), [(Spelling.XML, at_random), (Spelling.JSON, by_strategy)]
)
def test_whole_games_are_told_as_they_happened(spelling, choose):
    players = seated(spelling, seed=3, choose=choose)
    play(players, seed=3)
    for player in players:
        assert [plain(event) for event in player.events_received] == [
            plain(event) for event in player.events_sent
        ]
        assert player.client.stage is TenhouStage.OVER
        assert isinstance(player.events_received[0], StartGame)
        assert player.events_received[0].names == NAMES


@pytest.mark.parametrize("spelling", [Spelling.XML, Spelling.JSON])
@pytest.mark.parametrize("own", range(3))
def test_three_players_are_counted_by_four_wherever_we_sit(spelling, own):
    """The seat ``own`` decides by a strategy, so that whole games go to their end from each."""
    players = seated(spelling, seed=20 + own, choose=at_random, rules=THREE)
    players[own].choose = by_strategy(own)
    core = play(players, seed=20 + own, rules=THREE)
    for player in players:
        assert [plain(event) for event in player.events_received] == [
            plain(event) for event in player.events_sent
        ]
        assert player.client.stage is TenhouStage.OVER
        assert player.client.seat == player.seat
        assert player.events_received[0].names == NAMES[:3]
        assert player.mirror.state["scores"].tolist() == core.referee.state["scores"].tolist()
    assert any(isinstance(event, Kita) for event in players[own].events_received)


def test_spellings_and_strategies_sit_at_one_table():
    choices = [at_random(1), by_strategy(2), at_random(3), by_strategy(4)]
    spellings = [Spelling.XML, Spelling.JSON, Spelling.JSON, Spelling.XML]
    players = [
        Player(seat, spelling, choose, random.Random(seat), whole=False)
        for seat, (spelling, choose) in enumerate(zip(spellings, choices, strict=True))
    ]
    play(players, seed=5, rules="tonpu")
    assert {player.client.stage for player in players} == {TenhouStage.OVER}


@pytest.mark.parametrize(
    ("spelling", "choose"), [(Spelling.XML, by_strategy), (Spelling.JSON, at_random)]
)
def test_who_is_cut_off_is_back_within_the_hand_and_plays_to_the_end(spelling, choose):
    players = seated(spelling, seed=7, choose=choose, whole=False)
    rng = random.Random(7)
    cuts = 0

    def cut(say):
        nonlocal cuts
        if len(players[3].events_sent) > 2 and not say.is_final and rng.random() < 0.01:
            players[rng.randrange(4)].cut()
            cuts += 1

    play(players, seed=7, rules="tonpu", before=cut)
    assert cuts > 10
    assert sum(player.blind_answers for player in players) > cuts
    for player in players:
        assert player.client.stage is TenhouStage.OVER
        assert player.events_received[-1] == player.events_sent[-1]


def test_a_seat_that_is_gone_is_played_for_until_it_comes_back():
    players = seated(Spelling.XML, seed=11, choose=by_strategy)
    gone = players[2]

    def vanish(say):
        if len(gone.events_sent) == 30:
            gone.vanish()
        elif gone.is_gone and len(gone.events_sent) == 90:
            gone.cut()

    play(players, seed=11, rules="tonpu", before=vanish, away=2)
    assert gone.events_received[-1] == gone.events_sent[-1]
    assert gone.client.stage is TenhouStage.OVER


@pytest.mark.parametrize("name", ["calls.log", "riichi.log"])
def test_own_recorded_sessions_pass_what_tenhous_own_do(name):
    findings = RecordFindings()
    check_session((RECORDED / name).read_text(encoding="utf-8"), name, findings)
    assert findings.mismatches == []
    checked = findings.checked
    assert checked["answers, byte for byte"] > 100
    assert checked["offers"] > 200
    assert not any(count for what, count in checked.items() if what.startswith("owed but not"))
    assert not any(count for what, count in checked.items() if what.startswith("said though not"))


@pytest.mark.parametrize(
    ("name", "choose", "seed"), [("calls.log", at_random, 2), ("riichi.log", by_strategy, 3)]
)
def test_the_recorded_sessions_are_what_is_said_today(name, choose, seed):
    players = seated(Spelling.XML, seed, choose)
    play(players, seed, rules="tonpu")
    assert "\n".join(players[0].traffic) + "\n" == (RECORDED / name).read_text(encoding="utf-8")
