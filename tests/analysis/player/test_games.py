"""A player's games as lines: mistakes, kyoku and draws, each counted a second time."""

from collections import Counter

import msgspec
import pytest

from mjbot.analysis.player.reviewed_games import (
    ReviewedHeader,
    ReviewedSource,
    is_games_file,
    open_games_file,
    outcome_of,
    read_games_file,
    review_source,
)
from mjbot.analysis.review.decisions import DealIn, Judged, ReviewedKyoku, judge
from mjbot.analysis.review.players import SeatedPlayers
from mjbot.analysis.review.reasons import MistakeClass, class_of_mistake
from mjbot.game.records.sources import Source, content_digest, games_of
from mjbot.game.rules.kinds import hand_counts
from mjbot.game.rules.tile_sets import shanten_of
from mjbot.protocol import messages as m
from mjbot.protocol.tiles import TILE_BY_NAME, tile_kind
from mjbot.strategy.registry import Spec
from tests.analysis.player.conftest import SOURCES


def events_of(source):
    (game,) = games_of(source)
    return [entry.event for entry in game.entries]


@pytest.mark.parametrize("place", range(2))
def test_mistakes_are_the_decisions_in_which_something_else_was_chosen(lines, place):
    (game,) = lines[place].games
    judged = judge(
        events_of(SOURCES[place]), SeatedPlayers(Spec.read("fold-recognition-plus"), 0), [game.seat]
    )
    different = [each for each in judged.decisions if not each.is_equal]
    assert game.decisions == len(judged.decisions) > len(different) > 5
    assert [m_.event for m_ in game.mistakes] == [each.event for each in different]
    assert [m_.loss for m_ in game.mistakes] == pytest.approx([d.loss or 0 for d in different])
    assert [m_.mistake_class for m_ in game.mistakes] == [
        class_of_mistake(each) for each in different
    ]
    for mistake, decision in zip(game.mistakes, different, strict=True):
        codes = {code for code, _, _ in mistake.choices}
        assert {mistake.actual, mistake.better} == {decision.actual.code, decision.expected.code}
        assert len(codes) == len(mistake.choices) and codes <= {a.code for a in decision.view.legal}
        assert mistake.mistake_class in MistakeClass and mistake.places is None


def test_what_all_kyoku_changed_is_the_place_less_the_expected_one(games, room):
    players = len(room.games)
    for game in [*games, *room.games]:
        middle = 2.5 if game in games else (1 + players) / 2
        assert middle - 0.5 < game.expected < middle + 0.5
        changes = sum(kyoku.change for kyoku in game.kyoku)
        assert changes == pytest.approx(game.final_rank - game.expected, abs=1e-3)
    assert sorted(game.final_rank for game in room.games) == [*range(1, players + 1)]


def test_kyoku_are_counted_by_how_they_ended(room):
    wins = [each for each in room.events if isinstance(each, m.Hora)]
    for game in room.games:
        found = Counter(kyoku.outcome for kyoku in game.kyoku)
        own = [win for win in wins if win.actor == game.seat]
        by_draw = [win for win in wins if win.actor == win.target != game.seat]
        paid = [win for win in wins if win.target == game.seat != win.actor]
        assert found["won"] == len(own)
        assert found["another's tsumo"] == len(by_draw)
        dealt_in = [n for name, n in found.items() if name.startswith("dealt in")]
        assert sum(dealt_in) == len(paid)
    won = [k for game in room.games for k in game.kyoku if k.outcome == "won"]
    assert len(won) == len(wins) > 2


def test_draws_that_help_are_expected_by_the_tiles_left_in_the_wall(room):
    """Against a plain count: hands as lists, the wall as what no event has shown yet."""
    players = len(room.games)
    kinds = [kind for kind in range(34) if players == 4 or not 1 <= kind <= 7]
    for game in room.games:
        draws = hits = 0
        expected, left, hand, melds = 0.0, Counter(), [], 0
        for event in room.events:
            match event:
                case m.StartKyoku():
                    left = Counter(dict.fromkeys(kinds, 4))
                    dealt = [kind_of(name) for names in event.tehais[:players] for name in names]
                    left.subtract([*dealt, kind_of(event.dora_marker)])
                    hand, melds = [kind_of(name) for name in event.tehais[game.seat]], 0
                case m.Dora():
                    left[kind_of(event.dora_marker)] -= 1
                case m.Tsumo():
                    if event.actor == game.seat:
                        away = away_of(hand, melds, players)
                        better = [
                            kind for kind in left if away_of([*hand, kind], melds, players) < away
                        ]
                        if away > 0:
                            draws += 1
                            hits += kind_of(event.pai) in better
                            expected += sum(left[kind] for kind in better) / left.total()
                        hand.append(kind_of(event.pai))
                    left[kind_of(event.pai)] -= 1
                case m.Dahai() | m.Kita() if event.actor == game.seat:
                    hand.remove(kind_of(event.pai))
                case m.Chi() | m.Pon() | m.Daiminkan() | m.Ankan() if event.actor == game.seat:
                    melds += 1
                    for name in event.consumed:
                        hand.remove(kind_of(name))
                case m.Kakan() if event.actor == game.seat:
                    hand.remove(kind_of(event.pai))
        luck = game.improving
        assert (luck.draws, luck.hits) == (draws, hits)
        assert luck.expected == pytest.approx(expected)
    assert sum(game.improving.hits for game in room.games) > 20


def kind_of(name):
    return tile_kind(TILE_BY_NAME[name])


def away_of(kinds, melds, players):
    counts = hand_counts("")
    for kind in kinds:
        counts[kind] += 1
    return int(shanten_of(counts, melds, players)) if max(counts) <= 4 else 9


def test_costs_by_playouts_are_kept_with_their_intervals():
    (game,) = review_source(SOURCES[0], ReviewedHeader("majiang", "fast-policy", 0.1, 0)).games
    played = [each for each in game.mistakes if each.places]
    assert len(played) > 10
    assert all(low <= value <= high for value, low, high in (each.places for each in played))
    assert all(each.is_shown == (each.places[1] > 0) for each in played)
    assert all("By playouts" in each.text for each in played)


def test_a_run_resumes_and_another_one_does_not_mix_with_it(lines, tmp_path):
    header = ReviewedHeader("majiang", "fold-recognition-plus", 0.0, 0)
    path = tmp_path / "games.jsonl"
    with open_games_file(path, header) as log:
        log.append(lines[0])
    with open_games_file(path, header) as log:
        assert log.lines == [lines[0]]
        log.append(lines[1])
    assert is_games_file(path) and not is_games_file(SOURCES[0].path)
    assert read_games_file(path) == (header, lines)
    with pytest.raises(Exception, match="holds a run with by 'fold-recognition-plus'"):
        open_games_file(path, msgspec.structs.replace(header, by="supervised"))


def test_what_cannot_be_read_is_named_and_the_rest_reviewed(tmp_path):
    torn = tmp_path / "torn.mjson"
    torn.write_text(SOURCES[0].path.read_text()[:3000] + "\n")
    header = ReviewedHeader("majiang", "fast-riichi-d", 0.0, 0)
    found = review_source(Source(torn), header)
    assert found.games == () and len(found.problems) == 1
    assert found.problems[0].count("torn.mjson") == 1
    cut = tmp_path / "cut.mjson"
    lines = SOURCES[0].path.read_text().splitlines(keepends=True)
    cut.write_text("".join(lines[:200]))
    assert "did not end" in review_source(Source(cut), header).problems[0]
    assert review_source(SOURCES[0], msgspec.structs.replace(header, player="nobody")) == (
        ReviewedSource(SOURCES[0].name, content_digest(SOURCES[0]))
    )


def test_of_a_double_deal_in_one_other_choice_makes_it_avoidable(lines):
    """Two rons on one discard: a list of deal-ins of which only some have a choice."""
    kyoku = ReviewedKyoku("E1-0", 1, 0, 0, (25000,) * 4, [])
    kyoku.results = [m.Hora(actor=actor, target=0, pai="1m") for actor in (1, 2)]
    judged_ = judge(
        events_of(SOURCES[0]),
        SeatedPlayers(Spec.read("fast-riichi-d"), 0),
        [lines[0].games[0].seat],
    )
    other = next(each for each in judged_.decisions if not each.is_equal)
    same = next(each for each in judged_.decisions if each.is_equal)

    def outcome(*decisions):
        found = [DealIn(0, "E1-0", 0, 1, 0, 8000, each, (), ()) for each in decisions]
        return outcome_of(Judged(kyoku=[kyoku], deal_ins=found), 0, 0)

    assert outcome(same, other) == outcome(other, None) == "dealt in after another choice"
    assert outcome(same, None) == outcome(same, same) == "dealt in without a better choice"
