"""Machine code for a release's wheel, made by the Python that will use it.

:func:`add_machine_code` lets a process of that Python play all that is to be compiled, once for
each kind of processor in :data:`mjbot.runtime.compiler.shipped.VARIANTS`.  What it compiles lies in
the folder ``compiled_code`` of ``mjbot`` afterwards, with a manifest of versions and digests, by
which :mod:`mjbot.runtime.compiler.shipped` finds and checks it.
"""

import hashlib
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from mjbot.protocol.plain_text import one_line
from mjbot.runtime.compiler.shipped import FOLDER, MANIFEST, OFF_VARIABLE, VARIANTS
from mjbot.runtime.errors import ExitCode, MjbotError

CODE: Final = f"mjbot/{FOLDER.name}"
"""The folder of the machine code in a wheel."""

_LOCK: Final = ".lock"
_KEPT: Final = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH")
_SET: Final = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}


class ReleaseError(MjbotError):
    """A wheel that cannot be made."""

    exit_code = ExitCode.FAILED


def output_of(
    command: Sequence[str],
    what: str,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> str:
    """Run a command and return its output.

    Raises :class:`ReleaseError` with the command's last line if it fails.
    """
    try:
        done = subprocess.run(
            command,
            env=None if environ is None else {**environ},
            cwd=folder,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except OSError as problem:
        raise ReleaseError(f"{what}: {problem.strerror or problem}") from problem
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"]
        errors = [line for line in lines if line.startswith("ERROR")]
        raise ReleaseError(f"{what} failed: {one_line((errors or lines)[-1])}")
    return done.stdout.decode("utf-8", "replace")


def _isolated_environment() -> dict[str, str]:
    """Return the environment of a process whose results are the same on every machine."""
    return {key: os.environ[key] for key in _KEPT if key in os.environ} | _SET


def add_machine_code(tree: Path, command: Sequence[str], caches: Path) -> None:
    """Add to the packages in ``tree`` the machine code that ``command`` compiles.

    ``command`` is run in ``tree`` for each kind of processor, with a cache of its own in the
    folder ``caches``; its last line is what :func:`mjbot.runtime.compiler.shipped.versions` returns
    there, as JSON.  Raises ``ReleaseError`` where it fails, or where code names a folder of this
    machine.
    """
    code = tree / CODE
    printed = ""
    for variant in VARIANTS:
        cache = caches / variant
        environ = _isolated_environment() | {
            "MJBOT_CACHE": str(cache),
            OFF_VARIABLE: "off",
            "NUMBA_CPU_NAME": variant,
            "NUMBA_CPU_FEATURES": "",
            "PYTHONPATH": str(tree),
        }
        printed = output_of(command, f"compiling for {variant}", environ, tree)
        _copy_code(cache, code / variant, tree)
    write_manifest(code, json.loads(printed.splitlines()[-1]))


def _copy_code(cache: Path, folder: Path, tree: Path) -> None:
    """Copy what a cache holds, without the folder of its version of Python and numba."""
    for file in sorted(cache.rglob("*")):
        if file.is_file() and file.name != _LOCK:
            target = folder.joinpath(*file.relative_to(cache).parts[-2:])
            target.parent.mkdir(parents=True, exist_ok=True)
            if bytes(tree) in (data := file.read_bytes()):
                raise ReleaseError(f"compiling: {file.name} names this machine's folders")
            target.write_bytes(data)


def write_manifest(code: Path, versions: Mapping[str, str]) -> None:
    """List the files in ``code`` with their digests, and the versions that they were made with."""
    files = {
        file.relative_to(code).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(code.rglob("*"))
        if file.is_file()
    }
    manifest = {
        "versions": versions,
        "variants": [name for name in VARIANTS if (code / name).is_dir()],
        "files": files,
    }
    (code / MANIFEST).write_text(json.dumps(manifest, indent=1, sort_keys=True), encoding="utf-8")
