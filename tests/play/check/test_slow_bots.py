"""Real processes that start slowly, answer every line, or never leave."""

import asyncio
import os
import signal
import sys

import pytest

from mjbot.play.check import bot_table, lines
from mjbot.play.check.bots import BotSettings, check_bot
from mjbot.play.check.catalogue import BOT_CHECKS, CheckVerdict
from mjbot.play.check.lines import PipeBot
from mjbot.play.check.report import results
from mjbot.protocol.dialects import LINES

BOT = """
import json, sys, time
seat, starts_s, answers_all = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3] == "all"
time.sleep(starts_s)  # as a bot that loads its network
for line in sys.stdin:
    event = json.loads(line)
    answer = {"type": "none"}
    if event["type"] == "tsumo" and event["actor"] == seat:
        answer = {"type": "dahai", "actor": seat, "pai": event["pai"], "tsumogiri": True}
    if answers_all or event.get("can_act", answer["type"] == "dahai"):
        print(json.dumps(answer), flush=True)
"""
NEVER_LEAVES = """
import asyncio
import sys
while True:
    sys.stdin.readline()
    sys.stdout.write('{"type":"none"}\\n')
    sys.stdout.flush()
"""
NEVER_STOPS = """
while True:
    print("loading", flush=True)
"""
LEAVES_A_CHILD = (
    """
import subprocess, sys
child = subprocess.Popen(["sleep", "1000"], start_new_session=True, stdin=subprocess.DEVNULL)
with open(sys.argv[4], "a") as file:
    print(child.pid, file=file)
"""
    + BOT
)
"""Its child keeps its standard output."""
STARTS_S = "0.5"  # longer than the check waits for what nobody asked for
"""Of each process, one a scene."""


@pytest.fixture(scope="module")
def checked():
    async def run(bot, settings):
        async with bot:
            return await check_bot(bot, settings)

    def check(source, *words, ids=()):
        command = [sys.executable, "-c", source, *words]
        bot = PipeBot(command, LINES, "bot")
        findings = asyncio.run(run(bot, BotSettings(ids=frozenset(ids))))
        found = results(BOT_CHECKS, findings, "mjbot check x")
        return bot, {result.check.id: result for result in found}

    return check


@pytest.mark.parametrize("starts_s", ["0", STARTS_S])
def test_a_slow_starter_that_answers_every_line_fails_nothing(checked, starts_s):
    bot, found = checked(BOT, "{seat}", starts_s, "all", ids=["B04", "B08", "B09", "B29"])
    assert not [one.text for one in found.values() if one.verdict is CheckVerdict.FAILED]
    assert found["B04"].verdict is CheckVerdict.NON_STRICT
    assert "answers what leaves no choice" in str(found["B04"].text)
    assert bot.answers_all is True


def test_a_bot_that_never_leaves_fails_that_and_the_check_ends(checked):
    _, found = checked(NEVER_LEAVES, ids=["B29"])
    assert found["B29"].verdict is CheckVerdict.FAILED
    assert "after the end of its line" in str(found["B29"].text)


def test_a_bot_that_never_stops_writing_fails_that_and_the_check_ends(checked):
    _, found = checked(NEVER_STOPS, ids=["B06"])
    assert found["B06"].verdict is CheckVerdict.FAILED
    assert f"and {bot_table.MOST_EXTRA} more" in found["B06"].text


@pytest.mark.skipif(sys.platform == "win32", reason="there is no sleep")
def test_a_bot_has_left_when_it_has_ended_though_a_child_of_it_runs_on(
    checked, monkeypatch, tmp_path
):
    monkeypatch.setattr(lines, "LEAVE_S", 5.0)
    children = tmp_path / "children"
    try:
        _, found = checked(LEAVES_A_CHILD, "{seat}", "0", "all", str(children), ids=["B29"])
    finally:
        for pid in children.read_text("ascii").split():
            os.kill(int(pid), signal.SIGKILL)
    assert not [one.text for one in found.values() if one.verdict is CheckVerdict.FAILED]
    assert found["B29"].verdict is CheckVerdict.OK
