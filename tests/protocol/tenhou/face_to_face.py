"""Client and server sessions at one table, face to face in memory, among our own referee."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from msgspec.structs import replace

from mjbot.game.referee import Referee
from mjbot.game.table.actions import Action
from mjbot.game.table.legal import is_furiten
from mjbot.game.table.mirror.mirror import Mirror
from mjbot.game.table.mirror.wire import to_message
from mjbot.game.table.view import View
from mjbot.play.server.core import EXCUSED, Outgoing, SeatReply, TableCore
from mjbot.play.server.offers import without_hints
from mjbot.protocol.messages import Event, Hora, Ryukyoku, StartGame, Tsumo
from mjbot.protocol.rules import RANKED, Length, Rules
from mjbot.protocol.sessions.turns import ReplyDuty
from mjbot.protocol.tenhou.client import TenhouClient, TenhouReceived
from mjbot.protocol.tenhou.codec import Spelling
from mjbot.protocol.tenhou.game_type import GENERAL_HANCHAN, game_type
from mjbot.protocol.tenhou.login import Login, TableType
from mjbot.protocol.tenhou.offers import disagreement
from mjbot.protocol.tenhou.server import LogIn, RequestTable, TenhouServer
from mjbot.protocol.tenhou.table import SeatTable
from mjbot.strategy.registry import make_strategy

Choose = Callable[[View], Action]
NAMES = ("east", "south <1>", "西", "north")


def at_random(seed: int) -> Choose:
    rng = random.Random(seed)

    def choose(view: View) -> Action:
        # Riichi, calls and wins must not drown among the discards.
        rare = [action for action in view.legal if not action.is_discard and not action.is_pass]
        return rng.choice(rare if rare and rng.random() < 0.7 else view.legal)

    return choose


def by_strategy(seed: int) -> Choose:
    return make_strategy("fast-riichi-c", seed=seed).decide


@dataclass
class Player:
    """One seat: our client with a strict mirror, and the server's session opposite."""

    seat: int
    spelling: Spelling
    choose: Choose
    rng: random.Random
    whole: bool = True
    type: int = int(GENERAL_HANCHAN)
    events_sent: list[Event] = field(default_factory=list)
    events_received: list[Event] = field(default_factory=list)
    traffic: list[str] = field(default_factory=list)
    blind_answers: int = 0
    is_gone: bool = False

    def __post_init__(self) -> None:
        self.table = SeatTable(self.seat, self.type, gpid=f"guest-{self.seat}")
        self.client = TenhouClient(Login(), TableType(0, self.type), self.spelling)
        self.mirror: Mirror | None = None
        self.log_in()

    def log_in(self) -> None:
        self.server = TenhouServer(self.spelling)
        (wish,) = self.to_server(self.client.open())
        assert wish == LogIn("NoName")
        (wish,) = self.to_client(self.server.welcome(NAMES[self.seat]))
        table = TableType(0, self.type)
        assert wish == RequestTable(table)
        (wish,) = self.to_client(self.server.rejoin(table))
        assert wish == RequestTable(table, again=True)
        self.server.sit(self.table)

    def cut(self) -> None:
        """Lose the connection and come back over a new one."""
        self.is_gone = False
        self.server = TenhouServer(self.spelling)
        (wish,) = self.to_server(self.client.reconnect())
        assert wish == LogIn("NoName", gpid=f"guest-{self.seat}")
        self.to_client(self.server.sit_again(self.table))

    def vanish(self) -> None:
        """Lose the connection; the table goes on telling the seat, whom nobody hears."""
        self.is_gone = True

    def to_server(self, frames: tuple[bytes, ...]) -> list[object]:
        wishes: list[object] = []
        for data in self.pieces(frames):
            self.traffic += [f"Send: {_line(data)}"] if self.whole else []
            taken = self.server.receive(data)
            wishes += taken.wishes
            wishes += self.to_client(taken.frames)
        return wishes

    def to_client(self, frames: tuple[bytes, ...]) -> list[object]:
        wishes: list[object] = []
        for data in self.pieces(frames):
            self.traffic += [f"Get: {_line(data)}"] if self.whole else []
            received = self.client.receive(data)
            assert not received.lapsed
            wishes += self.digest(received)
        return wishes

    def pieces(self, frames: tuple[bytes, ...]) -> list[bytes]:
        """Over TCP frames come together, or in pieces that end anywhere."""
        if self.spelling is Spelling.JSON or not frames:
            return list(frames)
        data = b"".join(frames)
        if self.whole:
            return [data]
        cuts = sorted(self.rng.randrange(len(data)) for _ in range(2))
        return [data[: cuts[0]], data[cuts[0] : cuts[1]], data[cuts[1] :]]

    def digest(self, received: TenhouReceived) -> list[object]:
        for event in received.events:
            self.events_received.append(event)
            if isinstance(event, StartGame):
                self.mirror = Mirror(self.client.seat)
            assert self.mirror is not None
            self.mirror.apply(event)
            if isinstance(event, Tsumo) and not received.blind:
                assert self.client.furiten == bool(is_furiten(self.mirror.state, self.seat))
        wishes = self.to_server(received.frames)
        if received.duty is ReplyDuty.MUST:
            wishes += self.digest(self.answer(received))
        return wishes

    def answer(self, received: TenhouReceived) -> TenhouReceived:
        if received.blind:
            self.blind_answers += 1
            return self.client.reply_safely()
        assert self.mirror is not None
        view = self.mirror.view(self.seat)
        expected = [to_message(self.mirror.state, self.seat, action) for action in view.legal]
        assert received.offer is not None
        assert disagreement(received.offer, expected) is None
        action = self.choose(view) if len(view.legal) > 1 else view.legal[0]
        return self.client.reply(to_message(self.mirror.state, self.seat, action))

    def exchange(self, outgoing: Outgoing) -> SeatReply:
        assert isinstance(outgoing.message, Event)
        self.events_sent.append(outgoing.message)
        lamp = bool(is_furiten(outgoing.referee.state, self.seat))
        frames = self.server.send(outgoing.message, outgoing.offers(), lamp)
        if self.is_gone:
            self.table.take_ready()
            self.table.expire()
            return EXCUSED
        self.to_client(frames)
        assert not self.table.held
        assert not self.table.asked
        reply = self.table.take_answer()
        return SeatReply(reply=reply, excused=reply is None)


def plain(event: Event) -> Event:
    """The event without what only mjai's server tells, and with its tiles and yaku in order."""
    event = without_hints(event)
    if consumed := getattr(event, "consumed", None):
        return replace(event, consumed=tuple(sorted(consumed)))
    if isinstance(event, Hora) and event.hora_tehais:
        yakus = tuple(sorted(event.yakus or ()))
        return replace(event, hora_tehais=tuple(sorted(event.hora_tehais)), yakus=yakus)
    if isinstance(event, Ryukyoku) and event.tehais:
        hands = tuple(tuple(sorted(hand)) for hand in event.tehais)
        tenpais = event.tenpais if event.reason == "fanpai" else None  # only there it is plain
        return replace(event, tehais=hands, tenpais=tenpais)
    return event


def _line(data: bytes) -> str:
    return data.decode().replace("\0", " ").strip()


def play(
    players: list[Player],
    seed: int,
    rules: Rules | Length = "hanchan",
    before: Callable[[Outgoing], None] = lambda outgoing: None,
    away: int | None = None,
) -> TableCore:
    """Play a whole game; ``before`` sees whatever is sent next, the seat ``away`` may be gone."""
    core = TableCore(Referee(seed, rules), NAMES[: len(players)])
    while (outgoing := core.next()) is not None:
        before(outgoing)
        answer = players[outgoing.seat].exchange(outgoing)
        if not outgoing.is_final:
            core.answer(answer)
    assert {(fault.seat, fault.kind) for fault in core.faults} <= {(away, "absent")}
    return core


def seated(
    spelling: Spelling,
    seed: int,
    choose: Callable[[int], Choose] = at_random,
    whole: bool = True,
    rules: Rules = RANKED,
) -> list[Player]:
    type_ = int(game_type(rules))
    return [
        Player(seat, spelling, choose(100 * seed + seat), random.Random(seat), whole, type_)
        for seat in range(rules.players)
    ]
