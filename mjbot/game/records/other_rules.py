"""Which rule a record departs from: draws that did not come, and what another rule explains.

The strict table compares single fields.  A rule that people play elsewhere and that gives exactly
what the record has is named, with the rule set under which the record would be right
(docs/rules.md lists what differs elsewhere).
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from mjbot.game.rules import yaku_table
from mjbot.game.rules.points import MANGAN, YAKUMAN_BASE, Parties, base_points, win_deltas
from mjbot.game.table import state as s
from mjbot.game.table.legal import can_ron
from mjbot.game.table.mirror.mirror import TableError
from mjbot.game.table.settle import PAYMENT, abort_reason, game_ends, win_payment
from protocol import messages as m
from protocol.tiles import UNKNOWN

_DRAWS: Final = {
    s.FOUR_WINDS: "four equal winds",
    s.FOUR_RIICHI: "four riichi",
    s.FOUR_KANS: "four kans by several seats",
}
_CONTINUES: Final = (m.Tsumo, m.Chi, m.Pon, m.Daiminkan)
_DOUBLE_YAKUMAN: Final = sum(
    1 << yaku
    for yaku in (
        yaku_table.SUUANKOU_TANKI,
        yaku_table.CHUUREN_NINE_WAITS,
        yaku_table.KOKUSHI_THIRTEEN_WAITS,
        yaku_table.DAISUUSHII,
    )
)
_LIABLE: Final = 1 << yaku_table.DAISANGEN | 1 << yaku_table.DAISUUSHII


def missing_draw(state: s.State, event: m.Event, before: m.Event | None) -> str:
    """Return which draw should have come before ``event``, or which stick was paid in vain.

    ``before`` is the last event but for dora; empty if nothing is wrong.
    """
    in_reaction = int(state["phase"]) == s.REACTION
    if in_reaction and isinstance(event, _CONTINUES) and (reason := int(abort_reason(state))):
        rules = "right where they do not end a hand"
        return f"{_DRAWS[reason]} are a draw (docs/rules.md 5.3), but the hand continues; {rules}"
    if isinstance(event, m.Hora) and int(state["wins"]).bit_count() == 2:
        rules = "right where three rons are paid, as on Mahjong Soul"
        return f"three rons are a draw (docs/rules.md 5.3), but all are paid; {rules}"
    is_ron = isinstance(event, m.Hora) and event.target != event.actor
    is_triple = isinstance(event, m.Ryukyoku) and event.reason == "sanchaho"
    if (is_ron or is_triple) and in_reaction and isinstance(before, m.ReachAccepted):
        rules = "right where the declaration itself is paid"
        return (
            f"seat {before.actor} has paid the stick of a riichi whose discard is won"
            f" (docs/rules.md 3.2); {rules}"
        )
    return ""


def named_problem(error: TableError, state: s.State, before: m.Event | None) -> str:
    """Return what is wrong with an event, and the rule that it follows where one is known."""
    rule = explained(state, error.event, before) if isinstance(error.event, m.Event) else ""
    return f"{error.problem}; {rule}" if rule else error.problem


def explained(state: s.State, event: m.Event, before: m.Event | None) -> str:
    """Return the rule that a refused event follows, empty if no known one explains it.

    ``state`` is the table before the event.
    """
    match event:
        case m.Hora() if _robs_ankan(event, before):
            return (
                "a concealed kan may not be robbed (docs/rules.md 4.5);"
                " right where thirteen orphans may, as on Mahjong Soul"
            )
        case m.Hora():
            return _explained_win(state, event)
        case m.StartKyoku() if int(state["phase"]) in (s.IDLE, s.WON, s.DRAWN):
            return _explained_going_on(state)
    return ""


def _robs_ankan(event: m.Hora, before: m.Event | None) -> bool:
    return (
        isinstance(before, m.Ankan)
        and event.target == before.actor != event.actor
        and event.pai in (None, *before.consumed)
    )


def _explained_going_on(state: s.State) -> str:
    if not game_ends(state):
        return ""
    if state["rules"]["bust"] and int(state["scores"].min()) < 0:
        return "a score below 0 ends the game (docs/rules.md 1.4); right with bust=no"
    if int(state["dealer_stays"]):
        rule = "a dealer in first place ends the game (docs/rules.md 1.5)"
        return f"{rule}; right where the dealer may play on"
    return ""


def _explained_win(state: s.State, event: m.Hora) -> str:
    by_draw = event.target == event.actor
    tile = int(state["drawn" if by_draw else "last_tile"])
    if not (state["hand_known"][event.actor] and 0 <= tile < UNKNOWN):
        return ""
    if not by_draw and _is_open_tanyao(state, event.actor):
        return "all simples counts in closed hands only; right with open_tanyao=yes"
    hides_ura = int(state["riichi"][event.actor]) == s.ACCEPTED and event.uradora_markers is None
    if hides_ura or (event.deltas is None and event.hora_points is None):
        return ""
    win: Any = np.zeros(1, PAYMENT)[0]
    win_payment(state, event.actor, tile, by_draw, win)
    for rule, deltas, points in _variants(state, event, win):
        if event.deltas in (None, deltas) and event.hora_points in (None, points):
            return rule
    return ""


def _is_open_tanyao(state: s.State, seat: int) -> bool:
    supposed = s.copy_state(state)
    supposed["rules"]["open_tanyao"] = 1
    return bool(can_ron(supposed, seat)) and not can_ron(state, seat)


def _variants(
    state: s.State, event: m.Hora, win: Any
) -> Iterator[tuple[str, tuple[int, ...], int]]:
    """Yield rules with what each pays for a win: the changes, and the value of the hand."""
    han, yakuman, mask = int(win["han"]), int(win["yakuman"]), int(win["yaku_mask"])
    base = int(base_points(han, int(win["fu"]), yakuman))
    doubled = yakuman + (mask & _DOUBLE_YAKUMAN).bit_count()
    bases = (
        (base == 1920, MANGAN, "right with kiriage mangan (docs/rules.md 2.2)"),
        (
            yakuman and doubled > yakuman,
            YAKUMAN_BASE * doubled,
            "right with double yakuman (docs/rules.md 2.3), as on Mahjong Soul",
        ),
        (yakuman > 1, YAKUMAN_BASE, "right where several yakuman count once (docs/rules.md 2.3)"),
        (
            not yakuman and han >= 13,
            3 * MANGAN,
            "right where 13 han are no yakuman (docs/rules.md 2.3)",
        ),
    )
    for applies, other, rule in bases:
        if applies:
            yield rule, *_paid(state, event, other, int(win["liable"]))
    liable = int(win["liable"])
    if liable >= 0 and yakuman > 1:
        part = YAKUMAN_BASE * (mask & _LIABLE).bit_count()
        deltas, points = _paid(state, event, part, liable)
        others, more = _paid(state, event, YAKUMAN_BASE * yakuman - part, -1, counted=False)
        total = tuple(one + other for one, other in zip(deltas, others, strict=True))
        rule = "right where pao covers its own yakuman only (docs/rules.md 2.6), as on Mahjong Soul"
        yield rule, total, points + more


def _paid(
    state: s.State, event: m.Hora, base: int, liable: int, counted: bool = True
) -> tuple[tuple[int, ...], int]:
    """Return the changes for a win of ``base``, and the hand's value; ``counted``: with sticks."""
    parties = Parties(event.actor, event.target, int(state["dealer"]), liable)
    is_first = counted and not int(state["wins"])
    honba, sticks = (int(state["honba"]), int(state["sticks"])) if is_first else (0, 0)
    rules = state["rules"]
    deltas = win_deltas(base, parties, honba, sticks, rules).tolist()
    return tuple(deltas), int(win_deltas(base, parties, 0, 0, rules)[event.actor])
