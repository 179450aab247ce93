"""The positions that weigh most: where they are in the record, and what is said of them."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import mjbot
from mjbot.analysis.collusion.evidence import (
    MOST,
    EvidencePosition,
    Moment,
    close_games,
    sentence,
    weightiest,
)
from mjbot.analysis.collusion.hidden import CALL, NEXT_CALL, OWN, RIICHI, WAIT
from mjbot.analysis.collusion.verdicts import DetectionWeights, PairVerdict, shipped_weights
from mjbot.game.records.sources import open_games
from mjbot.game.statistics.estimates import Estimate
from mjbot.learning.training.positions import GameRef, index_games
from mjbot.protocol.messages import Dahai, Event, Hora, StartKyoku

LOGS = sorted((Path(mjbot.__file__).parents[1] / "logs").glob("*.mjson"))


def verdict_of(weights: DetectionWeights, n_games: int = 1) -> PairVerdict:
    zeros = np.zeros(5)
    return PairVerdict(
        names=("one", "other"), players=(0, 1), games=np.arange(n_games),
        seats=np.zeros((n_games, 2), np.int8), score=1.0, p=1.0, adjusted=1.0,
        effect=Estimate(0.0, 0.0, 0.0), residuals=zeros, z=zeros, weights=weights.sums[0],
    )  # fmt: skip


def kyoku_of(log: Path) -> list[list[Event]]:
    """Return the events of each kyoku; what comes before the first is left out."""
    (game,) = open_games(log)
    kyoku: list[list[Event]] = []
    for entry in game.entries:
        if isinstance(entry.event, StartKyoku):
            kyoku.append([])
        if kyoku:
            kyoku[-1].append(entry.event)
    return kyoku


def found_in(log: Path) -> Iterator[tuple[tuple[int, int], GameRef, list[EvidencePosition]]]:
    weights = shipped_weights()
    refs = index_games([log])
    for pair in combinations(range(4), 2):
        seats = {refs[0].number: pair}
        yield pair, refs[0], weightiest(refs, seats, verdict_of(weights), weights)


def test_a_position_is_that_discard_in_the_record_and_names_what_it_paid() -> None:
    paid = 0
    for log in LOGS[:2]:
        kyoku = kyoku_of(log)
        for pair, ref, positions in found_in(log):
            assert 0 < len(positions) <= MOST
            weights = [position.moment.weight for position in positions]
            assert weights == sorted(weights, reverse=True) and weights[-1] > 0
            for position in positions:
                moment = position.moment
                events = kyoku[moment.kyoku]
                discard, then = events[moment.step : moment.step + 2]
                assert isinstance(discard, Dahai)
                assert (discard.actor, discard.pai) == (moment.actor, moment.tile)
                assert {moment.actor, moment.other} == {*pair}
                won = isinstance(then, Hora) and {then.actor, then.target} == {*pair}
                assert moment.points == (-then.deltas[moment.actor] if won else 0)
                paid += won
                assert position.game == ref.source.name
                at = f"{moment.actor}/{moment.kyoku}/{moment.step}"
                assert position.command == f"mjbot watch {log} --at {at}"
    assert paid


MOMENT = Moment(
    weight=1.0, game=0, kyoku=0, step=1, actor=2, other=0, tile="5p", score=NEXT_CALL, needs=1.0,
    expected=0.25, holds=3.0, usual=1.25, shanten=0,
)  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, "b discarded 5p, a call of which brought a nearer to a win, as it would 25 of 100"
             " hands that could have been there; its own hand lost nothing by it."),
        ({"score": CALL, "needs": 0.0, "shanten": 1},
         "b discarded 5p, of no use to a, though 25 of 100 hands that could have been there would"
         " call it: its own hand fell back by 1 shanten."),
        ({"score": WAIT, "expected": 0.05, "points": 8000},
         "b discarded 5p, for which a waited in silent tenpai, as few hands that could have been"
         " there would: it lost 8,000 points."),
        ({"score": RIICHI, "needs": 0.0, "actor": 0, "other": 2},
         "a discarded 5p, past the wait of b in riichi, though 25 of 100 hands that could have"
         " been there would wait for it; its own hand lost nothing by it."),
        ({"score": OWN},
         "b discarded 5p and kept waiting for kinds of which a held 3, where 1.2 were to be"
         " expected; its own hand lost nothing by it."),
    ],
)  # fmt: skip
def test_a_sentence_says_what_was_done_and_what_it_cost(
    changed: dict[str, object], expected: str
) -> None:
    assert sentence(MOMENT._replace(**changed), (0, 2), ("a", "b")) == expected


def test_games_looked_at_closely_are_spread_over_all_of_them() -> None:
    verdict = verdict_of(shipped_weights(), 10)
    assert close_games(verdict) == list(range(10))
    assert close_games(verdict, 4) == [0, 2, 5, 7]
    assert close_games(replace(verdict, games=np.arange(0)), 4) == []
