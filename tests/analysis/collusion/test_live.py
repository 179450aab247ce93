"""What is told while a table is played is what its records tell afterwards."""

from pathlib import Path

import numpy as np
import pytest

import mjbot
from mjbot.analysis.collusion.games import count_games
from mjbot.analysis.collusion.live import FIRST_TEST, HelperWatch, PairWatch
from mjbot.analysis.collusion.residuals import PLACE_OF
from mjbot.analysis.collusion.verdicts import OF_PLAYERS, levelled, shipped_weights
from mjbot.game.records.sources import open_games
from mjbot.game.records.writers import FORMATS
from mjbot.learning.training.positions import index_games
from mjbot.protocol import messages as m
from tests.game.records.formats import game_of_three

LOG = Path(mjbot.__file__).parents[1] / "logs" / "east-four-winds.mjson"


def watched(
    alpha: float, games: int = 1, log: Path = LOG, players: int = 4
) -> tuple[PairWatch, list[str]]:
    parts: list[str] = []
    watch = PairWatch(shipped_weights(OF_PLAYERS[players]), parts.append, alpha)
    for _ in range(games):
        (game,) = open_games(log)
        for entry in game.entries:
            watch.add(entry.event)
    return watch, parts


@pytest.mark.parametrize("players", [3, 4])
def test_it_finds_of_a_game_what_its_record_says(players: int, tmp_path: Path):
    log = LOG
    if players == 3:
        log = tmp_path / "three.mjson"
        log.write_bytes(FORMATS["mjai"].encode(game_of_three()))
    watch, parts = watched(alpha=0.01, log=log, players=players)
    models = {players: shipped_weights(OF_PLAYERS[players]).model}
    games = count_games(index_games([log], players=(players,)), models)
    left, names = levelled(games)[0], [games.players[number] for number in games.names[0]]
    assert parts == [] and len(watch.met) == players * (players - 1) / 2
    for (one, other), meetings in watch.met.items():
        place = PLACE_OF[players][names.index(one), names.index(other)]
        assert meetings.residuals == pytest.approx(left[place], abs=0.01)
        assert meetings.products == pytest.approx(games.products[0, place], abs=0.01)


def test_a_pair_is_told_of_once_and_never_called_proven():
    _, parts = watched(alpha=1e12, games=2)  # any e-value is above the limit
    assert len(parts) == 6
    assert all("not proof" in line for line in parts)
    assert np.unique(parts).size == 6


def test_the_limit_rises_with_the_pairs_that_met():
    watch, _ = watched(alpha=0.01)
    e = {
        pair: float(watch.weights.e_values(meetings.residuals, meetings.products))
        for pair, meetings in watch.met.items()
    }
    assert [meetings.number for meetings in watch.met.values()] == [1, 2, 3, 4, 5, 6]
    shares = {pair: value / (k * (k + 1)) for k, (pair, value) in enumerate(e.items(), 1)}
    limit = sorted(shares.values())[3]  # three pairs are at or above it
    above = {pair for pair, share in shares.items() if share >= limit}
    assert {pair for pair, value in e.items() if value >= limit} - above  # were it not raised
    _, parts = watched(alpha=1 / (limit * (1 - 1e-9)))
    assert {line.split(" play as if")[0] for line in parts} == {" + ".join(p) for p in above}


def made_game(rng: np.random.Generator, names: list[str]) -> list[m.Event]:
    """Four kyoku, each won off somebody; ``helper`` deals in to ``friend`` where it can."""
    hidden = (("?",) * 13,) * 4
    events: list[m.Event] = [m.StartGame(names=tuple(names))]
    for kyoku in range(1, 5):
        events.append(
            m.StartKyoku(
                bakaze="E", kyoku=kyoku, honba=0, kyotaku=0, oya=kyoku - 1, dora_marker="1m",
                tehais=hidden, scores=(25000,) * 4,
            )
        )  # fmt: skip
        source, winner = rng.choice(4, 2, replace=False).tolist()
        if {"helper", "friend"} <= set(names):
            source, winner = names.index("helper"), names.index("friend")
        deltas = [0, 0, 0, 0]
        deltas[source], deltas[winner] = -1000, 1000
        events.append(m.Hora(actor=winner, target=source, deltas=tuple(deltas)))
        events.append(m.EndKyoku())
    return [*events, m.EndGame()]


@pytest.mark.parametrize("helps", [True, False])
def test_a_helper_is_reported_once_at_a_power_of_two(helps: bool) -> None:
    rng, parts = np.random.default_rng(1), list[str]()
    watch = HelperWatch(parts.append)
    names = ["helper" if helps else "p9", "friend", *[f"p{number}" for number in range(8)]]
    reported = []
    for number in range(1, 4 * FIRST_TEST + 1):
        for event in made_game(rng, rng.choice(names, 4, replace=False).tolist()):
            watch.add(event)
        if parts and not reported:
            reported.append(number)
    assert watch.conduct.games == 4 * FIRST_TEST
    if not helps:
        assert parts == []
        return
    assert len(parts) == 1 and parts[0].startswith("helper plays as if it helped friend")
    assert "not proof" in parts[0] and reported[0] in (FIRST_TEST, 2 * FIRST_TEST, 4 * FIRST_TEST)
