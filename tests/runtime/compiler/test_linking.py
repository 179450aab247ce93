"""Large functions are compiled once, found by content, and never stale."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.np import arrayobj

from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.linking import _is_named_by_content

ROOT = Path(__file__).parents[3]
BODY = "\n".join(f"    x = x * {7 + i} + (x ^ {i})" for i in range(90))
CALLEE = f"""
from mjbot.runtime.compiler.compiled import compiled

@compiled
def large(x):
{BODY}
    return (x & 1023) + ADDED

@compiled
def small(x):
    return x // 2
"""
CALLER = """
from mjbot.runtime.compiler.compiled import compiled
from made_callee import large, small

@compiled
def middle(x):
    return large(small(x)) + 1

@compiled
def caller(x):
    return middle(x) + large(x)
"""
MAIN = """
from mjbot.runtime.compiler.events import on_compiled
made = []
on_compiled.append(made.append)
import made_caller
result = made_caller.caller(40)
library = made_caller.caller.overloads[made_caller.caller.nopython_signatures[0].args].library
bodies = [f.name for f in library.get_defined_functions()]
print(result, ",".join(made) or "nothing", sum("large" in name for name in bodies))
"""


def write(folder, added=0):
    (folder / "made_callee.py").write_text(CALLEE.replace("ADDED", str(added)))
    (folder / "made_caller.py").write_text(CALLER)
    return folder


def run(folder, script=MAIN, cache="cache"):
    environ = {**os.environ, "MJBOT_CACHE": str(folder / cache)}
    environ["PYTHONPATH"] = f"{folder}{os.pathsep}{ROOT}"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        env=environ, capture_output=True, text=True, check=False, cwd=folder, timeout=600,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def files_of(folder, name):
    return sorted(folder.rglob(f"{name}-*.nbc"))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = write(tmp_path_factory.mktemp("made"))
    result, functions, large = run(folder)
    assert functions == "small,large,middle,caller"
    assert large == "0"  # declared, and no body of its own in the caller
    return folder, result


def test_a_cached_caller_finds_its_callees(made):
    folder, result = made
    assert run(folder)[:2] == [result, "nothing"]


def test_only_what_python_calls_has_an_entry(made):
    folder, _ = made
    counts = [len(files_of(folder, name)) for name in ("caller", "middle", "large", "small")]
    assert counts == [2, 1, 1, 1]


def test_an_entry_made_for_a_cached_function_returns_its_array(tmp_path):
    (tmp_path / "made_array.py").write_text(
        "import numpy as np\n"
        "from mjbot.runtime.compiler.compiled import compiled\n\n"
        "@compiled\ndef doubled(x):\n    return x * 2\n\n"
        "@compiled\ndef total(x):\n    return doubled(x).sum()\n"
    )
    ask = "import numpy as np\nimport made_array\nprint(made_array.{}(np.arange(3)).tolist())"
    by_compiled_code = ask.format("total").replace(".tolist()", "")
    assert run(tmp_path, by_compiled_code) == ["6"]
    assert "".join(run(tmp_path, ask.format("doubled"))) == "[0,2,4]"
    assert "".join(run(tmp_path, ask.format("doubled"))) == "[0,2,4]"


def test_an_entry_made_for_a_cached_function_takes_a_tuple(tmp_path):
    """Where nothing is compiled before it, what the compiler knows of constants is not loaded."""
    (tmp_path / "made_tuple.py").write_text(
        "from mjbot.runtime.compiler.compiled import compiled\n\n"
        "@compiled\ndef total(pair):\n    return pair[0] + pair[1]\n\n"
        "@compiled\ndef total_of(x):\n    return total((x, 1))\n"
    )
    ask = "import made_tuple\nprint(made_tuple.{})"
    assert run(tmp_path, ask.format("total_of(2)")) == ["3"]
    assert run(tmp_path, ask.format("total((2, 2))")) == ["4"]


@pytest.mark.parametrize("damage", [Path.unlink, lambda file: file.write_bytes(b"no code")])
def test_a_missing_or_damaged_callee_is_compiled_when_its_caller_is_loaded(made, damage):
    folder, result = made
    (file,) = files_of(folder, "large")
    damage(file)
    assert run(folder)[:2] == [result, "large"]
    assert run(folder)[:2] == [result, "nothing"]


def test_a_damaged_entry_is_made_again(made):
    folder, result = made
    for file in files_of(folder, "caller"):
        file.write_bytes(file.read_bytes()[:50])
    assert run(folder)[:2] == [result, "caller"]
    assert run(folder)[:2] == [result, "nothing"]


def test_a_callee_that_changed_is_never_stale(tmp_path):
    results = [int(run(write(tmp_path, added))[0]) for added in (0, 1000, 0)]
    assert results == [results[0], results[0] + 2000, results[0]]


RECORDS = """
import numba
import numpy as np
from mjbot.runtime.compiler.events import on_compiled
made = []
on_compiled.append(made.append)
for number in range({}):
    numba.typeof(np.zeros(1, [(f"field{{number}}", np.int64)])[0])
import made_records
record = np.zeros(1, [("x", np.int64)])[0]
record["x"] = 40
print(made_records.caller(record), ",".join(made) or "nothing")
"""


def test_symbols_name_record_types_by_content(tmp_path):
    """Numba numbers them as they come up in a process."""
    (tmp_path / "made_records.py").write_text(
        "from mjbot.runtime.compiler.compiled import compiled\n\n"
        f"@compiled\ndef large(r):\n    x = r.x\n{BODY}\n    return x & 1023\n\n"
        "@compiled\ndef caller(r):\n    return large(r) + 1\n"
    )
    result, functions = run(tmp_path, RECORDS.format(0))
    assert functions == "large,caller"
    files_of(tmp_path, "large")[0].unlink()
    assert run(tmp_path, RECORDS.format(3)) == [result, "large"]


@compiled
def one(x):
    return 1


def test_what_takes_a_function_is_copied():
    """Its symbol has the function's address."""
    values = (1, np.zeros(2), np.zeros(1, [("x", np.int64)]), (2.0, None))
    assert all(_is_named_by_content(numba.typeof(value)) for value in values)
    assert not _is_named_by_content(numba.typeof(one))
    assert not _is_named_by_content(numba.typeof((1, one)))


FORGED = """
from mjbot.runtime.compiler import linking
numbers = iter(range(1, 100))
name = linking.name_by_content
def forged(dispatcher, function, digest):
    name(dispatcher, function, digest)
    linking._unique_ids[function] = next(numbers)
linking.name_by_content = forged
import mjbot.runtime.compiler.jit
mjbot.runtime.compiler.jit.name_by_content = forged
"""


def test_a_caller_whose_callee_has_another_symbol_is_compiled_again(tmp_path):
    """The engine would end the process at a symbol that it does not find."""
    folder = write(tmp_path)
    result = run(folder, FORGED + MAIN)[0]
    (folder / "cache").rename(folder / "kept")
    for name in ("large", "small"):
        for file in (folder / "kept").rglob(f"{name}-*"):
            file.unlink()
    (folder / "kept").rename(folder / "cache")
    found, functions, *_ = run(folder)
    assert found == result
    assert {"large", "middle", "caller"} <= {*functions.split(",")}


def test_processes_that_compile_at_once_get_the_same(tmp_path):
    folder = write(tmp_path)
    environ = {**os.environ, "MJBOT_CACHE": str(folder / "cache")}
    environ["PYTHONPATH"] = f"{folder}{os.pathsep}{ROOT}"
    command = [sys.executable, "-c", "import made_caller; print(made_caller.caller(40))"]
    both = [
        subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True, cwd=folder)
        for _ in range(3)
    ]
    printed = {process.communicate()[0] for process in both}
    assert len(printed) == 1
    found, functions, *_ = run(folder)
    assert {f"{found}\n"} == printed
    assert functions == "nothing"


@pytest.mark.skipif(
    not hasattr(arrayobj, "raise_with_shape_context"), reason="an older numba names no shapes"
)
def test_an_array_of_another_shape_is_refused_without_compiling_its_words(tmp_path):
    (tmp_path / "made_slice.py").write_text(
        "from mjbot.runtime.compiler.compiled import compiled\n\n"
        "@compiled\ndef put(a, b):\n    a[1:4] = b\n"
    )
    script = """
import numpy as np
from numba.core import dispatcher
made = []
compile_function = dispatcher._FunctionCompiler.compile
def compile_and_note(self, *args):
    made.append(self.py_func.__qualname__)
    return compile_function(self, *args)
dispatcher._FunctionCompiler.compile = compile_and_note
import made_slice
array = np.zeros(5)
made_slice.put(array, np.ones(3))
assert array.tolist() == [0, 1, 1, 1, 0]
try:
    made_slice.put(array, np.ones(2))
except ValueError as error:
    print(error, any("str" in name for name in made))
"""
    assert " ".join(run(tmp_path, script)) == "cannot assign to a slice of another shape False"


def test_array_fields_of_records_are_passed_as_other_arrays_are(tmp_path):
    (tmp_path / "made_fields.py").write_text(
        """
from typing import Annotated
import numpy as np
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import Int8s, Record

class Row(Record):
    many: Annotated[Int8s, 4, 34]
    one: Annotated[Int8s, 34]

@compiled
def add(counts, place):
    counts[place] += 1
    return counts.sum()

@compiled
def rows(many):
    many[1, 2] = 7
    return many.shape[0] * 100 + many.shape[1]

@compiled
def caller(row):
    made = np.zeros(34, np.int8)
    return add(row.one, 3) + add(made, 4) * 10 + add(row.many[1], 5) * 1000 + rows(row.many)
"""
    )
    script = """
import made_fields as made
row = made.Row.new()
print(made.caller(row), row["one"][3], row["many"][1, 2], row["many"][1, 5])
print(len(made.add.overloads))
"""
    *results, n_versions = run(tmp_path, script)
    assert results == [str(1 + 10 + 1000 + 434), "1", "7", "1"]
    assert n_versions == "1"
    assert run(tmp_path, script)[:4] == results  # found on disk
