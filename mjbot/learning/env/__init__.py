"""Environments for reinforcement learning: PettingZoo's form, and many tables at once.

:func:`env` makes a PettingZoo AEC environment and needs the extra ``env``; :class:`BatchEnv` needs
nothing but numpy and is what training runs on.  :class:`PolicyStrategy` makes a strategy of a
policy, :class:`StrategyPolicy` a policy of a strategy.
"""

import warnings
from typing import Any, Final, Literal

from mjbot.learning.env.actions import ACTION_OF_CODE, N_ACTIONS
from mjbot.learning.env.actions import NAMES as ACTION_NAMES
from mjbot.learning.env.batch import BatchEnv, DecisionRows, random_source
from mjbot.learning.env.checked import random_actions
from mjbot.learning.env.policies import (
    Observation,
    PolicyStrategy,
    StrategyPolicy,
    action_number,
    observe,
)
from mjbot.learning.env.rewards import RewardName, StandingValue
from mjbot.learning.env.tables import RANDOM, TSUMOGIRI
from mjbot.learning.models.networks.encoding import N_PLANES, N_SCALARS
from mjbot.learning.models.networks.layout import PLANES, SCALARS
from mjbot.protocol.rules import Length

ObservationForm = Literal["flat", "dict"]
PLANE_NAMES: Final = PLANES.names
SCALAR_NAMES: Final = SCALARS.names

__all__ = [
    "ACTION_NAMES",
    "ACTION_OF_CODE",
    "N_ACTIONS",
    "N_PLANES",
    "N_SCALARS",
    "PLANE_NAMES",
    "RANDOM",
    "SCALAR_NAMES",
    "TSUMOGIRI",
    "BatchEnv",
    "DecisionRows",
    "Observation",
    "PolicyStrategy",
    "StrategyPolicy",
    "action_number",
    "env",
    "observe",
    "random_actions",
    "random_source",
    "raw_env",
]


def env(
    length: Length = "hanchan",
    reward: RewardName | StandingValue = "score",
    n_seats: int = 4,
    *,
    observation: ObservationForm = "flat",
    render_mode: str | None = "ansi",
) -> Any:
    """Return a game of 3 or 4 agents as PettingZoo's AEC environment, in its usual wrappers.

    An illegal action ends the game: -1 for the seat that took it, 0 for the others.  With
    ``observation="dict"`` an observation has the legal actions in it, as those of PettingZoo's
    classic games do.  See :class:`mjbot.learning.env.aec.MahjongEnv`.

    Raises :class:`mjbot.runtime.errors.MjbotError` where PettingZoo is not installed.
    """
    from mjbot.learning.env.aec import wrapped_env

    return wrapped_env(raw_env(length, reward, n_seats, observation, render_mode))


def raw_env(
    length: Length = "hanchan",
    reward: RewardName | StandingValue = "score",
    n_seats: int = 4,
    observation: ObservationForm = "flat",
    render_mode: str | None = "ansi",
) -> Any:
    """Return the same without wrappers; an illegal action raises and changes nothing."""
    from mjbot.learning.env.aec import MahjongEnv

    return MahjongEnv(length, reward, n_seats, observation, render_mode)


def __getattr__(name: str) -> object:
    if name != "Rows":
        raise AttributeError(f"mjbot.learning.env has no {name!r}")
    warnings.warn("mjbot.learning.env.Rows is now DecisionRows", DeprecationWarning, stacklevel=2)
    return DecisionRows
