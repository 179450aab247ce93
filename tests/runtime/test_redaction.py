"""Secrets in every usual form, also where they overlap or stand inside other data."""

import base64
import io
import json
from urllib.parse import quote

import pytest

from mjbot.protocol.plain_text import CUT, one_line
from mjbot.runtime.redaction import CONCEALED, RedactedStream, conceal, redacted

SECRETS = ["abcd", "PLANTED%/token-77", "qu\"o'te\\\\%\u00e9/+=", "\u79d8\u5bc6-token", "~~~???>>>"]


SPELLINGS = {
    "as it is": str,
    "URL": lambda text: quote(text, safe=""),
    "URL in small letters": lambda text: quote(text, safe="").lower(),
    "JSON": lambda text: json.dumps(text)[1:-1],
    "JSON in UTF-8": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "repr": lambda text: repr(text)[1:-1],
    "ascii": lambda text: ascii(text)[1:-1],
    "bytes": lambda text: repr(text.encode())[2:-1],
    "hex": lambda text: text.encode().hex(),
    "HEX": lambda text: text.encode().hex().upper(),
    "hex in pairs": lambda text: text.encode().hex(":"),
    "hex dump": lambda text: text.encode().hex(" "),
    "escapes": lambda text: "".join([f"\\x{byte:02x}" for byte in text.encode()]),
}


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("spell", SPELLINGS.values(), ids=SPELLINGS)
def test_every_usual_spelling_is_hidden(spell, secret):
    conceal(secret)
    shown = redacted(f"a {spell(secret)} b")
    assert shown.replace("\\x[", "[") == f"a {CONCEALED} b"
    assert redacted("quote, a token") == "quote, a token"


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
@pytest.mark.parametrize("before", [b"", b"u", b"u:", b"me:", b"user:"])
@pytest.mark.parametrize("after", [b"", b":", b":p", b":pw"])
def test_base64_is_hidden_wherever_the_secret_stands_in_it(secret, encode, before, after):
    """What stays are the letters of the data around it, and none that holds a bit of the secret."""
    conceal(secret)
    data = secret.encode()
    whole = encode(before + data + after).decode()
    shown = redacted(f"Basic {whole}.").removeprefix("Basic ").removesuffix(".")
    head, hidden, tail = shown.partition(CONCEALED)
    assert hidden and whole.startswith(head) and whole.endswith(tail)
    assert 6 * len(head) <= 8 * len(before)
    assert 6 * len(tail.rstrip("=")) < 8 * len(after) + 6


BASE64 = {"base64": lambda text: base64.b64encode(text.encode()).decode().rstrip("=")}
OVERLAPS = {
    "one begins the other": ("token-1", "token-1-of-two"),
    "one ends the other": ("to-and-from", "from"),
    "one stands in the other": ("to-and-from", "and-"),
}


@pytest.mark.parametrize("spell", [*SPELLINGS.values(), *BASE64.values()], ids=SPELLINGS | BASE64)
@pytest.mark.parametrize("secrets", OVERLAPS.values(), ids=OVERLAPS)
@pytest.mark.parametrize("order", [1, -1])
def test_of_two_secrets_of_which_one_stands_in_the_other_no_part_is_printed(spell, secrets, order):
    for secret in secrets[::order]:
        conceal(secret)
    for secret in secrets:
        assert redacted(f"<{spell(secret)}>").replace("\\x[", "[") == f"<{CONCEALED}>"


@pytest.mark.parametrize("order", [1, -1])
def test_a_secret_that_begins_inside_another_is_hidden_too(order):
    for secret in ["begins-or", "or-ends-so", "so-far"][::order]:
        conceal(secret)
    assert redacted("it begins-or-ends-so-far, or ends") == f"it {CONCEALED}, or ends"


WITHOUT_GAPS = {
    name: spell
    for name, spell in (SPELLINGS | BASE64).items()
    if name not in ("hex in pairs", "hex dump", "escapes")
}


@pytest.mark.parametrize("spell", WITHOUT_GAPS.values(), ids=WITHOUT_GAPS)
def test_a_text_that_was_cut_inside_a_secret_shows_no_beginning_of_it(spell):
    conceal("token-1-of-many")
    line = f"a server sent {spell('token-1-of-many')}"
    for most in range(18, len(line)):
        shown = redacted(one_line(line, most) + "; next")
        assert shown == f"a server sent {CONCEALED}{CUT}; next"
    assert redacted(f"a token{CUT}") == f"a {CONCEALED}{CUT}"
    assert redacted(f"a tok{CUT}") == f"a tok{CUT}"


def test_a_secret_of_few_letters_is_none():
    conceal("abc")
    assert redacted("abc") == "abc"


def test_a_stream_writes_texts_without_secrets_and_counts_the_letters_of_the_text():
    conceal("token-1")
    written = io.StringIO()
    assert RedactedStream(written).write("a token-1\n") == 10
    assert written.getvalue() == f"a {CONCEALED}\n"
