"""The kit: rules, table, referee, client, server and command line."""

import importlib.machinery
import importlib.util
import sys
from pathlib import Path


def _claim(name: str) -> None:
    """Make ``name`` mean the package beside this one, whatever else is called that.

    The folder of a bot author is likely to hold a ``strategies`` or a ``protocol.py`` of its own,
    and the current folder comes before what is installed: in ``python -m`` and in scripts, and
    before an editable install in any case.  Raises ``ImportError`` if another one of that name is
    imported already.
    """
    ours = Path(__file__).parents[1]
    loaded = sys.modules.get(name)
    if loaded is not None:
        places = [Path(place) for place in getattr(loaded, "__path__", [])]
        if ours / name not in places:
            where = places[0] if places else getattr(loaded, "__file__", None)
            raise ImportError(
                f"mjbot needs its own package {name!r} in {ours}, but another one of that name is"
                f" imported already, from {where}: rename that, or import mjbot before it"
            )
        return
    spec = importlib.machinery.PathFinder.find_spec(name, [str(ours)])
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)


for _name in ("protocol", "strategies"):
    _claim(_name)
