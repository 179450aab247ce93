"""The five networks of Matsuda and Ito 2021, as evaluated in play: numpy alone.

One form for all five (their table 3.3), on the planes of
:mod:`papers.matsuda2021.planes`::

    34 x 4 x 17  conv 100 of 5 x 2  ->  30 x 3 x 100  ->  26 x 2 x 100  ->  22 x 1 x 100
    flat 2,200  dense 300  dense classes

with a rectifier after each layer but the last, whose softmax is over the classes: 34 kinds of
discard, no and yes of riichi, pon and kan, no and the three places in the run of chi.  (The
paper prints 2,000 for the flat layer, which 22 x 1 x 100 is not, and names no activation.)
``python -m papers train-networks`` trains them.

About 890,000 weights each would take 1.8 MB in half precision.  They are kept as whole numbers of
7 bits, those of the first dense layer of 5, with a scale for each output of a layer, which packs
into 0.6 MB; what that costs is in the manifests ("rounding changes").
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from mjbot.game.table.state import State
from mjbot.learning.models.weights import WeightsError, load_weights
from mjbot.protocol.tiles import N_KINDS
from papers.matsuda2021.planes import N_COPIES, N_PLANES, PLANES_SHAPE, write_paper_planes

Floats = NDArray[np.float32]

CLASSES: Final[Mapping[str, int]] = {"discard": 34, "riichi": 2, "pon": 2, "chi": 4, "kan": 2}
"""How many classes the network of each decision has."""

WEIGHTS: Final = Path(__file__).parent / "weights"
"""The folder of the five trained networks."""

VERSION: Final = 1
ROWS: Final = 5
COLUMNS: Final = 2
CHANNELS: Final = 100
DENSE: Final = 300
N_CONVOLUTIONS: Final = 3
LEVELS: Final = (63, 63, 63, 15, 127)
"""Steps from 0 to the largest weight of an output, by layer: fewer steps pack better, and the
dense layer has three quarters of all weights."""
AT_ONCE: Final = 64
"""Rows of a batch that go through together: their patches stay in the processor's cache."""


class Layer(NamedTuple):
    """Weights float32[inputs, outputs]; of a convolution inputs are [row, column, channel]."""

    weights: Floats
    bias: Floats


def layer_shapes(classes: int) -> tuple[tuple[int, int], ...]:
    """Return inputs and outputs of each layer."""
    flat = (N_KINDS - N_CONVOLUTIONS * (ROWS - 1)) * (N_COPIES - N_CONVOLUTIONS) * CHANNELS
    window = ROWS * COLUMNS
    deeper = [(window * CHANNELS, CHANNELS)] * (N_CONVOLUTIONS - 1)
    return ((window * N_PLANES, CHANNELS), *deeper, (flat, DENSE), (DENSE, classes))


class PaperNetwork:
    """One of the five; ``layers`` have the shapes of :func:`layer_shapes`."""

    def __init__(self, layers: Sequence[Layer]) -> None:
        self.layers: Final = tuple(layers)

    @classmethod
    def load(cls, kind: str, folder: Path = WEIGHTS) -> Self:
        """Return the network of a decision; :class:`WeightsError` if it cannot be had."""
        name = weights_name(kind)
        return cls(unpacked(load_weights(name, folder), CLASSES[kind], folder / f"{name}.npz"))

    def chances(self, planes: NDArray[Any]) -> Floats:
        """Return the probability of each class, float32[n, classes], for planes [n, 34, 4, 17]."""
        logits = self.logits(planes)
        logits -= logits.max(axis=1, keepdims=True)
        np.exp(logits, out=logits)
        logits /= logits.sum(axis=1, keepdims=True)
        return logits

    def logits(self, planes: NDArray[Any]) -> Floats:
        """Return what the last layer gives: float32[n, classes]."""
        parts = [
            self._logits(planes[start : start + AT_ONCE].astype(np.float32))
            for start in range(0, len(planes), AT_ONCE)
        ]
        return np.concatenate(parts) if parts else np.empty((0, self.layers[-1].bias.size), "f4")

    def _logits(self, values: Floats) -> Floats:
        for layer in self.layers[:N_CONVOLUTIONS]:
            values = _convolved(values, layer)
        dense, last = self.layers[N_CONVOLUTIONS:]
        hidden: Floats = values.reshape(len(values), -1) @ dense.weights + dense.bias
        np.maximum(hidden, 0, out=hidden)
        logits: Floats = hidden @ last.weights + last.bias
        return logits

    def evaluate(self, state: State, seat: int) -> Floats:
        """Return the probability of each class as a seat sees the table: float32[classes]."""
        planes = np.empty(PLANES_SHAPE, np.float32)
        write_paper_planes(state, seat, planes)
        return np.asarray(self.chances(planes[None])[0])


def _convolved(values: Floats, layer: Layer) -> Floats:
    """Return a valid convolution, rectified: [n, height, width, channels] to the next such."""
    n, height, width, channels = values.shape
    shape = (n, height - ROWS + 1, width - COLUMNS + 1)
    strides = values.strides
    window = (*shape, ROWS, COLUMNS * channels)  # a row's columns lie side by side
    patches = as_strided(values, window, (*strides[:3], strides[1], strides[3]), writeable=False)
    convolved: Floats = patches.reshape(-1, ROWS * COLUMNS * channels) @ layer.weights
    convolved += layer.bias
    np.maximum(convolved, 0, out=convolved)
    return np.asarray(convolved.reshape(*shape, -1))


@cache
def paper_network(kind: str) -> PaperNetwork:
    """Return the network of a decision that ships, shared by all callers in this process."""
    return PaperNetwork.load(kind)


# --- as they are stored ------------------------------------------------------------------------


def weights_name(kind: str) -> str:
    """Return the name of the weights of a decision's network."""
    return f"paper-{kind}"


def packed(layers: Sequence[Layer]) -> dict[str, NDArray[Any]]:
    """Return layers as arrays to store: int8 weights, a scale for each output, and the bias."""
    arrays: dict[str, NDArray[Any]] = {"version": np.array([VERSION], np.int32)}
    for index, layer in enumerate(layers):
        scale = np.maximum(np.abs(layer.weights).max(axis=0), 1e-12) / LEVELS[index]
        arrays[f"weights_{index}"] = np.rint(layer.weights / scale).astype(np.int8)
        arrays[f"scale_{index}"] = scale.astype(np.float32)
        arrays[f"bias_{index}"] = layer.bias.astype(np.float32)
    return arrays


def unpacked(arrays: Mapping[str, NDArray[Any]], classes: int, path: Path) -> list[Layer]:
    """Return the layers that arrays are; :class:`WeightsError` naming ``path`` if they are none."""
    version = arrays.get("version")
    if version is None or version.tolist() != [VERSION]:
        raise WeightsError(path, f"is not of version {VERSION}; train it again")
    layers = []
    for index, (inputs, outputs) in enumerate(layer_shapes(classes)):
        wanted = {"weights": (inputs, outputs), "scale": (outputs,), "bias": (outputs,)}
        parts = {}
        for part, shape in wanted.items():
            array = arrays.get(f"{part}_{index}")
            if array is None or array.shape != shape or array.dtype.kind not in "if":
                has = "nothing" if array is None else f"{array.dtype} {array.shape}"
                problem = f"{part}_{index} is {has}, not numbers {shape}; train it again"
                raise WeightsError(path, problem)
            parts[part] = array.astype(np.float32)
        layers.append(Layer(parts["weights"] * parts["scale"], parts["bias"]))
    return layers
