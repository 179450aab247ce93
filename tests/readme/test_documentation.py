"""The documentation: commands parse, pages are in the navigation, the reference is complete."""

import argparse
import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from mjbot.arena.setup import GameId, Setup
from mjbot.arena.workers.clock import HEARTBEAT_SIZE, Clock
from mjbot.arena.workers.playing import GameRunner
from mjbot.cli.commands import COMMANDS
from mjbot.cli.main import declare_command
from mjbot.play.service.status import Status
from mjbot.runtime.compiler.cache import cache_folder
from mjbot.runtime.requests import declare
from mjbot.strategy.options import options_of
from mjbot.strategy.registry import MOVED, strategy_class
from papers.__main__ import PapersRequest
from papers.experiments import EXPERIMENTS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
CONFIG = (DOCS / "mkdocs" / "mkdocs.yml").read_text(encoding="utf-8")
SHOWN = re.compile(r"^(?: {4})?((?:mjbot|python -m papers) [a-z-]+(?: .*)?)$")
LEFT_OPEN = re.compile(r"\.\.\.|\b(?:WHAT|N)\b")
"""What a command line leaves to the reader."""


def site_pages():
    spec = importlib.util.spec_from_file_location("site_pages", DOCS / "mkdocs" / "pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def commands_in(document):
    """Return the command lines of a document: those of indented and of fenced blocks."""
    text = document.read_text(encoding="utf-8").replace("\\\n", " ")
    found, fenced = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif (fenced or line.startswith("    ")) and (match := SHOWN.match(line)):
            found.append(match[1])
    return found


PARSED = [
    (document.relative_to(ROOT).as_posix(), line)
    for document in DOCUMENTS
    for line in commands_in(document)
    if not LEFT_OPEN.search(line)
]


class RefusedError(Exception):
    pass


def parser_of(command):
    parser = argparse.ArgumentParser()
    if command == "papers":
        declare(parser, PapersRequest)
    else:
        declare_command(command, parser)
    parsers = [parser]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            parsers += action.choices.values()

    def error(message):
        raise RefusedError(message)

    for each in parsers:
        each.error = error
    return parser


def test_documents_show_many_commands():
    shown = {shlex.split(line, comments=True)[1] for _, line in PARSED}
    assert shown >= {"arena", "check", "detect", "duo", "explain", "match", "play", "review"}
    assert len(PARSED) > 100


@pytest.mark.parametrize(("document", "line"), PARSED)
def test_a_documented_command_is_one_that_mjbot_accepts(document, line):
    line = line.removeprefix("python -m ")
    command, *arguments = shlex.split(line.removeprefix("mjbot ").split(" > ")[0], comments=True)
    if command in ("help", "version"):
        assert not arguments or arguments[0] in (*COMMANDS, "COMMAND")
        return
    assert command in (*COMMANDS, "papers")
    try:
        parser_of(command).parse_args(arguments)
    except SystemExit as end:  # --help
        assert not end.code


def test_every_page_is_in_the_navigation_once():
    navigation = CONFIG[CONFIG.index("\nnav:") :]
    listed = re.findall(r"[\w/-]+\.md$", navigation, re.M)
    assert len(listed) == len(set(listed))
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    assert set(listed) - set(site_pages().FROM_ROOT) == pages


def test_the_index_lists_every_page_that_the_navigation_has_outside_results():
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    navigation = CONFIG[CONFIG.index("\nnav:") :]
    for page in re.findall(r"[\w/-]+\.md$", navigation, re.M):
        top = page.split("/")[0]
        if top not in ("index.md", "results", "strategies", *site_pages().FROM_ROOT):
            assert f"]({page})" in index, page


def test_every_result_opens_with_a_summary_of_three_lines_and_is_listed():
    index = (DOCS / "results" / "index.md").read_text(encoding="utf-8")
    for page in (DOCS / "results").glob("*.md"):
        if page.name != "index.md":
            text = page.read_text(encoding="utf-8")
            summary = re.match(r"# .+\n\n((?:\* .+\n(?:  .+\n)*)+)\n", text)
            assert summary, page.name
            assert summary[1].count("* ") >= 3, page.name
            assert f"]({page.name})" in index, page.name


@pytest.mark.parametrize("command", COMMANDS)
def test_the_reference_has_every_option_of_a_command(command):
    reference = site_pages().command_reference()
    assert f"### mjbot {command}\n" in reference
    for action in parser_of(command)._actions:
        if action.help is not argparse.SUPPRESS and action.dest != "help":
            for name in action.option_strings:
                assert f"`{name}" in reference, name


def test_the_site_has_each_generated_table_on_one_page():
    pages = [path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md")]
    for mark, table in site_pages().TABLES.items():
        (page,) = [page for page in pages if mark in page]
        made = site_pages().with_tables(page)
        assert mark not in made
        assert table() in made


def test_links_out_of_the_documentation_become_those_of_the_site():
    convert = site_pages().site_links
    assert convert("[x](../CONTRIBUTING.md#a)", "") == "[x](contributing.md#a)"
    assert convert("[x](../../README.md)", "results") == "[x](../index.md)"
    assert convert("[`a.py`](../mjbot/a.py)", "") == "`a.py`"
    assert convert("[x](rules.md) [y](#z) [w](https://mjai.app)", "") == (
        "[x](rules.md) [y](#z) [w](https://mjai.app)"
    )


def test_pages_of_the_root_link_to_one_another_and_into_the_documentation():
    page = site_pages().root_page("SECURITY.md")
    assert "](changelog.md#040)" in page
    assert "](security.md)" in page


def test_the_finished_pages_are_markdown_alone_and_link_to_one_another(tmp_path):
    build = tmp_path / "build"
    (build / "docs").mkdir(parents=True)
    (build / "docs" / "renamed.md").write_text("# A page of an earlier build")
    site_pages().write(build)
    assert (build / "mkdocs.yml").read_text(encoding="utf-8") == CONFIG
    written = {path.relative_to(build / "docs").as_posix() for path in build.rglob("*.md")}
    assert written == set(re.findall(r"[\w/-]+\.md$", CONFIG, re.M))
    for page in written:
        text = (build / "docs" / page).read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text):
            assert ((build / "docs" / page).parent / target).exists(), (page, target)
        assert not any(mark in text for mark in site_pages().TABLES), page
    commands = (build / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    assert "### mjbot arena\n" in commands
    assert "## 0." in (build / "docs" / "changelog.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("page", "bot"),
    [
        ("start/first-bot.md", "MyBot"),
        ("start/is-it-better.md", "MyBot"),
        ("start/is-it-better.md", "MyBot,riichi=no"),
        ("howto/reinforcement-learning.md", "PolicyBot"),
    ],
)
def test_the_bots_of_guides_play_a_game_without_a_fault(page, bot, tmp_path):
    name, *options = bot.split(",")
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.S)
    (code,) = [block for block in blocks if f"class {name}" in block]
    (tmp_path / "bot.py").write_text(code)
    strategy = ",".join([f"{tmp_path / 'bot.py'}:{name}", *options])
    setup = Setup(strategies=(strategy, "tsumogiri"), format="2v2", length="tonpu")
    with Clock(0, [0] * HEARTBEAT_SIZE) as clock:
        played = GameRunner(setup, clock).play(GameId(0, 0), {})
    assert not played.faults


def test_the_bot_of_a_simulator_answers_its_arrays(tmp_path):
    page = (DOCS / "howto" / "connect.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.S)
    code = code.replace("/path/to/mjbot/.venv/bin/python", sys.executable)
    (tmp_path / "bot.py").write_text(code.replace("fast-riichi-d", "tsumogiri"))
    hand = ["E", "6p", "9m", "8m", "C", "2s", "7m", "S", "6m", "1m", "S", "3s", "8m"]
    kyoku = {
        "type": "start_kyoku", "bakaze": "E", "kyoku": 1, "honba": 0, "kyotaku": 0, "oya": 0,
        "dora_marker": "2s", "scores": [25000] * 4, "tehais": [hand, *[["?"] * 13] * 3],
    }  # fmt: skip
    arrays = [
        [{"type": "start_game", "names": ["a", "b", "c", "d"], "id": 0}],
        [kyoku, {"type": "tsumo", "actor": 0, "pai": "1m"}],
    ]
    environ = {"MJBOT_CACHE": str(cache_folder()), **os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "bot.py", "0"], cwd=tmp_path, env=environ, text=True, check=False,
        input="".join([json.dumps(array) + "\n" for array in arrays]), stdout=subprocess.PIPE,
    )  # fmt: skip
    discard = {"type": "dahai", "actor": 0, "pai": "1m", "tsumogiri": True}
    assert [json.loads(line) for line in done.stdout.splitlines()] == [{"type": "none"}, discard]


def test_the_first_bot_is_that_of_the_readme():
    readme, page = (
        re.search(r"(class MyBot.*?)```", path.read_text(encoding="utf-8"), re.S)[1]
        for path in (ROOT / "README.md", DOCS / "start" / "first-bot.md")
    )
    assert readme == page


def test_the_reference_has_every_key_of_a_bots_status():
    page = (DOCS / "reference" / "status.md").read_text(encoding="utf-8")
    status = Status(clock=lambda: 0.0)
    status.set_lane(0, "playing")
    snapshot = status.snapshot()
    for key in (*snapshot, *snapshot["ends"], *snapshot["acks"], *snapshot["faults"]):
        assert f"`{key}`" in page, key
    for key in snapshot["lanes"][0]:
        assert f"`{key}`" in page, key


def test_the_glossary_is_sorted_and_has_each_term_once():
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    tables = re.findall(r"\| term \| meaning \|\n\|---\|---\|\n((?:\|.+\n)+)", text)
    assert len(tables) == 2
    for table in tables:
        terms = [row.split("|")[1].strip().lower() for row in table.splitlines()]
        assert terms == sorted(set(terms))


PAPERS = (DOCS / "papers.md").read_text(encoding="utf-8")


def test_the_papers_page_has_every_experiment_of_a_paper_with_its_page():
    of_papers = [name for name in EXPERIMENTS if re.fullmatch(r"[a-z]+20\d\d", name)]
    assert len(of_papers) == 5
    for name in of_papers:
        assert f"\n    python -m papers {name}" in PAPERS
        assert f"](results/{name}.md)" in PAPERS
        (heading,) = re.findall(rf"^## ({name[:-4].capitalize()} {name[-4:]})$", PAPERS, re.M)
        authors = PAPERS.partition(f"## {heading}\n")[2].partition("\n## ")[0]
        assert re.search(r"[\u4e00-\u9fff]{2,}", authors), "no Japanese title"


def test_the_papers_page_names_options_that_the_strategies_have():
    named = 0
    for line in PAPERS.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        first = re.findall(r"`([\w-]+)`", cells[0])
        if len(cells) != 3 or not line.startswith("| `") or not first:
            continue
        options = {
            option.name
            for name in first
            for option in options_of(strategy_class(MOVED.get(name, name)))
        }
        for name in re.findall(r"`(\w+)(?:=\w+)?`", " ".join(cells[1:])):
            assert name in options, (first[0], name)
            named += 1
    assert named > 30
