"""Learning by play: what the critic is shown, what a decision gained, and whole runs."""

import argparse
import contextlib
import dataclasses
from pathlib import Path

import numpy as np
import pytest

from mjbot.cli.main import main
from mjbot.game.rules.acceptance import waits
from mjbot.game.table.default_action import default_code
from mjbot.game.table.hands import kind_of
from mjbot.game.table.state import Phase
from mjbot.learning.env import BatchEnv
from mjbot.learning.env.actions import N_ACTIONS
from mjbot.learning.models.weights import (
    SHIPPED,
    Manifest,
    load_manifest,
    load_weights,
    save_weights,
)
from mjbot.learning.training.fit import RATE_CHANGE
from mjbot.learning.training.positions import index_games, steps
from mjbot.learning.training.requests import SelfPlayRequest
from mjbot.protocol.tiles import N_KINDS
from mjbot.runtime.errors import ExitCode
from proof import gradient_noise

LOGS = Path(__file__).parents[4] / "logs"
PON = 2
"""As a kind of decision."""
MANIFEST = Manifest(data="no games", command="none", seed=0, scores={"rows shown": 0})


@pytest.fixture(scope="module")
def torch():
    found = pytest.importorskip("torch", reason="training needs torch: pip install 'mjbot[train]'")
    found.set_num_threads(1)
    return found


@pytest.fixture(scope="module")
def self_play(torch):
    from mjbot.learning.training.networks import self_play

    return self_play


@pytest.fixture(scope="module")
def start(torch, tmp_path_factory):
    """A folder with the weights of a small network that has learned nothing."""
    from mjbot.learning.training.networks.policy_network import PolicyNetwork

    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("start")
    save_weights("policy", PolicyNetwork(8, 3).arrays(), MANIFEST, folder)
    return folder


class ShortGames(BatchEnv):
    """Every game is over after a kyoku: enough to learn from, and quick."""

    @property
    def dones(self):
        return self.kyoku_ends > 0

    @dones.setter
    def dones(self, _):
        pass


@pytest.fixture
def games(torch):
    from mjbot.learning.training.networks import self_play_games

    return self_play_games


@pytest.fixture(autouse=True)
def short_games(self_play, games, monkeypatch):
    monkeypatch.setattr(games, "BatchEnv", ShortGames)
    monkeypatch.setattr(self_play, "BATCH", 16)
    monkeypatch.setattr(self_play, "CRITIC_BATCH", 16)
    monkeypatch.setattr(self_play, "STEP_HANCHAN", 0.001)  # a batch


@pytest.fixture
def request_(self_play, start, tmp_path):
    return SelfPlayRequest(
        iterations=2,
        tables=1,
        length="tonpu",
        warm_up=1,
        rate=1e-3,
        kl=0.05,
        target_kl=1.0,
        start=start,
        folder=tmp_path / "run",
    )


def test_the_critic_is_shown_the_hands_of_the_others(torch):
    from mjbot.learning.training.networks import critic

    planes = np.empty((N_KINDS, critic.N_HIDDEN_PLANES), np.float32)
    scalars = np.empty(critic.N_HIDDEN_SCALARS, np.float32)
    in_tenpai = 0
    for _, _, state in next(iter(steps(index_games([LOGS / "east-extra-round.mjson"])))):
        if not state["hand"].any():  # nothing is dealt
            continue
        for seat in range(4):
            critic.write_hidden(state, seat, planes, scalars)
            for step in range(1, 4):
                other = (seat + step) % 4
                hand = state["hand"][other]
                of_other = planes[:, critic.OF_OTHER * (step - 1) :]
                assert (of_other[:, :3].sum(axis=1) == np.minimum(hand, 3)).all()
                if hand.sum() % 3 == 1:
                    mask = waits(hand, int(state["n_melds"][other]))
                    waited = of_other[:, critic.WAITED]
                    assert (waited == (mask >> np.arange(N_KINDS) & 1)).all()
                    in_tenpai += mask != 0
            assert scalars[: critic.TURN].reshape(3, -1)[:, :5].sum() == 3
            assert not planes[:, critic.NEXT :].any()  # a record has no wall
    assert in_tenpai > 50


def test_the_critic_is_shown_who_draws_what_next(torch):
    from mjbot.learning.training.networks import critic

    planes = np.empty((N_KINDS, critic.N_HIDDEN_PLANES), np.float32)
    scalars = np.empty(critic.N_HIDDEN_SCALARS, np.float32)
    env = BatchEnv(1, 3, pause=True)
    state, expected, compared = env.states[0], {}, 0
    rows = env.reset()
    while not env.kyoku_ends[0]:
        if state["phase"] == Phase.TURN:
            left, turn = int(state["wall_left"]), int(state["turn"])
            if left in expected:
                kind = expected.pop(left)
                assert kind_of(state["drawn"]) == kind
                compared += 1
            critic.write_hidden(state, 2, planes, scalars)
            assert scalars[critic.TURN :].argmax() == (turn - 2) % 4
            after = planes[:, critic.NEXT :]
            assert (after.sum(axis=0) == (np.arange(critic.N_NEXT) < left)).all()
            for place in range(min(left, critic.N_NEXT)):
                kind = int(after[:, place].argmax())
                assert expected.setdefault(left - 1 - place, kind) == kind
        codes = [N_ACTIONS + default_code(state, int(seat)) for seat in rows.seats]
        rows = env.step(codes)
    assert compared > 60


def test_what_a_decision_gained_adds_up_to_what_the_kyoku_brought(games):
    experience = games.Experience(n=6)
    experience.values = [
        np.array([0.1, 0.4, -0.2], np.float32),
        np.array([0.3, 0, 0.5], np.float32),
    ]
    experience.follows = {
        0: 2,
        2: 3,
        1: 4,
    }  # one seat's rows 0, 2, 3, another's 1, 4; 5 never ended
    experience.rewards = {3: -1.0, 4: 0.25}
    gained, returns = experience.advantages()
    last, middle = -1.0 - 0.3, 0.3 + 0.2
    share = games.LAMBDA
    assert gained[3] == pytest.approx(last)
    assert gained[2] == pytest.approx(middle + share * last)
    assert gained[0] == pytest.approx(-0.3 + share * (middle + share * last))
    assert gained[1] == pytest.approx(-0.4 + share * 0.25)
    assert np.isnan(gained[5])
    assert returns[:5] == pytest.approx(gained[:5] + np.concatenate(experience.values)[:5])


class Favour:
    """Games in which one answer always was better than the critic estimated."""

    def __init__(self, self_play, request):
        from mjbot.learning.training.networks.self_play_games import Games, Players

        self.networks = networks = self_play.SelfPlayNetworks(request)
        players = Players(networks.policy, networks.start, networks.critic)
        random = np.random.default_rng(request.seed)
        games = Games(players, request.tables, 7, random, request.length)
        self.experience = games.play(lambda *_, **__: None)
        self.games = self.experience.played()

    def chance_of_pon(self, self_play):
        asked = [q for q in self.experience.questions if (q.kinds == PON).any()]
        rows = np.concatenate([q.rows for q in asked])
        legal = np.concatenate([q.legal for q in asked])
        with pytest.importorskip("torch").no_grad():
            outputs = self.networks.policy(*self.games.inputs.take(rows, False))[-1]
        kinds = np.full(len(rows), PON)
        return self_play.log_probabilities(outputs, kinds, legal, 1.0)[:, 1].exp().mean().item()

    def improve(self, self_play, request, gained, *seeds):
        """Learn from advantages; return the last report."""
        run = self_play.SelfPlayRun.__new__(self_play.SelfPlayRun)
        run.networks, run._request, run.reports = self.networks, request, []
        run._batch = self_play.BATCH
        for seed in seeds:
            random = np.random.default_rng(seed)
            questions = self.experience.open_questions(gained)
            games = self.games._replace(advantages=gained, questions=questions)
            report = run._improve(games, random)
        return report


def test_what_went_better_than_thought_is_done_more_often(self_play, request_):
    request_ = dataclasses.replace(request_, tables=3, kl=0.0)
    favour = Favour(self_play, request_)
    before = favour.chance_of_pon(self_play)
    favour.improve(self_play, request_, advantages_of_pon(favour.experience), *range(6))
    assert favour.chance_of_pon(self_play) > before + 0.05


def advantages_of_pon(experience):
    """Return advantages by which every pon gained a rank and every pass lost one."""
    gained = np.zeros(experience.n, np.float32)
    for asked in experience.questions:
        called = asked.kinds == PON
        gained[asked.rows[called]] = np.where(asked.choices[called] == 1, 1.0, -1.0)
    return gained


def test_an_iteration_stops_learning_at_the_target_divergence(self_play, request_):
    request_ = dataclasses.replace(request_, tables=3, passes=9, target_kl=0.01 / self_play.STOP)
    favour = Favour(self_play, request_)
    gained = advantages_of_pon(favour.experience)
    report = favour.improve(self_play, request_, gained, 0)
    possible = 9 * (int(report["questions"]) // self_play.BATCH)
    assert 1 <= report["steps"] < possible
    assert report["moved at the end"] > 0.01


def test_every_kyoku_brings_what_the_environment_says(self_play, request_):
    favour = Favour(self_play, dataclasses.replace(request_, tables=4))
    experience = favour.experience
    ends = set(experience.rewards)
    followed = set(experience.follows)
    assert not ends & followed
    assert ends | followed == set(range(experience.n))
    assert all(abs(reward) < 3 for reward in experience.rewards.values())
    assert all(after > row for row, after in experience.follows.items())


def test_one_plays_three_of_the_start_from_each_seat(self_play, games, request_, monkeypatch):
    networks = self_play.SelfPlayNetworks(request_)
    players = games.Players(networks.policy, networks.start, networks.critic)
    apart = games.Games(players, 4, 7, np.random.default_rng(0), "tonpu", apart=True)
    learned = []
    monkeypatch.setattr(apart, "_record", lambda critic, rows, *_: learned.append(rows) or 0)
    apart.play(lambda *_, **__: None)
    assert len(learned) > 10
    assert all((rows.seats == rows.tables).all() for rows in learned)
    assert (np.sort(apart.ranks) == [1, 2, 3, 4]).all()


def test_entropy_is_held_and_the_rate_follows_the_way(self_play):
    walk = self_play.Walk([], 1e-4, 1e-3)
    assert walk.bonus == 0
    for _ in range(200):
        walk.add((0.0, 0.0, 0.5, 0.01, 4e-3))
    assert walk.bonus == pytest.approx(self_play.ENTROPY * 0.01, rel=1e-3)
    after = self_play.Walk([walk.report()], 1e-4, 1e-3)
    assert (after.rate, after.bonus) == (pytest.approx(0.5e-4, rel=1e-3), walk.bonus)
    far = self_play.Walk([walk.report() | {"moved at the end": 1.0}], 1e-4, 1e-3)
    assert far.rate == 1e-4 / RATE_CHANGE
    assert self_play.Walk([{"games": 1.0}], 1e-4, 1e-3).rate == 1e-4  # the critic alone


def test_a_step_has_the_decisions_of_many_hanchan(self_play, monkeypatch):
    monkeypatch.setattr(self_play, "STEP_HANCHAN", 64)
    order = np.arange(16 * 41 + 5)
    steps = self_play.steps_of(order, 256, 16)
    assert [len(step) for step in steps] == [11, 10, 10, 10]
    assert (np.concatenate(steps).ravel() == order[: 16 * 41]).all()
    assert len(self_play.steps_of(order, 1, 16)) == 1
    assert self_play.steps_of(order[:5], 256, 16) == []


def test_a_killed_run_ends_with_the_same_weights(self_play, request_, monkeypatch, tmp_path):
    whole = self_play.train(request_)
    broken = dataclasses.replace(request_, folder=tmp_path / "broken")
    real = self_play.SelfPlayRun._learn

    def killed(run, experience, random):
        if run.reports:
            raise KeyboardInterrupt
        return real(run, experience, random)

    with monkeypatch.context() as patched:
        patched.setattr(self_play.SelfPlayRun, "_learn", killed)
        with pytest.raises(KeyboardInterrupt):
            self_play.train(broken)
    again = self_play.train(broken)
    one, two = (load_weights("policy", learned.folder) for learned in (whole, again))
    assert all((one[name] == two[name]).all() for name in one)
    before = load_weights("policy", request_.start)
    assert any((one[name] != before[name].astype(np.float16)).any() for name in one)
    assert load_manifest("policy", whole.folder).scores["self-play: games"] == 2
    curve = (broken.folder / self_play.CURVE).read_text().splitlines()
    assert [line.split(",")[0] for line in curve] == ["iteration", "1", "2"]
    assert curve == (whole.folder / self_play.CURVE).read_text().splitlines()


def test_processes_play_shards_of_the_tables(
    self_play, request_, tmp_path, fork_workers, monkeypatch
):
    fork_workers(monkeypatch)
    both = dataclasses.replace(request_, tables=3, jobs=2)
    one = self_play.train(both)
    again = self_play.train(dataclasses.replace(both, folder=tmp_path / "again"))
    weights, same = (load_weights("policy", learned.folder) for learned in (one, again))
    assert all((weights[name] == same[name]).all() for name in weights)
    assert load_manifest("policy", one.folder).scores["self-play: games"] == 6
    walls = [(shard.wall, shard.n) for shard in self_play.shards_of(both, 1, [])]
    assert walls == [(2_001_000_000, 2), (2_001_000_002, 1)]


def test_the_result_is_the_mean_of_the_weights_on_the_way(self_play, request_):
    learned = load_weights("policy", self_play.train(request_).folder)
    state = self_play.torch.load(request_.folder / self_play.CHECKPOINT)["policy"]
    for name, weights in state["average"].items():
        assert (learned[name] == weights.numpy().astype(np.float16)).all()
    assert any((state["average"][name] != state["parameters"][name]).any() for name in learned)
    last = load_weights("policy", request_.folder / self_play.LAST)
    for name, weights in state["parameters"].items():
        assert (last[name] == weights.numpy().astype(np.float16)).all()


def test_the_mean_of_runs_is_saved(self_play, request_, tmp_path, capsys):
    other = dataclasses.replace(request_, seed=1, folder=tmp_path / "other")
    runs = [self_play.train(each).folder for each in (request_, other)]
    assert main(["train", "self-play", "--mean-of", *map(str, runs), "--out", str(tmp_path)]) == 0
    one, two, mean = (load_weights("policy", folder) for folder in (*runs, tmp_path))
    assert any((one[name] != two[name]).any() for name in mean)
    for name, weights in mean.items():
        assert weights == pytest.approx((one[name].astype(float) + two[name]) / 2, abs=1e-3)
    manifest = load_manifest("policy", tmp_path)
    assert manifest.scores == {"self-play: games": 4}
    both = manifest.command.rpartition("; the mean (--mean-of) of 2 runs: ")[2].split(" | ")
    assert [command.rpartition(" --seed ")[2] for command in both] == ["0", "1"]
    run = ["train", "self-play", "--mean-of", str(runs[0]), str(SHIPPED)]
    assert main(run) != ExitCode.OK
    assert "--mean-of: networks of different sizes" in capsys.readouterr().err


def test_the_signal_in_its_gradient_is_measured(self_play, request_, capsys):
    self_play.train(dataclasses.replace(request_, iterations=1))
    parser = argparse.ArgumentParser()
    gradient_noise.add_arguments(parser)
    args = ["--run", str(request_.folder), "--hanchan", "3", "--parts", "3"]
    assert gradient_noise.run(parser.parse_args(args)) == 0
    printed = capsys.readouterr().out.splitlines()
    assert int(printed[0].split()[0]) > 20  # open decisions
    noise = {row.split(" | ")[0].strip("| "): row.split(" | ")[2] for row in printed[4:]}
    assert list(noise) == [variant.name for variant in gradient_noise.LargePlayers.variants]
    assert float(noise["critic, lambda 1"]) > 0


def test_a_run_resumed_with_more_tables_counts_the_games_it_had(self_play, request_, monkeypatch):
    self_play.train(dataclasses.replace(request_, iterations=1, warm_up=1))
    shown = []

    @contextlib.contextmanager
    def watched(console, what, total, unit):
        steps = []
        yield lambda advance=1, note="": steps.append(advance)
        shown.append((total, sum(steps)))

    monkeypatch.setattr(self_play, "progress", watched)
    again = self_play.train(dataclasses.replace(request_, warm_up=1, tables=3))
    assert shown == [(1 + 3, 1 + 3)]
    assert load_manifest("policy", again.folder).scores["self-play: games"] == 1 + 3


def test_wrong_arguments_are_one_line(torch, start, tmp_path, capsys):
    command = ["train", "self-play", "--start", str(start), "--folder", str(tmp_path / "run")]
    assert main([*command, "--rate", "0"]) == ExitCode.BAD_ARGUMENTS
    assert capsys.readouterr().err == "mjbot train self-play: --rate and --target-kl: above 0\n"
    assert main([*command, "--device", "nowhere"]) == ExitCode.BAD_ARGUMENTS
    err = capsys.readouterr().err
    assert err.startswith("mjbot train self-play: --device nowhere: ")
    assert err.count("\n") == 1
    assert not (tmp_path / "run").exists()
    arrays = load_weights("policy", start)
    del arrays["table.weight"]
    save_weights("policy", arrays, MANIFEST, tmp_path)
    assert main([*command, "--start", str(tmp_path)]) != ExitCode.OK
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "has another form" in err
