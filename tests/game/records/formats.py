"""Games of our own table written in another format and read again."""

import dataclasses
import io
import json
from collections.abc import Iterable
from typing import Any

import msgspec

from mjbot.game.records.complete import CompleteGame, complete
from mjbot.game.records.game import Entry, Game
from mjbot.game.records.mahjong_soul.reader import read_mahjong_soul
from mjbot.game.records.mjlog import Element, read_mjlog, scan_elements
from mjbot.game.records.mjlog_writer import write_mjlog
from mjbot.game.records.tenhou6.reader import read_tenhou6
from mjbot.game.records.tenhou6.writer import write_tenhou6
from mjbot.protocol import messages as m
from mjbot.protocol.masking import masked
from mjbot.protocol.rules import Length, Rules
from mjbot.protocol.tenhou import tags
from mjbot.protocol.tenhou.calls import Call, decode_call
from mjbot.protocol.tenhou.client import TenhouClient
from mjbot.protocol.tenhou.codec import SERVER_TAGS, Spelling, TagReader
from mjbot.protocol.tenhou.game_type import game_type
from mjbot.protocol.tenhou.login import Login, TableType
from mjbot.protocol.tenhou.server import TenhouServer
from mjbot.protocol.tenhou.table import SeatTable
from mjbot.protocol.tiles import TILE_BY_NAME, tile_kind
from tests.game.records import soul_form
from tests.game.referee import scripted
from tests.game.referee.test_random_games import play
from tests.protocol.tenhou.face_to_face import plain


def report(events: Iterable[m.Event]) -> CompleteGame:
    """Return a game of these events, complete."""
    return complete(Game("own", "line", [Entry(at, event) for at, event in enumerate(events, 1)]))


def game_of_three(seed: int = 3, length: Length = "tonpu") -> Game:
    """Return a game of three players at random."""
    rules = Rules(players=3, length=length)
    return Game("three", "line", report(scripted.random_game(seed, rules)).entries)


def first_kyoku(game: scripted.Game) -> CompleteGame:
    """Return the first kyoku of a scripted game, played to its end, and the end of the game."""
    game.finish_kyoku()
    names = game.names()
    last = names.index("EndKyoku") + 1
    last += names[last : last + 1] == ["EndGame"]
    return report(game.events[:last])


def reread_mjlog(game: CompleteGame) -> CompleteGame:
    return complete(Game("written", "tag", read_mjlog(write_mjlog(game), "written")))


def stream(data: bytes) -> io.BufferedReader:
    return io.BufferedReader(io.BytesIO(data))


def reread_tenhou6(game: CompleteGame) -> CompleteGame:
    (again,) = read_tenhou6(stream(write_tenhou6(game)), "written")
    return complete(again)


def reread_mahjong_soul(game: CompleteGame) -> CompleteGame:
    data = json.dumps(soul_form.record(game)).encode()
    (again,) = read_mahjong_soul(stream(data), None, "written")
    start, *others = again.entries
    rules = game.rules.announced  # the site's own ones do not have all draws
    start = start._replace(event=msgspec.structs.replace(start.event, mjbot_rules=rules))
    return complete(dataclasses.replace(again, entries=[start, *others]))


def hand_order(name: str) -> tuple[int, bool]:
    return tile_kind(TILE_BY_NAME[name]), name.endswith("r")


def events_of(game: CompleteGame, in_order: bool = False) -> list[tuple[m.Event, Any]]:
    """Return events and win records; ``in_order`` sorts the dealt hands, as tenhou.net/6 does."""
    entries = []
    for entry in game.entries:
        event = entry.event
        if in_order and isinstance(event, m.StartKyoku):
            hands = tuple(tuple(sorted(hand, key=hand_order)) for hand in event.tehais)
            fields = {name: getattr(event, name) for name in event.__struct_fields__}
            event = m.StartKyoku(**fields | {"tehais": hands})
        entries.append((event, entry.win))
    return entries


def check_round_trips(game: CompleteGame) -> None:
    """The game comes back from every format as it was, and over the wire to each seat."""
    assert events_of(reread_mjlog(game)) == events_of(game)
    assert events_of(reread_mahjong_soul(game)) == events_of(game)
    assert events_of(reread_tenhou6(game), in_order=True) == events_of(game, in_order=True)
    for seat in range(4):
        for spelling in Spelling:
            check_wire(game, seat, spelling)


def check_wire(game: CompleteGame, seat: int, spelling: Spelling) -> None:
    """A server session tells the game to a client session, which hears what the seat may see."""
    report = [masked(entry.event, seat) for entry in game.entries]
    report[0] = m.StartGame(id=seat, names=("a", "b", "c", "d"), mjbot_rules=game.rules.announced)
    if not isinstance(report[-1], m.EndGame):  # a hand's result is told with what follows it
        report.append(m.EndGame(scores=report[-2].scores))
    rules = game_type(game.rules)
    server, client = TenhouServer(spelling), TenhouClient(Login(), TableType(0, rules), spelling)
    seen: list[m.Event] = []
    wins: list[list[str | None]] = []
    reader = TagReader(spelling, SERVER_TAGS)

    def to_client(frames: Iterable[bytes]) -> None:
        for frame in frames:
            wins.extend(_value(tag) for tag in reader.feed(frame) if isinstance(tag, tags.WinTag))
            received = client.receive(frame)
            seen.extend(received.events)
            to_server(received.frames)

    def to_server(frames: Iterable[bytes]) -> None:
        for frame in frames:
            to_client(server.receive(frame).frames)

    to_server(client.open())
    to_client(server.welcome("x"))
    server.sit(SeatTable(seat, rules))
    for event in report:
        to_client(server.send(event))
    assert [plain(event) for event in seen] == [plain(event) for event in report]
    told_wins = [tag.attributes for tag in tags_of(game, "AGARI")]
    assert wins == [[win.get(name) for name in VALUE] for win in told_wins]


VALUE = ("ba", "ten", "yaku", "yakuman")


def _value(win: tags.WinTag) -> list[str | None]:
    numbers = [getattr(win, name) for name in VALUE]
    return [None if some is None else ",".join(map(str, some)) for some in numbers]


def tags_of(game: CompleteGame, name: str = "") -> list[Element]:
    tags = scan_elements(write_mjlog(game), "written")
    return [tag for tag in tags if not name or tag.name == name]


def calls_of(game: CompleteGame) -> list[Call]:
    return [decode_call(tag.integers("m")[0]) for tag in tags_of(game, "N")]


def hand_of(game: CompleteGame) -> list[Any]:
    """Return the first hand of the game as tenhou.net/6 has it."""
    return json.loads(write_tenhou6(game))["log"][0]


def random_game(seed: int, writer: Any = None) -> CompleteGame:
    """Return a game of oddly assorted players; ``writer`` arranges its first wall."""
    events: list[m.Event] = []
    play(seed, lambda _, new: events.extend(new), writer)
    return report(events)
