"""What players read is in their language, whichever command prints it; JSON and CSV are not."""

import re
from pathlib import Path

import pytest

from mjbot.cli.main import main
from mjbot.runtime.errors import ExitCode
from mjbot.runtime.languages import LANGUAGES, using_language

LOGS = Path(__file__).parents[2] / "logs"
LOG = str(LOGS / "east-four-winds.mjson")
OTHERS = [name for name in LANGUAGES if name != "en"]
SCORE = ["score", "123m406p789s55z67s", "--ron", "5s", "--riichi", "--dora", "4p"]
COMMANDS = {
    "score": SCORE,
    "score a yakuman": ["score", "1112223334445z", "--tsumo", "5z"],
    "replay": ["replay", LOG],
    "stats": ["stats", LOG, "--by", "week", "seat", "length"],
    "explain": ["explain", LOG, "--at", "100", "--strategy", "fold-recognition-plus"],
    "explain the list": ["explain", LOG, "--seat", "0", "--strategy", "fast-riichi-b"],
    "rules": ["replay", LOG, "--rules", "bust=no"],
}
SAME = re.compile(
    r"\{.*\}|fast-riichi-[a-d]|majiang(?:-2)?|[A-Za-z/.-]*\.mjson|fold-recognition-plus"
    r"|FoldRecognitionPlus|mjbot \w+:|--[a-z-]+|tonpu|hanchan|bust=no|event \d+|E\d-\d"
)
"""What is the same in all languages: events of the wire, names, options, values of options."""


def printed(capsys, words, language):
    assert main([*words, "--language", language]) == ExitCode.OK
    return capsys.readouterr()


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("command", COMMANDS)
def test_no_line_of_a_command_is_english(command, language, capsys):
    for stream in printed(capsys, COMMANDS[command], language):
        assert not re.findall(r"[A-Za-z]{3,}", SAME.sub("", stream))


@pytest.mark.parametrize("command", [SCORE, ["stats", LOG]], ids=["score", "stats"])
def test_json_is_the_same_in_all_languages(command, capsys):
    texts = {printed(capsys, [*command, "--json"], language).out for language in LANGUAGES}
    assert len(texts) == 1


def test_csv_is_the_same_in_all_languages(tmp_path, capsys):
    out = tmp_path / "rows.csv"
    texts = set()
    for language in LANGUAGES:
        printed(capsys, ["stats", LOG, "--csv", str(out)], language)
        texts.add(out.read_text(encoding="utf-8"))
    assert len(texts) == 1


@pytest.mark.parametrize(("language", "name"), [("ja_JP.UTF-8", "白"), ("C.UTF-8", "white")])
def test_without_an_option_the_locale_counts(language, name, monkeypatch, capsys):
    for variable in ("MJBOT_LANGUAGE", "LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("LANG", language)
    assert main(SCORE) == ExitCode.OK
    assert name in capsys.readouterr().out


@pytest.mark.parametrize("language", OTHERS)
def test_the_page_of_the_statistics_is_translated(language, tmp_path, capsys):
    page = tmp_path / "stats.html"
    printed(capsys, ["stats", LOG, "--html", str(page)], language)
    html = page.read_text(encoding="utf-8")
    assert f"<html lang={language}>" in html
    texts = re.sub(r"<style>.*?</style>|<[^>]*>|&\w+;", " ", html, flags=re.DOTALL)
    lines = [line for line in texts.splitlines() if "mjbot" not in line]
    assert not re.findall(r"[A-Za-z]{3,}", SAME.sub("", "\n".join(lines)))


@pytest.mark.parametrize("language", OTHERS)
def test_what_a_replay_counts_wrong_is_translated(language, tmp_path, capsys):
    damaged = tmp_path / "bad.mjson"
    text = Path(LOG).read_text(encoding="utf-8")
    damaged.write_text("\n".join(text.splitlines()[:40]) + "\nnot json\n", encoding="utf-8")
    (tmp_path / "empty").mkdir()
    words = ["replay", str(damaged), str(tmp_path / "empty"), "--language", language]
    assert main(words) == ExitCode.FAILED
    with using_language(language):
        output = capsys.readouterr()
    summary = output.out.splitlines()[-1]
    assert not re.findall(r"[A-Za-z]{3,}", summary)
