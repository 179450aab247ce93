"""``mjbot train fast-policy COLUMNS``: the fast policy, from columns of decisions.

Each row is one decision; its loss is the cross-entropy to the recorded choice.  The number of rows
of each kind in a batch is fixed, pass after pass over each kind.  Adam, with a rate that rises over
the first fiftieth of the rows and falls along half a cosine; the result is the mean of the last
weights. Rows are encoded each time they are used, which takes less time than reading stored
encodings.

A run can be resumed after a kill: every :data:`STEPS_KEPT` steps all that the next step needs is
written, and which rows come when follows from the seed and the number of the step.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from mjbot.game.table.legal import legal_codes
from mjbot.learning.models.fast_policy.ally import NO_ALLY
from mjbot.learning.models.fast_policy.candidates import (
    CALL_CHI,
    DISCARD,
    N_QUESTIONS,
)
from mjbot.learning.models.fast_policy.choice import FastPolicy, ask, policy_of
from mjbot.learning.models.fast_policy.network import (
    MOST_UNITS,
    NAME,
    PolicyWeights,
    Units,
    load_network,
    packed,
    units_of,
    unpacked,
    weights_in,
)
from mjbot.learning.models.fast_policy.reading import (
    MOST_CANDIDATES,
    PLAIN_INPUTS,
    TO_ALLY,
    Reading,
    read_table,
)
from mjbot.learning.models.weights import Manifest, save_weights
from mjbot.learning.training import runs
from mjbot.learning.training.fast_policy.gradients import (
    AdamMoments,
    Errors,
    adam_step,
    add_gradients,
    new_errors,
)
from mjbot.learning.training.fast_policy.requests import ImitationPlan, ImitationRequest
from mjbot.learning.training.networks import decisions as columns
from mjbot.learning.training.networks.scores import manifest_figures, scores_of
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.vectors import LANES
from mjbot.runtime.interruption import keeping
from mjbot.runtime.progress import progress
from mjbot.runtime.requests import command_of

STEPS_KEPT: Final = 1000
MEAN_STEPS: Final = 2000
KEPT: Final = "fast-policy-run.npz"
MOST_CLASSES: Final = 34

Ints = NDArray[np.int64]


@compiled
def answer_row(policy: FastPolicy, state: Any, seat: int, question: int) -> int:
    """Answer a recorded question; return how many candidates it has, 0 if it does not arise."""
    n_codes = legal_codes(state, seat, policy.codes)
    if n_codes == 0:
        return 0
    context = read_table(state, seat, policy.danger, policy.reading, NO_ALLY)
    return ask(policy, question, state, seat, n_codes, context)


@compiled
def class_of(reading: Reading, question: int, n: int, candidate: int) -> int:
    """Return the class of a candidate in the columns: a kind, or 0 for "no", 1 and more for yes."""
    if question == DISCARD:
        return int(reading.choices[candidate])
    if candidate == n:
        return 0
    return int(1 + reading.choices[candidate]) if question == CALL_CHI else 1


@compiled
def learn_rows(
    policy: FastPolicy,
    states: NDArray[np.void],
    rows: NDArray[np.void],
    targets: NDArray[np.float32],
    errors: Errors,
    gradients: PolicyWeights,
) -> float:
    """Add the gradients of rows with targets [n, MOST_CLASSES]; return the sum of their losses."""
    loss = 0.0
    for place in range(len(rows)):
        question = rows[place].kind
        n = answer_row(policy, states[place], rows[place].seat, question)
        if n == 0:
            continue
        chances, total = policy.layers.chances, np.float32(0)
        last = n if question == DISCARD else n + 1
        for candidate in range(last):
            total += targets[place, class_of(policy.reading, question, n, candidate)]
        if total <= 0:
            continue
        for candidate in range(last):
            share = targets[place, class_of(policy.reading, question, n, candidate)] / total
            errors.scores[candidate] = chances[candidate] - share
            if share > 0:
                loss -= share * np.log(max(chances[candidate], np.float32(1e-9)))
        add_gradients(policy.weights, policy.reading, policy.layers, question, n, errors, gradients)
    return loss


@compiled
def write_row_chances(
    policy: FastPolicy,
    states: NDArray[np.void],
    rows: NDArray[np.void],
    out: NDArray[np.float32],
) -> None:
    """Write the chances of each row's classes: float32[n, MOST_CLASSES]."""
    out[:] = 0
    for place in range(len(rows)):
        question = rows[place].kind
        n = answer_row(policy, states[place], rows[place].seat, question)
        for candidate in range(n if question == DISCARD else n + 1):
            number = class_of(policy.reading, question, n, candidate)
            out[place, number] = policy.layers.chances[candidate] if n else 1


class BatchSource:
    """Rows of all kinds, taken by their places."""

    def __init__(self, parts: Sequence[columns.Decisions], players: int = 4) -> None:
        self.players: Final = players
        self._bytes = [columns.bytes_of(part.states) for part in parts]
        self._rows = [np.asarray(part.rows) for part in parts]
        self._dtype = parts[0].states.dtype
        self.sizes: Final = [len(rows) for rows in self._rows]

    def batch(self, places: Sequence[Ints]) -> tuple[NDArray[np.void], NDArray[np.void]]:
        """Return tables and rows of some places of each kind."""
        states = [part[at] for part, at in zip(self._bytes, places, strict=True)]
        rows = [part[at] for part, at in zip(self._rows, places, strict=True)]
        tables: Any = np.concatenate(states).view(self._dtype)[:, 0]
        return tables, np.concatenate(rows)


def hard_targets(rows: NDArray[np.void]) -> NDArray[np.float32]:
    """Return 1 for what was done: float32[n, MOST_CLASSES]."""
    targets = np.zeros((len(rows), MOST_CLASSES), np.float32)
    targets[np.arange(len(rows)), rows["choice"]] = 1
    return targets


class ImitationRun:
    """One plan in its folder."""

    def __init__(
        self,
        plan: ImitationPlan,
        source: BatchSource,
        check: BatchSource,
        folder: runs.RunFolder,
        start: Path | None,
    ) -> None:
        self._plan: Final = plan
        self._source: Final = source
        self._check: Final = check
        self._folder: Final = folder
        weights = initial_weights(plan)
        if start:
            embed(load_network(start), weights)
        self._units: Final = units_of(weights)
        self._numbers: Final = np.concatenate(weights)
        zeros = np.zeros((3, len(self._numbers)), np.float32)
        self._gradients: Final = zeros[0]
        self._moments: Final = AdamMoments(zeros[1], zeros[2], self._numbers.copy())
        self._policy: Final = policy_of(weights_in(self._numbers, self._units), source.players)
        self._errors: Final = new_errors(MOST_CANDIDATES)
        self._step = 0
        self._counts: Final = batch_counts(plan, source.sizes)
        self._orders: dict[int, tuple[int, Ints]] = {}

    def learn(self) -> PolicyWeights:
        """Learn to the end of the plan, from where the folder has it; return the mean weights."""
        self._resume()
        plan, loss, count = self._plan, 0.0, 0
        with progress(Console(stderr=True), "learning", plan.rows, "rows") as report:
            report(self._step * plan.batch)
            while self._step < plan.steps:
                loss += self._learn_from(self._places(self._step))
                count += plan.batch
                self._step += 1
                report(plan.batch)
                if self._step % STEPS_KEPT == 0 or self._step == plan.steps:
                    self._keep()
                    held_out = self._held_out()
                    report(0, note=f"loss {loss / count:.4f}, held out {held_out:.4f}")
                    loss, count = 0.0, 0
        return weights_in(self._moments.mean, self._units)

    def kept(self) -> str:
        """Return what the folder holds by now."""
        rows = self._step // STEPS_KEPT * STEPS_KEPT * self._plan.batch
        return f"kept in {self._folder.folder}: {rows} rows learned; the same command resumes"

    def _places(self, step: int) -> list[Ints]:
        """Return the rows of a step: of each kind pass after pass, each in its own order."""
        found = []
        for kind, n in enumerate(self._source.sizes):
            at = np.arange(step * self._counts[kind], (step + 1) * self._counts[kind])
            parts = [
                self._order(kind, int(number))[at[at // n == number] % n]
                for number in np.unique(at // max(n, 1))
            ]
            found.append(np.concatenate([np.zeros(0, np.int64), *parts]))
        return found

    def _order(self, kind: int, number: int) -> Ints:
        if self._orders.get(kind, (-1,))[0] != number:
            random = np.random.default_rng([self._plan.seed, kind, number])
            self._orders[kind] = number, random.permutation(self._source.sizes[kind])
        return self._orders[kind][1]

    def _learn_from(self, places: Sequence[Ints]) -> float:
        plan = self._plan
        states, rows = self._source.batch(places)
        gradients = weights_in(self._gradients, self._units)
        targets = hard_targets(rows)
        loss = learn_rows(self._policy, states, rows, targets, self._errors, gradients)
        np.divide(self._gradients, len(rows), out=self._gradients)
        done = self._step / plan.steps
        rate = plan.rate * min(1.0, 50 * done + 0.01) * 0.5 * (1 + np.cos(np.pi * done))
        kept = 1 - max(1 / MEAN_STEPS, 9 / (10 + self._step))
        adam_step(self._numbers, self._gradients, self._moments, self._step + 1, float(rate), kept)
        return float(loss)

    def _held_out(self) -> float:
        policy = policy_of(weights_in(self._moments.mean, self._units), self._source.players)
        chances, rows = chances_of(policy, self._check)
        made = chances[np.arange(len(rows)), rows["choice"]]
        return float(-np.log(np.maximum(made, 1e-7)).mean())

    def _keep(self) -> None:
        state = {**self._moments._asdict(), "numbers": self._numbers, "step": np.array(self._step)}
        self._folder.write(KEPT, lambda stream: np.savez(stream, **state))

    def _resume(self) -> None:
        if path := self._folder.kept(KEPT):
            state = runs.load_kept(path, ("numbers", "step", *AdamMoments._fields))
            self._step = int(state["step"])
            self._numbers[:] = state["numbers"]
            for name, array in self._moments._asdict().items():
                array[:] = state[name]


def initial_weights(plan: ImitationPlan) -> PolicyWeights:
    """Return random weights: those of a layer so that its sums keep their size, rows small."""
    random, units = np.random.default_rng(plan.seed), Units(plan.first, plan.second)
    weights = weights_in(np.zeros(units.n_weights, np.float32), units)
    spreads = {"rows": 0.03, "context": 0.1, "inputs": 0.2}
    spreads |= {"second": 0.2 * (48 / units.first) ** 0.5, "last": 0.2 * (32 / units.second) ** 0.5}
    for name, spread in spreads.items():
        array = getattr(weights, name)
        array[:] = random.normal(0, spread, array.shape)
    if not plan.plans:
        weights.inputs.reshape(units.shapes["inputs"])[:, PLAIN_INPUTS:TO_ALLY] = 0
    return weights


def embed(narrow: PolicyWeights, weights: PolicyWeights) -> None:
    """Make a network give the answers of one with as many units or fewer; the others may learn.

    What leads to the other units stays as it is, what leads from them to those of the narrow one
    becomes 0.  Raises :class:`~mjbot.learning.training.runs.TrainingError` where it is the wider
    one.
    """
    units, few = units_of(weights), units_of(narrow)
    if few.first > units.first or few.second > units.second:
        problem = f"has {few.first} and {few.second} units; --first and --second: as many or more"
        raise runs.TrainingError(f"--start: {problem}")
    shapes, narrow_shapes = units.shapes, few.shapes
    weights.second.reshape(shapes["second"])[:, few.first :, : few.second] = 0
    weights.last.reshape(shapes["last"])[:, few.second :] = 0
    for name, array in narrow._asdict().items():
        part = tuple(slice(size) for size in narrow_shapes[name])
        getattr(weights, name).reshape(shapes[name])[part] = array.reshape(narrow_shapes[name])


def batch_counts(plan: ImitationPlan, sizes: Sequence[int]) -> list[int]:
    """Return how many rows of a batch each kind has: none where there are no rows."""
    shares = [share if n else 0.0 for share, n in zip(plan.shares, sizes, strict=True)]
    ends = np.round(np.cumsum(shares) / sum(shares) * plan.batch).astype(int)
    return [int(count) for count in np.diff(ends, prepend=0)]


def chances_of(
    policy: FastPolicy, source: BatchSource, most: int = 8192
) -> tuple[NDArray[np.float32], NDArray[np.void]]:
    """Return the chances of all rows, float32[n, MOST_CLASSES], and the rows, kind by kind."""
    chances, rows = [], []
    nothing = np.zeros(0, np.int64)
    for kind, size in enumerate(source.sizes):
        for start in range(0, size, most):
            places = [nothing] * N_QUESTIONS
            places[kind] = np.arange(start, min(start + most, size))
            states, some = source.batch(places)
            found = np.empty((len(some), MOST_CLASSES), np.float32)
            write_row_chances(policy, states, some, found)
            chances.append(found)
            rows.append(some)
    return np.concatenate(chances), np.concatenate(rows)


# --- the command -------------------------------------------------------------------------------


def train(request: ImitationRequest) -> runs.Learned:
    """Learn, check and save.

    Raises ``OSError`` and :class:`~mjbot.runtime.errors.MjbotError`.
    """
    if not Units(request.first, request.second).is_possible:
        raise runs.TrainingError(f"--first, --second: multiples of {LANES} up to {MOST_UNITS}")
    columns.check_distinct(request.data, players=(3, 4))
    learned = opened(request.data[0], request.games.start, request.games.stop)
    stop = 1 + max((int(part.rows["game"][-1]) for part in learned if len(part.rows)), default=0)
    middle = stop - request.held_out
    info = columns.check_data(request.data[0])
    source = BatchSource([part.of_games(0, middle) for part in learned], info.players)
    held_out = BatchSource([part.of_games(middle, stop) for part in learned])
    if not (source.sizes[DISCARD] and sum(held_out.sizes)):
        raise runs.TrainingError("there are no games to learn from; widen --games")
    folder = request.folder or runs.RUNS / f"train-fast-policy-{request.plan.seed}"
    if request.fresh:
        runs.erase_run(folder)
    with runs.RunFolder(folder, "fast-policy") as run_folder:
        run = ImitationRun(request.plan, source, held_out, run_folder, request.start)
        with keeping(run.kept):
            weights = run.learn()
        scores: dict[str, Any] = {
            "rows shown": request.plan.steps * request.plan.batch,
            "weights": sum(map(len, weights)),
        }
        scores |= scores_on(weights, request.data, stop)
        out = request.out or runs.claim_weights(run_folder, NAME)
    manifest = Manifest(
        data=f"games {request.games.start}:{stop} of {info.data}",
        command=command_of("mjbot train fast-policy", request),
        seed=request.plan.seed,
        scores=scores,
    )
    return runs.Learned(NAME, save_weights(NAME, packed(weights), manifest, out), out)


def opened(folder: Path, start: int, stop: int | None) -> list[columns.Decisions]:
    """Return the columns of all kinds, of some games."""
    last = 1 << 30 if stop is None else stop
    return [columns.open_decisions(folder, kind).of_games(start, last) for kind in columns.KINDS]


def scores_on(weights: PolicyWeights, data: Sequence[Path], stop: int) -> dict[str, Any]:
    """Return the figures of the weights as they are saved, on games that were not learned from."""
    saved = unpacked(packed(weights), Path(NAME))
    scores: dict[str, Any] = {}
    for place, folder in enumerate(data):
        parts = opened(folder, 0 if place else stop, None)
        if not any(len(part.rows) for part in parts):
            continue
        players = columns.check_data(folder).players
        chances, rows = chances_of(policy_of(saved, players), BatchSource(parts))
        for number, kind in enumerate(columns.KINDS):
            of_it = rows["kind"] == number
            found = scores_of(kind, chances[of_it, : columns.N_CHOICES[kind]], rows[of_it])
            scores |= {
                f"{folder.name}, {kind}: {figure}": value
                for figure, value in manifest_figures(found).items()
            }
    return scores
