"""``mjbot convert IN OUT``: Tenhou mjlog records to mjai lines."""

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from mjbot.cli.replay import Losses, find_sources, with_progress
from mjbot.errors import ArgumentError, ExitCode
from mjbot.interruption import stopping_between_steps
from mjbot.records.game import Game, RecordError
from mjbot.records.other_formats import record_path
from mjbot.records.sources import RECORD_ENDINGS, Source, games_of
from mjbot.records.writers import FILE_ENDINGS, GameWriter, open_writer, refusal
from mjbot.text import plural


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "source",
        type=record_path,
        metavar="IN",
        help="mjlog (or mjai log), also gzipped; a zip or folder of them",
    )
    parser.add_argument(
        "out",
        type=Path,
        metavar="OUT",
        help="a .zip, .jsonl.gz or .jsonl file to write, or a folder for one file per game",
    )


def run(args: argparse.Namespace) -> int:
    """Convert and count; FAILED if a file held no game (the others are converted)."""
    losses = Losses("convert")
    games: Counter[Path] = Counter()
    if problem := refusal(args.out):
        raise ArgumentError(problem)
    try:
        sources = find_sources([args.source], losses)
        with stopping_between_steps() as stop_if_signalled, open_writer(args.out) as writer:
            for path, source in with_progress(sources, "converting"):
                try:
                    for _ in _convert(source, _base_name(source, args.source), writer):
                        games[path] += 1
                        stop_if_signalled()
                except RecordError as error:
                    losses.add(path, error)
                stop_if_signalled()
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_kept(args.out, games.total())) from None
    losses.add_paths_without_games([args.source], games)
    skipped = f"{losses} skipped" if str(losses) else ""
    print(f"{plural(games.total(), 'game')} written to {args.out}{skipped}")
    return ExitCode.FAILED if losses else ExitCode.OK


def _kept(out: Path, games: int) -> str:
    if out.suffix.lower() in FILE_ENDINGS:
        return f"nothing is written: {out} appears when all is converted"
    return f"kept: {plural(games, 'game')} in {out}"


def _convert(source: Source, base: PurePosixPath, writer: GameWriter) -> Iterator[Game]:
    for count, game in enumerate(games_of(source), 1):
        name = base if count == 1 else base.with_name(f"{base.name}-{count}")
        if writer.write(name, (entry.event for entry in game.entries)):
            yield game


def _base_name(source: Source, root: Path) -> PurePosixPath:
    """Return the name of a source inside what the user named, without its endings."""
    inside = source.path.relative_to(root) if source.path != root else Path(root.name)
    path = _without_endings(PurePosixPath(inside.as_posix()))
    if source.member is None:
        return path
    member = _without_endings(PurePosixPath(source.member.lstrip("/")))
    return path / member if source.path != root else member


def _without_endings(path: PurePosixPath) -> PurePosixPath:
    while path.suffix and path.suffix.lower() in RECORD_ENDINGS:
        path = path.with_suffix("")
    return path
