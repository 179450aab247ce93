"""Which games of a folder stay: only what a service wrote itself is ever removed."""

import itertools
import json

import pytest

from mjbot.play.kept_games import MOST_UNPLAYED, KeptGames, Limits

NAMES = itertools.count()


def play(kept, name=None, size=10, *, is_record=True, frames=0):
    """Write a game, or the frames of a connection without one; return its record's path."""
    game = kept.begin()
    path = kept.folder / (name or f"game-{next(NAMES)}.mjson")
    for each, its_size in ((path.with_suffix(".frames.jsonl"), frames), (path, size)):
        if its_size:
            each.write_bytes(b"x" * its_size)
            kept.add(game, each, is_record=is_record and each is path)
    kept.finish(game)
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".ledger")


def games(folder, number, owner="bot.toml"):
    return KeptGames(folder, owner, Limits(most_games=number))


def test_the_oldest_games_are_removed_beyond_a_number(tmp_path):
    kept = games(tmp_path, 3)
    paths = [play(kept, frames=5) for _ in range(7)]
    left = [path.name for path in paths[-3:]] + [f"{path.stem}.frames.jsonl" for path in paths[-3:]]
    assert names(tmp_path) == sorted(left)


def test_the_oldest_games_are_removed_beyond_a_size_but_never_the_newest(tmp_path):
    kept = KeptGames(tmp_path, "bot.toml", Limits(most_mb=1))
    paths = [play(kept, size=300_000, frames=100_000) for _ in range(5)]
    assert [path.exists() for path in paths] == [False] * 3 + [True] * 2
    newest = play(kept, size=2_000_000)
    assert names(tmp_path) == [newest.name]


def test_without_limits_every_game_stays(tmp_path):
    kept = KeptGames(tmp_path, "bot.toml")
    paths = [play(kept) for _ in range(20)]
    assert all(path.exists() for path in paths)


@pytest.mark.parametrize("name", ["2024-01-01-000000.mjson", "best game.mjson", "final-2025.mjson"])
def test_records_that_it_did_not_write_stay(tmp_path, name):
    (tmp_path / name).write_text("of a person")
    (tmp_path / f"{name}.frames.jsonl").write_text("of a person")
    kept = games(tmp_path, 1)
    paths = [play(kept, f"2026-{n}.mjson") for n in range(3)]
    assert names(tmp_path) == sorted([name, f"{name}.frames.jsonl", paths[-1].name])


def test_names_and_clocks_do_not_decide_which_game_is_the_oldest(tmp_path):
    """The clock was set back: later games have earlier names."""
    kept = games(tmp_path, 2)
    for name in "edcba":
        play(kept, f"{name}.mjson")
    assert names(tmp_path) == ["a.mjson", "b.mjson"]


def test_a_game_that_is_played_stays_and_does_not_count(tmp_path):
    kept = KeptGames(tmp_path, "bot.toml", Limits(most_games=1, most_mb=1))
    playing = kept.begin()
    path = tmp_path / "playing.mjson"
    path.write_bytes(b"x" * 3_000_000)
    kept.add(playing, path, is_record=True)
    last = [play(kept) for _ in range(3)][-1]
    assert names(tmp_path) == sorted([last.name, path.name])
    kept.finish(playing)
    assert names(tmp_path) == [path.name]


def test_a_restart_resumes_its_ledger(tmp_path):
    kept = games(tmp_path, 3)
    paths = [play(kept) for _ in range(3)]
    kept.close()
    again = games(tmp_path, 2)
    paths.append(play(again))
    assert [path.exists() for path in paths] == [False, False, True, True]


def test_two_services_in_one_folder_leave_each_other_alone(tmp_path):
    """Also two of one profile at the same time, and whichever ends first."""
    services = [games(tmp_path, 2, owner) for owner in ("a.toml", "b.toml", "a.toml")]
    paths = [[] for _ in services]
    for _ in range(5):
        for kept, own in zip(services, paths, strict=True):
            own.append(play(kept))
    assert [[path.exists() for path in own] for own in paths] == [[False] * 3 + [True] * 2] * 3
    for kept in services:
        kept.close()
    again = games(tmp_path, 1, "b.toml")
    last = play(again)
    assert [path.exists() for path in paths[1]] == [False] * 5 and last.exists()
    assert sum(path.exists() for own in paths for path in own) == 4


@pytest.mark.parametrize("how", ["gone", "link", "dangling", "folder"])
def test_a_file_that_others_removed_or_replaced_ends_nothing(tmp_path, how):
    kept = games(tmp_path, 1)
    first = play(kept)
    first.unlink()
    (tmp_path / "precious").write_text("stays")
    if how == "folder":
        first.mkdir()
        (first / "inside").write_text("stays")
    elif how != "gone":
        first.symlink_to("precious" if how == "link" else "nowhere")
    paths = [play(kept) for _ in range(3)]
    assert [path.exists() for path in paths] == [False, False, True]
    assert (tmp_path / "precious").read_text() == "stays"
    assert first.is_symlink() == (how in ("link", "dangling")) and first.is_dir() == (
        how == "folder"
    )


def test_connections_without_a_game_are_bounded_and_cost_no_game(tmp_path):
    kept = KeptGames(tmp_path, "bot.toml", Limits(most_games=2, most_mb=1))
    played = [play(kept, size=400_000) for _ in range(2)]
    refused = [
        play(kept, f"{n:03}.frames", is_record=False, size=1) for n in range(MOST_UNPLAYED + 20)
    ]
    assert all(path.exists() for path in played)
    assert [path.exists() for path in refused] == [False] * 20 + [True] * MOST_UNPLAYED
    large = [play(kept, is_record=False, size=700_000) for _ in range(2)]
    assert [path.exists() for path in [*played, *large]] == [False, True, False, True]


@pytest.mark.parametrize("owners", [["a.toml"], ["serve default-1", "serve default-2", "b.toml"]])
@pytest.mark.parametrize("frames", [0, 5])
def test_numbers_of_games_continue_after_any_number_of_restarts(tmp_path, owners, frames):
    """Two games of one number are removed together, the newer one too early."""
    paths = {owner: [] for owner in owners}
    for _ in range(9):
        for owner, kept in [(owner, games(tmp_path, 3, owner)) for owner in owners]:
            paths[owner].append(play(kept, frames=frames))
            kept.close()
        for own in paths.values():
            left = min(3, len(own))
            assert [path.exists() for path in own] == [False] * (len(own) - left) + [True] * left
        assert len(names(tmp_path)) == left * len(owners) * (2 if frames else 1)


def ledger_of(folder, *lines):
    """Write a ledger of lines (number, name, is a record), and files of one letter."""
    games(folder, 0).close()
    (ledger,) = folder.glob(".*.ledger")
    ledger.write_bytes(b"".join([json.dumps(line).encode() + b"\n" for line in lines]))
    for name in "abcxy":
        if f'"{name}"'.encode() in ledger.read_bytes():
            (folder / name).write_text("x")


@pytest.mark.parametrize(
    "newest",
    [
        [3, "c", True, "a field of a later version"],
        {"game": 3, "name": "c"},
        ["3", "c", True],
        [3],
        [-1, "c", True],
        [2**53, "c", True],
        [2**64 - 1, "c", True],
        [10**30, "c", True],
        [3, "c\0", True],
        [3, "", True],
        [3, "..", True],
    ],
)
def test_numbers_continue_where_the_newest_lines_are_of_another_version_or_damaged(
    tmp_path, newest
):
    ledger_of(tmp_path, [1, "a", True], [2, "b", True], newest)
    for number in range(3):
        kept = games(tmp_path, 0)
        play(kept, f"later-{number}")
        kept.close()
    kept = games(tmp_path, 3)
    assert play(kept).exists()
    assert not (tmp_path / "a").exists() and not (tmp_path / "b").exists()
    assert [(tmp_path / f"later-{number}").exists() for number in range(3)] == [False, True, True]


def test_a_ledger_in_which_numbers_began_anew_keeps_a_game_for_each_record(tmp_path):
    ledger_of(tmp_path, *[[1, name, True] for name in "abc"])
    for most, left in ((4, "abc"), (3, "c")):
        kept = games(tmp_path, most)
        play(kept)
        kept.close()
        assert [name for name in names(tmp_path) if name in "abc"] == [*left]


def test_a_name_that_comes_again_is_of_the_last_game_that_has_it(tmp_path):
    """A person moved a record away, and a clock that was set back gives its name again."""
    kept = games(tmp_path, 2)
    play(kept)
    play(kept, "again").rename(tmp_path / "moved")
    others = [play(kept, "again"), play(kept)]
    assert all(path.exists() for path in others)
    kept.close()
    ledger_of(tmp_path, [1, "x", True], [2, "y", True], [3, "x", True])
    kept = games(tmp_path, 2)
    last = play(kept)
    assert names(tmp_path) == sorted(["moved", *[path.name for path in others], "x", last.name])


@pytest.mark.parametrize(
    "damage",
    [b"", b"\x00\xff\n", b'[1,"../precious",true]\n', b'[1,"/etc/passwd",true]\n', b'[1,"cut'],
)
def test_a_damaged_ledger_costs_only_what_it_listed(tmp_path, damage):
    folder = tmp_path / "games"
    (tmp_path / "precious").write_text("stays")
    kept = games(folder, 2)
    paths = [play(kept)]
    kept.close()
    (ledger,) = folder.glob(".*.ledger")
    ledger.write_bytes(damage + ledger.read_bytes())
    again = games(folder, 2)
    paths += [play(again) for _ in range(4)]
    assert [path.exists() for path in paths[1:]] == [False, False, True, True]
    assert (tmp_path / "precious").exists()


def test_a_line_cut_off_by_a_kill_does_not_spoil_the_next(tmp_path):
    kept = games(tmp_path, 3)
    paths = [play(kept) for _ in range(2)]
    kept.close()
    (ledger,) = tmp_path.glob(".*.ledger")
    ledger.write_bytes(ledger.read_bytes() + b'[3,"ga')
    again = games(tmp_path, 3)
    play(again)
    again.close()
    last = games(tmp_path, 1)
    paths.append(play(last))
    assert names(tmp_path) == [paths[-1].name]


def test_a_ledger_that_cannot_be_written_is_reported_once_and_games_go_on(tmp_path, caplog):
    (tmp_path / "folder").write_text("a file")
    kept = games(tmp_path / "folder", 1)
    for _ in range(3):
        kept.finish(kept.begin())
    (record,) = caplog.records
    assert f"{tmp_path / 'folder'}: " in record.getMessage()


def test_a_file_that_cannot_be_removed_is_reported_and_costs_no_other(
    tmp_path, caplog, monkeypatch
):
    kept = games(tmp_path, 2)
    paths = [play(kept) for _ in range(2)]
    unlink = type(tmp_path).unlink

    def refuse(path, **how):
        if path == paths[0]:
            raise PermissionError(13, "Permission denied", str(path))
        unlink(path, **how)

    monkeypatch.setattr(type(tmp_path), "unlink", refuse)
    paths += [play(kept) for _ in range(2)]
    assert [path.exists() for path in paths] == [True, False, True, True]
    assert f"{paths[0]}: Permission denied" in caplog.text
