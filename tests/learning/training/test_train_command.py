"""``mjbot train`` as a user meets it: what it leaves alone, and what it refuses."""

from pathlib import Path

import pytest

from mjbot.cli.main import main
from mjbot.learning.models.weights import SHIPPED
from mjbot.runtime.errors import ExitCode


def test_nothing_is_learned_where_nothing_can_be_read(tmp_path, capsys):
    (tmp_path / "page.mjlog").write_bytes(b"<html>")
    assert main(["train", "danger", str(tmp_path), "--jobs", "1"]) == ExitCode.BAD_ARGUMENTS
    last = capsys.readouterr().err.splitlines()[-1]
    page = tmp_path / "page.mjlog"
    assert last.startswith(
        f"mjbot train danger: no game to learn from: {page}: is a web page; mjbot"
    )


def shipped():
    return {path: path.read_bytes() for path in SHIPPED.iterdir() if path.is_file()}


@pytest.mark.parametrize(
    ("arguments", "weights"),
    [
        (["danger", "{records}", "--games", "0:3", "--jobs", "1"], "danger"),
        (["shanten", "{records}", "--games", "0:3", "--passes", "1", "--jobs", "1"], "shanten"),
    ],
)
def test_the_weights_that_ship_are_left_alone_unless_named(
    own_games, tmp_path, monkeypatch, capsys, arguments, weights
):
    if weights == "shanten":
        pytest.importorskip("torch", reason="training needs torch: pip install 'mjbot[train]'")
    before = shipped()
    monkeypatch.chdir(tmp_path)
    assert main(["train", *[text.format(records=own_games) for text in arguments]]) == 0
    assert shipped() == before
    kind = arguments[0]
    (found,) = Path("logs", "runs").glob(f"train-{kind}-*/{weights}.npz")
    last = capsys.readouterr().out.splitlines()[-2:]
    assert last[0].startswith(f"{found}: ")
    assert last[1].endswith(f"to put these there: --out {SHIPPED}")
