"""What the checks against published answers share: a report, and win records from tiles."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from mjbot.game.rules import wins
from mjbot.game.rules.kinds import count_kinds
from mjbot.game.rules.wins import Win, new_win
from mjbot.game.table.observe import dora_kind
from mjbot.protocol.tiles import tile_kind


@dataclass
class Report:
    """How many answers agreed (by kind), differed for a known reason, and differed without one."""

    agreed: Counter[str] = field(default_factory=Counter)
    explained: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)

    def compare(self, what: str, case: object, ours: object, theirs: object) -> None:
        """Book one answer."""
        if ours == theirs:
            self.agreed[what] += 1
        else:
            self.differences.append(f"{what}: ours {ours}, theirs {theirs}, of {case}")

    def lines(self) -> Iterator[str]:
        """Yield the report as text, the first 20 differences included."""
        for what, count in self.agreed.items():
            yield f"{count:7,} agree: {what}"
        for reason, count in self.explained.items():
            yield f"{count:7,} differ for a known reason: {reason}"
        yield f"{len(self.differences):7,} differ without a known reason"
        yield from self.differences[:20]


def make_win(tiles: list[int], melds: list[tuple[int, int]], flags: int) -> Win:
    """Describe a win by the last of ``tiles``."""
    win = new_win()
    win["hand"] = count_kinds(tiles)
    win["win_kind"] = tile_kind(tiles[-1])
    win["flags"] = flags
    win["n_melds"] = len(melds)
    for index, (meld_type, kind) in enumerate(melds):
        win["meld_type"][index], win["meld_kind"][index] = meld_type, kind
    return win


def count_dora(win: Win, tiles: list[int], markers: list[int], ura_markers: list[int]) -> None:
    """Set dora, ura and red of ``win``; ``tiles`` are all its tiles, melds included."""
    held = count_kinds(tiles)
    win["dora"] = sum(held[dora_kind(marker, 4)] for marker in markers)
    if win["flags"] & (wins.RIICHI | wins.DOUBLE_RIICHI):
        win["ura"] = sum(held[dora_kind(marker, 4)] for marker in ura_markers)
    win["red"] = sum(tile >= 34 for tile in tiles)
