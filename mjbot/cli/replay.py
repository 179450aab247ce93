"""``mjbot replay FILE...``: recorded games, strictly against the rules."""

import argparse
import sys
from pathlib import Path

from mjbot import exit_codes
from mjbot.cli.record_files import MissingRecordError, find_sources, report, with_progress
from mjbot.records.errors import EmptyRecordError, RecordError
from mjbot.records.replay import MismatchError, Tally, replay
from mjbot.records.sources import Source, games_of
from mjbot.records.wording import counted
from protocol.plain_text import one_line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "files",
        nargs="+",
        type=Path,
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
    """Replay and report; FAILED if a game does not match or a file is damaged."""
    try:
        sources, damaged = find_sources(args.files)
    except MissingRecordError as error:
        report(str(error))
        return exit_codes.UNREACHABLE
    replayer = _Replayer(keep_going=args.keep_going, strict=not args.lenient)
    replayer.damaged = damaged
    for source in with_progress(sources, "replaying"):
        replayer.replay_source(source)
        if replayer.mismatches and not args.keep_going:
            break
    print(replayer.summary())
    return exit_codes.FAILED if replayer.mismatches or replayer.damaged else exit_codes.OK


class _Replayer:
    def __init__(self, keep_going: bool, strict: bool) -> None:
        self._keep_going = keep_going
        self._strict = strict
        self._tally = Tally()
        self.mismatches = 0
        self.damaged = 0

    def replay_source(self, source: Source) -> None:
        """Replay the games of one file as far as they go."""
        try:
            for game in games_of(source):
                try:
                    replay(game, self._tally, self._strict)
                except MismatchError as mismatch:
                    self.mismatches += 1
                    print(one_line(mismatch), file=sys.stderr)
                    if not self._keep_going:
                        return
        except EmptyRecordError as error:
            report(str(error))
        except (RecordError, OSError) as error:
            self.damaged += 1
            report(f"damaged: {error}")

    def summary(self) -> str:
        """Say what was replayed and whether it held."""
        verdict = counted(self.mismatches, "mismatch") if self.mismatches else "no mismatch"
        if not self._strict:
            verdict = "played on past what did not fit"
        damaged = f", {counted(self.damaged, 'damaged file')}" if self.damaged else ""
        return f"{self._tally}: {verdict}{damaged}"
