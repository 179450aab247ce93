"""The record of one win: everything that its score depends on.

Fill one in Python (:func:`new_win`) or in compiled code::

    wins = np.zeros(1, WIN)
    win = wins[0]
    win.n_melds = 0
    ...
    han, fu, yaku, yakuman = score_win(win)
    keep_alive(wins)  # see mjbot.runtime.compiler.compiled
"""

from typing import Annotated, Final

from mjbot.runtime.compiler.record import Int8, Int8s, Int32, Record

# Bits of `flags`:
TSUMO: Final = 1
RIICHI: Final = 2
DOUBLE_RIICHI: Final = 4  # with or without RIICHI
IPPATSU: Final = 8
RINSHAN: Final = 16
CHANKAN: Final = 32
HAITEI: Final = 64  # the last tile of the wall is drawn; ignored with RINSHAN
HOUTEI: Final = 128
FIRST_TURN: Final = 256  # before the own first discard, no calls before: a blessing
# Rules, which a record has from `RuleSet.scoring`; without them all is as by default:
CLOSED_TANYAO: Final = 1 << 9  # all simples counts in closed hands only
DOUBLE_YAKUMAN: Final = 1 << 10  # those of yaku_table.DOUBLED count twice
ONE_YAKUMAN: Final = 1 << 11  # several yakuman do not add up
NO_COUNTED_YAKUMAN: Final = 1 << 12  # 13 han are a sanbaiman
KIRIAGE: Final = 1 << 13  # 1,920 base points are a mangan
LOW_DOUBLE_WIND: Final = 1 << 14  # the pair of a double wind has 2 fu
TWO_HAN: Final = 1 << 15  # a win needs two han of yaku
FOUR_HAN: Final = 1 << 16  # a win needs four han of yaku
RENHOU_MANGAN: Final = 1 << 17  # blessing of man counts 5 han
RENHOU_YAKUMAN: Final = 1 << 18  # blessing of man is a yakuman


class Win(Record):
    """One record: ``win["hand"]`` in Python, ``win.hand`` in compiled code."""

    hand: Annotated[Int8s, 34]  # concealed counts, the winning tile included
    n_melds: Int8
    meld_type: Annotated[Int8s, 4]  # 0 chi, 1 pon, 2 daiminkan, 3 kakan, 4 ankan
    meld_kind: Annotated[Int8s, 4]  # lowest kind of a chi
    win_kind: Int8
    seat_wind: Int8  # 0 East .. 3 North
    round_wind: Int8
    dora: Int8  # how many dora the whole hand holds, melds included
    ura: Int8  # 0 without riichi
    red: Int8
    flags: Int32


WIN: Final = Win.dtype


def new_win() -> Win:
    """Return an empty record (East seat, East round, no flags)."""
    return Win.new()
