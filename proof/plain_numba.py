"""Proof that mjbot plays the same with a numba that was not tried (``MJBOT_NUMBA=plain``).

Four of each strategy play a hanchan with numba's public options and one as usual, in processes of
their own, and must end with the same scores.  Then the tests of ``--tests`` run with the public
options.  Compiled code is kept in the usual cache, apart from other code: a first run takes some
minutes of processor, a later one seconds.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Final

from mjbot.runtime.compiler.numba_parts import PLAIN_VARIABLE
from mjbot.strategy.registry import built_in_names

_OPTIONS: Final = {"collusion-mc": "collusion-mc,budget_s=0.01"}
"""Of strategies that search for a second a decision."""

TESTS: Final = ("tests/game/rules", "tests/game/table", "tests/game/referee")

_PROGRAM: Final = """
import json, sys
from mjbot.runtime.compiler.numba_parts import IS_TRIED
from mjbot.game.referee import Referee
from mjbot.strategy.registry import Spec
from mjbot.play.startup.warm_up import NAMES, play_with_mirrors

for length, *names in map(json.loads, sys.argv[1:]):
    players = [Spec.read(name).make(seat) for seat, name in enumerate(names)]
    for seat, player in enumerate(players):
        player.start_game(seat, NAMES)
    referee = Referee(2026, length)
    play_with_mirrors(players, referee)
    print(json.dumps([IS_TRIED, referee.state["scores"].tolist()]), flush=True)
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof plain-numba``."""
    parser.add_argument(
        "strategies", nargs="*", default=built_in_names(), metavar="NAME",
        help="strategies to play (default: all that ship)",
    )  # fmt: skip
    parser.add_argument(
        "--tests", nargs="*", default=TESTS, metavar="PATH",
        help=f"tests to run (default: {' '.join(TESTS)})",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Play and test; return 1 if a game ended differently or a test failed."""
    names = [_OPTIONS.get(name, name) for name in args.strategies]
    games = [("hanchan", *[name] * 4) for name in names]
    wrong = 0
    outcomes = zip(names, scores(games, plain=True), scores(games, plain=False), strict=False)
    for name, plain, usual in outcomes:
        wrong += plain != usual
        print(f"{name}: {plain}{'' if plain == usual else f', as usual {usual}'}", flush=True)
        names = names[1:]
    for name in names:
        print(f"{name}: not played to the end")
    failed = args.tests and _pytest(args.tests)
    return 1 if wrong or names or failed else 0


def scores(games: Sequence[Sequence[str]], *, plain: bool) -> Iterator[list[int]]:
    """Yield the final scores of games (length and four players), played in one process.

    It ends early where the process does.
    """
    environ = {**os.environ, "NUMBA_OPT": "1", PLAIN_VARIABLE: "plain" if plain else ""}
    command = [sys.executable, "-P", "-c", _PROGRAM, *map(json.dumps, games)]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            is_tried, found = json.loads(line)
            assert is_tried != plain
            yield found


def _pytest(paths: Sequence[str]) -> int:
    environ = {**os.environ, PLAIN_VARIABLE: "plain"}
    command = [sys.executable, "-m", "pytest", "-n", "0", *paths]
    return subprocess.run(command, env=environ, check=False).returncode
