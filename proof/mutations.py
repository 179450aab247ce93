"""Mutated conversations, by seed: refused in one line or accepted, and nothing else.

Half of the conversations are told to our clients by a broken server, half to our servers by a
broken client.  Of *messages* one in a server's conversation is changed, and a bot's service names
the outcome.  Whatever is raised beside the documented classes is a finding, and so is an input that
takes longer than :data:`LIMIT_S` of processor time.  Records are changed in the same way by the
subjects ``mjai``, ``mjlog``, ``tenhou6`` and ``packed`` of ``python -m proof fuzz``.
"""

import argparse
import contextlib
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from random import Random
from types import FrameType
from typing import Final

from mjbot.play.client.conversation import ServerReportedError
from mjbot.play.server.core import OnFault
from mjbot.play.service.bot import outcome_of
from mjbot.protocol.dialects import Dialect
from mjbot.protocol.errors import LocalProtocolError, ProtocolError
from mjbot.protocol.transports.base import TransportError
from mjbot.runtime.errors import MjbotError
from proof.conversations import DIALECTS, Recorded, record, replay_to_server, run_client
from proof.fuzzing.mutating import mutated
from proof.fuzzing.subjects import quiet

LIMIT_S: Final = 10.0
"""Of processor time for one input; none needs a tenth of it."""
MOST_MB: Final = 300
WALLS: Final = 12
"""How many conversations are recorded in each dialect."""
KINDS: Final = ("conversations", "messages")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof mutations``."""
    parser.add_argument("--conversations", type=int, default=10_000, help="how many (10,000)")
    parser.add_argument("--messages", type=int, default=10_000, help="how many (10,000)")
    parser.add_argument("--seed", type=int, default=0, help="of all changes (0)")
    parser.add_argument("--players", type=int, choices=(3, 4), default=4, help="at the tables (4)")
    parser.add_argument("--only", type=int, help="repeat the input of this number")


def run(args: argparse.Namespace) -> int:
    """Run all inputs, print what became of them, return 1 if anything was found."""
    quiet()
    signal.signal(signal.SIGPROF, _too_long)
    begin = time.process_time()
    _warm_up(args.players)
    start_mb = peak_mb()
    print(f"{start_mb} MB before the first input", flush=True)
    findings = 0
    for what, count, one in (
        ("conversations", args.conversations, _conversation),
        ("messages", args.messages, _message),
    ):
        kind = _Kind(what, count, partial(one, players=args.players))
        findings += _run_all(kind, args)
    used_s = time.process_time() - begin
    print(f"{findings} findings; {used_s:.0f} s of processor time; {peak_mb()} MB at most")
    if peak_mb() > MOST_MB:
        print(f"memory: more than {MOST_MB} MB", file=sys.stderr)
    return int(findings > 0 or peak_mb() > MOST_MB)


@dataclass(frozen=True)
class _Kind:
    """``one`` runs an input drawn by chance and returns a short description of the outcome."""

    name: str
    count: int
    one: Callable[[Random], str]


def _run_all(kind: _Kind, args: argparse.Namespace) -> int:
    outcomes: Counter[str] = Counter()
    findings, slowest = 0, 0.0
    for number in range(kind.count) if args.only is None else [args.only]:
        started = time.process_time()
        try:
            with _limited():
                outcomes[kind.one(Random(f"{kind.name} {args.seed} {number}"))] += 1
        except Exception:
            findings += 1
            traceback.print_exc()
            others = " ".join(f"--{name} 0" for name in KINDS if name != kind.name)
            same = f"--seed {args.seed} --players {args.players}"
            print(f"repeat: python -m proof mutations {same} {others} --only {number}")
        slowest = max(slowest, time.process_time() - started)
        if number % 1000 == 999:
            print(f"{number + 1} {kind.name}, {peak_mb()} MB", flush=True)
    print(f"{kind.name}: {outcomes.total()} borne or refused, the slowest in {slowest:.2f} s")
    for text, count in sorted(outcomes.items(), key=lambda item: -item[1]):
        print(f"{count:>7} {text}")
    return findings


class _TooLongError(Exception):
    """An input took longer than it may."""


def _too_long(number: int, frame: FrameType | None) -> None:
    raise _TooLongError


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    signal.setitimer(signal.ITIMER_PROF, LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def peak_mb() -> int:
    """Return the most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _warm_up(players: int) -> None:
    """Load what is compiled, so that it is not counted as an input's."""
    for dialect in DIALECTS:
        talk = _recorded(dialect, 0, players)
        replay_to_server(talk, talk.client, OnFault.CHOMBO)
        with contextlib.suppress(TransportError):
            run_client(talk, talk.server, True)


# --- conversations ---------------------------------------------------------------------------


@cache
def _recorded(dialect: Dialect, seed: int, players: int) -> Recorded:
    return record(dialect, seed, players)


def _conversation(random: Random, players: int) -> str:
    talk = _recorded(random.choice(DIALECTS), random.randrange(WALLS), players)
    word = talk.dialect.traits.word
    if random.random() < 0.5:
        lines = _changed(talk.client, talk.dialect, random)
        ended = replay_to_server(talk, lines, random.choice([*OnFault]))
        return f"a broken client of {word}: {ended}"
    strict = random.random() < 0.5
    lines = _changed(talk.server, talk.dialect, random)
    try:
        run_client(talk, lines, strict)
        ended = "played to an end"
    except LocalProtocolError:
        raise  # that would be our own fault
    except TransportError:
        ended = "borne to the last line"
    except (ProtocolError, MjbotError) as error:
        ended = f"refused by {type(error).__name__}"
    return f"a broken server of {word}, {'strict' if strict else 'lenient'}: {ended}"


def _message(random: Random, players: int) -> str:
    """Change one message of a server, and let a bot's service judge how the game ended."""
    talk = _recorded(random.choice(DIALECTS), random.randrange(WALLS), players)
    at = random.randrange(len(talk.server))
    changed, _ = mutated(talk.server[at], random)
    lines = [*talk.server[:at], *changed.split(b"\n"), *talk.server[at + 1 :]]
    word, begun = talk.dialect.traits.word, at > 0
    try:
        run_client(talk, lines, True)
    except (MjbotError, ProtocolError, TransportError) as error:
        outcome = outcome_of(error, has_begun=begun, seat=talk.seat)
        if outcome.kind == "fault" and not isinstance(error, ServerReportedError):
            raise  # that would be our own fault
        assert outcome.text
        return f"a message of a server of {word}: {outcome.kind}"
    return f"a message of a server of {word}: played to an end"


def _changed(lines: Sequence[bytes], dialect: Dialect, random: Random) -> list[bytes]:
    """Change lines; Tenhou's XML is cut into pieces that end anywhere."""
    data, _ = mutated(b"\n".join(lines), random)
    if dialect is not Dialect.TENHOU or random.random() < 0.5:
        return data.split(b"\n")
    cuts = sorted(random.randrange(len(data) + 1) for _ in range(random.choice((1, 5, 50))))
    return [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]
