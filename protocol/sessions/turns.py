"""Whose reply is due: the transition table of the four families.

What a line calls for depends on the last event in it (:func:`due_after`), and what that means
for the one addressed depends on the dialect (:func:`reply_duty`)::

    event                      calls for   TCP         lines       arrays      RiichiLab
    own tsumo                  TURN        one line    one line    one line    on request
    own chi, pon, reach        DISCARD     one line    one line    one line    on request
    other's dahai              CLAIM       one line    if it likes one line    on request
    other's kakan, kita        ROB         one line    if it likes one line    on request
    hello                      JOIN        one line    -           -           -
    error, end_game            NOTHING     nothing     nothing     one line*   nothing
    everything else            NONE        one line    nothing     one line    nothing

``*`` mjai.app requires a line for ``end_game`` too.  "One line" is exactly one: replies are matched
by position, so one too many shifts everything after it.
"""

import enum
from typing import Final, assert_never

from mjbot.protocol import messages as m
from mjbot.protocol.dialects import Answers, Dialect


class Due(enum.Enum):
    """What the last event calls for from one seat; the value lists the replies allowed."""

    NOTHING = ()
    JOIN = ("join",)
    NONE = ("none",)
    TURN = ("dahai", "reach", "ankan", "kakan", "hora", "ryukyoku", "kita")
    DISCARD = ("dahai",)
    CLAIM = ("none", "chi", "pon", "daiminkan", "hora")
    ROB = ("none", "hora")

    @property
    def is_choice(self) -> bool:
        """Whether the seat may have something to decide."""
        return self in _CHOICES


_AFTER_OWN: Final[dict[type[m.Message], Due]] = {
    m.Tsumo: Due.TURN,
    m.Chi: Due.DISCARD,
    m.Pon: Due.DISCARD,
    m.Reach: Due.DISCARD,
}
_AFTER_OTHERS: Final[dict[type[m.Message], Due]] = {
    m.Dahai: Due.CLAIM,
    m.Kakan: Due.ROB,
    m.Kita: Due.ROB,
}
_FOR_ALL: Final[dict[type[m.Message], Due]] = {
    m.Hello: Due.JOIN,
    m.Error: Due.NOTHING,
    m.EndGame: Due.NOTHING,
}
_TRANSPARENT: Final = frozenset({m.Dora, m.ReachAccepted})
_CHOICES: Final = frozenset({Due.TURN, Due.DISCARD, Due.CLAIM, Due.ROB})


class ReplyDuty(enum.Enum):
    """Whether a line must, may or must not be sent now."""

    MUST = "exactly one line"
    MAY = "a line if there is something to decide"
    MUST_NOT = "nothing"


def due_after(message: m.Message, seat: m.Seat | None, before: Due = Due.NONE) -> Due:
    """Return what ``message`` calls for from ``seat``, given what was due ``before`` it.

    A dora marker, an accepted riichi and whatever is no event at a table may come between an event
    and the answer to it.

    >>> due_after(m.Tsumo(actor=1, pai="E"), 1).name, due_after(m.Tsumo(actor=1, pai="?"), 0).name
    ('TURN', 'NONE')
    """
    message_type = type(message)
    if message_type in _FOR_ALL:
        return _FOR_ALL[message_type]
    if message_type in _TRANSPARENT or not isinstance(message, m.Event):
        return before
    is_own = getattr(message, "actor", None) == seat
    return (_AFTER_OWN if is_own else _AFTER_OTHERS).get(message_type, Due.NONE)


def reply_duty(dialect: Dialect, due: Due, *, asked: bool = False) -> ReplyDuty:
    """Return whether a seat must reply; ``asked``: an action was requested."""
    match dialect.traits.answers:
        case Answers.EVENTS:
            return ReplyDuty.MUST_NOT if due is Due.NOTHING else ReplyDuty.MUST
        case Answers.LINES:
            return ReplyDuty.MUST
        case Answers.REQUESTS:
            return ReplyDuty.MUST if asked else ReplyDuty.MUST_NOT
        case Answers.CHOICES:
            if due in (Due.TURN, Due.DISCARD):
                return ReplyDuty.MUST
            return ReplyDuty.MAY if due.is_choice else ReplyDuty.MUST_NOT
        case never:
            assert_never(never)
