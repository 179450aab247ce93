"""How much of the gradient of self-play is signal, by advantage and reward.

    python -m proof gradient-noise --hanchan 2048
    python -m proof gradient-noise --hanchan 2048 --run RUN

The first command measures the fast policy, the second the large network of a run of ``mjbot train
self-play``: its last weights and its critic, without the reward at the game's end.

The policy does not change: it plays all four seats, draws its choices, and the gradients of
disjoint parts of the hanchan are compared.  Of parts of n decisions the expected product of two
gradients is the signal squared, s^2, and a gradient's expected square is s^2 + noise^2 / n, so that
signal equals noise at noise^2 / s^2 decisions.  Noise is in ranks by weight, signals are in
thousandths of that, intervals are those of a jackknife over the parts.  With lambda below 1 a part
of the signal is what the critic gets wrong; "along the unbiased" is the part in the direction of
lambda 1, as a share of that signal ("?" where none is shown).  "Drawing less" is the direction in
which the entropy falls fastest: what of the signal lies along it the likeliest choice has already.
The fast policy's critic learns from hanchan of its own first, and all its rows are from the same
games, each played twice (the second time the places at its end are known).
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from mjbot.game.referee.flow import deal
from mjbot.game.referee.step import StepBuffer, new_step_buffer
from mjbot.game.referee.wall import shuffle_wall
from mjbot.game.rules.ruleset import RuleSet, rule_set
from mjbot.game.statistics.markdown import head, row
from mjbot.game.table.actions import DECIDES_ALL
from mjbot.game.table.apply import apply_end_game, apply_start_game
from mjbot.game.table.settle import game_ends, next_kyoku, seats_ahead
from mjbot.game.table.state import State, new_state
from mjbot.learning.models.fast_policy.choice import policy_of
from mjbot.learning.models.fast_policy.network import load_network, units_of, weights_in
from mjbot.learning.models.networks.rank import rank_chances_of, rank_model
from mjbot.learning.models.weights import SHIPPED
from mjbot.learning.training.fast_policy.gradients import AdamMoments, adam_step
from mjbot.learning.training.fast_policy.play_and_learn import (
    MOST_TRACES,
    N_CRITIC,
    SPREAD,
    add_policy_gradients,
    all_seats,
    initial_critic,
    keep_kyoku,
    learn_games,
    new_learner,
    write_gains,
)
from mjbot.learning.training.fast_policy.self_play import CRITIC_RATE
from mjbot.learning.training.runs import torch
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import Float64s
from mjbot.runtime.progress import Step, progress

TABLES: Final = 4
"""Hanchan of a step of the critic."""
HEADING: Final = (
    "advantage",
    "its spread",
    "noise of a decision",
    "signal",
    "signal = noise at, decisions",
    "along the unbiased",
    "along drawing less",
)


class Variant(NamedTuple):
    """A way to compute the advantage."""

    name: str
    gae: float  # lambda
    has_critic: bool = True
    at_end: bool = False
    spread: float = SPREAD  # by which advantages are divided


VARIANTS: Final = (
    Variant("critic, lambda 0.9", 0.9),
    Variant("critic, lambda 1", 1.0),
    Variant("critic, lambda 0.7", 0.7),
    Variant("critic, lambda 0.4", 0.4),
    Variant("critic, lambda 0", 0.0),
    Variant("no critic", 1.0, has_critic=False),
    Variant("critic, place at the game's end", 1.0, at_end=True, spread=1.0),
)
SHARPER: Final = len(VARIANTS)
"""After the variants: the gradient of the entropy, along which a policy draws less."""
UNBIASED: Final = 1
"""The variant whose expected gradient is that of the expected rank, whatever the critic."""
RULES: Final = np.array([*(variant[1:] for variant in VARIANTS), (1.0, True, False, np.inf)])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof gradient-noise``."""
    parser.add_argument("--weights", type=Path, default=SHIPPED, help="folder of the fast policy")
    parser.add_argument("--run", type=Path, help="folder of a large network's self-play instead")
    parser.add_argument("--hanchan", type=int, default=2048, help="hanchan that are compared")
    parser.add_argument("--parts", type=int, default=32, help="parts that they are divided into")
    parser.add_argument("--critic", type=int, default=1024, help="hanchan the critic learns from")
    parser.add_argument("--temperature", type=float, default=0.5, help="choices are drawn at")
    parser.add_argument("--seed", type=int, default=4_000_000_000, help="of the first wall")


def run(args: argparse.Namespace) -> int:
    """Play and print the table."""
    played = args.hanchan + (0 if args.run else args.critic)
    with progress(Console(stderr=True), "playing", played, "hanchan") as report:
        players = LargePlayers(args.run) if args.run else taught_players(args, report)
        each = args.hanchan // args.parts
        parts = []
        for part in range(args.parts):
            parts.append(players.measure(args.seed + part * each, each))
            report(each)
    for text in report_of(parts, players.explained, players.variants):
        print(text)
    return 0


def taught_players(args: argparse.Namespace, report: Step) -> "Players":
    """Return the fast policy with a critic that has learned."""
    players = Players(args)
    for start in range(0, args.critic, TABLES):
        is_rated = start + TABLES > args.critic * 2 // 3
        players.teach(args.seed + args.hanchan + start, is_rated)
        report(TABLES)
    return players


class Part(NamedTuple):
    """Sums over the decisions of a part."""

    gradients: NDArray[np.float32]  # [variants and SHARPER, weights]
    squares: Float64s  # of the same, of the advantages, in ranks
    decisions: int


class Players:
    """The fast policy, the critic and their memory."""

    variants: Final = VARIANTS

    def __init__(self, args: argparse.Namespace) -> None:
        weights = load_network(args.weights)
        self._units: Final = units_of(weights)
        self._gradients: Final = np.zeros(self._units.n_weights, np.float32)
        critic = np.zeros((4, N_CRITIC), np.float32)
        critic[0] = initial_critic(args.seed)
        self._critic: Final = critic[0]
        self._critic_gradients: Final = critic[1]
        self._moments: Final = AdamMoments(critic[2], critic[3], critic[0].copy())
        self._random: Final = np.array([args.seed], np.uint64)
        self._parts: Final = np.zeros((len(RULES), len(self._gradients)), np.float32)
        self._learner: Final = new_learner(
            policy_of(weights),
            policy_of(weights),
            rank_model().weights,
            critic=self._critic,
            critic_gradients=self._critic_gradients,
            gradients=weights_in(self._gradients, self._units),
            random=self._random,
            settings=np.array([args.temperature, 0.0, 1.0, 0.0]),
        )
        self._learners: Final = tuple(
            self._learner._replace(
                gradients=weights_in(part, self._units),
                settings=np.array([args.temperature, 0.0, 1.0, -float(number == SHARPER)]),
            )
            for number, part in enumerate(self._parts)
        )
        self._state: Final = new_state()
        self._buffer: Final = new_step_buffer()
        self._buffer["decides"] = DECIDES_ALL
        self._steps = 0

    @property
    def explained(self) -> float:
        """Share of the returns' variance that the critic explained in its last third."""
        return 1 - float(self._learner.sums[3] / self._learner.sums[4])

    def teach(self, first: int, is_rated: bool) -> None:
        """Let the critic learn from some hanchan; if not ``is_rated``, forget how well it did."""
        seeds, masks = np.arange(first, first + TABLES), np.full(TABLES, all_seats(4), np.int64)
        before = self._learner.sums[0]
        learn_games(self._learner, self._state, self._buffer, seeds, masks, rule_set())
        np.divide(
            self._critic_gradients, self._learner.sums[0] - before, out=self._critic_gradients
        )
        self._steps += 1
        adam_step(self._critic, self._critic_gradients, self._moments, self._steps, CRITIC_RATE, 0)
        self._gradients[:] = 0
        if not is_rated:
            self._learner.sums[:] = 0

    def measure(self, first: int, hanchan: int) -> Part:
        """Return the gradients of some hanchan."""
        sums, ranks = np.zeros(len(RULES) + 1), np.zeros(4)
        self._parts[:] = 0
        for seed in range(first, first + hanchan):
            random = self._random.copy()
            ranks[:] = 0
            for _ in range(2):
                self._random[:] = random
                add_game(
                    self._learners,
                    RULES,
                    self._state,
                    self._buffer,
                    seed,
                    rule_set(),
                    ranks,
                    sums,
                )
        return Part(self._parts.copy(), sums[:-1], int(sums[-1]))


@compiled
def add_game(
    learners: Any,
    variants: NDArray[np.float64],
    state: State,
    buffer: StepBuffer,
    seed: int,
    rules: RuleSet,
    ranks: Float64s,
    sums: Float64s,
) -> None:
    """Play a hanchan; if its final ``ranks`` are known (not 0), add the gradients; write them.

    ``learners`` differ in their gradients alone; ``sums`` are the squared advantages of each, and
    the decisions.
    """
    apply_start_game(state, rules)
    round_, honba = 0, 0
    chances, rewards, ends = np.empty((4, 4)), np.empty(4), np.empty(4)
    while True:
        shuffle_wall(seed, round_, honba, state.wall, 4)
        deal(state, buffer, round_, honba)
        rank_chances_of(learners[0].rank, state, chances)
        keep_kyoku(learners[0], state, buffer, all_seats(4), rewards)
        if ranks[0]:
            for seat in range(4):
                ends[seat] = -ranks[seat]
                for rank in range(4):
                    ends[seat] += (1 + rank) * chances[seat, rank]
            add_kyoku(learners, variants, rewards, ends, sums)
        if game_ends(state):
            break
        round_, honba = next_kyoku(state)
    apply_end_game(state)
    for seat in range(4):
        ranks[seat] = 1 + seats_ahead(state.scores, seat)


@compiled
def add_kyoku(
    learners: Any, variants: NDArray[np.float64], rewards: Float64s, ends: Float64s, sums: Float64s
) -> None:
    """Add the gradients of the kept questions of a kyoku, for each way to value them."""
    traces, gains = learners[0].traces, np.empty(MOST_TRACES)
    number = 0
    for learner in learners:
        gae, has_critic, at_end, spread = variants[number]
        write_gains(traces, ends if at_end else rewards, gae, gains)
        for at in range(traces.counts[0]):
            gain = gains[at] if has_critic else gains[at] + traces.values[at]
            add_policy_gradients(learner, at, gain / spread)
            sums[number] += gain * gain
        number += 1
    sums[number] += traces.counts[0]


class LargePlayers:
    """The large network and the critic of a run of self-play."""

    variants: Final = VARIANTS[:-1]

    def __init__(self, run: Path) -> None:
        from mjbot.learning.training.networks.critic import Critic
        from mjbot.learning.training.networks.policy_network import load_network
        from mjbot.learning.training.networks.self_play import CHECKPOINT, CRITIC_SIZE, LAST

        self._policy: Final = load_network(run / LAST)
        self._critic: Final = Critic(*CRITIC_SIZE)
        kept = torch().load(run / CHECKPOINT, weights_only=True)
        self._critic.load_state_dict(kept["critic"]["parameters"])
        self._squares: Final = np.zeros(len(self.variants) + 1)

    @property
    def explained(self) -> float:
        """Share of the returns' squares that the critic explained."""
        without = [variant.has_critic for variant in self.variants].index(False)
        return 1 - float(self._squares[UNBIASED] / self._squares[without])

    def measure(self, first: int, hanchan: int) -> Part:
        """Return the gradients of some hanchan."""
        from mjbot.learning.training.networks import self_play as s
        from mjbot.learning.training.networks.self_play_games import TEMPERATURE, Games, Players

        players = Players(self._policy, self._policy, self._critic)
        games = Games(players, hanchan, first, np.random.default_rng(first))
        experience = games.play(lambda *_, **__: None)
        values = np.concatenate(experience.values)
        inputs = experience.all_inputs()
        gains = []
        for variant in self.variants:
            gained, _ = experience.advantages(variant.gae)
            gains.append(gained if variant.has_critic else gained + values)
        questions = experience.open_questions(gains[0])
        gains = [gain[questions.rows] for gain in gains]
        squares = np.array([*(float(np.square(gain, dtype=float).sum()) for gain in gains), 0])
        self._squares += squares
        gradients = np.zeros((len(squares), self._n_weights), np.float32)
        for start in range(0, len(questions.rows), s.BATCH):
            some = np.arange(start, min(start + s.BATCH, len(questions.rows)))
            asked = questions.take(some)
            late = self._policy(*inputs.take(asked.rows, False))[-1]
            now = s.log_probabilities(late, asked.kinds, asked.legal, TEMPERATURE)
            chosen = now.gather(1, torch().from_numpy(asked.choices)[:, None])[:, 0]
            sums = [
                (chosen * torch().from_numpy(gain[some] / variant.spread)).sum()
                for gain, variant in zip(gains, self.variants, strict=True)
            ]
            sums.append((now.exp() * now).sum())  # the entropy, negative
            for own, total in zip(gradients, sums, strict=True):
                own += self._gradient(total)
        return Part(gradients, squares, len(questions.rows))

    @property
    def _n_weights(self) -> int:
        return sum(weights.numel() for weights in self._policy.parameters())

    def _gradient(self, total: Any) -> NDArray[np.float32]:
        """Return the gradient of a number: float32[weights]."""
        weights = list(self._policy.parameters())
        parts = torch().autograd.grad(
            total, weights, retain_graph=True, allow_unused=True, materialize_grads=True
        )
        return np.concatenate([part.contiguous().numpy().ravel() for part in parts])


# --- the report --------------------------------------------------------------------------------


def report_of(parts: list[Part], explained: float, variants: Sequence[Variant]) -> Iterator[str]:
    """Yield the lines of the table."""
    decisions = np.array([part.decisions for part in parts], float)
    means = np.stack([part.gradients / part.decisions for part in parts])  # [parts, kinds, n]
    means[:, :-1] *= np.array([[variant.spread] for variant in variants])  # in ranks again
    squares = np.sum([part.squares for part in parts], axis=0)
    yield f"{decisions.sum():,.0f} open decisions; the critic explains {explained:.1%}"
    yield ""
    yield from head(HEADING)
    unbiased, sharper = means[:, UNBIASED], means[:, -1]
    whole = signal_and_noise(unbiased @ unbiased.T)
    fall = np.sqrt(signal_and_noise(sharper @ sharper.T).signal)
    for number, variant in enumerate(variants):
        found = signal_and_noise(means[:, number] @ means[:, number].T)
        noise = found.noise * decisions.mean()
        along = signal_and_noise(means[:, number] @ unbiased.T)
        less = signal_and_noise(means[:, number] @ sharper.T)
        share = f"{along.signal / whole.signal:.2f} ± {2 * along.error / whole.signal:.2f}"
        yield row(
            [
                variant.name,
                f"{np.sqrt(squares[number] / decisions.sum()):.3f}",
                f"{np.sqrt(noise):.2f}",
                found.length(),
                found.decisions(noise),
                share if whole.is_shown else "?",
                f"{1000 * less.signal / fall:.2f} ± {2000 * less.error / fall:.2f}",
            ]
        )


class Signal(NamedTuple):
    """The squared length of the expected gradient with its standard error, and the noise's."""

    signal: float
    noise: float  # of a part
    error: float

    @property
    def is_shown(self) -> bool:
        """Whether there is any signal, by its 95% interval."""
        return self.signal > 2 * self.error

    def length(self) -> str:
        """Return the signal's length, in thousandths, with its interval."""
        low, at, high = (
            1000 * np.sqrt(max(self.signal + by * 2 * self.error, 0)) for by in (-1, 0, 1)
        )
        return f"{at:.2f} ({low:.2f} to {high:.2f})"

    def decisions(self, noise: float) -> str:
        """Return at how many decisions signal equals noise, with its interval."""
        low = noise / (self.signal + 2 * self.error)
        if not self.is_shown:
            return f"{low:,.0f} or more"
        high = noise / (self.signal - 2 * self.error)
        return f"{noise / self.signal:,.0f} ({low:,.0f} to {high:,.0f})"


def signal_and_noise(products: NDArray[np.float64]) -> Signal:
    """Return signal and noise of gradients whose products are float64[parts, parts].

    The products may be those of one kind of gradient with another: the diagonal has those of the
    same part.
    """
    n = len(products)
    own, rows = np.diag(products), products.sum(axis=0) + products.sum(axis=1)
    apart = products.sum() - own.sum()
    signal = apart / (n * (n - 1))
    without = (apart - rows + 2 * own) / ((n - 1) * (n - 2))
    error = float(np.sqrt((n - 1) / n * np.square(without - without.mean()).sum()))
    return Signal(float(signal), float(own.mean() - signal), error)
