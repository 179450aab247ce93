"""The players of a match: their names on the command line and their processes."""

import secrets
import shlex
import shutil
import socket
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mjbot.play.match.majiang import majiang_command
from mjbot.play.server.names import free_name
from mjbot.protocol.dialects import LOCKSTEP
from mjbot.protocol.rules import RANKED
from mjbot.runtime.errors import ExitCode, MjbotError
from mjbot.runtime.languages import VARIABLES, language
from mjbot.runtime.processes import own_module
from mjbot.strategy.options import StrategyError
from mjbot.strategy.registry import EXTERNAL, PIPED, Spec

MAJIANG = "external:majiang"
PIPES = "mjbot.play.match.pipes"
HUMAN = "human"
HUMAN_OPTIONS = ("clock_s", "hint")
CLOCK_S = 30.0
"""What a person's decision may take unless ``clock_s`` is given."""
SEAT_KEY_VARIABLE = "MJBOT_SEAT_KEY"
"""The environment variable with the key of a person's page."""


class SeatError(MjbotError, ValueError):
    """A seat of the command line names no player; the text is one line."""

    exit_code = ExitCode.BAD_ARGUMENTS


@dataclass(frozen=True)
class MatchPlayer:
    """One participant.

    ``spec`` is how the user names it, ``name`` what tables show (with ``-2`` if two are
    alike).  ``plays_on``: one process plays all games; the others are restarted.
    """

    spec: Spec
    name: str
    plays_on: bool

    @property
    def is_foreign(self) -> bool:
        """Whether it is a client that we know nothing of: it may insist on a room of its own."""
        return self.spec.name.startswith(EXTERNAL) and self.spec.name != MAJIANG

    def require_players(self, players: int) -> None:
        """Raise :class:`SeatError` if it cannot play at a table of so many players."""
        if self.spec.is_external:
            if self.spec.name == MAJIANG and players != RANKED.players:
                raise SeatError(f"seat {self.spec.name!r}: plays at tables of four players only")
            return
        self.spec.require_players(players)

    @property
    def environ(self) -> Mapping[str, str]:
        """What is added to the environment of its process."""
        return {}

    def command(self, url: str, games: int, deadline_s: float | None = None) -> list[str]:
        """Return the command line that plays at ``url`` (``mjsonp://HOST:PORT/ROOM``).

        ``deadline_s`` is what a decision of our own players may take.  Raises
        :class:`mjbot.play.match.node.NodeError` when the external AI cannot run.
        """
        name = self.spec.name
        if name == MAJIANG:
            return majiang_command(url, games=games, name=self.name)
        if name.startswith(EXTERNAL):
            return [*_split_command(name), url]
        if name.startswith(PIPED):
            kind = name.partition(":")[0].removeprefix("external-")
            options = ["--name", self.name, "--games", str(games)]
            return [*own_module(PIPES), kind, *options, url, "--", *_split_command(name)]
        command = [*own_module("mjbot"), "play", url]
        options = ["--strategy", str(self.spec), "--name", self.name, "--games", str(games)]
        options += ["--deadline-s", f"{deadline_s:g}"] if deadline_s else []
        return [*command, *options]


@dataclass(frozen=True)
class HumanSeat(MatchPlayer):
    """A person, playing in a page at ``port`` that ``key`` opens, also after a restart."""

    port: int = 0
    key: str = field(default="", repr=False)

    def require_players(self, players: int) -> None:
        """See :meth:`MatchPlayer.require_players`: a person plays both, its hint may not."""
        if hint := self.spec.options.get("hint"):
            Spec.read(hint).require_players(players)

    @property
    def environ(self) -> Mapping[str, str]:
        """The page's language and key, which every user could read on a command line."""
        return {SEAT_KEY_VARIABLE: self.key, VARIABLES[0]: language()}

    @property
    def url(self) -> str:
        """Where the person sits down."""
        return f"http://127.0.0.1:{self.port}/?key={self.key}"

    def command(self, url: str, games: int, deadline_s: float | None = None) -> list[str]:
        """Return the command line that opens the page and plays at ``url``, by its own clock."""
        page = ["--watch-port", str(self.port), "--no-browser"]
        return [*super().command(url, games), *page]


def human_clock_s(spec: Spec) -> float:
    """Return what each decision of a person may take; raises ``ValueError``."""
    unknown = [name for name in spec.options if name not in HUMAN_OPTIONS]
    if unknown:
        raise ValueError(f"human has no option {unknown[0]}, only {', '.join(HUMAN_OPTIONS)}")
    text = spec.options.get("clock_s", "")
    try:
        clock_s = float(text or CLOCK_S)
    except ValueError:
        clock_s = 0.0
    if not 1 <= clock_s <= 3600:
        raise ValueError(f"human,clock_s={text}: expected seconds, 1 to 3600")
    return clock_s


def free_port() -> int:
    """Return a port of loopback that is not in use."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


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
    players: list[MatchPlayer] = []
    for spec in specs:
        _check(spec)
        name = free_name(_short_name(spec), names)
        names.append(name)
        if spec.name == HUMAN:
            key = secrets.token_urlsafe(16)
            players.append(HumanSeat(spec, name, plays_on=True, port=free_port(), key=key))
            continue
        connects = spec.name.startswith(EXTERNAL) and spec.name != MAJIANG
        players.append(MatchPlayer(spec, name, plays_on=not connects))
    return tuple(players)


def _split_command(name: str) -> list[str]:
    """Return the arguments of an external player's command; raises ``ValueError``."""
    return shlex.split(name.partition(":")[2])


def _check(spec: Spec) -> None:
    text = str(spec)
    if text == MAJIANG:
        return
    try:
        if spec.name == HUMAN:
            human_clock_s(spec)
            return Spec.read(spec.options["hint"]).check() if "hint" in spec.options else None
        if not spec.is_external:
            return spec.check()
        parts = _split_command(text)
    except (ValueError, LookupError, ImportError) as error:
        raise SeatError(f"seat {text!r}: {error}") from None
    require_program(parts, f"seat {text!r}")


def require_program(command: Sequence[str], source: str) -> None:
    """Raise :class:`SeatError` if the program of a command cannot be found on this machine.

    ``source`` is the argument that names it.
    """
    program = command[0] if command else ""
    if not program:
        raise SeatError(f"{source}: no program to run; name one")
    if shutil.which(program) is None:
        problem = f"{source}: no program {program!r} to run"
        raise SeatError(problem, exit_code=ExitCode.UNREACHABLE)


def _short_name(spec: Spec) -> str:
    if spec.name == HUMAN:
        return HUMAN
    if not spec.is_external:
        return spec.label
    parts = _split_command(spec.name)
    return parts[0].replace("\\", "/").rpartition("/")[2]
