"""What clients can make a server write."""

import asyncio
import errno
import logging

import pytest

from mjbot.runtime.net.log import ACCEPT_PAUSE_S, MOST_LINES, WINDOW_S, LineLimit, LoopErrors


def test_the_lines_of_a_window_are_limited_and_the_others_counted() -> None:
    now = [0.0]
    limit = LineLimit(lambda: now[0])
    assert [limit.next()[0] for _ in range(MOST_LINES + 7)] == [*MOST_LINES * [True], *7 * [False]]
    now[0] = WINDOW_S
    assert [limit.next() for _ in range(2)] == [(True, 7), (True, 0)]


def test_accept_errors_are_one_line_and_others_keep_their_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    now = [100.0]
    loop, handle = asyncio.new_event_loop(), LoopErrors(lambda: now[0])
    no_files = OSError(errno.EMFILE, "Too many open files")
    context = {"message": "socket.accept() out of system resource", "exception": no_files}
    try:
        for _ in range(1000):
            handle(loop, context)
        now[0] += ACCEPT_PAUSE_S
        handle(loop, context)
        assert [(record.getMessage(), record.exc_info) for record in caplog.records] == 2 * [
            ("a connection could not be accepted: Too many open files", None)
        ]
        caplog.clear()
        with caplog.at_level(logging.ERROR):
            handle(loop, {"message": "task failed", "exception": ValueError("other")})
    finally:
        loop.close()
    assert "ValueError: other" in caplog.text
