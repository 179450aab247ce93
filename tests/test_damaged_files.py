"""What mjbot reads back of its own: a damaged file is named with a cure, or made again.

No traceback, whatever the damage; nothing of what can still be read is lost.
"""

import base64
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest

import mjbot
from mjbot.analysis.player.reviewed_games import (
    ReviewedHeader,
    ReviewedSource,
    open_games_file,
    read_games_file,
)
from mjbot.arena.protocol import digest_of, fix_protocol, kept_protocol
from mjbot.arena.run import Arena, ArenaPlan
from mjbot.arena.run_folder import GAMES_FILE, GameLine, Results, read_games
from mjbot.arena.setup import GameId, Setup
from mjbot.arena.workers import files_read
from mjbot.arena.workers.fault_files import fault_lines, read_fault, save_faults
from mjbot.arena.workers.files_read import FILES_COPY, FILES_FILE, FilesRead
from mjbot.cli.arguments import rules, secrets_in
from mjbot.cli.main import main
from mjbot.cli.profile import RunProfile
from mjbot.cli.run import RunRequest
from mjbot.game.records.evidence import make_reply, read_evidence
from mjbot.game.statistics.figures import as_rows, no_counts
from mjbot.game.statistics.sequential import ErrorRates
from mjbot.learning.models.weights import Manifest, load_manifest, load_weights, save_weights
from mjbot.learning.training.runs import RunFolder, load_kept
from mjbot.play.kept_games import KeptGames
from mjbot.play.match.node import _installed_version
from mjbot.play.server.accounts import Accounts
from mjbot.play.service.status import Status
from mjbot.runtime.compiler import shipped
from mjbot.runtime.errors import EXPECTED_ERRORS, ExitCode, error_report
from mjbot.strategy.faults import Fault
from tests.damage import damages

LOG = Path(mjbot.__file__).parents[1] / "logs" / "east-four-winds.mjson"
FORMS = 60
"""How many cuts and flips of each file are tried."""


def refusal(read: Callable[[], object]) -> str:
    """Return the line with which a command would end, nothing if it reads the file."""
    try:
        read()
    except EXPECTED_ERRORS as error:
        text, code = error_report(error)
        assert "\n" not in text and code in (ExitCode.FAILED, ExitCode.UNREACHABLE, 2)
        return text
    return ""


def each_damage(path: Path, read: Callable[[], object], n: int = FORMS) -> tuple[int, int]:
    """Read each damaged form; return how many were refused, by the file's name, and read."""
    refused = taken = 0
    for _ in damages(path, n):
        text = refusal(read)
        assert not text or path.name in text, text
        refused, taken = refused + bool(text), taken + (not text)
    assert not refusal(read)  # what it was is read
    return refused, taken


# --- runs of the arena ---------------------------------------------------------------------------

SETUP = Setup(strategies=("tsumogiri", "fast-riichi-a"), format="2v2", length="tonpu")
WALLS = 4


def game_line(wall: int, seating: int = 0) -> GameLine:
    return GameLine(wall, seating, (30000, 25000, 25000, 20000), as_rows(no_counts()), (1, 0, 0, 0))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Return the folder of a run with games, the files they read, a protocol and a fault."""
    folder = tmp_path / "run"
    results = Results(folder, SETUP)
    files = FilesRead(folder)
    files.add([(str(LOG), files_read.digest_of(str(LOG)))])
    for wall in range(WALLS):
        for seating in range(len(SETUP.seating.tables)):
            results.append(game_line(wall, seating))
    results.close()
    fix_protocol(folder, "question = 'which is better?'\n", 0)
    view = mjbot.recorded_view(LOG, 15, 0)
    fault = Fault("crash", 0, 3, "it fell over", state=view.state.tobytes())
    save_faults(folder, SETUP, GameId(0, 0), (fault,))
    return folder


def plan_in(folder: Path) -> ArenaPlan:
    return ArenaPlan(setup=SETUP, n_walls=WALLS, folder=folder, rates=ErrorRates())


def opened(folder: Path) -> int:
    """Open a run as a command does that resumes it; return how many games it has."""
    with Arena(plan_in(folder)) as arena:
        outcome = arena.outcome()
        assert len(fault_lines(folder, SETUP, outcome.faults)) == sum(map(bool, outcome.faults))
        kept_protocol(folder)
        return arena.games_kept


def test_a_damaged_run_is_named_or_its_games_stay(run: Path) -> None:
    games = opened(run)
    for name in (GAMES_FILE, FILES_FILE, FILES_COPY, "protocol.json"):
        for form in damages(run / name, FORMS):
            copy = run.with_name("copy")
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(run, copy)
            text = refusal(lambda: opened(run.with_name("copy")))
            assert not text or name in text or (not form and str(copy) in text), text
            aside = copy / "earlier-1" / GAMES_FILE
            left = aside if aside.exists() else copy / GAMES_FILE
            if name != GAMES_FILE:  # not one game is lost, nor played anew
                assert left.read_bytes() == (run / GAMES_FILE).read_bytes() and left != aside
            elif form and not text and b"\n" in form:
                assert len(read_games(copy)) in (games - 1, form.count(b"\n") - 1)


def test_files_that_a_run_read_are_restored_from_their_copy(run: Path) -> None:
    path, copy, whole = run / FILES_FILE, run / FILES_COPY, opened(run)
    text, copied = path.read_bytes(), copy.read_bytes()
    mended = 0
    for form in damages(path, FORMS):
        with Arena(plan_in(run)) as arena:
            assert arena.games_kept == whole and not (run / "earlier-1").exists()
            if arena.set_aside:
                assert arena.set_aside.startswith(f"{path} is missing or damaged; {copy} has")
                assert path.read_bytes() == text
            else:  # white space at an end
                assert json.loads(form) == json.loads(text)
            mended += bool(arena.set_aside)
    assert mended > FORMS
    path.unlink()
    assert opened(run) == whole and path.read_bytes() == text
    for _ in damages(copy, FORMS):  # a damaged copy does not count
        assert opened(run) == whole and path.read_bytes() == text
    copy.unlink()  # a run of before
    assert opened(run) == whole
    FilesRead(run).add(())
    assert copy.read_bytes() == copied


def test_files_of_a_killed_program_and_of_before_are_read_without_a_line(run: Path) -> None:
    other = run.with_name("other.txt")
    other.write_text("x")
    before = (run / FILES_FILE).read_bytes(), (run / FILES_COPY).read_bytes()
    FilesRead(run).add([(str(other), files_read.digest_of(str(other)))])
    after = (run / FILES_FILE).read_bytes(), (run / FILES_COPY).read_bytes()
    for kept, copy in ((before[0], after[1]), (after[0], before[1])):
        (run / FILES_FILE).write_bytes(kept)
        (run / FILES_COPY).write_bytes(copy)
        with Arena(plan_in(run)) as arena:
            assert arena.games_kept and not arena.set_aside
        other.write_text("y")  # known of either: the games do not count
        assert FilesRead(run).doubt(has_games=True) == f"{other} changed since"
        other.write_text("x")


def test_files_that_are_damaged_twice_set_games_aside_in_a_line(run: Path) -> None:
    whole = opened(run)
    for path in (run / FILES_FILE, run / FILES_COPY):
        path.write_bytes(path.read_bytes()[:-9])
    with Arena(plan_in(run)) as arena:
        assert not arena.games_kept
        assert f"damaged, and has no copy: played anew; {whole} games of" in arena.set_aside
    assert len(read_games(run / "earlier-1")) == whole


def test_the_cure_of_a_damaged_game_keeps_the_others(run: Path) -> None:
    path = run / GAMES_FILE
    lines = path.read_bytes().splitlines(keepends=True)
    whole = opened(run)
    path.write_bytes(b"".join([*lines[:3], lines[3].replace(b"30000", b"30001"), *lines[4:]]))
    text = refusal(lambda: opened(run))
    assert "line 4: " in text and "delete that line, and its work is done again" in text
    path.write_bytes(b"".join([*lines[:3], *lines[4:]]))
    assert opened(run) == whole - 1


def test_stats_of_a_damaged_run_name_it(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in damages(run / GAMES_FILE, 12):
        code = main(["stats", str(run)])
        err = capsys.readouterr().err
        assert "Traceback" not in err
        assert code == ExitCode.OK or str(run) in err or "no game to count" in err, err


def test_a_protocol_whose_text_was_changed_is_damaged(run: Path) -> None:
    path = run / "protocol.json"
    path.write_bytes(path.read_bytes().replace(b"better", b"bettEr"))
    assert "its text has another digest" in refusal(lambda: kept_protocol(run))
    path.write_bytes(path.read_bytes().replace(b"bettEr", b"bett\xffr"))
    assert "protocol.json is damaged" in refusal(lambda: kept_protocol(run))
    assert digest_of("x") != digest_of("y")


def test_a_damaged_fault_is_named_and_costs_no_report(run: Path) -> None:
    (path,) = (run / "faults").glob("*.json")
    assert each_damage(path, lambda: read_fault(path))[0] > FORMS
    for name in ("a-b-c-d-e.json", "crash-0-99-0-1.json", "crash-0-0-9-1.json"):
        (run / "faults" / name).write_text("{}")
    (line,) = fault_lines(run, SETUP, (1, 0))
    assert line.endswith(f"see one: mjbot arena --repro {path}")
    path.write_bytes(path.read_bytes()[:-9])
    assert fault_lines(run, SETUP, (1, 0))[0].endswith(f"({path} is damaged)")


def test_a_flipped_table_of_a_fault_is_not_played(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (path,) = (run / "faults").glob("*.json")
    file = json.loads(path.read_bytes())
    table = bytearray(base64.b64decode(file["state"]))
    table[200] ^= 0x40
    path.write_text(json.dumps(file | {"state": base64.b64encode(table).decode()}))
    assert main(["arena", "--repro", str(path)]) != ExitCode.OK
    assert f"{path} is not as it was written" in capsys.readouterr().err


# --- kept reviews, and reviews as JSON -----------------------------------------------------------


def test_damaged_reviews_are_named(tmp_path: Path) -> None:
    path, header = tmp_path / "me-games.jsonl", ReviewedHeader("me", "fast-riichi-d", 0.0, 0)
    with open_games_file(path, header) as log:
        for number in range(3):
            log.append(ReviewedSource(source=f"{number}.mjson", content="d" * 16))
    refused, taken = each_damage(path, lambda: read_games_file(path))
    assert refused and taken
    changed = path.read_bytes().replace(b"1.mjson", b"7.mjson")
    path.write_bytes(changed)
    assert "line 3: this line is not as it was written" in refusal(lambda: read_games_file(path))
    unchecked = msgspec.json.encode(ReviewedSource(source="0.mjson", content="d"))  # of before
    path.write_bytes(changed.partition(b"\n")[0] + b"\n" + unchecked + b"\n")
    assert [line.source for line in read_games_file(path)[1]] == ["0.mjson"]


def test_a_damaged_review_is_no_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    review, out = tmp_path / "review.json", tmp_path / "page.html"
    options = ["--seat", "0", "--by", "fast-riichi-d", "--playouts", "0", "--out", str(out)]
    assert main(["review", str(LOG), *options, "--json", str(review)]) == ExitCode.OK
    capsys.readouterr()
    for number, _ in enumerate(damages(review, FORMS)):
        out.unlink(missing_ok=True)
        code = main(["watch", str(LOG), "--review", str(review), "--out", str(out)])
        err = capsys.readouterr().err
        assert "Traceback" not in err and out.exists() == (code == ExitCode.OK), number
        assert code == ExitCode.OK or str(review) in err or "--seat" in err, err


# --- training ------------------------------------------------------------------------------------


def test_damaged_training_runs_are_named(tmp_path: Path) -> None:
    with RunFolder(tmp_path, "fold") as folder:
        arrays = {"step": np.arange(40), "weights": np.linspace(0, 1, 50)}
        folder.write("state.npz", lambda file: np.savez(file, **arrays))
    path = tmp_path / "state.npz"
    refused, taken = each_damage(path, lambda: load_kept(path, ("step", "weights")))
    assert refused > taken
    for form in damages(path, FORMS):
        if form and not refusal(lambda: load_kept(path, ("step", "weights"))):
            kept = load_kept(path, ("step", "weights"))
            assert all((kept[name] == arrays[name]).all() for name in arrays)

    def reopened() -> None:
        with RunFolder(tmp_path, "fold"):
            pass

    each_damage(tmp_path / "run.jsonl", reopened)


def test_damaged_weights_are_named(tmp_path: Path) -> None:
    manifest = Manifest(data="none", command="none", seed=0, scores={})
    save_weights("net", {"a": np.arange(30.0)}, manifest, tmp_path)

    def loaded() -> None:
        load_weights.cache_clear()
        load_weights("net", tmp_path)

    each_damage(tmp_path / "net.npz", loaded)
    each_damage(tmp_path / "net.json", loaded)
    each_damage(tmp_path / "net.json", lambda: load_manifest("net", tmp_path))


# --- what services, servers and commands read ----------------------------------------------------


def test_damaged_profiles_accounts_tokens_and_rules_are_named(tmp_path: Path) -> None:
    path = tmp_path / "mjbot.toml"
    path.write_text('[bot]\nstrategy = "tsumogiri"\n# \xe9\n', encoding="utf-8")

    def profile() -> None:
        RunProfile(path).values(RunRequest)

    refused, taken = each_damage(path, profile)
    assert refused and taken
    path.write_text("a = " + "[" * 5000)
    assert "nested too deeply" in refusal(profile)
    accounts = tmp_path / "accounts.txt"
    accounts.write_text(f"one {'0' * 64}\ntwo {'1' * 64} # \xe9\n", encoding="utf-8")
    each_damage(accounts, lambda: Accounts.read(accounts))
    token = tmp_path / "token.txt"
    token.write_text("a-token-of-many-letters\n")
    each_damage(token, lambda: secrets_in(token))
    named = tmp_path / "rules.toml"
    named.write_text('length = "tonpu"\nbust = false\n# \xe9\n', encoding="utf-8")
    for _ in damages(named, FORMS):
        assert "Traceback" not in rules_refusal(named)
    named.write_text("a = " + "[" * 5000)
    assert "rules.toml" in rules_refusal(named)


def rules_refusal(path: Path) -> str:
    from argparse import ArgumentTypeError

    try:
        rules(str(path), (4,))
    except ArgumentTypeError as error:
        return str(error)
    return ""


def test_a_damaged_ledger_costs_its_lines_only(tmp_path: Path) -> None:
    kept = KeptGames(tmp_path, "owner")
    for number in range(3):
        game = kept.begin()
        file = tmp_path / f"{number}.mjson"
        file.write_text("{}")
        kept.add(game, file, is_record=True)
        kept.finish(game)
    kept.close()
    (ledger,) = tmp_path.glob(".mjbot-*.ledger")
    for _ in damages(ledger, FORMS):
        KeptGames(tmp_path, "owner").close()
        assert len(list(tmp_path.glob("*.mjson"))) == 3  # nothing is removed by mistake
    ledger.write_bytes(b'[1,"a\\u0000b",true]\n[1,"\xff",true]\n' + b"[" * 5000 + b"\n")
    KeptGames(tmp_path, "owner").close()


def test_a_damaged_status_file_is_written_whole(tmp_path: Path) -> None:
    path, status = tmp_path / "status.json", Status(clock=lambda: 0.0)
    status.write(path)
    whole = path.read_bytes()
    for form in damages(path, 12):
        path.with_name("status.json.unfinished").write_bytes(form)  # of a power cut
        status.write(path)
        assert json.loads(path.read_bytes()).keys() == json.loads(whole).keys()
        assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_damaged_counts_of_a_detection_are_named_or_counted_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["detect", str(LOG), "--json", "--jobs", "1", "--folder", str(tmp_path)]
    assert main(command) == ExitCode.OK
    whole = capsys.readouterr().out
    path = tmp_path / "counts.jsonl"
    kept, refused = path.read_bytes(), 0
    for _ in damages(path, 2):
        code = main(command)
        shown = capsys.readouterr()
        assert "Traceback" not in shown.err
        if code == ExitCode.OK:
            assert shown.out == whole and path.read_bytes() == kept
        else:
            last = shown.err.splitlines()[-1]
            assert f"{path}" in last and ("delete that" in last or "--folder" in last)
            refused += 1
    assert refused


def test_damaged_evidence_is_named(tmp_path: Path) -> None:
    path = tmp_path / "game.evidence.jsonl"
    replies = [make_reply(line, 1, 0.1, b'{"type":"none"}', ("accepted", "")) for line in (1, 2, 3)]
    path.write_bytes(msgspec.json.Encoder().encode_lines(replies))
    refused, taken = each_damage(path, lambda: list(read_evidence(path)))
    assert refused and taken  # without a last line that was cut off


def test_a_damaged_manifest_of_compiled_code_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / shipped.MANIFEST
    path.write_text(json.dumps({"files": {"a": "0" * 64}, "variants": ["a"], "versions": []}))
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    read = shipped._manifest.__wrapped__
    assert read()["variants"] == ["a"]
    for _ in damages(path, FORMS):
        assert isinstance(read(), dict)
    for text in ("[" * 100_000, "5", '{"files":[]}'):
        path.write_text(text)
        assert read() == {}


def test_a_damaged_package_is_installed_again(tmp_path: Path) -> None:
    path = tmp_path / "node_modules" / "x" / "package.json"
    path.parent.mkdir(parents=True)
    for text in ("", "[]", "5", '"x"', "{}", '{"version":', "[" * 5000):
        path.write_text(text)
        assert _installed_version(tmp_path, "x") is None
    path.write_text('{"version": "1.2.3"}')
    assert _installed_version(tmp_path, "x") == "1.2.3"
