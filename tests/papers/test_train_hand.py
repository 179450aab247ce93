"""``python -m papers train-hand`` as a user meets it, on games of our own."""

import gzip
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mjbot.learning.models.hand import HandEvaluator
from mjbot.learning.models.weights import SHIPPED, load_manifest
from mjbot.learning.training.positions import index_games
from mjbot.learning.training.runs import RUN_FILE, RunFolder, TrainingError, load_kept
from mjbot.runtime.errors import ExitCode
from papers.__main__ import main
from papers.mizukami2013.training import hand as training_run

ROOT = Path(__file__).parents[2]


def arguments(records, folder, out, *more):
    split = ["--games", "0:18", "--validate", "18:"]
    where = ["--folder", str(folder), "--out", str(out)]
    return ["train-hand", str(records), *split, "--passes", "3", "--jobs", "1", *where, *more]


def train(records, folder, out, *more):
    return main(arguments(records, folder, out, *more))


@pytest.fixture(scope="module")
def trained(own_games, tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    assert train(own_games, folder / "run", folder, "--features", "plus") == 0
    return folder


def test_own_games_are_enough_to_learn_from(trained):
    manifest = load_manifest("hand-plus", trained)
    share = float(str(manifest.scores["held out, up to the first riichi, rank 1"]).split()[0])
    assert share > 0.45  # a discard at random agrees once in ten
    assert manifest.data.startswith("18 games (0:18 of records)")
    hand = np.bincount([0, 1, 2, 9, 10, 11, 18, 19, 20, 4, 5, 6, 30, 30], minlength=34).astype(
        np.int8
    )
    scores = HandEvaluator.load("plus", trained).scores(hand, 0, (4 - hand).astype(np.int8))
    assert np.isfinite(scores).sum() == 13


def test_what_cannot_be_read_is_left_out_told_and_kept_in_the_manifest(own_games, tmp_path, capsys):
    records = tmp_path / "records"
    records.mkdir()
    whole = sorted(own_games.iterdir())[:4]
    for path in whole[:3]:
        (records / path.name).write_bytes(path.read_bytes())
    lines = gzip.decompress(whole[3].read_bytes()).splitlines(keepends=True)
    (records / "half.jsonl").write_bytes(b"".join(lines[:40]) + b"half a line\n")
    (records / "cut.jsonl.gz").write_bytes(whole[3].read_bytes()[:-9])
    report = "1 file and 1 game that cannot be read are left out"
    for _ in range(2):  # the second time the positions are there
        command = ["train-hand", str(records), "--passes", "1", "--jobs", "1"]
        assert main([*command, "--folder", str(tmp_path / "run")]) == ExitCode.FAILED
        assert capsys.readouterr().out.endswith(f"\n{report}\n")
        assert load_manifest("hand-paper", tmp_path / "run").data.endswith(f"; {report}")


def shipped():
    return {path: path.read_bytes() for path in SHIPPED.iterdir() if path.is_file()}


@pytest.mark.parametrize(
    ("arguments", "weights"),
    [
        (
            ["train-hand", "{records}", "--games", "0:3", "--passes", "1", "--jobs", "1"],
            "hand-paper",
        ),
        (["train-greedy", "--games", "2", "--length", "tonpu"], "greedy"),
    ],
)
def test_the_weights_that_ship_are_left_alone_unless_named(
    own_games, tmp_path, monkeypatch, capsys, arguments, weights
):
    before = shipped()
    monkeypatch.chdir(tmp_path)
    assert main([text.format(records=own_games) for text in arguments]) == 0
    assert shipped() == before
    kind = arguments[0]
    (found,) = Path("logs", "runs").glob(f"{kind}-*/{weights}.npz")
    last = capsys.readouterr().out.splitlines()[-2:]
    assert last[0].startswith(f"{found}: ")
    assert last[1].endswith(f"to put these there: --out {SHIPPED}")


DIE_IN_THE_SECOND_CHECKPOINT = """
import os, signal, sys
from papers.__main__ import main
from mjbot.learning.training.runs import RunFolder

write, checkpoints = RunFolder.write, []

def die(run, name, save):
    checkpoints.append(name) if name.startswith("passes") else None
    if len(checkpoints) == 2:
        (run.folder / (name + ".unfinished")).write_bytes(b"PK half a checkpoint")
        os.kill(os.getpid(), signal.SIGKILL)
    write(run, name, save)

RunFolder.write = die
main(sys.argv[1:])
"""


def test_a_run_that_is_killed_goes_on_to_the_very_same_weights(
    own_games, trained, tmp_path, monkeypatch
):
    command = arguments(own_games, tmp_path / "run", tmp_path, "--features", "plus")
    python = [sys.executable, "-c", DIE_IN_THE_SECOND_CHECKPOINT]
    ended = subprocess.run([*python, *command], cwd=ROOT, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert not (tmp_path / "hand-plus.npz").exists()
    listed = tmp_path / "run" / RUN_FILE
    listed.write_bytes(listed.read_bytes() + b'{"file":"pas')  # the list was cut off, too
    write, writes = RunFolder.write, []

    def note(run, name, save):
        writes.append(name.split("-")[0])
        write(run, name, save)

    monkeypatch.setattr(RunFolder, "write", note)
    assert main(command) == 0
    # the positions and the first pass are still there
    assert writes == ["passes", "passes", "checks"]
    for ending in ("npz", "json"):
        ours, whole = (folder / f"hand-plus.{ending}" for folder in (tmp_path, trained))
        assert ours.read_bytes() == whole.read_bytes()


def test_a_full_disk_is_named_and_the_same_command_resumes(
    own_games, trained, tmp_path, capsys, limited_files
):
    command = arguments(own_games, tmp_path / "run", tmp_path, "--features", "plus")
    with limited_files(10_000):
        assert main(command) == ExitCode.UNREACHABLE
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith(f"python -m papers train-hand: {tmp_path / 'run' / 'learned-'}")
    assert last.endswith(".npz: File too large")
    assert [path.name for path in (tmp_path / "run").iterdir()] == [RUN_FILE]
    assert main(command) == 0
    for ending in ("npz", "json"):
        ours, whole = (folder / f"hand-plus.{ending}" for folder in (tmp_path, trained))
        assert ours.read_bytes() == whole.read_bytes()


def test_positions_of_other_games_in_a_file_of_the_same_size_are_not_kept(own_games, tmp_path):
    records = tmp_path / "records.jsonl"
    whole = gzip.decompress(sorted(own_games.iterdir())[0].read_bytes())
    identities = []
    for text in (whole, whole.replace(b'"scores":[25000', b'"scores":[25001')):
        records.write_bytes(text)
        identities.append(training_run.identity_of(index_games([records])))
    assert len(set(identities)) == 2


def test_more_passes_go_on_and_fewer_begin_anew(own_games, trained, tmp_path):
    run = tmp_path / "run"
    for passes in ("1", "4", "3"):
        assert train(own_games, run, tmp_path, "--features", "plus", "--passes", passes) == 0
    assert (tmp_path / "hand-plus.npz").read_bytes() == (trained / "hand-plus.npz").read_bytes()


def test_calls_short_enough_to_be_interrupted_learn_and_rank_the_same(
    own_games, trained, tmp_path, monkeypatch
):
    monkeypatch.setattr(training_run, "SLICE", 17)
    assert train(own_games, tmp_path / "run", tmp_path, "--features", "plus") == 0
    for ending in ("npz", "json"):
        ours, whole = (folder / f"hand-plus.{ending}" for folder in (tmp_path, trained))
        assert ours.read_bytes() == whole.read_bytes()


def test_other_records_can_be_checked_with(own_games, other_games, trained, tmp_path, capsys):
    again = ["--features", "plus", "--check", str(own_games)]
    assert train(own_games, tmp_path / "run", tmp_path, *again) == 2
    assert "are among those learned from or checked with" in capsys.readouterr().err
    more = ["--features", "plus", "--check", str(other_games)]
    assert train(own_games, tmp_path / "run", tmp_path, *more) == 0
    assert (tmp_path / "hand-plus.npz").read_bytes() == (trained / "hand-plus.npz").read_bytes()
    scores = load_manifest("hand-plus", tmp_path).scores
    assert {name.split(",")[0] for name in scores} >= {"held out", "records"}


def test_another_seed_gives_other_weights(own_games, trained, tmp_path):
    assert train(own_games, tmp_path / "run", tmp_path, "--features", "plus", "--seed", "1") == 0
    assert (tmp_path / "hand-plus.npz").read_bytes() != (trained / "hand-plus.npz").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "code", "report"),
    [
        (["no-such.zip"], 3, "train-hand: no-such.zip: No such file or directory"),
        (["--passes", "0", "{records}"], 2, "--passes and --jobs: at least 1"),
        (["{records}", "--games", "99:"], 2, "no games to learn from; widen --games"),
    ],
)
def test_failures_are_one_line(own_games, tmp_path, capsys, arguments, code, report):
    arguments = [text.format(records=own_games) for text in arguments]
    where = ["--folder", str(tmp_path / "run"), "--out", str(tmp_path)]
    assert main(["train-hand", *arguments, *where]) == code
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("python -m papers train-hand: ")
    assert report in error


def test_fresh_erases_the_run_and_nothing_else(own_games, tmp_path, capsys):
    run = tmp_path / "run"
    whole = train(own_games, run, run, "--passes", "1")
    assert whole == 0
    first = {path.name: path.read_bytes() for path in run.iterdir()}
    assert first.keys() > {RUN_FILE}
    (run / "thesis.txt").write_text("years of work")
    (run / "learned-by-heart.npy").write_text("a user's own")
    checkpoint = next(run.glob("passes-*.npz"))
    checkpoint.write_bytes(b"damaged")
    assert train(own_games, run, run, "--passes", "1", "--fresh") == 0
    assert {path.name: path.read_bytes() for path in run.iterdir()} == first | {
        "thesis.txt": b"years of work",
        "learned-by-heart.npy": b"a user's own",
    }


@pytest.mark.parametrize("kind", ["hand", "fold"])
@pytest.mark.parametrize(
    "left", [{}, {RUN_FILE: "shopping list\n"}, {RUN_FILE: '{"trained":"d"}\n'}]
)
def test_fresh_refuses_a_folder_that_is_no_run(own_games, tmp_path, capsys, kind, left):
    (tmp_path / ".git").mkdir()
    files = {"thesis.txt": "years of work", ".git/HEAD": "ref: refs/heads/main", **left}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    command = [f"train-{kind}", str(own_games), "--folder", str(tmp_path), "--fresh", "--jobs", "1"]
    assert main(command) == 3
    report = capsys.readouterr().err.splitlines()[-1]
    assert report.startswith(f"python -m papers train-{kind}: {tmp_path}")
    assert report.endswith("; name another --folder")
    assert {name: (tmp_path / name).read_text() for name in files} == files
    assert len(list(tmp_path.rglob("*"))) == len(files) + 1


def test_a_folder_without_records_ends_as_it_does_elsewhere(tmp_path, capsys):
    empty = tmp_path / "empty"
    empty.mkdir()
    assert main(["train-hand", str(empty), "--folder", str(tmp_path / "run")]) == 1
    report = capsys.readouterr().err.splitlines()[-1]
    assert report == f"python -m papers train-hand: {empty}: holds no records"


def test_fresh_refuses_a_run_that_is_going_on(own_games, tmp_path, capsys):
    with RunFolder(tmp_path, "hand") as going_on:
        going_on.write("learned-x.npy", lambda file: file.write(b"x") and None)
        assert train(own_games, tmp_path, tmp_path, "--fresh") == 3
    assert "another process is writing there; wait for its end" in capsys.readouterr().err
    assert (tmp_path / "learned-x.npy").read_bytes() == b"x"


def test_games_without_a_riichi_teach_nothing(record_games, tmp_path, capsys):
    records = record_games(("tsumogiri", "tsumogiri"), 1)
    where = ["--folder", str(tmp_path / "run"), "--out", str(tmp_path)]
    assert main(["train-hand", str(records), "--jobs", "1", *where]) == 1
    assert "there is no riichi in these games" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "text", "report"),
    [
        ("--games", "7", "'7': expected START:STOP, such as 0:4000"),
        ("--games", "5:2", "'5:2': there are no games in this range"),
        ("--validate", "3:3", "'3:3': there are no games in this range"),
    ],
)
def test_a_wrong_range_is_a_wrong_argument(own_games, capsys, option, text, report):
    with pytest.raises(SystemExit) as ended:
        main(["train-hand", str(own_games), option, text])
    assert ended.value.code == 2
    assert report in capsys.readouterr().err


def test_help_of_a_kind_is_its_own(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["train-hand", "--help"])
    assert ended.value.code == 0
    assert "--features" in capsys.readouterr().out


def test_a_damaged_file_of_a_run_is_named_with_its_cure(tmp_path):
    path = tmp_path / "learned.npz"
    np.savez(path, positions=np.arange(3), left_out=np.int64(0))
    assert load_kept(path, ("positions",))["positions"].tolist() == [0, 1, 2]
    whole = path.read_bytes()
    for damage in (b"", whole[: len(whole) // 2], whole.replace(b"positions", b"elsewhere")):
        path.write_bytes(damage)
        with pytest.raises(TrainingError, match=r"damaged .*; erase it, and it is made again"):
            load_kept(path, ("positions", "left_out"))
