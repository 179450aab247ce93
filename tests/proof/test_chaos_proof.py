"""What the proof of broken lines makes of a game's end."""

import pytest

from mjbot.play.server.core import TableFault
from mjbot.play.server.server import GameResult
from proof.endurance.chaos import ChaosGame, ending_of, problems_of

LATE = "Error in player 2's response: Timeout. No response in 10 sec."
WRONG = "Error in player 2's response: Cannot dahai this pai now: 5m."
NAMES = ("mjbot-3", "mjbot-0", "mjbot-1", "mjbot-2")


def table(broken, *texts, void=False, ends=()):
    faults = tuple([TableFault(2, text) for text in texts])
    result = GameResult(
        game=0, names=NAMES, places=(3, 0, 1, 2), scores=(25_000,) * 4, void=void, faults=faults,
        log=None,
    )  # fmt: skip
    lines = [set(), set(broken), set(), set()]
    return ChaosGame(7, ("delay", "cut", "corrupt", "stall"), result, list(ends), lines)


@pytest.mark.parametrize(
    ("game", "problem"),
    [
        (table({"split"}), None),
        (table({"stall"}, LATE, void=True), None),
        (table({"corrupt"}, WRONG, void=True), None),
        (table({"merge"}, LATE, void=True), "its line was whole"),
        (table({"cut"}, WRONG), "its line was whole"),
        (table({"corrupt"}, ends=[None, KeyError("pai")]), "client 1: KeyError"),
        (table({"corrupt"}, ends=[ConnectionError("gone")]), "client 0, its line was whole: gone"),
        (ChaosGame(7, ()), "hang: no end within 600 s"),
    ],
)
def test_only_whose_line_was_broken_may_be_at_fault(game, problem):
    problems = problems_of(game)
    assert problems == [] if problem is None else problems[0].startswith(problem), problems


def test_a_game_ends_in_one_way():
    assert ending_of(ChaosGame(7, ())) == "hang"
    assert ending_of(table({"stall"}, LATE, void=True)).endswith("one named fault: too late")
    assert ending_of(table({"cut"}, LATE)).endswith("by the rules, with named faults")
