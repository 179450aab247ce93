"""Long compiled functions are called where they are; every numba has a way that works."""

import os
import subprocess
import sys

import pytest

MODULE = """
import numpy as np
from mjbot.compiled import compiled

@compiled
def long_one(x):
    total = x
    for step in range(x):
        for part in range(step):
            total += (part * 7) ^ (step % (part + 3)) if part & 1 else part - total % 5
            if total > 1_000_000:
                total -= (total * 3) // 7 + step * part
            elif total < -50:
                total = -total % (step + 11) + part
    return total

@compiled
def short_one(x):
    return long_one(x) + 1

@compiled
def caller(x):
    return short_one(x) + long_one(x + 1)
"""
MAIN = """
import sys
import mjbot.code_cache
made = []
mjbot.code_cache.on_compiled.append(made.append)
from long_bot import caller, long_one
want = caller.py_func.__globals__["long_one"].py_func
value = caller(40)
assert value == want(40) + 1 + want(41), value
def defines(function, name):
    (result,) = function.overloads.values()
    module = result.library._get_module_for_linking()
    return any(name in each.name and not each.is_declaration for each in module.functions)
print(int(defines(caller, "long_one")), *sorted(made))
"""


def run(folder, before="", script=MAIN):
    environ = {**os.environ, "MJBOT_CACHE": str(folder / "cache"), "PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", before + script],
        env=environ, capture_output=True, text=True, check=False, cwd=folder, timeout=600,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    copied, *made = done.stdout.split()
    return copied == "1", made


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "long_bot.py").write_text(MODULE)
    return tmp_path


ALL = ["caller", "long_one", "short_one"]


def test_a_long_function_is_not_copied_into_its_callers_and_found_by_those_that_come_later(folder):
    assert run(folder) == (False, ALL)
    assert run(folder) == (False, [])


def test_where_a_called_function_is_missing_its_callers_are_compiled_again(folder):
    run(folder)
    for file in (folder / "cache").rglob("long_one-*"):
        file.unlink()
    assert run(folder) == (False, ALL)
    assert run(folder) == (False, [])


NO_LIBRARY = "import numba.core.codegen as c; c.Renamed = c.__dict__.pop('JITCodeLibrary')"
NO_OPTION = "import numba.core.cpu as c; del c._options_mixin.no_cfunc_wrapper"
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


@pytest.mark.parametrize(
    ("change", "copied"),
    [(NO_LIBRARY, True), (NO_OPTION, False), (NO_TEMPLATE, False)],
)
def test_without_a_part_of_numba_its_own_way_is_gone(folder, change, copied):
    assert run(folder, f"{change}\n") == (copied, ALL)


def test_without_the_parts_of_its_cache_numba_keeps_code_its_own_way(folder):
    script = """
import mjbot.code_cache, mjbot.compiled
assert not mjbot.code_cache.IS_USABLE
from long_bot import caller, long_one
assert caller(40) == long_one(40) + 1 + long_one(41)
print(0, sum(caller.stats.cache_hits.values()))
"""
    assert run(folder, NO_CACHE.format(str(folder / "own")), script) == (False, ["0"])
    assert run(folder, NO_CACHE.format(str(folder / "own")), script) == (False, ["1"])
