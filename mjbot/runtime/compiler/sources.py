"""Digests of the sources that compiled code depends on: its own and those of what compiles it."""

import hashlib
import re
import sys
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from mjbot.runtime.compiler.imported import imported_stamp, stamp_of

_IMPORT = re.compile(
    r"^(?:from|import) +((?:mjbot|papers)[\w.]*)"
    r"(?: +import +(\([^)]*\)|.*))?",
    re.M,
)
_FACE: Final = "mjbot"
"""The package gives out what ``mjbot.api`` imports."""

_PACKAGE: Final = "mjbot.runtime.compiler"
_IMPORTED_TO_COMPILE: Final = {
    f"{_PACKAGE}.compiled": f"{_PACKAGE}.jit",
    f"{_PACKAGE}.global_arrays": f"{_PACKAGE}.intrinsics",
    f"{_PACKAGE}.vectors": f"{_PACKAGE}.intrinsics",
}
"""Module -> another that it imports where functions are compiled, and only there."""


def source_digest(module: str) -> str:
    """Return a digest of a module's source and of all our modules that it imports."""
    return digest_and_changed(module)[0]


class _Source(NamedTuple):
    """A file as it was read: its stamp, a digest, and our modules that it imports."""

    stamp: tuple[int, int] | None
    digest: bytes
    imports: list[str]


_sources: Final[dict[str, _Source]] = {}


@cache
def digest_and_changed(module: str) -> tuple[str, list[str]]:
    """Return the digest, and the files whose part of it is not what was imported.

    If there are any, nothing may be kept under that digest.
    """
    digest, changed = hashlib.sha256(), []
    for name in sorted(with_imports(module)):
        path = str(source_file(name))
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
def with_imports(module: str) -> set[str]:
    """Return the module and all of ours that it imports, and those that these import."""
    seen: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in seen or not (path := source_file(name)):
            continue
        seen.add(name)
        waiting += _source(str(path)).imports
        if name in _IMPORTED_TO_COMPILE:
            waiting.append(_IMPORTED_TO_COMPILE[name])
    return seen


def _imported_by(source: bytes) -> list[str]:
    """Return the names of our modules that a file may import."""
    found = []
    for package, names in _IMPORT.findall(source.decode()):
        parts = re.findall(r"\w+", names)
        found += [package, *[f"{package}.{part}" for part in parts]]
        if package == _FACE:
            found += _behind_the_face(set(parts))
    return [name for name in dict.fromkeys(found) if source_file(name)]


def _behind_the_face(names: set[str]) -> list[str]:
    """Return the modules from which the package takes what it gives out; without names all."""
    source = (Path(__file__).parents[2] / "api.py").read_text(encoding="utf-8")
    modules = _IMPORT.findall(source)
    return [
        module for module, given in modules if not names or names & {*re.findall(r"\w+", given)}
    ]


@cache
def source_file(module: str) -> Path | None:
    """Return the file of one of our modules; ``None`` where there is none."""
    if loaded := sys.modules.get(module):
        return Path(loaded.__file__) if loaded.__file__ else None
    root = Path(__file__).parents[3]
    path = root.joinpath(*module.split("."))
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.exists():
            return candidate
    return None
