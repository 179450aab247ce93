"""Change anything that a strategy from outside is made of, and no game of before counts.

The files here differ in size: Python takes a compiled copy for fresh that has the size of its
source and was made in the same second.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mjbot.arena.code_digest import MakingError, code_digest
from mjbot.arena.run_folder import GAMES_FILE, ResultsError, read_games
from mjbot.arena.workers.files_read import FILES_FILE, GONE, FilesRead, digest_of
from mjbot.cli.main import main
from mjbot.strategy.options import StrategyError
from mjbot.strategy.registry import Spec

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.usefixtures("forked_workers")

BASE = """
from mjbot.strategy.strategy import Strategy

class Base(Strategy):
    def decide(self, view):
        return min(view.legal, key=self.cost)

    def cost(self, action):
        return action.code
"""
BOT = """
from dataclasses import dataclass
from pathlib import Path
import json
import helper
from base import Base

class Folding(Base):
    def decide(self, view):
        return view.default_action if helper.FOLDS else super().decide(view)

@dataclass
class Weighted(Base):
    def __post_init__(self):
        self.weight = json.loads(Path("w.json").read_text())

    def cost(self, action):
        return self.weight * action.code

class Lazy(Base):
    def cost(self, action):
        import late_helper
        return late_helper.SIGN * action.code

class LateReader(Base):
    def start_game(self, seat, names):
        self.weight = json.loads(Path(__file__).with_name("late.json").read_text())

    def cost(self, action):
        return self.weight * action.code

class Writer(Base):
    def start_game(self, seat, names):
        with open("diary.txt", "a") as diary:
            diary.write("a game\\n")
        Path("diary.txt").read_text()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "base.py").write_text(BASE)
    (tmp_path / "bot.py").write_text(BOT)
    (tmp_path / "helper.py").write_text("FOLDS = False")
    (tmp_path / "late_helper.py").write_text("SIGN = 1")
    (tmp_path / "w.json").write_text("1")
    (tmp_path / "late.json").write_text("1")
    return tmp_path


@pytest.fixture
def arena(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Play a few games of a class of bot.py and return what was told."""

    def run(name: str, games: int = 5) -> str:
        command = ["arena", f"bot:{name}", "tsumogiri", "--format", "1v3", "--length", "tonpu"]
        assert main([*command, "--games", str(games), "--jobs", "1"]) == 0
        return capsys.readouterr().out

    return run


def folder_of(report: str) -> Path:
    return Path(report.splitlines()[0].partition("; in ")[2])


def test_what_is_read_at_the_start_makes_another_run(
    arena: Callable[..., str], folder: Path
) -> None:
    before = arena("Folding")
    assert "kept from before" not in before
    old = (folder / "helper.py").read_text()
    (folder / "helper.py").write_text("FOLDS = True")
    after = arena("Folding", games=10)
    assert "kept from before" not in after
    assert folder_of(after) != folder_of(before)
    (folder / "helper.py").write_text(old)
    assert "10 games, 5 of them kept from before" in arena("Folding", games=10)


@pytest.mark.parametrize(
    ("name", "file", "text"),
    [
        ("Folding", "base.py", BASE.replace("action.code", "-action.code")),
        ("Weighted", "w.json", "-1"),
    ],
    ids=["the base class in another file", "the weights"],
)
def test_all_that_is_read_at_the_start_is_in_the_digest_of_the_strategy_alone(
    folder: Path, name: str, file: str, text: str
) -> None:
    specs = [Spec.read(f"bot:{name}"), Spec.read("tsumogiri")]
    before, old = code_digest(specs).split(","), (folder / file).read_text()
    (folder / file).write_text(text)
    changed = code_digest(specs).split(",")
    assert changed[0] != before[0] and changed[1] == before[1]
    (folder / file).write_text(old)
    assert code_digest(specs).split(",") == before


@pytest.mark.parametrize(
    ("name", "file", "text"),
    [("Lazy", "late_helper.py", "SIGN = -1"), ("LateReader", "late.json", "-1")],
    ids=["a module imported while it decides", "a file opened in a game"],
)
def test_what_is_read_later_sets_the_games_of_before_aside(
    arena: Callable[..., str], folder: Path, name: str, file: str, text: str
) -> None:
    before = arena(name)
    old_games = (folder_of(before) / "games.jsonl").read_bytes()
    (folder / file).write_text(text)
    after = arena(name, games=10)
    kept = folder_of(after) / "earlier-1"
    assert folder_of(after) == folder_of(before)
    assert f"{folder / file} changed since: played anew; 5 games of before: {kept}" in after
    assert "kept from before" not in after
    assert (kept / "games.jsonl").read_bytes() == old_games
    assert (folder_of(after) / "games.jsonl").read_bytes().count(b"\n") == 11
    assert "10 of them kept from before" in arena(name, games=10)


def test_what_a_strategy_writes_itself_is_nothing_that_it_depends_on(
    arena: Callable[..., str],
) -> None:
    arena("Writer")
    assert "5 of them kept from before" in arena("Writer")


def test_the_digest_does_not_depend_on_where_the_files_lie(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = code_digest([Spec.read("bot:Folding")])
    copy = tmp_path_factory.mktemp("copy")
    for file in folder.glob("*.py"):
        (copy / file.name).write_text(file.read_text())
    monkeypatch.chdir(copy)
    assert code_digest([Spec.read("bot:Folding")]) == here


@pytest.mark.parametrize(
    ("text", "error", "report"),
    [
        ("def __init__(self, depth): pass", MakingError, "missing 1 required positional"),
        ("def __init__(self): import os; os._exit(5)", MakingError, "ended with exit status 5"),
        ("luck = 1 / 0", StrategyError, "ZeroDivisionError"),
    ],
)
def test_what_cannot_be_made_is_said_before_any_game(
    folder: Path, text: str, error: type[StrategyError], report: str
) -> None:
    source = f"{BASE}\nclass Bad(Base):\n    {text}\n    def decide(self, view): pass\n"
    (folder / "bad.py").write_text(source)
    with pytest.raises(error, match=report):
        code_digest([Spec.read("bad:Bad"), Spec.read("tsumogiri")])


def test_the_files_that_a_command_names_count_for_an_external_ai(folder: Path) -> None:
    (folder / "client.py").write_text("print(1)")
    before = code_digest([Spec.read("external:python client.py")])
    (folder / "client.py").write_text("print(22)")
    assert code_digest([Spec.read("external:python client.py")]) != before


DIGESTS = """
import sys
from mjbot.arena.code_digest import code_digest
from mjbot.strategy.registry import Spec
for text in sys.argv[1:]:
    print(code_digest([Spec.read(text)]))
"""


def digests(installed: Path, *specs: str) -> list[str]:
    environ = {**os.environ, "PYTHONPATH": str(installed)}
    command = [sys.executable, "-c", DIGESTS, *specs]
    done = subprocess.run(
        command, env=environ, cwd=installed, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_all_that_a_strategy_of_an_installation_is_made_of_counts(tmp_path: Path) -> None:
    installed = tmp_path / "site-packages"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "mjbot", installed / "mjbot", ignore=ignored)
    specs = ["combo-partner,base=strongest", "strongest", "fast-riichi-a"]
    before = digests(installed, *specs)
    for changed in ("strongest", "supervised", "fold_recognition_plus"):
        with (installed / "mjbot" / "strategies" / f"{changed}.py").open("a") as file:
            file.write("# changed\n")
        after = digests(installed, *specs)
        pair, alone, other = (a == b for a, b in zip(before, after, strict=True))
        assert not pair and not alone, changed
        assert other, changed
        before = after


def test_files_of_installed_packages_elsewhere_do_not_count(tmp_path: Path) -> None:
    package = tmp_path / "venv" / "lib" / "site-packages" / "somebodys.py"
    package.parent.mkdir(parents=True)
    package.write_text("x = 1\n")
    own = tmp_path / "own.py"
    own.write_text("y = 1\n")
    watch = "from mjbot.arena.workers.files_read import ReadingWatch; import sys\n"
    watch += "watch = ReadingWatch()\nfor path in sys.argv[1:]: open(path).read()\n"
    watch += "print(*[path for path, _ in watch.drain()])"
    command = [sys.executable, "-c", watch, str(package), str(own)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(own)]


def test_a_run_that_names_a_device_or_a_pipe_does_not_read_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert digest_of("/dev/zero") == digest_of(str(tmp_path / "pipe")) == GONE


def test_a_run_of_pipes_is_refused_and_not_read(tmp_path: Path) -> None:
    for name in (FILES_FILE, GAMES_FILE):
        os.mkfifo(tmp_path / name)
    assert "is missing or damaged" in FilesRead(tmp_path).doubt(has_games=True)
    with pytest.raises(ResultsError, match="pipe or a device; name another"):
        read_games(tmp_path)
