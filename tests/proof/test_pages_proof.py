"""The commands of the documentation: each is run or has a reason; some are run here."""

from pathlib import Path

from proof import pages
from proof.__main__ import main

ROOT = Path(__file__).parents[2]
CHEAP = "docs/howto/review-your-games.md"


def test_every_page_of_getting_started_and_the_how_tos_is_tried():
    wanted = [*ROOT.glob("docs/start/*.md"), *ROOT.glob("docs/howto/*.md")]
    assert {path.relative_to(ROOT).as_posix() for path in wanted} <= set(pages.PAGES)
    for page in pages.PAGES:
        assert (ROOT / page).is_file()


def test_every_reason_is_that_of_a_command():
    commands = [command for page in pages.PAGES for command in pages.commands_of(page)]
    assert {command.skipped for command in commands} - {""} == set(pages.SKIPPED.values())
    run = [command for command in commands if not command.skipped]
    assert len(run) > 25
    assert sum(bool(command.shown) for command in run) >= 3


def without_playouts(page, commands_of=pages.commands_of):
    """Return a page's commands but for reviews with playouts, which take most of a minute."""
    return [
        command
        for command in commands_of(page)
        if "--playouts" in command.text or not command.text.startswith("mjbot review")
    ]


def test_a_cheap_page_prints_what_it_shows(monkeypatch):
    monkeypatch.setattr(pages, "commands_of", without_playouts)
    results = list(pages.try_page(CHEAP, limit_s=600))
    assert results
    assert {result.command.text: result.problem for result in results if result.problem} == {}


def test_another_figure_than_the_page_shows_is_a_problem(tmp_path):
    shown = pages.Command("page", 1, "echo 500 games, rank 2.31", ("500 games, rank 2.40",))
    assert pages.try_command(shown, tmp_path, 60).problem == "does not print '500 games, rank 2.40'"
    failing = pages.Command("page", 1, "echo no; exit 3")
    assert pages.try_command(failing, tmp_path, 60).problem == "exit status 3: no"
    slow = pages.Command("page", 1, "sleep 60")
    assert pages.try_command(slow, tmp_path, 0.5).problem == "not finished after 0.5 s"


def test_a_failure_ends_with_status_1(tmp_path, monkeypatch, capsys):
    page = tmp_path / "page.md"
    page.write_text("    python -c 'raise SystemExit(3)'\n")
    monkeypatch.setattr("sys.argv", ["proof", "pages", str(page)])
    assert main() == 1
    printed = capsys.readouterr().out
    assert "FAILED" in printed
    assert "1 command failed" in printed
