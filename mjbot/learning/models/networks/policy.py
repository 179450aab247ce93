"""What strong players would do: the learned player's network at the table, without a framework.

::

    policy = Policy.load()
    output = policy.evaluate(view.state, view.seat)   # None where there is nothing to decide
        output.discards[kind], output.riichi, output.pon, output.chi[offset], output.kan

The network (:mod:`mjbot.learning.training.networks.policy_network` has its form and learns it) is
computed by numpy: a board is 41 cells in one line, four rows of nine cells between five that stay
zero, so that a convolution over three neighbours is one product with all three weights and a sum of
shifted parts.

Two heads read the board after two blocks and after all.  If the first is sure of every decision
(:data:`SURE`), the rest is not computed; its cost in accuracy: docs/results/networks.md.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from mjbot.game.table.state import State
from mjbot.learning.models.networks.encoding import (
    CLAIM,
    CLOCK,
    LEGAL,
    N_PLANES,
    N_SCALARS,
    OPTIONS,
    encode,
    new_encoder,
)
from mjbot.learning.models.weights import SHIPPED, WeightsError, load_weights
from mjbot.runtime.compiler.compiled import compiled

Floats = NDArray[np.float32]

NAME: Final = "policy"
HIDDEN: Final = 128
EARLY_BLOCKS: Final = 2
"""Blocks before the early head."""

# The outputs of the decisions other than discards, two or four each, the first "no".
RIICHI: Final = 0
PON: Final = 2
CHI: Final = 4
KAN: Final = 8
N_OTHERS: Final = 10

SURE: Final = 0.55
"""Chance at which the early head's first choice is believed."""
N_CELLS: Final = 41
ROW: Final = 10


class PolicyOutput(NamedTuple):
    """Chances 0..1 that a strong player chooses so among what is legal.

    ``discards`` float32[34] by kind, ``chi`` float32[3] with the claimed tile lowest, middle and
    highest of the run; 0 for what cannot be done.
    """

    discards: Floats
    riichi: float
    pon: float
    chi: Floats
    kan: float


class _Layer(NamedTuple):
    """A convolution: ``weight`` [in, 3 * out], ``bias`` [out]."""

    weight: Floats
    bias: Floats


@dataclass(frozen=True)
class _Block:
    first: _Layer
    second: _Layer
    board: Floats | None  # [in, out]
    suits: Floats | None


class _Head(NamedTuple):
    discard: Floats  # [channels + 1], the last the bias
    hidden: Floats  # [3 * channels + N_SCALARS, HIDDEN]
    hidden_bias: Floats
    others: Floats  # [HIDDEN, N_OTHERS]
    others_bias: Floats


@dataclass(frozen=True)
class Network:
    """The weights, laid out for products; all players of a process share them."""

    stem: _Layer
    table: Floats  # [N_SCALARS, channels]
    blocks: tuple[_Block, ...]
    heads: Mapping[int, _Head]
    """By the blocks before them."""

    @classmethod
    def of(cls, arrays: Mapping[str, Floats]) -> Self:
        """Take the arrays of a network apart; KeyError and ValueError for what does not fit."""
        read = _Reader(arrays)
        n = read.n_blocks
        return cls(
            read.layer("stem", N_PLANES),
            read.matrix("table", N_SCALARS, read.channels),
            tuple(read.block(f"blocks.{number}") for number in range(n)),
            {EARLY_BLOCKS: read.head("early"), n: read.head("late")},
        )


class Policy:
    """The network and scratch space: one serves one thread."""

    def __init__(self, network: Network) -> None:
        self._network: Final = network
        self.channels: Final = len(network.stem.bias)
        self._encoder: Final = new_encoder()
        self.planes: Final = np.zeros((34, N_PLANES), np.float32)
        self.scalars: Final = np.zeros(N_SCALARS, np.float32)
        n = self.channels
        self._bias: Final = np.zeros(n, np.float32)
        self._now: Final = np.zeros((N_CELLS, n), np.float32)
        self._other: Final = np.zeros((N_CELLS, n), np.float32)
        self._products: Final = np.zeros((N_CELLS, 3 * n), np.float32)
        self._none: Final = np.zeros((9, n), np.float32)
        self._ranks: Final = np.zeros((9, n), np.float32)
        self._mean: Final = np.zeros(n, np.float32)
        self._pooled: Final = np.zeros(3 * n + N_SCALARS, np.float32)
        self._chances: Final = np.zeros(N_CELLS, np.float32)
        self._logits: Final = np.zeros(34 + N_OTHERS, np.float32)

    @classmethod
    def load(cls, folder: Path = SHIPPED) -> Self:
        """Load the weights; :class:`WeightsError` if they cannot be used."""
        return cls(_load(folder))

    def evaluate(self, state: State, seat: int, sure: float = SURE) -> PolicyOutput | None:
        """Return what strong players would do; ``None`` where there is nothing to decide."""
        if encode(state, seat, self._encoder, self.planes, self.scalars) == 0:
            return None
        chances = np.empty(34 + N_OTHERS, np.float32)
        on_offer = bool(self.scalars[OPTIONS:CLOCK].any())
        for logits in self.exits(on_offer):
            if _judge(self.planes, self.scalars, logits, sure, chances):
                break
        rest = chances[34:]
        chi = rest[CHI + 1 : CHI + 4]
        return PolicyOutput(chances[:34], rest[RIICHI + 1], rest[PON + 1], chi, rest[KAN + 1])

    def exits(self, others: bool = True) -> Iterator[Floats]:
        """Yield the logits of each head, 34 discards and the others, of ``planes``, ``scalars``.

        Without ``others`` only the discards are computed.
        """
        network = self._network
        now, other, products, none = self._now, self._other, self._products, self._none
        _begin(self.planes, self.scalars, network.stem, network.table, products, self._bias)
        _sum_up(products, self._bias, none, now, 0, now)
        for number, block in enumerate(network.blocks, 1):
            np.matmul(now, block.first.weight, out=products)
            context = none
            if block.board is not None and block.suits is not None:
                _average(now, self._ranks, self._mean)
                context = self._ranks @ block.suits
                context += self._mean @ block.board
            _sum_up(products, block.first.bias, context, now, 0, other)
            np.matmul(other, block.second.weight, out=products)
            _sum_up(products, block.second.bias, none, now, 1, now)
            if number in network.heads:
                yield self._outputs(network.heads[number], others)

    def _outputs(self, head: _Head, others: bool) -> Floats:
        cells = self._now
        if others:
            _pool(cells, self.planes, self.scalars, self._pooled)
            hidden = self._pooled @ head.hidden
            hidden += head.hidden_bias
            np.maximum(hidden, 0, out=hidden)
            np.matmul(hidden, head.others, out=self._logits[34:])
            self._logits[34:] += head.others_bias
        np.matmul(cells, head.discard[:-1], out=self._chances)
        _take_up(self._chances, head.discard[-1], self._logits)
        return self._logits


class _Reader:
    def __init__(self, arrays: Mapping[str, Floats]) -> None:
        self._arrays = arrays
        self.channels = len(arrays["stem.bias"])
        self.n_blocks = sum(name.endswith("first.bias") for name in arrays)
        if self.n_blocks < EARLY_BLOCKS:
            raise ValueError(f"{self.n_blocks} blocks")

    def _array(self, name: str, *shape: int) -> Floats:
        array = self._arrays[name].astype(np.float32)
        if array.shape != shape:
            raise ValueError(f"{name} is {array.shape}, expected {shape}")
        return array

    def matrix(self, name: str, inputs: int, outputs: int) -> Floats:
        """Return the weights of a dense layer [in, out]."""
        return np.ascontiguousarray(self._array(f"{name}.weight", outputs, inputs).T)

    def layer(self, name: str, inputs: int) -> _Layer:
        weight = self._array(f"{name}.weight", self.channels, inputs, 1, 3)
        parts = [weight[:, :, 0, column].T for column in range(3)]
        bias = self._array(f"{name}.bias", self.channels)
        return _Layer(np.ascontiguousarray(np.concatenate(parts, 1)), bias)

    def block(self, name: str) -> _Block:
        n, has_context = self.channels, f"{name}.board.weight" in self._arrays
        return _Block(
            self.layer(f"{name}.first", n),
            self.layer(f"{name}.second", n),
            self.matrix(f"{name}.board", n, n) if has_context else None,
            self.matrix(f"{name}.suits", n, n) if has_context else None,
        )

    def head(self, name: str) -> _Head:
        n = self.channels
        discard = self._array(f"{name}.discard.weight", 1, n, 1, 1).reshape(-1)
        return _Head(
            np.append(discard, self._array(f"{name}.discard.bias", 1)),
            self.matrix(f"{name}.hidden", 3 * n + N_SCALARS, HIDDEN),
            self._array(f"{name}.hidden.bias", HIDDEN),
            self.matrix(f"{name}.others", HIDDEN, N_OTHERS),
            self._array(f"{name}.others.bias", N_OTHERS),
        )


@cache
def _load(folder: Path) -> Network:
    arrays = load_weights(NAME, folder)
    try:
        return Network.of(arrays)
    except (KeyError, TypeError, ValueError) as error:
        problem = f"is no network of this version ({error}); train it again"
        raise WeightsError(folder / f"{NAME}.npz", problem) from None


@compiled
def _begin(
    planes: Floats, scalars: Floats, stem: _Layer, table: Floats, products: Floats, bias: Floats
) -> None:
    """Write the products of the first layer, and its bias with what the scalars add.

    Most numbers are 0: only the others are multiplied, four planes of a kind at a time.
    """
    weight = stem.weight
    products[:] = 0
    for kind in range(34):
        row, numbers = products[1 + kind + kind // 9], planes[kind]
        held = np.flatnonzero(numbers)
        fours = len(held) - len(held) % 4
        for at in range(0, fours, 4):
            one, two, three, four = held[at], held[at + 1], held[at + 2], held[at + 3]
            a, b, c, d = numbers[one], numbers[two], numbers[three], numbers[four]
            for index in range(len(row)):
                first = a * weight[one, index] + b * weight[two, index]
                row[index] += first + c * weight[three, index] + d * weight[four, index]
        for at in range(fours, len(held)):
            plane = held[at]
            for index in range(len(row)):
                row[index] += numbers[plane] * weight[plane, index]
    bias[:] = stem.bias
    for number in range(N_SCALARS):
        value = scalars[number]
        if value != 0:
            for channel in range(len(bias)):
                bias[channel] += value * table[number, channel]


@compiled
def _sum_up(
    products: Floats, bias: Floats, context: Floats, before: Floats, carry: int, out: Floats
) -> None:
    """Write relu of the convolution's sum, bias and context [9, channels], and ``carry`` before."""
    channels = len(bias)
    for row in range(4):
        for rank in range(9):
            cell = ROW * row + 1 + rank
            for channel in range(channels):
                total = products[cell - 1, channel] + products[cell, channels + channel]
                total += products[cell + 1, 2 * channels + channel]
                total += bias[channel] + context[rank, channel] + carry * before[cell, channel]
                out[cell, channel] = max(total, np.float32(0))


@compiled
def _average(cells: Floats, ranks: Floats, board: Floats) -> None:
    """Write the mean over the suits by rank [9, channels], and over the board [channels]."""
    channels = cells.shape[1]
    ranks[:] = 0
    board[:] = 0
    for row in range(4):
        for rank in range(9):
            for channel in range(channels):
                value = cells[ROW * row + 1 + rank, channel]
                board[channel] += value / np.float32(36)
                if row < 3:
                    ranks[rank, channel] += value / np.float32(3)


@compiled
def _pool(cells: Floats, planes: Floats, scalars: Floats, pooled: Floats) -> None:
    """Write mean and maximum of the cells, the cell of the tile on offer, and the scalars."""
    channels = cells.shape[1]
    pooled[: 3 * channels] = 0
    pooled[3 * channels :] = scalars
    for row in range(4):
        for rank in range(9):
            cell, kind = cells[ROW * row + 1 + rank], 9 * row + rank
            for channel in range(channels):
                pooled[channel] += cell[channel]
                pooled[channels + channel] = max(pooled[channels + channel], cell[channel])
            if kind < 34 and planes[kind, CLAIM] > 0:
                pooled[2 * channels : 3 * channels] = cell
    pooled[:channels] /= np.float32(36)


@compiled
def _take_up(chances: Floats, bias: float, logits: Floats) -> None:
    for kind in range(34):
        logits[kind] = chances[1 + kind + kind // 9] + bias


@compiled
def _softmax(logits: Floats, first: int, size: int, legal: Floats, out: Floats) -> float:
    """Write chances among the legal classes, 0 for the others; return the greatest, 1 for none."""
    best, total = np.float32(-np.inf), np.float32(0)
    for index in range(size):
        if legal[index] > 0:
            best = max(best, logits[first + index])
    for index in range(size):
        out[first + index] = np.exp(logits[first + index] - best) if legal[index] > 0 else 0
        total += out[first + index]
    for index in range(size):
        out[first + index] /= max(total, np.float32(1e-9))
    return float(1 / total) if total > 0 else 1.0


@compiled
def _judge(planes: Floats, scalars: Floats, logits: Floats, sure: float, out: Floats) -> bool:
    """Write the chances of discards, riichi, chi, pon and kan; return whether all are sure.

    ``out`` is float32[34 + N_OTHERS] in the order of the logits.
    """
    legal = np.ones(4, np.float32)
    is_sure = _softmax(logits, 0, 34, planes[:, LEGAL], out) >= sure
    riichi, kans, pon, chi = OPTIONS, OPTIONS + 1, OPTIONS + 4, OPTIONS + 5
    for first, can in (
        (RIICHI, scalars[riichi]),
        (PON, scalars[pon]),
        (KAN, scalars[kans] + scalars[kans + 1] + scalars[kans + 2]),
    ):
        legal[1] = can
        is_sure &= _softmax(logits, 34 + first, 2, legal, out) >= sure
    for index in range(1, 4):
        legal[index] = scalars[chi + index - 1]
    is_sure &= _softmax(logits, 34 + CHI, 4, legal, out) >= sure
    return is_sure
