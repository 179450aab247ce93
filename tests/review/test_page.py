"""The page and the JSON: they need nothing else, and run nothing of what a record says."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from mjbot.drawing.tiles import tile_label
from mjbot.report.html import text
from mjbot.review.decision_html import decision_html
from mjbot.review.mjai_json import meld_json, review_json
from mjbot.review.page import HEIGHT, WIDTH, page
from mjbot.review.summary import Review
from mjbot.table.state import MeldType
from mjbot.table.view import Meld
from proof.board import browser_path, open_browser
from protocol.messages import Chi, Pon, StartKyoku, Tsumo
from protocol.tiles import TILE_NAMES

EVIL = (
    "<script>alert(1)</script>",
    '"><svg onload=alert(1)>',
    "\x07\x1b]0;t\x1b\\bell\u202egnp.exe",
    "a\u200f\u2066b'&lt;<img src=x onerror=1>",
)


class Elements(HTMLParser):
    """Collects what a page is made of."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.shown = [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_data(self, data):
        self.shown.append(data)


@pytest.fixture(scope="module")
def html(by_points):
    return page(by_points)


def test_it_needs_no_network_and_holds_no_script(html):
    found = Elements(html)
    assert not {"script", "img", "iframe", "link", "object", "embed", "base"} & set(found.tags)
    names = {name for _, name, _ in found.attributes}
    assert not any(name.startswith("on") for name in names)
    assert not {"src", "action", "formaction"} & names
    links = [value for _, name, value in found.attributes if name == "href"]
    assert links and all(link.startswith("#") for link in links)
    assert "http:" not in html and "https:" not in html and "url(" not in html
    assert "default-src 'none'" in html


def test_each_tile_is_drawn_once_and_has_a_name_wherever_it_stands(html):
    found = Elements(html)
    assert [value for tag, name, value in found.attributes if (tag, name) == ("g", "id")] == [
        f"t{name}" for name in TILE_NAMES
    ]
    names = {tile_label(name) for name in TILE_NAMES}
    drawn = html.split("</defs></svg>", 1)[1]
    for whole in re.findall(r'<svg class="?[tr][ a-z"]*[^>]*>.*?</svg>', drawn):
        label = re.search(r'role=img aria-label="([^"]*)"', whole)[1].split(", ")
        used = re.findall("href=#t([0-9A-Z?a-z]+) ", whole)
        assert used and label == [tile_label(name) for name in used]
        assert set(label) <= names
    assert len(re.findall('role=img aria-label="', drawn)) == drawn.count("<svg")
    assert drawn.count("<use") > 100


def test_every_link_leads_to_a_place_on_the_page(html):
    found = Elements(html)
    places = {value for _, name, value in found.attributes if name == "id"}
    links = {value[1:] for _, name, value in found.attributes if name == "href"}
    assert links <= places


def test_a_browser_shows_it_whole_on_small_and_wide_screens_by_day_and_night(html, tmp_path):
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if browser_path() is None:
        pytest.skip("no chromium on this machine")
    file, asked, problems = tmp_path / "review.html", set(), []
    file.write_text(html, encoding="utf-8")
    with open_browser() as browser:
        page = browser.new_page()
        page.on("request", lambda request: asked.add(request.url))
        page.on("console", lambda said: problems.append(said.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(file.as_uri())
        for summary in page.locator("summary:visible").all()[:3]:
            summary.click()
        tile = page.locator("details[open] .hand .t").first
        for width, colours in ((360, "light"), (360, "dark"), (1200, "light"), (1200, "dark")):
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme=colours)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (sum(map(int, re.findall(r"\d+", ground))) < 300) == (colours == "dark")
            assert tile.bounding_box()["height"] >= 20
        assert page.evaluate("getComputedStyle(document.body).getPropertyValue('--index')") == ""
        page.locator("#letters").check()
        assert page.evaluate("getComputedStyle(document.body).getPropertyValue('--index')") == "1"
    assert asked == {file.as_uri()}
    assert not problems


def test_names_of_strangers_are_shown_as_text(by_points):
    judged = by_points.judged
    held, judged.names = judged.names, EVIL
    try:
        found = Elements(page(Review("<b>game</b>\u202e", 2, by_points.by, judged)))
    finally:
        judged.names = held
    plain = Elements(page(by_points))
    assert sorted(set(found.tags)) == sorted(set(plain.tags))
    assert found.tags.count("svg") == plain.tags.count("svg")
    shown = "".join(found.shown)
    assert "<script>alert(1)</script>" in shown
    for forbidden in "\x07\x1b\u202e\u200f\u2066":
        assert forbidden not in shown


def test_text_is_cut_and_cleaned():
    assert text("\u202e<i>\x00") == "&lt;i&gt;"
    assert len(text("x" * 1000)) == 40


def test_it_says_who_judges_how_strong_that_is_and_what_is_no_proof(html, by_points):
    shown = " ".join("".join(Elements(html).shown).split())
    strength = by_points.by.strength
    assert f"{strength.rank:.3f} ± {strength.half_width:.3f}" in shown
    assert strength.command in shown
    assert "No playouts were run" in shown
    assert "(2.50: as strong as they are; lower: stronger)" in shown


def test_a_reviewer_of_unknown_strength_is_said_to_be_so(by_points):
    unknown = Review("g", 2, type(by_points.by)("my_bot", "points"), by_points.judged)
    assert "its playing strength was not measured" in page(unknown)


def test_the_bars_are_in_the_order_of_the_game_and_as_high_as_the_losses(html, by_points):
    curve = re.search("<svg class=curve .*?</svg>", html)[0]
    bars = re.findall(r'x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="([\d.]+)"', curve)
    lost = [(at, each.loss) for at, each in enumerate(by_points.decisions) if each.loss]
    assert len(bars) == len(lost)
    most = max(loss for _, loss in lost)
    for (x, width, height), (at, loss) in zip(bars, lost, strict=True):
        assert float(x) == pytest.approx(WIDTH * at / len(by_points.decisions), abs=0.06)
        assert float(x) + float(width) <= WIDTH + 2
        assert float(height) == pytest.approx(max(2, loss / most * (HEIGHT - 14)), abs=0.06)


def test_each_kyoku_counts_its_decisions_and_those_done_otherwise(html, by_points):
    shown = "".join(Elements(html).shown)
    tallies = re.findall(r"(\d+) decisions?, (\d+) different", shown)
    kyoku = {}
    for decision in by_points.decisions:
        count, otherwise = kyoku.get(decision.kyoku, (0, 0))
        kyoku[decision.kyoku] = count + 1, otherwise + (not decision.is_equal)
    assert [(int(n), int(other)) for n, other in tallies] == list(kyoku.values())


KEYS = {
    "engine", "game_length", "loading_time", "review_time", "show_rating", "version", "review",
    "player_id", "split_logs", "mjai_log", "lang",
}  # fmt: skip
OF_REVIEW = {
    "total_reviewed", "total_matches", "rating", "temperature", "kyokus", "relative_phi_matrix",
    "model_tag",
}  # fmt: skip
OF_KYOKU = {"kyoku", "honba", "end_status", "relative_scores", "entries"}
OF_ENTRY = {
    "junme", "tiles_left", "last_actor", "tile", "state", "at_self_chi_pon", "at_self_riichi",
    "at_opponent_kakan", "expected", "actual", "is_equal", "details", "shanten", "at_furiten",
    "actual_index",
}  # fmt: skip


def test_the_json_has_all_keys_of_mjai_reviewer(review):
    told = json.loads(json.dumps(review_json(review), allow_nan=False))
    assert set(told) >= KEYS
    assert told["mjai_log"][0]["type"] == "start_game"
    reviewed = told["review"]
    assert set(reviewed) >= OF_REVIEW
    assert len(reviewed["kyokus"]) == len(reviewed["relative_phi_matrix"])
    entries = [entry for kyoku in reviewed["kyokus"] for entry in kyoku["entries"]]
    assert all(set(kyoku) >= OF_KYOKU for kyoku in reviewed["kyokus"])
    assert len(entries) == reviewed["total_reviewed"] == len(review.decisions)
    assert sum(entry["is_equal"] for entry in entries) == reviewed["total_matches"]
    for entry, decision in zip(entries, review.decisions, strict=True):
        assert set(entry) >= OF_ENTRY
        assert sorted(map(str, decision.view.legal)) == sorted(entry["legal"])
        probs = [detail["prob"] for detail in entry["details"]]
        assert all(0 <= prob <= 1.000001 for prob in probs)
        if entry["actual_index"] < len(probs):
            action = entry["details"][entry["actual_index"]]["action"]
            assert action["type"] == entry["actual"]["type"]
        hand = entry["state"]["tehai"]
        melds = [tile for meld in entry["state"]["fuuros"] for tile in meld["consumed"]]
        assert len(hand) + 3 * len(entry["state"]["fuuros"]) in (13, 14) and None not in melds
    losses = sum(entry["loss"] or 0 for entry in entries)
    kinds = reviewed["summary"]["by_kind"].values()
    assert sum(kind["loss"] for kind in kinds) == pytest.approx(losses, abs=1e-3)


def test_probabilities_of_a_network_are_its_percentages(by_shares):
    kyoku = review_json(by_shares)["review"]["kyokus"]
    details = [each for part in kyoku for entry in part["entries"] for each in entry["details"]]
    assert len(details) > 100
    for detail in details:
        assert detail["prob"] == pytest.approx(detail["q_value"] / 100, abs=1e-4)


def test_each_entry_has_the_turn_of_its_seat(by_points, events):
    """``junme`` counts the seat's draws and calls in the kyoku, of which some give no choice."""
    turns, turn = {}, 0
    for number, event in enumerate(events, 1):
        if isinstance(event, StartKyoku):
            turn = 0
        if isinstance(event, Tsumo | Chi | Pon) and event.actor == by_points.seat:
            turn += 1
        turns[number] = turn
    told = review_json(by_points)["review"]["kyokus"]
    entries = [entry for kyoku in told for entry in kyoku["entries"]]
    assert [entry["junme"] for entry in entries] == [turns[entry["event"]] for entry in entries]
    numbers = [int(entry["position"].partition(":")[2]) for entry in entries]
    assert numbers != [entry["junme"] for entry in entries]


def test_each_decision_links_to_the_board_at_that_moment(by_points, events):
    review = replace(by_points, board="a b-board.html")
    links = [value for _, name, value in Elements(page(review)).attributes if name == "href"]
    kyoku = [number for number, event in enumerate(events, 1) if isinstance(event, StartKyoku)]
    for decision in review.decisions:
        step = decision.event - kyoku[decision.kyoku]
        assert f"a%20b-board.html#{review.seat}/{decision.kyoku}/{step}" in links
    assert "a%20b-board.html" in links


def test_a_row_of_terms_that_differ_in_nothing_is_left_out(review):
    n_rows = 0
    for decision in review.decisions:
        html = decision_html(review, decision)
        for row in re.findall(r"<tr>(.*?)</tr>", html):
            cells = re.findall("<td>(.*?)</td>", row)
            if len(cells) == 4 and "<em>" not in cells[0]:
                gain = re.sub(r"[^\d.]", "", cells[3])
                has_gain = bool(gain) and float(gain) >= 10
                assert has_gain or (cells[1] != cells[2] and "danger" not in cells[0]), row
                n_rows += 1
    assert n_rows > 100


def test_columns_and_rows_carry_their_units(by_shares):
    heads = set()
    for decision in by_shares.decisions:
        if decision.better is not None and decision.done is not None and not decision.is_equal:
            html = decision_html(by_shares, decision)
            heads.update(re.findall("<th>([^<]*)</th>", html))
            if "chance to win" in html:
                assert "<td>chance to win, %</td>" in html
    assert "gain, points" in heads
    assert "worth" not in "".join(heads)


def test_a_rating_has_an_interval(by_points):
    reviewed = review_json(by_points)["review"]
    value, low, high = reviewed["rating_interval"]
    assert low < reviewed["rating"] == value < high <= 1.05


def test_a_meld_is_told_with_whom_it_came_from():
    kinds = {MeldType.PON: 3, MeldType.DAIMINKAN: 4, MeldType.KAKAN: 4}
    for type_, n_tiles in kinds.items():
        told = meld_json(Meld(type_, 4, red=1, called=34, source=3))
        consumed = [*told["consumed"], told["pai"]]
        consumed += [told["previous_pon_pai"]] if type_ == MeldType.KAKAN else []
        assert told["type"] == type_.name.lower()
        assert sorted(consumed) == ["5m"] * (n_tiles - 1) + ["5mr"]
    chi = meld_json(Meld(MeldType.CHI, 1, red=0, called=2, source=0))
    assert chi == {"type": "chi", "target": 0, "pai": "3m", "consumed": ["2m", "4m"]}
    ankan = meld_json(Meld(MeldType.ANKAN, 30, red=0, called=-1, source=1))
    assert ankan == {"type": "ankan", "consumed": ("N",) * 4}
