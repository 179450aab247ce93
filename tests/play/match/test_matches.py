"""Matches with real processes: small raw clients, so that only the match itself takes time."""

import asyncio
import contextlib
import csv
import io
import json
import os
import re
import shlex
import signal
import socket
import sys
from pathlib import Path

import pytest
from rich.console import Console

from mjbot.cli.main import main as command
from mjbot.play.match import run
from mjbot.play.match.player_processes import MatchError
from mjbot.play.match.players import MatchPlayer, SeatError, read_players
from mjbot.play.match.report import MatchReport, final_table
from mjbot.play.match.run import MatchSettings, Watcher, play_match
from mjbot.play.server import server
from mjbot.play.server.core import OnFault
from mjbot.play.server.lobby import TableRules
from mjbot.play.server.server import GameResult
from mjbot.runtime.errors import ExitCode
from mjbot.runtime.processes import ChildProcess
from mjbot.strategy.registry import Spec

SCRIPT = Path(__file__).with_name("raw_player.py")
BOTS = Path(__file__).with_name("pair_bots.py")
MJBOT = [sys.executable, "-m", "mjbot"]
GUARD_S = 300
QUIET = Watcher()

pytestmark = pytest.mark.usefixtures("short_games")


def raw(mode="play"):
    return f"external:{shlex.join([sys.executable, str(SCRIPT), mode])}"


class Witness:
    """Sees players live and die: each holds a connection to it.  ``told``: one has said a word."""

    def __init__(self):
        self.alive = 0
        self.report = asyncio.Event()
        self._changed = asyncio.Condition()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._watch, sock=self._listener)
        return self

    async def __aexit__(self, *_):
        self._server.close()

    async def _watch(self, reader, writer):
        await self._count(1)
        with contextlib.suppress(ConnectionError):
            while await reader.read(1):
                self.report.set()
        writer.close()
        await self._count(-1)

    async def _count(self, change):
        async with self._changed:
            self.alive += change
            self._changed.notify_all()

    async def wait_for(self, alive):
        async with self._changed:
            await self._changed.wait_for(lambda: self.alive == alive)


def play(folder, modes, monkeypatch, games=1, join_timeout_s=60.0, watcher=QUIET, **rules):
    """Play a match; return its results, or the error, once every process is seen to be gone."""

    async def main():
        async with asyncio.timeout(GUARD_S), Witness() as witness:
            monkeypatch.setenv("WITNESS_PORT", str(witness.port))
            settings = MatchSettings(
                rules=TableRules(seed=1, rules="tonpu", **rules),
                games=games,
                folder=folder,
                join_timeout_s=join_timeout_s,
            )
            try:
                return await play_match(settings, read_players([raw(m) for m in modes]), watcher)
            finally:
                await witness.wait_for(0)

    return asyncio.run(main())


def test_players_who_play_one_game_each_are_started_again(tmp_path, monkeypatch):
    results = play(tmp_path, ["play"] * 4, monkeypatch, games=3)
    assert [result.game for result in results] == [0, 1, 2]
    assert len({result.log for result in results}) == 3
    for result in results:
        last = json.loads(result.log.read_text().splitlines()[-1])
        assert last["type"] == "end_game"
        assert tuple(last["scores"]) == result.scores


def test_fixed_seats_follow_the_command_line(tmp_path, monkeypatch):
    (result,) = play(tmp_path, ["play"] * 4, monkeypatch, fixed_seats=True)
    assert result.places == (0, 1, 2, 3)


@pytest.mark.parametrize(
    ("mode", "words"),
    [("die", 'about to die"): killed by SIGKILL'), ("quit", 'enough of this"): ended with')],
)
def test_a_death_voids_the_game_and_the_match_goes_on(tmp_path, monkeypatch, mode, words):
    voids, notes = [], []
    watcher = Watcher(on_void=voids.append, on_note=notes.append)
    results = play(tmp_path, ["play", "play", mode, "play"], monkeypatch, 2, watcher=watcher)
    assert [result.void for result in results] == [True, True]
    for game, line in enumerate(voids):
        seat = results[game].places.index(2)
        who = f"player 3 (seat {seat} in game {game + 1}), external:"
        assert line.startswith(f"game {game + 1} is void by {who}")
        # How it died stands in the line of its death if that was seen before, else here.
        crashes = [note for note in notes if note.startswith(who)]
        report = " ".join([line.replace('"),', '"):'), *crashes])
        assert words in report and len(crashes) <= 1
    assert not any("\n" in line for line in voids + notes)


def test_where_the_rules_go_on_a_death_ends_no_game(tmp_path, monkeypatch):
    notes, pids = [], []
    watcher = Watcher(on_start=lambda place, pid: pids.append((place, pid)), on_note=notes.append)
    results = play(
        tmp_path, ["play", "play", "die", "play"], monkeypatch, games=2, watcher=watcher,
        on_fault=OnFault.DEFAULT,
    )  # fmt: skip
    assert [result.void for result in results] == [False, False]
    for result in results:
        faults = {(fault.seat, fault.kind) for fault in result.faults}
        assert faults <= {(result.places.index(2), "absent")}
    assert all(sum(result.scores) == 100000 for result in results)
    assert 1 <= len(notes) <= 2  # it may outlive its last game's last word
    who = r"player 3 \(seat \d in game \d\), external:"
    assert all(re.match(who, note) for note in notes)
    assert "killed by SIGKILL; the table plays its hand until the game is over" in notes[0]
    assert [place for place, _ in pids].count(2) == 2


def test_who_cannot_even_start_ends_the_match_where_the_rules_go_on(tmp_path, monkeypatch):
    with pytest.raises(MatchError, match=r"player 3, external:.*ended with exit status 1"):
        play(tmp_path, ["play", "play", "unable", "play"], monkeypatch, on_fault=OnFault.DEFAULT)


def test_a_void_game_is_told_in_one_line_and_the_match_goes_on(tmp_path, monkeypatch):
    """The player has one name with place and seat; what it replied is cut, and safe to print."""
    monkeypatch.setenv("CHEATED", str(tmp_path / "cheated"))
    voids, plural = [], []
    watcher = Watcher(on_void=voids.append, on_result=plural.append)
    results = play(
        tmp_path, ["play", "cheat-once", "play", "play"], monkeypatch, 3, watcher=watcher
    )
    assert [result.void for result in results] == [True, False, False]
    assert plural == results[1:]
    (line,) = voids
    seat = results[0].places.index(1)
    assert line.startswith(f"game 1 is void by player 2 (seat {seat} in game 1), external:")
    assert "Unexpected response type 'none' for" in line
    assert line.isprintable() and len(line) < 1000
    assert "Error in player" not in line  # which would be another name of the same


def test_who_insists_on_a_room_is_known_by_its_own_door(tmp_path, monkeypatch):
    notes = []
    watcher = Watcher(on_note=notes.append)
    (result,) = play(
        tmp_path, ["play", "default", "play", "default"], monkeypatch, watcher=watcher,
        fixed_seats=True,
    )  # fmt: skip
    assert result.names == ("raw-play", "raw-default", "raw-play-2", "raw-default-2")
    assert notes == []


def test_a_refusal_at_the_door_is_told(tmp_path, monkeypatch):
    notes = []
    watcher = Watcher(on_note=notes.append)
    with pytest.raises(MatchError, match="player 2, external:"):
        play(tmp_path, ["play", "nameless", "play", "play"], monkeypatch, watcher=watcher)
    assert any(
        note.startswith("player 2, external:") and "the table refuses it: Expected e.g. " in note
        for note in notes
    )


def test_who_is_not_at_the_table_yet_is_told_from_time_to_time(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "REMIND_S", 0.5)
    notes = []
    watcher = Watcher(on_note=notes.append)
    with pytest.raises(MatchError, match="not at the table after 2 s: player 4"):
        play(
            tmp_path, ["play", "play", "play", "absent"], monkeypatch, join_timeout_s=2.0,
            watcher=watcher,
        )  # fmt: skip
    reminders = [note for note in notes if note.startswith("not at the table after ")]
    assert len(reminders) == 3 and all("player 4, external:" in note for note in reminders)


def test_who_waits_for_a_table_that_gets_ready_is_not_missing(tmp_path, monkeypatch):
    missing, looks, notes, ready = run._Match._missing, [], [], asyncio.Event()

    def look(match):
        looks.append(missing(match))
        if looks[-3:] == [""] * 3:
            ready.set()
        return looks[-1]

    monkeypatch.setattr(run, "REMIND_S", 0.01)
    monkeypatch.setattr(run._Match, "_missing", look)
    monkeypatch.setattr(server, "warm_up_server", ready.wait)
    play(tmp_path, ["play"] * 4, monkeypatch, watcher=Watcher(on_note=notes.append))
    assert len(notes) == len(list(filter(None, looks)))
    assert not any(note.endswith(": ") for note in notes)


# On a busy machine others may not have come by then either.
MISSING = r"not at the table after 1 s: (player [123], external:.*; )*player 4, external:"


def test_who_never_comes_is_named(tmp_path, monkeypatch):
    with pytest.raises(MatchError, match=MISSING):
        play(tmp_path, ["play", "play", "play", "absent"], monkeypatch, join_timeout_s=1.0)


def test_who_will_not_leave_is_killed(tmp_path, monkeypatch):
    (result,) = play(tmp_path, ["play", "stubborn", "play", "play"], monkeypatch)
    assert not result.void


def test_who_is_interrupted_while_it_stops_a_player_kills_it_at_once(tmp_path):
    """The player ignores SIGTERM, and so does what it has started."""
    stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    grandchild = stubborn + "print('there', flush=True); time.sleep(1000)"
    program = (
        stubborn + f"import subprocess, sys; subprocess.run([sys.executable, '-c', {grandchild!r}])"
    )

    async def main():
        async with asyncio.timeout(GUARD_S):
            os.mkfifo(tmp_path / "said")
            sent = os.open(tmp_path / "said", os.O_RDONLY | os.O_NONBLOCK)
            with open(sent, "rb", buffering=0) as output:
                os.set_blocking(sent, True)
                child = await ChildProcess.start([sys.executable, "-c", program], tmp_path / "said")
                assert await asyncio.to_thread(output.readline) == b"there\n"
                stopping = asyncio.create_task(child.stop())
                await asyncio.sleep(0)
                stopping.cancel()
                await asyncio.wait({stopping})
                assert await child.wait() == -signal.SIGKILL
                assert await asyncio.to_thread(output.read) == b""  # nobody has it open any more

    asyncio.run(main())


FOUR = ["match", raw(), raw()]
PAIR = ["duo", "--top", f"{BOTS}:Talker", "--partner", f"{BOTS}:Listener", "--rivals"]


def left_behind(start, mode, folder):
    """The arguments of a match in which one player ignores the end of its line."""
    words = [*start, raw(mode), raw("stubborn"), "--join-timeout-s", str(GUARD_S)]
    return [*words, "--timeout-s", str(GUARD_S), "--log-dir", str(folder)]


@pytest.mark.parametrize(
    ("start", "mode", "blow"),
    [
        (FOUR, "absent", signal.SIGINT),
        (FOUR, "absent", signal.SIGTERM),
        (FOUR, "ponder", signal.SIGINT),
        (PAIR, "ponder", signal.SIGINT),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else getattr(value, "name", value),
)
def test_no_player_outlives_the_match(beside, tmp_path, monkeypatch, start, mode, blow):
    """While one is awaited or ponders in mid game."""
    witness = Witness()
    monkeypatch.setenv("WITNESS_PORT", str(witness.port))

    async def interrupt(match):
        async with witness:
            await witness.report.wait()
            match.send_signal(blow)
            _, errors = await match.communicate()
            await witness.wait_for(0)
            return errors

    status, errors = beside(interrupt, *left_behind(start, mode, tmp_path))
    assert status == ExitCode.INTERRUPTED
    assert b"Traceback" not in errors


@pytest.mark.parametrize(
    ("start", "mode", "blow", "expected"),
    [
        (FOUR, "absent", signal.SIGKILL, -signal.SIGKILL),
        (FOUR, "ponder", signal.SIGHUP, ExitCode.INTERRUPTED),
        (PAIR, "absent", signal.SIGTERM, ExitCode.INTERRUPTED),
    ],
    ids=["match-KILL", "match-HUP", "duo-TERM"],
)
def test_no_player_outlives_the_process_of_a_match(tmp_path, start, mode, blow, expected):
    if blow == signal.SIGKILL and sys.platform != "linux":
        pytest.skip("only Linux tells a child that its parent was killed")

    async def main():
        async with asyncio.timeout(GUARD_S), Witness() as witness:
            match = await asyncio.create_subprocess_exec(
                *MJBOT, *left_behind(start, mode, tmp_path),
                env={**os.environ, "WITNESS_PORT": str(witness.port)},
                stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            )  # fmt: skip
            try:
                await witness.report.wait()
                match.send_signal(blow)
                _, errors = await match.communicate()
                await witness.wait_for(0)
            finally:
                if match.returncode is None:
                    match.kill()
            return match.returncode, errors

    status, errors = asyncio.run(main())
    assert status == expected
    assert b"Traceback" not in errors


def test_the_command_plays_our_own_strategies(capsys, tmp_path):
    seats = ["tsumogiri", raw(), raw(), "tsumogiri"]
    words = ["match", *seats, "--length", "tonpu", "--seed", "4", "--log-dir", str(tmp_path)]
    assert command(words) == ExitCode.OK
    output = capsys.readouterr().out
    (folder,) = tmp_path.iterdir()
    with (folder / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["player"] for row in rows] == seats
    assert sum(int(row["score"]) for row in rows) == 100000
    assert sorted(row["rank"] for row in rows) == ["1", "2", "3", "4"]
    assert (folder / rows[0]["log"]).exists()
    for word in ("tsumogiri-2", "mean rank", "logs in"):
        assert word in output


def test_what_was_played_is_told_however_the_match_ends(beside, tmp_path):
    """Ctrl-C in the second game: the first one stands in the table, and in the file."""

    async def interrupt(match):
        while not (line := await match.stdout.readline()).startswith(b"game 1: "):
            assert line
        match.send_signal(signal.SIGINT)
        return await match.communicate()

    words = ["--games", "1000", "--length", "tonpu", "--log-dir", str(tmp_path)]
    status, (sent, errors) = beside(interrupt, "match", *[raw()] * 4, *words)
    assert status == ExitCode.INTERRUPTED
    assert b"Traceback" not in errors
    assert "mean rank" in sent.decode()
    (folder,) = tmp_path.iterdir()
    with (folder / "results.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) >= 4


def test_a_match_with_a_void_game_is_found_wanting(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("CHEATED", str(tmp_path / "cheated"))
    words = ["--games", "2", "--length", "tonpu", "--log-dir", str(tmp_path)]
    assert command(["match", raw(), raw("cheat-once"), raw(), raw(), *words]) == ExitCode.FAILED
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("game 1 is void by player 2 (seat ") for line in lines) == 1
    assert sum(line.startswith("game 2: ") for line in lines) == 1
    assert "1 game void, not counted" in lines
    assert any("mean rank" in line for line in lines)


def test_broken_strategies_are_named_and_the_match_found_wanting(capsys, tmp_path):
    file = Path(__file__).with_name("broken.py")
    seats = [f"{file}:{name}" for name in ("Raises", "Nothing", "Words")] + [raw()]
    words = ["match", *seats, "--length", "tonpu", "--log-dir", str(tmp_path)]
    assert command(words) == ExitCode.FAILED
    (folder,) = tmp_path.iterdir()
    output = capsys.readouterr().out
    lines = output.splitlines()
    *before, raises, nothing, words = lines[: lines.index(f"logs in {folder}")]
    for name in seats[:3]:  # and each while the match was still running
        live = rf"player \d \(seat \d in game 1\), {re.escape(name)}: (decision|start) .*: "
        assert any(re.match(live, line) for line in before), output
    where = re.escape(str(folder))
    zero = r"ZeroDivisionError: .* \(broken.py, line 8\)"
    for line, place, problem in (
        (raises, 1, rf"\d+ decisions replaced, first: {zero}"),
        (nothing, 2, r"\d+ decisions replaced, first: it may not choose None"),
        (words, 3, r"\d+ decisions replaced, \d+ starts? .* missed, first: KeyError: 'plan' .*"),
    ):
        seat = re.escape(seats[place - 1])
        pattern = rf"player {place}, {seat}: {problem}; see {where}/player-{place}.txt"
        assert re.fullmatch(pattern, line), line
    sent = (folder / "player-1.txt").read_text()
    assert sent.count("Traceback") == 1
    assert sent.count("ZeroDivisionError") > 5


@pytest.mark.parametrize(
    ("seat", "words"),
    [
        ("no-such-bot", "no-such-bot"),
        ("external:", "no program"),
        ("external:/no/such/program", "no program '/no/such/program'"),
        ("external:'unclosed", "quotation"),
    ],
)
def test_a_seat_that_nobody_can_take_is_named(seat, words):
    with pytest.raises(SeatError, match=words) as caught:
        read_players([raw(), raw(), seat, raw()])
    assert "\n" not in str(caught.value)


def test_a_strategy_takes_options_behind_a_comma_as_in_the_arena():
    (player,) = read_players(["fast-riichi-a,lookahead=text,block-points=40"])
    command = player.command("URL", 1)
    strategy = command[command.index("--strategy") + 1]
    assert strategy == "fast-riichi-a,lookahead=text,block_points=40"
    assert command[command.index("--name") + 1] == player.name
    assert player.name == "fast-riichi-a,lookahead=text,block_points=40"
    for seat in ("fast-riichi-a,lookahead=perhaps", "fast-riichi-a,looks=text", "tsumogiri,x"):
        with pytest.raises(SeatError, match="option"):
            read_players([seat])


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="seen in /proc only")
@pytest.mark.parametrize(("timeout_s", "deadline_s"), [(8.0, "6"), (60.0, "30")])
def test_our_own_players_know_how_long_the_table_waits(tmp_path, timeout_s, deadline_s):
    started = {}

    def look(place, pid):
        started[place] = Path(f"/proc/{pid}/cmdline").read_text().split("\0")

    rules = TableRules(seed=1, timeout_s=timeout_s)
    settings = MatchSettings(rules=rules, games=1, folder=tmp_path, join_timeout_s=0.1)
    players = read_players(["tsumogiri", *[raw("absent")] * 3])
    with pytest.raises(MatchError):
        asyncio.run(play_match(settings, players, Watcher(on_start=look)))
    assert started[0][started[0].index("--deadline-s") + 1] == deadline_s
    assert "--deadline-s" not in started[1]


def test_what_players_call_themselves_is_printed_as_text():
    """Neither markup, which could be broken, nor an escape."""
    console = Console(file=io.StringIO(), width=200)
    names = ("[/red]", "\x1b[2J\r\nforged", "[bold]x", "d")
    result = GameResult(
        game=0,
        names=names,
        places=(0, 1, 2, 3),
        scores=(4, 3, 2, 1),
        void=False,
        faults=(),
        log=None,
    )
    MatchReport(console, 1, "tonpu").on_result(result)
    players = [MatchPlayer(Spec("external:x"), name, plays_on=True) for name in names]
    console.print(final_table(players, [result]))
    sent = console.file.getvalue()
    assert sent.startswith("game 1: [/red] 4  \\x1b[2J forged 3  [bold]x 2  d 1\n")
    assert "\x1b" not in sent and sent.count("[/red]") == 2


def test_a_name_is_not_longer_than_a_table_takes(tmp_path):
    program = tmp_path / ("x" * 70)
    program.symlink_to(sys.executable)
    one, other = read_players([f"external:{program}"] * 2)
    assert (one.name, other.name) == ("x" * 64, "x" * 62 + "-2")


def test_players_of_one_kind_are_told_apart():
    names = [player.name for player in read_players(["tsumogiri", raw(), "tsumogiri", raw()])]
    assert len(set(names)) == 4
    assert names[0] == "tsumogiri" and names[2] == "tsumogiri-2"
