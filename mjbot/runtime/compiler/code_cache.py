"""How numba finds and keeps machine code in our cache (:mod:`mjbot.runtime.compiler.cache`).

Imported only where functions are compiled (:mod:`mjbot.runtime.compiler.mode`).
"""

import contextlib
import pickle
from collections.abc import Callable, Iterator
from functools import cache, partial
from glob import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from numba.core import caching as _caching
from numba.core import compiler as _compiler

from mjbot.runtime.compiler.cache import mark_used, prune_once, shared_claims
from mjbot.runtime.compiler.checked_files import DATA, INDEX, checked, read, write_data, write_index
from mjbot.runtime.compiler.events import on_compiled
from mjbot.runtime.compiler.idle_work import shorten_shape_errors
from mjbot.runtime.compiler.linking import mark_if_large, rebuild_result, reduce_result
from mjbot.runtime.compiler.loading import LOADS_ALONE, machine_of, parsed_late, start_runtime
from mjbot.runtime.compiler.numba_parts import IS_TRIED
from mjbot.runtime.compiler.shipped import read_shipped, target, variant
from mjbot.runtime.system import lock_file

caching: Final[Any] = _caching  # numba has no type hints
compiler: Final[Any] = _compiler

_LOCK: Final = ".lock"

_PARTS: Final = ("_CacheLocator", "CompileResultCacheImpl", "FunctionCache", "dumps")

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


class _File:
    """What is kept of one function: an index by types and processor, and a file for each entry.

    Several processes may add to it at once.  Whatever is damaged is not there.
    """

    def __init__(self, folder: Path, base: str) -> None:
        self._folder: Final = folder
        self._base: Final = base

    def load(self, key: Any) -> Any:
        """Return what is kept under a key, or ``None``."""
        name = self._index().get(key)
        data = self._read(name) if name else None
        return None if data is None else pickle.loads(data)

    def save(self, key: Any, data: Any) -> None:
        """Keep something under a key."""
        self._folder.mkdir(parents=True, exist_ok=True)
        content = caching.dumps(data)
        with _locked(self._folder):
            names = self._index()
            names[key] = write_data(self._folder, self._base, content)
            write_index(self._folder / f"{self._base}{INDEX}", caching.dumps(names))
            self._remove_all_but({*names.values()})

    def _remove_all_but(self, names: set[str]) -> None:
        """Remove data files that no index names any more: what was damaged, or its index was."""
        for path in self._folder.glob(f"{escape(self._base)}.*{DATA}"):
            if path.name not in names:
                path.unlink(missing_ok=True)

    def _index(self) -> dict[Any, str]:
        """Return the names of the data files by their keys."""
        data = self._read(f"{self._base}{INDEX}")
        with contextlib.suppress(Exception):  # the digest is right, and something else is missing
            return dict(pickle.loads(data)) if data is not None else {}
        return {}

    def _read(self, name: str) -> bytes | None:
        return read(self._folder / name)


class _ShippedFile(_File):
    """The same in a release, whose manifest has a digest of each file, too."""

    def load(self, key: Any) -> Any:
        """Return what the release has under a key, or ``None``."""
        *before, (triple, *_), hashes = key
        return super().load((*before, (triple, *target()), hashes))

    def _read(self, name: str) -> bytes | None:
        content = read_shipped(f"{self._folder.name}/{name}")
        return None if content is None else checked(name, content)


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
        self._cache_file = _File(folder, self._impl.filename_base)
        self._shipped_file = _ShippedFile(folder, self._impl.filename_base)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code for a signature, or ``None`` where it is missing or damaged.

        It is claimed then, where work is shared: a caller that receives ``None`` compiles it and
        saves it.
        """
        found = self._found(sig, target_context)
        for claims in shared_claims if found is None else ():
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
            mark_used(self._folder)
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
        prune_once(self._folder.parent)
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)
        for claims in shared_claims:
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


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            lock_file(stack.enter_context((folder / _LOCK).open("wb")), wait=True)
        yield
