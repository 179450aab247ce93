"""The container: what its file starts exists, and works outside of a container as well."""

import ast
import asyncio
import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
PAGE = (ROOT / "docs" / "howto" / "container.md").read_text(encoding="utf-8")
BOT = """
[server]
url = "mjsonp://127.0.0.1:{port}/default"
[bot]
strategy = "tsumogiri"
"""


def instruction(name):
    """Return the last instruction of that name: an image has one, stages before it have theirs."""
    return re.findall(rf"^{name} +(.+)$", TEXT, re.M)[-1]


HEALTH = json.loads(instruction("HEALTHCHECK").partition(" CMD ")[2])
SETTINGS = dict(setting.split("=", 1) for setting in instruction("ENV").split())


def test_the_linter_has_no_remark():
    linter = Path(sys.executable).with_name("hadolint")
    if not linter.exists():
        pytest.skip("hadolint is not installed here")
    done = subprocess.run(
        [linter, ROOT / "Dockerfile"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_it_runs_for_a_user_without_rights():
    assert re.search(r"useradd --system --uid (\d+)", TEXT)[1] == instruction("USER")
    assert TEXT.rindex("\nUSER ") < TEXT.rindex("\nENTRYPOINT ")
    assert all(base.endswith("-slim") for base in re.findall(r"^FROM (\S+)", TEXT, re.M))


def test_the_context_has_what_the_installation_reads_and_nothing_else():
    """Read as Docker does, for the patterns that are used: the last that matches decides."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    sent = {line[1:] for line in lines if line.startswith("!")}
    assert lines[0] == "*"
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    folders = ast.literal_eval(
        re.search(r"^package-dir = (.+)$", project, re.M)[1].replace(" = ", ": ")
    )
    named = {re.search(r'^readme = "(.+)"', project, re.M)[1], "LICENSE"}
    assert sent == {*folders.values(), *named, "pyproject.toml", "setup.py"}
    for name in sent:
        assert (ROOT / name).exists()


async def health_of(port, path):
    environ = {"MJBOT_HEALTH": f"{port}/{path}", "PATH": ""}
    command = [sys.executable, *HEALTH[1:]]
    process = await asyncio.create_subprocess_exec(
        *command, env=environ, stderr=asyncio.subprocess.DEVNULL
    )
    return await process.wait()


async def port_in(stream):
    """Return the port of the first address that a program prints."""
    while line := (await stream.readline()).decode():
        if found := re.search(r"http://127\.0\.0\.1:(\d+)/", line):
            return found[1]
    raise AssertionError("no address")


def test_the_server_that_it_starts_is_healthy_until_it_ends(beside, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (program,) = json.loads(instruction("ENTRYPOINT"))
    command = json.loads(instruction("CMD"))
    assert (program, HEALTH[0]) == ("mjbot", "python")
    assert shutil.which(program, path=str(Path(sys.executable).parent))
    port, path = SETTINGS["MJBOT_HEALTH"].split("/", 1)
    assert port == command[command.index("--tables-port") + 1]
    ours = ["127.0.0.1" if word == "0.0.0.0" else word for word in command]
    ours[ours.index("--tables-port") + 1] = "0"

    async def scenario(server):
        opened = await port_in(server.stdout)
        healthy = await health_of(opened, path), await health_of(opened, "nothing")
        server.send_signal(signal.SIGTERM)
        await server.communicate()
        return *healthy, await health_of(opened, path)

    status, seen = beside(scenario, *ours, "--port", "0")
    assert (status, seen) == (0, (0, 1, 1))
    assert (tmp_path / command[command.index("--log-dir") + 1]).is_dir()


def test_a_bot_is_healthy_by_the_variable_that_the_page_names(beside, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (metrics,) = set(re.findall(r"MJBOT_HEALTH=(\d+/\w+)", PAGE))
    port, path = metrics.split("/")
    assert f"--metrics-port {port}" in PAGE
    (tmp_path / "bot.toml").write_text(BOT.format(port=1))  # no server: it tries again

    async def scenario(bot):
        healthy = await health_of(await port_in(bot.stderr), path)
        bot.send_signal(signal.SIGTERM)
        await bot.communicate()
        return healthy

    status, healthy = beside(scenario, "run", "bot.toml", "--metrics-port", "0")
    assert (status, healthy) == (0, 0)
