"""Machine code that a release brings along, so that a first start compiles nothing.

A release has a folder for each kind of processor in :data:`VARIANTS`, built as the cache is: one
folder for each module, named after a digest of all that its code depends on.  So no code of other
sources is found.  ``manifest.json`` names the versions that the code was made with and the SHA-256
of each file, which is compared before the file is used.  Where versions, processor or digest do not
fit, the function is compiled as in a checkout.
"""

import hashlib
import json
import os
import platform
import sys
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from mjbot.runtime.compiler.mode import IS_INTERPRETED

if not IS_INTERPRETED:
    import llvmlite
    import llvmlite.binding as _binding
    import numba

    from mjbot.runtime.compiler.numba_parts import CHOSEN_LEVEL, IS_TRIED

    binding: Final[Any] = _binding  # no type hints

FOLDER: Final = Path(__file__).parents[2] / "compiled_code"
MANIFEST: Final = "manifest.json"
PREPARED: Final = "prepared"

VARIANTS: Final = {
    "x86-64-v3": ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"),
    "x86-64": (),
}
"""LLVM's name of a kind of processor -> the features that it needs; the first that fits is used."""

OFF_VARIABLE: Final = "MJBOT_SHIPPED"
"""At ``off`` the release's machine code is not used."""


def versions() -> dict[str, str]:
    """Return what compiled code depends on besides our sources and the processor."""
    return {
        "python": f"{sys.implementation.cache_tag} {platform.system()} {platform.machine()}",
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "numpy": np.__version__.partition(".")[0],
    }


@cache
def variant() -> str | None:
    """Return the kind of processor whose code this process may use, if there is any."""
    if IS_INTERPRETED:
        return None
    is_off = not IS_TRIED or CHOSEN_LEVEL or os.environ.get(OFF_VARIABLE) == "off"
    if is_off or _manifest().get("versions") != versions():
        return None
    features = binding.get_host_cpu_features()
    for name, needed in VARIANTS.items():
        if name in _manifest()["variants"] and all(features.get(one) for one in needed):
            return name
    return None


@cache
def _manifest() -> dict[str, Any]:
    try:
        found = json.loads((FOLDER / MANIFEST).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    parts = {"files": dict, "variants": list | dict}
    is_whole = isinstance(found, dict) and all(
        isinstance(found.get(name), kind) for name, kind in parts.items()
    )
    return found if is_whole else {}


def read_shipped(place: str) -> bytes | None:
    """Return a file of the variant's folder; ``None`` if it is missing or not what was released."""
    name = f"{variant()}/{place}"
    digest = _manifest()["files"].get(name) if variant() else None
    if digest is None:
        return None
    try:
        data = (FOLDER / name).read_bytes()
    except OSError:
        return None
    return data if hashlib.sha256(data).hexdigest() == digest else None


def is_prepared(key: str) -> bool:
    """Whether the release has all code for a job of :mod:`mjbot.play.startup.precompile`."""
    return read_shipped(f"{PREPARED}/{key}") is not None


def target() -> tuple[str, str]:
    """Return processor and features as numba names them in the index of compiled code."""
    return variant() or "", ""
