"""A toolkit for riichi mahjong bots.  ``from mjbot import Strategy, View, Action`` starts one.

The public names are listed in :mod:`mjbot.api` and described in ``docs/api.md``; they are loaded
when the first of them is used.
"""

import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

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


def _claim(name: str) -> None:
    """Make ``name`` mean the package next to this one, whatever else is called that.

    The folder of a bot author is likely to hold a ``strategies`` or a ``protocol.py`` of its own,
    and the current folder comes before what is installed: in ``python -m`` and in scripts, and
    before an editable install in any case.  Refused is another one of that name that is imported
    already, and one that another distribution has installed over ours.
    """
    ours = Path(__file__).parents[1]
    loaded = sys.modules.get(name)
    if loaded is not None:
        places = [Path(place) for place in getattr(loaded, "__path__", [])]
        if ours / name not in places:
            where = places[0] if places else getattr(loaded, "__file__", None)
            _refuse(
                f"mjbot needs its own package {name!r} in {ours}, but another one of that name is"
                f" imported already, from {where}: rename that, or import mjbot before it"
            )
        return
    face = ours / name / "__init__.py"
    if not face.is_file() or b"mjbot" not in face.read_bytes().partition(b"\n")[0]:
        what = "is of another distribution" if face.is_file() else "is missing"
        _refuse(
            f"mjbot needs its own package {name!r}, but {face} {what}: install mjbot again, in an"
            f" environment without a distribution that is called {name!r}"
        )
    spec = importlib.machinery.PathFinder.find_spec(name, [str(ours)])
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)


def _refuse(text: str) -> NoReturn:
    """Raise ``ImportError``; a command ends with that one line."""
    program = sys.argv[0] if sys.argv else ""
    if Path(program).stem == "mjbot" or (program == "-m" and "mjbot" in sys.orig_argv):
        sys.exit(f"mjbot: {text}")
    raise ImportError(text)


for _name in ("protocol", "strategies"):
    _claim(_name)

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

            if name == "__all__" or name in api.__all__ or name in api.RENAMED:
                return getattr(api, name)
        raise AttributeError(f"mjbot has no {name!r}; docs/api.md lists what it has")

    def __dir__() -> list[str]:
        from mjbot import api

        return sorted({*globals(), *api.__all__, "__version__"})
