"""The discards of a pair with the most evidence, each with a sentence and a command to open it."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from heapq import nlargest
from pathlib import Path
from typing import Final, NamedTuple

from mjbot.analysis.collusion.hidden import NEXT_CALL, OWN, RIICHI, HiddenHandModel
from mjbot.analysis.collusion.residuals import Residuals
from mjbot.analysis.collusion.verdicts import DetectionWeights, PairVerdict
from mjbot.game.records.sources import list_sources
from mjbot.game.table.hands import kind_of
from mjbot.game.table.mirror.wire import tile_code
from mjbot.learning.training.positions import GameRef, GameStep, collect
from mjbot.protocol import messages as m
from mjbot.protocol.plain_text import one_line

MOST: Final = 10
MOST_GAMES: Final = 50
"""Games of a pair that are examined, evenly spread over all of them."""
NEED_SURE: Final = 0.5
RARE: Final = 0.05
"""A share of redraws below which no number is reported: there are too few of them."""


class Moment(NamedTuple):
    """A discard: what it adds to the score, where it was, and what it meant to the other.

    ``kyoku`` counts from 0 and ``step`` the events since the kyoku's start, as the address of a
    position in ``mjbot watch`` does.  ``score`` is the strongest score.  ``needs`` and ``expected``
    are whether the other's hand needs it and how likely hands that could have been there do;
    ``holds`` and ``usual`` the same of the kinds that the discarder then waits for.  ``shanten``
    and ``points`` are what it cost.
    """

    weight: float
    game: int
    kyoku: int
    step: int
    actor: int
    other: int
    tile: str
    score: int
    needs: float
    expected: float
    holds: float
    usual: float
    shanten: int
    points: int = 0


@dataclass(frozen=True)
class EvidencePosition:
    """One position: what was discarded, and the command that opens it."""

    game: str
    moment: Moment
    sentence: str
    command: str


def close_games(verdict: PairVerdict, most: int = MOST_GAMES) -> list[int]:
    """Return which of a pair's games (places in its list) are examined."""
    n = len(verdict.games)
    return [place * n // min(n, most) for place in range(min(n, most))]


def weightiest(
    refs: Sequence[GameRef],
    seats: Mapping[int, tuple[int, int]],
    verdict: PairVerdict,
    weights: DetectionWeights,
    jobs: int = 1,
) -> list[EvidencePosition]:
    """Return the positions that add most to a pair's score, the weightiest first.

    ``refs`` are the games to examine, ``seats`` has the two seats by game number.
    """
    by_number = {ref.number: ref for ref in refs}
    sums = tuple(verdict.weights.tolist())
    extract = partial(_moments, seats=dict(seats), sums=sums, model=weights.model)
    found = nlargest(MOST, (moment for game in collect(refs, extract, jobs) for moment in game))
    return [
        EvidencePosition(
            game=by_number[moment.game].source.name,
            moment=moment,
            sentence=sentence(moment, seats[moment.game], verdict.names),
            command=watch_command(by_number[moment.game], moment),
        )
        for moment in found
    ]


def _moments(
    steps: Iterator[GameStep],
    seats: Mapping[int, tuple[int, int]],
    sums: Sequence[float],
    model: HiddenHandModel,
) -> list[Moment]:
    """Return the discards of a game that add to the score, the weightiest :data:`MOST`."""
    residuals, found, step = None, list[Moment](), 0
    for game, event, state in steps:
        residuals = residuals or Residuals(model, game)
        step = 0 if isinstance(event, m.StartKyoku) else step + 1
        residuals.add(event, state)
        pair = seats[game]
        match event:
            case m.Dahai() if event.actor in pair and residuals.kyoku:
                other = pair[event.actor == pair[0]]
                moment = _moment(residuals, event, other, sums)
                found.append(moment._replace(kyoku=len(residuals.kyoku) - 1, step=step))
            case m.Hora() if found and {event.actor, event.target} == set(pair):
                last, paid = found[-1], -event.deltas[event.target] if event.deltas else 0
                if (last.actor, last.step) == (event.target, step - 1):
                    found[-1] = last._replace(points=paid)
            case _:
                pass
    return nlargest(MOST, (moment for moment in found if moment.weight > 0))


def _moment(residuals: Residuals, event: m.Dahai, other: int, sums: Sequence[float]) -> Moment:
    added = residuals.last[event.actor, other].tolist()
    weighed = [weight * more for weight, more in zip(sums, added, strict=True)]
    needs, expected, holds, usual = residuals.sums.meaning[other].tolist()
    return Moment(
        weight=sum(weighed),
        game=residuals.number,
        kyoku=0,
        step=0,
        actor=event.actor,
        other=other,
        tile=event.pai,
        score=max(range(len(weighed)), key=weighed.__getitem__),
        needs=needs,
        expected=expected,
        holds=holds,
        usual=usual,
        shanten=int(residuals.discard.lost[kind_of(tile_code(event.pai))]),
    )


def sentence(moment: Moment, seats: tuple[int, int], names: tuple[str, str]) -> str:
    """Return what was done, what it meant and what it cost, in one sentence."""
    who = {seat: one_line(name) for seat, name in zip(seats, names, strict=True)}
    actor, other = who[moment.actor], who[moment.other]
    if moment.score == OWN:
        text = (
            f"{actor} discarded {moment.tile} and kept waiting for kinds of which {other} held"
            f" {moment.holds:.0f}, where {moment.usual:.1f} were to be expected"
        )
    else:
        text = f"{actor} discarded {moment.tile}, {_meant(moment, other)}"
    if moment.points:
        return f"{text}: it lost {moment.points:,} points."
    if moment.shanten > 0:
        return f"{text}: its own hand fell back by {moment.shanten} shanten."
    return f"{text}; its own hand lost nothing by it."


def _meant(moment: Moment, other: str) -> str:
    often = f"{100 * moment.expected:.0f} of 100 hands" if moment.expected > RARE else "few hands"
    of_100 = f"{often} that could have been there"
    if moment.score <= NEXT_CALL:
        nearer = f"a call of which brought {other} nearer to a win, as it would {of_100}"
        past = f"of no use to {other}, though {of_100} would call it"
        return nearer if moment.needs > NEED_SURE else past
    kind = "riichi" if moment.score == RIICHI else "silent tenpai"
    if moment.needs > NEED_SURE:
        return f"for which {other} waited in {kind}, as {of_100} would"
    return f"past the wait of {other} in {kind}, though {of_100} would wait for it"


def watch_command(ref: GameRef, moment: Moment) -> str:
    """Return the command that opens the position in the browser."""
    arguments = ["mjbot", "watch", str(ref.source.path)]
    if ref.source.member is not None:
        arguments += ["--record", str(_members(ref.source.path).index(ref.source.member))]
    if ref.place:
        arguments += ["--game", str(ref.place)]
    place = f"{moment.actor}/{moment.kyoku}/{moment.step}"
    return shlex.join([*arguments, "--at", place])


@cache
def _members(path: Path) -> list[str | None]:
    return [source.member for source in list_sources(path)]
