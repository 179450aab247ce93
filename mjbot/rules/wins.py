"""The record of one win: everything that its score depends on.

Fill one in Python (:func:`new_win`) or in compiled code::

    win = np.zeros(1, WIN)[0]
    win.hand[:] = state.hand[seat]
    ...
    han, fu, yaku, yakuman = score_win(win)
"""

from typing import Final

import numpy as np

# Bits of `flags`:
TSUMO: Final = 1
RIICHI: Final = 2
DOUBLE_RIICHI: Final = 4  # with or without RIICHI
IPPATSU: Final = 8
RINSHAN: Final = 16
CHANKAN: Final = 32
HAITEI: Final = 64  # the last tile of the wall is drawn; ignored beside RINSHAN
HOUTEI: Final = 128
FIRST_TURN: Final = 256  # own first draw, nobody has called: tenhou or chiihou

WIN: Final = np.dtype(
    [
        ("hand", np.int8, (34,)),  # concealed counts, the winning tile included
        ("n_melds", np.int8),
        ("meld_type", np.int8, (4,)),  # 0 chi, 1 pon, 2 daiminkan, 3 kakan, 4 ankan
        ("meld_kind", np.int8, (4,)),  # lowest kind of a chi
        ("win_kind", np.int8),
        ("seat_wind", np.int8),  # 0 East .. 3 North
        ("round_wind", np.int8),
        ("dora", np.int8),  # how many dora the whole hand holds, melds included
        ("ura", np.int8),  # 0 without riichi
        ("red", np.int8),
        ("flags", np.int32),
    ],
    align=True,
)

Win = np.void
"""One record of :data:`WIN`."""


def new_win() -> Win:
    """Return an empty record (East seat, East round, no flags)."""
    return np.zeros(1, WIN)[0]
