"""Records reach compiled functions by address: the right bytes, and those of the caller."""

import numba
import numpy as np

from mjbot.game.table.state import copy_state, new_state
from mjbot.runtime.compiler import record_arguments


@numba.njit
def swap_and_count(record, other):
    record.honba, other.honba = other.honba, record.honba
    record.hand[2, 33] += 1
    return record.hand[2, 33]


def test_compiled_functions_read_and_write_the_callers_records():
    state = new_state()
    state["honba"], state["hand"][2, 33] = 3, 2
    copy = copy_state(state)
    copy["honba"] = 5
    assert swap_and_count(state, copy) == 3
    assert (state["honba"], copy["honba"]) == (5, 3)
    assert (state["hand"][2, 33], copy["hand"][2, 33]) == (3, 2)


def test_a_record_inside_an_array_is_not_its_first():
    states = np.zeros(3, new_state().dtype)
    states["honba"] = [1, 2, 3]
    swap_and_count(states[1], states[2])
    assert states["honba"].tolist() == [1, 3, 2]
    assert states["hand"][:, 2, 33].tolist() == [0, 1, 0]


def test_this_python_and_numpy_keep_the_address_where_it_is_read():
    assert record_arguments._address_is_behind_the_head()
