"""Final ranks of the seats, predicted at the start of a kyoku; learned from records.

Theory.  The same network evaluates each seat: the scores of that seat and of the others in order of
play from it, the number of kyoku left, the dealer, honba and sticks give four numbers, the
logarithms of the probabilities of ranks 1 to 4 (of three players 1 to 3) up to a term for each
seat and each rank.  As each rank is given once, rows (seats) and columns (ranks) of the matrix of
chances must each add up to 1: it is scaled until they do (Sinkhorn and Knopp, Pacific Journal of
Mathematics 21, 1967), in training too.  Several networks of other beginnings are averaged before
that.

Kyoku left count, not the name of the wind: East 1 of a tonpu is encoded like South 1 of a hanchan;
past the last scheduled kyoku each counts as the last with a mark of its own.  All of the records
are hanchan.  A finished game (:data:`GAME_OVER`, a score below 0, or past the last kyoku with the
points to end and a new dealer) has exactly its ranks, the earlier seat's better of equal scores.

Choice of model: this one is learned from records and predicts whole games (rewards of learning,
placement in the learned strategies); :mod:`mjbot.learning.models.placement` is a formula without
weights for the value of points won or lost in this kyoku inside a search,
where a smooth curve and a microsecond count.
"""

from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.game.table.seats import next_seat
from mjbot.game.table.settle import OVER, kyoku_left, next_kyoku, seats_ahead
from mjbot.game.table.state import DRAWN, WON, State
from mjbot.learning.models.weights import (
    OF_PLAYERS,
    SHIPPED,
    Shape,
    WeightsError,
    load_weights,
    shaped,
)
from mjbot.protocol.rules import EXTENSION_ROUNDS, RANKED, Rules
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import Int32s

Floats = NDArray[np.float32]
Chances = NDArray[np.float64]
"""Of seats (rows) to have ranks 1 to 4 (columns): float64[4, 4], rows and columns add up to 1."""

TARGET_POINTS: Final = RANKED.target_points
THREE_TARGET_POINTS: Final = Rules(players=3).target_points
"""Of the games that the models were fitted to; compiled code reads numbers only."""
NAME: Final = "rank"
VERSION: Final = 1
GAME_OVER: Final = -1
"""As a round: the game is over, ranks are what they are."""

MOST_LEFT: Final = 8
SCALES: Final = (4000.0, 10000.0)
"""Points by which one kyoku moves two scores, to see differences through."""
N_FEATURES: Final = 37
SWEEPS: Final = 8
"""Of Sinkhorn's scaling, in training."""
MOST_SWEEPS: Final = 200
CLOSE: Final = 1e-6
"""How far from 1 the sums may stay, at the table; those of the seats are exact."""


class RankWeights(NamedTuple):
    """Some networks of one form, float32: [nets, inputs, outputs] and [nets, outputs].

    ``skip`` leads from the features to the end past both hidden layers.
    """

    first: Floats
    first_bias: Floats
    second: Floats
    second_bias: Floats
    last: Floats
    skip: Floats
    last_bias: Floats


class KyokuStart(NamedTuple):
    """What stands at the start of a kyoku; ``scores`` are int32[players] by seat.

    ``round`` is 0 for East 1 to 15 for North 4 or :data:`GAME_OVER`; ``last_round`` is 3 in a
    tonpu, 7 in a hanchan, of three players 2 and 6; ``sticks`` lie on the table.
    """

    scores: Int32s
    round: int
    last_round: int
    honba: int
    sticks: int
    dealer: int


# --- features ----------------------------------------------------------------------------------


@compiled
def _target(scores: Int32s) -> int:
    """Return the points with which a game ends."""
    return TARGET_POINTS if len(scores) == 4 else THREE_TARGET_POINTS


@compiled
def write_rank_features(
    scores: Int32s,
    seat: int,
    round_: int,
    last_round: int,
    honba: int,
    sticks: int,
    dealer: int,
    out: Floats,
) -> None:
    """Write the input of the networks for a seat: float32[37]."""
    out[:] = 0
    left = min(max(last_round - round_ + 1, 1), MOST_LEFT)
    own = scores[seat]
    out[0] = own / 10000 - 2.5
    for step in range(1, len(scores)):
        other = (seat + step) % len(scores)
        at = 1 + 5 * (step - 1)
        lead = own - scores[other]
        out[at] = scores[other] / 10000 - 2.5
        for number, scale in enumerate(SCALES):
            out[at + 1 + number] = np.tanh(lead / (scale * np.sqrt(left)))
        out[at + 3] = seat < other
        out[at + 4] = lead > 0 or (lead == 0 and seat < other)
    out[15 + left] = 1
    out[24] = round_ > last_round
    out[25 + (dealer - seat) % len(scores)] = 1
    out[29] = min(honba, 8) / 4
    out[30] = min(sticks, 6) / 3
    out[31] = own >= _target(scores)
    out[32] = scores.max() >= _target(scores)
    out[33 + seats_ahead(scores, seat)] = 1


# --- chances -----------------------------------------------------------------------------------


@compiled
def is_over(scores: Int32s, round_: int, last_round: int, honba: int) -> bool:
    """Return whether no kyoku can start like this.

    Past the last kyoku the points to end do not end the game while the dealer stays (honba).
    """
    if round_ < 0 or scores.min() < 0 or round_ > last_round + EXTENSION_ROUNDS:
        return True
    return bool(round_ > last_round and honba == 0 and scores.max() >= _target(scores))


@compiled
def rank_chances(
    weights: RankWeights,
    scores: Int32s,
    round_: int,
    last_round: int,
    honba: int,
    sticks: int,
    dealer: int,
    out: Chances,
) -> None:
    """Write the chances of each seat to end at each rank: float64[4, 4].

    The arguments are those of :class:`KyokuStart`; a finished game gives its ranks.  Without a
    fourth player the last row and column are 0.
    """
    players = len(scores)
    out[:] = 0
    if is_over(scores, round_, last_round, honba):
        for seat in range(players):
            out[seat, seats_ahead(scores, seat)] = 1
        return
    features = np.empty(N_FEATURES, np.float32)
    for seat in range(players):
        write_rank_features(scores, seat, round_, last_round, honba, sticks, dealer, features)
        _predict(weights, features, out[seat, :players])
    for seat in range(players):
        out[seat, :players] = np.exp(out[seat, :players] - out[seat, :players].max())
    share_ranks(out, players)


@compiled
def _predict(weights: RankWeights, features: Floats, out: Chances) -> None:
    """Write the mean output of the networks for a seat's features: float64[players]."""
    out[:] = 0
    n_nets = weights.first.shape[0]
    for net in range(n_nets):
        hidden = _layer(features, weights.first[net], weights.first_bias[net])
        hidden = _layer(hidden, weights.second[net], weights.second_bias[net])
        for rank in range(len(out)):
            total = weights.last_bias[net, rank]
            for index in range(len(hidden)):
                total += hidden[index] * weights.last[net, index, rank]
            for index in range(len(features)):
                total += features[index] * weights.skip[net, index, rank]
            out[rank] += total / n_nets


@compiled
def _layer(values: Floats, weights: Floats, bias: Floats) -> Floats:
    """Return a layer's values through x / (1 + exp(-x)) (SiLU)."""
    sums = bias.copy()
    for index in range(len(values)):
        value = values[index]
        if value != 0:
            for unit in range(len(sums)):
                sums[unit] += value * weights[index, unit]
    for unit in range(len(sums)):
        sums[unit] /= 1 + np.exp(-sums[unit])
    return sums


@compiled
def share_ranks(chances: Chances, players: int) -> None:
    """Scale positive numbers, of ``chances`` the first, so that rows and columns add up to 1."""
    for _ in range(MOST_SWEEPS):
        worst = 0.0
        for rank in range(players):
            total = chances[:players, rank].sum()
            worst = max(worst, abs(total - 1))
            chances[:players, rank] /= total
        for seat in range(players):
            chances[seat, :players] /= chances[seat, :players].sum()
        if worst < CLOSE:
            return


@compiled
def rank_chances_of(weights: RankWeights, state: State, out: Chances) -> None:
    """Write the chances from a table: of the kyoku under way as it started, or after a paid one.

    Riichi sticks set in this kyoku are off the scores already and count as on the table.
    """
    round_, honba, dealer = int(state.round), int(state.honba), int(state.dealer)
    if state.phase >= WON:
        round_, honba = next_kyoku(state)
        dealer = dealer if state.dealer_stays else next_seat(state, dealer)
        if state.phase > DRAWN or kyoku_left(state) == OVER:
            round_ = GAME_OVER
    scores, last_round = state.scores[: state.rules.players], state.rules.last_round
    rank_chances(weights, scores, round_, last_round, honba, state.sticks, dealer, out)


class RankModel:
    """The model for Python; :attr:`weights` is what compiled code takes."""

    def __init__(self, weights: RankWeights) -> None:
        self.weights: Final = weights

    @classmethod
    def load(cls, folder: Path = SHIPPED) -> "RankModel":
        """Return the model; ``WeightsError`` if it cannot be had."""
        arrays = load_weights(NAME, folder)
        path = folder / f"{NAME}.npz"
        version = arrays.get("version")
        if version is None or version.tolist() != [VERSION]:
            raise WeightsError(path, f"is not of version {VERSION}; train it again")
        n, _, units = shaped(arrays, {"first": (None, N_FEATURES, None)}, path)["first"].shape
        if not n:
            raise WeightsError(path, "first has no network; train it again")
        checked = shaped(arrays, _shapes(n, units), path)
        return cls(
            RankWeights(**{k: np.ascontiguousarray(v, np.float32) for k, v in checked.items()})
        )

    def chances(self, situation: KyokuStart) -> Chances:
        """Return the chances of each seat (row) to end at each rank (column): float64[4, 4].

        Without a fourth player the last row and column are 0.
        """
        out = np.empty((4, 4))
        scores = np.ascontiguousarray(situation.scores, np.int32)
        rank_chances(self.weights, scores, *situation[1:], out)
        return out

    def expected_ranks(self, situation: KyokuStart) -> NDArray[np.float64]:
        """Return the mean rank of each seat, 1 to 4: float64[4]."""
        return np.asarray(self.chances(situation) @ np.arange(1.0, 5.0))


def _shapes(n: int, units: int) -> dict[str, Shape]:
    """Return the shapes of ``n`` networks."""
    return {
        "first": (n, N_FEATURES, units),
        "first_bias": (n, units),
        "second": (n, units, units),
        "second_bias": (n, units),
        "last": (n, units, 4),
        "skip": (n, N_FEATURES, 4),
        "last_bias": (n, 4),
    }


@cache
def rank_model(players: int = 4) -> RankModel:
    """Return the model that ships for a table, shared by all callers in this process."""
    return RankModel.load(OF_PLAYERS[players])
