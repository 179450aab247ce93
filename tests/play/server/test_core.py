"""The core face to face: no socket, no clock, every seat a function."""

import pytest

from mjbot.game.referee import Referee
from mjbot.game.table.mirror.mirror import Mirror
from mjbot.play.server.core import OnFault, SeatReply, TableCore, TableFault
from mjbot.protocol.codec import encode
from mjbot.protocol.dialects import Dialect
from mjbot.protocol.messages import (
    Chi,
    Dahai,
    EndGame,
    Error,
    Kakan,
    Pon,
    Reach,
    Ryukyoku,
    Skip,
    StartGame,
    StartKyoku,
    Tsumo,
)
from mjbot.protocol.rules import Rules
from mjbot.strategy.registry import make_strategy

NAMES = ("a", "b", "c", "d")


def converse(core, answer):
    """Let ``answer(say)`` speak for all seats; return what was said, in order."""
    output = []
    while (outgoing := core.next()) is not None:
        output.append(outgoing)
        if not outgoing.is_final:
            core.answer(answer(outgoing))
    return output


def eager(outgoing):
    """Win, kan, call and declare riichi whenever that is possible."""
    wishes = ("tsumo", "ron", "daiminkan", "kakan", "ankan", "riichi", "pon", "chi")
    for wish in wishes:
        for action, message in zip(outgoing.legal, outgoing.offers(), strict=True):
            if action.name == wish:
                return SeatReply(reply=message)
    return safe(outgoing)


def quick(outgoing):
    """Play for riichi, as a strategy of ours does."""
    if not outgoing.legal:
        return SeatReply(reply=Skip())
    action = make_strategy("fast-riichi-b").decide(outgoing.referee.view(outgoing.seat))
    return SeatReply(reply=outgoing.referee.message(outgoing.seat, action))


def safe(outgoing):
    if not outgoing.legal:
        return SeatReply(reply=Skip())
    default = outgoing.referee.view(outgoing.seat).default_action
    return SeatReply(reply=outgoing.referee.message(outgoing.seat, default))


@pytest.mark.parametrize("seed", range(8))
def test_whole_games_of_eager_players(seed):
    core = TableCore(Referee(seed, "hanchan"), NAMES)
    output = converse(core, eager)
    assert not core.faults
    assert [outgoing.seat for outgoing in output] == [0, 1, 2, 3] * (len(output) // 4)
    assert isinstance(output[0].message, StartGame)
    assert isinstance(output[-1].message, EndGame)
    assert {Chi, Pon} <= {type(outgoing.message) for outgoing in output}


@pytest.mark.parametrize("seed", range(4))
def test_every_seat_can_follow_strictly_what_it_is_told(seed):
    tables = [Mirror(seat, strict=True) for seat in range(4)]
    core = TableCore(Referee(seed, "tonpu"), NAMES)

    def follow(outgoing):
        tables[outgoing.seat].apply(outgoing.message)
        if outgoing.legal:
            assert tables[outgoing.seat].legal(outgoing.seat) == outgoing.legal
        return eager(outgoing)

    converse(core, follow)
    assert not core.faults


def test_offers_and_bans_go_to_those_concerned_only():
    core = TableCore(Referee(11, "hanchan"), NAMES)
    for outgoing in converse(core, eager):
        message, mine = outgoing.message, getattr(outgoing.message, "actor", None) == outgoing.seat
        offers = getattr(message, "possible_actions", None)
        match message:
            case Tsumo():
                assert (offers is not None) == mine
            case Dahai() | Kakan():
                assert (offers is None) == mine
            case Chi() | Pon() | Reach():
                assert (message.cannot_dahai is not None) == mine
        if offers:
            names = {action.name for action in outgoing.legal} - {"discard", "pass"}
            assert len(offers) == len([a for a in outgoing.legal if a.name in names])


def test_riichi_bans_exactly_the_tiles_that_break_tenpai():
    core = TableCore(Referee(3, "hanchan"), NAMES)
    seen = 0

    def watch(outgoing):
        nonlocal seen
        if isinstance(outgoing.message, Reach) and outgoing.message.actor == outgoing.seat:
            seen += 1
            allowed = {message.pai for message in outgoing.offers()}
            assert allowed.isdisjoint(outgoing.message.cannot_dahai)
            view = outgoing.referee.view(outgoing.seat)
            assert len(allowed | set(outgoing.message.cannot_dahai)) >= (view.hand > 0).sum()
        return quick(outgoing)

    converse(core, watch)
    assert seen


def spoil(seat, answer_instead):
    """Play safe, but let ``seat`` give another answer when it is first asked."""
    done = []

    def answer(outgoing):
        if outgoing.seat == seat and outgoing.legal and not done:
            done.append(True)
            return answer_instead(outgoing)
        return safe(outgoing)

    return answer


def unasked(outgoing):
    tile = outgoing.referee.message(
        outgoing.seat, outgoing.referee.view(outgoing.seat).default_action
    )
    return SeatReply(reply=tile)


BAD_ANSWERS = {
    "a problem of the line": lambda outgoing: SeatReply(problem="Timeout.", raw="{}"),
    "a call of nothing": lambda outgoing: SeatReply(
        reply=Pon(actor=outgoing.seat, target=(outgoing.seat + 1) % 4, pai="E", consumed=("E", "E"))
    ),
    "riichi without tenpai": lambda outgoing: SeatReply(reply=Reach(actor=outgoing.seat)),
    "nine terminals without them": lambda outgoing: SeatReply(
        reply=Ryukyoku(actor=outgoing.seat, reason="kyushukyuhai")
    ),
}


@pytest.mark.parametrize("bad", BAD_ANSWERS)
@pytest.mark.parametrize("on_fault", list(OnFault))
@pytest.mark.parametrize("seat", [0, 2])
def test_what_a_bad_answer_costs(bad, on_fault, seat):
    core = TableCore(Referee(1, "tonpu"), NAMES, on_fault)
    output = converse(core, spoil(seat, BAD_ANSWERS[bad]))
    (fault,) = core.faults
    assert fault.seat == seat
    assert fault.text.startswith(f"Error in player {seat}'s response: ")
    errors = [outgoing for outgoing in output if isinstance(outgoing.message, Error)]
    chombos = [
        outgoing for outgoing in output if getattr(outgoing.message, "reason", None) == "error"
    ]
    deltas = [outgoing.message.deltas for outgoing in chombos]
    match on_fault:
        case OnFault.ABORT:
            assert core.void
            assert [outgoing.seat for outgoing in errors] == [0, 1, 2, 3]
            assert all(outgoing.message.message == fault.text for outgoing in errors)
        case OnFault.CHOMBO:
            dealer = 12000, 8000
            assert [delta[seat] for delta in deltas] == [-dealer[seat != 0]] * 4
            assert isinstance(output[-1].message, EndGame)
        case OnFault.DEFAULT:
            assert not chombos and not errors
            assert isinstance(output[-1].message, EndGame)


@pytest.mark.parametrize("on_fault", list(OnFault))
@pytest.mark.parametrize("kind", ["late", "absent"])
def test_what_is_replaced_without_a_penalty_counts_at_every_cost_of_a_fault(on_fault, kind):
    core = TableCore(Referee(1, "tonpu"), NAMES, on_fault)
    converse(core, spoil(2, lambda outgoing: SeatReply(excused=True, kind=kind)))
    assert [(fault.seat, fault.kind) for fault in core.faults] == [(2, kind)]
    assert not core.void


def test_two_bad_answers_to_one_event_both_count():
    core = TableCore(Referee(1, "tonpu"), NAMES, OnFault.DEFAULT)
    spoken = []

    def answer(outgoing):
        if isinstance(outgoing.message, StartKyoku) and len(spoken) < 2:
            spoken.append(outgoing.seat)
            return SeatReply(problem="Timeout.", kind="late")
        return safe(outgoing)

    converse(core, answer)
    assert [fault.seat for fault in core.faults] == spoken == [0, 1]


def test_an_answer_where_none_is_due_is_noted_but_costs_no_mangan():
    """While more events wait, the referee is past the point: nothing can be undone."""
    core = TableCore(Referee(1, "tonpu"), NAMES, OnFault.CHOMBO)
    spoken = []

    def answer(outgoing):
        if isinstance(outgoing.message, StartKyoku) and not spoken:
            spoken.append(outgoing.seat)
            return SeatReply(reply=Dahai(actor=outgoing.seat, pai="E", tsumogiri=True))
        return safe(outgoing)

    output = converse(core, answer)
    assert len(core.faults) == 1
    assert not [
        outgoing for outgoing in output if getattr(outgoing.message, "reason", None) == "error"
    ]


@pytest.mark.parametrize(
    ("rules", "names", "why"),
    [(Rules(), NAMES, "."), (Rules(players=3), NAMES[:3], ": three play, without chi.")],
)
def test_a_call_that_nobody_asked_for_is_refused_for_what_it_is(rules, names, why):
    """The reason is not what the referee's later state makes of its target and tile."""
    core = TableCore(Referee(1, rules), names)

    def answer(outgoing):
        event, seat = outgoing.message, outgoing.seat
        if isinstance(event, Dahai) and seat != event.actor and not outgoing.legal:
            call = Chi(actor=seat, target=event.actor, pai=event.pai, consumed=("2p", "3p"))
            return SeatReply(reply=call)
        return safe(outgoing)

    converse(core, answer)
    (fault,) = core.faults
    assert f"The chi is not allowed{why} Response: " in fault.text


def test_the_first_of_two_culprits_by_seat_is_blamed():
    core = TableCore(Referee(1, "tonpu"), NAMES)
    converse(
        core,
        lambda outgoing: (
            SeatReply(problem=f"seat {outgoing.seat} is mute.") if outgoing.seat else safe(outgoing)
        ),
    )
    assert core.faults == [
        TableFault(1, "Error in player 1's response: seat 1 is mute. Response: ")
    ]


def test_of_an_endless_reply_everybody_is_told_the_beginning():
    core = TableCore(Referee(1, "tonpu"), NAMES)
    converse(core, lambda outgoing: SeatReply(problem="Too much.", raw="y" * 1_000_000))
    (fault,) = core.faults
    assert fault.text.endswith(" Response: " + "y" * 1000 + " ...")


def test_the_log_is_unmasked_without_offers_and_with_remarks():
    core = TableCore(Referee(1, "tonpu"), NAMES)
    lines = []

    def answer(outgoing):
        lines.extend(core.drain_log())
        return (
            SeatReply(reply=Skip(log=f"I am {outgoing.seat}"))
            if not outgoing.legal
            else safe(outgoing)
        )

    converse(core, answer)
    lines.extend(core.drain_log())
    assert lines[0].logs == ("I am 0", "I am 1", "I am 2", "I am 3")
    assert isinstance(lines[0].event, StartGame) and lines[0].event.id is None
    assert isinstance(lines[-1].event, EndGame)
    for line in lines:
        text = encode(line.event, Dialect.LOG)
        assert b"possible_actions" not in text and b"cannot_dahai" not in text
        if isinstance(line.event, Tsumo):
            assert line.event.pai != "?"
