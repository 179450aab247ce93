"""What compiling a strategy takes: ``python -m bench compile [STRATEGY] [--json]``.

A process with an empty cache prepares the table and the strategy as ``mjbot match`` does, then a
second one finds everything there.  Of each function that was compiled: the processor time without
that of the functions that it calls, its LLVM instructions, and how many bodies its library holds:
its own and the copies of small ones.  The twenty costliest are printed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any, Final

from mjbot.play.startup.precompile import OPTIMISED

PRINTED: Final = 20
_PROGRAM: Final = "from bench.compile import work; work()"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("strategy", nargs="?", default="fast-riichi-d", help="NAME or NAME,KEY=...")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(args: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory() as cache:
        found = {start: _start(args.strategy, cache) for start in ("first", "later")}
    first, later = found["first"], found["later"]
    if args.json:
        print(json.dumps(found, indent=2))
    else:
        print_report(args.strategy, first, later)
    return int(bool(later["functions"]) or first["games"] != later["games"])


def print_report(strategy: str, first: dict[str, Any], later: dict[str, Any]) -> None:
    functions = sorted(first["functions"], key=lambda function: -float(function["seconds"]))
    bodies = sum(function["bodies"] for function in functions)
    seconds = f"first start {first['seconds']:.1f} s of processor, later {later['seconds']:.2f} s"
    print(f"{strategy}: {seconds}; load {os.getloadavg()[0]:.1f}")
    print(f"{len(functions)} libraries of {bodies} bodies")
    print(f"{'s':>6} {'instructions':>12} {'bodies':>6}  function")
    for one in functions[:PRINTED]:
        print(f"{one['seconds']:6.2f} {one['instructions']:12} {one['bodies']:6}  {one['name']}")


def _start(strategy: str, cache: str) -> dict[str, Any]:
    command = [sys.executable, "-c", _PROGRAM, strategy]
    environ = {**OPTIMISED, **os.environ, "MJBOT_CACHE": cache}
    done = subprocess.run(command, env=environ, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def work() -> None:
    """Play in this process and print what was compiled as JSON."""
    from numba.core import dispatcher

    functions: list[dict[str, Any]] = []
    inner_s = [0.0]
    compile_function = dispatcher._FunctionCompiler.compile

    def compile_and_count(self: Any, args: Any, return_type: Any) -> Any:
        inner_s.append(0.0)
        start_s = time.process_time()
        result = compile_function(self, args, return_type)
        spent_s = time.process_time() - start_s
        own_s = spent_s - inner_s.pop()
        inner_s[-1] += spent_s
        bodies = list(result.library.get_defined_functions())
        sizes = [sum(1 for block in body.blocks for _ in block.instructions) for body in bodies]
        functions.append(
            {
                "name": f"{self.py_func.__module__}.{self.py_func.__qualname__}",
                "seconds": own_s,
                "bodies": len(bodies),
                "instructions": sum(sizes),
            }
        )
        return result

    dispatcher._FunctionCompiler.compile = compile_and_count
    games = _play(sys.argv[1])
    print(json.dumps({"seconds": time.process_time(), "games": games, "functions": functions}))


def _play(strategy: str) -> list[int]:
    from mjbot.game.referee import Referee
    from mjbot.play.startup.warm_up import (
        NAMES,
        SEED,
        play_with_mirrors,
        warm_up_alone,
        warm_up_referee,
    )
    from mjbot.strategy.registry import Spec

    spec = Spec.read(strategy)
    warm_up_referee()
    warm_up_alone(spec.make(0))
    players = [spec.make(seat) for seat in range(4)]
    for seat, player in enumerate(players):
        player.start_game(seat, NAMES)
    referee = Referee(SEED, "tonpu")
    play_with_mirrors(players, referee)
    return [int(points) for points in referee.state["scores"]]
