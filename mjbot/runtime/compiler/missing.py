"""How many compiled functions modules declare that the cache on disk does not hold.

Apart from :mod:`mjbot.runtime.compiler.compiled`, which every compiled module imports: what is
added there has everything compiled again.
"""

import re
from collections.abc import Iterable
from typing import Final

from mjbot.runtime.compiler.cache import cache_folder
from mjbot.runtime.compiler.compiled import VERSION
from mjbot.runtime.compiler.sources import source_digest, source_file, with_imports

_DECLARED: Final = re.compile(r"^@compiled\b", re.M)


def missing_functions(modules: Iterable[str]) -> int:
    """Return how many functions of the modules, and of all that they import, are not cached.

    An upper bound of what is left to compile: a module may declare functions that a command never
    calls.  Variants of a function for further types are not counted.
    """
    return sum(map(_missing_in, set().union(*map(with_imports, modules))))


def _missing_in(module: str) -> int:
    source = source_file(module)
    declared = len(_DECLARED.findall(source.read_text(encoding="utf-8"))) if source else 0
    if not declared:
        return 0
    kept = cache_folder() / VERSION / source_digest(module)
    return max(0, declared - len(list(kept.rglob("*.nbi"))))
