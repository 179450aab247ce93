"""RiichiEnv at both ends of the request dialect, each time with its own objects on the wire.

As a server it is the referee: its events and its menus (``Action.to_mjai``) go out as they are,
with its serialised observation, and its ``select_action_from_mjai`` reads the replies of four of
our clients.  As a client it follows our events by ``observe_event``, and what our server offers is
compared with what it finds legal itself.
"""

import asyncio
import json
import logging
from contextlib import contextmanager
from functools import partial
from random import Random
from typing import Any, Final

import websockets
from riichienv import Observation, RiichiEnv
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve

from mjbot.play.client.conversation import Meters
from mjbot.play.client.play import Hooks, Settings, play
from mjbot.play.server.lobby import PLACES, TableRules
from mjbot.play.server.server import TableServer
from mjbot.play.startup.precompile import prepare
from mjbot.protocol.sessions.request_server import TimeLimits
from mjbot.protocol.transports.address import parse_address
from mjbot.strategy.registry import Spec, make_strategy
from mjbot.strategy.strategy import Strategy
from proof.answers import Report

HOST: Final = "127.0.0.1"
BOTS: Final = ("fast-policy", "fast-riichi-a", "fast-policy", "fast-riichi-d")
GAME_S: Final = 600.0
"""A hanchan takes seconds; one that takes longer is stuck."""

UNHURRIED: Final = TimeLimits(grace_ms=600_000, bank_ms=0)
MODE: Final = "4p-red-half"


def play_at_riichienv(games: int, seed: int, report: Report) -> None:
    """Play hanchan of four of our clients at a server that is RiichiEnv."""
    prepare([Spec(name) for name in BOTS], use="client")  # what compiles is late at a table
    for game in range(seed, seed + games):
        with _warnings(report, f"client at RiichiEnv, game {game}"):
            asyncio.run(_serve_game(game, report))


def play_at_ours(games: int, seed: int, report: Report) -> None:
    """Play hanchan of four clients that are RiichiEnv at our WebSocket endpoint."""
    for game in range(seed, seed + games):
        with _warnings(report, f"server for RiichiEnv, game {game}"):
            asyncio.run(_join_game(game, report))


@contextmanager
def _warnings(report: Report, where: str) -> Any:
    """Count each warning that our side logs as a difference."""

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            report.differences.append(f"{where}: {record.getMessage()}")

    handler = Kept(logging.WARNING)
    logging.getLogger("mjbot").addHandler(handler)
    try:
        yield
    except (TimeoutError, OSError, websockets.WebSocketException) as error:
        report.differences.append(f"{where}: {type(error).__name__}: {error}")
    finally:
        logging.getLogger("mjbot").removeHandler(handler)


# --- RiichiEnv serves ------------------------------------------------------------------------


class RiichiEnvTable:
    """One hanchan; the clients have the seats in the order in which they connected."""

    def __init__(self, seed: int, report: Report) -> None:
        self._env: Final = RiichiEnv(game_mode=MODE, seed=seed)
        self._report: Final = report
        self._sockets: Final[list[ServerConnection]] = []
        self._full: Final = asyncio.Event()
        self.over: Final = asyncio.Event()
        self._requests = 0
        self._sent: Final = [0] * PLACES

    async def take(self, socket: ServerConnection) -> None:
        """Seat a client and keep its connection until the game is over."""
        self._sockets.append(socket)
        if len(self._sockets) == PLACES:
            self._full.set()
        await self.over.wait()

    async def play(self) -> None:
        """Play the game to its end, one request at a time, as the engine asks for actions."""
        await self._full.wait()
        observations = self._env.reset()
        while not self._env.done():
            actions = {}
            for seat, observation in sorted(observations.items()):
                await self._send_events(seat, observation)
                actions[seat] = await self._choice(seat, observation)
            observations = self._env.step(actions)
        for seat in range(PLACES):  # the last to act has no observation of what followed
            for event in self._env.mjai_log[self._sent[seat] :]:
                await self._send(seat, event)
        self._report.agreed["hanchan of our clients at RiichiEnv's server"] += 1
        self.over.set()

    async def _send_events(self, seat: int, observation: Observation) -> None:
        for line in observation.new_events():
            await self._send(seat, json.loads(line))

    async def _send(self, seat: int, event: dict[str, Any]) -> None:
        if event["type"] == "start_game":
            event = {**event, "id": seat}
        await self._sockets[seat].send(json.dumps(event))
        self._sent[seat] += 1

    async def _choice(self, seat: int, observation: Observation) -> Any:
        self._requests += 1
        request = {
            "type": "request_action",
            "request_id": self._requests,
            "possible_actions": [json.loads(a.to_mjai()) for a in observation.legal_actions()],
            "observation": observation.serialize_to_base64(),
        }
        await self._sockets[seat].send(json.dumps(request))
        reply = json.loads(await self._sockets[seat].recv())
        action = observation.select_action_from_mjai(
            {name: value for name, value in reply.items() if name != "request_id"}
        )
        if action is None:
            self._report.differences.append(f"RiichiEnv does not read our reply {reply}")
            action = observation.legal_actions()[0]
        self._report.agreed[f"our {reply['type']} at RiichiEnv's server"] += 1
        ack = {"type": "action_ack", "request_id": self._requests, "status": "accepted"}
        await self._sockets[seat].send(json.dumps(ack))
        return action


async def _serve_game(seed: int, report: Report) -> None:
    table = RiichiEnvTable(seed, report)
    async with asyncio.timeout(GAME_S), serve(table.take, HOST, 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        settings = Settings(parse_address(f"ws://{HOST}:{port}/ws"), deadline_s=GAME_S)
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(table.play())
                for name in BOTS:
                    make = partial(_make, name)
                    tasks.create_task(play(settings, make, hooks=_hooks(report)))
        except* Exception as errors:  # of our client: whatever it is, the game ended by it
            found = [f"{type(error).__name__}: {error}" for error in errors.exceptions]
            report.differences.append(f"game {seed}: {'; '.join(found)}")
        finally:
            table.over.set()


def _make(name: str, _: object) -> Strategy:
    return make_strategy(name)


def _hooks(report: Report) -> Hooks:
    def acked(status: str) -> None:
        if status != "accepted":
            report.differences.append(f"a reply was {status}")

    return Hooks(meters=Meters(acked=acked))


# --- RiichiEnv joins -------------------------------------------------------------------------


class RiichiEnvClient:
    """A player at our WebSocket endpoint that knows the game by RiichiEnv alone."""

    def __init__(self, seed: int, report: Report) -> None:
        self._env: Final = RiichiEnv(game_mode=MODE)
        self._rng: Final = Random(seed)
        self._report: Final = report
        self._seat = 0
        self._observation: Observation | None = None

    async def play(self, url: str) -> None:
        """Play until the server ends the game."""
        async with connect(url) as socket:
            async for frame in socket:
                message = json.loads(frame)
                if message["type"] == "request_action":
                    await socket.send(json.dumps(self._reply(message)))
                elif message["type"] == "action_ack":
                    self._count_ack(message)
                else:
                    self._observe(message)

    def _observe(self, event: dict[str, Any]) -> None:
        if event["type"] == "start_game":
            self._seat = event.pop("id")  # the engine reads a text there, the ladder sends a seat
        self._observation = self._env.observe_event(event, self._seat)

    def _reply(self, request: dict[str, Any]) -> dict[str, Any]:
        observation = self._observation
        if observation is None:
            self._report.differences.append(f"RiichiEnv sees no choice at {request}")
            return {**request["possible_actions"][0], "request_id": request["request_id"]}
        legal = observation.legal_actions()
        theirs = {action.to_mjai() for action in legal}
        ours = {_as_theirs(observation, offer) for offer in request["possible_actions"]}
        self._report.compare("our offers to RiichiEnv's client", request, ours, theirs)
        action = self._choose(legal)
        return {**json.loads(action.to_mjai()), "request_id": request["request_id"]}

    def _choose(self, legal: list[Any]) -> Any:
        """Win if possible, else choose at random, so that every kind of action comes up."""
        wins = [action for action in legal if json.loads(action.to_mjai())["type"] == "hora"]
        return wins[0] if wins else self._rng.choice(legal)

    def _count_ack(self, ack: dict[str, Any]) -> None:
        if ack["status"] == "accepted":
            self._report.agreed["replies of RiichiEnv's client taken"] += 1
        else:
            self._report.differences.append(f"our server answers {ack}")


def _as_theirs(observation: Observation, offer: dict[str, Any]) -> str:
    """Return the form that RiichiEnv gives the action that it reads an offer as."""
    action = observation.select_action_from_mjai(offer)
    return action.to_mjai() if action is not None else f"not read: {json.dumps(offer)}"


async def _join_game(seed: int, report: Report) -> None:
    table = TableRules(seed=seed, limits=UNHURRIED)
    async with asyncio.timeout(GAME_S), TableServer(table) as server:
        port = await server.open_websocket(HOST, 0, None)
        async with asyncio.TaskGroup() as tasks:
            for seat in range(PLACES):
                client = RiichiEnvClient(PLACES * seed + seat, report)
                tasks.create_task(client.play(f"ws://{HOST}:{port}/ws?name=r{seat}"))
            results = [result async for result in server.play(1)]
    if results[0].void:
        report.differences.append(f"game {seed} is void")
    report.agreed["hanchan of RiichiEnv's clients at our server"] += 1
