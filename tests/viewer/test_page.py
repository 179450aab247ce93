"""The page in a real browser."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from mjbot.game.records.mjai_log import log_line
from mjbot.protocol.messages import Hora, StartGame
from mjbot.strategy.registry import Spec
from mjbot.viewer.drawing.board_data import changed
from mjbot.viewer.drawing.picture import picture
from mjbot.viewer.game import fold_steps
from mjbot.viewer.library import Library, ReadGame
from mjbot.viewer.pages import by_column, by_row, game_of_page, game_page
from mjbot.viewer.server import RecordServer
from mjbot.viewer.thoughts import all_thoughts
from proof.board import walk

LOGS = Path(__file__).parents[2] / "logs"
MOST_BYTES = 150_000
NAMES = (
    "<script>window.bad = 1</script>",
    "<svg onload='window.bad = 1'><image href=x onerror='window.bad = 1'>",
    "line\x07\x1b[31m\x00break",
    "\u202eetihw\u202c \u2066x\u2069",
)


def _record(serve: Callable[..., Any], path: Path) -> str:
    server = serve(lambda: RecordServer(Library(path), {"title": path.name}))
    return str(server.url(server.keys.new(range(4))))


def _wait(page: Any) -> None:
    page.wait_for_selector("body[data-read=all]", timeout=60_000)


def test_every_moment_is_drawn_as_the_table_has_it(browser: Any, short_game: ReadGame) -> None:
    begun = ReadGame("", short_game.entries[:130])  # whole games: python -m proof board
    moments, problems = walk(browser, begun, viewpoint=2)
    assert moments == 2 * 129
    assert not problems


def test_a_game_is_one_small_file_that_asks_nobody(opened: Any, tmp_path: Path) -> None:
    game = Library(LOGS / "hanchan-thirteen-kyoku.mjson").game(0)
    file = tmp_path / "game.html"
    file.write_text(game_page(fold_steps(game.steps()), {"title": "game"}), encoding="utf-8")
    assert file.stat().st_size <= MOST_BYTES
    page = opened.open(f"{file.as_uri()}#1/3/20")
    _wait(page)
    assert page.evaluate("document.body.dataset.place") == "3/20"
    assert page.locator("#kyoku option").count() == 13
    beyond = opened.open(f"{file.as_uri()}#1/99/9999")
    _wait(beyond)
    assert beyond.evaluate("document.body.dataset.place").startswith("12/")


def test_a_page_holds_the_game_that_it_was_made_of() -> None:
    game = Library(LOGS / "hanchan-thirteen-kyoku.mjson").game(0)
    steps = json.loads(json.dumps(fold_steps(game.steps())))
    assert game_of_page(game_page(steps, {"title": "game"})) == steps
    packed = json.dumps(by_column(steps))
    assert packed.count("$rows") > 0 and len(packed) < 0.8 * len(json.dumps(steps))


@pytest.mark.parametrize(
    "value",
    [
        [{"n": 1}, {}, {"n": None, "of": [{}, {"x": {}}]}],
        [[], [[1], []], [{"a": 0}, {"a": 0}]],
        [1, [2], {"a": 3}, None, "", [[]]],
        {"a": [{"b": [[1, 2], []]}, {"b": []}], "c": {}},
    ],
)
def test_columns_are_put_back_into_rows(value: Any) -> None:
    assert by_row(json.loads(json.dumps(by_column(value)))) == value


def test_nothing_is_cut_off_by_day_and_night(opened: Any, serve: Any) -> None:
    page = opened.open(f"{_record(serve, LOGS / 'east-extra-round.mjson')}#0/0/40")
    _wait(page)
    for width, height in ((360, 740), (1400, 900)):
        page.set_viewport_size({"width": width, "height": height})
        root = "document.documentElement"
        assert page.evaluate(f"{root}.scrollWidth <= {root}.clientWidth")
        board = page.locator("#board").bounding_box()
        assert board["width"] == pytest.approx(board["height"])
        assert board["width"] >= min(width - 20, 600)
        for colours in ("light", "dark"):
            page.emulate_media(color_scheme=colours)
            ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (sum(json.loads(f"[{ground[4:-1]}]")) < 300) == (colours == "dark")


def test_a_choice_is_named_as_the_commands_name_it(opened: Any, tmp_path: Path) -> None:
    game, out = Library(LOGS / "east-extra-round.mjson").game(0), tmp_path / "game.html"
    config = {"title": "game", "seat": 2, "place": "2/0/0"}
    out.write_text(game_page(fold_steps(game.steps()), config), encoding="utf-8")
    page = opened.open(out.as_uri())
    _wait(page)
    page.keyboard.press(".")
    assert page.locator("#event small").inner_text().strip().startswith("E1-0:1 of seat 2, event ")
    page.keyboard.press(".")
    assert page.locator("#event small").inner_text().strip().startswith("E1-0:2 of seat 2, event ")
    elsewhere = opened.open(f"{out.as_uri()}#1/1/3")  # an address goes before the file's own place
    _wait(elsewhere)
    assert elsewhere.evaluate("document.body.dataset.place") == "1/3"


def test_names_are_shown_as_text(opened: Any, serve: Any, tmp_path: Path) -> None:
    lines = (LOGS / "east-extra-round.mjson").read_text().splitlines()
    start = {**json.loads(lines[0]), "names": NAMES, "logs": [NAMES[0], None, NAMES[1], None]}
    deal = {**json.loads(lines[1]), "logs": [None, NAMES[2], NAMES[3], None]}
    draw = {**json.loads(lines[2]), "logs": [NAMES[0], NAMES[1], NAMES[2], NAMES[3]]}
    log = tmp_path / "<img src=x onerror='window.bad = 1'>.mjson"
    text = "\n".join([json.dumps(line) for line in (start, deal, draw)] + lines[3:])
    log.write_text(text)
    page = opened.open(f"{_record(serve, log)}#0/0/1")
    _wait(page)
    assert page.evaluate("window.bad") is None
    assert page.locator("#board script, #board image, #talk svg, img").count() == 0
    seats = page.locator("#seats th")
    titles = [seats.nth(at).get_attribute("title") for at in range(4)]
    assert titles[0] == NAMES[0]
    assert titles[2] == "line\\x07\\x1b[31m\\x00break"
    assert titles[3] == "\\u202eetihw\\u202c \\u2066x\\u2069"
    assert page.locator("#talk li").count() == 4
    assert NAMES[1] in page.locator("#talk").inner_text()
    assert page.title().startswith(f"E: {titles[0]}, S: {titles[1]}, W: line")


def test_keys_lead_through_the_game(opened: Any, serve: Any) -> None:
    page = opened.open(_record(serve, LOGS / "east-extra-round.mjson"))
    _wait(page)

    def place_after(key: str) -> str:
        page.keyboard.press(key)
        return str(page.evaluate("document.body.dataset.place"))

    assert place_after("ArrowRight") == "0/1"
    assert place_after("]") == "1/0"
    assert place_after("ArrowLeft").startswith("0/")
    assert place_after("Home") == "0/0"
    assert place_after(".") == "0/1"
    assert place_after(".") != "0/2"
    assert page.locator("#event").inner_text().split()[1] == "draws"
    page.keyboard.press("h")
    hidden = "#hand{} use[data-tile='?']"
    assert page.locator(hidden.format(1)).count() >= 13
    assert page.locator(hidden.format(0)).count() == 0
    page.keyboard.press("v")
    assert page.locator(hidden.format(0)).count() == 0
    assert page.locator(hidden.format(3)).count() >= 13
    page.keyboard.press("i")
    assert page.evaluate("document.documentElement.dataset.index") == "on"
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    page.wait_for_url("**/*#1/0/*")


def test_a_key_leads_to_what_one_of_a_pair_gave_the_other(
    opened: Any, serve: Any, short_game: ReadGame, tmp_path: Path
) -> None:
    events = [entry.event for entry in short_game.entries]
    win = next(event for event in events if isinstance(event, Hora) and event.actor != event.target)
    names = ["x", "y", "z", "w"]
    names[win.actor], names[win.target] = "us (team 1/2)", "us (team 2/2)"
    log = tmp_path / "pair.mjson"
    start = StartGame(names=tuple(names))
    log.write_bytes(b"".join([log_line(event) for event in [start, *events[1:]]]))
    page = opened.open(_record(serve, log))
    _wait(page)
    for _ in range(9):
        page.keyboard.press("f")
        if "sashikomi" in (page.locator("#feed").text_content() or ""):
            break
    fed = "us (team 2/2) feeds us (team 1/2) a win (sashikomi): "
    assert page.locator("#feed").inner_text().startswith(fed)
    assert "us (team 1/2) wins off us (team 2/2)" in page.locator("#event").inner_text()


def test_what_one_of_a_pair_told_the_other_is_shown_with_its_tiles(
    opened: Any, serve: Any, short_game: ReadGame, tmp_path: Path
) -> None:
    output = (
        '{"type":"pair","ally":1,"done":{"seat":1,"tile":"5pr","purpose":"to win on"},'
        '"hand":["1m","E","E"],"aim":"<b>kokushi</b>"}'
    )
    events = [entry.event for entry in short_game.entries]
    log = tmp_path / "pair.mjson"
    log.write_bytes(
        b"".join(
            [log_line(event, [(0, output)] if n == 2 else ()) for n, event in enumerate(events)]
        )
    )
    page = opened.open(_record(serve, log))
    _wait(page)
    page.keyboard.press("f")
    assert page.evaluate("document.body.dataset.place") == "0/1"
    assert page.locator("#feed").inner_text().endswith(": red 5p to win on")
    shown = page.evaluate("[...document.querySelectorAll('#talk svg')].map((one) => one.ariaLabel)")
    assert shown == ["red five of circles", "one of characters", *2 * ["east wind"]]
    names = [name[:22] for name in next(iter(short_game.steps())).table.names]
    text = page.locator("#talk").inner_text()
    assert text.startswith(f"E {names[0]}: feeds S {names[1]}: ")
    assert text.endswith(", plays for <b>kokushi</b>")


def test_each_tile_on_the_board_has_a_name(opened: Any, serve: Any) -> None:
    page = opened.open(f"{_record(serve, LOGS / 'east-extra-round.mjson')}#0/0/60")
    _wait(page)
    names = page.evaluate(
        "[...document.querySelectorAll('#board use')].map((use) => use.ariaLabel)"
    )
    assert len(names) > 60
    words = ("characters", "circles", "bamboo", "wind", "dragon")
    assert all(any(word in name for word in words) for name in names)


def test_a_folder_gives_a_list_to_choose_from(opened: Any, serve: Any) -> None:
    page = opened.open(_record(serve, LOGS))
    _wait(page)
    page.click("#records-button")
    page.fill("#filter", "four")
    assert page.locator("#record-list li").count() == 1
    page.click("#record-list button")
    page.wait_for_selector("#title:text-matches('^E: .* · East 1$')")


def test_a_damaged_record_is_told(opened: Any, serve: Any, tmp_path: Path) -> None:
    log = tmp_path / "bad.mjson"
    log.write_text('{"type":"start_game"}\n{"type":"tsumo","actor":9}\n')
    page = opened.open(_record(serve, log))
    page.wait_for_selector("#problem:not([hidden])")
    assert "line 2" in page.locator("#problem").inner_text()


PLACES = """() => [...document.querySelectorAll('#board use')].map((use) => [
  use.closest('#board > g').id, use.getAttribute('href'), use.getAttribute('transform'),
  Math.round(use.getAttribute('width') * 100), use.getAttribute('class') || '',
])"""


def test_python_draws_the_same_picture(opened: Any, serve: Any) -> None:
    log = LOGS / "hanchan-open-kan-and-bust.mjson"
    folded = fold_steps(Library(log).game(0).steps())
    page = opened.open(_record(serve, log))
    _wait(page)
    page.keyboard.press("v")
    for kyoku, step in ((0, 0), (1, 60), (2, 75), (3, 40), (4, 30)):
        board = folded["kyoku"][kyoku]["board"]
        step = min(step, len(folded["kyoku"][kyoku]["steps"]))
        for report in folded["kyoku"][kyoku]["steps"][:step]:
            board = changed(board, report["change"])
        page.evaluate(f"location.hash = '#1/{kyoku}/{step}'")
        page.wait_for_selector(f"body[data-place='{kyoku}/{step}']")
        drawing = ElementTree.fromstring(picture(board, folded["names"], 1))
        assert _places(drawing) == [_plain(place) for place in sorted(page.evaluate(PLACES))]


def _plain(place: list[Any]) -> tuple[Any, ...]:
    words = [word for word in place[4].split() if word in ("drawn", "called")]
    return (*place[:4], " ".join(words))


def _places(drawing: ElementTree.Element) -> list[tuple[Any, ...]]:
    svg = "{http://www.w3.org/2000/svg}"
    return sorted(
        (
            str(group.get("id")),
            str(use.get("href")),
            str(use.get("transform")),
            round(float(use.get("width", 0)) * 100),
            use.get("class", ""),
        )
        for group in drawing.findall(f"{svg}g")
        for use in group.iter(f"{svg}use")
    )


def test_a_wide_table_of_terms_scrolls_beside_its_choices_and_shows_it(
    opened: Any, tmp_path: Path
) -> None:
    log, out = LOGS / "hanchan-open-kan-and-bust.mjson", tmp_path / "game.html"
    game = Library(log).game(0)
    begun = ReadGame("", game.entries[:20])
    folded = fold_steps(begun.steps())
    folded["thoughts"] = all_thoughts(Spec.read("fold-recognition-plus"), begun.steps(), [0])
    out.write_text(game_page(folded, {"title": "game", "by": "x"}), encoding="utf-8")
    number, seat = next(key for key in folded["thoughts"] if key.endswith(":0")).split(":")
    page = opened.open(f"{out.as_uri()}#{seat}/0/{int(number) - 2}")
    _wait(page)
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        place = page.locator("#thoughts")
        place.wait_for()
        heads = place.locator("thead th").all_inner_texts()
        assert {"shanten", "tiles accepted", "chance to win, %"} <= set(heads)
        assert len(heads) == len(set(heads))
        assert place.evaluate("one => one.scrollWidth > one.clientWidth")
        bar = "one => getComputedStyle(one, '::-webkit-scrollbar').height"
        assert place.evaluate(bar) == "11px"  # a bar with a style is always shown
        assert "gradient" in place.evaluate("one => getComputedStyle(one).backgroundImage")
        place.evaluate("one => (one.scrollLeft = 10000)")
        first = place.locator("tbody td").first.bounding_box()
        assert first["x"] == pytest.approx(place.bounding_box()["x"], abs=1)
