"""The paper's planes, and its networks as they are asked at the table."""

import os
import subprocess
import sys

import numpy as np
import pytest

from mjbot.game.table.assume import hide
from mjbot.game.table.state import STATE, copy_state
from mjbot.learning.models.weights import Manifest, WeightsError, save_weights
from mjbot.protocol.tiles import parse_tiles, tile_kind
from papers.matsuda2021.networks import (
    CLASSES,
    Layer,
    PaperNetwork,
    layer_shapes,
    packed,
    unpacked,
    weights_name,
)
from papers.matsuda2021.planes import PLANES_SHAPE, write_paper_batch, write_paper_planes

HAND, RED, RIVERS, MELDS, DORA, RIICHI, LAST, SEAT_WIND, ROUND_WIND = (
    0, 1, 2, 6, 10, 11, 14, 15, 16,
)  # fmt: skip


def planes_of(view):
    planes = np.full(PLANES_SHAPE, 7, np.float32)
    write_paper_planes(view.state, view.seat, planes)
    return planes


def copies(planes, plane):
    """Return kind -> copies of a plane, each row filled from the first column on."""
    rows = planes[:, :, plane]
    assert (np.diff(rows, axis=1) <= 0).all()
    return {kind: int(row.sum()) for kind, row in enumerate(rows) if row.any()}


def kinds(text):
    found = [tile_kind(tile) for tile in parse_tiles(text)]
    return {kind: found.count(kind) for kind in found}


def random_layers(classes, seed=0):
    dice = np.random.default_rng(seed)
    return [
        Layer(
            dice.normal(0, inputs**-0.5, (inputs, outputs)).astype(np.float32),
            dice.normal(0, 0.1, outputs).astype(np.float32),
        )
        for inputs, outputs in layer_shapes(classes)
    ]


def save(folder, kind, arrays):
    save_weights(
        weights_name(kind), arrays, Manifest(data="", command="", seed=0, scores={}), folder
    )


def test_each_plane_has_what_the_paper_lists(position):
    view = position(
        "1112m055p77z3s1z", drawn="1z", melds=["234s"], riichi=[2], markers="44z",
        rivers={0: "9m", 1: "19p9p", 3: "5s"},
    )  # fmt: skip
    planes = planes_of(view)
    assert copies(planes, HAND) == kinds("1112m555p77z3s11z")
    assert copies(planes, RED) == kinds("5p")
    assert [copies(planes, RIVERS + step) for step in range(4)] == [
        kinds("9m"), kinds("19p9p"), {}, kinds("5s")
    ]  # fmt: skip
    assert [copies(planes, MELDS + step) for step in range(4)] == [kinds("234s"), {}, {}, {}]
    assert copies(planes, DORA) == kinds("11z")
    assert [planes[:, :, RIICHI + step].mean() for step in range(3)] == [0, 1, 0]
    assert copies(planes, SEAT_WIND) == copies(planes, ROUND_WIND) == kinds("1z")


def test_the_tile_on_offer_is_the_last_discard(position):
    planes = planes_of(position("23m456m789m77p2z3z3z", offered="3z"))
    assert copies(planes, LAST) == kinds("3z")


def test_hidden_hands_change_nothing(position):
    view = position("123m456m789m77p2z3z", drawn="4z", rivers={1: "223344z"})
    filled = copy_state(view.state)
    filled["hand"][1:, :13] = 1
    filled["hand_known"][:] = 1
    filled["wall"][:] = 5
    seen = np.empty(PLANES_SHAPE, np.float32)
    write_paper_planes(filled, 0, seen)
    assert (seen == planes_of(view)).all()
    hide(filled, 0)
    write_paper_planes(filled, 0, seen)
    assert (seen == planes_of(view)).all()


def test_a_batch_is_row_by_row_the_same(position):
    views = [
        position("123m456m789m77p2z3z", drawn="4z"),
        position("19m19p19s1234z567z", drawn="1m"),
    ]
    states = np.zeros(2, STATE)
    for place, view in enumerate(views):
        states[place] = view.state
    found = np.empty((2, *PLANES_SHAPE), np.uint8)
    write_paper_batch(states, np.zeros(2, np.int8), np.array([1, 0]), found)
    assert (found == [planes_of(view) for view in reversed(views)]).all()


def test_the_layers_are_those_of_the_paper():
    assert layer_shapes(34) == ((170, 100), (1000, 100), (1000, 100), (2200, 300), (300, 34))


def test_the_convolutions_are_what_a_plain_loop_gives():
    layers = random_layers(4)
    planes = np.random.default_rng(1).integers(0, 2, (1, *PLANES_SHAPE)).astype(np.float32)
    values = planes[0]
    for layer in layers[:3]:
        height, width = values.shape[0] - 4, values.shape[1] - 1
        found = np.empty((height, width, 100), np.float32)
        for row in range(height):
            for column in range(width):
                window = values[row : row + 5, column : column + 2].reshape(-1)
                found[row, column] = np.maximum(window @ layer.weights + layer.bias, 0)
        values = found
    assert values.shape == (22, 1, 100)
    hidden = np.maximum(values.reshape(-1) @ layers[3].weights + layers[3].bias, 0)
    expected = hidden @ layers[4].weights + layers[4].bias
    assert PaperNetwork(layers).logits(planes)[0] == pytest.approx(expected, abs=1e-4)


def test_chances_add_up_to_one_and_do_not_depend_on_the_batch():
    network = PaperNetwork(random_layers(34))
    planes = np.random.default_rng(2).integers(0, 2, (130, *PLANES_SHAPE)).astype(np.uint8)
    chances = network.chances(planes)
    assert chances.sum(axis=1) == pytest.approx(np.ones(130), abs=1e-5)
    assert network.chances(planes[100:101])[0] == pytest.approx(chances[100], abs=1e-5)
    assert network.chances(planes[:0]).shape == (0, 34)


def test_matrices_are_multiplied_by_one_thread_unless_somebody_says_otherwise():
    code = "import mjbot, os; print(os.environ['OPENBLAS_NUM_THREADS'])"
    for given, text in (({}, "1"), ({"OPENBLAS_NUM_THREADS": "3"}, "3")):
        without = {name: text for name, text in os.environ.items() if "OPENBLAS" not in name}
        command = [sys.executable, "-c", code]
        found = subprocess.run(
            command, env=without | given, capture_output=True, text=True, check=True
        )
        assert found.stdout.strip() == text


def test_stored_weights_are_close_to_those_that_were_learned(tmp_path):
    layers = random_layers(CLASSES["chi"])
    save(tmp_path, "chi", packed(layers))
    for kept, learned in zip(PaperNetwork.load("chi", tmp_path).layers, layers, strict=True):
        assert np.abs(kept.weights - learned.weights).max() <= np.abs(learned.weights).max() / 29
        assert (kept.bias == learned.bias).all()


def test_weights_of_another_shape_or_version_are_refused_in_one_line(tmp_path):
    save(tmp_path, "chi", packed(random_layers(CLASSES["pon"])))
    with pytest.raises(WeightsError, match=r"paper-chi.npz: weights_4 is int8 \(300, 2\), not"):
        PaperNetwork.load("chi", tmp_path)
    other = packed(random_layers(2)) | {"version": np.array([99])}
    with pytest.raises(WeightsError, match="is not of version 1; train it again"):
        unpacked(other, 2, tmp_path / "paper-pon.npz")
    del other["version"], other["bias_2"]
    with pytest.raises(WeightsError, match="is not of version 1"):
        unpacked(other, 2, tmp_path / "paper-pon.npz")


def test_what_is_truncated_or_would_run_code_is_refused(tmp_path):
    save(tmp_path, "pon", packed(random_layers(2)))
    path = tmp_path / "paper-pon.npz"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(WeightsError, match="damaged"):
        PaperNetwork.load("pon", tmp_path)
    np.savez(path, version=np.array([print], object))
    with pytest.raises(WeightsError, match="damaged"):
        PaperNetwork.load("pon", tmp_path)
