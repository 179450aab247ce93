from pathlib import Path

import numpy as np
import pytest

from mjbot.game.table.view import View
from mjbot.learning.models.networks.encoding import N_PLANES, N_SCALARS
from mjbot.learning.models.networks.policy import HIDDEN, N_OTHERS, NAME, Network, Policy
from mjbot.learning.models.weights import Manifest, WeightsError, save_weights
from mjbot.learning.training.networks.decisions import decisions_of
from mjbot.learning.training.positions import index_games, steps

LOGS = Path(__file__).parents[4] / "logs"
MANIFEST = Manifest(data="chance", command="none", seed=0, scores={})
CHANNELS = 8


def head(name):
    return {
        f"{name}.discard.weight": (1, CHANNELS, 1, 1),
        f"{name}.discard.bias": (1,),
        f"{name}.hidden.weight": (HIDDEN, 3 * CHANNELS + N_SCALARS),
        f"{name}.hidden.bias": (HIDDEN,),
        f"{name}.others.weight": (N_OTHERS, HIDDEN),
        f"{name}.others.bias": (N_OTHERS,),
    }


def shapes(blocks):
    found = {
        "stem.weight": (CHANNELS, N_PLANES, 1, 3),
        "stem.bias": (CHANNELS,),
        "table.weight": (CHANNELS, N_SCALARS),
        **head("early"),
        **head("late"),
    }
    for place in range(blocks):
        for layer in ("first", "second"):
            found[f"blocks.{place}.{layer}.weight"] = (CHANNELS, CHANNELS, 1, 3)
            found[f"blocks.{place}.{layer}.bias"] = (CHANNELS,)
        if place % 2 == 0:
            found[f"blocks.{place}.board.weight"] = (CHANNELS, CHANNELS)
            found[f"blocks.{place}.suits.weight"] = (CHANNELS, CHANNELS)
    return found


def network(blocks=3, seed=0):
    """Weights by chance."""
    dice = np.random.default_rng(seed)
    return {
        name: dice.normal(0, 1 / np.sqrt(max(np.prod(shape[1:]), 4)), shape).astype(np.float32)
        for name, shape in shapes(blocks).items()
    }


@pytest.fixture(scope="module")
def choices():
    """All choices of a recorded game: state and row."""
    found = decisions_of(next(iter(steps(index_games([LOGS / "east-extra-round.mjson"])))))
    pairs = zip(found.states, found.rows, strict=True)
    return [each for states, rows in pairs for each in zip(states, rows, strict=True)]


def by_hand(arrays, blocks, planes, scalars):
    """The late head's logits as the formulas of the training have them, cell by cell."""
    board = np.zeros((4, 9, N_PLANES))
    board.reshape(36, -1)[:34] = planes

    def conv(cells, name):
        weight, bias = arrays[f"{name}.weight"][:, :, 0], arrays[f"{name}.bias"]
        around = np.pad(cells, ((0, 0), (1, 1), (0, 0)))
        parts = [around[:, at : at + 9] @ weight[:, :, at].T for at in range(3)]
        return sum(parts) + bias

    h = np.maximum(conv(board, "stem") + arrays["table.weight"] @ scalars, 0)
    for place in range(blocks):
        inner = conv(h, f"blocks.{place}.first")
        if place % 2 == 0:
            inner = inner + h[:3].mean(0) @ arrays[f"blocks.{place}.suits.weight"].T
            inner = inner + arrays[f"blocks.{place}.board.weight"] @ h.mean((0, 1))
        h = np.maximum(h + conv(np.maximum(inner, 0), f"blocks.{place}.second"), 0)
    flat = h.reshape(36, -1)
    claimed = flat[:34].T @ planes[:, 7]
    pooled = np.concatenate([flat.mean(0), flat.max(0), claimed, scalars])
    hidden = arrays["late.hidden.weight"] @ pooled + arrays["late.hidden.bias"]
    others = arrays["late.others.weight"] @ np.maximum(hidden, 0) + arrays["late.others.bias"]
    discards = flat[:34] @ arrays["late.discard.weight"].reshape(-1) + arrays["late.discard.bias"]
    return np.concatenate([discards, others])


def test_the_network_is_computed_as_it_is_written(choices):
    arrays = network()
    policy = Policy(Network.of(arrays))
    for state, row in choices[::9]:
        assert policy.evaluate(state, int(row["seat"]), sure=2) is not None
        *_, late = policy.exits()
        expected = by_hand(arrays, 3, policy.planes, policy.scalars)
        assert late == pytest.approx(expected, rel=1e-3, abs=1e-3)


def test_chances_are_those_of_what_is_legal(choices):
    policy = Policy(Network.of(network()))
    for state, row in choices[::3]:
        seat = int(row["seat"])
        output = policy.evaluate(state, seat, sure=2)
        legal = View(state, seat).legal
        kinds = {a.tile if a.tile < 34 else 9 * a.tile - 302 for a in legal if a.is_discard}
        assert set(np.flatnonzero(output.discards).tolist()) == kinds
        assert output.discards.sum() == pytest.approx(1.0 if kinds else 0.0)
        offsets = {action.offset for action in legal if action.name == "chi"}
        assert set(np.flatnonzero(output.chi).tolist()) == offsets
        for chance, can in (
            (output.riichi, any(action.is_riichi for action in legal)),
            (output.pon, any(action.name == "pon" for action in legal)),
            (output.kan, any(action.is_kan for action in legal)),
        ):
            assert (0 < chance < 1) == can


def test_there_is_nothing_to_say_where_there_is_nothing_to_decide(choices):
    state, row = choices[0]
    assert Policy(Network.of(network())).evaluate(state, (int(row["seat"]) + 1) % 4) is None


def test_a_sure_early_head_spares_the_rest(choices):
    arrays = network()
    for name in ("discard", "others"):
        arrays[f"early.{name}.weight"] *= 1000  # very sure of whatever it says
    policy = Policy(Network.of(arrays))
    differ = 0
    for state, row in choices[:40]:
        quick = policy.evaluate(state, int(row["seat"]), sure=0.9)
        slow = policy.evaluate(state, int(row["seat"]), sure=2)
        differ += not np.allclose(quick.discards, slow.discards)
    assert differ > 20


def test_saved_weights_are_loaded(tmp_path):
    save_weights(NAME, network(), MANIFEST, tmp_path)
    assert Policy.load(tmp_path).channels == CHANNELS


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays: arrays.pop("stem.bias"),
        lambda arrays: arrays.pop("blocks.1.second.weight"),
        lambda arrays: arrays.update({"stem.weight": arrays["stem.weight"][:, :-1]}),
        lambda arrays: arrays.update({"table.weight": arrays["table.weight"][:, :-1]}),
        lambda arrays: arrays.update({"late.hidden.weight": arrays["late.hidden.weight"][:, :-1]}),
        lambda arrays: arrays.update({"early.others.bias": np.zeros(3, np.float32)}),
        lambda arrays: arrays.update({"blocks.0.board.weight": np.zeros((3, 3), np.float32)}),
        lambda arrays: [arrays.pop(name) for name in [*arrays] if name.startswith("blocks")],
    ],
)
def test_weights_of_another_shape_are_refused_in_one_line(tmp_path, change):
    arrays = network()
    change(arrays)
    save_weights(NAME, arrays, MANIFEST, tmp_path)
    with pytest.raises(WeightsError, match=r"policy\.npz: .*train it again") as error:
        Policy.load(tmp_path)
    assert "\n" not in str(error.value)


def test_truncated_weights_and_pickles_are_refused(tmp_path):
    save_weights(NAME, network(), MANIFEST, tmp_path)
    path = tmp_path / f"{NAME}.npz"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(WeightsError, match="damaged"):
        Policy.load(tmp_path)
    np.savez(path, **{"stem.weight": np.array([print], dtype=object)})
    with pytest.raises(WeightsError, match="damaged"):
        Policy.load(tmp_path)
