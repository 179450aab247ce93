import fcntl
import json
import os
import zipfile

import msgspec
import numpy as np
import pytest

from mjbot.analysis.collusion.verdicts import shipped_weights
from mjbot.learning.models import weights
from mjbot.learning.models.danger import danger_weights
from mjbot.learning.models.fold import FoldRecogniser
from mjbot.learning.models.hand import HandEvaluator
from mjbot.learning.models.networks.policy import Policy
from mjbot.learning.models.weights import (
    MAX_WEIGHTS_BYTES,
    Manifest,
    WeightsError,
    load_weights,
    save_weights,
)

MANIFEST = Manifest(data="none", command="made up", seed=7, scores={"agreement": 0.5})
ARRAYS = {"weights": np.arange(6, dtype=np.float32).reshape(2, 3), "offset": np.int16([4])}


def test_what_is_saved_is_loaded(tmp_path):
    saved = save_weights("some", ARRAYS, MANIFEST, tmp_path)
    loaded = load_weights("some", tmp_path)
    assert loaded.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert loaded[name].dtype == array.dtype
        assert np.array_equal(loaded[name], array)
    manifest = json.loads((tmp_path / "some.json").read_text())
    assert manifest["seed"] == 7
    assert manifest["digest"] == saved.digest
    assert manifest["arrays"]["weights"] == {"shape": [2, 3], "dtype": "float32"}
    assert len(manifest["date"]) == 10


def test_equal_arrays_give_equal_bytes(tmp_path):
    for folder in ("a", "b"):
        save_weights("some", dict(reversed(ARRAYS.items())), MANIFEST, tmp_path / folder)
        save_weights("some", ARRAYS, MANIFEST, tmp_path / "a")
    first, second = ((tmp_path / folder / "some.npz").read_bytes() for folder in "ab")
    assert first == second


def test_a_full_disk_leaves_the_weights_that_were_there(tmp_path, limited_files):
    save_weights("some", ARRAYS, MANIFEST, tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    noise = np.random.default_rng(0).integers(0, 256, 30_000, np.uint8)
    long = msgspec.structs.replace(MANIFEST, data="x" * 20_000)
    for arrays, manifest, file in ((ARRAYS, long, "json"), ({"noise": noise}, MANIFEST, "npz")):
        with limited_files(10_000), pytest.raises(OSError, match="some") as full:
            save_weights("some", arrays, manifest, tmp_path)
        assert full.value.filename == str(tmp_path / f"some.{file}")
        assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert np.array_equal(load_weights("some", tmp_path)["offset"], ARRAYS["offset"])


def test_no_other_process_writes_weights_into_the_folder_meanwhile(tmp_path, monkeypatch):
    """The arrays of one beside the manifest of another would be refused."""
    packed, refused = weights._packed, []

    def try_to_lock(arrays):
        opened = os.open(tmp_path, os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(opened)
        refused.append(True)
        return packed(arrays)

    monkeypatch.setattr(weights, "_packed", try_to_lock)
    for _ in range(2):  # the lock is released
        save_weights("some", ARRAYS, MANIFEST, tmp_path)
    assert refused == [True, True]


def test_nobody_can_write_to_shared_weights(tmp_path):
    save_weights("some", ARRAYS, MANIFEST, tmp_path)
    with pytest.raises(ValueError, match="read-only"):
        load_weights("some", tmp_path)["offset"][0] = 1


def test_missing_weights_are_named(tmp_path):
    with pytest.raises(WeightsError, match=r"there are no weights 'some'; mjbot train") as error:
        load_weights("some", tmp_path)
    assert "\n" not in str(error.value)


def test_what_is_no_numbers_is_refused(tmp_path):
    save_weights("some", {"weights": np.array(["1", "2"])}, MANIFEST, tmp_path)
    with pytest.raises(WeightsError, match="weights holds <U1, no numbers; train it again"):
        load_weights("some", tmp_path)


def test_a_member_that_is_no_array_is_damage(tmp_path):
    save_weights("some", ARRAYS, MANIFEST, tmp_path)
    with zipfile.ZipFile(tmp_path / "some.npz", "w") as archive:
        archive.writestr("weights.npy", b"not numpy's")
    with pytest.raises(WeightsError, match="weights is no array"):
        load_weights("some", tmp_path)


def test_what_unpacks_without_end_is_not_unpacked(tmp_path):
    save_weights("some", ARRAYS, MANIFEST, tmp_path)
    with zipfile.ZipFile(tmp_path / "some.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("weights.npy", bytes(MAX_WEIGHTS_BYTES + 1))
    with pytest.raises(WeightsError, match=f"{MAX_WEIGHTS_BYTES + 1} bytes unpacked, at most"):
        load_weights("some", tmp_path)


MODELS = {
    "danger": danger_weights,
    "fold": FoldRecogniser.load,
    "hand-paper": lambda folder: HandEvaluator.load("paper", folder),
    "policy": Policy.load,
    "detection": shipped_weights,
}


@pytest.mark.parametrize("name", MODELS)
def test_weights_of_another_model_are_refused_by_each(tmp_path, name):
    for arrays in (ARRAYS, {"stem.bias": np.float32(1), "weights": np.float32(1)}):
        save_weights(name, arrays, MANIFEST, tmp_path)
        with pytest.raises(WeightsError, match=r"\.npz: .*train it again"):
            MODELS[name](tmp_path)


@pytest.mark.parametrize("ending", ["npz", "json"])
def test_half_a_file_is_damaged(tmp_path, ending):
    save_weights("some", ARRAYS, MANIFEST, tmp_path)
    path = tmp_path / f"some.{ending}"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(WeightsError, match=r"damaged .*train it again") as error:
        load_weights("some", tmp_path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_arrays_that_do_not_belong_to_the_manifest_are_refused(tmp_path):
    save_weights("some", ARRAYS, MANIFEST, tmp_path)
    other = (tmp_path / "some.json").read_bytes()
    save_weights("some", {"weights": np.zeros(3)}, MANIFEST, tmp_path)
    (tmp_path / "some.json").write_bytes(other)
    with pytest.raises(WeightsError, match=r"does not fit some\.json"):
        load_weights("some", tmp_path)


@pytest.mark.parametrize("ending", ["npz", "json"])
def test_whatever_byte_is_damaged_the_file_is_named(tmp_path, ending):
    """Or nothing changes: there are bytes in a zip and words in a manifest that nobody needs."""
    save_weights("some", ARRAYS, MANIFEST, tmp_path)
    path = tmp_path / f"some.{ending}"
    whole = path.read_bytes()
    random = np.random.default_rng(9)
    refused = 0
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= int(random.integers(1, 256))
        path.write_bytes(damaged)
        load_weights.cache_clear()
        try:
            loaded = load_weights("some", tmp_path)
        except WeightsError as error:
            refused += 1
            assert str(error).startswith(str(tmp_path))
            assert "\n" not in str(error)
        else:
            assert all(np.array_equal(loaded[name], array) for name, array in ARRAYS.items())
    assert refused > len(whole) // 4


@pytest.mark.parametrize(
    "header", [b"{'descr': '<f4', 'fortran_order': False, 'shape': (1 << 60,), }", b"{'descr': 7"]
)
def test_an_array_that_cannot_be_is_damage(tmp_path, header):
    save_weights("some", ARRAYS, MANIFEST, tmp_path)
    header = header.replace(b"1 << 60", b"1152921504606846976")
    header += b" " * (118 - len(header) - 1) + b"\n"
    with zipfile.ZipFile(tmp_path / "some.npz", "w") as archive:
        archive.writestr("weights.npy", b"\x93NUMPY\x01\x00" + b"\x76\x00" + header)
    with pytest.raises(WeightsError, match="damaged"):
        load_weights("some", tmp_path)
