"""How the house is built: what a newcomer may count on when looking for something."""

import ast
from collections.abc import Iterator
from pathlib import Path

import mjbot

ROOT = Path(mjbot.__file__).parents[1]
MODULES = sorted(
    path
    for room in ("mjbot", "protocol", "strategies", "papers")
    for path in (ROOT / room).rglob("*.py")
)
MOST_LINES = 50


def test_a_function_is_read_without_scrolling() -> None:
    long = [
        f"{path.relative_to(ROOT)}: {function.name}, {length} lines"
        for path in MODULES
        for function in _functions(path)
        if (length := _length(function)) > MOST_LINES
    ]
    assert not long


def test_a_module_says_what_it_is() -> None:
    report = {path: ast.get_docstring(ast.parse(path.read_text("utf-8"))) for path in MODULES}
    assert not [str(path.relative_to(ROOT)) for path, text in report.items() if not text]


def _length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the lines of a function's body without its docstring."""
    first = 1 if ast.get_docstring(function) and len(function.body) > 1 else 0
    return (function.body[-1].end_lineno or 0) - function.body[first].lineno + 1


def _functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
