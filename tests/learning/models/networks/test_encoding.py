"""One encoder: the same numbers from records, from a seat's own mirror, and from our own tables."""

from pathlib import Path

import numpy as np
import pytest

from mjbot.game.records.sources import open_games
from mjbot.game.rules.acceptance import acceptance_many
from mjbot.game.table.assume import hide
from mjbot.game.table.mirror.mirror import Mirror
from mjbot.game.table.state import copy_state
from mjbot.game.table.view import View
from mjbot.learning.models.hand import HandEvaluator
from mjbot.learning.models.networks import encoding
from mjbot.learning.models.networks.encoding import N_PLANES, N_SCALARS, encode, new_encoder
from mjbot.learning.training.networks.decisions import KINDS, decisions_of
from mjbot.learning.training.positions import index_games, steps
from mjbot.protocol.masking import masked

LOGS = Path(__file__).parents[4] / "logs"
GAMES = sorted(LOGS.glob("*.mjson"))
ENCODER = new_encoder()


def encoded(state, seat):
    planes = np.full((34, N_PLANES), np.nan, np.float32)
    scalars = np.full(N_SCALARS, np.nan, np.float32)
    assert encode(state, seat, ENCODER, planes, scalars) > 0
    return planes, scalars


@pytest.fixture(scope="module")
def decisions():
    """All choices of the recorded games: state, seat, kind, choice."""
    found = []
    for game in steps(index_games(GAMES)):
        of_game = decisions_of(game)
        for states, rows in zip(of_game.states, of_game.rows, strict=True):
            for state, row in zip(states, rows, strict=True):
                found.append((state, int(row["seat"]), KINDS[row["kind"]], row))
    return found


def test_hidden_hands_and_the_wall_do_not_change_it(decisions):
    for state, seat, _, _ in decisions[::7]:
        planes, scalars = encoded(state, seat)
        blind = copy_state(state)
        hide(blind, seat)
        assert blind["hand_known"].sum() == 1
        other_planes, other_scalars = encoded(blind, seat)
        assert (planes == other_planes).all()
        assert (scalars == other_scalars).all()


def test_numbers_are_finite_and_small(decisions):
    for state, seat, _, _ in decisions[::7]:
        for numbers in encoded(state, seat):
            assert np.isfinite(numbers).all()
            assert np.abs(numbers).max() < 7


def test_records_and_a_seat_s_own_mirror_give_the_same(decisions):
    """What was recorded open, and what a player heard, each event masked for its seat."""
    number = len(GAMES) - 1
    (game,) = open_games(GAMES[number])
    entries, expected = [*game.entries], {}
    for state, seat, _, row in decisions:
        if row["game"] == number:
            expected.setdefault(_moment(state, seat), encoded(state, seat))
    compared = 0
    for seat in range(4):
        table = Mirror(seat)
        for entry in entries:
            table.apply(masked(entry.event, seat))
            moment = _moment(table.state, seat)
            if table.legal(seat) and moment in expected:
                planes, scalars = encoded(View(table.state, seat).state, seat)
                assert (planes == expected[moment][0]).all()
                assert (scalars == expected[moment][1]).all()
                compared += 1
    assert compared >= len(expected) > 300


def _moment(state, seat):
    fields = ("round", "honba", "n_discards", "wall_left", "phase", "turn")
    riichi, melds = state["riichi"].tolist(), state["n_melds"].tolist()
    return (seat, *(int(state[field]) for field in fields), *riichi, *melds)


def test_planes_say_what_they_are_named_for(decisions):
    evaluator = HandEvaluator.load("plus")
    for state, seat, kind, row in decisions[::13]:
        planes, scalars = encoded(state, seat)
        hand = state["hand"][seat]
        assert (planes[:, encoding.HAND : encoding.HAND + 4].sum(axis=1) == hand).all()
        view = View(state, seat)
        unseen = planes[:, encoding.UNSEEN : encoding.UNSEEN + 4].sum(axis=1)
        assert (unseen == view.unseen).all()
        legal = {action.tile if action.tile < 34 else 9 * (action.tile - 34) + 4
                 for action in view.discards}  # fmt: skip
        assert set(np.flatnonzero(planes[:, encoding.LEGAL]).tolist()) == legal
        assert scalars[encoding.OPTIONS] == any(action.is_riichi for action in view.legal)
        assert scalars[encoding.OPTIONS + 4] == any(action.name == "pon" for action in view.legal)
        if kind == "discard":
            melds = state["n_melds"][seat : seat + 1]
            shantens, _, counts = acceptance_many(hand[None], melds, view.unseen[None])
            held = hand > 0
            behind = planes[:, encoding.KEEPS : encoding.KEEPS + 3].argmax(axis=1)
            assert (behind[held] == np.minimum(shantens[0] - shantens[0].min(), 2)[held]).all()
            accepted = encoding.MOST_TILES * planes[:, encoding.ACCEPTS]
            assert accepted[held] == pytest.approx(counts[0][held], abs=1e-4)
            scores = evaluator.scores_at(state, seat)
            assert planes[:, encoding.RATING].argmax() == scores.argmax()
            assert planes[row["choice"], encoding.LEGAL] == 1


def test_nothing_to_decide_is_nothing_to_encode(decisions):
    state, seat, kind, _ = next(found for found in decisions if found[2] == "discard")
    planes, scalars = np.zeros((34, N_PLANES), np.float32), np.zeros(N_SCALARS, np.float32)
    assert kind == "discard"
    assert encode(state, (seat + 1) % 4, ENCODER, planes, scalars) == 0
