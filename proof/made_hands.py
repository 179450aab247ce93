"""Hands made up by hypothesis, complete or not, few kinds and four copies being common."""

from dataclasses import dataclass

from hypothesis import strategies as st

from mjbot.game.rules.kinds import count_kinds
from mjbot.game.rules.shanten import Counts
from proof.made_wins import PALETTES


@dataclass(frozen=True)
class MadeHand:
    """Concealed tiles as 136 ids, and the number of melds."""

    ids: tuple[int, ...]
    n_melds: int

    def counts(self) -> Counts:
        """Return the hand as our rules take it."""
        return count_kinds(tile // 4 for tile in self.ids)


@st.composite
def made_hands(draw: st.DrawFn, beyond_blocks: int) -> MadeHand:
    """Draw a hand of 3n + ``beyond_blocks`` (1 or 2) tiles, n = 0..4."""
    palette = draw(st.sampled_from(PALETTES))
    ids = [4 * kind + copy for kind in palette for copy in range(4)]
    n_blocks = draw(st.sampled_from([4, 4, 4, 3, 2, 1, 0]))
    size = 3 * n_blocks + beyond_blocks
    tiles = draw(st.lists(st.sampled_from(ids), min_size=size, max_size=size, unique=True))
    return MadeHand(tuple(sorted(tiles)), 4 - n_blocks)
