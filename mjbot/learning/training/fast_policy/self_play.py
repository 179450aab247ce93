"""``mjbot train fast-policy-play``: the fast policy, refined by games against itself.

At most tables the learning policy plays all four seats; at a share of them (``apart``) one seat
of it plays three of the policy that training started from.  As a pair two seats of it play two of
that policy at all tables, and only the weights that an ally's numbers are multiplied with learn;
``--pair-start`` continues with those of an earlier run.
After each batch of games there is one step of Adam, of the critic after every few games
(:mod:`mjbot.learning.training.fast_policy.play_and_learn` has the theory).  In the first batches
only the critic learns.  The result is the mean of the last weights.  Resumable after every
:data:`STEPS_KEPT` batches.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

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
    Learner,
    all_seats,
    initial_critic,
    learn_games,
    new_learner,
)
from mjbot.learning.training.fast_policy.requests import FastSelfPlayRequest, PlayPlan
from mjbot.learning.training.runs import (
    RUNS,
    Learned,
    RunFolder,
    TrainingError,
    claim_weights,
    erase_run,
    load_kept,
)
from mjbot.runtime.compiler.record import Int64s
from mjbot.runtime.interruption import keeping
from mjbot.runtime.progress import progress
from mjbot.runtime.requests import command_of
from protocol.rules import Rules

STEPS_KEPT: Final = 20
MEAN_STEPS: Final = 50
CRITIC_RATE: Final = 2e-3
CRITIC_TABLES: Final = 8
"""Games of a step of the critic, of which there are many in a batch: it learns faster."""
KEPT: Final = "fast-policy-play-run.npz"
FIRST_WALL: Final = 3_000_000_000
WALLS_OF_SEED: Final = 100_000_000
PAIRS: Final = np.array([0b0101, 0b1010, 0b0011, 0b0110, 0b1100, 0b1001], np.int64)


class PlayRun:
    """One plan in its folder."""

    def __init__(self, plan: PlayPlan, start: PolicyWeights, folder: RunFolder) -> None:
        self._plan: Final = plan
        self._folder: Final = folder
        weights = np.concatenate(start)
        units = units_of(start)
        zeros = np.zeros((3, units.n_weights), np.float32)
        self._numbers: Final = weights.copy()
        self._gradients: Final = zeros[0]
        self._moments: Final = AdamMoments(zeros[1], zeros[2], weights.copy())
        critic = np.zeros((4, N_CRITIC), np.float32)
        critic[0] = initial_critic(plan.seed)
        self._learns: Final = _about_allies(units)
        self._critic: Final = critic[0]
        self._critic_steps: Final = np.zeros(1, np.int64)
        self._critic_gradients: Final = critic[1]
        self._critic_moments: Final = AdamMoments(critic[2], critic[3], critic[0].copy())
        self._random: Final = np.array([plan.seed], np.uint64)
        self._settings: Final = np.array([plan.temperature, plan.kl, plan.gae, 0.0])
        self._learner: Final[Learner] = new_learner(
            policy_of(weights_in(self._numbers, units), plan.players),
            policy_of(start, plan.players),
            rank_model(plan.players).weights,
            critic=self._critic,
            critic_gradients=self._critic_gradients,
            gradients=weights_in(self._gradients, units),
            random=self._random,
            settings=self._settings,
        )
        self._state: Final = new_state()
        self._buffer: Final = new_step_buffer()
        self._buffer["decides"] = DECIDES_ALL
        self._batch = 0

    def learn(self) -> NDArray[np.float32]:
        """Play and learn to the end of the plan; return the mean of the last weights."""
        self._resume()
        plan = self._plan
        with progress(Console(stderr=True), "playing", plan.batches, "batches") as report:
            report(self._batch)
            while self._batch < plan.batches:
                ranks = self._play()
                self._batch += 1
                report(1)
                if self._batch % STEPS_KEPT == 0 or self._batch == plan.batches:
                    report(0, note=self._figures(ranks))
                    self._keep()
        return self._moments.mean

    def kept(self) -> str:
        """Return what the folder holds by now."""
        batches = self._batch // STEPS_KEPT * STEPS_KEPT
        return f"kept in {self._folder.folder}: {batches} batches; the same command resumes"

    def _play(self) -> int:
        """Play a batch and learn from it; return at how many tables one seat learned."""
        plan, learner = self._plan, self._learner
        if plan.pair:
            apart = plan.tables
            masks = PAIRS[np.arange(plan.tables) % len(PAIRS)]
        else:
            apart = round(plan.apart * plan.tables)
            masks = np.full(plan.tables, all_seats(plan.players), np.int64)
            masks[:apart] = 1 << (np.arange(apart) % plan.players)
        first = FIRST_WALL + WALLS_OF_SEED * plan.seed + self._batch * plan.tables
        seeds = np.arange(first, first + plan.tables)
        before = learner.sums.copy()
        for start in range(0, plan.tables, CRITIC_TABLES):
            some = slice(start, start + CRITIC_TABLES)
            self._play_some(seeds[some], masks[some])
        sums = learner.sums - before
        traces = max(float(sums[0]), 1.0)
        self._settings[3] = plan.entropy * (sums[7] - sums[2]) / traces
        step = self._batch + 1
        np.divide(self._gradients, traces, out=self._gradients)
        if plan.pair:
            self._gradients[~self._learns] = 0
        late = step - plan.warm_up
        if late > 0:
            kept = 1 - max(1 / MEAN_STEPS, 9 / (10 + late))
            rate = plan.rate * min(1.0, late / 10)
            adam_step(self._numbers, self._gradients, self._moments, late, rate, kept)
        self._gradients[:] = 0
        self._apart += apart
        return self._apart

    _apart = 0

    def _play_some(self, seeds: Int64s, masks: Int64s) -> None:
        """Play some tables of a batch; the critic takes a step, the policy's gradients add up."""
        before = self._learner.sums[0]
        rules = rule_set(Rules(length=self._plan.length, players=self._plan.players))
        learn_games(self._learner, self._state, self._buffer, seeds, masks, rules)
        traces = max(self._learner.sums[0] - before, 1.0)
        np.divide(self._critic_gradients, traces, out=self._critic_gradients)
        self._critic_steps[0] += 1
        step = int(self._critic_steps[0])
        adam_step(self._critic, self._critic_gradients, self._critic_moments, step, CRITIC_RATE, 0)

    def _figures(self, apart: int) -> str:
        traces, divergence, entropy, gains, returns, ranks, points, first = self._learner.sums
        n = max(traces, 1.0)
        text = f"{traces:.0f} open, KL {divergence / n:.4f}, entropy {entropy / n:.4f}"
        text += f" (start {first / n:.4f})"
        text += f", critic leaves {gains / max(returns, 1e-9):.3f}"
        text += f", rank against the start {ranks / max(apart, 1):.3f}"
        text += f", points {points / max(apart, 1):.0f}"
        self._learner.sums[:] = 0
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
        yield "random", self._random
        yield "bonus", self._settings[3:]
        for name in AdamMoments._fields:
            yield name, getattr(self._moments, name)
            yield f"critic_{name}", getattr(self._critic_moments, name)

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
            weights = weights_in(run.learn(), units_of(start))
        out = request.out or claim_weights(run_folder, _name_of(plan))
    command = command_of(f"mjbot train fast-policy-play {option} START", plan)
    played = plan.batches * plan.tables
    manifest = Manifest(
        data=f"{before.data}; then {played} games of its own",
        command=f"{before.command} --out START; {command}",
        seed=plan.seed,
        scores={"hanchan played": played},
    )
    return _saved(request, weights, manifest, out)


def _averaged(request: FastSelfPlayRequest) -> Learned:
    """Save the mean of the weights of some runs, all of pairs or none."""
    folders = request.mean_of
    load = load_pair_network if request.pair else load_network
    learned = [load(run) for run in folders]
    if len({units_of(weights) for weights in learned}) > 1:
        raise TrainingError("--mean-of: networks of different sizes; name runs of one start")
    weights = PolicyWeights(*(np.mean(arrays, axis=0) for arrays in zip(*learned, strict=True)))
    manifests = [load_manifest(_name_of(request), run) for run in folders]
    played = [manifest.scores.get("hanchan played", 0) for manifest in manifests]
    runs = ", ".join(str(manifest.seed) for manifest in manifests)
    manifest = Manifest(
        data=f"{manifests[0].data} (each of {len(folders)} runs)",
        command=f"{manifests[0].command}; the mean (--mean-of) of such runs with the seeds {runs}",
        seed=manifests[0].seed,
        scores={"hanchan played": sum(map(int, played))},
    )
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
