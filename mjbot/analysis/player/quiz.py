"""A quiz of a player's own mistakes: one HTML file with boards, choices and answers.

It asks what playouts show to be a loss, of all classes, and no more; without playouts what the
reviewer estimates to be one.  A choice that the reviewer rates about equal to the better one is
answered as such, not as wrong.
A position is read again from the record.  The page shows the board as the seat saw it and the
rated choices; a click or a number key answers, and the page says what was done, what is better and
why.  It needs no network; its one script is allowed by its digest.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import islice
from pathlib import Path
from typing import Final

from mjbot.analysis.player.reviewed_games import NO_ACTION, Mistake, ReviewedGame, situation_text
from mjbot.analysis.review.decisions import CLOSE
from mjbot.analysis.review.sentences import choice_text
from mjbot.analysis.review.tile_html import drawings, tile
from mjbot.game.records.choices import steps_of
from mjbot.game.records.sources import Source, games_of
from mjbot.game.table.actions import ACTIONS, Action
from mjbot.game.table.view import Sealed, View
from mjbot.runtime.languages import language, translate, translate_count
from mjbot.strategy.explanation import Rated
from mjbot.viewer import html
from mjbot.viewer.drawing import view_html
from mjbot.viewer.html import name, text

MOST_EXERCISES: Final = 12
SCRIPT: Final = Path(__file__).with_name("quiz.js")


@dataclass(frozen=True, eq=False)
class Exercise:
    """A position of a recorded game with a mistake: what the seat saw, and the mistake."""

    game: ReviewedGame
    mistake: Mistake
    view: View

    def is_close(self, rated: Rated) -> bool:
        """Whether an answer is about equal to the better one, as the reviewer rates them."""
        choices = self.choices
        values = [choice.value for choice in choices]
        best = next(choice.value for choice in choices if choice.action.code == self.mistake.better)
        is_asked = rated.action.code in (self.mistake.better, self.mistake.actual)
        return not is_asked and best - rated.value <= CLOSE * (max(values) - min(values))

    @property
    def choices(self) -> list[Rated]:
        """What can be answered, by code: what was rated, what was done, and what is better."""
        options = {code: (then, value) for code, then, value in self.mistake.choices}
        options.setdefault(self.mistake.actual, (self.mistake.then, 0.0))
        options[self.mistake.better] = (
            self.mistake.better_then,
            options.get(self.mistake.better, (0, 0.0))[1],
        )
        return [
            Rated(ACTIONS[code], value, then=_action(then))
            for code, (then, value) in sorted(options.items())
        ]


def _action(code: int) -> Action | None:
    return None if code == NO_ACTION else ACTIONS[code]


def read_positions(
    pairs: Iterable[tuple[ReviewedGame, Mistake]], sources: Sequence[Source]
) -> Iterator[Exercise]:
    """Yield the positions of mistakes, game by game; those whose file is not there are left out.

    Raises :class:`~mjbot.game.records.game.RecordError` if a record has changed since.
    """
    by_name = {source.name: source for source in sources}
    wanted: dict[tuple[str, int], dict[tuple[int, int], tuple[ReviewedGame, Mistake]]] = {}
    for game, mistake in pairs:
        of_game = wanted.setdefault((game.source, game.number), {})
        of_game[mistake.event, game.seat] = game, mistake
    for (source, number), moments in wanted.items():
        if source not in by_name:
            continue
        (read,) = islice(games_of(by_name[source], (3, 4)), number, number + 1)
        for step in steps_of(entry.event for entry in read.entries):
            for (event, seat), (game, mistake) in moments.items():
                if event == step.number:
                    yield Exercise(game, mistake, Sealed().view(step.table.view(seat)))


def quiz_page(player: str, exercises: Sequence[Exercise], is_played: bool = True) -> str:
    """Return the quiz; ``is_played``: whether playouts show the mistakes."""
    title = translate("Quiz: {name}", name=name(player))
    n = len(exercises)
    asked = translate_count(
        "{n} position of your own games in which playouts show that your choice cost places.",
        "{n} positions of your own games in which playouts show that your choice cost places.",
        n,
    )
    if not is_played:
        asked = translate_count(
            "{n} position of your own games, by the reviewer's estimate: no playouts were run.",
            "{n} positions of your own games, by the reviewer's estimate: no playouts were run.",
            n,
        )
    keys = translate(
        "Answer with a click or the keys 1 to 9; Enter or the right arrow shows the next position,"
        " the left arrow the previous one."
    )
    how = translate("{sentence} {cost}", sentence=asked, cost=keys)
    before, after = translate("Previous position"), translate("Next position")
    parts = [
        STYLE,
        f"{drawings()}<main><h1>{title}</h1><p class=soft>{how}</p>",
        f"<p><b id=score {' '.join(_script_texts())}></b></p>",
        *[_exercise(number, exercise) for number, exercise in enumerate(exercises)],
        f"<p><button type=button id=before>{before}</button>"
        f" <button type=button id=next>{after}</button></p></main>",
    ]
    title, script = translate("Quiz: {name}", name=text(player)), SCRIPT.read_text(encoding="utf-8")
    return html.page(title, parts, script, language=language())


def _script_texts() -> Iterator[str]:
    """Yield the texts of the script as attributes of the element that shows the score."""
    texts = {
        "score": translate("Position {place} of {all}; {right} of {answered} right"),
        "right": translate("Right."),
        "wrong": translate("Not the best."),
        "equal": translate("About equal to the best, by the reviewer's estimate."),
        "done": translate("That is what you played."),
    }
    yield from [f'data-{key}="{escape(value)}"' for key, value in texts.items()]


def _exercise(index: int, exercise: Exercise) -> str:
    view, mistake = exercise.view, exercise.mistake
    buttons = []
    for number, rated in enumerate(exercise.choices, 1):
        marks = ' data-answer="better"' if rated.action.code == mistake.better else ""
        marks += ' data-answer="equal"' if exercise.is_close(rated) else ""
        marks += ' data-done=""' if rated.action.code == mistake.actual else ""
        label = f"<span class=soft>{number}</span> {choice_text(rated, tile)}"
        buttons.append(f"<button type=button{marks}>{label}</button>")
    where = f"{text(mistake.at)}, {text(exercise.game.source, 120)}"
    why = f"<p class=say>{text(mistake.text, 800)}</p>"
    offered = ""
    if view.drawn < 0 and view.claim_tile >= 0 and view.turn != view.seat:
        offered = translate(", on offer {tile}", tile=tile(view.claim_tile))
    title = translate("{n}. What do you do?", n=index + 1)
    return (
        f"<section class=exercise{' hidden' if index else ''}><h2>{title}</h2>"
        f"<p class=soft>{where}{offered}</p>{view_html(view)}"
        f"<p class=answers>{''.join(buttons)}</p>"
        f"<div class=solution hidden><p class=verdict></p>{why}"
        f"<p class=soft>{text(situation_text(mistake.mistake_class, mistake.situation), 120)}</p>"
        "</div></section>"
    )


STYLE: Final = """<style>
.exercise img{width:min(100%,34rem);height:auto;display:block}
.answers{display:flex;flex-wrap:wrap;gap:.5rem}
button{font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);
border-radius:.5rem;padding:.35rem .7rem;cursor:pointer;min-height:2.75rem}
button:focus-visible{outline:2px solid var(--mid)}
button.right{border-color:var(--good);box-shadow:inset 0 0 0 2px var(--good)}
button.equal{border-color:var(--mid);box-shadow:inset 0 0 0 2px var(--mid)}
button.wrong{border-color:var(--bad);box-shadow:inset 0 0 0 2px var(--bad)}
</style>"""
