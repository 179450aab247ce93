"""One connection of one token or account: a lock on this machine for each, by its digest."""

import hashlib
import os
import stat
import tempfile
from collections.abc import Iterable
from io import FileIO
from pathlib import Path
from typing import Final

from mjbot.errors import ArgumentError
from mjbot.text import naming
from protocol.tenhou.login import Login


def lock_folder() -> Path:
    """Return the folder of all locks of this user, whatever cache a process uses."""
    user = os.getuid() if hasattr(os, "getuid") else 0  # Windows has no such locks either
    return Path(tempfile.gettempdir()) / f"mjbot-locks-{user}"


def secrets_of(tokens: Iterable[str | None], login: Login) -> list[str]:
    """Return what opens one connection only: the tokens, and the account of a Tenhou table."""
    return [*filter(None, tokens), *([] if login.is_guest else [login.name])]


class TokenLocks:
    """Holds the locks of tokens in ``folder`` until the process ends; a token is never written."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder: Final = folder or lock_folder()
        self._held: Final[dict[str, FileIO]] = {}

    def hold(self, tokens: Iterable[str]) -> None:
        """Take the locks of tokens and accounts.

        Raises :class:`ArgumentError` if another process has one.  Where the system has no such
        locks (Windows) nothing is done.
        """
        wanted = [*tokens]
        try:
            import fcntl
        except ImportError:
            return
        if not wanted:
            return
        with naming(self._folder):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._require_own()
        for token in wanted:
            name = hashlib.sha256(f"mjbot token {token}".encode()).hexdigest()[:16]
            if name in self._held:
                continue
            path = self._folder / f"token-{name}.lock"
            with naming(path):
                file = path.open("ab", buffering=0)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.close()
                raise ArgumentError(
                    "another mjbot uses this token or account, which has one connection;"
                    f" end that one, or use another (lock: {path})"
                ) from None
            self._held[name] = file

    def _require_own(self) -> None:
        """Raise ``ArgumentError`` for a folder that another user made in the temporary folder."""
        found = self._folder.lstat()
        if found.st_uid != os.getuid() or not stat.S_ISDIR(found.st_mode):
            raise ArgumentError(f"{self._folder}: is no folder of yours; remove it")

    def release(self) -> None:
        """Give all locks back."""
        for file in self._held.values():
            file.close()
        self._held.clear()
