"""A rule set as compiled code reads it: the record that travels inside every state.

A new rule is a field of :class:`mjbot.protocol.rules.Rules` and one here of the same name; both
directions copy what they find there.
"""

from typing import Annotated, Final

import msgspec

from mjbot.game.rules import wins
from mjbot.game.rules.wall_plan import WallPlan, wall_plan
from mjbot.protocol.rules import LAST_ROUND, RANKED, Rules, last_round
from mjbot.runtime.compiler.record import Int16, Int32, Int32s, Record


class RuleSet(Record):
    """The fields of :class:`mjbot.protocol.rules.Rules`, and what follows from them; 1 is yes.

    Compiled code copies it whole: ``state.rules = rules``.
    """

    start_points: Int32
    target_points: Int32
    return_points: Int32
    uma: Annotated[Int32s, 4]  # by placement, in points
    last_round: Int16  # of ``length``: last scheduled round, 3 tonpu, 7 hanchan
    players: Int16
    red_fives: Int16
    open_tanyao: Int16
    bust: Int16
    tsumo_loss: Int16
    north_calls: Int16
    double_yakuman: Int16
    composite_yakuman: Int16
    counted_yakuman: Int16
    kiriage: Int16
    double_wind_fu: Int16
    kokushi_ankan: Int16
    triple_ron_paid: Int16
    head_bump: Int16
    pao_part: Int16
    nine_terminals_draw: Int16
    four_winds_draw: Int16
    four_kans_draw: Int16
    four_riichi_draw: Int16
    agari_yame: Int16
    tenpai_yame: Int16
    extension: Int16
    last_discard_calls: Int16
    scoring: Int16  # the rules among the flags of a win (mjbot.game.rules.wins)
    wall: WallPlan  # of ``players``


_SHARED: Final = [name for name in Rules.__struct_fields__ if name not in ("length", "uma")]


def rule_set(rules: Rules = RANKED) -> RuleSet:
    """Return the record of a rule set.

    >>> int(rule_set()["last_round"]), int(rule_set(Rules(bust=False))["bust"])
    (7, 0)
    """
    record = RuleSet.new()
    for name in (*_SHARED, "last_round"):
        record[name] = getattr(rules, name)
    record["uma"][: rules.players] = rules.uma
    record["wall"] = wall_plan(rules.players)
    record["scoring"] = _scoring(rules)
    return record


def _scoring(rules: Rules) -> int:
    differing = (
        (wins.CLOSED_TANYAO, not rules.open_tanyao),
        (wins.DOUBLE_YAKUMAN, rules.double_yakuman),
        (wins.ONE_YAKUMAN, not rules.composite_yakuman),
        (wins.NO_COUNTED_YAKUMAN, not rules.counted_yakuman),
        (wins.KIRIAGE, rules.kiriage),
        (wins.LOW_DOUBLE_WIND, rules.double_wind_fu == 2),
    )
    return sum(flag for flag, differs in differing if differs)


def rules_of(record: RuleSet) -> Rules:
    """Return the rule set of a record.

    >>> rules_of(rule_set(Rules(length="tonpu"))).length
    'tonpu'
    """
    players = int(record["players"])
    lengths = {last_round(length, players): length for length in LAST_ROUND}
    values = {name: record[name].tolist() for name in _SHARED}
    values["uma"] = record["uma"][:players].tolist()
    values["length"] = lengths[int(record["last_round"])]
    return msgspec.convert(values, Rules, strict=False)
