"""Discards whose ``tsumogiri`` a log leaves out or always has as false, settled by the hand.

Old mjai logs have no such field, and some writers never set it.  A seat that is in riichi, or that
holds no other tile of that name, has discarded the tile it drew.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from mjbot.game.records.game import Entry
from mjbot.protocol import messages as m


def settle_discards(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yield the entries, with ``tsumogiri`` true for what can only be the drawn tile."""
    hands: list[Counter[str]] = []
    in_riichi: set[int] = set()
    drawn = ""
    for entry in entries:
        match event := entry.event:
            case m.StartKyoku():
                hands, in_riichi, drawn = [Counter(hand) for hand in event.tehais], set(), ""
            case m.Tsumo(actor=seat, pai=drawn) if hands:
                hands[seat][drawn] += 1
            case m.Dahai(actor=seat, pai=tile) if hands:
                is_drawn = tile == drawn and (hands[seat][tile] == 1 or seat in in_riichi)
                if is_drawn and not event.tsumogiri:
                    entry = entry._replace(event=replace(event, tsumogiri=True))
                hands[seat][tile] -= 1
                drawn = ""
            case m.Chi() | m.Pon() | m.Daiminkan() | m.Ankan() if hands:
                hands[event.actor].subtract(event.consumed)
                drawn = ""
            case m.Kakan(actor=seat, pai=tile) | m.Kita(actor=seat, pai=tile) if hands:
                hands[seat][tile] -= 1
                drawn = ""
            case m.ReachAccepted(actor=seat):
                in_riichi.add(seat)
        yield entry
