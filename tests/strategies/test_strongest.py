"""What the strongest player makes of the network's shares and of points."""

import math

import numpy as np
import pytest

from mjbot.learning.playouts.override import LEAST_WORLDS, MARGIN, Z, playouts_within
from mjbot.protocol.tiles import N_KINDS, tile_kind
from mjbot.strategies.strongest import LEAST_SHARE, MOST_TO_SEARCH, PLAYED_ON, TEMPERATURE
from mjbot.strategy.registry import make_strategy
from tests.strategies.test_terms import decisions

POINTS = 0.3


@pytest.fixture(scope="module")
def bots():
    found = {points: make_strategy("strongest", {"points": points}) for points in ("0", "0.3")}
    return make_strategy("supervised"), found["0"], found["0.3"]


def test_without_points_it_is_supervised(bots):
    supervised, without, _ = bots
    n = 0
    for view in decisions(3):
        n += 1
        assert without.decide(view) == supervised.decide(view)
    assert n > 60


def test_every_share_is_multiplied_by_what_points_say(bots):
    supervised, _, weighed = bots
    moved = changed = 0
    for view in decisions(3):
        before, after = supervised.opinion(view), weighed.opinion(view)
        if before is None or not view.discards or (before.discards == after.discards).all():
            continue
        silent, _ = weighed._evaluator.discard_values(view)
        worths = {}
        for action in view.discards:
            kind = tile_kind(action.tile)
            worths[kind] = max(worths.get(kind, -math.inf), silent[action.tile])
        kinds = [kind for kind in worths if before.discards[kind] >= LEAST_SHARE]
        nats = [POINTS * (worths[kind] - worths[kinds[0]]) / TEMPERATURE for kind in kinds]
        expected = before.discards[kinds] * np.exp(nats)
        assert after.discards[kinds] == pytest.approx(expected / expected.sum(), rel=1e-4)
        assert after.discards.sum() == pytest.approx(1, rel=1e-4)
        assert (after.discards[[k for k in range(N_KINDS) if k not in kinds]] == 0).all()
        moved += 1
        changed += before.discards.argmax() != after.discards.argmax()
    assert moved > 8
    assert changed > 0


def test_riichi_and_calls_become_likelier_by_what_they_gain(bots):
    supervised, _, weighed = bots
    n = 0
    for view in decisions(3):
        before, after = supervised.opinion(view), weighed.opinion(view)
        if before is None or view.discards:
            continue
        worths, passed = weighed._evaluator.call_values(view)
        for name, chances in (
            ("pon", (before.pon, after.pon)),
            ("chi", (before.chi.sum(), after.chi.sum())),
        ):
            gains = [worth - passed for call, worth in worths if call.name == name]
            if gains and chances[0] != chances[1]:
                odds = [math.log(chance / (1 - chance)) for chance in chances]
                nats = POINTS * max(gains) / TEMPERATURE
                assert odds[1] - odds[0] == pytest.approx(nats, abs=1e-3)
                n += 1
    assert n > 1


def test_a_riichi_that_gains_is_likelier(bots, position):
    supervised, _, weighed = bots
    view = position("234m567m22p678p45s", drawn="3z", wall_left=40)
    before, after = (bot.opinion(view).riichi for bot in (supervised, weighed))
    silent, declared = weighed._evaluator.discard_values(view)
    if 0.02 < before < 0.98:
        assert (after > before) == (declared.max() > silent.max())
    else:
        assert after == before


@pytest.mark.parametrize("part", ["fine_danger", "hand_quality", "placement"])
def test_a_part_switched_off_is_out_of_the_points(part):
    whole, without = make_strategy("strongest"), make_strategy("strongest", {part: "no"})
    evaluator = make_strategy("fold-recognition-plus", {part: "no"})
    changed = 0
    for view in decisions(3):
        said, less = whole.opinion(view), without.opinion(view)
        if said is None or not view.discards:
            continue
        changed += (said.discards != less.discards).any()
        assert np.array_equal(
            without._evaluator.discard_values(view), evaluator.discard_values(view)
        )
    assert changed > 8


def test_riichi_and_calls_may_be_left_to_the_network(bots):
    supervised, weighed = bots[0], make_strategy("strongest", {"riichi_and_calls": "no"})
    moved = 0
    for view in decisions(3):
        before, after = supervised.opinion(view), weighed.opinion(view)
        if before is None:
            continue
        moved += (before.discards != after.discards).any()
        for chance, same in zip(before, after, strict=True):
            assert chance is before.discards or np.array_equal(chance, same)
    assert moved > 8


def test_another_choice_is_taken_only_where_it_gains_more_than_the_margin(bots):
    without, search = bots[2], make_strategy("strongest", {"points": "0.3", "budget_ms": "60"})
    searched = changed = 0
    for view in decisions(3):
        before, after = without.decide(view), search.decide(view)
        said = without.opinion(view)
        actions = [] if said is None or before.is_win else without.candidates(view, said, before)
        if len(actions) < 2:
            assert before == after
            continue
        assert actions[0] == before and len(actions) <= MOST_TO_SEARCH
        gains = search._gains(view, actions)
        if searched % 4 == 0:  # plays on once more
            terms = {
                rated.action: rated.term(PLAYED_ON).value
                for rated in search.ratings(view)
                if rated.term(PLAYED_ON)
            }
            assert terms == {a: gain.ranks for a, gain in zip(actions, gains, strict=True)}
        best = gains[actions.index(after)]
        assert after == before or (best.ranks > MARGIN and best.ranks > Z * best.error)
        searched += 1
        changed += after != before
    assert searched > 10
    assert 0 < changed < searched / 3


def test_riichi_and_calls_are_searched(bots):
    names = set()
    for view in decisions(1):
        said = bots[2].opinion(view)
        choice = bots[2].decide(view)
        if said is not None and not choice.is_win:
            actions = bots[2].candidates(view, said, choice)
            names |= {action.name for action in actions} if len(actions) > 1 else set()
            kinds = [(a.name, tile_kind(a.tile) if a.is_discard else a.code) for a in actions]
            assert len(set(kinds)) == len(kinds)
    assert {"discard", "riichi", "pon", "pass"} <= names


def played_on(bots, search, every):
    """Yield the decisions in which more than one action is played on, and these."""
    for view in decisions(every):
        output, choice = search.opinion(view), bots[2].decide(view)
        actions = [] if output is None or choice.is_win else search.candidates(view, output, choice)
        if len(actions) > 1:
            yield view, actions


def test_a_tables_clock_bounds_the_budget(bots):
    search = make_strategy("strongest", {"budget_ms": "200"})
    free = bound = 0
    for view, actions in played_on(bots, search, 16):
        free += search._gains(view, actions)[0].worlds
        vars(view)["time_left_ms"] = 40.0
        bound += search._gains(view, actions)[0].worlds
    assert 0 < bound < free / 2


def test_a_plan_that_cannot_gain_is_dropped_and_the_budget_is_kept(bots):
    search = make_strategy("strongest", {"budget_ms": "150"})
    dropped = 0
    for view, actions in played_on(bots, search, 5):
        worlds = [gain.worlds for gain in search._gains(view, actions)]
        least = LEAST_WORLDS * len(actions)
        assert sum(worlds) <= max(playouts_within(150, view.wall_left), least)
        dropped += min(worlds) < worlds[0]
    assert dropped
