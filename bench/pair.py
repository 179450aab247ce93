"""How long a decision of either bot of a pair takes, over two real processes and their channel.

The games are put together as ``mjbot duo`` does it: a table, two bots linked by a socket, two
opponents, each in a process of its own.  A decision's time is taken inside the bot's process,
from the line that asks to the line that answers: reading, the mirror of the table, hearing the
partner, choosing, telling the partner, writing.
"""

import asyncio
import os
import platform
import statistics
import tempfile
from pathlib import Path
from typing import Any

from bench.measure import processor
from mjbot.play.match.pair import make_members, private_channel
from mjbot.play.match.players import read_players
from mjbot.play.match.run import MatchSettings, Watcher, play_match
from mjbot.play.server.lobby import TableRules
from mjbot.strategy.pair.link import PATIENCE_MS
from mjbot.strategy.registry import Spec

ROLES = (Spec.read("yaku-evaluation"), Spec.read("combo-partner"))
RIVALS = ["fast-riichi-a", "fast-riichi-d"]
SEED = 2017
REQUIRED_P99_MS = 20.0


def report(rounds: int) -> dict[str, Any]:
    """Play ``rounds`` hanchan and return the times of each bot's decisions, in milliseconds."""
    load = os.getloadavg()
    with tempfile.TemporaryDirectory(prefix="mjbot-bench-") as name, private_channel() as channel:
        folder = Path(name)
        files = [folder / f"timings-{number}.txt" for number in (1, 2)]
        more = [("--timings", str(file)) for file in files]
        players = (*make_members("bench", ROLES, channel, more), *read_players(RIVALS))
        settings = MatchSettings(rules=TableRules(seed=SEED), games=rounds, folder=folder)
        results = asyncio.run(play_match(settings, players, Watcher()))
        assert not any(result.faults for result in results)
        rows = [file.read_text(encoding="ascii").splitlines() for file in files]
    bots = [_figures(role.name, lines) for role, lines in zip(ROLES, rows, strict=True)]
    return {
        "machine": {
            "processor": processor(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "load_before": list(load),
            "load_after": list(os.getloadavg()),
        },
        "hanchan": rounds,
        "seed": SEED,
        "opponents": RIVALS,
        "patience_ms": PATIENCE_MS,
        "results": [*bots, _figures("both", [line for lines in rows for line in lines])],
    }


def print_report(found: dict[str, Any]) -> None:
    """Print a report for people."""
    machine = found["machine"]
    load = machine["load_before"][0], machine["load_after"][0]
    print(f"{machine['processor']}, {machine['cores']} cores, Python {machine['python']}")
    print(f"{found['hanchan']} hanchan, seed {found['seed']}, load {load[0]:.1f} to {load[1]:.1f}")
    for row in found["results"]:
        verdict = "" if row["reached"] else f"  TOO SLOW (at most {REQUIRED_P99_MS:g} ms)"
        print(
            f"{row['name']:16} {row['decisions']:6} decisions: median {row['median_ms']:.2f} ms,"
            f" 99 % within {row['p99_ms']:.2f} ms, longest {row['max_ms']:.2f} ms,"
            f" {row['waited_percent']:.1f} % waited for a word{verdict}"
        )


def _figures(name: str, lines: list[str]) -> dict[str, Any]:
    rows = [line.split() for line in lines]
    times = sorted(float(row[0]) for row in rows)
    p99 = times[min(len(times) - 1, int(0.99 * len(times)))]
    return {
        "name": name,
        "decisions": len(times),
        "median_ms": statistics.median(times),
        "p99_ms": p99,
        "max_ms": times[-1],
        "waited_percent": 100 * sum(row[1] != "0" for row in rows) / len(rows),
        "required_p99_ms": REQUIRED_P99_MS,
        "reached": p99 <= REQUIRED_P99_MS,
    }
