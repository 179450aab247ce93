"""The folders ``protocol`` and ``strategies`` of a checkout, where their parent lies on the path.

They are the packages ``mjbot.protocol`` and ``mjbot.strategies``.  Imported by the bare name they
would be second copies, with types of their own; and a user's package of that name, which Python
looks for further along the path, is what the importing code means.
"""

import importlib.util
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).resolve().parents[2]


def import_from_elsewhere(name: str) -> None:
    """Import the package ``name`` from the rest of the path, in place of the one being imported.

    Python returns what stands in ``sys.modules`` after a module's code has run.  Raises
    ``ImportError`` where there is no other.
    """
    elsewhere = [entry for entry in sys.path if Path(entry).resolve() != _ROOT]
    spec = PathFinder.find_spec(name, elsewhere)
    if spec is None:
        raise ImportError(f"import it as mjbot.{name}", name=name)
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    if spec.loader is not None:  # a folder without __init__.py has none
        spec.loader.exec_module(module)
