"""Players' names: distinct at one table, and compared as people read them.

Two names are alike if they have one :func:`name_key`.  Compatible forms (NFKC) and capitals are the
same letters; blanks, accents, strokes and invisible characters are left out; letters that look like
Latin ones are these (``lookalikes.json``, from Unicode's list of confusable letters by
``proof/lookalikes.py``), and so are Latin small capitals; 0 is o, and 1 and i are l.
"""

import json
import re
import unicodedata
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Final

from mjbot.protocol.sessions.lockstep_server import MOST_LETTERS_OF_NAME

LOOKALIKES: Final = Path(__file__).with_name("lookalikes.json")
"""By a Latin letter the letters that look like it."""
_UNSEEN: Final = "\u115f\u1160\u2800"
"""Letters and a symbol of Unicode that show nothing."""
_LATIN: Final = re.compile(
    r"LATIN (?:LETTER SMALL CAPITAL|(?:SMALL|CAPITAL) LETTER) ([A-Z])( WITH .*)?"
)
_ONE_SIGN: Final = str.maketrans("01i|", "olll")


def name_key(name: str) -> str:
    r"""Return what is compared of a name.

    >>> name_key("Bot1 ") == name_key("\uff22ot1") == name_key("b\u043et\u200b1") == "botl"
    True
    >>> name_key("麻雀 bot"), name_key(" \u200b")
    ('麻雀bot', '')
    """
    return plain_form(plain_form(name, look=True), look=True).translate(_ONE_SIGN)


def plain_form(name: str, *, look: bool = False) -> str:
    """Return a name without accents and capitals; ``look``: with Latin letters for others."""
    table = _lookalikes() if look else {}
    plain = unicodedata.normalize("NFKC", name.translate(table)).translate(table).casefold()
    letters = unicodedata.normalize("NFKD", plain)
    return "".join([_base(letter) for letter in letters if _is_seen(letter)])


@cache
def _lookalikes() -> dict[int, str]:
    table: dict[str, str] = json.loads(LOOKALIKES.read_text("utf-8"))
    return {ord(letter): latin for latin, letters in table.items() for letter in letters}


def _base(letter: str) -> str:
    """Return the Latin letter of one with a stroke, a hook or of a small capital."""
    match = None if letter.isascii() else _LATIN.fullmatch(unicodedata.name(letter, ""))
    return match[1].lower() if match else letter


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
