"""Profiles: what they set, how the command line overrides them, and their errors, one line each."""

import os
import re
import shutil
import subprocess
from dataclasses import fields
from pathlib import Path

import pytest

from mjbot.cli import init as init_command
from mjbot.cli.main import main, read_with_profile, request_class
from mjbot.cli.profile import keys_of, table, template
from mjbot.cli.run import RunRequest, _plan
from mjbot.runtime.errors import ExitCode
from mjbot.runtime.requests import request_of
from mjbot.strategy.registry import Spec

ROOT = Path(__file__).parents[3]
UNITS = sorted((ROOT / "examples" / "systemd").glob("*.service"))
URL = 'url = "ws://127.0.0.1:9/ws"'
SERVER = f"[server]\n{URL}\n"


def read(tmp_path, text, *words):
    path = tmp_path / "bot.toml"
    path.write_text(text, encoding="utf-8")
    return request_of(RunRequest, read_with_profile(["run", str(path), *words]))


def test_the_table_of_the_page_has_all_keys():
    rows = table(RunRequest).splitlines()[2:]
    named = [re.match(r"\| `(.+?)` \|", row)[1] for row in rows]
    assert named == [str(key) for key in keys_of(RunRequest)]


def test_a_profile_sets_what_the_command_line_can_override(tmp_path):
    text = f"""{SERVER}
        [bot]
        strategy = {{ name = "fast-riichi-d", block-points = 40 }}
        lenient = true
        [play]
        hours = "08:00-23:30"
        pause-s = 5
        """
    request = read(tmp_path, text)
    assert request.bot.strategy == Spec("fast-riichi-d", {"block_points": "40"})
    assert request.bot.lenient
    assert (request.play.pause_s, str(request.play.hours)) == (5.0, "08:00-23:30")
    words = ("--strategy", "tsumogiri", "--no-lenient", "--pause-s", "0", "--hours", "01:00-02:00")
    request = read(tmp_path, text, *words)
    assert request.bot.strategy == Spec("tsumogiri")
    assert (request.bot.lenient, request.play.pause_s) == (False, 0.0)
    assert str(request.play.hours) == "01:00-02:00"


def test_a_new_profile_names_every_key_and_can_be_used(tmp_path, capsys):
    path = tmp_path / "bot.toml"
    assert main(["init", str(path)]) == 0
    text = path.read_text("utf-8")
    for key in keys_of(RunRequest):
        assert re.search(rf"^(# )?{key.name} = ", text, re.M), key
    set_keys = {
        key for key in init_command.RUN if re.search(rf"^{key.rpartition('.')[2]} =", text, re.M)
    }
    assert set_keys == {*init_command.RUN}
    request = request_of(RunRequest, read_with_profile(["run", str(path)]))
    assert request.bot.strategy == Spec("fast-riichi-d")
    assert main(["init", str(path)]) == 2
    assert "exists; name another file, or use --force" in capsys.readouterr().err


def uncommented(text):
    """Return a profile in which every key that is commented out stands as it is."""
    lines = [re.sub(r"^# (\w+ = )", r"\1", line) for line in text.splitlines()]
    assert len([line for line in lines if re.match(r"\w+ = ", line)]) > 20
    return "\n".join(lines)


@pytest.mark.parametrize("words", [["run"], ["serve", "--profile"]])
def test_every_line_of_a_new_profile_works_as_it_stands_and_is_the_default(tmp_path, words):
    path = tmp_path / "p.toml"
    assert main(["init", str(path), *(["--serve"] if words[0] == "serve" else [])]) == 0
    text = path.read_text("utf-8")
    page = "docs/operating.md" if words[0] == "serve" else "docs/profiles.md"
    assert page in text.splitlines()[0] and (ROOT / page).is_file()
    kind = request_class(words[0])
    before = request_of(kind, read_with_profile([*words, str(path)]))
    path.write_text(uncommented(text), "utf-8")
    assert request_of(kind, read_with_profile([*words, str(path)])) == before
    if kind is RunRequest:
        _plan(before)


@pytest.mark.parametrize("kind", [RunRequest, request_class("serve")])
def test_the_defaults_that_a_new_profile_shows_are_the_defaults(tmp_path, kind):
    path = tmp_path / "p.toml"
    path.write_text(uncommented(template(kind, "all", {})), "utf-8")
    command = ["run", str(path)] if kind is RunRequest else ["serve", "--profile", str(path)]
    request = request_of(kind, read_with_profile(command))
    for each in fields(kind):
        if each.name not in ("profile", "command_line"):
            assert getattr(request, each.name) == (
                each.default_factory() if callable(each.default_factory) else each.default
            ), each.name


ERRORS = [
    # what is no TOML
    ("[server\n", 1, "not TOML"),
    (f"[server]\n{URL}\nname = bot\n", 3, "not TOML"),
    (f'{SERVER}name = "bot\n', 3, "not TOML"),
    (f"{SERVER}{URL}\n", 3, "not TOML: cannot overwrite a value"),
    (f"{SERVER}[play]\ngames = \n", 4, "not TOML"),
    (f"{SERVER}[play\ngames = 1\n", 3, "not TOML"),
    # unknown tables and keys
    (f"{SERVER}[plays]\ngames = 1\n", 3, "unknown table; did you mean 'play'?"),
    (f"{SERVER}[pair]\nend = \"x\"\n", 3, "unknown table; the tables: bot, connection, logs, play"),
    (f"{SERVER}[play]\ngame = 1\n", 4, "unknown key; did you mean 'games'?"),
    (f"{SERVER}[play]\ngames_at_once = 1\n", 4, "unknown key"),
    (f"{SERVER}[play]\nstrategy = 1\n", 4, "unknown key here; 'strategy' belongs in [bot]"),
    ('urll = "ws://127.0.0.1:9/ws"\n', 1, "unknown key; did you mean 'server.url'?"),
    (f"{SERVER}[bot]\nzzzzzz = 1\n", 4, "unknown key; the keys here: strategy, fallback"),
    (f"{SERVER}[bot.deep]\nx = 1\n", 3, "unknown key"),
    # secrets
    (f'{SERVER}token = "abcdefgh"\n', 3, "a secret has no place in a profile; name the variable"),
    (f'{SERVER}[bot]\npassword = "abcdefgh"\n', 4, "a secret has no place in a profile"),
    ('[server]\nurl = "ws://127.0.0.1:9/ws?token=abcdefgh"\n', 2, "no place in a URL"),
    ('[server]\nurl = "ws://me:abcdefgh@127.0.0.1:9/ws"\n', 2, "no place in a URL"),
    # types
    (f'{SERVER}[play]\ngames = "3"\n', 4, "expected a number without quotes"),
    (f"{SERVER}[play]\ngames = 1.5\n", 4, "expected a number without quotes"),
    (f"{SERVER}[play]\ngames = true\n", 4, "expected a number without quotes"),
    (f"{SERVER}[play]\nhours = 8\n", 4, 'expected a text in quotes ("...")'),
    (f"{SERVER}[bot]\nlenient = \"yes\"\n", 4, "expected true or false"),
    (f"{SERVER}[bot]\nstrategy = 3\n", 4, "expected a text in quotes"),
    (f"{SERVER}[play]\ngames = [1]\n", 4, "expected a number without quotes"),
    # values
    (f"{SERVER}[play]\nat_once = 0\n", 4, "expected a whole number above 0"),
    (f"{SERVER}[play]\npause_s = -1\n", 4, "expected a number of seconds, 0 or more"),
    (f'{SERVER}[play]\nhours = "8-23"\n', 4, "expected hours of the day, such as 08:00-23:30"),
    (f'{SERVER}[play]\nhours = "08:00-25:00"\n', 4, "expected hours of the day"),
    (f'{SERVER}[play]\nhours = "08:00-08:00"\n', 4, "expected two different times"),
    (f'{SERVER}[play]\non_game_end = "again"\n', 4, "unknown 'again'; expected requeue or stop"),
    (f'{SERVER}[play]\non_game_end = "requeu"\n', 4, "did you mean 'requeue'?"),
    (f"{SERVER}[logs]\nmetrics_port = 70000\n", 4, "expected a port, 1 to 65535"),
    (f'{SERVER}[bot]\nstrategy = "fast-riichi-dd"\n', 4, "the nearest: fast-riichi-d"),
    (f'{SERVER}[bot]\nstrategy = "human"\n', 4, "is no strategy of mjbot's kind"),
    (f'{SERVER}[bot]\nfallback = "external:program"\n', 4, "is no strategy of mjbot's kind"),
    (f'{SERVER}[bot]\nstrategy = {{ block_points = 4 }}\n', 4, "the strategy's name is missing"),
    (f'{SERVER}[bot]\nstrategy = {{ name = "tsumogiri", x = 4 }}\n', 4, "has no options"),
    # servers
    ("[play]\ngames = 1\n", 0, "server.url: missing: mjsonp://HOST:PORT/ROOM"),
    ('[server]\nurl = "http://127.0.0.1/"\n', 2, "expected mjsonp://HOST:PORT/ROOM"),
    ('[server]\nurl = "stdio:"\n', 2, "use mjbot play for pipes"),
    ('[server]\nurl = "ws:///ws"\n', 2, "the host is missing"),
    (f'{SERVER}dialect = "tcp"\n', 3, "'tcp', but the URL's scheme is that of 'riichilab'"),
    ('[server]\nurl = "tenhou://game.example:1/0"\n', 1, "ask there first"),
    (f'{SERVER}permitted_by = "me"\n', 3, "only for a tenhou:// server"),
    (f'{SERVER}account_file = "x"\n', 3, "only for a tenhou:// server"),
    (f'{SERVER}token_file = "/no/such/file"\n', 3, "No such file or directory; name a file"),
    (f'{SERVER}token_env = "NO_SUCH_VARIABLE"\n', 3, "is not set; export it, or use token_file"),
    ('[server]\nurl = "ws://a.example/ws"\ntoken_shared = true\n', 3, "only for a server of this"),
    # what does not fit together
    (f"{SERVER}[connection]\nfirst_pause_s = 9\nlongest_pause_s = 3\n", 5, "shorter than"),
    (f'{SERVER}[bot]\ndeadline_s = 1\nfallback = "tsumogiri"\nfallback_s = 0.9\n', 6, "than half"),
    (f"{SERVER}[logs]\nevidence = true\n", 4, "name logs.folder"),
    (f"{SERVER}[logs]\nkeep_games = 3\n", 4, "name logs.folder"),
    (f'{SERVER}[logs]\nstatus = "/no/such/folder/status.json"\n', 4, "is no folder; name a file"),
    (f'{SERVER}[logs]\nlog = "/tmp"\n', 4, "is a folder; name a file"),
    # what may be mended without a change of the profile
    (f'{SERVER}[logs]\nfolder = "/proc/games"\n', 4, "/proc/games: No such file or directory"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "problem"), ERRORS)
def test_an_error_is_one_line_with_the_place_and_the_cure(tmp_path, capsys, text, line, problem):
    path = tmp_path / "bot.toml"
    path.write_text(text, encoding="utf-8")
    status = ExitCode.UNREACHABLE if "/proc/games" in problem else ExitCode.BAD_ARGUMENTS
    assert main(["run", str(path), "--check"]) == status
    out, err = capsys.readouterr()
    assert out == ""
    (line_shown,) = err.splitlines()
    place = f"{path}, line {line}: " if line else f"{path}: "
    assert place in line_shown
    assert problem in line_shown
    assert "abcdefgh" not in line_shown


# --- tokens --------------------------------------------------------------------------------------


def test_tokens_come_from_a_file_or_a_variable_and_are_never_shown(tmp_path, monkeypatch, capsys):
    file = tmp_path / "tokens"
    file.write_text("alpha-secret\nbeta-secret\n")
    monkeypatch.setenv("OWN", "gamma-secret")
    plan = _plan(read(tmp_path, f'{SERVER}token_file = "{file}"\n[play]\nat_once = 2\n'))
    assert plan.tokens == ("alpha-secret", "beta-secret")
    text = f'{SERVER}token_env = "OWN"\n'
    assert _plan(read(tmp_path, text)).tokens == ("gamma-secret",)
    monkeypatch.setattr("mjbot.cli.run.CHECK_S", 0.01)
    path = tmp_path / "bot.toml"
    assert main(["run", str(path), "--check"]) == 0
    out, err = capsys.readouterr()
    assert "token: 1 from variable OWN" in out
    assert "secret" not in out + err


def test_more_games_at_once_than_tokens_are_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MJBOT_TOKEN", "one")
    path = tmp_path / "bot.toml"
    path.write_text(f"{SERVER}[play]\nat_once = 2\n")
    assert main(["run", str(path)]) == 2
    assert "line 4: play.at_once: 2 games need 2 tokens, here are 1" in capsys.readouterr().err


# --- the pair ------------------------------------------------------------------------------------


def test_no_key_opens_the_channel_of_a_pair():
    names = {key.name for key in keys_of(RunRequest)}
    assert not names & {"pair", "end", "ally", "team_table", "secret", "channel", "partner"}


# --- systemd -------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_the_units_are_what_systemd_accepts(tmp_path, unit):
    """The program itself need not be installed: its path is replaced."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not here")
    text = unit.read_text("utf-8")
    assert "/opt/mjbot/bin/mjbot " in text
    copy = tmp_path / unit.name
    copy.write_text(text.replace("/opt/mjbot/bin/mjbot", "/bin/true"), "utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", str(copy)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_there_are_units():
    assert [unit.name for unit in UNITS] == ["mjbot-run.service", "mjbot-serve.service"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
@pytest.mark.parametrize("what", ["profile", "token_file", "account_file"])
def test_a_pipe_is_refused_in_one_line_and_not_waited_for(what, tmp_path, capsys):
    """Nobody writes there: all games would stand still, at the start and at each SIGHUP."""
    pipe, path = tmp_path / "pipe", tmp_path / "bot.toml"
    os.mkfifo(pipe)
    url = "tenhou://127.0.0.1:9/0" if what == "account_file" else "ws://127.0.0.1:9/ws"
    path.write_text(f'[server]\nurl = "{url}"\n{what} = "{pipe}"\n')
    assert main(["run", str(pipe if what == "profile" else path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "is a pipe or a device" in line
