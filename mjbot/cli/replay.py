"""``mjbot replay FILE...``: recorded games, strictly against the rules."""

import argparse
import sys
from collections import Counter
from pathlib import Path

from mjbot import exit_codes
from mjbot.cli.record_files import (
    Losses,
    MissingRecordError,
    Named,
    find_sources,
    with_progress,
)
from mjbot.records.errors import RecordError
from mjbot.records.other_formats import record_path
from mjbot.records.replay import MismatchError, Tally, replay
from mjbot.records.sources import Source, games_of
from mjbot.records.wording import counted
from protocol.plain_text import one_line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "files",
        nargs="+",
        type=record_path,
        metavar="FILE",
        help="mjson, jsonl or mjlog, also gzipped; a zip or folder of them (of a folder, runs/"
        " only where it is named)",
    )
    parser.add_argument(
        "--keep-going", action="store_true", help="after a mismatch go on with the next game"
    )
    parser.add_argument(
        "--lenient", action="store_true", help="log what the table doubts and play on"
    )


def run(args: argparse.Namespace) -> int:
    """Replay and report; FAILED if a game does not match or a file holds none."""
    losses = Losses("replay")
    try:
        sources = find_sources(args.files, losses)
    except MissingRecordError as error:
        losses.tell(str(error))
        return exit_codes.UNREACHABLE
    replayer = _Replayer(losses, keep_going=args.keep_going, strict=not args.lenient)
    for named in with_progress(sources, "replaying"):
        replayer.replay_source(named)
        if replayer.mismatches and not args.keep_going:
            break
    else:
        losses.add_paths_without_games(args.files, replayer.games)
    print(replayer.summary())
    return exit_codes.FAILED if replayer.mismatches or losses else exit_codes.OK


class _Replayer:
    """``games`` counts those of each path that the user named."""

    def __init__(self, losses: Losses, *, keep_going: bool, strict: bool) -> None:
        self._losses = losses
        self._keep_going = keep_going
        self._strict = strict
        self._tally = Tally()
        self.games: Counter[Path] = Counter()
        self.mismatches = 0

    def replay_source(self, named: Named) -> None:
        """Replay the games of one file as far as they go."""
        before = self._tally.games
        try:
            self._replay_games(named.source)
        except RecordError as error:
            self._losses.add(named.path, error)
        self.games[named.path] += self._tally.games - before

    def _replay_games(self, source: Source) -> None:
        for game in games_of(source):
            try:
                replay(game, self._tally, self._strict)
            except MismatchError as mismatch:
                self.mismatches += 1
                print(one_line(mismatch), file=sys.stderr)
                if not self._keep_going:
                    return

    def summary(self) -> str:
        """Say what was replayed and whether it held."""
        verdict = counted(self.mismatches, "mismatch") if self.mismatches else "no mismatch"
        if not self._strict:
            verdict = "played on past what did not fit"
        if not self._tally.games:
            verdict = "nothing to check"
        return f"{self._tally}: {verdict}{self._losses}"
