"""A bot that dies, a channel that breaks: a few of the games of ``proof pair-failures``."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from mjbot.play.match.player_processes import log_file
from mjbot.runtime.system import HAS_UNIX_SOCKETS
from mjbot.strategy.registry import Spec
from proof import pair_failures, pair_trials
from proof.channel_relay import ChannelRelay
from proof.pair_trials import PairTrial

BOTS = Path(__file__).with_name("pair_bots.py")
RIVAL = f"external:{sys.executable} {BOTS.parents[1] / 'match' / 'raw_player.py'} play"
ROLES = (Spec.read(f"{BOTS}:Talker"), Spec.read(f"{BOTS}:Listener"))


@pytest.mark.skipif(not HAS_UNIX_SOCKETS, reason="no Unix domain sockets here")
def test_every_game_ends_by_the_rules_whatever_breaks(short_games, tmp_path):
    moments = {"kill top": 40, "kill partner": 35, "cut": 30}
    trials = [
        PairTrial(number, kind, event, 1.0) for number, (kind, event) in enumerate(moments.items())
    ]
    table = pair_failures.AtTable(ROLES, (RIVAL, RIVAL), seed=1)
    asyncio.run(pair_failures.play(trials, table, tmp_path))
    played = pair_trials.read(tmp_path / pair_trials.RESULTS)
    assert [trial.kind for trial in played] == list(moments)
    assert [trial.problems for trial in played] == [[]] * len(moments)
    assert all(trial.decisions_ms and trial.kyoku for trial in played)
    assert all(trial.linked == [0, 1] for trial in played)


def test_the_plan_is_the_same_every_time_and_holds_every_kind():
    trials = pair_trials.plan(200, 30, 2017)
    assert trials == pair_trials.plan(200, 30, 2017)
    assert len(trials) == 230
    assert {trial.kind for trial in trials[:200]} == set(pair_trials.FAILURES)
    assert {trial.kind for trial in trials[200:]} == set(pair_trials.DELAYS)
    assert len({trial.event for trial in trials}) > 100


def test_what_was_not_said_or_should_not_have_been_is_a_problem():
    fine = "pair channel: the partner is gone; playing alone until it is back"
    trial = PairTrial(0, "kill top", 1, 0.0, linked=[1], notes=["player 1: killed by SIGKILL"])
    words = {0: "", 1: fine, 2: "", 3: ""}
    assert not list(pair_trials.problems_in_output(trial, words))
    assert list(pair_trials.problems_in_output(trial, {**words, 1: ""}))
    assert list(pair_trials.problems_in_output(trial, {**words, 3: "Traceback (most recent"}))
    trial.notes.clear()
    assert list(pair_trials.problems_in_output(trial, words)) == ["no player logged the death"]


def test_results_are_read_back_and_reported(tmp_path):
    file = tmp_path / "trials.jsonl"
    good = {"number": 0, "kind": "cut", "event": 3, "delay_ms": 1.0, "decisions_ms": [1.0, 9.0]}
    bad = {**good, "number": 1, "problems": ["hang"]}
    file.write_text("".join(json.dumps(row) + "\n" for row in (good, bad)))
    lines = list(pair_trials.report(pair_trials.read(file)))
    assert lines[0].startswith("cut: 1 of 2 games ended by the rules; 4 decisions")
    assert lines[1] == "trial 1 (cut, event 3): hang"


def test_what_an_earlier_process_logged_is_no_sign_of_a_link(tmp_path):
    async def is_linked_after_each_start():
        relay = ChannelRelay(tmp_path / "front", tmp_path / "back")
        trial = PairTrial(0, "cut", 1, 0.0)
        trials = pair_failures._Trials([trial], pair_failures.AtTable(), tmp_path, relay)
        output = log_file(tmp_path, 0)
        output.touch()
        trials._on_start(0, pid=1)
        output.write_text(f"pair channel: {pair_trials.THERE}\n")
        linked = trials._is_linked(0)
        trials._on_start(0, pid=2)
        return linked, trials._is_linked(0)

    assert asyncio.run(is_linked_after_each_start()) == (True, False)
