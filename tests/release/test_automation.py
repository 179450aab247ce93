"""Workflows and the action: valid by the host's schemas, and what they run exists and works."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
ACTION = GITHUB / "actions" / "check-my-bot" / "action.yml"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
PAGE = (ROOT / "docs" / "howto" / "check-in-ci.md").read_text(encoding="utf-8")
GUARD_S = 300


def loaded(text):
    yaml = pytest.importorskip("ruamel.yaml")
    return yaml.YAML(typ="safe").load(text)


def check(schema, *files):
    """Run the checker; return its exit status."""
    checker = pytest.importorskip("check_jsonschema")
    try:
        command = ["--builtin-schema", f"vendor.{schema}", *map(str, files)]
        return checker.main(command, standalone_mode=False) or 0
    except SystemExit as end:
        return end.code


def test_workflows_and_action_are_valid():
    assert check("github-workflows", *WORKFLOWS) == 0
    assert check("github-actions", ACTION) == 0


def test_the_workflow_of_the_page_is_valid_and_names_the_inputs(tmp_path):
    (text,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.S)
    (tmp_path / "bot.yml").write_text(text)
    assert check("github-workflows", tmp_path / "bot.yml") == 0
    inputs = loaded(ACTION.read_text(encoding="utf-8"))["inputs"]
    assert re.findall(r"^\| `(\w+)` \|", PAGE, re.M) == [*inputs]
    step = loaded(text)["jobs"]["check"]["steps"][-1]
    assert {*step["with"]} <= {*inputs}
    assert (ROOT / step["uses"].removeprefix("./mjbot/") / "action.yml") == ACTION


def test_a_workflow_that_is_not_valid_is_noticed(tmp_path):
    (tmp_path / "bad.yml").write_text("on: push\njobs:\n  a:\n    runs-on: x\n    step: []\n")
    assert check("github-workflows", tmp_path / "bad.yml") == 1


def jobs_of(name):
    return loaded((GITHUB / "workflows" / name).read_text(encoding="utf-8"))["jobs"]


def commands_of(job):
    return [step["run"] for step in job["steps"] if "run" in step]


def test_the_gate_runs_on_three_systems():
    gate = jobs_of("check.yml")["gate"]
    systems = {name.partition("-")[0] for name in gate["strategy"]["matrix"]["os"]}
    assert systems == {"ubuntu", "macos", "windows"}
    assert commands_of(gate)[-1] == ".ci/run"
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_the_release_is_built_by_the_command_that_developers_run():
    assert "make release" in commands_of(jobs_of("release.yml")["artifacts"])
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^release:$", makefile, re.M)


def test_the_tag_of_a_release_is_compared_with_the_version():
    (command,) = [
        each for each in commands_of(jobs_of("release.yml")["artifacts"]) if "grep" in each
    ]
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.M)[1]
    for tag, status in ((f"v{version}", 0), ("v9.9.9", 1), (f"v{version}.1", 1)):
        environ = {**os.environ, "GITHUB_REF_NAME": tag}
        assert (
            subprocess.run(["sh", "-c", command], cwd=ROOT, env=environ, check=False).returncode
            == status
        )


@pytest.mark.parametrize("file", [*WORKFLOWS, ACTION], ids=lambda path: path.name)
def test_no_script_contains_what_others_write(file):
    """An expression is put into a script before the shell reads it: a title could be a command."""
    document = loaded(file.read_text(encoding="utf-8"))
    jobs = [document["runs"]] if "runs" in document else document["jobs"].values()
    for job in jobs:
        for step in job["steps"]:
            assert "${{" not in step.get("run", ""), step
    assert "runs" in document or document["permissions"] == {"contents": "read"}


needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")


def run_step(name, folder, **environ):
    """Run a script of the action as its host does."""
    steps = loaded(ACTION.read_text(encoding="utf-8"))["runs"]["steps"]
    (step,) = [step for step in steps if step["name"] == name]
    assert {*step["env"]} <= {*environ}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder, env={**os.environ, "RUNNER_TEMP": str(folder), **environ},
        capture_output=True, text=True, timeout=GUARD_S, check=False,
    )  # fmt: skip


@needs_bash
@pytest.mark.parametrize("scripts", ["bin", "Scripts"])
def test_the_action_installs_the_repository_that_holds_it(scripts, tmp_path):
    (tmp_path / "packages of mine.txt").write_text("")
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/bash\nmkdir -p "$3/{scripts}"\ncat > "$3/{scripts}/python" <<"END"\n'
        '#!/bin/bash\nprintf "%s\\n" "$@" > "$RUNNER_TEMP/arguments"\nEND\n'
        f'chmod +x "$3/{scripts}/python"\n'
    )
    python.chmod(0o755)
    environ = {"PYTHON": str(python), "GITHUB_ACTION_PATH": str(ACTION.parent)}
    environ |= {"GITHUB_ENV": str(tmp_path / "env")}
    for requirements in ("", "packages of mine.txt"):
        done = run_step("Install mjbot", tmp_path, REQUIREMENTS=requirements, **environ)
        assert done.returncode == 0, done.stderr
        *command, path = (tmp_path / "arguments").read_text().splitlines()[:5]
        assert command == ["-m", "pip", "install", "--quiet"]
        assert (Path(path) / "pyproject.toml").samefile(ROOT / "pyproject.toml")
        rest = (tmp_path / "arguments").read_text().splitlines()[5:]
        assert rest == (["-r", requirements] if requirements else [])
        assert f"MJBOT={tmp_path}/mjbot/{scripts}/mjbot" in (tmp_path / "env").read_text()


@needs_bash
def test_the_action_checks_a_bot_and_fails_with_it(tmp_path):
    program = tmp_path / "mjbot"
    main = "import sys; from mjbot.cli.main import main; sys.exit(main(sys.argv[1:]))"
    program.write_text(f'#!/bin/bash\nexec {sys.executable} -c {shlex.quote(main)} "$@"\n')
    program.chmod(0o755)
    (tmp_path / "my bot.py").write_text(
        "from mjbot import Strategy\n\nclass Sits(Strategy):\n    '''Sits.'''\n\n"
        "    def decide(self, view):\n        return view.default_action\n"
    )
    common = {"MJBOT": str(program), "JUNIT": "the check.xml"}
    done = run_step(
        "Check the bot", tmp_path, BOT="my bot.py:Sits", ARGUMENTS="--only B01", **common
    )
    assert done.returncode == 0, done.stderr + done.stdout
    assert "<testsuite" in (tmp_path / "the check.xml").read_text()
    done = run_step("Check the bot", tmp_path, BOT="my bot.py:Absent", ARGUMENTS="", **common)
    assert (done.returncode, "Absent" in done.stderr) == (2, True)
