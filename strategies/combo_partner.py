"""The "support AI" of Hamabe 2017, with the techniques that the paper leaves to the future."""

import random
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Final, Literal

import numpy as np

from mjbot.game.table.actions import Action
from mjbot.game.table.view import View
from mjbot.protocol.tiles import TILE_NAMES, tile_kind
from mjbot.strategies.evaluation.fast_riichi.calls import useful_calls_after
from mjbot.strategies.evaluation.fast_riichi.steps import ALL_KINDS, DiscardPoints
from mjbot.strategies.evaluation.pair.learned import LearnedHelp
from mjbot.strategies.evaluation.pair.situation import PairSituation
from mjbot.strategies.evaluation.pair.techniques import (
    add_dora,
    feed_call,
    feed_call_at_once,
    feed_win,
    feed_win_at_once,
    held_back,
    open_way,
    send_last_tile,
    spares_ally,
)
from mjbot.strategies.fast_riichi_d import FastRiichiD
from mjbot.strategies.fold_recognition_plus import FoldRecognitionPlus
from mjbot.strategies.supervised import Supervised, share_of
from mjbot.strategy.explanation import Explanation, Rated, mark_chosen
from mjbot.strategy.options import StrategyError, switch
from mjbot.strategy.pair.member import Ally, PairMember
from mjbot.strategy.pair.remarks import Help
from mjbot.strategy.registry import make_strategy
from mjbot.strategy.strategy import Strategy

BASE: Final = "fast-riichi-d"

TO_WIN: Final = "to win on"
TO_CALL: Final = "to call"
FOR_DORA: Final = "for more dora to its riichi"
LAST_TILE: Final = "so that the last tile falls to it"
TRIED_OUT: Final = "tried out, so that it is safe for the ally"
OTHER_LOTS: Final = 1 << 40
"""Added to the seed, so that ``looks`` and ``helps`` draw apart."""


@dataclass
class ComboPartner(PairMember, FastRiichiD):
    """Help the ally to win: it receives the ally's hand and feeds what that needs.

    Where it has nothing to give it plays as its base, for which the ally is no danger: as
    fast-riichi-d, which sees the ally's tiles and folds by dangers that are fitted to records, or
    as any other strategy that rates its choices.  Two of them help each other.  Without
    an ally it is its base.
    """

    built_on: ClassVar[tuple[str, ...]] = ("fold-recognition-plus",)
    players = (3, 4)

    base: str = field(
        default=BASE, metadata={"unit": "strategy that plays where there is nothing to give"}
    )
    techniques: Literal["all", "paper", "none"] = field(
        default="all", metadata={"unit": "paper: feeds without weighing, none: only the base"}
    )
    sashikomi: bool = switch("feed the ally's win; only with techniques=all")
    nakase: bool = switch("feed the ally's calls; only with techniques=all")
    dora_fuyashi: bool = switch("kan while the ally is in riichi; only with techniques=all")
    spare_ally: bool = switch(
        "let the ally's tile pass if a win on it gains the pair nothing; only with techniques=all"
    )
    own_calls: bool = switch(
        "call for the own hand, unless an ally with an aim is nearer; only with techniques=all"
    )
    eagerness: float = field(
        default=3000.0, metadata={"unit": "points that the win of an ally with an aim may cost"}
    )
    reluctance: float = field(
        default=2000.0, metadata={"unit": "points that a win on such an ally's tile must gain"}
    )
    caution: float = field(default=1.0, metadata={"unit": "x points of danger"})
    leader_caution: float = field(
        default=4.0, metadata={"unit": "x points of danger, next to an ally with an aim"}
    )
    learned: bool = switch(
        "change the choices of a base with a network by what two allies learned by self-play (of"
        " four players)"
    )
    helps: float | Literal["last"] = field(
        default=1.0,
        metadata={"unit": "share of its chances to help that it takes, last: only the last hand's"},
    )
    looks: float = field(
        default=1.0,
        metadata={"unit": "share of its decisions that regard the ally; the others it makes alone"},
    )
    seed: int = field(default=0, metadata={"unit": "of the lots that helps and looks draw"})

    def __post_init__(self) -> None:
        if self.helps != "last" and not 0 <= self.helps <= 1:
            raise StrategyError(f"option 'helps': {self.helps} is not a share, 0 to 1, or 'last'")
        if not 0 <= self.looks <= 1:
            raise StrategyError(f"option 'looks': {self.looks} is not a share, 0 to 1")
        self._situation: PairSituation | None = None  # of this decision, if it is not made alone
        self._help: Help | None = None  # what this decision does for the ally
        self._player: Strategy | None = None if self.base == BASE else make_strategy(self.base)

    def start_game(self, seat: int, names: tuple[str, ...]) -> None:
        """Let the base know, too."""
        super().start_game(seat, names)
        if self._player:
            self._player.start_game(seat, names)

    def start_kyoku(self, view: View) -> None:
        """Let the base know, too."""
        super().start_kyoku(view)
        if self._player:
            self._player.start_kyoku(view)

    def decide(self, view: View) -> Action:
        """Win, else help the ally, else play the base strategy."""
        ally = (
            self.receive_hand(view) if _falls_to(self.looks, view, self.seed + OTHER_LOTS) else None
        )
        self._situation = self._help = None
        if ally is not None:
            action = next(self._choices(view, ally))
        else:
            action = self._player.decide(view) if self._player else super().decide(view)
        self.send_hand(view, action, None, self._useful_calls(view, action), self._help)
        return action

    def explain(self, view: View) -> Explanation:
        """Explain the choice by the ratings of the base."""
        if self._player is None:
            return super().explain(view)
        explanation, choice = self._player.explain(view), self.decide(view)
        return replace(explanation, choice=choice, rated=mark_chosen(explanation.rated, choice))

    def _useful_calls(self, view: View, action: Action) -> list[int]:
        """Return the kinds that it would call after a discard; an ally that leads need not know."""
        if not action.is_discard or self.techniques != "all" or not self.is_paired:
            return []
        here = self._situation
        leads = here is not None and here.ally.aim
        if leads or not self.own_calls or self.threatened(here.own_view if here else view):
            return []
        return useful_calls_after(view, action, self._call_of_base if self._player else self.call)

    def _call_of_base(self, view: View) -> Action | None:
        action = self._player.decide(view) if self._player else None
        return action if action and action.is_call else None

    def _choices(self, view: View, ally: Ally) -> Iterator[Action]:
        """Yield what is chosen before what else would be."""
        situation = PairSituation(view, ally)
        self._situation = situation if self.techniques == "all" else None
        steps = {"all": self._weighed, "paper": self._as_the_paper, "none": self._base}
        step = steps[self.techniques] if self._helps_now(view) else self._for_itself
        for action in step(situation):
            if action is not None:
                yield action
        yield view.default_action

    @cached_property
    def _learned_help(self) -> LearnedHelp:
        return LearnedHelp()

    def _helps_now(self, view: View) -> bool:
        """Whether it would take a chance to help in this decision."""
        if self.helps == "last":
            return view.round >= view.last_round
        return _falls_to(self.helps, view, self.seed)

    def _for_itself(self, situation: PairSituation) -> Iterator[Action | None]:
        """Play as the base with the ally's hand known, and do nothing for it."""
        self._situation = situation
        view, kinds = situation.own_view, self._without(situation, situation.ally.waits)
        yield self.win(situation.view)
        if self._player:
            yield self._of_base(self._player, situation, kinds, calls=True)
        yield self.kita(view)
        yield self.riichi(view, kinds)
        if self.own_calls and not self.threatened(view):
            call = self.call(view)
            if call is None or not call.is_discard or tile_kind(call.tile) in kinds:
                yield call
        yield self.discard(view, kinds)

    def _as_the_paper(self, situation: PairSituation) -> Iterator[Action | None]:
        yield self.win(situation.view)
        yield self._for_ally(situation, feed_win_at_once(situation), TO_WIN)
        yield self._for_ally(situation, feed_call_at_once(situation), TO_CALL)
        yield from self._base(situation)

    def _base(self, situation: PairSituation) -> Iterator[Action | None]:
        if self._player:
            yield self._player.decide(situation.view)
        yield self.win(situation.view)
        yield self.kita(situation.view)
        yield self.riichi(situation.view)
        yield self.discard(situation.view)

    def _weighed(self, situation: PairSituation) -> Iterator[Action | None]:
        view, kinds = situation.own_view, self._kinds_to_spare(situation)
        yield self._own_win(situation)
        if self.sashikomi:
            fed = feed_win(situation, self.eagerness if situation.ally.aim else 0)
            yield self._for_ally(situation, fed, TO_WIN)
        if self.dora_fuyashi:
            yield self._for_ally(situation, add_dora(situation), FOR_DORA)
        yield self._for_ally(situation, send_last_tile(situation), LAST_TILE)
        if self._player:
            calls = self.own_calls and not _ally_comes_first(situation)
            wanted = self._of_base(self._player, situation, kinds, calls)
            if wanted.is_discard:
                yield from self._instead_of(wanted, situation)
            yield wanted
        yield self.kita(view)
        yield self.riichi(view, kinds)
        if self.own_calls and not self.threatened(view):
            yield self._own_call(situation, kinds)
        base = self.discard(view, kinds)
        if base is not None:
            yield from self._instead_of(base, situation)
        yield base

    def _of_base(
        self, player: Strategy, situation: PairSituation, kinds: Collection[int], calls: bool
    ) -> Action:
        """Return what the base likes best of what the pair may do; wins are decided already."""
        view = situation.own_view

        def may(action: Action) -> bool:
            if action.is_win or action.is_nine_terminals or (action.is_call and not calls):
                return False
            return not action.is_discard or tile_kind(action.tile) in kinds

        rated: Iterable[Rated]
        if (
            self.learned
            and view.players == 4
            and isinstance(player, Supervised)
            and (opinion := player.opinion(view))
        ):
            opinion = self._learned_help.changed(opinion, view, situation.ally)
            wanted = player.choice(view, opinion)
            rated = (Rated(action, share_of(action, opinion)) for action in view.legal)
        else:
            wanted, rated = player.decide(view), player.ratings(view)
        if may(wanted):
            return wanted
        others = [option for option in rated if may(option.action)]
        best = max(others, key=lambda option: option.value, default=None)
        return best.action if best else view.default_action

    def _own_win(self, situation: PairSituation) -> Action | None:
        """Win, unless that gains the pair nothing; no abortive draw while the ally is tenpai."""
        won, ally = self.win(situation.view), situation.ally
        if won is None or (won.is_nine_terminals and ally.shape):
            return None
        spares = self.spare_ally and spares_ally(situation, won, self.reluctance if ally.aim else 0)
        return None if spares else won

    def _own_call(self, situation: PairSituation, kinds: Collection[int]) -> Action | None:
        """Call, and keep an open tenpai, as the base strategy; an ally that leads comes first."""
        if _ally_comes_first(situation):
            return None
        action = self.call(situation.own_view)
        if action is None or not action.is_discard:
            return action
        return action if tile_kind(action.tile) in kinds else None

    def _instead_of(self, base: Action, situation: PairSituation) -> Iterator[Action | None]:
        """Yield discards that help the ally more than the base discard."""
        if self.nakase:
            fed = feed_call(situation, base, self._evaluator)
            yield self._for_ally(situation, fed, TO_CALL)
        yield self._for_ally(situation, open_way(situation, base), TRIED_OUT)

    def _for_ally(
        self, situation: PairSituation, action: Action | None, text: str
    ) -> Action | None:
        """Take note of what an action does for the ally, if it is one: the first is chosen."""
        if action is not None:
            tile = TILE_NAMES[action.tile] if action.tile >= 0 else action.name
            self._help = Help(situation.ally.seat, tile, text, is_feed=text != TRIED_OUT)
        return action

    @cached_property
    def _evaluator(self) -> FoldRecognitionPlus:
        return FoldRecognitionPlus()

    def safety(self, view: View) -> DiscardPoints:
        """Return the points of each tile (int64[37]) for its safety; with an ally from records."""
        if self._situation is None or not (caution := self._caution_beside(self._situation.ally)):
            return super().safety(view)
        points: DiscardPoints = np.rint(-caution * self._situation.danger).astype(np.int64)
        return points

    def threatened(self, view: View) -> bool:
        """Whether a rival is in riichi."""
        if self._situation is None or not self._caution_beside(self._situation.ally):
            return super().threatened(view)
        return any(view.riichi(rival) for rival in self._situation.rivals)

    def _caution_beside(self, ally: Ally) -> float:
        return self.leader_caution if ally.aim else self.caution

    def _kinds_to_spare(self, situation: PairSituation) -> Collection[int]:
        """Return the kinds whose discard neither deals in to the ally nor warns the rivals."""
        kept = situation.ally.waits if self.sashikomi else 0
        return self._without(situation, kept | held_back(situation))

    @staticmethod
    def _without(situation: PairSituation, kept: int) -> Collection[int]:
        kinds = {tile_kind(discard.tile) for discard in situation.view.discards}
        return [kind for kind in kinds if not kept >> kind & 1] or ALL_KINDS


def _ally_comes_first(situation: PairSituation) -> bool:
    """Whether an ally that leads is nearer to a win than a hand that is still closed."""
    ally, view = situation.ally, situation.own_view
    closed = not view.is_open(view.seat)
    return bool(ally.aim) and closed and bool(ally.view.shanten < view.shanten)


def _falls_to(share: float, view: View, seed: int) -> bool:
    """Whether this decision is of a share of all decisions: the moment draws the lot."""
    if share == 1.0:
        return True
    return random.Random(_moment(view, seed)).random() < share


def _moment(view: View, seed: int) -> int:
    """Return a random seed for this moment of the game."""
    lot = seed
    for part in (
        view.round,
        view.honba,
        view.seat,
        view.wall_left,
        view.state["n_discards"],
        view.phase,
    ):
        lot = (lot * 1_000_003 + int(part) + 1) % (1 << 62)
    return lot
