"""Where compiled code is kept: one folder per module, named after a digest of what it depends on.

numba's own cache is keyed by the path of a source file and the time it was written, so that every
checkout compiles everything again, and forgets to recompile a function when a *callee* in another
file changes.  Here the folder's name has a digest of all that the code in it depends on: after an
edit exactly what depends on it is compiled again, in a copy of the project nothing is.

Folders that are no longer used are removed, the longest unused first, while more is kept than
:data:`KEPT_BYTES`.
"""

import contextlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Final

from mjbot.runtime.compiler.claims import Claims
from mjbot.runtime.errors import ExitCode, MjbotError
from mjbot.runtime.system import group_id, user_id

KEPT_BYTES: Final = 600 << 20
"""All compiled code of one version of ours takes some 30 MB."""

IN_USE_S: Final = 3600.0
"""A folder is not removed for so long after a process has found code in it."""

CHECKED: Final = "-checked"
"""Part of the names of the folders whose files are checked when they are read."""

_CRASHES: Final = ("SIGSEGV", "SIGBUS", "SIGILL")
_TOUCHED_AGAIN_S: Final = 600.0

CLAIMS_VARIABLE: Final = "MJBOT_CLAIMS"
"""Names the folder of the claims where several processes compile at once."""

shared_claims: list[Claims] = []
"""Those of this process, if several compile at once."""


def share_compiling(claims: Claims) -> None:
    """Compile from now on only what no other process with the same claims is compiling."""
    shared_claims[:] = [claims]


def cache_folder() -> Path:
    """Return the folder for compiled code and tables (``MJBOT_CACHE`` overrides it)."""
    if chosen := os.environ.get("MJBOT_CACHE"):
        return _trusted(Path(chosen))
    return _trusted(_folder_of_user())


def locks_folder() -> Path:
    """Return the folder of this user's locks, whatever ``MJBOT_CACHE`` is."""
    return _trusted(_folder_of_user()) / "locks"


@cache
def _folder_of_user() -> Path:
    """Return ``~/.cache/mjbot``; for a user without a home a folder among the temporary files."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    if base.is_absolute():
        with contextlib.suppress(OSError):
            base.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.access(base, os.W_OK | os.X_OK):
            return base / "mjbot"
    user = user_id()
    return Path(tempfile.gettempdir(), f"mjbot-{'user' if user is None else user}")


def cure_of_crash(end: str) -> str:
    """Return what to do about a process that machine code may have ended, as an addition to a line.

    ``end`` is as of :func:`mjbot.runtime.processes.describe_exit`; of other ends nothing is added.
    """
    if not end.endswith(_CRASHES):
        return ""
    return f" (if that happens again, delete the cache of compiled code, {cache_folder()})"


class CacheError(MjbotError):
    """The cache cannot be used; the text is one line for the user."""

    exit_code = ExitCode.UNREACHABLE


@cache
def _trusted(
    folder: Path, what: str = "the cache of compiled code", by: str = "MJBOT_CACHE"
) -> Path:
    """Return the folder; raise :class:`CacheError` if another user can write it or wrote in it.

    Machine code is loaded from the cache, and numba's index is a pickle: a user who can write in
    the folder runs code as this user.  A link in the folder of the claims would lead to any file of
    this user, which is then emptied.  A group that is this user's own (umask 002) is no other user.
    A missing folder is created at once, so that no other user can create it later.  What lies in it
    is looked at too: it stays there when the folder was made private afterwards.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError:
        return folder  # nothing can be kept there
    if user_id() is None:  # Windows keeps profiles apart
        return folder
    for path, found in chain([("", status)], _inside(str(folder))):
        if problem := _writer(found):
            place = f"{folder}: in {what}, {path}" if path else f"{folder}: {what}"
            raise CacheError(
                f"{place} {problem}, who could run code as you;"
                f" delete {folder} with all that is in it, or set {by} to a folder of your own"
            )
    return folder


def _writer(status: os.stat_result) -> str:
    """Return which other user may write a file or folder, empty if none."""
    if status.st_uid not in (user_id(), 0):
        return f"belongs to user {status.st_uid}"
    if stat.S_ISLNK(status.st_mode):
        return ""
    if status.st_mode & stat.S_IWOTH:
        return "can be written by every user"
    if status.st_mode & stat.S_IWGRP and status.st_gid != group_id():
        return f"can be written by group {status.st_gid}"
    return ""


def _inside(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield all files and folders below a folder: some 1,500, which takes 16 ms."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:  # removed meanwhile
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):
                yield entry.path, entry.stat(follow_symlinks=False)
            if entry.is_dir(follow_symlinks=False):
                yield from _inside(entry.path)


if _folder_of_claims := os.environ.get(CLAIMS_VARIABLE):
    share_compiling(
        Claims(_trusted(Path(_folder_of_claims), "the folder of claims", CLAIMS_VARIABLE))
    )


def prune(folder: Path, kept_bytes: int = KEPT_BYTES) -> None:
    """Remove the folders in ``folder`` that were used longest ago until the rest fits."""
    found = []
    with contextlib.suppress(OSError):
        for module in folder.iterdir():
            with contextlib.suppress(OSError):
                size = sum(file.stat().st_size for file in module.iterdir())
                found.append((module.stat().st_mtime, size, module))
    room = kept_bytes
    for used_at, size, module in sorted(found, reverse=True):
        room -= size
        if room < 0 and time.time() - used_at > IN_USE_S:
            shutil.rmtree(module, ignore_errors=True)


_used: Final[set[Path]] = set()
_pruned: Final[set[Path]] = set()


def mark_used(folder: Path) -> None:
    """Note that code of the folder is in use, so that the folder is not removed."""
    if folder not in _used:
        _used.add(folder)
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > _TOUCHED_AGAIN_S:
                os.utime(folder)


def prune_once(folder: Path) -> None:
    """Remove once per process what :func:`prune` removes."""
    if folder not in _pruned:
        _pruned.add(folder)
        prune(folder)
