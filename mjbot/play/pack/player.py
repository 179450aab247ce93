"""The player in a packed bot: a process of its own behind ``bot.py``, one answer a line.

While this process imports and compiles, lines pile up.  Of those that wait it takes in all and
thinks about the last: the answers to the others are too late, and ``bot.py`` drops them.
"""

import asyncio
import logging
import os
import sys
import threading
from queue import SimpleQueue
from typing import Final

from mjbot.game.referee import Referee
from mjbot.play.client.offers import last_resort
from mjbot.play.client.player import ClientPlayer
from mjbot.play.startup.warm_up import (
    NAMES,
    SEED,
    play_with_mirrors,
    scripted_events,
    warm_up_alone,
)
from mjbot.strategy.registry import Spec
from protocol.codec import encode
from protocol.dialects import ARRAYS
from protocol.errors import ProtocolError
from protocol.messages import Hora, PlayerAction, Seat, Skip
from protocol.plain_text import one_line
from protocol.sessions.client import ClientSession

logger = logging.getLogger(__name__)

DECISION_S: Final = 1.2
"""For a decision, then the default action is played; ``bot.py`` waits 1.5 s."""

PASS: Final = encode(Skip(), ARRAYS)


class PackedPlayer:
    """Answers arrays for one seat."""

    def __init__(self, spec: Spec, seat: Seat) -> None:
        self._session: Final = ClientSession(ARRAYS, seat=seat)
        self._player: Final = ClientPlayer(spec.make, ARRAYS, strict=False, deadline_s=DECISION_S)

    async def warm_up(self) -> None:
        """Load, or compile, what a game needs."""
        await self._player.warm_up()

    async def answer(self, line: bytes, is_last: bool) -> bytes:
        """Take in a line and return the answer, without its end; think only about the last.

        A line that breaks the protocol is logged and answered with a pass.
        """
        try:
            received = self._session.receive(line)
            for event in received.events:
                await self._player.take(event, self._session.seat or 0)
            action: PlayerAction | None = None
            if is_last:
                action = await self._player.answer(received)
            elif received.due.is_choice:
                action = last_resort(received.due, self._session.seat or 0, None, (), ())
            return self._session.reply(action) or PASS
        except ProtocolError as problem:
            logger.error("answered with a pass: %s", one_line(problem))
            return PASS


def play_lines(name: str, seat: Seat) -> None:
    """Answer every line of stdin until it ends; nothing else reaches stdout."""
    answers = os.dup(1)
    os.dup2(2, 1)  # what a strategy prints
    lines: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_read, args=(lines,), daemon=True).start()
    asyncio.run(_play(PackedPlayer(Spec.read(name), seat), lines, answers))


def _read(lines: "SimpleQueue[bytes]") -> None:
    for line in sys.stdin.buffer:
        lines.put(line)
    lines.put(b"")


async def _play(player: PackedPlayer, lines: "SimpleQueue[bytes]", answers: int) -> None:
    await player.warm_up()
    while line := lines.get():
        os.write(answers, await player.answer(line, is_last=lines.empty()) + b"\n")


def compile_all(name: str) -> None:
    """Play until all that a game needs is compiled: in a tonpu game, and as in the container."""
    spec = Spec.read(name)
    warm_up_alone(spec.make(0))
    players = [spec.make(seat) for seat in range(4)]
    for seat, player in enumerate(players):
        player.start_game(seat, NAMES)
    play_with_mirrors(players, Referee(SEED, "tonpu"))
    asyncio.run(_play_script(PackedPlayer(spec, 0)))


async def _play_script(player: PackedPlayer) -> None:
    await player.warm_up()
    for event in scripted_events():
        if not isinstance(event, Hora):  # mjai.app never sends one
            await player.answer(b"[%b]" % encode(event, ARRAYS), is_last=True)
