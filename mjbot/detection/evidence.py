"""The positions of a pair that weigh most, each with a sentence and the way to look at it."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from mjbot.detection.counting import Moment
from mjbot.detection.detectors import CHEAP_RON, DEAR_RON, DETECTORS
from mjbot.detection.games import moments_of
from mjbot.detection.verdicts import Verdict
from mjbot.records.sources import list_sources
from mjbot.training.positions import GameRef
from protocol.plain_text import one_line

MOST: Final = 10
LIMIT: Final = 8000
"""Points of a deal-in beyond which it is not dearer for being so."""
BROKEN: Final = 0.5
"""What a broken hand adds to a position's weight."""
MOST_GAMES: Final = 50
"""Games of a pair that are looked at closely, evenly spread over all of them."""


@dataclass(frozen=True)
class Position:
    """One position: what was done, and where to look at it."""

    game: str
    moment: Moment
    sentence: str
    command: str
    weight: float


def close_games(verdict: Verdict, most: int = MOST_GAMES) -> list[int]:
    """Return which of a pair's games (places in its list) are looked at closely."""
    n = len(verdict.games)
    return [place * n // min(n, most) for place in range(min(n, most))]


def weightiest(
    refs: Sequence[GameRef],
    seats: Mapping[int, tuple[int, int]],
    verdict: Verdict,
    jobs: int = 1,
    most: int = MOST,
) -> list[Position]:
    """Return the positions that add most to a pair's score, the weightiest first.

    ``refs`` are the games to look through, ``seats`` has by game number where the two sit.  A hit
    weighs what one more of its detector adds to the score, a dear one up to twice that.
    """
    by_number = {ref.number: ref for ref in refs}
    found: list[tuple[float, int, Moment]] = []
    for number, counted in moments_of(refs, jobs):
        found.extend(_weighed(counted.moments, number, seats[number], verdict))
    found.sort(key=lambda each: (-each[0], each[1], each[2]))
    return [
        Position(
            game=by_number[number].source.name,
            moment=moment,
            sentence=sentence(moment, seats[number], verdict.names),
            command=watch_command(by_number[number], moment),
            weight=weight,
        )
        for weight, number, moment in found[:most]
    ]


def _weighed(
    moments: Iterable[Moment], number: int, pair: tuple[int, int], verdict: Verdict
) -> Iterable[tuple[float, int, Moment]]:
    for moment in moments:
        if {moment.actor, moment.other} == set(pair):
            weight = float(verdict.per_hit[moment.detector]) * dearness(moment)
            if weight > 0:
                yield weight, number, moment


def dearness(moment: Moment) -> float:
    """Return by how much a hit weighs more for what it cost the actor: 1 to 2."""
    if moment.detector in (CHEAP_RON, DEAR_RON):
        return 1 + min(moment.cost, LIMIT) / LIMIT
    return 1 + BROKEN * moment.cost


def sentence(moment: Moment, seats: tuple[int, int], names: tuple[str, str]) -> str:
    """Return what was done and what it cost, in one sentence."""
    who = {seat: one_line(name) for seat, name in zip(seats, names, strict=True)}
    actor, other = who[moment.actor], who[moment.other]
    said = DETECTORS[moment.detector].said.format(actor=actor, other=other, tile=moment.tile)
    if moment.detector in (CHEAP_RON, DEAR_RON):
        return f"{said}: it lost {moment.cost:,} points."
    return f"{said}: its own hand fell back by a shanten." if moment.cost else f"{said}."


def watch_command(ref: GameRef, moment: Moment) -> str:
    """Return the command that opens the position in the browser."""
    words = ["mjbot", "watch", str(ref.source.path)]
    if ref.source.member is not None:
        words += ["--record", str(_members(ref.source.path).index(ref.source.member))]
    if ref.place:
        words += ["--game", str(ref.place)]
    place = f"{moment.actor}/{moment.kyoku}/{moment.step}"
    return shlex.join([*words, "--at", place])


@cache
def _members(path: Path) -> list[str | None]:
    return [source.member for source in list_sources(path)]
