"""One connection of one token: a lock on this machine for each token, by its digest."""

import hashlib
from collections.abc import Iterable
from io import FileIO
from pathlib import Path
from typing import Final

from mjbot.errors import ArgumentError
from mjbot.text import lock_file, naming


class TokenLocks:
    """Holds the locks of tokens in ``folder`` until the process ends; a token is never written."""

    def __init__(self, folder: Path) -> None:
        self._folder: Final = folder
        self._held: Final[dict[str, FileIO]] = {}

    def hold(self, tokens: Iterable[str | None]) -> None:
        """Take the locks of tokens; raises :class:`ArgumentError` if another process has one."""
        with naming(self._folder):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for token in tokens:
            name = hashlib.sha256(f"mjbot token {token}".encode()).hexdigest()[:16]
            if token is None or name in self._held:
                continue
            path = self._folder / f"token-{name}.lock"
            with naming(path):
                file = path.open("ab", buffering=0)
            if not lock_file(file):
                file.close()
                raise ArgumentError(
                    "another mjbot run uses this token, and a token has one connection;"
                    f" end that one, or use another token (lock: {path})"
                )
            self._held[name] = file

    def release(self) -> None:
        """Give all locks back."""
        for file in self._held.values():
            file.close()
        self._held.clear()
