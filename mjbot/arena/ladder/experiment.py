"""A ladder: every strategy against three of one opponent, the strongest few against others, too.

Each line is a run of the arena in a folder of its own below ``--out``, on the same walls as all
others, with what its decisions cost.  What is played stays played: the same command resumes, with
other lines, more games or more opponents as well; runs of other code are refused.
"""

import shlex
from collections.abc import Iterator, Sequence
from typing import Final

from mjbot.arena.experiments import ExperimentContext
from mjbot.arena.ladder.lines import Ladder, LineStanding
from mjbot.arena.ladder.options import Options, StrengthOptions, read_options
from mjbot.arena.ladder.table import notes, rates_of_records, strength_table, style_table
from mjbot.game.statistics.figures import WallSums
from mjbot.game.statistics.origin import origin_of
from mjbot.runtime.files import write_text
from mjbot.strategy.registry import Spec

SUMMARY: Final = "a ladder of all strategies: strength, cost of a decision, manner of play"
GAMES: Final = 2000
PARTS: Final = ("all",)
REQUEST: Final = StrengthOptions


def play(request: ExperimentContext) -> Iterator[str]:
    """Return the tables as lines of Markdown; a file for them is written after each line, too."""
    options = read_options(request.own)
    ladder = Ladder(request, options)
    ladder.refuse_other_code()
    people = rates_of_records(options.records) if options.records else None

    def report() -> list[str]:
        lines = [*_report(ladder, people)]
        if options.report:
            options.report.parent.mkdir(parents=True, exist_ok=True)
            write_text(options.report, "\n".join(lines) + "\n")
        return lines

    for number, opponent in enumerate(options.against if not options.show else ()):
        specs = ladder.specs if number == 0 else strongest(ladder)
        for _ in request.arenas(ladder.runs(specs, opponent)):
            if options.report:
                report()
    yield from report()


def strongest(ladder: Ladder) -> tuple[Spec, ...]:
    """Return the few with the best ranks so far against everybody's opponent, itself included."""
    known = [line for line in _first(ladder) if len(line.rows)]
    return tuple([line.spec for line in known[: ladder.options.strongest]])


def _first(ladder: Ladder) -> list[LineStanding]:
    return ladder.standings(ladder.specs, ladder.options.against[0])


def _report(ladder: Ladder, people: WallSums | None) -> Iterator[str]:
    options, request = ladder.options, ladder.request
    origin = origin_of(_command(request, options))
    by = f", {origin.version}" if origin.version else ""
    yield f"{origin.date}{by}, seed {request.seed}, {options.length}:"
    yield f"`{origin.command}`"
    yield ""
    first, *others = options.against
    climbing = _first(ladder)
    shown = [climbing]
    yield from strength_table(climbing, first)
    for opponent in others:
        if standings := ladder.standings(strongest(ladder), opponent):
            yield ""
            shown.append(standings)
            yield from strength_table(standings, opponent)
    yield ""
    yield from style_table(climbing, first, people)
    sentences = [*ladder.problems, *[note for standings in shown for note in notes(standings)]]
    if sentences:
        yield ""
        yield from [f"- {sentence}" for sentence in dict.fromkeys(sentences)]


def _command(request: ExperimentContext, options: Options) -> Iterator[str]:
    """Yield the arguments that make the same tables; where files lie is left out."""
    yield from ("mjbot", "experiment", "strength", "--games", str(request.games))
    yield from ("--seed", str(request.seed))
    usual = read_options(StrengthOptions())
    also = [spec for spec in options.lines if spec not in usual.lines]
    if len(options.lines) - len(also) == len(usual.lines):
        yield from _named("--also", also)
    else:
        yield from _named("--lines", options.lines)
    if options.against != usual.against:
        yield from _named("--against", options.against)
    if options.strongest != usual.strongest:
        yield from ("--strongest", str(options.strongest))
    if options.games_of:
        yield "--games-of"
        yield from [shlex.quote(f"{name}={games}") for name, games in options.games_of.items()]
    if options.length != usual.length:
        yield from ("--length", options.length)
    if options.records:
        yield from ("--records", shlex.quote(options.records.name))


def _named(option: str, specs: Sequence[Spec]) -> list[str]:
    return [option, *[shlex.quote(str(spec)) for spec in specs]] if specs else []
