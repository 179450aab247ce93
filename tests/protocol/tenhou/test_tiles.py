from mjbot.protocol.tenhou.tiles import PLAIN_COPIES, PLAIN_TILES, RED_COPIES, RED_TILES


def test_a_red_five_is_one_id_of_its_suit() -> None:
    assert [RED_TILES[tile_id] for tile_id in (15, 16, 17, 52, 88)] == [
        *("4m", "5mr", "5m", "5pr", "5sr")
    ]
    assert [PLAIN_TILES[tile_id] for tile_id in (16, 52, 88)] == ["5m", "5p", "5s"]


def test_every_id_is_a_copy_of_its_tile() -> None:
    for tiles, copies in ((PLAIN_TILES, PLAIN_COPIES), (RED_TILES, RED_COPIES)):
        assert sorted(tile_id for ids in copies.values() for tile_id in ids) == [*range(136)]
        assert all(tiles[tile_id] == name for name, ids in copies.items() for tile_id in ids)
    assert RED_COPIES["5m"] == (17, 18, 19)
    assert RED_COPIES["5mr"] == (16,)
    assert PLAIN_COPIES["5m"] == (16, 17, 18, 19)
