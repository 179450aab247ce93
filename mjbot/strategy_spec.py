"""How the command line names a player: ``NAME``, ``NAME,KEY=VALUE,...`` or ``external:COMMAND``."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from mjbot.registry import make_strategy, strategy_class
from mjbot.strategy import Strategy
from mjbot.strategy_options import read_options, split_options

EXTERNAL: Final = "external:"
PIPED: Final = ("external-lines:", "external-arrays:")
EXTERNALS: Final = (EXTERNAL, *PIPED)
"""A foreign program: one that connects to a table, and those that speak over their pipes."""


@dataclass(frozen=True)
class Spec:
    """A player as the user names it; of an external one ``name`` is all of the text.

    >>> Spec.read("fast-riichi-a,lookahead=text")
    Spec(name='fast-riichi-a', options={'lookahead': 'text'})
    >>> Spec.read("my_bot.py:MyBot,luck=3").label
    'MyBot,luck=3'
    """

    name: str
    options: Mapping[str, str]

    @classmethod
    def read(cls, text: str) -> "Spec":
        """Split a text.

        Raises :class:`~mjbot.strategy_options.StrategyError` if an option is no ``KEY=VALUE``.
        """
        if text.startswith(EXTERNALS):
            return cls(text, {})
        name, *options = text.split(",")
        return cls(name, split_options(options))

    @property
    def is_external(self) -> bool:
        """Whether it is a foreign program, which plays over a line."""
        return self.name.startswith(EXTERNALS)

    @property
    def is_outside(self) -> bool:
        """Whether it is a class of somebody's file or module, none of ours."""
        return not self.is_external and ":" in self.name

    @property
    def label(self) -> str:
        """What tables call it: without the file of a class, or ``external:``."""
        if self.is_external:
            return self.name.partition(":")[2]
        options = [f"{key}={value}" for key, value in self.options.items()]
        return ",".join([self.name.rpartition(":")[2], *options])

    def check(self) -> None:
        """Raise ``StrategyError`` if there is no such strategy, or it has no such options."""
        read_options(strategy_class(self.name), self.options)

    def make(self, seed: int = 0) -> Strategy:
        """Return a player of the strategy for one game.  Raises ``StrategyError``."""
        return make_strategy(self.name, self.options, seed)
