"""A bot that plays for days: connect, play, pause, connect again, by a plan (:class:`ServicePlan`).

Each *lane* is one connection at a time, with a token of its own; its attempts at a game follow one
another.  What ended an attempt decides what comes next:

===========  ==========================================  ======================================
outcome      what happened                               what follows
===========  ==========================================  ======================================
finished     the game was played to its end              ``on_game_end``
void         the server ended it, not by our fault       ``on_game_end``
lost         the connection ended during the game        ``on_disconnect``
unreachable  no server, or it left before a game         a pause that grows, then again
refused      the server does not admit us                the same; if it refused the connection
                                                         itself, or closed it with 1008 or 4000 to
                                                         4999, at most ``MOST_REFUSALS`` times
changed      a message does not fit the dialect or the   ``on_version_change``
             rules: the server may have a new version
fault        our own: an error of ours, or the server    a pause that grows, then again, at most
             blames us                                   ``MOST_FAULTS`` times
===========  ==========================================  ======================================

Time comes from the event loop and from ``clock``, chance from ``random``: both are arguments.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from random import Random
from typing import Final, Literal

from mjbot.game.records.game import Talk
from mjbot.game.table.mirror.mirror import TableError
from mjbot.play.client.conversation import Meters, OwnResult, ServerReportedError
from mjbot.play.client.fallback_strategy import Fallback
from mjbot.play.client.faults import Faults
from mjbot.play.client.play import Bot, Hooks, connect
from mjbot.play.service.files import GameFiles, Keeper, Keeping, RecordedTransport
from mjbot.play.service.pacing import HourlyLimit
from mjbot.play.service.plan import ServicePlan
from mjbot.play.service.status import Status
from mjbot.protocol.errors import LocalProtocolError, ProtocolError
from mjbot.protocol.messages import Event, StartGame
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.transports.base import (
    ClosedError,
    HandshakeError,
    RefusedError,
    TransportError,
)
from mjbot.runtime.errors import ExitCode, MjbotError
from mjbot.runtime.interruption import to_its_end
from mjbot.runtime.net.backoff import Backoff
from mjbot.strategy.faults import Fault, FaultKind, error_summary
from mjbot.strategy.options import StrategyError

logger = logging.getLogger(__name__)

MOST_REFUSALS: Final = 5
"""After so many refused connections (a wrong token, a wrong path) in a row the service ends."""
MOST_FAULTS: Final = 3
"""After so many faults of our own in a row the service ends."""

SHORTEST_S: Final = 0.001
"""A shorter wait is none: the loop's timers are no more exact."""

Kind = Literal["finished", "void", "lost", "unreachable", "refused", "changed", "fault"]


@dataclass(frozen=True)
class GameOutcome:
    """How an attempt at a game ended; ``text`` names what went wrong, empty if nothing did."""

    kind: Kind
    text: str = ""
    rank: int | None = None
    is_final: bool = False
    """Whether another attempt is likely to end in the same way."""

    @property
    def is_failure(self) -> bool:
        """Whether no game was played to its end."""
        return self.kind not in ("finished", "void")

    @property
    def is_game(self) -> bool:
        """Whether a game was played, whatever its end."""
        return self.kind in ("finished", "void", "lost")


def outcome_of(
    error: Exception, *, has_begun: bool, seat: int | None, has_connected: bool = True
) -> GameOutcome:
    """Return how an attempt ended that raised an error.

    ``has_connected`` is whether the service ever had a connection: a server that closes one as it
    is made is otherwise taken for one of another kind.
    """
    text = one_line(error)
    match error:
        case RefusedError():
            return GameOutcome("refused", text, is_final=True)
        case HandshakeError() if not has_connected:
            return GameOutcome("refused", text, is_final=True)
        case ClosedError() if error.is_refusal:
            return GameOutcome("lost" if has_begun else "refused", text, is_final=True)
        case ServerReportedError():
            if error.before_game:
                return GameOutcome("refused", text, is_final=error.is_final)
            return GameOutcome("fault" if error.is_fault_of(seat) else "void", text)
        case TransportError():
            return GameOutcome("lost" if has_begun else "unreachable", text)
        case LocalProtocolError():
            return GameOutcome("fault", text)
        case ProtocolError(field="line"):  # damaged on the way, no other version
            return GameOutcome("lost" if has_begun else "unreachable", text)
        case ProtocolError() | TableError() | StrategyError():
            return GameOutcome("changed", text)
    return GameOutcome("fault", error_summary(error))


class _CountedFaults(Faults):
    """The faults of a strategy, counted for the status."""

    def __init__(self, status: Status) -> None:
        super().__init__()
        self._status: Final = status

    def add(self, fault: Fault, cause: BaseException | None = None) -> None:
        """See :meth:`Faults.add`."""
        super().add(fault, cause)
        kind: FaultKind = fault.kind
        self._status.faults[kind] += 1


class _Lane:
    """One connection at a time."""

    def __init__(self, service: "BotService", number: int) -> None:
        self.number: Final = number
        self.is_playing = False
        self.attempt: asyncio.Task[GameOutcome] | None = None
        self.plan: ServicePlan | None = None
        self.has_ended = False
        self._has_failed = False
        self._service: Final = service
        self._status: Final = service.status
        self._bot: Bot | None = None
        self._files: GameFiles | None = None

    async def run(self) -> None:
        """Play until the service has no more games for this lane."""
        service = self._service
        self._backoff = service.backoff()
        try:
            while service.has_game_for(self.number):
                if self.plan is not service.plan:
                    self._take_plan(service.plan)
                if not await self._may_begin():
                    continue
                service.reserved += 1
                moment = service.limit.add(asyncio.get_running_loop().time())
                try:
                    outcome = await self._attempted()
                finally:
                    service.reserved -= 1
                self._has_failed = outcome is not None and outcome.is_failure
                if not self._has_failed:
                    service.limit.forget(moment)
                if outcome is not None:
                    service.count(outcome)
                    await self._pause(outcome)
        finally:
            self._status.set_lane(self.number, "ended")
            self._close_bot()
            self.has_ended = True
            service.settle()

    def interrupt_idle(self) -> None:
        """Break off an attempt that waits for its game to begin."""
        if self.attempt is not None and not self.is_playing:
            self.attempt.cancel()

    def _take_plan(self, plan: ServicePlan) -> None:
        self._close_bot()
        token = plan.tokens[self.number % len(plan.tokens)]
        settings = replace(
            plan.settings, token=token, on_event=self._take_event, on_kept=self._keep
        )
        make = plan.make_fallback
        hooks = Hooks(
            meters=Meters(self._status.add_time, self._count_ack),
            fallback=None if make is None else Fallback(make, plan.fallback_s),
            faults=_CountedFaults(self._status),
        )
        self._bot, self.plan = Bot(settings, plan.make_strategy, hooks), plan
        self._backoff = self._service.backoff()
        self._service.settle()

    def _close_bot(self) -> None:
        if self._bot is not None:
            self._bot.close()
            self._bot = None

    async def _may_begin(self) -> bool:
        """Wait for the hours of the day, and the hour's limit; return whether a game may begin."""
        service, hours = self._service, self._service.plan.play.hours
        if self._has_failed and (limit_s := service.limit_wait_s()) > SHORTEST_S:
            self._status.set_lane(self.number, "pausing")
            await service.wait_out(limit_s, self.number)
            return False
        if hours is None:
            return True
        wait_s = hours.opens_in_s(datetime.fromtimestamp(service.clock()))
        if wait_s > SHORTEST_S:
            self._status.set_lane(self.number, "closed")
            await service.sleep(wait_s)
        return wait_s <= SHORTEST_S

    async def _attempted(self) -> GameOutcome | None:
        """Attempt a game; return ``None`` if the attempt was broken off."""
        self.attempt = asyncio.create_task(self._attempt())
        try:
            return await self.attempt
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current is not None and current.cancelling():
                self.attempt.cancel()
                await asyncio.wait({self.attempt})
                raise
            return None
        finally:
            self.attempt = None

    async def _attempt(self) -> GameOutcome:
        bot, plan = self._bot, self._service.plan
        assert bot is not None
        session = bot.settings.session()
        files = self._files = self._service.files_of(plan.keeping, self.number)
        outcome = GameOutcome("unreachable", "interrupted")
        try:
            if bot.settings.address.dialect.traits.connecting_is_ready:
                self._status.set_lane(self.number, "warming up")
                await bot.player.warm_up()
            self._status.set_lane(self.number, "connecting")
            async with await connect(bot.settings) as transport:
                self._status.connects += 1
                self._status.set_lane(self.number, "queueing")
                recorded = RecordedTransport(transport, files.frame)
                outcome = _outcome_of_result(await bot.play_game(recorded, session))
        except (MjbotError, ProtocolError, TransportError) as error:
            outcome = outcome_of(
                error,
                has_begun=files.has_begun,
                seat=session.seat,
                has_connected=self._status.connects > 0,
            )
        except Exception as error:
            logger.exception("a fault of mjbot; the service goes on")
            outcome = outcome_of(error, has_begun=files.has_begun, seat=session.seat)
        finally:
            self.is_playing = False
            files.close(keep_frames=outcome.kind in ("refused", "changed", "fault"))
            if bot.hooks.fallback is not None:
                self._status.fallback_decisions += bot.hooks.fallback.take_count()
        return outcome

    def _take_event(self, event: Event) -> None:
        if isinstance(event, StartGame):
            self.is_playing = True
            self._status.set_lane(self.number, "playing")

    def _keep(self, event: Event, talk: Talk) -> None:
        if self._files is not None:
            self._files.keep(event, talk)

    def _count_ack(self, status: str) -> None:
        self._status.acks[status] += 1

    async def _pause(self, outcome: GameOutcome) -> None:
        """Wait as long as the outcome asks for."""
        service, plan = self._service, self._service.plan
        if not outcome.is_failure:
            self._backoff.reset()
            wait_s = plan.play.pause_s
        elif outcome.kind == "changed":
            wait_s = plan.play.retry_s
        else:
            wait_s = max(self._backoff.next_s(), service.limit_wait_s())
        self._status.reconnects += outcome.is_failure
        if wait_s > 0 and service.has_game_for(self.number):
            self._status.set_lane(self.number, "pausing")
            if outcome.text:
                logger.info("lane %d connects again in %.0f s", self.number + 1, wait_s)
            await service.wait_out(wait_s, self.number)


def _outcome_of_result(result: OwnResult) -> GameOutcome:
    if result.void:
        return GameOutcome("void", result.void)
    if result.validated is False:
        return GameOutcome("refused", "the server's validation was not passed", is_final=True)
    return GameOutcome("finished", rank=result.final_rank)


class BotService:
    """Plays by ``plan`` until its games are played, or until :meth:`finish`.

    ``clock`` returns seconds since the epoch; ``reread`` returns the plan to go on with after
    :meth:`reload`, or raises :class:`MjbotError`; ``on_settled`` is called when no lane plays by an
    earlier plan any more.
    """

    def __init__(
        self,
        plan: ServicePlan,
        status: Status,
        *,
        random: Random | None = None,
        reread: Callable[[], ServicePlan] | None = None,
        on_settled: Callable[[], None] = lambda: None,
    ) -> None:
        self.plan = plan
        self.status: Final = status
        self.clock: Final = status.clock
        self.reserved = 0
        self._random: Final = random or Random()
        self._reread: Final = reread
        self._on_settled: Final = on_settled
        self.limit: Final = HourlyLimit(plan.connection.per_hour)
        self._keeper: Final = Keeper()
        self._lanes: Final[dict[int, tuple[_Lane, asyncio.Task[None]]]] = {}
        self._wake: Final = asyncio.Event()
        self._is_ending = False
        self._played = self._refusals = self._faults = 0
        self._code = ExitCode.OK

    async def run(self) -> ExitCode:
        """Play; return the status with which the process should end.  Raises ``OSError``."""
        self._take(self.plan)
        try:
            while running := [task for _, task in self._lanes.values() if not task.done()]:
                done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
        finally:
            lanes = [task for _, task in self._lanes.values()]
            for task in lanes:
                task.cancel()
            await to_its_end(asyncio.gather(*lanes, return_exceptions=True))
            self._keeper.close()
            self._set_state("stopped")
        return self._code

    def finish(self) -> None:
        """Begin no further game; those that are played are played to their end."""
        self._set_state("ending")
        self._is_ending = True
        for lane, _ in self._lanes.values():
            lane.interrupt_idle()
        self._wake_all()

    def reload(self) -> None:
        """Read the profile again; it holds from each lane's next game on."""
        if self._reread is None or self._is_ending:
            return
        try:
            plan = self._reread()
        except (MjbotError, ProtocolError, OSError) as error:
            logger.error("the profile is not taken over: %s", one_line(error))
            return
        logger.info("the profile was read again; it holds from the next game on")
        self._take(plan)

    # --- for the lanes -----------------------------------------------------------------------

    def has_game_for(self, lane: int) -> bool:
        """Return whether a lane may attempt another game."""
        games = self.plan.play.games
        is_left = not games or self._played + self.reserved < games
        return not self._is_ending and lane < self.plan.play.at_once and is_left

    def settle(self) -> None:
        """Note that a lane has taken over the plan, or ended."""
        if all(lane.has_ended or lane.plan is self.plan for lane, _ in self._lanes.values()):
            self._on_settled()

    def backoff(self) -> Backoff:
        """Return the pauses of a lane."""
        connection = self.plan.connection
        return Backoff(connection.first_pause_s, connection.longest_pause_s, self._random)

    def limit_wait_s(self) -> float:
        """Return how long the hour's limit makes an attempt after a failure wait."""
        self.limit.most = self.plan.connection.per_hour
        return self.limit.wait_s(asyncio.get_running_loop().time())

    def files_of(self, keeping: Keeping, lane: int) -> GameFiles:
        """Return the files of a lane's next connection."""
        kept = self._keeper.games(keeping)
        return GameFiles(kept, lane, self.clock, evidence=keeping.evidence)

    async def sleep(self, seconds: float) -> None:
        """Wait, but no longer than until something changes."""
        self._wake.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()

    async def wait_out(self, seconds: float, lane: int) -> None:
        """Wait, whatever changes, for as long as a lane may attempt another game."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while (left_s := until - loop.time()) > SHORTEST_S and self.has_game_for(lane):
            await self.sleep(left_s)

    def count(self, outcome: GameOutcome) -> None:
        """Count how an attempt ended, and end the service where the plan requires it."""
        play = self.plan.play
        self.status.add_end(outcome.kind, outcome.rank, outcome.text)
        self._played += outcome.is_game
        self._refusals = self._refusals + 1 if outcome.is_final else 0
        self._faults = self._faults + 1 if outcome.kind == "fault" else 0
        if outcome.text:
            logger.warning("%s: %s", outcome.kind, outcome.text)
        if not outcome.is_failure and play.on_game_end == "stop":
            self._end(ExitCode.OK)
        elif outcome.kind == "lost" and play.on_disconnect == "stop":
            self._end(ExitCode.UNREACHABLE)
        elif outcome.kind == "changed" and play.on_version_change == "stop":
            logger.error("the server may have another version; on_version_change is stop")
            self._end(ExitCode.PROTOCOL_FAULT)
        elif self._refusals >= MOST_REFUSALS:
            logger.error("%d refusals in a row: the service ends", self._refusals)
            self._end(ExitCode.UNREACHABLE)
        elif self._faults >= MOST_FAULTS:
            logger.error("%d faults in a row: the service ends", self._faults)
            self._end(ExitCode.FAILED)
        elif not self.has_game_for(0):
            self._wake_all()

    # --- inside ------------------------------------------------------------------------------

    def _take(self, plan: ServicePlan) -> None:
        self.plan = plan
        self.status.server = one_line(plan.settings.address.url)
        self.status.strategy = plan.strategy
        self._set_state("running")
        for number in range(plan.play.at_once):
            if number not in self._lanes or self._lanes[number][0].has_ended:
                lane = _Lane(self, number)
                self._lanes[number] = lane, asyncio.create_task(lane.run())
        for lane, _ in self._lanes.values():
            lane.interrupt_idle()
        self._wake_all()

    def _end(self, code: ExitCode) -> None:
        self._code = max(self._code, code)
        self.finish()

    def _set_state(self, state: str) -> None:
        if state == "stopped" or not self._is_ending:
            self.status.state = state
        self.status.is_changed = True

    def _wake_all(self) -> None:
        self._wake.set()
