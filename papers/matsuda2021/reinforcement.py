"""``python -m papers train-reinforce``: reinforcement learning as planned by Matsuda and Ito 2021.

As in the paper: DQN from the weights of the five supervised networks, without
dropout, against three of those networks, which stay as they are; in each choice a random one with
the chance epsilon = max(1 - episode / 90,000, 0.01); 150,000 episodes (1.5 million is printed, but
60 % of them is 90,000); the reward of a kyoku is the final rank that the rank model predicts before
it less that after it (of a finished game, the rank that it is).

Open in the paper, and decided here: an episode is a kyoku of the one learning seat; wins are
taken, kyoku never aborted, and of several kans the first is declared, as there is no network for
these; riichi, kan, pon, chi and discard are evaluated in this order, each only where there are two
answers, and "no" leads to the next question; a random choice is drawn evenly among the legal
answers of the *one* question.  Our supervised weights end in logits, several units apart, while
choices differ by some hundredths of a rank: the last layer is scaled by :data:`VALUE_OF_LOGIT`,
which changes no choice.  The numbers of the learner are in :mod:`papers.matsuda2021.q_learning`.

``--epsilon-from`` below 1 is the control: epsilon from 1 throws the imitation away.

An *iteration* lies between two evaluations: all tables restart, play, learn, and kyoku not over at
its end are dropped.  Then the networks play greedily, on walls of their own that are the same in
every evaluation, and the state of the run (networks, copy, Adam, memory) is saved: after a kill the
same command resumes at the last evaluation and ends with the same weights, on one machine with
as many threads (a GPU, which is used where there is one, does not add in the same order each time).
"""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from mjbot.game.statistics.estimates import LEAST_ALIKE, Estimate, ratio
from mjbot.game.table.settle import ranks_of
from mjbot.learning.env import BatchEnv, DecisionRows
from mjbot.learning.models.weights import Manifest, save_weights
from mjbot.learning.training.fit import resume, write_checkpoint
from mjbot.learning.training.networks.decisions import KINDS, Answer, actions_of
from mjbot.learning.training.runs import RUNS, Learned, RunFolder, claim_weights, erase_run, torch
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.sources import source_digest
from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.interruption import keeping
from mjbot.runtime.progress import Step, progress
from mjbot.runtime.requests import command_of
from papers.matsuda2021.networks import VERSION, Layer, PaperNetwork
from papers.matsuda2021.planes import PLANES_SHAPE, write_paper_planes
from papers.matsuda2021.q_learning import (
    LEARN_EVERY,
    LEAST_STEPS,
    MEMORY_STEPS,
    Ints,
    Legal,
    Memory,
    Networks,
    Planes,
    QLearner,
)
from papers.matsuda2021.requests import ReinforceRequest

EPSILON_EPISODES: Final = 90_000
LEAST_EPSILON: Final = 0.01
VALUE_OF_LOGIT: Final = 0.02
"""Ranks for one unit of the supervised logits, which are 7 at the top on average."""

LEARNING: Final = 0
FROZEN: Final = 1
"""As players of the environment."""
NO_STEP: Final = -1

FIRST_WALL: Final = 1_000_000_000
WALLS_OF_ITERATION: Final = 1_000_000
EVALUATION_WALL: Final = 900_000_000_000_000
"""Walls of evaluations; no run reaches them."""

CURVE_FILE: Final = "curve.json"

Choose = Callable[[int, Planes, Legal], Ints]
"""The same of a player, without the rows."""


class CurvePoint(msgspec.Struct, frozen=True, kw_only=True):
    """One point of the curve: the episodes since the last evaluation, and greedy play after them.

    Rewards are ranks won in a kyoku; ``low`` to ``high`` is the 95 % interval of ``mean_rank``, a
    wall with its four seatings one observation.  ``processor_s`` is of the whole run so far.
    """

    episode: int
    epsilon: float
    reward: float
    steps: float
    loss: float
    greedy_reward: float
    mean_rank: float
    low: float
    high: float
    games: int
    batches: int
    processor_s: float


def train(request: ReinforceRequest) -> list[Learned]:
    """Play and learn up to the last episode; return the five networks as they are then.

    Raises ``OSError`` and :class:`~mjbot.runtime.errors.MjbotError`.
    """
    torch()
    _check(request)
    name = f"train-reinforce-{request.seed}-{request.epsilon_from:g}"
    folder = request.folder or RUNS / name
    if request.fresh:
        erase_run(folder)
    with RunFolder(folder, "reinforce") as run:
        run_state = ReinforcementRun(request, run)
        kept = f"kept in {run.folder}: up to the last evaluation; run the same command to resume"
        with keeping(lambda: kept):
            run_state.play()
            return run_state.save_networks()


def _check(request: ReinforceRequest) -> None:
    if min(request.episodes, request.tables, request.look_every) < 1:
        raise ArgumentError("--episodes, --tables and --look-every: at least 1")
    if request.tables % 4 or request.look_games % 4 or request.look_games < 4 * LEAST_ALIKE:
        least = f"--look-games at least {4 * LEAST_ALIKE}, for the interval"
        raise ArgumentError(f"--tables and --look-games: multiples of 4, {least}")
    if not 0 <= request.epsilon_from <= 1:
        raise ArgumentError("--epsilon-from: 0 to 1")


def epsilon_at(episode: int, epsilon_from: float = 1.0) -> float:
    """Return the chance of a random choice.

    >>> epsilon_at(0), epsilon_at(45_000), epsilon_at(150_000), epsilon_at(45_000, 0.1)
    (1.0, 0.5, 0.01, 0.05)
    """
    return max(epsilon_from * (1 - episode / EPSILON_EPISODES), LEAST_EPSILON)


# --- inputs of the networks, and the meaning of their outputs ----------------------------------


def planes_of(env: BatchEnv, rows: DecisionRows) -> Planes:
    """Return what the seats of rows see: uint8[rows, 34, 4, 17]."""
    planes = np.empty((len(rows.tables), *PLANES_SHAPE), np.uint8)
    _write_planes(env.states, rows.tables, rows.seats, planes)
    return planes


@compiled
def _write_planes(states: NDArray[Any], tables: Ints, seats: Ints, out: Planes) -> None:
    for row in range(len(tables)):
        write_paper_planes(states[tables[row]], seats[row], out[row])


def seating(n_tables: int) -> NDArray[np.int8]:
    """Return the players of tables: the learning one sits at seat ``table & 3``."""
    players = np.full((n_tables, 4), FROZEN, np.int8)
    players[np.arange(n_tables), np.arange(n_tables) & 3] = LEARNING
    return players


def _actions_at(env: BatchEnv, rows: DecisionRows, learning: Answer, frozen: Choose) -> Ints:
    """Return an action of each row, as the learning and the other seats answer."""
    learns = env.players[rows.tables, rows.seats] == LEARNING

    def answer(kind: int, asked: Ints, planes: Planes, legal: Legal) -> Ints:
        choices, own = np.empty(len(asked), np.int64), learns[asked]
        if own.any():
            choices[own] = learning(kind, asked[own], planes[own], legal[own])
        if not own.all():
            choices[~own] = frozen(kind, planes[~own], legal[~own])
        return choices

    return actions_of(rows, env.at_kan[rows.tables], planes_of(env, rows), answer)


class Episodes:
    """Tables where one seat learns: its questions become steps of the memory, its kyoku episodes.

    ``learning`` and ``frozen`` answer for a kind, given planes and legal classes.
    """

    def __init__(
        self,
        env: BatchEnv,
        memory: Memory,
        learning: Choose,
        frozen: Choose,
    ) -> None:
        self.env: Final = env
        self._memory: Final = memory
        self._learning: Final = learning
        self._frozen: Final = frozen
        self._last: Final = np.full(env.n_tables, NO_STEP, np.int64)
        self._seats: Final = (env.players == LEARNING).argmax(axis=1)
        env.reset()

    def play(self) -> NDArray[np.float64]:
        """Carry out one step of all tables; return the rewards of the episodes that ended."""
        env, rows = self.env, self.env.rows

        def remembered(kind: int, asked: Ints, planes: Planes, legal: Legal) -> Ints:
            choices = self._learning(kind, planes, legal)
            places = self._memory.add(kind, planes, legal, choices)
            self._note(rows.tables[asked], places)
            return choices

        env.step(_actions_at(env, rows, remembered, self._frozen))
        ended = np.flatnonzero(env.kyoku_ends)
        rewards = np.asarray(env.rewards[ended, self._seats[ended]], np.float64)
        had_steps = self._last[ended] != NO_STEP
        self._memory.end(self._last[ended[had_steps]], rewards[had_steps])
        self._last[ended] = NO_STEP
        return rewards

    def _note(self, tables: Ints, places: Ints) -> None:
        before = self._last[tables]
        goes_on = before != NO_STEP
        self._memory.follow(before[goes_on], places[goes_on])
        self._last[tables] = places


# --- the run -----------------------------------------------------------------------------------


class ReinforcementRun:
    """The state of a run; :meth:`play` resumes from the folder."""

    def __init__(self, request: ReinforceRequest, run: RunFolder) -> None:
        self.episode = 0
        self.curve: list[CurvePoint] = []
        self._request: Final = request
        self._run: Final = run
        device = "cuda" if torch().cuda.is_available() else "cpu"
        supervised = {kind: PaperNetwork.load(kind, request.weights).layers for kind in KINDS}
        self._frozen: Final = Networks(supervised, device)
        first = {kind: _as_values(layers) for kind, layers in supervised.items()}
        self.learner: Final = QLearner(first, Memory(MEMORY_STEPS), device)
        settings = f"{request.seed}-{request.epsilon_from}-{request.tables}"
        evaluations = f"{request.look_every}-{request.look_games}"
        self._file: Final = f"reinforce-{settings}-{evaluations}-{source_digest(__name__)[-8:]}.pt"
        self._seconds = 0.0
        self._started = time.process_time()

    def play(self) -> None:
        """Play iterations up to the last episode; evaluate before the first and after each."""
        resume(self._run, self._file, self._restore)
        request = self._request
        with progress(Console(stderr=True), "learning", request.episodes, "episodes") as step:
            step(self.episode)
            if not self.curve:
                self._evaluate([], 0.0, 0)
            while self.episode < request.episodes:
                self._play_iteration(step)

    def _play_iteration(self, step: Step) -> None:
        request, learner = self._request, self.learner
        iteration = len(self.curve)
        dice = np.random.default_rng([request.seed, iteration])
        wall = FIRST_WALL * (1 + request.seed) + WALLS_OF_ITERATION * iteration
        env = BatchEnv(request.tables, wall, reward="rank-model", players=seating(request.tables))
        episodes = Episodes(env, learner.memory, self._explorer(dice), self._frozen.best)
        stop = min(self.episode + request.look_every, request.episodes)
        rewards: list[float] = []
        losses: list[float] = []
        steps = learner.memory.steps
        while self.episode < stop:
            counts = episodes.play().tolist()
            rewards += counts
            self.episode += len(counts)
            step(len(counts), note=self._note())
            while learner.memory.steps > LEAST_STEPS + LEARN_EVERY * learner.batches:
                losses.append(learner.learn(dice))
        self._evaluate(rewards, float(np.mean(losses or [0])), learner.memory.steps - steps)

    def _explorer(self, dice: np.random.Generator) -> Choose:
        """Return what answers for the learning seat: at random with the chance epsilon."""

        def answer(kind: int, planes: Planes, legal: Legal) -> Ints:
            choices = np.where(legal, dice.random(legal.shape), -1).argmax(axis=1)
            greedy = dice.random(len(legal)) >= epsilon_at(self.episode, self._request.epsilon_from)
            if greedy.any():
                choices[greedy] = self.learner.networks.best(kind, planes[greedy], legal[greedy])
            return np.asarray(choices)

        return answer

    def _note(self) -> str:
        epsilon = epsilon_at(self.episode, self._request.epsilon_from)
        return f"epsilon {epsilon:.2f}, greedy mean rank {self.curve[-1].mean_rank:.3f}"

    def _evaluate(self, rewards: Sequence[float], loss: float, steps: int) -> None:
        request = self._request
        greedy_reward, rank = greedy_play(
            self.learner.networks, self._frozen, request.look_games, EVALUATION_WALL
        )
        n = max(len(rewards), 1)
        self.curve.append(
            CurvePoint(
                episode=self.episode,
                epsilon=round(epsilon_at(self.episode, request.epsilon_from), 4),
                reward=round(sum(rewards) / n, 4),
                steps=round(steps / n, 2),
                loss=round(loss, 5),
                greedy_reward=round(greedy_reward, 4),
                mean_rank=round(rank.value, 4),
                low=round(rank.low, 4),
                high=round(rank.high, 4),
                games=request.look_games,
                batches=self.learner.batches,
                processor_s=round(self._spent(), 1),
            )
        )
        self._save()

    def _spent(self) -> float:
        now = time.process_time()
        self._seconds += now - self._started
        self._started = now
        return self._seconds

    def save_networks(self) -> list[Learned]:
        """Write the five networks as ``reinforced-KIND``."""
        request, first, last = self._request, self.curve[0], self.curve[-1]
        scores: dict[str, float | int | str] = {
            "episodes": self.episode,
            "batches": last.batches,
            "epsilon from": request.epsilon_from,
            "games of a look": last.games,
            "mean rank, greedy, before": str(Estimate(first.mean_rank, first.low, first.high)),
            "mean rank, greedy, after": str(Estimate(last.mean_rank, last.low, last.high)),
            "processor s": round(last.processor_s),
        }
        manifest = Manifest(
            data=f"{self.episode} kyoku against three of the networks it began with",
            command=command_of("python -m papers train-reinforce", request),
            seed=request.seed,
            scores=scores,
        )
        paths = []
        for index, kind in enumerate(KINDS):
            name = f"reinforced-{kind}"
            out = request.out or claim_weights(self._run, name)
            arrays = _as_arrays(self.learner.networks.layers(index))
            paths.append(Learned(name, save_weights(name, arrays, manifest, out), out))
        return paths

    # --- what is kept ----------------------------------------------------------------------------

    def _save(self) -> None:
        curve = msgspec.json.format(msgspec.json.encode(self.curve), indent=1) + b"\n"
        kept = {
            "learner": self.learner.saved(),
            "episode": self.episode,
            "seconds": self._seconds,
            "curve": curve.decode(),
        }
        write_checkpoint(self._run, self._file, kept)
        self._run.write(CURVE_FILE, lambda stream: stream.write(curve))

    def _restore(self, kept: dict[str, Any]) -> None:
        self.learner.restore(kept["learner"])
        self.episode, self._seconds = kept["episode"], kept["seconds"]
        self.curve = msgspec.json.decode(kept["curve"], type=list[CurvePoint])


def greedy_play(
    learning: Networks, frozen: Networks, games: int, wall: int
) -> tuple[float, Estimate]:
    """Play hanchan, four on each wall, a seat of ``learning`` against three of ``frozen``.

    Returns the mean reward of its kyoku and its mean rank.
    """
    walls = wall + np.arange(games) // 4
    env = BatchEnv(games, walls, reward="rank-model", players=seating(games))
    seats = np.arange(games) & 3
    ranks, over = np.zeros(games), np.zeros(games, np.bool_)
    reward, kyoku = 0.0, 0
    rows = env.reset()

    def greedy(kind: int, asked: Ints, planes: Planes, legal: Legal) -> Ints:
        return learning.best(kind, planes, legal)

    while not over.all():
        plays = ~over[rows.tables]
        actions = rows.masks.argmax(axis=1)  # finished tables continue with any action
        some = DecisionRows(rows.tables[plays], rows.seats[plays], rows.masks[plays])
        actions[plays] = _actions_at(env, some, greedy, frozen.best)
        rows = env.step(actions)
        counts = (env.kyoku_ends > 0) & ~over
        reward += float(env.rewards[counts, seats[counts]].sum())
        kyoku += int(env.kyoku_ends[counts].sum())
        for table in np.flatnonzero(env.dones & ~over):
            ranks[table] = ranks_of(env.final_scores[table])[seats[table]]
        over |= env.dones
    by_wall = ranks.reshape(-1, 4).sum(axis=1)
    return reward / kyoku, ratio(by_wall, np.full(len(by_wall), 4.0))


def read_curve(folder: Path) -> list[CurvePoint]:
    """Return the evaluations of the run in a folder; :class:`ArgumentError` if there are none."""
    path = folder / CURVE_FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[CurvePoint])
    except (OSError, ValueError, RecursionError) as error:
        raise ArgumentError(f"{path}: cannot be read ({error})") from None


def _as_values(layers: Sequence[Layer]) -> list[Layer]:
    *trunk, last = layers
    return [*trunk, Layer(last.weights * VALUE_OF_LOGIT, last.bias * VALUE_OF_LOGIT)]


def _as_arrays(layers: Sequence[Layer]) -> Mapping[str, NDArray[Any]]:
    """Return layers as arrays that ``unpacked`` reads, not rounded: they ship nowhere."""
    arrays: dict[str, NDArray[Any]] = {"version": np.array([VERSION], np.int32)}
    for index, layer in enumerate(layers):
        arrays[f"weights_{index}"] = layer.weights
        arrays[f"scale_{index}"] = np.ones_like(layer.bias)
        arrays[f"bias_{index}"] = layer.bias
    return arrays
