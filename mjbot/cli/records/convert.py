"""``mjbot convert IN OUT``: records of games from one format to another."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from mjbot.cli.arguments import record_rules_option
from mjbot.cli.records.replay import Losses, Named, files_progress, find_sources, readable_games
from mjbot.game.records.game import Game
from mjbot.game.records.other_formats import record_path
from mjbot.game.records.sources import RECORD_ENDINGS, Source
from mjbot.game.records.writers import (
    FORMATS,
    GameWriter,
    format_of,
    is_one_file,
    open_writer,
    refusal,
)
from mjbot.protocol.rules import Rules
from mjbot.runtime.errors import ArgumentError, ExitCode
from mjbot.runtime.files import plural
from mjbot.runtime.interruption import stopping_between_steps
from mjbot.runtime.languages import marked
from mjbot.runtime.requests import GAMES, argument, option


@dataclass(frozen=True, kw_only=True)
class ConvertRequest:
    """What ``mjbot convert`` is asked for."""

    source: Path = argument(
        "mjlog, tenhou.net/6 JSON, mjai lines or decoded records of Mahjong Soul, also gzipped; a"
        " zip or folder of them",
        type=record_path,
        metavar="IN",
    )
    out: Path = argument(
        "a .zip, .jsonl.gz or .jsonl file to write, or a folder for one file per game",
        type=Path,
        metavar="OUT",
        writes=GAMES,
    )
    to: str | None = option(
        None,
        "format to write: lines of mjai messages, Tenhou's mjlog or the JSON of tenhou.net/6"
        " (default: mjlog if OUT ends in .mjlog or .xml, else mjai)",
        choices=tuple(FORMATS),
    )
    rules: Rules | None = record_rules_option()


def run(request: ConvertRequest) -> int:
    """Convert and count; FAILED if a file held no game (the others are converted)."""
    losses = Losses("convert")
    games: Counter[Path] = Counter()
    form = FORMATS[request.to] if request.to else format_of(request.out)
    if problem := refusal(request.out, form):
        raise ArgumentError(problem)
    try:
        sources = find_sources([request.source], losses, request.rules)
        with (
            stopping_between_steps() as stop_if_signalled,
            files_progress(sources, marked("converting")) as step,
            open_writer(request.out, form, [named.source.path for named in sources]) as writer,
        ):
            for named in sources:
                base = _base_name(named.source, request.source)
                for _ in _convert(named, base, writer, losses):
                    games[named.path] += 1
                    step(0, plural(games.total(), "game"))
                    stop_if_signalled()
                step()
                stop_if_signalled()
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_kept(request.out, games.total())) from None
    losses.add_paths_without_games([request.source], games)
    if writer.left_out:
        remarks = plural(writer.left_out, "remark")
        losses.report(f"{remarks} of players left out: {form.name} has no place for them")
    skipped = f"{losses} skipped" if str(losses) else ""
    print(f"{plural(games.total(), 'game')} written to {request.out} as {form.name}{skipped}")
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
        losses.add_hands(game)


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
