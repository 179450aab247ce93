"""Compares what four clients received of one game with each other and with the rules."""

from collections.abc import Sequence
from typing import Final

from mjbot.game.table.mirror.mirror import Mirror, TableError
from mjbot.play.check.four_clients import ClientReport, bare
from mjbot.protocol import messages as m
from mjbot.protocol.masking import masked

_MOST_DRAWS: Final = 70


def compared(seats: Sequence[ClientReport], *, whole: bool) -> list[tuple[str, str]]:
    """Compare what the four received, in the order of their seats."""
    if [outcome.seat for outcome in seats] != [0, 1, 2, 3]:
        return [("S05", f"the seats are {[outcome.seat for outcome in seats]}")]
    if whole and len({len(outcome.events) for outcome in seats}) > 1:
        return [("S05", f"they received {[len(outcome.events) for outcome in seats]} events")]
    table, draws = Mirror(None), 0
    for index in range(min(len(outcome.events) for outcome in seats)):
        versions = [bare(outcome.events[index]) for outcome in seats]
        event = _opened(versions)
        for seat, received in enumerate(versions):
            # What a seat receives beyond its mask is a leak, and reported as one.
            if not isinstance(event, _OWN) and bare(masked(event, seat)) != masked(received, seat):
                return [("S05", f"seat {seat} receives {received!r}, another {event!r}")]
        draws = 0 if isinstance(event, m.StartKyoku) else draws + isinstance(event, m.Tsumo)
        if draws > _MOST_DRAWS:
            return [("S12", f"{draws} tiles are drawn in one kyoku")]
        try:
            table.apply(event)
        except TableError as error:
            return [("S12", str(error))] if whole else []
    return []


_OWN: Final = (m.EndGame,)


def _opened(versions: Sequence[m.Event]) -> m.Event:
    """Return an event as seen with all hands open."""
    first = versions[0]
    if isinstance(first, m.Tsumo):
        return versions[first.actor]
    if isinstance(first, m.StartKyoku):
        deals = [received for received in versions if isinstance(received, m.StartKyoku)]
        if len(deals) == 4:
            a, b, c, d = (deal.tehais[seat] for seat, deal in enumerate(deals))
            return m.StartKyoku(
                bakaze=first.bakaze, kyoku=first.kyoku, honba=first.honba, kyotaku=first.kyotaku,
                oya=first.oya, dora_marker=first.dora_marker, scores=first.scores,
                tehais=(a, b, c, d),
            )  # fmt: skip
    return first


def wrong_claim(claims: Sequence[m.PlayerAction], after: Sequence[m.Event]) -> str:
    """Return how a server chose wrongly among the claims of one tile."""
    between = (m.ReachAccepted, m.Dora)
    chosen = next((event for event in after if not isinstance(event, between)), None)
    if chosen is None or isinstance(chosen, m.Ryukyoku):
        return ""
    for kinds in ((m.Hora,), (m.Pon, m.Daiminkan), (m.Chi,)):
        if any(isinstance(claim, kinds) for claim in claims):
            right = isinstance(chosen, kinds)
            return "" if right else f"{claims!r} were claimed, but the server chose {chosen!r}"
    return ""


def deal_of(seats: Sequence[ClientReport]) -> object:
    """Return the first deal of a game, as all four saw it; ``None``: there was none."""
    for index in range(min(len(outcome.events) for outcome in seats)):
        event = _opened([outcome.events[index] for outcome in seats])
        if isinstance(event, m.StartKyoku):
            return event.dora_marker, event.tehais
    return None
