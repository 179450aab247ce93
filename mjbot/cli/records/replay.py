"""``mjbot replay FILE...``: recorded games, strictly against the rules.

:func:`find_sources` and :func:`files_progress` serve the other commands that read recorded games.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from mjbot.cli.arguments import language_option, record_rules_option
from mjbot.game.records.evidence import MOST_KEPT, Reply, evidence_path, read_evidence
from mjbot.game.records.game import (
    EmptyRecordError,
    ForeignRecordError,
    Game,
    IncompleteGameError,
    RecordError,
    UnwrittenGameError,
    hand_problems,
    rules_text,
)
from mjbot.game.records.other_formats import record_path
from mjbot.game.records.replay import MismatchError, OlderRulesError, ReplaySummary, replay
from mjbot.game.records.sources import Source, games_of, join_hands, list_sources
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.rules import Rules
from mjbot.runtime.errors import ExitCode
from mjbot.runtime.languages import marked, translate, translate_count
from mjbot.runtime.progress import Step, progress
from mjbot.runtime.requests import argument, option


class Named(NamedTuple):
    """A file of records, and the path at which the user named it."""

    path: Path
    source: Source


class Losses:
    """Reports files and games that were passed over, and counts them.

    True if anything was lost: a damaged file, one of another kind, a game that cannot be shown
    whole, a hand that cannot be read, or a path without any game.
    """

    def __init__(self, command: str) -> None:
        self._command = command
        self._damaged: set[str] = set()
        self._foreign: set[str] = set()
        self._incomplete = self._unwritten = self._without_games = self._hands = 0
        self._reported: set[Path] = set()
        self.joined: set[Path] = set()
        """Paths of hands that belong to the game at another path."""
        self._rules: set[str] = set()

    def __bool__(self) -> bool:
        games = self._damaged or self._foreign or self._incomplete or self._without_games
        return bool(games or self._unwritten or self._hands)

    def __str__(self) -> str:
        """Return the end of a summary: ``", 1 damaged file, 2 files of another kind"``."""
        counts = (
            (len(self._damaged), marked("{n} damaged file"), "{n} damaged files"),
            (
                len(self._foreign),
                marked("{n} file of another kind"),
                "{n} files of another kind",
            ),
            (
                self._incomplete,
                marked("{n} game that cannot be shown whole"),
                "{n} games that cannot be shown whole",
            ),
            (
                self._unwritten,
                marked("{n} game under a name that cannot be written"),
                "{n} games under a name that cannot be written",
            ),
            (
                self._hands,
                marked("{n} hand that cannot be read"),
                "{n} hands that cannot be read",
            ),
        )
        parts = [translate_count(one, many, n) for n, one, many in counts if n]
        return "".join(f"{translate(', ')}{part}" for part in parts)

    def add(self, path: Path, error: RecordError, file: str = "") -> None:
        """Report what is wrong at a path that the user named; ``file`` is where, if it was read.

        An empty file among games is no loss.
        """
        self._reported.add(path)
        prefix = ""
        if isinstance(error, ForeignRecordError):
            self._foreign.add(file or error.name)
        elif isinstance(error, IncompleteGameError):
            self._incomplete += 1
        elif isinstance(error, UnwrittenGameError):
            self._unwritten += 1
        elif not isinstance(error, EmptyRecordError):
            self._damaged.add(file or error.name)
            prefix = translate("damaged: ")
        self.report(f"{prefix}{error}")

    @contextmanager
    def noting(self, named: Named) -> Iterator[None]:
        """Report a :class:`RecordError` raised inside, and continue after it."""
        try:
            yield
        except RecordError as error:
            self.add(named.path, error, named.source.name)

    def add_hands(self, game: Game) -> None:
        """Report of a game that was walked its rules, if they are new here, and its bad hands."""
        if (rules := game.hands.rules) not in ("", *self._rules):
            self._rules.add(rules)
            self.report(one_line(rules_text(rules, game.name)))
        for problem in hand_problems(game):
            self.report(one_line(problem.text))
            self._hands += problem.is_loss

    def add_paths_without_games(self, paths: Iterable[Path], games: Counter[Path]) -> None:
        """Report the paths at which there was no game, unless the reason was reported."""
        for path in paths:
            if not games[path] and path not in self.joined:
                self._without_games += 1
                if path not in self._reported:
                    self.report(translate("{file}: holds no game", file=path))

    def report(self, problem: str) -> None:
        """Print one line."""
        print(f"mjbot {self._command}: {problem}", file=sys.stderr)


def find_sources(paths: Iterable[Path], losses: Losses, rules: Rules | None = None) -> list[Named]:
    """List the files of records at ``paths``; a path that is damaged or empty is reported.

    ``rules`` replace those of the games.

    Raises ``OSError`` for a path that cannot be opened.
    """
    sources: list[Named] = []
    for path in paths:
        try:
            sources += [Named(path, source) for source in list_sources(path, rules)]
        except RecordError as error:
            losses.add(path, error)
    games = [*zip(sources, join_hands([each.source for each in sources]), strict=True)]
    losses.joined |= {named.path for named, game in games if game is None}
    return [Named(named.path, game) for named, game in games if game]


def readable_games(named: Named, losses: Losses) -> Iterator[Game]:
    """Yield the games of a file as far as they can be found; a bad end is reported."""
    with losses.noting(named):
        yield from games_of(named.source, players=(3, 4))


def files_progress(sources: list[Named], doing: str) -> AbstractContextManager[Step]:
    """Show the progress: a step is a file, and the notes count the games."""
    return progress(Console(stderr=True), doing, len(sources), marked("files"))


@dataclass(frozen=True, kw_only=True)
class ReplayRequest:
    """What ``mjbot replay`` is asked for."""

    files: tuple[Path, ...] = argument(
        "mjai lines, mjlog, tenhou.net/6 JSON or decoded records of Mahjong Soul, also gzipped; a"
        " zip or folder of them"
        " (of a folder, runs/ only where it is named)",
        nargs="+",
        type=record_path,
        metavar="FILE",
    )
    keep_going: bool = option(False, "continue with the next game after a mismatch")
    lenient: bool = option(False, "log what contradicts the table and continue")
    rules: Rules | None = record_rules_option()
    replies: bool = option(
        False, "print every reply in a game's evidence (default: those not accepted)"
    )
    language: str | None = language_option()


def run(request: ReplayRequest) -> int:
    """Replay and report; FAILED if a game does not match or a file holds none."""
    losses = Losses("replay")
    sources = find_sources(request.files, losses, request.rules)
    replayer = _Replayer(losses, keep_going=request.keep_going, strict=not request.lenient)
    with files_progress(sources, marked("replaying")) as step:
        for named in sources:
            replayer.replay_source(named, step)
            _show_evidence(named.source, losses, every=request.replies)
            if replayer.is_over:
                break
            step()
    if not replayer.is_over:
        losses.add_paths_without_games(request.files, replayer.games)
    print(replayer.summary())
    return ExitCode.FAILED if replayer.mismatches or losses else ExitCode.OK


def _show_evidence(source: Source, losses: Losses, *, every: bool) -> None:
    """Print the raw replies of the players in a game of ``mjbot serve --evidence``."""
    path = evidence_path(source.path)
    if source.member is not None or path == source.path or not path.is_file():
        return
    counts: Counter[str] = Counter()
    try:
        for reply in read_evidence(path):
            counts[reply.verdict] += 1
            if every or reply.verdict != "accepted":
                print(one_line(_format_reply(reply)))
    except RecordError as error:
        losses.add(path, error)
    counted = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
    counted = counted or translate("no reply")
    print(one_line(f"{path}: {counted}"))


def _format_reply(reply: Reply) -> str:
    reply_text = "nothing" if reply.raw is None else reply.raw
    cut = f" ... ({reply.bytes} bytes)" if len(reply_text) == MOST_KEPT else ""
    why = f": {reply.why}" if reply.why else ""
    where = f"line {reply.line}, seat {reply.seat}, {reply.at}, after {reply.took_ms:g} ms"
    return f"{where}: {reply.verdict}{why}; sent {reply_text}{cut}"


class _Replayer:
    """``games`` counts those of each path that the user named."""

    def __init__(self, losses: Losses, *, keep_going: bool, strict: bool) -> None:
        self._losses = losses
        self._keep_going = keep_going
        self._strict = strict
        self._summary = ReplaySummary()
        self.games: Counter[Path] = Counter()
        self.mismatches = 0
        self.older = 0

    @property
    def is_over(self) -> bool:
        """Whether a mismatch was the end of it."""
        return self.mismatches > 0 and not self._keep_going

    def replay_source(self, named: Named, step: Step) -> None:
        """Replay the games of one file as far as they go; after a bad one the others are."""
        before = self._summary.games
        self._replay_games(named, step)
        self.games[named.path] += self._summary.games - before

    def _replay_games(self, named: Named, step: Step) -> None:
        for game in readable_games(named, self._losses):
            try:
                with self._losses.noting(named):
                    replay(game, self._summary, self._strict)
                self._losses.add_hands(game)
            except OlderRulesError as older:
                self.older += 1
                print(one_line(older), file=sys.stderr)
            except MismatchError as mismatch:
                self.mismatches += 1
                print(one_line(mismatch), file=sys.stderr)
                if self.is_over:
                    return
            step(0, translate_count("{n} game", "{n} games", self._summary.games))

    def summary(self) -> str:
        """Report what was replayed and whether it was valid."""
        verdict = translate("no mismatch")
        if self.mismatches:
            verdict = translate_count("{n} mismatch", "{n} mismatches", self.mismatches)
        if self.older:
            verdict += translate(", ") + translate_count(
                "{n} game played under older rules",
                "{n} games played under older rules",
                self.older,
            )
        if not self._strict:
            verdict = translate("played on past what did not fit")
        if not self._summary.games:
            verdict = translate("nothing to check")
        return f"{self._summary}: {verdict}{self._losses}"
