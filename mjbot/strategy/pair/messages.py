"""The messages between two bots of a pair: one frozen type per message, one JSON line each.

Tiles are wire strings and seats absolute, as in :mod:`mjbot.protocol.messages`.  What is sent of a
hand carries a fingerprint of the game and of the deals, so that nothing stale or foreign is
believed.
"""

import hashlib
from collections.abc import Sequence
from typing import Annotated, Final

import msgspec
import numpy as np

from mjbot.game.table.observe import add_melds
from mjbot.game.table.view import View
from mjbot.protocol.errors import ProtocolError
from mjbot.protocol.messages import Seat, Tile
from mjbot.protocol.tiles import N_KINDS, TILE_BY_NAME, tile_kind

Count = Annotated[int, msgspec.Meta(ge=0)]
Hex = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
GameToken = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{16}$")]


class PairMessage(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="type", forbid_unknown_fields=True
):
    """A message from one bot of a pair to the other."""


class PairHello(PairMessage, frozen=True, kw_only=True, tag="greeting"):
    """First line of either side: ``challenge`` is 32 random bytes in hex."""

    challenge: Hex


class Proof(PairMessage, frozen=True, kw_only=True, tag="proof"):
    """Answer to a greeting that requires the shared secret."""

    digest: Hex


class GameHello(PairMessage, frozen=True, kw_only=True, tag="sitting"):
    """A game begins for the speaker, or the two have met in the middle of one.

    ``game`` is random: only messages that answer it were sent since.
    """

    game: GameToken


class SharedHand(PairMessage, frozen=True, kw_only=True, tag="holding"):
    """What a seat holds once it has made its ``turn``-th discard of a kyoku.

    ``game`` names the game and its deals so far as both see them
    (:mod:`mjbot.strategy.pair.messages`), ``answers`` is the partner's last :class:`GameHello` as
    the speaker knew it.  ``kyoku`` is 0 for East 1 .. 15 for North 4, ``turn`` 0 before the first
    discard.  ``hand`` are the concealed tiles without a drawn one, ``kita`` counts the norths set
    aside.  ``waits`` are the kinds on which the seat could really win by ron: with a yaku and
    without furiten.  ``aim`` is the yaku it plays for, if any; ``helps`` are the kinds that it
    would call.
    """

    game: str
    answers: GameToken | None = None
    kyoku: Annotated[int, msgspec.Meta(ge=0, le=15)]
    honba: Count
    turn: Count
    seat: Seat
    hand: Annotated[tuple[Tile, ...], msgspec.Meta(min_length=1, max_length=13)]
    kita: Count = 0
    melds: tuple[tuple[Tile, ...], ...] = ()
    waits: tuple[Tile, ...] = ()
    aim: str | None = None
    helps: tuple[Tile, ...] = ()


LONGEST_PROBLEM: Final = 200
AnyMessage = PairHello | Proof | GameHello | SharedHand
_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(AnyMessage)


def encode(message: AnyMessage) -> bytes:
    """Return the line of ``message``, without its line end."""
    return _ENCODER.encode(message)


def decode(line: bytes) -> AnyMessage:
    """Return the message of a line; raises :class:`ProtocolError` naming the field.

    >>> decode(b'{"type":"proof","digest":"no"}')
    Traceback (most recent call last):
    mjbot.protocol.errors.ProtocolError: pair.digest: Expected `str` matching regex '^[0-9a-f]{64}$'
    """
    try:
        message: AnyMessage = _DECODER.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        problem, _, path = _readable(str(error)).partition(" - at `$")
        field = f"pair{path.rstrip('`')}" if path else "pair"
        raise ProtocolError(field, problem) from None
    except RecursionError:
        raise ProtocolError("pair", "nested too deeply") from None
    return message


def _readable(text: str) -> str:
    """Return one line that is fit for a log: it quotes untrusted text."""
    if len(text) > LONGEST_PROBLEM:
        text = f"{text[: LONGEST_PROBLEM // 2]}...{text[-LONGEST_PROBLEM // 2 :]}"
    return "".join([letter if letter.isprintable() else " " for letter in text])


def game_fingerprint(names: Sequence[str]) -> str:
    """Return a name of a game that is the same for all its seats.

    >>> game_fingerprint(["a", "b", "c", "d"]) == game_fingerprint(["a", "b", "d", "c"])
    False
    """
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]


def deal_fingerprint(game: str, view: View) -> str:
    """Return what names the game in this kyoku: its deal as everybody sees it when it is dealt.

    A deal is its round, honba, sticks and first dora marker.
    """
    deal = (view.round, view.honba, view.sticks, int(view.dora_markers[0]))
    return hashlib.sha256(f"{game} {deal}".encode()).hexdigest()[:16]


def fits_table(holding: SharedHand, view: View, game: str) -> bool:
    """Whether a partner's word is about the table as ``view.seat`` sees it now.

    It must be of this game and its deal, of this kyoku and turn (a hand in riichi stays what it
    is), of another player, of the right size, and hold no tile that is not in the game or of which
    the fifth copy would be in sight.
    """
    seat = holding.seat
    if (holding.game, holding.kyoku, holding.honba) != (game, view.round, view.honba):
        return False
    if seat == view.seat or seat >= view.players:
        return False
    now = len(view.river(seat))
    is_of_now = (holding.turn, holding.kita) == (now, view.kita(seat))
    if not is_of_now and not (view.riichi(seat) and holding.turn < now):
        return False
    n_melds = int(view.state["n_melds"][seat])
    if len(holding.melds) != n_melds or len(holding.hand) != 13 - 3 * n_melds:
        return False
    return _melds_fit(holding, view) and _copies_fit(holding, view)


def _melds_fit(holding: SharedHand, view: View) -> bool:
    shown = np.zeros(N_KINDS, np.int8)
    add_melds(view.state, holding.seat, shown)
    counted = np.zeros(N_KINDS, np.int8)
    for meld in holding.melds:
        for name in meld:
            if name == "?":
                return False
            counted[tile_kind(TILE_BY_NAME[name])] += 1
    return bool((shown == counted).all())


def _copies_fit(holding: SharedHand, view: View) -> bool:
    if "?" in holding.hand:
        return False
    unseen = view.unseen.copy()
    for name in holding.hand:
        unseen[tile_kind(TILE_BY_NAME[name])] -= 1
    return int(unseen.min()) >= 0
