"""The detectors: each counts one thing that a player does and whom it serves.

A detector has *chances* (decisions in which the thing could be done) and *hits* (it was done), for
each ordered pair of seats: ``actor`` did it and ``other`` is whom it may serve.  None is proof of
anything; a good player hits each of them for good reasons.  They describe and accuse nobody.

Those marked *hidden* look at the other's concealed hand, as the record shows it; in records that
show no hands they have no chances.
"""

from typing import Final, NamedTuple


class Detector(NamedTuple):
    """One detector: its name in JSON, what it is called on the page."""

    key: str
    label: str
    hidden: bool = False


DETECTORS: Final = (
    Detector("cheap_ron", "cheap deal-ins"),
    Detector("dear_ron", "dear deal-ins"),
    Detector("pon_fed", "pon and kan fed"),
    Detector("chi_fed", "chi fed"),
    Detector("unsafe", "unsafe into riichi"),
    Detector("passed", "wins passed", hidden=True),
    Detector("useful", "useful discards", hidden=True),
    Detector("into_wait", "into a silent wait", hidden=True),
    Detector("sacrifice", "shanten given", hidden=True),
    Detector("yielded", "hand broken", hidden=True),
    Detector("withheld", "riichi or kan withheld", hidden=True),
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
