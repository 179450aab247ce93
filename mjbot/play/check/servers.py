"""All checks of a server, as its four clients."""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from mjbot.play.check.catalogue import CHECKS, SERVER_CHECKS, CheckVerdict
from mjbot.play.check.comparison import compared, deal_of, wrong_claim
from mjbot.play.check.four_clients import ClientReport, Connect, Decide, ServerEndpoint, play_table
from mjbot.play.check.lines import LEAVE_S, START_S, CannotStartError, Running
from mjbot.play.check.misdeeds import CULPRIT, MISDEEDS, Misdeed, odd_speller
from mjbot.play.check.report import CheckFindings, Transcript
from mjbot.protocol.codec import encode
from mjbot.protocol.dialects import LOCKSTEP, Dialect
from mjbot.protocol.errors import ProtocolError
from mjbot.protocol.messages import Dahai, EndGame, Join, Skip
from mjbot.protocol.sessions.lockstep_server import BUSY
from mjbot.protocol.transports.base import Transport, TransportError, VanishedError

JOIN_S: Final = 10.0
"""How long a server may take to refuse a join, or to report that it is busy."""
_AGAIN_S: Final = 0.05
_IDLE_LINES: Final = 3
_BAD_JOINS: Final = (
    b'{"type":"join","name":"check","room":"no such room"}',
    b'{"type":"join","room":"default"}',
    b'{"type":"start_game","id":0}',
)
_NO_MESSAGES: Final = (b"[]", b"hello?")
"""Refused last: a server that takes an object for granted may end by them, as the original does."""
_BUSY_TRIES: Final = 10
_BUSY_S: Final = 1.0
"""How long a server may still be busy with the game before, as clients wait that play there."""


@dataclass(frozen=True, kw_only=True)
class ServerSettings:
    """Selection: ``ids`` (empty: all), the tables that it can play at once (0: unknown).

    ``restart`` stops and restarts the server; it returns what went wrong.  ``on_scene`` is
    called with the name of each part before it begins.
    """

    ids: frozenset[str] = frozenset()
    at_once: int = 0
    restart: Callable[[], Awaitable[str]] | None = None
    on_scene: Callable[[str], None] = lambda name: None

    def includes(self, id_: str, dialect: Dialect) -> bool:
        """Whether a check is selected and applies to a dialect."""
        return (not self.ids or id_ in self.ids) and CHECKS[id_].applies_to(dialect)

    def misdeeds(self, dialect: Dialect) -> list[Misdeed]:
        """Return what a client does in the games after the whole one, a game each."""
        return [
            misdeed
            for misdeed in MISDEEDS
            if self.includes(misdeed.id, dialect)
            or (misdeed.id == "S18" and self.includes("S21", dialect))
        ]

    def scene_count(self, dialect: Dialect) -> int:
        """Return how often ``on_scene`` is called for a server that plays on."""
        others = [
            *["S02"] * 2,
            *["S20"] * (self.at_once > 0),
            *["S22"] * (self.restart is not None),
        ]
        included = [id_ for id_ in others if self.includes(id_, dialect)]
        return 1 + len(included) + len(self.misdeeds(dialect))


async def check_server(
    endpoint: ServerEndpoint, settings: ServerSettings, findings: CheckFindings | None = None
) -> CheckFindings:
    """Join a server as four clients, game after game; return what was noticed.

    It is noted in ``findings``, if given, as it is noticed.  Raises
    :class:`~mjbot.protocol.transports.base.UnreachableError` if the server is not there at all.
    """
    return await _ServerCheck(
        endpoint, settings, CheckFindings() if findings is None else findings
    ).run()


class _ServerCheck:
    def __init__(
        self, endpoint: ServerEndpoint, settings: ServerSettings, findings: CheckFindings
    ) -> None:
        self._endpoint: Final = endpoint
        self._settings: Final = settings
        self._deals: list[object] = []
        self._reached = False
        """Whether the server has been there."""
        self.findings: Final = findings

    async def run(self) -> CheckFindings:
        self._skip_foreign()
        if self._includes("S02"):
            await self._join_badly(_BAD_JOINS)
        if not await self._play_whole_game():
            self.findings.give_up(SERVER_CHECKS, "it does not play a game with us")
            return self.findings
        for misdeed in self._settings.misdeeds(self._endpoint.dialect):
            await self._misbehave(misdeed)
        self._note_deals()
        if self._includes("S20"):
            await self._play_at_once()
        if self._includes("S02"):
            await self._join_badly(_NO_MESSAGES)
        if self._includes("S22"):
            await self._restart()
        return self.findings

    def _includes(self, id_: str) -> bool:
        return self._settings.includes(id_, self._endpoint.dialect)

    def _skip_foreign(self) -> None:
        for check in SERVER_CHECKS:
            if not check.applies_to(self._endpoint.dialect):
                word = self._endpoint.dialect.traits.word
                self.findings.skip(check.id, f"does not apply to the dialect {word}")

    # --- joining -----------------------------------------------------------------------------

    async def _join_badly(self, lines: Sequence[bytes]) -> None:
        """Send each line as a join; stop at the one that ends the server."""
        self._settings.on_scene("joins that are refused")
        for line in lines:
            transcript = Transcript(f"a bad join: {line.decode()}")
            problem = await self._refusal(line, transcript)
            self.findings.occasion("S02")
            if problem:
                self.findings.add("S02", f"{line.decode()}: {problem}", transcript)
            if not await self._is_there():
                problem = f"{line.decode()}: the server ended after this line"
                self.findings.add("S02", problem, transcript)
                return

    async def _is_there(self) -> bool:
        """Return whether the server still takes a connection."""
        try:
            async with await self._endpoint.connect():
                self._reached = True
                return True
        except (TransportError, OSError):
            return False

    async def _refusal(self, line: bytes, transcript: Transcript) -> str:
        """Join with a line that is none; return what is wrong with what follows."""
        try:
            async with await self._endpoint.connect() as transport:
                transcript.sent(await transport.receive(JOIN_S))
                transcript.received(line)
                await transport.send(line)
                answer = await transport.receive(JOIN_S)
                transcript.sent(answer)
                return "" if b'"error"' in answer else "it is not refused by an error"
        except VanishedError:
            return ""  # closed without an error message: none is required
        except (TransportError, ProtocolError) as error:
            return str(error)

    async def _fifth(self, started: asyncio.Event) -> None:
        """Join a game that has begun."""
        await started.wait()
        transcript = Transcript("a fifth join")
        join = encode(Join(name="fifth", room=self._endpoint.room), LOCKSTEP)
        self.findings.occasion("S03")
        if problem := await self._refusal(join, transcript):
            self.findings.add("S03", f"a fifth join: {problem}", transcript)

    # --- a whole game ------------------------------------------------------------------------

    async def _play_whole_game(self) -> bool:
        self._settings.on_scene("a whole game")
        transcript = Transcript("a whole game of four clients")
        started = asyncio.Event()
        fifth = asyncio.create_task(self._fifth(started)) if self._includes("S03") else None
        endpoint = ServerEndpoint(
            _starting(self._endpoint.connect, started), self._endpoint.dialect, self._endpoint.room
        )
        four = await self._table(transcript, odd_speller, endpoint)
        if fifth is not None:
            if not started.is_set():
                fifth.cancel()
            await asyncio.wait({fifth})
        absent = [each.unreachable for each in four if each.unreachable is not None]
        if len(absent) == len(four) and not self._reached:
            raise absent[0]  # nothing was checked
        self._note_game(four, transcript)
        return all(outcome.events for outcome in four)

    async def _table(
        self,
        transcript: Transcript,
        culprit: Callable[[], Decide],
        endpoint: ServerEndpoint | None = None,
    ) -> Sequence[ClientReport]:
        """Play a game of four clients, again while the server is busy with the one before."""
        for _ in range(_BUSY_TRIES):
            four = await play_table(endpoint or self._endpoint, transcript, {CULPRIT: culprit()})
            if not any(BUSY in outcome.error for outcome in four):
                break
            transcript.note("the server is busy; the clients come again")
            await asyncio.sleep(_BUSY_S)
        return four

    def _note_game(self, four: Sequence[ClientReport], transcript: Transcript) -> None:
        for outcome in four:
            for id_, text in outcome.problems:
                self.findings.add(id_, text, transcript)
        if self._endpoint.dialect is LOCKSTEP:
            self.findings.occasion("S01")
            if not all(outcome.greeted for outcome in four):
                self.findings.add("S01", "the first line is no hello of mjsonp", transcript)
        if not all(outcome.events for outcome in four):
            return
        for id_ in ("S04", "S05", "S06", "S11", "S12"):
            self.findings.occasion(id_)
        for _ in range(sum(outcome.compared for outcome in four)):
            self.findings.occasion("S07")
        stopped = any(outcome.problems for outcome in four)
        if not stopped:
            self._note_end(four, transcript)
        seats = sorted(four, key=lambda outcome: outcome.seat)
        for id_, problem in compared(seats, whole=not stopped):
            self.findings.add(id_, problem, transcript)
        self._deals.append(deal_of(seats))
        self._note_claims(seats, transcript)

    def _note_end(self, four: Sequence[ClientReport], transcript: Transcript) -> None:
        self.findings.occasion("S19")
        self.findings.occasion("S15")
        ends = [outcome.events[-1] for outcome in four]
        odd = [outcome for outcome in four if f"player {four[CULPRIT].seat}'s" in outcome.error]
        if odd:
            problem = f"JSON that is spelled otherwise is refused: {odd[0].error}"
            self.findings.add("S15", problem, transcript)
        elif four[CULPRIT].refused:
            problem = f"JSON that is spelled otherwise is refused: {four[CULPRIT].refused}"
            self.findings.add("S15", problem, transcript)
        elif not all(isinstance(end, EndGame) for end in ends) or len(set(ends)) > 1:
            problem = f"not all four receive the same end_game: {four[0].error or ends}"
            self.findings.add("S19", problem, transcript)

    def _note_claims(self, seats: Sequence[ClientReport], transcript: Transcript) -> None:
        for index, event in enumerate(seats[0].events):
            if not isinstance(event, Dahai):
                continue
            replies = [outcome.replies[index] for outcome in seats if index in outcome.replies]
            claims = [claim for claim in replies if not isinstance(claim, Skip)]
            if claims:
                self.findings.occasion("S10")
                if problem := wrong_claim(claims, seats[0].events[index + 1 : index + 4]):
                    self.findings.add("S10", problem, transcript)

    def _note_deals(self) -> None:
        deals = [deal for deal in self._deals if deal is not None]
        if len(deals) < 2:
            self.findings.skip("S21", "not reached: it takes two games")
            return
        self.findings.occasion("S21")
        if any(deal in deals[:index] for index, deal in enumerate(deals)):
            self.findings.add("S21", "two games begin with the same hands", None)

    # --- what is not allowed -----------------------------------------------------------------

    async def _misbehave(self, misdeed: Misdeed) -> None:
        id_, name = misdeed.id, misdeed.name
        self._settings.on_scene(name)
        transcript = Transcript(name)
        four: Sequence[ClientReport] = ()
        with contextlib.suppress(TransportError):
            async with contextlib.AsyncExitStack() as stack:
                idle = _IDLE_LINES if id_ == "S14" and self._endpoint.dialect is LOCKSTEP else 0
                for _ in range(idle):
                    await stack.enter_async_context(await self._endpoint.connect())
                four = await self._table(transcript, misdeed.decider)
        if not four or not all(outcome.events for outcome in four):
            if id_ == "S14" and four and all(outcome.silent for outcome in four):
                problem = f"{_IDLE_LINES} lines that never join keep four others from playing"
                return self.findings.add(id_, problem, transcript)
            return self.findings.skip(id_, "the server plays no further game")
        self._deals.append(deal_of(sorted(four, key=lambda outcome: outcome.seat)))
        if not self._includes(id_):
            return None
        self.findings.occasion(id_)
        culprit = four[CULPRIT]
        for outcome in four:
            if outcome is not culprit:
                silent = "the others receive nothing more" if outcome.silent else ""
                if problem := silent or misdeed.problem(culprit, outcome):
                    self.findings.add(id_, f"{name}: {problem}", transcript)
        if id_ == "S13":
            self._note_wait([outcome for outcome in four if outcome is not culprit], transcript)
        return None

    def _note_wait(self, others: Sequence[ClientReport], transcript: Transcript) -> None:
        longest_s = max(outcome.longest_s for outcome in others)
        errors = {outcome.error for outcome in others}
        then = "the game continues" if all(outcome.ended for outcome in others) else max(errors)
        text = f"after {longest_s:.1f} s: {then or 'they are sent away'}"
        self.findings.add("S13", text, transcript, CheckVerdict.INFO)

    # --- more than one table, more than one start --------------------------------------------

    async def _play_at_once(self) -> None:
        tables = self._settings.at_once
        if not tables:
            self.findings.skip("S20", "needs the number of tables that it can play: --at-once N")
            return
        self._settings.on_scene(f"{tables} tables at once")
        transcript = Transcript(f"{tables} tables at once, a client of one leaves")
        leaving = next(misdeed for misdeed in MISDEEDS if misdeed.id == "S18")
        played = await asyncio.gather(
            *[
                play_table(
                    self._endpoint, transcript, {} if table else {CULPRIT: leaving.decider()}
                )
                for table in range(tables)
            ]
        )
        self.findings.occasion("S20")
        ended = sum(outcome.ended for four in played for outcome in four)
        if ended < 4 * (tables - 1):
            problem = f"of {4 * tables} clients {ended} receive the end of a game"
            self.findings.add("S20", problem, transcript)

    async def _restart(self) -> None:
        if self._settings.restart is None:
            self.findings.skip("S22", "needs the server's command: --start COMMAND")
            return
        self._settings.on_scene("a restart")
        transcript = Transcript("the server is ended by SIGTERM and started again")
        line = await self._endpoint.connect()  # its port is in use when it ends
        problem = await self._settings.restart()
        self.findings.occasion("S22")
        if not problem:
            try:
                async with await self._endpoint.connect() as again:
                    if self._endpoint.dialect is LOCKSTEP:
                        transcript.sent(await again.receive(JOIN_S))
            except (TransportError, ProtocolError) as error:
                problem = f"started again, it takes no client: {error}"
        await line.close()
        if problem:
            self.findings.add("S22", problem, transcript)


def _starting(connect: Connect, started: asyncio.Event) -> Connect:
    """Set ``started`` when the fourth client has received ``start_game``.

    A client that is only connected has no seat yet: a fifth could take it.
    """
    count = 0

    def received(line: bytes) -> None:
        nonlocal count
        count += b'"start_game"' in line
        if count == 4:
            started.set()

    async def connect_and_count() -> Transport:
        return _RecordingTransport(await connect(), received)

    return connect_and_count


class _RecordingTransport(Transport):
    """A transport whose received lines are passed on to ``received`` as well."""

    def __init__(self, transport: Transport, received: Callable[[bytes], None]) -> None:
        self._transport: Final = transport
        self._received: Final = received

    async def receive(self, timeout_s: float | None = None) -> bytes:
        """See :class:`Transport`."""
        line = await self._transport.receive(timeout_s)
        self._received(line)
        return line

    async def send(self, line: bytes) -> None:
        """See :class:`Transport`."""
        await self._transport.send(line)

    async def close(self) -> None:
        """See :class:`Transport`."""
        await self._transport.close()

    async def reset(self) -> None:
        """See :class:`Transport`."""
        await self._transport.reset()


# --- a server of our own ---------------------------------------------------------------------


class ServerProcess:
    """A command that serves at ``connect``; use it as an async context manager."""

    def __init__(self, command: Sequence[str], connect: Callable[[], Awaitable[Transport]]) -> None:
        self._command: Final = tuple(command)
        self._connect: Final = connect
        self._running: Running | None = None

    async def __aenter__(self) -> "ServerProcess":
        try:
            if problem := await self._start():
                raise CannotStartError(problem)
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._running is not None:
            await self._running.kill()

    async def restart(self) -> str:
        """End the server by SIGTERM and start it again; return what went wrong.

        A server may first play its running game to the end: it then gets a second SIGTERM.
        """
        assert self._running is not None
        for _ in range(2):
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._running.pid, signal.SIGTERM)  # not to what it started
            if await self._running.end_within(LEAVE_S) is not None:
                break
        else:
            return f"it did not end within {LEAVE_S:g} s of a second SIGTERM"
        await self._running.kill()
        return await self._start()

    async def _start(self) -> str:
        """Start it and wait until it takes connections; return what went wrong."""
        self._running = await Running.run(self._command, pipes=False)
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            if self._running.has_ended:
                return await self._running.ending("the server")
            try:
                await (await self._connect()).close()
            except TransportError:
                await asyncio.sleep(_AGAIN_S)
            else:
                return ""
        return f"no answer within {START_S:g} s of its start"
