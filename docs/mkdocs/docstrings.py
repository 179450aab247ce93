"""How docstrings become Markdown on the site: roles become code, doctests become blocks."""

import re
from typing import Any, Final

import griffe

_ROLE: Final = re.compile(r":(?:attr|class|data|func|meth|mod):`[~!]?([^`]+)`")
_DOCTEST: Final = re.compile(r"(?:^>>> .*\n?(?:^(?!>>> ).*\S.*\n?)*)+", re.M)


def markdown(docstring: str) -> str:
    """Return a docstring with its roles and doctests as Markdown has them.

    >>> markdown("Like :func:`mjbot.game.rules.shanten.shanten`.")
    'Like `mjbot.game.rules.shanten.shanten`.'
    """
    text = _ROLE.sub(r"`\1`", docstring).replace("``", "`")
    return _DOCTEST.sub(lambda found: f"```python\n{found[0].rstrip()}\n```\n", text)


class Docstrings(griffe.Extension):
    """Applied to every docstring that is shown."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Rewrite the docstring of a module, class, function or attribute."""
        if obj.docstring:
            obj.docstring.value = markdown(obj.docstring.value)
