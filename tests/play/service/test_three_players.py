"""``mjbot run`` at a WebSocket server of three players as RiichiLab's: no names, no number."""

import asyncio

import pytest
from websockets.asyncio.server import serve

from mjbot.cli.main import main
from mjbot.play.match.players import free_port
from mjbot.runtime.errors import ExitCode
from tests.play.client.test_riichienv_server import Server


class Line:
    """A WebSocket as a line of the server that plays RiichiEnv's games."""

    def __init__(self, socket):
        self.socket = socket

    async def send(self, frame):
        await self.socket.send(frame.decode())

    async def receive(self, limit_s):
        async with asyncio.timeout(limit_s):
            return await self.socket.recv()


def profile(folder, port, strategy):
    path = folder / "bot.toml"
    path.write_text(
        f'[server]\nurl = "ws://127.0.0.1:{port}/ws"\n[bot]\nstrategy = "{strategy}"\n'
        f'[play]\ngames = 1\n[connection]\nfirst_pause_s = 0.1\n[logs]\nfolder = "{folder}/games"\n'
    )
    return str(path)


@pytest.mark.parametrize(
    ("strategy", "status"),
    [("fast-riichi-d", ExitCode.OK), ("supervised", ExitCode.PROTOCOL_FAULT)],
)
def test_a_game_without_names_or_a_number_of_players_is_played_to_its_end(
    beside, tmp_path, capsys, strategy, status
):
    port, played = free_port(), []

    async def handle(socket):
        server = Server(Line(socket), 5, noisy=False, players=3)
        await server.play()
        played.append(server)

    async def scenario(command):
        async with serve(handle, "127.0.0.1", port):
            return await command.communicate()

    ended, (_, errors) = beside(scenario, "run", profile(tmp_path, port, strategy))
    assert ended == status, errors.decode()
    if status is not ExitCode.OK:
        assert b"'supervised' plays no table of 3 players" in errors
        return
    (server,) = played
    assert server.requests > 50
    (record,) = (tmp_path / "games").glob("*.mjson")
    assert main(["replay", str(record)]) == ExitCode.OK
    assert "no mismatch" in capsys.readouterr().out
