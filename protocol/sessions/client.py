"""A player's side of a conversation: no clock, no socket, only whose word it is.

Feed every line to :meth:`ClientSession.receive`; it returns the events in it and what they call
for.  Whenever ``duty`` is not ``MUST_NOT``, call :meth:`ClientSession.reply` once, with an
action or with ``None`` for "no reply", and send what it returns, if anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from msgspec.structs import replace

from mjbot.protocol import messages as m
from mjbot.protocol.codec import decode_all, encode
from mjbot.protocol.dialects import Answers, Dialect
from mjbot.protocol.errors import LocalProtocolError, ProtocolError
from mjbot.protocol.reading import SPELLINGS_OF_KITA, shows_three
from mjbot.protocol.rules import RANKED
from mjbot.protocol.sessions.stages import first_stage, next_stage
from mjbot.protocol.sessions.time_bank import TimeBank
from mjbot.protocol.sessions.turns import Due, ReplyDuty, due_after, reply_duty
from mjbot.protocol.tenhou.offers import Offer


@dataclass(frozen=True)
class Received:
    """The messages of one line, and what they call for.

    ``events`` are what a table applies, in order; ``others`` all other messages
    (errors, acknowledgements, verdicts) and events that came twice.  ``hints`` is the server's own
    list of legal actions and ``cannot_discard`` its list of forbidden tiles, ``None`` where it gave
    none.
    ``request_id`` and ``deadline_ms`` are the request's and what the server leaves for the answer,
    ``offer`` what Tenhou's offers with what is due.
    """

    events: tuple[m.Event, ...] = ()
    others: tuple[m.Message, ...] = ()
    due: Due = Due.NOTHING
    duty: ReplyDuty = ReplyDuty.MUST_NOT
    hints: tuple[m.Hint, ...] | None = None
    cannot_discard: tuple[m.Tile, ...] | None = None
    request_id: int | None = None
    deadline_ms: int | None = None
    offer: Offer | None = None


class ClientSession:
    """One player's conversation with one server.

    ``seat`` is needed where the server does not send it (Mortal's habit); ``name`` and ``room``
    only over TCP.  ``seat`` and ``names`` are known from start_game on.

    ``players`` is how many play, whatever the server shows (``None``: what start_game shows, else
    the first deal, else four).
    """

    def __init__(
        self,
        dialect: Dialect,
        *,
        name: str = "mjbot",
        room: str = "default",
        seat: m.Seat | None = None,
        players: int | None = None,
    ) -> None:
        self.dialect: Final = dialect
        self.players = players or RANKED.players
        self._given_players: Final = players
        self._is_announced = True
        """Whether start_game stated how many play; else the deals of three state it."""
        self._kita = dialect.traits.kita
        self.seat = seat
        self.names: tuple[str, ...] = ()
        self.stage = first_stage(dialect)
        self._given_seat: Final = seat
        self._join: Final = m.Join(name=name, room=room)
        self._received = Received()
        self._request: m.RequestAction | None = None
        self._due = Due.NONE
        """What the last event calls for, however often it is requested."""
        self._answered: set[int] = set()
        self._last_event: m.Event | None = None
        self._scores: m.FourInts | None = None
        self.bank: TimeBank | None = None
        """The thinking time as the server keeps it, from its first request on."""

    def receive(self, line: bytes | str) -> Received:
        """Take in one line (or frame) and return its messages and what they call for.

        Raises :class:`ProtocolError` when it is not mjai or has no place here, and
        :class:`LocalProtocolError` when the line before still waits for its reply.
        """
        on_request = self.dialect.traits.answers is Answers.REQUESTS
        if self._received.duty is ReplyDuty.MUST and not on_request:
            raise LocalProtocolError("receive", "the line before still waits for its reply")
        if not on_request:
            self._due = Due.NONE
        events: list[m.Event] = []
        others: list[m.Message] = []
        decisive: m.Message | None = None
        self._note_players(line)
        for read in self._with_known_scores(decode_all(line, self.players)):
            message = self._with_players(read)
            is_repeated = self._is_repeated(message)
            if not is_repeated:
                self.stage = next_stage(self.dialect, self.stage, message)
            if isinstance(message, m.StartGame):
                self._take_seat(message)
            self._keep_time(message)
            self._due = self._due_after(message)
            if isinstance(message, m.Event) and not is_repeated:
                events.append(message)
                self._last_event = message
            else:
                others.append(message)
            if decisive is None or isinstance(message, m.Event | m.RequestAction):
                decisive = message
        self._received = self._digest(events, others, decisive, blank=not line.strip())
        return self._received

    def reply(self, action: m.PlayerAction | None) -> bytes | None:
        """Return the line of ``action`` (``None``: no reply), or ``None``: no line.

        Raises :class:`LocalProtocolError` when it is not allowed now.
        """
        received = self._received
        if received.duty is ReplyDuty.MUST_NOT:
            raise LocalProtocolError("reply", "no reply is due now")
        line = self._line(action, received)
        if received.request_id is not None:
            self._answered.add(received.request_id)
        self._received = Received()
        self._request = None
        return line

    # --- receiving ---------------------------------------------------------------------------

    def _note_players(self, line: bytes | str) -> None:
        """Take note of how many play, where the line shows it, and what they call a kita."""
        data = line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line
        if b'"start_game"' in data:
            self.players = self._given_players or RANKED.players
        if b'"start_' in data and self._given_players is None and shows_three(data):
            self.players = 3
        for word in SPELLINGS_OF_KITA if self.players == 3 else ():
            if b'"%b"' % word.encode() in data:
                self._kita = word

    def _with_players(self, message: m.Message) -> m.Message:
        """Add to a deal how many play, where start_game did not state it."""
        if isinstance(message, m.StartGame):
            self._is_announced = message.mjbot_rules is not None
        elif isinstance(message, m.StartKyoku) and self.players == 3 and not self._is_announced:
            self.names = self.names[:3]
            return replace(message, num_players=3)
        return message

    def _take_seat(self, start: m.StartGame) -> None:
        seat = start.id
        if not self.dialect.traits.has_own_seat_ids and self._given_seat is not None:
            seat = self._given_seat
        if seat is None:
            seat = self._given_seat
        if seat is None:
            raise ProtocolError("start_game.id", "missing, and no seat was given")
        self.seat = seat
        self.names = (start.names or ())[: self.players]

    def _keep_time(self, message: m.Message) -> None:
        """Keep the time bank as the server does: its requests and verdicts say what is left."""
        bank = self.bank
        match message:
            case m.RequestAction(grace_ms=int(grace_ms), bank_ms=int(left_ms)):
                if bank is None or grace_ms != bank.grace_ms or left_ms > bank.full_ms:
                    self.bank = bank = TimeBank(grace_ms, left_ms)
                bank.left_ms = left_ms
            case m.StartKyoku() if bank is not None:
                bank.refill()
            case m.ActionAck(bank_ms=int(left_ms)) if bank is not None:
                bank.left_ms = left_ms
            case m.ActionAck(status="defaulted") if bank is not None:
                bank.left_ms = 0
            case m.ActionAck(bank_consumed_ms=int(consumed_ms)) if bank is not None:
                bank.left_ms = max(0, bank.left_ms - consumed_ms)
            case m.ActionAck(status=status, elapsed_ms=int(elapsed_ms)) if bank is not None:
                if status != "stale":
                    bank.spend(elapsed_ms)

    def _deadline_ms(self) -> int | None:
        """Return how long the open request may take, if anything is known of it."""
        if self._request is None:
            return None
        bank = self.bank
        return self._request.deadline_ms or (None if bank is None else bank.deadline_ms)

    def _with_known_scores(self, messages: tuple[m.Message, ...]) -> tuple[m.Message, ...]:
        """Add the scores of a hora without a winner to the next deal, which lacks them."""
        known = []
        for message in messages:
            if isinstance(message, m.ScoresOnly):
                self._scores = message.scores
            elif isinstance(message, m.StartKyoku) and self._scores is not None:
                message = replace(message, scores=message.scores or self._scores)
                self._scores = None
            known.append(message)
        return tuple(known)

    def _is_repeated(self, message: m.Message) -> bool:
        """Whether an event is the one before once more: at a table only markers may be alike."""
        return message == self._last_event and not isinstance(message, m.Dora)

    def _due_after(self, message: m.Message) -> Due:
        traits = self.dialect.traits
        is_foreign = isinstance(message, m.Hello) and not traits.opens_with_hello
        if is_foreign or (isinstance(message, m.Error) and not traits.error_is_fatal):
            return self._due
        return due_after(message, self.seat, self._due)

    def _digest(
        self,
        events: Sequence[m.Event],
        others: Sequence[m.Message],
        decisive: m.Message | None,
        *,
        blank: bool,
    ) -> Received:
        """Return what a line holds; ``decisive`` is its message that says what is due."""
        self._request = decisive if isinstance(decisive, m.RequestAction) else None
        duty = reply_duty(self.dialect, self._due, asked=self._request is not None)
        request_id = None if self._request is None else self._request.request_id
        # Asked once more before anything has happened, the answer is given again.
        is_stale = request_id in self._answered and not self._due.is_choice
        if blank or is_stale or not (decisive is None or decisive.can_act):
            duty = ReplyDuty.MUST_NOT
        forbids = decisive if isinstance(decisive, m.Chi | m.Pon | m.Reach) else None
        return Received(
            events=tuple(events),
            others=tuple(others),
            due=self._due,
            duty=duty,
            hints=_hints(decisive),
            cannot_discard=None if forbids is None else forbids.cannot_dahai,
            request_id=request_id,
            deadline_ms=self._deadline_ms(),
        )

    # --- replying ----------------------------------------------------------------------------

    def _line(self, action: m.PlayerAction | None, received: Received) -> bytes | None:
        if received.due is Due.JOIN:
            return encode(self._join, self.dialect)
        if action is None and received.duty is ReplyDuty.MAY:
            return None
        message = m.Skip() if action is None else action
        self._check(message, received)
        return encode(message, self.dialect, self._envelope(message))

    def _check(self, action: m.PlayerAction, received: Received) -> None:
        name = m.wire_name(action)
        allowed = received.due.value or Due.NONE.value  # mjai.app requires a line for end_game
        if self._request is not None and received.hints:
            allowed = tuple({hint.type: None for hint in received.hints})
        if name not in allowed:
            expected = " or ".join(allowed)
            raise LocalProtocolError("reply.type", f"{name} is not an answer here, only {expected}")
        if action.actor not in (self.seat, None) or (action.actor is None and name != "none"):
            raise LocalProtocolError(
                f"{name}.actor", f"expected the own seat {self.seat}, got {action.actor}"
            )

    def _envelope(self, message: m.PlayerAction) -> dict[str, Any] | None:
        word = {"type": self._kita} if isinstance(message, m.Kita) else {}
        if self._request is None or self._request.request_id is None:
            return word or None
        return word | {"request_id": self._request.request_id}


def _hints(last: m.Message | None) -> tuple[m.Hint, ...] | None:
    if isinstance(last, m.Tsumo | m.Dahai | m.Kakan | m.RequestAction):
        return last.possible_actions
    return None
