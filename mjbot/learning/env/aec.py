"""One game as an environment of PettingZoo's AEC kind (extra ``env``).

Agents ``player_0`` .. ``player_3``, of three players up to ``player_2``, are the seats;
``player_0`` deals first.  The seats that decide come in turn; those that one discard concerns come
one after the other from the next seat on, none knowing what the others chose, and the discard is
resolved when all have answered.  A seat that can do one thing only is not asked.

Actions are Mortal's 46 (:mod:`mjbot.learning.env.actions`), the legal ones in
``info["action_mask"]`` as int8[46].  While the kind of a kan is chosen the mask is among 0..33.
Observations are flat, float32[34 * N_PLANES + N_SCALARS] (``observation="dict"``: in a dictionary
with the legal actions), of
:mod:`mjbot.learning.models.networks.encoding`, planes first, to be taken apart with
``observation[:34 * N_PLANES].reshape(34, N_PLANES)``; nearly all numbers lie in -1..1.  An agent
that is not asked sees what it saw at its last decision, zeros before the first. Rewards come at the
ends of kyoku (:mod:`mjbot.learning.env.rewards`).

``reset(seed=...)`` plays the walls of :class:`mjbot.game.referee.Referee` of that seed, later
resets without a seed those of the seeds that follow; without any seed the first one is taken at
random.
"""

import secrets
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.learning.env.actions import N_ACTIONS
from mjbot.learning.env.batch import BatchEnv
from mjbot.learning.env.rewards import RewardName, StandingValue
from mjbot.learning.models.networks.encoding import N_PLANES, N_SCALARS
from mjbot.protocol.rules import Length
from mjbot.protocol.tiles import N_KINDS, TILE_NAMES
from mjbot.runtime.checked_arguments import SEEDS, shown, text, type_error, whole_number
from mjbot.runtime.errors import ArgumentError, MjbotError


class MissingLibraryError(MjbotError, ImportError):
    """PettingZoo is not installed."""


try:
    from gymnasium.spaces import Box, Dict, Discrete
    from pettingzoo import AECEnv
    from pettingzoo.utils import wrappers
except ModuleNotFoundError as error:
    problem = f"mjbot.learning.env.env needs {error.name}: pip install 'mjbot[env]'"
    raise MissingLibraryError(problem) from None

OBSERVATION_SIZE: Final = N_KINDS * N_PLANES + N_SCALARS
LOWEST: Final = -2.0
HIGHEST: Final = 64.0
"""What an observation's numbers lie between: points count in units of 8,000."""

HUMAN: Final = "human"
FLAT: Final = "flat"
DICT: Final = "dict"
FORMS: Final = (FLAT, DICT)
_WINDS: Final = ("East", "South", "West", "North")


def wrapped_env(game: Any) -> Any:
    """Return the environment in the wrappers of PettingZoo's classic games."""
    game = wrappers.TerminateIllegalWrapper(game, illegal_reward=-1)
    game = wrappers.AssertOutOfBoundsWrapper(game)
    return wrappers.OrderEnforcingWrapper(game)


class MahjongEnv(AECEnv):  # type: ignore[misc]
    """See the module; the first arguments are those of ``mjbot.learning.env.BatchEnv``.

    With ``observation="dict"`` an observation is ``{"observation": float32[...], "action_mask":
    int8[46]}``, the form that PettingZoo's tutorials expect.  ``render_mode`` is "ansi", for
    :meth:`render` to return text, "human", which prints it after each decision, or None.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "mjbot_riichi_v0",
        "render_modes": ["ansi", HUMAN],
        "is_parallelizable": False,
        "render_fps": 1,
    }
    agent_selection: str

    def __init__(
        self,
        length: Length = "hanchan",
        reward: RewardName | StandingValue = "score",
        n_seats: int = 4,
        observation: str = "flat",
        render_mode: str | None = "ansi",
    ) -> None:
        super().__init__()
        if text("observation", observation) not in FORMS:
            raise ArgumentError(f"observation must be {' or '.join(FORMS)}, not {observation!r}")
        if render_mode not in (None, *self.metadata["render_modes"]):
            modes = ", ".join(self.metadata["render_modes"])
            raise ArgumentError(f"render_mode must be {modes} or None, not {shown(render_mode)}")
        self._has_dicts: Final = observation == DICT
        self.render_mode = render_mode
        self._batch: Final = BatchEnv(1, length=length, reward=reward, n_seats=n_seats, pause=True)
        self.possible_agents = [f"player_{seat}" for seat in range(n_seats)]
        self._seats: Final = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._seen: Final = np.zeros((n_seats, OBSERVATION_SIZE), np.float32)
        self._seed: int | None = None
        self.observation_spaces = {agent: self._new_space() for agent in self.possible_agents}
        self.action_spaces = {agent: Discrete(N_ACTIONS) for agent in self.possible_agents}

    def _new_space(self) -> Any:
        seen = Box(LOWEST, HIGHEST, (OBSERVATION_SIZE,), np.float32)
        if not self._has_dicts:
            return seen
        return Dict({"observation": seen, "action_mask": Box(0, 1, (N_ACTIONS,), np.int8)})

    def observation_space(self, agent: str) -> Any:
        """Return the space of an agent's observations: a Box, or a Dict with it and the mask."""
        return self.observation_spaces[self._known(agent)]

    def action_space(self, agent: str) -> Any:
        """Return the 46 actions."""
        return self.action_spaces[self._known(agent)]

    def _known(self, agent: str) -> str:
        if not isinstance(agent, str) or agent not in self._seats:
            raise ArgumentError(f"agent must be one of {', '.join(self._seats)}, not {agent!r:.60}")
        return agent

    # --- what happens ------------------------------------------------------------------------

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game; ``options`` are none.  A seed that is refused changes nothing."""
        if not isinstance(options, dict | None):
            raise type_error("options", "a dictionary", options)
        if seed is None:
            seed = secrets.randbits(32) if self._seed is None else self._seed + 1
        self._seed = seed = whole_number("seed", seed, SEEDS)
        self.agents = list(self.possible_agents)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self._skip_agent_selection = None
        self._batch.reset(seed)
        self._seen.fill(0)
        self._ask()

    def step(self, action: int | None) -> None:
        """Take the action of ``agent_selection``, None of an agent whose game is over."""
        if self._seed is None:
            raise ArgumentError("no game has begun: call reset() before step()")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise ValueError(f"{agent} must take one of the {N_ACTIONS} actions, not None")
        self._batch.check(len(self._actions), whole_number("action", action))
        self._actions.append(int(action))
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        if len(self._actions) < len(self._order):
            self.agent_selection = self._order[len(self._actions)]
        else:
            self._batch.step(self._actions)
            self._ask()
        self._accumulate_rewards()
        if self.render_mode == HUMAN:
            self.render()

    def _ask(self) -> None:
        """Continue to a decision or the end of the game, with the rewards of kyoku on the way."""
        batch = self._batch
        self._add_rewards()
        while not len(batch.rows.tables) and not batch.dones[0]:
            batch.step([])
            self._add_rewards()
        self._actions: list[int] = []
        self._order = [self.possible_agents[seat] for seat in batch.rows.seats.tolist()]
        self._look()
        if batch.dones[0]:
            self.terminations = dict.fromkeys(self.agents, True)
            self._order = self.agents[:1]
        self.agent_selection = self._order[0]

    def _look(self) -> None:
        """Note the views and legal actions of the seats that are asked; the others have none."""
        nothing = np.zeros(N_ACTIONS, np.int8)
        self.infos = {agent: {"action_mask": nothing} for agent in self.agents}
        planes, scalars = self._batch.observe()
        for row, agent in enumerate(self._order):
            mask = self._batch.rows.masks[row].astype(np.int8)
            self.infos[agent] = {"action_mask": mask}
            self._seen[self._seats[agent]] = np.append(planes[row], scalars[row])

    def _add_rewards(self) -> None:
        for agent, reward in zip(self.agents, self._batch.rewards[0].tolist(), strict=True):
            self.rewards[agent] += reward

    # --- what there is to see ----------------------------------------------------------------

    def observe(self, agent: str) -> NDArray[np.float32] | dict[str, NDArray[Any]]:
        """Return what an agent saw when it was asked last: float32[34 * N_PLANES + N_SCALARS].

        In a dictionary with its legal actions now, if that form was chosen.
        """
        seen: NDArray[np.float32] = self._seen[self._seats[self._known(agent)]].copy()
        if not self._has_dicts:
            return seen
        nothing = {"action_mask": np.zeros(N_ACTIONS, np.int8)}  # of one that is out of the game
        mask = self.infos.get(agent, nothing).get("action_mask", nothing["action_mask"])
        return {"observation": seen, "action_mask": mask.copy()}

    def render(self) -> str | None:
        """Return the kyoku, the scores and the rivers as text, or print it to a person."""
        state = self._batch.states[0]
        round_ = int(state["round"])
        lines = [f"{_WINDS[round_ // 4]} {round_ % 4 + 1}, honba {state['honba']}"]
        for agent, seat in self._seats.items():
            river = state["river"][seat][: state["n_river"][seat]].tolist()
            tiles = " ".join(TILE_NAMES[tile] for tile in river)
            lines.append(f"{agent} {int(state['scores'][seat]):6d}: {tiles}")
        table = "\n".join(lines)
        if self.render_mode != HUMAN:
            return table
        print(table)
        return None

    def close(self) -> None:
        """Do nothing: there is nothing to release."""
