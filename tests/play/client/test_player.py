"""One seat against a strategy that fails and a server that contradicts itself."""

import asyncio
import json
import logging
import threading
from dataclasses import dataclass

import numpy as np
import pytest

from mjbot.game.table.actions import ACTIONS, PASS
from mjbot.game.table.mirror.mirror import TableError
from mjbot.play.client import player as player_module
from mjbot.play.client.player import ClientPlayer
from mjbot.play.startup.warm_up import scripted_events
from mjbot.protocol.codec import decode_line
from mjbot.protocol.dialects import Dialect
from mjbot.protocol.messages import Dahai, Hora, Pon, Reach, Skip, StartGame
from mjbot.protocol.sessions.client import ClientSession, Received
from mjbot.protocol.sessions.turns import Due, ReplyDuty
from mjbot.strategy.faults import AbsentError
from mjbot.strategy.registry import make_strategy
from mjbot.strategy.strategy import Strategy

START = {"type": "start_game", "id": 0, "names": ["a", "b", "c", "d"]}
HIDDEN = ["?"] * 13
HAND = ["2m", "3m", "4m", "5m", "6m", "3p", "4p", "5pr", "8s", "9s", "9s", "E", "E"]
DEAL = {
    "type": "start_kyoku", "bakaze": "E", "kyoku": 1, "honba": 0, "kyotaku": 0, "oya": 0,
    "dora_marker": "N", "tehais": [HAND, HIDDEN, HIDDEN, HIDDEN],
}  # fmt: skip
DRAW = {"type": "tsumo", "actor": 0, "pai": "N"}
OUT = {"type": "dahai", "actor": 0, "pai": "N", "tsumogiri": True}
OTHER = {"type": "tsumo", "actor": 1, "pai": "?"}
EAST = {"type": "dahai", "actor": 1, "pai": "E", "tsumogiri": True}
GUARD_S = 300
PON = {"type": "pon", "actor": 0, "target": 1, "pai": "E", "consumed": ["E", "E"]}
DEFAULT = Dahai(actor=0, pai="N", tsumogiri=True)


class Choosing(Strategy):
    """Calls its function for a decision."""

    def __init__(self, choose):
        self.choose = choose

    def decide(self, view):
        return self.choose(view)


def play(events, choose, *, dialect=Dialect.RIICHILAB, strict=True, deadline_s=float(GUARD_S)):
    """Let a player hear the events, the last one being asked about; return it and its answer."""
    player = ClientPlayer(
        lambda game: Choosing(choose), dialect, strict=strict, deadline_s=deadline_s
    )
    session = ClientSession(dialect, seat=0)
    return player, run(answer_to_last(player, session, events))


def test_what_is_written_to_a_view_is_a_fault_and_reaches_no_mirror():
    def take_a_tile(view):
        view.hand[0] = 3
        return view.legal[0]

    player, answer = play([START, DEAL, DRAW], take_a_tile)
    assert answer == DEFAULT
    assert player.faults.count == {"crash": 1}
    assert player.table.view(0).hand[0] == 0


async def answer_to_last(player, session, events):
    if session.dialect is Dialect.TCP:
        session.receive('{"type":"hello"}')
        session.reply(None)
    *before, last = events
    for event in before:
        received = session.receive(json.dumps(event))
        for received_so_far in received.events:
            await player.take(received_so_far, 0)
        if session.dialect is Dialect.TCP:
            own_turn = event.get("actor") == 0 and event["type"] in ("tsumo", "pon")
            session.reply(DEFAULT if own_turn else None)
    received = session.receive(json.dumps(last))
    for received_so_far in received.events:
        await player.take(received_so_far, 0)
    return await player.answer(received)


def run(coroutine):
    async def guarded():
        async with asyncio.timeout(GUARD_S):
            return await coroutine

    return asyncio.run(guarded())


def default(view):
    return view.default_action


def crash(view):
    raise RuntimeError("out of ideas")


# --- the strategy ----------------------------------------------------------------------------


def test_a_choice_becomes_a_message():
    def riichi_never(view):
        return view.legal[0]

    _, answer = play([START, DEAL, DRAW], riichi_never)
    assert answer == Dahai(actor=0, pai="2m", tsumogiri=False)
    _, answer = play([START, DEAL, DRAW, OUT, OTHER, EAST], lambda view: view.legal[-1])
    assert answer == Pon(actor=0, target=1, pai="E", consumed=("E", "E"))
    _, answer = play([START, DEAL, DRAW, OUT, OTHER, EAST], default)
    assert answer == Skip()


def test_a_failing_strategy_plays_on_by_safe_actions():
    player, answer = play([START, DEAL, DRAW], crash)
    assert answer == DEFAULT and player.faults.count == {"crash": 1}
    player, answer = play([START, DEAL, DRAW], lambda view: ACTIONS[PASS])
    assert answer == DEFAULT and player.faults.count == {"illegal": 1}
    player, answer = play([START, DEAL, DRAW], lambda view: None)
    assert answer == DEFAULT and player.faults.count == {"illegal": 1}
    player, answer = play([START, DEAL, DRAW], lambda view: np.zeros(2))  # equal to anything?
    assert answer == DEFAULT and player.faults.count == {"illegal": 1}


@pytest.mark.parametrize(
    ("output", "kept"), [("a\nb", "a b"), (None, ""), (3, ""), ("x" * 9999, "x" * 1000 + " ...")]
)
def test_what_a_strategy_remarks_is_one_short_line(output, kept):
    class Remarking(Strategy):
        def decide(self, view):
            return view.legal[0]

        def remark(self):
            return output

    player = ClientPlayer(
        lambda game: Remarking(), Dialect.RIICHILAB, strict=True, deadline_s=GUARD_S
    )
    run(answer_to_last(player, ClientSession(Dialect.RIICHILAB), [START, DEAL, DRAW]))
    assert player.remark == kept
    assert not player.faults.count


def test_who_is_not_there_is_absent_and_has_not_crashed(caplog):
    def nobody(view):
        raise AbsentError("nobody is at the page")

    player, answer = play([START, DEAL, DRAW], nobody)
    assert answer == DEFAULT and player.faults.count == {"absent": 1}
    (report,) = [
        record.getMessage() for record in caplog.records if "fault 1" in record.getMessage()
    ]
    assert report.endswith("absent, nobody is at the page; a safe action goes out instead")


def test_a_strategy_may_even_try_to_leave():
    def leave(view):
        raise SystemExit

    player, answer = play([START, DEAL, DRAW], leave)
    assert answer == DEFAULT and player.faults.count == {"crash": 1}


@pytest.mark.parametrize("note", ["start_game", "start_kyoku"])
def test_a_strategy_that_fails_to_take_note_plays_on(note):
    @dataclass
    class Failing(Strategy):
        def decide(self, view):
            return view.legal[0]

    setattr(Failing, note, lambda *_: 1 / 0)
    player = ClientPlayer(
        lambda game: Failing(), Dialect.RIICHILAB, strict=True, deadline_s=GUARD_S
    )
    session = ClientSession(Dialect.RIICHILAB)
    answer = run(answer_to_last(player, session, [START, DEAL, DRAW]))
    assert answer == Dahai(actor=0, pai="2m", tsumogiri=False)
    assert player.faults.count == {"crash": 1}


def test_a_slow_strategy_is_replaced_by_a_safe_action():
    release = threading.Event()

    def slow(view):
        release.wait(GUARD_S)
        return view.legal[0]

    player, answer = play([START, DEAL, DRAW], slow, deadline_s=0.01)
    release.set()
    # On a busy machine it may even take note too late that the game begins.
    assert answer == DEFAULT and set(player.faults.count) == {"late"}


def test_the_servers_deadline_goes_before_a_longer_one_of_ours():
    release = threading.Event()
    request = {
        "type": "request_action", "request_id": 1, "time": {"deadline_ms": 20},
        "possible_actions": [{"type": "dahai", "pai": tile} for tile in [*HAND, "N"]],
    }  # fmt: skip
    player, answer = play([START, DEAL, DRAW, request], lambda view: release.wait(GUARD_S))
    release.set()
    assert answer == DEFAULT and player.faults.count == {"late": 1}


@pytest.mark.parametrize(("deadline_ms", "left_ms"), [(60_000, 48_000), (None, 1000 * GUARD_S)])
def test_a_strategy_sees_how_long_it_may_take(deadline_ms, left_ms):
    seen = []
    request = {
        "type": "request_action", "request_id": 1, "time": {"deadline_ms": deadline_ms},
        "possible_actions": [{"type": "dahai", "pai": tile} for tile in [*HAND, "N"]],
    }  # fmt: skip
    events = [START, DEAL, DRAW, *([request] if deadline_ms else [])]
    play(events, lambda view: seen.append(view.time_left_ms) or view.default_action)
    assert seen == [left_ms]


def test_every_game_has_a_player_of_its_own():
    made = []
    player = ClientPlayer(
        lambda game: made.append(game) or Choosing(default),
        Dialect.TCP,
        strict=True,
        deadline_s=GUARD_S,
    )

    async def two_games():
        await player.take(StartGame(id=0), 0)
        await player.take(StartGame(id=3), 3)

    run(two_games())
    assert made == [0, 1]


def test_without_a_choice_the_strategy_is_not_asked():
    riichi = [
        {"type": "start_kyoku"} | DEAL | {"tehais": [
            ["1m", "2m", "3m", "4m", "5m", "6m", "7p", "8p", "9p", "1s", "2s", "3s", "E"],
            HIDDEN, HIDDEN, HIDDEN]},
        {"type": "tsumo", "actor": 0, "pai": "W"},
        {"type": "reach", "actor": 0},
        {"type": "dahai", "actor": 0, "pai": "W", "tsumogiri": True},
        {"type": "reach_accepted", "actor": 0},
        *[{"type": kind, "actor": seat, "pai": pai, **more}
          for seat, tile in ((1, "9s"), (2, "9s"), (3, "9s"))
          for kind, pai, more in (("tsumo", "?", {}), ("dahai", tile, {"tsumogiri": True}))],
        {"type": "tsumo", "actor": 0, "pai": "C"},
    ]  # fmt: skip
    player, answer = play([START, *riichi], crash)
    assert answer == Dahai(actor=0, pai="C", tsumogiri=True)
    assert not player.faults.count


def test_the_warm_up_of_our_own_strategies_holds_decisions_of_every_kind(monkeypatch):
    asked = []
    own = type(make_strategy("tsumogiri"))

    def note(self, view):
        asked.extend(action.name for action in view.legal)
        return view.default_action

    monkeypatch.setattr(own, "decide", note)
    player = ClientPlayer(
        lambda game: make_strategy("tsumogiri"), Dialect.TCP, strict=True, deadline_s=GUARD_S
    )
    run(player.warm_up())
    assert {"discard", "pass", "pon", "ron"} <= set(asked)
    assert len(scripted_events()) > 30


class Hooked(Strategy):
    """A user's strategy that counts what happens to it."""

    made = 0

    def __init__(self, warm):
        Hooked.made += 1
        self.asked, self.warmed, self._warm = 0, 0, warm

    def warm_up(self):
        self.warmed += 1
        self._warm()

    def decide(self, view):
        self.asked += 1
        return view.default_action


@pytest.mark.parametrize("warm", [lambda: None, lambda: crash(None)])
def test_the_warm_up_of_a_users_strategy_is_its_own_hook_and_no_decision(monkeypatch, warm):
    """It is made once, and plays the first game; a failure stops nothing."""
    monkeypatch.setattr(Hooked, "made", 0)
    made = []

    def make(game):
        made.append(Hooked(warm))
        return made[-1]

    player = ClientPlayer(make, Dialect.TCP, strict=True, deadline_s=GUARD_S)
    run(player.warm_up())
    run(player.warm_up())
    assert (Hooked.made, made[0].warmed, made[0].asked) == (1, 1, 0)
    assert not player.faults.count  # nothing was at stake
    for game, events in ((0, 1), (1, 2)):
        run(player.take(decode_line(json.dumps(START))[0], 0))
        assert player._strategy is made[game] and Hooked.made == events
    assert made[1].warmed == 0


def test_a_hook_that_does_not_end_is_not_waited_for(monkeypatch, caplog):
    released = threading.Event()
    monkeypatch.setattr(player_module, "SLOW_S", 0.0)
    player = ClientPlayer(
        lambda game: Hooked(released.wait), Dialect.TCP, strict=True, deadline_s=GUARD_S
    )
    run(player.warm_up())
    released.set()
    assert "the game begins without the end of the strategy's warm_up()" in caplog.text


def test_a_warm_up_that_does_not_end_is_reported_once(monkeypatch, caplog):
    reported = threading.Event()

    class Told(logging.Handler):
        def emit(self, record):
            reported.set()

    logger = logging.getLogger("mjbot.play.client.player")
    handler = Told()
    logger.addHandler(handler)
    monkeypatch.setattr(player_module, "SLOW_S", 0.0)
    player = ClientPlayer(
        lambda game: Choosing(crash), Dialect.TCP, strict=True, deadline_s=GUARD_S,
        warm_up=lambda: reported.wait(GUARD_S),
    )  # fmt: skip
    try:
        run(player.warm_up())
        run(player.warm_up())
    finally:
        logger.removeHandler(handler)
    (record,) = caplog.records
    assert "warm-up has not ended after 0 s" in record.getMessage()


# --- the server ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("events", "problem"),
    [
        ([START, DEAL, DRAW, {**OUT, "pai": "W", "tsumogiri": False}, OTHER], "W"),
        ([START, DEAL, OTHER], "seat 0 is to draw"),
        ([START, DEAL, DRAW, OUT, DRAW], "seat 1 is to draw"),
        ([START, DEAL | {"tehais": [["1m"] * 13, HIDDEN, HIDDEN, HIDDEN]}], "1m"),
    ],
)
def test_a_contradiction_quotes_the_event(events, problem):
    with pytest.raises(TableError) as caught:
        play(events, default)
    assert problem in str(caught.value)
    assert '"type":' in str(caught.value)


def test_in_lenient_mode_play_goes_on():
    events = [START, DEAL, DRAW, {**OUT, "pai": "9m", "tsumogiri": False}, OTHER, EAST]
    _, answer = play(events, default, strict=False)
    assert answer == Skip()


def test_in_lenient_mode_a_discard_that_is_due_is_made_where_our_table_thinks_of_riichi():
    tenpai = ["1m", "2m", "3m", "4m", "5m", "6m", "7p", "8p", "9p", "1s", "2s", "E", "E"]
    deal = DEAL | {"tehais": [tenpai, HIDDEN, HIDDEN, HIDDEN]}

    def riichi(view):
        return next(action for action in view.legal if action.name == "riichi")

    player, answer = play([START, deal, DRAW], riichi, dialect=Dialect.TCP, strict=False)
    assert answer == Reach(actor=0)
    after_a_call = Received(due=Due.DISCARD, duty=ReplyDuty.MUST)
    assert run(player.answer(after_a_call)) == Dahai(actor=0, pai="N", tsumogiri=True)


OFFERS = [
    (EAST | {"possible_actions": []}, "which the server does not offer"),
    (EAST | {"possible_actions": [{"type": "pon"}, {"type": "hora"}]}, "which our rules do not"),
]


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(("asked", "problem"), OFFERS)
def test_offers_that_are_not_ours_are_logged_with_both_lists(asked, problem, strict, caplog):
    events = [START, DEAL, DRAW, OUT, OTHER, asked]
    assert play(events, default, dialect=Dialect.TCP, strict=strict)[1] == Skip()
    (record,) = caplog.records
    for part in (problem, "offered by the server: ", "by our rules: pon E E E", '"type":"dahai"'):
        assert part in record.getMessage()


def test_tenhous_missing_offer_is_logged(caplog):
    events = [START, DEAL, DRAW, OUT, OTHER, EAST]
    player, _ = play(events, default)
    player.check_unasked()
    (record,) = caplog.records
    assert "the server offers nothing, expected PON" in record.getMessage()


def test_only_what_both_lists_hold_is_answered():
    nothing, pon = [START, DEAL, DRAW, OUT, OTHER, OFFERS[0][0]], [{"type": "pon"}]

    def last(view):
        return view.legal[-1]

    assert play(nothing, last, dialect=Dialect.TCP)[1] == Skip()
    offered = [*nothing[:-1], EAST | {"possible_actions": [*pon, {"type": "hora"}]}]
    assert isinstance(play(offered, last, dialect=Dialect.TCP)[1], Pon)


def test_a_discard_that_the_server_forbids_is_not_made(caplog):
    events = [START, DEAL, DRAW, OUT, OTHER, EAST, PON | {"cannot_dahai": ["2m"]}]

    def first(view):
        return view.legal[0]

    _, answer = play(events, first, dialect=Dialect.TCP)
    assert isinstance(answer, Dahai) and answer.pai != "2m"
    (record,) = caplog.records
    assert "forbids to discard 2m" in record.getMessage()
    assert "allowed by our rules: 2m, 3m" in record.getMessage()
    play([*events[:-1], PON | {"cannot_dahai": []}], default, dialect=Dialect.TCP)
    assert len(caplog.records) == 1


def test_riichilabs_list_is_the_last_word():
    request = {
        "type": "request_action", "request_id": 1,
        "possible_actions": [{"type": "dahai", "pai": "9s"}, {"type": "dahai", "pai": "9s"}],
    }  # fmt: skip
    _, answer = play([START, DEAL, DRAW, request], default)
    assert answer == Dahai(actor=0, pai="9s", tsumogiri=False)
    request["possible_actions"] = [{"type": "dahai", "pai": "1p"}]
    _, answer = play([START, DEAL, DRAW, request], default)
    assert answer == Dahai(actor=0, pai="1p", tsumogiri=False)


def test_a_request_out_of_turn_is_answered_by_what_it_offers():
    offers = [{"type": "dahai", "pai": "9s"}]
    request = {"type": "request_action", "request_id": 1, "possible_actions": offers}
    events = [START, DEAL, DRAW, OUT, request]
    assert play(events, default)[1] == Dahai(actor=0, pai="9s", tsumogiri=False)
    request["possible_actions"] = [{"type": "none"}]
    assert play(events, default)[1] is None


def test_a_turn_without_a_known_action_or_an_offer_is_a_contradiction():
    deal, draw = {**DEAL, "tehais": [HIDDEN] * 4}, {**DRAW, "pai": "?"}
    for dialect in (Dialect.TCP, Dialect.STDIO_LINES):
        with pytest.raises(TableError):
            play([START, deal, draw], default, dialect=dialect)


def test_a_discard_that_is_owed_is_made_even_if_the_mirror_is_lost():
    lost = [START, DEAL, {**OTHER, "actor": 2}, DRAW]
    with pytest.raises(TableError):
        play(lost, default)
    _, answer = play(lost, default, strict=False)
    assert isinstance(answer, Dahai) and answer.actor == 0


def test_a_turn_is_answered_even_if_no_tile_is_known():
    """Our hand and what we drew are hidden from us, too."""
    deal, draw = {**DEAL, "tehais": [HIDDEN] * 4}, {**DRAW, "pai": "?"}
    for dialect in (Dialect.TCP, Dialect.STDIO_LINES):
        _, answer = play([START, deal, draw], default, dialect=dialect, strict=False)
        assert answer == Dahai(actor=0, pai="?", tsumogiri=True)


def test_a_list_without_pass_and_discard_is_answered_from_it():
    request = {"type": "request_action", "request_id": 1, "possible_actions": [{"type": "hora"}]}
    _, answer = play([START, DEAL, DRAW, request], default, strict=False)
    assert answer == Hora(actor=0, target=0)


def test_a_broken_stream_does_not_end_a_lenient_game():
    odd = {"type": "chi", "actor": 0, "target": 3, "pai": "E", "consumed": ["W", "?"]}
    with pytest.raises(TableError):
        play([START, DEAL, odd], default)
    _, answer = play([START, DEAL, odd, DRAW], default, strict=False)
    assert isinstance(answer, Dahai)
