"""A toolkit for riichi mahjong bots.  ``from mjbot import Strategy, View, Action`` starts one.

The public names are listed in :mod:`mjbot.api` and described in ``docs/api.md``; they are loaded
when the first of them is used.
"""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mjbot.api import *  # noqa: F403

    __version__: str

# numpy reads it when it is first imported.  One decision's matrices are small: threads of OpenBLAS
# took 11 ms for what one does in 0.5, and arena workers have a core each.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _leave_current_folder() -> None:
    """Look for no module there, where ``python -m mjbot`` looks first: for a ``random.py``, say.

    A bot of the user's is still found there, behind all that is installed.
    """
    here, ours = os.getcwd(), str(Path(__file__).parents[1])
    is_started = sys.argv[:1] == ["-m"] and "mjbot" in sys.orig_argv
    if is_started and not sys.flags.safe_path and sys.path[:1] == [here] and here != ours:
        del sys.path[0]


_leave_current_folder()

from mjbot.runtime.compiler.imported import record_imports  # noqa: E402

record_imports()  # before any module with compiled code is imported


if not TYPE_CHECKING:  # a checker would take any name for known

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from importlib.metadata import version

            return globals().setdefault(name, version("mjbot"))  # reading it takes milliseconds
        is_module = any(Path(__file__).with_name(name + end).exists() for end in ("", ".py"))
        if name == "__all__" or not (name.startswith("_") or is_module):
            from mjbot import api

            if name == "__all__" or name in api.RENAMED:
                return getattr(api, name)
            if name in api.__all__:  # kept: finding it again would take longer than what it does
                return globals().setdefault(name, getattr(api, name))
        raise AttributeError(f"mjbot has no {name!r}; docs/api.md lists what it has")

    def __dir__() -> list[str]:
        from mjbot import api

        return sorted({*globals(), *api.__all__, "__version__"})
