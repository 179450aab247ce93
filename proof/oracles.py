"""The same questions put to other packages: PyPI ``mahjong``, ``riichienv`` and ``xiangting``.

They are development dependencies, imported nowhere else but in tests and benchmarks.
"""

from collections import Counter
from typing import Any, Final
from unittest.mock import patch

from mahjong.constants import EAST
from mahjong.hand_calculating.fu import FuCalculator
from mahjong.hand_calculating.hand import HandCalculator
from mahjong.hand_calculating.hand_config import HandConfig, OptionalRules
from mahjong.hand_calculating.hand_response import HandResponse
from mahjong.hand_calculating.yaku_config import YAKU_ID_TO_TENHOU_ID
from mahjong.meld import Meld
from riichienv import _riichienv as riichienv

from mjbot.game.rules import wins
from mjbot.game.rules import yaku_table as yaku
from mjbot.game.rules.shapes import ANKAN, CHI, DAIMINKAN, KAKAN, PON
from mjbot.protocol.rules import RANKED, Rules
from proof.made_wins import MadeWin
from proof.riichienv_answers import COUNTED_TWICE, tenhou_ids

Answer = tuple[int, int, frozenset[int]]
"""Han, fu and Tenhou's yaku ids."""

_MAHJONG_MELDS: Final = {
    CHI: Meld.CHI,
    PON: Meld.PON,
    DAIMINKAN: Meld.KAN,
    KAKAN: Meld.SHOUMINKAN,
    ANKAN: Meld.KAN,
}
_RIICHIENV_MELDS: Final = {
    CHI: riichienv.MeldType.Chi,
    PON: riichienv.MeldType.Pon,
    DAIMINKAN: riichienv.MeldType.Daiminkan,
    KAKAN: riichienv.MeldType.Kakan,
    ANKAN: riichienv.MeldType.Ankan,
}
_WINDS: Final = (
    riichienv.Wind.East,
    riichienv.Wind.South,
    riichienv.Wind.West,
    riichienv.Wind.North,
)


def mahjong_score(made: MadeWin, rules: Rules = RANKED) -> Answer:
    """Score with the package ``mahjong`` under the rules that it has, by default Tenhou's."""
    answer = _mahjong_answer(made, rules=rules)
    if answer.error == HandCalculator.ERR_NO_YAKU:
        return 0, 0, frozenset()
    if answer.error:
        raise ValueError(answer.error)
    ids = (YAKU_ID_TO_TENHOU_ID[entry.yaku_id] for entry in answer.yaku or ())
    return answer.han or 0, answer.fu or 0, frozenset(ids)


def mahjong_fu(made: MadeWin) -> list[Counter[int]]:
    """Return the fu parts, unrounded, that ``mahjong`` finds for each split with the score's fu.

    An open hand without other fu has 10 by ron in place of its 2, which are rounded up.
    """
    calculate, by_ron = FuCalculator.calculate_fu, not made.flags & wins.TSUMO
    splits: list[tuple[int, Counter[int]]] = []

    def noting(*arguments: Any, **named: Any) -> Any:
        parts, fu = calculate(*arguments, **named)
        values = [
            10 if part["reason"] == FuCalculator.HAND_WITHOUT_FU and by_ron else part["fu"]
            for part in parts
        ]
        splits.append((fu, Counter(values)))
        return parts, fu

    with patch.object(FuCalculator, "calculate_fu", noting):
        scored = _mahjong_answer(made).fu
    return [parts for fu, parts in splits if fu == scored]


def mahjong_payments(
    made: MadeWin, honba: int, sticks: int, rules: Rules = RANKED, kita: int = 0
) -> tuple[int, int, int]:
    """Return by ``mahjong`` what one payer gives, what each of two further ones, and the total.

    The first is the discarder, or of a self-draw the dealer, or one of three if the dealer wins.
    Of the rules only those count that ``mahjong`` has, too.
    """
    cost = _mahjong_answer(made, honba, sticks, rules, kita).cost
    assert cost is not None
    one = cost["main"] + cost["main_bonus"]
    return one, cost["additional"] + cost["additional_bonus"], cost["total"]


def _mahjong_answer(
    made: MadeWin, honba: int = 0, sticks: int = 0, rules: Rules = RANKED, kita: int = 0
) -> HandResponse:
    rest, win_tile, *meld_tiles = made.tile_ids()
    flags = made.flags
    config = HandConfig(
        is_tsumo=bool(flags & wins.TSUMO),
        is_riichi=bool(flags & wins.RIICHI),
        is_daburu_riichi=bool(flags & wins.DOUBLE_RIICHI),
        is_ippatsu=bool(flags & wins.IPPATSU),
        is_rinshan=bool(flags & wins.RINSHAN),
        is_chankan=bool(flags & wins.CHANKAN),
        is_haitei=bool(flags & wins.HAITEI),
        is_houtei=bool(flags & wins.HOUTEI),
        is_tenhou=bool(flags & wins.FIRST_TURN) and made.seat_wind == 0,
        is_chiihou=bool(flags & wins.FIRST_TURN) and made.seat_wind != 0,
        player_wind=EAST + made.seat_wind,
        round_wind=EAST + made.round_wind,
        tsumi_number=honba,
        kyoutaku_number=sticks,
        num_nuki_dora=kita,
        options=OptionalRules(
            has_open_tanyao=rules.open_tanyao,
            has_aka_dora=True,
            has_double_yakuman=rules.double_yakuman,
            kazoe_limit=(
                HandConfig.KAZOE_LIMITED if rules.counted_yakuman else HandConfig.KAZOE_SANBAIMAN
            ),
            kiriage=rules.kiriage,
            is_three_player=rules.players == 3,
        ),
    )
    melds = [
        Meld(_MAHJONG_MELDS[meld_type], tiles, opened=meld_type != ANKAN)
        for (meld_type, _), tiles in zip(made.melds, meld_tiles, strict=True)
    ]
    return HandCalculator.estimate_hand_value(
        [*rest, *win_tile, *(tile for tiles in meld_tiles for tile in tiles)],
        win_tile[0],
        melds=melds,
        dora_indicators=[4 * marker for marker in made.dora_markers],
        ura_dora_indicators=[4 * marker for marker in made.ura_markers],
        config=config,
    )


def riichienv_arguments(made: MadeWin) -> tuple[list[int], list[Any], tuple[Any, ...]]:
    """Return the evaluator's tiles and melds, and the arguments of its ``calc``."""
    rest, win_tile, *meld_tiles = made.tile_ids()
    melds = [
        riichienv.Meld(_RIICHIENV_MELDS[meld_type], tiles, meld_type != ANKAN)
        for (meld_type, _), tiles in zip(made.melds, meld_tiles, strict=True)
    ]
    flags = made.flags
    conditions = riichienv.Conditions(
        tsumo=bool(flags & wins.TSUMO),
        riichi=bool(flags & wins.RIICHI),
        double_riichi=bool(flags & wins.DOUBLE_RIICHI),
        ippatsu=bool(flags & wins.IPPATSU),
        haitei=bool(flags & wins.HAITEI),
        houtei=bool(flags & wins.HOUTEI),
        rinshan=bool(flags & wins.RINSHAN),
        chankan=bool(flags & wins.CHANKAN),
        tsumo_first_turn=bool(flags & wins.FIRST_TURN),
        player_wind=_WINDS[made.seat_wind],
        round_wind=_WINDS[made.round_wind],
    )
    dora, ura = ([4 * marker for marker in each] for each in (made.dora_markers, made.ura_markers))
    return rest, melds, (win_tile[0], dora, ura, conditions)


def riichienv_score(made: MadeWin) -> Answer:
    """Score with ``riichienv``; its yakuman that count twice have 26 han."""
    tiles, melds, arguments = riichienv_arguments(made)
    answer = riichienv.HandEvaluator(tiles, melds).calc(*arguments)
    if not answer.is_win:
        return 0, 0, frozenset()
    return answer.han, answer.fu, tenhou_ids(answer.yaku, made.seat_wind, made.round_wind)


def yaku_set(mask: int) -> frozenset[int]:
    """Return the ids of a yaku mask of ours."""
    return frozenset(yaku.yaku_ids(mask))


def as_riichienv(score: tuple[int, int, int, int]) -> Answer:
    """Turn a score of ours into the one that ``riichienv`` gives by its other rules.

    It has no fu for yakuman, counts some of them twice, and gives tenhou orphans 13 waits.
    """
    han, fu, mask, yakuman = score
    ids = yaku_set(mask)
    if not yakuman:
        return han, fu, ids
    if {yaku.TENHOU, yaku.KOKUSHI} <= ids:
        ids = ids - {yaku.KOKUSHI} | {yaku.KOKUSHI_THIRTEEN_WAITS}
    return 13 * (yakuman + len(ids & COUNTED_TWICE)), 0, ids
