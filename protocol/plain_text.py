"""Other people's text where a person reads it: a terminal obeys some letters, a log cuts at others.

Names, refusals, whatever is quoted: all of it is untrusted, and goes through here before
it is printed or logged.  Not in :mod:`mjbot.protocol.errors`, on which compiled code depends.
"""

import re
from typing import Final

_BLANKS: Final = re.compile(r"[^\S ]+")

MOST_LETTERS: Final = 2000
"""Length at which a quoted text is cut."""
MOST_OF_LINE: Final = 120
"""Length at which a line that cannot be read is cut."""
CUT: Final = " ..."
"""The end of a text that was cut."""


def one_line(text: object, most: int = MOST_LETTERS) -> str:
    r"""Return a text, or an error's, as one line that a terminal shows and does not obey.

    Line breaks and blanks of other kinds become a space; what cannot be seen (control
    characters, marks of direction, joiners, lone surrogates) is escaped; beyond ``most`` letters
    it is cut.

    >>> one_line("a\r\n b\x1b[2J\u202e"), one_line("東　風"), one_line("x" * 9, most=5)
    ('a  b\\x1b[2J\\u202e', '東 風', 'xxxxx ...')
    """
    line = _BLANKS.sub(" ", str(text))
    short = line if len(line) <= most else f"{line[:most]}{CUT}"
    if short.isprintable():
        return short
    return "".join([letter if letter.isprintable() else _escaped(letter) for letter in short])


def excerpt(line: bytes, most: int = MOST_OF_LINE) -> str:
    r"""Return an untrusted line, or its beginning, as it came.

    >>> excerpt(b"HTTP/1.1 400 Bad Request\r\n"), excerpt(b"\xff\x00"), excerpt(b" \n")
    ("'HTTP/1.1 400 Bad Request'", "'\\xff\\x00'", 'an empty line')
    """
    begin = line[: 4 * (most + 1)].decode("utf-8", "backslashreplace").strip()
    return f"'{one_line(begin, most)}'" if begin else "an empty line"


_FILLERS: Final = frozenset("\u115f\u1160\u3164\uffa0")
"""Letters by their category (of Hangul) that show nothing."""


def has_letters(text: str) -> bool:
    r"""Return whether a text shows a letter or a digit: blanks and invisible characters are none.

    >>> has_letters("y\u200b"), has_letters("\u200b \u3164\u2800\ufe0f.")
    (True, False)
    """
    return any(letter.isalnum() and letter not in _FILLERS for letter in text)


def is_name(text: str) -> bool:
    r"""Return whether a text may be a player's name: it shows something, and holds no control.

    >>> is_name("☆"), is_name("a b"), is_name(" \u200b\u2800"), is_name("a\0"), is_name("")
    (True, True, False, False, False)
    """
    shown = [letter for letter in text if letter.isprintable() and not letter.isspace()]
    has_control = any(ord(letter) < 0x20 or 0x7F <= ord(letter) < 0xA0 for letter in text)
    return not has_control and any(letter not in _BLANK_LETTERS for letter in shown)


_BLANK_LETTERS: Final = _FILLERS | {"\u2800"}


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")
