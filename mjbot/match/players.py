"""Who sits at a match: what the command line calls a player, and the process that plays it."""

import shlex
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mjbot.errors import ExitCode, MjbotError
from mjbot.match.majiang import majiang_command
from mjbot.strategy.options import StrategyError
from mjbot.strategy.registry import EXTERNAL, PIPED, Spec
from protocol.dialects import LOCKSTEP
from protocol.sessions.lockstep_server import MOST_LETTERS_OF_NAME

MAJIANG = "external:majiang"
PIPES = "mjbot.match.pipes"


class SeatError(MjbotError, ValueError):
    """A seat of the command line names nobody who could play; the text is one line."""

    exit_code = ExitCode.BAD_ARGUMENTS


@dataclass(frozen=True)
class MatchPlayer:
    """One participant.

    ``spec`` is how the user names it, ``name`` what tables show (told apart by ``-2`` if two are
    alike).  ``plays_on`` says that one process plays all games; the others are started anew.
    """

    spec: Spec
    name: str
    plays_on: bool

    @property
    def is_foreign(self) -> bool:
        """Whether it is a client that we know nothing of: it may insist on a room of its own."""
        return self.spec.name.startswith(EXTERNAL) and self.spec.name != MAJIANG

    @property
    def environ(self) -> Mapping[str, str]:
        """What is added to the environment of its process."""
        return {}

    def command(self, url: str, games: int, deadline_s: float | None = None) -> list[str]:
        """Return the command line that plays at ``url`` (``mjsonp://HOST:PORT/ROOM``).

        ``deadline_s`` is what a decision of our own players may take.  Raises
        :class:`mjbot.match.node.NodeError` when the external AI cannot run.
        """
        who = self.spec.name
        if who == MAJIANG:
            return majiang_command(url, games=games, name=self.name)
        if who.startswith(EXTERNAL):
            return [*_words(who), url]
        if who.startswith(PIPED):
            kind = who.partition(":")[0].removeprefix("external-")
            options = ["--name", self.name, "--games", str(games)]
            return [sys.executable, "-m", PIPES, kind, *options, url, "--", *_words(who)]
        command = [sys.executable, "-m", "mjbot", "play", url]
        options = ["--strategy", str(self.spec), "--name", self.name, "--games", str(games)]
        options += ["--deadline-s", f"{deadline_s:g}"] if deadline_s else []
        return [*command, *options]


def own_deadline_s(timeout_s: float) -> float:
    """Return what a decision may take at a table that waits so long for a reply.

    A quarter is left for all that is not thinking, on a busy machine, too.

    >>> own_deadline_s(20.0), own_deadline_s(60.0)
    (15.0, 30.0)
    """
    return min(LOCKSTEP.traits.deadline_s, 0.75 * timeout_s)


def read_players(texts: Iterable[str], taken: Sequence[str] = ()) -> tuple[MatchPlayer, ...]:
    """Return the players that seat arguments name; raises :class:`SeatError`.

    ``taken`` are names that others have already.
    """
    specs = []
    for text in texts:
        try:
            specs.append(Spec.read(text))
        except StrategyError as error:
            raise SeatError(f"seat {text!r}: {error}") from None
    return players_of(specs, taken)


def players_of(specs: Iterable[Spec], taken: Sequence[str] = ()) -> tuple[MatchPlayer, ...]:
    """Return the same for seats that have been read."""
    names = list(taken)
    players = []
    for spec in specs:
        _check(spec)
        name = _free_name(_short_name(spec), names)
        names.append(name)
        connects = spec.name.startswith(EXTERNAL) and spec.name != MAJIANG
        players.append(MatchPlayer(spec, name, plays_on=not connects))
    return tuple(players)


def _words(name: str) -> list[str]:
    """Return the words of an external player's command; raises ``ValueError``."""
    return shlex.split(name.partition(":")[2])


def _check(spec: Spec) -> None:
    text = str(spec)
    if text == MAJIANG:
        return
    try:
        if not spec.is_external:
            return spec.check()
        words = _words(text)
    except (ValueError, LookupError, ImportError) as error:
        raise SeatError(f"seat {text!r}: {error}") from None
    if not words or shutil.which(words[0]) is None:
        program = words[0] if words else ""
        raise SeatError(f"seat {text!r}: no program {program!r} to run")


def _short_name(spec: Spec) -> str:
    if not spec.is_external:
        return spec.label
    words = _words(spec.name)
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
