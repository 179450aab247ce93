"""The page of a review in a real browser: its keys, its list, its languages."""

import json
import re
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from mjbot.analysis.review.mjai_json import review_json
from mjbot.analysis.review.page import page as review_page
from mjbot.analysis.review.page_data import page_data, read_review
from mjbot.analysis.review.summary import Review, review_record
from mjbot.cli.main import main
from mjbot.runtime.languages import LANGUAGES, using_language
from mjbot.strategy.registry import Spec
from mjbot.viewer.library import Library
from mjbot.viewer.server import RecordServer
from tests.analysis.review.test_shown_first import shown_as

LOG = Path(__file__).parents[2] / "logs" / "east-four-winds.mjson"
SEAT = 1
SIZES = ((360, 740), (900, 1100), (1440, 900))
HALF_WIDTH = re.compile(
    "[\u3040-\u9fff] ?[,;:(](?!\\d)|[),;:] ?[\u3040-\u9fff]|[\u3001\u3002\uff0c\uff1a\uff1b] "
)
"""Punctuation of English next to a character of Japanese or Chinese."""

BROKEN_WORDS = r"""() => {
  const han = /[\u3040-\u9fff]/;
  const top = (node, at) => {
    const range = document.createRange();
    range.setStart(node, at);
    range.setEnd(node, at + 1);
    return range.getBoundingClientRect().top;
  };
  const isBroken = (node) => [...node.data].some((letter, at) =>
    at && han.test(node.data[at - 1]) && han.test(letter) && top(node, at) > top(node, at - 1) + 2);
  return [...document.querySelectorAll("thead th")].filter((head) => head.checkVisibility())
    .flatMap((head) => [...head.childNodes]).filter((node) => node.nodeType === 3 && isBroken(node))
    .map((node) => node.data);
}"""
"""Reports the heads of tables in which a line ends within a word."""

FAINT = r"""() => {
  const channels = (colour) => colour.match(/[\d.]+/g).map(Number);
  const light = (colour) => channels(colour).slice(0, 3).map((value) => value / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    .reduce((sum, value, at) => sum + value * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = getComputedStyle(each).backgroundColor;
      if (/^rgb/.test(colour) && (channels(colour)[3] ?? 1) > 0.95) return light(colour);
    }
    return 1;
  };
  const isText = (node) => node.nodeType === 3 && node.data.trim();
  const hasText = (element) => [...element.childNodes].some(isText);
  return [...document.querySelectorAll("body *")]
    .filter((each) => !each.closest("svg") && hasText(each) && each.checkVisibility())
    .filter((each) => /^rgb/.test(getComputedStyle(each).color))
    .map((each) => [light(getComputedStyle(each).color), ground(each), each.textContent])
    .filter(([ink, paper]) => (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05) < 4.5)
    .map(([, , text]) => text);
}"""
"""Reports texts whose contrast with their ground is below 4.5 (WCAG 2.2, 1.4.3)."""


@pytest.fixture(scope="module")
def review() -> Review:
    return review_record(LOG, SEAT, "fold-recognition-plus")


@pytest.fixture
def file(review: Review, tmp_path: Path) -> Path:
    out = tmp_path / "review.html"
    out.write_text(review_page(review), encoding="utf-8")
    return out


def shown(page: Any) -> str:
    """Return the name of the decision that the page shows."""
    head = page.locator("#decision h2")
    return str(head.inner_text().split()[0]) if head.is_visible() else ""


def wait(page: Any) -> None:
    page.wait_for_selector("body[data-read=all]", timeout=60_000)


@pytest.mark.parametrize("language", LANGUAGES)
def test_grade_and_places_are_above_the_board_the_list_and_the_fold(
    opened: Any, review: Review, tmp_path: Path, language: str
) -> None:
    out = tmp_path / "review.html"
    played_out = Review("g", review.seat, review.by, review.judged)
    played_out.shown = {decision: shown_as((0.38, 0.3, 0.46)) for decision in review.costliest[:2]}
    with using_language(language):
        out.write_text(review_page(played_out), encoding="utf-8")
    for width, height in ((360, 780), (1440, 900)):
        page = opened.open(out.as_uri(), viewport={"width": width, "height": height})
        wait(page)
        cards = [card.bounding_box() for card in page.locator("#verdict .card").all()]
        end = max(box["y"] + box["height"] for box in cards)
        assert len(cards) == 5 and page.evaluate("scrollY") == 0
        assert end <= page.locator("#table").bounding_box()["y"] < height / 2
        assert end < page.locator("#list").bounding_box()["y"]
        values = page.locator("#verdict .card b").all_inner_texts()
        assert any("±" in value or "(" in value for value in values)  # the grade
        assert page.locator("#summary .cards").count() == 0
    page.emulate_media(media="print")
    assert page.locator("#verdict .card").first.is_visible()


def test_keys_lead_from_mistake_to_mistake_and_to_what_differs(
    opened: Any, file: Path, review: Review
) -> None:
    page = opened.open(file.as_uri())
    wait(page)
    for key, back, is_wanted in (
        ("m", "M", lambda one: review.counts(one) and (one.loss or 10) >= 10),
        ("x", "X", lambda one: not one.is_equal),
    ):
        wanted = [one.at for one in review.decisions if is_wanted(one)]
        assert len(wanted) > 3
        page.keyboard.press("Home")
        for _ in range(30):
            page.keyboard.press("[")
        found = []
        for _ in wanted:
            page.keyboard.press(key)
            found.append(shown(page))
        assert found == wanted
        page.keyboard.press(key)
        assert shown(page) == wanted[-1]  # there is none further on
        page.keyboard.press(back)
        assert shown(page) == wanted[-2]


def test_the_threshold_hides_what_costs_less(opened: Any, file: Path, review: Review) -> None:
    page = opened.open(file.as_uri())
    wait(page)
    losses = sorted(one.loss for one in review.decisions if review.counts(one) and one.loss >= 10)
    assert page.locator("#mistakes li").count() == len(losses)
    middle = round(losses[len(losses) // 2], -1)
    page.evaluate(
        "(value) => { const it = document.getElementById('threshold'); it.value = value;"
        " it.dispatchEvent(new Event('input')); }",
        middle,
    )
    left = [loss for loss in losses if loss >= middle]
    assert 0 < len(left) < len(losses)
    assert page.locator("#mistakes li").count() == len(left)
    assert f"mistakes: {len(left)} of" in page.locator("#tally").inner_text()


def test_the_hand_has_the_share_of_each_choice_and_its_dangers(
    opened: Any, file: Path, review: Review
) -> None:
    decision = next(one for one in review.decisions if not one.is_equal and one.actual.is_discard)
    page = opened.open(f"{file.as_uri()}#{decision.at}")
    wait(page)
    assert shown(page) == decision.at
    columns = page.locator("#strip .hand .choice")
    assert columns.count() == len(decision.view.tiles)
    assert page.locator("#strip .best").count() >= 1
    assert page.locator("#strip .done").count() >= 1
    assert page.locator("#strip .danger").count() == 0
    page.keyboard.press("g")
    assert page.locator("#strip .danger.all").count() == len(decision.view.tiles) + 1
    page.locator("#strip .best").first.click()
    picked = page.locator("#strip .picked")
    assert "%" in picked.inner_text() and picked.locator("svg").count() >= 1
    page.locator("#strip .best").first.click()
    assert picked.inner_text() == ""
    page.keyboard.press("b")
    assert page.locator("#strip .level").count() == 0
    assert page.locator("#decision .sentence").inner_text().startswith("You discarded ")
    assert page.locator("#seats .estimate").count() == 3


def test_a_line_of_the_list_and_a_link_of_the_summary_open_the_decision(
    opened: Any, file: Path
) -> None:
    page = opened.open(file.as_uri())
    wait(page)
    line = page.locator("#mistakes button").nth(2)
    line.click()
    assert shown(page) == line.get_attribute("data-at")
    assert line.get_attribute("aria-current") == "true"
    link = page.locator("#summary ol.worst a").first
    link.click()
    page.locator("#decision h2", has_text=link.inner_text()).wait_for()  # hashchange comes later
    assert shown(page) == link.inner_text()


@pytest.mark.parametrize("name", LANGUAGES)
def test_nothing_is_cut_off_in_any_language(
    opened: Any, review: Review, tmp_path: Path, name: str
) -> None:
    out = tmp_path / f"{name}.html"
    with using_language(name):
        out.write_text(review_page(review), encoding="utf-8")
    page = opened.open(out.as_uri())
    wait(page)
    page.keyboard.press("m")
    page.keyboard.press("g")
    page.keyboard.press("t")
    assert page.locator("html").get_attribute("lang") == name
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        strip = page.locator("#strip").bounding_box()
        assert strip["x"] >= 0 and strip["x"] + strip["width"] <= width
        tile = page.locator("#strip .hand .tiles svg").first.bounding_box()
        assert tile["width"] >= 20
        assert page.evaluate(BROKEN_WORDS) == []
        for colours in ("light", "dark"):
            page.emulate_media(color_scheme=colours)
            ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (sum(json.loads(f"[{ground[4:-1]}]")) < 300) == (colours == "dark")
            assert page.evaluate(FAINT) == []
    text = page.locator("body").inner_text()
    for english in ("Mistake", "points", "tenpai", "Threshold", "tiles left"):
        assert (english in text) == (name == "en"), english
    assert not HALF_WIDTH.findall(text)
    slanted = page.evaluate("getComputedStyle(document.querySelector('em')).fontStyle")
    assert slanted == ("italic" if name == "en" else "normal")
    tooltips = page.locator("nav button").evaluate_all("all => all.map(({title}) => title)")
    assert ("(Space)" in " ".join(tooltips)) == (name == "en")
    groups = page.locator("#board > g").evaluate_all("all => all.map(one => one.ariaLabel)")
    assert any("discards" in label for label in groups) == (name == "en")


def test_the_board_of_a_record_shows_its_review(opened: Any, serve: Any, review: Review) -> None:
    data = page_data(json.loads(json.dumps(review_json(review))))
    config = {"title": LOG.name, "seat": SEAT, "hands": False}
    server = serve(lambda: RecordServer(Library(LOG), config, None, data))
    worst = review.costliest[0]
    page = opened.open(f"{server.url(server.keys.new(range(4)))}#{worst.at}")
    wait(page)
    assert shown(page) == worst.at
    page.keyboard.press("x")
    assert page.locator("#mistakes li").count() > 3


def test_a_hand_that_is_not_open_keeps_its_review(serve: Any, review: Review) -> None:
    data = page_data(review_json(review))
    server = serve(lambda: RecordServer(Library(LOG), {"title": "game"}, None, data))
    other, own = server.keys.new([0]), server.keys.new([SEAT])

    async def statuses() -> list[int]:
        found = []
        async with aiohttp.ClientSession() as session:
            for key in ("", other, own):
                url = f"http://127.0.0.1:{server.port}/api/review?key={key}"
                async with session.get(url) as answer:
                    found.append(answer.status)
        return found

    assert serve.run(statuses()) == [403, 403, 200]


def test_watch_takes_the_json_of_a_review(review: Review, tmp_path: Path, capsys: Any) -> None:
    data, out = tmp_path / "review.json", tmp_path / "page.html"
    data.write_text(json.dumps(review_json(review)))
    command = ["watch", str(LOG), "--review", str(data), "--out", str(out)]
    assert main(command) == 0
    assert out.stat().st_size < 400_000
    capsys.readouterr()
    other = LOG.with_name("east-extra-round.mjson")
    assert main(["watch", str(other), "--review", str(data), "--out", str(out)]) == 1
    assert "a review of another game" in capsys.readouterr().err
    assert main(["watch", str(LOG), "--review", str(LOG), "--out", str(out)]) == 1
    assert "holds no review; mjbot review --json writes one" in capsys.readouterr().err
    older = json.loads(data.read_text())
    del older["review"]["kyokus"][0]["entries"][0]["opponents"]
    data.write_text(json.dumps(older))
    with pytest.raises(Exception, match="older version"):
        read_review(data)


def test_what_a_strategy_thinks_is_shown_above_the_hand(opened: Any, serve: Any) -> None:
    by = Spec.read("fast-policy")
    server = serve(lambda: RecordServer(Library(LOG), {"title": "game", "seat": 0}, by))
    page = opened.open(server.url(server.keys.new(range(4))))
    wait(page)
    page.keyboard.press(".")
    page.wait_for_selector("#strip .level")
    assert page.locator("#strip .best").count() >= 1
    assert page.locator("#seats .estimate").count() == 3


def test_the_page_opens_at_the_costliest_decision_unless_the_address_names_another(
    review: Review, file: Path, browser
) -> None:
    worst, *_, other = review.worst(9)
    page = browser.new_page()
    for decision, address in ((worst, ""), (other, f"#{other.at}")):
        page.goto("about:blank")
        page.goto(file.as_uri() + address)
        opened = page.evaluate("document.body.dataset.place")
        page.goto("about:blank")
        page.goto(f"{file.as_uri()}#{decision.at}")
        assert opened == page.evaluate("document.body.dataset.place")
    page.close()
