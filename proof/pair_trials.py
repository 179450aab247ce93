"""What goes wrong in the games of ``proof pair-failures``, and what is made of it."""

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

TOP, PARTNER = 0, 1
FAILURES: Final = ("kill top", "kill partner", "cut", "cut for good")
DELAYS: Final = ("stop top", "stop partner", "stall")
LATEST_EVENT: Final = 500
"""A tonpu game has 290 to 1,270 events, half of them more than 530; where it ends before its
moment, it is played again."""

RESULTS: Final = "trials.jsonl"
BAD_OUTPUT: Final = ("Traceback", "failed with", "not legal", "not ready in time", "ERROR")
GONE: Final = "the partner is gone"
THERE: Final = "the partner is there"


@dataclass
class PairTrial:
    """The failure of a game, and its effects; ``problems`` must be empty.

    ``linked`` are the two that were linked when it failed.
    """

    number: int
    kind: str
    event: int
    delay_ms: float
    game_seed: int = 0
    done: bool = False
    linked: list[int] = field(default_factory=list)
    kyoku: str = ""
    log: str = ""
    events: int = 0
    scores: tuple[int, ...] = ()
    notes: list[str] = field(default_factory=list)
    decisions_ms: list[float] = field(default_factory=list)
    waits: int = 0
    problems: list[str] = field(default_factory=list)


def plan(times: int, stops: int, seed: int) -> list[PairTrial]:
    """Return what is to go wrong, and when."""
    trials = []
    for number in range(times + stops):
        kinds, index = (FAILURES, number) if number < times else (DELAYS, number - times)
        dice = random.Random(f"{seed} {number}")
        moment = dice.randint(1, LATEST_EVENT), dice.uniform(0, 20)
        trials.append(PairTrial(number, kinds[index % len(kinds)], *moment))
    return trials


def read(file: Path) -> list[PairTrial]:
    """Return the trials of a results file, each once."""
    if not file.exists():
        return []
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [PairTrial(**row) for row in {row["number"]: row for row in rows}.values()]


def problems_in_output(trial: PairTrial, output: Mapping[int, str]) -> Iterator[str]:
    """Yield what is missing in the output of the players, or must not be in it."""
    for player, text in output.items():
        yield from (f"player {player + 1} logged {bad!r}" for bad in BAD_OUTPUT if bad in text)
    struck = trial.kind.removeprefix("kill ")
    for player, name in ((TOP, "top"), (PARTNER, "partner")):
        survives = trial.kind in FAILURES and struck != name
        if survives and player in trial.linked and GONE not in output[player]:
            yield f"the {name} did not log that {GONE}"
    if trial.kind.startswith("kill") and not any("SIGKILL" in note for note in trial.notes):
        yield "no player logged the death"


def report(trials: Sequence[PairTrial]) -> Iterator[str]:
    """Yield a line per kind, and what went wrong."""
    for kind, n in Counter(trial.kind for trial in trials).items():
        mine = [trial for trial in trials if trial.kind == kind]
        times = sorted(ms for trial in mine for ms in trial.decisions_ms)
        fine = sum(not trial.problems for trial in mine)
        p99 = times[int(0.99 * len(times))] if times else 0.0
        waits = sum(trial.waits for trial in mine)
        yield (
            f"{kind}: {fine} of {n} games ended by the rules; {len(times)} decisions,"
            f" 99 % within {p99:.1f} ms, the longest {times[-1] if times else 0:.1f} ms,"
            f" {waits} waited for the partner's message"
        )
    for trial in trials:
        for problem in trial.problems:
            yield f"trial {trial.number} ({trial.kind}, event {trial.event}): {problem}"
