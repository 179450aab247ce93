"""The one decorator for compiled code, and the digests of what it depends on.

With ``NUMBA_DISABLE_JIT=1`` nothing is compiled: every function runs as the Python that it is,
some hundred times slower, for debuggers and coverage (:mod:`mjbot.runtime.compiler.interpreted`).
"""

import hashlib
import logging
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, Final, NamedTuple, TypeVar, cast

import numba
import numpy as np
from numba.core import config as _config
from numba.core import event as _event
from numba.core import types as _types
from numba.core.cpu import CPUTargetOptions

from mjbot.runtime.compiler.cache import IS_USABLE, CodeCache, cache_folder, on_compiled
from mjbot.runtime.compiler.entries import make_entries_late
from mjbot.runtime.compiler.idle_work import skip_idle_work
from mjbot.runtime.compiler.imported import imported_stamp, stamp_of
from mjbot.runtime.compiler.interpreted import interpreted
from mjbot.runtime.compiler.linking import CAN_LINK, name_by_content
from mjbot.runtime.compiler.numba_parts import CHOSEN_LEVEL, IS_TRIED
from mjbot.runtime.compiler.record_arguments import pass_array_fields, read_records_in_place

logger = logging.getLogger(__name__)

config: Final[Any] = _config  # numba has no type hints
event: Final[Any] = _event
types: Final[Any] = _types

Function = TypeVar("Function", bound=Callable[..., Any])

_IMPORT = re.compile(
    r"^(?:from|import) +((?:mjbot|papers)[\w.]*)"
    r"(?: +import +(\([^)]*\)|.*))?",
    re.M,
)
_FACE: Final = "mjbot"
"""The package gives out what ``mjbot.api`` imports."""

IS_INTERPRETED: Final = bool(config.DISABLE_JIT)
"""Whether ``NUMBA_DISABLE_JIT=1`` is set."""

VERSION: Final = f"py{sys.version_info.major}{sys.version_info.minor}-numba{numba.__version__}" + (
    ("" if IS_USABLE else "-plain") + (CHOSEN_LEVEL and f"-level-{CHOSEN_LEVEL}")
)
"""Of what compiles: code of one version is nothing to another, nor numba's own cache to ours."""

_OPTIONS: Final[dict[str, Any]] = {"error_model": "numpy"}
if IS_TRIED and hasattr(CPUTargetOptions, "no_cfunc_wrapper"):
    # the functions' addresses are never taken: without C wrappers a tenth less to compile
    _OPTIONS["no_cfunc_wrapper"] = True

if IS_TRIED:
    pass_array_fields()
    read_records_in_place()
    skip_idle_work()


def compiled(function: Function) -> Function:
    """Compile ``function`` with numba on first use and cache the machine code on disk."""
    if not isinstance(function, FunctionType):
        raise TypeError(f"function must be a Python function, not {function!r:.60}")
    if IS_INTERPRETED:
        return interpreted(function)
    digest, changed = _digest_and_changed(function.__module__)
    is_linked = IS_USABLE and CAN_LINK and not changed
    options = {**_OPTIONS, **({"no_cpython_wrapper": True} if is_linked else {})}
    dispatcher: Any = numba.njit(**options)(function)
    if changed:
        logger.warning("%s changed while it was imported: %s is compiled for this process alone",
                       changed[0], function.__qualname__)  # fmt: skip
    elif IS_USABLE:
        dispatcher._cache = CodeCache(function, cache_folder() / VERSION / digest)
    else:
        config.CACHE_DIR = str(cache_folder() / VERSION / digest)
        dispatcher.enable_caching()
    if is_linked:
        name_by_content(dispatcher, function, digest)
        make_entries_late(dispatcher)
    if IS_TRIED or _callers_share_versions():
        _widen_arguments(dispatcher)
    return cast(Function, dispatcher)


def _widen_arguments(dispatcher: Any) -> None:
    """Let compiled callers share one version for all integers, and for all arrays of a type.

    numba compiles a function again for int8, int64 and every literal it is called with; a third
    of all compile time went there.  Array fields of records, whose type includes the shape, are
    passed in the same way as other arrays.
    """
    resolve = getattr(dispatcher, "get_call_template", None)
    if resolve is None:  # another numba: it works as well, and compiles longer
        return

    def get_call_template(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        return resolve(tuple(map(_wide, args)), {name: _wide(arg) for name, arg in kws.items()})

    dispatcher.get_call_template = get_call_template


@cache
def _callers_share_versions() -> bool:
    """Try on two small functions whether a numba that was not tried lets arguments be widened."""

    called: Any = numba.njit(lambda number: number + 1)
    caller: Any = numba.njit(lambda numbers: called(numbers[0]))
    _widen_arguments(called)
    try:
        return bool(caller(np.full(1, 5, np.int8)) == 6 and called.signatures == [(types.int64,)])
    except Exception:  # whatever it is, all works without
        return False


def _wide(argument: Any) -> Any:
    argument = types.unliteral(argument)
    if isinstance(argument, types.Integer) and argument.signed:
        return types.int64
    if IS_TRIED and isinstance(argument, types.NestedArray):
        return types.Array(argument.dtype, argument.ndim, "C")
    return argument


class _CompiledPlainly(event.Listener):  # type: ignore[misc]
    """Reports functions of ours that numba's own cache did not hold."""

    def on_start(self, event: Any) -> None:
        """Do nothing."""

    def on_end(self, event: Any) -> None:
        """Report a function, and none of numba's own."""
        function = event.data["dispatcher"].py_func
        if not function.__module__.startswith("numba."):
            for listener in on_compiled:
                listener(function.__name__)


if not (IS_USABLE or IS_INTERPRETED):
    event.register("numba:compile", _CompiledPlainly())


def source_digest(module: str) -> str:
    """Return a digest of a module's source and of all our modules that it imports."""
    return _digest_and_changed(module)[0]


class _Source(NamedTuple):
    """A file as it was read: its stamp, a digest, and our modules that it imports."""

    stamp: tuple[int, int] | None
    digest: bytes
    imports: list[str]


_sources: Final[dict[str, _Source]] = {}


@cache
def _digest_and_changed(module: str) -> tuple[str, list[str]]:
    """Return the digest, and the files whose part of it is not what was imported.

    If there are any, nothing may be kept under that digest.
    """
    digest, changed = hashlib.sha256(), []
    for name in sorted(_with_imports(module)):
        path = str(_source_file(name))
        source = _source(path)
        digest.update(source.digest)
        if imported_stamp(path) not in (None, source.stamp):
            changed.append(path)
    return f"{module}-{digest.hexdigest()[:16]}", changed


def _source(path: str) -> _Source:
    """Return what a file holds: read once after it was imported, before that after each change."""
    known = _sources.get(path)
    if known and (known.stamp == imported_stamp(path) or known.stamp == stamp_of(path)):
        return known
    before, data = None, b""
    while (after := stamp_of(path)) != before:  # else it was written while it was read
        before, data = after, Path(path).read_bytes()
    _sources[path] = found = _Source(before, hashlib.sha256(data).digest(), _imported_by(data))
    return found


@cache
def _with_imports(module: str) -> set[str]:
    seen: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in seen or not (path := _source_file(name)):
            continue
        seen.add(name)
        waiting += _source(str(path)).imports
    return seen


def _imported_by(source: bytes) -> list[str]:
    """Return the names of our modules that a file may import."""
    found = []
    for package, names in _IMPORT.findall(source.decode()):
        parts = re.findall(r"\w+", names)
        found += [package, *[f"{package}.{part}" for part in parts]]
        if package == _FACE:
            found += _behind_the_face(set(parts))
    return [name for name in dict.fromkeys(found) if _source_file(name)]


def _behind_the_face(names: set[str]) -> list[str]:
    """Return the modules from which the package takes what it gives out; without names all."""
    source = (Path(__file__).parents[2] / "api.py").read_text(encoding="utf-8")
    modules = _IMPORT.findall(source)
    return [
        module for module, given in modules if not names or names & {*re.findall(r"\w+", given)}
    ]


@cache
def _source_file(module: str) -> Path | None:
    if loaded := sys.modules.get(module):
        return Path(loaded.__file__) if loaded.__file__ else None
    root = Path(__file__).parents[3]
    path = root.joinpath(*module.split("."))
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.exists():
            return candidate
    return None


@compiled
def keep_alive(array: Any) -> None:
    """Do nothing, but later: call it in compiled code after the last use of a record of ``array``.

    A record is only an address.  numba frees an array that was made in compiled code after its
    last mention, and with ``record = np.empty(1, KIND)[0]`` that is before the record's first use.
    """
