"""What is fuzzed: each target takes bytes, and returns or breaks a promise.

A target's function raises nothing for any input: what may be refused it has caught, by the class
that is documented; an exception that leaves it is a finding, and so are a hang and memory without
bound.
"""

import logging
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from proof.fuzzing import channel, records, weights, wire

MOST_BYTES: Final = 8192
"""Of an input: a kyoku of mjai lines has some 5,000."""


@dataclass(frozen=True)
class Target:
    """``check`` takes an input, ``summary`` describes it."""

    name: str
    summary: str
    check: Callable[[bytes], None]


TARGETS: Final = {
    one.name: one
    for one in (
        Target("codec", "mjai lines in each dialect, and their sessions", wire.check_codec),
        Target("tenhou", "Tenhou's tags in both spellings, calls, sessions", wire.check_tenhou),
        Target("mjai", "records of mjai lines", records.check_mjai),
        Target("mjlog", "records in Tenhou's XML", records.check_mjlog),
        Target("tenhou6", "records in tenhou.net/6 JSON", records.check_tenhou6),
        Target("packed", "files of records, packed and damaged; evidence", records.check_packed),
        Target("weights", "weights, manifests, columns, lists of runs", weights.check_weights),
        Target("channel", "the messages of a pair", channel.check_channel),
    )
}
"""By name."""


def quiet() -> None:
    """Switch off what is logged, and warned of, where input is broken."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
