"""A game counts once, under however many names, formats and packings it lies there."""

import gzip
import json
import shutil
import zipfile
from pathlib import Path

import pytest

from mjbot.analysis.collusion import learning
from mjbot.arena.ladder.table import rates_of_records
from mjbot.cli.main import main
from mjbot.game.records.game import game_identity
from mjbot.game.records.sources import open_games
from mjbot.learning.training.positions import DistinctGames, LeftOut, index_games
from mjbot.learning.training.runs import GameRange, TrainingRequest
from mjbot.runtime.errors import ArgumentError

LOGS = Path(__file__).parents[3] / "logs"
SAMPLES = sorted(LOGS.glob("*.mjson"))
N_HANCHAN = len(list(LOGS.glob("hanchan-*")))


@pytest.fixture(scope="module")
def heap(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample games, what convert makes of them, gzipped and zipped copies: all one folder."""
    folder = tmp_path_factory.mktemp("heap")
    for log in SAMPLES:
        shutil.copy(log, folder)
        (folder / f"{log.name}.gz").write_bytes(gzip.compress(log.read_bytes()))
        for form in ("mjlog", "tenhou6", "mjai"):
            out = folder / f"as-{form}" / log.stem
            assert main(["convert", str(log), str(out), "--to", form]) == 0
    with zipfile.ZipFile(folder / "all.zip", "w") as archive:
        for log in SAMPLES:
            archive.write(log, f"copy-of-{log.name}")
    return folder


def n_games() -> int:
    return len(index_games(SAMPLES))


def detected(capsys: pytest.CaptureFixture[str], *paths: Path) -> dict[str, object]:
    capsys.readouterr()
    assert main(["detect", *map(str, paths), "--json", "--jobs", "1"]) == 0
    report: dict[str, object] = json.loads(capsys.readouterr().out)
    return report


def test_a_game_has_one_digest_in_every_format(heap: Path) -> None:
    digests = {game_identity(game).whole for game in open_games(heap)}
    assert len(digests) == n_games()
    assert len(list(open_games(heap))) > 4 * n_games()


def test_copies_and_conversions_accuse_nobody(
    heap: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    once, often = detected(capsys, LOGS), detected(capsys, heap)
    assert often["games"] == once["games"] == N_HANCHAN
    assert often["pairs"] == once["pairs"]
    assert once["duplicates"] == 0
    assert often["duplicates"] == len(list(open_games(heap))) - n_games()


@pytest.mark.parametrize("helpers", [[], ["--helpers"]])
def test_games_under_other_rules_are_named_and_not_added_up(
    helpers: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["detect", str(LOGS), "--under", "tonpu", "--jobs", "1", *helpers]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.startswith(f"{len(SAMPLES) - N_HANCHAN} games of")  # the summary first
    text = f"{N_HANCHAN} games under hanchan, not tonpu (--under hanchan reports them)"
    assert text in printed
    assert main(["detect", str(LOGS), "--under", "hanchan,bust=no", *helpers]) == 2


def test_the_same_folder_named_thrice_counts_once_and_is_reported(
    capsys: pytest.CaptureFixture[str],
) -> None:
    thrice = detected(capsys, LOGS, LOGS, LOGS)
    assert thrice["games"] == N_HANCHAN and thrice["duplicates"] == 2 * n_games()
    assert main(["detect", str(LOGS), str(LOGS), "--jobs", "1"]) == 0
    printed = capsys.readouterr().out
    assert f"{n_games()} duplicates of other games are counted once" in " ".join(printed.split())


def test_a_seat_s_own_record_of_a_game_is_a_duplicate_of_the_whole(tmp_path: Path) -> None:
    hidden = tmp_path / "hidden.mjson"
    lines = SAMPLES[0].read_text("utf-8").splitlines()
    hidden.write_text("\n".join(map(hide, lines)), encoding="utf-8")
    assert hidden.read_text("utf-8").count('"?"') > 100
    left_out = LeftOut()
    refs = DistinctGames(left_out).index([SAMPLES[0], hidden])
    assert left_out.duplicates == len(refs) > 0


def hide(line: str) -> str:
    """Return a line as seat 0 receives it."""
    event = json.loads(line)
    if event["type"] == "start_kyoku":
        event["tehais"][1:] = [["?"] * 13] * 3
    if event["type"] == "tsumo" and event["actor"]:
        event["pai"] = "?"
    return json.dumps(event)


def cut_copies(folder: Path) -> None:
    """Write copies of the samples that end earlier, so that their files are listed first."""
    for log in SAMPLES:
        lines = log.read_text("utf-8").splitlines(keepends=True)
        ends = [number for number, line in enumerate(lines, 1) if '"end_kyoku"' in line]
        (folder / f"a-{log.name}").write_text("".join(lines[: ends[2]]), "utf-8")
        (folder / f"b-{log.name}").write_text("".join(lines[:-1]), "utf-8")
        (folder / f"c-{log.name}").write_text("".join(lines[: ends[3] + 30]), "utf-8")


def test_copies_that_were_cut_accuse_nobody(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cut_copies(tmp_path)
    once, often = detected(capsys, LOGS), detected(capsys, tmp_path, LOGS)
    assert often["games"] == once["games"] and often["pairs"] == once["pairs"]
    assert often["duplicates"] == 3 * n_games()


@pytest.mark.parametrize("helpers", [[], ["--helpers"]])
def test_copies_under_other_names_are_no_evidence(
    helpers: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two of the four names stay, so that they seem to meet in every copy."""
    first, _, rest = SAMPLES[0].read_text("utf-8").partition("\n")
    for number in range(12):
        names = ["a", "b", f"x{number}", f"y{number}"]
        start = json.dumps({**json.loads(first), "names": names})
        (tmp_path / f"{number:02}.mjson").write_text(f"{start}\n{rest}", encoding="utf-8")
    command = ["detect", str(tmp_path), "--json", "--jobs", "1", *helpers]
    assert main(command) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["games"] == 1 and not report["helpers" if helpers else "pairs"]


def test_no_copy_of_a_game_learned_from_is_checked_with(tmp_path: Path) -> None:
    renamed = tmp_path / "renamed.mjson"
    text = SAMPLES[0].read_text("utf-8")
    first, _, rest = text.partition("\n")
    names = {**json.loads(first), "names": ["a", "b", "c", "d"]}
    renamed.write_text(f"{json.dumps(names)}\n{rest}", encoding="utf-8")
    request = TrainingRequest(
        records=[LOGS, LOGS], games=GameRange("1:"), validate=GameRange("0:1"),
        seed=0, jobs=1, out=None,
    )  # fmt: skip
    learned, held_out = request.split()
    assert len(learned) + len(held_out) == n_games()
    assert request.distinct.index([renamed]) == []


def test_a_pair_s_records_may_not_be_among_the_honest_ones(tmp_path: Path) -> None:
    command = ["train", "detection", str(LOGS), "--pair", "x", "y", str(LOGS)]
    with pytest.raises(ArgumentError, match=r"--pair x y .*: no game is there that is not among"):
        main_or_raise(command)


def test_a_pair_s_records_are_looked_for_before_anything_is_learned(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(learning, "learn_model", lambda *_: pytest.fail("learned already"))
    nowhere = str(tmp_path / "nowhere.mjson")
    with pytest.raises(FileNotFoundError):
        main_or_raise(["train", "detection", str(LOGS), "--pair", "x", "y", nowhere])


def test_a_range_to_check_with_that_has_no_game_is_refused() -> None:
    request = TrainingRequest(
        records=[LOGS], games=GameRange(":"), validate=GameRange("900:"),
        seed=0, jobs=1, out=None,
    )  # fmt: skip
    with pytest.raises(ArgumentError, match=r"--validate 900:: none of the .* is in this range"):
        request.split()


def main_or_raise(command: list[str]) -> None:
    from mjbot.analysis.collusion.learning import DetectionRequest, train

    one, other, path = command[-3:]
    train(
        DetectionRequest(
            records=[Path(command[2])], games=GameRange(":"), pairs=[(one, other, path)],
            jobs=1, out=None,
        )
    )  # fmt: skip


def test_rates_of_records_count_a_game_once(heap: Path) -> None:
    assert len(rates_of_records(heap, 4)) == n_games()
