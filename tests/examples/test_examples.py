"""The examples: each is run as its docstring says, small, and does what it says it does."""

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mjbot.cli.main import main
from proof.pages import executed

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
SCRIPTS = sorted(path.name for path in EXAMPLES.glob("*.py"))
NOTEBOOKS = sorted(path.name for path in EXAMPLES.glob("*.ipynb"))
NUMBER = r"\d+\.\d+"
INTERVAL = rf"[+-]{NUMBER} ± {NUMBER}"
GUARD_S = 600


@pytest.fixture
def run(tmp_path, monkeypatch, capsys, forked_workers):
    """Return a function that runs an example in an empty folder and returns what it prints."""
    monkeypatch.chdir(tmp_path)

    def run_example(script, *arguments):
        monkeypatch.setattr(sys, "argv", [script, *map(str, arguments)])
        runpy.run_path(str(EXAMPLES / script), run_name="__main__")
        return capsys.readouterr().out

    return run_example


def rank_against_tsumogiri(bot, capsys):
    assert main(["arena", bot, "tsumogiri", "--games", "12", "--jobs", "1", "--json"]) == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return next(each for each in records if each["record"] == "strategy")["rank"][0]


def test_there_are_six_each_of_at_most_80_lines_with_its_command():
    assert len(SCRIPTS) == 6
    for name in SCRIPTS:
        text = (EXAMPLES / name).read_text(encoding="utf-8")
        assert 30 <= len(text.splitlines()) <= 90, name
        assert f"\n    python examples/{name}" in text


def test_the_first_bot_is_measured(tmp_path):
    """As a script of its own, of which workers are started anew."""
    command = [sys.executable, str(EXAMPLES / "first_bot.py"), "--games", "18"]
    output = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=GUARD_S, check=True
    ).stdout
    rank = float(re.search(rf"^average rank ({NUMBER}) ± {NUMBER} ", output, re.M)[1])
    assert 1 < rank < 3.2  # against fast-riichi-a
    assert re.search("FirstBot .* fast-riichi-a", output)


def test_a_tournament_prints_intervals_and_plays_no_game_twice(tmp_path, run):
    arguments = ("fast-riichi-a", "tsumogiri", "--games", 12, "--folder", tmp_path / "run")
    output = run("tournament.py", *arguments)
    assert output.startswith("12 games on 2 walls, 95% intervals\nfast-riichi-a: average rank 1.")
    assert re.search(rf"^fast-riichi-a less tsumogiri: {INTERVAL}$", output, re.M)
    games = tmp_path / "run" / "games.jsonl"
    before = games.read_bytes()
    assert run("tournament.py", *arguments) == output
    assert games.read_bytes() == before


def test_a_pair_that_feeds_is_compared_with_one_that_does_not(run):
    output = run("pair.py", "--games", 12)
    assert "12 games on 2 walls" in output
    rows = re.findall(
        r"^feeds to the ally .*: feeding ([\d.]+).*, not feeding ([\d.]+)", output, re.M
    )
    assert len(rows) == 1


def test_the_learner_improves_and_what_it_learned_plays(run, capsys):
    output = run("learner.py", "--updates", 8, "--kyoku", 256)
    points = [float(text) for text in re.findall(r"updates: (-?[\d.]+) ± ", output)]
    assert len(points) == 9
    assert min(points[-2:]) > points[0] + 0.5  # thousand points a kyoku
    bot = f"{EXAMPLES / 'learner.py'}:LearnedBot,weights=learned.npy"
    assert rank_against_tsumogiri(bot, capsys) < 2


def test_the_model_learns_discards_and_plays(run, capsys):
    output = run("model_bot.py", ROOT / "logs", "--steps", 60)
    right = float(re.search(r"right in ([\d.]+)% of \d+ others", output)[1])
    assert right > 60  # the most frequent legal kind is right in 38 %
    bot = f"{EXAMPLES / 'model_bot.py'}:ModelBot,weights=model.npy"
    assert rank_against_tsumogiri(bot, capsys) < 2


def test_records_become_arrays(tmp_path, run):
    output = run("records_to_arrays.py", ROOT / "logs", "--kind", "chi", "--rows", 50)
    assert "X (50, 2625), y (50,), mask (50, 4)" in output
    with np.load(tmp_path / "decisions.npz") as saved:
        assert saved["mask"][np.arange(50), saved["y"]].all()
        assert saved["x"].shape == (50, 2625)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_prints_what_it_is_committed_with(name):
    """``python -m proof pages --notebooks`` writes what they print now."""
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    committed = nbformat.read(EXAMPLES / name, as_version=4)
    for cell, before in zip(executed(EXAMPLES / name).cells, committed.cells, strict=True):
        assert [shown(each) for each in cell.get("outputs", [])] == [
            shown(each) for each in before.get("outputs", [])
        ]


def shown(output):
    """Return what an output shows, as text."""
    return output.get("text") or dict(output.get("data", {}))


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_small_and_names_no_place_on_a_machine(name):
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    assert len(text) < 100_000
    assert '"outputs": [{' in re.sub(r"\s*\n\s*", "", text) or '"output_type"' in text
    assert not re.search(r"/(?:home|root|tmp|work|Users)/", text)
