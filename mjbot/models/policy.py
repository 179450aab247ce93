"""The learned player's network at the table."""
from typing import Final
HIDDEN: Final = 128
N_OTHERS: Final = 10
RIICHI: Final = 0
PON: Final = 2
CHI: Final = 4
KAN: Final = 8
EARLY_BLOCKS: Final = 2
