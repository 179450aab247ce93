"""What a review says of a decision: who did what, what was better, and why."""

import re
from dataclasses import replace

import pytest

from mjbot.analysis.review.decisions import ReviewedDecision
from mjbot.analysis.review.sentences import headline, sentence, yakuhai_text
from mjbot.analysis.review.tile_html import wind_of
from mjbot.game.table.actions import ACTIONS, KITA, PASS, RON, Action
from mjbot.protocol.messages import Ryukyoku
from mjbot.protocol.tiles import tile_kind
from mjbot.strategy.explanation import Explanation, Rated
from mjbot.viewer.drawing.tiles import tile_text
from tests.strategies.conftest import position


def differing(review):
    return [each for each in review.judged.decisions if not each.is_equal]


def test_the_main_clause_says_who_did_what_and_what_was_better(review):
    done = "discarded|declared|called|passed|added|won"
    for decision in differing(review):
        found = re.match(rf"You ({done}).*; (.+?)( was better.*)?$", headline(decision))
        assert found, headline(decision)
        if decision.loss is None or decision.is_disputed:
            assert found[2].startswith("the reviewer prefers ")
        elif decision.loss > 0:
            unit = "point" if round(decision.loss) == 1 else "points"
            assert found[3] == f" was better by {round(decision.loss):,} {unit}"
        if decision.actual.is_discard and decision.expected.is_discard:
            done_tile, better_tile = map(tile_text, (decision.actual.tile, decision.expected.tile))
            assert headline(decision).startswith(f"You discarded {done_tile}; ")
            assert re.search(rf"(; |prefers ){better_tile}( was better|$)", headline(decision))


def test_where_network_and_points_disagree_the_sentence_says_so(by_shares):
    disputed = [each for each in differing(by_shares) if each.is_disputed and each.points < -1]
    assert disputed
    for decision in disputed:
        output = sentence(decision)
        assert "the reviewer prefers " in output
        assert f"by {round(-decision.points):,}. The network gives " in output
        assert "Points favour " in output
    agreed = [each for each in differing(by_shares) if each.loss]
    assert agreed and not any("Points favour" in sentence(each) for each in agreed)


def of(decision: ReviewedDecision, done: Action, better: Action) -> ReviewedDecision:
    """Return the same position where one thing was done and another is the reviewer's choice."""
    report = Explanation(better, "points", [Rated(better, 9.0, True), Rated(done, 0.0)])
    return replace(
        decision, actual=done, explanation=report, then=None, expected_then=None, in_points=True
    )


def turns(review):
    return [each for each in review.judged.decisions if len(each.view.discards) > 3]


def test_a_honour_that_may_become_a_yaku_is_a_reason_to_keep_it(review):
    texts = set()
    for decision in turns(review):
        view = decision.view
        valued = [each for each in view.discards if yakuhai_text(view, each.tile)]
        others = [each for each in view.discards if each.tile < 27]
        if not valued or not others:
            continue
        kept, given = valued[0], others[0]
        text = yakuhai_text(view, kept.tile)
        texts.add(text)
        output = sentence(of(decision, kept, given))
        assert f"{tile_text(kept.tile)} is {text}" in output
        assert f" is {text}" not in sentence(of(decision, given, kept))
        assert view.unseen[kept.tile] + view.hand[kept.tile] >= 3
        if text != "yakuhai":
            winds = {"your seat wind": view.seat_wind(view.seat), "the round wind": view.round_wind}
            assert all(winds[part] == kept.tile - 27 for part in text.split(" and "))
    assert {"yakuhai", "your seat wind", "the round wind"} <= texts


def test_a_dora_is_a_reason_to_keep_it(review):
    n_dora = 0
    for decision in turns(review):
        dora = [each for each in decision.view.discards if decision.view.dora[tile_kind(each.tile)]]
        others = [each for each in decision.view.discards if each.tile < 34]
        others = [each for each in others if not decision.view.dora[each.tile]]
        if dora and others:
            output = sentence(of(decision, dora[0], others[0]))
            assert f"{tile_text(dora[0].tile)} is " in output and "dora" in output
            assert " dora" not in sentence(of(decision, others[0], dora[0]))
            n_dora += 1
    assert n_dora > 10


def test_who_is_in_riichi_is_named_with_the_turn_since_when(review):
    n_riichi = 0
    for decision in review.judged.decisions:
        view = decision.view
        others = {seat for seat in range(4) if seat != view.seat and view.riichi(seat)}
        assert {seat for seat, _ in decision.riichi} == others
        for seat, turn in decision.riichi:
            assert 0 <= turn <= decision.turn
            if not decision.is_equal:
                since = f"since your turn {turn}" if turn else "since before your first turn"
                assert f"{wind_of(view, seat)} has been in riichi {since}." in sentence(decision)
                n_riichi += 1
    assert n_riichi > 10


def test_riichi_between_two_decisions_is_told_by_the_turn_of_the_seat(review):
    seen: dict[tuple[int, int, int], int] = {}
    for decision in review.judged.decisions:
        for seat, turn in decision.riichi:
            key = (decision.kyoku, decision.seat, seat)
            assert seen.setdefault(key, turn) == turn
    assert len(set(seen.values())) > 3


@pytest.mark.parametrize(
    ("tile", "name"), [(0, "1m"), (35, "red 5p"), (29, "West"), (31, "the white dragon")]
)
def test_tiles_are_named_as_players_write_them(tile, name):
    assert tile_text(tile) == name


def sentence_of(view, actual, expected, riichi=()):
    explanation = Explanation(ACTIONS[expected])
    return sentence(ReviewedDecision(
        9, 0, "E1-0", 1, view.seat, 5, Ryukyoku(), view, explanation, ACTIONS[actual],
        riichi=tuple((seat, 2) for seat in riichi),
    ))  # fmt: skip


@pytest.mark.parametrize(
    ("hand", "riichi", "kept", "reasons"),
    [
        ("123p456s789s1255z", [], True, "it adds a dora and draws another tile, the hand is"
         " 1-shanten without it, too."),
        ("19m19p19s1235566z", [], False, "without North the hand goes back to 1-shanten."),
        ("19m123p45999s125z", [1], False, "North is safe against South, in riichi. South has"),
    ],
)  # fmt: skip
def test_a_north_is_kept_or_set_aside_for_what_the_hand_is_without_it(hand, riichi, kept, reasons):
    view = position(hand, drawn="4z", riichi=riichi, players=3)
    pair = (view.discards[0].code, KITA) if kept else (KITA, view.discards[0].code)
    assert f": {reasons}" in sentence_of(view, *pair, riichi)


def test_a_ron_that_is_let_go_pays_more_than_the_tsumo_of_three_players():
    # a dealer's dragons of 30 fu: 1,500 by ron, 500 of each other by tsumo
    view = position("123456p78s22z", melds=["555z"], offered="9s", source=2, players=3)
    view.state["rules"]["tsumo_loss"] = 1
    reason = "a ron pays 1,500 points, a tsumo of this hand 1,000, as only two pay"
    assert reason in sentence_of(view, PASS, RON)
