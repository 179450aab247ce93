"""Deep Q-learning where several networks share an episode: replay memory and learner.

Theory.  A *step* is one question to one of the five networks of
:mod:`papers.matsuda2021.networks`, with the classes that were legal and the one that was
chosen.  The network of a kind has a value Q for each class: what is still to come in this episode,
if that is chosen and then always the class with the highest value.  After Mnih et al. (Nature 518,
2015) Q is drawn to

    r + d * max over the legal classes of Q'(next step),     at an episode's end to r alone,

where the next step is the next question to the same seat, *whichever network it goes to*, and Q' is
a copy of the networks that is renewed only now and then.

The paper names DQN and tf-agents and gives none of the numbers.  Decided here: the defaults of
tf-agents, d = 1 (an episode ends for sure) and Huber's loss with 1 as its bend; the rest by
hand, :data:`BATCH` to :data:`TARGET_EVERY`, by what one core can do.  Nothing was tuned.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.learning.training.networks.decisions import KINDS, N_CHOICES, DecisionKind
from mjbot.learning.training.runs import torch
from papers.matsuda2021.networks import Layer
from papers.matsuda2021.planes import PLANES_SHAPE
from papers.matsuda2021.training import hidden_values

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Planes = NDArray[np.uint8]
"""uint8[n, 34, 4, 17] of 0 and 1."""
Legal = NDArray[np.bool_]
"""bool[n, classes] of one kind."""

DISCOUNT: Final = 1.0
BATCH: Final = 128
LEARN_EVERY: Final = 64
"""Steps played from one batch to the next: each is learned from twice."""
RATE: Final = 1e-4
"""Of Adam: a tenth of what the networks were trained with."""
TARGET_EVERY: Final = 250
"""Batches from one copy of the networks to the next."""
MEMORY_STEPS: Final = 200_000
LEAST_STEPS: Final = 5_000
"""In the memory, before anything is learned."""

OPEN: Final = -2
"""As the next step: not known yet."""
END: Final = -1
MOST_CLASSES: Final = max(N_CHOICES.values())
_BITS: Final = 1 << np.arange(MOST_CLASSES, dtype=np.int64)


class Memory:
    """The last ``size`` steps, each with the place of the one that followed it.

    A step is overwritten before the one that follows it is, so a closed step is always whole.
    """

    def __init__(self, size: int = MEMORY_STEPS) -> None:
        self.size: Final = size
        self.steps = 0
        """Ever added."""
        self.kind: Final = np.zeros(size, np.int8)
        self.choice: Final = np.zeros(size, np.int8)
        self.legal: Final = np.zeros(size, np.int64)
        self.reward: Final = np.zeros(size, np.float32)
        self.next: Final = np.full(size, OPEN, np.int64)
        self.planes: Final = np.zeros((size, -(-int(np.prod(PLANES_SHAPE)) // 8)), np.uint8)

    def __len__(self) -> int:
        return min(self.steps, self.size)

    def add(self, kind: int, planes: Planes, legal: Legal, choices: Ints) -> Ints:
        """Add steps of a kind; return their places, int64[n]."""
        n = len(choices)
        places = np.arange(self.steps, self.steps + n) % self.size
        self.steps += n
        self.kind[places] = kind
        self.choice[places] = choices
        self.legal[places] = legal @ _BITS[: legal.shape[1]]
        self.planes[places] = np.packbits(planes.reshape(n, -1), axis=1)
        self.next[places] = OPEN
        return places

    def follow(self, places: Ints, following: Ints) -> None:
        """Note which steps, int64[n], followed those at ``places``."""
        self.reward[places] = 0
        self.next[places] = following

    def end(self, places: Ints, rewards: NDArray[Any]) -> None:
        """Note that episodes ended after the steps at ``places``, with their rewards."""
        self.reward[places] = rewards
        self.next[places] = END

    def draw(self, n: int, dice: np.random.Generator) -> Ints:
        """Return places of ``n`` closed steps, drawn evenly."""
        usable = np.empty(0, np.int64)
        while len(usable) < n:
            drawn = dice.integers(0, len(self), n)
            usable = np.append(usable, drawn[self.next[drawn] != OPEN])
        return usable[:n]

    def seen(self, places: Ints) -> Planes:
        """Return the planes of steps."""
        n_bits = int(np.prod(PLANES_SHAPE))
        return np.unpackbits(self.planes[places], axis=1, count=n_bits).reshape(-1, *PLANES_SHAPE)

    def allowed(self, places: Ints, kind: int) -> Legal:
        """Return what was legal in steps of one kind."""
        allowed: Legal = (self.legal[places, None] & _BITS[: N_CHOICES[KINDS[kind]]]) != 0
        return allowed

    def saved(self) -> dict[str, Any]:
        """Return all that is kept, as tensors."""
        return {name: torch().from_numpy(getattr(self, name)[: len(self)]) for name in _COLUMNS}

    def restore(self, saved: Mapping[str, Any], steps: int) -> None:
        """Take back what :meth:`saved` gave after so many steps."""
        self.steps = steps
        for name in _COLUMNS:
            getattr(self, name)[: len(self)] = saved[name].numpy()


_COLUMNS: Final = ("kind", "choice", "legal", "reward", "next", "planes")


class Networks:
    """Five networks in torch, by place of the kind in :data:`KINDS`; no dropout."""

    def __init__(self, layers: Mapping[DecisionKind, Sequence[Layer]], device: str = "cpu") -> None:
        self.device: Final = device
        self.parameters: Final = [
            [
                torch().tensor(array, device=device, requires_grad=True)
                for layer in layers[kind]
                for array in layer
            ]
            for kind in KINDS
        ]

    def forward(self, kind: int, planes: Planes) -> Any:
        """Return the values of all classes, as a tensor [n, classes]."""
        parameters = self.parameters[kind]
        seen = torch().from_numpy(planes).to(self.device)
        with torch().autocast(self.device, torch().bfloat16):
            hidden = hidden_values(parameters, seen)
        return hidden.float() @ parameters[-2] + parameters[-1]

    def values(self, kind: int, planes: Planes) -> Floats:
        """Return the same without a way back: float32[n, classes]."""
        with torch().no_grad():
            values: Floats = self.forward(kind, planes).cpu().numpy()
        return values

    def best(self, kind: int, planes: Planes, legal: Legal) -> Ints:
        """Return the legal class of the highest value: int64[n]."""
        values = np.where(legal, self.values(kind, planes), -np.inf)
        return np.asarray(values.argmax(axis=1))

    def layers(self, kind: int) -> list[Layer]:
        """Return the layers of a kind's network."""
        arrays = [tensor.detach().cpu().numpy() for tensor in self.parameters[kind]]
        return [Layer(*arrays[index : index + 2]) for index in range(0, len(arrays), 2)]

    def copy_from(self, parameters: Sequence[Sequence[Any]]) -> None:
        """Take over the weights of other networks, in the order of :attr:`parameters`."""
        with torch().no_grad():
            for own, others in zip(self.parameters, parameters, strict=True):
                for parameter, other in zip(own, others, strict=True):
                    parameter.copy_(other)


class QLearner:
    """The networks, their copy, and what they learn from."""

    def __init__(
        self, layers: Mapping[DecisionKind, Sequence[Layer]], memory: Memory, device: str = "cpu"
    ) -> None:
        self.networks: Final = Networks(layers, device)
        self.memory: Final = memory
        self.batches = 0
        self._target: Final = Networks(layers, device)
        every = [tensor for parameters in self.networks.parameters for tensor in parameters]
        self._adam: Final = torch().optim.Adam(every, lr=RATE)

    def learn(self, dice: np.random.Generator, size: int = BATCH) -> float:
        """Learn from one batch of steps; return the mean loss before."""
        memory = self.memory
        places = memory.draw(size, dice)
        wanted = self.wanted(places)
        total = torch().zeros((), device=self.networks.device)
        for kind in range(len(KINDS)):
            some = np.flatnonzero(memory.kind[places] == kind)
            if len(some):
                values = self.networks.forward(kind, memory.seen(places[some]))
                chosen = torch().from_numpy(memory.choice[places[some]].astype(np.int64))
                predicted = values.gather(1, chosen.to(values.device)[:, None])[:, 0]
                aim = torch().from_numpy(wanted[some]).to(values.device)
                total = total + torch().nn.functional.huber_loss(predicted, aim, reduction="sum")
        loss = total / size
        self._adam.zero_grad()
        loss.backward()
        self._adam.step()
        self.batches += 1
        if self.batches % TARGET_EVERY == 0:
            self._target.copy_from(self.networks.parameters)
        return float(loss.detach())

    def wanted(self, places: Ints) -> Floats:
        """Return what the values of closed steps are drawn to: float32[n]."""
        memory = self.memory
        wanted = memory.reward[places].copy()
        following = memory.next[places]
        for kind in range(len(KINDS)):
            some = np.flatnonzero((following >= 0) & (memory.kind[following] == kind))
            if len(some):
                then = following[some]
                values = self._target.values(kind, memory.seen(then))
                best = np.where(memory.allowed(then, kind), values, -np.inf).max(axis=1)
                wanted[some] += DISCOUNT * best.astype(np.float32)
        return wanted

    def saved(self) -> dict[str, Any]:
        """Return the state needed to resume exactly, for ``torch.save``."""
        return {
            "parameters": [[t.detach() for t in part] for part in self.networks.parameters],
            "target": [[t.detach() for t in part] for part in self._target.parameters],
            "adam": self._adam.state_dict(),
            "memory": self.memory.saved(),
            "numbers": [self.memory.steps, self.batches],
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Take back what :meth:`saved` gave."""
        self.networks.copy_from(saved["parameters"])
        self._target.copy_from(saved["target"])
        self._adam.load_state_dict(saved["adam"])
        steps, self.batches = saved["numbers"]
        self.memory.restore(saved["memory"], steps)
