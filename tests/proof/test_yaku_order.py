"""What the proof of the order of yaku counts, and what it finds."""

import pytest

from proof.yaku_order import contradictions, count


def listed(*lists):
    return count([b"".join(b'<AGARI who="0" yaku="%s"/>' % text.encode() for text in lists)])


def test_every_pair_of_each_win_is_counted():
    wins, before = listed("1,1,7,1,52,2", "7,1,52,0")
    assert wins == 2
    assert before == {(1, 7): 1, (1, 52): 1, (7, 52): 2}


@pytest.mark.parametrize(
    "text",
    [
        "1,1,2,1,3,1,7,1,54,2,53,0",  # ippatsu before chankan
        "30,2,29,2",  # little three dragons before three concealed triplets
        "28,2,18,1,10,1,34,3,52,1",
        "10,1,14,1,20,1",
    ],
)
def test_an_order_that_was_recorded_contradicts_nothing(text):
    assert list(contradictions(listed(text)[1])) == []


@pytest.mark.parametrize("text", ["3,1,2,1", "29,2,30,2", "18,1,28,2", "34,3,18,1", "52,1,1,1"])
def test_another_order_is_found(text):
    (line,) = contradictions(listed(text)[1])
    assert line.endswith("1 times, the other way 0 times")
