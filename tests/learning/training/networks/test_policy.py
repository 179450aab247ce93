"""The policy network learns from columns; torch is needed here only."""

from dataclasses import replace

import numpy as np
import pytest

from mjbot.cli.main import main
from mjbot.learning.models.networks.policy import Network, Policy
from mjbot.learning.models.weights import Manifest, load_manifest, save_weights
from mjbot.learning.training import runs
from mjbot.learning.training.fit import write_checkpoint
from mjbot.learning.training.networks.decisions import KINDS, open_decisions
from mjbot.learning.training.runs import RunFolder
from mjbot.runtime.errors import ExitCode


@pytest.fixture
def policy():
    pytest.importorskip("torch", reason="training needs torch: pip install 'mjbot[train]'")
    from mjbot.learning.training.networks import policy

    return policy


CHECKPOINT = "policy-0123456789ab.pt"
SMALL = ("--channels", "8", "--blocks", "2", "--batch", "64", "--held-out", "1", "--games", ":3")


def learn(columns, tmp_path, *more):
    run, out = str(tmp_path / "run"), str(tmp_path / "out")
    return main(["train", "policy", str(columns), *SMALL, "--folder", run, "--out", out, *more])


def test_it_learns_and_saves_what_the_table_loads(policy, columns, tmp_path, capsys):
    assert learn(columns, tmp_path, "--rows", "6400") == ExitCode.OK
    out = capsys.readouterr().out
    assert "discard: accuracy" in out
    manifest = load_manifest("policy", tmp_path / "out")
    assert manifest.scores["rows shown"] == 6400
    assert "--rows 6400" in manifest.command
    figures = [name for name in manifest.scores if name.startswith("all, ")]
    assert any("riichi: first chance: accuracy" in name for name in figures)
    learned = Policy.load(tmp_path / "out")
    decisions = open_decisions(columns, "discard")
    right = prior = 0
    for state, row in zip(decisions.states, decisions.rows, strict=True):
        output = learned.evaluate(state, int(row["seat"]), sure=2)
        right += output.discards.argmax() == row["choice"]
        prior += 1 / bin(row["legal"]).count("1")
    assert right > 2 * prior


def test_numpy_says_what_torch_says(policy, columns):
    import torch

    from mjbot.learning.training.networks.policy_network import PolicyNetwork

    torch.manual_seed(3)
    net = PolicyNetwork(8, 3)
    for parameter in net.parameters():
        torch.nn.init.normal_(parameter, 0, 0.3)
    played = Policy(Network.of(net.arrays()))
    parts = [open_decisions(columns, kind) for kind in KINDS]
    source = policy.RowSource(parts, [policy.new_encoder()])
    some = np.arange(0, len(source), 50)
    batch = source.batch(some)
    with torch.no_grad():
        heads = net(batch.planes, batch.scalars)
    states = [state for part in parts for state in part.states]
    for place, number in enumerate(some):
        assert played.evaluate(states[number], int(batch.rows["seat"][place]), sure=2) is not None
        for (discards, others), logits in zip(heads, played.exits(), strict=True):
            expected = torch.cat([discards[place], others[place]]).numpy()
            assert logits == pytest.approx(expected, rel=1e-3, abs=1e-3)


def test_a_run_taken_up_again_ends_with_the_same_weights(policy, columns, tmp_path, monkeypatch):
    monkeypatch.setattr(policy, "STEPS_KEPT", 10)
    plan = policy.PolicyPlan(channels=8, blocks=2, rows=64 * 40, batch=64)
    parts = [open_decisions(columns, kind) for kind in KINDS]
    source = policy.RowSource(parts, [policy.new_encoder()])

    def run(folder, stop_after=None):
        with RunFolder(tmp_path / folder, "policy") as opened:
            course = policy.PolicyRun(plan, source, source, opened, None)
            if stop_after:
                real, steps = course._learn_from, iter(range(stop_after))

                def learn_from(batch):
                    if next(steps, None) is None:
                        raise KeyboardInterrupt
                    return real(batch)

                course._learn_from = learn_from
            return course.learn().arrays()

    whole = run("whole")
    with pytest.raises(KeyboardInterrupt):
        run("killed", stop_after=25)
    again = run("killed")
    assert all((whole[name] == again[name]).all() for name in whole)
    assert replace(plan, rows=64).steps == 1


def test_a_checkpoint_of_other_games_or_another_plan_is_not_resumed(policy, columns, tmp_path):
    """It may have learned from the games that are now held out."""
    plan = policy.PolicyPlan(channels=8, blocks=2, rows=64 * 2, batch=64)

    def run(folder, start, stop, plan=plan):
        parts = [open_decisions(columns, kind).of_games(start, stop) for kind in KINDS]
        source = policy.RowSource(parts, [policy.new_encoder()])
        with RunFolder(tmp_path / folder, "policy") as opened:
            return policy.PolicyRun(plan, source, source, opened, None).learn().arrays()

    def same(one, other):
        return all((one[name] == other[name]).all() for name in one)

    first = run("one", 0, 2)
    later = run("one", 2, 4)
    assert not same(first, later)
    assert same(later, run("other", 2, 4))
    assert not same(first, run("one", 0, 2, replace(plan, rate=0.1)))
    assert same(first, run("one", 0, 2))


def test_a_checkpoint_that_a_full_disk_does_not_take_is_named(policy, tmp_path, limited_files):
    import torch

    with RunFolder(tmp_path, "policy") as run:
        with limited_files(10_000), pytest.raises(OSError, match="File too large") as full:
            write_checkpoint(run, CHECKPOINT, {"net": torch.zeros(10_000)})
        assert full.value.filename == str(tmp_path / CHECKPOINT)
        assert [path.name for path in tmp_path.iterdir()] == [runs.RUN_FILE]
        write_checkpoint(run, CHECKPOINT, {"net": torch.zeros(10_000)})
    assert torch.load(tmp_path / CHECKPOINT, weights_only=True)["net"].shape == (10_000,)


def test_rows_are_shown_the_models_that_do_not_know_their_games(policy, columns):
    parts = [open_decisions(columns, kind) for kind in KINDS]
    first, second = policy.new_encoder(), policy.new_encoder()
    other = second._replace(danger=second.danger._replace(riichi=second.danger.riichi + 1))
    plain = policy.RowSource(parts, [first])
    crossed = policy.RowSource(parts, [first, other], 2)
    numbers = np.arange(0, len(plain), 7)
    one, two = plain.batch(numbers), crossed.batch(numbers)
    same = (one.planes == two.planes).flatten(1).all(1).numpy()
    early = one.rows["game"] < 2
    assert same[~early].all()
    assert not same[early].all()


def test_every_row_is_shown_once_in_a_pass_over_its_kind(policy, columns, tmp_path):
    parts = [open_decisions(columns, kind) for kind in KINDS]
    source = policy.RowSource(parts, [policy.new_encoder()])
    plan = policy.PolicyPlan(channels=8, blocks=2, batch=64, shares=(0.4, 0.2, 0.1, 0.3, 0))
    with RunFolder(tmp_path, "policy") as folder:
        run = policy.PolicyRun(plan, source, source, folder, None)
        shown = np.concatenate([run._numbers(step) for step in range(3 * len(source) // 64)])
    ends = np.cumsum([0, *source.sizes])
    for kind, share in enumerate(plan.shares):
        of_it = shown[(ends[kind] <= shown) & (shown < ends[kind + 1])]
        assert len(of_it) / len(shown) == pytest.approx(share, abs=0.02)
        if n := source.sizes[kind] if share else 0:
            assert len(of_it) >= n
            assert sorted(of_it[:n].tolist()) == list(range(ends[kind], ends[kind + 1]))
    assert not (shown[:20] == shown[-20:]).all()


def test_what_earlier_weights_do_not_know_begins_as_nothing(policy, columns, tmp_path):
    parts = [open_decisions(columns, kind) for kind in KINDS]
    source = policy.RowSource(parts, [policy.new_encoder()])
    plan = policy.PolicyPlan(channels=8, blocks=2, rows=64, batch=64)
    manifest = Manifest(data="none", command="none", seed=0, scores={})
    known = policy.PolicyNetwork(8, 2)
    arrays = known.arrays()
    arrays["table.weight"] = arrays["table.weight"][:, :90]
    arrays["late.hidden.weight"] = arrays["late.hidden.weight"][:, : 3 * 8 + 90]
    save_weights("policy", arrays, manifest, tmp_path)
    with RunFolder(tmp_path / "run", "policy") as folder:
        run = policy.PolicyRun(plan, source, source, folder, tmp_path)
        begun = run._net.arrays()
        assert (begun["table.weight"][:, :90] == arrays["table.weight"]).all()
        assert not begun["table.weight"][:, 90:].any()
        assert not begun["late.hidden.weight"][:, 3 * 8 + 90 :].any()
        wide = replace(plan, channels=4)
        with pytest.raises(runs.TrainingError, match="has another form"):
            policy.PolicyRun(wide, source, source, folder, tmp_path)


def test_without_torch_one_line_says_what_to_install(columns, tmp_path, monkeypatch, capsys):
    def missing():
        raise runs.TrainingError("torch is not installed; pip install 'mjbot[train]'")

    monkeypatch.setattr("mjbot.cli.train.torch", missing)
    assert learn(columns, tmp_path) != ExitCode.OK
    assert capsys.readouterr().err == (
        "mjbot train policy: torch is not installed; pip install 'mjbot[train]'\n"
    )


def test_what_cannot_be_is_said_in_one_line(policy, columns, tmp_path, capsys):
    assert learn(columns, tmp_path, "--crossed", "x", "a", "b") == ExitCode.BAD_ARGUMENTS
    assert "expected the number of a game" in capsys.readouterr().err
    assert learn(columns, tmp_path, "--crossed", "2", "a", "b") != ExitCode.OK
    assert "hand-plus.json: there are no weights" in capsys.readouterr().err
    assert learn(columns, tmp_path, "--blocks", "1") == ExitCode.BAD_ARGUMENTS
    capsys.readouterr()
    assert main(["train", "policy", str(tmp_path / "none")]) != ExitCode.OK
    assert "decisions.json: is missing" in capsys.readouterr().err
    twice = ["train", "policy", str(columns), str(columns)]
    assert main(twice) == ExitCode.UNREACHABLE
    assert "4 games of it are in a folder before it, too" in capsys.readouterr().err
