"""What a pair tells each other: in the game's log, on the board, and nowhere else."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from mjbot.game.records.game import Entry
from mjbot.play.client.play import Hooks, Settings, play
from mjbot.play.server.lobby import TableRules
from mjbot.play.server.server import TableServer, talk_of
from mjbot.protocol import messages as m
from mjbot.protocol.tiles import tile_names
from mjbot.protocol.transports.address import parse_address
from mjbot.strategy.pair.fair_play import team_names
from mjbot.strategy.pair.link import MemoryLink, memory_links
from mjbot.strategy.pair.member import PairMember
from mjbot.strategy.pair.remarks import parse_remark
from mjbot.strategy.registry import make_strategy
from mjbot.strategy.strategy import Strategy
from mjbot.viewer.descriptions import named
from mjbot.viewer.game import fold_steps
from mjbot.viewer.library import Library, ReadGame
from mjbot.viewer.live import LiveServer

RULES = TableRules(seed=4, rules="tonpu")
ROOMS = {"one": (0,), "two": (1,), "three": (2,), "default": (3,)}
"""One place each: who sits where, and so the game, does not hang on who comes first."""
PAIR = team_names("us")
SHARES = "shares with "


@dataclass
class Evening:
    """A game of two combo-partners and two others: its logs, and what was seen of it where."""

    game: ReadGame
    own_log: ReadGame
    stranger: list[bytes] = field(default_factory=list)
    shown: dict[str, str] = field(default_factory=dict)

    @property
    def allies(self) -> list[int]:
        (start,) = [e.event for e in self.game.entries if isinstance(e.event, m.StartGame)]
        return [(start.names or ()).index(name) for name in PAIR]

    def steps(self, seen: Sequence[int] = range(4)) -> list[dict[str, Any]]:
        talk = [entry.talk for entry in self.game.entries]
        report = fold_steps(self.game.steps(), seen, talk)
        return [step for kyoku in report["kyoku"] for step in kyoku["steps"]]


@pytest.fixture(scope="module")
def evening(tmp_path_factory: pytest.TempPathFactory, sit_raw: Any) -> Evening:
    return asyncio.run(play_evening(tmp_path_factory.mktemp("pair"), sit_raw))


async def play_evening(folder: Path, sit_raw: Any) -> Evening:
    received: list[bytes] = []
    own = folder / "own" / "seen.mjson"
    async with asyncio.timeout(120), LiveServer({"title": "table"}) as page:
        await page.open()
        show = lambda game, event, logs: page.add(event, talk_of(logs))  # noqa: E731
        async with TableServer(RULES, ROOMS, log_dir=folder, on_event=show) as table:
            port = await table.open_tcp("127.0.0.1", 0)
            rooms = [f"mjsonp://127.0.0.1:{port}/{room}" for room in ROOMS]
            first, second, third = (Settings(parse_address(room)) for room in rooms[:3])
            one, other = memory_links()
            playing = asyncio.gather(
                sit(replace(first, name=PAIR[0], log=own), lambda: partner(one)),
                sit(replace(second, name=PAIR[1]), lambda: partner(other)),
                sit(replace(third, name="other"), lambda: make_strategy("fast-riichi-a")),
                sit_raw(port, "stranger", received),
            )
            (result,) = [result async for result in table.play(1)]
            await playing
        assert result.log and not result.faults
        evening = Evening(Library(result.log).game(0), Library(own).game(0), received)
        for who, seats in (("nobody", []), ("one", evening.allies[:1]), ("all", range(4))):
            evening.shown[who] = await spectate(page, page.keys.new(seats) if seats else "")
    return evening


async def sit(settings: Settings, make: Callable[[], Strategy]) -> None:
    await play(settings, lambda game: make(), hooks=Hooks(warm_up=lambda: None))


def partner(link: MemoryLink) -> Strategy:
    strategy = make_strategy("combo-partner")
    assert isinstance(strategy, PairMember)
    strategy.join_pair(link)
    return strategy


async def spectate(page: LiveServer, key: str) -> str:
    """Return all that a spectator with this key is sent of the game."""
    url = f"http://127.0.0.1:{page.port}/api/live?key={key}"
    text = ""
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        async for line in answer.content:
            text += line.decode()
            if '"kind":"end_game"' in text and not line.strip():
                return text
    raise AssertionError


def remarks(game: ReadGame) -> list[tuple[Entry, int, str]]:
    return [(entry, seat, output) for entry in game.entries for seat, output in entry.talk]


def test_the_log_has_what_each_told_the_other_at_the_event_that_it_answered(
    evening: Evening,
) -> None:
    report = remarks(evening.game)
    assert {seat for _, seat, _ in report} == set(evening.allies)
    events = [entry.event for entry in evening.game.entries]
    for entry, seat, output in report:
        after = events[entry.number : entry.number + 2]
        (discard,) = [e for e in after if isinstance(e, m.Dahai)][:1]
        assert discard.actor == seat
        assert parse_remark(output)
    shared = [remark for _, _, output in report if (remark := parse_remark(output)) and remark.hand]
    assert sum(remark.ally == evening.allies[0] for remark in shared) > 10


def test_what_is_told_is_the_hand_that_is_left(evening: Evening) -> None:
    said_by = {entry.number: entry.talk for entry in evening.game.entries}
    report: dict[int, list[str]] = {}
    checked = 0
    for step in evening.game.steps():
        actor = getattr(step.event, "actor", -1)
        if isinstance(step.event, m.Dahai) and actor in report:
            assert report.pop(actor) == list(tile_names(step.table.view(actor).tiles))
            checked += 1
        for seat, output in said_by[step.number]:
            remark = parse_remark(output)
            report[seat] = list(remark.hand) if remark else []
    assert checked > 20


def test_the_board_shows_it_there_and_marks_each_feed(evening: Evening) -> None:
    steps = {step["n"]: step for step in evening.steps()}
    feeds = 0
    for entry, seat, output in remarks(evening.game):
        remark = parse_remark(output)
        assert remark
        assert [seat, remark.parts()] in steps[entry.number]["talk"]
        if feed := remark.feed:
            who, whom = (PAIR[evening.allies.index(one)] for one in (seat, feed.seat))
            text = f"{named(feed.tile)} {feed.purpose}"
            assert steps[entry.number]["feed"].startswith(f"{who} feeds {whom}: {text}")
            assert who != whom
            feeds += 1
    assert feeds


def test_who_sees_one_hand_is_told_what_that_seat_said_and_no_more(evening: Evening) -> None:
    one = evening.allies[0]
    assert {seat for step in evening.steps([one]) for seat, _ in step.get("talk", ())} == {one}
    closed = json.dumps(evening.steps([]))
    assert "talk" not in closed
    assert " to win on" not in closed
    assert " to call" not in closed


def test_a_live_page_without_the_key_is_sent_nothing_of_it(evening: Evening) -> None:
    assert SHARES not in evening.shown["nobody"]
    assert '"talk"' not in evening.shown["nobody"]
    assert f'"talk":[[{evening.allies[0]},' in evening.shown["one"]
    assert f'"talk":[[{evening.allies[1]},' not in evening.shown["one"]
    assert evening.shown["all"].count(SHARES) == len(remarks(evening.game))


def test_no_other_player_hears_of_it(evening: Evening) -> None:
    assert len(evening.stranger) > 100
    for line in evening.stranger:
        assert not set(json.loads(line)) & {"log", "logs", "talk"}
        assert SHARES.encode() not in line and b"purpose" not in line


def test_the_log_of_a_seat_has_what_that_seat_said(evening: Evening) -> None:
    ours = [(seat, output) for _, seat, output in remarks(evening.own_log)]
    assert ours == [(s, output) for _, s, output in remarks(evening.game) if s == evening.allies[0]]
