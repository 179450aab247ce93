"""Install an artifact into an empty environment, look at what that left, and play a tonpu."""

import csv
import os
import sysconfig
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from venv import EnvBuilder

from mjbot.runtime.compiler.machine_code import ReleaseError, output_of

GAME: Final = ("duo", "--length", "tonpu", "--rivals", "fast-riichi-d", "fast-riichi-d")
"""The game of README without the download of the external AI, East only."""
_PURE: Final = "-py3-none-any.whl"
_COMPILED: Final = "*.nbc"
"""Files of the cache with compiled code."""
_KEPT: Final = ("HOME", "LD_LIBRARY_PATH", "PATH", "TMPDIR")
_PIP: Final = ("-P", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")


@dataclass(frozen=True)
class Installed:
    """What an installed artifact is and did."""

    artifact: Path
    names: tuple[str, ...]
    """Top-level names in site-packages."""
    files: int
    megabytes: float
    install_s: float
    first_s: float
    """Of the first game, with what is compiled before it."""
    second_s: float
    compiled: int
    """Files with code that the games compiled, or that an earlier check with this cache did."""

    def __str__(self) -> str:
        size = self.artifact.stat().st_size / 1e6
        return (
            f"{self.artifact.name}: {size:.1f} MB; installed in {self.install_s:.0f} s with its"
            f" dependencies; left {' '.join(self.names)} ({self.files} files,"
            f" {self.megabytes:.1f} MB); a tonpu took {self.first_s:.0f} s"
            f" ({self.compiled} files compiled), the second {self.second_s:.0f} s"
        )


def check(artifact: Path, cache: Path) -> Installed:
    """Install and play; compiled code is kept in the folder ``cache``.

    Raises ``ReleaseError`` where a step fails, where another name than ``mjbot`` is installed, and
    where a wheel with machine code compiles.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environ = {key: os.environ[key] for key in _KEPT if key in os.environ}
        context = EnvBuilder(with_pip=True).ensure_directories(folder / "env")
        EnvBuilder(with_pip=True).create(folder / "env")
        pip = [context.env_exe, *_PIP, str(artifact.resolve())]
        install_s = _timed(pip, f"installing {artifact.name}", environ | _pip_settings(), folder)
        site = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder / "env")}))
        rows = record_of(site)
        names = require_one_name(rows, artifact.name)
        game = [str(Path(context.bin_path) / "mjbot"), *GAME]
        playing = environ | {"MJBOT_CACHE": str(cache)}
        what = f"a tonpu with {artifact.name}"
        first_s = _timed(game, what, playing, folder)
        second_s = _timed(game, what, playing, folder)
        compiled = compiled_files(artifact, cache)
        megabytes = sum((site / row).stat().st_size for row in rows) / 1e6
        return Installed(
            artifact, names, len(rows), megabytes, install_s, first_s, second_s, compiled
        )


def has_machine_code(artifact: Path) -> bool:
    """Whether an artifact is a wheel for one Python and one kind of machine."""
    return artifact.suffix == ".whl" and not artifact.name.endswith(_PURE)


def _pip_settings() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if key.startswith("PIP_")}


def _timed(command: list[str], what: str, environ: Mapping[str, str], folder: Path) -> float:
    """Run a command and return its seconds."""
    start = time.monotonic()
    output_of(command, what, environ, folder)
    return time.monotonic() - start


def record_of(site: Path) -> list[str]:
    """Return the files that mjbot's RECORD lists, from the folder of installed packages."""
    records = [*site.glob("mjbot-*.dist-info/RECORD")]
    if len(records) != 1:
        raise ReleaseError(f"{site}: {len(records)} records of mjbot, expected one")
    with records[0].open(encoding="utf-8", newline="") as file:
        return [row[0] for row in csv.reader(file)]


def require_one_name(rows: list[str], artifact: str) -> tuple[str, ...]:
    """Return what files make visible to every program of the environment: mjbot, and its record.

    Raises ``ReleaseError`` for another name.
    """
    names = tuple(sorted({row.split("/")[0] for row in rows if not row.startswith("../")}))
    is_ours = len(names) == 2 and names[0] == "mjbot" and names[1].endswith(".dist-info")
    if not is_ours:
        raise ReleaseError(f"{artifact} installs {' '.join(names)}, not mjbot alone")
    return names


def compiled_files(artifact: Path, cache: Path) -> int:
    """Return how many files of code a cache has.

    Raises ``ReleaseError`` if there is one although the artifact has machine code.
    """
    compiled = len([*cache.rglob(_COMPILED)])
    if compiled and has_machine_code(artifact):
        files = "1 file" if compiled == 1 else f"{compiled} files"
        cure = "its machine code does not fit the versions of numba and llvmlite that pip chose"
        raise ReleaseError(f"{artifact.name}: {files} of code compiled; {cure}")
    return compiled
