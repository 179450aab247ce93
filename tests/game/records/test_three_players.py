"""Records of three players: written, read, and refused where four are played."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mjbot.cli.main import main
from mjbot.game.records.complete import CompleteGame, complete
from mjbot.game.records.game import ForeignRecordError, Game
from mjbot.game.records.mjai_log import log_line, read_mjai_log
from mjbot.game.records.mjlog import read_mjlog, scan_elements
from mjbot.game.records.mjlog_writer import write_mjlog
from mjbot.game.records.sources import games_of, list_sources
from mjbot.game.records.tenhou6.reader import read_tenhou6
from mjbot.game.records.tenhou6.writer import write_tenhou6
from mjbot.game.records.writers import FORMATS
from mjbot.game.table.mirror.mirror import Mirror
from mjbot.protocol import messages as m
from mjbot.protocol.rules import Rules
from mjbot.protocol.tenhou.calls import Call, decode_call, encode_call
from mjbot.runtime.errors import ExitCode
from tests.game.records.formats import (
    events_of,
    first_kyoku,
    report,
    reread_mahjong_soul,
    reread_mjlog,
    reread_tenhou6,
    stream,
)
from tests.game.referee.scripted import random_game

THREE = Rules(players=3)


def read(document: bytes) -> list[m.Event]:
    return [entry.event for entry in read_mjlog(document, "game")]


@pytest.mark.parametrize("seed", range(3))
def test_a_game_at_random_comes_back(seed: int) -> None:
    game = report(random_game(seed, THREE))
    for reread in (reread_mjlog, reread_tenhou6, reread_mjai, reread_mahjong_soul):
        again = reread(game)
        in_order = reread is reread_tenhou6
        assert events_of(again, in_order) == events_of(game, in_order)
        assert again.rules == game.rules == THREE


def test_a_record_of_mahjong_soul_names_what_a_missing_player_would_pay() -> None:
    rules = Rules(players=3, tsumo_loss=False)
    game = report(random_game(2, rules))
    assert any(e.win and e.win.winner == e.win.source for e in game.entries)
    again = reread_mahjong_soul(game)
    assert events_of(again) == events_of(game)
    assert again.rules == rules


def reread_mjai(game: CompleteGame) -> CompleteGame:
    entries = FORMATS["mjai"].encode(Game("own", "line", game.entries))
    (again,) = read_mjai_log(stream(entries), "written")
    return complete(again)


def padded(fields: dict[str, Any], points: int) -> dict[str, Any]:
    """The fourth place filled: hands of ``?``, points of its own."""
    empty = {"tehais": ["?"] * 13, "scores": points, "deltas": 0, "tenpais": False, "names": ""}
    return fields | {name: [*fields[name], empty[name]] for name in empty.keys() & fields.keys()}


def nukidora(fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "nukidora"} if fields["type"] == "kita" else fields


DIALECTS = {
    "RiichiEnv": lambda fields: fields,
    "four places": lambda fields: padded(fields, 35_000),
    "Mortal's descendants": nukidora,
    "hosted": lambda fields: fields | {"num_players": 3} if "names" in fields else fields,
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_of_mjai_is_the_same_game(dialect: str) -> None:
    game = report(random_game(1, THREE))
    lines = FORMATS["mjai"].encode(Game("own", "line", game.entries)).splitlines()
    messages = [DIALECTS[dialect](json.loads(line)) for line in lines]
    assert len(messages[1]["scores"]) == (4 if dialect == "four places" else 3)
    messages[0].pop("mjbot_rules")
    written = b"\n".join(json.dumps(message).encode() for message in messages)
    (again,) = read_mjai_log(stream(written), "written")
    assert events_of(complete(again)) == events_of(game)


def without_a_fourth_place(document: dict[str, Any]) -> None:
    document["name"] = document["name"][:3]
    for hand in document["log"]:
        del hand[13:16]
        hand[1] = hand[1][:3]
        hand[-1] = [part[:3] if isinstance(part, list) else part for part in hand[-1]]


def as_tensoul(
    document: dict[str, Any], room: str = "3玉の間赤", tsumo_dora: str = "抜きドラ"
) -> None:
    """Name the room without a length, count the dora of kita apart, compute payments."""
    document["rule"] = {"disp": room, "aka53": 1, "aka52": 1, "aka51": 0}
    document |= {"ratingc": "PF3", "lobby": 0, "dan": ["雀傑★1"] * 3 + [""], "rate": [0.5] * 4}
    for hand in document["log"]:
        hand[-1][1::2] = [[float(points) for points in deltas] for deltas in hand[-1][1::2]]
        for win in hand[-1][2::2]:
            dora = [text for text in win if re.fullmatch(r"ドラ\(\d飜\)", str(text))]
            for text in dora:
                others = [f"ドラ({int(text[3]) - 1}飜)"] * (text[3] != "1")
                win[win.index(text) :] = [
                    *others,
                    f"{tsumo_dora}(1飜)",
                    *win[win.index(text) + 1 :],
                ]


def in_english(document: dict[str, Any]) -> None:
    as_tensoul(document, "Jade Room Red Fives", "Kita")
    names = {"流局": "Exhaustive Draw", "流し満貫": "Mangan at Draw"}
    for hand in document["log"]:
        hand[-1][0] = names.get(hand[-1][0], hand[-1][0])


@pytest.mark.parametrize("write", [without_a_fourth_place, as_tensoul, in_english])
def test_tenhou6_as_exporters_write_it(write: Callable[[dict[str, Any]], None]) -> None:
    game = report(random_game(3, THREE))
    document = json.loads(write_tenhou6(game))
    write(document)
    (again,) = read_tenhou6(stream(json.dumps(document).encode()), "written")
    again = complete(again)
    assert again.rules.players == 3
    assert events_of(again, in_order=True)[1:] == events_of(game, in_order=True)[1:]


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


@pytest.mark.parametrize("length", ["tonpu", "hanchan", None])
def test_of_a_table_that_does_not_announce_its_length_it_is_expected(length) -> None:
    table = Mirror(seat=0, length=length)
    table.apply(m.StartGame(id=0, mjbot_rules={"players": 3}))
    assert table.state["scores"].tolist() == [35_000] * 3 + [0]
    assert table.state["rules"]["last_round"] == (2 if length == "tonpu" else 6)


def test_a_seat_that_three_players_do_not_have_is_refused_with_their_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game = report(random_game(3, THREE))
    record = tmp_path / "game.mjson"
    record.write_bytes(FORMATS["mjai"].encode(Game("own", "line", game.entries)))
    for command in ("review", "explain"):
        assert main([command, str(record), "--seat", "3"]) == ExitCode.BAD_ARGUMENTS
        assert "--seat 3: the seats of 3 players are 0 to 2" in capsys.readouterr().err
    lines = record.read_text().splitlines()
    at = next(n for n, line in enumerate(lines) if '"start_kyoku"' in line)
    deal = {**json.loads(lines[at]), "oya": 3, "kyoku": 4}
    record.write_text("\n".join([*lines[:at], json.dumps(deal)]) + "\n")
    assert main(["replay", str(record)]) == ExitCode.FAILED
    assert "oya is 3, but 3 play: seats 0 to 2" in capsys.readouterr().err


def test_the_remarks_of_a_line_are_those_of_three_seats() -> None:
    line = json.loads(log_line(m.EndKyoku(), [(2, "well played")], 3))
    assert line["logs"] == [None, None, "well played"]
