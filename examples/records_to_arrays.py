"""Records as arrays: every decision of many games as (X, y, mask), to learn from in any library.

    python examples/records_to_arrays.py games.zip --games 1000 --out discards.npz

First all decisions are written as columns, once (``mjbot train data`` does the same): each holds
the table before it and what was chosen.  Then rows of one kind become arrays: ``X[n, inputs]`` is
what the seat saw, as the environments of ``mjbot.learning.env`` have it, ``y[n]`` the class that
was chosen, ``mask[n, classes]`` what was legal.  A row of X takes 10 kB, so a thousand games are
read in parts; the example takes one part and prints how often the most frequent legal kind would be
right.
"""

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from mjbot.learning.env import N_SCALARS, PLANE_NAMES, SCALAR_NAMES
from mjbot.learning.training.networks.decisions import open_decisions, write_decisions
from mjbot.learning.training.requests import DataRequest


def main() -> None:
    """Read records, print the shapes, write one part of the arrays."""
    parser = argparse.ArgumentParser(description="decisions of records as arrays")
    parser.add_argument("records", type=Path, nargs="?", default=Path("logs"))
    parser.add_argument("--games", type=int, default=1000, help="at most so many of the games")
    parser.add_argument("--kind", default="discard", help="discard, riichi, pon, chi or kan")
    parser.add_argument("--rows", type=int, default=20_000, help="rows of one part")
    parser.add_argument("--out", type=Path, default=Path("decisions.npz"))
    args = parser.parse_args()
    with TemporaryDirectory() as folder:
        columns = Path(folder, "columns")
        began = time.monotonic()
        info = write_decisions(DataRequest(records=[args.records], folder=columns, jobs=2))
        print(f"{info.games} games, {info.rows} in {time.monotonic() - began:.1f} s")
        decisions = open_decisions(columns, args.kind).of_games(0, args.games)
        began = time.monotonic()
        x, y, mask = decisions.arrays(0, args.rows)
        print(f"X {x.shape}, y {y.shape}, mask {mask.shape} in {time.monotonic() - began:.1f} s")
    planes, scalars = x[:, :-N_SCALARS].reshape(len(x), 34, -1), x[:, -N_SCALARS:]
    for name in ("dora /2", "legal discard"):
        print(f"plane {name!r}: mean {planes[:, :, PLANE_NAMES.index(name)].mean():.3f}")
    wall = scalars[:, SCALAR_NAMES.index("wall left /70")]
    print(f"scalar 'wall left /70': mean {wall.mean():.3f}")
    counts = np.bincount(y, minlength=mask.shape[1])
    guess = np.where(mask, counts, -1).argmax(axis=1)
    print(f"the most frequent legal class is right in {(guess == y).mean():.1%}")
    np.savez_compressed(args.out, x=x.astype(np.float16), y=y, mask=mask)


if __name__ == "__main__":
    main()
