"""The strongest player here: what strong players would do, weighed with what it is worth in points.

The network of :mod:`strategies.supervised` has seen what strong players choose, and
:mod:`strategies.fold_recognition_plus` reckons what a choice is worth at this table: chance to win,
value, danger of every opponent, placement.  Either alone is weaker (docs/results/strongest.md).

Theory.  Of two choices that differ by d points a strong player takes the better one exp(d / T)
times as often, T being the temperature of its choices.  So T log(share) is one estimate of what a
choice is worth, up to a constant, and the reckoned points are another.  They are added up, the
second ``points`` times; in the network's terms every share is multiplied by
exp(points x worth / T), and riichi and calls by that of what they gain over not declaring, not
calling.  T = :data:`TEMPERATURE` was set by hand, ``points`` by play on walls of their own.

With ``budget_ms`` the discards that are still open are played on, too, all in the same hidden hands
and walls (:mod:`strategies.collusion_mc`).  What one gains there in ranks is the third estimate,
counted :data:`NATS_A_RANK` times and the less, the less certain it is: what scatters by s among
differences that really scatter by :data:`SPREAD` keeps SPREAD^2 / (SPREAD^2 + s^2) of itself.  It
is off by default: it tells as much of strong players' choices as the points do, and wins no more
(docs/results/strongest.md).

What the network is sure of (:data:`SURE_OF_DISCARD`, :data:`OPEN`) is not reckoned: that is most
decisions, and points would not change them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import exp, log
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.models.networks.policy import PolicyOutput
from mjbot.strategy.explanation import RANKS, Rated, Strength, Term
from mjbot.strategy.options import switch
from mjbot.strategy.playouts import Plan
from mjbot.table.view import View
from protocol.tiles import N_KINDS, tile_kind
from strategies.collusion_mc import CollusionMc
from strategies.evaluation.push_fold.hand_value import NEVER
from strategies.fold_recognition_plus import FoldRecognitionPlus
from strategies.supervised import Supervised

TEMPERATURE: Final = 500.0
"""Points by which a choice is worse that strong players take e times less often."""
LEAST_SHARE: Final = 0.02
"""Discards of a smaller share are left out."""
SURE_OF_DISCARD: Final = 0.9
OPEN: Final = 0.02, 0.98
"""Between these chances a riichi or call is open."""

PLAYED_ON: Final = "gain in playouts"
WORTH_A_SEARCH: Final = 0.08
"""Discards of a smaller share are not played on."""
MOST_PLAYED_ON: Final = 3
NATS_A_RANK: Final = 15.0
"""How strong players' log odds go with ranks in playouts, the noise taken out of those: 10 with the
noise in (docs/results/strongest.md), the network's log odds and the points beside."""
SPREAD: Final = 0.0165
"""Standard deviation of the true differences in ranks there, their noise taken out."""
DEAL_US: Final = 1500.0
TURN_US: Final = 1.5
"""Microseconds of one deal with all that belongs to it, and of one turn of a playout, set so that
99 of 100 searches end within their budget; half of them take two fifths of it (997 searches of
fourteen hanchan, 2026-11-23).  Not timed while playing, so that a game can be repeated."""
WALLS: Final = 8
"""Playouts of each deal of the hidden hands; more than that gained no more a millisecond."""


@dataclass
class Strongest(Supervised):
    """Do what a strong player would most likely do, where points do not say otherwise."""

    notes: ClassVar[tuple[str, ...]] = ("the shares are weighed with the points",)
    built_on: ClassVar[tuple[str, ...]] = ("supervised", "fold-recognition-plus")
    strength: ClassVar[Strength | None] = Strength(
        2.352,
        0.052,
        "fold-recognition-plus",
        "mjbot arena strongest fold-recognition-plus --format 1v3 --games 2000 --seed 20271",
        "2026-11-22",
    )

    budget_ms: float = field(
        default=0.0, metadata={"unit": "ms that playing on may take a decision; 0: none"}
    )
    points: float = field(default=0.7, metadata={"unit": "x the points a choice is worth; 0: none"})
    riichi_and_calls: bool = switch("of the points: weigh them, too; no: discards alone")
    fine_danger: bool = switch(
        "of the points: danger as fitted; no: by the four grades of Mizukami 2013"
    )
    hand_quality: bool = switch(
        "of the points: judge hands by shape and yaku; no: by shanten alone"
    )
    placement: bool = switch("of the points: points by the rank they bring; no: as points")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._gains: dict[int, float] = {}  # of the kinds played on in this decision, in ranks

    @cached_property
    def _reckoner(self) -> FoldRecognitionPlus:
        return FoldRecognitionPlus(
            fine_danger=self.fine_danger, hand_quality=self.hand_quality, placement=self.placement
        )

    def opinion(self, view: View) -> PolicyOutput | None:
        """Return the network's chances after points and playouts had their say."""
        said = super().opinion(view)
        self._gains = {}
        if said is None or not (self.points or self.budget_ms):
            return said
        if view.discards:
            return self._weighed_turn(view, said)
        return self._weighed_call(view, said) if self.riichi_and_calls else said

    def ratings(self, view: View) -> Iterator[Rated]:
        """Yield the shares, and of what was played on the ranks gained over the likeliest."""
        for rated in super().ratings(view):
            gain = (
                self._gains.get(tile_kind(rated.action.tile)) if rated.action.is_discard else None
            )
            played_on = [] if gain is None else [Term(PLAYED_ON, RANKS, gain)]
            yield replace(rated, terms=[*rated.terms, *played_on])

    def _weighed_turn(self, view: View, said: PolicyOutput) -> PolicyOutput:
        if said.discards.max() > SURE_OF_DISCARD and not _is_open(said.riichi):
            return said
        silent, declared = self._reckoner.discard_values(view)
        worths: dict[int, float] = {}
        for action in view.discards:
            kind = tile_kind(action.tile)
            if said.discards[kind] >= LEAST_SHARE:
                worths[kind] = max(worths.get(kind, NEVER), float(silent[action.tile]))
        discards = self._weighed(said, worths) if len(worths) > 1 else said.discards
        if self.budget_ms:
            discards = self._played_on(view, discards)
        riichi = said.riichi
        if self.riichi_and_calls and _is_open(riichi) and declared.max() > NEVER:
            riichi = self._moved(riichi, float(declared.max() - silent.max()))
        return said._replace(discards=discards, riichi=riichi)

    def _weighed(self, said: PolicyOutput, worths: Mapping[int, float]) -> NDArray[np.float32]:
        chances = np.zeros(N_KINDS, np.float32)
        best = max(worths.values())
        for kind, worth in worths.items():
            chances[kind] = said.discards[kind] * exp(self._nats(worth - best))
        chances /= chances.sum()
        return chances

    def _played_on(self, view: View, chances: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the chances after what the likeliest gain in playouts."""
        order = np.argsort(-chances, kind="stable")[:MOST_PLAYED_ON].tolist()
        kinds = [kind for kind in order if chances[kind] >= WORTH_A_SEARCH]
        if len(kinds) < 2:
            return chances
        tiles = {tile_kind(action.tile): action for action in view.discards}
        plans = [Plan(tiles[kind]) for kind in kinds]
        deals = deals_within(self.budget_ms, len(plans), view.wall_left)
        ranks = self._search.play_out(view, plans, deals).ranks
        gains = ranks[:, :1] - ranks
        self._gains = dict(zip(kinds, gains.mean(axis=0).tolist(), strict=True))
        noise = gains.var(axis=0) / deals
        nats = NATS_A_RANK * gains.mean(axis=0) * SPREAD**2 / (SPREAD**2 + noise)
        weighed = chances.copy()
        weighed[kinds] *= np.exp(nats)
        weighed /= weighed.sum()
        return weighed

    @cached_property
    def _search(self) -> CollusionMc:
        return CollusionMc(walls=WALLS)

    def _weighed_call(self, view: View, said: PolicyOutput) -> PolicyOutput:
        chi = float(said.chi.sum())
        if not (_is_open(said.pon) or _is_open(chi)):
            return said
        worths, passed = self._reckoner.call_values(view)
        gains: dict[str, float] = {}
        for call, worth in worths:
            gains[call.name] = max(gains.get(call.name, NEVER), worth - passed)
        if "pon" in gains and _is_open(said.pon):
            said = said._replace(pon=self._moved(said.pon, gains["pon"]))
        if "chi" in gains and _is_open(chi):
            said = said._replace(chi=said.chi * (self._moved(chi, gains["chi"]) / chi))
        return said

    def _moved(self, chance: float, points: float) -> float:
        """Return a chance after what it gains is known."""
        return 1 / (1 + exp(-log(chance / (1 - chance)) - self._nats(points)))

    def _nats(self, points: float) -> float:
        return min(max(self.points * points / TEMPERATURE, -30.0), 30.0)


def deals_within(budget_ms: float, n_plans: int, wall_left: int) -> int:
    """Return in how many ways the hidden hands can be dealt in that time on one core."""
    return max(2, int(1000 * budget_ms / (DEAL_US + n_plans * WALLS * wall_left * TURN_US)))


def _is_open(chance: float) -> bool:
    return OPEN[0] < chance < OPEN[1]
