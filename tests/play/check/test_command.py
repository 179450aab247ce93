"""The command: its list, its page, its reports, and a bot in a process of its own."""

import json
import re
import shlex
import shutil
import signal
import socket
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mjbot.cli.check import CheckRequest, listing, table
from mjbot.cli.main import main
from mjbot.play.check.catalogue import CHECKS
from mjbot.runtime.errors import ExitCode
from mjbot.runtime.requests import command_of

STRIKES = """
import json, os, signal, sys
turns, seat = 0, int(sys.argv[1])
for line in sys.stdin:
    event = json.loads(line)
    own = event.get("actor") == seat
    if event["type"] == "tsumo" and own:
        turns += 1
        if seat != 2 and turns == 2:  # in the second scene
            os.kill(os.getppid(), signal.Signals[sys.argv[2]])
            sys.stdin.read()
        answer = {"type": "dahai", "actor": event["actor"], "pai": event["pai"], "tsumogiri": True}
        print(json.dumps(answer), flush=True)
    elif event["type"] in ("dahai", "kakan") and not own and event.get("can_act", True):
        print('{"type":"none"}', flush=True)
"""
"""A bot that interrupts the check in its second scene, and does not answer."""
PIPE_BOT = Path(__file__).parents[1] / "match" / "pipe_bot.py"


def test_the_table_of_the_page_has_all_checks():
    rows = table().splitlines()[2:]
    assert [row.split(" | ")[0].lstrip("| ") for row in rows] == list(CHECKS)


def test_the_list_names_each_check_once_with_what_it_rests_on(capsys):
    assert main(["check", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    assert [line.split()[0] for line in lines] == list(CHECKS)
    assert all(
        re.fullmatch(r"[BS]\d\d (MUST|SHOULD|INFO) +[A-D]+ +.+ \[.+\]", one) for one in lines
    )
    assert listing().splitlines()[1:] == lines


@pytest.mark.parametrize(
    "url", ["mjsonp://127.0.0.1:1/x", "mjsonp://[::1]:1/x", "ws://127.0.0.1:1/ws"]
)
@pytest.mark.parametrize("words", [[], ["--only", "S08"], ["--json"]])
def test_a_server_that_is_not_there_is_one_line(capsys, url, words):
    assert main(["check", url, *words]) == ExitCode.UNREACHABLE
    out = capsys.readouterr()
    assert out.out == ""
    lines = [line for line in out.err.splitlines() if not line.endswith(" ...")]
    assert len(lines) == 1 and "127.0.0.1:1" in lines[0] + url.replace("[::1]", "127.0.0.1")


@pytest.mark.parametrize(
    "permitted", [[], *[["--permitted-by", text] for text in (" ", "\u200b", "\u3164.")]]
)
@pytest.mark.parametrize(
    "url",
    [
        "mjsonp://game.example:11600/x",
        "mjsonp://0.0.0.0:11600/x",
        "wss://192.0.2.7/ws",
        "ws://127.0.0.1.game.example/ws",
    ],
)
def test_a_server_elsewhere_is_not_contacted_without_permission(
    tmp_path, capsys, monkeypatch, url, permitted
):
    contacted = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *where, **_: contacted.append(where))
    monkeypatch.setattr(socket.socket, "connect", lambda _, where: contacted.append(where))
    started = tmp_path / "started"
    words = ["--start", f"{shutil.which('touch')} {started}", "--only", "S01"]
    assert main(["check", url, *words, *permitted]) == 2
    reported = capsys.readouterr().err
    cure = "without its operator's permission: ask there first, then add --permitted-by"
    assert f"no check at {url} {cure}" in reported and reported.count("\n") == 1
    assert not contacted and not started.exists()


def test_a_permitted_check_logs_the_permission_and_repeats_with_it(capsys):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]  # closed by then; 0.0.0.0 is no name of this machine's for us
    url, permitted = f"mjsonp://0.0.0.0:{port}/x", ["--permitted-by", "its\noperator"]
    assert main(["check", url, "--only", "S01", "--json", *permitted]) == ExitCode.UNREACHABLE
    assert "mjbot check: permitted by: its operator\n" in capsys.readouterr().err


def test_a_report_repeats_the_permission():
    request = CheckRequest(target="mjsonp://0.0.0.0:1/x", permitted_by="its\noperator")
    repeat = command_of("mjbot check", request, whole_paths=True)
    assert shlex.split(repeat)[2:5] == [request.target, "--permitted-by", "its\noperator"]


@pytest.mark.parametrize("bot", ["supervised", "external:majiang"])
def test_a_bot_that_is_known_to_play_four_only_is_not_checked_with_three(bot, capsys):
    assert main(["check", bot, "--players", "3"]) == ExitCode.BAD_ARGUMENTS
    (line,) = capsys.readouterr().err.splitlines()
    assert bot in line and ("no table of 3" in line or "four players only" in line)


def test_a_process_that_prints_is_reported_as_json_and_junit(tmp_path, capsys):
    target = f"external-lines:{sys.executable} {PIPE_BOT} lines {{seat}} prints"
    file = tmp_path / "check.xml"
    assert main(["check", target, "--only", "B06,B10", "--json", "--junit", str(file)]) == 1
    report = json.loads(capsys.readouterr().out)
    (prints, turns) = report["checks"]
    assert (prints["id"], prints["verdict"]) == ("B06", "FAILED")
    assert "let me" in prints["text"] and any("let me" in line for line in prints["transcript"])
    assert prints["repeat"].endswith("--only B06")
    assert (turns["id"], turns["verdict"]) == ("B10", "OK")
    profile = "stdio-lines: objects over pipes, answers where there is a choice (Mortal)"
    assert report["profile"] == profile
    suite = ElementTree.parse(file).getroot()
    (named,) = suite.iterfind("properties/property")
    assert (named.get("name"), named.get("value")) == ("profile", profile)
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")


@pytest.fixture
def heeded():
    """Heed signals that pytest may have been started to ignore."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    for number in before:
        signal.signal(number, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_an_interrupted_check_reports_what_it_has_found(tmp_path, capsys, heeded, name):
    bot, file = tmp_path / "bot.py", tmp_path / "check.xml"
    bot.write_text(STRIKES, encoding="utf-8")
    words = ["--dialect", "lines", f"{sys.executable} {bot} {{seat}} {name}"]
    assert main(["check", *words, "--json", "--junit", str(file)]) == 130
    out = capsys.readouterr()
    report = json.loads(out.out)
    assert re.fullmatch(r"interrupted in scene 2 of \d+", report["status"])
    assert "interrupted in scene 2 of" in out.err and "the report is partial" in out.err
    verdicts = {check["id"]: check["verdict"] for check in report["checks"]}
    assert verdicts["B10"] == "OK" and "FAILED" not in verdicts.values()
    assert verdicts["B24"] == "not applicable"
    suite = ElementTree.parse(file).getroot()
    assert suite.get("errors") == "1" and suite.find("*/error").get("message") == report["status"]


def test_progress_begins_with_the_target_and_counts_scenes(capsys):
    target = f"external-lines:{sys.executable} {PIPE_BOT} lines {{seat}}"
    assert main(["check", target, "--only", "B10"]) == 0
    assert f"checking {target} ..." in capsys.readouterr().err
