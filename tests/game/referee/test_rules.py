"""Games under other rules than the default ones: the table, its mirror and its records agree."""

import msgspec
import pytest

from mjbot.game.records.complete import complete
from mjbot.game.records.game import Entry, Game
from mjbot.game.referee import Position, Referee
from mjbot.game.table.mirror.mirror import Mirror, TableError
from mjbot.game.table.view import View
from mjbot.protocol import messages as m
from mjbot.protocol.codec import decode_line, encode
from mjbot.protocol.dialects import Dialect
from mjbot.protocol.rules import RANKED, Rules


def played(rules: Rules, seed: int = 5, position: Position | None = None) -> list[m.Event]:
    """A game in which every seat does the safest thing."""
    referee = Referee(seed, rules)
    events = referee.start(position or Position())
    while not referee.over:
        choices = {seat: referee.view(seat).default_action for seat in referee.asked}
        events += referee.step(choices)
    return events


def tiles_of(events: list[m.Event]) -> set[str]:
    hands = [
        tile for e in events if isinstance(e, m.StartKyoku) for hand in e.tehais for tile in hand
    ]
    return {*hands, *(e.pai for e in events if isinstance(e, m.Tsumo | m.Dahai))}


def test_a_game_without_red_fives_has_the_same_walls_with_plain_fives() -> None:
    with_reds = played(Rules(length="tonpu"))
    without = played(Rules(length="tonpu", red_fives=False))
    assert {"5mr", "5pr", "5sr"} <= tiles_of(with_reds)
    assert not {"5mr", "5pr", "5sr"} & tiles_of(without)
    first, second = (
        next(e for e in events if isinstance(e, m.StartKyoku)) for events in (with_reds, without)
    )
    plain = [[tile.removesuffix("r") for tile in hand] for hand in first.tehais]
    assert plain == [list(hand) for hand in second.tehais]


@pytest.mark.parametrize("open_tanyao", [True, False])
def test_all_simples_in_an_open_hand_wins_only_where_it_counts(scripted, open_tanyao: bool) -> None:
    hands = ["8s", "234m456p67s22p88s1z", "", ""]
    game = scripted(hands, "2z5s", dora="1z", rules=Rules(open_tanyao=open_tanyao))
    game.discard(0, "8s").do(1, "pon").discard(1, "E").discard(2, "5s")
    assert ("ron" in game.legal(1)) is open_tanyao


def test_all_simples_in_a_closed_hand_counts_everywhere(scripted) -> None:
    hands = ["", "234m456p67s22p888s", "", ""]
    game = scripted(hands, "5s", dora="1z", rules=Rules(open_tanyao=False)).discard(0, "5s")
    assert "ron" in game.legal(1)


@pytest.mark.parametrize(("bust", "over"), [(True, True), (False, False)])
def test_a_score_below_zero_ends_the_game_only_under_bust(scripted, bust: bool, over: bool) -> None:
    position = Position(0, scores=(500, 33_500, 33_000, 33_000))
    noten, tenpai = "147m369p369s1234z", "123456789m55z22p"
    hands = [noten, noten, tenpai, noten]
    game = scripted(hands, position=position, rules=Rules(bust=bust)).finish_kyoku()
    assert min(game.scores) < 0
    assert game.referee.over is over


def test_the_target_and_the_start_are_the_rules(scripted) -> None:
    rules = Rules(start_points=30_000, target_points=35_000, length="tonpu")
    referee = Referee(1, rules)
    referee.start()
    assert referee.state["scores"].tolist() == [30_000] * 4
    noten = ["147m369p369s1234z"] * 4
    for top, over in ((34_900, False), (35_000, True)):
        scores = (top, 30_000, 30_000, 120_000 - top - 60_000)
        game = scripted(noten, position=Position(3, scores=scores), rules=rules).finish_kyoku()
        assert game.referee.over is over


def test_a_view_and_a_mirror_know_the_rules() -> None:
    rules = Rules(open_tanyao=False, bust=False, uma=(15_000, 5_000, -5_000, -15_000))
    events = played(rules)
    (start,) = decode_line(encode(events[0], Dialect.LOG))
    assert Rules.read(start.mjbot_rules) == rules
    mirror = Mirror()
    for event in [start, *events[1:]]:
        mirror.apply(event)
    assert View(mirror.state, 0).rules == rules
    assert View(Referee(1).state, 0).rules == RANKED


def test_nothing_is_announced_under_the_default_rules() -> None:
    assert m.StartGame(mjbot_rules=Rules().announced) == m.StartGame()
    assert b"rules" not in msgspec.json.encode(Referee(1).start()[0])


def test_the_length_of_a_short_game_is_announced() -> None:
    start = Referee(1, "tonpu").start()[0]
    assert start == m.StartGame(mjbot_rules={"length": "tonpu"})
    for dialect in Dialect:
        if not dialect.traits.is_tenhou:  # whose wire has it in GO
            shown = msgspec.structs.replace(start, id=1, names=("a", "b", "c", "d"))
            assert decode_line(encode(shown, dialect))[0].mjbot_rules == {"length": "tonpu"}


def test_rules_that_are_not_known_are_named() -> None:
    with pytest.raises(TableError, match="sashikomi: unknown rule; the rules: length"):
        Mirror().apply(m.StartGame(mjbot_rules={"sashikomi": True}))


def test_a_record_is_completed_under_its_own_rules() -> None:
    rules = Rules(length="tonpu", red_fives=False, open_tanyao=False)
    entries = [Entry(at, event) for at, event in enumerate(played(rules), 1)]
    assert complete(Game("x", "line", entries)).rules == rules
