"""The "support AI" of Hamabe 2017, with the techniques that the paper leaves to the future."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from mjbot.pair.member import Ally, PairMember
from mjbot.table.actions import Action
from mjbot.table.view import View
from protocol.tiles import tile_kind
from strategies.evaluation.fast_riichi import ALL_KINDS
from strategies.evaluation.techniques.bluff import feign_one_suit
from strategies.evaluation.techniques.dora_fuyashi import add_dora
from strategies.evaluation.techniques.haitei_okuri import send_last_tile
from strategies.evaluation.techniques.hold_back import held_back
from strategies.evaluation.techniques.nakase import feed_call, feed_call_at_once
from strategies.evaluation.techniques.open_way import open_way
from strategies.evaluation.techniques.sashikomi import feed_win, feed_win_at_once
from strategies.evaluation.techniques.situation import Situation
from strategies.fast_riichi_d import FastRiichiD


def _switch(what: str) -> bool:
    switch: bool = field(default=True, metadata={"unit": f"{what}; only with techniques=all"})
    return switch


@dataclass
class ComboPartner(PairMember, FastRiichiD):
    """Help the ally to win: it knows the ally's hand and gives what that needs.

    It never calls to build a hand of its own, and where it has nothing to give it plays as
    fast-riichi-d, for which the ally is no danger.  Without an ally it is fast-riichi-d.
    """

    techniques: Literal["all", "paper", "none"] = field(
        default="all", metadata={"unit": "paper: feeds without weighing, none: only the base"}
    )
    sashikomi: bool = _switch("feed the ally's win")
    nakase: bool = _switch("feed the ally's calls")
    bluff: bool = _switch("feign a hand of one suit with a hopeless one")
    haitei_okuri: bool = _switch("call to give the ally the last tile")
    dora_fuyashi: bool = _switch("kan while the ally is in riichi")
    open_way: bool = _switch("try out tiles that the ally must discard")
    hold_back: bool = _switch("keep waits that the ally cannot win on")
    eagerness: float = field(default=3000.0, metadata={"unit": "points that a fed win may cost"})
    tenpai_points: float = field(
        default=1500.0, metadata={"unit": "points that a call is worth which makes the ally tenpai"}
    )

    def decide(self, view: View) -> Action:
        """Win, else help the ally, else play the base strategy."""
        won = self.win(view)
        ally = None if won else self.hear(view)
        if won or ally is None:
            return won or super().decide(view)
        return next(self._choices(view, ally))

    def _choices(self, view: View, ally: Ally) -> Iterator[Action]:
        """Yield what is chosen before what else would be."""
        situation = Situation(view, ally)
        steps = {"all": self._weighed, "paper": self._as_the_paper, "none": self._base}
        for action in steps[self.techniques](situation):
            if action is not None:
                yield action
        yield view.default_action

    def _as_the_paper(self, situation: Situation) -> Iterator[Action | None]:
        yield feed_win_at_once(situation)
        yield feed_call_at_once(situation)
        yield from self._base(situation)

    def _base(self, situation: Situation) -> Iterator[Action | None]:
        yield self.riichi(situation.view)
        yield self.discard(situation.view)

    def _weighed(self, situation: Situation) -> Iterator[Action | None]:
        if self.sashikomi:
            yield feed_win(situation, self.eagerness)
        if self.dora_fuyashi:
            yield add_dora(situation)
        if self.haitei_okuri:
            yield send_last_tile(situation)
        yield self.riichi(situation.own_view)
        base = self._safe_base(situation)
        if base is not None:
            yield from self._instead_of(base, situation)
        yield base

    def _instead_of(self, base: Action, situation: Situation) -> Iterator[Action | None]:
        """Yield discards that help the ally more than the base discard."""
        if self.nakase:
            yield feed_call(situation, base, self.tenpai_points)
        if self.open_way:
            yield open_way(situation, base)
        if self.bluff:
            yield feign_one_suit(situation, base)

    def _safe_base(self, situation: Situation) -> Action | None:
        """Return the base discard among what neither deals in to the ally nor warns the rivals."""
        kept = situation.ally.waits if self.sashikomi else 0
        if self.hold_back:
            kept |= held_back(situation)
        kinds = {tile_kind(discard.tile) for discard in situation.discards}
        allowed = [kind for kind in kinds if not kept >> kind & 1]
        return self.discard(situation.own_view, allowed or ALL_KINDS)
