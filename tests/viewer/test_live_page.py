"""A table that is being played, in a real browser."""

from typing import Any

from mjbot.viewer.library import ReadGame
from mjbot.viewer.live import LiveServer


def test_the_page_follows_winds_back_and_comes_back(
    opened: Any, serve: Any, short_game: ReadGame
) -> None:
    events = [entry.event for entry in short_game.entries]
    place = "document.body.dataset.place"

    def make() -> LiveServer:
        return LiveServer({"title": "table"})

    def play(server: LiveServer, start: int, stop: int) -> None:
        async def add() -> None:
            for event in events[start:stop]:
                server.add(event)

        serve.run(add())

    first = serve(make)
    play(first, 0, 40)
    page = opened.open(first.url())
    page.wait_for_selector("body[data-place='0/38']")
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    assert page.evaluate(place) == "0/33"
    play(first, 40, 60)
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#slider[max='58']", state="attached")
    assert page.evaluate(place) == "0/34"
    assert page.locator("#follow").inner_text() == "Follow"
    page.keyboard.press("l")
    page.wait_for_selector("body[data-place='0/58']")
    assert page.locator("#hand0 use[data-tile='?']").count() >= 13

    opened.loses_lines = True
    serve.run(first.__aexit__())
    page.wait_for_selector("body[data-connected=false]")
    second = serve(make, first.port)
    play(second, 0, 70)
    page.wait_for_selector("body[data-place='0/68']")
    page.wait_for_selector("body[data-connected=true]")
