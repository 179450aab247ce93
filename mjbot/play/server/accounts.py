"""Admission: accounts of players, each with a token, and limits of connections.

An account has one connection at a time.  The file has a line for each, ``NAME DIGEST``; DIGEST is
the token's SHA-256 in hexadecimal, so a copy of the file is no key.  A name has no blanks;
``#`` begins a comment.  A token should be random and long (``openssl rand -hex 32``): the digest of
a short one can be guessed.
"""

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mjbot.play.server.entrance import Entrance
from mjbot.play.server.lobby import Lobby
from mjbot.play.server.names import name_key
from mjbot.protocol.sessions.lockstep_server import MOST_LETTERS_OF_NAME
from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.net.guests import USUAL, GuestLimits

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


class Accounts:
    """The accounts by name, with the digests of their tokens, and which are connected."""

    def __init__(self, digests: Mapping[str, str]) -> None:
        self._digests: Final = dict(digests)
        self._keys: Final = {name_key(name) for name in digests}
        self._connected: Final[set[str]] = set()

    @classmethod
    def read(cls, path: Path) -> "Accounts":
        """Read a file; raises ``OSError`` and :class:`ArgumentError` with the line."""
        digests: dict[str, str] = {}
        keys: set[str] = set()
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise ArgumentError(f"{path}: not UTF-8; save the file as UTF-8") from None
        for number, line in enumerate(text.splitlines(), 1):
            words = line.partition("#")[0].split()
            if not words:
                continue
            where = f"{path}, line {number}"
            if len(words) != 2 or not _DIGEST.fullmatch(words[1].lower()):
                cure = "the digest: printf %s TOKEN | sha256sum"
                raise ArgumentError(f"{where}: expected NAME and the SHA-256 of the token; {cure}")
            name, digest = words[0], words[1].lower()
            if len(name) > MOST_LETTERS_OF_NAME or not name.isprintable():
                problem = f"a printable name of at most {MOST_LETTERS_OF_NAME} letters"
                raise ArgumentError(f"{where}: expected {problem}")
            if name_key(name) in keys or digest in digests.values():
                raise ArgumentError(f"{where}: a name and a token stand once; remove one")
            digests[name] = digest
            keys.add(name_key(name))
        if not digests:
            raise ArgumentError(f"{path}: no accounts; write a line NAME SHA-256 for each")
        return cls(digests)

    def __contains__(self, name: object) -> bool:
        """Return whether a name is an account's, in any spelling (:func:`name_key`)."""
        return isinstance(name, str) and name_key(name) in self._keys

    def name_of(self, authorization: str) -> str | None:
        """Return the account of a header ``Bearer TOKEN``, ``None`` if there is none."""
        scheme, _, token = authorization.partition(" ")
        digest = hashlib.sha256(token.strip().encode(errors="surrogateescape")).hexdigest()
        account = None
        for name, known in self._digests.items():  # all of them, in constant time
            if hmac.compare_digest(known, digest) and scheme == "Bearer":
                account = name
        return account

    def connect(self, name: str) -> bool:
        """Note that an account is connected; return false if it already was."""
        if name in self._connected:
            return False
        self._connected.add(name)
        return True

    def leave(self, name: str) -> None:
        """Note that an account's connection has ended."""
        self._connected.discard(name)


@dataclass(frozen=True)
class Admission:
    """Where players wait (``None``: at the one table), limits of connections, and accounts.

    ``entrance`` is that of the one table.
    """

    lobby: Lobby | None = None
    limits: GuestLimits = USUAL
    accounts: Accounts | None = None
    entrance: Entrance | None = None


OPEN: Final = Admission()
TAKEN: Final = "belongs to an account"
"""Why a name is refused."""
