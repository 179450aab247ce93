"""A pair's game while strangers knock at its channel and its table all the time."""

import asyncio
import contextlib
import sys
from pathlib import Path

from mjbot.play.match.pair import make_members, private_channel
from mjbot.play.match.players import read_players
from mjbot.play.match.run import MatchSettings, Watcher, play_match
from mjbot.play.server.core import OnFault
from mjbot.play.server.lobby import TableRules
from mjbot.protocol.messages import StartGame
from mjbot.strategy.registry import Spec

BOTS = Path(__file__).with_name("pair_bots.py")
RIVAL = f"external:{sys.executable} {BOTS.parents[1] / 'match' / 'raw_player.py'} play"
ROLES = (Spec.read(f"{BOTS}:Talker"), Spec.read(f"{BOTS}:Listener"))
GUARD_S = 300
AT_ONCE = 50
KNOCKS = 400
WORDS = (b"", b"nonsense\n", b'{"type":"proof"}\n', b"x" * 100_000, b'{"type":"join"}\n')


async def knock(connect, number):
    """Say something and leave, or stay until one is sent away."""
    with contextlib.suppress(OSError):
        reader, writer = await connect()
        try:
            writer.write(WORDS[number % len(WORDS)])
            await writer.drain()
            if number % 3 == 0:
                await reader.read()
        finally:
            writer.close()


async def deluge(connect):
    """Knock, a few strangers at once; each stays for as long as it is let."""
    places = asyncio.Semaphore(AT_ONCE)

    async def one(number):
        async with places:
            await knock(connect, number)

    async with asyncio.TaskGroup() as strangers:
        for number in range(KNOCKS):
            strangers.create_task(one(number))


def test_a_flood_of_strangers_at_channel_and_table_disturbs_neither_pair_nor_game(tmp_path):
    async def main():
        urls = []

        class Named(type(read_players([RIVAL])[0])):
            def command(self, url, games, deadline_s=None):
                urls.append(url)
                return super().command(url, games, deadline_s)

        with private_channel() as channel:
            floods = []

            def watch(game, event):
                if isinstance(event, StartGame):
                    port = int(urls[0].split(":")[2].split("/")[0])
                    for connect in (
                        lambda: asyncio.open_unix_connection(channel.address),
                        lambda: asyncio.open_connection("127.0.0.1", port),
                    ):
                        floods.append(asyncio.create_task(deluge(connect)))

            rivals = [
                Named(player.spec, player.name, player.plays_on)
                for player in read_players([RIVAL, RIVAL])
            ]
            settings = MatchSettings(
                rules=TableRules(
                    seed=3, rules="tonpu", timeout_s=GUARD_S, on_fault=OnFault.DEFAULT
                ),
                games=1,
                folder=tmp_path,
                join_timeout_s=GUARD_S,
            )
            players = (*make_members("mjbot", ROLES, channel), *rivals)
            async with asyncio.timeout(GUARD_S):
                results = await play_match(settings, players, Watcher(on_event=watch))
                for flood in floods:
                    flood.cancel()
                await asyncio.wait(floods)
            return results

    (result,) = asyncio.run(main())
    assert not result.void and not result.faults
    for number in (1, 2):
        output = (tmp_path / f"player-{number}.txt").read_text()
        assert output.count("the partner is there") == 1  # a lost one would have come back
        assert "Traceback" not in output
