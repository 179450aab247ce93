"""A small learner: a linear policy that improves by playing, with numpy alone (REINFORCE).

    python examples/learner.py --updates 30 --out learned.npy
    mjbot arena examples/learner.py:LearnedBot,weights=learned.npy tsumogiri --games 100

One seat learns at many tables at once, against three players that discard what they draw.  The
number of a discard is the sum of its inputs (``PLANE_NAMES``) times weights, that of any other
action a weight of its own; actions are drawn by their softmax, so at first all are equally likely.
After each batch of kyoku the weights move in the direction of the policy gradient (Williams 1992):
the mean of the gradient of log p(action), times the points of the kyoku above average.
"""

import argparse
from dataclasses import dataclass, field

import numpy as np

from mjbot.learning.env import N_ACTIONS, N_PLANES, PLANE_NAMES, TSUMOGIRI, BatchEnv, PolicyStrategy

KINDS = np.array([*range(34), 4, 13, 22])  # of the discards 0..36: a red five counts as a five


def logits_of(weights, planes):
    """Return a number for each action, float[rows, 46], from planes [rows, 34, N_PLANES]."""
    discards = planes @ weights[:N_PLANES]
    others = np.broadcast_to(weights[N_PLANES:], (len(planes), N_ACTIONS - len(KINDS)))
    return np.hstack([discards[:, KINDS], others])


def play(batch, weights, random, kyoku):
    """Play about ``kyoku`` kyoku; return their rewards and their gradients of log p."""
    sums, rewards, gradients = np.zeros((batch.n_tables, len(weights))), [], []
    while len(rewards) < kyoku:
        rows, (planes, _) = batch.rows, batch.observe()
        logits = np.where(rows.masks, logits_of(weights, planes), -np.inf)
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        actions = (shares.cumsum(axis=1) > random.random((len(shares), 1))).argmax(axis=1)
        change = -shares  # the gradient of log p(action) by the numbers of the actions
        change[np.arange(len(actions)), actions] += 1
        by_plane = np.einsum("ra,rap->rp", change[:, : len(KINDS)], planes[:, KINDS])
        np.add.at(sums, rows.tables, np.hstack([by_plane, change[:, len(KINDS) :]]))
        batch.step(actions)
        for table in np.flatnonzero(batch.kyoku_ends):
            rewards.append(batch.rewards[table, 0])
            gradients.append(sums[table].copy())
            sums[table] = 0
    return np.array(rewards), np.array(gradients)


def main() -> None:
    """Learn, and print the mean reward of each batch with its 95 % interval."""
    parser = argparse.ArgumentParser(description="policy gradient on mjbot.learning.env")
    parser.add_argument("--updates", type=int, default=30)
    parser.add_argument("--kyoku", type=int, default=512, help="kyoku before each update")
    parser.add_argument("--out", default="learned.npy")
    args = parser.parse_args()
    players = (0, TSUMOGIRI, TSUMOGIRI, TSUMOGIRI)
    batch, random = BatchEnv(128, seed=1, reward="score", players=players), np.random.default_rng(0)
    batch.reset()
    weights = np.zeros(N_PLANES + N_ACTIONS - len(KINDS))
    for update in range(args.updates + 1):
        rewards, gradients = play(batch, weights, random, args.kyoku)
        half = 1.96 * rewards.std() / len(rewards) ** 0.5
        print(f"after {update} updates: {rewards.mean():.2f} ± {half:.2f} thousand points a kyoku")
        step = (rewards - rewards.mean()) @ gradients
        weights += 0.3 * step / np.linalg.norm(step)
    np.save(args.out, weights)
    largest = np.argsort(-np.abs(weights[:N_PLANES]))[:3]
    print("largest weights:", ", ".join(f"{PLANE_NAMES[p]} {weights[p]:+.2f}" for p in largest))


@dataclass
class LearnedBot(PolicyStrategy):
    """Plays the action that the learned policy prefers."""

    weights: str = field(default="learned.npy", metadata={"unit": "file of the weights"})

    def __post_init__(self) -> None:
        self._weights = np.load(self.weights)

    def logits(self, seen):
        """Return the policy's number for each action."""
        return logits_of(self._weights, seen.planes[None])[0]


if __name__ == "__main__":
    main()
