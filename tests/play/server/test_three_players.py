"""Tables of three: our clients at our table over every transport, each checking the other."""

import asyncio
import json

import pytest

from mjbot.game.records.sources import games_of, list_sources
from mjbot.game.table.mirror.mirror import Mirror
from mjbot.play.client.play import Settings, play
from mjbot.play.server.lobby import TableRules
from mjbot.play.server.server import TableServer
from mjbot.protocol.rules import Rules
from mjbot.protocol.transports.address import parse_address
from mjbot.strategy.options import StrategyError
from mjbot.strategy.registry import make_strategy

THREE = Rules(players=3, length="tonpu")
GUARD_S = 300


def play_table(bots, doors, seed=8, **server):
    """Play a game; return its result and how each bot saw it end, or the bot's error."""

    async def main():
        rules = TableRules(seed=seed, rules=THREE, timeout_s=float(GUARD_S))
        async with asyncio.timeout(GUARD_S), TableServer(rules, **server) as table:
            port = await table.open_tcp("127.0.0.1", 0)
            web_port = await table.open_websocket("127.0.0.1", 0)
            xml_port = await table.open_tenhou("127.0.0.1", 0)
            json_port = await table.open_tenhou_websocket("127.0.0.1", 0)
            urls = {
                "t": f"mjsonp://127.0.0.1:{port}/default",
                "w": f"ws://127.0.0.1:{web_port}/ws",
                "x": f"tenhou://127.0.0.1:{xml_port}/0?type=17",
                "j": f"tenhou+ws://127.0.0.1:{json_port}/0?type=17",
            }
            clients = [
                asyncio.create_task(
                    play(
                        Settings(parse_address(urls[door]), name=bot),
                        lambda game, bot=bot: make_strategy(bot, seed=game),
                    )
                )
                for bot, door in zip(bots, doors, strict=True)
            ]
            results = [result async for result in table.play(1)]
            return results[0], await asyncio.gather(*clients, return_exceptions=True)

    return asyncio.run(main())


@pytest.mark.parametrize("doors", ["ttt", "www", "xjx"])
def test_strict_clients_and_the_server_agree_on_everything(doors, tmp_path):
    bots = ("fast-riichi-d",) * 3
    result, ends = play_table(bots, doors, log_dir=tmp_path)
    assert not result.faults
    assert len(result.names) == len(result.scores) == 3
    assert [[end.scores for end in ours] for ours in ends] == [[result.scores]] * 3
    assert sorted(end.final_rank for (end,) in ends) == [1, 2, 3]
    lines = [json.loads(line) for line in result.log.read_text().splitlines()]
    assert any(line["type"] == "kita" for line in lines)
    assert {len(line[rows]) for line in lines for rows in ("tehais", "scores") if rows in line} == {
        3
    }
    (source,) = list_sources(tmp_path)
    (game,) = games_of(source, players=(3,))
    table = Mirror()
    for entry in game.entries:
        table.apply(entry.event)
    assert table.state["scores"].tolist()[:3] == list(result.scores)


def test_every_list_by_seat_that_a_client_of_another_program_reads_has_three_items(raw_client):
    async def main():
        rules = TableRules(seed=8, rules=THREE, timeout_s=float(GUARD_S))
        async with asyncio.timeout(GUARD_S), TableServer(rules) as table:
            port = await table.open_tcp("127.0.0.1", 0)
            clients = [asyncio.create_task(raw_client(name=f"raw{n}").play(port)) for n in range(3)]
            async for _ in table.play(1):
                pass
            return await asyncio.gather(*clients)

    for client in asyncio.run(main()):
        assert client.received[-1]["type"] == "end_game"
        for event in client.received:
            for rows in ("names", "tehais", "scores", "deltas", "tenpais"):
                assert len(event.get(rows, range(3))) == 3, event


def test_a_strategy_of_four_players_is_refused_by_name():
    _, ends = play_table(("tsumogiri", "supervised", "tsumogiri"), "www")
    assert isinstance(ends[1], StrategyError)
    assert "strategy 'supervised' plays no table of 3 players" in str(ends[1])
    assert "fast-riichi-d" in str(ends[1])
