"""The batch environment against the compiled loop that plays whole games without asking.

One core, by the processor's clock.  In the first contest we play at random and hand out every
decision as a row with its mask; the peer, :func:`mjbot.game.referee.bulk.play_games`, chooses
inside its loop.  In the others we count decisions, first with what
:mod:`mjbot.learning.models.networks.encoding` sees of each, then with the learned player's network
as well, untrained and of its usual size, choosing by its logits (where torch is installed); the
peer is the environment alone.  A hanchan has 1,050 to 1,100 decisions at random, 610 to 680 among
four fast-riichi; 2 hanchan a second on each of two cores are 200 times the speed of the environment
of Matsuda and Ito 2021.
"""

from collections.abc import Callable
from importlib.util import find_spec
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.measure import Contest
from mjbot.game.referee import bulk
from mjbot.game.rules.ruleset import rule_set
from mjbot.learning.env import BatchEnv, random_actions, random_source
from mjbot.learning.env.actions import CHI, KAN, N_ACTIONS, PASS, PON, RIICHI, WIN

TABLES = 256
HANCHAN = rule_set()
GAMES = 100
WARM_UP_STEPS = 1500
"""Until the tables stand at all stages of a game."""
DECISIONS_PER_HANCHAN = 650
CHANNELS, BLOCKS = 64, 6

Policy = Callable[[BatchEnv], NDArray[np.int64]]


def contests() -> list[Contest]:
    """Return the contests with the ratios and rates that they must reach."""
    alone = decided(chosen_at_random())
    found = [
        Contest(
            "random play, masks and rewards", "hanchan", played(alone), "mjbot", random_games,
            0.5, required_rate=1000, clock=process_time,
        ),
        Contest(
            "the same, observed", "decisions", decided(observed(chosen_at_random()), 1), "mjbot",
            alone, 0.01, clock=process_time,
        ),
    ]  # fmt: skip
    if find_spec("torch"):
        found.append(
            Contest(
                "with a network in the loop", "decisions", decided(chosen_by_network(), 1),
                "mjbot", alone, 0.001, 2 * DECISIONS_PER_HANCHAN, clock=process_time,
            )
        )  # fmt: skip
    return found


def decided(policy: Policy, steps: int = 100) -> Callable[[], int]:
    """Return a contender that steps all tables and returns how many decisions they took."""
    batch, at_random = BatchEnv(TABLES, seed=1, reward="rank-formula"), chosen_at_random()

    def play(policy: Policy, steps: int) -> int:
        decisions = 0
        for _ in range(steps):
            decisions += len(batch.rows.tables)
            batch.step(policy(batch))
        return decisions

    batch.reset()
    play(at_random, WARM_UP_STEPS)
    return lambda: play(policy, steps)


def played(decide: Callable[[], int]) -> Callable[[], float]:
    """Return a contender that does the same and returns how many hanchan that is.

    By the decisions of whole games: in a short run the ends of games come in waves.
    """
    batch, policy = BatchEnv(TABLES, seed=1), chosen_at_random()
    rows, decisions, is_first = batch.reset(), 0, np.ones(TABLES, np.bool_)
    while is_first.any():
        decisions += int(is_first[rows.tables].sum())
        rows = batch.step(policy(batch))
        is_first &= ~batch.dones
    return lambda: decide() * TABLES / decisions


def random_games() -> int:
    """Play games in one compiled loop; return how many."""
    policies = np.full(4, bulk.RANDOM, np.int8)
    return len(bulk.play_games(policies, np.arange(GAMES, dtype=np.int64), HANCHAN))


def chosen_at_random() -> Policy:
    """Return a policy that takes any legal action."""
    random, actions = random_source(1), np.empty(3 * TABLES, np.int64)

    def choose(batch: BatchEnv) -> NDArray[np.int64]:
        chosen = actions[: len(batch.rows.tables)]
        random_actions(batch.rows.masks, random, chosen)
        return chosen

    return choose


def observed(policy: Policy) -> Policy:
    """Return the policy of one that looks first."""

    def choose(batch: BatchEnv) -> NDArray[np.int64]:
        batch.observe()
        return policy(batch)

    return choose


def chosen_by_network() -> Policy:
    """Return a policy that draws its actions by the logits of the learned player's network."""
    import torch

    from mjbot.learning.training.networks.policy_network import PolicyNetwork, board_of

    torch.set_num_threads(1)
    torch.manual_seed(0)
    network = PolicyNetwork(CHANNELS, BLOCKS).eval().to(memory_format=torch.channels_last)
    random = np.random.default_rng(0)

    def choose(batch: BatchEnv) -> NDArray[np.int64]:
        planes, scalars = batch.observe()
        with torch.inference_mode():
            discards, others = network(board_of(planes), torch.from_numpy(scalars))[-1]
        logits = laid_out(discards.numpy(), others.numpy())
        logits += random.gumbel(size=logits.shape)
        logits[~batch.rows.masks] = -np.inf
        chosen: NDArray[np.int64] = logits.argmax(1)
        return chosen

    return choose


def laid_out(discards: NDArray[Any], others: NDArray[Any]) -> NDArray[np.float64]:
    """Return the network's logits as those of the 46 actions; a win is always taken."""
    logits = np.zeros((len(discards), N_ACTIONS))
    logits[:, :34] = discards
    logits[:, 34:RIICHI] = discards[:, [4, 13, 22]]
    logits[:, RIICHI] = others[:, 1]
    logits[:, CHI:PON] = others[:, 5:8]
    logits[:, PON] = others[:, 3]
    logits[:, KAN] = others[:, 9]
    logits[:, WIN] = 100
    logits[:, PASS] = others[:, 2]
    return logits
