"""What a packed bot is made of: the modules that it imports, the weights that they name, packages.

Modules are found by their imports, those inside functions too, and weights by the names in the
modules that load them: nothing has to be played for that.
"""

import ast
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from mjbot.errors import ArgumentError
from mjbot.models.weights import SHIPPED
from mjbot.strategy.registry import Spec, built_in_names, strategy_class

ROOT: Final = Path(__file__).parents[2]
PLAYER: Final = "mjbot.pack.player"
OWN: Final = ("mjbot", "protocol", "strategies")

PACKAGES: Final = {
    "llvmlite": "llvmlite==0.50.0",
    "msgspec": "msgspec==0.22.0",
    "numba": "numba==0.68.1",
    "numpy": "numpy==2.2.6",
}
"""The last versions for the container's Python, 3.10, with which the packed player was tried."""


@dataclass(frozen=True)
class Contents:
    """What goes into a strategy's zip: our files by their places in it, and what they import."""

    spec: Spec
    files: tuple[str, ...]
    packages: tuple[str, ...]


def contents_for(spec: Spec) -> Contents:
    """Return what ``spec`` needs.

    Raises ``ArgumentError`` where it cannot be packed, and ``StrategyError`` where there is no
    such strategy.
    """
    if spec.is_outside or spec.is_external:
        raise ArgumentError(f"{spec.name}: only mjbot's own strategies can be packed")
    spec.check()
    for key, value in spec.options.items():
        if "/" in value or os.sep in value or Path(value).exists():
            raise ArgumentError(f"{spec}: {key} names a file of this machine, which is not packed")
    played = [spec.name, *(set(spec.options.values()) & {*built_in_names()})]
    roots = [PLAYER, *[cls.__module__ for name in played for cls in strategy_class(name).__mro__]]
    modules, foreign = _with_imports(roots)
    if missing := sorted(foreign - PACKAGES.keys()):
        raise ArgumentError(f"{spec.name}: needs {', '.join(missing)}, which is not packed")
    sources = [source for module in modules if (source := _source(module))]
    places = [path.relative_to(ROOT).as_posix() for path in [*sources, *_weights(sources)]]
    return Contents(spec, tuple(sorted(places)), tuple(sorted(foreign)))


def _with_imports(roots: Iterable[str]) -> tuple[set[str], set[str]]:
    """Return our modules that ``roots`` import, they among them, and other people's packages."""
    modules: set[str] = set()
    foreign: set[str] = set()
    waiting = [*roots]
    while waiting:
        module = waiting.pop()
        top = module.partition(".")[0]
        if top not in OWN:
            foreign.add(top)
        elif module not in modules and (source := _source(module)):
            modules.add(module)
            waiting.append(module.rpartition(".")[0] or module)
            waiting += _imported_by(_tree(source))
    return modules, foreign - sys.stdlib_module_names


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


def _source(module: str) -> Path | None:
    path = ROOT.joinpath(*module.split("."))
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
    return [
        file
        for file in SHIPPED.iterdir()
        if file.suffix in (".npz", ".json") and (file.stem in texts or file.stem.startswith(starts))
    ]
