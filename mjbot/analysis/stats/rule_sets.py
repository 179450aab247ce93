"""Games under one rule set: costs and rates of different rules, or lengths, are not added up."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from mjbot.analysis.stats.counted_games import LENGTHS, NO_LENGTH
from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.languages import marked, translate, translate_count


class UnderRules(Protocol):
    """A game: its length ("" where nothing shows it), and how its rules differ from the default."""

    @property
    def length(self) -> str: ...  # noqa: D102
    @property
    def rules(self) -> str: ...  # noqa: D102


class RuleSetChoice(NamedTuple):
    """The length ("" if no game shows it) and the other rules of the games of a report."""

    length: str
    rules: str

    def __str__(self) -> str:
        return f"{self.length or NO_LENGTH}{self.rules}"

    def fits(self, game: UnderRules) -> bool:
        """Return whether a game counts; one that does not show its length does with any."""
        return game.rules == self.rules and game.length in ("", self.length)


def rule_set_of(games: Sequence[UnderRules], under: str | None) -> RuleSetChoice:
    """Return the rule set that ``under`` names, else that of most games whose length is known.

    Of as many games the default rules are chosen, then the longer games, then by the rules' names:
    the order of the games never counts.  Raises ``ArgumentError`` where no game is under it.
    """
    counts = _counts(games)
    ordered = sorted(counts, key=lambda one: (not one.length, -counts[one], _in_ties(one)))
    if under is None:
        return ordered[0]
    named = [choice for choice in ordered if str(choice) == under]
    if not named:
        raise ArgumentError(f"--under {under}: the games are under {', '.join(map(str, ordered))}")
    return named[0]


def left_out(games: Sequence[UnderRules], choice: RuleSetChoice) -> list[str]:
    """Return a line for each other rule set: how many games are under it, and how to see them.

    Where there are as many as under the chosen one, the line names the rule that chose, unless
    the user did against it.
    """
    counts = _counts(games)
    is_usual = bool(counts) and choice == rule_set_of(games, None)
    others = [one for one in counts if not choice.fits(one)]
    lines = []
    for one in sorted(others, key=lambda one: (-counts[one], _in_ties(one))):
        text = marked("{games} under {rules}, not {choice} (--under {rules} reports them)")
        if is_usual and one.length and counts[one] == counts[choice]:
            text = marked(
                "{games} under {rules}, as many as under {choice}: of as many the default rules"
                " are reported, then the longer games (--under {rules} reports them)"
            )
        number = translate_count("{n} game", "{n} games", counts[one])
        lines.append(translate(text, games=number, rules=one, choice=choice))
    return lines


def _counts(games: Iterable[UnderRules]) -> Counter[RuleSetChoice]:
    return Counter([RuleSetChoice(game.length, game.rules) for game in games])


def _in_ties(one: RuleSetChoice) -> tuple[bool, int, str]:
    """Return by what rule sets of as many games are ordered."""
    length = -LENGTHS.index(one.length) if one.length in LENGTHS else 1
    return one.rules != "", length, one.rules
