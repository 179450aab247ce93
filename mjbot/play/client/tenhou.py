"""A bot at a Tenhou table: one game over one connection, or over several if it is lost.

The session (:mod:`mjbot.protocol.tenhou.client`) handles the wire, the player the game.  Here are
the clocks: the keep-alive, how long the server may be silent, how long we try to come back.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from mjbot.play.client.conversation import OwnResult, RecordEvent, Timed
from mjbot.play.client.player import ClientPlayer
from mjbot.protocol.messages import EndGame, StartKyoku
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.sessions.turns import ReplyDuty
from mjbot.protocol.tenhou.client import GameGoneError, TenhouClient, TenhouReceived, TenhouStage
from mjbot.protocol.tenhou.game_type import KEEP_ALIVE_S
from mjbot.protocol.transports import base as base_

logger = logging.getLogger(__name__)

RETURN_S: Final = 60.0
"""How long we try to come back to a game."""

_RETRY_PAUSE_S: Final = 0.5

ConnectToTenhou = Callable[[], Awaitable[base_.Transport]]


class TenhouGame:
    """Plays one game.

    ``connect`` makes a connection; ``record`` is called with every event, ``timed`` with the
    seconds of every decision; ``silence_s`` is how long the server may be silent in a game.
    """

    def __init__(
        self,
        connect: ConnectToTenhou,
        session: TenhouClient,
        player: ClientPlayer,
        *,
        silence_s: float,
        record: RecordEvent,
        timed: Timed = lambda seconds: None,
    ) -> None:
        self._connect: Final = connect
        self._session: Final = session
        self._player: Final = player
        self._silence_s: Final = silence_s
        self._record: Final = record
        self._timed: Final = timed
        self._scores: tuple[int, ...] = ()

    async def play(self, transport: base_.Transport) -> OwnResult:
        """Play until the game is over, on ``transport`` as long as it holds.

        Raises what :meth:`mjbot.play.client.conversation.Conversation.play_game` raises.
        """
        frames = self._session.open()
        while True:
            try:
                async with transport:
                    return await self._converse(transport, frames)
            except (base_.VanishedError, base_.SilenceError) as error:
                refuses = isinstance(error, base_.ClosedError) and error.is_refusal
                if self._session.seat is None or refuses:
                    raise
                logger.warning("%s; coming back", one_line(error))
            except GameGoneError as error:
                return self._result(void=error.problem)
            transport = await self._come_back()
            frames = self._session.reconnect()

    async def _come_back(self) -> base_.Transport:
        give_up_at = time.monotonic() + RETURN_S
        while True:
            try:
                return await self._connect()
            except base_.UnreachableError as error:
                if isinstance(error, base_.RefusedError) or time.monotonic() >= give_up_at:
                    raise
            await asyncio.sleep(_RETRY_PAUSE_S)

    async def _converse(self, transport: base_.Transport, frames: tuple[bytes, ...]) -> OwnResult:
        session = self._session
        await _send(transport, frames)
        async with _kept_alive(transport, session):
            while session.stage is not TenhouStage.OVER:
                waiting = (
                    session.stage in (TenhouStage.CONNECTED, TenhouStage.LOBBY)
                    and session.seat is None
                )
                data = await transport.receive(None if waiting else self._silence_s)
                asked_s, decisions = time.perf_counter(), self._player.decisions
                await self._digest(transport, session.receive(data))
                if self._player.decisions > decisions:
                    self._timed(time.perf_counter() - asked_s)
        result = self._result()
        logger.info("game over: place %d, scores %s", result.final_rank, list(result.scores))
        return result

    async def _digest(self, transport: base_.Transport, received: TenhouReceived) -> None:
        for event in received.events:
            if received.gap and isinstance(event, StartKyoku | EndGame):
                self._player.table.forget_result()
            self._record(event)
            await self._player.take(event, self._session.seat or 0)
            if isinstance(event, EndGame):
                self._scores = (event.scores or ())[: self._session.players]
        await _send(transport, received.frames)
        if received.lapsed:
            logger.warning("the server went on without our answer")
        if received.duty is not ReplyDuty.MUST:
            if received.events:
                self._player.check_unasked()
            return
        if received.blind:
            await self._digest(transport, self._session.reply_safely())
            return
        action = await self._player.answer(received)
        await self._digest(transport, self._session.reply(action))

    def _result(self, void: str = "") -> OwnResult:
        return OwnResult(self._session.seat or 0, self._session.names, self._scores, void=void)


async def _send(transport: base_.Transport, frames: tuple[bytes, ...]) -> None:
    for frame in frames:
        await transport.send(frame)


@contextlib.asynccontextmanager
async def _kept_alive(transport: base_.Transport, session: TenhouClient) -> AsyncIterator[None]:
    task = asyncio.create_task(_keep_alive(transport, session))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


async def _keep_alive(transport: base_.Transport, session: TenhouClient) -> None:
    with contextlib.suppress(base_.TransportError):  # the receiver is notified as well
        while True:
            await asyncio.sleep(KEEP_ALIVE_S)
            await transport.send(session.keep_alive())
