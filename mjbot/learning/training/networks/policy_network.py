"""The network of the learned player, for training: one trunk, a head for each of five decisions.

The 34 kinds lie on a board of four rows of nine cells: three suits, and the seven honours with two
empty cells.  A convolution reads three neighbours in a row with the same weights in every row,
so the suits are exchangeable by construction (what elsewhere needs suits to be permuted in the
data).  What rows must know of each other goes through *context*: to each cell is added a function
of the mean over the three suits at its rank (three-colour runs, the rank of a dora) and one of
the mean over the board.

::

    h = relu(conv(planes) + dense(scalars))
    blocks times:  h = relu(h + conv(relu(conv(h) [+ context(h)])))    every other one with context
    discard = dense(h of the cell), one number per kind
    others  = dense(relu(dense(mean of h, maximum of h, h at the tile on offer, scalars)))

A second head of the same form reads h after two blocks.  Where that one is sure, the player need
not compute the rest (:mod:`mjbot.learning.models.networks.policy`).

The same without a framework, by the same names of arrays:
:mod:`mjbot.learning.models.networks.policy`.
"""

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from mjbot.learning.models.networks.encoding import CLAIM, N_PLANES, N_SCALARS
from mjbot.learning.models.networks.policy import EARLY_BLOCKS, HIDDEN, N_OTHERS, NAME
from mjbot.learning.models.weights import load_weights
from mjbot.learning.training.runs import TrainingError


class Block(nn.Module):
    """Two convolutions around which the input is carried."""

    def __init__(self, channels: int, has_context: bool) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, (1, 3), padding=(0, 1))
        self.second = nn.Conv2d(channels, channels, (1, 3), padding=(0, 1))
        nn.init.zeros_(self.second.weight)  # each block begins as nothing, so none needs a norm
        nn.init.zeros_(self.second.bias)
        if has_context:
            self.board = nn.Linear(channels, channels, bias=False)
            self.suits = nn.Linear(channels, channels, bias=False)
        self.has_context = has_context

    def forward(self, x: Tensor) -> Tensor:
        """Take and give [n, channels, 4, 9]."""
        h = self.first(x)
        if self.has_context:
            at_rank = x[:, :, :3].mean(2)
            board = x.mean((2, 3))
            context = self.suits(at_rank.transpose(1, 2)) + self.board(board)[:, None]
            h = h + context.transpose(1, 2)[:, :, None]
        return functional.relu(x + self.second(functional.relu(h)))


class Head(nn.Module):
    """What the five decisions make of the cells: [n, 34] and [n, N_OTHERS] logits."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.discard = nn.Conv2d(channels, 1, 1)
        self.hidden = nn.Linear(3 * channels + N_SCALARS, HIDDEN)
        self.others = nn.Linear(HIDDEN, N_OTHERS)

    def forward(self, h: Tensor, planes: Tensor, scalars: Tensor) -> tuple[Tensor, Tensor]:
        """``h`` is [n, channels, 4, 9]."""
        flat = h.flatten(2)
        claimed = (flat * planes[:, CLAIM].flatten(1)[:, None]).sum(2)
        pooled = torch.cat([flat.mean(2), flat.max(2).values, claimed, scalars], 1)
        others = self.others(functional.relu(self.hidden(pooled)))
        return self.discard(h).flatten(1)[:, :34], others


class PolicyNetwork(nn.Module):
    """See the module."""

    def __init__(self, channels: int, blocks: int) -> None:
        super().__init__()
        self.stem = nn.Conv2d(N_PLANES, channels, (1, 3), padding=(0, 1))
        self.table = nn.Linear(N_SCALARS, channels, bias=False)
        self.blocks = nn.ModuleList(Block(channels, place % 2 == 0) for place in range(blocks))
        self.early = Head(channels)
        self.late = Head(channels)

    def forward(self, planes: Tensor, scalars: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Give the logits of the early and of the late head.

        ``planes`` are [n, N_PLANES, 4, 9] (:func:`board_of`), ``scalars`` [n, N_SCALARS].
        """
        cells = self.first_cells(planes, scalars)
        late = self.late(self.last_cells(cells), planes, scalars)
        return [self.early(cells, planes, scalars), late]

    def first_cells(self, planes: Tensor, scalars: Tensor) -> Tensor:
        """Give what the early head reads: [n, channels, 4, 9]."""
        h = functional.relu(self.stem(planes) + self.table(scalars)[:, :, None, None])
        for block in self.blocks[:EARLY_BLOCKS]:
            h = block(h)
        return h

    def last_cells(self, h: Tensor) -> Tensor:
        """Give what the late head reads, from what the early one does."""
        for block in self.blocks[EARLY_BLOCKS:]:
            h = block(h)
        return h

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """Return all weights by name, as ``mjbot.learning.models.networks.policy`` reads them."""
        return {name: value.detach().cpu().numpy() for name, value in self.state_dict().items()}


def load_network(folder: Path) -> PolicyNetwork:
    """Return the network whose weights are in a folder.

    Raises :class:`~mjbot.learning.training.runs.TrainingError` if they have another form.
    """
    arrays = load_weights(NAME, folder)
    channels = len(arrays["stem.bias"])
    blocks = sum(name.endswith("first.bias") for name in arrays)
    network = PolicyNetwork(channels, blocks)
    try:
        network.load_state_dict(
            {name: torch.from_numpy(array.astype(np.float32)) for name, array in arrays.items()}
        )
    except RuntimeError as error:
        problem = str(error).splitlines()[-1].strip()
        raise TrainingError(f"{folder}: {NAME}.npz has another form ({problem})") from None
    network.to(memory_format=torch.channels_last)
    return network


def board_of(planes: NDArray[np.float32] | Tensor) -> Tensor:
    """Return [n, 34, planes] as the board float32[n, planes, 4, 9], channels last in memory."""
    kinds = torch.as_tensor(planes)
    n, n_kinds, n_planes = kinds.shape
    board = torch.zeros(n, 4, 9, n_planes, device=kinds.device)
    board.view(n, 36, n_planes)[:, :n_kinds] = kinds
    return board.permute(0, 3, 1, 2)


def half_precision(device: str = "cpu") -> torch.autocast:
    """Return the context of networks that compute in bfloat16, if the device does.

    With AVX2 alone a convolution in bfloat16 takes seven times as long as in float32.
    """
    capable = torch.backends.cpu.get_cpu_capability().startswith("AVX512")
    kind = torch.device(device).type
    return torch.autocast(kind, torch.bfloat16, enabled=kind != "cpu" or capable)
