"""``mjbot convert IN OUT``: records of games from one format to another."""

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from mjbot.cli.records.replay import Losses, Named, files_progress, find_sources, readable_games
from mjbot.errors import ArgumentError, ExitCode
from mjbot.interruption import stopping_between_steps
from mjbot.records.game import Game
from mjbot.records.other_formats import record_path
from mjbot.records.sources import RECORD_ENDINGS, Source
from mjbot.records.writers import FORMATS, GameWriter, format_of, is_one_file, open_writer, refusal
from mjbot.text import plural


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "source",
        type=record_path,
        metavar="IN",
        help="mjlog, tenhou.net/6 JSON or mjai lines, also gzipped; a zip or folder of them",
    )
    parser.add_argument(
        "out",
        type=Path,
        metavar="OUT",
        help="a .zip, .jsonl.gz or .jsonl file to write, or a folder for one file per game",
    )
    parser.add_argument(
        "--to",
        choices=tuple(FORMATS),
        default=None,
        help="what to write: lines of mjai messages, Tenhou's mjlog or the JSON of tenhou.net/6"
        " (default: mjlog if OUT ends in .mjlog or .xml, else mjai)",
    )


def run(args: argparse.Namespace) -> int:
    """Convert and count; FAILED if a file held no game (the others are converted)."""
    losses = Losses("convert")
    games: Counter[Path] = Counter()
    form = FORMATS[args.to] if args.to else format_of(args.out)
    if problem := refusal(args.out, form):
        raise ArgumentError(problem)
    try:
        sources = find_sources([args.source], losses)
        with (
            stopping_between_steps() as stop_if_signalled,
            files_progress(sources, "converting") as step,
            open_writer(args.out, form) as writer,
        ):
            for named in sources:
                base = _base_name(named.source, args.source)
                for _ in _convert(named, base, writer, losses):
                    games[named.path] += 1
                    step(0, plural(games.total(), "game"))
                    stop_if_signalled()
                step()
                stop_if_signalled()
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_kept(args.out, games.total())) from None
    losses.add_paths_without_games([args.source], games)
    if writer.left_out:
        remarks = plural(writer.left_out, "remark")
        losses.tell(f"{remarks} of players left out: {form.name} has no place for them")
    skipped = f"{losses} skipped" if str(losses) else ""
    print(f"{plural(games.total(), 'game')} written to {args.out}{skipped}")
    return ExitCode.FAILED if losses else ExitCode.OK


def _kept(out: Path, games: int) -> str:
    if is_one_file(out):
        return f"nothing is written: {out} appears when all is converted"
    return f"kept: {plural(games, 'game')} in {out}"


def _convert(
    named: Named, base: PurePosixPath, writer: GameWriter, losses: Losses
) -> Iterator[Game]:
    """Yield each game that was written; of a file with a bad one the others are."""
    for count, game in enumerate(readable_games(named, losses), 1):
        name = base if count == 1 else base.with_name(f"{base.name}-{count}")
        with losses.noting(named):
            if writer.write(name, game):
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
