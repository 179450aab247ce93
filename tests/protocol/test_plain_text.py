"""Strangers' text, made fit for a terminal and a log."""

import sys
import unicodedata

import pytest

from mjbot.protocol.plain_text import one_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;title\x07\r\nforged line", r"\x1b]0;title\x07 forged line"),
        ("a\u202etxt.exe\u2066b\u2069", r"a\u202etxt.exe\u2066b\u2069"),
        ("zero\u200b\u200d\ufeffwidth", r"zero\u200b\u200d\ufeffwidth"),
        ("c1\x9b2J\x85next\u2028line\x0bup", r"c1\x9b2J next line up"),
        ("lone \ud800", r"lone \ud800"),
        ("東\u3000風 é 🀄", "東 風 é 🀄"),
        ("x" * 3000, "x" * 2000 + " ..."),
        (OSError("a\nb"), "a b"),
    ],
)
def test_what_a_terminal_would_obey_is_shown_instead(text, shown):
    assert one_line(text) == shown


def test_nothing_of_the_whole_of_unicode_gets_through_that_is_not_seen():
    invisible = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    shown = one_line(everything, most=len(everything))
    assert not invisible & {unicodedata.category(letter) for letter in set(shown)}
