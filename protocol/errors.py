"""What can go wrong in what is said; each error is one clear line."""

from typing import Final

import msgspec

NOT_JSON: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What msgspec raises over a line that is not JSON, not of the type asked for, or too deep."""


class ProtocolError(ValueError):
    """The other side said something it may not say.

    ``field`` names the culprit (``dahai.pai``, ``start_kyoku.tehais[2]``, ``type``, ``line``),
    ``problem`` says what was found and what was expected.
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


class ThreePlayersError(ProtocolError):
    """Nothing is wrong with the message but that it belongs to three-player mahjong."""


class LocalProtocolError(ProtocolError):
    """Our own side was about to say something that is not its to say now."""
