"""Other people's text where a person reads it: a terminal obeys some letters, a log cuts at others.

Names, refusals, whatever is quoted: all of it is untrusted, and goes through here before
it is printed or logged.  Not in :mod:`mjbot.protocol.errors`, on which compiled code depends.
"""

import re
from typing import Final

_BLANKS: Final = re.compile(r"[^\S ]+")

MOST_LETTERS: Final = 2000
"""Length at which a quoted text is cut."""


def one_line(text: object, most: int = MOST_LETTERS) -> str:
    r"""Return a text, or an error's, as one line that a terminal shows and does not obey.

    Line breaks and blanks of other kinds become a space; what cannot be seen (control
    characters, marks of direction, joiners, lone surrogates) is escaped; beyond ``most`` letters
    it is cut.

    >>> one_line("a\r\n b\x1b[2J\u202e"), one_line("東　風"), one_line("x" * 9, most=5)
    ('a  b\\x1b[2J\\u202e', '東 風', 'xxxxx ...')
    """
    line = _BLANKS.sub(" ", str(text))
    short = line if len(line) <= most else f"{line[:most]} ..."
    if short.isprintable():
        return short
    return "".join([letter if letter.isprintable() else _escaped(letter) for letter in short])


_FILLERS: Final = frozenset("\u115f\u1160\u3164\uffa0")
"""Letters by their category (of Hangul) that show nothing."""


def has_letters(text: str) -> bool:
    r"""Return whether a text shows a letter or a digit: blanks and invisible characters are none.

    >>> has_letters("y\u200b"), has_letters("\u200b \u3164\u2800\ufe0f.")
    (True, False)
    """
    return any(letter.isalnum() and letter not in _FILLERS for letter in text)


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")
