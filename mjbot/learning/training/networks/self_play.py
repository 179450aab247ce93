"""``mjbot train self-play``: the learned player improves by games against itself.

In an *iteration* every table plays one hanchan: the policy plays all four seats, with choices drawn
from its probabilities (sharpened by :data:`TEMPERATURE`).  Then policy and critic learn from these
games:

* Reward of a kyoku: 2.5 less the final rank to expect after it, less the same before it, by the
  rank model (:mod:`mjbot.learning.models.networks.rank`).
* Advantage of a decision: generalised advantage estimation (Schulman et al. 2016, lambda
  :data:`LAMBDA`, no discount) along the decisions of one seat in one kyoku, with the critic of
  :mod:`mjbot.learning.training.networks.critic`, which sees all hands and the next tiles of the
  wall.
* Policy: the clipped objective of PPO (Schulman et al. 2017), ``passes`` times over an iteration,
  less ``kl`` times the divergence from the network it started with, which keeps what records
  taught.  Decisions of which the early head is sure
  (:data:`~mjbot.learning.training.networks.self_play_games.SURE`) are its own, are not learned
  from and not valued by the critic: two of three.  The early head learns to output what the late
  one does.
* Step: the gradient of as many decisions as :data:`STEP_HANCHAN` hanchan have, since that of fewer
  is noise (``python -m proof gradient-noise``).
* Rate: after each iteration it is multiplied by the root of ``target_kl`` over the nats that the
  policy moved away from the one that played
  (:func:`~mjbot.learning.training.fit.adapted_rate`).  Learning stops for an iteration at
  :data:`STOP` times ``target_kl``.
* Entropy: drawn choices gain first by being drawn less, which the likeliest choice at the table
  does not.  A bonus on entropy, :data:`ENTROPY` times what the policy has less of it than the
  network at the start has at the same decisions, keeps it where it was.
* Critic: squared error to the advantage plus its own output (the lambda return).

In the first ``warm_up`` iterations the critic learns alone.  All choices follow from seed and
iteration; all that the next iteration needs is kept after each, so that the same command resumes
after a kill.  After each iteration ``curve.csv`` and the weights are written: the averaged ones
(:mod:`mjbot.learning.training.fit`), which are the result, and the last in the folder ``last``.
"""

import copy
import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, BinaryIO, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from torch import Tensor
from torch.nn import functional

from mjbot.learning.models.networks.policy import NAME
from mjbot.learning.models.weights import Manifest, load_manifest, save_weights
from mjbot.learning.training.fit import Fit, Schedule, adapted_rate, resume, write_checkpoint
from mjbot.learning.training.networks.critic import Critic
from mjbot.learning.training.networks.policy import logits_of_questions
from mjbot.learning.training.networks.policy_network import half_precision, load_network
from mjbot.learning.training.networks.self_play_games import (
    TEMPERATURE,
    Inputs,
    Ints,
    Played,
    Playing,
    Questions,
    Shard,
    Weights,
)
from mjbot.learning.training.requests import SelfPlayRequest
from mjbot.learning.training.runs import (
    OTHER_SIZES,
    RUNS,
    Learned,
    RunFolder,
    TrainingError,
    claim_weights,
    erase_run,
    mean_manifest,
)
from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.files import first_line
from mjbot.runtime.interruption import keeping
from mjbot.runtime.processes import ProcessMap
from mjbot.runtime.progress import Step, progress
from mjbot.runtime.requests import command_of

CLIP: Final = 0.2
BATCH: Final = 512
"""Decisions computed at once by a processor."""
BATCH_OF_GPU: Final = 4096
CRITIC_BATCH: Final = 1024
"""Rows of a step of the critic."""
STEP_HANCHAN: Final = 64
"""Whose decisions are those of one step of the policy."""
STOP: Final = 3.0
ENTROPY: Final = 2.0
"""Bonus on a nat of entropy, in spreads of advantage, per nat that the policy has less."""
CRITIC_SIZE: Final = 48, 3
"""Channels and blocks."""
CRITIC_SHARE: Final = 0.5
"""Passes of the critic over an iteration's rows."""
WARM_UP_PASSES: Final = 4
"""The same while it learns alone."""
CRITIC_RATE: Final = 1e-3
LONGEST: Final = 1.0
"""The norm that gradients are clipped to."""
EARLY_SHARE: Final = 0.3
AVERAGED: Final = 64
"""Steps of the policy's averaged weights: two iterations of 2,048 hanchan, one pass."""
NEWEST: Final = 0.05
"""Share of the newest batch in a moving mean."""
CHECKPOINT: Final = "self-play.pt"
CURVE: Final = "curve.csv"
LAST: Final = "last"
COMMAND: Final = "mjbot train self-play"
PLAYED: Final = "self-play: games"
"""The score that counts the games of a run."""
FIRST_WALL: Final = 2_000_000_000
WALLS_OF_ITERATION: Final = 1_000_000

Report = dict[str, float]
"""The figures of an iteration, by name."""


class QuestionBatch(NamedTuple):
    """Some questions and what the objective needs of them."""

    inputs: tuple[Tensor, Tensor]
    kinds: Ints
    choices: Ints
    legal: NDArray[np.bool_]  # [n, 34]
    made: Tensor  # log probability of the choice when it was made
    gain: Tensor  # advantage in spreads
    first: Tensor  # log probabilities by the network at the start: [n, 34]


class SelfPlayNetworks:
    """The networks of a run and how they are fitted."""

    def __init__(self, request: SelfPlayRequest) -> None:
        torch.manual_seed(request.seed)
        self.policy: Final = load_network(request.start).to(request.device)
        self.start: Final = copy.deepcopy(self.policy).eval()
        critic = Critic(*CRITIC_SIZE).to(memory_format=torch.channels_last)
        self.critic: Final = critic.to(request.device)
        self.learning_policy: Final = _compiled(self.policy, request.compiled)
        self.learning_critic: Final = _compiled(self.critic, request.compiled)
        self.policy_fit: Final = Fit(
            dict(self.policy.named_parameters()),
            Schedule(rate=request.rate, end=1.0),
            longest=LONGEST,
            averaged=AVERAGED,
        )
        self.critic_fit: Final = Fit(
            dict(self.critic.named_parameters()),
            Schedule(rate=CRITIC_RATE, end=1.0),
            decay=1e-2,
            longest=LONGEST,
        )

    def weights(self) -> list[Weights]:
        """Return copies of those that play: of policy and critic, in the processor's memory."""
        networks = self.policy, self.critic
        return [
            {name: value.detach().cpu().clone() for name, value in network.state_dict().items()}
            for network in networks
        ]

    def averaged(self) -> dict[str, NDArray[np.float16]]:
        """Return the averaged weights as they are written."""
        average = self.policy_fit.average.items()
        return {name: weights.cpu().numpy().astype(np.float16) for name, weights in average}

    def last(self) -> dict[str, NDArray[np.float16]]:
        """Return the last weights as they are written."""
        arrays = self.policy.arrays().items()
        return {name: weights.astype(np.float16) for name, weights in arrays}


def _compiled(network: Any, wanted: bool) -> Callable[..., Any]:
    compiled: Callable[..., Any] = torch.compile(network, dynamic=False) if wanted else network
    return compiled


class SelfPlayRun:
    """A run in its folder."""

    def __init__(self, request: SelfPlayRequest, run: RunFolder) -> None:
        self._request: Final = request
        self._run: Final = run
        self.networks: Final = SelfPlayNetworks(request)
        self.reports: list[Report] = []
        """The figures of each iteration."""
        self._walk: Walk
        self._batch: Final = BATCH if request.device == "cpu" else BATCH_OF_GPU

    def play(self) -> None:
        """Play and learn up to the last iteration."""
        resume(self._run, CHECKPOINT, self._restore, self._request.device)
        request, networks = self._request, self.networks
        with progress(Console(stderr=True), "playing", self._n_games(), "games") as step:
            step(n_games(self.reports))
            if request.jobs == 1:
                playing = Playing(networks.policy, networks.critic)
                self._iterate(partial(map, partial(playing, step=step)), step)
                return
            playing = Playing(networks.policy, networks.critic, threads=1)
            with ProcessMap(playing, request.jobs) as play:
                self._iterate(partial(_stepping, play, step), step)

    def _n_games(self) -> int:
        """Return how many games the whole run has."""
        left = self._request.iterations - len(self.reports)
        return n_games(self.reports) + left * self._request.tables

    def _iterate(self, play: Callable[[list[Shard]], Iterable[Played]], step: Step) -> None:
        request = self._request
        while len(self.reports) < request.iterations:
            number = len(self.reports)
            shards = shards_of(request, number, self.networks.weights())
            games = Played.joined(list(play(shards)), request.device)
            report = self._learn(games, np.random.default_rng([request.seed, number, 1]))
            report["games"] = float(request.tables)
            self.reports.append(report)
            self._save()
            note = ", ".join(f"{name} {value:.4f}" for name, value in report.items())
            step(0, note=f"iteration {number + 1}: {note}")

    def kept(self) -> str:
        """Return what is in the folder by now, for the user."""
        n = len(self.reports)
        return f"kept in {self._run.folder}: {n} iterations; the same command resumes"

    def _learn(self, games: Played, random: np.random.Generator) -> Report:
        ended = np.isfinite(games.advantages)
        report = {
            "value error": float(np.mean(games.advantages[ended] ** 2)),
            "reward variance": float(np.var(games.rewards)),
            "return variance": float(np.var(games.returns[ended])),
        }
        passes = float(WARM_UP_PASSES)
        if len(self.reports) >= self._request.warm_up:
            passes = CRITIC_SHARE
            report |= self._improve(games, random)
        rows = np.flatnonzero(ended)
        while passes > 0:
            order = random.permutation(rows)
            some = order[: int(min(passes, 1.0) * len(order))]
            self._fit_critic(games.inputs, games.returns, some)
            passes -= 1
        return report

    def _fit_critic(self, inputs: Inputs, returns: NDArray[np.float32], rows: Ints) -> None:
        for start in range(0, len(rows) - CRITIC_BATCH + 1, CRITIC_BATCH):
            some = np.sort(rows[start : start + CRITIC_BATCH])
            with half_precision(self._request.device):
                values = self.networks.learning_critic(*inputs.take(some, True))
            wanted = torch.from_numpy(returns[some]).to(values.device)
            loss = functional.mse_loss(values.float(), wanted)
            self.networks.critic_fit.learn(10 * loss)

    def _improve(self, games: Played, random: np.random.Generator) -> Report:
        inputs, questions = games.inputs, games.questions
        gained = games.advantages[questions.rows]
        spread = float(np.std(gained)) + 1e-8
        gained = (gained - gained.mean()) / spread
        first = self._first_probabilities(inputs, questions)
        self._walk = walk = Walk(self.reports, self._request.rate, self._request.target_kl)

        def batch(numbers: Ints) -> QuestionBatch:
            asked = questions.take(numbers)
            return QuestionBatch(
                inputs.take(asked.rows, False),
                *(asked.kinds, asked.choices, asked.legal),
                torch.from_numpy(asked.made.astype(np.float32)).to(first.device),
                torch.from_numpy(gained[numbers]).to(first.device),
                first[torch.from_numpy(numbers).to(first.device)],
            )

        steps, n = 0, len(questions.rows)
        for _ in range(self._request.passes):
            for step in steps_of(random.permutation(n), self._request.tables, self._batch):
                if walk.moved > STOP * self._request.target_kl:
                    break
                losses = (self._loss(batch(np.sort(some))) / len(step) for some in step)
                self.networks.policy_fit.learn_from(losses, walk.rate)
                steps += 1
        return {
            "questions": float(n),
            "advantage": spread,
            "steps": float(steps),
            **walk.report(),
        }

    def _loss(self, batch: QuestionBatch) -> Tensor:
        """Return what a step of the policy makes smaller, for some decisions; note the figures.

        The divergence from the policy that played is estimated by r - 1 - log r of the ratio r of
        the choices' probabilities.
        """
        self.networks.policy.train()
        with half_precision(self._request.device):
            early, late = self.networks.learning_policy(*batch.inputs)
        now = log_probabilities(late, batch.kinds, batch.legal, TEMPERATURE)
        shares = now.exp()
        choices = torch.from_numpy(batch.choices).to(now.device)
        change = now.gather(1, choices[:, None])[:, 0] - batch.made
        ratio_ = torch.exp(change)
        clipped = ratio_.clamp(1 - CLIP, 1 + CLIP)
        objective = torch.minimum(ratio_ * batch.gain, clipped * batch.gain).mean()
        divergence = (shares * (now - batch.first)).sum(1).mean()
        entropy = -(shares * now).sum(1).mean()
        target = log_probabilities(late, batch.kinds, batch.legal, 1.0).detach().exp()
        early_loss = -(target * log_probabilities(early, batch.kinds, batch.legal, 1.0)).sum(1)
        loss = self._request.kl * divergence - objective + EARLY_SHARE * early_loss.mean()
        loss = loss - self._walk.bonus * entropy
        before = -(batch.first.exp() * batch.first).sum(1).mean()
        moved = (ratio_ - 1 - change).mean()
        figures = (objective, divergence, entropy, before - entropy, moved)
        self._walk.add(torch.stack(figures).tolist())
        return loss

    def _first_probabilities(self, inputs: Inputs, questions: Questions) -> Tensor:
        """Return the log probabilities of the network at the start: [questions, 34]."""
        found = []
        for start in range(0, len(questions.rows), self._batch):
            some = slice(start, start + self._batch)
            with torch.no_grad(), half_precision(self._request.device):
                late = self.networks.start(*inputs.take(questions.rows[some], False))[-1]
                kinds, legal = questions.kinds[some], questions.legal[some]
                found.append(log_probabilities(late, kinds, legal, TEMPERATURE))
        return torch.cat(found) if found else torch.zeros(0, 34)

    def _save(self) -> None:
        networks, run = self.networks, self._run
        state = {"policy": networks.policy_fit.state(), "critic": networks.critic_fit.state()}
        write_checkpoint(run, CHECKPOINT, state | {"reports": self.reports})
        run.write(CURVE, self._write_curve)
        claim_weights(run, NAME)
        manifest = make_manifest(self._request, self.reports)
        save_weights(NAME, networks.averaged(), manifest, run.folder)
        save_weights(NAME, networks.last(), manifest, run.folder / LAST)

    def _write_curve(self, stream: BinaryIO) -> None:
        columns = list(dict.fromkeys(name for report in self.reports for name in report))
        text = io.StringIO()
        writer = csv.DictWriter(text, ["iteration", *columns], lineterminator="\n")
        writer.writeheader()
        for number, report in enumerate(self.reports, 1):
            row = {name: format(value, ".6g") for name, value in report.items()}
            writer.writerow({"iteration": number, **row})
        stream.write(text.getvalue().encode())

    def _restore(self, state: dict[str, Any]) -> None:
        self.networks.policy_fit.restore(state["policy"])
        self.networks.critic_fit.restore(state["critic"])
        self.reports = state["reports"]


class Walk:
    """How the policy moves in an iteration: its rate, the bonus on entropy, and the figures.

    Rate and bonus continue from the report of the iteration before.
    """

    def __init__(self, reports: Sequence[Report], rate: float, target: float) -> None:
        before = reports[-1] if reports and "rate" in reports[-1] else None
        self.rate = rate
        """Learning rate of the iteration."""
        if before:
            self.rate = adapted_rate(before["rate"], before["moved at the end"], target)
        self.moved = 0.0
        """Nats from the policy that played: a moving mean over batches."""
        self.sharper = before["entropy below the start's"] if before else 0.0
        """Nats of entropy that the policy has less than the start: a moving mean over batches."""
        self._figures: Final[list[Sequence[float]]] = []

    @property
    def bonus(self) -> float:
        """The bonus on a nat of entropy, in spreads of advantage."""
        return ENTROPY * self.sharper

    def add(self, figures: Sequence[float]) -> None:
        """Add those of a batch: objective, divergence, entropy, how much less, moved."""
        self._figures.append(figures)
        self.sharper += NEWEST * (figures[3] - self.sharper)
        self.moved += NEWEST * (figures[4] - self.moved)

    def report(self) -> Report:
        """Return the means of an iteration, and what the next one continues from."""
        names = ("objective", "divergence", "entropy")
        means = np.mean(self._figures, axis=0) if self._figures else np.zeros(5)
        return {
            **dict(zip(names, means.tolist(), strict=False)),
            "entropy below the start's": self.sharper,
            "moved at the end": self.moved,
            "rate": self.rate,
        }


def steps_of(order: Ints, hanchan: int, batch: int) -> list[NDArray[np.int64]]:
    """Divide decisions of some hanchan into steps: each int[batches, batch]; a rest is left out."""
    batches = order[: len(order) // batch * batch].reshape(-1, batch)
    steps = min(max(round(hanchan / STEP_HANCHAN), 1), len(batches))
    return np.array_split(batches, steps) if steps else []


def shards_of(request: SelfPlayRequest, number: int, weights: list[Weights]) -> list[Shard]:
    """Return what each process plays in an iteration: consecutive walls."""
    wall = FIRST_WALL * (1 + request.seed) + WALLS_OF_ITERATION * number
    shards = []
    for job, tables in enumerate(np.array_split(np.arange(request.tables), request.jobs)):
        random = request.seed, number, 0, job
        first = wall + int(tables[0])
        shards.append(Shard(weights, len(tables), first, random, request.length))
    return shards


def _stepping(
    play: Callable[[list[Shard]], Iterable[Played]], step: Step, shards: list[Shard]
) -> Iterator[Played]:
    """Yield what processes have played, and report it."""
    for shard, played in zip(shards, play(shards), strict=True):
        step(shard.n)
        yield played


def log_probabilities(
    outputs: tuple[Tensor, Tensor], kinds: Ints, legal: NDArray[np.bool_], temperature: float
) -> Tensor:
    """Return the log probabilities of each question's answers: [n, 34], -1e9 if illegal."""
    logits = logits_of_questions(outputs, kinds, legal) / temperature
    illegal = ~torch.from_numpy(legal).to(logits.device)
    return functional.log_softmax(logits, 1).masked_fill(illegal, -1e9)


# --- the command -------------------------------------------------------------------------------


def train(request: SelfPlayRequest) -> Learned:
    """Play, learn and save; raises ``OSError`` and :class:`~mjbot.runtime.errors.MjbotError`."""
    if request.mean_of:
        return _averaged(request)
    _require_device(request.device)
    folder = request.folder or RUNS / f"train-self-play-{request.seed}"
    if request.fresh:
        erase_run(folder)
    with RunFolder(folder, "self-play") as run:
        self_play = SelfPlayRun(request, run)
        with keeping(self_play.kept):
            self_play.play()
        out = request.out or claim_weights(run, NAME)
    manifest = make_manifest(request, self_play.reports)
    return Learned(NAME, save_weights(NAME, self_play.networks.averaged(), manifest, out), out)


def _averaged(request: SelfPlayRequest) -> Learned:
    """Save the mean of the weights of some runs."""
    learned = [load_network(run).arrays() for run in request.mean_of]
    if len({tuple(array.shape for array in arrays.values()) for arrays in learned}) > 1:
        raise TrainingError(OTHER_SIZES)
    weights = {
        name: np.mean([arrays[name] for arrays in learned], axis=0).astype(np.float16)
        for name in learned[0]
    }
    manifest = mean_manifest(NAME, request.mean_of, PLAYED)
    out = request.out or RUNS / "train-self-play-mean"
    return Learned(NAME, save_weights(NAME, weights, manifest, out), out)


def _require_device(name: str) -> None:
    """Raise :class:`~mjbot.runtime.errors.ArgumentError` where torch cannot compute on a device."""
    try:
        torch.zeros(1, device=name).cpu()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ArgumentError(f"--device {name}: {first_line(error)}; or leave it out") from None


def n_games(reports: Sequence[Report]) -> int:
    """Return how many games the iterations had."""
    return round(sum(report["games"] for report in reports))


def make_manifest(request: SelfPlayRequest, reports: Sequence[Report]) -> Manifest:
    """Return the manifest of the weights after some iterations: the start's scores are not its."""
    before, games = load_manifest(NAME, request.start), n_games(reports)
    return Manifest(
        data=f"{before.data}; {games} {request.length} against itself",
        command=f"{before.command}; {command_of(COMMAND, request)}",
        seed=request.seed,
        scores={PLAYED: games},
    )
