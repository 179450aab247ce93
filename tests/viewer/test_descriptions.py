"""What the page says of a win is what the record says of it, and what the table knows."""

from pathlib import Path

import msgspec
import pytest

from mjbot.game.records.sources import open_games
from mjbot.game.table.mirror.mirror import Mirror
from mjbot.game.table.state import State, copy_state
from mjbot.protocol.messages import Hora
from mjbot.viewer.descriptions import win_of

LOGS = sorted((Path(__file__).parents[2] / "logs").glob("*.mjson"))


@pytest.fixture(scope="module")
def wins() -> list[tuple[Hora, State]]:
    """Every win of the sample games, with the table after it."""
    found = []
    for log in LOGS:
        (game,) = open_games(log)
        table = Mirror()
        for entry in game.entries:
            table.apply(entry.event)
            if isinstance(entry.event, Hora):
                found.append((entry.event, copy_state(table.state)))
    return found


def test_a_win_is_valued_as_the_record_values_it(wins: list[tuple[Hora, State]]) -> None:
    in_riichi = 0
    for event, state in wins:
        report = win_of(state, event)
        assert (report["seat"], report["from"], report["tile"]) == (
            event.actor,
            event.target,
            event.pai,
        )
        assert (report["fu"], report["han"]) == (event.fu, event.fan)
        assert sum(han for _, han in report["yaku"]) == event.fan
        assert (report["limit"] != "") == (report["han"] >= 5)
        in_riichi += bool(state["riichi"][event.actor])
    assert in_riichi >= 2 and len(wins) > 15


def test_a_riichi_win_whose_ura_dora_are_unknown_is_shown_as_the_event_has_it(
    wins: list[tuple[Hora, State]],
) -> None:
    for event, state in wins:
        unknown = msgspec.structs.replace(event, uradora_markers=None, fu=25, fan=9)
        report = win_of(state, unknown)
        if state["riichi"][event.actor]:
            assert (report["fu"], report["han"], report["limit"]) == (25, 9, "")
        else:
            assert (report["fu"], report["han"]) == (event.fu, event.fan)
