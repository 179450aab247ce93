"""One side of the channel between two bots: no clock, no socket, only whose word counts.

Both sides send :attr:`PairSession.opening` at once.  Feed every line to
:meth:`PairSession.receive` and send what it returns.  Each side answers the other's challenge
with a digest keyed by the shared secret, so that neither the secret nor anything of a hand is
sent to a peer that does not have it; and a line that is sent back to its sender proves nothing.
"""

import enum
import hmac
import secrets
from typing import Final

from mjbot.protocol.errors import LocalProtocolError, ProtocolError
from mjbot.strategy.pair.messages import GameHello, PairHello, Proof, SharedHand, decode, encode


class Side(enum.Enum):
    """Which of the two: the one that waits for the other, or the one that comes."""

    HOST = b"host"
    GUEST = b"guest"

    @property
    def other(self) -> "Side":
        """The opposite side."""
        return Side.GUEST if self is Side.HOST else Side.HOST


class PairSession:
    """One connection.  ``linked`` once both sides have proved that they know the secret."""

    def __init__(self, side: Side, secret: bytes, challenge: str | None = None) -> None:
        if not secret:
            raise ValueError("secret: must not be empty")
        self._side: Final = side
        self._secret: Final = secret
        self._challenge: Final = challenge or secrets.token_hex(32)
        self._greeted = False
        self.linked = False
        self.game: str | None = None
        self.newest: SharedHand | None = None

    @property
    def opening(self) -> bytes:
        """The first line to send."""
        return encode(PairHello(challenge=self._challenge))

    def receive(self, line: bytes) -> bytes | None:
        """Take in one line; return the line to answer with, if any.

        ``newest`` is then the last that the partner sent of its hand, ``game`` of its game.
        Raises :class:`ProtocolError` for what has no place here or proves that the other side
        does not know the secret: hang up.
        """
        message = decode(line)
        match message:
            case PairHello() if not self._greeted:
                self._greeted = True
                return encode(Proof(digest=self._digest(self._side, message.challenge)))
            case Proof() if self._greeted and not self.linked:
                expected = self._digest(self._side.other, self._challenge)
                if not hmac.compare_digest(expected, message.digest):
                    problem = "the other side does not know the secret; both need the same one"
                    raise ProtocolError("pair.digest", problem)
                self.linked = True
            case GameHello() if self.linked:
                self.game = message.game
            case SharedHand() if self.linked:
                self.newest = message
            case _:
                name = message.__struct_config__.tag
                raise ProtocolError(f"pair.{name}", "out of order")
        return None

    def send(self, message: SharedHand | GameHello) -> bytes:
        """Return its line; raises :class:`LocalProtocolError` too early."""
        if not self.linked:
            field = f"pair.{message.__struct_config__.tag}"
            raise LocalProtocolError(field, "the other side has not authenticated")
        return encode(message)

    def _digest(self, sender: Side, challenge: str) -> str:
        text = sender.value + b":" + challenge.encode()
        return hmac.new(self._secret, text, "sha256").hexdigest()
