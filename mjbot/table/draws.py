"""How a kyoku can end without a win, as small codes with their wire names."""

from typing import Final

NO_DRAW: Final = 0
EXHAUSTIVE: Final = 1
NAGASHI: Final = 2
NINE_TERMINALS: Final = 3
FOUR_WINDS: Final = 4
FOUR_KANS: Final = 5
FOUR_RIICHI: Final = 6
TRIPLE_RON: Final = 7
CHOMBO: Final = 8

WIRE_REASONS: Final = (
    "",
    "fanpai",
    "nagashimangan",
    "kyushukyuhai",
    "sufonrenta",
    "sukaikan",
    "suchareach",
    "sanchaho",
    "error",
)
"""Wire names of the codes (:data:`protocol.messages.DRAW_REASONS`)."""
