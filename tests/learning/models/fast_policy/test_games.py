"""Whole games in the compiled loop are those of the referee with the strategy in every seat."""

import re
from pathlib import Path

import numpy as np

from mjbot.game.referee import Referee
from mjbot.game.rules.ruleset import rule_set
from mjbot.game.table.view import View
from mjbot.learning.models.fast_policy.choice import load_policy
from mjbot.learning.models.fast_policy.games import play_games
from mjbot.protocol.rules import Rules
from mjbot.strategy.registry import make_strategy

SEEDS = [3, 4]
PAGE = Path(__file__).parents[4] / "docs/strategies/fast-policy.md"


def test_compiled_games_are_those_of_the_referee():
    policy, rival = load_policy(), load_policy()
    scores = play_games(policy, rival, 0b0101, np.array(SEEDS), rule_set(Rules(length="tonpu")))
    for seed, found in zip(SEEDS, scores, strict=True):
        referee = Referee(seed, "tonpu")
        referee.play([make_strategy("fast-policy") for _ in range(4)])
        assert found.tolist() == referee.state["scores"].tolist()


def test_the_example_of_the_page_runs():
    referee = Referee(SEEDS[0], "tonpu")
    block = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert block
    names = {"view": View(referee.state, 0), "seeds": np.array(SEEDS)}
    exec(block[1], names)
    assert names["scores"].shape == (2, 4)
