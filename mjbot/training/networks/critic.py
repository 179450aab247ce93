"""The value of a decision with all hands open: the critic of learning by play.

The critic estimates how many ranks a seat wins from here to the end of the kyoku (the reward of
:mod:`mjbot.env.rewards`).  Its input includes the hands of the others, so it can use what a player
cannot see: that a tile deals in, or that no opponent is tenpai.  The difference between two of its
outputs separates a good decision from a lucky draw with far less noise than the result of the
kyoku. It is used in training only, never in play.
"""

from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from mjbot.compiler.compiled import compiled
from mjbot.models.networks.encoding import N_PLANES, N_SCALARS
from mjbot.rules.acceptance import count_tiles, shanten_and_acceptance
from mjbot.rules.shanten import shanten
from mjbot.table.observe import unseen_kinds
from mjbot.table.state import State
from mjbot.training.networks.policy_network import Block

Floats = NDArray[np.float32]

# Planes of each opponent: at least 1, 2, 3 copies held, kinds accepted, those it waits for.
HELD: Final = 0
ACCEPTED: Final = 3
WAITED: Final = 4
OF_OTHER: Final = 5
N_HIDDEN_PLANES: Final = 3 * OF_OTHER
# Scalars of each opponent: shanten one-hot 0..3 and more, tiles accepted / 40.
OF_OTHER_SCALARS: Final = 6
N_HIDDEN_SCALARS: Final = 3 * OF_OTHER_SCALARS

HIDDEN: Final = 64


@compiled
def write_hidden(state: State, seat: int, planes: Floats, scalars: Floats) -> None:
    """Fill float32[34, N_HIDDEN_PLANES], float32[N_HIDDEN_SCALARS] with the others' hands."""
    planes[:] = 0
    scalars[:] = 0
    unseen = np.empty(34, np.int8)
    rest = np.empty(34, np.int8)
    unseen_kinds(state, seat, unseen)
    for step in range(1, 4):
        other = (seat + step) & 3
        first, at = OF_OTHER * (step - 1), OF_OTHER_SCALARS * (step - 1)
        rest[:] = state.hand[other]
        tiles = 0
        for kind in range(34):
            tiles += rest[kind]
            for copy in range(3):
                planes[kind, first + HELD + copy] = rest[kind] > copy
        n_melds = state.n_melds[other]
        if tiles % 3 == 2:
            scalars[at + min(max(shanten(rest, n_melds), 0), 4)] = 1
            continue
        away, mask = shanten_and_acceptance(rest, n_melds)
        scalars[at + min(max(away, 0), 4)] = 1
        scalars[at + 5] = count_tiles(mask, unseen) / 40
        for kind in range(34):
            planes[kind, first + ACCEPTED] = mask >> kind & 1
            planes[kind, first + WAITED] = away == 0 and mask >> kind & 1


@compiled
def write_hidden_rows(
    states: NDArray[Any],
    tables: NDArray[np.int64],
    seats: NDArray[np.int64],
    planes: Floats,
    scalars: Floats,
) -> None:
    """The same for rows of many tables: [n, 34, N_HIDDEN_PLANES] and [n, N_HIDDEN_SCALARS]."""
    for row in range(len(tables)):
        write_hidden(states[tables[row]], seats[row], planes[row], scalars[row])


class Critic(nn.Module):
    """Blocks of the policy's form, then one number: ranks to be won in this kyoku."""

    def __init__(self, channels: int, blocks: int) -> None:
        super().__init__()
        n_scalars = N_SCALARS + N_HIDDEN_SCALARS
        self.stem = nn.Conv2d(N_PLANES + N_HIDDEN_PLANES, channels, (1, 3), padding=(0, 1))
        self.table = nn.Linear(n_scalars, channels, bias=False)
        self.blocks = nn.ModuleList(Block(channels, True) for _ in range(blocks))
        self.hidden = nn.Linear(2 * channels + n_scalars, HIDDEN)
        self.value = nn.Linear(HIDDEN, 1)

    def forward(self, planes: Tensor, scalars: Tensor) -> Tensor:
        """Take [n, N_PLANES + N_HIDDEN_PLANES, 4, 9] and scalars; give [n]."""
        h = functional.relu(self.stem(planes) + self.table(scalars)[:, :, None, None])
        for block in self.blocks:
            h = block(h)
        flat = h.flatten(2)
        pooled = torch.cat([flat.mean(2), flat.amax(2), scalars], 1)
        return self.value(functional.relu(self.hidden(pooled)))[:, 0]
