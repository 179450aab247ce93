"""Remarks of a pair in the game's log: what one shares with its ally, and does for it.

A remark is an entry of an event's ``logs``, a JSON object that viewers render as text::

    {"type":"pair","ally":2,"done":{"seat":2,"tile":"5p","purpose":"to win on"},
     "hand":["1m","2m","3m","4m"],"waits":["1m","4m"],"calls":["5s"]}

Seats are absolute, as everywhere in a log; tiles are wire names.  Remarks of version 0.3 and before
were sentences; they are shown as they are.
"""

from typing import Annotated, Any, Final

import msgspec

from mjbot.protocol.errors import NOT_JSON
from mjbot.protocol.messages import Seat, Tile
from mjbot.protocol.tiles import TILE_BY_NAME

Text = Annotated[str, msgspec.Meta(max_length=80)]


class Help(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an action does for the ally at ``seat``: its tile, or else its name, and the purpose.

    A feed gives the ally a tile or a turn of its own.
    """

    seat: Seat
    tile: Text
    purpose: Text
    is_feed: bool = True


class PairRemark(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="pair"):
    """One decision: the ``ally``'s seat, if it is known, what was done for it, and the shared hand.

    ``hand`` is empty where nothing was shared; ``aim``, ``waits`` and ``calls`` are those of
    :class:`~mjbot.strategy.pair.messages.SharedHand`.
    """

    ally: Seat | None = None
    done: Help | None = None
    hand: tuple[Tile, ...] = ()
    aim: Text | None = None
    waits: tuple[Tile, ...] = ()
    calls: tuple[Tile, ...] = ()

    def __str__(self) -> str:
        """Return the entry of the log, empty if nothing was shared or done.

        >>> str(PairRemark(2, hand=("1m", "E"))), str(PairRemark(2))
        ('{"type":"pair","ally":2,"hand":["1m","E"]}', '')
        """
        return msgspec.json.encode(self).decode() if self.hand or self.done else ""

    @property
    def feed(self) -> Help | None:
        """What was fed to the ally, if anything."""
        return self.done if self.done and self.done.is_feed else None

    def parts(self) -> list[str | dict[str, Any]]:
        """Return the remark for a page: texts, ``{"tiles": "1m E"}`` and ``{"seat": 2}``.

        >>> PairRemark(2, Help(2, "5p", "to win on"), ("1m", "E")).parts()  # doctest: +ELLIPSIS
        ['feeds ', {'seat': 2}, ': ', {'tiles': '5p'}, ' to win on', '; ', 'shares with ', ...]
        """
        parts: list[str | dict[str, Any]] = []
        if self.done:
            name = self.done.tile
            tile: str | dict[str, Any] = {"tiles": name} if name in TILE_BY_NAME else name
            verb = "feeds " if self.done.is_feed else "helps "
            parts = [verb, {"seat": self.done.seat}, ": ", tile, f" {self.done.purpose}"]
        if self.hand:
            ally = "its ally" if self.ally is None else {"seat": self.ally}
            parts += ["; "] if parts else []
            parts += ["shares with ", ally, ": holds ", {"tiles": " ".join(self.hand)}]
            parts += [f", plays for {self.aim}"] if self.aim else []
            for verb, tiles in (("waits", self.waits), ("calls", self.calls)):
                parts += [f", {verb} ", {"tiles": " ".join(tiles)}] if tiles else []
        return parts


_DECODER: Final = msgspec.json.Decoder(PairRemark)


def parse_remark(text: str) -> PairRemark | None:
    """Return the remark of a pair; ``None`` if the text is another remark.

    >>> parse_remark('{"type":"pair","done":{"seat":2,"tile":"5p","purpose":"to call"}}').feed.tile
    '5p'
    >>> parse_remark("feeds seat 2: 5p to win on"), parse_remark('{"type":"pair","ally":4}')
    (None, None)
    """
    try:
        return _DECODER.decode(text) if text.startswith('{"') else None
    except NOT_JSON:
        return None
