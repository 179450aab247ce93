"""A bot with its own model: a softmax regression that learns discards from records.

    python examples/model_bot.py logs --out model.npy
    mjbot arena examples/model_bot.py:ModelBot,weights=model.npy tsumogiri --games 100

Each kind of tile that could be discarded gets the sum of its inputs (``PLANE_NAMES``) times one
weight for each; their softmax is the chance that it is discarded.  The weights are those with the
greatest likelihood of the discards in the records (McFadden's conditional logit), found by gradient
steps.  The last fifth of the games is not learned from: the script prints how often it is right
there.  ``logs`` holds four games: enough to see that it learns, too few to be good.
"""

import argparse
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mjbot import recorded_decisions, tile_kind
from mjbot.learning.env import N_ACTIONS, N_PLANES, PLANE_NAMES, PolicyStrategy, observe
from mjbot.learning.models.networks.encoding import new_encoder

LEGAL = PLANE_NAMES.index("legal discard")
RIICHI, WIN, NINE_TERMINALS, PASS = 37, 43, 44, 45


def read_discards(path: Path):
    """Return the inputs of all discards, float32[n, 34, N_PLANES], and the kinds, int[n]."""
    planes, kinds, encoder = [], [], new_encoder()
    for view, action in recorded_decisions(path):
        if action.is_discard:
            planes.append(observe(view, encoder).planes)
            kinds.append(tile_kind(action.tile))
    return np.array(planes), np.array(kinds)


def learn(planes, kinds, steps: int):
    """Return the weights, float64[N_PLANES], after gradient steps on all discards."""
    weights, rows = np.zeros(N_PLANES), np.arange(len(kinds))
    for _ in range(steps):
        shares = np.exp(numbers(planes, weights))
        shares /= shares.sum(axis=1, keepdims=True)
        expected = np.einsum("nk,nkp->p", shares, planes)
        weights += 0.5 * (planes[rows, kinds].sum(axis=0) - expected) / len(kinds)
    return weights


def numbers(planes, weights):
    """Return the number of each kind, -inf where it cannot be discarded: [n, 34]."""
    return np.where(planes[:, :, LEGAL] > 0, planes @ weights, -np.inf)


@dataclass
class ModelBot(PolicyStrategy):
    """Discards what the model finds likeliest; wins and declares riichi, never calls."""

    weights: str = field(default="model.npy", metadata={"unit": "file of the weights"})

    def __post_init__(self) -> None:
        self._weights = np.load(self.weights)

    def logits(self, seen):
        """Return the model's numbers for the discards, and an order for the other actions."""
        logits = np.full(N_ACTIONS, -np.inf)
        logits[:34] = logits_34 = seen.planes @ self._weights
        logits[34:37] = logits_34[[4, 13, 22]]  # red fives
        logits[[PASS, RIICHI, NINE_TERMINALS, WIN]] = 1e6, 1e7, 1e8, 1e9
        return logits


def main() -> None:
    """Learn from records, and print how often the model is right."""
    parser = argparse.ArgumentParser(description="learn discards from records")
    parser.add_argument("records", type=Path, nargs="?", default=Path("logs"))
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--out", default="model.npy")
    args = parser.parse_args()
    planes, kinds = read_discards(args.records)
    n = len(kinds) * 4 // 5
    weights = learn(planes[:n], kinds[:n], args.steps)
    right = numbers(planes[n:], weights).argmax(axis=1) == kinds[n:]
    print(f"{n} discards learned; right in {right.mean():.1%} of {len(right)} others")
    np.save(args.out, weights)


if __name__ == "__main__":
    main()
