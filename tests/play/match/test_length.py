"""The length of a game is known on every way in, from the first decision on."""

import asyncio
import re
import shlex
import sys
from pathlib import Path

import pytest

from mjbot.cli.main import read_with_profile
from mjbot.cli.play import PlayRequest, _settings
from mjbot.cli.run import RunRequest, _plan
from mjbot.game.referee import Referee
from mjbot.game.table.mirror.mirror import Mirror
from mjbot.play.client.play import Hooks, Settings, play
from mjbot.play.client.player import ClientPlayer
from mjbot.play.match.players import read_players
from mjbot.play.match.run import MatchSettings, Watcher, play_match
from mjbot.play.server.lobby import TableRules
from mjbot.play.server.server import TableServer
from mjbot.protocol.dialects import Dialect
from mjbot.protocol.messages import StartGame, StartKyoku
from mjbot.protocol.transports.address import parse_address
from mjbot.runtime.requests import request_of
from mjbot.strategy.strategy import Strategy

GUARD_S = 300
PROBE = f"{Path(__file__).with_name('length_probe.py')}:Probe"


class Noting(Strategy):
    """Notes the last round at each decision."""

    def __init__(self, noted):
        self.noted = noted

    def decide(self, view):
        self.noted.add(view.last_round)
        return view.default_action


@pytest.mark.parametrize("door", ["tcp", "websocket", "tenhou", "tenhou_websocket"])
def test_a_client_of_each_endpoint_knows_it(short_games, door):
    noted = set()

    async def main():
        rules = TableRules(seed=12, rules="tonpu")
        async with asyncio.timeout(GUARD_S), TableServer(rules) as server:
            port = await getattr(server, f"open_{door}")("127.0.0.1", 0)
            url = {
                "tcp": f"mjsonp://127.0.0.1:{port}/default",
                "websocket": f"ws://127.0.0.1:{port}/ws",
                "tenhou": f"tenhou://127.0.0.1:{port}/0?type=1",
                "tenhou_websocket": f"tenhou+ws://127.0.0.1:{port}/0?type=1",
            }[door]
            games = [
                play(
                    Settings(parse_address(url), name=f"bot{n}"),
                    lambda game: Noting(noted),
                    hooks=Hooks(warm_up=lambda: None),  # whose hanchan is not this game
                )
                for n in range(4)
            ]
            tasks = [asyncio.create_task(game) for game in games]
            async for result in server.play(1):
                assert not result.faults and not result.void
            await asyncio.gather(*tasks)

    asyncio.run(main())
    assert noted == {3}


def test_the_processes_of_a_match_know_it(short_games, tmp_path):
    """A strategy, the same over both kinds of pipes, and as an external program."""
    bot = [sys.executable, "-m", "mjbot", "play"]
    ours = [*bot, "--strategy", PROBE]
    seats = [
        PROBE,
        f"external-lines:{shlex.join([*ours, 'stdio:'])} {{seat}}",
        f"external-arrays:{shlex.join([*ours, 'stdio-arrays:'])} {{seat}}",
        f"external:{shlex.join(ours)}",
    ]
    rules = TableRules(seed=1, rules="tonpu")
    settings = MatchSettings(rules=rules, games=1, folder=tmp_path)

    async def main():
        async with asyncio.timeout(GUARD_S):
            return await play_match(settings, read_players(seats), Watcher())

    (result,) = asyncio.run(main())
    assert not result.void
    for number in (1, 2, 3, 4):
        output = (tmp_path / f"player-{number}.txt").read_text("utf-8")
        assert not re.search(r"\bfault \d", output), output  # one in the warm-up is no fault


STARTS = [
    (StartGame(id=0), None, 7),
    (StartGame(id=0), "tonpu", 3),
    (StartGame(id=0), "hanchan", 7),
    (StartGame(id=0, kyoku_first=4), None, 3),
    (StartGame(id=0, kyoku_first=4), "hanchan", 3),
    (StartGame(id=0, kyoku_first=0), None, 7),
    (StartGame(id=0, mjbot_rules={"length": "tonpu"}), "hanchan", 3),
    (StartGame(id=0, mjbot_rules={"bust": False}), "tonpu", 3),
]


@pytest.mark.parametrize("dialect", [each for each in Dialect if each.traits.over != "file"])
@pytest.mark.parametrize(("start", "length", "last_round"), STARTS)
def test_the_rules_of_start_game_lead_then_kyoku_first_then_the_option(
    dialect, start, length, last_round
):
    player = ClientPlayer(
        lambda game: Noting(set()), dialect, strict=True, deadline_s=None, length=length
    )
    asyncio.run(player.take(start, 0))
    assert player.table.view(0).last_round == last_round


@pytest.mark.parametrize(("length", "wrong"), [("hanchan", "tonpu"), ("tonpu", "hanchan")])
def test_a_wrong_length_is_dropped_when_the_game_shows_it_and_ends_nothing(length, wrong):
    for seed in range(4):
        referee = Referee(seed, length)
        mirror, last_rounds, rounds = Mirror(length=wrong), [], 0
        events = [StartGame(), *referee.start()[1:]]
        while True:
            for event in events:
                mirror.apply(event)
                rounds += isinstance(event, StartKyoku)
                last_rounds.append(mirror.view(0).last_round)
            if referee.over:
                break
            safe = {seat: referee.view(seat).default_action for seat in referee.asked}
            events = referee.step(safe)
        assert last_rounds[0] == {"tonpu": 3, "hanchan": 7}[wrong]
        assert last_rounds[-1] in (3, 7) and rounds > 3


def test_the_option_of_play_and_the_key_of_a_profile(tmp_path):
    url = "ws://127.0.0.1:9/ws"
    request = request_of(PlayRequest, read_with_profile(["play", url, "--length", "tonpu"]))
    assert _settings(request).length == "tonpu"
    profile = tmp_path / "bot.toml"
    profile.write_text(f'[server]\nurl = "{url}"\nlength = "tonpu"\n', "utf-8")
    assert _plan(request_of(RunRequest, read_with_profile(["run", str(profile)]))).settings.length
    profile.write_text(f'[server]\nurl = "{url}"\n', "utf-8")
    assert (
        _plan(request_of(RunRequest, read_with_profile(["run", str(profile)]))).settings.length
        is None
    )
