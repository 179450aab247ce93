"""What a user may want to know of the compiler: whether it works, and what its cache holds."""

from dataclasses import dataclass
from pathlib import Path

from mjbot.runtime.compiler.cache import CHECKED, cache_folder
from mjbot.runtime.compiler.kept_files import DATA, INDEX, read
from mjbot.runtime.compiler.mode import CURE, INTERPRETED_BECAUSE, IS_INTERPRETED


@dataclass(frozen=True)
class CompilerState:
    """Whether functions are compiled; if not, why, and what the user can do about it."""

    is_compiled: bool
    reason: str
    cure: str

    def __str__(self) -> str:
        return "compiled" if self.is_compiled else f"interpreted, because {self.reason}"


@dataclass(frozen=True)
class CacheState:
    """What lies in the cache; ``n_entries`` are compiled functions of all versions.

    ``damaged`` are files that are compiled again when they are needed: to delete them, or the whole
    folder, does no harm.
    """

    folder: Path
    n_entries: int
    n_bytes: int
    damaged: tuple[Path, ...]


def compiler_state() -> CompilerState:
    """Return whether functions are compiled in this process and those that it starts."""
    cure = CURE if IS_INTERPRETED else ""
    return CompilerState(not IS_INTERPRETED, INTERPRETED_BECAUSE, cure)


def cache_state() -> CacheState:
    """Read all files of the cache (30 MB take 0.1 s) and return what it holds.

    Raises :class:`mjbot.runtime.compiler.cache.CacheError` where another user can write to it.
    """
    folder = cache_folder()
    files = [path for path in folder.rglob("*") if path.is_file()]
    checked = [path for path in files if CHECKED in path.relative_to(folder).parts[0]]
    kept = [path for path in checked if path.suffix in (INDEX, DATA)]
    return CacheState(
        folder,
        n_entries=sum(path.suffix == DATA for path in files),
        n_bytes=sum(path.stat().st_size for path in files),
        damaged=tuple(sorted(path for path in kept if read(path) is None)),
    )
