"""Records and frames of a bot's games, and how much of them is kept."""

import json

import pytest

from mjbot.service.files import FRAMES, LOG, GameFiles, Keeping
from protocol.messages import EndGame, StartGame


class Clock:
    now = 1_700_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def played(keeping, clock, frames=3, lane=0, begins=True, keep_frames=False):
    files = GameFiles(keeping, lane, clock)
    for number in range(frames):
        files.frame("<>"[number % 2], b'{"type":"none"}')
    if begins:
        files.keep(StartGame(id=1), ())
        files.keep(EndGame(), [(1, "well played")])
    files.close(keep_frames=keep_frames)
    clock.now += 1


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_game_has_a_record_and_its_frames(tmp_path, clock):
    played(Keeping(folder=tmp_path, evidence=True), clock)
    (frames, log) = names(tmp_path)
    assert frames.removesuffix(FRAMES) == log.removesuffix(LOG)
    start, end = map(json.loads, (tmp_path / log).read_text().splitlines())
    assert start == {"type": "start_game", "id": 1}
    assert end["logs"] == [None, "well played", None, None]
    rows = [json.loads(line) for line in (tmp_path / frames).read_text().splitlines()]
    assert rows == [[1_700_000_000.0, each, '{"type":"none"}'] for each in "<><"]


def test_bytes_that_are_no_text_are_kept_readable(tmp_path, clock):
    files = GameFiles(Keeping(folder=tmp_path, evidence=True), 0, clock)
    files.frame("<", b"\xff{")
    files.close(keep_frames=True)
    (name,) = names(tmp_path)
    assert json.loads((tmp_path / name).read_text())[2] == "\\xff{"


def test_games_of_one_second_and_of_two_lanes_have_names_of_their_own(tmp_path, clock):
    keeping = Keeping(folder=tmp_path)
    for lane in (0, 0, 1):
        played(keeping, clock, lane=lane)
        clock.now -= 1
    assert len(names(tmp_path)) == 3


@pytest.mark.parametrize(("keep_frames", "count"), [(False, 0), (True, 1)])
def test_frames_without_a_game_stay_only_where_they_explain_its_end(
    tmp_path, clock, keep_frames, count
):
    keeping = Keeping(folder=tmp_path, evidence=True)
    played(keeping, clock, begins=False, keep_frames=keep_frames)
    assert len(names(tmp_path)) == count


def test_nothing_is_kept_without_a_folder_and_no_frames_unless_asked(tmp_path, clock):
    played(Keeping(evidence=True), clock)
    played(Keeping(folder=tmp_path / "a" / "b"), clock)
    assert [name.endswith(LOG) for name in names(tmp_path / "a" / "b")] == [True]


def test_the_oldest_games_are_removed_beyond_a_number(tmp_path, clock):
    keeping = Keeping(folder=tmp_path, evidence=True, most_games=3)
    (tmp_path / "other.txt").write_text("stays")
    for _ in range(7):
        played(keeping, clock)
    found = names(tmp_path)
    assert len(found) == 2 * 3 + 1 and "other.txt" in found
    seconds = {name[:17] for name in found if name != "other.txt"}
    everything = Keeping(folder=tmp_path / "all")
    clock.now -= 3
    for _ in range(3):
        played(everything, clock)
    assert seconds == {name[:17] for name in names(tmp_path / "all")}


def test_the_oldest_games_are_removed_beyond_a_size(tmp_path, clock):
    keeping = Keeping(folder=tmp_path, evidence=True, most_mb=1)
    line = b"x" * 100_000
    for _ in range(5):
        files = GameFiles(keeping, 0, clock)
        for _ in range(4):
            files.frame("<", line)
        files.keep(StartGame(id=1), ())
        files.close(keep_frames=False)
        clock.now += 1
    assert len(names(tmp_path)) == 2 * 2
    files = GameFiles(keeping, 0, clock)
    for _ in range(20):
        files.frame("<", line)
    files.keep(StartGame(id=1), ())
    files.close(keep_frames=False)
    assert len(names(tmp_path)) == 2  # the newest stays, whatever its size
