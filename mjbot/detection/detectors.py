"""The detectors: each counts one thing that a player does and whom it serves.

A detector has *chances* (decisions in which the thing could be done) and *hits* (it was done), for
each ordered pair of seats: ``actor`` did it and ``other`` is whom it may serve.  None is proof of
anything; a good player hits each of them for good reasons.  Which way a pair departs from the rest
is not said here: the signs are learned (:mod:`mjbot.detection.learning`).

Those marked *hidden* look at the other's concealed hand, as the record shows it; in records that
show no hands they have no chances.
"""

from typing import Final, NamedTuple


class Detector(NamedTuple):
    """One detector; ``said`` has places for ``{actor}``, ``{other}`` and ``{tile}``."""

    key: str
    label: str
    said: str
    hidden: bool = False


DETECTORS: Final = (
    Detector("cheap_ron", "cheap deal-ins", "{actor} dealt in to {other}, who won little ({tile})"),
    Detector("dear_ron", "dear deal-ins", "{actor} dealt in to {other}, who won much ({tile})"),
    Detector("pon_fed", "pon and kan fed", "{actor} discarded {tile}, which {other} called"),
    Detector("chi_fed", "chi fed", "{actor} discarded {tile}, which {other} took for a run"),
    Detector(
        "unsafe", "unsafe into riichi",
        "{actor} discarded {tile} into the riichi of {other} and held a safe tile",
    ),
    Detector("passed", "wins passed", "{actor} did not win on {tile} of {other}", hidden=True),
    Detector(
        "useful", "useful discards",
        "{actor} discarded {tile}, a call of which brought {other} nearer to a win",
        hidden=True,
    ),
    Detector(
        "into_wait", "into a silent wait",
        "{actor} discarded {tile}, for which {other} waited without a riichi",
        hidden=True,
    ),
    Detector(
        "sacrifice", "shanten given",
        "{actor} broke its hand by {tile}, which served {other} and nobody else",
        hidden=True,
    ),
    Detector(
        "yielded", "hand broken",
        "{actor} broke its hand by {tile} while {other} was tenpai",
        hidden=True,
    ),
    Detector(
        "withheld", "riichi or kan withheld",
        "{actor} declared neither riichi nor kan but discarded {tile} while {other} was near a win",
        hidden=True,
    ),
)  # fmt: skip
"""In the order of all arrays of counts."""

KEYS: Final = tuple(detector.key for detector in DETECTORS)
N: Final = len(DETECTORS)

(
    CHEAP_RON, DEAR_RON, PON_FED, CHI_FED, UNSAFE,
    PASSED, USEFUL, INTO_WAIT, SACRIFICE, YIELDED, WITHHELD,
) = range(N)  # fmt: skip

CHEAP_POINTS: Final = 3900
"""A win of at most so many points, without honba and sticks counted as they fall, is cheap."""
