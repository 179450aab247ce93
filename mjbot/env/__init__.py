"""Environments for reinforcement learning: PettingZoo's form, and many tables at once.

:func:`env` makes a PettingZoo AEC environment and needs the extra ``env``; :class:`BatchEnv` needs
nothing but numpy and is what training runs on.
"""

import warnings
from typing import Any

from mjbot.env.batch import BatchEnv, DecisionRows, random_source
from mjbot.env.rewards import RewardName, StandingValue
from mjbot.env.tables import RANDOM, TSUMOGIRI, random_actions
from protocol.rules import Length

__all__ = [
    "RANDOM",
    "TSUMOGIRI",
    "BatchEnv",
    "DecisionRows",
    "env",
    "random_actions",
    "random_source",
    "raw_env",
]


def env(length: Length = "hanchan", reward: RewardName | StandingValue = "score") -> Any:
    """Return a game as PettingZoo's AEC environment, in that library's usual wrappers.

    An illegal action ends the game: -1 for the seat that took it, 0 for the others.  See
    :class:`mjbot.env.aec.MahjongEnv`.  Raises :class:`mjbot.errors.MjbotError` where PettingZoo is
    not installed.
    """
    from mjbot.env.aec import wrapped_env

    return wrapped_env(length, reward)


def raw_env(length: Length = "hanchan", reward: RewardName | StandingValue = "score") -> Any:
    """Return the same without wrappers; an illegal action raises and changes nothing."""
    from mjbot.env.aec import MahjongEnv

    return MahjongEnv(length, reward)


def __getattr__(name: str) -> object:
    if name != "Rows":
        raise AttributeError(f"mjbot.env has no {name!r}")
    warnings.warn("mjbot.env.Rows is now DecisionRows", DeprecationWarning, stacklevel=2)
    return DecisionRows
