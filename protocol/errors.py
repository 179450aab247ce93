"""Protocol errors; each is one clear line."""

from typing import Final

import msgspec

NOT_JSON: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What msgspec raises over a line that is not JSON, not of the type asked for, or too deep."""


class ProtocolError(ValueError):
    """The other side sent something that is not allowed.

    ``field`` names the culprit (``dahai.pai``, ``start_kyoku.tehais[2]``, ``type``, ``line``),
    ``problem`` names what was found and what was expected.
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


class ThreePlayersError(ProtocolError):
    """Nothing is wrong with the message but that it belongs to three-player mahjong."""


class LocalProtocolError(ProtocolError):
    """Our own side was about to send something that is not allowed now."""
