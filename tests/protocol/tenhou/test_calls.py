import itertools
from collections.abc import Sequence

import pytest

from mjbot.protocol.tenhou.calls import Call, decode_call, encode_call


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (20839, Call("chi", 3, 34, (24, 31))),  # 7m 8m with a called 9m
        (34306, Call("daiminkan", 2, 134, (132, 133, 135))),
        (33024, Call("ankan", 0, 129, (128, 129, 130, 131))),
        (50705, Call("kakan", 1, 132, (133, 134, 135), 133)),
    ],
)
def test_published_vectors(code: int, expected: Call) -> None:
    assert decode_call(code) == expected
    assert encode_call(expected) == code


def chi_code(tiles: Sequence[int], called: int) -> int:
    """Lay the bits out a second time, from the published description."""
    kind = tiles[0] // 4
    run = kind // 9 * 7 + kind % 9
    copies = tiles[0] % 4 << 3 | tiles[1] % 4 << 5 | tiles[2] % 4 << 7
    return (run * 3 + tiles.index(called)) << 10 | copies | 0x04 | 3


def pon_code(fourth: int, called: int, source: int, kakan: bool = False) -> int:
    """The pon of the three copies beside ``fourth``, or the kakan that adds it."""
    kind = fourth // 4
    used = [tile for tile in range(4 * kind, 4 * kind + 4) if tile != fourth]
    flag = 0x10 if kakan else 0x08
    return (kind * 3 + used.index(called)) << 9 | fourth % 4 << 5 | flag | source


def kan_code(tile: int, source: int) -> int:
    return tile << 8 | source


def check(code: int, call: Call) -> None:
    assert decode_call(code) == call
    assert encode_call(call) == code


def test_north_call_is_refused() -> None:
    with pytest.raises(ValueError, match="north call"):
        decode_call(30752)


def test_every_chi() -> None:
    for suit, rank in itertools.product(range(3), range(7)):
        low = 4 * (9 * suit + rank)
        for copies in itertools.product(range(4), repeat=3):
            tiles = [low + 4 * step + copy for step, copy in enumerate(copies)]
            for called in tiles:
                own = tuple(tile for tile in tiles if tile != called)
                check(chi_code(tiles, called), Call("chi", 3, called, own))


def test_every_pon_and_kakan() -> None:
    for fourth, source in itertools.product(range(136), (1, 2, 3)):
        kind = fourth // 4
        trio = tuple(tile for tile in range(4 * kind, 4 * kind + 4) if tile != fourth)
        for called in trio:
            own = tuple(tile for tile in trio if tile != called)
            check(pon_code(fourth, called, source), Call("pon", source, called, own))
            kakan = Call("kakan", source, fourth, trio, called)
            check(pon_code(fourth, called, source, kakan=True), kakan)


def test_every_kan() -> None:
    for tile in range(136):
        quad = tuple(range(tile // 4 * 4, tile // 4 * 4 + 4))
        check(kan_code(tile, 0), Call("ankan", 0, tile, quad))
        for source in (1, 2, 3):
            own = tuple(copy for copy in quad if copy != tile)
            check(kan_code(tile, source), Call("daiminkan", source, tile, own))


def test_the_order_of_the_own_tiles_does_not_matter() -> None:
    assert encode_call(Call("chi", 3, 34, (31, 24))) == 20839
    assert encode_call(Call("kakan", 1, 132, (135, 133, 134), 133)) == 50705


@pytest.mark.parametrize("code", [-1, 1 << 16, 21 * 3 << 10 | 7, 34 * 3 << 9 | 9, 136 << 8 | 1, 4])
def test_codes_that_no_call_has(code: int) -> None:
    with pytest.raises(ValueError, match="call code"):
        decode_call(code)


@pytest.mark.parametrize(
    "call",
    [
        Call("chi", 2, 34, (24, 31)),
        Call("chi", 3, 34, (24, 35)),
        Call("chi", 3, 34, (24,)),
        Call("chi", 3, 36, (28, 34)),
        Call("chi", 3, 108, (112, 116)),
        Call("pon", 0, 4, (5, 6)),
        Call("pon", 1, 4, (4, 6)),
        Call("pon", 1, 4, (5, 8)),
        Call("kakan", 1, 132, (133, 134, 135)),
        Call("kakan", 1, 132, (133, 134, 135), 132),
        Call("daiminkan", 0, 4, (5, 6, 7)),
        Call("daiminkan", 1, 4, (5, 6, 8)),
        Call("ankan", 1, 4, (4, 5, 6, 7)),
        Call("ankan", 0, 136, (136, 137, 138, 139)),
    ],
)
def test_tiles_that_make_no_call(call: Call) -> None:
    with pytest.raises(ValueError, match="is no call"):
        encode_call(call)
