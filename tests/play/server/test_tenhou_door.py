"""Tenhou clients at our table, over real sockets: whole games, losses, returns, bad input."""

import asyncio
import contextlib
import logging
import re
import sys

import aiohttp
import pytest

from mjbot.play.client.play import Settings, play
from mjbot.play.server import tenhou_endpoint
from mjbot.play.server.core import OnFault
from mjbot.play.server.lobby import Lobby, TableRules
from mjbot.play.server.server import TableServer, one_room
from mjbot.protocol.messages import EndGame
from mjbot.protocol.rules import Rules
from mjbot.protocol.sessions.request_server import TimeLimits
from mjbot.protocol.tenhou import tags
from mjbot.protocol.tenhou.codec import SERVER_TAGS, Spelling, TagReader, tag_name, write
from mjbot.protocol.tenhou.login import Login, read_name
from mjbot.protocol.transports.address import parse_address
from mjbot.runtime.errors import ExitCode
from mjbot.strategy.registry import make_strategy
from proof.records import RecordFindings
from proof.tenhou_door import ListenerProof
from proof.tenhou_habits import HABITS

GUARD_S = 300
HOST = "127.0.0.1"
TONPU = Rules(length="tonpu")
RULES = TableRules(seed=5, rules=TONPU, timeout_s=GUARD_S)
PATIENT = TimeLimits(GUARD_S * 1000, 0)


@pytest.mark.parametrize("rules", [TONPU, Rules(length="tonpu", players=3)])
def test_mixed_clients_play_the_very_game_that_mjai_clients_play(whole_games, rules):
    findings = RecordFindings()
    ListenerProof(findings, rules, 7).compare(0)
    assert findings.mismatches == []
    assert findings.checked["events the same as through the mjai listener"] > 200


def test_who_is_cut_off_is_back_in_the_same_hand_and_the_game_ends_by_the_rules(whole_games):
    findings = RecordFindings()
    ListenerProof(findings, TONPU, 70).cut(0, 8)
    assert findings.mismatches == []
    assert findings.checked["back in the same hand"] == findings.checked["connections cut"] > 2


# --- a client that knows nothing of our client code ----------------------------------------------


class RawTenhou:
    """One player over TCP, who gives up what it draws; ``on_draw`` may send something else."""

    def __init__(self, name="raw", *, on_draw=lambda tile: write(tags.Discarding(p=tile), XML)):
        self.name, self.on_draw = name, on_draw
        self.received, self.gpid = [], None

    async def play(self, port):
        """Play over one connection, until the server closes it or the game is over."""
        reader, writer = await asyncio.open_connection(HOST, port)
        tag_reader = TagReader(XML, SERVER_TAGS)
        writer.write(write(tags.ClientHelo(name=self.name, gpid=self.gpid, sx="M"), XML))
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(1 << 16):
                for tag in tag_reader.feed(data):
                    self.received.append(tag)
                    writer.write(self.answer(tag))
        writer.close()
        return self

    def answer(self, tag):
        match tag:
            case tags.ServerHelo():
                return write(tags.JoinTable(t="0,1"), XML)
            case tags.Rejoin(t=t):
                return write(tags.JoinTable(t=t), XML)
            case tags.Go(gpid=gpid):
                self.gpid = gpid
                return write(tags.GoOk(), XML)
            case tags.WinTag(owari=None) | tags.DrawnHandTag(owari=None) | tags.Taikyoku():
                return write(tags.NextReady(), XML)
            case tags.WinTag() | tags.DrawnHandTag():
                return write(tags.ClientBye(), XML)
            case tags.DrawTag(tile=int(tile)):
                return self.on_draw(tile)
            case tags.DiscardTag(t=int()) | tags.MeldTag(t=int()):
                return write(tags.OfferReply(), XML)
        return b""

    def kinds(self, kind):
        return [tag for tag in self.received if isinstance(tag, kind)]


XML = Spelling.XML


def at_table(players, mjai_clients, rules=RULES):
    """Play one game; ``players`` get the Tenhou port.  Return the result."""

    async def main():
        async with asyncio.timeout(GUARD_S), TableServer(rules) as server:
            port, mjai_port = await server.open_tenhou(HOST, 0), await server.open_tcp(HOST, 0)
            tasks = [asyncio.create_task(player(port)) for player in players]
            tasks += [asyncio.create_task(client.play(mjai_port)) for client in mjai_clients]
            (result,) = [result async for result in server.play(1)]
            await asyncio.gather(*tasks)
            return result

    return asyncio.run(main())


def test_a_signal_as_the_game_ends_leaves_nobody_without_the_result(raw_client):
    """Clients of Tenhou that come back meanwhile do not keep the server from its end either."""
    players, clients = [RawTenhou("one"), RawTenhou("two")], [raw_client(), raw_client()]

    def on_event(game, event, logs):
        if isinstance(event, EndGame):  # before any player receives it
            loop, task = asyncio.get_running_loop(), asyncio.current_task()
            loop.call_soon(task.cancel)

    async def serve(ports):
        async with TableServer(RULES, on_event=on_event) as server:
            ports.set_result((await server.open_tenhou(HOST, 0), await server.open_tcp(HOST, 0)))
            await anext(server.play(1))

    async def keeps_coming(player, port):
        with contextlib.suppress(ConnectionError):  # nobody listens any more
            while True:
                await player.play(port)

    async def main():
        async with asyncio.timeout(GUARD_S):
            ports = asyncio.get_running_loop().create_future()
            serving = asyncio.create_task(serve(ports))
            port, mjai_port = await ports
            tasks = [asyncio.create_task(client.play(mjai_port)) for client in clients]
            coming = [asyncio.create_task(keeps_coming(player, port)) for player in players]
            with pytest.raises(asyncio.CancelledError):
                await serving
            await asyncio.gather(*tasks)
            for task in coming:
                task.cancel()
            await asyncio.gather(*coming, return_exceptions=True)

    asyncio.run(main())
    assert [client.received[-1]["type"] for client in clients] == ["end_game"] * 2
    for player in players:
        ends = player.kinds(tags.WinTag) + player.kinds(tags.DrawnHandTag)
        assert any(tag.owari for tag in ends)
        assert len(player.kinds(tags.Go)) == 1


BAD_IN_GAME = [
    (b"<D p=\"136\"/>\0", "D.p: "),
    (b"<D/>\0", "D.p: missing"),
    (b'<D p="%d" q="1"/>\0', "D.q: no such attribute"),
    (b"<HELO", "tag '<HELO': cut off by the end of the stream, NUL is missing"),
    (b'<D p="%d"/><Z />\0', "tag '<D p=\"%d\"/><Z />': NUL is missing after it"),
    (b'<N type="6"/>\0', "N: type 6 is not open to this player now"),
    (b'<N type="x"/>\0', "N.type: "),
    (b'<KITA p="%d"/>\0', "KITA: no such tag"),
    (b'<REACH hai="200"/>\0', "REACH.hai: "),
    (b'<HELO name="again" sx="M" />\0', "HELO: out of order, the client is at a table"),
    (b"<Z" * 40_000, "tag: longer than the limit of 65536 bytes"),
]  # fmt: skip


def test_each_bad_word_in_a_game_costs_its_connection_one_line_and_the_table_plays_on(
    raw_client, caplog
):
    witness = RawTenhou("witness")
    culprit = RawTenhou("culprit")
    expected = []

    def spoilt(tile):
        if len(expected) == len(BAD_IN_GAME):
            return write(tags.Discarding(p=tile), XML)
        data, words = BAD_IN_GAME[len(expected)]
        expected.append(words.replace("%d", str(tile)))
        return data.replace(b"%d", b"%d" % tile)

    culprit.on_draw = spoilt

    async def play_on(port):
        while not any(tag.owari for tag in culprit.kinds(tags.WinTag | tags.DrawnHandTag)):
            await play_once(port)

    async def play_once(port):
        reader, writer = await asyncio.open_connection(HOST, port)
        tag_reader = TagReader(XML, SERVER_TAGS)
        hello = tags.ClientHelo(name=culprit.name, gpid=culprit.gpid, sx="M")
        writer.write(write(hello, XML))
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(1 << 16):
                for tag in tag_reader.feed(data):
                    culprit.received.append(tag)
                    writer.write(answer := culprit.answer(tag))
                    if answer == b"<HELO":  # told only by the end of the stream
                        writer.write_eof()
        writer.close()

    with caplog.at_level(logging.INFO, "mjbot.play.server"):
        result = at_table(
            [witness.play, play_on],
            [raw_client(), raw_client()],
            TableRules(seed=5, rules="tonpu", timeout_s=GUARD_S, tenhou_limits=PATIENT),
        )
    assert not result.void
    # Where the table did not wait for it, a safe action was played for it, and counted.
    seat = result.names.index("culprit")
    assert {(fault.seat, fault.kind) for fault in result.faults} <= {(seat, "absent")}
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    report = [line for line in warnings if "absent: not connected" not in line]
    assert len(warnings) - len(report) <= 1  # the first of a kind alone is logged
    assert len(report) == len(expected) == len(BAD_IN_GAME)
    for line, words in zip(report, expected, strict=True):
        assert re.match(r"tenhou 127\.0\.0\.1:\d+: culprit \(seat \d in game 1\) is cut off", line)
        assert words in line
        assert "\n" not in line
    # The other player hears of each departure and return; who returns hears no greeting.
    gone, back = witness.kinds(tags.ServerBye), witness.kinds(tags.Names)[1:]
    assert len(gone) == len(back) == len(BAD_IN_GAME)
    assert {
        read_name(name) for tag in back for name in (tag.n0, tag.n1, tag.n2, tag.n3) if name
    } == {"culprit"}
    assert len(culprit.kinds(tags.ServerHelo)) == 1
    assert len(culprit.kinds(tags.Reinit)) == len(BAD_IN_GAME)


def test_who_is_late_is_played_for_and_a_late_answer_is_no_offence(raw_client, caplog, whole_games):
    late = RawTenhou("late", on_draw=lambda tile: b"")
    answer = late.answer

    def too_late(tag):
        if isinstance(tag, tags.DiscardTag) and tag.seat == 0:  # the table has discarded for us
            return write(tags.Discarding(p=tag.tile), XML)
        return b"" if isinstance(tag, tags.DiscardTag | tags.MeldTag) else answer(tag)

    late.answer = too_late
    rules = TableRules(seed=5, rules="tonpu", tenhou_limits=TimeLimits(5, 20))
    result = at_table([late.play], [raw_client() for _ in range(3)], rules)
    assert not result.void
    assert {(fault.seat, fault.kind) for fault in result.faults} == {(0, "late")}
    drawn = [tag.tile for tag in late.kinds(tags.DrawTag) if tag.tile is not None]
    gone = [tag.tile for tag in late.kinds(tags.DiscardTag) if tag.seat == 0]
    assert gone == drawn[: len(gone)]
    assert len(gone) > 20
    assert len(result.faults) >= len(gone)
    assert not [record for record in caplog.records if "cut off" in record.getMessage()]


def test_an_account_is_shown_to_nobody_and_returns_by_its_id_alone(raw_client, caplog):
    secret = "ID0A1B2C3D-6f7e8d9c"
    first = RawTenhou(secret)
    first.on_draw = lambda tile: b"<X/>\0"

    async def play(port):
        await first.play(port)
        first.on_draw = lambda tile: write(tags.Discarding(p=tile), XML)
        first.gpid = None
        await first.play(port)

    other = raw_client()
    with caplog.at_level(logging.DEBUG):
        result = at_table([play], [other, raw_client(), raw_client()])
    assert not result.void
    assert "NoName" in other.received[1]["names"]
    assert secret not in caplog.text + str(other.received) + repr(result)
    assert len(first.kinds(tags.Reinit)) == 1


def test_who_leaves_another_door_is_shown_as_gone_and_as_nobody_else(raw_client):
    def leaves(event, seat):
        mine = event.get("actor") == seat
        if event["type"] == "tsumo" and mine:
            return {"type": "dahai", "actor": seat, "pai": event["pai"], "tsumogiri": True}
        return "close" if event["type"] == "dahai" and mine else {"type": "none"}

    async def leave_at_once(url):
        async with aiohttp.ClientSession() as session, session.ws_connect(url) as socket:
            while (await socket.receive_json())["type"] != "start_kyoku":
                pass

    async def main():
        rules = TableRules(seed=5, rules="tonpu", on_fault=OnFault.DEFAULT, fixed_seats=True)
        witnesses = [RawTenhou("a"), RawTenhou("b")]
        async with asyncio.timeout(GUARD_S), TableServer(rules) as server:
            url = f"http://{HOST}:{await server.open_websocket(HOST, 0)}/ws"
            mjai_port, port = await server.open_tcp(HOST, 0), await server.open_tenhou(HOST, 0)
            lines = [raw_client(leaves).play(mjai_port), leave_at_once(url)]
            tasks = []
            for line in [*lines, *[witness.play(port) for witness in witnesses]]:
                tasks.append(asyncio.create_task(line))
                while len(server.lobby.waiting) < len(tasks):
                    await asyncio.sleep(0.005)
            (result,) = [result async for result in server.play(1)]
            await asyncio.gather(*tasks)
        assert not result.void
        return witnesses

    for seat, witness in enumerate(asyncio.run(main()), 2):
        gone = [(tag.who + seat) % 4 for tag in witness.kinds(tags.ServerBye)]
        assert sorted(gone) == [0, 1]
        assert len(witness.kinds(tags.Names)) == 1


# --- before a game -------------------------------------------------------------------------------


def waiting_room(visit, rules=RULES):
    """Open both doors and let ``visit(server, port, web_port)`` look at them."""

    async def main():
        async with asyncio.timeout(GUARD_S), TableServer(rules) as server:
            ports = [await server.open_tenhou(HOST, 0), await server.open_tenhou_websocket(HOST, 0)]
            return await visit(server, *ports)

    return asyncio.run(main())


BAD_BEFORE = [
    (b"\xff\0", "not UTF-8"),
    (b"GET / HTTP/1.1\0", "not one tag"),
    (b'<JOIN t="0,1" />\0', "JOIN: out of order, the client is not logged in"),
    (b"<HELO name=\"" + b"x" * 65 + b"\" sx=\"M\" />\0", "HELO.name: longer than 64 characters"),
    (b'<HELO sx="M" />\0', "HELO.name: missing"),
    (b'<HELO name="a" sx="M" />\0<JOIN t="0,9" />\0', "JOIN.t: a table of type 9 is not played"),
    (b'<HELO name="a" sx="M" />\0<JOIN t="0,17" />\0', "JOIN.t: a table of type 17 is not played"),
    (b'<HELO name="a" sx="M" />\0<JOIN t="0,0" />\0', "ask for 1"),
    (b'<HELO name="a" sx="M" />\0<JOIN t="99999,1" />\0', "JOIN.t: no lobby is called 99999"),
    (b'<HELO name="a" sx="M" />\0<D p="1"/>\0', "D: out of order, the client is in the lobby"),
    (b"<Z />\0" * 20_000, "stream: far more was sent than asked for"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "words"), BAD_BEFORE)
def test_bad_words_before_a_game_are_named_in_one_line(data, words, caplog):
    async def visit(server, port, web_port):
        reader, writer = await asyncio.open_connection(HOST, port)
        writer.write(data)
        with contextlib.suppress(ConnectionError):
            await reader.read()
        writer.close()
        assert server.lobby.waiting == []

    waiting_room(visit)
    (record,) = caplog.records
    assert words in record.getMessage()


BAD_FRAMES = [
    ("[" * 60_000, "frame: nested too deeply"),
    ('{"tag":' * 5, "frame: neither JSON nor a tag"),
    ('{"name":"x"}', "frame.tag: missing"),
    ('{"tag":"HELO","name":{"a":1},"sx":"M"}', "HELO.name: expected a string or a number"),
    ('{"tag":"HOLA"}', "HOLA: no such tag"),
    ("<Z", "not one tag"),
    ("x" * 70_000, "tag: longer than the limit of 65536 bytes"),
    ("x" * 2_000_000, "exceeds limit"),
]


@pytest.mark.parametrize(("frame", "words"), BAD_FRAMES)
def test_bad_frames_are_named_in_one_line(frame, words, caplog):
    async def visit(server, port, web_port):
        url = f"http://{HOST}:{web_port}/"
        async with aiohttp.ClientSession() as session, session.ws_connect(url) as socket:
            with contextlib.suppress(ConnectionError):
                await socket.send_str(frame)
            assert (await socket.receive()).type is not aiohttp.WSMsgType.TEXT

    waiting_room(visit)
    (record,) = caplog.records
    assert words in record.getMessage()


def test_only_pages_of_this_machine_and_what_calls_itself_tenhous_page_may_come():
    async def visit(server, port, web_port):
        found = {}
        async with aiohttp.ClientSession() as session:
            for origin in ("https://tenhou.net", "http://localhost:80", "https://game.example"):
                try:
                    async with session.ws_connect(f"http://{HOST}:{web_port}/", origin=origin):
                        found[origin] = True
                except aiohttp.WSServerHandshakeError:
                    found[origin] = False
        return found

    assert list(waiting_room(visit).values()) == [True, True, False]


def test_who_waits_is_told_to_ask_again_and_who_does_not_gives_up_the_place(monkeypatch):
    monkeypatch.setattr(tenhou_endpoint, "REJOIN_S", 0.01)
    quiet = RawTenhou("quiet")
    answer = quiet.answer

    def silent(tag):
        return b"" if isinstance(tag, tags.Rejoin) else answer(tag)

    async def visit(server, port, web_port):
        true = RawTenhou("true")
        tasks = [asyncio.create_task(player.play(port)) for player in (true, quiet)]
        while len(true.kinds(tags.Rejoin)) < 3 or len(server.lobby.waiting) != 1:
            await asyncio.sleep(0.005)
        names = [seat.name for seat in server.lobby.waiting]
        for task in tasks:
            task.cancel()
        return names

    quiet.answer = silent
    assert waiting_room(visit) == ["true"]
    assert [tag_name(tag) for tag in quiet.received] == ["HELO", "REJOIN"]


def test_a_pair_plays_at_a_table_of_this_machine_over_this_wire(tmp_path):
    bots = f"{(__file__.rpartition('/server/')[0])}/match/pair_bots.py"
    pair = ["--top", f"{bots}:Talker", "--partner", f"{bots}:Listener"]

    async def visit(server, port, web_port):
        url = f"tenhou://{HOST}:{port}/0?type=1"
        duo = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "mjbot", "duo", url, *pair, "--games", "1",
            "--log-dir", str(tmp_path), stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        settings = Settings(parse_address(url), silence_s=GUARD_S, login=Login())
        others = [
            asyncio.create_task(play(settings, lambda game: make_strategy("tsumogiri")))
            for _ in range(2)
        ]
        (result,) = [result async for result in server.play(1)]
        await asyncio.gather(*others)
        return result, (await duo.communicate())[0].decode(), duo.returncode

    result, output, status = waiting_room(visit)
    assert status == ExitCode.OK, output
    assert not result.void
    assert {"mjbot (team 1/2)", "mjbot (team 2/2)"} < set(result.names)
    assert re.search(r"^the pair", output, re.M)


class FakeSeat:
    """What the endpoint compares of a seat."""

    def __init__(self, gpid, account="", connection=None):
        self.gpid, self.account, self.connection = gpid, account, connection
        self.may_return = True


def endpoint_with(*seats):
    door = tenhou_endpoint.TenhouEndpoint(Lobby(one_room()), RULES)
    door._players.extend(seats)
    return door


@pytest.mark.parametrize("part", ["A", "ABCDEF01", "ABCDEF01-2345678", "abcdef01-23456789", ""])
def test_a_part_of_a_seat_s_secret_takes_no_seat(part):
    seat = FakeSeat("ABCDEF01-23456789")
    assert endpoint_with(seat)._seat_of("", "ABCDEF01-23456789") is seat
    assert endpoint_with(seat)._seat_of("", part) is None


def test_an_account_with_several_seats_gets_only_one_whose_player_is_gone():
    there, gone = FakeSeat("1", "ID1", connection=object()), FakeSeat("2", "ID1")
    other = FakeSeat("3", "ID1", connection=object())
    assert endpoint_with(there, gone)._seat_of("ID1", None) is gone
    assert endpoint_with(there, other)._seat_of("ID1", None) is None
    assert endpoint_with(there)._seat_of("ID1", None) is there


@pytest.mark.parametrize("habits", [["twice"], ["slow"], ["large-reads"], HABITS])
def test_clients_with_the_habits_of_recorded_ones_play_to_the_end(habits):
    findings = RecordFindings()
    ListenerProof(findings, TONPU, 90).play_habitually(0, habits)
    assert findings.mismatches == []
    assert findings.checked["starts"] == findings.checked["of these in one piece"] == 4
    assert ("twice" in habits) == (findings.checked["answers repeated"] > 20)
    assert ("twice" in habits) == (findings.checked["of these a pass after a ron"] > 0)
    assert ("large-reads" in habits) == (findings.checked["reads of several pieces"] > 0)
