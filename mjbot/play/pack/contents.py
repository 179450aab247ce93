"""What a packed bot is made of: the modules that it imports, the weights that they name, packages.

Modules are found by their imports, those inside functions too, and weights by the names in the
modules that load them: nothing has to be played for that.  A class of the user's own file comes
with that file, with its neighbours that it imports, and with the files of ``--beside``.
"""

import ast
import inspect
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

from mjbot.learning.models.weights import SHIPPED
from mjbot.runtime.checkout import papers_weights
from mjbot.runtime.errors import ArgumentError
from mjbot.strategy.registry import BUILT_IN, OWN_PACKAGES, Spec, built_in_names, strategy_class

ROOT: Final = Path(__file__).parents[3]
BOT: Final = Path(__file__).with_name("bot.py")
OWN: Final = OWN_PACKAGES

USERS: Final = "own"
"""The folder of the zip for files of the user's."""

MOST_BYTES: Final = 1000 * 1000 * 1000
"""What mjai.app takes; it was 300 MB before."""

PACKAGES: Final = {
    "llvmlite": "llvmlite==0.50.0",
    "msgspec": "msgspec==0.22.0",
    "numba": "numba==0.68.1",
    "numpy": "numpy==2.2.6",
}
"""The last versions for the container's Python, 3.10, with which the packed player was tried."""


@dataclass(frozen=True)
class Contents:
    """What goes into a strategy's zip: files by their places in it, and the packages they import.

    ``spec`` is the strategy as it is called in there.
    """

    spec: Spec
    files: Mapping[str, Path]
    packages: tuple[str, ...]


def contents_for(spec: Spec, beside: Sequence[Path] = ()) -> Contents:
    """Return what ``spec`` needs.

    ``beside`` are files that the user's own reads, to lie next to it.  Raises ``ArgumentError``
    where it cannot be packed, and ``StrategyError`` where there is no such strategy.
    """
    if spec.is_external:
        raise ArgumentError(f"{spec.name}: a foreign program cannot be packed, only a strategy")
    spec.check()
    for key, value in spec.options.items():
        if "/" in value or os.sep in value or Path(value).exists():
            raise ArgumentError(f"{spec}: {key} names a file of this machine, which is not packed")
    own = _file_of(spec) if spec.is_outside else None
    if beside and own is None:
        raise ArgumentError(f"--beside {beside[0]}: only for a class of your own file")
    played = [spec.name, *(set(spec.options.values()) & {*built_in_names()})]
    families = [cls.__module__ for name in played for cls in strategy_class(name).__mro__]
    roots = [*_imported_by(_tree(BOT)), BUILT_IN, *families]  # mjbot claims that name at its start
    roots = [name for name in roots if name.partition(".")[0] in OWN]
    ours, neighbours, foreign = _with_imports(roots, own)
    if missing := sorted(foreign - PACKAGES.keys()):
        raise ArgumentError(f"{spec.name}: needs {', '.join(missing)}, which is not packed")
    files = {path.relative_to(ROOT).as_posix(): path for path in [*ours, *_weights(ours)]}
    if own is not None:
        files |= _users(own, neighbours, beside)
        spec = replace(spec, name=f"{USERS}/{own.name}:{spec.name.rpartition(':')[2]}")
    return Contents(spec, dict(sorted(files.items())), tuple(sorted(foreign)))


def _file_of(spec: Spec) -> Path:
    """Return the user's file that has the class."""
    cls = strategy_class(spec.name)
    place = spec.name.rpartition(":")[0]
    if not place or not Path(place if place.endswith(".py") else f"{place}.py").is_file():
        raise ArgumentError(f"{spec.name}: only a class of a file can be packed: FILE.py:CLASS")
    return Path(inspect.getfile(cls)).resolve()


def _users(own: Path, neighbours: Iterable[Path], beside: Iterable[Path]) -> dict[str, Path]:
    """Return the places of the user's files: as they lie around the strategy's."""
    named = [(str(own), own), *[(str(path), path) for path in neighbours]]
    named += [(f"--beside {path}", path) for path in beside]
    places = dict([_place(own, path, text) for text, path in named])
    n_bytes = sum(path.stat().st_size for path in places.values())
    if n_bytes > MOST_BYTES:
        problem = f"{own.name} and its --beside files have {n_bytes / 1e6:.0f} MB"
        raise ArgumentError(f"{problem}, and mjai.app takes at most {MOST_BYTES / 1e6:.0f}")
    return places


def _place(own: Path, path: Path, text: str) -> tuple[str, Path]:
    """Return the place of a file in the zip, and the file; ``text`` is how errors name it.

    A link is packed as the file that it leads to, under its own name: by that the bot opens it.
    """
    whole = path.resolve()
    if not whole.is_file():
        raise ArgumentError(f"{text}: no such file")
    lies = path.parent.resolve() / path.name
    if not (lies.is_relative_to(own.parent) and whole.is_relative_to(own.parent)):
        where = "" if whole == lies else f", not lead to {whole}"
        raise ArgumentError(f"{text}: must lie in the folder of {own.name} or below{where}")
    place = f"{USERS}/{lies.relative_to(own.parent).as_posix()}"
    if not place.isprintable():  # nor are the surrogates of names that are no UTF-8
        raise ArgumentError(f"{text}: its name has characters that cannot be packed; rename it")
    return place, whole


def _with_imports(roots: Iterable[str], own: Path | None) -> tuple[set[Path], set[Path], set[str]]:
    """Return what ``roots`` and the user's file ``own`` import: our files, its own, packages.

    The roots are among our files; ``own`` is not among its neighbours.
    """
    ours: set[Path] = set()
    neighbours: set[Path] = set()
    foreign: set[str] = set()
    seen: set[str] = set()
    waiting = [*roots, *(_imported_by(_tree(own)) if own else ())]
    while waiting:
        module = waiting.pop()
        top = module.partition(".")[0]
        if module in seen or top in sys.stdlib_module_names:
            continue
        seen.add(module)
        if top in OWN:
            folder, found = ROOT, ours
        elif own and _source(top, own.parent):
            folder, found = own.parent, neighbours
        else:
            foreign.add(top)
            continue
        if source := _source(module, folder):
            found.add(source)
            waiting.append(module.rpartition(".")[0] or module)
            waiting += _imported_by(_tree(source))
    return ours, neighbours, foreign


@cache
def _tree(source: Path) -> ast.Module:
    return ast.parse(source.read_text(encoding="utf-8"))


def _imported_by(tree: ast.AST) -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from [f"{node.module}.{alias.name}" for alias in node.names]
            if node.module == "mjbot":  # it gives out what is listed there
                yield "mjbot.api"
        yield from _imported_by(node)


def _source(module: str, folder: Path) -> Path | None:
    path = folder.joinpath(*module.split("."))
    places = (path.with_suffix(".py"), path / "__init__.py")
    return next((place for place in places if place.is_file()), None)


def _weights(sources: Iterable[Path]) -> list[Path]:
    """Return the weights of which a module that loads some has the name, or how it begins."""
    texts = {
        node.value
        for source in sources
        if "load_weights" in source.read_text(encoding="utf-8")
        for node in ast.walk(_tree(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    starts = tuple(text for text in texts if text.endswith("-") and len(text) > 1)
    arrays = [*SHIPPED.glob("*.npz"), *papers_weights()]
    named = [path for path in arrays if path.stem in texts or path.stem.startswith(starts)]
    return [*named, *[path.with_suffix(".json") for path in named]]
