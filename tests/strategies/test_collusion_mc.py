"""The Monte Carlo player: whole games, its determinism, its playouts, and what it tries out."""

from pathlib import Path

import pytest

from mjbot.cli.main import main
from mjbot.game.referee import Referee
from mjbot.strategy.registry import make_strategy
from tests.play.last_kyoku import LastKyoku

QUICK = {"deals": "4", "walls": "2"}
GREEDY = {"hands": "greedy"}


def play(seed: int, options: dict[str, str]) -> list[int]:
    """Play a kyoku against three that never fold; return the final scores."""
    bots = [make_strategy("collusion-mc", options, seed=seed)]
    bots += [make_strategy("fast-riichi-b") for _ in range(3)]
    referee = LastKyoku(seed, "tonpu")
    referee.start()
    while asked := referee.asked:
        referee.step({seat: bots[seat].decide(referee.view(seat)) for seat in asked})
    return [int(points) for points in referee.state["scores"]]


@pytest.mark.parametrize(
    "options",
    [
        QUICK,
        QUICK | {"mode": "paper"},
        QUICK | {"mode": "paper", "lists": "off"},
        QUICK | {"hands": "greedy"},
    ],
)
def test_it_plays_to_the_end_and_the_same_seed_plays_the_same(options):
    scores = play(1, options)
    assert sum(scores) == 100_000
    assert scores == play(1, options)


def test_it_reads_hands_by_the_learned_model_and_as_published_by_greedy_players(position):
    view = position("123m456p789s1234z", drawn="5z", rivers={1: "19m1234z456p22s"})
    first = {}
    for name, options in (("full", {}), ("paper", {"mode": "paper"}), ("greedy", GREEDY)):
        table, risks = make_strategy("collusion-mc", QUICK | options).explain(view).tables
        assert sum(table.rows[1][1:]) == pytest.approx(100, abs=0.5)
        assert risks.columns[0] == "tile"
        first[name] = table.rows[1][1]
    assert first["full"] < first["greedy"] / 2
    assert first["paper"] == first["greedy"]


def test_bots_at_one_table_do_not_share_their_playouts():
    referee = Referee(3, "tonpu")
    referee.start()
    bots = [make_strategy("collusion-mc", QUICK, seed=seat) for seat in range(4)]
    for _ in range(12):
        referee.step({seat: bots[seat].decide(referee.view(seat)) for seat in referee.asked})
    assert len({id(bot._playouts._workspace) for bot in bots}) == 4


def test_a_budget_is_spent_as_a_number_of_playouts():
    referee = Referee(4, "tonpu")
    referee.start()
    bot = make_strategy("collusion-mc", {"budget_s": "0.02"}, seed=1)
    again = make_strategy("collusion-mc", {"budget_s": "0.02"}, seed=1)
    for _ in range(12):
        seat = next(iter(referee.asked))
        view = referee.view(seat)
        assert bot.decide(view) is again.decide(view)
        referee.step({seat: referee.view(seat).default_action for seat in referee.asked})


@pytest.mark.parametrize("mode", ["full", "paper"])
def test_it_explains_itself_by_what_it_tried_and_all_four_risk_lists(mode, capsys):
    log = str(Path(__file__).parents[2] / "logs" / "east-four-winds.mjson")
    who = ["--strategy", f"collusion-mc,mode={mode},deals=2,walls=2"]
    assert main(["explain", log, "--at", "41", *who]) == 0
    output = capsys.readouterr().out
    assert "CollusionMc: discard" in output
    assert "value, mean of what was played out" in output
    assert "how far each seat seems to be" in output
    assert "seat 3 (own)" in output
    assert output.count("│") > 34 * 7
