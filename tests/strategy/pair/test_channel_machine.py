"""A pair's channel under everything that can happen to it, in any order.

Two ends talk over wires on which lines are held back until the machine lets them go: in order,
twice, late, not at all, or mixed with what strangers say and with lines of long ago.  Nobody may
ever act on a hand that is not what the partner holds now, and no stranger may hear of one.
"""

import asyncio
import os
from collections import deque

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from mjbot.protocol.transports.base import Transport, VanishedError
from mjbot.strategy.pair import socket_link
from mjbot.strategy.pair.messages import GameHello, PairHello, Proof, SharedHand, encode
from mjbot.strategy.pair.session import Side
from mjbot.strategy.pair.socket_link import SocketLink

EXAMPLES = int(os.environ.get("MJBOT_EXAMPLES", "12"))
SECRET = b"known to the two of us"
SIDES = (Side.HOST, Side.GUEST)
sides = st.sampled_from(SIDES)


class Wire(Transport):
    """One end of a connection; what it says waits in ``output`` until it is let go."""

    def __init__(self):
        self.output = deque()
        self.every = []
        self._inbox = asyncio.Queue()
        self.is_open = True

    async def receive(self, timeout_s=None):
        line = await self._inbox.get()
        if line is None:
            self.is_open = False
            raise VanishedError("the other side is gone")
        return line

    async def send(self, line):
        if not self.is_open:
            raise VanishedError("this end is closed")
        self.output.append(line)
        self.every.append(line)

    async def close(self):
        self.is_open = False

    def hear(self, line):
        self._inbox.put_nowait(line)


class Channel(RuleBasedStateMachine):
    """Two ends, the wires between them, and strangers."""

    def __init__(self):
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self._patience, socket_link.PATIENCE_MS = socket_link.PATIENCE_MS, 0
        self.tasks, self.strangers, self.old_lines = [], [], [b"{}"]
        self.wires = {}
        self.game = dict.fromkeys(SIDES, 0)
        self.turn = dict.fromkeys(SIDES, 0)
        self.report = {}  # serial -> the listener's game then
        self.serial = 0
        self.ends = {side: self._end(side) for side in SIDES}

    def teardown(self):
        for task in self.tasks:
            task.cancel()
        self._settle()
        failed = [task for task in self.tasks if not task.cancelled() and task.exception()]
        assert not failed, failed[0].exception()
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()
        socket_link.PATIENCE_MS = self._patience

    def _end(self, side):
        async def make():
            link = SocketLink(side, 1, SECRET)
            link._loop, link._to_send = asyncio.get_running_loop(), asyncio.Event()
            return link

        return self.loop.run_until_complete(make())

    def _settle(self):
        async def turn():
            for _ in range(12):
                await asyncio.sleep(0)

        self.loop.run_until_complete(turn())

    def _converse(self, side, wire):
        self.tasks.append(self.loop.create_task(self.ends[side]._converse(wire)))

    # --- connections -------------------------------------------------------------------------

    @initialize()
    def begin(self):
        self.connect()

    @rule()
    def connect(self):
        """The guest comes (again); the old connection may still be there."""
        for wire in self.wires.values():
            self.old_lines += wire.every
        self.wires = {side: Wire() for side in SIDES}
        for side in SIDES:
            self._converse(side, self.wires[side])
        self._settle()

    @rule()
    def cut(self):
        for wire in self.wires.values():
            wire.output.clear()
            wire.hear(None)
        self._settle()

    @rule(side=sides)
    def die(self, side):
        """The process of one end is killed, and another takes its place and game."""
        self.wires[side].hear(None)
        self.wires[side.other].hear(None)
        self._settle()
        self.ends[side] = self._end(side)
        self.start_game(side)

    # --- what the strategies do --------------------------------------------------------------

    @rule(side=sides)
    def start_game(self, side):
        self.game[side] += 1
        self.turn[side] = 0
        self.ends[side].start_game()
        self._settle()

    @rule(side=sides)
    def send(self, side):
        self.serial += 1
        self.turn[side] += 1
        self.report[self.serial] = self.game[side.other]
        self.ends[side].send(self._holding(side))
        self._settle()

    def _holding(self, side):
        seat = 0 if side is Side.HOST else 2
        return SharedHand(
            game="g", kyoku=0, honba=self.serial, turn=self.turn[side], seat=seat, hand=("E",) * 13
        )

    @invariant()
    def only_what_the_partner_holds_now_is_believed(self):
        for side in SIDES:
            now = self.turn[side.other]
            received = self.ends[side].newest(lambda output, now=now: output.turn == now)
            if received is None:
                continue
            assert self.ends[side].linked
            assert received.seat == (2 if side is Side.HOST else 0)
            assert self.report[received.honba] == self.game[side], "a hand of a game before"

    # --- what happens to lines ---------------------------------------------------------------

    @rule(side=sides, how=st.sampled_from(["pass", "pass", "all", "all", "twice", "drop", "swap"]))
    def let_go(self, side, how):
        waiting, other = self.wires[side].output, self.wires[side.other]
        if how == "swap" and len(waiting) > 1:
            waiting[0], waiting[1] = waiting[1], waiting[0]
        for _ in range(len(waiting) if how == "all" else min(1, len(waiting))):
            line = waiting.popleft()
            for _ in range({"drop": 0, "twice": 2}.get(how, 1)):
                other.hear(line)
        self._settle()

    @rule(side=sides, data=st.data())
    def inject(self, side, data):
        """Something comes that the partner did not say now: garbage, or a line of long ago."""
        lines = [b"", b"\xff", b"[]", b'{"type":"proof"}', encode(PairHello(challenge="a" * 64)),
                 encode(Proof(digest="b" * 64)), encode(GameHello(game="c" * 16)),
                 *self.old_lines[-40:]]  # fmt: skip
        self.wires[side].hear(data.draw(st.sampled_from(lines)))
        self._settle()

    @rule(data=st.data())
    def stranger(self, data):
        """Somebody who does not know the secret comes to the host, and says what it has heard."""
        wire = Wire()
        self.strangers.append(wire)
        self._converse(Side.HOST, wire)
        known = [encode(PairHello(challenge="d" * 64)), encode(Proof(digest="e" * 64)),
                 *self.old_lines[-40:], *wire.every]  # fmt: skip
        for line in data.draw(st.lists(st.sampled_from(known), max_size=4)):
            wire.hear(line)
            self._settle()

    @invariant()
    def no_stranger_hears_of_a_hand(self):
        for wire in self.strangers:
            for line in wire.every:
                assert b"holding" not in line and b"sitting" not in line and SECRET not in line

    # --- in the end it works -----------------------------------------------------------------

    @rule(side=sides)
    def in_peace_a_word_is_heard(self, side):
        self.cut()
        for each in SIDES:
            self.start_game(each)
        self.connect()
        for _ in range(3):
            for each in SIDES:
                self.let_go(each, "all")
        self.send(side)
        self.let_go(side, "all")
        received = self.ends[side.other].newest(lambda output: True)
        assert received is not None and received.honba == self.serial


TestChannel = Channel.TestCase
TestChannel.settings = settings(max_examples=EXAMPLES, stateful_step_count=40)
