"""Rows of shapes: the changes that a tile makes lead to the rows of the hand that is left."""

from collections import Counter

import numpy as np
import pytest

from mjbot.learning.models.fast_policy.shape_rows import (
    N_ROWS,
    NONE,
    Changes,
    ShapeRows,
    take,
    write_changes,
    write_rows,
)
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.vectors import add_row, dot_row


def random_shape(random):
    shape = ShapeRows.new()
    tiles = random.permutation(np.repeat(np.arange(34), 4))
    shape["hand"] = np.bincount(tiles[:14], minlength=34)
    shape["unseen"] = np.bincount(tiles[14:100], minlength=34)
    shape["dora"] = random.integers(0, 2, 34)
    shape["values"][27:] = random.integers(0, 4, 7)
    shape["own"] = random.integers(0, 1 << 34)
    write_rows(shape)
    return shape


def rows_of(shape):
    rows = shape["rows"][:34].ravel().tolist()
    return Counter(row for row in rows if row != NONE)


@pytest.mark.parametrize("n_taken", [1, 2, 3])
def test_changes_lead_to_the_rows_of_the_hand_that_is_left(n_taken):
    random = np.random.default_rng(n_taken)
    changes, kinds = Changes.new(), np.zeros(4, np.int64)
    for _ in range(200):
        shape = random_shape(random)
        before = rows_of(shape)
        taken = random.choice(np.flatnonzero(shape["hand"]), n_taken, replace=False)
        kinds[:n_taken] = taken
        for kind in taken:
            take(shape, int(kind), 1)
        write_changes(shape, kinds, n_taken, changes)
        removed = changes["removed"][: changes["n_removed"]].tolist()
        added = changes["added"][: changes["n_added"]].tolist()
        write_rows(shape)
        assert before - Counter(removed) + Counter(added) == rows_of(shape)
        assert max(rows_of(shape)) < N_ROWS


def test_other_suits_and_mirror_images_have_the_same_rows():
    """But around the fives, where a pattern and its mirror image are told apart."""
    random = np.random.default_rng(5)
    shape = random_shape(random)
    for name in ("hand", "unseen", "dora"):
        shape[name][27:] = 0
    shape["own"] = 0
    write_rows(shape)
    expected = [shape["rows"][suit : suit + 9].copy() for suit in (0, 9, 18)]
    for name in ("hand", "unseen", "dora"):
        suits = shape[name][:27].reshape(3, 9)
        shape[name][:27] = suits[[2, 0, 1], ::-1].ravel()
    write_rows(shape)
    for suit, rows in zip((9, 18, 0), expected, strict=True):
        found = shape["rows"][suit : suit + 9][::-1]
        assert (np.delete(found, 4, axis=0) == np.delete(rows, 4, axis=0)).all()


def test_a_row_is_added_as_a_plain_loop_adds_it_and_multiplied_as_numpy_does():
    @compiled
    def run(total, table, factor):
        add_row(total, 16, table, 64, np.float32(factor), 32)
        return dot_row(total, 16, table, 64, 32)

    random = np.random.default_rng(3)
    total, table = (random.normal(size=128).astype(np.float32) for _ in range(2))
    expected = total.copy()
    expected[16:48] += np.float32(0.3) * table[64:96]
    product = run(total, table, 0.3)
    assert (total == expected).all()
    assert product == pytest.approx(expected[16:48] @ table[64:96], rel=1e-5)
