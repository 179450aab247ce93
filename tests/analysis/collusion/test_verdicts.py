"""From z to p, and what an operator is told."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mjbot
from mjbot.analysis.collusion.games import GameCounts
from mjbot.analysis.collusion.hidden import CLASSES, N_SCORES, SCORES, no_model
from mjbot.analysis.collusion.learning import known_pair
from mjbot.analysis.collusion.report import NOT_PROOF
from mjbot.analysis.collusion.residuals import contrasts
from mjbot.analysis.collusion.verdicts import (
    OF_PLAYERS,
    DetectionWeights,
    holm,
    judge,
    levelled,
    shipped_weights,
)
from mjbot.cli.main import main
from mjbot.game.records.writers import FORMATS
from mjbot.game.statistics.estimates import t_quantile
from mjbot.learning.models.weights import load_manifest
from tests.game.records.formats import game_of_three

LOGS = Path(mjbot.__file__).parents[1] / "logs"


def test_adjusted_p_values_keep_their_order_and_are_never_smaller():
    p = np.random.default_rng(4).random(50) ** 4
    adjusted = holm(p)
    assert (adjusted >= p).all() and adjusted.max() <= 1
    assert (np.diff(adjusted[np.argsort(p)]) >= 0).all()
    assert adjusted.min() == pytest.approx(50 * p.min())


@pytest.mark.parametrize("folder", OF_PLAYERS.values(), ids=map(str, OF_PLAYERS))
def test_the_weights_that_ship_say_what_they_were_learned_from(folder):
    weights = shipped_weights(folder)
    assert weights.sums.shape[1] == weights.points.shape[0] == N_SCORES
    assert [len(cells) for cells in weights.model] == [len(cells) for cells in no_model()]
    manifest = load_manifest("detection", folder)
    assert "mjbot train detection" in manifest.command


# --- planted ---------------------------------------------------------------------------------

KYOKU = 10


def played(
    n: int,
    helped: float = 0.0,
    score: int = 0,
    until: int | None = None,
    seed: int = 1,
    players: int = 4,
):
    """Games of the same at one table; the first two serve each other beyond chance in one score."""
    random = np.random.default_rng(seed)
    seats = np.array([random.permutation(players) for _ in range(n)])  # where each player sits
    kyoku = random.standard_t(3, size=(n, KYOKU, players, players, N_SCORES))
    rows = np.arange(n) < (n if until is None else until)
    for one, other in ((0, 1), (1, 0)):
        kyoku[rows, :, seats[rows, one], seats[rows, other], score] += helped
    left = contrasts(kyoku)
    spread = left[..., :2, :]
    return GameCounts(
        players=["a", "b", "c", "d"][:players],
        numbers=np.arange(n, dtype=np.int32),
        names=np.argsort(seats, axis=1).astype(np.int32),
        scores=np.full((n, players), 25_000, np.int32),
        kyoku=np.full(n, KYOKU, np.int16),
        t=kyoku.sum(axis=1).astype(np.float32),
        base=np.zeros((n, players, players, N_SCORES, CLASSES), np.float32),
        level=np.zeros((n, players, N_SCORES, CLASSES, 2), np.float32),
        products=np.einsum("nkpci,nkpcj->npcij", spread, spread).astype(np.float32),
    )


def weights_of(sums) -> DetectionWeights:
    model = no_model()
    return DetectionWeights(*model, sums=np.array(sums, float), points=np.ones(N_SCORES))


ALL = weights_of([[1, 1, 0, 0, 0], [0, 0, 0, 0, -1]])


def p_of(games: GameCounts, weights: DetectionWeights = ALL) -> dict[tuple[str, str], float]:
    return {verdict.names: verdict.p for verdict in judge(games, weights)}


@pytest.mark.parametrize("players", [3, 4])
def test_strangers_are_accused_no_more_often_than_is_said(players):
    tables = [played(5, seed=seed, players=players) for seed in range(120)]
    p = np.array([list(p_of(games).values()) for games in tables]).ravel()
    for level in (0.05, 0.01):
        assert np.mean(p < level) < level


@pytest.mark.parametrize("players", [3, 4])
def test_a_pair_is_found_and_its_rivals_are_not(players):
    p = p_of(played(20, helped=1.5, players=players))
    assert p["a", "b"] < 1e-4
    assert min(p[pair] for pair in p if pair != ("a", "b")) > 0.01


def test_the_effect_is_points_per_game_with_its_interval():
    games = played(12, helped=1.5)
    points = np.array([100.0, -50.0, 0.0, 20.0, 7.0])
    (verdict,) = [v for v in judge(games, replace(ALL, points=points)) if v.names == ("a", "b")]
    each = levelled(games)[np.arange(12), pair_places(games), 0] @ points
    assert verdict.effect.value == pytest.approx(each.mean())
    half_width = t_quantile(0.975, 11) * each.std(ddof=1) / np.sqrt(12)
    assert verdict.effect.half_width == pytest.approx(half_width)


def test_what_is_switched_off_is_not_found():
    off = weights_of([[0, 1, 0, 0, 0], [0, 0, 0, 0, -1]])
    assert p_of(played(20, helped=1.5), off)["a", "b"] > 0.01
    assert p_of(played(20, helped=-1.5, score=4), off)["a", "b"] < 1e-4
    assert p_of(played(20, helped=1.5, score=4), off)["a", "b"] > 0.5  # the other way round


def test_when_the_channel_is_cut_the_help_ends():
    games = played(40, helped=1.5, until=20)
    assert p_of(games.take(slice(0, 20)))["a", "b"] < 1e-4
    assert p_of(games.take(slice(20, 40)))["a", "b"] > 0.01


def test_seats_shuffled_it_is_gone():
    games = played(40, helped=1.5)
    random = np.random.default_rng(2)
    shuffled = replace(games, names=random.permuted(games.names, axis=1))
    assert p_of(games)["a", "b"] < 1e-8
    assert min(p_of(shuffled).values()) > 1e-3


def test_whoever_looks_after_every_game_is_told_of_strangers_no_more_often_for_it():
    largest = []
    for seed in range(150):
        games = played(20, seed=seed)
        left = levelled(games)[:, 0].cumsum(axis=0)
        largest.append(ALL.e_values(left, games.products[:, 0].cumsum(axis=0)).max())
    assert np.mean(np.array(largest) >= 20) <= 0.05


def test_a_pair_is_told_of_while_it_plays():
    games = played(20, helped=1.5)
    rows, places = np.arange(20), pair_places(games)
    left = levelled(games)[rows, places].cumsum(axis=0)
    e = ALL.e_values(left, games.products[rows, places].cumsum(axis=0))
    assert e[0] < 100
    assert e[-1] > 10_000


def pair_places(games: GameCounts):
    return known_pair(games, "a", "b").places


@pytest.mark.parametrize("players", [3, 4])
def test_hands_that_always_need_much_are_made_up_for(players):
    games = played(20, players=players)
    seats = np.argmax(games.names == 2, axis=1)
    rows = np.arange(len(games))
    games.level[rows, seats, 0, 0] = (60, 30)  # the hands of c need twice what is expected
    games.base[rows, :, seats, 0, 0] = 5.0
    games.t[rows, :, seats, 0] += 5.0
    left = levelled(games)
    assert left == pytest.approx(levelled(played(20, players=players)), abs=0.2)


def test_fewer_games_than_the_test_is_known_for_are_not_judged(tmp_path, capsys):
    games = played(4, helped=5.0)
    assert judge(games, ALL) == []
    assert len(judge(played(5), ALL)) == 6
    with pytest.raises(ValueError, match="least is 4; pairs are judged by 5 games"):
        judge(games, ALL, 4)
    with pytest.raises(SystemExit) as ended:
        main(["detect", str(tmp_path), "--least", "4"])
    assert ended.value.code == 2
    assert "--least: 4: pairs are judged by 5 games together or more" in capsys.readouterr().err


# --- the command -----------------------------------------------------------------------------


def cut(lines: list[str], folder: Path) -> Path:
    """One game of the same players, ended after two to six kyoku: five games."""
    ends = [at for at, line in enumerate(lines, 1) if '"end_kyoku"' in line]
    folder.mkdir()
    for n_kyoku, end in enumerate(ends[1:6], 2):
        (folder / f"{n_kyoku}.mjson").write_text("".join([*lines[:end], lines[-1]]), "utf-8")
    return folder


@pytest.fixture
def records(tmp_path):
    lines = (LOGS / "east-four-winds.mjson").read_text("utf-8").splitlines(keepends=True)
    return cut(lines, tmp_path / "games")


@pytest.fixture
def of_three(tmp_path):
    game = FORMATS["mjai"].encode(game_of_three(0, "hanchan"))
    return cut(game.decode().splitlines(keepends=True), tmp_path / "of three")


def test_of_three_players_and_four_those_of_most_games_are_judged(records, of_three, capsys):
    (records / "6.mjson").unlink()
    found = []
    for folders in ([of_three], [of_three, records]):
        assert main(["detect", *map(str, folders), "--jobs", "1", "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out))
        assert (found[-1]["games"], found[-1]["players"], len(found[-1]["pairs"])) == (5, 3, 3)
    for alone, beside in zip(*[part["pairs"] for part in found], strict=True):
        assert alone["players"] == beside["players"]
        z = {score: part["z"] for score, part in alone["hidden_hands"].items()}
        assert z["chi calls"] == 0 != z["calls"]


def test_the_command_lists_pairs_and_says_of_each_that_it_is_no_proof(records, tmp_path, capsys):
    page = tmp_path / "pairs.html"
    kept = ["--folder", str(tmp_path / "run"), "--jobs", "1", "--shown", "2"]
    arguments = ["detect", str(records), *kept]
    assert main([*arguments, "--html", str(page), "--json"]) == 0
    parts = json.loads(capsys.readouterr().out)
    assert len(parts["pairs"]) == 6
    assert {pair["note"] for pair in parts["pairs"]} == {NOT_PROOF}
    assert set(parts["pairs"][0]["hidden_hands"]) == set(SCORES)
    assert all(0 <= pair["p"] <= pair["p_adjusted"] <= 1 for pair in parts["pairs"])
    for pair in parts["pairs"][:2]:
        assert all("mjbot watch" in position["watch"] for position in pair["positions"])
    assert "not proof" in page.read_text("utf-8")
    assert main(arguments) == 0  # goes on with what was kept
    out = capsys.readouterr().out
    assert "6 pairs met in 5 games or more" in out.splitlines()[0]  # the summary, then evidence
    assert out.splitlines()[1].startswith("These results are not proof")


def test_what_was_counted_of_other_records_is_not_taken_up(records, tmp_path, capsys):
    kept, command = tmp_path / "run", ["detect", str(records), "--jobs", "1", "--json"]
    assert main([*command, "--folder", str(kept)]) == 0
    for path in records.iterdir():  # other records in files of the same names
        path.write_text(path.read_text("utf-8").replace('"majiang-2"', '"another"'), "utf-8")
    capsys.readouterr()
    assert main([*command, "--folder", str(kept)]) == 0
    taken_up = capsys.readouterr().out
    assert main(command) == 0
    assert taken_up == capsys.readouterr().out
    assert "another" in taken_up and "majiang-2" not in taken_up
