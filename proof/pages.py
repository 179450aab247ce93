"""The commands of the documentation, run as the pages show them, and what they print.

The pages of getting started and the how-tos are read from top to bottom, each in a folder of its
own that holds what a fresh clone has (``logs``, ``examples``), a few records under the names that
pages use (:data:`STAND_INS`), and the Python files of the page: a block whose first line, or the
text before it, names a file.  Each command line is run there in bash.  Lines that follow a block of
commands in a block of their own are what it prints: each must be in the output, whatever stands
for ``...``, dates and times.

What is not run has its reason in :data:`SKIPPED`: a server elsewhere, hours, a browser, a
placeholder.  A command that does not end within ``--limit-s`` has failed.
"""

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from mjbot.game.records.sources import games_of, list_sources
from mjbot.game.records.writers import FORMATS
from mjbot.runtime.compiler.cache import cache_folder
from mjbot.runtime.files import plural

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = (
    "README.md", "docs/start/install.md", "docs/start/first-bot.md", "docs/start/is-it-better.md",
    "docs/start/examples.md",
    "docs/howto/connect.md", "docs/howto/pair.md", "docs/operating.md", "docs/howto/container.md",
    "docs/howto/check-in-ci.md",
    "docs/howto/review-your-games.md", "docs/howto/score-a-hand.md", "docs/watch.md",
    "docs/learning.md",
    "docs/howto/reinforcement-learning.md", "docs/detection.md", "docs/check.md",
    "docs/howto/many-machines.md", "docs/howto/profile-a-bot.md",
    "docs/howto/troubleshooting.md", "docs/arena.md",
    "docs/review.md", "docs/tenhou.md", "docs/strategies.md", "docs/howto/statistics.md",
)  # fmt: skip
"""Getting started and the how-tos, in the order of the navigation, and the references that show
commands."""

SKIPPED: Final = {
    r"^(make|git|export|pip|\.ci/run|python3\.11|mjbot-env/\S+)\b": "builds or installs",
    r"^ray |--on ray|\.ray/": "needs a cluster",
    r"\b(URL|WHAT|GAME|FILE|HOST|NAME|FOLDER|RUN)\b|\bA B\b|\.\.\.": "a placeholder",
    r"^mjbot (watch(?!.*--out)|match human)|--watch\b|-for-pairs": "stays until it is closed",
    r"external:majiang|^mjbot duo( +--top (?!.*--rivals).*)?$": "needs Node and the external AI",
    r"external(-\w+)?:|python bot\.py|mortal\.py|my_client\.py": "a bot of the reader",
    r"^mjbot train (self-play|policy|rank|fast|networks)|hanchan-20": "hours, and records",
    r"^mjbot (duo mjsonp|chaos)|check (mjsonp|ws)(?!.*--start)": "needs a server that runs",
    r"^mjbot serve (--port|--tenhou)|tenhou://": "needs players or a token",
    r"^mjbot stats (logs/20|.*--compare)": "the reader's own records",
    r"--games (2000|600)\b|lookahead=text|-d --until sure": "minutes",
}
"""By a pattern of the command line: why it is not run."""

STAND_INS: Final = ("game.mjson", "game.json", "game.mjlog", "games.zip", "mjlogs.zip")
"""Records that pages name: one that ships, in several formats, and all of them."""

SHOWING: Final = (
    "docs/start/is-it-better.md", "docs/howto/review-your-games.md", "docs/howto/score-a-hand.md",
)  # fmt: skip
"""Pages whose blocks after a command are its output."""

MY_BOT: Final = {"docs/strategies.md": "strategies/fast_riichi_a.py"}
"""By page: what the reader has copied to ``my_bot.py``, else the first bot."""

AT_ONCE: Final = re.compile(r"^mjbot (serve|play)\b")
"""Commands that run at the same time, a server and its players."""
COMMAND: Final = re.compile(r"^(mjbot|python|make|pip|ray|git|export|chmod|simulator/|\.ci/)\S* *")
SERVER_STARTS_S: Final = 8.0

VARIES: Final = re.compile(r"\.\.\.|\d{4}-\d\d-\d\d(?:-\d{6}| [\d:]+)?|\d+\.\d+ s\b")


@dataclass(frozen=True)
class Command:
    """A command line of a page, what the page shows of its output, and why it is not run."""

    page: str
    line: int
    text: str
    shown: tuple[str, ...] = ()

    @property
    def skipped(self) -> str:
        """Why it is not run, or nothing."""
        found = (why for pattern, why in SKIPPED.items() if re.search(pattern, self.text))
        return next(found, "")


def commands_of(page: str) -> list[Command]:
    """Return the command lines of a page, each with the lines that the page shows after it."""
    found: list[Command] = []
    for number, text in _block_lines(ROOT / page):
        line = text.strip()
        if COMMAND.match(line):
            command = re.sub(r"  +#.*| +\(and seeds.*", "", line)
            found.append(Command(page, number, command))
        elif line and found and page in SHOWING:
            last = found[-1]
            found[-1] = Command(page, last.line, last.text, (*last.shown, line))
    return found


def _block_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of indented blocks and of fenced ones without a language, numbered."""
    language: str | None = None
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            language = line[3:] if language is None else None
        elif language in ("", "sh") or (language is None and line.startswith("    ")):
            yield number, line


def files_of(page: str) -> dict[str, str]:
    """Return the Python files of a page by name; the last one of a name counts."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found, end = {}, 0
    for match in re.finditer(r"```python\n(.*?)```", text, re.S):
        inside = re.match(r"# (\w+\.py)\n", match[1])
        before = re.findall(r"`(\w+\.py)`", text[end : match.start()])
        if name := inside[1] if inside else before[-1] if before else "":
            found[name] = match[1]
        end = match.end()
    return found


def missing_from(output: str, shown: Sequence[str]) -> list[str]:
    """Return the shown lines that an output does not have; blanks and what varies aside.

    >>> missing_from("2 games\\npage: runs/arena-12/report.html", ["page: runs/arena-.../r"])
    []
    >>> missing_from("rank 2.31", ["rank 2.4"])
    ['rank 2.4']
    """
    flat = " ".join(output.split())
    lost = []
    for line in shown:
        pieces = [re.escape(" ".join(piece.split())) for piece in VARIES.split(line)]
        if not re.search(" ?.*? ?".join(pieces), flat):
            lost.append(line)
    return lost


def prepare(folder: Path, page: str) -> None:
    """Fill a folder with what a page may count on."""
    logs = folder / "logs"
    logs.mkdir()
    for log in sorted((ROOT / "logs").glob("*.mjson")):
        shutil.copy(log, logs)
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__*"))
    game = logs / "hanchan-thirteen-kyoku.mjson"
    shutil.copy(game, folder / "game.mjson")
    (read,) = games_of(list_sources(game)[0])
    whole = replace(read, entries=list(read.entries))
    for ending, name in (("json", "tenhou6"), ("mjlog", "mjlog")):
        (folder / f"game.{ending}").write_bytes(FORMATS[name].encode(whole))
    with zipfile.ZipFile(folder / "games.zip", "w") as records:
        for log in sorted(logs.iterdir()):
            records.write(log, log.name)
    with zipfile.ZipFile(folder / "mjlogs.zip", "w") as records:
        records.write(folder / "game.mjlog", "game.mjlog")
    my_bot = ROOT / MY_BOT[page] if page in MY_BOT else None
    bot = my_bot.read_text("utf-8") if my_bot else files_of("docs/start/first-bot.md")["my_bot.py"]
    (folder / "weights.npz").write_bytes(b"")
    for name, text in {"my_bot.py": bot, **files_of(page)}.items():
        (folder / name).write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class Result:
    """How a command ended: its problem, or nothing, and how long it took."""

    command: Command
    problem: str
    seconds: float


def try_page(page: str, limit_s: float) -> Iterator[Result]:
    """Run the commands of a page that are not skipped, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="mjbot-pages-") as name:
        folder = Path(name)
        prepare(folder, page)
        todo = [command for command in commands_of(page) if not command.skipped]
        for at_once, some in groupby(todo, lambda each: bool(AT_ONCE.match(each.text))):
            for each in (list(some),) if at_once else ([command] for command in some):
                yield from _try_at_once(each, folder, limit_s)


def try_command(command: Command, folder: Path, limit_s: float) -> Result:
    """Run a command and compare what it prints with the page."""
    (result,) = _try_at_once([command], folder, limit_s)
    return result


def _try_at_once(commands: Sequence[Command], folder: Path, limit_s: float) -> Iterator[Result]:
    """Run commands at the same time and compare what each prints with the page."""
    began, processes = time.monotonic(), []
    for command in commands:
        processes.append(_start(command, folder))
        if command.text.startswith("mjbot serve"):
            time.sleep(SERVER_STARTS_S)
    for command, process in zip(commands, processes, strict=True):
        try:
            output, _ = process.communicate(timeout=max(0.1, began + limit_s - time.monotonic()))
        except subprocess.TimeoutExpired:
            _stop(process)
            yield Result(command, f"not finished after {limit_s:g} s", limit_s)
            continue
        seconds = time.monotonic() - began
        yield Result(command, _problem(command, process.returncode, output), seconds)


def _problem(command: Command, status: int, output: str) -> str:
    if status:
        last = output.strip().splitlines()[-1:] or [""]
        return f"exit status {status}: {last[0]}"
    lost = missing_from(output, command.shown)
    return f"does not print {lost[0]!r}" if lost else ""


def _start(command: Command, folder: Path) -> subprocess.Popen[str]:
    here = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(folder),  # what a page writes there is removed
        "MJBOT_CACHE": str(cache_folder()),
    }
    return subprocess.Popen(
        ["bash", "-c", command.text],
        cwd=folder, env={**here, "COLUMNS": "200"}, stdin=subprocess.DEVNULL, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip


def _stop(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=20)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def executed(path: Path) -> Any:
    """Return a notebook after its cells were run in its folder, with their outputs."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.pop("outputs", None)
        if cell.cell_type == "code":
            cell.outputs = []
    resources = {"metadata": {"path": str(path.parent)}}
    metadata = dict(notebook.metadata)
    NotebookClient(notebook, timeout=600, resources=resources, record_timing=False).execute()
    notebook.metadata = metadata  # without the version of this Python
    return notebook


def write_notebooks() -> None:
    """Run the notebooks of the examples and write them with their new outputs."""
    import nbformat

    for path in sorted((ROOT / "examples").glob("*.ipynb")):
        nbformat.write(executed(path), path)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of this proof."""
    parser.add_argument("pages", nargs="*", default=PAGES, help="pages (default: all of these)")
    parser.add_argument("--notebooks", action="store_true", help="rewrite the notebooks' outputs")
    parser.add_argument("--limit-s", type=float, default=300, help="seconds for a command")


def run(args: argparse.Namespace) -> int:
    """Try the pages, print each command's end; 1 if one failed."""
    if args.notebooks:
        write_notebooks()
        return 0
    failed = 0
    for page in args.pages:
        for command in commands_of(page):
            if command.skipped:
                print(f"skipped  {page}:{command.line} ({command.skipped}) {command.text}")
        for result in try_page(page, args.limit_s):
            word = "FAILED" if result.problem else "ok"
            failed += bool(result.problem)
            where = f"{page}:{result.command.line}"
            print(f"{word:8} {where} {result.seconds:.0f} s  {result.command.text}", flush=True)
            if result.problem:
                print(f"         {result.problem}", flush=True)
    print(f"{plural(failed, 'command')} failed")
    return int(failed > 0)
