"""The dialects of mjai: turns, fields left out or required, and spellings.

What is special about a dialect is defined here: its :class:`Traits`, and the tables of its fields.
Other modules name only the roles at the end.  Its spellings go through :mod:`mjbot.protocol.codec`
and :mod:`mjbot.protocol.reading`, the scheme of its URLs is in
:mod:`mjbot.protocol.transports.address`.
"""

import enum
from dataclasses import dataclass, replace
from typing import Final, Literal


class Answers(enum.Enum):
    """Which lines a client answers."""

    EVENTS = "every line but the last"
    LINES = "every line"
    REQUESTS = "those that request an action"
    CHOICES = "those after which it has a choice"


@dataclass(frozen=True, kw_only=True)
class Traits:
    """Properties of a dialect.

    ``spelling`` is the dialect whose spelling it uses.  ``deadline_s`` is the default limit of a
    decision; ``silence_s`` how long the other side may be silent (``None``: without limit), but
    for a client that queues (``may_queue``).
    """

    word: str
    title: str
    """Names the profile of mjai that it is, in reports."""
    over: Literal["tcp", "websocket", "pipes", "file"]
    answers: Answers
    spelling: Literal["canonical", "mortal", "riichilab"] = "canonical"
    deadline_s: float = 30.0
    silence_s: float | None = None
    may_queue: bool = False
    opens_with_hello: bool = False
    """The server sends first, and a conversation is one game, in order."""
    connecting_is_ready: bool = False
    """A client may be asked as soon as it connects."""
    lists_all_actions: bool = False
    """A request names all that is legal; elsewhere an offer is a hint."""
    error_is_fatal: bool = True
    """An ``error`` ends the conversation."""
    ends_with_verdict: bool = False
    """After the game the server may report whether a validation was passed, then it closes."""
    has_own_seat_ids: bool = True
    """The ``id`` in ``start_game`` is the seat, whatever the client's seat was before."""
    kita: Literal["kita", "nukidora"] = "kita"
    """What a north that is set aside is called, until the other side calls it otherwise."""
    rates_players: bool = False
    """Live servers rate single players: no place for pairs."""
    name_in_url: bool = False
    """The player's name at the table is in the URL."""
    is_tenhou: bool = False
    """It is no mjai at all but Tenhou's wire (:mod:`mjbot.protocol.tenhou`)."""


class Dialect(enum.Enum):
    """The other side of a conversation, or the form of a log."""

    TCP = Traits(
        word="tcp",
        title="mjson lines in lock-step over TCP, protocol version 3 (original mjai server)",
        over="tcp",
        answers=Answers.EVENTS,
        silence_s=300.0,
        opens_with_hello=True,
    )
    """The original server's lock-step lines (``mjsonp://``).

    It waits 60 s for a decision, and may keep one seat waiting for 240 s while others are silent.
    """

    STDIO_LINES = Traits(
        word="stdio-lines",
        title="objects over pipes, answers where there is a choice (Mortal)",
        over="pipes",
        answers=Answers.CHOICES,
        spelling="mortal",
        kita="nukidora",
        has_own_seat_ids=False,
    )
    """Mortal's habit: an object per line, silent unless there is a decision.

    Its feeder may send any id.  The end of a pipe is noticed, so silence has no limit.
    """

    STDIO_ARRAYS = Traits(
        word="stdio-arrays",
        title="arrays over pipes, an answer to each (mjai.app)",
        over="pipes",
        answers=Answers.LINES,
        spelling="mortal",
        deadline_s=1.5,
    )
    """mjai.app's habit: an array per line, one object back.

    It waits 3 s or, installed, 2 s.  An answer also needs time to be read, checked,
    written and fetched: 20 ms were measured on a quiet machine, so a quarter is left for a busy
    one.
    """

    RIICHILAB = Traits(
        word="riichilab",
        title="requests with request_id and verdicts over WebSocket, version 2 (RiichiLab)",
        over="websocket",
        answers=Answers.REQUESTS,
        spelling="riichilab",
        deadline_s=15.0,
        silence_s=300.0,
        may_queue=True,
        connecting_is_ready=True,
        lists_all_actions=True,
        error_is_fatal=False,
        ends_with_verdict=True,
        rates_players=True,
        name_in_url=True,
    )
    """RiichiLab's habit: a frame per event, an answer only to ``request_action``.

    It waits 18 s; its queue may be long, and pings continue meanwhile.
    """

    TENHOU = Traits(
        word="tenhou",
        title="XML tags over TCP (Tenhou)",
        over="tcp",
        answers=Answers.CHOICES,
        deadline_s=5.0,
        silence_s=300.0,
        may_queue=True,
        connecting_is_ready=True,
        rates_players=True,
        is_tenhou=True,
    )
    """Tenhou's XML over TCP.

    A decision has 5 s and a bank of 10 s; the other players may be rated.
    """

    TENHOU_WEB = replace(
        TENHOU, word="tenhou+ws", title="JSON over WebSocket (Tenhou)", over="websocket"
    )
    """Tenhou's JSON on a WebSocket."""

    LOG = Traits(word="log", title="events of a record", over="file", answers=Answers.CHOICES)
    """Our own logs: everything that is known, in the TCP server's words."""

    @property
    def traits(self) -> Traits:
        """How it talks."""
        return self.value

    def __repr__(self) -> str:
        return f"<Dialect.{self.name}: {self.traits.word!r}>"


LOCKSTEP: Final = Dialect.TCP
"""The dialect of a lock-step server."""

REQUESTS: Final = Dialect.RIICHILAB
"""The dialect of a server of requests."""

LINES: Final = Dialect.STDIO_LINES
ARRAYS: Final = Dialect.STDIO_ARRAYS
"""What bots on pipes are spoken to in, one kind or the other."""

OWN_LOG: Final = Dialect.LOG
"""What our logs are written in."""


_HORA_DETAILS: Final = frozenset(
    {"pao", "hora_tehais", "yakus", "fu", "fan", "hora_points", "scores"}
)
_DRAW_DETAILS: Final = frozenset({"tehais", "tenpais", "scores"})
OFFERS: Final = frozenset({"possible_actions", "cannot_dahai"})
"""What the TCP server offers or forbids to one seat, in addition to the event."""

_MORTAL: Final = {
    "*": OFFERS | {"log"},
    "reach_accepted": frozenset({"deltas", "scores"}),
    "hora": _HORA_DETAILS | {"pai"},
    "ryukyoku": _DRAW_DETAILS | {"actor", "reason"},
    "end_game": frozenset({"scores"}),
}

UNSAID: Final[dict[Dialect, dict[str, frozenset[str]]]] = {
    Dialect.TCP: {"*": frozenset({"can_act"}), "start_kyoku": frozenset({"scores"})},
    Dialect.STDIO_LINES: _MORTAL,
    Dialect.STDIO_ARRAYS: _MORTAL | {"*": OFFERS | {"log", "can_act"}},
    Dialect.RIICHILAB: {
        "*": frozenset({"log", "can_act", "cannot_dahai"}),
        "start_game": frozenset({"names"}),
        **dict.fromkeys(("tsumo", "dahai", "kakan"), frozenset({"possible_actions"})),
        "reach_accepted": frozenset({"deltas", "scores"}),
        "hora": _HORA_DETAILS,
        "ryukyoku": _DRAW_DETAILS,
        "end_game": frozenset({"scores"}),
    },
    Dialect.TENHOU: {},
    Dialect.TENHOU_WEB: {},
    Dialect.LOG: {"*": frozenset({"log", "can_act"})},
}
"""Dialect -> wire type (``*``: every type) -> fields that are left out."""

DEMANDED: Final[dict[Dialect, dict[str, tuple[str, ...]]]] = {
    Dialect.TCP: {"hora": ("pai",), "ryukyoku": ("reason",), "start_game": ("id",)},
    Dialect.STDIO_LINES: {"start_kyoku": ("scores",)},
    Dialect.STDIO_ARRAYS: {"start_kyoku": ("scores",), "start_game": ("id", "names")},
    Dialect.RIICHILAB: {"start_kyoku": ("scores",), "request_action": ("request_id",)},
    Dialect.TENHOU: {},
    Dialect.TENHOU_WEB: {},
    Dialect.LOG: {},
}
"""Dialect -> wire type -> fields, optional in our types, without which it is not understood."""

RIICHILAB_REASONS: Final = {
    "fanpai": "exhaustive_draw",
    "kyushukyuhai": "kyushu_kyuhai",
    "sufonrenta": "sufuurenta",
    "sukaikan": "suukansansen",
    "suchareach": "suucha_riichi",
}
"""Canonical draw reason -> RiichiLab's, where they differ."""

_CANONICAL_REASONS: Final = {theirs: ours for ours, theirs in RIICHILAB_REASONS.items()}


def canonical_reason(reason: str) -> str:
    """Return the canonical word for a draw (unknown ones as they are).

    >>> canonical_reason("suucha_riichi"), canonical_reason("Error: Illegal Action by Player 2")
    ('suchareach', 'error')
    """
    if reason.startswith("Error"):
        return "error"
    return _CANONICAL_REASONS.get(reason, reason)
