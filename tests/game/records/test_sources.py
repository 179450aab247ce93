import gzip
import itertools
import os
import tracemalloc
import warnings
import zipfile
from pathlib import Path

import pytest

from mjbot.game.records.game import RecordError
from mjbot.game.records.mjai_log import MAX_GAME_BYTES, EventLog, log_line
from mjbot.game.records.sources import games_of, list_sources, open_games
from mjbot.game.records.writers import FORMATS
from mjbot.protocol.messages import Dahai, EndGame, EndKyoku, StartGame, Tsumo

LINES = b"""\
{"type":"start_game","names":["start_game","b","c","d"]}
{"type":"tsumo","actor":0,"pai":"1m"}

[{"type":"dahai","actor":0,"pai":"1m","tsumogiri":true},{"type":"end_kyoku"}]
{"type":"end_game"}
"""
LOG = Path(__file__).parents[3] / "logs" / "east-four-winds.mjson"
GIANT = (b'{"type":"tsumo","actor":0,"pai":"1m","x":"' + b"x" * 100_000 + b'"}\n') * 200
BLANKS = (b" " * 1023 + b"\n") * (1 << 14)


def first_events(path: Path) -> list[str]:
    """Return each game as ``name: number of events``, the folder of ``path`` cut off."""
    cut = len(str(path.parent)) + 1
    return [f"{game.name[cut:]}: {len(list(game.entries))}" for game in open_games(path)]


def damage(path: Path) -> str:
    with pytest.raises(RecordError) as caught:
        for game in open_games(path):
            list(game.entries)
    return str(caught.value)


def test_what_a_file_is_follows_from_its_content(tenhou, tmp_path: Path) -> None:
    mjlog = tenhou.small_game()
    for name, data in {
        "a.anything": mjlog,
        "b": gzip.compress(mjlog),
        "c.txt": b"\xef\xbb\xbf \n" + LINES,
        "d.mjlog": gzip.compress(LINES),
    }.items():
        (tmp_path / name).write_bytes(data)
    assert first_events(tmp_path / "a.anything") == ["a.anything: 8"]
    assert first_events(tmp_path / "b") == ["b: 8"]
    assert first_events(tmp_path / "c.txt") == ["c.txt: 5"]
    assert first_events(tmp_path / "d.mjlog") == ["d.mjlog: 5"]


def test_zip_and_folder_hold_any_mixture(tenhou, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    with zipfile.ZipFile(folder / "deep" / "games.zip", "w") as archive:
        archive.writestr("z.mjlog", tenhou.small_game())
        archive.writestr("README.txt", "not a record")
        archive.writestr("sub/a.jsonl.gz", gzip.compress(LINES))
    (folder / "b.mjson").write_bytes(LINES)
    (folder / "notes.md").write_text("not a record")
    assert first_events(folder) == [
        "folder/b.mjson: 5",
        "folder/deep/games.zip/z.mjlog: 8",
        "folder/deep/games.zip/sub/a.jsonl.gz: 5",
    ]


def test_two_members_of_one_name_are_both_read(tenhou, tmp_path: Path) -> None:
    path = tmp_path / "games.zip"
    with zipfile.ZipFile(path, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns of the name
        archive.mkdir("a.mjson")
        archive.writestr("a.mjson", LINES)
        archive.writestr("a.mjson", tenhou.small_game())
        archive.writestr("b.mjson", LINES)
    assert first_events(path) == [
        "games.zip/a.mjson: 5",
        "games.zip/a.mjson (2): 8",
        "games.zip/b.mjson: 5",
    ]


@pytest.mark.parametrize("lines", [1, 100, 2200])
def test_a_record_behind_many_blanks_is_read(tenhou, tmp_path: Path, lines: int) -> None:
    blanks = (b" " * 999 + b"\n") * lines
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, data in {
        "a.mjson": LINES,
        "b.mjlog": b"<?xml version='1.0'?>" + tenhou.small_game(),
        "c.mjson.gz": LINES,
        "d.json": FORMATS["tenhou6"].encode(next(open_games(LOG))),
    }.items():
        padded = blanks + data
        (folder / name).write_bytes(gzip.compress(padded) if name.endswith(".gz") else padded)
    found = first_events(folder)
    assert found[:3] == ["folder/a.mjson: 5", "folder/b.mjlog: 8", "folder/c.mjson.gz: 5"]
    assert found[3].startswith("folder/d.json: ")
    (folder / "a.mjson").write_bytes(blanks + LINES[:-8])
    assert f"line {lines + 5}: line: not JSON" in damage(folder / "a.mjson")


def test_more_blanks_than_a_game_may_have_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "blank.mjson.gz"
    path.write_bytes(gzip.compress(b" " * (MAX_GAME_BYTES + (1 << 17)) + LINES))
    assert f"begins with more than {MAX_GAME_BYTES} blanks" in damage(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in folders")
def test_a_pipe_or_device_in_a_folder_is_named_and_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.mjlog")
    (tmp_path / "b.json").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "channel")
    (tmp_path / "c.mjson").write_bytes(LINES)
    sources = list_sources(tmp_path)
    assert [source.path.name for source in sources] == ["a.mjlog", "b.json", "c.mjson"]
    for source in sources[:2]:
        with pytest.raises(RecordError, match=f"{source.path.name}: is a pipe or a device"):
            list(games_of(source))
    assert len(list(games_of(sources[2]))) == 1


def test_a_log_of_several_games_is_cut_at_each_start(tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    path.write_bytes(b'{"type":"hello"}\n' + 3 * LINES)
    games = list(open_games(path))
    names = [game.name for game in games]
    assert names == [str(path), f"{path}#2", f"{path}#3"]
    # The games were not walked while the file was read; they still are whole.
    numbers = [[entry.number for entry in game.entries] for game in games]
    assert numbers == [[2, 3, 5, 5, 6], [7, 8, 10, 10, 11], [12, 13, 15, 15, 16]]


def test_entries_and_places(tmp_path: Path) -> None:
    path = tmp_path / "one.mjson"
    path.write_bytes(LINES)
    (game,) = open_games(path)
    entries = list(game.entries)
    assert [entry.event for entry in entries] == [
        StartGame(names=("start_game", "b", "c", "d")),
        Tsumo(actor=0, pai="1m"),
        Dahai(actor=0, pai="1m", tsumogiri=True),
        EndKyoku(),
        EndGame(),
    ]
    assert game.place(entries[-1].number) == "line 5"


def test_messages_that_are_no_events_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(
        b'{"type":"hello"}\n{"type":"start_game"}\n{"type":"none"}\n{"type":"something_new"}\n'
        b'{"type":"end_game"}\n{"type":"error","message":"\\"start_game\\""}\n'
    )
    assert first_events(path) == ["log: 2"]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "is empty"),
        (b"hello", "is no record of a game"),
        (b"PK\x03\x04 and no more", "damaged zip"),
        (gzip.compress(LINES, mtime=0)[:40], "damaged archive"),
        (gzip.compress(LINES, mtime=0)[:-6] + b"\0\0\0\0\0\0", "damaged archive"),
        (LINES[:-8], "line 5: line: not JSON"),
        (LINES.replace(b'"1m"', b'"0m"', 1), "line 2: tsumo.pai"),
        (LINES + b"{" + b" " * (1 << 20), "line 6: longer than"),
        (b"<mjloggm>" + b" " * (1 << 20), "longer than 1048576 bytes"),
        (LINES + GIANT, "no game ends within 16777216 bytes"),
        (gzip.compress(LINES + GIANT), "no game ends within 16777216 bytes"),
        (gzip.compress(LINES + BLANKS), "no game ends within 16777216 bytes"),
    ],
    ids=itertools.count(),  # not the bytes: megabytes, some of them with the time of day
)
def test_damage_is_named(tmp_path: Path, data: bytes, problem: str) -> None:
    path = tmp_path / "bad"
    path.write_bytes(data)
    output = damage(path)
    assert output.startswith(str(path))
    assert problem in output
    assert len(output) < 400


def test_damage_inside_a_zip_spares_the_others(tenhou, tmp_path: Path) -> None:
    path = tmp_path / "games.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(3):
            archive.writestr(f"{number}.mjlog", tenhou.small_game(number))
    data = bytearray(path.read_bytes())
    data[data.index(b"mjloggm", data.index(b"1.mjlog"))] ^= 1  # its checksum fails now
    path.write_bytes(data)
    counts = []
    for source in list_sources(path):
        try:
            counts.append(sum(1 for game in games_of(source) for _ in game.entries))
        except RecordError as error:
            counts.append(str(error))
    assert counts[0] == counts[2] == 8
    assert counts[1].startswith(f"{path}/1.mjlog: damaged archive")


def test_encrypted_members_are_named(tenhou, tmp_path: Path) -> None:
    path = tmp_path / "games.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.mjlog", tenhou.small_game())
    data = bytearray(path.read_bytes())
    for header, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(header) + offset] |= 1
    path.write_bytes(data)
    assert damage(path) == f"{path}/a.mjlog: is encrypted"


def test_what_runs_left_in_a_folder_is_read_only_if_it_is_named(tmp_path: Path) -> None:
    run = tmp_path / "logs" / "runs" / "2026-11-22-033000"
    run.mkdir(parents=True)
    (run / "game.mjson").write_bytes(LINES)
    assert damage(tmp_path / "logs").endswith("logs: holds no records outside runs/")
    (tmp_path / "logs" / "kept.mjson").write_bytes(LINES)
    assert first_events(tmp_path / "logs") == ["logs/kept.mjson: 5"]
    assert first_events(tmp_path) == [f"{tmp_path.name}/logs/kept.mjson: 5"]
    assert first_events(run.parent) == ["runs/2026-11-22-033000/game.mjson: 5"]
    assert first_events(run) == ["2026-11-22-033000/game.mjson: 5"]


def test_json_that_is_no_mjai_log_is_no_record_of_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "games.jsonl").write_bytes(b'{"setup":{"type":"x"}}\n{"wall":0}\n')
    (folder / "hand-paper.json").write_bytes(b'{\n "data": "12 games",\n "seed": 0\n}\n')
    assert damage(folder).endswith("run: holds no records")
    (folder / "a.jsonl").write_bytes(b'{"names":["a","b","c","d"],"type":"start_game"}\n')
    (folder / "b.json").write_bytes(b'[{"type":"start_game"}]')
    assert first_events(folder) == ["run/a.jsonl: 1", "run/b.json: 1"]
    (folder / "c.jsonl").write_bytes(b'{"ty')
    assert "c.jsonl: line 1: line: not JSON" in damage(folder)
    (folder / "c.jsonl").write_bytes(b'{"wall":' + b"1" * 5000)
    assert "c.jsonl: line 1: line: not JSON" in damage(folder)
    (folder / "c.jsonl").unlink()
    assert "games.jsonl: is JSON, but holds no mjai" in damage(folder / "games.jsonl")


def test_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list_sources(tmp_path / "missing")
    (tmp_path / "empty").mkdir()
    assert damage(tmp_path / "empty").endswith("holds no records")
    with zipfile.ZipFile(tmp_path / "empty.zip", "w"):
        pass
    assert damage(tmp_path / "empty.zip").endswith("empty.zip: holds no records")


def peak_memory(path: Path) -> int:
    tracemalloc.start()
    try:
        for game in open_games(path):
            for _ in game.entries:
                pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("packing", ["zip", "gz"])
def test_memory_does_not_grow_with_the_number_of_games(tmp_path: Path, packing: str) -> None:
    turns = [Tsumo(actor=0, pai="1m"), Dahai(actor=0, pai="1m", tsumogiri=True)] * 500
    game = b"".join(map(log_line, (StartGame(), *turns, EndGame())))
    peaks = []
    for count in (2, 20):
        path = tmp_path / f"{count}.{packing}"
        if packing == "gz":
            path.write_bytes(gzip.compress(game * count))
        else:
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                for number in range(count):
                    archive.writestr(f"{number}.jsonl", game)
        peaks.append(peak_memory(path))
    assert peaks[1] < peaks[0] + len(game)


def test_a_packed_giant_is_left_before_it_fills_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "giant.jsonl.gz"
    path.write_bytes(gzip.compress(GIANT * 5, compresslevel=1))  # 100 MB in one game
    tracemalloc.start()
    assert "no game ends within" in damage(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * MAX_GAME_BYTES


def test_a_record_of_exactly_the_most_bytes_is_read(
    tenhou, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = {"a.mjlog": tenhou.small_game(), "b.mjson": LINES}
    limits = {
        "a.mjlog": ("mjbot.game.records.sources.MAX_MJLOG_BYTES", "longer than"),
        "b.mjson": ("mjbot.game.records.mjai_log.MAX_GAME_BYTES", "no game ends within"),
    }
    for name, data in contents.items():
        path = tmp_path / name
        path.write_bytes(data)
        limit, problem = limits[name]
        whole = first_events(path)
        monkeypatch.setattr(limit, len(data))
        assert first_events(path) == whole
        monkeypatch.setattr(limit, len(data) - 1)
        assert problem in damage(path)


def test_event_log_holds_every_event_at_once(tmp_path: Path) -> None:
    path = tmp_path / "runs" / "game.mjson"
    events = [StartGame(names=("a", "b", "c", "d")), Tsumo(actor=2, pai="5pr"), EndKyoku()]
    with EventLog(path) as log:
        for count, event in enumerate(events, 1):
            log.write(event)
            (game,) = open_games(path)
            assert [entry.event for entry in game.entries] == events[:count]
    with pytest.raises(ValueError, match="closed"):
        log.write(EndKyoku())


def test_mjlog_survives_the_way_through_lines(tenhou, tmp_path: Path) -> None:
    pon = tenhou.call(2, tenhou.pon_code(19, 16, 2))
    kakan = tenhou.call(2, tenhou.pon_code(19, 16, 2, kakan=True))
    chi = tenhou.call(3, tenhou.chi_code((62, 66, 71), 66))
    ankan = tenhou.call(1, tenhou.kan_code(124, 0))
    daiminkan = tenhou.call(0, tenhou.kan_code(7, 3))
    win = (
        '<AGARI ba="0,1" hai="0,1,99" machi="99" ten="30,64000,5" yakuman="39,42" doraHai="2,3" '
        'doraHaiUra="61,62" who="2" fromWho="0" paoWho="1" sc="250,-320,250,-320,250,650,250,0"/>'
    )
    document = tenhou.mjlog(
        tenhou.deal(), "T60", '<REACH who="0" step="1"/>', "D16",
        '<REACH who="0" ten="240,250,250,250" step="2"/>', pon, "F66", chi, "G7", daiminkan, "T88",
        "<DORA hai='61'/>", "D88", "U124", ankan, "<DORA hai='62'/>", "U125", "E125", "V19", kakan,
        "V99", win, tenhou.deal("1,1,0,1,2,3", oya=1),
        '<RYUUKYOKU type="reach4" ba="0,0" sc="1,0,2,0,-3,0,4,0" hai2="1"/>',
        tenhou.deal("1,2,0,1,2,3", oya=1), tenhou.OVER,
    )  # fmt: skip
    source, lines = tmp_path / "a.mjlog", tmp_path / "a.mjson"
    source.write_bytes(document)
    (game,) = open_games(source)
    events = [entry.event for entry in game.entries]
    lines.write_bytes(b"".join(map(log_line, events)))
    (again,) = open_games(lines)
    assert [entry.event for entry in again.entries] == events
    assert len(events) == 31
