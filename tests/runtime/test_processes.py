"""What a process of ours does with its memory, and how a child's end is noticed."""

import asyncio
import ctypes
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from mjbot.runtime.processes import AHEAD, ChildProcess, in_processes, stop_all

PROGRAM = """
import ctypes
from mjbot.runtime.processes import keep_heap_compact

class Use(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "free", "small", "large", *"abcdef")]

libc = ctypes.CDLL(None)
libc.mallinfo2.restype = Use
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
libc.free(libc.malloc(1 << 20))  # from now on glibc takes blocks of that size for small
for compact in (False, True):
    if compact:
        keep_heap_compact()
    before = libc.mallinfo2().large
    libc.malloc(1 << 18)
    print(libc.mallinfo2().large - before)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="another C library")
def test_large_blocks_are_off_the_heap():
    output = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=True)
    assert output.stdout.split() == [b"0", b"1"]


RESPONDS = """
import gc, sys
import mjbot.play.server.server
from mjbot.runtime.processes import keep_responsive

before = len(gc.get_objects())
keep_responsive()
print(before > 10_000, len(gc.get_objects()) < 1_000, sys.getswitchinterval() < 0.001)
"""


def test_neither_a_collection_nor_another_thread_holds_a_responsive_process_for_long():
    output = subprocess.run([sys.executable, "-c", RESPONDS], capture_output=True, check=True)
    assert output.stdout.split() == [b"True", b"True", b"True"]


LEAVES_ITS_OUTPUT = """
import subprocess, sys
subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"])
print("first\\nlast words\\n", file=sys.stderr, flush=True)
sys.exit(3)
"""


def test_the_end_of_a_child_is_noticed_while_another_process_keeps_its_output():
    async def main():
        with tempfile.TemporaryFile("a+b") as log:
            child = await ChildProcess.start(
                [sys.executable, "-c", LEAVES_ITS_OUTPUT], log, pipes=True
            )
            assert await child.end_within(60) == 3
            assert child.last_output() == "last words"
            child.signal(signal.SIGKILL)  # reaches the other one, which is of its group
            assert await child.process.stdout.read() == b""
            assert await child.wait() == 3

    asyncio.run(main())


def test_children_are_ended_also_where_their_stop_is_cancelled_before_it_begins():
    async def main():
        command = [sys.executable, "-c", "import signal; signal.pause()"]
        children = [await ChildProcess.start(command) for _ in range(2)]
        stopping = asyncio.create_task(stop_all(children))
        asyncio.get_running_loop().call_soon(stopping.cancel)
        with pytest.raises(asyncio.CancelledError):
            await stopping
        return [await child.end_within(60) for child in children]

    assert asyncio.run(main()) == [-signal.SIGKILL] * 2


def begun_before(item: tuple[Path, int, int]) -> int:
    """Note that an item is worked on; the first one waits for the last that may be begun.

    Returns how many were begun when it ended.
    """
    folder, number, last = item
    (folder / f"{number}").touch()
    while number == 0 and not (folder / f"{last}").exists():
        pass
    return len(list(folder.iterdir()))


def test_no_more_results_than_a_few_wait_for_a_slow_first_one(tmp_path):
    jobs, n = 2, 40
    last = AHEAD * jobs - 1
    results = in_processes(begun_before, [(tmp_path, number, last) for number in range(n)], jobs)
    assert next(results) <= last + 1
    assert len(list(results)) == n - 1 and len(list(tmp_path.iterdir())) == n
