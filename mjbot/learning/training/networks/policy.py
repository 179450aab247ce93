"""``mjbot train policy COLUMNS``: the learned player's network, from columns of decisions.

All five decisions are learned together, each row by the cross-entropy of its own head over the
legal choices; the number of rows of each kind in a batch is fixed (``PolicyPlan.shares``), pass
after pass over each. The rate (:mod:`mjbot.learning.training.fit`) rises over the first fiftieth of
the rows, and the averaged weights are the result.

A run can be resumed after a kill: every ``STEPS_KEPT`` steps the state of the run is
saved, and the order of the rows follows from seed and number alone.
"""

import copy
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from torch import Tensor
from torch.nn import functional

from mjbot.learning.models.networks.encoding import N_PLANES, N_SCALARS, Encoder, new_encoder
from mjbot.learning.models.networks.policy import CHI, KAN, NAME, PON, RIICHI
from mjbot.learning.models.weights import SHIPPED, Manifest, load_weights, save_weights
from mjbot.learning.training import runs
from mjbot.learning.training.fit import Fit, Schedule, resume, write_checkpoint
from mjbot.learning.training.networks import decisions as columns
from mjbot.learning.training.networks.policy_network import PolicyNetwork, board_of, half_precision
from mjbot.learning.training.networks.scores import manifest_figures, scores_of
from mjbot.learning.training.requests import PolicyPlan, PolicyRequest
from mjbot.runtime.interruption import keeping
from mjbot.runtime.progress import progress
from mjbot.runtime.requests import command_of

STEPS_KEPT: Final = 1000
EMA_STEPS: Final = 2000
EARLY_SHARE: Final = 0.3
"""Weight of the early head's loss relative to the late one's; set by hand."""
HEADS: Final = {1: (RIICHI, 2), 2: (PON, 2), 3: (CHI, 4), 4: (KAN, 2)}
"""Kind of decision -> first of its outputs, and how many."""


class Batch(NamedTuple):
    """Some rows, encoded."""

    planes: Tensor  # [n, N_PLANES, 4, 9]
    scalars: Tensor  # [n, N_SCALARS]
    rows: NDArray[np.void]  # DECISION[n]


class RowSource:
    """Rows of all kinds in one numbering, encoded on demand.

    ``crossed``: games below its number are encoded with the second encoder, the others with the
    first; without it all with the first.
    """

    def __init__(
        self, parts: Sequence[columns.Decisions], encoders: Sequence[Encoder], crossed: int = 0
    ) -> None:
        self._bytes = [columns.bytes_of(part.states) for part in parts]
        self._rows = [np.asarray(part.rows) for part in parts]
        self._ends = np.cumsum([len(rows) for rows in self._rows])
        self._encoders = encoders
        self._crossed = crossed
        self._dtype = parts[0].states.dtype

    def __len__(self) -> int:
        return int(self._ends[-1])

    @property
    def identity(self) -> bytes:
        """A digest of all rows: those of other games have another one."""
        digest = hashlib.sha256(f"{len(self._encoders)} {self._crossed}".encode())
        for rows in self._rows:
            digest.update(np.ascontiguousarray(rows).view(np.uint8).data)
        return digest.digest()

    @property
    def sizes(self) -> list[int]:
        """How many rows of each kind there are, in the order of the numbering."""
        return [len(rows) for rows in self._rows]

    def batch(self, numbers: NDArray[np.int64]) -> Batch:
        """Encode some rows, kind by kind."""
        kinds = np.searchsorted(self._ends, numbers, "right")
        states, rows = [], []
        for kind in range(len(self._rows)):
            places = numbers[kinds == kind] - (self._ends[kind] - len(self._rows[kind]))
            states.append(self._bytes[kind][places])
            rows.append(self._rows[kind][places])
        tables: Any = np.concatenate(states).view(self._dtype)[:, 0]
        chosen = np.concatenate(rows)
        planes = np.empty((len(chosen), 34, N_PLANES), np.float32)
        scalars = np.empty((len(chosen), N_SCALARS), np.float32)
        second = chosen["game"] < self._crossed
        for which, encoder in enumerate(self._encoders):
            of_it = np.flatnonzero(second == bool(which))
            columns.encode_rows(
                tables, chosen["seat"].astype(np.int64), of_it, encoder, planes, scalars
            )
        return Batch(board_of(planes), torch.from_numpy(scalars), chosen)


def logits_of(outputs: tuple[Tensor, Tensor], rows: NDArray[np.void]) -> Tensor:
    """Return the logits of a head for each row's decision: [n, 34], -inf for illegal choices."""
    legal = (rows["legal"][:, None] >> np.arange(34) & 1).astype(bool)
    return logits_of_questions(outputs, rows["kind"], legal)


def logits_of_questions(
    outputs: tuple[Tensor, Tensor], kinds: NDArray[Any], legal: NDArray[np.bool_]
) -> Tensor:
    """Return the same of questions: ``kinds`` int[n] of decisions, ``legal`` bool[n, 34]."""
    discards, others = outputs
    device = discards.device
    logits = torch.full((len(kinds), 34), -torch.inf, device=device)
    own = np.flatnonzero(kinds == 0)
    logits[own] = discards.float()[own]
    for kind, (first, size) in HEADS.items():
        of_it = np.flatnonzero(kinds == kind)
        logits[of_it, :size] = others.float()[of_it, first : first + size]
    return logits.masked_fill(~torch.from_numpy(legal).to(device), -torch.inf)


def losses(outputs: tuple[Tensor, Tensor], rows: NDArray[np.void]) -> Tensor:
    """Return the cross-entropy of each row: float[n]."""
    choice = torch.from_numpy(rows["choice"].astype(np.int64))
    return functional.cross_entropy(logits_of(outputs, rows), choice, reduction="none")


class PolicyRun:
    """One plan in its folder."""

    def __init__(
        self,
        plan: PolicyPlan,
        source: RowSource,
        check: RowSource,
        folder: runs.RunFolder,
        start: Path | None,
    ) -> None:
        torch.manual_seed(plan.seed)
        self._plan: Final = plan
        self._source: Final = source
        self._check: Final = check
        self._folder: Final = folder
        self._net: Final = PolicyNetwork(plan.channels, plan.blocks)
        if start:
            self._net.load_state_dict(_grown(self._net, start))
        self._net.to(memory_format=torch.channels_last)
        self._mean: Final = copy.deepcopy(self._net)
        self._fit: Final = Fit(
            dict(self._net.named_parameters()),
            Schedule(rate=plan.rate, warm_up=1 / 50),
            plan.steps,
            decay=plan.decay,
            longest=5.0,
            averaged=EMA_STEPS,
        )
        self._file: Final = f"policy-{_identity(plan, source, self._net)}.pt"
        self._counts: Final = _counts(plan, source.sizes)
        self._orders: dict[int, tuple[int, NDArray[np.int64]]] = {}

    def learn(self) -> PolicyNetwork:
        """Learn to the end of the plan, from where the folder has it; return the mean network."""
        resume(self._folder, self._file, self._fit.restore)
        plan, fit, loss = self._plan, self._fit, 0.0
        with progress(Console(stderr=True), "learning", plan.steps * plan.batch, "rows") as advance:
            advance(fit.step * plan.batch)
            while fit.step < plan.steps:
                loss += self._learn_from(self._source.batch(self._numbers(fit.step)))
                advance(plan.batch)
                if fit.step % STEPS_KEPT == 0 or fit.step == plan.steps:
                    write_checkpoint(self._folder, self._file, fit.state())
                    done = (fit.step - 1) % STEPS_KEPT + 1
                    advance(0, note=f"loss {loss / done:.4f}, held out {self._held_out():.4f}")
                    loss = 0.0
        return self._averaged()

    def kept(self) -> str:
        """Describe the saved progress."""
        rows = self._fit.step // STEPS_KEPT * STEPS_KEPT * self._plan.batch
        return f"kept in {self._folder.folder}: {rows} rows learned; run the same command to resume"

    def _numbers(self, step: int) -> NDArray[np.int64]:
        """Return the rows of a step: of each kind pass after pass, each in an order of its own."""
        found, start = [], 0
        for kind, n in enumerate(self._source.sizes):
            at = np.arange(step * self._counts[kind], (step + 1) * self._counts[kind])
            for number in np.unique(at // max(n, 1)):
                found.append(start + self._order(kind, int(number))[at[at // n == number] % n])
            start += n
        return np.concatenate(found)

    def _order(self, kind: int, number: int) -> NDArray[np.int64]:
        if self._orders.get(kind, (-1,))[0] != number:
            dice = np.random.default_rng([self._plan.seed, kind, number])
            self._orders[kind] = number, dice.permutation(self._source.sizes[kind])
        return self._orders[kind][1]

    def _learn_from(self, batch: Batch) -> float:
        self._net.train()
        with half_precision():
            early, late = self._net(batch.planes, batch.scalars)
            loss = losses(late, batch.rows)
        self._fit.learn(loss.mean() + EARLY_SHARE * losses(early, batch.rows).mean())
        return float(loss.detach().mean())

    def _averaged(self) -> PolicyNetwork:
        self._mean.load_state_dict(self._fit.average)
        return self._mean

    def _held_out(self) -> float:
        total = 0.0
        for outputs, rows in answers(self._averaged(), self._check):
            total += float(losses(outputs, rows).sum())
        return total / max(len(self._check), 1)


def _identity(plan: PolicyPlan, source: RowSource, start: PolicyNetwork) -> str:
    """Return twelve letters and digits that no other run shares: plan, rows and first weights.

    A checkpoint of another one may have learned from the games that this one is checked with.
    """
    digest = hashlib.sha256(f"{plan}".encode() + source.identity)
    for name, array in sorted(start.arrays().items()):
        digest.update(name.encode() + array.tobytes())
    return digest.hexdigest()[:12]


def _counts(plan: PolicyPlan, sizes: Sequence[int]) -> list[int]:
    """Return how many rows of a batch each kind has: none where there are no rows."""
    shares = [share if n else 0.0 for share, n in zip(plan.shares, sizes, strict=True)]
    ends = np.round(np.cumsum(shares) / sum(shares) * plan.batch).astype(int)
    return [int(count) for count in np.diff(ends, prepend=0)]


def _grown(net: PolicyNetwork, folder: Path) -> dict[str, Tensor]:
    """Return the weights in a folder for ``net``: inputs that they do not know begin at zero."""
    arrays, found = load_weights(NAME, folder), {}
    for name, value in net.state_dict().items():
        array = arrays.get(name)
        if array is None or array.shape[0] != value.shape[0] or array.ndim != value.ndim:
            raise runs.TrainingError(f"--start {folder}: {NAME}.npz has another form ({name})")
        kept = torch.from_numpy(array.astype(np.float32))
        known = tuple(slice(size) for size in kept.shape)
        if any(size > own for size, own in zip(kept.shape, value.shape, strict=True)):
            raise runs.TrainingError(f"--start {folder}: {NAME}.npz has more inputs ({name})")
        found[name] = torch.zeros_like(value)
        found[name][known] = kept
    return found


def answers(
    net: PolicyNetwork, source: RowSource, batch: int = 2048
) -> Iterator[tuple[tuple[Tensor, Tensor], NDArray[np.void]]]:
    """Yield the outputs of the late head, and the rows, batch by batch."""
    net.eval()
    for start in range(0, len(source), batch):
        some = source.batch(np.arange(start, min(start + batch, len(source))))
        with torch.no_grad(), half_precision():
            late = net(some.planes, some.scalars)[-1]
        yield late, some.rows


# --- the command -------------------------------------------------------------------------------


def train(request: PolicyRequest) -> runs.Learned:
    """Learn, check and save.

    Raises ``OSError`` and :class:`~mjbot.runtime.errors.MjbotError`.
    """
    columns.check_distinct(request.data)
    learned = _opened(request.data[0], request.games.start, request.games.stop)
    stop = 1 + max(int(part.rows["game"][-1]) for part in learned if len(part.rows))
    middle = stop - request.held_out
    number, *folders = request.crossed or (0, SHIPPED)
    encoders = [new_encoder(Path(folder)) for folder in folders]
    source = RowSource([part.of_games(0, middle) for part in learned], encoders, int(number))
    held_out = RowSource([part.of_games(middle, stop) for part in learned], encoders, int(number))
    if not (len(source) and len(held_out)):
        raise runs.TrainingError("there are no games to learn from; widen --games")
    folder = request.folder or runs.RUNS / f"train-policy-{request.plan.seed}"
    if request.fresh:
        runs.erase_run(folder)
    with runs.RunFolder(folder, "policy") as run_folder:
        run = PolicyRun(request.plan, source, held_out, run_folder, request.start)
        with keeping(run.kept):
            net = run.learn()
            scores = _scores(net, request, stop)
        out = request.out or runs.claim_weights(run_folder, NAME)
    arrays = {name: value.astype(np.float16) for name, value in net.arrays().items()}
    return runs.Learned(
        NAME, save_weights(NAME, arrays, _manifest(request, stop, scores), out), out
    )


def _opened(folder: Path, start: int, stop: int | None) -> list[columns.Decisions]:
    last = 1 << 30 if stop is None else stop
    return [columns.open_decisions(folder, kind).of_games(start, last) for kind in columns.KINDS]


def _scores(net: PolicyNetwork, request: PolicyRequest, stop: int) -> dict[str, Any]:
    """Return the figures of the network, its weights rounded as they are saved."""
    net.load_state_dict({name: value.half().float() for name, value in net.state_dict().items()})
    shown = request.plan.steps * request.plan.batch
    scores: dict[str, Any] = {
        "rows shown": shown,
        "weights": sum(map(np.size, net.arrays().values())),
    }
    for place, folder in enumerate(request.data):
        parts = _opened(folder, 0 if place else stop, None)
        if not any(len(part.rows) for part in parts):
            continue
        source = RowSource(parts, [new_encoder()])
        chances, rows = [], []
        with progress(
            Console(stderr=True), f"checking {folder.name}", len(source), "rows"
        ) as advance:
            for outputs, some in answers(net, source):
                chances.append(torch.softmax(logits_of(outputs, some), 1).nan_to_num().numpy())
                rows.append(some)
                advance(len(some))
        all_chances, all_rows = np.concatenate(chances), np.concatenate(rows)
        for number, kind in enumerate(columns.KINDS):
            of_it = all_rows["kind"] == number
            found = scores_of(kind, all_chances[of_it, : columns.N_CHOICES[kind]], all_rows[of_it])
            figures = manifest_figures(found).items()
            scores |= {f"{folder.name}, {kind}: {figure}": value for figure, value in figures}
    return scores


def _manifest(request: PolicyRequest, stop: int, scores: dict[str, Any]) -> Manifest:
    info = columns.check_data(request.data[0])
    return Manifest(
        data=f"games {request.games.start}:{stop} of {info.data}, all five decisions",
        command=command_of("mjbot train policy", request),
        seed=request.seed,
        scores=scores,
    )
