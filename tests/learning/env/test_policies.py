"""Policies as strategies and strategies as policies: the same games by both ways."""

import numpy as np
import pytest

from mjbot.arena.setup import GameId, Setup
from mjbot.arena.workers.clock import HEARTBEAT_SIZE, Clock
from mjbot.arena.workers.playing import GameRunner
from mjbot.learning.env import (
    ACTION_OF_CODE,
    N_ACTIONS,
    N_PLANES,
    N_SCALARS,
    BatchEnv,
    Observation,
    PolicyStrategy,
    StrategyPolicy,
    action_number,
    observe,
)
from mjbot.runtime.errors import ArgumentError, MjbotError
from mjbot.strategy.registry import make_strategy

RANDOM = np.random.default_rng(5)
OF_PLANES = RANDOM.normal(size=(N_PLANES, N_ACTIONS))
OF_SCALARS = RANDOM.normal(size=(N_SCALARS, N_ACTIONS))


class Drawn(PolicyStrategy):
    """Plays by weights drawn at random: every kind of action, kans included."""

    def logits(self, seen: Observation) -> np.ndarray:
        assert seen.mask.shape == (N_ACTIONS,)
        assert seen.mask.any()
        return numbers(seen.planes, seen.scalars)


def numbers(planes, scalars):
    found = planes.mean(axis=0) @ OF_PLANES + scalars @ OF_SCALARS
    found[37:44] += 5  # otherwise calls and kans are rare
    return found


@pytest.mark.parametrize("seed", range(4))
def test_a_policy_plays_the_same_games_in_the_batch_and_as_a_strategy(seed):
    batch, bot, kinds = BatchEnv(1, seed, "tonpu"), Drawn(), set()
    rows = batch.reset()
    for _ in range(3000):
        planes, scalars = batch.observe()
        actions = [
            int(np.where(mask, numbers(*seen), -np.inf).argmax())
            for *seen, mask in zip(planes, scalars, rows.masks, strict=True)
        ]
        if not batch.at_kan[0]:
            chosen = [bot.decide(batch.view(0, seat)) for seat in rows.seats.tolist()]
            assert [action_number(each) for each in chosen] == actions
            kinds |= {each.name for each in chosen}
        else:
            wanted = bot.decide(batch.view(0, int(rows.seats[0])))
            assert wanted.is_kan
            assert wanted.tile == actions[0]
            kinds.add("kind of a kan")
        rows = batch.step(actions)
        if batch.dones[0]:
            break
    assert batch.dones[0]
    assert kinds >= {"discard", "pon", "chi"}


def test_the_kind_of_a_kan_is_a_second_question():
    asked = []

    class Kans(PolicyStrategy):
        def logits(self, seen):
            asked.append(seen.mask)
            logits = np.zeros(N_ACTIONS)
            logits[42] = 9
            logits[31] = 1
            return logits

    view = two_kans()
    chosen = Kans().decide(view)
    assert chosen.is_kan
    assert len(asked) == 2
    assert not asked[1][34:].any()
    assert asked[1].sum() == 2
    assert action_number(chosen) == 42


def two_kans():
    """Return the view of a seat that holds four 1m and four white dragons, having drawn."""
    from mjbot.game.table.mirror.mirror import Mirror
    from mjbot.protocol import messages as m

    hand = ("1m",) * 4 + ("P",) * 4 + ("2p", "5p", "8p", "2s", "5s")
    others = [("?",) * 13] * 3
    table = Mirror(0)
    table.apply(m.StartGame(id=0))
    table.apply(
        m.StartKyoku(
            bakaze="E",
            kyoku=1,
            honba=0,
            kyotaku=0,
            oya=0,
            dora_marker="9m",
            tehais=(hand, *others),
        )
    )
    table.apply(m.Tsumo(actor=0, pai="9s"))
    return table.view(0)


def test_a_strategy_as_a_policy_decides_as_in_the_arena():
    setup = Setup(strategies=("fast-riichi-a", "fast-riichi-b"), format="2v2", length="tonpu")
    with Clock(0, [0] * HEARTBEAT_SIZE) as clock:
        played = GameRunner(setup, clock).play(GameId(0, 0), {})
    table = setup.seating.tables[0]
    batch = BatchEnv(1, setup.game_seed(0), "tonpu", players=tuple(table))
    policies = [StrategyPolicy(name) for name in setup.strategies]
    rows = batch.reset()
    while not batch.dones[0]:
        actions = np.zeros(len(rows.seats), np.int64)
        for number, policy in enumerate(policies):
            own = np.flatnonzero(batch.players[rows.tables, rows.seats] == number)
            actions[own] = policy(batch, own)
        rows = batch.step(actions)
    assert tuple(batch.final_scores[0]) == played.line.scores


def test_every_game_and_kyoku_is_announced_once(monkeypatch):
    calls = []
    cls = type(make_strategy("tsumogiri"))
    monkeypatch.setattr(cls, "start_game", lambda self, seat, names: calls.append(("game", seat)))
    monkeypatch.setattr(cls, "start_kyoku", lambda self, view: calls.append(view.round))
    batch, policy = BatchEnv(1, 3, "tonpu"), StrategyPolicy("tsumogiri")
    for _ in range(2):  # the same game twice
        calls.clear()
        batch.reset(3)
        while not batch.dones[0]:
            batch.step(policy(batch))
        assert sorted(str(each) for each in calls if isinstance(each, tuple)) == [
            f"('game', {seat})" for seat in range(4)
        ]
        kyoku = [each for each in calls if not isinstance(each, tuple)]
        assert kyoku == sorted(kyoku)
        assert len(kyoku) <= 4 * 12


def test_the_choices_are_those_of_the_46_actions():
    batch, policy = BatchEnv(2, 9, "tonpu"), StrategyPolicy("fast-riichi-a")
    rows = batch.reset()
    for _ in range(30):
        actions = policy(batch)
        plain = ACTION_OF_CODE[actions - N_ACTIONS]
        assert rows.masks[np.arange(len(plain)), plain].all()
        rows = batch.step(actions)


def test_what_cannot_be_played_is_refused():
    with pytest.raises(MjbotError, match="unknown strategy"):
        StrategyPolicy("fast-riichy")
    batch = BatchEnv(1, 0)
    batch.reset()
    waiting = next(seat for seat in range(4) if seat != batch.rows.seats[0])
    with pytest.raises(ArgumentError, match="nothing to decide"):
        observe(batch.view(0, waiting))

    class Short(PolicyStrategy):
        def logits(self, seen):
            return np.zeros(45)

    with pytest.raises(ArgumentError, match=r"shape \(45,\), expected \(46,\)"):
        Short().decide(batch.view(0, int(batch.rows.seats[0])))
