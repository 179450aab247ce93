"""``mjbot train fast-policy`` and ``fast-policy-play``: what they learn, save and resume."""

import multiprocessing
from pathlib import Path

import numpy as np
import pytest

from mjbot.cli.main import main
from mjbot.learning.models.fast_policy.candidates import CALL_PON, DISCARD
from mjbot.learning.models.fast_policy.network import (
    NAME,
    PAIR_NAME,
    Units,
    load_network,
    load_pair_network,
    packed,
    reads_more,
    units_of,
    unpacked,
)
from mjbot.learning.models.fast_policy.reading import PLAIN_CONTEXT, TO_ALLY
from mjbot.learning.models.weights import (
    OF_PLAYERS,
    SHIPPED,
    WeightsError,
    load_manifest,
    load_weights,
)
from mjbot.learning.training.fast_policy import imitation, self_play
from mjbot.learning.training.fast_policy.imitation import initial_weights
from mjbot.learning.training.fast_policy.requests import ImitationPlan
from mjbot.runtime.errors import ExitCode


def learn(columns, folder, *more):
    small = ("--games", ":3", "--held-out", "1", "--batch", "64", "--rows", "12800")
    report = ("train", "fast-policy", str(columns), *small, "--folder", str(folder), *more)
    assert main(list(report)) == ExitCode.OK


def play(folder, *more):
    small = ("--batches", "4", "--tables", "4", "--warm-up", "1", "--length", "tonpu")
    report = ("train", "fast-policy-play", *small, "--folder", str(folder), *more)
    assert main(list(report)) == ExitCode.OK


@pytest.fixture(scope="module")
def learned(columns, tmp_path_factory):
    """The folder of an imitation."""
    folder = tmp_path_factory.mktemp("learned")
    learn(columns, folder)
    return folder


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """The folder of a self-play."""
    folder = tmp_path_factory.mktemp("played")
    play(folder)
    return folder


@pytest.fixture(scope="module")
def played_pair(tmp_path_factory):
    """The folder of a self-play of pairs."""
    folder = tmp_path_factory.mktemp("played-pair")
    play(folder, "--pair", "--rate", "0.01")
    return folder


def same(one, other):
    pairs = zip(load_weights(NAME, one).items(), load_weights(NAME, other).items(), strict=True)
    return all(a == b and (x == y).all() for (a, x), (b, y) in pairs)


def test_imitation_learns_what_was_discarded(learned):
    scores = load_manifest(NAME, learned).scores
    accuracy = float(str(scores["all, discard: accuracy"]).split()[0])
    assert accuracy > 1.3 * float(str(scores["all, discard: majority"]).split()[0])


@pytest.mark.parametrize(("players", "learned", "data"), [(4, 4000, "2024"), (3, 934, "columns")])
def test_the_weights_that_ship_are_small_and_were_not_learned_from_the_games_that_check_them(
    players, learned, data
):
    manifest = load_manifest(NAME, OF_PLAYERS[players])
    assert (OF_PLAYERS[players] / f"{NAME}.npz").stat().st_size < 200_000
    assert f"games 0:{learned} of" in manifest.data
    assert float(str(manifest.scores[f"{data}, discard: accuracy"]).split()[0]) > 0.71


class StoppedError(Exception):
    pass


def test_imitation_that_was_killed_resumes_to_the_same_weights(
    columns, learned, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(imitation, "STEPS_KEPT", 50)
    held_out = imitation.ImitationRun._held_out

    def stop(run):
        if run._step == 100:
            raise StoppedError
        return held_out(run)

    monkeypatch.setattr(imitation.ImitationRun, "_held_out", stop)
    with pytest.raises(StoppedError):
        learn(columns, tmp_path / "killed")
    monkeypatch.undo()
    learn(columns, tmp_path / "killed")
    assert "discard: accuracy" in capsys.readouterr().out
    assert same(learned, tmp_path / "killed")


def play_killed(folder, monkeypatch, *more):
    """Kill a self-play after its second batch was kept, and resume it; return its processes."""
    figures, workers = self_play.PlayRun._figures, []

    def stop(run):
        if run._batch == 3:
            workers.extend(multiprocessing.active_children())
            raise StoppedError
        return figures(run)

    with monkeypatch.context() as patch, pytest.raises(StoppedError):
        patch.setattr(self_play, "STEPS_KEPT", 1)
        patch.setattr(self_play.PlayRun, "_figures", stop)
        play(folder, *more)
    play(folder, *more)
    return workers


def test_play_changes_the_weights_and_resumes_to_the_same(played, tmp_path, monkeypatch):
    assert not np.allclose(load_network(played).last, load_network().last, atol=1e-4)
    assert not play_killed(tmp_path / "killed", monkeypatch)
    assert same(played, tmp_path / "killed")
    assert load_manifest(NAME, played).scores["hanchan played"] == 16


def test_two_processes_learn_the_same_as_one(played, tmp_path, monkeypatch, fork_workers):
    fork_workers(monkeypatch)
    how = ("--shard", "1", "--entropy", "2", "--rate", "1e-6", "--target-kl", "1e-3")
    play(tmp_path / "one", *how, "--jobs", "1")
    workers = play_killed(tmp_path / "two", monkeypatch, *how, "--jobs", "2")
    assert len(workers) == 2
    one, two = (np.load(tmp_path / run / self_play.KEPT) for run in ("one", "two"))
    assert one.files == two.files
    assert all((one[name] == two[name]).all() for name in one.files)
    assert one["rate"] == pytest.approx(8e-6)  # three steps, each of which moved too little
    assert not same(played, tmp_path / "two")


@pytest.mark.parametrize(
    ("name", "load", "first", "how"),
    [
        (NAME, load_network, "played", ()),
        (PAIR_NAME, load_pair_network, "played_pair", ("--pair", "--rate", "0.01")),
    ],
)
def test_the_mean_of_runs_is_saved(tmp_path, request, name, load, first, how):
    play(tmp_path / "other", "--seed", "1", *how)
    runs = [str(request.getfixturevalue(first)), str(tmp_path / "other")]
    out = tmp_path / "mean"
    report = ["train", "fast-policy-play", *how[:1], "--mean-of", *runs, "--out", str(out)]
    assert main(report) == ExitCode.OK
    one, other, mean = (load(folder) for folder in (*map(Path, runs), out))
    assert not np.array_equal(one.context, other.context)
    assert mean.context == pytest.approx((one.context + other.context) / 2, abs=2e-3)
    manifest = load_manifest(name, out)
    assert manifest.scores["hanchan played"] == 32
    both = manifest.command.rpartition("; the mean (--mean-of) of 2 runs: ")[2].split(" | ")
    assert [command.rpartition(" --seed ")[2] for command in both] == ["0", "1"]
    assert manifest.data.endswith("; the mean (--mean-of) of 2 runs")


def test_three_players_learn_from_the_weights_for_three(tmp_path, capsys):
    play(tmp_path / "three", "--players", "3", "--apart", "0.5", "--batches", "3")
    before, after = load_network(OF_PLAYERS[3]), load_network(tmp_path / "three")
    change = np.abs(before.context - after.context).max()
    assert 1e-4 < change < 0.1
    assert np.abs(before.context - load_network().context).max() > change
    assert main(["train", "fast-policy-play", "--pair", "--players", "3"]) == ExitCode.BAD_ARGUMENTS
    assert "--pair: two against two, at tables of four" in capsys.readouterr().err


def test_a_pair_learns_only_what_an_ally_s_numbers_are_multiplied_with(played_pair, tmp_path):
    play(tmp_path / "other", "--pair", "--rate", "0.01")
    alone, pair = load_network(), load_pair_network(played_pair)
    for name, array in pair._asdict().items():
        before, after = (
            each.reshape(Units().shapes[name]) for each in (getattr(alone, name), array)
        )
        known = {"context": PLAIN_CONTEXT, "inputs": TO_ALLY}.get(name)
        if known is None:
            assert np.array_equal(before, after)
            continue
        assert np.array_equal(before[:, :known], after[:, :known])
        assert (before[:, known:] == 0).all()
        learned = np.abs(after[:, known:]).max(axis=(1, 2))
        assert learned[DISCARD] > 1e-4
        assert learned[CALL_PON] > 1e-4
    again = load_pair_network(tmp_path / "other")
    assert np.array_equal(pair.context, again.context)
    assert load_manifest(PAIR_NAME, played_pair).scores["hanchan played"] == 16
    with pytest.raises(WeightsError, match="fast-policy"):
        load_network(played_pair)


def test_a_pair_continues_from_weights_of_a_pair(played_pair, tmp_path, capsys):
    first = ("--pair-start", str(played_pair))
    play(tmp_path / "next", "--pair", "--rate", "1e-9", *first)
    before, after = map(load_pair_network, (played_pair, tmp_path / "next"))
    assert np.abs(before.context - load_network().context).max() > 1e-3
    assert after.context == pytest.approx(before.context, abs=1e-5)
    assert "--pair-start START" in load_manifest(PAIR_NAME, tmp_path / "next").command
    capsys.readouterr()
    assert main(["train", "fast-policy-play", *first]) == ExitCode.BAD_ARGUMENTS
    assert "--pair-start: continues a pair; add --pair" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("report", "problem"),
    [
        (("--shares", "0", "0", "0", "0", "1"), "--shares: none below 0, and some discards"),
        (("--rows", "10"), "--rows: at least one batch"),
        (("--first", "20"), "--first, --second: multiples of 16 up to 256"),
    ],
)
def test_arguments_that_cannot_be_used_are_named(columns, report, problem, capsys):
    assert main(["train", "fast-policy", str(columns), *report]) != ExitCode.OK
    assert problem in capsys.readouterr().err


def test_a_wider_network_learns_plays_and_is_saved_with_its_size(columns, tmp_path, capsys):
    wide = ("--first", "64", "--second", "48", "--plans")
    learn(columns, tmp_path / "wide", *wide, "--rows", "640", "--start", str(SHIPPED))
    play(tmp_path / "played", "--start", str(tmp_path / "wide"), "--entropy", "2", "--gae", "0.5")
    weights = load_network(tmp_path / "played")
    assert units_of(weights) == Units(64, 48)
    assert reads_more(weights)
    assert not reads_more(load_network())
    assert not np.array_equal(weights.last, load_network(tmp_path / "wide").last)
    capsys.readouterr()
    runs = [str(tmp_path / "played"), str(SHIPPED)]
    assert main(["train", "fast-policy-play", "--mean-of", *runs]) != ExitCode.OK
    assert "--mean-of: networks of different sizes" in capsys.readouterr().err


def test_figures_are_those_of_the_weights_that_are_saved():
    plan = ImitationPlan(first=64, second=16, plans=True)
    learned = initial_weights(plan)
    saved = unpacked(packed(learned), SHIPPED)
    shapes = units_of(learned).shapes
    for name, array in saved._asdict().items():
        before, after = (part.reshape(shapes[name]) for part in (getattr(learned, name), array))
        known = {"context": PLAIN_CONTEXT, "inputs": TO_ALLY}.get(name)
        if known is not None:
            assert (after[:, known:] == 0).all()
            before, after = before[:, :known], after[:, :known]
        assert after == pytest.approx(before, abs=3e-3)


def test_the_critic_takes_a_step_after_every_few_games_of_a_batch(tmp_path, monkeypatch):
    monkeypatch.setattr(self_play, "CRITIC_TABLES", 3)
    play(tmp_path / "run")
    assert np.load(tmp_path / "run" / self_play.KEPT)["critic_steps"] == 8


def test_layers_of_an_impossible_size_are_named(tmp_path):
    arrays = {"first_bias": np.zeros((5, 40)), "second_bias": np.zeros((5, 32))}
    with pytest.raises(WeightsError, match="layers of 40 and 32 units"):
        unpacked(arrays, tmp_path)
