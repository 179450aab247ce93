"""One game of both referees, step by step."""

from random import Random
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from riichienv import GameRule, Phase, RiichiEnv

from mjbot.game.referee import Referee
from mjbot.game.referee.events import four
from mjbot.game.referee.referee import OPENING, Position
from mjbot.game.referee.wall import shuffle_wall
from mjbot.game.table.actions import ACTIONS, PASS, Action
from mjbot.protocol import messages as m
from mjbot.protocol.rules import DEFAULT_SET, RANKED, Rules
from proof.answers import Report
from proof.peer import differences
from proof.peer.comparison import Comparison, DifferenceError
from proof.peer.env import lay_wall, offers, peer_plan, read_wall
from proof.peer.habits import HabitPlayer
from proof.peer.plots import KyokuSetup, Writer, random_position

OpenChoices = dict[int, tuple[Action, ...]]
Choices = dict[int, Action]


class Lockstep:
    """A hanchan of both referees on the same walls with the same decisions.

    ``seed`` fixes walls and players; ``rules`` are the default ones or those of Mahjong Soul, of
    three players or four.  With a ``writer`` the game of four starts somewhere in the middle, with
    a kyoku stacked after that writer's script.
    """

    def __init__(
        self, seed: int, report: Report, writer: Writer | None = None, rules: Rules = RANKED
    ) -> None:
        rng = Random(seed)
        self.seed: Final = seed
        self._report: Final = report
        self._players = [HabitPlayer(Random(rng.random())) for _ in range(rules.players)]
        is_default = rules.set_name == DEFAULT_SET
        rule = GameRule.default_tenhou() if is_default else GameRule.default_mjsoul()
        rule.dealer_first_discard_is_tedashi = False  # as its records have it, not its rules
        self._env = RiichiEnv(game_mode=f"{rules.players}p-red-half", seed=seed, rule=rule)
        self._referee = Referee(seed, rules, walls=self._wall)
        self._comparison = Comparison(self._env, report)
        self._position = random_position(rng) if writer else OPENING
        self._plot: KyokuSetup | None = (
            writer(rng).plot(rng, self._position.round % 4) if writer else None
        )
        self._observations: dict[int, Any] = {}

    def play(self) -> None:
        """Play to the end or to the first difference that has no known reason."""
        try:
            self._open()
            while not self._referee.over:
                self._decide()
        except DifferenceError as difference:
            where = f"game {self.seed}, round {self._referee.state['round']}"
            self._report.differences.append(f"{where}: {difference}")

    def _open(self) -> None:
        if self._plot:
            self._reset(self._plot.wall, self._position)
            for player, habit in zip(self._players, self._plot.habits, strict=True):
                player.habit = habit
        else:
            self._observations = self._env.reset()
        self._take(self._referee.start(self._position))

    def _reset(self, wall: NDArray[np.int8], position: Position) -> None:
        dealer = position.round % 4
        self._observations = self._env.reset(
            oya=dealer,
            wall=lay_wall(wall, dealer, self._referee.rules.players),
            round_wind=position.round // 4,
            scores=list(position.scores[: self._referee.rules.players]),
            honba=position.honba,
            kyotaku=position.sticks,
        )

    def _wall(self, round_: int, honba: int, wall: NDArray[np.int8]) -> None:
        if self._env.done():  # only after a known difference; then :meth:`_realign` follows
            shuffle_wall(self.seed, round_, honba, wall, self._referee.rules.players)
        else:
            read_wall(self._env, wall)
            self._referee.state["rules"]["wall"] = peer_plan(self._referee.rules.players)

    def _decide(self) -> None:
        asked = self._referee.asked
        if self._peer_has_aborted(asked):
            self._report.explained[differences.ASKED_BEFORE_ABORT] += len(asked)
            choices = {seat: ACTIONS[PASS] for seat in asked}
        else:
            choices = self._choose(asked)
        self._take(self._referee.step(choices))

    def _peer_has_aborted(self, asked: OpenChoices) -> bool:
        return (
            differences.ends_in_four_kans(self._referee.state)
            and not any(action.name == "ron" for actions in asked.values() for action in actions)
            and self._env.phase != Phase.WaitResponse
        )

    def _choose(self, asked: OpenChoices) -> Choices:
        """Choose for every seat with a choice, and apply it to the other referee."""
        state = self._referee.state
        offered = {
            seat: offers(self._env, observation)
            for seat, observation in sorted(self._observations.items())
        }
        self._comparison.offers(state, asked, offered)
        self._comparison.wire(state, asked, offered, self._observations)
        choices = {
            seat: self._players[seat].choose(state, seat, sorted(offered.get(seat, [PASS])))
            for seat in asked
        }
        self._observations = self._env.step(
            {seat: actions[choices[seat].code] for seat, actions in offered.items()}
        )
        return choices

    def _take(self, events: list[m.Event]) -> None:
        if not self._comparison.take(events):
            return
        same_points = self._comparison.kyoku()
        for player in self._players:
            player.start_kyoku()
        if not same_points:
            self._realign()
        elif self._referee.over:
            self._comparison.end(self._referee.state["scores"].tolist())

    def _realign(self) -> None:
        state = self._referee.state
        if not self._referee.over:
            round_, honba, sticks = (int(state[name]) for name in ("round", "honba", "sticks"))
            position = Position(round_, honba, sticks, four(state["scores"]))
            self._reset(state["wall"], position)
            self._comparison.realign()
