"""What matters for the report of a fault: versions, system, cache, Node, one kyoku; what is wrong.

Each part is examined for itself, and imports only then what it needs: where numba or another
package is missing or broken, the rest is reported all the same.  No text has a secret, the user's
name or the home folder.
"""

import contextlib
import errno
import getpass
import os
import platform
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from mjbot.game.statistics.origin import program_version
from mjbot.runtime.files import first_line
from mjbot.runtime.processors import processor_limit, worker_count
from mjbot.runtime.redaction import redacted
from mjbot.runtime.system import available_processors, machine_memory_bytes

LEAST_FREE_BYTES: Final = 50 << 20
"""Less is a full disk: the compiled code of one version takes some 30 MB."""
LEAST_MEMORY_BYTES: Final = 1 << 30
"""Less is little: a process that plays takes 130 MB, one that compiles 400 MB."""
_PROBE: Final = bytes(1 << 16)
_MANIFEST: Final = Path(__file__).parents[1] / "compiled_code" / "manifest.json"
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)
_SETTINGS: Final = ("MJBOT_CACHE", "MJBOT_INTERPRETED", "MJBOT_LANGUAGE", "MJBOT_SHIPPED")
"""Variables whose value is reported; of the others of mjbot and numba only that they are set."""
_REQUIREMENT: Final = re.compile(r"([\w.-]+)(?:\[[^]]*])?\s*(?:>=\s*([\d.]+))?")
_STRATEGY: Final = "tsumogiri"


@dataclass(frozen=True)
class Finding:
    """What is wrong and what to do; ``stops_work``: mjbot cannot work so."""

    text: str
    cure: str
    stops_work: bool

    def __str__(self) -> str:
        return f"{'problem' if self.stops_work else 'note'}: {self.text}; {self.cure}"


@dataclass
class Diagnosis:
    """The facts by name, and the findings."""

    facts: dict[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    @property
    def is_well(self) -> bool:
        """Whether nothing stops work."""
        return not any(finding.stops_work for finding in self.findings)

    def stop(self, text: str, cure: str) -> None:
        """Add what stops work."""
        self.findings.append(Finding(impersonal(text), impersonal(cure), stops_work=True))

    def note(self, text: str, cure: str) -> None:
        """Add what costs time or a feature."""
        self.findings.append(Finding(impersonal(text), impersonal(cure), stops_work=False))

    def as_json(self) -> dict[str, Any]:
        """Return all of it, fit for ``json.dumps``."""
        listed = [
            {"text": one.text, "cure": one.cure, "stops_work": one.stops_work}
            for one in self.findings
        ]
        return {"is_well": self.is_well, "facts": self.facts, "findings": listed}


def examine() -> Diagnosis:
    """Examine this installation and this machine."""
    diagnosis = Diagnosis()
    for name, part in _PARTS.items():
        try:
            diagnosis.facts[name] = _impersonal_all(part(diagnosis))
        except ModuleNotFoundError as error:
            diagnosis.facts[name] = None
            package = (error.name or "a package").partition(".")[0]
            diagnosis.stop(f"{name}: {package} is not installed", f"pip install {package}")
        except Exception as error:  # whatever is broken is what is looked for
            problem = f"{type(error).__name__}: {first_line(error)}"
            diagnosis.facts[name] = None
            diagnosis.stop(f"{name}: {problem}", "install mjbot again, or report this line")
    return diagnosis


# --- what is left out ----------------------------------------------------------------------------


def impersonal(text: str) -> str:
    """Return a text without secrets, with ``~`` for the home folder and without the user's name."""
    text = redacted(text)
    with contextlib.suppress(RuntimeError, KeyError, OSError):
        home = str(Path.home())
        if len(home) > 1:
            text = re.sub(rf"{re.escape(home)}(?=$|\W)", "~", text)
    with contextlib.suppress(Exception):  # no name is known: KeyError, or OSError since 3.13
        user = re.escape(getpass.getuser())
        text = re.sub(rf"(?<=[\\/]){user}(?=$|[\\/])", "[user]", text)
    return text


def _impersonal_all(fact: Any) -> Any:
    match fact:
        case str():
            return impersonal(fact)
        case dict():
            return {name: _impersonal_all(value) for name, value in fact.items()}
    return fact


# --- versions ------------------------------------------------------------------------------------


def _mjbot(_: Diagnosis) -> str:
    try:
        version = program_version()
    except metadata.PackageNotFoundError:
        return "not installed: a folder of sources"
    return f"{version}, wheel with machine code" if _MANIFEST.exists() else version


def _python(_: Diagnosis) -> str:
    return f"{platform.python_version()} ({platform.python_implementation()})"


def _packages(diagnosis: Diagnosis) -> dict[str, str | None]:
    versions: dict[str, str | None] = {}
    for name, least in _required():
        try:
            versions[name] = version = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = None
            if name != "numba":  # reported as what it does to the code
                diagnosis.stop(f"{name} is not installed", f"pip install '{name}>={least}'")
            continue
        if least and _numbers(version) < _numbers(least):
            text = f"{name} {version} is older than {least}"
            diagnosis.stop(text, f"pip install '{name}>={least}'")
    return versions


def _required() -> Iterator[tuple[str, str]]:
    """Yield the packages that mjbot needs, and the oldest version of each."""
    with contextlib.suppress(metadata.PackageNotFoundError):
        for requirement in metadata.requires("mjbot") or []:
            if "extra ==" not in requirement and (match := _REQUIREMENT.match(requirement)):
                yield match[1], match[2] or ""


def _numbers(version: str) -> list[int]:
    """Return the numbers of a version, by which versions are compared.

    >>> _numbers("0.61.0rc1") > _numbers("0.60"), _numbers("2.1.3") < _numbers("2")
    (True, False)
    """
    return [int(number) for number in re.findall(r"\d+", version)]


def _settings(_: Diagnosis) -> dict[str, str]:
    named = [name for name in sorted(os.environ) if name.startswith(("MJBOT_", "NUMBA_"))]
    return {name: os.environ[name] if name in _SETTINGS else "is set" for name in named}


# --- the machine ---------------------------------------------------------------------------------


def _system(_: Diagnosis) -> str:
    return f"{platform.system()} {platform.release()} ({platform.machine()})"


def _processors(_: Diagnosis) -> dict[str, Any]:
    return {
        "workers": worker_count(),
        "available": available_processors(),
        "limit": processor_limit(),
    }


def _memory(diagnosis: Diagnosis) -> int | None:
    size = machine_memory_bytes()
    if size is not None and size < LEAST_MEMORY_BYTES:
        cure = "use --jobs 1, and a wheel with machine code"
        diagnosis.note(f"{_megabytes(size)} MB of memory are little", cure)
    return None if size is None else _megabytes(size)


def _megabytes(size: int) -> int:
    return size >> 20


def _encoding(diagnosis: Diagnosis) -> str:
    encoding = str(getattr(sys.stdout, "encoding", None) or "unknown")
    if not encoding.lower().startswith("utf"):
        cure = "set PYTHONUTF8=1 to see them"
        diagnosis.note(f"output in {encoding}: other characters are written as escapes", cure)
    return encoding


def _folder(diagnosis: Diagnosis) -> str:
    here = Path.cwd()
    if problem := _write_problem(here):
        text, is_full = problem
        if is_full:
            diagnosis.stop(f"the current folder {here}: {text}", "free some space on this disk")
        else:
            diagnosis.note(
                f"the current folder {here} cannot be written ({text}), and records of games and"
                " runs go there",
                "change to another folder, or use --log-dir and --out",
            )
    return str(here)


def _write_problem(folder: Path) -> tuple[str, bool] | None:
    """Return why nothing can be written in a folder, and whether that is a full disk."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(_PROBE)
            file.flush()
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return error.strerror or str(error), error.errno in _FULL
    if free < LEAST_FREE_BYTES:
        return f"the disk is full ({_megabytes(free)} MB are free)", True
    return None


# --- compiled code -------------------------------------------------------------------------------


def _code(diagnosis: Diagnosis) -> str:
    from mjbot.runtime.compiler import mode

    if mode.IS_INTERPRETED:
        text = f"code is interpreted, some hundred times slower: {mode.INTERPRETED_BECAUSE}"
        diagnosis.note(text, mode.CURE)
        return f"interpreted: {mode.INTERPRETED_BECAUSE}"
    from mjbot.runtime.compiler.shipped import variant

    if kind := variant():
        return f"compiled, machine code of the wheel for {kind}"
    if _MANIFEST.exists():
        cure = "install the versions of numba, llvmlite and numpy that the release names"
        diagnosis.note("the machine code of the wheel does not fit and is not used", cure)
    return "compiled on this machine"


def _cache(diagnosis: Diagnosis) -> dict[str, Any]:
    from mjbot.runtime.compiler.cache import CacheError, cache_folder
    from mjbot.runtime.compiler.state import cache_state

    try:
        folder = cache_folder()
    except CacheError as error:
        text, _, cure = str(error).rpartition("; ")
        diagnosis.stop(text, cure)
        return {"folder": None}
    problem = _write_problem(folder)
    if problem is not None and problem[1]:
        diagnosis.stop(f"the cache folder {folder}: {problem[0]}", "free some space on its disk")
    elif problem is not None:
        cure = "let MJBOT_CACHE name a folder that you can write"
        text = f"the cache folder {folder} cannot be written ({problem[0]})"
        diagnosis.stop(f"{text}: every start compiles anew", cure)
    state = cache_state()
    return {
        "folder": str(folder),
        "state": "cannot be written" if problem else "can be written",
        "functions": state.n_functions,
        "mb": _megabytes(state.n_bytes),
        **({"damaged": len(state.damaged)} if state.damaged else {}),
    }


def _kyoku(_: Diagnosis) -> dict[str, float]:
    """Play a kyoku twice: what the first takes longer is loading and compiling."""
    first_s, second_s = _seconds(_play), _seconds(_play)
    return {"start_s": round(max(0.0, first_s - second_s), 2), "kyoku_s": round(second_s, 4)}


def _seconds(work: Callable[[], object]) -> float:
    began_s = time.perf_counter()
    work()
    return time.perf_counter() - began_s


def _play() -> None:
    from mjbot.game.referee import Referee
    from mjbot.game.referee.referee import Position
    from mjbot.protocol.rules import last_round
    from mjbot.strategy.registry import Spec

    players = [Spec.read(_STRATEGY).make(seat) for seat in range(4)]
    # South 4: a tonpu is over after it
    Referee(1, "tonpu").play(players, Position(round=last_round("hanchan", 4)))


# --- the external AI -----------------------------------------------------------------------------


def _node(diagnosis: Diagnosis) -> str | None:
    from mjbot.play.match import node as nodes

    try:
        node = nodes.find_node()
    except nodes.NodeError as error:
        text, _, cure = str(error).rpartition("; ")
        diagnosis.note(text, cure)
        return None
    found = f"{node.version} ({node.executable})"
    if nodes.packages_ready():
        return f"{found}, external AI installed"
    diagnosis.note("the external AI is not installed", nodes.CURE)
    return found


_PARTS: Final[dict[str, Callable[[Diagnosis], Any]]] = {
    "mjbot": _mjbot,
    "python": _python,
    "packages": _packages,
    "system": _system,
    "processors": _processors,
    "memory_mb": _memory,
    "encoding": _encoding,
    "current folder": _folder,
    "settings": _settings,
    "code": _code,
    "cache": _cache,
    "node": _node,
    "kyoku": _kyoku,
}
