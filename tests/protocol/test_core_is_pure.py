"""The core of the protocol neither waits nor looks at a clock (transports may)."""

import ast
import tomllib
from pathlib import Path

import pytest

import mjbot.protocol

PROTOCOL = Path(mjbot.protocol.__file__).parent
CORE = sorted(
    [*PROTOCOL.glob("*.py"), *PROTOCOL.glob("sessions/*.py"), *PROTOCOL.glob("tenhou/*.py")]
)
ALLOWED = {
    "abc", "collections", "contextlib", "dataclasses", "difflib", "enum", "functools", "re",
    "typing", "urllib.parse", "msgspec",
}  # fmt: skip


def imported(source):
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


@pytest.mark.parametrize("path", CORE, ids=lambda path: path.stem)
def test_no_clock_no_socket_no_asyncio(path):
    names = list(imported(path.read_text(encoding="utf-8")))
    others = [name for name in names if not f"{name}.".startswith("mjbot.protocol.")]
    if path.name == "__init__.py":  # of the folder under its bare name, which is no package of ours
        others = [name for name in others if name != "mjbot.runtime.checkout"]
    assert {name if name in ALLOWED else name.partition(".")[0] for name in others} <= ALLOWED
    assert not any(name.startswith("mjbot.protocol.transports") for name in names)


def test_there_is_a_core():
    assert len(CORE) > 10


def test_the_import_contract_names_all_of_the_core():
    project = Path(__file__).parents[2] / "pyproject.toml"
    contracts = tomllib.loads(project.read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    (contract,) = [one for one in contracts if "core of the protocol" in one["name"]]
    modules = {path.stem for path in PROTOCOL.glob("*.py")} - {"__init__"} | {"sessions", "tenhou"}
    assert set(contract["source_modules"]) == {f"mjbot.protocol.{module}" for module in modules}
    assert {"asyncio", "socket", "time", "mjbot.protocol.transports"} <= set(
        contract["forbidden_modules"]
    )
