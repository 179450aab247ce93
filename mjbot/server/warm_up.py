"""Compiling, or loading, the referee before the first game, while players are on their way."""

import asyncio
import contextlib
import threading

from mjbot.referee import Referee


async def warm_up() -> None:
    """Return when the referee's compiled code is ready: 0.2 s, or 40 s the very first time.

    Compiling inside a game would make the table deaf for as long, and players would give up on
    their handshakes.  It runs in a daemon thread, so that meanwhile doors open, deaths are
    noticed and Ctrl-C ends the program at once.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def finish(error: Exception | None) -> None:
        if done.cancelled():
            return
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)

    def work() -> None:
        problem: Exception | None = None
        try:
            _first_decision()
        except Exception as error:
            problem = error
        with contextlib.suppress(RuntimeError):  # an interrupted program has closed its loop
            loop.call_soon_threadsafe(finish, problem)

    threading.Thread(target=work, daemon=True, name="warm-up").start()
    await done


def _first_decision() -> None:
    referee = Referee(seed=0)
    referee.start()
    referee.step({seat: referee.view(seat).default_action for seat in referee.asked})
