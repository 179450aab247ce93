"""A person's seat in a real browser."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from msgspec.structs import replace

from mjbot.game.referee import Referee
from mjbot.game.table.actions import Action
from mjbot.game.table.view import View
from mjbot.play.client.play import Hooks, Settings, play
from mjbot.play.server.lobby import TableRules
from mjbot.play.server.server import GameResult, TableServer
from mjbot.protocol.messages import StartGame
from mjbot.protocol.rules import Rules
from mjbot.protocol.transports.address import parse_address
from mjbot.runtime.languages import using_language
from mjbot.viewer.seat import HumanPlayer, SeatServer

KEY = "the key of the seat"
RULES = {players: Rules(length="tonpu", players=players) for players in (3, 4)}
"""Of games that end with the last East: a seat has the target, which is what all start with."""
CLICKER = """() => {
  window.offered = [];
  setInterval(() => {
    const ask = document.getElementById("ask");
    const tiles = [...document.querySelectorAll("#board .mine")];
    const buttons = [...ask.querySelectorAll("button")];
    if (ask.hidden || !(tiles.length + buttons.length)) return;
    const codes = new Set([...tiles, ...buttons].map((one) => Number(one.dataset.code)));
    window.offered.push([...codes].sort((a, b) => a - b));
    const said = (word) => buttons.find((button) => button.textContent.startsWith(word));
    const drawn = tiles.find((tile) => tile.classList.contains("new")) || tiles[0];
    const wish = ["Win", "Kita", "Pon", "Riichi", "Pass"].map(said).find(Boolean) || drawn;
    wish.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  }, 4);
}"""


class Remembering(SeatServer):
    """Keeps what was legal at each question."""

    def __init__(self) -> None:
        super().__init__({"title": "seat", "pace": 0}, KEY)
        self.legal: list[list[int]] = []

    def request_action(self, view: View, clock_s: float) -> Action:
        self.legal.append([action.code for action in view.legal])
        return super().request_action(view, clock_s)


@pytest.mark.parametrize("players", [3, 4])
def test_a_game_is_played_by_hand_and_only_what_is_legal_is_offered(
    opened: Any, serve: Any, sit_raw: Any, players: int
) -> None:
    rules = replace(RULES[players], target_points=RULES[players].start_points)
    rooms = {"person": (0,), "default": tuple(range(1, players))}

    async def game(server: Remembering) -> GameResult:
        async with TableServer(TableRules(seed=315, rules=rules), rooms) as table:
            port = await table.open_tcp("127.0.0.1", 0)
            address = parse_address(f"mjsonp://127.0.0.1:{port}/person")
            own = Settings(address, name="human", deadline_s=20.0, on_event=server.add)
            hooks = Hooks(warm_up=lambda: None)
            playing = asyncio.gather(
                play(own, lambda game: HumanPlayer(server, 20.0), hooks=hooks),
                *[sit_raw(port, f"other-{n}", []) for n in range(1, players)],
            )
            (result,) = [result async for result in table.play(1)]
            await playing
        return result

    server = serve(Remembering)
    page = opened.open(server.url(KEY))
    page.wait_for_selector("body[data-connected=true]")
    page.evaluate(CLICKER)
    result = serve.run(game(server))
    assert not result.void
    assert not result.faults
    offered = page.evaluate("window.offered")
    assert offered == server.legal
    assert len(offered) > 50
    kyoku = page.locator("#kyoku option").all_inner_texts()
    assert [name for name in kyoku if name.startswith(f"East {players}")]
    assert page.locator("#board > [id^=river]").count() == players
    page.wait_for_selector("#result:not([hidden])")
    assert "1. " in page.locator("#result").inner_text()


def test_a_seat_is_in_the_language_of_the_player(opened: Any, serve: Any) -> None:
    referee = Referee(5, "tonpu")
    events = [StartGame(names=("a", "b", "c", "d")), *referee.start()]
    view = referee.view(0)

    async def add(server: SeatServer) -> None:
        for event in events:
            if not isinstance(event, StartGame) or event is events[0]:
                server.add(event)

    with using_language("ja"), ThreadPoolExecutor(1) as pool:
        server = serve(lambda: SeatServer({"title": "seat", "pace": 0}, KEY))
        page = opened.open(server.url(KEY), viewport={"width": 390, "height": 844})
        page.wait_for_selector("body[data-connected=true]")
        serve.run(add(server))
        answer = pool.submit(server.request_action, view, 60.0)
        page.wait_for_selector("#ask:not([hidden])")
        assert "手牌から一枚切る" in page.locator("#ask").inner_text()
        assert "東1局" in page.locator("#board").text_content()
        assert page.locator("#event").inner_text().startswith("a ツモ")
        page.locator("#ask .tile").first.click()
        assert answer.result(30).is_discard
