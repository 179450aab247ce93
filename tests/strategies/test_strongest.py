"""What the strongest player makes of the network's shares and of points."""

import math

import numpy as np
import pytest

from mjbot.records.choices import steps
from mjbot.strategy.registry import make_strategy
from mjbot.table.view import Sealed, View
from protocol.tiles import N_KINDS, tile_kind
from strategies.strongest import LEAST_SHARE, TEMPERATURE
from tests.strategies.test_terms import LOG

POINTS = 0.3


def decisions():
    """Yield views of the record's choices; each is good until the next."""
    sealed = Sealed()
    for step in steps(LOG):
        for seat in range(4):
            if step.choices(seat):
                yield sealed.view(View(step.table.state, seat))


@pytest.fixture(scope="module")
def bots():
    found = {points: make_strategy("strongest", {"points": points}) for points in ("0", "0.3")}
    return make_strategy("supervised"), found["0"], found["0.3"]


def test_without_points_it_is_supervised(bots):
    supervised, without, _ = bots
    n = 0
    for view in decisions():
        n += 1
        assert without.decide(view) == supervised.decide(view)
    assert n > 200


def test_every_share_is_multiplied_by_what_points_say(bots):
    supervised, _, weighed = bots
    moved = changed = 0
    for view in decisions():
        before, after = supervised.opinion(view), weighed.opinion(view)
        if before is None or not view.discards or (before.discards == after.discards).all():
            continue
        silent, _ = weighed._reckoner.worths(view)
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
    assert moved > 20
    assert changed > 0


def test_riichi_and_calls_become_likelier_by_what_they_gain(bots):
    supervised, _, weighed = bots
    n = 0
    for view in decisions():
        before, after = supervised.opinion(view), weighed.opinion(view)
        if before is None or view.discards:
            continue
        worths, passed = weighed._reckoner.call_worths(view)
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
    assert n > 3


def test_a_riichi_that_gains_is_likelier(bots, position):
    supervised, _, weighed = bots
    view = position("234m567m22p678p45s", drawn="3z", wall_left=40)
    before, after = (bot.opinion(view).riichi for bot in (supervised, weighed))
    silent, declared = weighed._reckoner.worths(view)
    if 0.02 < before < 0.98:
        assert (after > before) == (declared.max() > silent.max())
    else:
        assert after == before
