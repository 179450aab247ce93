"""The papers' long work is ended by Ctrl-C and SIGTERM: at once, with a line on what is kept."""

import os
import re
import signal
import sys

import pytest

from tests.cli.test_interruption import LOG, ROOT, SIGNALS, Process


def papers(*command, **more):
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    return Process(sys.executable, "-m", "papers", *map(str, command), env=environ, **more)


@pytest.mark.parametrize("number", SIGNALS)
def test_train_hand_ends_while_it_reads_games(tmp_path, number):
    records = [LOG] * 100
    process = papers("train-hand", *records, "--jobs", "2", "--folder", tmp_path / "run")
    process.expect("looking through the records ...")
    process.expect("reading games (learned) ...")
    report = process.interrupted_by(number)
    kept = "nothing is kept before all games have been read"
    assert report == f"python -m papers train-hand: interrupted; {kept}"


def test_train_hand_says_which_passes_are_kept(tmp_path):
    folder = tmp_path / "run"
    process = papers("train-hand", LOG, "--jobs", "1", "--passes", "100000000", "--folder", folder)
    process.expect("learning ...")
    report = process.interrupted_by(signal.SIGTERM)
    found = re.fullmatch(
        rf"python -m papers train-hand: interrupted; kept in {re.escape(str(folder))}: (\d+)"
        r" positions \(learned\)(, \d+ of the passes)?; run the same command to resume",
        report,
    )
    assert found, report
    assert int(found[1]) > 50


@pytest.mark.parametrize(
    ("arguments", "line", "kept"),
    [
        (
            ["train-greedy", "--games", "1000000"],
            "playing ...",
            "nothing is kept before the last game",
        ),
        (
            ["train-fold", *[LOG] * 100, "--folder", "run"],
            "reading games ...",
            "nothing is kept before all games have been read",
        ),
    ],
    ids=["greedy", "fold"],
)
def test_every_kind_of_training_says_what_it_does_and_what_is_kept(tmp_path, arguments, line, kept):
    process = papers(*arguments, cwd=tmp_path)
    process.expect(line)
    assert (
        process.interrupted_by(signal.SIGINT)
        == f"python -m papers {arguments[0]}: interrupted; {kept}"
    )


@pytest.mark.parametrize("number", SIGNALS)
def test_an_experiment_says_what_it_plays_and_what_is_kept(tmp_path, number):
    command = ["arena-checks", "--games", "100000", "--jobs", "1"]
    process = papers(*command, "--out", "runs", cwd=tmp_path)
    process.expect("in order (1 of 2) ...")
    report = process.interrupted_by(number)
    assert re.fullmatch(
        r"python -m papers arena-checks: interrupted; kept in runs: \d+ games?;"
        r" run the same command to resume",
        report,
    ), report
