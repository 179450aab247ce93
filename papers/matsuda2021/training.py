"""``python -m papers train-networks``: the five networks of Matsuda and Ito 2021, from columns.

The paper gives: three convolutions, each with dropout, two dense layers with dropout between, Adam,
batches of 256, 200 passes over 800,000 positions drawn at random.  It leaves open what is decided
here: rectifiers, dropout :data:`DROPOUT`, a learning rate of 0.001 (both libraries' usual)
that ends as half a cosine, and cross-entropy over all classes, legal or not.

A pass over the rows follows an order drawn from the seed; training ends after ``rows`` rows, or
earlier after :data:`PATIENCE` evaluations on the last tenth of the games without improvement; the
best weights of all evaluations are kept.  After every evaluation the state is saved, so that the
same command resumes after a kill and ends with the same weights.  Torch is needed here only.
"""

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from mjbot.learning.models.weights import Manifest, save_weights
from mjbot.learning.training.fit import Fit, Schedule, resume, write_checkpoint
from mjbot.learning.training.networks.decisions import (
    N_CHOICES,
    DecisionKind,
    Decisions,
    check_data,
    check_distinct,
    open_decisions,
    taken,
)
from mjbot.learning.training.networks.scores import Scores, manifest_figures, scores_of
from mjbot.learning.training.runs import RUNS, Learned, RunFolder, claim_weights, erase_run, torch
from mjbot.runtime.compiler.sources import source_digest
from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.interruption import keeping
from mjbot.runtime.progress import progress
from mjbot.runtime.requests import command_of
from papers.matsuda2021.networks import (
    AT_ONCE,
    COLUMNS,
    N_CONVOLUTIONS,
    ROWS,
    Layer,
    PaperNetwork,
    layer_shapes,
    packed,
    unpacked,
    weights_name,
)
from papers.matsuda2021.planes import PLANES_SHAPE, write_paper_batch
from papers.matsuda2021.requests import PaperRequest

BATCH: Final = 256
LEARNING_RATE: Final = 1e-3
DROPOUT: Final = 64 / 256
"""Of the paper nothing is known but that there is some; 64 of 256 as bytes are cheap to draw."""
PATIENCE: Final = 8
EVALUATE_EVERY: Final = 32_768
"""Rows between two evaluations on the games held out."""
EVALUATION_ROWS: Final = 4096
HELD_OUT: Final = 10
"""The last game of so many only decides when to stop."""
ROWS_REQUESTED: Final[Mapping[DecisionKind, int]] = {
    DecisionKind.DISCARD: 800_000,
    DecisionKind.RIICHI: 200_000,
    DecisionKind.PON: 200_000,
    DecisionKind.CHI: 250_000,
    DecisionKind.KAN: 100_000,
}
"""Rows of each network by default: what one slow core trains in half an hour."""


def train(request: PaperRequest) -> list[Learned]:
    """Train, check and save each network.

    Raises ``OSError`` and :class:`~mjbot.runtime.errors.MjbotError`.
    """
    torch()
    check_distinct(request.data)
    folder = request.folder or RUNS / f"train-networks-paper-{request.seed}"
    if request.fresh:
        erase_run(folder)
    with RunFolder(folder, "networks-paper") as run:
        return [_train(request, kind, run) for kind in request.kinds]


def _train(request: PaperRequest, kind: DecisionKind, run: RunFolder) -> Learned:
    name = weights_name(kind)
    decisions = open_decisions(request.data[0], kind)
    stop = request.games.stop or _games(decisions)
    learned = decisions.of_games(request.games.start, stop)
    if _games(learned) - request.games.start < HELD_OUT:
        raise ArgumentError(f"--games: {HELD_OUT} at least, the last tenth decides when to stop")
    fitting = PaperNetworkFit(
        kind, learned, request.rows or ROWS_REQUESTED[kind], request.seed, run
    )
    kept = f"kept in {run.folder}: the last evaluation; run the same command to resume"
    with keeping(lambda: kept):
        layers = fitting.learn()
        arrays = packed(layers)
        scores: dict[str, float | int | str] = {
            "rows shown": fitting.shown,
            "rows there are": len(learned.rows),
            "processor s": round(fitting.seconds),
        }
        network = PaperNetwork(unpacked(arrays, N_CHOICES[kind], Path(name)))
        for label, check in checks(request.data, stop, kind).items():
            found = check_network(network, check, request.check_rows, request.seed)
            scores |= {
                f"{label}: {figure}": value for figure, value in manifest_figures(found).items()
            }
            exact = check_network(PaperNetwork(layers), check, EVALUATION_ROWS, request.seed)
            small = check_network(network, check, EVALUATION_ROWS, request.seed)
            for figure in ("accuracy", "log loss"):
                cost = _value(small[figure]) - _value(exact[figure])
                scores[f"{label}: rounding changes {figure} by"] = round(cost, 5)
    manifest = _manifest(request, kind, stop, scores)
    out = request.out or claim_weights(run, name)
    return Learned(name, save_weights(name, arrays, manifest, out), out)


def _manifest(
    request: PaperRequest, kind: DecisionKind, stop: int, scores: dict[str, float | int | str]
) -> Manifest:
    info = check_data(request.data[0])
    return Manifest(
        data=f"games {request.games.start}:{stop} of {info.data}, every {kind} choice",
        command=command_of("python -m papers train-networks", replace(request, kinds=(kind,))),
        seed=request.seed,
        scores=scores,
    )


def _games(decisions: Decisions) -> int:
    return int(decisions.rows["game"][-1]) + 1 if len(decisions.rows) else 0


def _value(figure: Any) -> float:
    return float(getattr(figure, "value", figure))


# --- checks ------------------------------------------------------------------------------------


def checks(data: Sequence[Path], stop: int, kind: DecisionKind) -> dict[str, Decisions]:
    """Return what is checked with: games of the first folder from ``stop`` on, all of others."""
    found = {}
    for index, folder in enumerate(data):
        decisions = open_decisions(folder, kind)
        games = _games(decisions)
        check = decisions.of_games(stop, games) if index == 0 else decisions
        if len(check.rows):
            found[folder.name] = check
    return found


def check_network(network: PaperNetwork, check: Decisions, most: int, seed: int) -> Scores:
    """Return the figures of a network on at most so many rows, drawn evenly."""
    places = np.arange(len(check.rows))
    if len(places) > most:
        places = np.sort(np.random.default_rng(seed).choice(places, most, replace=False))
    rows = np.array(check.rows)[places]
    chances = [
        network.chances(_planes(check, places[start : start + AT_ONCE]))
        for start in range(0, len(places), AT_ONCE)
    ]
    return scores_of(check.kind, np.concatenate(chances), rows)


def _planes(decisions: Decisions, places: NDArray[np.int64]) -> NDArray[np.uint8]:
    planes = np.empty((len(places), *PLANES_SHAPE), np.uint8)
    seats = np.ascontiguousarray(decisions.rows["seat"][places])
    states = taken(np.asarray(decisions.states), places)
    write_paper_batch(states, seats, np.arange(len(places)), planes)
    return planes


# --- learning ----------------------------------------------------------------------------------


class PaperNetworkFit:
    """The training of one network; ``learn`` resumes from a run's folder."""

    def __init__(
        self, kind: DecisionKind, decisions: Decisions, n_rows: int, seed: int, run: RunFolder
    ) -> None:
        self.kind: Final = kind
        self.shown = 0
        self.seconds = 0.0
        self._seed: Final = seed
        self._n_rows: Final = max(n_rows, BATCH)
        self._run: Final = run
        first, last = int(decisions.rows["game"][0]), _games(decisions)
        middle = last - max(1, (last - first) // HELD_OUT)
        self._learned: Final = decisions.of_games(first, middle)
        self._held_out: Final = decisions.of_games(middle, last)
        rows = np.ascontiguousarray(self._learned.rows).view(np.uint8)
        games = hashlib.sha256(rows.data).hexdigest()
        source = source_digest(__name__)[-8:]
        self._file: Final = f"{kind}-{seed}-{source}-{n_rows}-{games[:8]}.pt"
        self._device: Final = "cuda" if torch().cuda.is_available() else "cpu"
        self._parameters = [
            torch().tensor(array, device=self._device, requires_grad=True)
            for layer in first_layers(N_CHOICES[kind], seed)
            for array in layer
        ]
        named = {str(index): weights for index, weights in enumerate(self._parameters)}
        steps = self._n_rows / BATCH
        self._fit: Final = Fit(named, Schedule(rate=LEARNING_RATE), steps)

    def learn(self) -> list[Layer]:
        """Return the layers of the best evaluation."""
        resume(self._run, self._file, self._restore, self._device)
        with progress(Console(stderr=True), f"learning {self.kind}", self._n_rows, "rows") as step:
            step(self.shown)
            while self.shown < self._n_rows and self._fit.worse < PATIENCE:
                before = self.shown
                self._learn_until(min(self.shown + EVALUATE_EVERY, self._n_rows))
                loss = self._evaluate()
                self._save()
                step(self.shown - before, note=f"loss {loss:.4f}, best {self._fit.best_loss:.4f}")
        arrays = [tensor.cpu().numpy() for tensor in self._fit.best.values()]
        return [Layer(*arrays[index : index + 2]) for index in range(0, len(arrays), 2)]

    def _learn_until(self, stop: int) -> None:
        started = time.process_time()
        n, dice = len(self._learned.rows), np.random.default_rng([self._seed, self.shown])
        while self.shown < stop:
            number, position = divmod(self.shown, n)
            order = np.random.default_rng([self._seed, 1, number]).permutation(n)
            for start in range(position, min(n, position + stop - self.shown), BATCH):
                places = order[start : min(start + BATCH, n)]
                self._step(places, dice)
                self.shown += len(places)
        self.seconds += time.process_time() - started

    def _step(self, places: NDArray[np.int64], dice: np.random.Generator) -> None:
        planes = torch().from_numpy(_planes(self._learned, places)).to(self._device)
        choice = self._learned.rows["choice"][places].astype(np.int64)
        labels = torch().from_numpy(choice).to(self._device)
        with torch().autocast(self._device, torch().bfloat16):
            logits = forward(self._parameters, planes, dice)
        self._fit.learn(torch().nn.functional.cross_entropy(logits.float(), labels))

    def _evaluate(self) -> float:
        """Return the log loss on the last tenth of the games; keep the weights if it is best."""
        n = len(self._held_out.rows)
        places = np.unique(np.linspace(0, n - 1, min(n, EVALUATION_ROWS)).astype(np.int64))
        total = 0.0
        with torch().no_grad():
            for start in range(0, len(places), BATCH):
                some = places[start : start + BATCH]
                planes = torch().from_numpy(_planes(self._held_out, some)).to(self._device)
                labels = self._held_out.rows["choice"][some].astype(np.int64)
                with torch().autocast(self._device, torch().bfloat16):
                    logits = forward(self._parameters, planes, None)
                losses = torch().nn.functional.cross_entropy(
                    logits.float().cpu(), torch().from_numpy(labels), reduction="sum"
                )
                total += float(losses)
        loss = total / max(len(places), 1)
        self._fit.evaluate(loss)
        return loss

    def _save(self) -> None:
        state = {"fit": self._fit.state(), "numbers": [self.shown, self.seconds]}
        write_checkpoint(self._run, self._file, state)

    def _restore(self, state: dict[str, Any]) -> None:
        self._fit.restore(state["fit"])
        shown, self.seconds = state["numbers"]
        self.shown = int(shown)


def first_layers(classes: int, seed: int) -> list[Layer]:
    """Return layers to start from: uniform as Glorot and Bengio (2010) have it, no bias."""
    dice = np.random.default_rng([seed, 0])
    layers = []
    for index, (inputs, outputs) in enumerate(layer_shapes(classes)):
        window = ROWS * COLUMNS if index < N_CONVOLUTIONS else 1
        bound = np.sqrt(6 / (inputs + window * outputs))
        weights = dice.uniform(-bound, bound, (inputs, outputs)).astype(np.float32)
        layers.append(Layer(weights, np.zeros(outputs, np.float32)))
    return layers


def forward(parameters: Sequence[Any], planes: Any, dice: np.random.Generator | None) -> Any:
    """Return the logits of planes [n, 34, 4, 17]; without dice nothing is dropped."""
    last, last_bias = parameters[-2:]
    return _dropped(hidden_values(parameters, planes, dice), dice) @ last + last_bias


def hidden_values(
    parameters: Sequence[Any], planes: Any, dice: np.random.Generator | None = None
) -> Any:
    """Return what the last layer is given: [n, 300].

    A convolution of 5 x 2 is one of 5 over each pair of neighbouring columns.
    """
    values = planes.to(torch().bfloat16 if torch().is_autocast_enabled("cpu") else torch().float32)
    for index in range(N_CONVOLUTIONS):
        weights, bias = parameters[2 * index : 2 * index + 2]
        n, height, width, channels = values.shape
        pairs = torch().stack(
            [values[:, :, at : at + 2].flatten(2) for at in range(width - 1)], 1
        )  # [n, width - 1, height, 2 channels]
        kernel = weights.reshape(ROWS, COLUMNS * channels, -1).permute(2, 1, 0)
        flat = pairs.reshape(n * (width - 1), height, -1).transpose(1, 2)
        outputs = torch().nn.functional.conv1d(flat, kernel, bias).relu().transpose(1, 2)
        outputs = outputs.reshape(n, width - 1, height - ROWS + 1, -1).permute(0, 2, 1, 3)
        values = _dropped(outputs, dice)
    dense, dense_bias = parameters[2 * N_CONVOLUTIONS : 2 * N_CONVOLUTIONS + 2]
    return (values.reshape(len(planes), -1) @ dense + dense_bias).relu()


def _dropped(values: Any, dice: np.random.Generator | None) -> Any:
    if dice is None:
        return values
    drawn = np.frombuffer(dice.bytes(values.numel()), np.uint8).reshape(values.shape)
    kept = torch().from_numpy(drawn >= 256 * DROPOUT).to(values.device)
    return values * kept / (1 - DROPOUT)
