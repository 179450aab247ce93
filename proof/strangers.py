"""Every outside program that the package registries have, at our table, as our server, or as judge.

Packages that judge single hands and wins are asked by the tests of ``mjbot.game.rules``.
A party is one of these programs in one part: what it judges or plays, and how much.  Each runs in a
process of its own and prints one line when it is done; a difference or an error of either side is
printed beneath and makes the status 1, a party that cannot run here status 3.
"""

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from typing import Final

from mjbot.runtime.processors import worker_count
from proof.answers import Report

MOST_SHOWN: Final = 10


@dataclass(frozen=True)
class Party:
    """``part`` is what the program does; ``play(seed, report)`` lets it."""

    name: str
    part: str
    play: Callable[[int, Report], None]


def _riichienv_referee(seed: int, report: Report, players: int = 4) -> None:
    from mjbot.protocol.rules import Rules
    from proof.peer.lockstep import Lockstep

    for game in range(seed, seed + 100):
        Lockstep(game, report, rules=Rules(players=players)).play()


def _riichienv_server(seed: int, report: Report) -> None:
    from proof.foreign.riichienv_wire import play_at_riichienv

    play_at_riichienv(6, seed, report)


def _riichienv_client(seed: int, report: Report) -> None:
    from proof.foreign.riichienv_wire import play_at_ours

    play_at_ours(6, seed, report)


def _majiang_referee(seed: int, report: Report) -> None:
    from proof.foreign.majiang_records import replay_majiang_games

    replay_majiang_games(seed, 1, report)


def _majiang_player(seed: int, report: Report) -> None:
    from proof.foreign.majiang_records import play_majiang_at_ours

    play_majiang_at_ours(seed, report)


def _mjai_simulator(seed: int, report: Report) -> None:
    from proof.foreign.mjai_package import play_in_simulator

    play_in_simulator(report)


def _jansou_referee(seed: int, report: Report) -> None:
    from proof.foreign.jansou_records import replay_jansou_games

    replay_jansou_games(seed, 20, report)


def _jansou_judge(seed: int, report: Report) -> None:
    from proof.foreign.jansou_records import judge_our_wins

    judge_our_wins(seed, 10, report)


PARTIES: Final = (
    Party("majiang-core", "deals and judges its own AI; we replay", _majiang_referee),
    Party("majiang-ai", "plays at our table", _majiang_player),
    Party("mjai simulator", "deals to its example bots and to ours", _mjai_simulator),
    Party("RiichiEnv", "referees beside ours on equal walls", _riichienv_referee),
    Party("RiichiEnv", "referees three players", partial(_riichienv_referee, players=3)),
    Party("RiichiEnv", "serves our clients, with its own menus", _riichienv_server),
    Party("RiichiEnv", "joins our server, reading our offers", _riichienv_client),
    Party("jansou", "deals and judges its own agents; we replay", _jansou_referee),
    Party("jansou", "scores the wins at our table", _jansou_judge),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof strangers``."""
    parser.add_argument("--seed", type=int, default=0, help="of walls and choices (0)")
    parser.add_argument("--only", metavar="NAME", help="parties whose name or part holds this")
    parser.add_argument("--jobs", type=int, default=worker_count(), help="processes")


def run(args: argparse.Namespace) -> int:
    """Run the parties, print a line for each; return 0, 1 (differences) or 3 (one cannot run)."""
    wanted = args.only or ""
    indices = [i for i, party in enumerate(PARTIES) if wanted in f"{party.name} {party.part}"]
    if not indices:
        print(f"--only {wanted}: no party has this in its name or part")
        return 2
    statuses = []
    with ProcessPoolExecutor(args.jobs, max_tasks_per_child=1) as pool:
        running = {pool.submit(play, index, args.seed): PARTIES[index] for index in indices}
        for done in as_completed(running):
            statuses.append(_print(running[done], *done.result()))
    return max(statuses)


def play(index: int, seed: int) -> tuple[Report, str, float]:
    """Let a party play; return its report, why it cannot run here, and the seconds it took."""
    start, report, problem = time.monotonic(), Report(), ""
    try:
        PARTIES[index].play(seed, report)
    except (ImportError, OSError) as error:
        problem = f"{type(error).__name__}: {error}"
    except Exception as error:  # of whichever side: the game ended by it
        report.differences.append(f"{type(error).__name__}: {error}")
    return report, problem, time.monotonic() - start


def _print(party: Party, report: Report, problem: str, seconds: float) -> int:
    faults = len(report.differences)
    checked = ", ".join(f"{count:,} {what}" for what, count in _largest(report))
    outcome = problem or (f"{faults} faults" if faults else "no fault")
    print(f"{party.name} ({party.part}): {outcome}; {checked}; {seconds:.0f} s", flush=True)
    for difference in report.differences[:MOST_SHOWN]:
        print(f"    {difference[:400]}", flush=True)
    return 3 if problem else int(bool(faults))


def _largest(report: Report) -> list[tuple[str, int]]:
    """Return what was compared most, and whole games."""
    games = [(what, count) for what, count in report.agreed.items() if "hanchan" in what]
    return [*games, *(item for item in report.agreed.most_common(3) if item not in games)]
