"""Records and frames of a bot's games, and how much of them is kept."""

import errno
import json
import os
from functools import partial
from io import FileIO

import pytest

from mjbot.play.kept_games import KeptGames
from mjbot.play.service.files import FRAMES, LOG, GameFiles
from mjbot.protocol.messages import EndGame, StartGame


class Clock:
    now = 1_700_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def kept(tmp_path):
    return KeptGames(tmp_path, "bot.toml")


def played(kept, clock, frames=3, lane=0, begins=True, keep_frames=False, evidence=True):
    files = GameFiles(kept, lane, clock, evidence=evidence)
    for number in range(frames):
        files.frame("<>"[number % 2], b'{"type":"none"}')
    if begins:
        files.keep(StartGame(id=1), ())
        files.keep(EndGame(), [(1, "well played")])
    files.close(keep_frames=keep_frames)
    clock.now += 1


def names(folder):
    """Return the files of a folder but for its ledgers."""
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".ledger")


def test_a_game_has_a_record_and_its_frames(tmp_path, clock, kept):
    played(kept, clock)
    (frames, log) = names(tmp_path)
    assert frames.removesuffix(FRAMES) == log.removesuffix(LOG)
    start, end = map(json.loads, (tmp_path / log).read_text().splitlines())
    assert start == {"type": "start_game", "id": 1}
    assert end["logs"] == [None, "well played", None, None]
    rows = [json.loads(line) for line in (tmp_path / frames).read_text().splitlines()]
    assert rows == [[1_700_000_000.0, each, '{"type":"none"}'] for each in "<><"]


def test_bytes_that_are_no_text_are_kept_readable(tmp_path, clock, kept):
    files = GameFiles(kept, 0, clock, evidence=True)
    files.frame("<", b"\xff{")
    files.close(keep_frames=True)
    (name,) = names(tmp_path)
    assert json.loads((tmp_path / name).read_text())[2] == "\\xff{"


def test_games_of_one_second_of_two_lanes_and_services_have_names_of_their_own(
    tmp_path, clock, kept
):
    for each, lane in ((kept, 0), (kept, 0), (kept, 1), (KeptGames(tmp_path, "b.toml"), 0)):
        played(each, clock, lane=lane, evidence=False)
        clock.now -= 1
    assert len(names(tmp_path)) == 4


def test_two_services_that_begin_in_the_same_moment_take_two_names(tmp_path, clock, kept):
    """The name is free when both look; a dangling link takes one too."""
    (tmp_path / "2023-11-14-221320-1.1.mjson").symlink_to("nowhere")
    for each in [GameFiles(kept, 0, clock), GameFiles(KeptGames(tmp_path, "b"), 0, clock)]:
        each._free_stem = partial(lambda stems, folder: next(stems), iter("abc"))
        each.keep(StartGame(id=1), ())
        each.close(keep_frames=False)
    assert names(tmp_path)[1:] == ["a.mjson", "b.mjson"]


@pytest.mark.parametrize(("keep_frames", "count"), [(False, 0), (True, 1)])
def test_frames_without_a_game_stay_only_where_they_explain_its_end(
    tmp_path, clock, kept, keep_frames, count
):
    played(kept, clock, begins=False, keep_frames=keep_frames)
    assert len(names(tmp_path)) == count


def test_nothing_is_kept_without_a_folder_and_no_frames_unless_asked(tmp_path, clock):
    played(None, clock)
    played(KeptGames(tmp_path / "a" / "b", "bot.toml"), clock, evidence=False)
    assert [name.endswith(LOG) for name in names(tmp_path / "a" / "b")] == [True]


def test_a_full_disk_costs_the_file_and_its_path_is_logged_once(tmp_path, clock, kept, caplog):
    """What is written stays whole lines; the next game is tried again."""
    files = GameFiles(kept, 0, clock, evidence=True)
    files.frame("<", b"{}")
    files.keep(StartGame(id=1), ())
    path, file = files._files[LOG]
    before = path.read_bytes()

    class Full(FileIO):
        def write(self, data):
            if data[:1] != b"{":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().write(data[:4])  # the rest finds no room

    file.close()
    files._files[LOG] = path, Full(path, "ab")
    for _ in range(3):
        files.keep(EndGame(), ())
    files.frame(">", b"{}")
    files.close(keep_frames=False)
    assert path.read_bytes() == before
    assert path.with_name(path.name.replace(LOG, FRAMES)).read_text().count("\n") == 2
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith(f"{path}: No space left on device; the game goes on")
    played(kept, clock)
    assert len(names(tmp_path)) == 4


def test_a_folder_that_cannot_be_written_costs_the_records_alone(tmp_path, clock, caplog):
    (tmp_path / "games").write_text("a file")
    played(KeptGames(tmp_path / "games", "bot.toml"), clock)
    assert (tmp_path / "games").read_text() == "a file"
    assert all(str(tmp_path / "games") in record.getMessage() for record in caplog.records)
    assert caplog.records
