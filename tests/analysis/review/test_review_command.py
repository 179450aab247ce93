"""``mjbot review``: what it writes, and how it refuses."""

import json
import re
from pathlib import Path

import pytest

from mjbot.analysis.review.mjai_json import review_json
from mjbot.analysis.review.summary import review_record
from mjbot.cli.main import main
from mjbot.runtime.errors import ArgumentError, ExitCode

LOG = str(Path(__file__).parents[3] / "logs" / "east-four-winds.mjson")


def review(*arguments):
    return main(["review", "--playouts", "0", *map(str, arguments)])


def test_it_writes_a_page_and_json_and_tells_the_worst(tmp_path, capsys):
    page, data = tmp_path / "r.html", tmp_path / "r.json"
    arguments = ["--seat", 0, "--by", "fold-recognition-plus", "--out", page, "--json", data]
    assert review(LOG, *arguments) == ExitCode.OK
    out = capsys.readouterr().out.splitlines()
    assert out[-1] == f"the whole review: {page}"
    told = json.loads(data.read_text())["review"]
    assert out[0].endswith("is not known without playouts: --playouts SECONDS")
    agreed = f"{told['total_reviewed']} decisions, {told['total_matches']} as fold-recognition-plus"
    assert out[1].startswith(f"grade {100 * told['rating']:.0f} of 100: {agreed}")
    for text in (*out, page.read_text()):
        assert not re.search("points in all|points lost in all|lost per decision", text)
    assert "fast-riichi-b" in page.read_text()
    assert json.loads(data.read_text())["game"] == Path(LOG).name  # no folder of this machine


def test_it_writes_one_file_with_the_board(tmp_path):
    out = tmp_path / "r.html"
    assert review(LOG, "--seat", 3, "--by", "fast-riichi-d", "--out", out) == ExitCode.OK
    config = re.search(r'id="config"[^>]*>(.*?)</script>', out.read_text(encoding="utf-8"))
    assert json.loads(config[1])["seat"] == 3
    assert json.loads(config[1])["hands"] is False
    assert [each.name for each in tmp_path.iterdir()] == ["r.html"]


def test_one_decision_is_printed_by_its_position(tmp_path, capsys):
    out = ["--seat", 0, "--by", "fast-riichi-d", "--out", tmp_path / "r.html"]
    assert review(LOG, *out, "--at", "E1-0:5") == ExitCode.OK
    _, _, line, _ = capsys.readouterr().out.splitlines()
    assert line.startswith("E1-0:5 You ")
    data = tmp_path / "r.json"
    assert review(LOG, *out, "--json", data) == ExitCode.OK
    kyokus = json.loads(data.read_text())["review"]["kyokus"]
    entry = next(
        entry for each in kyokus for entry in each["entries"] if entry["position"] == "E1-0:5"
    )
    capsys.readouterr()
    assert review(LOG, *out, "--at", entry["event"]) == ExitCode.OK
    assert capsys.readouterr().out.splitlines()[2] == line


def test_playouts_show_what_choices_cost(tmp_path, capsys):
    out, data = tmp_path / "r.html", tmp_path / "r.json"
    command = [LOG, "--seat", 0, "--by", "fast-policy", "--out", out, "--json", data]
    assert review(*command, "--playouts", 0.02) == ExitCode.OK
    kyokus = json.loads(data.read_text())["review"]["kyokus"]
    found = [entry for each in kyokus for entry in each["entries"] if entry["playouts"]]
    assert found and all(not each["is_equal"] for each in found)
    for each in found:
        value, low, high = each["playouts"]["ranks"]
        assert low <= value <= high and each["playouts"]["deals"] >= 128
        assert each["playouts"]["better"]
    whole = json.loads(data.read_text())["review"]["summary"]["all"]
    value, low, high = whole["ranks"]
    assert value == pytest.approx(sum(each["playouts"]["first_mean"] for each in found), abs=1e-4)
    error = sum(each["playouts"]["first_error"] ** 2 for each in found) ** 0.5
    assert (high - low) / 2 == pytest.approx(1.96 * error, abs=1e-4)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith(("losses shown by playouts: ", "playouts show no loss in "))
    together = f"all of them together, shown or not: {value:.3f} ({low:.3f} to {high:.3f}) places"
    assert printed[1] == f"{together} lost"
    assert "different choices that playouts show to be losses" in out.read_text()


def test_any_strategy_that_rates_judges(tmp_path):
    arguments = ["--seat", 1, "--by", "fast-riichi-d", "--out", tmp_path / "r.html"]
    assert review(LOG, *arguments) == ExitCode.OK
    assert "2.235 &plusmn; 0.039" in (tmp_path / "r.html").read_text()


def test_one_of_several_games_is_named_by_its_number(tmp_path, capsys):
    both = tmp_path / "both.mjson"
    both.write_text(2 * Path(LOG).read_text())
    out = ["--seat", 0, "--by", "fast-riichi-d", "--out", tmp_path / "x.html"]
    assert review(both, *out) == ExitCode.BAD_ARGUMENTS
    assert "holds several games: choose one with --game-number N" in capsys.readouterr().err
    assert review(both, *out, "--game-number", 2) == ExitCode.OK


def test_a_review_from_python_is_that_of_the_command(tmp_path):
    out = tmp_path / "review.json"
    command = ["review", LOG, "--seat", "1", "--by", "fast-policy", "--playouts=0"]
    assert main([*command, "--out", str(tmp_path / "page.html"), "--json", str(out)]) == ExitCode.OK
    found = review_record(Path(LOG), 1, "fast-policy")
    shown, kept = json.loads(json.dumps(review_json(found))), json.loads(out.read_text())
    assert shown.pop("review_time") != kept.pop("review_time")  # nothing else differs
    assert shown == kept
    with pytest.raises(ArgumentError, match="tsumogiri rates no decision of this seat"):
        review_record(Path(LOG), 1, "tsumogiri")
