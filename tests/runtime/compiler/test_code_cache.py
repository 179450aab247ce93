"""Compiled code is kept by content alone: what changes is compiled anew, a copy is not."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mjbot.runtime.compiler.cache import prune
from mjbot.runtime.compiler.claims import Claims

ROOT = Path(__file__).parents[3]
COUNT = """
import sys
sys.path[:0] = [sys.argv[1]]
import mjbot, mjbot.runtime.compiler.events
made = []
mjbot.runtime.compiler.events.on_compiled.append(made.append)
from mjbot.runtime.compiler.splitmix import mix
import numpy as np
mix(np.uint64(7))
assert mjbot.__file__.startswith(sys.argv[1]), mjbot.__file__
print(*made)
"""


@pytest.fixture
def checkout(tmp_path):
    """A second checkout of the same source, as a clone would be."""

    def copy(name):
        shutil.copytree(ROOT / "mjbot", tmp_path / name / "mjbot")
        return tmp_path / name

    return copy


def compiled_by(folder, cache, **environ):
    environ = {**os.environ, **environ, "MJBOT_CACHE": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", COUNT, str(folder)],
        env=environ, capture_output=True, text=True, check=True, cwd=folder,
    )  # fmt: skip
    return done.stdout.split()


def digests_in(folder):
    ask = (
        "from mjbot.runtime.compiler.sources import source_digest as of; "
        "print(of('own'), of('other'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", ask], capture_output=True, text=True, check=True, cwd=folder,
    )  # fmt: skip
    return done.stdout.split()


def test_a_second_checkout_of_the_same_source_compiles_nothing(checkout, tmp_path):
    assert compiled_by(checkout("one"), tmp_path / "cache") == ["mix"]
    assert compiled_by(checkout("two"), tmp_path / "cache") == []


def test_code_of_a_level_that_the_user_has_chosen_is_kept_apart(tmp_path, monkeypatch):
    monkeypatch.delenv("NUMBA_OPT", raising=False)
    compiled = [
        compiled_by(ROOT, tmp_path, **environ)
        for environ in ({}, {"NUMBA_OPT": "1"}, {"NUMBA_OPT": "0"}, {"NUMBA_OPT": "0"})
    ]
    assert compiled == [["mix"], [], ["mix"], []]


def test_a_change_below_compiles_again(checkout, tmp_path):
    one = checkout("one")
    compiled_by(one, tmp_path / "cache")
    below = one / "mjbot" / "runtime" / "compiler" / "record_arguments.py"
    below.write_text(below.read_text() + "\n# changed\n")
    assert compiled_by(one, tmp_path / "cache") == ["mix"]


@pytest.mark.parametrize(
    "imports",
    [
        "from mjbot import shanten",
        "from mjbot import (\n    Strategy,\n    shanten,\n)",
        "import mjbot",
    ],
)
def test_who_imports_from_the_face_depends_on_what_is_behind_it(checkout, imports):
    one = checkout("one")
    (one / "own.py").write_text(imports + "\n")
    (one / "other.py").write_text("from mjbot import Action\nfrom mjbot.runtime import errors\n")
    before = digests_in(one)
    below = one / "mjbot" / "game" / "rules" / "tables.py"
    below.write_text(below.read_text() + "\n# changed\n")
    after = digests_in(one)
    assert before[0] != after[0]
    assert before[1] == after[1]


def test_damaged_code_is_made_again(checkout, tmp_path):
    one = checkout("one")
    compiled_by(one, tmp_path / "cache")
    for file in (tmp_path / "cache").rglob("*.nbc"):
        file.write_bytes(file.read_bytes()[:100])
    assert compiled_by(one, tmp_path / "cache") == ["mix"]
    assert compiled_by(one, tmp_path / "cache") == []


def test_what_was_used_longest_ago_goes_first_and_what_is_in_use_stays(tmp_path):
    ages = {"old": 9e5, "older": 1e6, "recent": 60.0, "new": 9e3}
    for name, age_s in ages.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "code.nbc").write_bytes(bytes(1000))
        os.utime(tmp_path / name, (time.time() - age_s,) * 2)
    prune(tmp_path, kept_bytes=3500)
    assert {folder.name for folder in tmp_path.iterdir()} == {"old", "recent", "new"}
    prune(tmp_path, kept_bytes=0)
    assert {folder.name for folder in tmp_path.iterdir()} == {"recent"}


BESIDE = """
import sys, threading
from pathlib import Path
from mjbot.runtime.compiler import cache, code_cache, events
from mjbot.runtime.compiler.claims import Claims

other = Claims(Path(sys.argv[1]))
waits = threading.Event()
cache.share_compiling(Claims(Path(sys.argv[1]), waits.set))
made = []
events.on_compiled.append(made.append)

from mjbot.runtime.compiler.splitmix import mix
import numpy as np

claim = "mix"
code_cache.CodeCache._claim = lambda self, sig: claim
assert not other.take(claim)
asking = threading.Thread(target=mix, args=(np.uint64(7),))
asking.start()
assert waits.wait(60)
assert not made
other.give_up(claim)
asking.join()
print(*made)
"""


def test_what_another_process_is_compiling_is_waited_for(tmp_path):
    """Whoever held it made nothing: then it is compiled here, once."""
    (tmp_path / "claims").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", BESIDE, str(tmp_path / "claims")],
        env={**os.environ, "MJBOT_CACHE": str(tmp_path / "cache")},
        capture_output=True, text=True, check=False, cwd=ROOT, timeout=300,
    )  # fmt: skip
    assert (done.stdout.split(), done.stderr) == (["mix"], "")
    claims = Claims(tmp_path / "claims")
    assert not claims.take("anything")
    assert not claims.take("anything")  # its own
    claims.give_up("anything")
    claims.give_up("anything")


def test_two_processes_share_the_work(tmp_path):
    """Both ask for the same function at once: one makes it, the other finds it."""
    (tmp_path / "claims").mkdir()
    share = "from mjbot.runtime.compiler.claims import Claims\nfrom pathlib import Path\n"
    share += "from mjbot.runtime.compiler.cache import share_compiling\n"
    share += f"share_compiling(Claims(Path({str(tmp_path / 'claims')!r})))\n"
    code = COUNT.replace(
        "from mjbot.runtime.compiler.splitmix", f"{share}from mjbot.runtime.compiler.splitmix"
    )
    both = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(ROOT)],
            env={**os.environ, "MJBOT_CACHE": str(tmp_path / "cache")},
            stdout=subprocess.PIPE, text=True, cwd=ROOT,
        )
        for _ in range(2)
    ]  # fmt: skip
    assert sorted(process.communicate()[0].split() for process in both) == [[], ["mix"]]


CALLER = """
from mjbot.runtime.compiler.compiled import compiled
from mjbot.game.rules.made_callee import value

@compiled
def twice():
    return 2 * value()
"""
CALLEE = """
from mjbot.runtime.compiler.compiled import compiled

@compiled
def value():
    return {}
"""
CONSTANT = """
from mjbot.runtime.compiler.compiled import compiled
from mjbot.game.rules.made_constant import VALUE

@compiled
def value():
    return VALUE
"""
IMPORT_WHILE_SAVED = """
import importlib, sys
from pathlib import Path
saved = importlib.import_module(f"mjbot.game.rules.{sys.argv[1]}")
if len(sys.argv) > 2:
    Path(saved.__file__).write_text(sys.argv[2])
from mjbot.game.rules.made_caller import twice
print(twice())
"""


def doubled(folder, cache, *saved):
    environ = {**os.environ, "MJBOT_CACHE": str(cache), "PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", IMPORT_WHILE_SAVED, *saved]
    done = subprocess.run(
        command, env=environ, capture_output=True, text=True, check=True, cwd=folder
    )
    return int(done.stdout), done.stderr


def test_a_file_saved_while_a_process_starts_leaves_no_stale_code(checkout, tmp_path):
    folder, cache = checkout("one"), tmp_path / "cache"
    (folder / "mjbot/game/rules/made_constant.py").write_text("VALUE = 1\n")
    (folder / "mjbot/game/rules/made_callee.py").write_text(CONSTANT)
    (folder / "mjbot/game/rules/made_caller.py").write_text(CALLER)
    result, message = doubled(folder, cache, "made_constant", "VALUE = 1000\n")
    assert result == 2  # the constant as it was imported
    assert "made_constant.py changed while it was imported" in message
    assert doubled(folder, cache, "made_constant")[0] == 2000
    assert doubled(folder, tmp_path / "fresh", "made_constant")[0] == 2000


def test_a_file_saved_after_its_functions_were_declared_counts_as_it_was_then(checkout, tmp_path):
    folder, cache = checkout("one"), tmp_path / "cache"
    (folder / "mjbot/game/rules/made_callee.py").write_text(CALLEE.format(1))
    (folder / "mjbot/game/rules/made_caller.py").write_text(CALLER)
    assert doubled(folder, cache, "made_callee", CALLEE.format(1000)) == (2, "")
    assert doubled(folder, cache, "made_callee")[0] == 2000
    (folder / "mjbot/game/rules/made_callee.py").write_text(CALLEE.format(1))
    assert doubled(folder, cache, "made_callee")[0] == 2


def test_a_paper_s_modules_count_among_what_code_depends_on():
    from mjbot.runtime.compiler.sources import with_imports

    assert "papers.one_player.game" in with_imports("papers.one_player.search")


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no owners of files here")
@pytest.mark.parametrize("variable", ["MJBOT_CACHE", "MJBOT_CLAIMS"])
@pytest.mark.parametrize("spoil", ["everybody", "group", "owner"])
def test_a_cache_that_others_can_write_is_refused_in_one_line(tmp_path, spoil, variable):
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    if spoil == "everybody":
        cache.chmod(0o777)
    elif os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    else:
        os.chown(cache, 65534 if spoil == "owner" else 0, 65534)
        cache.chmod(0o700 if spoil == "owner" else 0o770)
    environ = {**os.environ, variable: str(cache)}
    refused = subprocess.run(
        [sys.executable, "-m", "mjbot", "arena", "tsumogiri", "tsumogiri", "--games", "4"],
        env=environ, capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    assert refused.returncode == 3
    (line,) = refused.stderr.splitlines()
    what = {"MJBOT_CACHE": "cache of compiled code", "MJBOT_CLAIMS": "folder of claims"}[variable]
    assert line.startswith(f"mjbot: {cache}: the {what} ")
    assert f"set {variable} to" in line
    assert not list(cache.iterdir())


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no owners of files here")
@pytest.mark.parametrize("place", ["py/planted.nbi", "py", "rules-1.npz"])
@pytest.mark.parametrize("spoil", ["everybody", "owner"])
def test_what_was_planted_while_a_cache_was_open_is_refused_when_it_is_private(
    tmp_path, place, spoil
):
    """The cure is to delete it: a folder that is private afterwards still holds it."""
    if spoil == "owner" and os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    cache = tmp_path / "cache"
    (cache / "py").mkdir(parents=True)
    planted = cache / place
    if not planted.exists():
        planted.write_bytes(b"code")
    if spoil == "owner":
        os.chown(planted, 65534, 65534)
    else:
        planted.chmod(0o777)
    cache.chmod(0o700)
    refused = subprocess.run(
        [sys.executable, "-c", "from mjbot.runtime.compiler import cache; cache.cache_folder()"],
        env={**os.environ, "MJBOT_CACHE": str(cache)}, capture_output=True, text=True, check=False,
        cwd=ROOT,
    )  # fmt: skip
    line = refused.stderr.splitlines()[-1]
    assert f"{cache}: in the cache of compiled code, {planted} " in line
    assert f"delete {cache} with all that is in it" in line and "chmod" not in line


def test_a_cache_of_this_user_s_own_is_used_links_and_all(tmp_path):
    (tmp_path / "link").symlink_to("nowhere")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("")
    command = "from mjbot.runtime.compiler.cache import cache_folder; print(cache_folder())"
    done = subprocess.run(
        [sys.executable, "-c", command], env={**os.environ, "MJBOT_CACHE": str(tmp_path)},
        capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    assert done.stdout.strip() == str(tmp_path)


MADE_AT_ONCE = """
import os
from mjbot.runtime.compiler.cache import cache_folder
assert oct(os.stat(cache_folder()).st_mode)[-3:] == "700"
"""


def test_a_cache_that_is_missing_is_made_at_once_for_this_user_alone(tmp_path):
    environ = {**os.environ, "MJBOT_CACHE": str(tmp_path / "deep" / "cache")}
    command = [sys.executable, "-c", MADE_AT_ONCE]
    subprocess.run(command, env=environ, check=True, cwd=ROOT)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no owners of files here")
def test_no_distance_tables_are_read_from_a_folder_that_others_can_write(tmp_path):
    """They are arrays of known sizes, whose values only the code that makes them can check."""
    tmp_path.chmod(0o777)
    command = [sys.executable, "-c", "import mjbot.game.rules.tables"]
    environ = {**os.environ, "MJBOT_CACHE": str(tmp_path)}
    refused = subprocess.run(
        command, env=environ, check=False, cwd=ROOT, capture_output=True, text=True
    )
    assert refused.stderr.splitlines()[-1].startswith(
        f"mjbot.runtime.compiler.cache.CacheError: {tmp_path}"
    )
    assert not list(tmp_path.iterdir())
