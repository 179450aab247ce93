"""Which rule a record departs from: draws that did not come, and what another rule explains.

The strict table compares single fields.  A rule that people play elsewhere and that gives exactly
what the record has is named, with the rule set under which the record would be right
(docs/rules.md lists the rules).
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec
import numpy as np

from mjbot.game.rules.ruleset import rule_set, rules_of
from mjbot.game.table import state as s
from mjbot.game.table.apply import ura_due
from mjbot.game.table.legal import can_ron
from mjbot.game.table.mirror.check import check_draw_reason
from mjbot.game.table.mirror.mirror import TableError
from mjbot.game.table.settle import (
    PAYMENT,
    abort_reason,
    exhaustive_deltas,
    game_ends,
    has_yaku,
    next_kyoku,
    win_payment,
)
from mjbot.protocol import messages as m
from mjbot.protocol.rules import RULE_SETS, Rules
from mjbot.protocol.tiles import UNKNOWN, WIND_NAMES

_DRAWS: Final = {
    s.FOUR_WINDS: ("four_winds_draw", "four equal winds"),
    s.FOUR_RIICHI: ("four_riichi_draw", "four riichi"),
    s.FOUR_KANS: ("four_kans_draw", "four kans by several seats"),
}
_CONTINUES: Final = (m.Tsumo, m.Chi, m.Pon, m.Daiminkan)
_OF_WINS: Final = {
    "double_yakuman": "double yakuman",
    "composite_yakuman": "several yakuman that add up",
    "counted_yakuman": "13 han as a yakuman",
    "kiriage": "kiriage mangan",
    "pao_part": "pao for its own yakuman only",
    "double_wind_fu": "fu for the pair of a double wind",
    "tsumo_loss": "tsumo loss",
    "ippatsu": "ippatsu",
    "ura_dora": "ura dora",
    "kan_ura": "ura dora of kans",
}
_OF_YAKU: Final = {
    "open_tanyao": "open tanyao",
    "least_han": "han as the least of a win",
    "renhou": "blessing of man",
}
_OF_DRAWS: Final = {
    "nine_terminals_draw": "draw by nine terminals",
    "four_winds_draw": "draw by four equal winds",
    "four_kans_draw": "draw by four kans",
    "four_riichi_draw": "draw by four riichi",
    "triple_ron_paid": "three rons that are paid",
}
_OF_EXHAUSTIVE: Final = {"nagashi": "nagashi mangan"}
_OF_DEALERS: Final = {
    "agari_renchan": "repeat of a dealer who has won",
    "tenpai_renchan": "repeat of a dealer who is tenpai",
}
_OF_ENDS: Final = {
    "bust": "end below 0",
    "agari_yame": "end by the dealer's win in first place",
    "tenpai_yame": "end by the dealer's tenpai in first place",
    "extension": "extension by a wind",
}
"""What the rules are called where they are in force; else they have ``no`` before that."""


def missing_draw(state: s.State, event: m.Event, before: m.Event | None) -> str:
    """Return which draw should have come before ``event``, or which stick was paid in vain.

    ``before`` is the last event but for dora; empty if nothing is wrong.
    """
    in_reaction = int(state["phase"]) == s.REACTION
    if in_reaction and isinstance(event, _CONTINUES) and (reason := int(abort_reason(state))):
        field, name = _DRAWS[reason]
        cure = _cure(rules_of(state["rules"]), field)
        return f"{name} are a draw (docs/rules.md 5.3), but the hand continues; {cure}"
    rules = state["rules"]
    if isinstance(event, m.Hora) and int(state["wins"]):
        if rules["head_bump"]:
            cure = _cure(rules_of(rules), "head_bump")
            return f"one ron is paid (docs/rules.md 2.7), but another follows; {cure}"
        if int(state["wins"]).bit_count() == 2 and not rules["triple_ron_paid"]:
            cure = _cure(rules_of(rules), "triple_ron_paid")
            return f"three rons are a draw (docs/rules.md 5.3), but all are paid; {cure}"
    is_ron = isinstance(event, m.Hora) and event.target != event.actor
    is_triple = isinstance(event, m.Ryukyoku) and event.reason == "sanchaho"
    if (is_ron or is_triple) and in_reaction and isinstance(before, m.ReachAccepted):
        return (
            f"seat {before.actor} has paid the stick of a riichi whose discard is won"
            " (docs/rules.md 3.2); right where the declaration itself is paid"
        )
    return ""


def named_problem(error: TableError, state: s.State, before: m.Event | None) -> str:
    """Return what is wrong with an event, and the rule that it follows where one is known."""
    rule = explained(state, error.event, before) if isinstance(error.event, m.Event) else ""
    return f"{error.problem}; {rule}" if rule else error.problem


def explained(state: s.State, event: m.Event, before: m.Event | None) -> str:
    """Return the rule that a refused event follows and how to put it in force, empty if none does.

    ``state`` is the table before the event.
    """
    rules = rules_of(state["rules"])
    phase = int(state["phase"])
    match event:
        case m.Hora() if _robs_ankan(event, before) and not rules.kokushi_ankan:
            cure = _cure(rules, "kokushi_ankan")
            return f"a concealed kan may not be robbed (docs/rules.md 4.5); {cure}"
        case m.Hora():
            return _explained_win(state, event)
        case m.Ryukyoku(reason="fanpai" | "nagashimangan"):
            return _named(state, _OF_EXHAUSTIVE, lambda other: _fits_exhaustive(other, event))
        case m.Ryukyoku() if not _fits_draw(state, event):
            return _named(state, _OF_DRAWS, lambda other: _fits_draw(other, event))
        case m.Tsumo() if state["pending_dora"]:
            at_once = rules.open_kan_dora_at_once or state["n_dora"] > state["kans"]
            return _cure(rules, "open_kan_dora_at_once" if at_once else "kan_dora")
        case m.Dora() if not rules.kan_dora:
            return _cure(rules, "kan_dora")
        case m.Chi() | m.Pon() if phase == s.REACTION and not state["wall_left"]:
            return "" if rules.last_discard_calls else _cure(rules, "last_discard_calls")
        case m.StartKyoku() if phase in _BETWEEN and game_ends(state):
            return _named(state, _OF_ENDS, lambda other: not game_ends(other))
        case m.StartKyoku() if phase in _BETWEEN:
            return _named(state, _OF_DEALERS, lambda other: _fits_deal(other, event))
        case m.EndGame() if phase in _BETWEEN and not game_ends(state):
            return _named(state, _OF_ENDS, game_ends)
    return ""


_BETWEEN: Final = (s.IDLE, s.WON, s.DRAWN)


def _cure(rules: Rules, field: str) -> str:
    """Return which rule set has the other value of a rule, and how to ask for it."""
    return _cure_by(rules, field, next(_other_values(rules, field)))


def _cure_by(rules: Rules, field: str, value: Any) -> str:
    for name in RULE_SETS:
        named = rules.under(name)
        if getattr(named, field) == value:
            return f"a rule of {name}: --rules {named}"
    return f"right with --rules {msgspec.structs.replace(rules, **{field: value})}"


_VALUES: Final[dict[str, tuple[Any, ...]]] = {
    "double_wind_fu": (2, 4),
    "least_han": (4, 2, 1),
    "renhou": ("mangan", "yakuman", "no"),
}
"""Of rules that are neither on nor off."""


def _other_values(rules: Rules, field: str) -> Iterator[Any]:
    value = getattr(rules, field)
    return (other for other in _VALUES.get(field, (not value,)) if other != value)


def _named(state: s.State, names: dict[str, str], fits: Callable[[s.State], bool]) -> str:
    """Return the rule of which the other value fits, or else the rule set that does."""
    rules = rules_of(state["rules"])
    for field, name in names.items():
        for value in _other_values(rules, field):
            if fits(_supposed(state, msgspec.structs.replace(rules, **{field: value}))):
                off = "" if value is True else "no "
                before = off if isinstance(value, bool) else f"{value} "
                return f"{before}{name}, {_cure_by(rules, field, value)}"
    for other in map(rules.under, RULE_SETS):
        if other != rules and fits(_supposed(state, other)):
            return f"right with --rules {other}"
    return ""


def _supposed(state: s.State, rules: Rules) -> s.State:
    supposed = s.copy_state(state)
    supposed["rules"] = rule_set(rules)
    dealer = int(state["dealer"])
    if int(state["phase"]) in _BETWEEN and int(state["dealer_stays"]) >= 0 and not state["aborted"]:
        won = int(state["wins"]) >> dealer & 1
        tenpai = not int(state["wins"]) and bool(state["waits"][dealer])
        stays = (won and rules.agari_renchan) or (tenpai and rules.tenpai_renchan)
        supposed["dealer_stays"] = int(stays)
    return supposed


def _robs_ankan(event: m.Hora, before: m.Event | None) -> bool:
    return (
        isinstance(before, m.Ankan)
        and event.target == before.actor != event.actor
        and event.pai in (None, *before.consumed)
    )


def _fits_draw(state: s.State, event: m.Ryukyoku) -> bool:
    try:
        check_draw_reason(state, event)
    except ValueError:
        return False
    return event.reason not in (None, "fanpai", "nagashimangan")


def _fits_exhaustive(state: s.State, event: m.Ryukyoku) -> bool:
    """Return whether an exhaustive draw pays so, as far as all hands are known."""
    players = int(state["rules"]["players"])
    if event.deltas is None or not state["hand_known"][:players].all():
        return False
    deltas = np.zeros(4, np.int32)
    is_nagashi = exhaustive_deltas(state, (state["waits"] != 0).astype(np.int8), deltas)
    return event.deltas == tuple(deltas.tolist()) and not (event.reason == "fanpai" and is_nagashi)


def _fits_deal(state: s.State, event: m.StartKyoku) -> bool:
    round_, honba = next_kyoku(state)
    return (4 * WIND_NAMES.index(event.bakaze) + event.kyoku - 1, event.honba) == (round_, honba)


def _explained_win(state: s.State, event: m.Hora) -> str:
    by_draw = event.target == event.actor
    tile = int(state["drawn" if by_draw else "last_tile"])
    if not (state["hand_known"][event.actor] and 0 <= tile < UNKNOWN):
        return ""
    if not by_draw and not can_ron(state, event.actor):
        return _named(state, _OF_YAKU, lambda other: can_ron(other, event.actor))
    if by_draw and not has_yaku(state, event.actor, tile, True):
        return _named(state, _OF_YAKU, lambda other: has_yaku(other, event.actor, tile, True))
    in_riichi = int(state["riichi"][event.actor]) == s.ACCEPTED
    hides_ura = in_riichi and event.uradora_markers is None and state["rules"]["ura_dora"]
    if hides_ura or (event.deltas is None and event.hora_points is None):
        return ""

    def fits(other: s.State) -> bool:
        win: Any = np.zeros(1, PAYMENT)[0]
        win_payment(other, event.actor, tile, by_draw, win)
        markers = event.uradora_markers
        if in_riichi and markers is not None and len(markers) != ura_due(other):
            return False
        points = event.hora_points in (None, int(win["points"]))
        return points and event.deltas in (None, tuple(win["deltas"].tolist()))

    return "" if fits(state) else _named(state, _OF_WINS, fits)
