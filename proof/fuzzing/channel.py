"""The channel of a pair: only lines with the secret are accepted, if they fit the table."""

import contextlib
from functools import cache
from typing import Final

from msgspec.structs import replace

from mjbot.game.table.mirror.mirror import Mirror
from mjbot.game.table.view import View
from mjbot.protocol.errors import LocalProtocolError, ProtocolError
from mjbot.protocol.framing import LineBuffer
from mjbot.protocol.messages import Dahai, StartGame, StartKyoku, Tsumo
from mjbot.strategy.pair.member import Ally
from mjbot.strategy.pair.messages import SharedHand, decode, encode, fits_table
from mjbot.strategy.pair.session import PairSession, Side

_SECRET: Final = b"known to the two of us alone"
_CHALLENGE: Final = "5" * 64
_GAME: Final = "0123456789abcdef"
_HOLDING: Final = SharedHand(game=_GAME, kyoku=0, honba=0, turn=0, seat=0, hand=("1m",))
_LINES: Final = 64


def check_channel(choice: int, data: bytes) -> None:
    """Lines of a partner or an untrusted client.

    Bit 0 of the choice is the receiving side, bit 1 whether the other side has proved the secret.
    """
    session = PairSession(Side.HOST if choice & 1 else Side.GUEST, _SECRET, _CHALLENGE)
    is_partner = bool(choice & 2)
    if is_partner:
        _prove(session, Side.GUEST if choice & 1 else Side.HOST)
    with contextlib.suppress(ProtocolError):
        for line in LineBuffer().feed(data + b"\n")[:_LINES]:
            _check_line(line)
            answer = session.receive(line)
            assert answer is None or (b"proof" in answer and _SECRET not in answer)
            assert session.linked == is_partner, "an untrusted client was linked as the partner"
            if session.newest is not None:
                _check_holding(session.newest)
    if not is_partner:
        assert session.newest is None and session.game is None
        with contextlib.suppress(LocalProtocolError):
            session.send(_HOLDING)
            raise AssertionError("a hand was sent to an untrusted client")


def _prove(session: PairSession, side: Side) -> None:
    other = PairSession(side, _SECRET)
    session.receive(other.opening)
    session.receive(other.receive(session.opening) or b"")


def _check_line(line: bytes) -> None:
    with contextlib.suppress(ProtocolError):
        message = decode(line)
        assert decode(encode(message)) == message


def _check_holding(holding: SharedHand) -> None:
    """It fits the table or not; where it fits, what the partner does follows from it."""
    view = _view()
    now = len(view.river(holding.seat))
    for one in (
        holding,
        replace(holding, game=_GAME, kyoku=view.round, honba=view.honba, turn=now),
    ):
        if fits_table(one, view, _GAME):
            ally = Ally(view, one)
            assert ally.waits & ~ally.shape == 0


@cache
def _view() -> View:
    """Return a seat's view of a kyoku after the first discards."""
    table = Mirror(seat=0)
    hand = ("1m", "2m", "3m", "4p", "5pr", "6p", "7s", "8s", "9s", "E", "E", "P", "C")
    hands = (hand, ("?",) * 13, ("?",) * 13, ("?",) * 13)
    table.apply(StartGame(id=0, names=("a", "b", "c", "d")))
    table.apply(
        StartKyoku(
            bakaze="E", kyoku=1, honba=0, kyotaku=0, oya=0, dora_marker="1s", tehais=hands,
            scores=(25000,) * 4,
        )
    )  # fmt: skip
    table.apply(Tsumo(actor=0, pai="N"))
    table.apply(Dahai(actor=0, pai="N", tsumogiri=True))
    for seat, tile in ((1, "9m"), (2, "W"), (3, "S")):
        table.apply(Tsumo(actor=seat, pai="?"))
        table.apply(Dahai(actor=seat, pai=tile, tsumogiri=False))
    return table.view(0)
