"""A Tenhou seat's clock: what an answer may take, and what a silent player costs the table.

The door's tasks run in a loop whose time leaps to the next deadline whenever all of them wait.
"""

import asyncio
import contextlib
from itertools import repeat
from typing import NamedTuple

import pytest

from mjbot.game.referee import Referee
from mjbot.play.server.core import OnFault, SeatReply, TableCore
from mjbot.play.server.lobby import Lobby, TableRules
from mjbot.play.server.seats import PlayerSeat
from mjbot.play.server.server import one_room
from mjbot.play.server.tenhou_endpoint import SILENCE_S, TenhouEndpoint
from mjbot.play.server.tenhou_seat import MOST_RETURNS, READY_S, RETURN_S, UNANSWERED_S
from mjbot.protocol.messages import StartKyoku
from mjbot.protocol.sessions.request_server import TimeLimits
from mjbot.protocol.tenhou import tags
from mjbot.protocol.tenhou.codec import SERVER_TAGS, Spelling, TagReader, write
from mjbot.protocol.transports.base import TransportError
from mjbot.protocol.transports.memory import memory_pair
from proof.leaping_time import in_leaping_time

XML = Spelling.XML
NEVER = None


class Thinker:
    """A client that takes so long for its answers: the delays of each hand, and then none.

    ``NEVER`` stands for no answer, ``ready_s`` is its delay before a deal.
    """

    def __init__(self, *delays_s, ready_s=0, rules=1):
        self.hands, self.delays_s = iter(delays_s), iter(())
        self.ready_s, self.rules = ready_s, rules
        self.received, self.gpid, self.listening, self.tasks = [], None, None, []

    def connect(self, door):
        line, far = memory_pair()
        door.begin(far, XML)
        self.listening = self.start(self.listen(line))
        self.start(self.keep_alive(line))

    def start(self, work):
        self.tasks.append(asyncio.create_task(work))
        return self.tasks[-1]

    async def listen(self, line):
        reader = TagReader(XML, SERVER_TAGS)
        self.send(line, tags.ClientHelo(name="x", gpid=self.gpid, sx="M"))
        try:
            while True:
                for tag in reader.feed(await line.receive()):
                    self.received.append(tag)
                    self.take(tag, line)
        except (TransportError, asyncio.CancelledError):
            await line.close()

    async def keep_alive(self, line):
        with contextlib.suppress(TransportError):
            while True:
                await asyncio.sleep(SILENCE_S / 4)
                await line.send(write(tags.KeepAlive(), XML))

    def take(self, tag, line):
        match tag:
            case tags.ServerHelo():
                self.send(line, tags.JoinTable(t=f"0,{self.rules}"))
            case tags.Go(gpid=gpid):
                self.gpid = gpid
                self.send(line, tags.GoOk())
            case tags.Taikyoku() | tags.WinTag() | tags.DrawnHandTag():
                self.send(line, tags.NextReady(), self.ready_s)
            case tags.Init():
                self.delays_s = iter(next(self.hands, ()))
            case tags.DrawTag(tile=int(tile)):
                self.send(line, tags.Discarding(p=tile), next(self.delays_s, 0))
            case tags.DiscardTag(t=int()) | tags.MeldTag(t=int()):
                self.send(line, tags.OfferReply(), next(self.delays_s, 0))

    def send(self, line, tag, delay_s=0):
        async def wait():
            await asyncio.sleep(delay_s)
            with contextlib.suppress(TransportError):
                await line.send(write(tag, XML))

        if delay_s is not NEVER:
            self.start(wait())

    def kinds(self, kind):
        return [tag for tag in self.received if isinstance(tag, kind)]


class Still(PlayerSeat):
    """A player for whom the table acts."""

    async def start(self):
        pass

    async def exchange(self, outgoing):
        return SeatReply(excused=True)

    async def final_message(self, outgoing):
        pass


class Asked(NamedTuple):
    """A question to seat 0: in which hand, how long the table waited, whether it was answered."""

    hand: int
    took_s: float
    answered: bool


async def play(clients, until, limits=None):
    """Play with the clients on the first seats until ``until(questions, door)``."""
    lobby, questions, hands = Lobby(one_room()), [], 0
    door = TenhouEndpoint(lobby, TableRules(seed=3, rules="tonpu", tenhou_limits=limits))
    for number, client in enumerate(clients):
        client.connect(door)
        while len(lobby.waiting) <= number:
            await asyncio.sleep(0)
    for _ in range(4 - len(clients)):
        lobby.take("default", Still("still"))
    seats = await lobby.gather()
    for seat in seats:
        seat.meet(seats)
    core = TableCore(Referee(3, "tonpu"), tuple(seat.name for seat in seats), OnFault.DEFAULT)
    time = asyncio.get_running_loop().time
    while (
        not until(questions, door)
        and (outgoing := core.next()) is not None
        and not outgoing.is_final
    ):
        hands += isinstance(outgoing.message, StartKyoku) and outgoing.seat == 0
        asked_at = time()
        answer = await seats[outgoing.seat].exchange(outgoing)
        if outgoing.legal and outgoing.seat == 0:
            questions.append(Asked(hands, time() - asked_at, answer.reply is not None))
        core.answer(answer)
    if outgoing is not None and outgoing.is_final:
        await seats[0].final_message(outgoing)
    for task in [task for client in clients for task in client.tasks]:
        task.cancel()
    await door.close()
    return questions


def second_hand(questions, door):
    return questions and questions[-1].hand == 2


def times(questions):
    return [pytest.approx(question.took_s) for question in questions]


def test_what_an_answer_takes_beyond_its_grace_comes_from_the_bank_of_the_hand():
    client = Thinker([3, 8, 11, NEVER, 4.5, NEVER], [NEVER])
    asked = in_leaping_time(play([client], second_hand))
    *first, other = asked
    # 10 s of bank: 3 of them for the second answer, 6 for the third; 1 is left for the fourth.
    assert times(first[:7]) == [3, 8, 11, 6, 4.5, 5, 0]
    assert [question.answered for question in first[:7]] == [*3 * [True], False, True, False, True]
    assert {question.took_s for question in first[7:]} == {0}
    assert times([other]) == [15]
    assert not other.answered
    # Where the seat was late the drawn tile was discarded for it.
    drawn = [tag.tile for tag in client.kinds(tags.DrawTag) if tag.seat == 0]
    gone = [tag.tile for tag in client.kinds(tags.DiscardTag) if tag.seat == 0]
    assert gone == drawn[: len(gone)]


def test_a_fast_table_has_its_own_limits():
    asked = in_leaping_time(play([Thinker([7, NEVER, 3.5, NEVER], rules=65)], second_hand))
    assert times(asked[:4]) == [7, 4, 3, 3]
    assert [question.answered for question in asked[:4]] == [True, False, False, False]


def test_a_deal_waits_for_the_seat_and_its_time_counts_from_then():
    asked = in_leaping_time(play([Thinker([14], ready_s=4)], second_hand))
    assert times(asked[:2]) == [18, 0]
    asked = in_leaping_time(play([Thinker([NEVER], ready_s=NEVER)], second_hand))
    assert times(asked[:2]) == [READY_S + 15, 0]


def test_who_answers_nothing_is_sent_away_and_may_come_back_so_often(caplog):
    silent = Thinker(*20 * [repeat(NEVER)])
    witness = Thinker()
    left = []

    def until(questions, door):
        if silent.listening.done():
            left.append((len(questions), len(silent.kinds(tags.Saikai))))
            silent.connect(door)
        return len(silent.kinds(tags.ServerHelo)) == 2

    asked = in_leaping_time(play([silent, witness], until, TimeLimits(7000, 10_000)))
    report = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert report == (MOST_RETURNS + 1) * [
        f"memory: x is cut off: it has answered nothing for {UNANSWERED_S:g} s"
    ]
    assert [returns for _, returns in left] == [*range(MOST_RETURNS + 1)]
    assert len(witness.kinds(tags.ServerBye)) == MOST_RETURNS + 1
    assert len(witness.kinds(tags.Names)) == 1 + MOST_RETURNS
    # Seven seconds each, and once the bank of ten.
    assert times(asked[:8]) == [17, *7 * [7]]
    assert not any(question.answered for question in asked)


def test_who_is_gone_is_waited_for_once():
    gone = Thinker([0, 0])

    def until(questions, door):
        if len(questions) == 2:
            gone.listening.cancel()
        return second_hand(questions, door)

    asked = in_leaping_time(play([gone], until))
    # What it was asked when it left is answered for it, the next question waits for it.
    assert times(asked) == [0, 0, 0, RETURN_S, *(len(asked) - 4) * [0]]
    assert [question.answered for question in asked[:3]] == [True, True, False]
    assert len(asked) > 10


class Showing(Thinker):
    """A client that shows the last result for a while before it is ready and leaves."""

    def __init__(self, shown_s):
        super().__init__()
        self.shown_s, self.asked_at, self.left_at = shown_s, None, None

    def take(self, tag, line):
        if getattr(tag, "owari", None) is None:
            super().take(tag, line)
            return
        self.asked_at = asyncio.get_running_loop().time()
        self.start(self.leave(line))

    async def leave(self, line):
        await asyncio.sleep(self.shown_s)
        await line.send(write(tags.NextReady(), XML))
        await line.send(write(tags.ClientBye(), XML))
        self.left_at = asyncio.get_running_loop().time()


@pytest.mark.parametrize(("shown_s", "left_s"), [(0.0, 0.0), (5.0, 5.0), (60.0, None)])
def test_a_client_may_show_the_last_result_before_it_leaves(shown_s, left_s):
    client = Showing(shown_s)
    in_leaping_time(play([client], lambda questions, door: False))
    assert client.asked_at is not None
    left = client.left_at and client.left_at - client.asked_at
    assert left == (left_s if left_s is None else pytest.approx(left_s))
