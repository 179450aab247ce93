import itertools

import pytest

from mjbot.records.mjlog_tags import Call, decode_call


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (20839, Call("chi", 3, 34, (24, 31))),  # 7m 8m with a called 9m
        (34306, Call("daiminkan", 2, 134, (132, 133, 135))),
        (33024, Call("ankan", 0, 128, (128, 129, 130, 131))),
        (50705, Call("kakan", 0, 132, (133, 134, 135))),
    ],
)
def test_published_vectors(code: int, expected: Call) -> None:
    assert decode_call(code) == expected


def test_north_call_is_refused() -> None:
    with pytest.raises(ValueError, match="north call"):
        decode_call(30752)


def test_every_chi(tenhou) -> None:
    for suit, rank in itertools.product(range(3), range(7)):
        low = 4 * (9 * suit + rank)
        for copies in itertools.product(range(4), repeat=3):
            tiles = [low + 4 * step + copy for step, copy in enumerate(copies)]
            for called in tiles:
                own = tuple(tile for tile in tiles if tile != called)
                assert decode_call(tenhou.chi_code(tiles, called)) == Call("chi", 3, called, own)


def test_every_pon_and_kakan(tenhou) -> None:
    for fourth, source in itertools.product(range(136), (1, 2, 3)):
        kind = fourth // 4
        trio = tuple(tile for tile in range(4 * kind, 4 * kind + 4) if tile != fourth)
        for called in trio:
            own = tuple(tile for tile in trio if tile != called)
            pon = decode_call(tenhou.pon_code(fourth, called, source))
            assert pon == Call("pon", source, called, own)
            added = decode_call(tenhou.pon_code(fourth, called, source, kakan=True))
            assert added == Call("kakan", 0, fourth, trio)


def test_every_kan(tenhou) -> None:
    for tile in range(136):
        quad = tuple(range(tile // 4 * 4, tile // 4 * 4 + 4))
        assert decode_call(tenhou.kan_code(tile, 0)) == Call("ankan", 0, quad[0], quad)
        for source in (1, 2, 3):
            own = tuple(copy for copy in quad if copy != tile)
            expected = Call("daiminkan", source, tile, own)
            assert decode_call(tenhou.kan_code(tile, source)) == expected


@pytest.mark.parametrize("code", [-1, 1 << 16, 21 * 3 << 10 | 7, 34 * 3 << 9 | 9, 136 << 8 | 1, 4])
def test_codes_that_no_call_has(code: int) -> None:
    with pytest.raises(ValueError, match="call code"):
        decode_call(code)
