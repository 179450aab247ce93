"""The mjai spelling of the yaku in a Tenhou record."""

from typing import Final

from mjbot.records.game import WinRecord
from mjbot.rules.yaku import DORA, N_YAKU, YAKU, YAKUMAN

YAKUMAN_FAN: Final = 100
"""What the original mjai server counts for each yakuman."""


def named_yaku(win: WinRecord) -> tuple[tuple[str, int], ...]:
    """Return mjai names with their han, dora first; dragons count as one yaku of n han.

    Raises ``ValueError`` for an id that Tenhou does not have.
    """
    han: dict[str, int] = {}
    for yaku_id, value in sorted(win.yaku, key=lambda pair: pair[0] < DORA):
        name = _name(yaku_id, is_yakuman=False)
        han[name] = han.get(name, 0) + value
    for yaku_id in win.yakuman:
        han[_name(yaku_id, is_yakuman=True)] = YAKUMAN_FAN
    return tuple((name, value) for name, value in han.items() if value)


def _name(yaku_id: int, is_yakuman: bool) -> str:
    if not 0 <= yaku_id < N_YAKU or bool(YAKUMAN >> yaku_id & 1) != is_yakuman:
        raise ValueError(f"{'yakuman' if is_yakuman else 'yaku'} {yaku_id} is unknown")
    return YAKU[yaku_id].mjai_name
