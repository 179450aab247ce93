"""The page and the JSON: they need nothing else, and run nothing of what a record says."""

import json
import re
from html.parser import HTMLParser

import pytest

from mjbot.analysis.review.comparison import compare_choices
from mjbot.analysis.review.mjai_json import meld_json, review_json
from mjbot.analysis.review.page import HEIGHT, WIDTH, page, summary_html
from mjbot.analysis.review.reasons import number as formatted
from mjbot.analysis.review.summary import Review
from mjbot.game.rules.shanten import shanten
from mjbot.game.table.state import MeldType
from mjbot.game.table.view import Meld
from mjbot.protocol.messages import Chi, Pon, StartKyoku, Tsumo
from mjbot.protocol.tiles import N_KINDS, TILE_BY_NAME, TILE_NAMES, tile_kind
from mjbot.viewer.drawing.tiles import tile_label
from mjbot.viewer.html import text
from mjbot.viewer.pages import game_of_page

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


@pytest.fixture(scope="module")
def below(by_points):
    return summary_html(by_points)


@pytest.fixture(scope="module")
def packed(html):
    """Return the game and the review that the page holds."""
    return game_of_page(html)


def test_it_needs_no_network_and_runs_its_own_script_only(html):
    found = Elements(html)
    assert not {"img", "iframe", "object", "embed", "base"} & set(found.tags)
    names = {name for _, name, _ in found.attributes}
    assert not any(name.startswith("on") for name in names)
    assert not {"src", "action", "formaction"} & names
    links = [value for _, name, value in found.attributes if name == "href"]
    assert all(link.startswith(("#", "data:,")) for link in links)
    assert "http" not in html.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    policy = re.search('Content-Security-Policy" content="([^"]*)"', html)[1]
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy


def test_a_game_is_one_file_of_less_than_400_kb(review):
    assert len(page(review).encode()) < 400_000


def test_the_summary_needs_no_script(below):
    found = Elements(below)
    assert "script" not in found.tags
    assert not {"onclick", "style"} & {name for _, name, _ in found.attributes}


def test_each_tile_has_a_name_wherever_it_stands(below):
    names = {tile_label(name) for name in TILE_NAMES}
    drawn = re.findall(r'<svg class=t role=img aria-label="([^"]*)"><use href=#t([^ ]+) />', below)
    assert len(drawn) > 5
    for label, name in drawn:
        assert label == tile_label(name) and label in names


def test_every_link_leads_to_a_decision_or_a_kyoku_of_the_page(below, packed):
    links = [value for _, name, value in Elements(below).attributes if name == "href"]
    positions = {each["at"] for each in packed["review"]["decisions"]}
    kyoku = {position.partition(":")[0] for position in positions}
    targets = {link[1:] for link in links if not link.startswith("#t")}
    assert targets and targets <= positions | kyoku


def test_the_page_holds_the_numbers_of_the_json(packed, by_points):
    shown = packed["review"]["decisions"]
    entries = [
        entry for each in review_json(by_points)["review"]["kyokus"] for entry in each["entries"]
    ]
    assert [each["n"] for each in shown] == [entry["event"] for entry in entries]
    for each, entry in zip(shown, entries, strict=True):
        assert each["loss"] == entry["loss"]
        assert each["sentence"] == entry["sentence"]
        assert sum(rated["chosen"] for rated in each["rated"]) <= 1
        assert sum(rated["done"] for rated in each["rated"]) <= 1
        assert sorted(rated["share"] for rated in each["rated"]) == pytest.approx(
            sorted(detail["prob"] for detail in entry["details"]), abs=1e-4
        )
        rows = entry["comparison"]["rows"] if entry["comparison"] else []
        totals = [row for row in rows if row["is_total"] and row["gain"] is not None]
        if entry["loss"]:
            assert totals[0]["gain"] == pytest.approx(entry["loss"], abs=1e-3)
        assert {each["seat"] for each in entry["opponents"]} == set(range(4)) - {by_points.seat}


def test_the_share_of_every_legal_action_is_there(by_shares):
    for decision, entry in _entries(by_shares):
        legal = {str(action).removesuffix(" (drawn)") for action in decision.view.legal}
        assert {
            str(each.action).removesuffix(" (drawn)") for each in decision.explanation.rated
        } == legal
        # the network has one share for a kind, whether its five is red or not
        shares = {
            str(detail["action"]).replace("r'", "'"): detail["prob"] for detail in entry["details"]
        }
        assert sum(shares.values()) == pytest.approx(1, abs=0.001)


def _plain(action):
    return str(action).removesuffix(" (drawn)")


def _entries(review):
    kyokus = review_json(review)["review"]["kyokus"]
    return zip(review.decisions, [e for each in kyokus for e in each["entries"]], strict=True)


def test_dangers_are_those_of_the_reviewer(by_points):
    n = 0
    for decision, entry in _entries(by_points):
        for rated in decision.explanation.rated:
            for term in rated.terms:
                if term.name == "danger" and rated.action.is_discard:
                    of = next(one for one in entry["opponents"] if one["seat"] == term.about)
                    shown = of["deal_in"][tile_kind(rated.action.tile)]
                    assert shown == pytest.approx(term.value, rel=0.006, abs=1e-6)
                    assert (
                        shown == 0
                        or not decision.view.genbutsu(term.about) >> tile_kind(rated.action.tile)
                        & 1
                    )
                    n += 1
    assert n > 1000


def test_accepted_tiles_are_those_that_lower_the_shanten(by_points):
    """Count anew by trying every tile; the sum is the term that the reviewer reports."""
    n = 0
    for decision, entry in _entries(by_points):
        view = decision.view
        for detail in entry["details"]:
            if detail["action"]["type"] != "dahai" or view.n_melds:
                continue
            hand = view.hand.copy()
            hand[tile_kind(TILE_BY_NAME[detail["action"]["pai"]])] -= 1
            before, found = shanten(hand, 0), []
            for kind in range(N_KINDS):
                if hand[kind] < 4 and view.unseen[kind]:
                    hand[kind] += 1
                    found += [TILE_NAMES[kind]] if shanten(hand, 0) < before else []
                    hand[kind] -= 1
            assert list(detail["accepted"]) == found
            n += 1
    assert n > 500


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


def test_the_bars_are_in_the_order_of_the_game_and_as_high_as_the_losses(below, by_points):
    curve = re.search("<svg class=curve .*?</svg>", below)[0]
    bars = re.findall(r'x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="([\d.]+)"', curve)
    lost = [(at, each.loss) for at, each in enumerate(by_points.decisions) if each.loss]
    assert len(bars) == len(lost)
    most = max(loss for _, loss in lost)
    for (x, width, height), (at, loss) in zip(bars, lost, strict=True):
        assert float(x) == pytest.approx(WIDTH * at / len(by_points.decisions), abs=0.06)
        assert float(x) + float(width) <= WIDTH + 2
        assert float(height) == pytest.approx(max(2, loss / most * (HEIGHT - 14)), abs=0.06)


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
    kinds = reviewed["summary"]["by_kind"].values()
    different = sum(not entry["is_equal"] for entry in entries)
    assert sum(kind["differing"] for kind in kinds) == different


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


def test_a_row_of_terms_that_differ_in_nothing_is_left_out(review):
    n_rows = 0
    for decision in review.decisions:
        found = compare_choices(decision)
        for row in found.rows if found else ():
            if not row.is_total:
                pair = (row.yours, row.other)
                shown = [None if value is None else formatted(value, row.unit) for value in pair]
                has_gain = row.gain is not None and abs(row.gain) >= 0.5
                assert has_gain or (shown[0] != shown[1] and row.name != "danger"), row
                n_rows += 1
    assert n_rows > 100


def test_the_rows_add_up_to_the_loss(by_points):
    """What the terms gain is the whole difference; only rows below 10 points are missing."""
    n = 0
    for decision in by_points.decisions:
        if decision.is_equal or not decision.loss:
            continue
        rows = compare_choices(decision).rows
        gains = [row.gain for row in rows if row.gain is not None and not row.is_total]
        assert sum(gains) == pytest.approx(decision.loss, abs=100)
        n += 1
    assert n > 10


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
