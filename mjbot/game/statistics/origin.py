"""The origin of a result: command, date and version."""

import datetime
import os
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[3]


@dataclass(frozen=True)
class Origin:
    """Origin of a page: command, date, and mjbot's version (``commit ...`` of a checkout)."""

    command: str
    date: str
    version: str = ""

    def __str__(self) -> str:
        by = f", {self.version}" if self.version else ""
        return f"{self.command}: {self.date}{by}"


def origin_of(arguments: Iterable[str]) -> Origin:
    """Return a command of today, and which mjbot ran it."""
    return Origin(" ".join(arguments), datetime.date.today().isoformat(), program_version())


def program_version() -> str:
    """Return the commit of mjbot's own checkout, or else the installed version.

    An installation may lie in the repository of another project, with a commit that is not mjbot's.
    """
    if _git("rev-parse", "--show-toplevel") == os.path.realpath(ROOT):
        return f"commit {_git('describe', '--always', '--dirty')}"
    return f"mjbot {version('mjbot')}"


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
