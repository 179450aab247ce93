"""The critic of self-play: the value of a decision, with all hands and the next tiles visible.

The critic estimates how many ranks a seat wins in this kyoku from here on (the reward of
:mod:`mjbot.learning.env.rewards`).  Its inputs are those of the seat, the hands of the others and
the next tiles of the wall, so it covers what a player cannot know: that a tile will deal in, that
no player is in tenpai, who draws what.  The difference between two of its values separates a good
decision from a lucky draw with far less noise than the end of the kyoku does.  Only training uses
it.
"""

from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from mjbot.game.rules.acceptance import count_tiles, shanten_and_acceptance
from mjbot.game.rules.shanten import shanten
from mjbot.game.table.hands import kind_of
from mjbot.game.table.observe import unseen_kinds
from mjbot.game.table.state import State
from mjbot.learning.models.networks.encoding import N_PLANES, N_SCALARS
from mjbot.learning.training.networks.policy_network import Block
from mjbot.runtime.compiler.compiled import compiled

Floats = NDArray[np.float32]

# Planes of each opponent: at least 1, 2, 3 copies held, kinds accepted, those it waits for.
HELD: Final = 0
ACCEPTED: Final = 3
WAITED: Final = 4
OF_OTHER: Final = 5
# Planes of the wall: its next tiles, one each, in the order in which they are drawn.
NEXT: Final = 3 * OF_OTHER
N_NEXT: Final = 5
N_HIDDEN_PLANES: Final = NEXT + N_NEXT
# Scalars of each opponent: shanten one-hot 0..3 and more, tiles accepted / 40.
OF_OTHER_SCALARS: Final = 6
# Scalars of the turn: one-hot, from the own seat on.
TURN: Final = 3 * OF_OTHER_SCALARS
N_HIDDEN_SCALARS: Final = TURN + 4

HIDDEN: Final = 64


@compiled
def write_hidden(state: State, seat: int, planes: Floats, scalars: Floats) -> None:
    """Fill float32[34, N_HIDDEN_PLANES], float32[N_HIDDEN_SCALARS] with what is hidden."""
    planes[:] = 0
    scalars[:] = 0
    scalars[TURN + ((state.turn - seat) & 3)] = 1
    if state.has_wall and not state.pinned:
        plan = state.rules.wall
        first = plan.live + plan.n_live - state.wall_left - state.rinshan_taken
        for place in range(min(N_NEXT, state.wall_left)):
            planes[kind_of(state.wall[first + place]), NEXT + place] = 1
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
        pooled = torch.cat([flat.mean(2), flat.max(2).values, scalars], 1)
        return self.value(functional.relu(self.hidden(pooled)))[:, 0]
