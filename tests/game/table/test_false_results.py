"""What a server says about draws and riichi sticks is held against the rules."""

from itertools import takewhile
from pathlib import Path

import msgspec
import pytest

from mjbot.game.records.sources import open_games
from mjbot.game.table.mirror.mirror import Mirror, TableError
from mjbot.game.table.state import DRAWN, WON
from mjbot.protocol import messages as m
from mjbot.protocol.tiles import TILE_NAMES, parse_tiles

NINE = "19m19p19s1234z258p"
EIGHT = "19m19p19s22z2358p4s"
JUNK = "147m258p369s1234z"
WAITS_1M = "23m456789p45688s"
LOGS = sorted((Path(__file__).parents[3] / "logs").glob("*.mjson"))


@pytest.fixture(params=LOGS, ids=lambda path: path.stem)
def recorded(request):
    (game,) = open_games(request.param)
    return [entry.event for entry in game.entries]


def replayed(events, *, strict=True):
    table = Mirror(strict=strict)
    for event in events:
        table.apply(event)
    return table


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
    report = m.Ryukyoku(reason="fanpai", tenpais=(False, False, False, False), deltas=(0, 0, 0, 0))
    with pytest.raises(TableError, match=r"tenpais\[0\] is False, expected True"):
        position.say(report)


def test_scores_after_a_riichi_stick_must_lack_it(story):
    position = story([WAITS_1M, None, None, None])
    position.draw(0, "9m").say(m.Reach(actor=0)).discard(0, "9m", drawn=True)
    with pytest.raises(TableError, match="scores are"):
        position.say(m.ReachAccepted(actor=0, scores=(25000, 25000, 25000, 25000)))
    with pytest.raises(TableError, match=r"deltas are \(5, 5, 5, 5\), expected \(-1000, 0, 0, 0\)"):
        position.say(m.ReachAccepted(actor=0, deltas=(5, 5, 5, 5)))
    report = {"deltas": (-1000, 0, 0, 0), "scores": (24000, 25000, 25000, 25000)}
    position.say(m.ReachAccepted(actor=0, **report))


def test_a_false_end_of_the_game_is_noticed(recorded):
    """Once the last kyoku is paid, the sticks that are left over go to first place."""
    *before, end = recorded
    assert isinstance(end, m.EndGame)
    final = end.scores
    for wrong in ((25000,) * 4, (final[0] + 1000, *final[1:]), (*final[1:], final[0])):
        table = replayed(before)
        with pytest.raises(TableError, match="scores are"):
            table.apply(m.EndGame(scores=wrong))
    replayed(before).apply(end)


def test_a_stick_that_is_left_over_goes_to_first_place(story):
    """Four riichi end a kyoku with sticks on the table, and here a seat ends it below zero."""
    position = story([WAITS_1M, None, None, None])
    position.table.state["scores"] = (500, 30500, 44000, 25000)
    position.table.state["sticks"] = 1
    position.draw(0, "9m")
    draw = m.Ryukyoku(reason="error", deltas=(-8000, 4000, 2000, 2000))
    position.say(draw).say(m.EndKyoku())
    assert position.table.state["scores"].tolist() == [-7500, 34500, 46000, 27000]
    for wrong in ((-7500, 34500, 46000, 27000), (-6500, 34500, 46000, 27000)):
        with pytest.raises(TableError, match=r"expected \(-7500, 34500, 47000, 27000\)"):
            position.say(m.EndGame(scores=wrong))
    position.say(m.EndGame(scores=(-7500, 34500, 47000, 27000)))
    assert position.table.state["scores"].tolist() == [-7500, 34500, 47000, 27000]


# --- out of order --------------------------------------------------------------------------------


def test_a_kyoku_begins_only_when_none_is_under_way(recorded):
    first = recorded[1]
    assert isinstance(first, m.StartKyoku)
    for end in (2, 3, 4):
        table = replayed(recorded[:end])
        with pytest.raises(TableError, match=r"a kyoku starts, but seat \d "):
            table.apply(first)
    with pytest.raises(TableError, match="a kyoku starts, but the game is over"):
        replayed(recorded).apply(first)


def test_a_kyoku_and_a_game_end_once(recorded):
    place = recorded.index(m.EndKyoku())
    with pytest.raises(TableError, match="no kyoku is under way"):
        replayed(recorded[: place + 1]).apply(m.EndKyoku())
    with pytest.raises(TableError, match="no kyoku is under way"):
        replayed(recorded).apply(m.EndKyoku())
    for end in (place, place + 1, len(recorded)):
        with pytest.raises(TableError, match="there is nothing to draw: "):
            replayed(recorded[:end]).apply(m.Ryukyoku(reason="error", deltas=(0, 0, 0, 0)))
    with pytest.raises(TableError, match="the game is over already"):
        replayed(recorded).apply(recorded[-1])


def test_without_its_end_kyoku_a_kyoku_is_still_held_against_the_one_before(recorded):
    place = recorded.index(m.EndKyoku())
    table = replayed(recorded[:place])
    following = recorded[place + 1]
    a, b, c, d = following.scores
    with pytest.raises(TableError, match="scores are"):
        table.apply(msgspec.structs.replace(following, scores=(a + 1000, b - 1000, c, d)))
    table.apply(following)
    last = len(recorded) - 2
    assert recorded[last] == m.EndKyoku()
    with pytest.raises(TableError, match="scores are"):
        replayed(recorded[:last]).apply(m.EndGame(scores=(25000,) * 4))


def test_a_kyoku_is_drawn_only_after_the_last_discard(story):
    position = story([None, None, None, None])
    wall = [tile for tile in TILE_NAMES[:34] for _ in range(3)][:70]
    for number, tile in enumerate(wall):
        position.say(m.Tsumo(actor=number % 4, pai=tile))
        if number < 69:
            position.say(m.Dahai(actor=number % 4, pai=tile, tsumogiri=True))
    drawn = m.Ryukyoku(reason="fanpai", deltas=(0, 0, 0, 0))
    with pytest.raises(TableError, match="no tile was discarded last: seat 1 has drawn"):
        position.say(drawn)
    position.discard(1, "6s", drawn=True).say(drawn)


def test_the_marker_of_a_kan_is_turned_before_the_next_draw(story):
    def kan():
        return story(["111m258p369s1234z", None, None, None]).turn(0, "9p").turn(1, "1m")

    called = m.Daiminkan(actor=0, target=1, pai="1m", consumed=("1m",) * 3)
    marker = m.Dora(dora_marker="9s")
    position = kan().say(called).turn(0, "5z")
    with pytest.raises(TableError, match="the dora marker of a kan is still to be turned"):
        position.draw(1, "?")
    position.say(marker).draw(1, "?")
    kan().say(called).draw(0, "5z").say(marker).discard(0, "5z", drawn=True).draw(1, "?")


def test_a_riichi_shows_as_many_ura_markers_as_markers_are_turned(story):
    def won(*markers):
        position = story([WAITS_1M, None, None, None])
        position.draw(0, "9m").say(m.Reach(actor=0)).discard(0, "9m", drawn=True)
        position.say(m.ReachAccepted(actor=0)).turn(1, "1z")
        return (
            position.draw(2, "1m")
            .discard(2, "1m", drawn=True)
            .say(m.Hora(actor=0, target=2, pai="1m", uradora_markers=markers))
        )

    won("9p")
    for markers in ((), ("9p", "9p")):
        with pytest.raises(TableError, match=f"uradora_markers has {len(markers)} tiles"):
            won(*markers)


# --- met leniently -------------------------------------------------------------------------------


@pytest.mark.parametrize("result", ["hora", "ryukyoku"])
def test_an_impossible_result_never_pays_what_an_earlier_kyoku_paid(recorded, result):
    places = [at for at, event in enumerate(recorded) if isinstance(event, m.Hora)]
    paid = [recorded[at].deltas for at in places]
    assert any(any(deltas) for deltas in paid)
    for place in places:
        table = replayed(recorded[: place + 1], strict=False)
        following = takewhile(lambda e: not isinstance(e, m.Dahai), recorded[place + 1 :])
        for event in following:
            table.apply(event)
        before = table.state["scores"].tolist()
        if result == "hora":
            table.apply(m.Hora(actor=1, target=1))
        else:
            table.apply(m.Ryukyoku(reason="fanpai"))
        if int(table.state["phase"]) in (WON, DRAWN):  # not after the end of the game
            assert table.state["scores"].tolist() == before


def test_lenient_play_goes_on_past_what_cannot_be_applied():
    hidden = ("?",) * 13
    deal = m.StartKyoku(
        bakaze="E", kyoku=1, honba=0, kyotaku=0, oya=0, dora_marker="9m",
        tehais=(hidden,) * 4, scores=(25000,) * 4,
    )  # fmt: skip
    broken = [
        m.Dahai(actor=0, pai="?", tsumogiri=True),
        m.Pon(actor=1, target=0, pai="1m", consumed=("?", "?")),
        m.Ankan(actor=0, consumed=("?",) * 4),
        m.Dora(dora_marker="?"),
        msgspec.structs.replace(deal, dora_marker="?"),
        msgspec.structs.replace(deal, bakaze="5m"),
        msgspec.structs.replace(deal, scores=(1 << 32, 0, 0, 0)),
        m.Ryukyoku(reason="fanpai", deltas=(1 << 32, 0, 0, 0)),
    ]
    for event in broken:
        for strict in (True, False):
            table = Mirror(strict=strict)
            for report in (m.StartGame(), deal, m.Tsumo(actor=0, pai="?")):
                table.apply(report)
            if strict:
                with pytest.raises(TableError):
                    table.apply(event)
            else:
                table.apply(event)
                table.apply(deal)
                assert table.state["scores"].tolist() == [25000] * 4
