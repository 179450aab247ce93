"""The answer without a table to follow: always one that may be sent."""

import itertools

import pytest

from mjbot.play.client.server_offers import last_resort
from mjbot.protocol.dialects import Dialect
from mjbot.protocol.messages import Ankan, Chi, Dahai, Hint, Hora, Reach, Ryukyoku, Skip, wire_name
from mjbot.protocol.sessions.client import ClientSession
from mjbot.protocol.sessions.turns import Due

SEAT = 2
HELD = ("1m", "5pr", "9s")
START = '{"type":"start_game","id":0}'
ROW = ",".join(13 * ['"?"'])
DEAL = (
    '{"type":"start_kyoku","bakaze":"E","kyoku":1,"honba":0,"kyotaku":0,"oya":0,'
    f'"dora_marker":"N","tehais":[[{ROW}],[{ROW}],[{ROW}],[{ROW}]]}}'
)


def offer(name, **fields):
    return Hint(type=name, **fields)


def discard(pai, *, drawn):
    return Dahai(actor=SEAT, pai=pai, tsumogiri=drawn)


@pytest.mark.parametrize(
    ("due", "drawn", "held", "offers", "answer"),
    [
        # the own turn: what was drawn goes, as the drawn tile
        (Due.TURN, "E", HELD, [], discard("E", drawn=True)),
        (Due.TURN, "E", (), [], discard("E", drawn=True)),
        (Due.TURN, None, HELD, [], discard("9s", drawn=False)),
        (Due.TURN, None, (), [], discard("?", drawn=True)),
        # a discard that is owed after a call or a riichi: a tile of the hand
        (Due.DISCARD, None, HELD, [], discard("9s", drawn=False)),
        (Due.DISCARD, "E", HELD, [], discard("9s", drawn=False)),
        (Due.DISCARD, "9s", HELD, [], discard("9s", drawn=True)),
        (Due.DISCARD, "E", (), [], discard("E", drawn=True)),
        (Due.DISCARD, None, (), [], discard("?", drawn=False)),
        # what others do can be let pass
        (Due.CLAIM, None, HELD, [], Skip()),
        (Due.CLAIM, "E", (), [], Skip()),
        (Due.ROB, None, HELD, [], Skip()),
        (Due.NONE, None, HELD, [], Skip()),
        # an offer is taken at its word, the drawn tile first
        (Due.TURN, "E", HELD, [offer("dahai", pai="1m"), offer("dahai", pai="E")],
         discard("E", drawn=True)),
        (Due.TURN, "E", HELD, [offer("reach"), offer("dahai", pai="1m")],
         discard("1m", drawn=False)),
        (Due.TURN, None, (), [offer("dahai", pai="4p")], discard("4p", drawn=False)),
        (Due.CLAIM, None, HELD, [offer("dahai", pai="4p")], discard("4p", drawn=False)),
        (Due.CLAIM, None, HELD, [offer("pon"), offer("none")], Skip()),
        (Due.TURN, "E", HELD, [offer("hora"), offer("none")], Skip()),
        # where neither a discard nor a pass is offered, the first that says enough
        (Due.TURN, "E", HELD, [offer("hora")], Hora(actor=SEAT, target=SEAT)),
        (Due.CLAIM, None, HELD, [offer("hora", target=1, pai="E")],
         Hora(actor=SEAT, target=1, pai="E")),
        (Due.TURN, "E", HELD, [offer("ankan"), offer("ankan", consumed=("E",) * 4)],
         Ankan(actor=SEAT, consumed=("E",) * 4)),
        (Due.CLAIM, None, HELD, [offer("pon"), offer("chi", target=1, pai="1m",
         consumed=("2m", "3m"))], Chi(actor=SEAT, target=1, pai="1m", consumed=("2m", "3m"))),
        (Due.TURN, "E", HELD, [offer("reach")], Reach(actor=SEAT)),
        (Due.TURN, "E", HELD, [offer("ryukyoku")], Ryukyoku(actor=SEAT)),
        (Due.TURN, "E", HELD, [offer("dahai")], discard("E", drawn=True)),
    ],
)  # fmt: skip
def test_the_likeliest_answer_is_given(due, drawn, held, offers, answer):
    assert last_resort(due, SEAT, drawn, held, offers) == answer


def test_without_a_list_of_offers_the_answer_is_always_one_that_is_due():
    choices = [Due.TURN, Due.DISCARD, Due.CLAIM, Due.ROB, Due.NONE]
    for due, drawn, held in itertools.product(choices, (None, "E"), ((), HELD)):
        answer = last_resort(due, SEAT, drawn, held, [])
        assert wire_name(answer) in due.value
        assert getattr(answer, "actor", SEAT) in (SEAT, None)


def test_a_discard_of_an_unknown_tile_can_be_said():
    session = ClientSession(Dialect.STDIO_LINES, seat=0)
    for output in (START, DEAL, '{"type":"tsumo","actor":0,"pai":"?"}'):
        received = session.receive(output)
    answer = last_resort(received.due, 0, None, (), ())
    assert session.reply(answer) == b'{"type":"dahai","actor":0,"pai":"?","tsumogiri":true}'
