"""``python compile_strategies.py NAME ...``: compile what the strategies' games need.

It is run in the unpacked files of a wheel (:func:`release.artifacts.machine_wheel`), so that the
code is that of the files there.  Each job of :mod:`mjbot.play.startup.precompile` that was done
leaves an empty file in the cache.  The last line on the standard output is what the code was made
with.
"""
# ruff: noqa: E402

from mjbot.runtime.compiler.portable import compile_portably

compile_portably()  # before an import compiles anything

import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from mjbot.play.client.player import ClientPlayer
from mjbot.play.startup.precompile import BUDGET, Job, key_of_release, play_job
from mjbot.play.startup.warm_up import scripted_events
from mjbot.protocol.codec import encode
from mjbot.protocol.dialects import ARRAYS
from mjbot.protocol.messages import Hora
from mjbot.protocol.sessions.client import ClientSession
from mjbot.runtime.compiler.cache import cache_folder
from mjbot.runtime.compiler.shipped import PREPARED, versions
from mjbot.strategy.options import options_of
from mjbot.strategy.registry import Spec, strategy_class

PAIR: Final = "combo-partner,base=strongest"
"""What ``mjbot duo`` plays without options."""
QUICK: Final = "fast-riichi-d"
"""A strategy that decides at once."""


def compile_all(names: Sequence[str]) -> None:
    """Compile in this process all that the strategies need, into the cache."""
    jobs = [Job((), "table")]
    for use in ("client", "arena", "explain"):
        jobs += [Job((Spec.read(name),), use) for name in names]
    if {"combo-partner", "strongest"} <= {*names}:
        jobs.append(Job((Spec.read(PAIR), Spec.read(PAIR)), "client"))
    done = cache_folder() / PREPARED
    done.mkdir()
    for job in jobs:
        play_job(replace(job, specs=tuple(map(_quick, job.specs))))
        (done / key_of_release(job)).touch()
    asyncio.run(play_as_client(Spec.read(QUICK if QUICK in names else names[0])))
    print(json.dumps(versions()))


async def play_as_client(spec: Spec) -> None:
    """Play the kyoku of the warm-up with what a client calls besides the strategy."""
    session = ClientSession(ARRAYS, seat=0)
    player = ClientPlayer(spec.make, ARRAYS, strict=False, deadline_s=None)
    await player.warm_up()
    for event in scripted_events():
        if isinstance(event, Hora):  # no server that sends arrays sends one
            continue
        received = session.receive(b"[%b]" % encode(event, ARRAYS))
        for each in received.events:
            await player.take(each, 0)
        session.reply(await player.answer(received))


def _quick(spec: Spec) -> Spec:
    """Return a player that runs the same code with as little search as possible."""
    has_budget = any(option.name == BUDGET for option in options_of(strategy_class(spec.name)))
    return replace(spec, options={**spec.options, BUDGET: "0.01"}) if has_budget else spec


if __name__ == "__main__":
    compile_all(sys.argv[1:])
