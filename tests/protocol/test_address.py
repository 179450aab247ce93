import pytest

from mjbot.protocol.dialects import Dialect
from mjbot.protocol.transports.address import is_loopback, parse_address


@pytest.mark.parametrize(
    ("url", "host", "port", "room"),
    [
        ("mjsonp://127.0.0.1:11601/lobby", "127.0.0.1", 11601, "lobby"),
        ("mjsonp://localhost", "localhost", 11600, "default"),
        ("mjsonp://localhost:80/", "localhost", 80, "default"),
        ("mjsonp://[::1]:80/0_0", "::1", 80, "0_0"),
        ("mjsonp://h/a/b", "h", 11600, "a/b"),
    ],
)
def test_tcp_addresses(url, host, port, room):
    address = parse_address(url)
    assert (address.host, address.port, address.room) == (host, port, room)
    assert address.dialect is Dialect.TCP and not address.is_stdio


def test_a_room_of_ones_own():
    assert parse_address("mjsonp://h/a", room="b").room == "b"


@pytest.mark.parametrize(
    ("url", "dialect", "is_stdio"),
    [
        ("ws://localhost:8000/ws", Dialect.RIICHILAB, False),
        ("wss://game.example/ws/ranked", Dialect.RIICHILAB, False),
        ("stdio:", Dialect.STDIO_LINES, True),
        ("stdio-arrays:", Dialect.STDIO_ARRAYS, True),
    ],
)
def test_other_addresses(url, dialect, is_stdio):
    address = parse_address(url)
    assert (address.url, address.dialect, address.is_stdio) == (url, dialect, is_stdio)


@pytest.mark.parametrize(
    "url",
    ["", "localhost", "http://h/", "mjsonp:", "mjsonp:///room", "mjsonp://h:port/", "ws://",
     "mjsonp://h:99999/", "stdio:5", "stdio-arrays://x", "mjsonp://[::1/"],
)  # fmt: skip
def test_what_is_no_address_is_named(url):
    with pytest.raises(ValueError, match=r"^URL ") as caught:
        parse_address(url)
    assert repr(url) in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.8.8", "::1"])
def test_loopback(host):
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["10.0.0.1", "game.example", "0.0.0.0", "localhost.example"])
def test_not_loopback(host):
    assert not is_loopback(host)
