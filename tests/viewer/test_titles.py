"""A board's title: who plays where, from East on, and the kyoku; never the name of a file."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from mjbot.cli.main import main
from mjbot.game.records.game import Game
from mjbot.game.records.writers import FORMATS
from mjbot.protocol.rules import Rules
from mjbot.runtime.languages import LANGUAGES, using_language
from mjbot.viewer.drawing.board_data import board_title
from mjbot.viewer.library import Library
from mjbot.viewer.live import LiveServer
from mjbot.viewer.server import RecordServer
from tests.game.records.formats import report
from tests.game.referee.scripted import random_game

EVIL = ("<script>a</script>", "</title><b>", "b&amp;c", "d")
SHOWN = "E: <script>a</script>, S: </title><b>, W: b&amp;c"
FIRST = {3: f"{SHOWN} · East 1", 4: f"{SHOWN}, N: d · East 1"}
SECOND = {
    3: "E: </title><b>, S: b&amp;c, W: <script>a</script> · East 2",
    4: "E: </title><b>, S: b&amp;c, W: d, N: <script>a</script> · East 2",
}
IN_LANGUAGES = {
    "en": "E: a, S: b, W: c · South 3, 2 honba",
    "ja": "東：a、南：b、西：c · 南3局 2本場",  # noqa: RUF001
    "zh-Hans": "东：a，南：b，西：c · 南3局 2本场",  # noqa: RUF001
    "zh-Hant": "東：a，南：b，西：c · 南3局 2本場",  # noqa: RUF001
}


@pytest.fixture(scope="module", params=[3, 4])
def record(request: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Path]:
    """A game whose players have names that are markup."""
    players = request.param
    rules = Rules(players=players, length="tonpu", bust=False)
    game = report(random_game(3, rules))
    lines = FORMATS["mjai"].encode(Game("own", "line", game.entries)).splitlines()
    start = {**json.loads(lines[0]), "names": EVIL[:players]}
    path = tmp_path_factory.mktemp("game") / "the-file.mjson"
    path.write_bytes(b"\n".join([json.dumps(start).encode(), *lines[1:]]))
    return players, path


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_title_is_in_the_language_of_the_reader(language: str) -> None:
    seats = [{"wind": wind} for wind in "ESW"]
    with using_language(language):
        title = board_title({"kyoku": "South 3", "honba": 2, "seats": seats}, "abc")
    assert title == IN_LANGUAGES[language]


def _second(path: Path) -> int:
    """Return the number of the first kyoku of East 2 among those of the game."""
    kyoku = [
        step.event for step in Library(path).game(0).steps() if "Kyoku" in type(step.event).__name__
    ]
    starts = [event for event in kyoku if type(event).__name__ == "StartKyoku"]
    return next(at for at, event in enumerate(starts) if event.kyoku == 2)


def _title_after_one_kyoku(page: Any, path: Path) -> str:
    page.select_option("#kyoku", str(_second(path)))
    title = page.locator("#title").text_content().split(", 1 honba")[0]
    assert page.title().startswith(title)
    return str(title)


def test_a_file_has_its_title_before_any_script_and_follows_the_kyoku(
    record: tuple[int, Path], opened: Any, tmp_path: Path
) -> None:
    players, path = record
    out = tmp_path / "game.html"
    assert main(["watch", str(path), "--out", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    (head,) = re.findall("<title>(.*?)</title>", text)
    assert "<" not in head and "b&amp;amp;c" in head and head.endswith(" · East 1")
    assert "the-file" not in text
    page = opened.open(out.as_uri())
    page.wait_for_selector("body[data-read=all]")
    assert page.title() == page.locator("#title").text_content() == FIRST[players]
    assert _title_after_one_kyoku(page, path) == SECOND[players]


def test_a_served_record_is_titled_like_the_file(
    record: tuple[int, Path], opened: Any, serve: Any
) -> None:
    players, path = record
    server = serve(lambda: RecordServer(Library(path), {}))
    page = opened.open(server.url(server.keys.new(range(4))))
    page.wait_for_selector("body[data-read=all]")
    assert page.title() == FIRST[players]
    assert _title_after_one_kyoku(page, path) == SECOND[players]


def test_a_running_table_is_titled_like_the_file(
    record: tuple[int, Path], opened: Any, serve: Any
) -> None:
    players, path = record
    server = serve(lambda: LiveServer({"title": "match, seed <7>"}))
    page = opened.open(server.url())
    assert page.title() == page.locator("#title").text_content() == "match, seed <7>"

    async def add() -> None:
        for entry in list(Library(path).game(0).entries)[:4]:
            server.add(entry.event)

    serve.run(add())
    page.wait_for_selector("body[data-place]")
    assert page.title() == page.locator("#title").text_content() == FIRST[players]


def test_a_drawing_is_titled_like_the_file(record: tuple[int, Path], tmp_path: Path) -> None:
    players, path = record
    out = tmp_path / "board.svg"
    assert main(["draw", str(path), "--at", "3", "--out", str(out)]) == 0
    title = ElementTree.parse(out).getroot()[0]
    assert title.tag.endswith("title") and title.text == FIRST[players]


def test_a_review_is_titled_by_whom_it_is_about(record: tuple[int, Path], tmp_path: Path) -> None:
    players, path = record
    if players == 3:
        pytest.skip("the reviewer that needs no playouts plays at tables of four")
    out, by = tmp_path / "review.html", ["--by", "fast-riichi-d", "--playouts", "0"]
    assert main(["review", str(path), "--seat", "3", *by, "--out", str(out)]) == 0
    head = re.findall("<title>(.*?)</title>", out.read_text(encoding="utf-8"))[0]
    assert head.startswith("Review: d · E: &lt;script&gt;") and head.endswith(" · East 1")
