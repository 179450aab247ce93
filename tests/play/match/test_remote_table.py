"""A pair at somebody's table: who is started, and who is named where nobody could play."""

import asyncio
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from mjbot.game.records.game import RecordError
from mjbot.play.match.player_processes import fault_lines
from mjbot.play.match.players import MatchPlayer
from mjbot.play.match.remote_table import LogTailer, RemoteTable, RemoteTableError
from tests.damage import damages

GUARD_S = 300


@dataclass(frozen=True)
class Doomed(MatchPlayer):
    """Runs a program that ends as it says."""

    program: str

    def command(self, url: str, games: int) -> list[str]:
        return [sys.executable, "-c", self.program]


def doomed(name: str, program: str) -> Doomed:
    return Doomed(spec=name, name=name, plays_on=True, program=program)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_who_failed_first_is_named_whatever_its_number(tmp_path: Path) -> None:
    report = tmp_path / "told"
    os.mkfifo(report)
    waits = f"open({str(report)!r}).read(); print('the other was first'); raise SystemExit(3)"
    players = [
        doomed("late", waits),
        doomed("early", "print('no table here'); raise SystemExit(7)"),
    ]
    notes: list[str] = []

    def note(text: str) -> None:
        notes.append(text)
        if len(notes) == 1:
            report.write_text("")  # only now may the other end

    async def table() -> None:
        async with asyncio.timeout(GUARD_S):
            await RemoteTable(players, "mjsonp://127.0.0.1:9/x", 1, tmp_path).play([], note)

    with pytest.raises(RemoteTableError) as caught:
        asyncio.run(table())
    assert caught.value.exit_code == 7
    expected = 'player 2, early (its last output: "no table here"): ended with exit status 7'
    assert str(caught.value) == expected
    assert [text.split(",")[0] for text in notes] == ["player 2", "player 1"]


def test_who_plays_there_writes_down_what_went_wrong(tmp_path: Path) -> None:
    writes = (
        "import os\n"
        "from pathlib import Path\n"
        "from mjbot.play.client.faults import FAULTS_VARIABLE, Faults\n"
        "from mjbot.strategy.faults import Fault\n"
        "Faults(Path(os.environ[FAULTS_VARIABLE])).add(Fault('crash', 1, 1, 'KeyError: 3'))\n"
    )
    players = [doomed("fine", "pass"), doomed("broken", writes)]

    async def table() -> None:
        async with asyncio.timeout(GUARD_S):
            await RemoteTable(players, "mjsonp://127.0.0.1:9/x", 1, tmp_path).play([], print)

    asyncio.run(table())
    (line,) = fault_lines(tmp_path, players)
    assert line.startswith("player 2, broken: 1 decision replaced, first: KeyError: 3; see ")


def test_a_damaged_line_of_a_log_that_is_followed_is_named(tmp_path: Path) -> None:
    log, refused = tmp_path / "seen.mjson", 0
    log.write_bytes((Path(__file__).parents[3] / "logs" / "east-four-winds.mjson").read_bytes())
    for _ in damages(log, 60):
        try:
            LogTailer(log, lambda game, event, talk: None, 4).look()
        except RecordError as error:
            assert str(error).startswith(f"{log}: line ") and "\n" not in str(error)
            refused += 1
    assert refused
