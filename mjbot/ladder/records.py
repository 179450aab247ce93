"""How people play: the same rates, counted in recorded games."""

from pathlib import Path
from typing import Final

import numpy as np
from rich.console import Console

from mjbot.progress import progress
from mjbot.records.game import GameDigest, GameDigester
from mjbot.records.sources import games_of, list_sources
from mjbot.statistics.figures import COUNTS, ROW, Counts, EventCounter, Sums

_COUNTED: Final = tuple(name for name in COUNTS.names or () if name != "fed")


def rates_of_records(path: Path) -> Sums:
    """Return a record of :data:`~mjbot.statistics.figures.ROW` per game, of all its four players.

    A game that is there in several files counts once.
    ``path`` is a file, folder or zip of records.  The rates count, ranks and scores do not.
    Raises ``OSError`` and :class:`~mjbot.records.game.RecordError`.
    """
    sources = list_sources(path)
    rows = []
    seen: set[GameDigest] = set()
    with progress(Console(stderr=True), f"counting {path.name}", len(sources), "files") as step:
        for source in sources:
            for game in games_of(source):
                counter, digester = EventCounter(), GameDigester()
                for entry in game.entries:
                    counter.add(entry.event)
                    digester.add(entry.event)
                if digester.digest not in seen:
                    seen.add(digester.digest)
                    rows.append(_row(counter.counts))
            step()
    return np.concatenate(rows) if rows else np.zeros(0, ROW)


def _row(counts: Counts) -> Sums:
    row = np.zeros(1, ROW)
    for name in _COUNTED:
        row[name] = counts[name].sum()
    return row
