"""What the rank model is weighed against: softmax regression, and the form of Matsuda and Ito 2021.

The regression has the very features of ours, without hidden layers and without the scaling that
gives each rank once.  The paper's network (its section 5) predicts one seat, own score first, the
others in order of play; its input has the hand number, but not the dealer.  Its dropout is not
given, 0.25 here; it stops by the last tenth of the games.
"""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from mjbot.learning.training.fit import Fit, Schedule
from mjbot.learning.training.networks.decisions import Records
from mjbot.learning.training.networks.rank import HELD_OUT, Predictor, features_of
from mjbot.learning.training.runs import torch
from mjbot.runtime.progress import progress

REGRESSION_STEPS: Final = 300

BINS: Final = 120
BIN_POINTS: Final = 500
PAPER_INPUTS: Final = 7
PAPER_DENSE: Final = (256, 512)
PAPER_PASSES: Final = 40
"""The paper made 200; the best is among the first few."""
PAPER_RATE: Final = 1e-3
PATIENCE: Final = 5
BATCH: Final = 256
DROPOUT: Final = 0.25

Floats = NDArray[np.float32]


def controls(learned: Records, seed: int) -> dict[str, Predictor]:
    """Train what ours is weighed against, by name."""
    games = np.unique(learned["game"])
    middle = games[-max(1, len(games) // HELD_OUT)]
    early, late = learned[learned["game"] < middle], learned[learned["game"] >= middle]
    ranks = learned["ranks"].astype(np.int64)
    regression = softmax_regression(features_of(learned), ranks)
    paper = paper_network(early, late, seed)
    return {
        "softmax regression": lambda rows: regression(features_of(rows)),
        "the paper's form": paper,
    }


def softmax_regression(
    features: Floats, ranks: NDArray[np.int64]
) -> Callable[[Floats], NDArray[np.float64]]:
    """Fit features [n, 4, 37] and ranks [n, 4] (1 to 4); return what gives chances [n, 4, 4]."""
    inputs = torch().from_numpy(features.reshape(-1, features.shape[-1]))
    labels = torch().from_numpy(ranks.reshape(-1) - 1)
    weights = torch().zeros((inputs.shape[1], 4), requires_grad=True)
    bias = torch().zeros(4, requires_grad=True)
    optimiser = torch().optim.LBFGS([weights, bias], max_iter=REGRESSION_STEPS)

    def closure() -> Any:
        optimiser.zero_grad()
        loss = torch().nn.functional.cross_entropy(inputs @ weights + bias, labels)
        loss.backward()
        return loss

    optimiser.step(closure)

    def predict(others: Floats) -> NDArray[np.float64]:
        with torch().no_grad():
            logits = torch().from_numpy(others) @ weights + bias
            chances: NDArray[np.float64] = logits.softmax(-1).double().numpy()
        return chances

    return predict


def paper_bins(rows: Records) -> NDArray[np.int64]:
    """Return which of the 840 inputs are 1 for each seat of KYOKU[n]: int64[n, 4, 7]."""
    seats = (np.arange(4)[:, None] + np.arange(4)) & 3
    scores = np.clip((rows["scores"][:, seats] - 1) // BIN_POINTS, 0, BINS - 1)
    hand = np.stack([rows[name] for name in ("round", "honba", "sticks")], axis=1)
    hand = np.repeat(np.clip(hand, 0, BINS - 1)[:, None], 4, axis=1)
    bins = np.concatenate([scores, hand], axis=2).astype(np.int64)
    return np.asarray(bins + BINS * np.arange(PAPER_INPUTS))


def paper_network(
    learned: Records, held_out: Records, seed: int
) -> Callable[[Records], NDArray[np.float64]]:
    """Train the paper's form; return what gives mean ranks float64[n, 4] for KYOKU[n]."""
    torch().manual_seed(seed)
    nn = torch().nn
    network = nn.Sequential(
        nn.EmbeddingBag(PAPER_INPUTS * BINS, PAPER_DENSE[0], mode="sum"),  # dense over one-hots
        nn.ReLU(),
        nn.Dropout(DROPOUT),
        nn.Linear(*PAPER_DENSE),
        nn.ReLU(),
        nn.Dropout(DROPOUT),
        nn.Linear(PAPER_DENSE[1], 1),
    )
    with torch().no_grad():
        network[0].weight.mul_(0.05)
        network[-1].bias.fill_(2.5)
    _learn_paper_form(network, learned, held_out, seed)
    return lambda rows: _means(network, rows)


def _learn_paper_form(network: Any, learned: Records, held_out: Records, seed: int) -> None:
    """Fit the network; it ends with the weights of the least squared error on ``held_out``."""
    inputs, ranks = paper_bins(learned).reshape(-1, PAPER_INPUTS), learned["ranks"].reshape(-1)
    dice = np.random.default_rng(seed)
    fit = Fit(dict(network.named_parameters()), Schedule(rate=PAPER_RATE, end=1.0))
    with progress(Console(stderr=True), "the paper's form", PAPER_PASSES, "passes") as step:
        for _ in range(PAPER_PASSES):
            network.train()
            order = dice.permutation(len(inputs))
            for start in range(0, len(order), BATCH):
                some = order[start : start + BATCH]
                wanted = torch().from_numpy(ranks[some].astype(np.float32))
                predicted = network(torch().from_numpy(inputs[some]))[:, 0]
                fit.learn(((predicted - wanted) ** 2).mean())
            error = float(np.mean((_means(network, held_out) - held_out["ranks"]) ** 2))
            step(note=f"squared error {error:.4f}")
            if fit.evaluate(error) == PATIENCE:
                break
    network.load_state_dict(fit.best)


def _means(network: Any, rows: Records) -> NDArray[np.float64]:
    network.eval()
    with torch().no_grad():
        bins = torch().from_numpy(paper_bins(rows).reshape(-1, PAPER_INPUTS))
        means: NDArray[np.float64] = network(bins)[:, 0].double().numpy().reshape(-1, 4)
    return means
