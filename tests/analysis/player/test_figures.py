"""What a player's games add up to, counted by hand on made games."""

import json

import msgspec
import pytest

from mjbot.analysis.player.figures import PlayerReport, apart, mean_of
from mjbot.analysis.player.reviewed_games import (
    DrawLuck,
    KyokuChange,
    Mistake,
    Outcome,
    ReviewedGame,
    Situation,
)
from mjbot.analysis.review.reasons import MistakeClass
from mjbot.analysis.stats.counted_games import FIELDS
from mjbot.strategy.explanation import POINTS

NO_COUNTS = tuple([0.0] * len(FIELDS))


TENPAI = Situation(0, 0, False)


def mistake(name, places, spread=0.01, situation=TENPAI):
    return Mistake(
        event=9, at="E1-0:3", mistake_class=MistakeClass(name), situation=situation, actual=0,
        then=-1, better=5, better_then=-1, loss=1000 * places,
        places=(places, places - spread, places + spread), mean=places, points=0.0,
        is_close=False, text="You discarded 1m", choices=((0, -1, 1.0), (5, -1, 2.0)),
    )  # fmt: skip


def game(number, mistakes, final_rank=2, seat=0, **more):
    made = ReviewedGame(
        source="a.zip", number=number, digest=f"{number}", day=f"2026-01-{number % 28 + 1:02}",
        length="hanchan", rules="", players=4, player="p", seat=seat,
        final_rank=final_rank, expected=2.5, loss_unit=POINTS,
        decisions=50, agreement=(40.0, 50),
        mistakes=tuple(mistakes), kyoku=(KyokuChange("E1-0", Outcome.WON, final_rank - 2.5),),
        improving=DrawLuck(20, 8, 6.5), winning=DrawLuck(), starts=(30, 10), room_starts=(105, 30),
        counts=NO_COUNTS, room=NO_COUNTS,
    )  # fmt: skip
    return msgspec.structs.replace(made, **more)


def rows_of(report, title):
    table = next(each for each in report.tables if each.title == title)
    return {row[0]: list(row[1:]) for row in table.rows}


def test_losses_by_class_add_up_with_intervals_over_games():
    costs = [0.1, 0.2, 0.3, 0.0]
    games = [
        game(n, [mistake("push/fold", cost), mistake("calls", -0.05)])
        for n, cost in enumerate(costs)
    ]
    report = PlayerReport("p", games)
    rows = rows_of(report, "Losses by class")
    assert rows["push/fold"] == ["1.0", "0.150 ±0.205", "3 (0.600)"]  # t(3) x 0.0645
    assert rows["calls"] == ["1.0", "-0.050 ±?", "0 (0.000)"]  # four equal games show no spread
    assert rows["all"][1].startswith("0.100 ±")
    assert rows["riichi"][:2] == ["0.0", "0.000 ±?"]
    counted = PlayerReport("p", games, is_played=False)  # nothing is known of costs
    assert rows_of(counted, "Losses by class")["push/fold"] == ["1.0 ±?"]
    assert counted.as_json()["unit"] == "different choices"


@pytest.mark.parametrize("players", [3, 4])
def test_the_game_has_the_number_of_players_whatever_its_rules_are_called(players):
    report = PlayerReport("p", [game(0, [], players=players, rules="of another program")])
    assert ("kita" in rows_of(report, "Losses by class")) == (players == 3)
    rates = {value["figure"] for value in report.rate_table.values}
    assert rates & {"third", "fourth"} == {"third" if players == 3 else "fourth"}


def test_sums_add_plain_means_and_single_costs_are_drawn_back():
    """A mistake whose worlds gave 0.3 places, of which 0.1 are to be expected."""
    lucky = msgspec.structs.replace(mistake("calls", 0.1), mean=0.3)
    report = PlayerReport("p", [game(n, [lucky]) for n in range(2)])
    assert report.cost_per_game(report.games).value == pytest.approx(0.3)
    assert rows_of(report, "Losses by class")["calls"] == ["1.0", "0.300 ±?", "2 (0.200)"]
    assert report.situations[0].total == pytest.approx(0.6)
    assert report.expected_cost(lucky) == 0.1


def test_a_quiz_asks_what_is_shown_of_all_classes_and_no_more():
    many = [mistake("efficiency", 0.03, 0.2) for _ in range(30)]  # chance: none is shown
    few = [mistake("push/fold", 0.04), mistake("safe tiles", 0.06), mistake("push/fold", 0.05)]
    report = PlayerReport("p", [game(0, [*many, *few])])
    asked = [(m.mistake_class, m.places[0]) for _, m in report.exercises(12)]
    assert asked == [("push/fold", 0.05), ("safe tiles", 0.06), ("push/fold", 0.04)]
    assert PlayerReport("p", [game(0, many)]).exercises(12) == []
    counted = PlayerReport("p", [game(0, [*many, msgspec.structs.replace(few[0], is_close=True)])],
                           is_played=False)  # fmt: skip
    assert {m.mistake_class for _, m in counted.exercises(99)} == {"efficiency"}


def test_the_first_lines_state_what_is_shown_and_how_many_games_would_show_more():
    none = [game(n, [mistake("calls", cost, 0.5)]) for n, cost in enumerate([0.3, -0.3, 0.2, -0.1])]
    lines = PlayerReport("p", none).summary
    assert "playouts show no single choice to be a loss" in lines
    more = next(line for line in lines if line.startswith("no cost a game is shown; about "))
    assert more.endswith(" more games would show one of 0.050 places")
    half = PlayerReport("p", none).cost_per_game(none).half_width
    assert int(more.split()[7].replace(",", "")) == pytest.approx(4 * (half / 0.05) ** 2 - 4, abs=1)
    shown = PlayerReport("p", [game(0, [mistake("calls", 0.1), mistake("riichi", 0.3)])]).summary
    assert any(
        line.startswith("losses shown by playouts: 2, 0.400 places in all") for line in shown
    )
    assert "the costliest: E1-0:3 of a.zip: You discarded 1m" in shown
    assert any(line.startswith("grade by the reviewer: 80.0 ±? of 100") for line in shown)
    unplayed = PlayerReport("p", none, is_played=False).summary
    assert "what they cost is not known without playouts: --playouts SECONDS" in unplayed
    assert not any("places a game" in line and "cost" in line for line in unplayed)


def test_seats_of_one_game_are_one_observation_of_a_reference():
    def cost(each):
        return sum(m.places[0] for m in each.mistakes)

    room = [game(n, [mistake("calls", 0.1 * n)], seat=seat) for n in range(3) for seat in range(4)]
    alone = [each for each in room if each.seat == 0]
    assert mean_of(room, cost) == mean_of(alone, cost)
    own = [game(10 + n, [mistake("calls", 0.2)]) for n in range(9)]
    gap = apart(own, room, cost)
    assert gap.value == pytest.approx(0.1)
    assert gap.low < 0 < gap.high
    report = PlayerReport("p", own, room, "room.jsonl")
    assert rows_of(report, "Losses by class")["calls"][2].startswith("0.100 ±")
    assert "compared with room.jsonl (12 seats): 0.100" in report.summary[-1]
    assert "not shown to differ" in report.summary[-1]


def test_the_situations_that_cost_most_come_first_with_three_positions():
    names = ["efficiency", "push/fold", "riichi", "calls"]
    situations = [Situation(shanten, 1, True) for shanten in range(3)]
    games = [
        game(n, [mistake(name, 0.01 * share * (n + 1), situation=situation)
                 for share, name in enumerate(names, 1) for situation in situations])
        for n in range(5)
    ]  # fmt: skip
    report = PlayerReport("p", games)
    found = report.situations
    assert len(found) == 10
    assert [each.total for each in found] == sorted([each.total for each in found], reverse=True)
    first = found[0]
    assert first.name == "calls: tenpai, one riichi, last hands" and first.mistakes == 5
    assert first.total == pytest.approx(0.04 * (1 + 2 + 3 + 4 + 5))
    assert [each.number for each, _ in first.examples] == [4, 3, 2]


def test_a_mistake_that_is_shown_comes_before_a_larger_one_that_is_not():
    games = [game(0, [mistake("calls", 0.3, 0.5), mistake("riichi", 0.1), mistake("wins", -0.2)])]
    report = PlayerReport("p", games)
    assert [each.mistake_class for _, each in report.costliest()] == ["riichi", "calls"]
    games = [game(0, [mistake("calls", 0.1), mistake("calls", 0.2), mistake("riichi", 0.25)])]
    exercises = PlayerReport("p", games).exercises(3)
    assert [(m.mistake_class, m.places[0]) for _, m in exercises] == [
        ("calls", 0.2), ("riichi", 0.25), ("calls", 0.1),
    ]  # fmt: skip
    assert len(PlayerReport("p", games).exercises(1)) == 1


def test_the_trend_has_blocks_of_five_games_and_more():
    games = [game(n, [mistake("calls", 0.1 if n < 10 else 0.3)]) for n in range(20)]
    report = PlayerReport("p", games)
    assert [round(each.value, 3) for _, each in report.blocks] == [0.1, 0.1, 0.3, 0.3]
    assert report.blocks[0][0] == "2026-01-01 to 2026-01-05"
    assert PlayerReport("p", games[:9]).blocks == []
    assert len(PlayerReport("p", games * 10).blocks) == 12


def test_luck_is_what_remains_of_the_place():
    games = [game(n, [mistake("calls", 0.2)], final_rank=4) for n in range(8)]
    report = PlayerReport("p", games)
    assert any("luck apart from play: +1.300" in line for line in report.summary)
    assert rows_of(report, "Where places were won and lost")["won"][1] == "+1.500 ±0.000"
    draws = rows_of(report, "Draws")["draws before tenpai that helped"]
    assert draws == ["160", "64", "52.0", "+1.500 ±0.000"]
    table = next(each for each in report.tables if each.title == "Draws")
    assert "3.00 shanten on average, the others' 3.50" in table.note


def test_rates_are_those_of_the_breakdown(games):
    report = PlayerReport("majiang", games)
    rows = rows_of(report, "Rates")
    wins, kyoku = (FIELDS.index(name) for name in ("wins", "kyoku"))
    own = 100 * sum(g.counts[wins] for g in games) / sum(g.counts[kyoku] for g in games)
    others = 100 * sum(g.room[wins] for g in games) / sum(g.room[kyoku] for g in games)
    assert rows["win rate, %"][0].startswith(f"{own:.1f} ±")
    assert rows["win rate, %"][1].startswith(f"{others:.1f} ±")
    assert own != others


def test_everything_is_plain_json(games):
    report = PlayerReport("majiang", games, games[:1], "one", is_played=False)
    values = json.loads(json.dumps(report.as_json()))
    assert values["games"] == 2 and values["unit"] == "different choices"
    losses = {each["class"]: each for each in values["tables"]["Losses by class"]}
    total = sum(losses[kind]["cost_per_game"]["value"] for kind in losses if kind != "all")
    assert losses["all"]["cost_per_game"]["value"] == pytest.approx(total)
    assert losses["all"]["reference"]["value"] > 0
    for each in values["tables"]["Most different choices"]:
        assert len(each["positions"]) <= 3
