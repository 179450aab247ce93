"""``mjbot duo`` as a whole: real processes, a table of our own and somebody else's."""

import argparse
import asyncio
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from yarl import URL

from mjbot.cli import duo, main
from mjbot.play.client.pair_channel import SECRET_VARIABLE, End
from mjbot.play.client.play import Settings, play
from mjbot.play.match import players
from mjbot.play.match.node import NodeError
from mjbot.play.match.pair import make_members, private_channel
from mjbot.play.server.lobby import TableRules
from mjbot.play.server.server import GameResult, TableServer
from mjbot.protocol.rules import Rules
from mjbot.protocol.transports.address import parse_address
from mjbot.runtime.errors import ExitCode
from mjbot.strategy.pair.fair_play import require_team_name_in
from mjbot.strategy.pair.session import Side
from mjbot.strategy.registry import Spec, make_strategy

BOTS = Path(__file__).with_name("pair_bots.py")
PAIR = ["--top", f"{BOTS}:Talker", "--partner", f"{BOTS}:Listener"]
RIVAL = f"external:{sys.executable} {BOTS.parents[1] / 'match' / 'raw_player.py'}"
MJBOT = [sys.executable, "-m", "mjbot"]
GUARD_S = 300

pytestmark = pytest.mark.usefixtures("short_games")


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run a command here (the players are processes): return its status, stdout and stderr."""

    def run(*words: str) -> tuple[int, str, str]:
        return main.main(words), *capsys.readouterr()

    return run


def row(text: str, name: str) -> list[str]:
    (line,) = [line for line in text.splitlines() if line.startswith(name)]
    return line.removeprefix(name).split()


def test_the_usual_pair_plays_at_a_table_of_its_own(command, tmp_path):
    rivals = ["--rivals", f"{RIVAL} play", f"{RIVAL} cheat"]
    words = ["--length", "tonpu", "--seed", "3", "--log-dir", str(tmp_path)]
    status, report, errors = command("duo", *rivals, *words)
    assert status == ExitCode.OK, errors
    (folder,) = tmp_path.iterdir()
    output = [(folder / f"player-{place}.txt").read_text() for place in (1, 2)]
    assert all("pair channel: the partner is there" in text for text in output)
    assert "mjbot (team 1/2)" in report
    for text in (*output, report):
        assert "Traceback" not in text and "ERROR" not in text
    assert re.search(r"^S4-0  ", report, re.M)  # each kyoku has its line
    top, partner, pair, others = (
        row(report, name)
        for name in ("combo-partner 1", "combo-partner 2", "the pair", "the others")
    )
    assert [int(a) + int(b) for a, b in zip(top[:4], partner[:4], strict=True)] == [
        int(both) for both in pair[:4]
    ]
    assert int(top[-1]) + int(partner[-1]) == int(pair[-1])
    assert float(top[-3]) + float(partner[-3]) == pytest.approx(2 * float(pair[-3]), abs=0.02)
    assert int(pair[-1]) + int(others[-1]) == 100000
    assert len(top[4].split("-")) == 4
    notes = (folder / "notes.txt").read_text()
    where = r"^player 4 \(seat \d in game 1\), external:.* cheat: Unexpected response type"
    assert re.search(where, notes, re.M)  # and the game was played on
    assert notes.strip() in report
    assert command("replay", str(folder))[0] == ExitCode.OK


@pytest.mark.parametrize("role", ["yaku-evaluation", "combo-partner,base=supervised"])
@pytest.mark.parametrize("option", ["--top", "--partner"])
def test_a_member_that_plays_four_only_is_refused_at_a_table_of_three(command, option, role):
    status, report, errors = command("duo", "--rules", "players=3", option, role)
    assert status == ExitCode.BAD_ARGUMENTS
    assert "plays no table of 3 players" in errors
    assert not report


def test_a_member_that_was_not_there_fails_the_run(command, tmp_path, monkeypatch):
    line = "player 1, combo-partner: 70 bad or missing answers (70 absent)"
    monkeypatch.setattr(duo, "table_fault_lines", lambda players, results: [line])
    rules = ["--rules", "tonpu,players=3", "--rivals", "tsumogiri", "--seed", "3"]
    status, report, _ = command("duo", *rules, "--log-dir", str(tmp_path))
    assert status == ExitCode.FAILED
    assert line in report


def test_two_play_against_one_at_a_table_of_three(command, tmp_path):
    rules, log = ["--rules", "tonpu,players=3"], ["--log-dir", str(tmp_path)]
    status, report, errors = command(
        "duo", *rules, "--rivals", f"{RIVAL} play", "--seed", "3", *log
    )
    assert status == ExitCode.OK, errors
    top, partner, pair, other = (
        row(report, name)
        for name in ("combo-partner 1", "combo-partner 2", "the pair", "the others")
    )
    assert int(top[-1]) + int(partner[-1]) + int(other[-1]) == 105_000
    assert other[2] == "0"  # wins to an ally: it has none
    counts = [map(int, line[4].split("-")) for line in (pair, other)]
    assert [sum(of_place) for of_place in zip(*counts, strict=True)] == [1, 1, 1]
    (folder,) = tmp_path.iterdir()
    assert "the partner is there" in (folder / "player-1.txt").read_text()


@pytest.mark.parametrize(("n_players", "own"), [(4, []), (3, []), (3, ["--rules", "players=3"])])
def test_the_pair_joins_a_table_and_counts_what_it_sees(tmp_path, n_players, own):
    rules = Rules(length="tonpu", players=n_players)

    async def play_two() -> tuple[list[GameResult], str, int | None]:
        async with asyncio.timeout(GUARD_S):
            async with TableServer(TableRules(seed=5, rules=rules)) as server:
                port = await server.open_tcp("127.0.0.1", 0)
                url = f"mjsonp://127.0.0.1:{port}/default"
                guests = await asyncio.create_subprocess_exec(
                    *MJBOT, "duo", url, *PAIR, *own, "--games", "2", "--log-dir", str(tmp_path),
                    stdout=asyncio.subprocess.PIPE,
                )  # fmt: skip
                settings = Settings(parse_address(url), games=2, silence_s=GUARD_S)
                others = [
                    asyncio.create_task(play(settings, lambda game: make_strategy("tsumogiri")))
                    for _ in range(n_players - 2)
                ]
                results = [result async for result in server.play(2)]
                await asyncio.gather(*others)
            return results, (await guests.communicate())[0].decode(), guests.returncode

    results, output, status = asyncio.run(play_two())
    assert status == ExitCode.OK
    (folder,) = tmp_path.iterdir()
    logs = [(folder / f"seen-by-{word}.mjson").read_text() for word in ("top", "partner")]
    assert [log.count('"end_game"') for log in logs] == [2, 2]
    names = [f"mjbot (team {number}/2)" for number in (1, 2)]
    sums = [result.scores[result.names.index(name)] for result in results for name in names]
    assert row(output, "the pair")[-1] == f"{sum(sums) / 2:.0f}"


def test_a_server_that_is_not_there_is_one_line(command, tmp_path):
    words = ["mjsonp://127.0.0.1:9/default", *PAIR, "--log-dir", str(tmp_path)]
    status, report, errors = command("duo", *words)
    assert status == ExitCode.UNREACHABLE
    (line,) = errors.splitlines()
    assert line.startswith("mjbot duo: ")
    assert "127.0.0.1:9" in line
    # Besides, whom it would have played with, and a note of each of the two.
    waits = "compiling", "not at the table after "
    lines = [text for text in report.splitlines() if not text.startswith(waits)]
    _games, _pair, one, other = lines
    assert {one.split(",")[0], other.split(",")[0]} == {"player 1", "player 2"}


def test_the_paper_s_pair_is_one_option_away(capsys):
    for words, top in ((["duo"], duo.STRATEGY), (["duo", "--top", "yaku-evaluation"], None)):
        parser = argparse.ArgumentParser()
        main.declare_command("duo", parser)
        args = parser.parse_args(words[1:])
        assert str(args.top) == (top or "yaku-evaluation")
        assert str(args.partner) == duo.STRATEGY == "combo-partner,base=strongest"
    with pytest.raises(SystemExit):
        main.main(["duo", "--help"])
    report = " ".join(capsys.readouterr().out.split())
    default = "(default: combo-partner,base=strongest)"
    assert f"strategy of the second {default}" in report.replace("- ", "-")


def test_without_the_external_ai_our_own_play_and_that_is_said(monkeypatch, capsys):
    def missing(*_args: object, **_kwargs: object) -> list[str]:
        raise NodeError("no Node here")

    monkeypatch.setattr(players, "majiang_command", missing)
    rivals = duo._rivals(duo.DuoRequest(), Console())
    assert [str(rival.spec) for rival in rivals] == ["fast-riichi-d", "fast-riichi-d"]
    assert len({rival.name for rival in rivals}) == 2
    assert "since no Node here" in capsys.readouterr().out
    named = duo.DuoRequest(rivals=("external:majiang", "tsumogiri"))
    with pytest.raises(NodeError):
        duo._rivals(named, Console())


def test_the_secret_is_on_no_command_line_and_the_channel_in_a_private_folder():
    with private_channel() as channel:
        roles = [Spec.read("yaku-evaluation,riichi=off"), Spec.read("combo-partner")]
        top, partner = make_members("crane", roles, channel)
        for member in (top, partner):
            words = member.command("mjsonp://127.0.0.1:1/x", 1)
            assert channel.secret not in " ".join(words)
            assert channel.secret not in repr(member)
            assert member.environ == {SECRET_VARIABLE: channel.secret}
        assert (top.end.side, partner.end.side) == (Side.HOST, Side.GUEST)
        assert top.end.address == partner.end.address == channel.address
        assert End.parse(str(top.end)) == top.end
        assert "yaku-evaluation,riichi=off" in top.command("", 1)
        assert len(channel.secret) >= 32
        if isinstance(channel.address, Path):
            assert channel.address.parent.stat().st_mode & 0o077 == 0
    assert not isinstance(channel.address, Path) or not channel.address.parent.exists()


@pytest.mark.parametrize(
    "query",
    ["", "?", "?name=alice", "?a=1&name=x&name=y&b=%26", "?%6eame=alice&a", "?name", "?N=n"],
)
def test_a_websocket_table_reads_the_teams_names_whatever_the_url_said(query):
    asked = URL(f"ws://localhost:1/ws{query}").query
    with private_channel() as channel:
        roles = [Spec.read("yaku-evaluation"), Spec.read("combo-partner")]
        for member in make_members("crane", roles, channel):
            command = member.command(f"ws://localhost:1/ws{query}", 1)
            (url,) = [URL(word) for word in command if word.startswith("ws:")]
            assert url.query.getall("name") == [member.name]
            assert {**url.query, "name": ""} == {**asked, "name": ""}
            require_team_name_in(str(url))


def test_a_few_games_of_the_usual_pair_end_with_what_many_gave():
    usual = duo.DuoRequest()
    rivals = players.read_players(list(duo.RIVALS[4]), ("A", "B"))
    assert duo.luck(usual, rivals, "hanchan") == [duo.LUCK]
    page = (Path(duo.__file__).parents[2] / "docs" / "results" / "pair.md").read_text()
    assert re.search(r"[\d,]+ ± [\d,]+", duo.LUCK)[0] in page
    others = players.read_players(list(duo.STAND_INS), ("A", "B"))
    weaker = Spec.read("fast-riichi-d")
    for request, against, length in (
        (usual, rivals, "tonpu"),
        (usual, others, "hanchan"),
        (replace(usual, games=300), rivals, "hanchan"),
        (replace(usual, partner=weaker), rivals, "hanchan"),
        (replace(usual, url="mjsonp://127.0.0.1:1/default"), rivals, "hanchan"),
    ):
        assert duo.luck(request, against, length) == []
