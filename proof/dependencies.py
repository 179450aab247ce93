"""The suite with other versions: the oldest that ``pyproject.toml`` allows, or the newest.

They go into a virtual environment of their own under ``build/dependencies``, with a cache of
compiled code that is empty at first.  Before the suite one game is played twice: a first start,
which compiles, and a second one, which must find all that the first has made and play the same
game.  Only the standard library is needed here, so that any interpreter can be tried.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

from mjbot.runtime.processors import worker_count

ROOT: Final = Path(__file__).parents[1]

GAME: Final = """
from mjbot.runtime.compiler.events import on_compiled

made = []
on_compiled.append(made.append)
from mjbot.game.referee import Referee
from mjbot.strategy.registry import Spec

players = [Spec.read("fast-riichi-d").make(seat) for seat in range(4)]
for seat, player in enumerate(players):
    player.start_game(seat, ("a", "b", "c", "d"))
referee = Referee(0, "tonpu")
referee.play(players)
print(len(made), *referee.state["scores"])
"""

_REQUIREMENT: Final = re.compile(r"([\w.-]+)(?:\[[\w,-]+\])?(?:(?:>=|==)([\w.]+))?")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof dependencies``."""
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--oldest", action="store_true", help="what pyproject.toml allows at least")
    which.add_argument("--newest", action="store_true", help="what pip finds")
    parser.add_argument("--python", default=sys.executable, help="interpreter (this one)")
    parser.add_argument(
        "--extra", action="append", default=[], help="one of the project's extras, too (none)"
    )
    parser.add_argument("--jobs", type=int, default=worker_count() + 1, help="at once")
    parser.add_argument("tests", nargs="*", help="files or folders of tests (all)")


def run(args: argparse.Namespace) -> int:
    """Install, play, test and report; return 1 if anything failed."""
    try:
        return _try(args)
    except subprocess.CalledProcessError as problem:  # its output is printed
        print(f"{shlex.join(map(str, problem.cmd))[:200]}: exit status {problem.returncode}")
    except (OSError, ValueError) as problem:
        print(problem)
    return 1


def _try(args: argparse.Namespace) -> int:
    extras = ["dev", *args.extra]
    wanted = requirements(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8")), extras)
    which = "oldest" if args.oldest else "newest"
    version = _output_of(args.python, "import platform; print(platform.python_version())")
    folder = ROOT / "build" / "dependencies" / f"{which}-{version}"
    python = _install(args.python, folder, extras, oldest(wanted) if args.oldest else [])
    installed = json.loads(_pip(python, "list", "--format=json"))
    print(f"Python {version}: {', '.join(versions(wanted, installed))}", flush=True)
    environment = _environment(folder)
    problems = _start_twice(python, environment)
    report = folder / "tests.xml"
    done = subprocess.run(
        [python, "-m", "pytest", "-n", str(args.jobs), f"--junitxml={report}", *args.tests],
        cwd=ROOT, env=environment, check=False,
    )  # fmt: skip
    if done.returncode:
        problems.append(f"pytest ended with exit status {done.returncode}")
    print(f"{which} allowed versions, Python {version}:")
    print(*summary(ElementTree.parse(report)), *problems, sep="\n")
    return 1 if problems else 0


def requirements(pyproject: Mapping[str, Any], extras: Iterable[str]) -> list[str]:
    """Return what the project needs, and needs for these extras."""
    project = pyproject["project"]
    optional = project["optional-dependencies"]
    return [*project["dependencies"], *(line for extra in extras for line in optional[extra])]


def oldest(wanted: Iterable[str]) -> list[str]:
    """Return constraints for pip: the oldest version that each requirement allows.

    Raises ``ValueError`` where a requirement does not name it.

    >>> oldest(["numba>=0.59,<0.69", "ray[client]>=2.9", "torch==2.13.0"])
    ['numba==0.59', 'ray==2.9', 'torch==2.13.0']
    """
    found = []
    for line in wanted:
        name, version = _parts(line)
        if not version:
            raise ValueError(
                f"pyproject.toml: {line!r} names no oldest version; write NAME>=VERSION"
            )
        found.append(f"{name}=={version}")
    return found


def versions(wanted: Iterable[str], installed: Iterable[Mapping[str, str]]) -> list[str]:
    """Return name and version of the requirements, of all that pip has listed.

    >>> versions(["Py_test>=8"], [{"name": "py-test", "version": "8.0.1"}])
    ['py-test 8.0.1']
    """
    names = {_plain(_parts(line)[0]) for line in wanted}
    return [f"{one['name']} {one['version']}" for one in installed if _plain(one["name"]) in names]


def summary(report: Any) -> list[str]:
    """Return the summary of a JUnit report: counts, failures, reasons of skipped tests."""
    cases = list(report.iter("testcase"))
    reasons = Counter(case.get("message", "") for case in report.iter("skipped"))
    failed = [
        f"failed: {case.get('classname', '')}::{case.get('name', '')[:100]}"
        for case in cases
        if case.find("failure") is not None or case.find("error") is not None
    ]
    skipped = reasons.total()
    seconds = sum(float(suite.get("time", 0)) for suite in report.iter("testsuite"))
    return [
        f"{len(cases) - len(failed) - skipped} passed, {len(failed)} failed, {skipped} skipped"
        f" in {seconds / 60:.0f} min",
        *(f"skipped {count}: {reason}" for reason, count in reasons.most_common()),
        *failed,
    ]


def _parts(line: str) -> tuple[str, str | None]:
    found = _REQUIREMENT.match(line)
    if not found:
        raise ValueError(f"pyproject.toml: {line!r} is no requirement")
    return found[1], found[2]


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


# --- what is run ---------------------------------------------------------------------------------


def _install(base: str, folder: Path, extras: Iterable[str], constraints: Iterable[str]) -> str:
    """Return the interpreter of a fresh environment with the project in it."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([base, "-m", "venv", folder / "venv"], check=True)
    scripts = "Scripts" if os.name == "nt" else "bin"
    python = str(folder / "venv" / scripts / "python")
    bounds = folder / "constraints.txt"
    bounds.write_text("\n".join(constraints), encoding="utf-8")
    _pip(python, "install", "-qq", "-c", str(bounds), "-e", f"{ROOT}[{','.join(extras)}]")
    return python


def _pip(python: str, *arguments: str) -> str:
    command = [python, "-m", "pip", "--disable-pip-version-check", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout


def _environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "MJBOT_CACHE": str(folder / "cache"), "OMP_NUM_THREADS": "1"}


def _start_twice(python: str, environment: dict[str, str]) -> list[str]:
    """Play one game on an empty cache and once more; return what is wrong."""
    games = []
    for which in ("first", "second"):
        began_s = time.monotonic()
        made, *scores = map(int, _output_of(python, GAME, environment).split())
        took_s = time.monotonic() - began_s
        print(f"{which} start: {made} functions compiled, one tonpu in {took_s:.1f} s", flush=True)
        games.append((made, scores))
    # fetched for the tests with the external AI; without network these are skipped with a message
    subprocess.run([python, "-m", "mjbot", "setup-node"], cwd=ROOT, env=environment, check=False)
    (first, game), (second, again) = games
    return [
        problem
        for problem, is_so in {
            "the first start compiled nothing": not first,
            f"the second start compiled {second} functions again": second > 0,
            f"the second game ended otherwise: {again}, not {game}": again != game,
        }.items()
        if is_so
    ]


def _output_of(python: str, script: str, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [python, "-c", script],
        cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    return done.stdout.strip()
