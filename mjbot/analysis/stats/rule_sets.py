"""Games under one rule set: costs and rates of different rules, or lengths, are not added up."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from mjbot.analysis.stats.counted_games import NO_LENGTH
from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.files import plural


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

    Raises ``ArgumentError`` where no game is under it.
    """
    counts = Counter([RuleSetChoice(game.length, game.rules) for game in games])
    ordered = sorted(counts, key=lambda one: (bool(one.length), counts[one]), reverse=True)
    if under is None:
        return ordered[0]
    named = [choice for choice in ordered if str(choice) == under]
    if not named:
        raise ArgumentError(f"--under {under}: the games are under {', '.join(map(str, ordered))}")
    return named[0]


def left_out(games: Iterable[UnderRules], choice: RuleSetChoice) -> list[str]:
    """Return a line for each other rule set: how many games are under it, and how to see them."""
    counts = Counter(
        [str(RuleSetChoice(game.length, game.rules)) for game in games if not choice.fits(game)]
    )
    return [
        f"{plural(number, 'game')} under {rules}, not {choice} (--under {rules} reports them)"
        for rules, number in counts.most_common()
    ]
