"""How a bot that is checked reaches the check."""

import asyncio
import sys

import pytest

from mjbot.check.lines import CannotStartError, ConnectingBot
from protocol.dialects import LINES, LOCKSTEP, Dialect


@pytest.mark.parametrize(
    ("dialect", "url"), [(LOCKSTEP, "mjsonp://127.0.0.1:"), (LINES, "ws://127.0.0.1:")]
)
def test_a_bot_is_given_the_url_of_its_dialect(dialect: Dialect, url: str) -> None:
    async def start() -> None:
        command = [sys.executable, "-c", "raise SystemExit(3)", "{url}"]
        async with ConnectingBot(command, dialect, "leaver") as bot:
            await bot.sit_down(0)

    with pytest.raises(CannotStartError, match=f"nobody connected to {url}"):
        asyncio.run(start())
