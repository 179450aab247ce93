"""What is kept of a review holds for one content of a record, one reviewer and one code."""

import shutil

import msgspec
import pytest

from mjbot.analysis.player.reviewed_games import ReviewedSource, read_games_file
from mjbot.cli.main import main
from mjbot.cli.records import player_review
from mjbot.cli.records.player_review import in_order
from mjbot.runtime.errors import ExitCode
from tests.analysis.player.conftest import LOGS
from tests.analysis.player.test_figures import game, mistake

BY = ["--by", "fast-riichi-d", "--playouts", "0", "--jobs", "1"]
ONE, OTHER = LOGS / "east-four-winds.mjson", LOGS / "east-extra-round.mjson"


def review(*arguments):
    return main(["review", *map(str, arguments)])


@pytest.fixture
def records(tmp_path):
    folder = tmp_path / "records"
    folder.mkdir()
    shutil.copy(ONE, folder / "1.mjson")
    return folder


def run(folder, capsys, *more):
    out = folder.parent / "me.html"
    assert review(folder, "--player", "majiang", *BY, "--out", out, *more) == ExitCode.OK
    return capsys.readouterr(), read_games_file(out.with_name("me-games.jsonl"))[1]


def test_a_record_that_has_changed_is_reviewed_again_and_named(records, capsys):
    _, (first,) = run(records, capsys)
    shutil.copy(OTHER, records / "1.mjson")
    printed, (second,) = run(records, capsys)
    assert [each.digest for each in first.games] != [each.digest for each in second.games]
    assert printed.err.count("1 file changed since the last review, reviewed again: ") == 1
    assert "1 game of majiang" in printed.out  # not that of before as well
    assert "reviewed again" not in run(records, capsys)[0].err


def test_a_game_that_was_not_over_is_reviewed_when_it_is(records, capsys):
    whole = (records / "1.mjson").read_text().splitlines(keepends=True)
    shutil.copy(OTHER, records / "2.mjson")
    (records / "1.mjson").write_text("".join(whole[:40]))
    printed, _ = run(records, capsys)
    assert "the game did not end" in printed.out and "1 game of majiang" in printed.out
    (records / "1.mjson").write_text("".join(whole))
    printed, _ = run(records, capsys)
    assert "the game did not end" not in printed.out and "2 games of majiang" in printed.out


@pytest.mark.parametrize("what", ["source_digest", "code_digest"])
def test_what_other_code_reviewed_is_reviewed_again_and_named(what, records, capsys, monkeypatch):
    run(records, capsys)
    monkeypatch.setattr(player_review, what, lambda *_: "another")
    printed, lines = run(records, capsys)
    assert printed.err.count("the reviewer's code has changed; its games are reviewed again") == 1
    assert len(lines) == 1
    kept, _ = read_games_file(records.parent / "me-games.jsonl")
    assert "another" in kept.code


def test_a_file_of_an_older_format_is_reviewed_again(records, capsys):
    run(records, capsys)
    path = records.parent / "me-games.jsonl"
    header, _ = path.read_text().splitlines()[:2]
    kept = msgspec.json.decode(header)
    del kept["code"], kept["file_dates"]
    kept["format"] = "mjbot reviewed games 2"
    path.write_text(msgspec.json.encode(kept).decode() + '\n{"source":"x","games":[]}\n')
    printed, lines = run(records, capsys)
    assert "its games are reviewed again" in printed.err and len(lines) == 1


@pytest.mark.parametrize(
    ("option", "problem"),
    [
        (("--seed", 5), "holds a run with seed 0"),
        (("--rules", "mahjong-soul"), "holds a run with rules ''"),
    ],
)
def test_other_options_are_refused_and_nothing_is_lost(option, problem, records, capsys):
    run(records, capsys)
    path = records.parent / "me-games.jsonl"
    before = path.read_bytes()
    out = ["--out", records.parent / "me.html"]
    assert review(records, "--player", "majiang", *BY, *out, *option) != ExitCode.OK
    assert problem in capsys.readouterr().err
    assert path.read_bytes() == before


def test_a_reference_by_another_reviewer_or_other_code_is_refused(records, capsys, monkeypatch):
    run(records, capsys)
    kept = records.parent / "me-games.jsonl"
    command = [records, "--player", "fast-riichi-d", "--playouts", 0, "--jobs", 1]
    command += ["--reference", kept, "--out", records.parent / "o.html"]
    other = [*command[:-1], records.parent / "other.html"]
    assert review(*other, "--by", "fold-recognition-plus") == ExitCode.BAD_ARGUMENTS
    assert "reviewed by fast-riichi-d with 0 s of playouts, not by fold-" in capsys.readouterr().err
    assert review(*command, "--by", "fast-riichi-d") == ExitCode.OK
    capsys.readouterr()
    monkeypatch.setattr(player_review, "code_digest", lambda *_: "another")
    assert review(*command, "--by", "fast-riichi-d") == ExitCode.BAD_ARGUMENTS
    assert "reviewed by another version; review its records again" in capsys.readouterr().err


def test_copies_of_a_game_count_once():
    one, other = game(1, [mistake("calls", 0.1)]), game(2, [])
    copied = msgspec.structs.replace(one, source="copy.mjson")
    lines = [
        ReviewedSource("a", "1", (one, other)),
        ReviewedSource("copy.mjson", "1", (copied, msgspec.structs.replace(copied, seat=2))),
    ]
    found = in_order(lines, "p")
    assert [(each.source, each.digest, each.seat) for each in found] == [
        ("a.zip", "1", 0), ("copy.mjson", "1", 2), ("a.zip", "2", 0),
    ]  # fmt: skip


def test_a_copy_in_which_another_player_is_renamed_counts_once(records, capsys):
    text = (records / "1.mjson").read_text()
    assert '"fast-riichi-b"' in text
    (records / "2.mjson").write_text(text.replace('"fast-riichi-b"', '"somebody"'))
    printed, lines = run(records, capsys)
    assert len(lines) == 2 and "1 game of majiang" in printed.out


def test_a_player_that_is_not_there_gets_the_names_and_no_file(records, capsys):
    out = records.parent / "no.html"
    assert review(records, "--player", "Majiang", *BY, "--out", out) == ExitCode.BAD_ARGUMENTS
    line = capsys.readouterr().err.splitlines()[-1]
    assert "no game of 'Majiang' that can be reviewed in the records; they name majiang" in line
    assert "fast-riichi-b" in line
    assert [each.name for each in records.parent.iterdir()] == ["records"]
