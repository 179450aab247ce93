"""What the commands that play at a table have in common: its rules, and its page (``--watch``)."""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final, Protocol

from mjbot.cli import arguments as a
from mjbot.game.records.game import Talk
from mjbot.play.server.core import OnFault
from mjbot.play.server.lobby import TableRules
from mjbot.play.startup.precompile import prepare
from mjbot.protocol.messages import Event
from mjbot.protocol.rules import Length, Rules
from mjbot.runtime.argument_types import port, seconds
from mjbot.runtime.requests import option
from mjbot.strategy.registry import Spec
from mjbot.viewer.browser import show_page

PAGE: Final = "the table in the browser"


@dataclass(frozen=True, kw_only=True)
class TableRequest:
    """The rules of a table; without a seed one is drawn."""

    length: Length | None = a.length_option()
    rules: Rules | None = a.rules_option(players=(3, 4))
    seed: int | None = a.seed_option(None)
    seats: str = option(
        "shuffled", "order of seats; fixed: first come, East", choices=["shuffled", "fixed"]
    )
    timeout_s: float = option(60.0, "time for a reply, in seconds", type=seconds)
    on_fault: str = option(
        OnFault.ABORT.value,
        "cost of an illegal, late or broken reply: the game, a mangan, nothing",
        choices=[kind.value for kind in OnFault],
    )
    evidence: bool = option(False, "keep every raw reply in a file next to the game's log")

    @property
    def game(self) -> Rules:
        """The rules of a game."""
        return a.rules_with(self.rules, self.length)


def table_rules(request: TableRequest) -> TableRules:
    """Return the rules that a request asks for."""
    seed = random.SystemRandom().randrange(1 << 48) if request.seed is None else request.seed
    return TableRules(
        seed=seed,
        rules=request.game,
        fixed_seats=request.seats == "fixed",
        timeout_s=request.timeout_s,
        on_fault=OnFault(request.on_fault),
    )


def heading(games: int, rules: TableRules) -> str:
    """Return what is played at a table of our own, as the commands print it at their start."""
    return f"{games} x {rules.game}, seed {rules.seed}:"


@dataclass(frozen=True, kw_only=True)
class WatchRequest:
    """How a table that is played is shown in the browser."""

    watch: bool = option(False, "show the table while it is played")
    watch_port: int = option(0, "port of the page (default: 0, any free port)", type=port)
    no_browser: bool = a.no_browser_option()
    all_hands: bool = option(False, "show the hands of all seats")
    watch_by: Spec | None = a.strategy_option(None, "strategy whose evaluation is shown, too")
    language: str | None = a.language_option()


class Take(Protocol):
    """Takes the events of a table, each with what players remarked on it."""

    def __call__(self, event: Event, talk: Talk = (), /) -> None:
        """Take in one event."""


def _ignore(event: Event, talk: Talk = (), /) -> None:
    """Show nothing."""


@contextlib.asynccontextmanager
async def table_page(
    request: WatchRequest, title: str, ending: asyncio.Event | None = None
) -> AsyncIterator[Take]:
    """Serve a page if ``--watch`` requests one; give what takes the table's events.

    After the last game the page stays for as long as a browser shows it, until ``ending`` is set.
    """
    if not request.watch:
        yield _ignore
        return
    from mjbot.viewer.game import ALL_SEATS
    from mjbot.viewer.live import LiveServer  # aiohttp takes a third of a second to load

    if request.watch_by is not None:
        request.watch_by.check()
        prepare([request.watch_by], use="explain")
    async with LiveServer({"title": title}, request.watch_by) as server:
        await server.open(request.watch_port)
        key = server.keys.new(ALL_SEATS) if request.all_hands else ""
        show_page(server.url(key), no_browser=request.no_browser)
        yield server.add
        staying = server.stay(expects_browser=not request.no_browser)
        tasks: list[asyncio.Task[object]] = [asyncio.create_task(staying)]
        if ending is not None:
            tasks.append(asyncio.create_task(ending.wait()))
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
