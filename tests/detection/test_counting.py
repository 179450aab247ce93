"""What is counted of a game, held against its events counted by plain rules."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import mjbot
from mjbot.detection.counting import GameCounts, count_game
from mjbot.detection.detectors import (
    CHEAP_RON,
    CHI_FED,
    DEAR_RON,
    PASSED,
    PON_FED,
    UNSAFE,
    USEFUL,
    WITHHELD,
)
from mjbot.records.sources import open_games
from mjbot.training.positions import GameStep, replay_trusted
from protocol.messages import Chi, Daiminkan, Event, Hora, Pon, StartKyoku

LOGS = sorted((Path(mjbot.__file__).parents[1] / "logs").glob("*.mjson"))


def counted(log: Path) -> tuple[GameCounts, list[Event]]:
    (game,) = open_games(log)
    events: list[Event] = []

    def steps():
        for step in replay_trusted(game):
            events.append(step.event)
            yield step

    return count_game(steps()), events


@pytest.fixture(scope="module", params=LOGS, ids=lambda path: path.stem)
def game(request) -> tuple[GameCounts, list[Event]]:
    return counted(request.param)


def test_calls_and_deal_ins_are_those_of_the_record(game):
    counts, events = game
    fed = Counter((e.target, e.actor) for e in events if isinstance(e, Pon | Daiminkan))
    chi = Counter((e.target, e.actor) for e in events if isinstance(e, Chi))
    ron = Counter(
        (e.target, e.actor) for e in events if isinstance(e, Hora) and e.target != e.actor
    )
    for one in range(4):
        for other in range(4):
            hits = counts.hits[one, other]
            assert hits[PON_FED] == fed[one, other]
            assert hits[CHI_FED] == chi[one, other]
            assert hits[CHEAP_RON] + hits[DEAR_RON] == ron[one, other]


def test_nobody_does_anything_for_itself_and_no_hit_is_without_a_chance(game):
    counts, events = game
    assert not counts.hits[range(4), range(4)].any()
    calls = [PON_FED, CHI_FED]  # of a discard in riichi, too, which is no choice
    others = [place for place in range(counts.hits.shape[2]) if place not in calls]
    assert (counts.hits <= counts.chances)[:, :, others].all()
    assert counts.kyoku == sum(isinstance(event, StartKyoku) for event in events)


def test_hidden_hands_give_no_hits_that_need_them():
    (game,) = open_games(LOGS[0])
    steps = []
    for step in replay_trusted(game):
        state = step.state.copy()
        state["hand_known"] = 0
        steps.append(GameStep(0, step.event, state))
    counts = count_game(iter(steps))
    assert counts.chances[:, :, PON_FED].any()
    assert not counts.chances[:, :, [UNSAFE, PASSED, USEFUL, WITHHELD]].any()
    assert np.array_equal(counts.hits[:, :, PON_FED], counted(LOGS[0])[0].hits[:, :, PON_FED])
