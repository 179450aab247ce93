"""The same questions put to the PyPI package ``cmajiang`` (MIT), C++ after majiang-core.

Tiles are m1 to z7 with 0 for a red five; melds follow the hand after commas, with a mark after the
tile that was taken.  The last of 3n + 2 tiles in the hand is the one that was drawn.
"""

from collections.abc import Iterable
from typing import Any, Final

import cmajiang

from mjbot.game.rules import wins
from mjbot.game.rules.shapes import ANKAN, CHI, DAIMINKAN, KAKAN, PON
from mjbot.protocol.tiles import FIVE_KINDS
from proof.made_hands import MadeHand
from proof.made_wins import MadeWin

Value = tuple[int, int, int]
"""Han, fu and the number of yakuman; of a yakuman its number alone."""

RULE: Final = cmajiang.Rule(doubleDamanguan=False)
_SUITS: Final = "mpsz"
_SHOWN: Final = {CHI: "{0}-{1}{2}", PON: "{0}{1}{2}=", DAIMINKAN: "{0}{1}{2}{3}="}
_SHOWN_KAN: Final = {KAKAN: "{0}{1}{2}={3}", ANKAN: "{0}{1}{2}{3}"}


def cmajiang_shanten(made: MadeHand) -> int:
    """Return the shanten of a hand."""
    return int(cmajiang.xiangting(cmajiang_hand(made)))


def cmajiang_waits(made: MadeHand) -> int:
    """Return the mask of kinds that complete a hand in tenpai, without those it has four of."""
    names = cmajiang.tingpai(cmajiang_hand(made)) if cmajiang_shanten(made) == 0 else ()
    return sum(1 << _kind(name) for name in names)


def cmajiang_value(made: MadeWin) -> Value:
    """Score under Tenhou's rules, without counted yakuman."""
    positional, named = hule_arguments(made)
    answer = cmajiang.hule(*positional, **named)
    if answer.damanguan:
        return 0, 0, int(answer.damanguan)
    return int(answer.fanshu), int(answer.fu), 0


def hule_arguments(made: MadeWin) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of the package's ``hule``."""
    rest, (win_tile,), *melds = made.tile_ids()
    flags, by_self = made.flags, bool(made.flags & wins.TSUMO)
    concealed = _text([*rest, win_tile] if by_self else rest)
    shown = [_meld(*meld, ids) for meld, ids in zip(made.melds, melds, strict=True)]
    first = flags & wins.FIRST_TURN
    named = {
        "rule": RULE,
        "zhuangfeng": made.round_wind,
        "menfeng": made.seat_wind,
        "lizhi": 2 if flags & wins.DOUBLE_RIICHI else int(bool(flags & wins.RIICHI)),
        "yifa": bool(flags & wins.IPPATSU),
        "qianggang": bool(flags & wins.CHANKAN),
        "lingshang": bool(flags & wins.RINSHAN),
        "haidi": 1 if flags & wins.HAITEI else 2 if flags & wins.HOUTEI else 0,
        "tianhu": (1 if made.seat_wind == 0 else 2) if first else 0,
        "baopai": [_name(kind) for kind in made.dora_markers],
        "libaopai": [_name(kind) for kind in made.ura_markers],
    }
    hand = cmajiang.Shoupai(",".join([concealed, *shown]))
    return (hand, "" if by_self else f"{_text([win_tile])}="), named


def cmajiang_hand(made: MadeHand) -> cmajiang.Shoupai:
    """Return a hand as the package has it, with as many melds, whose tiles do not count."""
    return cmajiang.Shoupai(",".join([_text(made.ids, reds=False), *["z111="] * made.n_melds]))


def _text(ids: Iterable[int], *, reds: bool = True) -> str:
    return "".join(
        [_name(tile // 4, reds and tile // 4 in FIVE_KINDS and not tile % 4) for tile in ids]
    )


def _name(kind: int, is_red: bool = False) -> str:
    return f"{_SUITS[kind // 9]}{0 if is_red else kind % 9 + 1}"


def _kind(name: str) -> int:
    return 9 * _SUITS.index(name[0]) + (int(name[1]) or 5) - 1


def _meld(meld_type: int, kind: int, ids: list[int]) -> str:
    """Return a meld; of equal tiles the red one stands last."""
    order = ids if meld_type == CHI else sorted(ids, reverse=True)
    digits = [_text([tile])[1] for tile in order]
    return _SUITS[kind // 9] + (_SHOWN | _SHOWN_KAN)[meld_type].format(*digits)
