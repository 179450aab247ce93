"""On a full disk the error names the path, and what is whole; ``/dev/full`` is one."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mjbot.cli import match
from mjbot.cli.main import main
from mjbot.game.records.mjai_log import EventLog
from mjbot.learning.training.networks.decisions import DECISION, _Column
from mjbot.learning.training.runs import RunFolder
from mjbot.play.client.faults import Faults
from mjbot.play.server.server import GameResult
from mjbot.protocol.messages import EndGame
from mjbot.strategy.faults import Fault

ROOT = Path(__file__).parents[1]
LOG = ROOT / "logs" / "east-four-winds.mjson"
FULL = Path("/dev/full")
PROBLEM = "No space left on device"

pytestmark = pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["draw", str(LOG), "--at", "5", "--out"], "a.svg"),
        (["watch", str(LOG), "--out"], "a.html"),
        (["detect", str(LOG), "--html"], "a.html"),
    ],
)
def test_a_file_that_cannot_be_written_is_named(tmp_path, capsys, words, name):
    (tmp_path / name).symlink_to(FULL)
    assert main([*words, str(tmp_path / name)]) == 3
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"mjbot {words[0]}: {tmp_path / name}: {PROBLEM}"
    )


@pytest.mark.parametrize("ending", ["zip", "gz", "mjson"])
def test_convert_names_the_file_that_it_could_not_write(tmp_path, capsys, monkeypatch, ending):
    out = tmp_path / f"a.{ending}"
    out.with_name(f"{out.name}.unfinished-{os.getpid()}").symlink_to(FULL)
    assert main(["convert", str(LOG), str(out), "--to", "mjai"]) == 3
    assert f"mjbot convert: {out}: {PROBLEM}" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_convert_names_the_file_of_a_folder(tmp_path, capsys):
    target = tmp_path / f"{LOG.stem}.mjlog"
    target.symlink_to(FULL)
    assert main(["convert", str(LOG), str(tmp_path), "--to", "mjlog"]) == 3
    assert f"{target}: {PROBLEM}" in capsys.readouterr().err


def test_training_names_the_file(tmp_path):
    with RunFolder(tmp_path, "hand") as folder:
        (tmp_path / "weights.npz.unfinished").symlink_to(FULL)
        with pytest.raises(OSError, match=PROBLEM) as caught:
            folder.write("weights.npz", lambda file: np.savez(file, a=np.zeros(9999)))
    assert caught.value.filename == str(tmp_path / "weights.npz")


def test_a_column_of_training_data_is_named(tmp_path):
    path = tmp_path / "rows.npy"
    with pytest.raises(OSError, match=PROBLEM) as caught, _Column(path, DECISION) as column:
        column._file.close()
        column._file = FULL.open("wb", buffering=0)
        column.append(np.zeros(9999, DECISION))
    assert caught.value.filename == str(path)


def test_a_file_of_faults_is_named(tmp_path):
    file = tmp_path / "faults.csv"
    file.symlink_to(FULL)
    with pytest.raises(OSError, match=PROBLEM) as caught:
        Faults(file).add(Fault("late", 2, 7, "too late"))
    assert caught.value.filename == str(file)


def test_a_match_names_its_log_its_folder_and_the_games_that_are_whole(
    tmp_path, capsys, monkeypatch
):
    async def play_match(settings, players, watcher):
        for game in range(2):
            watcher.on_result(
                GameResult(
                    game=game,
                    names=("a", "b", "c", "d"),
                    places=(0, 1, 2, 3),
                    scores=(25_000,) * 4,
                    void=False,
                    faults=(),
                    log=settings.folder / f"{game}.mjson",
                )
            )
        (settings.folder / "results.csv").symlink_to(FULL)
        raise OSError(28, PROBLEM, str(settings.folder / "2.mjson"))

    monkeypatch.setattr(match, "play_match", play_match)
    monkeypatch.setattr(match, "prepare", lambda *_, **__: ())
    command = ["match", *["tsumogiri"] * 4, "--games", "3", "--log-dir", str(tmp_path)]
    assert main(command) == 3
    (folder,) = tmp_path.iterdir()
    out = capsys.readouterr()
    assert out.err == (
        f"mjbot match: {folder}/2.mjson: {PROBLEM}; 2 whole games in {folder}: 0.mjson, 1.mjson\n"
    )
    assert f"{folder}/results.csv: {PROBLEM}" in out.out


def test_output_that_cannot_be_written_is_no_success():
    program = "from mjbot.cli.main import _leave_quietly; print('lost'); _leave_quietly(0)"
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with FULL.open("w") as full:
        command = [sys.executable, "-c", program]
        done = subprocess.run(
            command, cwd=ROOT, env=environ, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 3
    assert done.stderr.decode() == f"mjbot: standard output: {PROBLEM}\n"


def test_the_log_of_a_player_names_its_file(tmp_path):
    (tmp_path / "g.mjson").symlink_to(FULL)
    with pytest.raises(OSError, match=rf"{PROBLEM}.*g\.mjson"):
        EventLog(tmp_path / "g.mjson").write(EndGame())
