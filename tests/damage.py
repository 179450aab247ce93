"""Files as power cuts and bad disks leave them: cut, emptied, a bit flipped."""

from collections.abc import Iterator
from pathlib import Path
from random import Random


def damaged(data: bytes, n: int, seed: int = 0) -> Iterator[bytes]:
    """Yield ``data`` emptied, cut at about ``n`` lengths and with a bit flipped at ``n`` places.

    Ends and beginnings are among them.
    """
    random = Random(seed)
    yield b""
    last = len(data) - 1
    step = max(1, len(data) // n)
    for end in sorted({1, 2, last, *range(0, last, step)}):
        if 0 < end < len(data):
            yield data[:end]
    for place in sorted({0, last, *[random.randrange(len(data)) for _ in range(n)]}):
        flipped = bytearray(data)
        flipped[place] ^= 1 << random.randrange(8)
        yield bytes(flipped)


def damages(path: Path, n: int, seed: int = 0) -> Iterator[bytes]:
    """Write each damaged form of a file in its place, then what it was."""
    data = path.read_bytes()
    try:
        for form in damaged(data, n, seed):
            path.write_bytes(form)
            yield form
    finally:
        path.write_bytes(data)
