"""A rule set as compiled code reads it: the record that travels inside every state."""

from typing import Annotated, Final

from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import Int16, Int32, Int32s, Record
from protocol.rules import LAST_ROUND, RANKED, Rules


class RuleSet(Record):
    """The fields of :class:`protocol.rules.Rules`; flags are 1 for yes."""

    start_points: Int32
    target_points: Int32
    uma: Annotated[Int32s, 4]  # by placement, in points
    last_round: Int16  # last scheduled round: 3 tonpu, 7 hanchan
    red_fives: Int16
    open_tanyao: Int16
    bust: Int16


RULE_SET: Final = RuleSet.dtype


def rule_set(rules: Rules = RANKED) -> RuleSet:
    """Return the record of a rule set.

    >>> int(rule_set()["last_round"]), int(rule_set(Rules(bust=False))["bust"])
    (7, 0)
    """
    record = RuleSet.new()
    for name in RULE_SET.names or ():
        record[name] = getattr(rules, name)
    return record


def rules_of(record: RuleSet) -> Rules:
    """Return the rule set of a record.

    >>> rules_of(rule_set(Rules(length="tonpu"))).length
    'tonpu'
    """
    lengths = {last: length for length, last in LAST_ROUND.items()}
    a, b, c, d = record["uma"].tolist()
    return Rules(
        length=lengths[int(record["last_round"])],
        red_fives=bool(record["red_fives"]),
        open_tanyao=bool(record["open_tanyao"]),
        bust=bool(record["bust"]),
        start_points=int(record["start_points"]),
        target_points=int(record["target_points"]),
        uma=(a, b, c, d),
    )


@compiled
def copy_rules(rules: RuleSet, to: RuleSet) -> None:
    """Copy a record field by field."""
    to.start_points = rules.start_points
    to.target_points = rules.target_points
    for place in range(4):
        to.uma[place] = rules.uma[place]
    to.last_round = rules.last_round
    to.red_fives = rules.red_fives
    to.open_tanyao = rules.open_tanyao
    to.bust = rules.bust
