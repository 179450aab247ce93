"""The dialects of mjai: what each leaves out, what each demands, how each spells a draw."""

import enum
from typing import Final


class Dialect(enum.Enum):
    """Who is spoken to, or how a log is written."""

    TCP = "tcp"
    """The original server's lock-step lines (``mjsonp://``)."""

    STDIO_LINES = "stdio-lines"
    """Mortal's habit: an object per line, silent unless there is a decision."""

    STDIO_ARRAYS = "stdio-arrays"
    """mjai.app's habit: an array per line, one object back."""

    RIICHILAB = "riichilab"
    """RiichiLab's habit: a frame per event, an answer only to ``request_action``."""

    LOG = "log"
    """Our own logs: everything that is known, in the TCP server's words."""


_HORA_DETAILS: Final = frozenset(
    {"pao", "hora_tehais", "yakus", "fu", "fan", "hora_points", "scores"}
)
_DRAW_DETAILS: Final = frozenset({"tehais", "tenpais", "scores"})
OFFERS: Final = frozenset({"possible_actions", "cannot_dahai"})
"""What the TCP server offers or forbids to one seat, beside what happens."""

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
    Dialect.LOG: {"*": frozenset({"log", "can_act"})},
}
"""Dialect -> wire type (``*``: every type) -> fields that are not said."""

DEMANDED: Final[dict[Dialect, dict[str, tuple[str, ...]]]] = {
    Dialect.TCP: {"hora": ("pai",), "ryukyoku": ("reason",), "start_game": ("id",)},
    Dialect.STDIO_LINES: {"start_kyoku": ("scores",)},
    Dialect.STDIO_ARRAYS: {"start_kyoku": ("scores",), "start_game": ("id", "names")},
    Dialect.RIICHILAB: {"start_kyoku": ("scores",), "request_action": ("request_id",)},
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
