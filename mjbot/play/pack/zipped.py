"""The zip: our files, other people's packages, compiled code; for the same contents the same bytes.

At its root lie ``bot.py``, ``strategy.txt`` and our packages; ``own/`` has the user's files,
``packages/`` what pip installs for the container's Python; ``mjbot/compiled_code`` the machine code
that the strategy's games need, made by that Python (:mod:`mjbot.play.pack.machine_code`).
"""

import os
import re
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from mjbot.play.pack.contents import BOT, MOST_BYTES, PACKAGES, Contents
from mjbot.play.pack.machine_code import PackError, add_machine_code, isolated_environment, run
from mjbot.runtime.processes import own_module

PYTHON: Final = "3.10"
"""The container's; its image is ``smly/mjai-client:v3``."""

_GLIBC: Final = range(35, 16, -1)
"""What the container's Ubuntu 22.04 runs: wheels for glibc 2.17 to 2.35."""

_DATE: Final = (1980, 1, 1, 0, 0, 0)
_LEFT_OUT: Final = re.compile(
    r"(^|/)(tests|bin|include|__pycache__)/|\.(pyi|pxd|h|c|a)$|\.dist-info/(?!.*licen|METADATA)",
    re.IGNORECASE,
)
"""Of packages: tests, headers, sources in C, what pip records about this machine; licences stay."""


def pack(
    contents: Contents,
    out: Path,
    python: Sequence[str] | None,
    *,
    bare: bool = False,
    log: Callable[[str], None] = lambda text: None,
) -> int:
    """Write the zip and return its size in bytes.

    ``python`` is the command of the container's Python, which compiles; ``None``: nothing is
    compiled.  ``bare`` leaves out third-party packages.  ``log`` receives a line for each long
    step. Raises ``PackError``, and ``OSError`` where it cannot be written; then there is no zip.
    """
    with tempfile.TemporaryDirectory() as name:
        stage, caches = Path(name, "tree"), Path(name, "caches")
        for place, file in contents.files.items():
            _copy(file, stage / place)
        _copy(BOT, stage / "bot.py")
        (stage / "strategy.txt").write_text(f"{contents.spec}\n", encoding="utf-8")
        if not bare:
            log("fetching packages")
            _install(stage / "packages", contents.packages)
        if python is not None:
            log("compiling, for a minute or more")
            add_machine_code(stage, [*python, "-s", "bot.py", "--compile"], caches)
            _compile_sources(stage, python)
        return write_zip(stage, out)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _install(folder: Path, names: Iterable[str]) -> None:
    """Install wheels for the container, whatever Python runs here."""
    platforms = [f"--platform=manylinux_2_{minor}_x86_64" for minor in _GLIBC]
    required = [PACKAGES[name] for name in names]
    options = ["--no-deps", "--no-compile", "--only-binary=:all:", f"--python-version={PYTHON}"]
    command = [*own_module("pip"), "install", "-q", *options, *platforms]
    run([*command, "--platform=manylinux2014_x86_64", f"--target={folder}", *required], "pip")
    for file in [*folder.rglob("*")]:
        place = file.relative_to(folder).as_posix()
        if file.is_file() and _LEFT_OUT.search(place):
            file.unlink()


def _compile_sources(stage: Path, python: Sequence[str]) -> None:
    """Compile all modules to bytecode, which the container may not be able to keep."""
    options = ["-q", "--invalidation-mode", "unchecked-hash", "-s", str(stage), str(stage)]
    run([*python, "-m", "compileall", *options], "compileall", isolated_environment())


def write_zip(folder: Path, out: Path, most_bytes: int = MOST_BYTES) -> int:
    """Write all files of ``folder``, in order and without their dates; return the zip's size.

    It appears when it is whole.  Raises ``PackError`` where it is larger than ``most_bytes``.
    """
    temporary = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        with (
            temporary.open("xb") as target,  # follows no link that another user has put there
            zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive,
        ):
            for file in sorted(folder.rglob("*")):
                if file.is_file():
                    _add(archive, file, file.relative_to(folder).as_posix())
        size = temporary.stat().st_size
        if size > most_bytes:
            raise PackError(
                f"{out}: {size / 1e6:.0f} MB, and mjai.app takes at most {most_bytes / 1e6:.0f}"
            )
        temporary.replace(out)
        return size
    finally:
        temporary.unlink(missing_ok=True)


def _add(archive: zipfile.ZipFile, file: Path, name: str) -> None:
    place = zipfile.ZipInfo(name, _DATE)
    place.compress_type = zipfile.ZIP_DEFLATED
    place.external_attr = 0o100644 << 16
    place.file_size = file.stat().st_size
    with file.open("rb") as source, archive.open(place, "w") as target:
        shutil.copyfileobj(source, target)
