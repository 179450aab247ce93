"""A rule set as compiled code reads it: the record that travels inside every state.

A new rule is a field of :class:`mjbot.protocol.rules.Rules` and one here of the same name; both
directions copy what they find there.
"""

from typing import Annotated, Final

import msgspec

from mjbot.game.rules import wins
from mjbot.game.rules.wall_plan import WallPlan, wall_plan
from mjbot.protocol.rules import LAST_ROUND, RANKED, Rules, last_round
from mjbot.runtime.compiler.record import Int8, Int16, Int16s, Int32, Int32s, Record


class RuleSet(Record):
    """The fields of :class:`mjbot.protocol.rules.Rules`, and what follows from them; 1 is yes.

    Compiled code copies it whole: ``state.rules = rules``.
    """

    start_points: Int32
    target_points: Int32
    return_points: Int32
    uma: Annotated[Int32s, 4]  # by placement, in points
    scoring: Int32  # the rules among the flags of a win (mjbot.game.rules.wins)
    players: Int16
    honba_points: Int16
    stick_points: Int16
    noten_points: Annotated[Int16s, 3]  # by the number of tenpai seats, less one
    wall: WallPlan  # of ``players``
    last_round: Int8  # of ``length``: last scheduled round, 3 tonpu, 7 hanchan
    red_fives: Int8
    open_tanyao: Int8
    bust: Int8
    tsumo_loss: Int8
    north_calls: Int8
    double_yakuman: Int8
    composite_yakuman: Int8
    counted_yakuman: Int8
    kiriage: Int8
    double_wind_fu: Int8
    kokushi_ankan: Int8
    triple_ron_paid: Int8
    head_bump: Int8
    pao_part: Int8
    nine_terminals_draw: Int8
    four_winds_draw: Int8
    four_kans_draw: Int8
    four_riichi_draw: Int8
    agari_yame: Int8
    tenpai_yame: Int8
    extension: Int8
    last_discard_calls: Int8
    least_han: Int8
    ippatsu: Int8
    ura_dora: Int8
    kan_dora: Int8
    kan_ura: Int8
    open_kan_dora_at_once: Int8
    nagashi: Int8
    agari_renchan: Int8
    tenpai_renchan: Int8
    renhou: Int8  # RENHOU_VALUES
    two_red_5p: Int8


RENHOU_VALUES: Final = ("no", "mangan", "yakuman")
_OTHER_FORMS: Final = ("length", "uma", "noten_points", "renhou")
_SHARED: Final = [name for name in Rules.__struct_fields__ if name not in _OTHER_FORMS]


def rule_set(rules: Rules = RANKED) -> RuleSet:
    """Return the record of a rule set.

    >>> int(rule_set()["last_round"]), int(rule_set(Rules(bust=False))["bust"])
    (7, 0)
    """
    record = RuleSet.new()
    for name in (*_SHARED, "last_round"):
        record[name] = getattr(rules, name)
    record["uma"][: rules.players] = rules.uma
    record["noten_points"][: rules.players - 1] = rules.noten_points
    record["renhou"] = RENHOU_VALUES.index(rules.renhou)
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
        (wins.TWO_HAN, rules.least_han == 2),
        (wins.FOUR_HAN, rules.least_han == 4),
        (wins.RENHOU_MANGAN, rules.renhou == "mangan"),
        (wins.RENHOU_YAKUMAN, rules.renhou == "yakuman"),
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
    values["noten_points"] = record["noten_points"][: players - 1].tolist()
    values["renhou"] = RENHOU_VALUES[int(record["renhou"])]
    values["length"] = lengths[int(record["last_round"])]
    return msgspec.convert(values, Rules, strict=False)
