"""A table played by chance from anywhere, step by step, beside the mirrors of its seats.

Whatever is legal is accepted, by its code and as a message; what is not is refused in one line and
changes nothing.  After every step the tiles are 136, the points are all there, and each seat's
mirror, which hears what the seat may hear, shows and offers the same.
"""

import copy
import os
from random import Random

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from mjbot.game.referee import Position, Referee
from mjbot.game.referee.referee import IllegalActionError
from mjbot.game.table.actions import ACTIONS
from mjbot.game.table.mirror.mirror import Mirror, TableError
from mjbot.play.server.offers import ReplyError, read_reply
from mjbot.protocol import messages as m
from mjbot.protocol.masking import masked
from proof.peer.habits import HabitPlayer
from tests.game.referee.test_random_games import all_tiles, check_mirror
from tests.game.table.derived import check_derived

EXAMPLES = int(os.environ.get("MJBOT_EXAMPLES", "6"))
TILES = 136
FOREIGN = [
    m.Dahai(actor=0, pai="?", tsumogiri=False),
    m.Chi(actor=0, target=3, pai="1m", consumed=("2m", "4m")),
    m.Chi(actor=0, target=1, pai="E", consumed=("E", "E")),
    m.Pon(actor=0, target=0, pai="5m", consumed=("5mr", "5mr")),
    m.Daiminkan(actor=0, target=2, pai="?", consumed=("?",) * 3),
    m.Kakan(actor=0, pai="C", consumed=("P", "F", "C")),
    m.Ankan(actor=0, consumed=("5mr",) * 4),
    m.Hora(actor=0, target=0, pai="?"),
    m.Ryukyoku(actor=0, reason="kyushukyuhai"),
]  # fmt: skip

seats = st.integers(0, 3)


class TableAndMirrors(RuleBasedStateMachine):
    """One referee, four mirrors that know one hand each, one that knows them all."""

    @initialize(
        seed=st.integers(0, 2**32), round_=st.integers(0, 11), honba=st.integers(0, 9),
        sticks=st.integers(0, 4), given=st.integers(-200, 200), whose=seats,
    )  # fmt: skip
    def deal(self, seed, round_, honba, sticks, given, whose):
        scores = [25000] * 4
        scores[whose] += 100 * given
        scores[(whose + 1) % 4] -= 100 * given + 1000 * sticks
        self.referee = Referee(seed, "hanchan")
        rng = Random(seed)
        self.players = [HabitPlayer(Random(rng.random())) for _ in range(4)]
        self.mirrors = [Mirror(seat) for seat in range(4)]
        self.spectator = Mirror()
        position = Position(round_, honba, sticks, tuple(scores))
        self.hear(self.referee.start(position))

    def hear(self, events):
        for event in events:
            for seat, mirror in enumerate(self.mirrors):
                mirror.apply(masked(event, seat))
            self.spectator.apply(event)
            if isinstance(event, m.EndKyoku):
                for player in self.players:
                    player.start_kyoku()

    def chosen(self, seat):
        codes = [action.code for action in self.referee.asked[seat]]
        return self.players[seat].choose(self.referee.state, seat, codes)

    # --- what is legal -----------------------------------------------------------------------

    @precondition(lambda self: not self.referee.over)
    @rule(count=st.integers(1, 12))
    def play_on(self, count):
        for _ in range(count):
            if not self.referee.over:
                self.hear(self.referee.step({seat: self.chosen(seat) for seat in self.asked()}))
                self.mirrors_offer_the_same()

    def asked(self):
        return self.referee.asked

    @precondition(lambda self: self.referee.over)
    @rule(seed=st.integers(0, 2**32))
    def after_a_game_comes_another(self, seed):
        assert not self.asked()
        self.deal(seed, 0, 0, 0, 0, 0)

    @precondition(lambda self: not self.referee.over)
    @rule(data=st.data())
    def each_seat_says_what_it_may(self, data):
        """As a message, which the table reads back as the very action."""
        choices = {}
        for seat, legal in self.asked().items():
            choice = data.draw(st.sampled_from(legal))
            output = self.referee.message(seat, choice)
            assert read_reply(self.referee, seat, output, legal) == choice
            choices[seat] = choice
        self.hear(self.referee.step(choices))

    # --- what is not -------------------------------------------------------------------------

    @precondition(lambda self: not self.referee.over)
    @rule(seat=seats, code=st.integers(0, len(ACTIONS) - 1))
    def what_is_not_legal_is_refused_and_changes_nothing(self, seat, code):
        action = ACTIONS[code]
        legal = self.asked().get(seat, ())
        if action in legal:
            return
        before = self.referee.state.tobytes()
        choices = {other: self.chosen(other) for other in self.asked()} | {seat: action}
        problem = rf"^seat {seat} may not |^choices from seats \[.*{seat}.*\], asked"
        with pytest.raises(ValueError, match=problem) as error:
            self.referee.step(choices)
        assert "\n" not in str(error.value)
        assert not legal or isinstance(error.value, IllegalActionError)
        assert self.referee.state.tobytes() == before

    @precondition(lambda self: not self.referee.over)
    @rule(seat=seats, foreign=st.sampled_from(FOREIGN))
    def a_message_that_is_not_legal_is_refused_by_table_and_mirror(self, seat, foreign):
        output = m.msgspec.structs.replace(foreign, actor=seat)
        legal = self.asked().get(seat, ())
        messages = [self.referee.message(seat, action) for action in legal]
        if any(type(output) is type(one) for one in messages):
            return
        with pytest.raises(ReplyError) as refused:
            read_reply(self.referee, seat, output, legal)
        assert "\n" not in str(refused.value)
        mirror = copy.deepcopy(self.spectator)
        with pytest.raises(TableError) as contradiction:
            mirror.apply(output)
        assert m.wire_name(output) in str(contradiction.value)

    # --- what always holds -------------------------------------------------------------------

    @invariant()
    def tiles_and_points_are_conserved(self):
        state = self.referee.state
        assert state["scores"].sum() + 1000 * state["sticks"] == 100_000
        if not self.referee.over:
            assert all_tiles(state).sum() == TILES
            assert (all_tiles(state) == 4).all()
            check_derived(self.spectator.state)

    @invariant()
    def mirrors_offer_the_same(self):
        asked = self.asked()
        for seat, mirror in enumerate(self.mirrors):
            assert mirror.legal(seat) == asked.get(seat, ())
            assert self.spectator.legal(seat) == asked.get(seat, ())
            if not self.referee.over:
                check_mirror(mirror.state, self.referee.state, seat)
        assert np.array_equal(self.spectator.state["hand"], self.referee.state["hand"])


TestTable = TableAndMirrors.TestCase
TestTable.settings = settings(max_examples=EXAMPLES, stateful_step_count=12)
