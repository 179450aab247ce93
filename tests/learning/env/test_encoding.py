"""What the environment shows is what records of the same game and a seat's own mirror give."""

import numpy as np
import pytest

from mjbot.game.referee import Referee
from mjbot.game.table.mirror.mirror import Mirror
from mjbot.learning.env import BatchEnv
from mjbot.learning.env.actions import N_ACTIONS
from mjbot.learning.models.networks.encoding import N_PLANES, N_SCALARS, encode, new_encoder
from mjbot.learning.training.networks.decisions import decisions_of
from mjbot.learning.training.positions import GameStep
from mjbot.protocol.masking import masked
from mjbot.strategy.registry import make_strategy

SEED = 21
PLAYERS = ["fast-riichi-d"] * 4
ENCODER = new_encoder()


def moment(state, seat):
    fields = ("round", "honba", "n_discards", "wall_left", "phase", "turn")
    melds = state["n_melds"].tolist()
    return (seat, *(int(state[field]) for field in fields), *melds)


def encoded(state, seat):
    planes, scalars = np.zeros((34, N_PLANES), np.float32), np.zeros(N_SCALARS, np.float32)
    n_codes = encode(state, seat, ENCODER, planes, scalars)
    return (planes, scalars) if n_codes else None


def seen_in_the_environment():
    batch = BatchEnv(1, SEED, "hanchan", players=[0] * 4)
    bots = [make_strategy(name) for name in PLAYERS]
    rows, found = batch.reset(), {}
    while not batch.dones[0]:
        planes, scalars = batch.observe()
        chosen = []
        for row, seat in enumerate(rows.seats.tolist()):
            found[moment(batch.states[0], seat)] = planes[row].copy(), scalars[row].copy()
            chosen.append(N_ACTIONS + bots[seat].decide(batch.view(0, seat)).code)
        rows = batch.step(chosen)
    return found


@pytest.fixture(scope="module")
def events():
    """The same game, told by the referee."""
    report = []
    Referee(SEED, "hanchan").play([make_strategy(name) for name in PLAYERS], record=report)
    return report


@pytest.fixture(scope="module")
def seen():
    return seen_in_the_environment()


def test_records_of_the_game_give_the_same(seen, events):
    table, steps = Mirror(), []

    def walk():
        for event in events:
            yield GameStep(0, event, table.state)
            table.apply(event)

    found = decisions_of(walk())
    for states, rows in zip(found.states, found.rows, strict=True):
        for state, row in zip(states, rows, strict=True):
            key = moment(state, int(row["seat"]))
            if key in seen:  # one that was forced was not asked
                planes, scalars = encoded(state, int(row["seat"]))
                assert (planes == seen[key][0]).all()
                assert (scalars == seen[key][1]).all()
                steps.append(key)
    assert len(set(steps)) > 0.9 * len(seen) > 400


def test_what_each_seat_hears_gives_the_same(seen, events):
    compared = set()
    for seat in range(4):
        table = Mirror(seat)
        for event in events:
            table.apply(masked(event, seat))
            key = moment(table.state, seat)
            if key in seen and key not in compared and table.legal(seat):
                planes, scalars = encoded(table.state, seat)
                assert (planes == seen[key][0]).all()
                assert (scalars == seen[key][1]).all()
                compared.add(key)
    assert len(compared) == len(seen)
