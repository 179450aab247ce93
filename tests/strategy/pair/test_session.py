"""The pair's conversation without any socket: who is believed, and what is refused."""

import pytest

from mjbot.protocol.errors import LocalProtocolError, ProtocolError
from mjbot.strategy.pair.messages import PairHello, Proof, SharedHand, decode, encode
from mjbot.strategy.pair.session import PairSession, Side

SECRET = b"correct horse"
DEEP = b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b',"type":"proof"}'
HOLDING = SharedHand(game="g", kyoku=0, honba=1, turn=2, seat=3, hand=("5mr",) * 13, waits=("E",))


def shake_hands(host: PairSession, guest: PairSession) -> None:
    to_guest, to_host = host.opening, guest.opening
    proof_of_host, proof_of_guest = host.receive(to_host), guest.receive(to_guest)
    assert host.receive(proof_of_guest) is None
    assert guest.receive(proof_of_host) is None


def linked() -> tuple[PairSession, PairSession]:
    host, guest = PairSession(Side.HOST, SECRET), PairSession(Side.GUEST, SECRET)
    shake_hands(host, guest)
    assert host.linked
    assert guest.linked
    return host, guest


def test_a_shared_secret_links_and_hands_pass_both_ways():
    host, guest = linked()
    assert guest.receive(host.send(HOLDING)) is None
    assert guest.newest == HOLDING
    host.receive(guest.send(HOLDING))
    assert host.newest == HOLDING


def test_another_secret_is_refused_by_both_sides():
    host, guest = PairSession(Side.HOST, SECRET), PairSession(Side.GUEST, b"wrong")
    proof = guest.receive(host.opening)
    with pytest.raises(ProtocolError, match="does not know the secret"):
        host.receive(guest.opening)
        host.receive(proof)
    assert not host.linked


def test_an_echo_of_our_own_proof_is_no_proof():
    host = PairSession(Side.HOST, SECRET)
    own_proof = host.receive(host.opening)
    with pytest.raises(ProtocolError, match="does not know the secret"):
        host.receive(own_proof)


def test_a_proof_of_another_conversation_is_no_proof():
    overheard = PairSession(Side.GUEST, SECRET).receive(PairSession(Side.HOST, SECRET).opening)
    host = PairSession(Side.HOST, SECRET)
    host.receive(PairSession(Side.GUEST, SECRET).opening)
    with pytest.raises(ProtocolError, match="does not know the secret"):
        host.receive(overheard)


def test_nothing_is_said_or_heard_before_the_proof():
    host = PairSession(Side.HOST, SECRET)
    with pytest.raises(LocalProtocolError):
        host.send(HOLDING)
    with pytest.raises(ProtocolError, match="out of order"):
        host.receive(encode(HOLDING))
    with pytest.raises(ProtocolError, match="out of order"):
        host.receive(encode(Proof(digest="0" * 64)))
    assert host.newest is None


def test_a_second_greeting_is_out_of_order():
    host, _ = linked()
    with pytest.raises(ProtocolError, match=r"pair\.greeting"):
        host.receive(encode(PairHello(challenge="0" * 64)))


def test_an_empty_secret_is_none():
    with pytest.raises(ValueError, match="secret"):
        PairSession(Side.HOST, b"")


@pytest.mark.parametrize(
    ("line", "field"),
    [
        (b"", "pair"),
        (b"\xff\xfe", "pair"),
        (b'{"type":"dahai","actor":0}', "pair.type"),
        (encode(HOLDING).replace(b"5mr", b"9x", 1), "pair.hand"),
        (encode(HOLDING).replace(b'"seat":3', b'"seat":4'), "pair.seat"),
        (encode(HOLDING).replace(b'"honba":1', b'"honba":-1'), "pair.honba"),
        (encode(HOLDING).replace(b'"seat":3', b'"seat":3,"more":1'), "pair"),
    ],
)
def test_what_is_no_message_is_refused_by_field(line, field):
    with pytest.raises(ProtocolError) as caught:
        decode(line)
    assert caught.value.field.startswith(field)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("line", [b'{"type":"a\\nb\\u001b[2J"}', b'{"type":"%s"}' % (b"x" * 10**6)])
def test_what_a_stranger_says_makes_one_short_line(line):
    with pytest.raises(ProtocolError) as caught:
        decode(line)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 250


def test_what_is_nested_too_deeply_is_refused():
    with pytest.raises(ProtocolError, match=r"^pair: nested too deeply$"):
        decode(DEEP)


def test_a_message_survives_its_line():
    assert decode(encode(HOLDING)) == HOLDING
