"""Where another numba lacks a private part that we use, its own way stays."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numba
import pytest
from numba.core import extending, ir, pythonapi, targetconfig, types
from numba.np import linalg
from packaging.requirements import Requirement
from packaging.version import parse

from mjbot.runtime.compiler import (
    code_cache,
    idle_work,
    jit,
    linking,
    loading,
    numba_parts,
    record_arguments,
)
from proof.plain_numba import scores

PYPROJECT = Path(__file__).parents[3] / "pyproject.toml"
MODULE = """
from mjbot.runtime.compiler.compiled import compiled

@compiled
def half(x):
    return x // 2

@compiled
def caller(x):
    return half(x) + half(7)
"""
MAIN = """
import mjbot.runtime.compiler.events
made = []
mjbot.runtime.compiler.events.on_compiled.append(made.append)
from small_bot import caller
assert caller(40) == 23
print(*sorted(set(made)))
"""


def run(folder, before="", script=MAIN):
    environ = {**os.environ, "MJBOT_CACHE": str(folder / "cache"), "PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", before + script],
        env=environ, capture_output=True, text=True, check=False, cwd=folder, timeout=600,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "small_bot.py").write_text(MODULE)
    return tmp_path


NO_OPTION = "import numba.core.cpu as c; del c._options_mixin.no_cfunc_wrapper"
NO_RUNTIME = "from numba.core import runtime; del runtime.rtsys"
NO_CACHE = """
import os
os.environ["NUMBA_CACHE_DIR"] = {!r}
from numba.core import caching
del caching.CompileResultCacheImpl  # only the name: numba's own classes hold it
"""
NO_TEMPLATE = """
from numba.core import dispatcher, types

def get_call_type(self, context, args, kws):
    template, pysig, args, kws = self.dispatcher.renamed(args, kws)
    signature = template(context).apply(args, kws)
    return signature and signature.replace(pysig=pysig)

base = dispatcher._DispatcherBase
base.renamed = base.get_call_template
del base.get_call_template
types.Dispatcher.get_call_type = get_call_type
"""


def test_this_numba_is_one_that_is_allowed_and_has_every_part():
    """Tried with the oldest and the newest that is allowed by ``python -m proof dependencies``."""
    needed = map(Requirement, tomllib.loads(PYPROJECT.read_text())["project"]["dependencies"])
    (bounds,) = [one.specifier for one in needed if one.name == "numba"]
    oldest, newest = (f"{major}.{minor}" for major, minor in numba_parts.TRIED)
    assert str(bounds) == f">={oldest}"
    assert parse(oldest) <= parse(numba.__version__) < parse(f"{newest}.999")
    assert numba_parts.IS_TRIED
    assert linking.CAN_LINK
    assert code_cache.IS_USABLE
    assert code_cache._LOADS_ALONE and loading.LOADS_ALONE
    assert "no_cfunc_wrapper" in jit._OPTIONS
    assert hasattr(linalg, "ensure_blas")
    assert pythonapi._unboxers.functions[types.Record] is record_arguments._unbox


@pytest.mark.parametrize("change", ["", NO_OPTION, NO_TEMPLATE, NO_RUNTIME])
def test_without_a_part_of_numba_functions_are_compiled_and_kept_all_the_same(folder, change):
    assert run(folder, f"{change}\n") == ["caller", "half"]
    assert run(folder, f"{change}\n") == []


UNTRIED = "import numba; numba.__version__ = '0.99.1'; import logging; logging.disable()"
PLAIN = """
from small_bot import caller
from mjbot.runtime.compiler import code_cache, linking
assert not code_cache.IS_USABLE and not linking.CAN_LINK
assert caller(40) == 23
print(sum(caller.stats.cache_hits.values()))
"""


def test_an_untried_numba_compiles_plainly_and_keeps_code_by_content(folder):
    assert [run(folder, f"{UNTRIED}\n", PLAIN) for _ in range(2)] == [["0"], ["1"]]
    (folder / "small_bot.py").write_text(MODULE.replace("x // 2", "(x + 2) // 2"))
    changed = PLAIN.replace("== 23", "== 25")
    assert run(folder, f"{UNTRIED}\n", changed) == ["0"]


HALVES = """
from mjbot.runtime.compiler.compiled import compiled
from small_bot import caller, half

@compiled
def halves(numbers):
    return half(numbers[0]) + half(3) + caller(numbers[0])
"""
WIDE = """
import numpy as np
from mjbot.runtime.compiler import numba_parts
from halves_bot import caller, half, halves

assert not numba_parts.IS_TRIED and halves(np.full(1, 9, np.int8)) == 12
print(*[len(function.signatures) for function in (half, caller)])
"""


def test_an_untried_numba_compiles_one_version_for_all_integers_if_a_trial_shows_that_it_can(
    folder,
):
    (folder / "halves_bot.py").write_text(HALVES)
    assert run(folder, f"{UNTRIED}\n", WIDE) == ["1", "1"]
    for name, source in ("small_bot.py", MODULE), ("halves_bot.py", HALVES):
        (folder / name).write_text(f"{source}#\n")  # else all is found in the cache
    assert run(folder, f"{UNTRIED}\n{NO_TEMPLATE}\n", WIDE) == ["3", "1"]


def test_an_untried_numba_plays_the_same_game():
    """All strategies: ``python -m proof plain-numba``."""
    games = [("tonpu", "fast-riichi-d", "tsumogiri", "fast-riichi-d", "tsumogiri")]
    (plain,), (usual,) = scores(games, plain=True), scores(games, plain=False)
    assert plain == usual
    assert sum(plain) == 100_000


def test_an_untried_numba_is_reported_in_one_line(folder):
    environ = {**os.environ, "MJBOT_CACHE": str(folder / "cache"), "PYTHONPATH": str(folder)}
    change = "import numba; numba.__version__ = '0.99.1'\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{change}import small_bot"],
        env=environ, capture_output=True, text=True, check=True, cwd=folder,
    )  # fmt: skip
    (line,) = done.stderr.splitlines()
    assert line.startswith("numba 0.99.1 was not tried, only 0.60 to 0.68")


def test_without_the_parts_of_its_cache_numba_keeps_code_its_own_way(folder):
    script = """
from mjbot.runtime.compiler import code_cache
assert not code_cache.IS_USABLE
from small_bot import caller
assert caller(40) == 23
print(sum(caller.stats.cache_hits.values()))
"""
    change = NO_CACHE.format(str(folder / "own"))
    assert run(folder, change, script) == ["0"]
    assert run(folder, change, script) == ["1"]


def test_compiled_code_is_loaded_without_linear_algebra_that_who_compiles_it_still_has(folder):
    pytest.importorskip("scipy")
    script = """
import sys
import numba, numpy
from small_bot import caller
assert caller(40) == 23
assert "scipy.linalg" not in sys.modules
print(numba.njit(lambda a: numpy.dot(a, a))(numpy.ones(3)), numba.np.arraymath._HAVE_BLAS)
"""
    assert run(folder, "", script) == ["3.0", "True"]


LOADED = """
import sys
import numpy as np
import mjbot.runtime.compiler.events
from numba.core import environment, runtime
from mjbot.runtime.compiler.compiled import compiled
from small_bot import ordered, small, total

made = []
mjbot.runtime.compiler.events.on_compiled.append(made.append)
print(small(3), ordered(np.array([2.0, 3.0, 1.0])).tolist(), total(3))
print(*made)
"""
COMPILED_LATER = f"""{LOADED}
assert not made and not runtime.rtsys._init
assert "numba.np.arraymath" not in sys.modules
assert any("numba" in name for name in environment.Environment._memo)
(result,) = small.overloads.values()
assert result.library.unparsed and result.library._shared_module is None
from later_bot import caller
print(caller(20.0))
assert "caller" in made and runtime.rtsys._init
"""
SMALL = """
import numpy as np
from mjbot.runtime.compiler.compiled import compiled

@compiled
def small(x):
    return x + 0.5

@compiled
def ordered(row):
    found = np.sort(row)
    if found.size > 5:
        raise ValueError("too long")
    return found

@compiled
def total(n):
    found = np.zeros(n)
    for place in range(n):
        found[place] = small(place)
    return found.sum()
"""
LATER = """
import numpy as np
from mjbot.runtime.compiler.compiled import compiled
from small_bot import ordered, small

@compiled
def caller(x):
    return small(x) + ordered(np.array([4.0, x, 1.0]))[0]
"""


def test_what_only_compiling_needs_is_done_when_something_is_compiled(tmp_path):
    (tmp_path / "small_bot.py").write_text(SMALL)
    (tmp_path / "later_bot.py").write_text(LATER)
    values = ["3.5", "[1.0,", "2.0,", "3.0]", "4.5"]
    assert run(tmp_path, "", LOADED) == [*values, "small", "ordered", "total"]
    assert run(tmp_path, "", COMPILED_LATER) == [*values, "21.5"]
    assert run(tmp_path, "", LOADED) == values


SAME_WORK = """
import numba
from numba.core import compiler, ir
from mjbot.runtime.compiler import idle_work
from mjbot.game.rules import scoring, shapes
from mjbot.game.table import settle

assert "idle_work" not in ir.Inst._rec_list_vars.__module__, "numba's own is compared"
n_statements = 0
for function in (scoring.score_win, shapes.find_shapes, settle.describe_win):
    for block in compiler.run_frontend(function.py_func).blocks.values():
        for statement in block.body:
            parts = [statement.__dict__, *vars(statement).values()]
            for part in parts:
                assert idle_work._variables(statement, part) == statement._rec_list_vars(part)
            n_statements += len(statement.list_vars()) > 1
flags = compiler.Flags()
for change in ({}, {"nrt": True}, {"error_model": "numpy", "no_cfunc_wrapper": False}):
    for name, value in change.items():
        setattr(flags, name, value)
    assert [*idle_work._values(flags).items()] == [*flags.values().items()]
print(n_statements > 100)
"""


def test_work_done_faster_gives_what_numbas_own_gives(folder):
    environ = {**os.environ, numba_parts.PLAIN_VARIABLE: "plain"}
    done = subprocess.run(
        [sys.executable, "-c", SAME_WORK],
        env=environ, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_every_step_without_effect_is_skipped_in_this_numba():
    assert extending._overload_default_jit_options["no_cfunc_wrapper"]
    assert ir.Inst._rec_list_vars is idle_work._variables
    assert targetconfig.TargetConfig.values is idle_work._values
    record = types.Record([("n", {"type": types.int8, "offset": 0})], 1, True)
    assert repr(record) == repr(types.NestedArray(record, (2,)).dtype) == record.name
