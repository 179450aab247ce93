"""A reply as it is kept beside the game."""

from pathlib import Path

import msgspec

from mjbot.game.records.evidence import MOST_KEPT, make_reply, read_evidence


def test_a_reply_is_read_as_it_was_made(tmp_path: Path) -> None:
    made = [
        make_reply(3, 1, 0.0125, b"{\xff" + b"x" * MOST_KEPT, ("replaced", "not JSON")),
        make_reply(4, 0, 8.0, None, ("refused", "")),
    ]
    path = tmp_path / "a.evidence.jsonl"
    path.write_bytes(b"".join(msgspec.json.encode(reply) + b"\n" for reply in made))
    first, second = read_evidence(path)
    assert [first, second] == made
    assert (first.line, first.seat, first.took_ms) == (3, 1, 12.5)
    assert (first.verdict, first.why) == ("replaced", "not JSON")
    assert first.bytes == MOST_KEPT + 2 and len(first.raw or "") == MOST_KEPT
    assert (second.raw, second.bytes) == (None, 0)
