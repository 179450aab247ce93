"""Whole games at a server whose referee, offers and checks of a reply are RiichiEnv's own."""

import asyncio
import base64
import json
import logging
from random import Random

import pytest
from riichienv import RiichiEnv

from mjbot.play.client.conversation import Conversation
from mjbot.play.client.player import ClientPlayer
from mjbot.protocol.dialects import Dialect
from mjbot.protocol.sessions.client import ClientSession
from mjbot.protocol.transports.memory import memory_pair
from mjbot.strategy.strategy import Strategy

GUARD_S = 300
HIDDEN = ["?"] * 13
NOISE = [
    {"type": "error", "message": "try again"},
    {"type": "x_weather", "sky": "clear"},
    {"type": "none", "actor": 3},
    {"error": "no type"},
    {"type": "action_ack", "status": "of a new kind", "request_id": 1},
]


class Caller(Strategy):
    """Calls and declares what it can three times in four, else does anything."""

    players = (3, 4)

    def __init__(self, seed):
        self.rng = Random(seed)

    def decide(self, view):
        special = [each for each in view.legal if each.name not in ("discard", "pass")]
        return self.rng.choice(special if special and self.rng.random() < 0.75 else view.legal)


class Server:
    """Sends what the client at seat 0 may see, and requests its decisions."""

    def __init__(self, transport, seed, noisy, players=4):
        self.transport, self.noisy, self.rng = transport, noisy, Random(seed)
        self.env = RiichiEnv(game_mode=f"{players}p-red-half", seed=seed)
        self.sent = self.requests = 0

    async def play(self):
        observations = self.env.reset()
        while not self.env.done():
            await self.send_events()
            choices = {}
            for seat, observation in sorted(observations.items()):
                legal = observation.legal_actions()
                choices[seat] = await self.ask(observation) if seat == 0 else self.rng.choice(legal)
            observations = self.env.step(choices)
        await self.send_events()

    async def send_events(self):
        for event in self.env.mjai_log[self.sent :]:
            match event["type"]:
                case "start_game":
                    event = {**event, "id": 0}
                case "start_kyoku":
                    own, *others = event["tehais"]
                    event = {**event, "tehais": [own, *[HIDDEN] * len(others)]}
                case "tsumo" if event["actor"] != 0:
                    event = {**event, "pai": "?"}
            await self.send(event)
            self.last = event
        self.sent = len(self.env.mjai_log)

    async def send(self, message):
        await self.transport.send(json.dumps(message).encode())

    async def ask(self, observation):
        self.requests += 1
        if self.noisy:
            for message in (*self.rng.sample(NOISE, 2), *([self.last] * (self.requests % 3 == 0))):
                await self.send(message)
        offers = [json.loads(each.to_mjai()) for each in observation.legal_actions()]
        request = {
            "type": "request_action",
            "request_id": self.requests,
            "possible_actions": offers,
            "observation": base64.b64encode(b"{}").decode(),
        }
        twice = self.noisy and self.requests % 4 == 0
        await self.send(request)
        reply = json.loads(await self.transport.receive(GUARD_S))
        if twice:
            await self.send(request)
            assert json.loads(await self.transport.receive(GUARD_S))["request_id"] == self.requests
        assert reply["request_id"] == self.requests
        found = observation.select_action_from_mjai(json.dumps(reply))
        assert found is not None, f"{reply} is none of {offers}"
        assert json.loads(found.to_mjai())["type"] == reply["type"]
        await self.send({"type": "action_ack", "status": "accepted", "request_id": self.requests})
        return found


@pytest.mark.parametrize(
    ("players", "seed", "noisy"),
    [(4, 0, False), (4, 1, True), (4, 2, True), (3, 0, False), (3, 1, True)],
)
def test_strict_clients_play_whole_games_there(players, seed, noisy, caplog):
    async def main():
        here, there = memory_pair()
        server = Server(there, seed, noisy, players)
        player = ClientPlayer(
            lambda game: Caller(seed), Dialect.RIICHILAB, strict=True, deadline_s=GUARD_S
        )
        conversation = Conversation(
            here,
            ClientSession(Dialect.RIICHILAB),
            player,
            silence_s=GUARD_S,
            record=lambda event: None,
        )
        async with asyncio.timeout(GUARD_S):
            (result, _) = await asyncio.gather(conversation.play_game(), server.play())
        assert result.scores == tuple(server.env.scores())
        assert server.requests > 50 and not player.faults.count

    with caplog.at_level(logging.WARNING):
        asyncio.run(main())
    assert not [text for text in caplog.messages if "offers" in text or "our rules" in text]
