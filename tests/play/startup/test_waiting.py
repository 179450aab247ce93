"""What a terminal shows while a first start compiles."""

import io

from rich.console import Console

from mjbot.game.table.mirror.mirror import Mirror
from mjbot.play.startup.waiting import _WINDS, EVENT_S, LAST_S, SHOWN, _events, _frames, scene
from mjbot.runtime.progress import progress
from protocol.messages import Dahai, Hora, Tsumo
from protocol.tiles import N_KINDS, TILE_BY_NAME, TILE_NAMES, tile_kind


def test_it_is_the_table_of_the_record():
    """Against our own table, which replays the same events."""
    table = Mirror(SHOWN)
    frames = iter(_frames())
    for event in _events():
        table.apply(event)
        if not isinstance(event, Tsumo | Dahai | Hora):
            continue
        head, *seats, hand, _ = next(frames).splitlines()
        view = table.view(SHOWN)
        assert head.endswith(f", {view.wall_left} left")
        kinds = [tile_kind(TILE_BY_NAME[name]) for name in hand.split()[2:]]
        assert [kinds.count(kind) for kind in range(N_KINDS)] == list(view.hand)
        for seat, row in enumerate(seats):
            wind, score, *river = row.split()
            assert wind == _WINDS[view.seat_wind(seat)]
            if not isinstance(event, Hora):
                assert int(score.replace(",", "")) == view.scores[seat]
            if view.riichi(seat):
                assert river.pop(0) == "riichi"
            assert river == [TILE_NAMES[tile] for tile in view.river(seat)]
    assert next(frames, None) is None


def test_it_shows_what_comes_next_and_starts_anew_at_the_end():
    last = EVENT_S * len(_frames())
    assert scene(0.0) == scene(last + LAST_S) == _frames()[0]
    assert scene(last + LAST_S / 2) == _frames()[-1]
    assert "North draws 1s and wins 7,300" in _frames()[-2]
    named = [text.splitlines()[-1] for text in _frames()]
    discards = [event for event in _events() if isinstance(event, Dahai) and event.actor == SHOWN]
    shown = [text.split()[-1] for text in named if "North discards" in text]
    riichi = [text for text in named if text == "next: North declares riichi"]
    assert len(shown) + len(riichi) == len(discards)


def test_it_is_shown_on_a_terminal_with_room_for_it_and_in_no_file():
    texts = []
    for is_terminal, height in ((True, 30), (True, 6), (False, 30)):
        paper = io.StringIO()
        console = Console(file=paper, force_terminal=is_terminal, width=100, height=height)
        with progress(console, "compiling", 10, "functions", scene=scene) as step:
            step()
        texts.append("a recorded game" in paper.getvalue())
    assert texts == [True, False, False]
