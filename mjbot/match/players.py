"""Who sits at a match: what the command line calls a player, and the process that plays it."""

import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mjbot.errors import ExitCode, MjbotError
from mjbot.match.majiang import majiang_command
from mjbot.strategy.registry import EXTERNAL, EXTERNALS, PIPED, Spec
from protocol.sessions.lockstep_server import MOST_LETTERS_OF_NAME

MAJIANG = "external:majiang"
PIPES = "mjbot.match.pipes"


class SeatError(MjbotError, ValueError):
    """A seat of the command line names nobody who could play; the text is one line."""

    exit_code = ExitCode.BAD_ARGUMENTS


@dataclass(frozen=True)
class Player:
    """One participant.

    ``spec`` is what the user wrote, ``name`` what tables show (told apart by ``-2`` if two are
    alike).  ``plays_on`` says that one process plays all games; the others are started anew.
    """

    spec: str
    name: str
    plays_on: bool

    @property
    def is_foreign(self) -> bool:
        """Whether it is a client that we know nothing of: it may insist on a room of its own."""
        return self.spec.startswith(EXTERNAL) and self.spec != MAJIANG

    @property
    def environ(self) -> Mapping[str, str]:
        """What is added to the environment of its process."""
        return {}

    def command(self, url: str, games: int) -> list[str]:
        """Return the command line that plays at ``url`` (``mjsonp://HOST:PORT/ROOM``).

        Raises :class:`mjbot.match.node.NodeError` when the external AI cannot run.
        """
        if self.spec == MAJIANG:
            return majiang_command(url, games=games, name=self.name)
        if self.spec.startswith(EXTERNAL):
            return [*_words(self.spec), url]
        if self.spec.startswith(PIPED):
            kind = self.spec.partition(":")[0].removeprefix("external-")
            options = ["--name", self.name, "--games", str(games)]
            return [sys.executable, "-m", PIPES, kind, *options, url, "--", *_words(self.spec)]
        spec = Spec.read(self.spec)
        command = [sys.executable, "-m", "mjbot.cli.main", "play", url, "--strategy", spec.name]
        options = [word for pair in spec.options.items() for word in ("--option", "=".join(pair))]
        return [*command, *options, "--name", self.name, "--games", str(games)]


def read_players(specs: list[str], taken: Sequence[str] = ()) -> tuple[Player, ...]:
    """Return the players that seat arguments name; raises :class:`SeatError`.

    ``taken`` are names that others have already.
    """
    names = list(taken)
    players = []
    for spec in specs:
        _check(spec)
        name = _free_name(_short_name(spec), names)
        names.append(name)
        connects = spec.startswith(EXTERNAL) and spec != MAJIANG
        players.append(Player(spec, name, plays_on=not connects))
    return tuple(players)


def _words(spec: str) -> list[str]:
    """Return the words of an external player's command; raises ``ValueError``."""
    return shlex.split(spec.partition(":")[2])


def _check(spec: str) -> None:
    if spec == MAJIANG:
        return
    if not spec.startswith(EXTERNALS):
        try:
            Spec.read(spec).check()
        except (ValueError, LookupError, ImportError) as error:
            raise SeatError(f"seat {spec!r}: {error}") from None
        return
    try:
        words = _words(spec)
    except ValueError as error:
        raise SeatError(f"seat {spec!r}: {error}") from None
    if not words or shutil.which(words[0]) is None:
        program = words[0] if words else ""
        raise SeatError(f"seat {spec!r}: no program {program!r} to run")


def _short_name(spec: str) -> str:
    if not spec.startswith(EXTERNALS):
        return Spec.read(spec).label
    words = _words(spec)
    return words[0].replace("\\", "/").rpartition("/")[2]


def _free_name(name: str, taken: list[str]) -> str:
    """Return a name that is not taken, and not longer than a table takes."""
    number = 2
    free = name[:MOST_LETTERS_OF_NAME]
    while free in taken:
        end = f"-{number}"
        free = name[: MOST_LETTERS_OF_NAME - len(end)] + end
        number += 1
    return free
