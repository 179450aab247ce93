"""The mirror: contradictions quote the event, lenient play goes on, views are honest."""

import numpy as np
import pytest

from mjbot.game.table.mirror.mirror import Mirror, TableError
from mjbot.game.table.mirror.wire import to_action, to_message
from mjbot.protocol import messages as m

JUNK = "147m258p369s1234z"


def start_kyoku(**changes):
    fields = {
        "bakaze": "E",
        "kyoku": 1,
        "honba": 0,
        "kyotaku": 0,
        "oya": 0,
        "dora_marker": "9m",
        "tehais": (("?",) * 13,) * 4,
        "scores": (25000, 25000, 25000, 25000),
    }
    return m.StartKyoku(**{**fields, **changes})


def deal(*known: str) -> dict[str, object]:
    hidden = ("?",) * 13
    return {"tehais": (known + hidden[len(known) :], hidden, hidden, hidden)}


@pytest.mark.parametrize(
    ("tell", "problem"),
    [
        (lambda p: p.draw(1, "?"), "actor is 1, but seat 0 is to draw"),
        (lambda p: p.draw(0, "1m").draw(1, "?"), "no seat may draw now"),
        (lambda p: p.draw(0, "1m").discard(0, "9m"), "may not discard 9m"),
        (lambda p: p.draw(0, "1m").discard(0, "4m", drawn=True), "not the drawn tile"),
        (lambda p: p.draw(0, "?"), "whose hand is known"),
        (lambda p: p.discard(0, "1m"), "may not discard 1m"),
        (lambda p: p.draw(0, "1m").say(m.Reach(actor=0)), "may not riichi"),
        (lambda p: p.turn(0, "1m").pon(2, 1, "1m", "11m"), "target is 1"),
        (lambda p: p.turn(0, "1m").pon(2, 0, "2m", "22m"), "pai is 2m"),
        (lambda p: p.turn(0, "3m").chi(2, 0, "3m", "12m"), "only seat 1 may chi"),
        (lambda p: p.turn(0, "3m").chi(1, 0, "3m", "14m"), "makes no run"),
        (lambda p: p.draw(0, "1m").say(m.ReachAccepted(actor=0)), "no riichi to accept"),
        (lambda p: p.draw(0, "1m").say(m.Dora(dora_marker="1p")), "more dora markers"),
        (lambda p: p.draw(0, "1m").say(m.Hora(actor=0, target=0, pai="1m")), "may not tsumo"),
        (lambda p: p.turn(0, "1m").say(m.Hora(actor=1, target=2, pai="1m")), "target is 2"),
        (lambda p: p.say(m.Ryukyoku(reason="fanpai")), "the wall is not empty"),
        (lambda p: p.turn(0, "1m").say(m.Ryukyoku(reason="sufonrenta")), "does not hold"),
    ],
)
def test_a_contradiction_says_what_and_quotes_the_event(story, tell, problem):
    position = story([JUNK, None, None, None])
    with pytest.raises(TableError) as caught:
        tell(position)
    assert problem in str(caught.value)
    assert '"type":' in str(caught.value)


def test_a_fifth_copy_is_noticed(story):
    position = story([JUNK, None, None, None], dora="1m").turn(0, "1m")
    for seat in (1, 2):
        position.draw(seat, "?")
        if seat == 1:
            position.discard(seat, "1m", drawn=True)
    with pytest.raises(TableError, match="a fifth 1m"):
        position.discard(2, "1m", drawn=True)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"oya": 2}, "oya is 2"),
        (deal("1m", "1m", "1m", "1m", "1m"), "1m is dealt 5 times"),
        (deal("5pr", "5pr"), "5pr is dealt 2 times"),
    ],
)
def test_a_wrong_deal_is_noticed(changes, problem):
    table = Mirror()
    table.apply(m.StartGame())
    with pytest.raises(TableError, match=problem):
        table.apply(start_kyoku(**changes))


def test_the_own_hand_must_be_shown():
    table = Mirror(seat=2)
    table.apply(m.StartGame(id=2))
    with pytest.raises(TableError, match=r"tehais\[2\]"):
        table.apply(start_kyoku())


def test_lenient_mode_logs_and_plays_on():
    lenient = Mirror(strict=False)
    for event in (m.StartGame(), start_kyoku(), m.Tsumo(actor=2, pai="?")):
        lenient.apply(event)
    lenient.apply(m.Dahai(actor=3, pai="1m", tsumogiri=False))
    assert lenient.state["turn"] == 3
    assert lenient.view(3).river(3).tolist() == [0]


def test_scores_must_add_up(story):
    position = story(["123m456p789s5566z", None, None, None], dora="9p")
    position.draw(0, "5z")
    win = {"actor": 0, "target": 0, "pai": "P"}
    with pytest.raises(TableError, match="deltas is"):
        position.say(m.Hora(**win, deltas=(1000, -500, -500, 0)))


def test_the_next_kyoku_follows_the_rules(story):
    position = story(["123m456p789s5566z", None, None, None], dora="9p").draw(0, "5z")
    position.say(m.Hora(actor=0, target=0, pai="P")).say(m.EndKyoku())
    scores = tuple(position.table.state["scores"].tolist())
    assert sum(scores) == 100_000
    for wrong, problem in (
        ({"kyoku": 2, "oya": 1}, "round is E2, expected E1"),
        ({"honba": 0}, "honba is 0, expected 1"),
        ({"honba": 1, "kyotaku": 1}, "kyotaku is 1"),
        ({"honba": 1, "scores": (1, 2, 3, 4)}, "scores are"),
    ):
        with pytest.raises(TableError, match=problem):
            position.say(start_kyoku(**{"scores": scores, **wrong}))
    position.say(start_kyoku(honba=1, scores=scores))


def test_a_view_shows_counts_dora_and_what_is_unseen(story):
    position = story([JUNK, None, None, None], dora="1m").turn(0, "2m")
    view = position.table.view(0)
    assert view.unseen[0] == 4 - 1 - 1  # hand and marker
    assert view.unseen[1] == 3
    assert view.dora.tolist() == [0, 1] + [0] * 32
    assert view.river(0).tolist() == [1]
    assert view.shanten >= 3
    position.draw(1, "?")
    assert view.phase != position.table.view(0).phase  # a view keeps its moment


def test_messages_and_actions_are_inverse(story):
    position = story(["11150m258p36s123z", "3467m55p258s1234z", None, None])
    position.draw(0, "1m")
    state = position.table.state
    for action in position.table.legal(0):
        assert to_action(state, 0, to_message(state, 0, action)) == action
    position.discard(0, "5m")
    assert len(position.table.legal(1)) > 1
    for action in position.table.legal(1):
        assert to_action(state, 1, to_message(state, 1, action)) == action


def test_masks_are_plain_bits(story):
    position = story([JUNK, None, None, None]).turn(0, "9s")
    assert position.table.view(1).genbutsu(0) == 1 << 26
    assert np.bitwise_count(position.table.view(1).genbutsu(1)) == 0


@pytest.mark.parametrize(("wall_left", "allowed"), [(1, True), (0, False)])
def test_a_hidden_seat_sets_no_north_aside_once_the_wall_is_empty(wall_left, allowed) -> None:
    mirror = Mirror()
    mirror.apply(m.StartGame(mjbot_rules={"players": 3}))
    mirror.apply(start_kyoku(scores=(35000, 35000, 35000, 0)))
    mirror.apply(m.Tsumo(actor=0, pai="?"))
    mirror.state["wall_left"] = wall_left
    if allowed:
        mirror.apply(m.Kita(actor=0, pai="N"))
        return
    with pytest.raises(TableError, match="no kita once the wall is empty"):
        mirror.apply(m.Kita(actor=0, pai="N"))


@pytest.mark.parametrize("named", [{"start_points": 30000, "target_points": 30000}, {}, None])
@pytest.mark.parametrize("players", [3, 4])
def test_the_first_deal_has_the_points_that_the_rules_name(named, players) -> None:
    mirror = Mirror()
    rules = None if named is None and players == 4 else {"players": players, **(named or {})}
    mirror.apply(m.StartGame(mjbot_rules=rules))
    deal = start_kyoku(scores=(*[27000] * players, 0)[:4])
    if not named:
        mirror.apply(deal)
        return
    with pytest.raises(TableError, match="the rules begin with 30000 each"):
        mirror.apply(deal)
    again = Mirror()
    again.apply(m.StartGame(mjbot_rules=rules))
    again.apply(start_kyoku(scores=(*[27000] * players, 0)[:4], honba=1))
