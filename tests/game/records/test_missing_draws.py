"""Strict replay names a draw that should have come, whoever sits where and whatever the format."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mjbot.cli.main import main
from mjbot.game.records.complete import complete
from mjbot.game.records.game import Entry, Game
from mjbot.game.records.mjai_log import log_line
from mjbot.game.records.mjlog_writer import write_mjlog
from mjbot.game.records.tenhou6.writer import write_tenhou6
from mjbot.game.referee import Position
from mjbot.protocol import messages as m
from mjbot.runtime.errors import ExitCode
from tests.game.referee import scripted

URA = ("N",)


class Table:
    """A scripted hand whose seats are counted from the dealer, who may sit anywhere."""

    def __init__(self, hands: list[str], draws: str, dealer: int, **more: str) -> None:
        self.dealer = dealer
        placed = [hands[(seat - dealer) % 4] for seat in range(4)]
        self.game = scripted.Game(placed, draws, position=Position(round=dealer), **more)

    def seat(self, place: int) -> int:
        return (place + self.dealer) % 4

    def until(self, kind: type[m.Event]) -> list[m.Event]:
        """Return the events before the first of a kind."""
        return self.game.events[: self.game.names().index(kind.__name__)]

    def drawn_win(self, place: int, tile: str, ura: tuple[str, ...] | None = None) -> list[m.Event]:
        seat = self.seat(place)
        win = m.Hora(actor=seat, target=seat, pai=tile, uradora_markers=ura)
        return [m.Tsumo(actor=seat, pai=tile), win, m.EndKyoku()]


def four_winds(dealer: int) -> list[m.Event]:
    table = Table(["123456789m99p45s", "", "", ""], "2222z", dealer, dora="7z")
    for place in range(4):
        table.game.discard(table.seat(place), "S")
    return [*table.until(m.Ryukyoku), *table.drawn_win(0, "6s")]


def four_riichi(dealer: int) -> list[m.Event]:
    hands = ["123456789m99p45s", "123456789p99s23m", "123456789s99m23p", "111222333z11m78p"]
    table = Table(hands, "5z6z7z5z", dealer, dora="4z")
    for place, tile in enumerate(("P", "F", "C", "P")):
        table.game.riichi(table.seat(place), tile)
    return [*table.until(m.Ryukyoku), *table.drawn_win(0, "6s", URA)]


def four_kans(dealer: int) -> list[m.Event]:
    hands = ["11112222m345p66s", "11112222p345s66m", "123456789s99m78p", ""]
    table = Table(hands, "3z5z", dealer, rinshan="5z6z6z7z", dora="4443z3z")
    for place in (0, 1):
        seat = table.seat(place)
        table.game.to_turn(seat).do(seat, "ankan").do(seat, "ankan").tsumogiri()
    return [*table.until(m.Ryukyoku), *table.drawn_win(2, "6p")]


WAITING = ["123456789m99p45s", "234678m345s46p22s", "234567m234s46p88s", "345m678s567s46p88m"]


def three_rons(dealer: int) -> list[m.Event]:
    table = Table(WAITING, "5p", dealer, dora="7z")
    table.game.discard(dealer, "5p").together({table.seat(place): "ron" for place in (1, 2, 3)})
    rons = [m.Hora(actor=table.seat(place), target=dealer, pai="5p") for place in (1, 2, 3)]
    return [*table.until(m.Ryukyoku), *rons, m.EndKyoku()]


DRAWS: dict[Callable[[int], list[m.Event]], str] = {
    four_winds: "four equal winds are a draw (docs/rules.md 5.3), but the hand continues;"
    " right with --rules hanchan,",
    four_riichi: "four riichi are a draw (docs/rules.md 5.3), but the hand continues;"
    " right with --rules hanchan,",
    four_kans: "four kans by several seats are a draw (docs/rules.md 5.3), but the hand continues;"
    " right with --rules hanchan,",
    three_rons: "three rons are a draw (docs/rules.md 5.3), but all are paid;"
    " a rule of mahjong-soul: --rules mahjong-soul",
}


def entries(events: list[m.Event]) -> list[Entry]:
    return [Entry(number, event) for number, event in enumerate(events, 1)]


@pytest.mark.parametrize("dealer", range(4))
@pytest.mark.parametrize("made", DRAWS, ids=lambda made: made.__name__)
def test_a_draw_that_did_not_come_is_named(made, dealer: int, tmp_path: Path, capsys) -> None:
    whole = complete(Game("made", "line", entries(made(dealer))))
    lines = b"".join(log_line(entry.event) for entry in whole.entries)
    for name, data in {
        "a.mjson": lines,
        "a.mjlog": write_mjlog(whole),
        "a.json": write_tenhou6(whole),
    }.items():
        path = tmp_path / name
        path.write_bytes(data)
        assert main(["replay", str(path)]) == ExitCode.FAILED
        printed = capsys.readouterr()
        assert DRAWS[made] in printed.err, name
        assert "_draw=no" in printed.err or made is three_rons
        assert "1 mismatch" in printed.out
        assert main(["replay", "--lenient", str(path)]) == ExitCode.OK
        capsys.readouterr()


@pytest.mark.parametrize("dealer", range(4))
@pytest.mark.parametrize("made", DRAWS, ids=lambda made: made.__name__)
def test_the_draw_itself_and_a_record_that_stops_there_are_right(made, dealer, tmp_path) -> None:
    path = tmp_path / "a.mjson"
    played = [event for event in made(dealer) if not isinstance(event, m.Hora)]
    names = [type(event).__name__ for event in played]
    last = len(names) - names[::-1].index("Dahai") + (made is four_riichi)
    path.write_bytes(b"".join(map(log_line, played[:last])))
    assert main(["replay", str(path)]) == ExitCode.OK


@pytest.mark.parametrize("dealer", range(4))
@pytest.mark.parametrize("is_triple", [False, True])
def test_a_stick_paid_for_a_discard_that_is_won_is_named(
    dealer: int, is_triple: bool, tmp_path: Path, capsys
) -> None:
    table = Table(WAITING, "5p", dealer, dora="7z")
    table.game.riichi(dealer, "5p")
    rons = {table.seat(place): "ron" for place in ((1, 2, 3) if is_triple else (1,))}
    table.game.together(rons)
    before = table.until(m.Ryukyoku if is_triple else m.Hora)
    result: m.Event = m.Hora(actor=table.seat(1), target=dealer, pai="5p")
    if is_triple:
        result = m.Ryukyoku(reason="sanchaho")
    path = tmp_path / "a.mjson"
    for stick, status in (([], ExitCode.OK), ([m.ReachAccepted(actor=dealer)], ExitCode.FAILED)):
        events = [*before, *stick, result, m.EndKyoku()]
        whole = complete(Game("made", "line", entries(events)))
        for data in (b"".join(map(log_line, events)), write_mjlog(whole)):
            path.write_bytes(data)
            assert main(["replay", str(path)]) == status
            printed = capsys.readouterr().err
            problem = f"seat {dealer} has paid the stick of a riichi whose discard is won"
            assert (problem in printed) == bool(stick)
            assert ("right where the declaration itself is paid" in printed) == bool(stick)
