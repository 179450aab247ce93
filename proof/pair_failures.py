"""Proof that a pair's game ends by the rules whatever happens to a bot or to the channel.

Real processes over real sockets, put together as ``mjbot duo`` does it; the channel goes through
a relay of ours.  In every game one thing goes wrong at a random moment.
"""

import argparse
import asyncio
import json
import os
import random
import signal
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from mjbot.duo.members import Channel, Role, make_members, private_channel
from mjbot.match.players import read_players
from mjbot.match.run import MatchSettings, Watcher, play_match
from mjbot.records.errors import RecordError
from mjbot.records.replay import MismatchError, Tally, replay
from mjbot.records.sources import games_of, list_sources
from mjbot.server.core import OnFault
from mjbot.server.server import GameResult
from mjbot.server.table_rules import TableRules
from proof.channel_relay import ChannelRelay
from protocol.messages import EndGame, Event, StartGame, StartKyoku

FAILURES: Final = ("kill top", "kill partner", "cut", "cut for good")
DELAYS: Final = ("stop top", "stop partner", "stall")
TOP, PARTNER = 0, 1
LATEST_EVENT: Final = 500
"""A tonpu game has 350 to 900 events; where it ends before its moment, it is played again."""

STOP_S: Final = 1.0
SILENCE_S: Final = 120.0
JOIN_S: Final = 600.0
"""A first start compiles."""

RESULTS: Final = "trials.jsonl"
BAD_WORDS: Final = ("Traceback", "failed with", "not legal", "not ready in time", "ERROR")
GONE: Final = "the partner is gone"


@dataclass(frozen=True)
class AtTable:
    """The pair, the two others, and the seed of the first game's walls."""

    roles: tuple[Role, Role] = (Role("yaku-evaluation"), Role("combo-partner"))
    rivals: tuple[str, str] = ("fast-riichi-a", "fast-riichi-a")
    seed: int = 0


@dataclass
class Trial:
    """What went wrong in a game, and what came of it; ``problems`` must be empty."""

    number: int
    kind: str
    event: int
    delay_ms: float
    game_seed: int = 0
    done: bool = False
    kyoku: str = ""
    log: str = ""
    events: int = 0
    scores: tuple[int, ...] = ()
    notes: list[str] = field(default_factory=list)
    decisions_ms: list[float] = field(default_factory=list)
    waits: int = 0
    problems: list[str] = field(default_factory=list)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof pair-failures``."""
    parser.add_argument("--times", type=int, default=200, help="kills and cuts (200)")
    parser.add_argument("--stops", type=int, default=30, help="stopped bots, stalled channels (30)")
    parser.add_argument("--seed", type=int, default=2017)
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("logs", "runs", "pair-failures"),
        help="folder of this run; what it holds already is not played again",
    )


def run(args: argparse.Namespace) -> int:
    """Play what is missing, print what happened, return 1 if a trial had a problem."""
    args.out.mkdir(parents=True, exist_ok=True)
    results = args.out / RESULTS
    planned = plan(args.times, args.stops, args.seed)
    known = {trial.number for trial in read(results)}
    missing = [trial for trial in planned if trial.number not in known]
    if missing:
        table = AtTable(seed=args.seed + 10_000 * len(known))
        asyncio.run(play(missing, table, args.out))
    wanted = {trial.number for trial in planned}
    trials = [trial for trial in read(results) if trial.number in wanted]
    for line in report(trials):
        print(line)
    return int(len(trials) < len(planned) or any(trial.problems for trial in trials))


def plan(times: int, stops: int, seed: int) -> list[Trial]:
    """Return what is to go wrong, and when."""
    trials = []
    for number in range(times + stops):
        kinds, place = (FAILURES, number) if number < times else (DELAYS, number - times)
        dice = random.Random(f"{seed} {number}")
        moment = dice.randint(1, LATEST_EVENT), dice.uniform(0, 20)
        trials.append(Trial(number, kinds[place % len(kinds)], *moment))
    return trials


def read(file: Path) -> list[Trial]:
    """Return the trials of a results file, each once."""
    if not file.exists():
        return []
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [Trial(**row) for row in {row["number"]: row for row in rows}.values()]


async def play(trials: Sequence[Trial], table: AtTable, folder: Path) -> None:
    """Play one game per trial, one more for each whose moment comes too late."""
    with private_channel() as channel:
        assert isinstance(channel.place, Path)
        front = channel.place.with_name("relay")
        async with ChannelRelay(front, channel.place) as relay:
            await _Trials(trials, table, folder, relay).play(channel, front)


class _AllDoneError(Exception):
    pass


class _Trials:
    def __init__(
        self, trials: Sequence[Trial], table: AtTable, folder: Path, relay: ChannelRelay
    ) -> None:
        self._waiting = list(reversed(trials))
        self._trial = self._waiting.pop()
        self._table: Final = table
        self._folder: Final = folder
        self._relay: Final = relay
        self._pids: dict[int, int] = {}
        self._said_bytes: dict[Path, int] = {}
        self._count = 0
        self._kyoku = ""
        self._deed: asyncio.Task[None] | None = None
        self._ended: GameResult | None = None
        self._hung = False
        self._loop = asyncio.get_running_loop()
        self._alarm: asyncio.TimerHandle | None = None  # set from the first game on

    async def play(self, channel: Channel, front: Path) -> None:
        timings = [("--timings", str(self._timings(place))) for place in (TOP, PARTNER)]
        roles, relayed = self._table.roles, Channel(front, channel.secret)
        top, _ = make_members("mjbot", roles, channel, timings)
        _, partner = make_members("mjbot", roles, relayed, timings)
        players = (top, partner, *read_players(list(self._table.rivals)))
        rules = TableRules(
            seed=self._table.seed, length="tonpu", timeout_s=10.0, on_fault=OnFault.DEFAULT
        )
        settings = MatchSettings(
            rules=rules, games=1_000_000, folder=self._folder, join_timeout_s=JOIN_S
        )
        watcher = Watcher(self._on_event, self._on_result, self._pids.__setitem__, self._on_note)
        self._main = asyncio.current_task()
        try:
            await play_match(settings, players, watcher)
        except _AllDoneError:
            pass
        except asyncio.CancelledError:
            if not self._hung:
                raise
            self._trial.problems.append(f"hang: nothing happened for {SILENCE_S:g} s")
            self._save()
        finally:
            self._hush()

    def _hush(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()

    def _give_up(self) -> None:
        self._hung = True
        if self._main is not None:
            self._main.cancel()

    # --- while a game is played --------------------------------------------------------------

    def _on_event(self, game: int, event: Event) -> None:
        self._hush()
        self._alarm = self._loop.call_later(SILENCE_S, self._give_up)
        if isinstance(event, StartGame):
            self._close()  # by now all have said what there was to say of the game before
            self._count = 0
        if isinstance(event, StartKyoku):
            self._kyoku = f"{event.bakaze}{event.kyoku}-{event.honba}"
        self._count += 1
        if self._count == self._trial.event and not isinstance(event, EndGame):
            self._deed = self._loop.create_task(self._strike(self._trial))

    def _on_note(self, text: str) -> None:
        self._trial.notes.append(text)

    async def _strike(self, trial: Trial) -> None:
        await asyncio.sleep(trial.delay_ms / 1000)
        trial.kyoku, trial.done = self._kyoku, True
        verb, _, what = trial.kind.partition(" ")
        place = PARTNER if what == "partner" else TOP
        match verb:
            case "kill":
                os.kill(self._pids[place], signal.SIGKILL)
            case "cut":
                self._relay.cut(for_good=what == "for good")
            case "stop":
                os.kill(self._pids[place], signal.SIGSTOP)
                await asyncio.sleep(STOP_S)
                os.kill(self._pids[place], signal.SIGCONT)
            case "stall":
                self._relay.stall()

    # --- after it ----------------------------------------------------------------------------

    def _on_result(self, result: GameResult) -> None:
        self._ended = result
        if not self._trial.done and self._deed is not None:
            self._deed.cancel()

    def _close(self) -> None:
        """Judge the game that has ended, and turn to the next trial; before the first, nothing."""
        self._relay.mend()
        result, trial, words = self._ended, self._trial, self._new_words()
        if result is None:
            return
        trial.decisions_ms, trial.waits = self._new_timings()
        if not trial.done:  # the game was over before anything went wrong
            trial.event = 1 + trial.event % max(1, self._count - 1)
            return
        trial.game_seed = self._table.seed + result.game
        trial.events, trial.scores = self._count, result.scores
        trial.log = result.log.name if result.log else ""
        trial.problems = [*self._check_game(result), *problems_in_words(trial, words)]
        self._save()
        if not self._waiting:
            raise _AllDoneError
        self._trial = self._waiting.pop()

    def _save(self) -> None:
        trial = self._trial
        with (self._folder / RESULTS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(trial)) + "\n")
        verdict = "; ".join(trial.problems) or "ok"
        text = f"{trial.number:3} {trial.kind:12} {trial.kyoku} event {trial.event}: {verdict}"
        print(text, flush=True)

    def _check_game(self, result: GameResult) -> Iterator[str]:
        """Yield what is wrong with how the game ended."""
        if result.void:
            yield "the game is void"
        yield from (f"fault of seat {fault.seat}: {fault.text}" for fault in result.faults)
        if sum(result.scores) != 100_000:
            yield f"scores {result.scores}"
        assert result.log is not None
        tally = Tally()
        try:
            for source in list_sources(result.log):
                for game in games_of(source):
                    replay(game, tally)
        except (MismatchError, RecordError) as error:
            yield f"replay: {error}"
        if (tally.games, tally.unfinished) != (1, 0):
            yield f"the log holds {tally}"

    def _new_timings(self) -> tuple[list[float], int]:
        """Return how long the last game's decisions took, and how many waited for a word."""
        text = "".join([self._new_text(self._timings(place)) for place in (TOP, PARTNER)])
        rows = [line.split() for line in text.splitlines()]
        return [float(row[0]) for row in rows], sum(int(row[1]) for row in rows)

    def _new_words(self) -> dict[int, str]:
        files = [self._folder / f"player-{place + 1}.txt" for place in range(4)]
        return {place: self._new_text(file) for place, file in enumerate(files)}

    def _new_text(self, file: Path) -> str:
        """Return what has been written since the last look."""
        if not file.exists():
            return ""
        text = file.read_bytes()[self._said_bytes.get(file, 0) :]
        self._said_bytes[file] = self._said_bytes.get(file, 0) + len(text)
        return text.decode("utf-8", "replace")

    def _timings(self, place: int) -> Path:
        return self._folder / f"timings-{('top', 'partner')[place]}.txt"


def problems_in_words(trial: Trial, words: Mapping[int, str]) -> Iterator[str]:
    """Yield what is missing in what the players said, or should not be there."""
    for place, text in words.items():
        yield from (f"player {place + 1} said {bad!r}" for bad in BAD_WORDS if bad in text)
    struck = trial.kind.removeprefix("kill ")
    for place, name in ((TOP, "top"), (PARTNER, "partner")):
        if trial.kind in FAILURES and struck != name and GONE not in words[place]:
            yield f"the {name} did not say that {GONE}"
    if trial.kind.startswith("kill") and not any("SIGKILL" in note for note in trial.notes):
        yield "nobody noted the death"


def report(trials: Sequence[Trial]) -> Iterator[str]:
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
            f" {waits} waited for the partner's word"
        )
    for trial in trials:
        for problem in trial.problems:
            yield f"trial {trial.number} ({trial.kind}, event {trial.event}): {problem}"
