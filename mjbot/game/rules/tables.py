"""The distance tables, loaded once per process and open to compiled code.

The tables stay outside compiled code (:mod:`mjbot.runtime.compiler.global_arrays`).  Importing this
module loads them; the first import ever (or after damage to the file) makes them.
"""

import io
import os
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules import table_maker
from mjbot.game.rules.table_maker import N_BYTES, DistanceTables, make_tables
from mjbot.runtime.compiler.cache import cache_folder
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.global_arrays import global_array
from mjbot.runtime.compiler.shipped import read_shipped


def tables_file() -> Path:
    """Return where the tables are kept; the name changes with the code that makes them."""
    digest = sha256(Path(table_maker.__file__).read_bytes()).hexdigest()[:16]
    return cache_folder() / f"rules-{digest}.npz"


def load_tables() -> DistanceTables:
    """Load the tables, or make and save them if the file is missing or damaged."""
    path = tables_file()
    for read in (path.read_bytes, lambda: read_shipped(path.name) or b""):
        with suppress(Exception):  # whatever the damage is, making them again cures it
            return _tables_in(read())
    tables = make_tables()
    _save(path, tables)
    return tables


def _tables_in(content: bytes) -> DistanceTables:
    """Return the tables of a file; raises some exception if it is damaged."""
    with np.load(io.BytesIO(content)) as saved:  # checks the CRC of each member
        tables = DistanceTables(**{name: saved[name] for name in DistanceTables._fields})
    if any(table.nbytes != N_BYTES[name] for name, table in tables._asdict().items()):
        raise ValueError("tables of another size")
    return tables


def _save(path: Path, tables: DistanceTables) -> None:
    """Write a temporary file and rename it: other processes may be starting at the same time."""
    temporary = path.with_suffix(f".{os.getpid()}.npz")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(temporary, **tables._asdict())
        temporary.replace(path)
    except OSError:  # a read-only or full disk: the tables are just made again next time
        with suppress(OSError):
            temporary.unlink()


TABLES: Final = load_tables()


def _pointer(name: str) -> Callable[[], Any]:
    return global_array(f"mjbot_{name}", getattr(TABLES, name).ravel())


_suit_start = _pointer("suit_start")
_suit_order = _pointer("suit_order")
_suit_row = _pointer("suit_row")
_honour_start = _pointer("honour_start")
_honour_order = _pointer("honour_order")
_honour_row = _pointer("honour_row")
_join = _pointer("join")
_missing = _pointer("missing")


@compiled
def number_of_five(hand: NDArray[np.int8], first: int) -> int:
    """Return the base-5 number of five kinds' counts, kept in range whatever the counts are."""
    number = (
        hand[first]
        + 5 * hand[first + 1]
        + 25 * hand[first + 2]
        + 125 * hand[first + 3]
        + 625 * hand[first + 4]
    )
    return int(max(0, min(number, 5**5 - 1)))


@compiled
def number_of_four(hand: NDArray[np.int8], first: int) -> int:
    """Return the same for four kinds."""
    number = hand[first] + 5 * hand[first + 1] + 25 * hand[first + 2] + 125 * hand[first + 3]
    return int(max(0, min(number, 5**4 - 1)))


@compiled
def number_of_three(hand: NDArray[np.int8], first: int) -> int:
    """Return the same for three kinds."""
    number = hand[first] + 5 * hand[first + 1] + 25 * hand[first + 2]
    return int(max(0, min(number, 5**3 - 1)))


@compiled
def suit_row(low: int, high: int) -> int:
    """Return the row of a suit from the numbers of its ranks 1..5 and 6..9."""
    return int(_suit_row()[_suit_start()[low] + _suit_order()[high]])


@compiled
def honour_row(winds: int, dragons: int) -> int:
    """Return the row of the honours from the numbers of the winds and of the dragons."""
    return int(_honour_row()[_honour_start()[winds] + _honour_order()[dragons]])


@compiled
def suit_row_of(hand: NDArray[np.int8], first: int) -> int:
    """Return the row of the suit whose lowest kind is ``first`` (0, 9 or 18)."""
    return suit_row(number_of_five(hand, first), number_of_four(hand, first + 5))


@compiled
def honour_row_of(hand: NDArray[np.int8]) -> int:
    """Return the row of the honours."""
    return honour_row(number_of_four(hand, 27), number_of_three(hand, 31))


@compiled
def join(row: int, other: int) -> int:
    """Return the row of two suits together."""
    return int(_join()[256 * row + other])


@compiled
def missing(row: int, n_melds: int) -> int:
    """Return the tiles missing for ``4 - n_melds`` blocks and a pair (shanten + 1)."""
    return int(_missing()[8 * row + n_melds])
