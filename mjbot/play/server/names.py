"""Players' names: distinct at one table, and compared as people read them.

Two names are alike if they have one :func:`name_key`: compatible forms (NFKC) and capitals are the
same letters, blanks, accents and invisible characters are left out, and Cyrillic and Greek letters
that look like Latin ones are these.
"""

import unicodedata
from collections.abc import Collection
from typing import Final

from mjbot.protocol.sessions.lockstep_server import MOST_LETTERS_OF_NAME

_LOOKS: Final = (
    ("АВЕЅІЈКМНОРСТУХԚԜ", "ABESIJKMHOPCTYXQW"),  # Cyrillic
    ("авеѕіјкмнорстухԛԝԁһӏг", "abesijkmhopctyxqwdhlr"),
    ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX"),  # noqa: RUF001 Greek
    ("αβεικνορτυχω", "abeikvoptuxw"),
)
_UNSEEN: Final = "\u115f\u1160\u2800"
"""Letters and a symbol of Unicode that show nothing."""
_LATIN: Final = str.maketrans(dict(zip(*map("".join, zip(*_LOOKS, strict=True)), strict=True)))


def name_key(name: str) -> str:
    r"""Return what is compared of a name.

    >>> name_key("Bot1 ") == name_key("\uff22ot1") == name_key("b\u043et\u200b1") == "bot1"
    True
    >>> name_key("麻雀 bot"), name_key(" \u200b")
    ('麻雀bot', '')
    """
    plain = unicodedata.normalize("NFKC", name).translate(_LATIN).casefold()
    letters = unicodedata.normalize("NFKD", plain).translate(_LATIN)
    return "".join([letter for letter in letters if _is_seen(letter)])


def _is_seen(letter: str) -> bool:
    return unicodedata.category(letter)[0] not in "CMZ" and letter not in _UNSEEN


def free_name(name: str, taken: Collection[str]) -> str:
    """Return a name that is not taken, with ``-2`` behind it if need be, and not too long."""
    number = 2
    free = name[:MOST_LETTERS_OF_NAME]
    while free in taken:
        end = f"-{number}"
        free = name[: MOST_LETTERS_OF_NAME - len(end)] + end
        number += 1
    return free


def distinct_names(names: Collection[str]) -> tuple[str, ...]:
    """Return the names of a table's players, no two alike.

    >>> distinct_names(["twin", "ann", "twin"])
    ('twin', 'ann', 'twin-2')
    """
    apart: list[str] = []
    for name in names:
        apart.append(free_name(name, apart))
    return tuple(apart)
