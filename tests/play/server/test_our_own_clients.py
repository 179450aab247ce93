"""Our client at our table, through both doors, each checking the other strictly."""

import asyncio

import pytest

from mjbot.play.client.play import Settings, play
from mjbot.play.server.lobby import TableRules
from mjbot.play.server.server import TableServer
from mjbot.protocol.transports.address import parse_address
from mjbot.strategy.registry import make_strategy

BOTS = ("fast-riichi-a", "fast-riichi-b", "fast-riichi-c", "fast-riichi-d")


@pytest.mark.parametrize("doors", ["tttt", "wwww", "twtw"])
def test_strict_clients_and_the_server_agree_on_everything(doors):
    async def main():
        rules = TableRules(seed=12, rules="tonpu")
        async with asyncio.timeout(120), TableServer(rules) as server:
            port = await server.open_tcp("127.0.0.1", 0)
            web_port = await server.open_websocket("127.0.0.1", 0)
            urls = {
                "t": f"mjsonp://127.0.0.1:{port}/default",
                "w": f"ws://127.0.0.1:{web_port}/ws",
            }
            games = []
            for bot, door in zip(BOTS, doors, strict=True):
                settings = Settings(parse_address(urls[door]), name=bot, strict=True)
                games.append(play(settings, lambda _, bot=bot: make_strategy(bot)))
            tasks = [asyncio.create_task(game) for game in games]
            results = [result async for result in server.play(1)]
            ends = await asyncio.gather(*tasks)
            return results[0], [end for (end,) in ends]

    result, ends = asyncio.run(main())
    assert not result.faults
    for end in ends:
        assert end.scores == result.scores
