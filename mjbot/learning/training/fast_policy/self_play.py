"""``mjbot train fast-policy-play``: the fast policy, refined by games against itself.

At most tables the learning policy plays all four seats; at a share of them (``apart``) one seat
of it plays three of the policy that training started from.  As a pair two seats of it play two of
that policy at all tables, and only the weights that an ally's numbers are multiplied with learn;
``--pair-start`` continues with those of an earlier run.
After each batch of games there is one step of Adam, of the critic after every few games
(:mod:`mjbot.learning.training.fast_policy.play_and_learn` has the theory).  In the first batches
only the critic learns.  The result is the mean of the last weights.  Resumable after every
:data:`STEPS_KEPT` batches.

A batch is divided into shards, each with a generator and a copy of the critic of its own; after it
their gradients are added up, and the critic is the mean of the copies.  So the weights do not
depend on the number of processes that play the shards.  With ``target_kl`` some games after each
step measure how far it moved the policy, and the rate adapts.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray
from rich.console import Console

from mjbot.game.referee.step import new_step_buffer
from mjbot.game.rules.ruleset import rule_set
from mjbot.game.table.actions import DECIDES_ALL
from mjbot.game.table.state import new_state
from mjbot.learning.models.fast_policy.choice import policy_of
from mjbot.learning.models.fast_policy.network import (
    NAME,
    PAIR_NAME,
    PolicyWeights,
    Units,
    load_network,
    load_pair_network,
    packed,
    packed_of_ally,
    units_of,
    weights_in,
)
from mjbot.learning.models.fast_policy.reading import PLAIN_CONTEXT, TO_ALLY
from mjbot.learning.models.networks.rank import rank_model
from mjbot.learning.models.weights import OF_PLAYERS, Manifest, load_manifest, save_weights
from mjbot.learning.training.fast_policy.gradients import AdamMoments, adam_step
from mjbot.learning.training.fast_policy.imitation import scores_on
from mjbot.learning.training.fast_policy.play_and_learn import (
    N_CRITIC,
    all_seats,
    initial_critic,
    learn_games,
    new_learner,
)
from mjbot.learning.training.fast_policy.requests import FastSelfPlayRequest, PlayPlan
from mjbot.learning.training.fit import adapted_rate
from mjbot.learning.training.runs import (
    OTHER_SIZES,
    RUNS,
    Learned,
    RunFolder,
    TrainingError,
    claim_weights,
    erase_run,
    load_kept,
    mean_manifest,
)
from mjbot.protocol.rules import Rules
from mjbot.runtime.compiler.record import Float32s, Float64s, Int64s, UInt64s
from mjbot.runtime.interruption import keeping
from mjbot.runtime.processes import ProcessMap
from mjbot.runtime.progress import progress
from mjbot.runtime.requests import command_of

STEPS_KEPT: Final = 20
MEAN_STEPS: Final = 50
CRITIC_RATE: Final = 2e-3
CRITIC_TABLES: Final = 8
"""Games of a step of the critic, of which there are many in a batch: it learns faster."""
MOVED_TABLES: Final = 16
"""Games that measure how far a step moved the policy: some 5,000 decisions."""
KEPT: Final = "fast-policy-play-run.npz"
PLAYED: Final = "hanchan played"
"""The score that counts the games of a run."""
FIRST_WALL: Final = 3_000_000_000
WALLS_OF_SEED: Final = 100_000_000
PAIRS: Final = np.array([0b0101, 0b1010, 0b0011, 0b0110, 0b1100, 0b1001], np.int64)


class Shard(NamedTuple):
    """Tables of a batch that are played in one process, and what the players start with."""

    weights: Float32s  # of the policy
    critic: NDArray[np.float32]  # [4, N_CRITIC] weights, moments and mean
    critic_steps: int
    bonus: float  # on entropy
    random: UInt64s
    seeds: Int64s  # of the walls
    masks: Int64s  # of the seats that learn


class Played(NamedTuple):
    """What came of a shard: sums of gradients and figures, and its copy of the critic."""

    gradients: Float32s
    critic: NDArray[np.float32]
    critic_steps: int
    sums: Float64s


def play_shard(plan: PlayPlan, start: PolicyWeights, shard: Shard) -> Played:
    """Play the tables of a shard; the critic takes steps, the policy's gradients add up."""
    units, players = units_of(start), plan.players
    gradients, critic = np.zeros(units.n_weights, np.float32), shard.critic.copy()
    learner = new_learner(
        policy_of(weights_in(shard.weights, units), players),
        policy_of(start, players),
        rank_model(players).weights,
        critic=critic[0],
        critic_gradients=np.zeros(N_CRITIC, np.float32),
        gradients=weights_in(gradients, units),
        random=shard.random.copy(),
        settings=np.array([plan.temperature, plan.kl, plan.gae, shard.bonus]),
    )
    state, buffer = new_state(), new_step_buffer()
    buffer["decides"] = DECIDES_ALL
    rules, step = rule_set(Rules(length=plan.length, players=players)), shard.critic_steps
    for first in range(0, len(shard.seeds), CRITIC_TABLES):
        some, before = slice(first, first + CRITIC_TABLES), learner.sums[0]
        learn_games(learner, state, buffer, shard.seeds[some], shard.masks[some], rules)
        learner.critic_gradients[:] /= np.float32(max(learner.sums[0] - before, 1.0))
        step += 1
        moments = AdamMoments(*critic[1:])
        adam_step(critic[0], learner.critic_gradients, moments, step, CRITIC_RATE, 0)
    return Played(gradients, critic, step, learner.sums)


class PlayRun:
    """One plan in its folder."""

    def __init__(self, plan: PlayPlan, start: PolicyWeights, folder: RunFolder) -> None:
        self._plan: Final = plan
        self._folder: Final = folder
        self._play_shard: Final = partial(play_shard, plan, start)
        weights = np.concatenate(start)
        self._units: Final = units_of(start)
        zeros = np.zeros((2, len(weights)), np.float32)
        self._numbers: Final = weights.copy()
        self._moments: Final = AdamMoments(zeros[0], zeros[1], weights)
        self._learns: Final = _about_allies(self._units)
        self._critic: Final = np.zeros((4, N_CRITIC), np.float32)
        self._critic[0] = initial_critic(plan.seed)
        self._critic_steps: Final = np.zeros(1, np.int64)
        self._bonus: Final = np.zeros(1)
        self._rate: Final = np.array([plan.rate])
        self._sums: Final = np.zeros(8)
        self._apart = self._batch = 0
        self._moved = 0.0

    def learn(self, jobs: int = 1) -> NDArray[np.float32]:
        """Play and learn to the end of the plan; return the mean of the last weights."""
        self._resume()
        plan = self._plan
        with (
            ProcessMap(self._play_shard, min(jobs, self._n_shards)) as play,
            progress(Console(stderr=True), "playing", plan.batches, "batches") as report,
        ):
            report(self._batch)
            while self._batch < plan.batches:
                self._step(list(play(self._shards())))
                self._batch += 1
                report(1)
                if self._batch % STEPS_KEPT == 0 or self._batch == plan.batches:
                    report(0, note=self._figures())
                    self._keep()
        return self._moments.mean

    def kept(self) -> str:
        """Return what the folder holds by now."""
        batches = self._batch // STEPS_KEPT * STEPS_KEPT
        return f"kept in {self._folder.folder}: {batches} batches; the same command resumes"

    @property
    def _n_shards(self) -> int:
        return -(-self._plan.tables // self._plan.shard)

    def _masks(self) -> Int64s:
        """Return the seats that learn at each table of a batch."""
        plan = self._plan
        if plan.pair:
            return PAIRS[np.arange(plan.tables) % len(PAIRS)]
        apart = round(plan.apart * plan.tables)
        masks = np.full(plan.tables, all_seats(plan.players), np.int64)
        masks[:apart] = 1 << (np.arange(apart) % plan.players)
        return masks

    def _shards(self) -> list[Shard]:
        """Return the tables of the next batch, dealt out evenly."""
        plan, n, masks = self._plan, self._n_shards, self._masks()
        self._apart += int((masks != all_seats(plan.players)).sum())
        first = FIRST_WALL + WALLS_OF_SEED * plan.seed + self._batch * plan.tables
        seeds = np.arange(first, first + plan.tables)
        return [
            self._shard(number, seeds[number::n].copy(), masks[number::n].copy())
            for number in range(n)
        ]

    def _shard(self, number: int, seeds: Int64s, masks: Int64s) -> Shard:
        sequence = np.random.SeedSequence([self._plan.seed, self._batch, number])
        random = sequence.generate_state(1, np.uint64).astype(np.uint64)
        steps, bonus = int(self._critic_steps[0]), float(self._bonus[0])
        return Shard(self._numbers, self._critic, steps, bonus, random, seeds, masks)

    def _step(self, played: Sequence[Played]) -> None:
        """Add up what was played, in order, and learn from it."""
        plan = self._plan
        sums = np.sum([part.sums for part in played], axis=0)
        gradients = np.sum([part.gradients for part in played], axis=0)
        self._critic[:] = np.mean([part.critic for part in played], axis=0)
        self._critic_steps[0] = played[0].critic_steps
        self._sums[:] += sums
        traces = max(float(sums[0]), 1.0)
        self._bonus[0] = plan.entropy * (sums[7] - sums[2]) / traces
        gradients /= np.float32(traces)
        if plan.pair:
            gradients[~self._learns] = 0
        late = self._batch + 1 - plan.warm_up
        if late <= 0:
            return
        kept = 1 - max(1 / MEAN_STEPS, 9 / (10 + late))
        before = self._numbers.copy()
        rate = float(self._rate[0]) if plan.target_kl else plan.rate * min(1.0, late / 10)
        adam_step(self._numbers, gradients, self._moments, late, rate, kept)
        if plan.target_kl:
            self._moved = self._divergence(before)
            self._rate[0] = adapted_rate(rate, self._moved, plan.target_kl)

    def _divergence(self, before: Float32s) -> float:
        """Return the nats of divergence from the policy of some weights, over some games."""
        masks = self._masks()[-MOVED_TABLES:].copy()
        after_last = FIRST_WALL + WALLS_OF_SEED * (self._plan.seed + 1)
        seeds = np.arange(after_last - len(masks), after_last)
        shard = self._shard(self._n_shards, seeds, masks)
        sums = play_shard(self._plan, weights_in(before, self._units), shard).sums
        return float(sums[1] / max(sums[0], 1.0))

    def _figures(self) -> str:
        traces, divergence, entropy, gains, returns, ranks, points, first = self._sums
        n = max(traces, 1.0)
        text = f"{traces:.0f} open, KL {divergence / n:.4f}, entropy {entropy / n:.4f}"
        text += f" (start {first / n:.4f})"
        text += f", critic leaves {gains / max(returns, 1e-9):.3f}"
        text += f", rank against the start {ranks / max(self._apart, 1):.3f}"
        text += f", points {points / max(self._apart, 1):.0f}"
        if self._plan.target_kl:
            text += f", last step {self._moved:.6f} nats, next rate {self._rate[0]:.2e}"
        self._sums[:] = 0
        self._apart = 0
        return text

    def _keep(self) -> None:
        arrays: Any = dict(self._arrays())
        self._folder.write(KEPT, lambda stream: np.savez(stream, **arrays))

    def _arrays(self) -> Iterator[tuple[str, NDArray[Any]]]:
        yield "batch", np.array([self._batch])
        yield "numbers", self._numbers
        yield "critic", self._critic
        yield "critic_steps", self._critic_steps
        yield "bonus", self._bonus
        yield "rate", self._rate
        yield from self._moments._asdict().items()

    def _resume(self) -> None:
        if path := self._folder.kept(KEPT):
            kept = load_kept(path, [name for name, _ in self._arrays()])
            self._batch = int(kept.pop("batch")[0])
            for name, array in self._arrays():
                if name in kept:
                    array[:] = kept[name]


def _about_allies(units: Units) -> NDArray[np.bool_]:
    """Return which weights an ally's numbers are multiplied with: bool[units.n_weights]."""
    learns = np.zeros(units.n_weights, np.float32)
    weights = weights_in(learns, units)
    weights.context.reshape(units.shapes["context"])[:, PLAIN_CONTEXT:] = 1
    weights.inputs.reshape(units.shapes["inputs"])[:, TO_ALLY:] = 1
    return learns > 0


def train(request: FastSelfPlayRequest) -> Learned:
    """Play, learn and save.

    Raises ``OSError`` and :class:`~mjbot.runtime.errors.MjbotError`.
    """
    if request.mean_of:
        return _averaged(request)
    plan = request.plan
    folder = request.folder or RUNS / f"train-fast-policy-play-{plan.seed}"
    if request.fresh:
        erase_run(folder)
    if pair := request.pair_start:
        option, start, before = (
            "--pair-start",
            load_pair_network(pair),
            load_manifest(PAIR_NAME, pair),
        )
    else:
        weights_of_start = request.start or OF_PLAYERS[plan.players]
        option, start = "--start", load_network(weights_of_start)
        before = load_manifest(NAME, weights_of_start)
    with RunFolder(folder, "fast-policy-play") as run_folder:
        run = PlayRun(plan, start, run_folder)
        with keeping(run.kept):
            weights = weights_in(run.learn(request.jobs), units_of(start))
        out = request.out or claim_weights(run_folder, _name_of(plan))
    command = command_of(f"mjbot train fast-policy-play {option} START", plan)
    played = plan.batches * plan.tables
    manifest = Manifest(
        data=f"{before.data}; then {played} games of its own",
        command=f"{before.command} --out START; {command}",
        seed=plan.seed,
        scores={PLAYED: played},
    )
    return _saved(request, weights, manifest, out)


def _averaged(request: FastSelfPlayRequest) -> Learned:
    """Save the mean of the weights of some runs, all of pairs or none."""
    folders = request.mean_of
    load = load_pair_network if request.pair else load_network
    learned = [load(run) for run in folders]
    if len({units_of(weights) for weights in learned}) > 1:
        raise TrainingError(OTHER_SIZES)
    weights = PolicyWeights(*(np.mean(arrays, axis=0) for arrays in zip(*learned, strict=True)))
    manifest = mean_manifest(_name_of(request), folders, PLAYED)
    return _saved(request, weights, manifest, request.out or RUNS / "train-fast-policy-play-mean")


def _name_of(plan: PlayPlan) -> str:
    return PAIR_NAME if plan.pair else NAME


def _saved(
    request: FastSelfPlayRequest, weights: PolicyWeights, manifest: Manifest, out: Path
) -> Learned:
    """Save what was learned, of a pair the ally's weights; complete the scores of its manifest."""
    arrays = packed_of_ally(weights) if request.pair else packed(weights)
    sizes = [array.size for name, array in arrays.items() if name != "rows_scale"]
    scores = {**manifest.scores, "weights": sum(sizes)}
    scores |= scores_on(weights, request.data, request.check_from)
    name, manifest = _name_of(request), replace(manifest, scores=scores)
    return Learned(name, save_weights(name, arrays, manifest, out), out)
