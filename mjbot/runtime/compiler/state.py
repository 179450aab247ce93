"""What the cache of compiled code holds."""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mjbot.runtime.compiler.cache import CHECKED, cache_folder
from mjbot.runtime.compiler.checked_files import DATA, INDEX, read


@dataclass(frozen=True)
class CacheState:
    """``n_functions`` and ``n_entries``, their versions for other arguments, are of all versions.

    ``damaged`` are files that are compiled again when they are needed: to delete them, or the whole
    folder, does no harm.
    """

    folder: Path
    n_functions: int
    n_entries: int
    n_bytes: int
    damaged: tuple[Path, ...]


def cache_state() -> CacheState:
    """Read all files of the cache (30 MB take 0.1 s) and return what it holds.

    Raises :class:`mjbot.runtime.compiler.cache.CacheError` where another user can write to it.
    """
    folder = cache_folder()
    sizes = dict(_sizes(folder))
    checked = [path for path in sizes if CHECKED in path.relative_to(folder).parts[0]]
    kept = [path for path in checked if path.suffix in (INDEX, DATA)]
    return CacheState(
        folder,
        n_functions=sum(path.suffix == INDEX for path in sizes),
        n_entries=sum(path.suffix == DATA for path in sizes),
        n_bytes=sum(sizes.values()),
        damaged=tuple(sorted(path for path in kept if path.exists() and read(path) is None)),
    )


def _sizes(folder: Path) -> Iterator[tuple[Path, int]]:
    """Yield the files below a folder, some of which other processes may remove meanwhile."""
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                path = Path(place, name)
                yield path, path.stat().st_size
