"""``mjbot review RECORDS... --player NAME``: all games of a player as a page, JSON and a quiz."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from msgspec.structs import replace
from rich.console import Console
from rich.table import Table

from mjbot.analysis.player.figures import PlayerReport
from mjbot.analysis.player.page import key_of, page
from mjbot.analysis.player.quiz import MOST_EXERCISES, quiz_page, read_positions
from mjbot.analysis.player.reviewed_games import (
    ReviewedGame,
    ReviewedHeader,
    ReviewedSource,
    empty_if_stale,
    is_games_file,
    open_games_file,
    read_games_file,
    review_sources,
)
from mjbot.analysis.stats.rule_sets import left_out, rule_set_of
from mjbot.arena.code_digest import code_digest
from mjbot.game.records.game import RecordError
from mjbot.game.records.sources import Source, content_digest, games_of, join_hands, list_sources
from mjbot.game.statistics.origin import origin_of
from mjbot.play.startup.precompile import prepare
from mjbot.protocol.messages import StartGame
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.rules import Rules
from mjbot.runtime.compiler.sources import source_digest
from mjbot.runtime.errors import ArgumentError, ExitCode
from mjbot.runtime.files import plural, write_text
from mjbot.runtime.languages import language, marked, translate, translate_count
from mjbot.runtime.progress import progress
from mjbot.strategy.registry import Spec

MANY_BUDGET_S: Final = 10.0
"""Processor time for the playouts of one of many games."""
WIDTH: Final = 140
MOST_NAMES: Final = 8
REVIEWING: Final = review_sources.__module__
"""The module on whose source, and that of all it imports, a kept review depends."""


@dataclass(frozen=True, kw_only=True)
class PlayerWork:
    """Whose games are reviewed, where they are, how, what they are compared with, and the files."""

    records: tuple[Path, ...]
    rules: Rules | None
    player: str
    by: Spec
    playouts_s: float
    seed: int
    jobs: int
    file_dates: bool
    reference: Path | None
    recent: int | None
    under: str | None
    page: Path
    json: Path | None

    def header(self, player: str) -> ReviewedHeader:
        """Return the first line of the file that keeps reviewed games."""
        return ReviewedHeader(
            player,
            str(self.by),
            self.playouts_s,
            self.seed,
            language=language(),
            code=f"{source_digest(REVIEWING)[:16]}-{code_digest([self.by])}",
            file_dates=self.file_dates,
            rules=str(self.rules or ""),
        )

    def sibling(self, ending: str) -> Path:
        """Return a file next to the page: ``review-player-quiz.html``."""
        return self.page.with_name(f"{self.page.stem}-{ending}")


def review_player(work: PlayerWork) -> int:
    """Review the games that are not reviewed yet, and report all."""
    if work.reference and work.recent:
        raise ArgumentError("--reference and --recent: choose one group to compare with")
    console = Console(stderr=True)
    sources = _sources(work.records, work.rules)
    prepare([work.by], console, use="review" if work.playouts_s else "explain")
    kept = work.sibling("games.jsonl")
    is_new = not kept.exists()
    lines = _reviewed(sources, work.player, kept, work, console)
    games = in_order(lines, work.player)
    if not games:
        if is_new:
            kept.unlink()
        raise ArgumentError(_not_found(work.player, sources, lines))
    report = _report(games, lines, work, console)
    _write(report, sources, work)
    _print(report, work)
    return ExitCode.OK


def _sources(paths: Iterable[Path], rules: Rules | None) -> list[Source]:
    with_copies = [source for path in paths for source in list_sources(path, rules)]
    sources = {source.name: source for source in with_copies}
    return [source for source in join_hands([*sources.values()]) if source]


def _not_found(player: str, sources: Iterable[Source], lines: Iterable[ReviewedSource]) -> str:
    """Return which players the records name, those with similar names first."""
    names: Counter[str] = Counter()
    for source in sources:
        with suppress(RecordError):
            for game in games_of(source, players=(3, 4)):
                events = (entry.event for entry in game.entries)
                started = next((event for event in events if isinstance(event, StartGame)), None)
                names.update((started and started.names) or ())
    problem = f"no game of {player!r} that can be reviewed in the records"
    problems = [problem for line in lines for problem in line.problems]
    if player in names or (problems and not names):
        return "; ".join(
            [problem, *problems[:1]] if problems else [problem, "no record shows the hand"]
        )
    alike = get_close_matches(player, names, MOST_NAMES)
    most = sorted(names, key=lambda name: (-names[name], name))
    shown = list(dict.fromkeys([*alike, *most[:MOST_NAMES]]))
    listed = ", ".join(shown[:MOST_NAMES])
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"{problem}; they name {listed}{more}" if names else f"{problem}; they name no players"


def _reviewed(
    sources: Sequence[Source], player: str, path: Path, work: PlayerWork, console: Console
) -> list[ReviewedSource]:
    """Review what the file does not have yet; return all that belongs to the sources.

    What was reviewed by other code, or has another content now, is reviewed again.  They come in
    the order of the sources, whichever was reviewed first.
    """
    header = work.header(player)
    if empty_if_stale(path, header):
        text = marked("{file}: the reviewer's code has changed; its games are reviewed again")
        _note(console, translate(text, file=path))
    with open_games_file(path, header) as log:
        contents = {source.name: content_digest(source) for source in sources}
        kept = [line for line in log.lines if line.source in contents]
        lines = [line for line in kept if line.content == contents[line.source]]
        done = {line.source for line in lines}
        if changed := {line.source for line in kept} - done:
            text = translate(
                "{files} changed since the last review, reviewed again: {first}",
                files=translate_count("{n} file", "{n} files", len(changed)),
                first=min(changed),
            )
            _note(console, text)
        todo = [source for source in sources if source.name not in done]
        with progress(console, marked("reviewing"), len(todo) or None, marked("files")) as step:
            for line in review_sources(todo, header, work.jobs):
                log.append(line)
                lines.append(line)
                n = sum(len(reviewed.games) for reviewed in lines)
                step(1, translate_count("{n} game", "{n} games", n))
    place = {source.name: number for number, source in enumerate(sources)}
    return sorted(lines, key=lambda line: place[line.source])


def _note(console: Console, text: str) -> None:
    console.print(one_line(text), markup=False, highlight=False, soft_wrap=True)


def in_order(lines: Iterable[ReviewedSource], player: str = "") -> list[ReviewedGame]:
    """Return games by day, then as the files come, each once; of all players or of one."""
    games: dict[tuple[str, int], ReviewedGame] = {}
    for line in lines:
        for game in line.games:
            if player in ("", game.player):
                games.setdefault((game.digest, game.seat), game)
    return sorted(games.values(), key=lambda game: game.day)


def _report(
    games: list[ReviewedGame],
    lines: Sequence[ReviewedSource],
    work: PlayerWork,
    console: Console,
) -> PlayerReport:
    choice = rule_set_of(games, work.under)
    others = left_out(games, choice)
    games = [game for game in games if choice.fits(game)]
    reference: list[ReviewedGame] = []
    name = ""
    if work.recent:
        reference, games = games[: -work.recent], games[-work.recent :]
        name = translate("earlier games")
        if not reference:
            n = plural(len(games), "game")
            raise ArgumentError(f"--recent {work.recent}: the records have {n} of the player")
    elif work.reference is not None:
        all_players = _reference(work.reference, work, console)
        own = {(game.digest, game.seat) for game in games}
        reference = [
            game
            for game in all_players
            if choice.fits(game) and (game.digest, game.seat) not in own
        ]
        if not reference:
            problem = f"no games of other players under {choice}"
            raise ArgumentError(f"--reference {work.reference}: {problem}")
        name = work.reference.name
    problems = [problem for line in lines for problem in line.problems] + others
    return PlayerReport(work.player, games, reference, name, bool(work.playouts_s), tuple(problems))


def _reference(path: Path, work: PlayerWork, console: Console) -> list[ReviewedGame]:
    """Return the games of all players of a file of reviewed games, or of records."""
    if is_games_file(path):
        kept, lines = read_games_file(path)
        own = replace(work.header(kept.player), language=kept.language, file_dates=kept.file_dates)
        if replace(kept, code=own.code, format=own.format) == own != kept:
            cure = "review its records again, or name them"
            raise ArgumentError(f"--reference {path}: reviewed by another version; {cure}")
        if kept != own:
            raise ArgumentError(
                f"--reference {path}: reviewed by {kept.by} with {kept.playouts_s:g} s of playouts,"
                f" not by {own.by} with {own.playouts_s:g} s; use the same --by and --playouts"
            )
        return in_order(sorted(lines, key=lambda line: line.source))
    file = work.sibling("reference-games.jsonl")
    return in_order(_reviewed(_sources([path], None), "", file, work, console))


def _write(report: PlayerReport, sources: Sequence[Source], work: PlayerWork) -> None:
    """Write the page, the quiz and the JSON."""
    asked = report.exercises(MOST_EXERCISES)
    examples = [pair for each in report.situations for pair in each.examples]
    found = {
        key_of(each.game, each.mistake): each
        for each in read_positions([*asked, *examples], sources)
    }
    exercises = [found[key] for pair in asked if (key := key_of(*pair)) in found]
    quiz = work.sibling("quiz.html") if exercises else None
    if quiz:
        write_text(quiz, quiz_page(report.player, exercises, report.is_played))
    origin = origin_of(["mjbot review", "--player", report.player])
    write_text(work.page, page(report, found, quiz.name if quiz else "", origin))
    if work.json:
        write_text(work.json, json.dumps(report.as_json(), ensure_ascii=False))


def _print(report: PlayerReport, work: PlayerWork) -> None:
    for problem in report.problems:
        print(one_line(translate("left out: {problem}", problem=problem)))
    console = Console()
    console = Console(width=max(console.width, WIDTH))
    for figure_table in report.tables:
        if figure_table.rows:
            table = Table(
                *figure_table.heads, title=translate(figure_table.title), title_justify="left"
            )
            for row in figure_table.rows:
                table.add_row(*[one_line(cell) for cell in row])
            console.print(table, markup=False)
        if figure_table.note:
            print(one_line(figure_table.note))
    for line in report.summary:
        print(one_line(line))
    print(translate("± is half the length of the 95% interval; a game is one observation"))
    print(one_line(translate("the whole report: {file}", file=work.page)))
