"""docs/protocol.md names every message, every field and every dialect of the code."""

import re
from pathlib import Path

import pytest

from mjbot.protocol import messages
from mjbot.protocol.dialects import Dialect

PAGE = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text(encoding="utf-8")
NAMED = set(re.findall(r"[a-z]\w*(?:-\w+)*", " ".join(re.findall(r"`([^`\n]+)`", PAGE))))
INSIDE = (messages.Unknown, messages.ScoresOnly)
"""Types that stand for what other programs send in another form."""
MESSAGES = [
    kind
    for kind in vars(messages).values()
    if isinstance(kind, type) and issubclass(kind, messages.Message) and kind not in INSIDE
    if kind not in (messages.Message, messages.PlayerMessage)
]


@pytest.mark.parametrize("kind", MESSAGES, ids=lambda kind: kind.__name__)
def test_every_message_and_field_is_documented(kind):
    assert {kind.__struct_config__.tag, *kind.__struct_fields__} <= NAMED


@pytest.mark.parametrize("reason", messages.DRAW_REASONS)
def test_every_draw_is_documented(reason):
    assert f"| `{reason}` |" in PAGE


def test_every_mjai_dialect_is_documented():
    words = {dialect.traits.word for dialect in Dialect if not dialect.traits.is_tenhou}
    assert words <= NAMED
