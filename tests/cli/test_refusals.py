"""Calls that a command refuses: what was called, the exit status, and the line on stderr.

Status 1: what a file holds cannot be used; 2: the arguments are wrong; 3: a file or a program is
missing, or nobody answers. A line that begins with ``mjbot`` is the whole line, any other a part
of it. The calls are made in a folder with the files of ``files``; no call may add one.
"""

import shlex
from pathlib import Path

import pytest

from mjbot.cli.commands import REMOVED
from mjbot.cli.main import main
from mjbot.play.chaos import FAULTS
from mjbot.play.client.pair_channel import SECRET_VARIABLE

ROOT = Path(__file__).parents[2]

# fmt: off
PROGRAM = [
    ("arnea a b", 2,
     "mjbot: error: argument COMMAND: unknown 'arnea'; did you mean 'arena'? (see --help)"),
    ("help reviw", 2,
     "mjbot: error: argument COMMAND: unknown 'reviw'; did you mean 'review'? (see --help)"),
    ("setup-node now", 2,
     "mjbot setup-node: error: unexpected argument 'now' (see --help)"),
]

ARENA = [
    ("arena a b --gmaes 3", 2,
     "mjbot arena: error: unknown option '--gmaes'; did you mean '--games'? (see --help)"),
    ("arena a b --margin x", 2,
     "mjbot arena: error: argument --margin: 'x': expected a number, such as 0.5 (see --help)"),
    ("arena a b --walls pined", 2,
     "mjbot arena: error: argument --walls: unknown 'pined'; did you mean 'pinned'? (see --help)"),
    ("score 11m --rules players=5", 2, "players: 5 is not implemented"),
    ("arena a b --rules local_yaku=renhou", 2, "local_yaku: renhou is not implemented"),
    ("arena a b --rules renhou=yes", 2, "renhou: expected mangan or yakuman, or no"),
    ("arena a b --rules sashikomi=yes", 2,
     "sashikomi: unknown rule; the rules: length, red_fives, open_tanyao"),
    ("arena a b --rules kuitann=no", 2, "kuitann: unknown rule; did you mean 'open_tanyao'?"),
    ("arena a b --rules red_five=no", 2, "red_five: unknown rule; did you mean 'red_fives'?"),
    ("arena a b --rules Aka=no", 2, "Aka: unknown rule; did you mean 'red_fives'?"),
    ("arena a b --rules uma=30/10/-10", 2, "uma: [30, 10, -10] must have 4 values"),
    ("serve --players 3", 2, "unknown option '--players'; it is one of the rules: --rules"),
    ("arena a b --rules bust", 2, "'bust' is no rule set (tenhou, mahjong-soul) and"),
    ("arena a b --rules missing.toml", 2, "No such file or directory"),
    ("arena --protocol no-seed.toml", 2,
     "no-seed.toml: seed: missing; a protocol fixes players, number of games and seed"),
    ("arena --protocol folder", 3, "folder: Is a directory"),
    ("arena --protocol looks.toml", 2, "looks.toml, line 1: looks: expected a list, as [A, B]"),
    ("arena external-lines:/no/such/program tsumogiri --format 1v3", 3,
     "no program '/no/such/program' to run"),
    ("ladder --games-of combo-partner --out x", 2, "expected NAME=GAMES"),
    ("ladder --games-of nobody=4 --out x", 2, "nobody is none of the lines"),
    ("ladder --strongest -1 --out x", 2, "--strongest -1: at least 0"),
    ("ladder --lines nobody --show --out x", 2, "unknown strategy 'nobody'"),
    ("ladder --games 0 --out x", 2, "--games 0: at least 1"),
    ("ladder --seed -1 --out x", 2, "--seed -1: from 0 to 2147483647"),
]

MATCH = [
    ("match a b", 2, "mjbot match: a table has 4 seats, 2 named"),
    ("match a b c", 2, "a table has 4 seats, 3 named; three players: --rules players=3"),
    ("match a b c d --rules players=3", 2,
     "a table has 3 seats, 4 named: 'd' is one too many; four: --rules players=4"),
    ("match a b c d fast-riichi-a", 2,
     "mjbot match: a table has 4 seats, 5 named: 'fast-riichi-a' is one too many"),
    ("match tsumogiri tsumogiri tsumogiri --games 0", 2, "--games: '0': expected a "),
    ("match tsumogiri tsumogiri tsumogiri --timeout-s nan", 2, "--timeout-s: 'nan': expected a "),
    ("match tsumogiri tsumogiri tsumogiri --join-timeout-s inf", 2,
     "--join-timeout-s: 'inf': expected a "),
    ("match external:/no/such/program tsumogiri tsumogiri tsumogiri", 3,
     "no program '/no/such/program' to run"),
    ("match human,clock_s=70 tsumogiri tsumogiri tsumogiri", 2, "the table waits 60 s"),
]

DUO = [
    ("duo --rivals a", 2, "--rivals a: expected 2"),
    ("duo --rules players=3 --rivals a b", 2, "--rivals a b: expected 1"),
    ("duo --games 0", 2, "--games: '0': expected a "),
    ("duo --timeout-s nan", 2, "--timeout-s: 'nan': expected a "),
    ("duo --join-timeout-s inf", 2, "--join-timeout-s: 'inf': expected a "),
    ("duo wss://game.example/ranked --log-dir runs", 2, "live servers rate single players"),
    ("duo mjsonp://game.example:11600/default --log-dir runs", 2,
     "has not declared that teams may play"),
    ("duo stdio: --log-dir runs", 2, "no pair at stdio:"),
    ("duo 'mjsonp://game.example:11600/a\nb' --log-dir runs", 2,
     "has not declared that teams may play"),
    ("duo 'no\nURL' --log-dir runs", 2, "expected mjsonp"),
    ("duo --top fast-riichi-d --log-dir runs", 2, "these can: combo-partner, yaku-evaluation"),
    ("duo --partner combo-partner,techniques=some --log-dir runs", 2, "techniques"),
    (f"duo --name {'x' * 55} --log-dir runs", 2, f"--name '{'x' * 55}': 2 characters too long"),
    ("duo --rivals no-such-bot tsumogiri --log-dir runs", 2, "no-such-bot"),
]

PLAY = [
    ("play", 2, "error: the following arguments are required: URL"),
    ("play stdio: 4", 2, "error: argument SEAT: seat '4': expected 0, 1, 2 or 3"),
    ("play stdio: --seat x", 2, "error: argument --seat: seat 'x': expected 0, 1, 2 or 3"),
    ("play mjsonp://h --games -1", 2,
     "error: argument --games: '-1': expected a number of games, or 0"),
    ("play mjsonp://h --deadline-s 0", 2,
     "error: argument --deadline-s: '0': expected a number of seconds above 0"),
    ("play mjsonp://h --deadline-s inf", 2,
     "error: argument --deadline-s: 'inf': expected a number of seconds above 0"),
    ("play mjsonp://h --silence-s soon", 2,
     "error: argument --silence-s: 'soon': expected a number of seconds above 0"),
    ("play mjsonp://h --silence-s nan", 2,
     "error: argument --silence-s: 'nan': expected a number of seconds above 0"),
    ("play mjsonp://h --wait-s -1", 2,
     "error: argument --wait-s: '-1': expected a number of seconds, 0 or more"),
    ("play mjsonp://h --strategy fast-riichi-a,lookahead", 2,
     "error: argument --strategy: option 'lookahead': expected KEY=VALUE"),
    ("play http://localhost/", 2, "URL 'http://localhost/': expected mjsonp://"),
    ("play mjsonp://localhost --strategy no-such-bot", 2, "no-such-bot"),
    ("play mjsonp://localhost --strategy fast-riichi-a,nope=1", 2, "nope"),
    ("play mjsonp://localhost --strict --lenient", 2, "only one of them"),
    ("play ws://127.0.0.1:1 --token-file none", 3,
     "mjbot play: none: No such file or directory; name a file with the token"),
    ("play mjsonp://127.0.0.1:1 --log folder", 3, "mjbot play: folder: Is a directory"),
    ("play tenhou://game.example:10080/0", 2, "without its operator's permission"),
    ("play tenhou+ws://game.example:80/0 --permitted-by ' '", 2, "operator's permission"),
    ("play mjsonp://localhost/x --permitted-by me", 2, "only for a tenhou:// server"),
    ("play mjsonp://localhost/x --account-file x", 2, "only for a tenhou:// server"),
    ("play tenhou://localhost/0", 2, "the port is missing"),
    ("play tenhou://localhost:1/x", 2, "expected /LOBBY?type=N"),
    ("play tenhou://localhost:1/0?kind=9", 2, "expected /LOBBY?type=N"),
    ("play mjsonp://127.0.0.1:9/x --strategy pair_bots.py:Talker --name 'crane (team 1/2)'"
     " --pair host:4711", 2, "set MJBOT_PAIR_SECRET"),
    ("play mjsonp://127.0.0.1:9/x --strategy pair_bots.py:Talker --name 'crane (team 1/2)'"
     " --pair 4711", 2, "expected host:PLACE or guest:PLACE"),
    ("play mjsonp://127.0.0.1:9/x --strategy pair_bots.py:Talker --name 'crane (team 1/2)'"
     " --ally combo-partner", 2, "only together with --pair"),
]

SERVERS = [
    ("serve --evidence", 2,
     "--evidence: is written next to the games' logs; name their --log-dir"),
    ("run latin.toml", 2, "latin.toml, line 2: not UTF-8; save the file as UTF-8"),
    ("run none.toml", 3, "none.toml: No such file or directory"),
    ("run server.toml --pair unix:x", 2, "unknown option '--pair'"),
    ("run server.toml --ally a", 2, "unknown option '--ally'"),
    ("run server.toml --team-table x", 2, "unknown option '--team-table'"),
    ("chaos wss://game.example/ws", 2, "that is not encrypted"),
    ("chaos mjsonp://localhost/x --faults cut,rain", 2, f"expected some of {', '.join(FAULTS)}"),
    ("chaos mjsonp://game.example:11600/x --faults split --every-kb 80000", 2,
     "past the checks of fair play"),
    ("chaos tenhou://game.example:10080/0 --faults split --every-kb 80000", 2,
     "past the checks of fair play"),
    ("chaos ws://192.0.2.7/ws --faults split --every-kb 80000", 2,
     "past the checks of fair play"),
    ("chaos mjsonp://0.0.0.0:11600/x --faults split --every-kb 80000", 2,
     "past the checks of fair play"),
    ("chaos mjsonp://127.0.0.1.game.example:11600/x --faults split --every-kb 80000", 2,
     "past the checks of fair play"),
    ("chaos mjsonp://localhost.game.example:11600/x --faults split --every-kb 80000", 2,
     "past the checks of fair play"),
]

CHECK = [
    ("check", 2, "name a bot or a server to check, or add --list"),
    ("check tsumogiri --only B99", 2, "--only B99: there is no such check"),
    ("check external-lines:", 2, "no program to run; name one"),
    ("check tenhou://game.example:80/0", 2, "only servers of mjsonp://, ws:// or wss:// can be"),
    ("check tsumogiri --start x", 2, "--start: is for servers"),
    ("check tsumogiri --permitted-by x", 2, "--permitted-by: is for servers"),
    ("check external:/no/such/program", 3, "no program '/no/such/program' to run"),
    ("check external-lines:/no/such/program", 3, "no program '/no/such/program' to run"),
    ("check 'external-arrays:/no/such/program {seat}'", 3, "no program '/no/such/program' to run"),
    ("check --dialect requests '/no/such/program {url}'", 3,
     "no program '/no/such/program' to run"),
    ("check mjsonp://127.0.0.1:1/x --start /no/such/program", 3,
     "no program '/no/such/program' to run"),
]

RECORDS = [
    ("replay", 2, "error: the following arguments are required: FILE"),
    ("replay missing.mjson", 3, "mjbot replay: missing.mjson: No such file or directory"),
    ("replay empty.jsonl", 1, "mjbot replay: empty.jsonl: is empty: no game"),
    ("replay folder", 1, "mjbot replay: folder: holds no records"),
    ("replay only-runs", 1, "mjbot replay: only-runs: holds no records outside runs/"),
    ("replay hello.jsonl", 1, "mjbot replay: hello.jsonl: holds no game"),
    ("replay 'https://tenhou.net/0/?log=2016010100gm-00a9-0000-abcdef01&tw=1'", 2,
     "https://tenhou.net/0/?log=2016010100gm-00a9-0000-abcdef01&tw=1 is a URL: nothing is"
     " fetched; save the game as mjlog"),
    ("replay 2016010100gm-00a9-0000-abcdef01", 2,
     "2016010100gm-00a9-0000-abcdef01 is a Tenhou game's id: nothing is fetched;"
     " save the game as mjlog"),
    ("convert missing x", 3, "mjbot convert: missing: No such file or directory"),
    ("convert empty.jsonl x", 1, "mjbot convert: empty.jsonl: is empty: no game"),
    ("convert folder x", 1, "mjbot convert: folder: holds no records"),
    ("convert only-runs x", 1, "mjbot convert: only-runs: holds no records outside runs/"),
    ("convert hello.jsonl x", 1, "mjbot convert: hello.jsonl: holds no game"),
    ("convert 'https://tenhou.net/0/?log=2016010100gm-00a9-0000-abcdef01&tw=1' x", 2,
     "https://tenhou.net/0/?log=2016010100gm-00a9-0000-abcdef01&tw=1 is a URL: nothing is"
     " fetched; save the game as mjlog"),
    ("convert 2016010100gm-00a9-0000-abcdef01 x", 2,
     "2016010100gm-00a9-0000-abcdef01 is a Tenhou game's id: nothing is fetched;"
     " save the game as mjlog"),
    ("convert logs/east-four-winds.mjson x.jsonl --to mjlog", 2,
     "x.jsonl: mjlog cannot be .jsonl; a folder"),
    ("convert logs/east-four-winds.mjson empty.jsonl/x.zip", 3, "empty.jsonl"),
    ("train data folder --folder x", 1, "mjbot train data: folder: holds no records"),
]

EXPLAIN = [
    ("explain none", 3, "mjbot explain: none: No such file or directory"),
    ("explain cut.mjson", 1,
     "mjbot explain: cut.mjson: line 5: line: not JSON: Input data was truncated; '{\"type\":'"),
    ("explain logs/east-four-winds.mjson --at 15 --strategy nobody", 2,
     "mjbot explain: unknown strategy 'nobody'; mjbot strategies lists them"),
    ("explain 'https://tenhou.net/0/?log=2016010100gm-00a9-0000-abcdef01&tw=1'", 2,
     "https://tenhou.net/0/?log=2016010100gm-00a9-0000-abcdef01&tw=1 is a URL: nothing is"
     " fetched; save the game as mjlog"),
    ("explain 2016010100gm-00a9-0000-abcdef01", 2,
     "2016010100gm-00a9-0000-abcdef01 is a Tenhou game's id: nothing is fetched;"
     " save the game as mjlog"),
    ("explain logs/east-four-winds.mjson --at E2", 2,
     "expected KYOKU-HONBA:CHOICE such as E2-1:5, or the number of an event"),
    ("explain logs/east-four-winds.mjson --strategy tsumogiri --at 4", 2,
     "--at 4: no seat has a choice there"),
    ("explain logs/east-four-winds.mjson --strategy tsumogiri --at 15 --seat 2", 2,
     "--at 15: seat 2 has no choice there; seat 0 has one"),
    ("explain logs/east-four-winds.mjson --strategy tsumogiri --at 5000", 2,
     "the log has the events 1 to 452"),
    ("explain logs/east-four-winds.mjson --strategy tsumogiri --at 0", 2,
     "the log has the events 1 to 452"),
    ("explain logs/east-four-winds.mjson --strategy tsumogiri --at E1-0:5", 2,
     "--at E1-0:5: add the seat with --seat"),
    ("explain logs/east-four-winds.mjson --strategy tsumogiri --at E1-0:99 --seat 0", 2,
     "seat 0 has 7 choices in E1-0"),
    ("explain logs/east-four-winds.mjson --strategy tsumogiri --at W1-0:1 --seat 0", 2,
     "seat 0 has 0 choices in W1-0"),
]

VIEWER = [
    ("watch nowhere.mjson", 3, "nowhere.mjson: No such file"),
    ("watch logs/east-extra-round.mjson --record 4 --out x.html", 1, "there is no record 4"),
    ("watch logs/east-extra-round.mjson --out x.txt", 2, "ends in .html"),
    ("watch logs/east-extra-round.mjson --at 9/9/9 --out x.html", 2, "--at 9/9/9: "),
    ("watch logs/east-extra-round.mjson --at 0/1/999 --out x.html", 2, "has no such moment"),
    ("watch logs/east-extra-round.mjson --at 0/9/0 --no-browser", 2, "has no such moment"),
    ("watch logs/east-extra-round.mjson --at E1-0:1 --out x.html", 2, "add the seat with --seat"),
    ("watch logs/east-extra-round.mjson --at 300 --out x.html", 2, "has the events 2 to 299"),
    ("watch logs/east-extra-round.mjson --by nobody", 2, "unknown strategy 'nobody'"),
    ("watch logs/README.md", 1, "is no record of a game"),
    ("watch http://127.0.0.1:9/ --at 30", 2, "only for recorded games"),
    ("draw x --size 1e3 --out a.svg", 2, "mjbot draw: error: argument --size: '1e3': expected a"
     " whole number, such as 1000 (see --help)"),
    ("draw logs/east-extra-round.mjson --at E1-0:1 --out x.svg", 2, "add the seat with --seat"),
    ("draw logs/east-extra-round.mjson --at E1-0:99 --seat 1 --out x.svg", 2, "seat 1 has "),
    ("draw logs/east-extra-round.mjson --at 1 --out x.svg", 2, "has the events 2 to 299"),
    ("draw logs/east-extra-round.mjson --out x.gif", 2, "ends in .svg or .png"),
]

REVIEW = [
    ("review logs/east-four-winds.mjson", 2,
     "whose decisions? the record shows the hands of 0 fast-riichi-b, 1 majiang-2, 2 "),
    ("review logs/east-four-winds.mjson --playouts 0 --name nobody", 2,
     "--name nobody: no seat whose hand is shown of this name; the rec"),
    ("review logs/east-four-winds.mjson --playouts 0 --seat 1 --name majiang", 2,
     "--seat and --name: choose one"),
    ("review logs/east-four-winds.mjson --playouts 0 --seat 0 --by tsumogiri", 2,
     "none of its choices; add a method ratings(view)"),
    ("review logs/east-four-winds.mjson --playouts 0 --seat 0 --game-number 2", 2,
     "holds fewer games"),
    ("review logs/east-four-winds.mjson --playouts 0 --seat 0 --by fast-riichi-d --at E1-0:99", 2,
     "seat 0 has 7 choices in E1-0"),
    ("review logs/east-four-winds.mjson --playouts 0 --seat 0 --by fast-riichi-d --at 4", 2,
     "no decision of seat 0 to review there"),
    ("review logs/east-four-winds.mjson --seat 0 --playouts -3", 2,
     "'-3': expected a number of seconds, 0 or more"),
]

STATS = [
    ("stats logs --jobs 1 --player nobody", 2, "no game of 'nobody'"),
    ("stats logs --jobs 1 --compare majiang majiang@2026", 2, "have games in common"),
    ("stats logs --jobs 1 --compare majiang@2026-13.. majiang", 2, "is no period"),
    ("stats logs --jobs 1 --by opponent-class", 2, "needs --opponent-class"),
    ("stats logs --jobs 1 --period 2026-10", 2, "no game to count"),
    ("stats logs --jobs 1 --version-pattern '(.*)'", 2, "expected the groups"),
    ("detect games.zip --player x", 2,
     "mjbot detect: error: unknown option '--player' (see --help)"),
    ("detect logs --helpers --folder folder", 2, "--folder"),
]

TRAIN = [
    ("train danger logs/east-four-winds.mjson --games 900: --jobs 1 --out x", 2, "--games"),
    ("train shanten logs/east-four-winds.mjson --passes 0", 2, "--passes"),
]

REFUSALS = [
    *PROGRAM, *ARENA, *MATCH, *DUO, *PLAY, *SERVERS, *CHECK,
    *RECORDS, *EXPLAIN, *VIEWER, *REVIEW, *STATS, *TRAIN,
]
IN_A_PAIR = [
    ("play mjsonp://127.0.0.1:9/x", "--name is missing"),
    ("play mjsonp://127.0.0.1:9/x --name alice", "--name 'alice'"),
    ("play ws://127.0.0.1:9/ws --name 'crane (team 1/2)'", "?name= is missing"),
    ("play ws://127.0.0.1:9/ws?name=alice", "?name= 'alice'"),
    ("play ws://127.0.0.1:9/ws?name=a+team --name alice", "--name 'alice'"),
]
# fmt: on


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Make the files that the calls name, and go to their folder."""
    monkeypatch.chdir(tmp_path)
    Path("logs").symlink_to(ROOT / "logs")
    Path("pair_bots.py").symlink_to(ROOT / "tests" / "play" / "match" / "pair_bots.py")
    Path("folder").mkdir()
    Path("only-runs/runs").mkdir(parents=True)
    Path("only-runs/runs/a.mjson").write_text('{"type":"start_game"}\n')
    Path("empty.jsonl").touch()
    Path("hello.jsonl").write_text('{"type":"hello"}\n')
    Path("cut.mjson").write_text(Path("logs/east-four-winds.mjson").read_text()[:700] + "\n")
    Path("latin.toml").write_bytes(b"[server]\nname = '\xff'\n")
    Path("no-seed.toml").write_text('strategies = ["tsumogiri", "tsumogiri"]\ngames = 6\n')
    Path("looks.toml").write_text("looks = 3\n")
    Path("server.toml").write_text('[server]\nurl = "wss://game.example/ranked"\n')
    return tmp_path


@pytest.fixture
def refused(files, capsys):
    """Return a function that makes a call and returns its status and its one line."""

    def call(words):
        before = sorted(files.rglob("*"))
        try:
            status = main(words)
        except SystemExit as end:
            status = end.code
        out, err = capsys.readouterr()
        counts = status == 1 and words[0] in ("replay", "convert")
        assert (out.startswith("0 games") and "damaged" not in out) if counts else not out
        (line,) = [line for line in err.splitlines() if not line.endswith(" ...")]
        assert line.startswith(("mjbot: ", f"mjbot {words[0]}"))
        assert sorted(files.rglob("*")) == before
        return status, line

    return call


@pytest.mark.parametrize(("call", "status", "line"), REFUSALS)
def test_a_call_is_refused_in_one_line(call, status, line, refused):
    ended, report = refused(shlex.split(call))
    assert ended == status
    assert report == line if line.startswith("mjbot") else line in report


@pytest.mark.parametrize(("call", "line"), IN_A_PAIR)
def test_one_of_a_pair_sits_down_only_as_what_it_is(call, line, refused, monkeypatch):
    monkeypatch.setenv(SECRET_VARIABLE, "correct horse battery staple")
    top = ["--strategy", "pair_bots.py:Talker", "--pair", "host:4711"]
    status, report = refused([*shlex.split(call), *top])
    assert status == 2
    assert line in report and "(team 1/2)" in report


def test_one_of_a_pair_sits_down_only_where_teams_are_allowed(refused, monkeypatch):
    monkeypatch.setenv(SECRET_VARIABLE, "correct horse battery staple")
    top = ["--strategy", "pair_bots.py:Talker", "--pair", "host:4711"]
    status, report = refused(["play", "mjsonp://game.example/x", *top])
    assert status == 2
    assert "its operator has not declared" in report


@pytest.mark.parametrize("command", REMOVED)
def test_a_removed_command_names_what_takes_its_place(command, refused):
    refusal = (2, f"mjbot: {command} was removed; use {REMOVED[command]}")
    assert refused([*command.split(), "--games", "8"]) == refusal
    assert refused(["help", *command.split()]) == refusal
