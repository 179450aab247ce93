"""How a service reports: a status file, metrics over HTTP on loopback, systemd's notifications."""

import asyncio
import contextlib
import json
import os
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Protocol

from mjbot.protocol.plain_text import one_line
from mjbot.runtime.net.http import LoopbackServer, Page
from mjbot.runtime.net.metrics import METRICS_TYPE
from mjbot.runtime.system import unix_socket

WRITE_S: Final = 1.0
"""Shortest time between two writes of the status file."""
REFRESH_S: Final = 30.0
"""Longest time between two, also where nothing changes: a reader sees that the process lives."""


class Reported(Protocol):
    """What is reported: a snapshot as JSON's types, and metrics as Prometheus's text."""

    is_changed: bool

    def snapshot(self) -> dict[str, Any]:
        """Return everything as JSON's types."""

    def metrics(self) -> str:
        """Return the counters in Prometheus's text format."""

    def write(self, path: Path) -> None:
        """Write the snapshot to a file; raises ``OSError``."""


def metrics_server(status: Reported) -> LoopbackServer:
    """Return the server of ``/metrics`` (Prometheus's text format) and ``/status`` (JSON)."""

    async def metrics(_: Mapping[str, str]) -> Page:
        return status.metrics(), METRICS_TYPE

    async def snapshot(_: Mapping[str, str]) -> Page:
        return json.dumps(status.snapshot()), "application/json"

    return LoopbackServer("metrics", {"/metrics": metrics, "/status": snapshot})


def notify(text: str) -> None:
    """Send systemd a state such as ``READY=1``, if it started this process and waits for it."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    with contextlib.suppress(OSError), unix_socket(socket.SOCK_DGRAM) as line:
        line.sendto(text.encode(), "\0" + address[1:] if address[0] == "@" else address)


async def keep_notifying(summary: Callable[[], str]) -> None:
    """Keep systemd's watchdog up to date until cancelled; ``summary`` is one line."""
    while True:
        notify(f"WATCHDOG=1\nSTATUS={one_line(summary())}")
        await asyncio.sleep(REFRESH_S)


async def report(
    status: Reported,
    file: Path | None,
    summary: Callable[[], str],
    on_problem: Callable[[str], None],
) -> None:
    """Keep the status file and systemd up to date until cancelled; ``summary`` is one line."""
    loop = asyncio.get_running_loop()
    next_at = loop.time()
    try:
        while True:
            if status.is_changed or loop.time() >= next_at:
                next_at = loop.time() + REFRESH_S
                _write(status, file, on_problem)
                notify(f"WATCHDOG=1\nSTATUS={one_line(summary())}")
            await asyncio.sleep(WRITE_S)
    finally:
        _write(status, file, on_problem)


def _write(status: Reported, file: Path | None, on_problem: Callable[[str], None]) -> None:
    status.is_changed = False
    if file is None:
        return
    try:
        status.write(file)
    except OSError as error:  # a full disk: the games go on
        on_problem(f"the status file cannot be written: {error}")
