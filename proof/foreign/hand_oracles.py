"""Random hands and wins put to the packages ``mahjong``, ``riichienv`` and ``xiangting``."""

from typing import Final

import riichienv
import xiangting
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from mahjong.shanten import Shanten

from mjbot.game.rules.acceptance import acceptance
from mjbot.game.rules.scoring import score_win
from mjbot.game.rules.shanten import shanten
from mjbot.game.rules.yaku_table import YAKUMAN
from proof.answers import Report
from proof.made_hands import MadeHand, made_hands
from proof.made_wins import MadeWin, made_wins
from proof.oracles import as_riichienv, mahjong_score, riichienv_score, yaku_set

_FOUR: Final = xiangting.PlayerCount.FOUR


def compare_wins(examples: int, number: int, report: Report) -> None:
    """Compare yaku, han and fu of random wins; ``number`` is the seed."""

    @seed(number)
    @_many(examples)
    @given(made_wins())
    def compare(made: MadeWin) -> None:
        han, fu, mask, yakuman = ours = score_win(made.record())
        report.compare("wins with mahjong", made, (han, fu, yaku_set(mask)), mahjong_score(made))
        theirs = riichienv_score(made)
        if yakuman == 1 and theirs[0] >= 13 and not theirs[2] & yaku_set(YAKUMAN):
            report.explained["riichienv prefers 13 ordinary han to a yakuman"] += 1
        else:
            report.compare("wins with riichienv", made, as_riichienv(ours), theirs)

    compare()


def compare_hands(examples: int, number: int, report: Report) -> None:
    """Compare shanten and acceptance of random hands; ``number`` is the seed."""

    @seed(number)
    @_many(examples)
    @given(st.one_of(made_hands(1), made_hands(2)))
    def compare(made: MadeHand) -> None:
        hand = made.counts()
        ours = shanten(hand, made.n_melds)
        report.compare("shanten with mahjong", made, ours, Shanten.calculate_shanten(hand.tolist()))
        theirs = riichienv.calculate_shanten(list(made.ids))
        report.compare("shanten with riichienv", made, ours, theirs)
        theirs = xiangting.calculate_replacement_number(hand.tolist(), _FOUR) - 1
        report.compare("shanten with xiangting", made, ours, theirs)
        if len(made.ids) % 3 == 1:
            _, accepted = xiangting.calculate_necessary_tiles(hand.tolist(), _FOUR)
            own = acceptance(hand, made.n_melds)
            report.compare("acceptance with xiangting", made, own, accepted)

    compare()


def _many(examples: int) -> settings:
    return settings(
        max_examples=examples,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
