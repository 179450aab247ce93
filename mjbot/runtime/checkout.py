"""What a checkout has in addition to the installed packages: ``papers``, the papers' experiments.

A wheel is complete without it: it plays, trains the shipped models, measures and reviews.  In a
checkout ``papers`` adds experiments, training commands and strategies under their names.
"""

import importlib.machinery
import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Final

ROOT: Final = Path(__file__).parents[2]
"""The folder that holds the package ``mjbot``: a checkout, or the site-packages of a wheel."""
PAPERS: Final = "papers"


@cache
def papers() -> ModuleType | None:
    """Return the package ``papers`` next to this one, or ``None`` where there is none.

    Another package of that name, installed or imported before, is left alone.
    """
    face = ROOT / PAPERS / "__init__.py"
    if not face.is_file() or "mjbot" not in face.read_text(encoding="utf-8").partition("\n")[0]:
        return None
    loaded = sys.modules.get(PAPERS)
    if loaded is not None:
        return loaded if loaded.__file__ == str(face) else None
    spec = importlib.machinery.PathFinder.find_spec(PAPERS, [str(ROOT)])
    if spec is None or spec.loader is None:
        return None
    sys.modules[PAPERS] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if str(ROOT) not in sys.path:  # processes of our own import it by its name, too
        sys.path.append(str(ROOT))
    return module


def papers_weights() -> list[Path]:
    """Return the weights of the papers' systems, ``.npz`` files sorted by path."""
    found = papers()
    return sorted((ROOT / PAPERS).glob("*/weights/*.npz")) if found else []
