"""Loading the referee before the first game, while players are on their way."""

import asyncio
import contextlib
import threading

from mjbot.rehearsal import rehearse_referee


async def warm_up() -> None:
    """Return when the referee's compiled code is ready: 0.2 s.

    Without :func:`mjbot.preparation.prepare` it takes longer, the very first time: compiling
    inside a game would make the table deaf, and players would give up on their handshakes.  So
    it runs in a daemon thread; meanwhile doors open, and Ctrl-C ends the program at once.
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
            rehearse_referee()
        except Exception as error:
            problem = error
        with contextlib.suppress(RuntimeError):  # an interrupted program has closed its loop
            loop.call_soon_threadsafe(finish, problem)

    threading.Thread(target=work, daemon=True, name="warm-up").start()
    await done
