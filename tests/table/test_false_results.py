"""What a server says about draws and riichi sticks is held against the rules."""

import pytest

from mjbot.table.table import TableError
from protocol import messages as m
from protocol.tiles import TILE_NAMES, parse_tiles

NINE = "19m19p19s1234z258p"
EIGHT = "19m19p19s22z2358p4s"
JUNK = "147m258p369s1234z"
WAITS_1M = "23m456789p45688s"


def nine_terminals(seat: int) -> m.Ryukyoku:
    return m.Ryukyoku(actor=seat, reason="kyushukyuhai")


def test_nine_terminals_only_with_nine_on_the_first_turn(story):
    story([NINE, None, None, None]).draw(0, "3s").say(nine_terminals(0))
    story([None, None, None, None]).draw(0, "?").say(nine_terminals(0))
    refused = [
        story([EIGHT, None, None, None]).draw(0, "5s"),
        story([NINE, None, None, None]),
        story([NINE, None, None, None]).turn(0, "3s").turn(1, "3s").turn(2, "3s").turn(3, "4s"),
    ]
    refused[-1].draw(0, "4s")
    for position in refused:
        with pytest.raises(TableError, match="'kyushukyuhai' does not hold"):
            position.say(nine_terminals(0))


def test_triple_ron_only_if_all_three_may_win(story):
    triple = m.Ryukyoku(reason="sanchaho")
    tanyao = ["234678m345s88s34p", "234678m345s66s46p", "234678m567s22s67p"]
    story([JUNK, *tanyao]).turn(0, "5p").say(triple)
    waiting = [JUNK, *tanyao[:2], WAITS_1M]
    with pytest.raises(TableError, match="'sanchaho' does not hold"):
        story(waiting).draw(0, "9m").say(triple)
    with pytest.raises(TableError, match="'sanchaho' does not hold"):
        story(waiting).turn(0, "9m").say(triple)


def test_tenpai_list_must_agree_with_known_hands(story):
    position = story([WAITS_1M, None, None, None])
    seen = {TILE_NAMES[tile] for tile in parse_tiles(WAITS_1M + "1m1z")}
    wall = [tile for tile in TILE_NAMES[:34] if tile not in seen for _ in range(4)][:70]
    assert len(wall) == 70
    for number, tile in enumerate(wall):
        position.say(m.Tsumo(actor=number % 4, pai=tile))
        position.say(m.Dahai(actor=number % 4, pai=tile, tsumogiri=True))
    told = m.Ryukyoku(reason="fanpai", tenpais=(False, False, False, False), deltas=(0, 0, 0, 0))
    with pytest.raises(TableError, match=r"tenpais\[0\] is False, expected True"):
        position.say(told)


def test_scores_after_a_riichi_stick_must_lack_it(story):
    position = story([WAITS_1M, None, None, None])
    position.draw(0, "9m").say(m.Reach(actor=0)).discard(0, "9m", drawn=True)
    with pytest.raises(TableError, match="scores are"):
        position.say(m.ReachAccepted(actor=0, scores=(25000, 25000, 25000, 25000)))
    position.say(m.ReachAccepted(actor=0, scores=(24000, 25000, 25000, 25000)))
