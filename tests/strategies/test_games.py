"""Whole games under the referee, which raises on any illegal action."""

import shutil
import sys
from pathlib import Path

import pytest

from mjbot.game.referee import Referee
from mjbot.protocol.rules import Rules
from mjbot.strategy.options import StrategyError
from mjbot.strategy.registry import make_strategy, require_players, strategy_class

SEEDS = range(2)
FAST = ["fast-riichi-a", "fast-riichi-b", "fast-riichi-c", "fast-riichi-d"]


def play(seed: int, seats: list[str], **options: str) -> list[int]:
    """Play one tonpu of as many players and return the final scores."""
    bots = [make_strategy(name, {} if name == "tsumogiri" else options) for name in seats]
    referee = Referee(seed, Rules(length="tonpu", players=len(seats)))
    referee.start()
    while asked := referee.asked:
        referee.step({seat: bots[seat].decide(referee.view(seat)) for seat in asked})
    return [int(points) for points in referee.state["scores"]]


@pytest.mark.parametrize("lookahead", ["appendix", "text"])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_four_variants_play_whole_games(seed, lookahead):
    scores = play(seed, FAST, lookahead=lookahead)
    assert sum(scores) == 100_000
    assert scores != [25_000] * 4
    assert scores == play(seed, FAST, lookahead=lookahead)


@pytest.mark.parametrize("name", ["tsumogiri", *FAST])
def test_each_plays_against_itself(name):
    assert sum(play(1, [name] * 4)) == 100_000


@pytest.mark.parametrize(
    "own",
    [*FAST, "fast-policy", "fold-recognition-plus", "strongest", "examples/first_bot.py:FirstBot"],
)
def test_those_of_three_players_play_whole_games(own):
    """Beside two that do not play: each sets norths aside, and none of them loses."""
    require_players(strategy_class(own), 3)
    scores = play(4, ["tsumogiri", own, "tsumogiri"])
    assert scores[1] == max(scores) > 35_000
    assert sum(scores) == 105_000


def test_those_of_four_players_alone_are_refused_by_name_with_the_others():
    with pytest.raises(StrategyError) as refused:
        require_players(strategy_class("supervised"), 3)
    assert str(refused.value) == (
        "strategy 'supervised' plays no table of 3 players; of ours these do:"
        " combo-partner, fast-policy, fast-riichi-a, fast-riichi-b, fast-riichi-c, fast-riichi-d,"
        " fold-recognition-plus, strongest, tsumogiri"
    )


def test_a_fast_player_beats_three_that_do_not_play():
    scores = play(3, ["tsumogiri", "fast-riichi-a", "tsumogiri", "tsumogiri"])
    assert scores[1] == max(scores) > 25_000


def test_a_copied_strategy_file_plays_from_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    source = Path(sys.modules[strategy_class("fast-riichi-b").__module__].__file__)
    copy = shutil.copy(source, tmp_path / "my_bot.py")
    others = ["fast-riichi-a"] * 3
    expected = play(5, ["fast-riichi-b", *others])
    assert play(5, [f"{copy}:FastRiichiB", *others]) == expected
    monkeypatch.chdir(tmp_path)
    assert play(5, ["my_bot:FastRiichiB", *others]) == expected


def test_one_changed_line_makes_another_player(tmp_path: Path):
    source = Path(sys.modules[strategy_class("fast-riichi-a").__module__].__file__)
    line = "            or self.riichi(view)\n"
    text = source.read_text()
    assert line in text
    changed = tmp_path / "never_riichi.py"
    changed.write_text(text.replace(line, ""))
    others = ["fast-riichi-a"] * 3
    scores = [play(seed, [f"{changed}:FastRiichiA", *others]) for seed in SEEDS]
    assert scores != [play(seed, ["fast-riichi-a", *others]) for seed in SEEDS]
