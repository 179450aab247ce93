"""Where compiled code is kept: one folder per module, named after a digest of what it depends on.

numba's own cache is keyed by the path of a source file and the time it was written, so that every
checkout compiles everything again, and forgets to recompile a function when a *callee* in another
file changes.  Here the folder's name has a digest of all that the code in it depends on: after an
edit exactly what depends on it is compiled again, in a copy of the project nothing is.

Folders that are no longer used are removed, the longest unused first, while more is kept than
:data:`KEPT_BYTES`.
"""

import contextlib
import io
import os
import pickle
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, Final

from numba.core import caching as _caching
from numba.core import compiler as _compiler

from mjbot.runtime.compiler.claims import Claims
from mjbot.runtime.compiler.idle_work import shorten_shape_errors
from mjbot.runtime.compiler.linking import mark_if_large, rebuild_result, reduce_result
from mjbot.runtime.compiler.loading import LOADS_ALONE, machine_of, parsed_late, start_runtime
from mjbot.runtime.compiler.numba_parts import IS_TRIED
from mjbot.runtime.compiler.shipped import read_shipped, target, variant
from mjbot.runtime.errors import ExitCode, MjbotError
from mjbot.runtime.system import group_id, lock_file, user_id

caching: Final[Any] = _caching  # numba has no type hints
compiler: Final[Any] = _compiler

KEPT_BYTES: Final = 600 << 20
"""All compiled code of one version of ours takes some 30 MB."""

IN_USE_S: Final = 3600.0
"""A folder is not removed for so long after a process has found code in it."""

_TOUCHED_AGAIN_S: Final = 600.0
_LOCK: Final = ".lock"

on_compiled: list[Callable[[str], None]] = []
"""Called with a function's name when its machine code was made, not found."""

CLAIMS_VARIABLE: Final = "MJBOT_CLAIMS"
"""Names the folder of the claims where several processes compile at once."""

_shared: list[Claims] = []


def share_compiling(claims: Claims) -> None:
    """Compile from now on only what no other process with the same claims is compiling."""
    _shared[:] = [claims]


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

_PARTS: Final = ("_CacheLocator", "IndexDataCacheFile", "CompileResultCacheImpl", "FunctionCache")

IS_USABLE: Final = IS_TRIED and all(hasattr(caching, part) for part in _PARTS)
"""Whether this numba has the known internal structure; else it keeps compiled code its own way."""


_LOADS_ALONE: Final = LOADS_ALONE and hasattr(
    getattr(caching, "FunctionCache", None), "_load_overload"
)
"""Whether compiled code can be loaded without all that compiling needs."""


def _part(name: str) -> Any:
    return getattr(caching, name, object)


class _Locator(_part("_CacheLocator")):  # type: ignore[misc]
    """Gives numba the folder, whose name alone identifies what the code depends on."""

    def __init__(self, folder: Path, function: Callable[..., Any]) -> None:
        self._folder = folder
        self._lineno = function.__code__.co_firstlineno
        self._py_file = function.__code__.co_filename

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return ""

    def get_disambiguator(self) -> str:
        return str(self._lineno)


class _File(_part("IndexDataCacheFile")):  # type: ignore[misc]
    """An index that several processes may add to at once: numba's loses and mixes up entries."""

    def save(self, key: Any, data: Any) -> None:
        with _locked(Path(self._cache_path)):
            super().save(key, data)


class _ShippedFile(_part("IndexDataCacheFile")):  # type: ignore[misc]
    """A function's index and data in a release: read-only, and compared with their digests."""

    def load(self, key: Any) -> Any:
        *before, (triple, *_), hashes = key
        return super().load((*before, (triple, *target()), hashes))

    def save(self, key: Any, data: Any) -> None:
        raise NotImplementedError

    def _load_index(self) -> Any:
        data = self._read(self._index_name)
        if data is None:
            return {}
        file = io.BytesIO(data)
        pickle.load(file)  # numba's version, which the release has named
        return pickle.loads(file.read())[1]

    def _load_data(self, name: str) -> Any:
        data = self._read(name)
        return None if data is None else pickle.loads(data)

    def _read(self, name: str) -> bytes | None:
        return read_shipped(f"{Path(self._cache_path).name}/{name}")


class _Impl(_part("CompileResultCacheImpl")):  # type: ignore[misc]
    """How numba turns compiled code into bytes and back, with our own names."""

    def __init__(self, folder: Path, function: Callable[..., Any]) -> None:
        self._lineno = function.__code__.co_firstlineno
        self._locator = _Locator(folder, function)
        self._filename_base = f"{function.__qualname__}-{self._lineno}"

    def reduce(self, data: Any) -> Any:
        return reduce_result(data)

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        callee, needed, library, *rest = payload
        payload = callee, needed, parsed_late(library), *rest
        return rebuild_result(compiler.CompileResult, target_context, payload)


class CodeCache(_part("FunctionCache")):  # type: ignore[misc]
    """The machine code of one function in ``folder``, which need not exist."""

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        self._impl_class = partial(_Impl, folder)
        super().__init__(function)
        self._folder = folder
        self._label = function.__name__
        self._cache_file = _File(str(folder), self._impl.filename_base, "")
        self._shipped_file = _ShippedFile(str(folder), self._impl.filename_base, "")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code for a signature, or ``None`` where it is missing or damaged.

        It is claimed then, where work is shared: a caller that receives ``None`` compiles it and
        saves it.
        """
        found = self._found(sig, target_context)
        for claims in _shared if found is None else ():
            if claims.take(self._claim(sig)):
                found = self._found(sig, target_context)
                if found is not None:
                    claims.give_up(self._claim(sig))
        if found is None:
            prepare_compiling()
        return found

    def _claim(self, sig: Any) -> str:
        return f"{self._folder} {self._impl.filename_base} {sig}"

    def _found(self, sig: Any, target_context: Any) -> Any:
        try:
            found = self._load(sig, target_context)
        except Exception:  # whatever the damage is, compiling again cures it
            return None
        if found is not None:
            _mark_used(self._folder)
        return found

    def _load(self, sig: Any, target_context: Any) -> Any:
        """Load code without numba's registration of all its functions, which takes longer.

        Only compiling needs them, and registers them itself.
        """
        if _LOADS_ALONE:
            start_runtime(target_context)
        else:
            prepare_compiling()
            target_context.refresh()
        found = self._load_overload(sig, target_context)
        if found is None and variant():
            kept = self._shipped_file.load(self._index_key(sig, target_context.codegen()))
            found = kept and self._impl.rebuild(target_context, kept)
        return found

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return super()._index_key(sig, machine_of(codegen))

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code for a signature; on a full or read-only disk it just is not kept."""
        mark_if_large(self._py_func, data)
        _prune_once(self._folder.parent)
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)
        for claims in _shared:
            claims.give_up(self._claim(sig))
        for listener in on_compiled:
            listener(self._label)

    def load_entry(self, sig: Any, context: Any) -> Any:
        """Return what Python calls the function by, or ``None`` where it is not kept."""
        with contextlib.suppress(Exception):  # whatever the damage is, compiling again cures it
            key = self._entry_key(sig, context)
            return self._cache_file.load(key) or (variant() and self._shipped_file.load(key))
        return None

    def save_entry(self, sig: Any, context: Any, data: Any) -> None:
        """Keep what Python calls the function by, where that is possible."""
        with contextlib.suppress(OSError):
            self._cache_file.save(self._entry_key(sig, context), data)

    def _entry_key(self, sig: Any, context: Any) -> tuple[Any, ...]:
        return "counted entry", *self._index_key(sig, context.codegen())


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


@cache
def prepare_compiling() -> None:
    """Do once what saves time while numba compiles; to call before it registers its functions.

    A part of numba loads all of ``scipy.linalg``, 0.3 s, to find out if it exists: it is imported
    here.  Code with linear algebra still gets it: numba checks again when it compiles that.
    """
    with contextlib.suppress(ImportError):  # another numba
        from numba.np import linalg as _linalg

        linalg: Any = _linalg
        if ensure := getattr(linalg, "ensure_blas", None):
            linalg.ensure_blas = _look_for_scipy
            try:
                import numba.np.arraymath  # noqa: F401
            finally:
                linalg.ensure_blas = ensure
    if IS_TRIED:
        shorten_shape_errors()


def _look_for_scipy() -> None:
    if find_spec("scipy") is None:
        raise ImportError("scipy is required for linear algebra")


_used: Final[set[Path]] = set()
_pruned: Final[set[Path]] = set()


def _mark_used(folder: Path) -> None:
    if folder not in _used:
        _used.add(folder)
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > _TOUCHED_AGAIN_S:
                os.utime(folder)


def _prune_once(folder: Path) -> None:
    if folder not in _pruned:
        _pruned.add(folder)
        prune(folder)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            lock_file(stack.enter_context((folder / _LOCK).open("wb")), wait=True)
        yield
