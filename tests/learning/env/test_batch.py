"""Many tables at once play the referee's games, with the masks and rewards that these have."""

from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from mjbot.game.referee import Referee, bulk
from mjbot.game.rules.ruleset import rule_set
from mjbot.game.table.actions import DECIDES_ALL, DECIDES_TURNS, Action
from mjbot.game.table.settle import OVER, ranks_of
from mjbot.game.table.state import DRAWN, GAME_OVER, WON, State
from mjbot.game.table.state import PON as PON_MELD
from mjbot.learning.env import (
    RANDOM,
    TSUMOGIRI,
    BatchEnv,
    DecisionRows,
    random_actions,
    random_source,
)
from mjbot.learning.env.actions import ACTION_OF_CODE, KAN, KITA, N_ACTIONS, NAMES, PON
from mjbot.learning.env.batch import MaskedActionError
from mjbot.learning.env.rewards import REWARDS
from mjbot.learning.env.tables import STANDING
from mjbot.learning.models.networks.encoding import N_PLANES, N_SCALARS, encode, new_encoder
from mjbot.learning.models.networks.rank import KyokuStart, rank_model
from mjbot.protocol.rules import Rules
from mjbot.protocol.tiles import FIVE_KINDS
from mjbot.runtime.errors import ArgumentError
from mjbot.strategy.registry import make_strategy

TABLES = 6
Policy = Callable[[Random, list[int], State, int], int]


def play_at_random(random: Random, legal: list[int], state: State, seat: int) -> int:
    return random.choice(legal)


def hoard(random: Random, legal: list[int], state: State, seat: int) -> int:
    """Collect equal tiles, and kan once there are two to choose from."""
    hand, n = state["hand"][seat].tolist(), int(state["n_melds"][seat])
    pons = state["meld_kind"][seat][:n][state["meld_type"][seat][:n] == PON_MELD].tolist()
    kans = sum(copies == 4 or kind in pons for kind, copies in enumerate(hand) if copies)
    if KAN in legal and kans > 1:
        return KAN
    discards = [action for action in legal if action < 37]
    if PON in legal or not discards:
        return PON if PON in legal else legal[-1]
    return min(discards, key=lambda tile: (kind_of(tile) in pons, hand[kind_of(tile)]))


def kind_of(tile: int) -> int:
    return tile if tile < 34 else FIVE_KINDS[tile - 34]


class Followed:
    """A referee that is told what is chosen at a table, and does by itself what is no choice."""

    def __init__(self, seed: int, n_seats: int) -> None:
        self.referee = Referee(seed, Rules(length="tonpu", players=n_seats))
        self.referee.start()
        self.settle()

    @property
    def legal(self) -> dict[int, set[int]]:
        """The actions of each seat that has a choice."""
        legal = {
            seat: {int(ACTION_OF_CODE[action.code]) for action in actions}
            for seat, actions in self.referee.asked.items()
        }
        return {seat: actions for seat, actions in legal.items() if len(actions) > 1}

    def settle(self) -> None:
        while not self.referee.over and not self.legal:
            self.step({})

    def step(self, chosen: dict[int, Action]) -> None:
        asked = self.referee.asked
        self.referee.step({seat: chosen.get(seat, actions[-1]) for seat, actions in asked.items()})
        self.settle()

    def meant(self, seat: int, action: int, kind: int) -> Action:
        """Return what an action means, and of a kan of several kinds the one of ``kind``."""
        of_action = [
            legal
            for legal in self.referee.asked[seat]
            if ACTION_OF_CODE[legal.code] == action and (kind < 0 or legal.tile == kind)
        ]
        return max(of_action, key=lambda legal: (legal.red, legal.tsumogiri))


@pytest.mark.parametrize(
    ("policy", "n_seats"), [(play_at_random, 4), (hoard, 4), (play_at_random, 3)]
)
def test_tables_play_the_games_of_referees_with_the_same_choices(policy: Policy, n_seats: int):
    random = Random(5)
    batch = BatchEnv(TABLES, seed=40, length="tonpu", n_seats=n_seats)
    rows = batch.reset()
    followed = [Followed(seed, n_seats) for seed in batch.seeds.tolist()]
    ended, kan_choices, kita = 0, 0, 0
    while ended < 2 * TABLES:
        chosen: list[dict[int, Action]] = [{} for _ in followed]
        actions = []
        for table, seat, mask in zip(*map(np.ndarray.tolist, rows), strict=True):
            legal = [action for action in range(N_ACTIONS) if mask[action]]
            if batch.at_kan[table]:
                kan_choices += 1
                actions.append(random.choice(legal))
                chosen[table][seat] = followed[table].meant(seat, KAN, actions[-1])
                continue
            assert followed[table].legal[seat] == set(legal)
            actions.append(policy(random, legal, batch.states[table], seat))
            kita += actions[-1] == KITA and n_seats == 3
            if kinds := several_kans(followed[table], seat, actions[-1]):
                assert len(kinds) > 1
                continue
            chosen[table][seat] = followed[table].meant(seat, actions[-1], -1)
        rows = batch.step(actions)
        for table, choices in enumerate(chosen):
            if choices:
                followed[table].step(choices)
            if batch.dones[table]:
                referee = followed[table].referee
                assert referee.over
                final = referee.state["scores"][:n_seats].tolist()
                assert final == batch.final_scores[table].tolist()
                assert batch.seeds[table] == referee.seed + TABLES
                followed[table] = Followed(int(batch.seeds[table]), n_seats)
                ended += 1
    assert kan_choices > 0 or policy is play_at_random
    assert (kita > 0) == (n_seats == 3)


def several_kans(followed: Followed, seat: int, action: int) -> list[Action]:
    kans = [legal for legal in followed.referee.asked[seat] if legal.is_kan]
    return kans if action == KAN and len(kans) > 1 else []


def step_at_random(batch: BatchEnv, rows: DecisionRows, random: np.ndarray) -> DecisionRows:
    actions = np.empty(len(rows.tables), np.int64)
    random_actions(rows.masks, random, actions)
    assert rows.masks[np.arange(len(actions)), actions].all()
    return batch.step(actions)


def test_two_runs_of_one_seed_are_equal_and_other_seeds_are_not():
    def trace(seed: int) -> bytes:
        batch, random = BatchEnv(8, seed, "tonpu", "rank-model"), random_source(seed)
        rows, report = batch.reset(), []
        for _ in range(400):
            rows = step_at_random(batch, rows, random)
            report += [rows.tables.tobytes(), rows.masks.tobytes(), batch.rewards.tobytes()]
        return b"".join(report) + batch.states.tobytes()

    assert trace(3) == trace(3)
    assert trace(3) != trace(4)


def test_a_reset_begins_the_same_games_again():
    batch = BatchEnv(4, seed=9)
    first = batch.reset()
    step_at_random(batch, batch.rows, random_source(1))
    for part, again in zip(first, batch.reset(), strict=True):
        assert (part == again).all()
    batch.reset(10)
    assert batch.seeds.tolist() == [10, 11, 12, 13]


def test_tables_can_share_their_walls():
    batch = BatchEnv(8, seed=np.arange(8) // 2, players=[TSUMOGIRI] * 4, pause=True)
    batch.reset()
    seen = [set(batch.seeds.tolist())]
    while len(seen) < 3:
        if batch.dones.any():
            seen.append(set(batch.seeds.tolist()))
        assert (batch.states["wall"][::2] == batch.states["wall"][1::2]).all()
        batch.step([])
    batch.step([])
    assert batch.seeds.max() >= 8


@pytest.mark.parametrize(
    ("reward", "n_seats"),
    [
        *[(reward, 4) for reward in ("score", "rank", "rank-model", "rank-formula")],
        ("rank-model", 3),
        ("rank-formula", 3),
    ],
)
def test_the_rewards_of_a_game_add_up_to_its_result_less_its_beginning(reward: str, n_seats: int):
    batch, random = BatchEnv(TABLES, 2, "tonpu", reward, n_seats=n_seats), random_source(7)
    rules = Rules(length="tonpu", players=n_seats)
    rows, sums, ended = batch.reset(), np.zeros((TABLES, n_seats)), 0
    opening = np.zeros(1, STANDING)
    opening["scores"][:, :n_seats] = rules.start_points
    opening["left"], opening["last_round"] = n_seats, rules.last_round
    before = REWARDS[reward](opening, rules)[0]
    while ended < 3 * TABLES:
        rows = step_at_random(batch, rows, random)
        assert not batch.rewards[batch.kyoku_ends == 0].any()
        sums += batch.rewards
        for table in np.flatnonzero(batch.dones):
            final = batch.final_scores[table]
            assert final.sum() == n_seats * rules.start_points
            results = (final - 25_000) / 1000
            if reward != "score":
                results = (n_seats + 1) / 2 - np.array(ranks_of(final.tolist()))
            assert sums[table] == pytest.approx(results - before, abs=1e-4)
            sums[table] = 0
            ended += 1


@pytest.mark.parametrize(
    ("model", "n_seats"), [("rank-model", 4), ("rank-formula", 4), ("rank-model", 3)]
)
def test_rank_comes_at_the_end_only_and_the_models_share_at_each_kyoku(model: str, n_seats: int):
    random = random_source(3)
    by_rank, by_model = (
        BatchEnv(16, 5, "tonpu", reward, n_seats=n_seats) for reward in ("rank", model)
    )
    rows, _ = by_rank.reset(), by_model.reset()
    moved = 0
    for _ in range(900):
        actions = np.empty(len(rows.tables), np.int64)
        random_actions(rows.masks, random, actions)
        rows = by_rank.step(actions)
        by_model.step(actions)
        assert not by_rank.rewards[~by_rank.dones].any()
        assert by_model.rewards.sum(axis=1) == pytest.approx(0, abs=1e-5)
        moved += int((np.abs(by_model.rewards[~by_rank.dones]) > 0.01).any(axis=1).sum())
    assert moved > 16


def test_a_reward_can_be_any_function_of_standings():
    seen = []

    def honba(standings: np.ndarray) -> np.ndarray:
        seen.append(standings.copy())
        return np.repeat(standings["honba"][:, None], 4, axis=1)

    batch, random = BatchEnv(8, 1, "tonpu", honba), random_source(3)
    rows = batch.reset()
    while len(seen) < 60:
        rows = step_at_random(batch, rows, random)
    opening, *later = np.concatenate(seen)
    assert opening["scores"].tolist() == [25_000] * 4
    assert (opening["left"], opening["last_round"]) == (4, 3)
    assert {int(standing["left"]) for standing in later} >= {0, 1, 2, 3}
    with pytest.raises(ArgumentError, match=r"\(1, 4\)"):
        BatchEnv(8, reward=lambda standings: standings["scores"][:, 0])


def test_a_table_of_one_game_stays_at_its_end():
    batch, random = BatchEnv(8, 1, "tonpu", one_game=True), random_source(3)
    rows, ended = batch.reset(), []
    while len(rows.tables):
        rows = step_at_random(batch, rows, random)
        assert not set(ended) & set(rows.tables.tolist())
        ended += np.flatnonzero(batch.dones).tolist()
    assert sorted(ended) == list(range(8))
    assert (batch.states["phase"] == GAME_OVER).all()
    assert batch.seeds.tolist() == list(range(1, 9))
    assert (batch.final_scores.sum(axis=1) == 100_000).all()
    assert len(batch.reset().tables) >= 8


def test_a_table_that_pauses_shows_how_its_kyoku_ended():
    batch, random = BatchEnv(8, 1, "tonpu", pause=True), random_source(3)
    rows, before, ends = batch.reset(), batch.states["scores"].copy(), 0
    assert set(rows.tables.tolist()) == set(range(8))
    while ends < 40:
        paused = set(np.flatnonzero(batch.kyoku_ends).tolist())
        rows = step_at_random(batch, rows, random)
        for table in np.flatnonzero(batch.kyoku_ends):
            ends += 1
            assert batch.kyoku_ends[table] == 1
            assert table not in rows.tables
            assert batch.dones[table] or batch.states["phase"][table] in (WON, DRAWN)
            change = batch.states["scores"][table] - before[table]
            assert batch.rewards[table] == pytest.approx(change / 1000)
            before[table] = 25_000 if batch.dones[table] else batch.states["scores"][table]
        assert not paused & set(np.flatnonzero(batch.kyoku_ends).tolist())


def test_scripted_seats_are_not_asked():
    players = np.tile([0, TSUMOGIRI, 1, RANDOM], (4, 1))
    players[1] = [RANDOM, RANDOM, RANDOM, 2]
    batch, random = BatchEnv(4, 3, players=players), random_source(3)
    rows, found = batch.reset(), set()
    for _ in range(500):
        rows = step_at_random(batch, rows, random)
        found |= set(batch.players[rows.tables, rows.seats].tolist())
        assert (rows.seats[rows.tables == 1] == 3).all()
    assert found == {0, 1, 2}


def test_tables_where_nobody_is_asked_play_the_games_of_the_compiled_loop():
    batch = BatchEnv(3, 11, "tonpu", players=[TSUMOGIRI] * 4)
    policies = np.full(4, bulk.TSUMOGIRI, np.int8)
    finals = bulk.play_games(
        policies, np.arange(11, 14, dtype=np.int64), rule_set(Rules(length="tonpu"))
    )
    assert not len(batch.reset().tables)
    is_first = np.ones(3, np.bool_)
    while is_first.any():
        for table in np.flatnonzero(is_first & batch.dones):
            assert batch.final_scores[table].tolist() == finals[table].tolist()
            is_first[table] = False
        batch.step([])


def test_a_strategy_can_sit_at_a_table():
    """Its choice, whatever it is, can be said, and the game is the one that the arena plays."""
    name, seed = "fast-riichi-a", 21
    referee = Referee(seed, "tonpu")
    referee.play([make_strategy(name) if seat == 2 else Sitter() for seat in range(4)])
    batch = BatchEnv(1, seed, "tonpu", players=[TSUMOGIRI, TSUMOGIRI, 0, TSUMOGIRI])
    strategy = make_strategy(name)
    rows = batch.reset()
    while not batch.dones[0]:
        choice = strategy.decide(batch.view(0, 2))
        assert rows.seats.tolist() == [2]
        rows = batch.step([N_ACTIONS + choice.code])
    assert batch.final_scores[0].tolist() == referee.state["scores"].tolist()


class Sitter:
    """Discards what it drew."""

    decides = DECIDES_ALL

    def decide(self, view):
        return view.default_action

    def start_kyoku(self, view):
        pass


def test_seats_are_asked_about_what_they_want_to_be():
    batch, random = BatchEnv(8, 3), random_source(3)
    batch.decides[:] = DECIDES_TURNS
    rows = batch.reset()
    for _ in range(100):
        assert (batch.states["turn"][rows.tables] == rows.seats).all()
        rows = step_at_random(batch, rows, random)


def test_observations_are_those_of_the_encoder():
    batch, random = BatchEnv(8, 6), random_source(3)
    rows, encoder = batch.reset(), new_encoder()
    for _ in range(30):
        rows = step_at_random(batch, rows, random)
    planes, scalars = batch.observe()
    assert planes.shape == (len(rows.tables), 34, N_PLANES)
    of_one, numbers = np.empty((34, N_PLANES), np.float32), np.empty(N_SCALARS, np.float32)
    for row, (table, seat) in enumerate(zip(rows.tables, rows.seats, strict=True)):
        encode(batch.states[table], seat, encoder, of_one, numbers)
        assert (planes[row] == of_one).all()
        assert (scalars[row] == numbers).all()
    wide = np.empty((24, 34, N_PLANES), np.float32), np.empty((24, N_SCALARS), np.float32)
    again, _ = batch.observe(*wide)
    assert again.base is wide[0]
    assert (again == planes).all()


def test_an_illegal_action_is_told_in_one_line_and_changes_nothing():
    batch = BatchEnv(2, 6)
    batch.reset().masks[:] = True  # the rows are the caller's own
    before = batch.states.copy()
    for action, report in (
        (45, r"table 1, seat 0 may not 45 \(pass\); it may: \d"),
        (-1, "no such"),
    ):
        with pytest.raises(MaskedActionError, match=report):
            batch.step([int(batch.states["drawn"][0]), action])
    with pytest.raises(MaskedActionError, match="no such action"):
        batch.step([N_ACTIONS + 78] * 2)
    with pytest.raises(ArgumentError, match="2 rows"):
        batch.step([0])
    assert (batch.states == before).all()  # by field: padding is undefined


def test_the_first_and_the_last_action_are_named_where_they_are_illegal():
    batch = BatchEnv(8, 6)
    rows = batch.reset()
    (table, *_) = np.flatnonzero(~rows.masks[:, 0])
    legal = batch.states["drawn"].tolist()
    for action in (0, N_ACTIONS - 1):
        legal[table] = action
        problem = rf"table {table}, seat \d may not {action} \({NAMES[action]}\)"
        with pytest.raises(MaskedActionError, match=problem):
            batch.step(legal)


@pytest.mark.parametrize(
    ("arguments", "report"),
    [
        ({"n_tables": 0}, "n_tables"),
        ({"length": "east"}, "length must be one of tonpu, hanchan"),
        ({"reward": "points"}, "reward must be .* score, rank, rank-model, rank-formula"),
        ({"seed": np.arange(3)}, "seed must be an integer or 2 of them"),
        ({"players": [0, 1]}, "players must have the shape"),
        ({"players": [0, 1, 2, 3], "n_seats": 3}, r"players must have the shape \(3,\)"),
        ({"n_seats": 2}, "n_seats must be 3 or 4"),
        ({"players": [0, 1, 2, -3]}, "-1 discards"),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments, report):
    with pytest.raises(ArgumentError, match=report):
        BatchEnv(**({"n_tables": 2} | arguments))


@pytest.mark.parametrize("wrong", [1.5, 2.0, "x", "1", None, [1, 2]])
def test_actions_that_are_no_whole_numbers_are_refused_in_one_line(wrong):
    batch = BatchEnv(2, 6)
    drawn = int(batch.reset().masks[0].argmax())
    before = batch.states.copy()
    for actions in ([drawn, wrong], [wrong, wrong]):
        with pytest.raises(ArgumentError, match=r"^actions (must be whole|of shape)") as refused:
            batch.step(actions)
        assert "\n" not in str(refused.value)
    assert (batch.states == before).all()  # by field: padding is undefined
    with pytest.raises(ArgumentError, match="not bool"):
        batch.step([True, True])
    batch.step(np.array([drawn, int(batch.rows.masks[1].argmax())], np.uint8))


def test_all_named_rewards_are_values_of_standings():
    assert set(REWARDS) == {"score", "rank", "rank-model", "rank-formula"}


def test_the_rank_models_worth_is_what_it_expects_of_the_next_kyoku():
    standings = np.zeros(3, STANDING)
    standings["scores"] = [[31_000, 29_000, 21_000, 19_000], [25_000] * 4, [40_000, 20_000] * 2]
    standings["round"], standings["left"], standings["last_round"] = (
        (5, 2, 7),
        (3, 2, OVER),
        (7, 3, 7),
    )
    standings["honba"], standings["sticks"] = (2, 0, 1), (1, 0, 0)
    worths = REWARDS["rank-model"](standings)
    model = rank_model()
    for worth, standing in zip(worths[:2], standings, strict=False):
        numbers = (int(standing[name]) for name in ("round", "last_round", "honba", "sticks"))
        expected = model.expected_ranks(
            KyokuStart(standing["scores"], *numbers, int(standing["round"]) & 3)
        )
        assert worth == pytest.approx(2.5 - expected, abs=1e-9)
    assert worths[2].tolist() == [1.5, -0.5, 0.5, -1.5]
