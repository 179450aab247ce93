"""The shapes in which people keep records: read, or refused in one line that names the line."""

import json
import os
from pathlib import Path
from urllib.parse import quote

import pytest

from mjbot.cli.main import main
from mjbot.game.records.complete import complete
from mjbot.game.records.game import RecordError
from mjbot.game.records.mjai_log import log_line
from mjbot.game.records.sources import open_games
from mjbot.game.records.tenhou6.writer import write_tenhou6
from mjbot.protocol import messages as m
from mjbot.runtime.errors import ExitCode

LOG = Path(__file__).parents[3] / "logs" / "east-four-winds.mjson"
EVENTS = [entry.event for game in open_games(LOG) for entry in game.entries]
MESSAGES = [json.loads(log_line(event)) for event in EVENTS]
TENHOU6 = json.loads(write_tenhou6(complete(next(iter(open_games(LOG))))))
LINES = LOG.read_text("utf-8")


def spread(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def with_comments(text: str) -> str:
    lines = text.splitlines()
    return "\n".join(["// https://example.invalid", *(f"{line} // why, {{[" for line in lines)])


def arrows(received: str, sent: str) -> str:
    """Return a client's log: what it received, and after each line its own reply."""
    reply = '{"type":"dahai","actor":0,"pai":"C","tsumogiri":false}'
    return "".join(f"{received}\t{line}\n{sent} {reply}\n" for line in LINES.splitlines())


REPORT = {
    "engine": "x",
    "review": {"kyokus": [{"entries": [{"actual": {"type": "dahai"}, "log": []}] * 60_000}]},
    "player_id": 0,
    "split_logs": [],
    "mjai_log": MESSAGES,
}
assert len(json.dumps(REPORT)) > 2 << 20

MJAI = {
    "an array over many lines": spread(MESSAGES),
    "an array in one line": json.dumps(MESSAGES),
    "objects over many lines": "\n".join(map(spread, MESSAGES)),
    "lines with comments": with_comments(LINES),
    "an array with comments": with_comments(spread(MESSAGES)),
    "received lines and replies": arrows("<-", "->"),
    "sent lines and replies": arrows("->", "<-"),
    "a report": json.dumps(REPORT),
    "a report over many lines": spread(REPORT),
    "a short report": json.dumps({"mjai_log": MESSAGES, "review": {}}),
    "floats": LINES.replace("000,", "000.0,").replace("000]", "000.0]"),
}
SITE = {
    "over many lines": spread(TENHOU6),
    "with comments": with_comments(spread(TENHOU6)),
    "an array of games with comments": with_comments(spread([TENHOU6])),
    "an address of the viewer": f"https://tenhou.net/6/#json={quote(json.dumps(TENHOU6))}\n",
    "an address without a scheme of escapes": "http://x/6/#json="
    + json.dumps(TENHOU6, separators=(",", ":")),
}
assert not MJAI.keys() & SITE.keys()


def encoded(text: str, how: str) -> bytes:
    if how == "CRLF":
        return text.replace("\n", "\r\n").encode()
    return text.encode(how)


@pytest.mark.parametrize("how", ["utf-8", "utf-8-sig", "CRLF", "utf-16", "utf-16-le"])
@pytest.mark.parametrize("shape", [*MJAI, *SITE])
def test_every_shape_is_read(shape: str, how: str, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(encoded((MJAI | SITE)[shape], how))
    if how == "utf-16-le" and not (MJAI | SITE)[shape].startswith(("{", "[")):
        pytest.skip("without a mark of the order of bytes only JSON is recognised")
    (game,) = open_games(path)
    events = [entry.event for entry in game.entries]
    if shape in MJAI:
        assert events == EVENTS
    else:
        assert [type(event) for event in events] == [type(event) for event in EVENTS]


def test_two_addresses_are_two_games(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(2 * SITE["an address of the viewer"], "utf-8")
    assert len(list(open_games(path))) == 2


def test_every_command_reads_a_report(tmp_path: Path, capsys) -> None:
    path = tmp_path / "report.json"
    path.write_text(MJAI["a report"], "utf-8")
    for words in (
        ["replay", str(path)],
        ["stats", str(path)],
        ["convert", str(path), str(tmp_path / "a.mjlog")],
        ["watch", str(path), "--out", str(tmp_path / "a.html")],
        ["replay", str(tmp_path)],
    ):
        assert main(words) == ExitCode.OK, words
    assert "no mismatch" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (spread(TENHOU6)[:-900], "game 1: the JSON is cut off (this game begins at line 1)"),
        (spread(MESSAGES)[:-200], "the JSON is cut off (this message begins at line "),
        (spread(TENHOU6).replace('"log"', "log", 1), "game 1: not JSON (Expecting property name"),
        ('{"mjai_log": 7}', "mjai_log: is no list of messages"),
        (LINES[:-8], f"line {len(EVENTS)}: line: not JSON"),
        ("https://tenhou.net/0/?log=2009022011gm-00a9-0000-00000000", "is no record of a game"),
    ],
    ids=["a cut game", "cut messages", "a key", "no messages", "a cut line", "an address"],
)
def test_what_cannot_be_read_is_named(text: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(text, "utf-8")
    with pytest.raises(RecordError) as caught:
        for game in open_games(path):
            list(game.entries)
    assert problem in str(caught.value) and "\n" not in str(caught.value)


def test_the_line_of_a_fault_is_the_line_of_the_file(tmp_path: Path) -> None:
    lines = spread(TENHOU6).splitlines()
    at = next(number for number, line in enumerate(lines) if '"log"' in line)
    lines[at + 4] = "  x"
    path = tmp_path / "a.json"
    path.write_text("\n".join(lines), "utf-8")
    with pytest.raises(RecordError, match=rf"at line {at + 5}, character 3"):
        list(open_games(path))


def test_the_line_of_a_bad_message_is_the_line_of_the_file(tmp_path: Path) -> None:
    messages = [*MESSAGES[:3], {"type": "tsumo", "actor": 9, "pai": "E"}]
    text = "\n\n" + spread(messages)
    line = text.splitlines().index('    "actor": 9,')
    path = tmp_path / "a.json"
    path.write_text(text, "utf-8")
    (game,) = open_games(path)
    with pytest.raises(RecordError, match=rf"line {line - 1}: tsumo\.actor"):
        list(game.entries)


# --- fields ----------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["absent", "false"])
def test_a_discard_of_the_drawn_tile_is_known_by_the_hand(how: str, tmp_path: Path) -> None:
    messages = json.loads(json.dumps(MESSAGES))
    for message in messages:
        if message["type"] == "dahai":
            message["tsumogiri"] = False
            if how == "absent":
                del message["tsumogiri"]
    path = tmp_path / "a.mjson"
    path.write_text("".join(json.dumps(message) + "\n" for message in messages), "utf-8")
    assert main(["replay", str(path)]) == ExitCode.OK
    (game,) = open_games(path)
    pairs = zip((entry.event for entry in game.entries), EVENTS, strict=True)
    differing = [ours for ours, other in pairs if ours != other]
    assert all(isinstance(event, m.Dahai) and not event.tsumogiri for event in differing)
    assert len(differing) < 10  # of equal tiles in the hand, which one was discarded is not known
    for form in ("mjlog", "tenhou6"):
        out = tmp_path / form
        assert main(["convert", str(path), str(out), "--to", form]) == ExitCode.OK
        assert main(["replay", str(out)]) == ExitCode.OK


@pytest.mark.parametrize(
    ("names", "read"), [(["a", None, "c", "d"], ("a", "", "c", "d")), ([None] * 4, None)]
)
def test_a_null_name_is_none(names: list, read: object, tmp_path: Path) -> None:
    path = tmp_path / "a.mjson"
    messages = [{"type": "start_game", "names": names}, *MESSAGES[1:]]
    path.write_text("".join(json.dumps(message) + "\n" for message in messages), "utf-8")
    (game,) = open_games(path)
    assert next(iter(game.entries)).event.names == read
    assert main(["replay", str(path)]) == ExitCode.OK


def test_a_fraction_of_a_point_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.mjson"
    path.write_text(LINES.replace("25000,", "25000.5,", 1), "utf-8")
    (game,) = open_games(path)
    with pytest.raises(RecordError, match=r"scores\[\d\]: expected int, got 25000\.5"):
        list(game.entries)


# --- files of other people -------------------------------------------------------------------

REFUSED = {
    "four_kans_go_on.mjson", "four_riichi_go_on.mjson", "three_rons_paid.mjson",
    "majsoul_double_suuankou_tanki.mjson", "tournament_kiriage.json", "odd_client.py",
}  # fmt: skip
"""What the rules as played, or the kind of file, rightly refuse."""


def test_files_that_people_reported_are_read(capsys) -> None:
    shared = os.environ.get("MJBOT_SHARED")
    folder = Path(shared or "") / "cases"
    if not shared or not folder.is_dir():
        pytest.skip("the files are not in the shared folder (set MJBOT_SHARED)")
    for path in sorted(folder.iterdir()):
        status = ExitCode.FAILED if path.name in REFUSED else ExitCode.OK
        assert main(["replay", str(path)]) == status, path.name
