"""The fast policy as an opponent in the environment: the strategy's choices, all rows at once."""

import numpy as np
import pytest

from mjbot.learning.env import BatchEnv
from mjbot.learning.env.actions import N_ACTIONS
from mjbot.strategy.registry import make_strategy


@pytest.mark.parametrize("n_seats", [4, 3])
def test_rows_get_the_choices_of_the_strategy(n_seats: int):
    batch = BatchEnv(3, 7, "tonpu", n_seats=n_seats)
    bot, rows = make_strategy("fast-policy"), batch.reset()
    for _ in range(40):
        expected = [
            N_ACTIONS + bot.decide(batch.view(table, seat)).code
            for table, seat in zip(rows.tables.tolist(), rows.seats.tolist(), strict=True)
        ]
        actions = batch.fast_policy_actions()
        assert actions.tolist() == expected
        some = np.arange(len(expected))[::2]
        assert batch.fast_policy_actions(some).tolist() == expected[::2]
        rows = batch.step(actions)
