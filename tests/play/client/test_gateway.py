"""A server that says as little as tomohxx's mjai-gateway (docs/protocol.md, section 4.4)."""

import asyncio
import json

from mjbot.play.client.player import ClientPlayer
from mjbot.protocol.dialects import Dialect
from mjbot.protocol.sessions.client import ClientSession
from mjbot.protocol.sessions.turns import ReplyDuty
from mjbot.strategy.registry import make_strategy

HIDDEN = ["?"] * 13
TENPAI = ["2m", "3m", "4m", "5m", "6m", "3p", "4p", "5p", "6s", "7s", "8s", "E", "E"]


def deal(kyoku, honba, oya):
    return {
        "type": "start_kyoku", "bakaze": "E", "kyoku": kyoku, "honba": honba, "kyotaku": 0,
        "oya": oya, "dora_marker": "N", "tehais": [TENPAI, HIDDEN, HIDDEN, HIDDEN],
    }  # fmt: skip


LINES = [
    {"type": "hello", "protocol": "mjsonp", "protocol_version": 3},
    {"type": "start_game", "id": 0, "names": ["me", "b", "c", "d"]},
    deal(0, 0, 0),
    {"type": "tsumo", "actor": 0, "pai": "1m",
     "possible_actions": [{"type": "hora"}, {"type": "reach"}]},
    {"type": "hora", "scores": [27000, 24000, 24500, 24500]},
    {"type": "end_kyoku"},
    deal(0, 1, 0),
    {"type": "tsumo", "actor": 0, "pai": "N", "possible_actions": [{"type": "reach", "actor": 0}]},
    {"type": "reach", "actor": 0},
    {"type": "dahai", "actor": 0, "pai": "N", "tsumogiri": True},
    {"type": "reach_accepted", "actor": 0},
    {"type": "tsumo", "actor": 1, "pai": "?"},
    {"type": "dahai", "actor": 1, "pai": "9p", "tsumogiri": True, "possible_actions": []},
    {"type": "hora", "scores": [25000, 24000, 23000, 28000]},
    {"type": "end_kyoku"},
    deal(1, 0, 1),
    {"type": "tsumo", "actor": 1, "pai": "?"},
    {"type": "ryukyoku", "scores": [25000, 24000, 23000, 28000]},
    {"type": "end_kyoku"},
]  # fmt: skip


def test_a_strict_player_gets_along_with_a_gateway():
    player = ClientPlayer(
        lambda game: make_strategy("fast-riichi-d"), Dialect.TCP, strict=True, deadline_s=30
    )
    session = ClientSession(Dialect.TCP, room="0_0")

    async def check():
        output = []
        for line in LINES:
            received = session.receive(json.dumps(line))
            for event in received.events:
                await player.take(event, session.seat)
            if received.duty is not ReplyDuty.MUST_NOT:
                output.append(json.loads(session.reply(await player.answer(received))))
        return output

    output = asyncio.run(check())
    assert output[3] == {"type": "hora", "actor": 0, "target": 0, "pai": "1m"}
    assert {"type": "reach", "actor": 0} in output
    assert player.table.state["scores"].tolist() == [25000, 24000, 23000, 28000]
    assert not player.faults.count
