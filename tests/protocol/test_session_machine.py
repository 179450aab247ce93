"""A server's and a client's session face to face, whatever is said between them in any order.

As long as nobody breaks the rules, what one says the other hears, in each dialect.  What is said
too early, twice, by the wrong seat or not in mjai at all is refused in one line by the side that
notices first; then the connection is cut, and both come back.
"""

import os
from collections import deque

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from mjbot.protocol.codec import encode
from mjbot.protocol.dialects import ARRAYS, LINES, LOCKSTEP, REQUESTS
from mjbot.protocol.errors import LocalProtocolError, ProtocolError
from mjbot.protocol.masking import masked
from mjbot.protocol.messages import (
    Chi,
    Dahai,
    EndGame,
    EndKyoku,
    Kakan,
    Pon,
    Reach,
    Skip,
    StartGame,
    StartKyoku,
    Tsumo,
)
from mjbot.protocol.sessions.client import ClientSession
from mjbot.protocol.sessions.lockstep_server import FaultError, JoinRefusedError, LockstepSession
from mjbot.protocol.sessions.pipes import pipe_session
from mjbot.protocol.sessions.request_server import RequestSession
from mjbot.protocol.sessions.turns import Due, ReplyDuty, due_after

EXAMPLES = int(os.environ.get("MJBOT_EXAMPLES", "20"))
NAMES = ("a", "b", "c", "d")
POINTS = (25000,) * 4
HANDS = tuple((tile,) * 13 for tile in ("1m", "2m", "3m", "4m"))
DEAL = StartKyoku(
    bakaze="E", kyoku=1, honba=0, kyotaku=0, oya=0, dora_marker="N", tehais=HANDS, scores=POINTS
)
GARBAGE = [
    b"", b"{", b"\xff\xfe", b"null", b"[[]]", b'{"type":', b"[" * 3000, b"[]",
    b'{"type":"none","actor":9}', b'{"type":"dahai","actor":0}', b'{"type":"hello"}',
    b'{"type":"end_kyoku"}',
    b'{"type":"tsumo","actor":0,"pai":"5m"}', b'{"type":"error","message":"\\u0000"}',
    b'{"type":"new","actor":1}', b'{"type":"request_action","possible_actions":[]}',
    b'{"request_id":1e99,"type":"dahai"}', b'{"type":"join","name":1,"room":"default"}',
]  # fmt: skip

seats = st.integers(0, 3)
events = st.one_of(
    st.builds(Tsumo, actor=seats, pai=st.sampled_from(["5m", "5mr", "C"])),
    st.builds(Dahai, actor=seats, pai=st.sampled_from(["5p", "E"]), tsumogiri=st.booleans()),
    st.builds(Pon, actor=seats, target=seats, pai=st.just("E"), consumed=st.just(("E", "E"))),
    st.builds(Chi, actor=seats, target=seats, pai=st.just("3s"), consumed=st.just(("4s", "5sr"))),
    st.builds(Kakan, actor=seats, pai=st.just("E"), consumed=st.just(("E",) * 3)),
    st.builds(Reach, actor=seats),
)
garbage = st.sampled_from(GARBAGE) | st.binary(max_size=12)


class Talk(RuleBasedStateMachine):
    """One table and one player, and the line between them."""

    @initialize(dialect=st.sampled_from([LOCKSTEP, REQUESTS, LINES, ARRAYS]), seat=seats)
    def sit_down(self, dialect, seat):
        self.dialect, self.seat = dialect, seat
        self.come()

    def come(self):
        """Make a connection: the game on it begins anew."""
        self.client = ClientSession(self.dialect, name="bot", seat=self.seat)
        self.to_client, self.to_server = deque(), deque()
        self.stage = "before"
        self.shown, self.events_received = [], []
        self.owes, self.due, self.answer = False, Due.NOTHING, None
        self.reply_sent = None
        if self.dialect is LOCKSTEP:
            self.server = LockstepSession()
            assert self.client.receive(self.server.hello()).duty is ReplyDuty.MUST
            assert self.server.join(self.client.reply(None)).name == "bot"
        elif self.dialect is REQUESTS:
            self.server = RequestSession()
        else:
            self.server = pipe_session(self.dialect, self.seat)

    # --- the table ---------------------------------------------------------------------------

    @rule(event=events, ends=st.booleans())
    def table_says(self, event, ends):
        """Show the next event; while an answer is awaited there is none."""
        if self.waits():
            if self.dialect is LOCKSTEP:
                with pytest.raises(LocalProtocolError, match="the line before still awaits"):
                    self.server.send(EndKyoku())
            return
        self.stage, message = {
            "before": ("between", StartGame(names=NAMES)),
            "between": ("over", EndGame(scores=POINTS)) if ends else ("playing", DEAL),
            "playing": ("between", EndKyoku()) if ends else ("playing", event),
            "over": ("over", None),
        }[self.stage]
        if message is not None:
            self.show(masked(message, self.seat))

    def waits(self):
        return self.owes or self.to_client or self.to_server or self.reply_sent is not None

    def show(self, shown):
        due = due_after(shown, self.seat)
        self.offers = self.offers_for(due)
        if self.dialect is LOCKSTEP:
            self.to_client.append(self.server.send(shown))
        elif self.dialect is REQUESTS:
            self.to_client.append(self.server.send(shown))
            if self.offers:
                self.to_client.append(self.server.request(self.offers))
        elif (line := self.server.send(shown, self.offers)) is not None:
            self.to_client.append(line)
        self.shown.append(shown)

    def offers_for(self, due):
        discard = Dahai(actor=self.seat, pai="E", tsumogiri=False)
        pon = Pon(actor=self.seat, target=(self.seat + 1) % 4, pai="E", consumed=("E", "E"))
        return {Due.TURN: (discard,), Due.DISCARD: (discard,), Due.CLAIM: (Skip(), pon),
                Due.ROB: (Skip(),)}.get(due, ())  # fmt: skip

    @precondition(lambda self: self.to_server)
    @rule()
    def table_hears(self):
        line, reply = self.to_server.popleft(), self.reply_sent
        self.reply_sent = None
        if self.dialect is REQUESTS:
            verdict = self.server.receive(line, 50)
            assert self.offers[verdict.choice] == reply and verdict.status == "accepted"
            assert self.client.receive(verdict.ack).duty is ReplyDuty.MUST_NOT
            again = self.server.receive(line, 50)  # the same reply comes twice
            assert again.status == "stale"
        else:
            assert self.server.receive(line) == reply

    # --- the player --------------------------------------------------------------------------

    @precondition(lambda self: self.to_client and not self.owes)
    @rule()
    def player_hears(self):
        received = self.client.receive(self.to_client.popleft())
        self.events_received += received.events
        self.owes = received.duty is not ReplyDuty.MUST_NOT
        self.due = received.due
        if not self.to_client and self.dialect is not ARRAYS:
            assert len(self.events_received) == len(self.shown)
            assert [type(one) for one in self.events_received] == [type(one) for one in self.shown]

    @precondition(lambda self: self.owes)
    @rule(data=st.data())
    def player_answers(self, data):
        must_pass = not self.offers
        reply = Skip() if must_pass else data.draw(st.sampled_from(self.offers))
        line = self.client.reply(reply)
        self.owes = False
        self.to_server.append(line)
        self.reply_sent = reply

    @precondition(lambda self: self.owes)
    @rule(data=st.data())
    def player_would_answer_what_is_not_its_to_say(self, data):
        """It is held back, and still owes its answer."""
        other = (self.seat + 1) % 4
        wrong = [Reach(actor=other), Dahai(actor=other, pai="E", tsumogiri=False)]
        if "reach" not in self.due.value:
            wrong.append(Reach(actor=self.seat))
        with pytest.raises(LocalProtocolError, match=r"^(reply\.type|\w+\.actor): "):
            self.client.reply(data.draw(st.sampled_from(wrong)))

    @precondition(lambda self: not self.owes)
    @rule()
    def player_would_speak_unasked(self):
        with pytest.raises(LocalProtocolError, match="no reply is due now"):
            self.client.reply(None)

    @precondition(lambda self: self.owes and self.dialect is not REQUESTS)
    @rule()
    def player_hears_before_it_has_answered(self):
        """Off RiichiLab's wire that would lose step; only where a pass is silent it would not."""
        line = encode(EndKyoku(), self.dialect)
        if self.dialect is LINES and self.due in (Due.CLAIM, Due.ROB):
            return
        with pytest.raises(LocalProtocolError, match="still waits for its reply"):
            self.client.receive(line)

    # --- the line ----------------------------------------------------------------------------

    @rule()
    def cut(self):
        """Both ends notice, and meet again."""
        if self.dialect is LOCKSTEP and self.server.due is not Due.NOTHING and self.stage != "over":
            try:
                assert self.server.vanish() == Skip()
            except FaultError as fault:
                assert f"player {self.seat}'s response" in str(fault)
        self.come()

    @precondition(lambda self: not self.owes)
    @rule(line=garbage)
    def garbage_to_the_player(self, line):
        """It is refused by its field, or says nothing; either way the connection is not good."""
        try:
            self.client.receive(line)
        except ProtocolError as error:
            assert error.field and error.problem
        self.come()

    @rule(line=garbage)
    def garbage_to_the_table(self, line):
        if self.dialect is REQUESTS:
            bank = self.server.deadline_ms
            verdict = self.server.receive(line, 0)
            assert verdict.choice is None and verdict.reason and self.server.deadline_ms == bank
            return  # the request stands
        if self.dialect is LOCKSTEP:
            with pytest.raises(JoinRefusedError):
                LockstepSession().join(line)
            if self.server.due is Due.NOTHING:
                return
            try:
                self.server.receive(line)
            except FaultError as fault:
                assert f"player {self.seat}'s response" in str(fault)
        else:
            try:
                self.server.receive(line)
            except ProtocolError as error:
                assert error.field == "reply"
        self.come()


TestTalk = Talk.TestCase
TestTalk.settings = settings(max_examples=EXAMPLES, stateful_step_count=40)
