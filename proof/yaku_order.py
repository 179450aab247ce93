"""Proof of the order in which Tenhou lists the yaku of a win: every ``AGARI`` of recorded games.

Of each two yaku that were listed together the proof counts which was first.  No two may occur
in both orders, nor in another one than :func:`protocol.tenhou.results.yaku_order` has them.  The
order of honour triplets follows the hand and is checked by ``python -m proof records``; pairs
that never occur together are counted, as their order is not proven.
"""

import argparse
import itertools
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from protocol.tenhou.results import yaku_order
from protocol.yaku import YAKU_NAMES

_WIN: Final = re.compile(rb"<AGARI\b[^>]*>")
_YAKU: Final = re.compile(rb'\byaku="([0-9,]*)"')
_HONOURS: Final = range(10, 21)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof yaku-order``."""
    parser.add_argument("paths", type=Path, nargs="+", metavar="FILE", help="records, or zips")


def run(args: argparse.Namespace) -> int:
    """Count pairs of yaku in all wins; return 1 if two are in another order than ours."""
    wins, before = count(itertools.chain.from_iterable(map(_documents, args.paths)))
    wrong = list(contradictions(before))
    for line in wrong:
        print(line)
    seen = {frozenset(pair) for pair in before}
    both = sum((b, a) in before for a, b in before) // 2
    print(f"{wins} wins, {len(seen)} pairs of yaku listed together, {both} in both orders")
    print(f"{len(wrong)} contradict yaku_order")
    return int(bool(wrong))


def count(documents: Iterable[bytes]) -> tuple[int, Counter[tuple[int, int]]]:
    """Return the number of wins, and how often one yaku was listed before another."""
    wins, before = 0, Counter[tuple[int, int]]()
    for document in documents:
        for tag in _WIN.findall(document):
            if match := _YAKU.search(tag):
                wins += 1
                ids = [int(text) for text in match[1].split(b",")[::2] if text]
                before.update(itertools.combinations(ids, 2))
    return wins, before


def contradictions(before: Counter[tuple[int, int]]) -> Iterator[str]:
    """Yield what was listed in another order than ours, as a line each."""
    order = yaku_order([])
    places = {yaku: place for place, yaku in enumerate(order)}
    triplets = places[26] + 0.5  # behind the last before them
    for (first, second), times in sorted(before.items()):
        if first in _HONOURS and second in _HONOURS:
            continue
        if places.get(first, triplets) > places.get(second, triplets):
            names = f"{YAKU_NAMES[first]} before {YAKU_NAMES[second]}"
            yield f"{names}: {times} times, the other way {before[second, first]} times"


def _documents(path: Path) -> Iterator[bytes]:
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                yield archive.read(info)
    else:
        yield path.read_bytes()
