"""Tables as lines of Markdown."""

from collections.abc import Iterable, Iterator, Sequence


def head(names: Sequence[str]) -> Iterator[str]:
    """Yield the two lines that begin a table.

    >>> list(head(["strategy", "games"]))
    ['| strategy | games |', '|---|---|']
    """
    yield row(names)
    yield "|---" * len(names) + "|"


def row(cells: Iterable[str]) -> str:
    """Return a line of a table."""
    return "| " + " | ".join(cells) + " |"
