"""The record of one win: everything that its score depends on.

Fill one in Python (:func:`new_win`) or in compiled code::

    wins = np.zeros(1, WIN)
    win = wins[0]
    win.n_melds = 0
    ...
    han, fu, yaku, yakuman = score_win(win)
    keep_alive(wins)  # see mjbot.compiler.compiled
"""

from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from mjbot.compiler.compiled import record_type

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

WIN: Final = record_type(
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
    ]
)

if TYPE_CHECKING:

    class Win:
        """One record of :data:`WIN`: ``win["hand"]`` in Python, ``win.hand`` in compiled code."""

        hand: NDArray[np.int8]
        n_melds: int
        meld_type: NDArray[np.int8]
        meld_kind: NDArray[np.int8]
        win_kind: int
        seat_wind: int
        round_wind: int
        dora: int
        ura: int
        red: int
        flags: int

        def __getitem__(self, field: str) -> Any: ...
        def __setitem__(self, field: str, value: Any) -> None: ...

else:
    Win = np.void


def new_win() -> Win:
    """Return an empty record (East seat, East round, no flags)."""
    return cast(Win, np.zeros(1, WIN)[0])
