"""One end of a channel as a process is given it."""

import asyncio
import os
import socket
import tempfile
from pathlib import Path

import pytest

from mjbot.play.client.pair_channel import SECRET_VARIABLE, End, Linked, _open, take_secret
from mjbot.play.match.pair import PairChannel, private_channel
from mjbot.play.startup.warm_up import warm_up_pair
from mjbot.runtime.system import HAS_UNIX_SOCKETS, LONGEST_PATH_BYTES
from mjbot.strategy.pair.session import Side
from mjbot.strategy.pair.socket_link import (
    SocketLink,
    fits_a_socket,
)
from mjbot.strategy.registry import make_strategy, strategy_class

GUARD_S = 300
BOTS = Path(__file__).parents[2] / "play" / "match" / "pair_bots.py"


@pytest.mark.parametrize("text", ["host:4711", "guest:/tmp/some folder/channel"])
def test_an_end_survives_the_command_line(text):
    if not HAS_UNIX_SOCKETS and "/" in text:
        pytest.skip("no Unix domain sockets here")
    assert str(End.parse(text)) == text


@pytest.mark.parametrize("text", ["", "host", "host:", "4711", "other:4711", "Host:4711"])
def test_what_is_no_end_is_refused(text):
    with pytest.raises(ValueError, match="expected host:PLACE or guest:PLACE"):
        End.parse(text)


def test_the_secret_is_taken_out_of_the_environment(monkeypatch):
    monkeypatch.setenv(SECRET_VARIABLE, "0123456789abcdef")
    assert take_secret() == b"0123456789abcdef"
    with pytest.raises(ValueError, match=f"set {SECRET_VARIABLE}"):
        take_secret()


@pytest.mark.parametrize("secret", ["x", "0123456789abcde"])
def test_a_secret_that_could_be_guessed_is_refused_and_not_said(monkeypatch, secret):
    monkeypatch.setenv(SECRET_VARIABLE, secret)
    with pytest.raises(ValueError, match=f"^{SECRET_VARIABLE}: too short: 16 char") as caught:
        take_secret()
    assert len(str(caught.value).splitlines()) == 1
    assert secret not in str(caught.value).replace(SECRET_VARIABLE, "").split()


def test_nothing_that_is_printed_of_a_channel_tells_its_secret():
    assert "hush" not in repr(Linked(End(Side.HOST, 4711), b"hush"))
    assert "hush" not in repr(PairChannel(4711, "hush"))


@pytest.mark.parametrize("port", ["0", "00000", "65536", "99999"])
@pytest.mark.parametrize("side", ["host", "guest"])
def test_a_port_that_nobody_can_join_is_refused(side, port):
    with pytest.raises(
        ValueError, match=f"^port {port} of the pair's channel: expected 1 to 65535"
    ):
        End.parse(f"{side}:{port}")


@pytest.mark.parametrize("port", [1, 65535])
def test_every_other_port_is_none_of_our_business(port):
    assert End.parse(f"guest:{port}").address == port


@pytest.mark.skipif(not HAS_UNIX_SOCKETS, reason="no Unix domain sockets here")
@pytest.mark.parametrize("more", [0, 1])
def test_a_socket_may_be_called_what_the_system_can_bind(more, tmp_path):
    name = "x" * (LONGEST_PATH_BYTES + more - len(os.fsencode(tmp_path)) - 1)
    file = tmp_path / name
    with socket.socket(socket.AF_UNIX) as probe:
        if fits_a_socket(file):
            probe.bind(str(file))
            assert End.parse(f"host:{file}").address == file
        else:
            with pytest.raises(OSError, match="too long"):
                probe.bind(str(file))
            with pytest.raises(ValueError, match="name a shorter one, or a port"):
                End.parse(f"guest:{file}")
    assert fits_a_socket(file) is (more == 0)


def test_where_the_folder_of_the_channel_has_too_long_a_name_it_is_on_loopback(
    monkeypatch, tmp_path
):
    folder = tmp_path / ("x" * 120)
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))

    async def meet(channel: PairChannel) -> None:
        links = [SocketLink(side, channel.address, channel.secret.encode()) for side in Side]
        tasks = [asyncio.create_task(link.run()) for link in links]
        async with asyncio.timeout(GUARD_S):
            while not all(link.linked for link in links):
                await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)

    with private_channel() as channel:
        assert isinstance(channel.address, int)
        assert End.parse(f"host:{channel.address}").address == channel.address
        asyncio.run(meet(channel))


NOBODY = 65534


def as_nobody(address: Path) -> str:
    """Return what comes of another user's attempt to connect."""
    received, output = os.pipe()
    if (child := os.fork()) == 0:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            with socket.socket(socket.AF_UNIX) as probe:
                probe.connect(str(address))
            os.write(output, b"connected")
        except BaseException as error:
            os.write(output, type(error).__name__.encode())
        finally:
            os._exit(0)
    os.close(output)
    os.waitpid(child, 0)
    with open(received, encoding="ascii") as words:
        return words.read()


@pytest.mark.skipif(not HAS_UNIX_SOCKETS, reason="no Unix domain sockets here")
@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can be others")
@pytest.mark.parametrize("folder_is_open", [False, True])
def test_another_user_of_this_machine_cannot_connect(folder_is_open):
    """Neither into the folder, nor, were it open, to the socket itself."""

    async def main(address: Path) -> str:
        link = SocketLink(Side.HOST, address, b"secret")
        task = asyncio.create_task(link.run())
        async with asyncio.timeout(GUARD_S):
            while not (address.exists() and address.stat().st_mode & 0o777 == 0o600):
                await asyncio.sleep(0)
            (await asyncio.open_unix_connection(address))[1].close()  # we can
        try:
            return as_nobody(address)
        finally:
            task.cancel()
            await asyncio.wait({task})

    with private_channel() as channel:
        if folder_is_open:
            channel.address.parent.chmod(0o755)
        assert asyncio.run(main(channel.address)) == "PermissionError"


@pytest.mark.skipif(not HAS_UNIX_SOCKETS, reason="no Unix domain sockets here")
def test_no_user_connects_before_the_socket_has_its_mode(tmp_path, monkeypatch):
    """The mode that a socket is made with depends on the umask."""
    chmod, tried = Path.chmod, []

    def try_first(self, mode, **how):
        with socket.socket(socket.AF_UNIX) as probe, pytest.raises(ConnectionRefusedError):
            probe.connect(str(self))
        tried.append(mode)
        chmod(self, mode, **how)

    async def listen():
        link = SocketLink(Side.HOST, tmp_path / "pair", b"secret")
        task = asyncio.create_task(link.run())
        while not tried and not task.done():
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        assert tried == [0o600]

    monkeypatch.setattr(Path, "chmod", try_first)
    asyncio.run(asyncio.wait_for(listen(), GUARD_S))


@pytest.mark.skipif(not HAS_UNIX_SOCKETS, reason="no Unix domain sockets here")
@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can be others")
@pytest.mark.skipif(not hasattr(socket, "SO_PEERCRED"), reason="peers have no known users here")
def test_a_socket_that_another_user_has_planted_is_sent_nothing(caplog):
    with tempfile.TemporaryDirectory() as name, socket.socket(socket.AF_UNIX) as planted:
        Path(name).chmod(0o777)
        address = Path(name, "pair")
        planted.bind(str(address))
        received, output = os.pipe()
        if (child := os.fork()) == 0:  # the credentials are those of the process that listens
            try:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
                planted.listen()
                connection, _ = planted.accept()
                os.write(output, b"sent: " + connection.recv(1000))
            finally:
                os._exit(0)
        os.close(output)

        async def visit():
            task = asyncio.create_task(SocketLink(Side.GUEST, address, b"secret").run())
            while not caplog.messages:
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait({task})

        asyncio.run(asyncio.wait_for(visit(), GUARD_S))
        with open(received, "rb") as words:
            assert words.read() == b"sent: "
        os.waitpid(child, 0)
    assert f"pair.socket: user {NOBODY} listens there" in caplog.text


@pytest.mark.skipif(not HAS_UNIX_SOCKETS, reason="no Unix domain sockets here")
def test_a_channel_that_cannot_be_opened_is_said_and_play_goes_on(tmp_path, caplog):

    async def play() -> str:
        link = SocketLink(Side.HOST, tmp_path / "no" / "such" / "folder", b"secret")
        async with _open(link):
            while not caplog.messages:
                await asyncio.sleep(0)
            assert link.newest(lambda holding: True) is None
            return "played"

    assert asyncio.run(asyncio.wait_for(play(), GUARD_S)) == "played"
    assert "cannot be opened" in caplog.messages[0]
    assert "playing alone" in caplog.messages[0]


def test_a_warm_up_is_a_kyoku_in_which_the_partner_is_heard():
    talker, listener = (strategy_class(f"{BOTS}:{name}") for name in ("Talker", "Listener"))
    received = []

    class Witness(listener):
        def receive_hand(self, view):
            assert sum(view.state["hand_known"]) == 1  # no more is seen than in a client
            ally = super().receive_hand(view)
            received.append(ally is not None)
            return ally

    warm_up_pair(Witness, talker)
    assert 5 < sum(received) < 25
    with pytest.raises(TypeError, match="Tsumogiri is no strategy for a pair"):
        warm_up_pair(lambda: make_strategy("tsumogiri"), talker)
