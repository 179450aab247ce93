"""The one way in which networks are fitted: each step against its formula, and resuming."""

import math
from pathlib import Path

import numpy as np
import pytest

from mjbot.learning.training.fit import Fit, Schedule, resume, write_checkpoint
from mjbot.learning.training.runs import RunFolder, TrainingError
from mjbot.runtime.errors import ArgumentError

GRADIENTS = np.array([[3.0, -0.5], [1.0, -0.25], [-2.0, 0.125]])


@pytest.fixture(autouse=True)
def torch() -> None:
    """Load torch where these tests run, not wherever they are collected."""
    pytest.importorskip("torch")


def new(**options: object) -> tuple[dict, Fit]:
    import torch

    weights = {"w": torch.tensor([1.0, -2.0], requires_grad=True)}
    schedule = options.pop("schedule", Schedule(rate=0.1, end=1.0))
    return weights, Fit(weights, schedule, options.pop("steps", 3), **options)


def push(fit: Fit, weights: dict, gradient: np.ndarray) -> None:
    import torch

    fit.learn((weights["w"] * torch.tensor(gradient, dtype=torch.float32)).sum())


def test_steps_are_those_of_adamw() -> None:
    weights, fit = new(decay=0.01)
    value, mean, spread = np.array([1.0, -2.0]), np.zeros(2), np.zeros(2)
    for step, gradient in enumerate(GRADIENTS, 1):
        push(fit, weights, gradient)
        mean = 0.9 * mean + 0.1 * gradient
        spread = 0.999 * spread + 0.001 * gradient**2
        value -= 0.1 * 0.01 * value
        value -= 0.1 * mean / (1 - 0.9**step) / (np.sqrt(spread / (1 - 0.999**step)) + 1e-8)
        assert weights["w"].detach().numpy() == pytest.approx(value, rel=1e-5)


def test_losses_add_up_to_one_step_at_a_rate_of_its_own() -> None:
    import torch

    summed, whole = new(), new(schedule=Schedule(rate=0.02, end=1.0))
    for gradient in GRADIENTS:
        weights, fit = summed
        shares = torch.tensor(np.outer([0.25, 0.75], gradient), dtype=torch.float32)
        parts = ((weights["w"] * share).sum() for share in shares)
        fit.learn_from(parts, 0.02)
        push(whole[1], whole[0], gradient)
    assert fit.step == len(GRADIENTS)
    assert summed[0]["w"].tolist() == pytest.approx(whole[0]["w"].tolist(), rel=1e-5)


def test_long_gradients_are_clipped() -> None:
    clipped, plain = new(longest=0.5), new()
    for gradient in GRADIENTS:
        push(clipped[1], clipped[0], gradient)
        push(plain[1], plain[0], gradient * min(1, 0.5 / np.linalg.norm(gradient)))
    assert clipped[0]["w"].tolist() == pytest.approx(plain[0]["w"].tolist(), rel=1e-5)


def test_a_gradient_that_is_not_finite_stops_the_fit() -> None:
    weights, fit = new(longest=1.0)
    with pytest.raises(TrainingError, match="step 1: the gradient is not finite"):
        push(fit, weights, np.array([np.nan, 1.0]))
    assert weights["w"].tolist() == [1.0, -2.0]


def test_the_rate_rises_then_falls_along_half_a_cosine() -> None:
    schedule = Schedule(rate=2.0, warm_up=0.02, end=0.1)
    assert schedule.at(0) == pytest.approx(0.02)
    assert schedule.at(0.01) == pytest.approx(
        2 * 0.51 * (0.1 + 0.45 * (1 + math.cos(0.01 * math.pi)))
    )
    assert schedule.at(0.5) == pytest.approx(2 * 0.55)
    assert schedule.at(1) == schedule.at(1.5) == pytest.approx(0.2)


def test_the_average_is_the_mean_at_first_and_an_exponential_one_later() -> None:
    weights, fit = new(averaged=2)
    expected = np.array([1.0, -2.0])
    for step, gradient in enumerate(GRADIENTS):
        push(fit, weights, gradient)
        share = max(0.5, 9 / (10 + step))
        expected += share * (weights["w"].detach().numpy() - expected)
        assert fit.average["w"].numpy() == pytest.approx(expected, rel=1e-5)


def test_the_weights_of_the_least_loss_are_kept() -> None:
    weights, fit = new()
    kept = []
    for gradient, loss, worse in zip(GRADIENTS, (2.0, 1.0, 1.5), (0, 0, 1), strict=True):
        push(fit, weights, gradient)
        kept.append(weights["w"].tolist())
        assert fit.evaluate(loss) == worse
    assert fit.best["w"].tolist() == kept[1] != weights["w"].tolist()


def test_a_resumed_fit_ends_with_the_very_same_weights(tmp_path: Path) -> None:
    weights, fit = new(averaged=50, schedule=Schedule(rate=0.1))
    again, other = new(averaged=50, schedule=Schedule(rate=0.1))
    with RunFolder(tmp_path, "policy") as run:
        resume(run, "x.pt", other.restore)
        push(fit, weights, GRADIENTS[0])
        fit.evaluate(0.5)
        write_checkpoint(run, "x.pt", fit.state())
        resume(run, "x.pt", other.restore)
    for gradient in GRADIENTS[1:]:
        push(fit, weights, gradient)
        push(other, again, gradient)
    assert weights["w"].tolist() == again["w"].tolist()
    assert fit.average["w"].tolist() == other.average["w"].tolist()
    assert (other.step, other.best_loss, other.best["w"].tolist()) == (
        3,
        0.5,
        fit.best["w"].tolist(),
    )


def test_a_damaged_checkpoint_is_named(tmp_path: Path) -> None:
    _, fit = new()
    with RunFolder(tmp_path, "policy") as run:
        run.write("x.pt", lambda stream: stream.write(b"no weights") and None)
        with pytest.raises(ArgumentError, match=r"x\.pt: damaged .*; use --fresh"):
            resume(run, "x.pt", fit.restore)
        write_checkpoint(run, "x.pt", {"step": 1})
        with pytest.raises(ArgumentError, match=r"x\.pt: damaged .*; use --fresh"):
            resume(run, "x.pt", fit.restore)
