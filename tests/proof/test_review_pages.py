"""``python -m proof review-pages``: a game without a fault, and faults that it finds."""

import json
from argparse import Namespace
from pathlib import Path

import pytest

from mjbot.analysis.review.mjai_json import review_json
from mjbot.analysis.review.page import page
from mjbot.analysis.review.summary import review_record
from proof import review_pages
from proof.game_lines import complete_lines, read_lines
from proof.review_pages import page_faults, report

LOG = Path(__file__).parents[2] / "logs" / "east-extra-round.mjson"


@pytest.fixture(scope="module", name="made")
def reviewed():
    review = review_record(LOG, 1, "fast-riichi-d")
    return page(review), json.loads(json.dumps(review_json(review)))


def test_a_game_without_a_fault_is_a_line_and_is_not_reviewed_again(tmp_path, capsys, monkeypatch):
    out = tmp_path / "pages.jsonl"
    args = Namespace(records=LOG, by="fast-riichi-d", games=None, out=out, language="ja")
    assert review_pages.run(args) == 0
    (line,) = read_lines(out)
    assert line["faults"] == [] and line["judged"] > line["decisions"] > 20
    assert 50_000 < line["page"] < 400_000 and line["json"] > 100_000
    assert line["deal_ins"] <= 2 and 0 < line["chances"] < 5
    monkeypatch.setattr(review_pages, "judge", None)
    assert review_pages.run(args) == 0
    assert capsys.readouterr().out.startswith(f"1 games, {line['judged']:,} decisions judged, 0 f")


def test_what_is_wrong_with_a_page_is_found(made):
    html, data = made
    assert not list(page_faults(html, data))
    for added in (
        '<img src="https://example.org/a.png">',
        "<a href=other.html>x</a>",
        "<style>@import 'x.css'</style>",
        "<style>b{background:url(x.png)}</style>",
    ):
        assert list(page_faults(html.replace("</body>", f"{added}</body>"), data)), added
    assert "bytes" in next(page_faults(html + " " * 400_000, data))
    assert list(page_faults(html.replace('id="data"', 'id="none"'), data))
    data["review"]["kyokus"][0]["entries"].pop()
    assert list(page_faults(html, data)) == ["the page shows other decisions than the JSON"]


def test_an_exception_is_a_fault_of_its_game(tmp_path, monkeypatch):
    def fail(*_):
        raise KeyError("tehais")

    monkeypatch.setattr(review_pages, "judge", fail)
    out = tmp_path / "pages.jsonl"
    args = Namespace(records=LOG, by="fast-riichi-d", games=None, out=out, language="en")
    assert review_pages.run(args) == 1
    (line,) = read_lines(out)
    assert "KeyError: 'tehais'" in line["faults"][0]
    assert next(report([line])) == "1 games, 0 decisions judged, 1 faults"


def test_a_run_drops_an_incomplete_game_and_a_torn_line(tmp_path, capsys):
    out = tmp_path / "lines.jsonl"
    rows = [{"game": 1, "n": 1}, {"game": 1, "end": True}, {"game": 2, "n": 1}]
    out.write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"game": 3')
    work = {1: "a", 2: "b"}
    lines = complete_lines(out, work, lambda _, text: [{"n": text}, {"end": True}], _ends)
    assert lines == [*rows[:2], {"game": 2, "n": "b"}, {"game": 2, "end": True}]
    assert read_lines(out) == lines
    assert capsys.readouterr().err.startswith("2 of 2 games, ")


def _ends(line):
    return "end" in line
