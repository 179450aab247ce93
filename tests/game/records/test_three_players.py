"""Games of three players as mjlog: written, read, and refused where four are played."""

from pathlib import Path

import pytest

from mjbot.game.records.game import ForeignRecordError
from mjbot.game.records.mjlog import read_mjlog, scan_elements
from mjbot.game.records.mjlog_writer import write_mjlog
from mjbot.game.records.sources import games_of, list_sources
from mjbot.game.table.mirror.mirror import Mirror, TableError
from protocol import messages as m
from protocol.rules import Rules
from protocol.tenhou.calls import Call, decode_call, encode_call
from tests.game.records.formats import events_of, first_kyoku, report, reread_mjlog
from tests.game.referee.scripted import random_game

THREE = Rules(players=3)


def read(document: bytes) -> list[m.Event]:
    return [entry.event for entry in read_mjlog(document, "game")]


@pytest.mark.parametrize("seed", range(3))
def test_a_game_at_random_comes_back(seed: int) -> None:
    game = report(random_game(seed, THREE))
    again = reread_mjlog(game)
    assert events_of(again) == events_of(game)
    assert again.rules == game.rules == THREE


def test_a_robbed_kita_as_tenhou_writes_it(scripted) -> None:
    """The tags of a ranked table: type 185, an empty fourth seat, the kita among the calls."""
    hands = ["4z147p147s123567z", "1133557799p11s4z"]
    played = scripted(hands, dora="6z", rules=THREE).do(0, "kita").do(1, "ron")
    document = write_mjlog(first_kyoku(played)).decode()
    elements = {element.name: element for element in scan_elements(document.encode(), "game")}
    assert elements["GO"]["type"] == "25"
    assert elements["INIT"]["hai3"] == ""
    assert elements["INIT"]["ten"] == "350,350,350,0"
    kita = decode_call(int(elements["N"]["m"]), players=3)
    assert (kita.kind, kita.tile // 4) == ("kita", 30)
    assert elements["AGARI"]["machi"] == str(kita.tile)
    assert elements["AGARI"]["sc"] == "350,-16,350,16,350,0,0,0"
    ranked = document.replace('type="25"', 'type="185"').replace(
        "<TAIKYOKU", '<UN n0="a" n1="b" n2="c" n3="" dan="16,16,17,0"/><TAIKYOKU', 1
    )
    mirror = Mirror()
    for event in read(ranked.encode()):
        mirror.apply(event)
    assert mirror.state["kita"].tolist() == [1, 0, 0, 0]


def test_the_codes_of_kita() -> None:
    for tile, code in zip(range(120, 124), (30752, 31008, 31264, 31520), strict=True):
        assert encode_call(Call("kita", 0, tile, (tile,))) == code
    for code, players, problem in ((30752, 4, "north call"), (0x1020, 3, "is no kita: tile 16")):
        with pytest.raises(ValueError, match=problem):
            decode_call(code, players)


def test_a_reader_of_four_players_refuses_it_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a.mjlog"
    path.write_bytes(write_mjlog(report(random_game(0, THREE))))
    (source,) = list_sources(path)
    (game,) = games_of(source, players=(3, 4))
    assert sum(isinstance(entry.event, m.Kita) for entry in game.entries) > 0
    (game,) = games_of(source)
    with pytest.raises(ForeignRecordError, match="is a three-player game"):
        list(game.entries)


def test_a_clients_table_refuses_three_players() -> None:
    start = m.StartGame(id=0, mjbot_rules=THREE.announced)
    with pytest.raises(TableError, match="players: 3 is not implemented"):
        Mirror(seat=0).apply(start)
    spectator = Mirror()
    spectator.apply(start)
    assert spectator.state["scores"].tolist() == [35_000] * 3 + [0]
