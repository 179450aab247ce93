"""The npm packages of the external AI: pinned with what they depend on, from whatever registry."""

import base64
import json
import sys
from pathlib import Path

import pytest

from mjbot.play.match import node as nodes
from mjbot.play.match.node import LOCK, PACKAGES, Node


def test_every_package_has_a_version_and_a_digest_and_no_address() -> None:
    entries = {name: entry for name, entry in LOCK["packages"].items() if name}
    assert {name.removeprefix("node_modules/") for name in entries} == {*PACKAGES}
    for name, entry in entries.items():
        assert entry["version"] == PACKAGES[name.removeprefix("node_modules/")]
        method, digest = entry["integrity"].split("-", 1)
        assert (method, len(base64.b64decode(digest))) == ("sha512", 64)
        assert {*entry.get("dependencies", {})} <= {*PACKAGES}  # no package is left open
    assert "http" not in json.dumps(LOCK)


def test_npm_is_asked_for_the_locked_packages_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MJBOT_CACHE", str(tmp_path / "cache"))
    seen: list[tuple[list[str], dict[str, object]]] = []

    def install(command: list[str], failure: str, timeout_s: float, **environ: str) -> None:
        folder = Path(command[command.index("--prefix") + 1])
        seen.append((command, json.loads((folder / "package-lock.json").read_text())))
        assert json.loads((folder / "package.json").read_text())["dependencies"] == PACKAGES
        for name, version in PACKAGES.items():
            path = folder / "node_modules" / name / "package.json"
            path.parent.mkdir(parents=True)
            path.write_text(json.dumps({"version": version}))

    monkeypatch.setattr(nodes, "_run_installer", install)
    folder = nodes.install_packages(Node(sys.executable, (sys.executable,), "v20"))
    ((command, lock),) = seen
    assert "ci" in command and "--ignore-scripts" in command
    assert not any("@" in word for word in command)  # what is installed is in the lock file alone
    assert lock == LOCK
    assert [path.name for path in folder.iterdir()] == ["node_modules"]


def test_the_wheel_of_node_has_a_version(monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr(nodes, "_run_installer", lambda command, *_: commands.append(command))
    nodes.install_node()
    assert commands[0][-1] == f"{nodes.NODE_WHEEL}=={nodes.NODE_WHEEL_VERSION}"
