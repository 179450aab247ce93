"""The steps that the strategies fast-riichi-a .. -d are put together from, folding included.

Source: Nakano, "Development of a mahjong AI that aims to win quickly", Kindai University 2021,
section 3.2 and the listing in its appendix (the fold scores: section 3.2.3 and ``eval_sutehai``).
Where the two differ:

* The text rates a discard by the best draw that may follow, the listing by the sum over all
  draws.  The listing is what was run, so it is the default (option ``lookahead``).
* The listing declares riichi before it looks for furiten; the text is followed.
* The listing adds the meld that a call makes to the sum over all draws once, as if it were the
  value of one draw, so that a call hardly ever pays.  Here melds count in each draw's value.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Final, Literal

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.kinds import Counts
from mjbot.game.rules.tile_sets import holds_no_run, shanten_of, waits_of
from mjbot.game.table.actions import (
    ACTIONS,
    DECLARE_RIICHI,
    DISCARD,
    DISCARD_DRAWN,
    KITA,
    Action,
)
from mjbot.game.table.observe import genbutsu
from mjbot.game.table.seats import seat_after
from mjbot.game.table.state import DECLARED, Phase, State
from mjbot.game.table.view import View
from mjbot.protocol.tiles import FIRST_HONOUR, N_KINDS, N_TILES, NORTH, tile_kind
from mjbot.runtime.compiler.compiled import compiled
from mjbot.strategies.evaluation.facts import hand_facts
from mjbot.strategies.evaluation.fast_riichi.blocks import block_table
from mjbot.strategies.evaluation.fast_riichi.draws import Numbers, discard_points, hand_value
from mjbot.strategy.explanation import VALUE, Rated, Term
from mjbot.strategy.strategy import Strategy


def waits_by_discard(hand: Counts, n_melds: int, players: int = 4) -> dict[int, int]:
    """Return kind -> mask of waits for the discards that leave 3n+2 concealed tiles tenpai.

    >>> from mjbot.game.rules.kinds import hand_counts
    >>> waits_by_discard(hand_counts("23m55z9p"), 3) == {17: 1 << 0 | 1 << 3}
    True
    """
    masks = _waits_by_discard(hand, n_melds, players).tolist()
    return {kind: mask for kind, mask in enumerate(masks) if mask}


def tiles_of(kinds: int, unseen: Counts) -> int:
    """Return how many copies of the kinds in a mask are unseen."""
    return int(_tiles_of(kinds, unseen))


@compiled
def _tiles_of(kinds: int, unseen: Counts) -> int:
    tiles = 0
    for kind in range(N_KINDS):
        if kinds >> kind & 1:
            tiles += unseen[kind]
    return tiles


@compiled
def _waits_by_discard(hand: Counts, n_melds: int, players: int) -> Numbers:
    masks = np.zeros(34, np.int64)
    rest = hand.copy()
    for kind in range(34):
        if hand[kind]:
            rest[kind] -= 1
            masks[kind] = waits_of(rest, n_melds, players)
            rest[kind] += 1
    return masks


ALL_KINDS: Final = range(N_KINDS)

DiscardPoints = Numbers
"""Points of the 37 tiles, int64."""


@dataclass
class FastRiichi(Strategy):
    """Steps return the action they stand for, or ``None`` to leave it to the next step."""

    value_unit: ClassVar[str] = "rating points"

    lookahead: Literal["appendix", "text"] = field(
        default="appendix", metadata={"unit": "appendix: sum of all draws, text: best draw"}
    )
    block_points: int = field(default=50, metadata={"unit": "points per meld or head"})
    dora_points: int = field(default=1, metadata={"unit": "points per dora or red five kept"})

    def win(self, view: View) -> Action | None:
        """Tsumo and ron whenever they are legal, and the draw by nine terminals."""
        for code in reversed(view.codes[len(view.discard_codes) :]):
            action = ACTIONS[code]
            if action.is_win or action.is_nine_terminals:
                return action
        return None

    def kita(self, view: View) -> Action | None:
        """Set a north aside unless the hand would need one more tile without it."""
        if KITA not in view.codes:
            return None
        rest = view.hand.copy()
        rest[NORTH] -= 1
        away = shanten_of(rest, view.n_melds, view.players)
        return ACTIONS[KITA] if away <= view.shanten else None

    def riichi(self, view: View, kinds: Collection[int] = ALL_KINDS) -> Action | None:
        """Declare riichi if some discard (of these kinds) leaves tenpai without furiten.

        Then discard the best of them.  At least one copy of the waits must be unseen, as in the
        listing.
        """
        if view.phase is Phase.RIICHI:
            return self.discard(view, self._ready(view, kinds) or self._ready(view) or ALL_KINDS)
        if DECLARE_RIICHI in view.codes and self._ready(view, kinds):
            return ACTIONS[DECLARE_RIICHI]
        return None

    def discard(self, view: View, kinds: Collection[int] = ALL_KINDS) -> Action | None:
        """Discard the tile (of these kinds) that is rated best; of equals the drawn tile."""
        codes = view.discard_codes
        if kinds is not ALL_KINDS:
            codes = bytes([code for code in codes if tile_kind(ACTIONS[code].tile) in kinds])
        if len(codes) < 2:
            return ACTIONS[codes[0]] if codes else None
        return ACTIONS[_best_discard(self.rate(view), np.frombuffer(codes, np.uint8))]

    def rate(self, view: View) -> DiscardPoints:
        """Return the points of discarding each tile (0..36); override to weigh other things."""
        return self.discard_points(view, view.hand)

    def ratings(self, view: View) -> Iterator[Rated]:
        """Yield the discards: the points of the shape left and, when folding, of the safety."""
        if not view.discards:
            return
        unit, facts = self.value_unit, hand_facts(view)
        shapes, values_left = FastRiichi.rate(self, view).tolist(), self.rate(view).tolist()
        for discard in view.discards:
            shape, value = float(shapes[discard.tile]), float(values_left[discard.tile])
            terms = [*facts[discard.tile], Term("shape", unit, shape, adds_to=VALUE)]
            if isinstance(self, Folding):
                terms.append(Term("safety", unit, value - shape, adds_to=VALUE))
            yield Rated(discard, value, terms=terms)

    def discard_points(self, view: View, hand: Counts) -> DiscardPoints:
        """Return the value of a hand (int8[34], 3n+2 tiles) after each discard, less its dora."""
        weights = self.block_points, self.lookahead == "text", self.dora_points
        points: DiscardPoints = discard_points(
            block_table(), view.state, view.seat, hand, view.unseen, *weights
        )
        return points

    def hand_points(self, view: View) -> int:
        """Return the value of the hand of 3n+1 tiles as it stands."""
        own, text = view.genbutsu(view.seat), self.lookahead == "text"
        return hand_value(view.hand, view.unseen, own, self.block_points, text)

    def _ready(self, view: View, kinds: Collection[int] = ALL_KINDS) -> list[int]:
        """Return the kinds whose discard leaves tenpai, no furiten and a wait to draw."""
        own = view.genbutsu(view.seat)
        return [
            kind
            for kind, waits in waits_by_discard(view.hand, view.n_melds, view.players).items()
            if kind in kinds and not waits & (own | 1 << kind) and tiles_of(waits, view.unseen)
        ]


@compiled
def _best_discard(points: DiscardPoints, codes: NDArray[np.uint8]) -> int:
    """Return the code of the tile with the most points (int64[37]); of equals the drawn one."""
    best, best_tile = int(codes[0]), _tile_of(codes[0])
    for code in codes[1:]:
        tile = _tile_of(code)
        drawn = code >= DISCARD_DRAWN > best
        if points[tile] > points[best_tile] or (drawn and points[tile] == points[best_tile]):
            best, best_tile = int(code), tile
    return best


@compiled
def _tile_of(code: int) -> int:
    return code - DISCARD_DRAWN if code >= DISCARD_DRAWN else code - DISCARD


@dataclass
class Folding:
    """The weights of folding, mixed into the strategies that fold."""

    safest: int = field(default=20, metadata={"unit": "points of a tile without danger"})
    riichi_factor: int = field(default=500, metadata={"unit": "x danger, opponent in riichi"})
    late_factor: int = field(default=500, metadata={"unit": "x danger, wall running out"})
    late_tiles: int = field(default=16, metadata={"unit": "running out: fewer tiles to draw"})

    def threatened(self, view: View) -> bool:
        """Whether an opponent is in riichi or the wall is running out."""
        return bool(_is_threatened(view.state, view.seat, self.late_tiles))

    def safety(self, view: View) -> DiscardPoints:
        """Return the points of each tile (int64[37]) for its safety."""
        weights = self.safest, self.riichi_factor, self.late_factor, self.late_tiles
        points: DiscardPoints = _safety(view.state, view.seat, view.unseen, *weights)
        return points


@compiled
def _is_threatened(state: State, seat: int, late_tiles: int) -> bool:
    for steps in range(1, state.rules.players):
        if state.riichi[seat_after(state, seat, steps)] >= DECLARED:
            return True
    return bool(state.wall_left < late_tiles)


@compiled
def _safety(
    state: State,
    seat: int,
    unseen: Counts,
    safest: int,
    riichi_factor: int,
    late_factor: int,
    late_tiles: int,
) -> DiscardPoints:
    late = late_factor if state.wall_left < late_tiles else 1
    return safest - dangers(state, seat, unseen, late, late * riichi_factor)


@compiled
def dangers(state: State, seat: int, unseen: Counts, dama: int, riichi: int) -> DiscardPoints:
    """Return the danger of each tile, int64[37], summed over the opponents of ``seat``.

    One opponent is a danger of 0 if it cannot ron the kind (genbutsu), else of 1; of 2 if the
    kind is a number tile of runs that is not suji or an honour of which the table shows none.
    Times ``riichi`` if the opponent is in riichi, else ``dama``.
    """
    danger = np.zeros(N_TILES, np.int64)
    for steps in range(1, state.rules.players):
        opponent = seat_after(state, seat, steps)
        safe = genbutsu(state, opponent)
        weight = riichi if state.riichi[opponent] else dama
        for kind in range(N_KINDS):
            if kind < FIRST_HONOUR:
                guarded = is_suji(safe, kind) or holds_no_run(kind, state.rules.players)
            else:
                guarded = unseen[kind] + state.hand[seat, kind] < 4
            if not safe >> kind & 1:
                danger[kind] += weight if guarded else 2 * weight
    for suit in range(3):
        danger[N_KINDS + suit] = danger[9 * suit + 4]
    return danger


@compiled
def is_suji(safe: int, kind: int) -> bool:
    """Whether any two-sided wait on the number kind would be furiten.

    So it is if the kinds three ranks off, both where there are two, are in the mask.

    >>> four, six = 1 << 3, 1 << 5
    >>> [rank + 1 for rank in range(9) if is_suji(four | six, rank)]
    [1, 3, 7, 9]
    """
    low = kind % 9 < 3 or safe >> (kind - 3) & 1 == 1
    high = kind % 9 > 5 or safe >> (kind + 3) & 1 == 1
    return low and high
