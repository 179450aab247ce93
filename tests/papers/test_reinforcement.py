"""Reinforcement of the five networks: questions, memory, learner, and whole runs."""

import numpy as np
import pytest

from mjbot.game.statistics.estimates import Estimate
from mjbot.learning.env import BatchEnv
from mjbot.learning.env.actions import ACTION_OF_CODE, CHI, KAN, N_ACTIONS, PASS, PON, RIICHI, WIN
from mjbot.learning.env.batch import DecisionRows
from mjbot.learning.models.weights import Manifest, load_manifest, load_weights, save_weights
from mjbot.learning.training.networks.decisions import KINDS, N_CHOICES, DecisionKind, legal_classes
from mjbot.runtime.errors import ArgumentError, ExitCode
from papers.__main__ import main
from papers.matsuda2021 import q_learning, reinforcement
from papers.matsuda2021.networks import PaperNetwork, packed, unpacked, weights_name
from papers.matsuda2021.planes import PLANES_SHAPE, write_paper_planes
from papers.matsuda2021.q_learning import END, OPEN, Memory, Networks, QLearner
from papers.matsuda2021.reinforcement import (
    Episodes,
    actions_of,
    epsilon_at,
    planes_of,
    read_curve,
    seating,
)
from papers.matsuda2021.supervised_paper import SupervisedPaper
from papers.matsuda2021.training import first_layers

DISCARD, PON_KIND, CHI_KIND = (
    KINDS.index(kind) for kind in (DecisionKind.DISCARD, DecisionKind.PON, DecisionKind.CHI)
)


@pytest.fixture
def torch():
    found = pytest.importorskip("torch", reason="training needs torch: pip install 'mjbot[train]'")
    found.set_num_threads(1)
    return found


def rows_of(*allowed):
    masks = np.zeros((len(allowed), N_ACTIONS), np.bool_)
    for mask, actions in zip(masks, allowed, strict=True):
        mask[list(actions)] = True
    n = np.arange(len(allowed))
    return DecisionRows(n, np.zeros_like(n), masks)


def asked_of(rows, output, at_kan=()):
    """Return the actions where networks say what is told by kind, and who was asked what."""
    text = []

    def answer(kind, places, planes, legal):
        text.extend((str(KINDS[kind]), int(place)) for place in places)
        return np.full(len(places), output.get(KINDS[kind], 0))

    kan = np.isin(np.arange(len(rows.masks)), at_kan)
    planes = np.zeros((len(rows.masks), 1), np.uint8)
    return actions_of(rows, kan, planes, answer).tolist(), text


def planes_with(*places):
    planes = np.zeros((len(places), *PLANES_SHAPE), np.uint8)
    planes[np.arange(len(places)), list(places)] = 1
    return planes


# --- questions ---------------------------------------------------------------------------------


def test_no_leads_to_the_next_question_and_a_yes_ends_them():
    own_turn, offered = (3, 7, RIICHI, KAN), (PON, KAN, CHI + 1, PASS)
    actions, text = asked_of(rows_of(own_turn, offered), {DecisionKind.DISCARD: 7})
    assert actions == [7, PASS]
    assert text == [
        ("riichi", 0), ("kan", 0), ("kan", 1), ("pon", 1), ("chi", 1), ("discard", 0),
    ]  # fmt: skip
    actions, text = asked_of(
        rows_of(own_turn, offered), {DecisionKind.RIICHI: 1, DecisionKind.PON: 1}
    )
    assert actions == [RIICHI, PON]
    assert text == [("riichi", 0), ("kan", 1), ("pon", 1)]
    assert asked_of(rows_of(offered), {DecisionKind.CHI: 2})[0] == [CHI + 1]


def test_wins_are_taken_and_what_can_be_answered_in_one_way_is_not_asked():
    rows = rows_of((3, WIN, RIICHI), (5,), (0, 9, 33))
    actions, text = asked_of(rows, {}, at_kan=[2])
    assert actions == [WIN, 5, 0]
    assert text == []


def test_a_red_five_is_discarded_last():
    says_five = {DecisionKind.DISCARD: 13}
    assert asked_of(rows_of((2, 13, 35), (2, 35)), says_five)[0] == [13, 35]
    legal = legal_classes(DISCARD, rows_of((2, 35)).masks)
    assert np.flatnonzero(legal[0]).tolist() == [2, 13]


def test_epsilon_is_the_papers_and_can_begin_lower():
    assert [epsilon_at(episode) for episode in (0, 45_000, 89_999, 150_000)] == [1, 0.5, 0.01, 0.01]
    assert epsilon_at(0, 0.1) == 0.1


def test_the_networks_play_as_the_strategy_does(torch):
    networks = Networks({kind: PaperNetwork.load(kind).layers for kind in KINDS})
    env, bot, same, asked = BatchEnv(8, 7), SupervisedPaper(), 0, 0
    rows = env.reset()
    for _ in range(15):
        at_kan = env.at_kan[rows.tables]
        actions = actions_of(
            rows, at_kan, planes_of(env, rows), lambda kind, _, *seen: networks.best(kind, *seen)
        )
        for table, seat, action in zip(rows.tables, rows.seats, actions, strict=True):
            same += ACTION_OF_CODE[bot.decide(env.view(table, seat)).code] == action
            asked += 1
        rows = env.step(actions)
    assert asked > 100
    assert same >= asked - 1  # half precision can turn two that are nearly equal


# --- episodes ----------------------------------------------------------------------------------


def any_of(dice):
    def choose(kind, planes, legal):
        return np.where(legal, dice.random(legal.shape), -1).argmax(axis=1)

    return choose


def test_a_kyoku_becomes_a_chain_of_steps_that_ends_with_its_reward():
    dice, memory = np.random.default_rng(0), Memory(20_000)
    env = BatchEnv(8, 3, "tonpu", "rank-model", players=seating(8))
    episodes = Episodes(env, memory, any_of(dice), any_of(dice))
    rewards = []
    while len(rewards) < 40:
        found = episodes.play().tolist()
        ended = np.flatnonzero(env.kyoku_ends)
        assert found == env.rewards[ended, ended & 3].tolist()
        rewards += found
    ends = np.flatnonzero(memory.next[: len(memory)] == END)
    assert 36 <= len(ends) <= len(rewards)  # somebody can win before the seat is asked
    assert set(memory.reward[ends].tolist()) <= set(np.float32(rewards).tolist())
    steps = np.flatnonzero(memory.next[: len(memory)] >= 0)
    assert not memory.reward[steps].any()
    following = memory.next[steps]
    assert (following > steps).all()
    assert len(set(following.tolist())) == len(steps)
    assert {DISCARD, PON_KIND, CHI_KIND} <= set(memory.kind[: len(memory)].tolist())
    assert (memory.next[: len(memory)] == OPEN).sum() <= 8


def test_a_step_is_what_the_seat_saw_and_could_do():
    dice, memory = np.random.default_rng(0), Memory(1000)
    env = BatchEnv(4, 3, "tonpu", players=seating(4))
    episodes, wanted = Episodes(env, memory, any_of(dice), any_of(dice)), np.empty(PLANES_SHAPE)
    while not len(memory):
        rows, states = env.rows, env.states.copy()
        episodes.play()
    table, seat = next((t, s) for t, s in zip(rows.tables, rows.seats, strict=True) if s == t & 3)
    write_paper_planes(states[table], seat, wanted)
    assert (memory.seen(np.array([0]))[0] == wanted).all()
    legal = legal_classes(int(memory.kind[0]), rows.masks[rows.tables == table])
    assert (memory.allowed(np.array([0]), int(memory.kind[0])) == legal[:1]).all()
    assert legal[0, memory.choice[0]]


def test_the_memory_forgets_the_oldest_steps_and_draws_closed_ones():
    memory, dice = Memory(4), np.random.default_rng(0)
    legal = np.ones((1, 2), np.bool_)
    places = [memory.add(PON_KIND, planes_with(n), legal, np.array([n & 1])) for n in range(6)]
    assert [place.tolist() for place in places] == [[0], [1], [2], [3], [0], [1]]
    memory.follow(places[4], places[5])
    memory.end(places[3], np.array([0.5]))
    assert set(memory.draw(50, dice).tolist()) == {0, 3}
    assert (memory.seen(places[5])[0] == planes_with(5)[0]).all()


# --- the learner -------------------------------------------------------------------------------


@pytest.fixture
def learner(torch, small_networks, monkeypatch):
    monkeypatch.setattr(q_learning, "TARGET_EVERY", 5)
    monkeypatch.setattr(q_learning, "RATE", 3e-3)
    layers = {kind: first_layers(N_CHOICES[kind], 0) for kind in KINDS}
    return QLearner(layers, Memory(400))


def test_it_learns_which_answer_is_rewarded_and_what_leads_to_it(learner):
    """A chi is followed by a pon; "yes" to the pon has the reward, and the third chi takes it."""
    memory, dice = learner.memory, np.random.default_rng(0)
    chi, pon = np.array([[True, True, False, True]]), np.ones((1, 2), np.bool_)
    for _ in range(150):
        output = np.flatnonzero(chi[0])[dice.integers(3)]
        first = memory.add(CHI_KIND, planes_with(3), chi, np.array([output]))
        then = dice.integers(2)
        if output == 3:
            memory.end(first, np.array([-1.0]))
            continue
        second = memory.add(PON_KIND, planes_with(8), pon, np.array([then]))
        memory.follow(first, second)
        memory.end(second, np.array([1.0 if then else -1.0]))
    losses = [learner.learn(dice, 32) for _ in range(30)]
    assert np.mean(losses[-5:]) < 0.2 * np.mean(losses[:5])
    assert learner.networks.values(PON_KIND, planes_with(8))[0] == pytest.approx([-1, 1], abs=0.3)
    values = learner.networks.values(CHI_KIND, planes_with(3))[0]
    assert values[[0, 1, 3]] == pytest.approx([1, 1, -1], abs=0.35)
    assert learner.networks.best(CHI_KIND, planes_with(3), chi)[0] in (0, 1)


def test_only_legal_answers_count_for_what_follows(learner):
    memory = learner.memory
    values = learner.networks.values(CHI_KIND, planes_with(3))[0]
    best = int(values.argmax())
    legal = np.ones((1, 4), np.bool_)
    legal[0, best] = False
    first = memory.add(PON_KIND, planes_with(1), np.ones((1, 2), np.bool_), np.array([0]))
    then = memory.add(CHI_KIND, planes_with(3), legal, np.array([0]))
    memory.follow(first, then)
    memory.end(then, np.array([0.25]))
    wanted = learner.wanted(np.array([0, 1]))
    assert wanted == pytest.approx([np.delete(values, best).max(), 0.25])


# --- whole runs --------------------------------------------------------------------------------


@pytest.fixture
def supervised(torch, small_networks, tmp_path_factory):
    """Return the folder of five small networks to begin with."""
    folder = tmp_path_factory.mktemp("supervised")
    manifest = Manifest(data="", command="", seed=0, scores={})
    for kind in KINDS:
        *trunk, last = first_layers(N_CHOICES[kind], 0)
        layers = [*trunk, last._replace(weights=20 * last.weights)]  # logits some units apart
        save_weights(weights_name(kind), packed(layers), manifest, folder)
    return folder


@pytest.fixture
def few(supervised, monkeypatch):
    """Return a function that runs a few episodes; nothing is played in a look."""
    looks = []

    def look(learning, frozen, games, wall):
        looks.append(games)
        return 0.125, Estimate(2.5, 2.25, 2.75)

    monkeypatch.setattr(reinforcement, "greedy_play", look)
    monkeypatch.setattr(reinforcement, "LEAST_STEPS", 64)
    monkeypatch.setattr(reinforcement, "LEARN_EVERY", 128)
    monkeypatch.setattr(reinforcement, "MEMORY_STEPS", 2000)

    def run(folder, episodes=24, *options):
        command = ["train-reinforce", "--folder", str(folder), "--episodes", str(episodes)]
        command += ["--weights", str(supervised), "--tables", "8", "--look-every", "12"]
        return main([*command, *options])

    return run


def digests(folder):
    return [load_manifest(f"reinforced-{kind}", folder).digest for kind in KINDS]


def test_a_run_leaves_its_curve_and_networks_of_the_papers_form(few, supervised, tmp_path, capsys):
    assert few(tmp_path) == ExitCode.OK
    assert "mean rank, greedy, after: 2.5 [2.25, 2.75]" in capsys.readouterr().out
    curve = read_curve(tmp_path)
    assert [look.episode for look in curve] == [0, 12, 24]
    assert [look.epsilon for look in curve] == [1.0, 0.9999, 0.9997]
    assert curve[-1].batches > 0
    arrays = load_weights("reinforced-chi", tmp_path)
    learned = unpacked(arrays, 4, tmp_path)
    first = PaperNetwork.load("chi", supervised).layers
    last = first[-1].weights * reinforcement.VALUE_OF_LOGIT
    assert not np.array_equal(learned[-1].weights, last)
    assert learned[-1].weights == pytest.approx(last, abs=0.01)


def test_a_run_that_was_killed_ends_with_the_same_networks(few, tmp_path, monkeypatch):
    assert few(tmp_path / "whole") == ExitCode.OK
    assert read_curve(tmp_path / "whole")[1].batches > 0  # it has learned before it is killed
    chapter, played = reinforcement.ReinforcementRun._play_iteration, []

    def killed(course, step):
        played.append(course.episode)
        if len(played) == 2:
            raise KeyboardInterrupt
        chapter(course, step)

    monkeypatch.setattr(reinforcement.ReinforcementRun, "_play_iteration", killed)
    assert few(tmp_path / "killed") == ExitCode.INTERRUPTED
    assert few(tmp_path / "killed") == ExitCode.OK
    assert played == [0, 12, 12]
    assert digests(tmp_path / "killed") == digests(tmp_path / "whole")


def test_greedy_play_of_equal_networks_is_even_on_every_wall(torch, small_networks):
    networks = Networks({kind: first_layers(N_CHOICES[kind], 0) for kind in KINDS})
    reward, rank = reinforcement.greedy_play(networks, networks, 4, 5)
    assert rank.value == 2.5
    assert abs(reward) < 0.01


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--tables", "6"], "multiples of 4"),
        (["--look-games", "24"], "--look-games at least 28"),
        (["--epsilon-from", "2"], "--epsilon-from: 0 to 1"),
        (["--episodes", "0"], "--episodes, --tables and --look-every: at least 1"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(torch, options, text, tmp_path, capsys):
    command = ["train-reinforce", "--folder", str(tmp_path / "run"), *options]
    assert main(command) == ExitCode.BAD_ARGUMENTS
    assert text in capsys.readouterr().err


def test_what_was_damaged_is_said_in_one_line(few, tmp_path, capsys):
    assert few(tmp_path, 8) == ExitCode.OK
    (kept,) = tmp_path.glob("*.pt")
    kept.write_bytes(kept.read_bytes()[:500])
    capsys.readouterr()
    assert few(tmp_path, 8) == ExitCode.BAD_ARGUMENTS
    assert "damaged" in capsys.readouterr().err


@pytest.mark.parametrize("text", [b'[{"episode":1}]', b"\xff", b"[" * 100_000])
def test_a_damaged_curve_is_said_in_one_line(tmp_path, text):
    (tmp_path / "curve.json").write_bytes(text)
    with pytest.raises(ArgumentError, match=r"curve\.json: cannot be read"):
        read_curve(tmp_path)
