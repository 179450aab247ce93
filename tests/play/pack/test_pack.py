"""A packed bot: what is in the zip, what it says where it is unpacked, and who is refused."""

import asyncio
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from mjbot.cli.main import main
from mjbot.play.pack import contents
from mjbot.play.pack.bot import HandTracker
from mjbot.play.pack.contents import MOST_BYTES, ROOT, contents_for
from mjbot.play.pack.player import PackedPlayer
from mjbot.play.pack.zipped import PackError, pack, write_zip
from mjbot.runtime.errors import ArgumentError
from mjbot.strategy.registry import Spec

HIDDEN = ["?"] * 13
OWN = ["E", "6p", "9m", "8m", "C", "2s", "7m", "S", "6m", "1m", "S", "3s", "8m"]
START_GAME = [{"type": "start_game", "names": ["0", "1", "2", "3"], "id": 0}]
START_KYOKU = {
    "type": "start_kyoku",
    "bakaze": "E",
    "dora_marker": "2s",
    "kyoku": 1,
    "honba": 0,
    "kyotaku": 0,
    "oya": 0,
    "scores": [25000] * 4,
    "tehais": [OWN, HIDDEN, HIDDEN, HIDDEN],
}
OWN_DRAW = {"type": "tsumo", "actor": 0, "pai": "1m"}
KINDS = ("chi", "discard", "kan", "pon", "riichi")
GUARD_S = 300
PLAIN_BOT = """
import mjbot

class MyBot(mjbot.Strategy):
    def decide(self, view):
        return view.legal[0]
"""
OWN_BOT = """
from dataclasses import dataclass
from pathlib import Path

import mjbot
import my_habits

@dataclass
class MyBot(mjbot.Strategy):
    luck: int = 0

    def decide(self, view):
        assert self.luck == 3 and my_habits.WORD == "first"
        assert Path(__file__).with_name("table").joinpath("words.txt").read_text() == "read\\n"
        return view.legal[0]
"""
PASSES = """
import sys

def play_lines(name, seat):
    for _ in sys.stdin:
        print('{"type": "none"}', flush=True)
"""


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """Return a zip of tsumogiri, without packages."""
    out = tmp_path_factory.mktemp("zip") / "tsumogiri.zip"
    pack(contents_for(Spec.read("tsumogiri")), out, None, bare=True)
    return out


@pytest.fixture
def unpacked(packed, tmp_path):
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(tmp_path)
    return tmp_path


def talk(folder, *arrays):
    """Return the answers of ``bot.py 0`` to the arrays, and what it wrote on stderr."""
    output = "".join(json.dumps(array) + "\n" for array in arrays)
    kept = {key: os.environ[key] for key in ("PATH", "HOME", "MJBOT_CACHE") if key in os.environ}
    done = subprocess.run(
        [sys.executable, "-u", "bot.py", "0"],
        cwd=folder,
        env=kept,
        input=output,
        capture_output=True,
        text=True,
        timeout=GUARD_S,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


# --- what is in it ---------------------------------------------------------------------------


def test_it_holds_the_bot_and_what_it_imports_and_nothing_else(packed):
    with zipfile.ZipFile(packed) as archive:
        names = archive.namelist()
        texts = b"".join(map(archive.read, names))
    ours = [name for name in names if name not in ("bot.py", "strategy.txt")]
    assert len(ours) == len(names) - 2
    assert all(name.startswith(("mjbot/", "protocol/", "strategies/")) for name in ours)
    assert all(name.endswith(".py") for name in ours)
    assert [name for name in names if name.startswith("strategies/")] == [
        "strategies/__init__.py",
        "strategies/tsumogiri.py",
    ]
    assert not [name for name in ours if name.startswith(("mjbot/cli/", "mjbot/play/server/"))]
    assert "mjbot/runtime/compiler/portable.py" in names  # what only bot.py imports
    assert str(ROOT).encode() not in texts
    assert str(packed.parent).encode() not in texts


@pytest.mark.parametrize(
    "name, weights",
    [
        ("fast-riichi-d", set()),
        (
            "supervised-paper",
            {f"paper-{kind}" for kind in ["chi", "discard", "kan", "pon", "riichi"]},
        ),
    ],
)
def test_it_holds_the_weights_that_are_played_with(name, weights):
    files = contents_for(Spec.read(name)).files
    assert {Path(file).stem for file in files if file.endswith(".npz")} == weights


def test_it_holds_a_strategy_that_an_option_names():
    files = contents_for(Spec.read("combo-partner,base=fold-recognition")).files
    assert "strategies/fold_recognition.py" in files
    assert "strategies/fold_recognition.py" not in contents_for(Spec.read("combo-partner")).files


def test_a_file_of_the_users_comes_with_its_neighbours_and_what_is_named_beside(tmp_path):
    (tmp_path / "my_bot.py").write_text(OWN_BOT)
    (tmp_path / "my_habits.py").write_text("WORD = 'first'\n")
    (tmp_path / "not_mine.py").write_text("")
    (tmp_path / "table").mkdir()
    (tmp_path / "table" / "words.txt").write_text("read\n")
    spec = Spec.read(f"{tmp_path / 'my_bot.py'}:MyBot,luck=3")
    found = contents_for(spec, [tmp_path / "table" / "words.txt"])
    assert str(found.spec) == "own/my_bot.py:MyBot,luck=3"
    users = [place for place in found.files if place.startswith("own/")]
    assert users == ["own/my_bot.py", "own/my_habits.py", "own/table/words.txt"]
    assert "numpy" in found.packages

    (tmp_path / "unpacked").mkdir()
    pack(found, tmp_path / "mine.zip", None, bare=True)
    with zipfile.ZipFile(tmp_path / "mine.zip") as archive:
        archive.extractall(tmp_path / "unpacked")
    (tmp_path / "my_bot.py").unlink()
    bot = tmp_path / "unpacked" / "bot.py"
    bot.write_text(
        bot.read_text().replace("PATIENCE_AT_START_S = 4.0", f"PATIENCE_AT_START_S = {GUARD_S}")
    )
    answers, report = talk(tmp_path / "unpacked", START_GAME, [START_KYOKU, OWN_DRAW])
    assert (answers[1]["type"], answers[1]["tsumogiri"]) == ("dahai", False)
    assert "own/my_bot.py:MyBot,luck=3 plays" in report


@pytest.mark.parametrize(
    "imported, beside, words",
    [
        ("import torch", [], "needs torch, which is not packed"),
        ("", ["gone.txt"], "no such file"),
        ("", ["../outside.txt"], "must lie in the folder of my_bot.py or below"),
    ],
)
def test_what_the_users_file_lacks_is_told_in_one_line(imported, beside, words, tmp_path):
    folder = tmp_path / "own"
    folder.mkdir()
    (tmp_path / "outside.txt").write_text("")
    (folder / "my_bot.py").write_text(f"if 0:\n    {imported or 'pass'}\n{PLAIN_BOT}")
    with pytest.raises(ValueError, match=words):
        contents_for(Spec.read(f"{folder / 'my_bot.py'}:MyBot"), [folder / name for name in beside])


def packable(folder, *, imports="", name="my_bot.py"):
    """Write a bot into the folder and return its spec."""
    (folder / name).write_text(f"{imports}\n{PLAIN_BOT}")
    return Spec.read(f"{folder / name}:MyBot")


def test_a_link_is_packed_under_the_name_by_which_the_bot_opens_it(tmp_path):
    (tmp_path / "weights-2.npz").write_bytes(b"2")
    (tmp_path / "weights.npz").symlink_to("weights-2.npz")
    (tmp_path / "habits_2.py").write_text("")
    (tmp_path / "habits.py").symlink_to("habits_2.py")
    spec = packable(tmp_path, imports="import habits")
    files = contents_for(spec, [tmp_path / "weights.npz"]).files
    own = {place: file.name for place, file in files.items() if place.startswith("own/")}
    assert own == {
        "own/my_bot.py": "my_bot.py",
        "own/habits.py": "habits_2.py",
        "own/weights.npz": "weights-2.npz",
    }


@pytest.mark.parametrize(
    ("link", "imports", "named"),
    [("table.txt", "", "--beside .*table.txt"), ("habits.py", "import habits", "/.*habits.py")],
)
def test_a_link_that_leads_out_of_the_folder_is_refused(tmp_path, link, imports, named):
    secret = tmp_path / "secret"
    secret.write_text("")
    bot = tmp_path / "bot"
    bot.mkdir()
    (bot / link).symlink_to(secret)
    spec = packable(bot, imports=imports)
    with pytest.raises(ArgumentError, match=f"^{named}: must .*, not lead to {secret}$"):
        contents_for(spec, [] if imports else [bot / link])


@pytest.mark.parametrize("name", [b"w\xff.npz", b"w\n.npz", "w\u202e.npz".encode()])
def test_a_name_that_a_zip_or_a_terminal_cannot_show_is_refused(tmp_path, name):
    file = tmp_path / os.fsdecode(name)
    file.write_bytes(b"")
    with pytest.raises(ArgumentError, match="has characters that cannot be packed; rename it"):
        contents_for(packable(tmp_path), [file])


def test_a_file_with_a_dot_in_its_name_is_packed(tmp_path):
    files = contents_for(packable(tmp_path, name="my.bot.py")).files
    assert "own/my.bot.py" in files


def test_files_that_are_too_large_together_are_refused_before_anything_is_copied(tmp_path):
    with (tmp_path / "weights.npz").open("wb") as file:
        file.truncate(MOST_BYTES + 1)  # takes no room
    with pytest.raises(ArgumentError, match=r"^my_bot.py and its --beside files have 1000 MB"):
        contents_for(packable(tmp_path), [tmp_path / "weights.npz"])


def test_the_user_s_files_are_listed(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    packable(tmp_path)
    (tmp_path / "notes.txt").write_text("")
    assert main(["pack", "my_bot.py:MyBot", "--bare", "--beside", "notes.txt"]) == 0
    output = capsys.readouterr().err
    assert "mjbot pack: your files in it: own/my_bot.py, own/notes.txt\n" in output


def test_a_link_where_the_zip_is_written_is_not_followed(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "file").write_text("packed")
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / f".out.zip.{os.getpid()}").symlink_to(victim)
    with pytest.raises(FileExistsError):
        write_zip(tmp_path / "in", tmp_path / "out.zip")
    assert victim.read_text() == "precious"


def test_the_same_strategy_gives_the_same_bytes(packed, tmp_path):
    again = tmp_path / "again.zip"
    pack(contents_for(Spec.read("tsumogiri")), again, None, bare=True)
    assert again.read_bytes() == packed.read_bytes()


# --- what it says where it is unpacked --------------------------------------------------------


def test_unpacked_in_a_folder_of_its_own_it_answers(unpacked):
    answers, _ = talk(unpacked, START_GAME, [START_KYOKU, OWN_DRAW], [{"type": "end_kyoku"}])
    discard = {"type": "dahai", "actor": 0, "pai": "1m", "tsumogiri": True}
    assert answers == [{"type": "none"}, discard, {"type": "none"}]


def test_the_strategy_decides_once_it_is_there():
    async def answers():
        player = PackedPlayer(Spec.read("fast-riichi-d"), 0)
        await player.warm_up()
        lines = [START_GAME, [START_KYOKU, OWN_DRAW]]
        return [json.loads(await player.answer(json.dumps(line).encode(), True)) for line in lines]

    nothing, discard = asyncio.run(answers())
    assert nothing == {"type": "none"}
    assert (discard["type"], discard["tsumogiri"]) == ("dahai", False)


def test_lines_that_have_waited_are_taken_in_without_thinking():
    async def answers():
        player = PackedPlayer(Spec.read("tsumogiri"), 0)
        discard = {"type": "dahai", "actor": 0, "pai": "S", "tsumogiri": False}
        call = {"type": "pon", "actor": 2, "target": 0, "pai": "S", "consumed": ["S", "S"]}
        later = {"type": "dahai", "actor": 2, "pai": "9m", "tsumogiri": False}
        draws = [{"type": "tsumo", "actor": 3, "pai": "?"}]
        draws += [{"type": "dahai", "actor": 3, "pai": "9p", "tsumogiri": True}]
        draws += [{"type": "tsumo", "actor": 0, "pai": "N"}]
        for line in (START_GAME, [START_KYOKU, OWN_DRAW]):
            await player.answer(json.dumps(line).encode(), False)
        line = json.dumps([discard, call, later, *draws]).encode()
        return json.loads(await player.answer(line, True))

    output = asyncio.run(answers())
    assert output == {"type": "dahai", "actor": 0, "pai": "N", "tsumogiri": True}


def test_a_player_that_ends_is_replaced_by_safe_answers(unpacked):
    (unpacked / "mjbot/play/pack/player.py").write_text("raise SystemExit(1)")
    answers, report = talk(unpacked, START_GAME, [START_KYOKU, OWN_DRAW])
    assert [answer["type"] for answer in answers] == ["none", "dahai"]
    assert "tsumogiri has ended: safe answers" in report


def test_a_player_that_is_not_ready_is_replaced_until_it_is(unpacked):
    bot = unpacked / "bot.py"
    bot.write_text(
        bot.read_text().replace("PATIENCE_AT_START_S = 4.0", "PATIENCE_AT_START_S = 0.0")
    )
    (unpacked / "mjbot/play/pack/player.py").write_text("import sys; sys.stdin.read()")
    answers, report = talk(unpacked, START_GAME, [START_KYOKU, OWN_DRAW])
    assert [answer["type"] for answer in answers] == ["none", "dahai"]
    assert "tsumogiri is not ready: safe answers" in report


def test_a_pass_where_a_discard_is_due_is_replaced(unpacked):
    (unpacked / "mjbot/play/pack/player.py").write_text(PASSES)
    answers, report = talk(unpacked, START_GAME, [START_KYOKU, OWN_DRAW])
    assert [answer["type"] for answer in answers] == ["none", "dahai"]
    assert "tsumogiri passes where a discard is due" in report


def test_a_line_that_is_no_array_is_passed(unpacked):
    (unpacked / "mjbot/play/pack/player.py").write_text("raise SystemExit(1)")
    answers, report = talk(unpacked, {"type": "start_game"}, START_GAME)
    assert answers == [{"type": "none"}, {"type": "none"}]
    assert "no array of events" in report


MALFORMED = [
    [{"type": "start_game", "id": "x"}],
    [{"type": "start_game", "id": 9}, START_KYOKU, OWN_DRAW],
    [{"type": "start_kyoku"}],
    [{"type": "start_kyoku", "tehais": None}],
    [{"type": "start_kyoku", "tehais": [5, 5, 5, 5]}],
    [{"type": "tsumo", "actor": 0}],
    [{"type": "tsumo", "actor": 0, "pai": 5}],
    [{"type": "pon", "actor": 0, "pai": "zm", "consumed": 3}],
    [{"type": "chi", "actor": 0, "pai": {}, "consumed": ["?"]}],
    [{"type": ["tsumo"], "actor": {}}],
]


def test_malformed_events_end_neither_the_bot_nor_its_player(unpacked):
    answers, received = talk(unpacked, START_GAME, *MALFORMED, START_GAME, [START_KYOKU, OWN_DRAW])
    assert len(answers) == len(MALFORMED) + 3
    assert answers[-1] == {"type": "dahai", "actor": 0, "pai": "1m", "tsumogiri": True}
    assert "malformed event: KeyError" in received
    assert "has ended" not in received


def test_a_line_that_is_nested_too_deeply_is_passed(unpacked):
    nested = "[" * 200_000
    done = subprocess.run(
        [sys.executable, "bot.py", "0"], cwd=unpacked, input=f"{nested}\n", text=True,
        capture_output=True, timeout=GUARD_S, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout) == {"type": "none"}


def test_a_safe_discard_after_a_call_swaps_no_tile():
    hand = HandTracker(0)
    chi = {"type": "chi", "actor": 0, "target": 3, "pai": "5mr", "consumed": ["6m", "7m"]}
    tehais = [["6m", "7m", "1p", "2p", "5m", "8m"], HIDDEN, HIDDEN, HIDDEN]
    for event in ({"type": "start_kyoku", "tehais": tehais}, chi):
        hand.take(event)
    answer = hand.safe_answer(chi)
    assert answer == {"type": "dahai", "actor": 0, "pai": "2p", "tsumogiri": False}


def test_nothing_is_answered_to_others():
    hand = HandTracker(1)
    hand.take({"type": "start_kyoku", "tehais": [HIDDEN, OWN, HIDDEN, HIDDEN]})
    assert hand.safe_answer({"type": "dahai", "actor": 0, "pai": "S"}) == {"type": "none"}


# --- who is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["tsumogirl"], "unknown strategy 'tsumogirl'"),
        (["external:python bot.py"], "a foreign program cannot be packed"),
        (["no_bot.py:MyBot"], "no such file no_bot.py"),
        (["tsumogiri", "--beside", "there.zip"], "only for a class of your own file"),
        (["supervised,weights=some/folder"], "weights names a file of this machine"),
        (["tsumogiri", "--python", "no-such-python"], "--python no-such-python: cannot be run"),
        (["tsumogiri", "--out", "there.zip"], "there.zip: exists already"),
        (["tsumogiri", "--out", "nowhere/a.zip"], "no folder nowhere"),
    ],
)
def test_what_cannot_be_packed_is_refused_in_one_line(
    arguments, words, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.zip").write_text("mine")
    bare = [] if "--python" in arguments else ["--bare"]
    assert main(["pack", *arguments, *bare]) == 2
    (report,) = capsys.readouterr().err.splitlines()
    assert words in report
    assert [file.name for file in tmp_path.iterdir()] == ["there.zip"]


def test_what_imports_more_is_refused(monkeypatch):
    monkeypatch.setattr(contents, "PACKAGES", {"numba": "", "numpy": "", "llvmlite": ""})
    with pytest.raises(ValueError, match="tsumogiri: needs msgspec, which is not packed"):
        contents_for(Spec.read("tsumogiri"))


def test_a_zip_that_is_too_large_is_not_left(tmp_path):
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "noise").write_bytes(os.urandom(2000))
    with pytest.raises(PackError, match="takes at most 0"):
        write_zip(tmp_path / "files", tmp_path / "out.zip", most_bytes=1000)
    assert [file.name for file in tmp_path.iterdir()] == ["files"]
