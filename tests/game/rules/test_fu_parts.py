"""The parts of a hand's fu, by hand and against the package ``mahjong``."""

from collections import Counter

from hypothesis import given, settings

from mjbot.game.rules.fu_parts import fu_parts
from mjbot.game.rules.scoring import score_win
from proof.made_wins import MadeWin, made_wins
from proof.oracles import mahjong_fu


@settings(max_examples=400, database=None)
@given(made_wins())
def test_the_parts_are_those_of_mahjong_and_add_up(made: MadeWin) -> None:
    win = made.record()
    score = score_win(win)
    parts = fu_parts(win, score)
    assert sum(part.fu for part in parts) == (score[1] if score[0] else 0)
    rounding = sum(part.fu for part in parts if part.name == "rounded up")
    assert 0 <= rounding < 10
    if score[0] and not score[3]:
        ours = Counter(part.fu for part in parts if part.name != "rounded up")
        if any(part.name == "closed hand by ron" for part in parts):
            ours += Counter({30: 1})  # which the package counts as one
            ours -= Counter({20: 1, 10: 1})
        assert ours in mahjong_fu(made)
