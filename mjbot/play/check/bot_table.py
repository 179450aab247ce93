"""One scene: a made game in which a bot plays, and the checks of its replies."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import msgspec

from mjbot.game.referee import Position
from mjbot.game.table.actions import Action
from mjbot.play.check.catalogue import CheckVerdict
from mjbot.play.check.judge import Owed, judge
from mjbot.play.check.lines import (
    START_S,
    BotLine,
    BrokenLineError,
    CannotStartError,
    CheckedBot,
    GoneError,
    SilentError,
    TimedLine,
)
from mjbot.play.check.made_games import Deal, MadeGame
from mjbot.play.check.report import CheckFindings, Transcript
from mjbot.play.check.sending import Respell, named, respell_sparsely, respell_strangely, sender_for
from mjbot.protocol.codec import encode
from mjbot.protocol.dialects import ARRAYS, LINES, LOCKSTEP, REQUESTS, Dialect
from mjbot.protocol.errors import NOT_JSON
from mjbot.protocol.messages import Dahai, Dora, EndGame, Error, Event, Tsumo
from mjbot.protocol.plain_text import excerpt
from mjbot.protocol.rules import Length
from mjbot.protocol.sessions.lockstep_server import JoinRefusedError, LockstepSession

Habit = Literal["", "late dora", "strange", "sparse", "stops", "cut", "resumes"]

LIMITS_S: Final = {LOCKSTEP: 60.0, LINES: 30.0, ARRAYS: 3.0, REQUESTS: 18.0}
"""How long each family's servers wait for a reply; Mortal's has no limit, this is ours."""
FIRST_ARRAY_S: Final = 20.0
_RESPELL: Final[dict[str, Respell]] = {"strange": respell_strangely, "sparse": respell_sparsely}
_TURNS_BEFORE_CUT: Final = 2
MOST_EXTRA: Final = 1000
"""Lines out of turn in one scene; after more the scene ends, as the bot may never stop."""


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A made game: ``ids`` are the checks it is made for, ``bot`` is the bot's seat.

    ``survival`` is the check that fails if the bot is lost in it, unless it ends just as it ended
    where one of ``includes`` failed, the checks whose situations come up in this game, too.
    """

    name: str
    ids: tuple[str, ...]
    bot: int
    deals: Sequence[Deal | None]
    survival: str = ""
    includes: tuple[str, ...] = ()
    families: str = "ABCD"
    position: Position | None = None
    length: Length = "hanchan"
    players: int = 4
    habit: Habit = ""


@dataclass
class SceneReplies:
    """The result of a scene: whether the bot was lost, its replies, and the seconds of each."""

    lost: bool = False
    replies: list[bytes] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    memory_bytes: int | None = None


class LostError(Exception):
    """The bot is lost for this scene; the check that fails is noted."""


class BotTable:
    """A bot at one scene; ``limit_s`` is how long a reply may take."""

    def __init__(
        self, bot: CheckedBot, scene: Scene, findings: CheckFindings, limit_s: float
    ) -> None:
        self._bot: Final = bot
        self._dialect: Final[Dialect] = bot.dialect
        self._scene: Final = scene
        self._findings: Final = findings
        self._limit_s: Final = limit_s
        self._transcript: Final = Transcript(f"scene {scene.name!r}, seat {scene.bot}")
        self._sender: Final = sender_for(self._dialect, scene.bot, _RESPELL.get(scene.habit))
        self._game: Final = MadeGame(
            scene.bot,
            scene.deals,
            position=scene.position,
            length=scene.length,
            players=scene.players,
        )
        self._line: BotLine
        self._extras = 0
        self._unasked = 0  # lines that leave no choice, up to the first own turn
        self._turns = 0
        self._started = 0.0
        self.played: Final = SceneReplies()

    async def play(self) -> SceneReplies:
        """Play the scene to its end; all that is wrong is noted in the findings."""
        self._started = time.perf_counter()
        try:
            self._line = await self._bot.sit_down(self._scene.bot)
        except CannotStartError as error:
            self._fail(self._start_check, str(error))
            self.played.lost = True
            return self.played
        try:
            await self._converse()
        except LostError:
            self.played.lost = True
        self.played.memory_bytes = self._line.memory_bytes()
        problem = await self._line.part()
        if not self.played.lost:
            self._note_end(problem)
        return self.played

    def _note_end(self, problem: str | None) -> None:
        self._findings.occasion("B29")
        for id_ in self._scene.ids:
            if id_ == self._scene.survival:
                self._findings.occasion(id_)
        if problem:
            self._fail("B29", problem)

    # --- the conversation --------------------------------------------------------------------

    async def _converse(self) -> None:
        if self._dialect is LOCKSTEP:
            await self._shake_hands()
        events = self._game.start()
        while True:
            action = await self._send_all(events)
            if self._game.over or self._is_cut():
                break
            events = self._game.step(action)
        if self._is_cut() and self._dialect is LOCKSTEP:
            await self._send(encode(Error(message="The game is broken off."), LOCKSTEP))
        await self._drain(quietly=True)

    async def _shake_hands(self) -> None:
        session = LockstepSession("default")
        await self._send(session.hello())
        reply = await self._receive(self._start_check, START_S)
        self._note_start(reply)
        try:
            session.join(reply.line)
        except JoinRefusedError as refusal:
            self._fail("B01", f"{excerpt(reply.line)}: {refusal}")
            await self._send(refusal.line)
            raise LostError from None
        self._findings.occasion("B01")

    def _is_cut(self) -> bool:
        return self._scene.habit == "cut" and self._turns >= _TURNS_BEFORE_CUT

    async def _send_all(self, events: Sequence[Event]) -> Action | None:
        """Send events; return the bot's choice, if it had one."""
        sent = [named(event) for event in events]
        if self._scene.habit == "late dora":
            sent = _late(sent)
        decisive = len(sent) - 1 - isinstance(sent[-1], Dora)
        action = None
        for index, event in enumerate(sent):
            chosen = await self._send_event(event, index == decisive and not self._game.over)
            action = chosen or action
        return action

    async def _send_event(self, event: Event, last: bool) -> Action | None:
        referee = self._game.referee
        owed = Owed.after(self._dialect, self._scene.bot, event, referee, may_act=last)
        lines = self._sender.lines(event, owed)
        if self._scene.habit == "strange" and self._dialect is REQUESTS:
            await self._send(b'{"type":"x_weather","sky":"clear"}')
        for line in lines:
            await self._send(line)
        self._turns += bool(owed.legal) and isinstance(event, Tsumo)
        if self._scene.habit == "stops" and self._turns == 1 and owed.legal:
            await self._stop()
        if not self._sender.owes:
            if lines and self._dialect is not LOCKSTEP:
                await self._drain(event)
            return None
        return await self._answer(owed)

    async def _stop(self) -> None:
        self._turns += 1
        if await self._line.stop_for_a_moment():
            self._transcript.note("the bot's process was stopped for a moment")
            self._findings.occasion("B28")

    # --- its replies -------------------------------------------------------------------------

    async def _answer(self, owed: Owed) -> Action | None:
        limit_s = self._limit_s
        starts = not self.played.seconds
        if starts and self._dialect is not LOCKSTEP:
            limit_s = START_S
        leaves = isinstance(owed.event, EndGame)
        while True:
            id_ = self._start_check if starts else ""
            if self._learns:
                reply = await self._learn(owed, id_, limit_s)
            else:
                reply = await self._receive(id_, limit_s, leaves=leaves)
            if leaves and not reply.line:
                return None
            judgement = judge(owed, reply.line)
            if not judgement.is_print:
                break
            self._fail(judgement.id, judgement.problem)
            self._count_extra()
        if starts and self._dialect is not LOCKSTEP:
            self._note_start(reply)
            self._findings.occasion("B01")
        else:
            self._note_time(reply)
        self.played.seconds.append(reply.seconds)
        self.played.replies.append(reply.line)
        if judgement.verdict is not CheckVerdict.OK:
            self._fail(judgement.id, judgement.problem, judgement.verdict)
        for id_ in judgement.occasions:
            self._findings.occasion(id_)
        self._findings.occasion(self._line_check)
        await self._acknowledge(reply)
        await self._drain()
        return judgement.action

    async def _acknowledge(self, reply: TimedLine) -> None:
        ack, problem = self._sender.read_reply(reply.line, reply.seconds)
        if problem:
            verdict = CheckVerdict.NON_STRICT if problem == "no request_id" else CheckVerdict.FAILED
            self._fail(self._line_check, f"{excerpt(reply.line)}: {problem}", verdict)
        if ack is not None:
            await self._send(ack)

    async def _drain(self, event: Event | None = None, *, quietly: bool = False) -> None:
        """Receive the lines that were not requested.

        A bot of Mortal's kind may turn out to answer every line: then one is awaited for each but
        ``end_game``, at which a bot may end without an answer.
        """
        if event is not None and self._learns:
            self._unasked += 1  # its answer to this is read at its first own turn
            return
        if event is not None and self._bot.answers_all and not isinstance(event, EndGame):
            starts = not self.played.replies and self._unasked == 0
            self._unasked += 1
            reply = await self._receive("", START_S if starts else self._limit_s)
            if not _is_pass(reply.line):
                self._extra(reply.line)
            return
        while (line := await self._line.overhear(wait=quietly)) is not None:
            self._transcript.received(line)
            if not (self._has_ended and _is_pass(line)):
                self._extra(line)

    @property
    def _has_ended(self) -> bool:
        """Whether the game is over for a bot that may answer every line, the last one too."""
        answers_each = self._dialect in (LOCKSTEP, LINES)
        return answers_each and (self._game.over or self._is_cut())

    @property
    def _learns(self) -> bool:
        """Whether it is not known yet if the bot answers what leaves no choice."""
        return self._dialect is LINES and self._bot.answers_all is None

    async def _learn(self, owed: Owed, id_: str, limit_s: float) -> TimedLine:
        """Return the answer to a question, behind the bot's answers to all lines before, if any.

        On its own turn a pass is no answer, so the passes before the first other line are those
        answers: one for each line, or none at all.
        """
        reply = await self._receive(id_, limit_s)
        if not isinstance(owed.event, Tsumo):
            return reply
        passes = 0
        while _is_pass(reply.line) and passes < self._unasked:
            passes += 1
            try:
                reply = await self._await(self._limit_s)
            except (SilentError, GoneError, BrokenLineError):
                return reply  # its answer was a pass, which the judge refuses
            self._transcript.received(reply.line)
        self._bot.answers_all = passes > 0
        if passes == self._unasked:
            problem = "it answers what leaves no choice, too: few feeders expect that"
            self._fail("B04", problem, CheckVerdict.NON_STRICT)
        elif passes:
            self._fail("B04", f"{passes} answers to {self._unasked} lines that leave no choice")
        return reply

    def _extra(self, line: bytes) -> None:
        owed = "no protocol" if not line.lstrip().startswith(b"{") else ""
        id_ = "B06" if owed and self._dialect in (LINES, ARRAYS) else self._line_check
        self._fail(id_, f"{excerpt(line)}: no reply was due")
        self._count_extra()

    def _count_extra(self) -> None:
        self._extras += 1
        if self._extras > MOST_EXTRA:
            self._transcript.note("the bot writes without end")
            raise LostError

    async def _receive(self, id_: str, limit_s: float, *, leaves: bool = False) -> TimedLine:
        """Return the next line; with ``leaves`` the bot may be gone instead."""
        try:
            reply = await self._await(limit_s)
        except GoneError as error:
            if leaves:
                self._fail(self._line_check, "no line for end_game", CheckVerdict.NON_STRICT)
                return TimedLine(b"", 0.0)
            self._fail_end(id_ or self._survival, str(error))
        except SilentError:
            self._fail(id_ or self._line_check, f"no line within {2 * limit_s:g} s")
        except BrokenLineError as error:
            self._fail("B05", str(error))
        else:
            self._transcript.received(reply.line)
            return reply
        raise LostError

    async def _await(self, limit_s: float) -> TimedLine:
        try:
            return await self._line.receive(limit_s)
        except SilentError:
            return await self._line.receive(limit_s)

    async def _send(self, line: bytes) -> None:
        self._transcript.sent(line)
        try:
            await self._line.send(line)
        except GoneError as error:
            self._fail_end(self._survival, str(error))
            raise LostError from None

    # --- verdicts ----------------------------------------------------------------------------

    @property
    def _line_check(self) -> str:
        return "B03" if self._dialect is LOCKSTEP else "B04"

    @property
    def _start_check(self) -> str:
        return self._scene.survival or "B01"

    @property
    def _survival(self) -> str:
        return self._scene.survival or self._line_check

    def _note_start(self, reply: TimedLine) -> None:
        seconds = max(reply.seconds, time.perf_counter() - self._started)
        if self._dialect is ARRAYS and reply.seconds > FIRST_ARRAY_S:
            self._fail("B02", f"{reply.seconds:.1f} s to the first line")
        elif self._scene.name == "plain":
            self._fail("B02", f"{seconds:.2f} s to the first line", CheckVerdict.INFO)

    def _note_time(self, reply: TimedLine) -> None:
        self._findings.occasion("B28")
        if reply.seconds > self._limit_s:
            verdict = CheckVerdict.INFO if self._dialect is LINES else CheckVerdict.FAILED
            problem = f"{reply.seconds:.1f} s for a line, {self._limit_s:g} s are allowed"
            self._fail("B28", problem, verdict)

    def _fail_end(self, id_: str, text: str) -> None:
        """Note that the bot ended, unless a check that failed by just this has named it."""
        for included in self._scene.includes:
            if id_ == self._scene.survival and self._findings.failed(included, text):
                self._transcript.note(f"{included} has failed by this: {text}")
                return self._findings.skip(id_, f"not reached: the bot ended as in {included}")
        return self._fail(id_, text)

    def _fail(self, id_: str, text: str, verdict: CheckVerdict = CheckVerdict.FAILED) -> None:
        self._transcript.note(f"{id_} {verdict.value}: {text}")
        self._findings.add(id_, text, self._transcript, verdict)


def _is_pass(line: bytes) -> bool:
    try:
        message = msgspec.json.decode(line)
    except NOT_JSON:
        return False
    return isinstance(message, dict) and message.get("type") == "none"


def _late(events: list[Event]) -> list[Event]:
    """Put each marker of an open kan behind the discard, as some servers do."""
    late = list(events)
    for index in range(len(late) - 1):
        if isinstance(late[index], Dora) and isinstance(late[index + 1], Dahai):
            late[index : index + 2] = late[index + 1], late[index]
    return late
