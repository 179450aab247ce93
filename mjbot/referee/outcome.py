"""How a kyoku ended, as one compiled record that messages are made from."""

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.compiled import record_type

OUTCOME: Final = record_type(
    [
        ("deltas", np.int32, (4,)),  # what a draw pays
        ("n_wins", np.int8),
        ("target", np.int8),  # who dealt in; the winner itself by draw
        ("tile", np.int8),
        ("reason", np.int8),  # NO_DRAW after a win, else a code of mjbot.table.draws
        ("actor", np.int8),  # who declared nine terminals
        ("tenpai", np.int8, (4,)),
    ]
)
"""Beside it go up to three :data:`mjbot.table.settle.PAYMENT`, one for each win."""

if TYPE_CHECKING:

    class Outcome:
        """One record of :data:`OUTCOME`: ``r["field"]`` in Python, ``r.field`` compiled."""

        deltas: NDArray[np.int32]
        n_wins: int
        target: int
        tile: int
        reason: int
        actor: int
        tenpai: NDArray[np.int8]

        def __getitem__(self, field: str) -> Any: ...
        def __setitem__(self, field: str, value: Any) -> None: ...

else:
    Outcome = np.void
