"""What a client session takes and says, tag by tag, and what a server session refuses."""

import pytest

from mjbot.game.rules.yaku_table import YAKU
from mjbot.protocol.errors import LocalProtocolError, ProtocolError
from mjbot.protocol.masking import HIDDEN_HAND
from mjbot.protocol.messages import (
    Dahai,
    EndGame,
    EndKyoku,
    Hora,
    Kakan,
    Pon,
    Reach,
    ReachAccepted,
    Ryukyoku,
    Skip,
    StartGame,
    StartKyoku,
    Tsumo,
)
from mjbot.protocol.sessions.turns import Due, ReplyDuty
from mjbot.protocol.tenhou.client import GameGoneError, TenhouClient, TenhouStage
from mjbot.protocol.tenhou.codec import Spelling
from mjbot.protocol.tenhou.login import Login, TableType
from mjbot.protocol.tenhou.offers import Offer
from mjbot.protocol.tenhou.results import YAKU_NAMES, ShownTiles, Stakes, read_win, write_win
from mjbot.protocol.tenhou.server import (
    EnterLobby,
    Leave,
    LogIn,
    NoTable,
    RequestTable,
    TenhouServer,
)
from mjbot.protocol.tenhou.table import SeatTable
from mjbot.protocol.tenhou.tiles import RED_TILES
from mjbot.protocol.tiles import parse_tiles
from mjbot.protocol.yaku import RENHOU

HAI = "0,4,8,12,16,20,24,28,32,36,40,44,108"
INIT = f'<INIT seed="4,1,2,0,0,120" ten="240,250,260,250" oya="1" hai="{HAI}"/>'


OWN_HAND = tuple(RED_TILES[int(tile)] for tile in HAI.split(","))
GUEST = Login()
ACCEPTED = '<REACH who="0" ten="230,250,260,250" step="2"/>'
LAST = '<RYUUKYOKU ba="1,2" sc="240,0,250,0,260,0,250,0" owari="260,1.0,250,1.0,260,1.0,250,1.0"/>'


def client(spelling=Spelling.XML, login=GUEST):
    return TenhouClient(login, TableType(0, 9), spelling)


def received_so_far(session, *output):
    return session.receive("".join(tag + "\0" for tag in output).encode())


def dealt(*output, spelling=Spelling.XML):
    """A session in a hand: seat 3, whose right neighbour deals South 1."""
    session = client()
    session.open()
    received_so_far(session, '<HELO uname="%41"/>', '<LN n="" j="" g=""/>')
    received_so_far(
        session, '<GO type="9" lobby="0" gpid="g"/>', '<UN n0="a" n1="b" n2="c" n3="d" dan=""/>'
    )
    received_so_far(session, '<TAIKYOKU oya="1"/>', INIT)
    return session, received_so_far(session, *output)


def words(received):
    return b"".join(received.frames).decode().replace("\0", " ").strip()


def test_a_login_answers_the_old_challenge_and_asks_for_a_table_once():
    session = client()
    assert session.open() == (b'<HELO name="NoName" tid="f0" sx="M" />\0',)
    received = received_so_far(session, '<HELO uname="%41" auth="20180117-e7b5e83e"/>')
    assert words(received) == '<AUTH val="20180117-c1ebb26f"/> <PXR V="1" />'
    assert words(received_so_far(session, '<LN n="" j="" g=""/>')) == '<JOIN t="0,9" />'
    assert words(received_so_far(session, '<LN n="" j="" g=""/>')) == ""
    assert words(received_so_far(session, '<REJOIN t="0,9,r"/>')) == '<JOIN t="0,9,r" />'


def test_an_account_is_not_shown():
    secret = Login("ID12345678-secret", "F")
    session = client(Spelling.JSON, secret)
    assert b'"name":"ID12345678-secret"' in session.open()[0]
    assert "secret" not in repr(secret)
    assert "secret" not in repr(LogIn("secret"))


def test_seats_become_absolute_and_names_follow():
    session, received = dealt("<U/>")
    assert session.seat == 3
    assert session.names == ("b", "c", "d", "a")
    assert received.events == (Tsumo(actor=0, pai="?"),)


def test_a_deal_and_the_first_discards():
    session = client()
    received_so_far(
        session, '<HELO uname="%41"/>', '<GO type="9"/>', '<UN n0="a" n1="b" n2="c" n3="d"/>'
    )
    received = received_so_far(session, '<TAIKYOKU oya="1"/>', INIT, "<U/>", '<e2 t="3"/>')
    start, deal, draw, discard = received.events
    assert isinstance(start, StartGame)
    assert isinstance(deal, StartKyoku)
    assert (deal.bakaze, deal.kyoku, deal.oya, deal.kyotaku) == ("S", 1, 0, 2)
    assert deal.scores == (25000, 26000, 25000, 24000)
    assert deal.tehais[3][4] == "5mr"
    assert (draw, discard) == (Tsumo(actor=0, pai="?"), Dahai(actor=0, pai="1m", tsumogiri=True))
    assert received.due is Due.CLAIM
    assert received.offer == Offer.PON | Offer.DAIMINKAN
    assert received.deadline_ms == 5000
    assert words(session.reply(Skip())) == "<N />"


def test_a_discard_names_the_copy_that_was_drawn_or_another():
    session, received = dealt("<T2/>")
    assert received.due is Due.TURN
    frame = session.reply(Dahai(actor=3, pai="1m", tsumogiri=True))
    assert words(frame) == '<D p="2"/>'
    session, _ = dealt("<T2/>")
    assert words(session.reply(Dahai(actor=3, pai="1m", tsumogiri=False))) == '<D p="0"/>'


def test_riichi_is_said_at_once_over_tcp_and_in_two_steps_on_a_websocket():
    session, _ = dealt('<T109 t="32"/>')
    declared = session.reply(Reach(actor=3))
    assert declared.events == (Reach(actor=3),)
    assert (declared.frames, declared.due, declared.duty) == ((), Due.DISCARD, ReplyDuty.MUST)
    output = session.reply(Dahai(actor=3, pai="E", tsumogiri=True))
    assert words(output) == '<REACH hai="109" /> <D p="109"/>'
    after = received_so_far(session, '<REACH who="0" step="1"/>', "<D109/>", ACCEPTED)
    assert [type(event) for event in after.events] == [Dahai, ReachAccepted]

    frames = client(Spelling.JSON)
    for tag in (
        '{"tag":"HELO","uname":"a"}', '{"tag":"GO","type":"9"}',
        '{"tag":"UN","n0":"a","n1":"b","n2":"c","n3":"d"}', '{"tag":"TAIKYOKU","oya":"1"}',
        '{"tag":"INIT","seed":"4,1,2,0,0,120","ten":"240,250,260,250",'
        f'"oya":"1","hai":"{HAI}"}}',
        '{"tag":"T109","t":"32"}',
    ):  # fmt: skip
        frames.receive(tag.encode())
    assert frames.reply(Reach(actor=3)).frames == (b'{"tag":"REACH"}',)
    declared = frames.receive(b'{"tag":"REACH","who":"0","step":"1"}')
    assert declared.events == (Reach(actor=3),)
    assert declared.due is Due.DISCARD
    output = frames.reply(Dahai(actor=3, pai="E", tsumogiri=True))
    assert output.frames == (b'{"tag":"D","p":109}',)


def test_an_answer_that_came_too_late_lapses():
    session, received = dealt("<U/>", '<e2 t="3"/>')
    assert received.duty is ReplyDuty.MUST
    went_on = received_so_far(session, "<V/>")
    assert went_on.lapsed
    assert went_on.duty is ReplyDuty.MUST_NOT
    with pytest.raises(LocalProtocolError, match="no reply is due"):
        session.reply(None)


def test_a_game_ends_with_its_last_result():
    session, _ = dealt("<U/>")
    received = received_so_far(session, '<PROF lobby="0" type="9" add="1"/>', LAST)
    assert isinstance(received.events[0], Ryukyoku)
    assert received.events[1:] == (EndKyoku(), EndGame(scores=(25000, 26000, 25000, 26000)))
    assert words(received) == "<NEXTREADY /> <BYE />"
    assert session.stage is TenhouStage.OVER


@pytest.mark.parametrize(
    ("payments", "shown", "tenpais"),
    [
        ((15, -15, 15, -15), "2", (False, True, False, True)),  # ours is the last
        ((-10, -10, 30, -10), "2", (False, True, False, False)),
        ((30, -10, -10, -10), "", (False, False, False, True)),
        ((0, 0, 0, 0), "123", (True, True, True, True)),
        ((0, 0, 0, 0), "", (False, False, False, False)),
    ],
)
def test_the_own_hand_is_often_not_shown_and_the_payments_tell_of_it(payments, shown, tenpais):
    sc = ",".join(f"250,{paid}" for paid in payments)
    hands = "".join(f' hai{seat}="{48 + int(seat)}"' for seat in shown)
    _, received = dealt("<U/>", f'<RYUUKYOKU ba="0,0" sc="{sc}"{hands} />')
    (event,) = [event for event in received.events if isinstance(event, Ryukyoku)]
    assert event.tenpais == tenpais


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        (["<T0/>"], "T: tile 0 is in our hand already"),
        (["<T/>"], "T: no such tag"),
        (["<U/>", "<D5/>"], "D: tile 5 is not in our hand"),
        ([INIT], "INIT: out of order, the client is in a hand"),
        (['<HELO uname="a"/>'], "HELO: out of order, the client is in a hand"),
        (["<U/>", "<E2/>", '<N who="0" m="4231" />'], "N.m: "),
        (["<U/>", "<E2/>", '<N who="2" m="30752" />'], "N.m: call code 30752 is a north call"),
        (["<U5/>"], "U5: only the own draw shows its tile"),
        (['<RYUUKYOKU type="x" ba="0,0" sc="1,0,1,0,1,0,1,0" />'], "RYUUKYOKU.type: 'x' is no"),
        (
            ['<RYUUKYOKU ba="0,0" sc="1,0,1,0,1,0,1,0" owari="1,2" />'],
            "RYUUKYOKU.owari: '1,2' is no final result",
        ),
    ],
)
def test_what_the_server_may_not_say_is_refused(output, problem):
    with pytest.raises(ProtocolError) as refused:
        dealt(*output)
    assert problem in str(refused.value)


@pytest.mark.parametrize(
    ("frame", "problem"),
    [
        ('{"tag":"REJOIN","t":"0,9\\""}', "REJOIN.t: expected str matching"),
        ('{"tag":"GO","type":"9","gpid":"<"}', "GO.gpid: expected str matching"),
        ('{"tag":"HELO","auth":"a\\"180117-e7b5e83e"}', "HELO.auth: expected str matching"),
        ('{"tag":"HELO","auth":"today"}', "HELO.auth: is no date and eight hex digits"),
    ],
)
def test_what_a_client_is_to_say_back_must_be_sayable(frame, problem):
    session = client(Spelling.JSON)
    session.open()
    with pytest.raises(ProtocolError) as refused:
        session.receive(frame.encode())
    assert str(refused.value).startswith(problem)
    assert not isinstance(refused.value, LocalProtocolError)


def test_tables_that_are_not_played_here_are_refused():
    with pytest.raises(ProtocolError, match="of parlour rules"):
        received_so_far(client(), '<HELO uname="a"/>', '<GO type="521"/>')


def test_only_what_is_due_is_said():
    session, _ = dealt("<T2/>")
    with pytest.raises(LocalProtocolError, match="pon is not an answer here"):
        session.reply(Pon(actor=3, target=0, pai="1m", consumed=("1m", "1m")))
    with pytest.raises(LocalProtocolError, match="own seat 3"):
        session.reply(Dahai(actor=1, pai="1m", tsumogiri=True))
    with pytest.raises(LocalProtocolError, match="9s is not in our hand"):
        session.reply(Dahai(actor=3, pai="9s", tsumogiri=False))


def test_who_comes_back_to_no_game_is_told_so():
    session, _ = dealt()
    assert b'gpid="g"' in session.reconnect()[0]
    received_so_far(session, '<HELO uname="%41"/>')
    with pytest.raises(GameGoneError):
        received_so_far(session, '<LN n="" j="" g=""/>')


def test_a_snapshot_is_played_on_blindly_until_the_next_deal():
    session, _ = dealt("<U/>")
    session.reconnect()
    seated = received_so_far(
        session, '<GO type="9"/>', '<SAIKAI ba="1,2" oya="1" sc="1,0,1,0,1,0,1,0"/>'
    )
    assert words(seated) == "<GOK />"
    received = received_so_far(session, INIT.replace("INIT", "REINIT"), "<T109/>")
    assert received.blind
    assert received.events == (EndKyoku(),)
    assert words(session.reply_safely()) == '<D p="109"/>'
    assert received_so_far(session, "<D109/>", "<U/>", '<e2 t="9"/>').blind
    assert words(session.reply_safely()) == '<N type="6" />'
    result = '<RYUUKYOKU ba="1,2" sc="240,0,250,0,260,0,250,0" />'
    assert words(received_so_far(session, result)) == "<NEXTREADY />"
    again = received_so_far(session, INIT)
    assert [type(event) for event in again.events] == [StartKyoku]
    assert not again.blind


def test_who_misses_a_deal_or_the_end_is_told_of_a_gap():
    session, _ = dealt("<U/>", '<RYUUKYOKU ba="1,2" sc="240,0,250,0,260,0,250,0" />')
    session.reconnect()
    received_so_far(session, '<GO type="9"/>', '<SAIKAI ba="1,2" oya="1" sc="1,0,1,0,1,0,1,0"/>')
    assert received_so_far(session, INIT.replace("INIT", "REINIT")).events == (EndKyoku(),)
    assert not received_so_far(session, "<U/>").gap
    received_so_far(session, '<RYUUKYOKU ba="1,2" sc="240,0,250,0,260,0,250,0" />')
    assert received_so_far(session, INIT).gap
    assert not received_so_far(session, "<U/>").gap
    session.reconnect()
    received_so_far(session, '<GO type="9"/>', '<SAIKAI ba="1,2" oya="1" sc="1,0,1,0,1,0,1,0"/>')
    end = received_so_far(session, LAST)
    assert end.events == (EndKyoku(), EndGame(scores=(25000, 26000, 25000, 26000)))
    assert (end.gap, words(end)) == (True, "<NEXTREADY /> <BYE />")


def test_yaku_are_called_as_our_rules_call_them():
    ours = tuple(yaku.mjai_name for yaku in YAKU)
    assert ours == (*YAKU_NAMES, YAKU_NAMES[RENHOU])  # which is of 5 han, or a yakuman


@pytest.mark.parametrize(
    ("name", "hand", "win", "wanted"),
    [
        ("suanko", "111m222p333s44z55z", "4z", 40),
        ("suanko", "111m222p333s444z5z", "5z", 41),
        ("kokushimuso", "19m19p19s1234567z1z", None, 48),
        ("kokushimuso", "19m19p199s123456z", "7z", 47),
        ("churenpoton", "1112345678999m", "5m", 46),
        ("churenpoton", "1112345678999m", "1m", 46),
        ("churenpoton", "1112234567899m", "9m", 45),
    ],
)
def test_yakuman_of_two_forms_are_told_apart_by_the_wait(name, hand, win, wanted):
    ids = _ids(hand + (win or ""))
    machi = ids[-1]
    shown = ShownTiles(tuple(ids), machi, (), (0,), ())
    event = Hora(
        actor=1, target=2, pai=RED_TILES[machi], yakus=((name, 100),), fu=0, fan=100,
        hora_points=32000, deltas=(0, 32000, -32000, 0), hora_tehais=(),
    )  # fmt: skip
    tag = write_win(event, shown, Stakes(0, 0, (25000,) * 4, 0, 0), own=1)
    assert tag.yakuman == (wanted,)
    assert read_win(tag, 1, RED_TILES).yakus == ((name, 100),)


def _ids(text):
    seen: dict[int, int] = {}
    ids = []
    for kind in parse_tiles(text):
        ids.append(4 * kind + seen.setdefault(kind, 0))
        seen[kind] += 1
    return ids


# --- the server's side -------------------------------------------------------------------------


def at_the_door(spelling=Spelling.XML):
    server = TenhouServer(spelling)
    assert server.receive(b'<HELO name="NoName" sx="M" />\0').wishes == (LogIn("NoName"),)
    server.welcome("a")
    return server


def test_a_door_hears_what_a_client_wishes():
    server = at_the_door()
    output = (b'<PXR V="1" />', b'<JOIN t="0,9" />', b"<JOIN />", b'<CHAT text="/lobby 77" />', b"")
    received_so_far = server.receive(b"\0".join(output))
    assert received_so_far.frames == (b'<LN n="" j="" g=""/>\0',)
    assert received_so_far.wishes == (RequestTable(TableType(0, 9)), NoTable(), EnterLobby(77))
    assert server.receive(b"<Z />\0<BYE />\0").wishes == (Leave(),)


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        (b'<HELO name="x" />\0', "HELO: out of order, the client is in the lobby"),
        (b'<D p="1"/>\0', "D: out of order, the client is in the lobby"),
        (b'<JOIN t="x" />\0', "JOIN.t: expected lobby,type, got 'x'"),
        (b'<CHAT text="/lobby x" />\0', "CHAT.text: no lobby is called 'x'"),
        (b"<NEXTREADY />\0", "NEXTREADY: out of order"),
    ],
)
def test_a_door_refuses_what_has_no_place(output, problem):
    with pytest.raises(ProtocolError) as refused:
        at_the_door().receive(output)
    assert problem in str(refused.value)


def at_the_table():
    server = at_the_door()
    server.sit(SeatTable(1))
    server.send(StartGame(names=("a", "b", "c", "d")))
    server.receive(b"<GOK />\0<NEXTREADY />\0")
    deal = StartKyoku(
        bakaze="E", kyoku=1, honba=0, kyotaku=0, oya=0, dora_marker="N", scores=(25000,) * 4,
        tehais=(HIDDEN_HAND, OWN_HAND, HIDDEN_HAND, HIDDEN_HAND),
    )  # fmt: skip
    server.send(deal)
    return server


def test_a_deal_waits_until_the_seat_is_ready_or_nobody_waits_any_more():
    server = at_the_door()
    seat = SeatTable(0)
    server.sit(seat)
    server.send(StartGame(names=("a", "b", "c", "d")))
    deal = StartKyoku(
        bakaze="E", kyoku=1, honba=0, kyotaku=0, oya=0, dora_marker="N",
        tehais=(OWN_HAND, HIDDEN_HAND, HIDDEN_HAND, HIDDEN_HAND),
    )  # fmt: skip
    assert server.send(deal) == ()
    assert seat.held
    assert server.go_on()[0].startswith(b"<INIT ")
    assert not seat.held


def test_a_hand_that_ends_before_the_seat_is_ready_is_sent_whole_and_in_order():
    """Nine terminals of another seat end a hand in which this one was asked nothing."""
    server = at_the_door()
    server.sit(SeatTable(0))
    server.send(StartGame(names=("a", "b", "c", "d")))
    deal = StartKyoku(
        bakaze="E", kyoku=1, honba=0, kyotaku=0, oya=1, dora_marker="N", scores=(25000,) * 4,
        tehais=(OWN_HAND, HIDDEN_HAND, HIDDEN_HAND, HIDDEN_HAND),
    )  # fmt: skip
    draw = Ryukyoku(reason="kyushukyuhai", deltas=(0,) * 4)
    assert [server.send(event) for event in (deal, draw, EndKyoku(), deal)] == [()] * 4
    names = [output[1:].split(b" ")[0] for output in server.go_on()]
    assert names == [b"INIT", b"RYUUKYOKU", b"INIT"]


def test_an_answer_must_be_open_to_the_seat_and_of_its_hand():
    server = at_the_table()
    turn = [Dahai(actor=1, pai="9m", tsumogiri=True), Dahai(actor=1, pai="1m", tsumogiri=False)]
    assert server.send(Tsumo(actor=1, pai="9m"), turn) == (b"<T33/>\0",)
    for output, problem in (
        (b'<D p="1"/>\0', "D.p: tile 1 is not in the hand"),
        (b'<D p="8"/>\0', "D: to discard 3m is not open"),
        (b'<REACH hai="33" />\0', "REACH: riichi is not open"),
        (b'<N type="7" />\0', "N: type 7 is not open"),
        (b"<N />\0", "N: a pass is not open"),
        (b'<N type="8" />\0', "N: type 8 is not open"),
    ):
        with pytest.raises(ProtocolError) as refused:
            server.receive(output)
        assert problem in str(refused.value)
    assert server.seat.asked
    server.receive(b'<D p="33"/>\0')
    assert server.seat.take_answer() == turn[0]


def test_a_call_takes_two_tiles_not_one_tile_twice():
    server = at_the_table()
    pon = Pon(actor=1, target=0, pai="1m", consumed=("1m", "1m"))
    one = server.seat._hand.pick(["1m"], "pai")[0]
    server.send(Dahai(actor=0, pai="1m", tsumogiri=False), [Skip(), pon])
    with pytest.raises(ProtocolError, match=f"N.hai1: tile {one} is named twice"):
        server.receive(f'<N type="1" hai0="{one}" hai1="{one}" />\0'.encode())


def test_what_is_said_unasked_is_late_and_ignored():
    server = at_the_table()
    server.send(Tsumo(actor=0, pai="?"))
    assert server.receive(b'<N />\0<D p="0"/>\0').frames == ()
    assert server.seat.take_answer() is None


def test_robbing_a_kan_is_offered_with_the_call():
    server = at_the_table()
    server.send(Tsumo(actor=0, pai="?"))
    server.send(Dahai(actor=0, pai="P", tsumogiri=False))
    server.send(Pon(actor=2, target=0, pai="P", consumed=("P", "P")))
    server.send(Dahai(actor=2, pai="C", tsumogiri=False))
    server.send(Tsumo(actor=2, pai="?"))
    rob = [Hora(actor=1, target=2, pai="P"), Skip()]
    (frame,) = server.send(Kakan(actor=2, pai="P", consumed=("P", "P", "P")), rob)
    assert frame.endswith(b't="8" />\0')
    server.receive(b'<N type="6" />\0')
    assert server.seat.take_answer() == rob[0]


def test_a_snapshot_marks_where_riichi_was_declared_also_if_its_tile_was_called():
    server = at_the_table()
    for event in (
        Tsumo(actor=0, pai="?"),
        Dahai(actor=0, pai="C", tsumogiri=False),
        Tsumo(actor=1, pai="9m"),
        Dahai(actor=1, pai="9m", tsumogiri=True),
        Tsumo(actor=0, pai="?"),
        Reach(actor=0),
        Dahai(actor=0, pai="P", tsumogiri=False),
        ReachAccepted(actor=0),
    ):
        server.send(event)
    assert server.seat.snapshot()[0].kawa3 == (132, 255, 124)
    server.send(Pon(actor=2, target=0, pai="P", consumed=("P", "P")))
    assert server.seat.snapshot()[0].kawa3 == (132, 255)


def test_who_comes_back_is_told_what_happened_before_it_was_seated():
    seat = at_the_table().seat
    server = TenhouServer(Spelling.XML)
    server.receive(b'<HELO name="NoName" gpid="g" />\0')
    server.sit_again(seat)
    claim = [Pon(actor=1, target=0, pai="1m", consumed=("1m", "1m")), Skip()]
    assert server.send(Tsumo(actor=0, pai="?")) == ()
    assert server.send(Dahai(actor=0, pai="1m", tsumogiri=False), claim) == ()
    assert server.go_on() == ()
    names = [frame.split()[0] for frame in server.receive(b"<GOK />\0").frames]
    assert names[0] == b"<REINIT"
    assert names[1].startswith(b"<W")
    assert names[2].startswith(b"<G")
    assert seat.asked
    server.receive(b"<N />\0")
    assert seat.take_answer() == Skip()
