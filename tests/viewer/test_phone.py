"""Pages are never wider than a phone: in any language, with real fonts, with words twice as wide.

The width must not depend on the fonts of a machine: one test needs real Japanese and Chinese fonts
and is skipped by name without them; the other doubles every text instead.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from mjbot.analysis.player.figures import PlayerReport
from mjbot.analysis.player.page import page as player_page
from mjbot.cli.main import main
from mjbot.game.statistics.origin import origin_of
from mjbot.runtime.errors import ExitCode
from mjbot.runtime.languages import LANGUAGES, using_language
from mjbot.viewer import html
from tests.analysis.player.test_figures import game, mistake

LOGS = Path(__file__).parents[2] / "logs"
LOG = str(LOGS / "east-four-winds.mjson")
PHONE = (360, 780)
DOUBLE = """() => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walk.nextNode()) nodes.push(walk.currentNode);
  for (const node of nodes) {
    if (!node.parentElement.closest("script, style, svg") && node.textContent.trim())
      node.textContent += node.textContent;
  }
  document.body.style.letterSpacing = "0.3em";
}"""
"""Makes every text more than twice as wide."""
WIDE = """(width) => [...document.querySelectorAll("body *")].filter((it) => {
  if (it.getBoundingClientRect().right <= width + 1) return false;
  for (let up = it.parentElement; up; up = up.parentElement)
    if (getComputedStyle(up).overflowX !== "visible") return false;
  return true;
}).map((it) => `${it.tagName} ${it.className} ${it.textContent.slice(0, 60)}`)"""
"""What reaches beyond the screen, and not inside something that scrolls by itself."""


def _player(folder):
    games = [
        game(number, [mistake("calls", 0.1), mistake("riichi", 0.3)], player="a long name " * 3)
        for number in range(40)
    ]
    report = PlayerReport("a long name " * 3, games[20:], games[:20], "reference-games.jsonl")
    return player_page(report, {}, "player-quiz.html", origin_of(["mjbot review", "--player"]))


def _command(folder, *words):
    out = folder / "page.html"
    assert main([*map(str, words), str(out)]) == ExitCode.OK
    return out.read_text(encoding="utf-8")


def _review(folder):
    by = ["--by", "fast-riichi-d", "--playouts", 0]
    return _command(folder, "review", LOG, "--seat", 0, *by, *_language(), "--out")


def _stats(folder):
    compared = ["--compare", "majiang", "majiang-2", "--jobs", 1]
    return _command(folder, "stats", LOG, *compared, *_language(), "--html")


def _watch(folder):
    return _command(folder, "watch", LOG, "--by", "fast-riichi-b", *_language(), "--out")


def _arena(folder):
    words = ["tsumogiri", "fast-riichi-b", "--games", 8, "--length", "tonpu", "--jobs", 1]
    assert main(["arena", *map(str, words), "--out", str(folder / "run")]) == ExitCode.OK
    return (folder / "run" / "report.html").read_text(encoding="utf-8")


def _tables(folder):
    """Return a page of the parts that the server's pages have."""
    rows = [["t" * 30, "playing", "a-long-name-of-a-player / " * 4]] * 3
    body = ["<main><h1>Tables</h1>", f"<p>{'waiting-in-' * 20}</p>"]
    return html.page("tables", [*body, html.table(["table", "state", "players"], rows), "</main>"])


def _language():
    from mjbot.runtime.languages import language

    return ["--language", language()]


TRANSLATED = {"player": _player, "review": _review, "stats": _stats, "watch": _watch}
ENGLISH = {"arena": _arena, "tables": _tables}
PAGES = [(name, language) for name in TRANSLATED for language in LANGUAGES]
PAGES += [(name, "en") for name in ENGLISH]


@pytest.fixture(scope="module", params=PAGES, ids="-".join)
def phone(request, browser, tmp_path_factory):
    """Return a page as a phone shows it."""
    name, language = request.param
    folder = tmp_path_factory.mktemp(name)
    with using_language(language):
        text = {**TRANSLATED, **ENGLISH}[name](folder)
    file = folder / "shown.html"
    file.write_text(text, encoding="utf-8")
    shown = browser.new_page(viewport=dict(zip(("width", "height"), PHONE, strict=True)))
    shown.goto(file.as_uri())
    shown.evaluate("for (const it of document.querySelectorAll('details')) it.open = true")
    yield shown, language
    shown.close()


def beyond(shown):
    width = shown.evaluate("document.documentElement.scrollWidth")
    return shown.evaluate(WIDE, PHONE[0]) if width > PHONE[0] else []


def test_a_page_is_as_wide_as_a_phone_with_real_fonts(phone):
    shown, language = phone
    if language != "en" and not _has_font(language):
        pytest.skip(f"no font for {language}: install fonts-noto-cjk")
    assert beyond(shown) == []


def test_a_page_is_as_wide_as_a_phone_with_words_twice_as_wide(phone):
    shown, _ = phone
    shown.evaluate(DOUBLE)
    assert beyond(shown) == []


def _has_font(language):
    tag = {"ja": "ja", "zh-Hans": "zh-cn", "zh-Hant": "zh-tw"}[language]
    if shutil.which("fc-list") is None:
        return False
    command = ["fc-list", f":lang={tag}", "family"]
    return bool(subprocess.run(command, capture_output=True, check=True).stdout.strip())
