"""One connection of one token or account: a lock on this machine for each, by its digest."""

import contextlib
import hashlib
from collections.abc import Iterable, Iterator
from io import FileIO
from pathlib import Path
from typing import Final

from mjbot.protocol.tenhou.login import Login
from mjbot.runtime.compiler.cache import locks_folder
from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.files import naming
from mjbot.runtime.system import lock_file


def secrets_of(tokens: Iterable[str | None], login: Login) -> list[str]:
    """Return what opens one connection only: the tokens, and the account of a Tenhou table."""
    return [*filter(None, tokens), *([] if login.is_guest else [login.name])]


class TokenLocks:
    """Holds the locks of tokens in ``folder`` until the process ends; a token is never written."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder: Final = folder or locks_folder()
        self._held: Final[dict[str, FileIO]] = {}

    def hold(self, tokens: Iterable[str | None]) -> None:
        """Take the locks of tokens, beside those that are held.

        Raises :class:`ArgumentError` if another process has one, and ``OSError``; then those that
        were held before are held.
        """
        with self.holding(tokens):
            pass

    @contextlib.contextmanager
    def holding(self, tokens: Iterable[str | None]) -> Iterator[None]:
        """As :meth:`hold`; those that were not held before are given back if the block fails."""
        before = set(self._held)
        try:
            with naming(self._folder):
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for name in map(_name, filter(None, tokens)):
                if name not in self._held:
                    self._held[name] = self._locked(name)
            yield
        except BaseException:
            self._give_back(set(self._held) - before)
            raise

    def keep_only(self, tokens: Iterable[str | None]) -> None:
        """Give back the locks of all other tokens."""
        self._give_back(set(self._held) - set(map(_name, filter(None, tokens))))

    def _locked(self, name: str) -> FileIO:
        path = self._folder / f"token-{name}.lock"
        with naming(path):
            file = path.open("ab", buffering=0)
        if not lock_file(file):
            file.close()
            raise ArgumentError(
                "another mjbot uses this token or account, which has one connection;"
                f" end that one, or use another (lock: {path})"
            )
        return file

    def _give_back(self, names: set[str]) -> None:
        for name in names:
            self._held.pop(name).close()


def _name(token: str) -> str:
    return hashlib.sha256(f"mjbot token {token}".encode()).hexdigest()[:16]
