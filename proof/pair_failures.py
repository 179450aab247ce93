"""Proof that a pair's game ends by the rules whatever happens to a bot or to the channel.

Real processes over real sockets, put together as ``mjbot duo`` does it; the channel goes through
a relay of ours.  In every game one thing goes wrong at a random moment.
"""

import argparse
import asyncio
import json
import os
import signal
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from mjbot.play.match.pair import PairChannel, make_members, private_channel
from mjbot.play.match.player_processes import log_file
from mjbot.play.match.players import read_players
from mjbot.play.match.run import MatchSettings, Watcher, play_match
from mjbot.play.server.core import OnFault
from mjbot.play.server.lobby import TableRules
from mjbot.play.server.server import GameResult
from mjbot.protocol.messages import EndGame, Event, StartGame, StartKyoku
from mjbot.strategy.registry import Spec
from proof.channel_relay import ChannelRelay
from proof.pair_trials import (
    GONE,
    PARTNER,
    RESULTS,
    THERE,
    TOP,
    PairTrial,
    plan,
    problems_in_output,
    read,
    report,
)
from proof.remains import replay_problems

STOP_S: Final = 1.0
SILENCE_S: Final = 120.0
JOIN_S: Final = 600.0
"""A first start compiles."""


@dataclass(frozen=True)
class AtTable:
    """The pair, the two others, and the seed of the first game's walls."""

    roles: tuple[Spec, Spec] = (Spec.read("yaku-evaluation"), Spec.read("combo-partner"))
    rivals: tuple[str, str] = ("fast-riichi-a", "fast-riichi-a")
    seed: int = 0


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


async def play(trials: Sequence[PairTrial], table: AtTable, folder: Path) -> None:
    """Play one game per trial, one more for each trial whose moment is too late."""
    with private_channel() as channel:
        assert isinstance(channel.address, Path)
        front = channel.address.with_name("relay")
        async with ChannelRelay(front, channel.address) as relay:
            await _Trials(trials, table, folder, relay).play(channel, front)


class _AllDoneError(Exception):
    pass


class _Trials:
    def __init__(
        self, trials: Sequence[PairTrial], table: AtTable, folder: Path, relay: ChannelRelay
    ) -> None:
        self._waiting = list(reversed(trials))
        self._trial = self._waiting.pop()
        self._table: Final = table
        self._folder: Final = folder
        self._relay: Final = relay
        self._pids: dict[int, int] = {}
        self._begins: dict[int, int] = {}  # where the output of each player's process begins
        self._read_bytes: dict[Path, int] = {}
        self._count = 0
        self._kyoku = ""
        self._deed: asyncio.Task[None] | None = None
        self._ended: GameResult | None = None
        self._hung = False
        self._loop = asyncio.get_running_loop()
        self._alarm: asyncio.TimerHandle | None = None  # set from the first game on

    async def play(self, channel: PairChannel, front: Path) -> None:
        timings = [("--timings", str(self._timings(player))) for player in (TOP, PARTNER)]
        roles, relayed = self._table.roles, PairChannel(front, channel.secret)
        top, _ = make_members("mjbot", roles, channel, timings)
        _, partner = make_members("mjbot", roles, relayed, timings)
        players = (top, partner, *read_players(list(self._table.rivals)))
        rules = TableRules(
            seed=self._table.seed, rules="tonpu", timeout_s=10.0, on_fault=OnFault.DEFAULT
        )
        settings = MatchSettings(
            rules=rules, games=1_000_000, folder=self._folder, join_timeout_s=JOIN_S
        )
        watcher = Watcher(self._on_event, self._on_result, self._on_start, self._on_note)
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
            self._close()  # by now all output of the game before is written
            self._count = 0
        if isinstance(event, StartKyoku):
            self._kyoku = f"{event.bakaze}{event.kyoku}-{event.honba}"
        self._count += 1
        if self._count == self._trial.event and not isinstance(event, EndGame):
            self._deed = self._loop.create_task(self._strike(self._trial))

    def _on_start(self, player: int, pid: int) -> None:
        self._pids[player] = pid
        self._begins[player] = log_file(self._folder, player).stat().st_size

    def _on_note(self, text: str) -> None:
        self._trial.notes.append(text)

    async def _strike(self, trial: PairTrial) -> None:
        await asyncio.sleep(trial.delay_ms / 1000)
        trial.kyoku, trial.done = self._kyoku, True
        trial.linked = [player for player in (TOP, PARTNER) if self._is_linked(player)]
        verb, _, what = trial.kind.partition(" ")
        player = PARTNER if what == "partner" else TOP
        match verb:
            case "kill":
                os.kill(self._pids[player], signal.SIGKILL)
            case "cut":
                self._relay.cut(for_good=what == "for good")
            case "stop":
                os.kill(self._pids[player], signal.SIGSTOP)
                await asyncio.sleep(STOP_S)
                os.kill(self._pids[player], signal.SIGCONT)
            case "stall":
                self._relay.stall()

    # --- after it ----------------------------------------------------------------------------

    def _on_result(self, result: GameResult) -> None:
        self._ended = result
        self._relay.mend()
        if not self._trial.done and self._deed is not None:
            self._deed.cancel()

    def _close(self) -> None:
        """Judge the game that has ended, and turn to the next trial; before the first, nothing."""
        result, trial, output = self._ended, self._trial, self._new_output()
        trial.decisions_ms, trial.waits = self._new_timings()
        if result is None:  # what a run before this one left in the folder has now been read
            return
        if not trial.done:  # the game was over before anything went wrong
            trial.event = 1 + trial.event % max(1, self._count - 1)
            return
        trial.game_seed = self._table.seed + result.game
        trial.events, trial.scores = self._count, result.scores
        trial.log = result.log.name if result.log else ""
        trial.problems = [*self._check_game(result), *problems_in_output(trial, output)]
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
        for fault in result.faults:
            if fault.kind != "absent":  # killed on purpose
                yield f"fault of seat {fault.seat}: {fault.text}"
        if sum(result.scores) != 100_000:
            yield f"scores {result.scores}"
        assert result.log is not None
        yield from replay_problems(result.log)

    def _new_timings(self) -> tuple[list[float], int]:
        """Return how long the last game's decisions took, and how many waited for a message."""
        text = "".join([self._new_text(self._timings(player)) for player in (TOP, PARTNER)])
        rows = [line.split() for line in text.splitlines()]
        return [float(row[0]) for row in rows], sum(int(row[1]) for row in rows)

    def _is_linked(self, player: int) -> bool:
        """Whether the last line of a player's process about its partner reports it as linked."""
        data = log_file(self._folder, player).read_bytes()[self._begins[player] :]
        return data.rfind(THERE.encode()) > data.rfind(GONE.encode())

    def _new_output(self) -> dict[int, str]:
        return {player: self._new_text(log_file(self._folder, player)) for player in range(4)}

    def _new_text(self, file: Path) -> str:
        """Return what has been written since the last call."""
        if not file.exists():
            return ""
        text = file.read_bytes()[self._read_bytes.get(file, 0) :]
        self._read_bytes[file] = self._read_bytes.get(file, 0) + len(text)
        return text.decode("utf-8", "replace")

    def _timings(self, player: int) -> Path:
        return self._folder / f"timings-{('top', 'partner')[player]}.txt"
