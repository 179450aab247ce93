"""What a process of ours does with its memory."""

import ctypes
import subprocess
import sys

import pytest

PROGRAM = """
import ctypes
from mjbot.processes import keep_heap_compact

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
    said = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=True)
    assert said.stdout.split() == [b"0", b"1"]
