"""A seat for a person: the page offers exactly the legal actions, and a clock runs.

The person is a strategy like any other (:class:`HumanPlayer`): it is called in the thread that
decides, and waits there for the page's answer.  A player who closes the page is treated as
unresponsive: the client chooses the action.
"""

import asyncio
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from aiohttp import web

from mjbot.game.table.actions import Action
from mjbot.game.table.mirror.wire import consumed_tiles
from mjbot.game.table.view import View
from mjbot.protocol.errors import NOT_JSON
from mjbot.protocol.tiles import NORTH, TILE_NAMES, tile_names
from mjbot.runtime.net.http import REQUEST_S
from mjbot.strategy.faults import AbsentError
from mjbot.strategy.registry import Spec
from mjbot.strategy.strategy import Strategy
from mjbot.viewer.game import ALL_SEATS
from mjbot.viewer.live import EventStream, LiveServer

CLOCK_S: Final = 30.0
"""Time for a decision unless another is set."""
ABSENT_S: Final = 8.0
"""How long a page may be disconnected, while a decision is due, before the player is absent."""
_POLL_S: Final = 0.1
_LATE_S: Final = 0.5
"""The client's own deadline comes first, and logs it."""
_MOST_BYTES: Final = 1000


@dataclass
class _Question:
    """A decision; ``answer`` is set in the server's loop, read in the thread that decides."""

    id: int
    legal: tuple[Action, ...]
    message: bytes
    answered: threading.Event = field(default_factory=threading.Event)
    answer: Action | None = None


class SeatServer(LiveServer):
    """The page of one person: it shows what the seat sees, and returns the person's choices.

    ``key`` opens it; with the same key an open page resumes after a restart.
    """

    def __init__(self, config: dict[str, Any], key: str, hint: Spec | None = None) -> None:
        super().__init__({**config, "plays": True}, hint)
        self.keys.add(key, ALL_SEATS)  # no more than the seat sees is ever here
        self._loop: Final = asyncio.get_running_loop()
        self._question: _Question | None = None
        self._n_questions = 0
        self._gone_at = time.monotonic()
        self.app.router.add_post("/api/act", self._act)

    def channel(self, seen: frozenset[int]) -> EventStream:
        """See :meth:`~mjbot.viewer.live.SpectatedServer.channel`; only the player has access."""
        if not seen:
            raise web.HTTPForbidden(text="this is a player's page: its key is missing")
        return super().channel(seen)

    def request_action(self, view: View, clock_s: float) -> Action:
        """Return what the person chooses; called in the thread that decides, which waits.

        Raises :class:`AbsentError`, and ``TimeoutError`` when the clock has run out.
        """
        self._n_questions += 1
        until = time.time() + clock_s
        actions = [_offer(view, action) for action in view.legal]
        message = {
            "type": "ask",
            "id": self._n_questions,
            "seat": view.seat,
            "until": round(1000 * until),
        }
        text = msgspec.json.encode({**message, "clock": clock_s, "actions": actions})
        question = _Question(self._n_questions, view.legal, text)
        self._loop.call_soon_threadsafe(self._put, question)
        try:
            self._wait(question, clock_s + _LATE_S)
        finally:
            self._loop.call_soon_threadsafe(self._take_away, question)
        if question.answer is None:
            raise TimeoutError("the clock has run out")
        return question.answer

    def _wait(self, question: _Question, limit_s: float) -> None:
        end = time.monotonic() + limit_s
        while time.monotonic() < end and not question.answered.wait(_POLL_S):
            if self.spectators:
                self._gone_at = time.monotonic()
            elif time.monotonic() - self._gone_at > ABSENT_S:
                raise AbsentError("the page is not open in a browser")

    def _put(self, question: _Question) -> None:
        self._question = question
        self.channel(ALL_SEATS).add(question.message)

    def _take_away(self, question: _Question) -> None:
        if self._question is question:
            self._question = None
        message = {"type": "asked", "id": question.id}
        self.channel(ALL_SEATS).add(msgspec.json.encode(message))

    async def _act(self, request: web.Request) -> web.Response:
        if not self.seen_by(request):
            raise web.HTTPForbidden(text="this is a player's page: its key is missing")
        if request.headers.get("Origin") is None or (request.content_length or 0) > _MOST_BYTES:
            raise web.HTTPBadRequest(text="only the page may choose")
        question = self._question
        try:
            async with asyncio.timeout(REQUEST_S):
                choice = msgspec.json.decode(await request.read(), type=_Choice)
        except TimeoutError:
            raise web.HTTPRequestTimeout(text=f"no choice within {REQUEST_S:g} s") from None
        except NOT_JSON as problem:
            raise web.HTTPBadRequest(text=str(problem)) from None
        if question is None or question.id != choice.id or question.answered.is_set():
            raise web.HTTPConflict(text="that is decided already")
        chosen = [action for action in question.legal if action.code == choice.code]
        if not chosen:
            raise web.HTTPBadRequest(text="that is not allowed now")
        question.answer = chosen[0]
        question.answered.set()
        return web.Response(text="{}", content_type="application/json")


class _Choice(msgspec.Struct, frozen=True):
    """The page's answer."""

    id: int
    code: int


def _offer(view: View, action: Action) -> dict[str, Any]:
    """Return what the page needs to offer an action: its tiles, as text and pictures."""
    tiles: tuple[str, ...] = ()
    if action.is_call:
        tiles = tile_names(consumed_tiles(view.state, view.seat, action))
    elif action.is_kita:
        tiles = (TILE_NAMES[NORTH],)
    elif action.tile >= 0:
        tiles = (TILE_NAMES[action.tile],)
    elif action.is_win or action.is_riichi:
        won = view.drawn if action.name == "tsumo" else view.claim_tile
        tiles = (TILE_NAMES[won],) if action.is_win else ()
    return {
        "code": action.code,
        "name": action.name,
        "tiles": " ".join(tiles),
        "drawn": action.tsumogiri,
        "text": str(action),
    }


@dataclass
class HumanPlayer(Strategy):
    """Does what a person at the page chooses."""

    players = (3, 4)
    server: SeatServer
    clock_s: float = CLOCK_S

    def decide(self, view: View) -> Action:
        """Return the person's choice; raises as :meth:`SeatServer.request_action`."""
        return self.server.request_action(view, self.clock_s)
