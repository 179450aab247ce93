"""The public names of ``from mjbot import ...``: what a strategy needs and records, stable.

The package loads this module when the first of its names is used.
"""

import warnings
from typing import Final

from mjbot.game.records.choices import recorded_decisions
from mjbot.game.records.positions import recorded_view
from mjbot.game.records.written import write_record
from mjbot.game.rules.checked import (
    acceptance,
    count_tiles,
    hand_counts,
    kinds_of,
    parse_tiles,
    shanten,
    shanten_and_acceptance,
    tile_kind,
    tile_name,
    waits,
)
from mjbot.game.rules.fu_parts import FuPart
from mjbot.game.table.actions import DECIDES_ALL, DECIDES_CALLS, DECIDES_TURNS, DECIDES_WINS, Action
from mjbot.game.table.hand_score import HandScore, WinningHand, score_hand
from mjbot.game.table.state import MeldType, Phase, RiichiState, RiverFlag
from mjbot.game.table.view import Meld, View
from mjbot.protocol.tiles import (
    N_KINDS,
    N_TILES,
    RED_FIVES,
    TILE_BY_NAME,
    TILE_NAMES,
)
from mjbot.runtime.compiler.compiled import compiled
from mjbot.strategy.explanation import DataTable, Explanation, Rated, Strength, Term
from mjbot.strategy.options import StrategyError
from mjbot.strategy.registry import make_strategy
from mjbot.strategy.strategy import Strategy
from mjbot.viewer.drawing import view_svg

__all__ = [
    "DECIDES_ALL",
    "DECIDES_CALLS",
    "DECIDES_TURNS",
    "DECIDES_WINS",
    "N_KINDS",
    "N_TILES",
    "RED_FIVES",
    "TILE_BY_NAME",
    "TILE_NAMES",
    "Action",
    "DataTable",
    "Explanation",
    "FuPart",
    "HandScore",
    "Meld",
    "MeldType",
    "Phase",
    "Rated",
    "RiichiState",
    "RiverFlag",
    "Strategy",
    "StrategyError",
    "Strength",
    "Term",
    "View",
    "WinningHand",
    "acceptance",
    "compiled",
    "count_tiles",
    "hand_counts",
    "kinds_of",
    "make_strategy",
    "parse_tiles",
    "recorded_decisions",
    "recorded_view",
    "score_hand",
    "shanten",
    "shanten_and_acceptance",
    "tile_kind",
    "tile_name",
    "view_svg",
    "waits",
    "write_record",
]

RENAMED: Final = {
    f"WANTS_{choices}": f"DECIDES_{choices}" for choices in ("ALL", "CALLS", "TURNS", "WINS")
}
"""Names of version 0.2 -> today's; removed in version 0.5."""


def __getattr__(name: str) -> object:
    if name not in RENAMED:
        raise AttributeError(f"mjbot.api has no {name!r}")
    warnings.warn(f"{name} is now {RENAMED[name]}", DeprecationWarning, stacklevel=2)
    return globals()[RENAMED[name]]
