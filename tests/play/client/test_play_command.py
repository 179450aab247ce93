"""``mjbot play`` as a user meets it: one clear line and a telling exit status."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading

import pytest

from mjbot.cli.main import main
from mjbot.play.client.pair_channel import SECRET_VARIABLE
from mjbot.protocol.dialects import Dialect
from mjbot.runtime.errors import ExitCode

HELLO = b'{"type":"hello","protocol":"mjsonp","protocol_version":3}'
START = b'{"type":"start_game","id":2,"names":["a","b","c","d"]}'
GUARD_S = 300


class ScriptedServer:
    """Says its lines to one client after another, each once the one before was answered.

    Afterwards it closes, unless it ``holds`` the line until the client does.
    """

    def __init__(self, *lines, holds=False, port=0):
        self.lines, self.holds = lines, holds
        self.received = []
        self.said_all = threading.Event()
        self.client_left = threading.Event()
        self.socket = socket.create_server(("127.0.0.1", port))
        self.url = f"mjsonp://127.0.0.1:{self.socket.getsockname()[1]}/default"
        self.thread = threading.Thread(target=self.serve, daemon=True)

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.socket.accept()
                with connection, connection.makefile("rb") as lines:
                    self.talk(connection, lines)

    def talk(self, connection, lines):
        for place, line in enumerate(self.lines):
            if place:
                self.received.append(lines.readline())
            connection.sendall(line + b"\n")
        self.said_all.set()
        if self.holds:
            with contextlib.suppress(ConnectionResetError):  # closed before it had read all
                while lines.readline():
                    pass
            self.client_left.set()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.socket.close()


def played(capfd, *arguments):
    """Run the command in this process; return its exit status and the last line of stderr."""
    status = main(["play", *arguments])
    out, err = capfd.readouterr()
    assert out == "" and "Traceback" not in err
    return status, err.strip().splitlines()[-1]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# --- servers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["mjsonp", "ws"])
def test_nobody_there(capfd, scheme):
    port = free_port()
    status, line = played(capfd, f"{scheme}://127.0.0.1:{port}", "--wait-s", "0")
    assert status == ExitCode.UNREACHABLE
    assert f"127.0.0.1:{port}" in line and "refused" in line.lower()


@pytest.mark.parametrize("lines", [[], [HELLO], [HELLO, START]])
def test_a_silent_server(capfd, lines):
    with ScriptedServer(*lines, holds=True) as server:
        status, line = played(capfd, server.url, "--silence-s", "0.1")
    assert status == ExitCode.UNREACHABLE
    assert line == "mjbot play: the other side was silent for 0.1 s"


@pytest.mark.parametrize("lines", [[], [HELLO], [HELLO, START]])
def test_a_server_that_vanishes(capfd, lines):
    with ScriptedServer(*lines) as server:
        status, line = played(capfd, server.url)
    assert status == ExitCode.UNREACHABLE
    assert line in (
        "mjbot play: the other side closed the connection",
        "mjbot play: the connection broke: Connection reset by peer",
        "mjbot play: the connection broke: [Errno 104] Connection reset by peer",
    )


def test_a_server_that_refuses_us(capfd):
    refusal = b'{"type":"error","message":"No such room. Available room: lobby"}'
    with ScriptedServer(HELLO, refusal) as server:
        status, line = played(capfd, server.url, "--name", "bot", "--room", "attic")
    assert status == ExitCode.UNREACHABLE
    assert line == "mjbot play: the server refuses us: No such room. Available room: lobby"
    assert server.received == [b'{"type":"join","name":"bot","room":"attic"}\n']


def test_what_a_server_says_reaches_no_terminal_as_it_is(capfd):
    refusal = b'{"type":"error","message":"\\u001b]0;pwned\\u0007\\r\\nmjbot play: fine \\u202e"}'
    with ScriptedServer(HELLO, refusal) as server:
        status, line = played(capfd, server.url)
    assert status == ExitCode.UNREACHABLE
    report = r"\x1b]0;pwned\x07 mjbot play: fine \u202e"
    assert line == f"mjbot play: the server refuses us: {report}"


def test_a_game_that_is_void(capfd):
    with ScriptedServer(HELLO, START, b'{"type":"error","message":"player 3\\nleft"}') as server:
        status, line = played(capfd, server.url)
    assert status == ExitCode.PROTOCOL_FAULT
    assert line == "mjbot play: the server ended the game: player 3 left"


@pytest.mark.parametrize(
    ("output", "field"),
    [
        (b"{oops", "line: not JSON"),
        (b'{"type":"tsumo","actor":2,"pai":"0p"}', 'tsumo.pai: "0p" is not a tile'),
        (b'{"type":"tsumo","actor":2,"pai":"1p"}', "tsumo: out of order"),
        (b'{"type":"kita","actor":2,"pai":"N"}', "three-player"),
        (b"x" * (1 << 20) + b"x", "line: longer than the limit of 1048576 bytes"),
    ],
)
def test_a_server_that_breaks_the_protocol(capfd, output, field):
    with ScriptedServer(HELLO, START, output, holds=True) as server:
        status, line = played(capfd, server.url)
    assert status == ExitCode.PROTOCOL_FAULT
    assert line.startswith("mjbot play: the server broke the protocol: ") and field in line


HIDDEN = ["?"] * 13


def deal(hand, dealer=0):
    return json.dumps({
        "type": "start_kyoku", "bakaze": "E", "kyoku": dealer + 1, "honba": 0, "kyotaku": 0,
        "oya": dealer, "dora_marker": "N", "tehais": [HIDDEN, HIDDEN, hand, HIDDEN],
    }).encode()  # fmt: skip


def test_a_server_that_contradicts_itself(capfd):
    with ScriptedServer(HELLO, START, deal(["9p"] * 5 + ["1m"] * 4 + ["2m"] * 4)) as server:
        status, line = played(capfd, server.url)
    assert status == ExitCode.PROTOCOL_FAULT
    assert "9p is dealt 5 times; event: {" in line


def test_a_contradiction_that_is_let_pass(capfd):
    lines = [deal(["9p"] * 5 + ["1m"] * 4 + ["2m"] * 4), b'{"type":"tsumo","actor":2,"pai":"C"}']
    end = b'{"type":"end_game","scores":[25000,25000,25000,25000]}'
    with ScriptedServer(HELLO, START, *lines, end) as server:
        status, line = played(capfd, server.url, "--lenient")
    assert status == ExitCode.OK
    assert line.endswith("game over: place 3, scores [25000, 25000, 25000, 25000]")
    assert json.loads(server.received[-1])["type"] == "dahai"


class Moody(ScriptedServer):
    """Says other lines to each client."""

    def __init__(self, *scripts):
        super().__init__()
        self.scripts = list(scripts)

    def talk(self, connection, lines):
        self.lines = self.scripts.pop(0)
        super().talk(connection, lines)


VOID = b'{"type":"error","message":"Error in player %d\'s response: Timeout."}'


def test_a_series_goes_on_when_a_game_is_void_by_another_seat(capfd, own_turns):
    game = [turn.line for turn in own_turns("tcp-riichi.txt") if turn.by == "server"]
    with Moody([HELLO, START, VOID % 0], game) as server:
        status, line = played(capfd, server.url, "--games", "2", "--lenient")
        assert server.scripts == []
    assert status == ExitCode.FAILED
    why = "the last one by the server's error: Error in player 0's response: Timeout."
    assert line == f"mjbot play: 1 of 2 games void, {why}"


def test_a_series_ends_when_a_game_is_void_by_our_own_seat(capfd):
    with Moody([HELLO, START, VOID % 2], [HELLO, START]) as server:
        status, line = played(capfd, server.url, "--games", "2")
        assert len(server.scripts) == 1
    assert status == ExitCode.PROTOCOL_FAULT
    ended = "the server ended the game: Error in player 2's response: Timeout."
    assert line == f"mjbot play: {ended}"


def test_the_next_game_waits_until_the_room_is_free(capfd, own_turns):
    """The first attempts to come back meet a busy room."""
    game = [turn.line for turn in own_turns("tcp-riichi.txt") if turn.by == "server"]
    busy = [HELLO, b'{"type":"error","message":"The room is busy. Retry after a while."}']
    with Moody(game, busy, [], game) as server:
        status, line = played(capfd, server.url, "--games", "2", "--lenient")
        assert (status, server.scripts) == (ExitCode.OK, [])
    assert "game over" in line


def test_a_decision_in_arrays_leaves_time_for_what_is_not_the_decision():
    """mjai.app's simulator, installed, waits 2 s in all; 2.02 s were measured with a limit of 2."""
    assert Dialect.STDIO_ARRAYS.traits.deadline_s <= 0.75 * 2.0


@pytest.mark.parametrize("lines", [[], [HELLO], [HELLO, START]])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly(lines, number, beside):
    """Just connected, compiling perhaps, awaited by a server or waiting for it."""

    async def interrupt(command):
        assert await asyncio.to_thread(server.said_all.wait, GUARD_S)
        command.send_signal(number)
        _, err = await command.communicate()
        assert b"Traceback" not in err
        assert await asyncio.to_thread(server.client_left.wait, GUARD_S)

    with ScriptedServer(*lines, holds=True) as server:
        status, _ = beside(interrupt, "play", server.url)
    assert status == ExitCode.INTERRUPTED


# --- a process of its own --------------------------------------------------------------------


def started(*arguments, **pipes):
    return subprocess.Popen(
        [sys.executable, "-m", "mjbot", "play", *arguments],
        stderr=subprocess.PIPE,
        env=os.environ
        | {"PYTHONWARNINGS": "error::ResourceWarning", SECRET_VARIABLE: "0123456789abcdef"},
        **pipes,
    )


def test_a_server_that_is_not_up_yet_is_waited_for(own_turns):
    game = [turn.line for turn in own_turns("tcp-riichi.txt") if turn.by == "server"]
    port = free_port()
    process = started(f"mjsonp://127.0.0.1:{port}/default", "--wait-s", str(GUARD_S), "--lenient")
    while b"waiting for 127.0.0.1:%d" % port not in (line := process.stderr.readline()):
        assert line, "it did not wait"
    with ScriptedServer(*game, port=port):
        _, err = process.communicate(timeout=GUARD_S)
    assert process.returncode == ExitCode.OK, err
    assert b"waiting for" not in err  # it said so once


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_while_the_strategy_thinks(number, tmp_path):
    (tmp_path / "slow.py").write_text(
        "import sys, threading\n"
        "from mjbot.strategy.strategy import Strategy\n"
        "class Slow(Strategy):\n"
        "    def start_game(self, seat, names):\n"
        "        self.in_game = names == ('w', 'x', 'y', 'z')\n"
        "    def decide(self, view):\n"
        "        if getattr(self, 'in_game', False):\n"
        "            print('thinking', file=sys.stderr, flush=True)\n"
        "            threading.Event().wait()\n"
        "        return view.default_action\n"
    )
    start = b'{"type":"start_game","id":2,"names":["w","x","y","z"]}'
    hand = ["1m", "9m", "1p", "9p", "1s", "9s", "E", "S", "W", "N", "P", "F", "2m"]
    asked = b'{"type":"tsumo","actor":2,"pai":"C"}'
    with ScriptedServer(HELLO, start, deal(hand, dealer=2), asked, holds=True) as server:
        process = started(server.url, "--strategy", f"{tmp_path / 'slow.py'}:Slow")
        assert any(b"thinking" in line for line in process.stderr)
        process.send_signal(number)
        _, err = process.communicate(timeout=GUARD_S)
    assert process.returncode == ExitCode.INTERRUPTED
    assert b"Traceback" not in err


@pytest.mark.parametrize(
    ("url", "name", "paired"),
    [("stdio:", "lines.txt", True), ("stdio-arrays:", "arrays.txt", False)],
)
def test_standard_output_carries_the_conversation_only(own_turns, url, name, paired, tmp_path):
    """Even with a strategy that prints, and for one of a pair."""
    (tmp_path / "chatty.py").write_text(
        "from mjbot.strategy.pair.member import PairMember\n"
        "print('imported')\n"
        "class Chatty(PairMember):\n"
        "    '''Talks.'''\n"
        "    def decide(self, view):\n"
        "        print('thinking about', len(view.legal))\n"
        "        return view.default_action\n"
    )
    turns = own_turns(name)
    output = b"".join(turn.line + b"\n" for turn in turns if turn.by == "server")
    words = ["--strategy", "chatty:Chatty", "--lenient"]
    if paired:
        words += ["--pair", f"guest:{free_port()}", "--team-table", url, "--name", "a (team 1/2)"]
    process = started(url, "2", *words, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    out, err = process.communicate(output, timeout=GUARD_S)
    assert process.returncode == ExitCode.OK, err
    assert b"imported" in err and b"thinking about" in err
    answers = [json.loads(line) for line in out.splitlines()]
    assert len(answers) > 5 and all(answer["type"] in ("dahai", "none") for answer in answers)


def test_a_pipe_that_ends_in_mid_game(own_turns):
    lines = [turn.line for turn in own_turns("lines.txt") if turn.by == "server"]
    process = started(
        "stdio:", "2", "--strategy", "fast-riichi-b",
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    _, err = process.communicate(b"\n".join(lines[:8]) + b"\n", timeout=GUARD_S)
    assert process.returncode == ExitCode.UNREACHABLE
    assert err.strip().endswith(b"mjbot play: the other side closed our standard input")
