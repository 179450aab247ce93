"""``mjbot review RECORDS... --player``: page, quiz, JSON, comparison, resuming and refusals."""

import base64
import contextlib
import hashlib
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from mjbot.analysis.player import reviewed_games
from mjbot.analysis.player.quiz import SCRIPT, read_positions
from mjbot.analysis.review import playouts
from mjbot.cli.main import main
from mjbot.runtime.errors import ExitCode
from tests.analysis.player.conftest import SOURCES

BY = ["--by", "fold-recognition-plus", "--playouts", "0", "--jobs", "1"]
FILES = [str(source.path) for source in SOURCES]


def review(*arguments):
    return main(["review", *map(str, arguments)])


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return the folder of a whole run, and what it has printed."""
    folder = tmp_path_factory.mktemp("player")
    out = ["--out", folder / "r.html", "--json", folder / "r.json"]
    assert review(*FILES, "--player", "majiang", *BY, *out) == ExitCode.OK
    return folder


class Tags(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.found, self.text = [], ""
        self.feed(re.sub("<(style|script)>.*?</\\1>", "", page, flags=re.DOTALL))

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        self.text += " " + " ".join(v for k, v in attrs if k in ("data-score", "aria-label"))

    def handle_data(self, data):
        self.text += f" {data}"


def test_the_page_has_every_table_and_no_script(made):
    page = (made / "r.html").read_text("utf-8")
    values = json.loads((made / "r.json").read_text("utf-8"))
    assert values["player"] == "majiang" and values["games"] == 2
    for title in values["tables"]:
        assert f"<h2>{title}</h2>" in page
    assert "<script" not in page and "http" not in page.replace("http-equiv", "")
    positions = [
        p for each in values["tables"]["Most different choices"] for p in each["positions"]
    ]
    assert page.count("<p class=hand>") == len(positions) > 10
    assert 'href="r-quiz.html"' in page


def test_the_quiz_asks_a_players_own_positions_and_has_one_answer_each(made):
    page = (made / "r-quiz.html").read_text("utf-8")
    tags = Tags(page).found
    exercises = [attrs for tag, attrs in tags if tag == "section"]
    buttons = [attrs for tag, attrs in tags if tag == "button"]
    answers = [attrs for attrs in buttons if attrs.get("data-answer") == "better"]
    done = [attrs for tag, attrs in tags if tag == "button" and "data-done" in attrs]
    assert len(exercises) == len(answers) == len(done) == 12
    assert not any("data-done" in each for each in answers)  # a mistake is not the answer
    assert sum("hidden" in each for each in exercises) == 11
    script = SCRIPT.read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page and f"<script>{script}</script>" in page
    links = [a.get("src") or a.get("href") for t, a in tags if t in ("img", "a", "link", "script")]
    assert all(link is None or link.startswith("data:") for link in links)


def test_positions_are_those_in_which_the_choice_was_made(games):
    pairs = [(game, each) for game in games for each in game.mistakes]
    found = list(read_positions(pairs, SOURCES))
    assert len(found) == len(pairs) > 20
    for each in found:
        codes = {action.code for action in each.view.legal}
        assert {rated.action.code for rated in each.choices} <= codes
        assert each.view.seat == each.game.seat
        assert each.mistake.actual in codes and each.mistake.better in codes
        assert not each.view.state["hand_known"][(each.game.seat + 1) % 4]
    assert list(read_positions(pairs, SOURCES[:1])) != []
    assert len(list(read_positions(pairs, SOURCES[:1]))) < len(pairs)


def test_answers_in_a_browser(made, browser):
    problems = []
    page = browser.new_page()
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda line: problems.append(line.text))
    page.goto((made / "r-quiz.html").as_uri())
    first = page.locator(".exercise").first
    right = first.locator("[data-answer=better]")
    buttons = first.locator("button").all()
    place = [b.get_attribute("data-answer") for b in buttons].index("better")
    assert not first.locator(".solution").is_visible()
    page.keyboard.press(str(place + 1))
    assert first.locator(".solution").is_visible()
    assert "right" in right.get_attribute("class")
    assert page.locator("#score").inner_text() == "Position 1 of 12; 1 of 1 right"
    page.keyboard.press("ArrowRight")
    second = page.locator(".exercise").nth(1)
    assert second.is_visible() and not first.is_visible()
    second.locator("[data-done]").click()
    assert "That is what you played." in second.locator(".verdict").inner_text()
    assert page.locator("#score").inner_text() == "Position 2 of 12; 1 of 2 right"
    page.locator("#before").click()
    assert first.is_visible()
    page.close()
    assert problems == []


def test_games_of_three_have_three_places_and_boards_of_three(of_three, tmp_path):
    """Rates are counted again from the events; a position of the quiz asks for a kita."""
    by = ["--by", "fast-policy", "--playouts", "0", "--jobs", "1"]
    out = ["--out", tmp_path / "r.html", "--json", tmp_path / "r.json"]
    assert review(*of_three, "--player", "a", *by, *out) == ExitCode.OK
    values = json.loads((tmp_path / "r.json").read_text("utf-8"))
    rates = {row["figure"]: row["player"] for row in values["tables"]["Rates"]}
    ranks, wins, kyoku = [], 0, 0
    for file in of_three:
        events = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        seat, scores = events[0]["names"].index("a"), events[-1]["scores"]
        ranks.append(1 + sum(score > scores[seat] for score in scores))
        kyoku += sum(event["type"] == "start_kyoku" for event in events)
        wins += sum(event["type"] == "hora" and event["actor"] == seat for event in events)
    assert values["games"] == 3 and rates["rank"]["value"] == pytest.approx(sum(ranks) / 3)
    assert rates["third"]["value"] == pytest.approx(ranks.count(3) / 3) and "fourth" not in rates
    assert rates["win"]["value"] == pytest.approx(wins / kyoku) and wins > 0
    quiz = (tmp_path / "r-quiz.html").read_text("utf-8")
    for image in re.findall('svg\\+xml;base64,([^"]+)', quiz):
        texts = re.findall("<text[^>]*>(.*?)</text>", base64.b64decode(image).decode())
        assert sorted(text for text in texts if "seat" in text) == ["seat 0", "seat 1", "seat 2"]
    assert 'data-answer="better"><span class=soft>7</span> kita</button>' in quiz


NAMES = ("r.html", "r-quiz.html")
OWN = re.compile(
    r"majiang|mjbot review --player|commit \S+|[\w./-]+\.[a-z]+|[ESWN]\d-\d:\d+|Enter|\{\w+\}"
    r"|--playouts SECONDS",
    re.ASCII,
)
"""What is the same in all languages: names, commands, files, positions, keys, placeholders."""
HALF_WIDTH = re.compile("[\u3040-\u9fff][,;] |[\u3001\u3002\uff0c\uff1a\uff1b] [\u3040-\u9fff]")
"""Punctuation of English after a character of Japanese or Chinese."""


@pytest.fixture(
    scope="module",
    params=[("ja", 0.01), ("ja", 0), ("zh-Hans", 0), ("zh-Hant", 0)],
    name="translated",
)
def translated_report(request, tmp_path_factory):
    """Return a language, the arguments and folder of a report in it, and what was printed.

    One report has playouts, which show nothing in its one game, so that it has no quiz.
    """
    language, playouts_s = request.param
    folder = tmp_path_factory.mktemp(language)
    out = ["--out", folder / "r.html", "--json", folder / "r.json"]
    by = ["--by", "fast-riichi-d", "--playouts", playouts_s, "--jobs", 1]
    command = [*FILES, "--player", "majiang", "--recent", 1, *by, *out]
    few_worlds = pytest.MonkeyPatch.context()  # the texts are the same
    with few_worlds as patch, contextlib.redirect_stdout(io.StringIO()) as terminal:
        patch.setattr(playouts, "FIRST_WORLDS", 16)
        assert review(*command, "--language", language) == ExitCode.OK
    return language, command, folder, terminal.getvalue()


def test_page_quiz_and_terminal_are_in_one_language(translated, capsys):
    language, command, folder, terminal = translated
    files = [each for name in NAMES if (each := folder / name).exists()]
    pages = [each.read_text("utf-8") for each in files]
    assert all(f"<html lang={language}>" in page for page in pages)
    images = re.findall('svg\\+xml;base64,([^"]+)', pages[-1])
    boards = [base64.b64decode(image).decode() for image in images]
    assert len(boards) == pages[-1].count("<section") and (len(pages) == 2) == bool(boards)
    assert all(f'xml:lang="{language}"' in board for board in boards)  # chooses the forms of Han
    assert 'alt="board"' not in pages[-1]
    drawn = [text for board in boards for text in re.findall("<text[^>]*>(.*?)</text>", board)]
    texts = [*[Tags(page).text for page in pages], terminal]
    for text in (*texts, *([" ".join(drawn)] if boards else [])):
        assert re.search("[\u4e00-\u9fff]", text)
        assert not re.findall(r"[A-Za-z]{3,}", OWN.sub("", text))
        assert not HALF_WIDTH.findall(text)
    values = json.loads((folder / "r.json").read_text("utf-8"))
    assert "Losses by class" in values["tables"]  # keys are those of all languages
    assert review(*command, "--language", "en") != ExitCode.OK
    assert f"language '{language}'" in capsys.readouterr().err


def test_report_and_quiz_fit_every_screen_without_foreign_requests(translated, browser):
    """At three sizes, in both colour schemes."""
    _, _, folder, _ = translated
    problems = []
    page = browser.new_page()
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda line: problems.append(line.text))
    page.on("request", lambda each: problems.extend(_foreign(each.url, folder)))
    for name in (each for each in NAMES if (folder / each).exists()):
        page.goto((folder / name).as_uri())
        page.evaluate("for (const it of document.querySelectorAll('details')) it.open = true")
        page.keyboard.press("1")
        for width, height in ((360, 740), (820, 1180), (1440, 900)):
            page.set_viewport_size({"width": width, "height": height})
            for colours in ("light", "dark"):
                page.emulate_media(color_scheme=colours)
                assert page.evaluate("document.documentElement.scrollWidth") <= width
                ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
                assert (sum(map(int, re.findall(r"\d+", ground))) < 300) == (colours == "dark")
    page.close()
    assert problems == []


def _foreign(url, folder):
    return [] if url.startswith((folder.as_uri(), "data:")) else [url]


def test_a_second_run_reviews_nothing_again(made, monkeypatch, capsys):
    def fail(*_):
        raise AssertionError("a file was reviewed again")

    monkeypatch.setattr(reviewed_games, "review_source", fail)
    before = (made / "r-games.jsonl").read_bytes()
    out = ["--out", made / "r.html"]
    assert review(*FILES, "--player", "majiang", *BY, *out) == ExitCode.OK
    assert (made / "r-games.jsonl").read_bytes() == before
    printed = capsys.readouterr().out.splitlines()
    assert any(line.startswith("2 games of majiang: average place ") for line in printed)
    assert printed[-1] == f"the whole report: {made / 'r.html'}"


def test_the_order_in_which_reviews_were_kept_changes_nothing(made, tmp_path):
    """One hanchan each under two rule sets: as many, so that the order could choose."""
    words = [*FILES, "--player", "majiang", *BY, "--under", "tonpu"]
    reports = []
    for kept in (lambda lines: lines, lambda lines: [lines[0], *reversed(lines[1:])]):
        folder = tmp_path / f"{len(reports)}"
        folder.mkdir()
        lines = (made / "r-games.jsonl").read_text("utf-8").splitlines()
        (folder / "r-games.jsonl").write_text("\n".join(kept(lines)) + "\n", "utf-8")
        out = ["--out", folder / "r.html", "--json", folder / "r.json"]
        assert review(*words, *out) in (ExitCode.OK, ExitCode.BAD_ARGUMENTS)
        assert review(*words[:-2], *out) == ExitCode.OK
        page = (folder / "r.html").read_text("utf-8").replace(str(folder), "")
        reports.append(((folder / "r.json").read_bytes(), page))
    assert reports[0] == reports[1]


def test_a_player_is_compared_with_its_earlier_games_or_with_others(made, tmp_path, capsys):
    out = ["--out", made / "r.html", "--json", made / "recent.json"]
    assert review(*FILES, "--player", "majiang", *BY, *out, "--recent", 1) == ExitCode.OK
    values = json.loads((made / "recent.json").read_text("utf-8"))
    assert values["games"] == 1 and values["reference"] == {"name": "earlier games", "seats": 1}
    other = ["--out", tmp_path / "o.html", "--json", tmp_path / "o.json"]
    command = [FILES[0], "--player", "fast-riichi-d", *BY, *other]
    assert review(*command, "--reference", made / "r-games.jsonl") == ExitCode.OK
    values = json.loads((tmp_path / "o.json").read_text("utf-8"))
    assert values["reference"]["seats"] == 2
    losses = values["tables"]["Losses by class"][-1]
    assert losses["difference"]["value"] == pytest.approx(
        losses["cost_per_game"]["value"] - losses["reference"]["value"]
    )
    assert "compared with r-games.jsonl" in capsys.readouterr().out


def test_records_as_a_reference_are_reviewed_for_all_players(tmp_path):
    out = ["--out", tmp_path / "o.html", "--json", tmp_path / "o.json"]
    command = [FILES[0], "--player", "majiang", *BY[2:], "--by", "fast-riichi-d", *out]
    assert review(*command, "--reference", FILES[0]) == ExitCode.OK
    values = json.loads((tmp_path / "o.json").read_text("utf-8"))
    assert values["reference"]["seats"] == 3  # the player's own seat is no reference
    assert (tmp_path / "o-reference-games.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([*FILES], "several records: name the player to review with --player NAME"),
        ([*FILES, "--player", "nobody"], "no game of 'nobody' that can be reviewed"),
        ([FILES[0], "--player", "majiang", "--seat", 0], "--seat is for one game"),
        (
            [FILES[0], "--player", "majiang", "--recent", 1, "--reference", FILES[1]],
            "--reference and --recent: choose one group to compare with",
        ),
        ([FILES[0], "--player", "majiang", "--recent", 5], "--recent 5: the records have 1 game"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(arguments, problem, tmp_path, capsys):
    by = [] if "--by" in arguments else ["--by", "fast-riichi-d"]
    more = [*by, "--playouts", 0, "--jobs", 1, "--out", tmp_path / "x.html"]
    assert review(*arguments, *more) == ExitCode.BAD_ARGUMENTS
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.startswith("mjbot review: ") and problem in line
    assert not (tmp_path / "x.html").exists()


def test_names_of_a_record_are_text_on_the_pages(tmp_path):
    evil = "<b>x</b>"
    record = tmp_path / "evil.mjson"
    record.write_text(Path(FILES[0]).read_text("utf-8").replace('"majiang"', f'"{evil}"'))
    out = tmp_path / "r.html"
    command = [record, "--player", evil, "--by", "fast-riichi-d", "--playouts", 0, "--jobs", 1]
    assert review(*command, "--out", out) == ExitCode.OK
    for page in (out, tmp_path / "r-quiz.html"):
        assert evil not in page.read_text("utf-8")
        assert re.search("&lt;b&gt;x", page.read_text("utf-8"))
