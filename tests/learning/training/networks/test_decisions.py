import json
import shutil
from collections import Counter

import msgspec
import numpy as np
import pytest

from mjbot.cli.main import main
from mjbot.game.records.choices import steps as choice_steps
from mjbot.game.records.game import Entry, Game
from mjbot.game.records.sources import open_games
from mjbot.game.table.hands import kind_of
from mjbot.game.table.settle import ranks_of
from mjbot.game.table.state import DAIMINKAN, KAKAN, RIICHI
from mjbot.game.table.view import View
from mjbot.learning.env import N_PLANES, N_SCALARS, observe
from mjbot.learning.models.networks.encoding import new_encoder
from mjbot.learning.training.networks import decisions as decisions_module
from mjbot.learning.training.networks.decisions import (
    DECISION,
    INFO_FILE,
    KINDS,
    N_CHOICES,
    DataError,
    DecisionKind,
    check_data,
    check_distinct,
    decisions_of,
    open_decisions,
    open_kyoku,
)
from mjbot.learning.training.positions import index_games, replay_trusted, steps
from mjbot.protocol.messages import Dora, Kita, ReachAccepted
from mjbot.protocol.rules import Rules
from mjbot.protocol.tiles import tile_kind
from mjbot.runtime.errors import ExitCode
from tests.damage import damages
from tests.game.referee.scripted import random_game
from tests.learning.training.conftest import GAMES


def test_a_full_disk_is_named(tmp_path, capsys, limited_files):
    command = ["train", "data", *map(str, GAMES), "--folder", str(tmp_path / "columns")]
    with limited_files(10_000):
        assert main(command) == ExitCode.UNREACHABLE
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith(f"mjbot train data: {tmp_path / 'columns'}")
    assert last.endswith(".npy: File too large")
    assert main(command) == ExitCode.BAD_ARGUMENTS  # half of the columns are there
    assert "is not empty; name another --folder, or erase it" in capsys.readouterr().err


def test_of_three_players_each_kita_is_a_choice_and_none_is_made_for_an_empty_chair():
    events = random_game(2, Rules(players=3))
    game = Game("own", "line", (Entry(number, event) for number, event in enumerate(events)))
    found = decisions_of(replay_trusted(game))
    kans = found.rows[KINDS.index(DecisionKind.KAN)]
    made = sum(isinstance(event, Kita) for event in events)
    assert (kans["choice"][kans["form"] == -1] == 1).sum() == made > 5
    assert (kans["choice"][kans["form"] == -1] == 0).sum() > 5
    ranks = found.kyoku["ranks"]
    assert sorted(ranks[0, :3]) == [1, 2, 3]
    assert (ranks[:, 3] == 0).all()
    assert all((rows["seat"] < 3).all() for rows in found.rows)
    assert len(found.rows[KINDS.index(DecisionKind.CHI)]) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_are_what_the_seat_saw_chose_and_could_choose(columns, kind, monkeypatch):
    monkeypatch.setattr(decisions_module, "ENCODED_AT_ONCE", 7)  # several parts
    decisions = open_decisions(columns, kind)
    n = len(decisions.rows)
    x, y, mask = decisions.arrays(3, min(n, 25))
    assert (x.dtype, y.dtype, mask.dtype) == (np.float32, np.int64, np.bool_)
    assert x.shape == (min(n, 25) - 3, 34 * N_PLANES + N_SCALARS)
    assert mask.shape == (len(x), N_CHOICES[kind])
    assert mask[np.arange(len(y)), y].all()
    encoder = new_encoder()
    for place, row in enumerate(decisions.rows[3 : 3 + len(x)]):
        view = View(decisions.states[3 + place], int(row["seat"]))
        seen = observe(view, encoder)
        assert (x[place, :-N_SCALARS].reshape(34, N_PLANES) == seen.planes).all()
        assert (x[place, -N_SCALARS:] == seen.scalars).all()
        assert y[place] == row["choice"]
        if kind == DecisionKind.DISCARD:
            assert set(np.flatnonzero(mask[place])) == {kind_of(a.tile) for a in view.discards}
        else:
            assert mask[place].sum() > 1
    assert len(decisions.arrays(n).y) == 0
    assert len(decisions.arrays().y) == n


def test_a_game_in_two_folders_of_columns_is_refused(columns, tmp_path, capsys):
    """Whatever its format: it would be learned from in one and checked with in the other."""
    mjlogs = tmp_path / "mjlogs"
    assert main(["convert", str(GAMES[0]), str(mjlogs), "--to", "mjlog"]) == ExitCode.OK
    other = tmp_path / "other"
    assert main(["train", "data", str(mjlogs), "--folder", str(other)]) == ExitCode.OK
    check_distinct([columns])
    problem = "1 game of it is in a folder before it, too; name columns of other records"
    with pytest.raises(DataError, match=problem) as error:
        check_distinct([columns, other])
    assert str(error.value) == f"{other}: {problem}"


def test_columns_of_three_players_train_no_model_of_four(columns, tmp_path, capsys):
    three = shutil.copytree(columns, tmp_path / "three")
    info = msgspec.structs.replace(check_data(three), players=3, checksum="")
    (three / INFO_FILE).write_bytes(msgspec.json.encode(info))
    check_distinct([three], players=(3, 4))
    problem = "three: columns of 3 players; make them of games of four"
    with pytest.raises(DataError, match=problem):
        check_distinct([three])
    mixed = "three: columns of 3 players after columns of 4; name one kind"
    for command in (["fast-policy"], ["rank"], ["policy", str(three)]):
        if command != ["fast-policy"]:
            pytest.importorskip("torch", reason="training needs torch: pip install 'mjbot[train]'")
        assert main(["train", *command, str(columns), str(three)]) == ExitCode.UNREACHABLE
        expected = mixed if len(command) == 1 else problem
        assert capsys.readouterr().err.rstrip().endswith(expected)


def told_by_replay(log):
    """What the strict table and the events after it tell of each choice, by another way."""
    found = Counter()
    for step in choice_steps(log):
        if isinstance(step.next, ReachAccepted | Dora):
            continue  # the question stays as it is
        for seat in range(4):
            legal, output = step.choices(seat), step.recorded(seat)
            if output is None or output.is_win or output.is_nine_terminals:
                continue
            text = of_offer if any(action.is_pass for action in legal) else of_turn
            for kind, choice in text(legal, output):
                found[kind, seat, choice] += 1
    return found


def of_offer(legal, output):
    names = {action.name for action in legal}
    for kind, wanted in (
        (DecisionKind.PON, "pon"),
        (DecisionKind.CHI, "chi"),
        (DecisionKind.KAN, "daiminkan"),
    ):
        if wanted in names and output.name == wanted:
            yield kind, output.offset + 1 if kind == DecisionKind.CHI else 1
        elif wanted in names and (output.is_pass or output.name == "chi"):
            yield kind, 0


def of_turn(legal, output):
    names = {action.name for action in legal}
    if names & {"ankan", "kakan"}:
        yield DecisionKind.KAN, int(output.is_kan)
    if "riichi" in names and not output.is_kan:
        yield DecisionKind.RIICHI, int(output.is_riichi)
    if output.is_discard and len({tile_kind(a.tile) for a in legal if a.is_discard}) > 1:
        yield DecisionKind.DISCARD, tile_kind(output.tile)


@pytest.mark.parametrize("log", GAMES, ids=lambda log: log.stem)
def test_the_choices_are_those_that_the_strict_table_and_the_next_events_tell(log):
    expected = told_by_replay(log)
    game = next(iter(steps(index_games([log]))))
    found = Counter()
    for rows in decisions_of(game).rows:
        for row in rows:
            kind = KINDS[row["kind"]]
            if kind != DecisionKind.DISCARD or bin(row["legal"]).count("1") > 1:
                found[kind, int(row["seat"]), int(row["choice"])] += 1
    for kind, seat, choice in expected | found:
        many = expected[kind, seat, choice], found[kind, seat, choice]
        if kind in (DecisionKind.DISCARD, DecisionKind.RIICHI) or choice:
            assert many[0] == many[1], (kind, seat, choice)
        else:  # of a tile that another took the replay tells less: who had pon may have chi, too
            assert many[0] <= many[1], (kind, seat, choice)


def test_columns_hold_what_the_games_hold(columns):
    info = check_data(columns)
    assert info.games == len(GAMES)
    games = [decisions_of(game) for game in steps(index_games(GAMES))]
    for place, kind in enumerate(KINDS):
        opened = open_decisions(columns, kind)
        assert len(opened.rows) == info.rows[kind]
        assert (opened.rows == np.concatenate([game.rows[place] for game in games])).all()
        second = opened.of_games(1, 2)
        assert (second.rows == games[1].rows[place]).all()
        assert second.states.tobytes() == games[1].states[place].tobytes()
        assert ((opened.rows["legal"] >> opened.rows["choice"]) & 1 == 1).all()
        assert (opened.rows["choice"] < N_CHOICES[kind]).all()
    kyoku = open_kyoku(columns)
    assert len(kyoku) == info.rows["kyoku"] == 30
    assert set(open_decisions(columns, DecisionKind.KAN).rows["form"]) <= {2, KAKAN, 4}


@pytest.mark.parametrize(("kind", "copies"), [(DecisionKind.PON, 2), (DecisionKind.KAN, 3)])
def test_a_call_is_offered_to_seats_that_hold_the_tiles_for_it(columns, kind, copies):
    opened = open_decisions(columns, kind)
    offers = opened.rows["form"] == DAIMINKAN if kind == DecisionKind.KAN else slice(None)
    rows, states = opened.rows[offers], np.asarray(opened.states)[offers]
    tiles = [kind_of(int(tile)) for tile in states["last_tile"]]
    held = states["hand"][np.arange(len(rows)), rows["seat"], tiles]
    assert len(rows) >= 5 and (held >= copies).all()


def test_ranks_and_changes_are_those_of_the_end(columns):
    kyoku = open_kyoku(columns)
    for number, game in enumerate(steps(index_games(GAMES))):
        for step in game:
            end = step.state
        own = kyoku[kyoku["game"] == number]
        assert (own["ranks"] == ranks_of(end["scores"])).all()
        assert (own["scores"][0] + own["change"].sum(axis=0) == end["scores"]).all()
        rows = open_decisions(columns, DecisionKind.DISCARD).of_games(number, number + 1).rows
        assert (rows["ranks"] == ranks_of(end["scores"])).all()
        assert sorted(set(rows["kyoku"].tolist())) == list(range(len(own)))


def test_a_riichi_is_followed_by_its_discard(columns):
    riichi = open_decisions(columns, DecisionKind.RIICHI).rows
    discards = open_decisions(columns, DecisionKind.DISCARD)
    declared = np.count_nonzero(np.asarray(discards.states["phase"]) == RIICHI)
    assert np.count_nonzero(riichi["choice"]) == declared > 10


def test_what_stands_is_not_overwritten(columns, capsys):
    command = ["train", "data", str(GAMES[0]), "--folder", str(columns)]
    assert main(command) != ExitCode.OK
    assert "is not empty" in capsys.readouterr().err
    assert check_data(columns).games == len(GAMES)


def damaged(columns, tmp_path, name, content):
    folder = tmp_path / "damaged"
    shutil.copytree(columns, folder)
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    return folder


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("decisions.json", None, "is missing"),
        ("decisions.json", b"{}", "cannot be read"),
        ("decisions.json", b'{"data":"\xff"}', "cannot be read"),
        ("decisions.json", b'{"a":' * 3000, "cannot be read"),
        ("pon-rows.npy", None, "cannot be read"),
        ("pon-rows.npy", b"\x93NUMPY", "cannot be read"),
        ("pon-rows.npy", b"\x93NUMPY\x01\x00\x08\x00{'a': (\n", "cannot be read"),
        ("pon-states.npy", b"", "cannot be read"),
    ],
)
def test_damaged_columns_are_named(columns, tmp_path, name, content, text):
    folder = damaged(columns, tmp_path, name, content)
    with pytest.raises(DataError, match=text) as error:
        open_decisions(folder, DecisionKind.PON)
    assert str(folder / name) in str(error.value)


@pytest.mark.parametrize("name", ["pon-states.npy", "pon-rows.npy", "kyoku-rows.npy", INFO_FILE])
def test_columns_with_a_bit_flipped_or_cut_off_are_named(columns, tmp_path, name):
    folder = shutil.copytree(columns, tmp_path / "copy")

    def opened():
        pon = open_decisions(folder, DecisionKind.PON)
        return [pon.rows.tobytes(), pon.states.tobytes(), open_kyoku(folder).tobytes()]

    whole, info, refused = opened(), check_data(folder), 0
    for _ in damages(folder / name, 40):
        try:
            assert opened() == whole
            assert msgspec.structs.replace(check_data(folder), checksum=info.checksum) == info
        except DataError as error:
            assert str(error).startswith(f"{folder / name}: ") and "\n" not in str(error)
            refused += 1
    assert opened() == whole and refused > 40


def test_columns_of_before_have_no_checksums_and_are_opened(columns, tmp_path):
    folder = shutil.copytree(columns, tmp_path / "copy")
    info = json.loads((folder / INFO_FILE).read_bytes())
    del info["checksum"], info["checksums"]
    (folder / INFO_FILE).write_text(json.dumps(info))
    assert len(open_decisions(folder, DecisionKind.PON).rows) == info["rows"]["pon"]
    assert len(open_kyoku(folder)) == info["rows"]["kyoku"]
    np.save(folder / "pon-rows.npy", np.zeros(3, DECISION))
    with pytest.raises(DataError, match="3 rows for"):
        open_decisions(folder, DecisionKind.PON)


def test_columns_of_pickles_are_not_opened(columns, tmp_path):
    folder = damaged(columns, tmp_path, "chi-rows.npy", b"")
    np.save(folder / "chi-rows.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="cannot be read"):
        open_decisions(folder, DecisionKind.CHI)


def test_columns_of_another_shape_or_version_are_not_opened(columns, tmp_path):
    folder = damaged(columns, tmp_path, "chi-rows.npy", b"")
    np.save(folder / "chi-rows.npy", np.zeros(3, DECISION))
    with pytest.raises(DataError, match="its checksum differs"):
        open_decisions(folder, DecisionKind.CHI)
    np.save(folder / "chi-rows.npy", np.zeros(3))
    with pytest.raises(DataError, match="holds other columns"):
        open_decisions(folder, DecisionKind.CHI)
    with (folder / "chi-rows.npy").open("wb") as archive:
        np.savez(archive, rows=np.zeros(3, DECISION))
    with pytest.raises(DataError, match="holds other columns"):
        open_decisions(folder, DecisionKind.CHI)
    np.save(folder / "chi-rows.npy", np.zeros(3))
    info = (folder / "decisions.json").read_text()
    (folder / "decisions.json").write_text(info.replace('"layout": "', '"layout": "0'))
    with pytest.raises(DataError, match="another version"):
        open_decisions(folder, DecisionKind.CHI)


def test_a_game_that_cannot_be_read_is_left_out_and_told(tmp_path, caplog):
    (tmp_path / "a.mjson").write_bytes(GAMES[0].read_bytes())
    lines = GAMES[1].read_text().splitlines()
    lines[0] = '{"type":"start_game","names":9}'
    (tmp_path / "b.mjson").write_text("\n".join(lines))
    folder = tmp_path / "columns"
    files = [str(tmp_path / "a.mjson"), str(tmp_path / "b.mjson")]
    assert main(["train", "data", *files, "--folder", str(folder)]) == ExitCode.FAILED
    assert check_data(folder).games == 1
    assert check_data(folder).data.endswith("; 1 game that cannot be read is left out")
    assert "is left out" in caplog.text
    assert sum(1 for _ in open_games(GAMES[0])) == 1


def test_a_hand_that_cannot_be_read_is_told_and_its_game_learned_from(tmp_path, caplog):
    lines = GAMES[1].read_text().splitlines()
    lines[len(lines) // 2] = '{"type":"dahai","actor":9}'
    (tmp_path / "a.mjson").write_text("\n".join(lines))
    folder = tmp_path / "columns"
    command = ["train", "data", str(tmp_path / "a.mjson"), "--folder", str(folder)]
    assert main(command) == ExitCode.FAILED
    assert check_data(folder).games == 1
    assert check_data(folder).data.endswith("; 1 hand that cannot be read has no result")
    assert f"a.mjson: line {len(lines) // 2 + 1}: " in caplog.text
