"""Results pages name what they rest on, and are marked where that plays other games by now."""

import pytest

from mjbot.strategies.fast_riichi_d import FastRiichiD
from mjbot.strategy.registry import Spec
from proof import results_pages
from proof.__main__ import main
from proof.results_pages import (
    NO_STRATEGY,
    UNKNOWN,
    WEIGHTS,
    ResultsPageError,
    comments_of,
    digest_of,
    pages,
    problems_of,
    rewritten,
)

QUICK = ("tsumogiri", "fast-riichi-a", "fast-riichi-b", "fast-riichi-c", "fast-riichi-d")
"""Rules of whole numbers, which every processor plays alike, in a tenth of a second each."""

TODAY = {"fast-riichi-a": "aaaa", "collusion-mc,mode=paper": "cccc"}
PAGE = """# A page

<!-- rests on (abc1234): fast-riichi-a=aaaa collusion-mc,mode=paper={} -->
| a table |
"""
OLD = "*Measured with earlier code (commit abc1234); "


def quick_digest(name):
    is_quick = name in QUICK or name.startswith(WEIGHTS)
    return digest_of(name) if is_quick else "slow"


def test_every_page_of_results_names_what_it_rests_on():
    """Tables of slow subjects are compared by ``python -m proof results-pages`` alone."""
    problems = []
    for page in pages():
        text = (results_pages.ROOT / page).read_text(encoding="utf-8")
        slow = set()
        for comment in comments_of(page, text):
            for name, then in comment.subjects:
                if not name.startswith(WEIGHTS):
                    Spec.read(name.removesuffix(results_pages.OF_THREE)).check()
                if then != UNKNOWN and quick_digest(name) == "slow":
                    slow.add(f"{page}:{comment.line}")
        found = problems_of(page, text, quick_digest)
        problems += [line for line in found if line.partition(": ")[0] not in slow]
    assert problems == []
    assert len(pages()) >= 25


def test_a_table_of_other_games_must_say_so():
    same = PAGE.format("cccc")
    assert problems_of("page.md", same, TODAY.__getitem__) == []
    for then, why in (
        ("dddd", "changed since: `collusion-mc,mode=paper`.*"),
        (UNKNOWN, "not compared with today's games: `collusion-mc,mode=paper`.*"),
    ):
        silent = PAGE.format(then)
        (problem,) = problems_of("page.md", silent, TODAY.__getitem__)
        assert problem == f"page.md:3: lacks the line: {OLD}{why}"
        mended = rewritten("page.md", silent, TODAY.__getitem__)
        assert mended.splitlines()[3] == OLD + why
        assert problems_of("page.md", mended, TODAY.__getitem__) == []
        assert rewritten("page.md", mended, TODAY.__getitem__) == mended


def test_a_table_measured_again_loses_the_line():
    mended = rewritten("page.md", PAGE.format("dddd"), TODAY.__getitem__)
    as_then = mended.replace("dddd", "cccc")
    (problem,) = problems_of("page.md", as_then, TODAY.__getitem__)
    assert problem == "page.md:3: is marked as old, and is not"
    renewed = rewritten("page.md", mended, TODAY.__getitem__, [3], "def5678")
    assert renewed == PAGE.format("cccc").replace("abc1234", "def5678")
    assert rewritten("page.md", as_then, TODAY.__getitem__) == PAGE.format("cccc")


def test_a_page_without_a_comment_or_with_one_that_cannot_be_read_is_a_problem():
    (problem,) = problems_of("page.md", "# A page\n", TODAY.__getitem__)
    assert problem == "page.md: no <!-- rests on ... --> names what its figures depend on"
    assert problems_of("page.md", f"<!-- rests on: {NO_STRATEGY} -->\n", TODAY.__getitem__) == []
    for comment in ("fast-riichi-a=aaaa", "(abc1234): fast-riichi-a", "(abc1234) a=b", ": a=b"):
        with pytest.raises(ResultsPageError, match=r"^page\.md:2: "):
            comments_of("page.md", f"\n<!-- rests on {comment} -->\n")


def test_a_digest_is_of_games_not_of_source(monkeypatch):
    before = results_pages.digest_of.__wrapped__("fast-riichi-d")
    decide = FastRiichiD.decide

    def refactored(self, view):
        return decide(self, view)

    monkeypatch.setattr(FastRiichiD, "decide", refactored)
    assert results_pages.digest_of.__wrapped__("fast-riichi-d") == before
    monkeypatch.setattr(FastRiichiD, "decide", lambda self, view: view.legal[0])
    assert results_pages.digest_of.__wrapped__("fast-riichi-d") != before


def test_subjects_are_strategies_with_options_tables_of_three_pairs_and_weights():
    digests = {
        digest_of(subject)
        for subject in ("tsumogiri", "tsumogiri/3", "fast-riichi-d", "weights/rank")
    }
    assert len(digests) == 4 and all(len(digest) == 12 for digest in digests)


def test_the_command_fails_where_a_page_is_silent_and_mends_it(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "docs" / "results"
    folder.mkdir(parents=True)
    (tmp_path / "README.md").write_text("no figures\n")
    page = folder / "one.md"
    name = page.relative_to(tmp_path).as_posix()
    page.write_text("<!-- rests on (abc1234): tsumogiri=? weights/rank=? -->\ntext\n")
    monkeypatch.setattr(results_pages, "ROOT", tmp_path)
    monkeypatch.setattr(results_pages, "_head", lambda: "def56789")

    def proof(*arguments):
        monkeypatch.setattr("sys.argv", ["proof", "results-pages", *arguments])
        return main(), capsys.readouterr().out

    status, printed = proof()
    assert status == 1
    assert f"{name}:1: lacks the line: *Measured with earlier code" in printed
    assert proof("--write")[0] == 0
    assert page.read_text().splitlines()[1].startswith("*Measured with earlier code (commit abc")
    assert proof()[0] == 0
    assert proof("--renewed", f"{name}:1")[0] == 0
    digests = digest_of("tsumogiri"), digest_of("weights/rank")
    renewed = "<!-- rests on (def56789): tsumogiri={} weights/rank={} -->\ntext\n"
    assert page.read_text() == renewed.format(*digests)
    status, printed = proof("--renewed", f"{name}:2")
    assert status == 1
    assert f"--renewed {name}:2: no such page with a comment at that line" in printed
    page.write_text("<!-- rests on (abc1234): no-such-bot=abc weights/none=? -->\n")
    status, printed = proof()
    assert status == 1
    assert f"{name}: " in printed and "no-such-bot" in printed
