"""The messages of one hand of Mahjong Soul as events."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from mjbot.game.records.complete import in_id_order
from mjbot.game.records.mahjong_soul import messages as lq
from mjbot.game.records.tenhou6.events import (
    LastHand,
    emit_deal,
    emit_events,
    last_tile,
    last_waits,
)
from mjbot.game.records.tenhou6.hands import HandColumns, SeatColumns
from mjbot.game.records.tenhou6.results import DrawEntry, Result, WinEntry
from mjbot.game.rules.points import Parties
from mjbot.game.rules.ruleset import rule_set
from mjbot.game.rules.yaku_table import DAISANGEN, DAISUUSHII
from mjbot.game.table.settle import payments
from mjbot.protocol import messages as m
from mjbot.protocol.rules import Rules
from mjbot.protocol.seats import by_seat, paid
from mjbot.protocol.tiles import (
    FIRST_DRAGON,
    FIRST_HONOUR,
    NORTH,
    TILE_BY_NAME,
    TILE_NAMES,
    WIND_NAMES,
    parse_tiles,
    tile_kind,
    tile_name,
)
from mjbot.protocol.yaku import YAKUMAN_FAN

_DRAWS: Final = {
    1: "kyushukyuhai",
    2: "sufonrenta",
    3: "sukaikan",
    4: "suchareach",
    5: "sanchaho",
}
"""By the type of an abortive draw, as the site numbers them."""
_DEALT: Final = 13
_KANS: Final = (m.Daiminkan, m.Kakan, m.Ankan)
_CALLS: Final = (m.Chi, m.Pon, *_KANS)
_Turning = lq.DealTile | lq.DiscardTile | lq.AnGangAddGang | lq.BaBei
"""Messages that may name indicators."""


def hand_events(deal: lq.NewRound, played: Iterable[lq.Message], rules: Rules) -> list[m.Event]:
    """Return the events of a hand under these rules, from its deal to its result.

    Raises ``ValueError`` where a message does not fit those before it.
    """
    hand = _Hand(deal, rules)
    for message in played:
        hand.add(message)
    columns = _columns(deal, hand.hands_dealt, hand.ura)
    events = emit_events(columns, hand.events, hand.result, rules.stick_points)
    return [*events, m.EndKyoku()]


def deal_only(deal: lq.NewRound) -> list[m.Event]:
    """Return a hand that is dealt unseen and not played."""
    return [emit_deal(_columns(deal, (), ())), m.EndKyoku()]


def _columns(
    deal: lq.NewRound, hands: Sequence[Sequence[str]], ura: tuple[str, ...]
) -> HandColumns:
    """Return what is known of a hand before and after it; seats without ``hands`` are hidden."""
    hidden = [("?",) * _DEALT] * (4 - len(hands))
    return HandColumns(
        kyoku=4 * deal.chang + deal.ju,
        honba=deal.ben,
        sticks=deal.liqibang,
        scores=_four(deal.scores),
        dora=(_first_indicator(deal),),
        ura=ura,
        seats=tuple(SeatColumns(tuple(tiles), (), ()) for tiles in (*hands, *hidden)),
        result=[],
        players=len(deal.scores),
    )


def _four(points: Sequence[int]) -> m.FourInts:
    """Return points by seat with 0 in the empty chair of three players."""
    return by_seat([*points, 0][:4])


def _first_indicator(deal: lq.NewRound) -> str:
    text = deal.doras[0] if deal.doras else deal.dora
    if text is None:
        raise ValueError("RecordNewRound: names no dora indicator")
    return _tile(text)


def _tile(text: str) -> str:
    """Return the name of a tile.

    >>> _tile("0p"), _tile("5z")
    ('5pr', 'P')
    """
    return tile_name(parse_tiles(text)[0])


class _Hand:
    """What a hand's messages leave behind: its events, and what later messages refer to."""

    def __init__(self, deal: lq.NewRound, rules: Rules) -> None:
        self._rules: Final = rules
        self._players: Final = len(deal.scores)
        self._check_seats(deal, deal.ju)
        seats = range(self._players)
        tiles = [[*map(_tile, getattr(deal, f"tiles{seat}"))] for seat in seats]
        for seat, dealt in enumerate(tiles):
            if len(dealt) != _DEALT + (seat == deal.ju):
                raise ValueError(f"RecordNewRound.tiles{seat}: has {len(dealt)} tiles")
        self._deal: Final = deal
        self._hands: Final = [LastHand(dealt) for dealt in tiles]
        self._pons: Final[dict[tuple[int, int], list[str]]] = {}
        self._honours: Final[dict[int, list[int]]] = {seat: [] for seat in seats}
        """The kinds of melds of honours."""
        self._liable: Final[dict[int, tuple[int, int]]] = {}
        """By winner: the seat that answers for its yakuman, and the mask of that yakuman."""
        self._declarer = -1
        """The seat whose riichi is not accepted yet."""
        self._n_riichi = 0
        self._n_dora = 1
        self.hands_dealt: Final = [tuple(dealt[:_DEALT]) for dealt in tiles]
        self.events: Final[list[m.Event]] = [m.Tsumo(actor=deal.ju, pai=tiles[deal.ju][-1])]
        self.ura: tuple[str, ...] = ()
        self.result: Result = None

    def add(self, message: lq.Message) -> None:
        """Take the next message."""
        if self.result is not None:
            raise ValueError(f"{type(message).__name__}: follows the result of the hand")
        wins = message.hules if isinstance(message, lq.HuleRecord) else (message,)
        froms = getattr(message, "froms", ())
        self._check_seats(message, *froms, *(getattr(each, "seat", 0) for each in wins))
        self._accept_riichi(message)
        match message:
            case lq.DealTile(tile=text, seat=seat):
                self._turn_dora(message)
                self._hands[seat].tiles.append(_tile(text))
                self.events.append(m.Tsumo(actor=seat, pai=_tile(text)))
            case lq.DiscardTile():
                self._discard(message)
            case lq.ChiPengGang():
                self._call(message)
            case lq.AnGangAddGang():
                self._own_kan(message)
                self._turn_dora(message)
            case lq.BaBei():
                self._set_aside(message)
            case lq.HuleRecord():
                self.result = tuple(self._wins(message))
            case lq.NoTile():
                self.result = _exhaustive(message)
            case lq.LiuJu():
                reason = self._draw_reason(message)
                self.result = DrawEntry(reason, reason, None)
            case lq.NewRound():
                raise ValueError("RecordNewRound: inside a hand")

    def _check_seats(self, message: lq.Message, *seats: int) -> None:
        if max(seats) >= self._players:
            raise ValueError(f"{type(message).__name__}: names seat 3 of three players")

    def _accept_riichi(self, message: lq.Message) -> None:
        """Accept a riichi that was declared, unless its discard is won."""
        is_ron = isinstance(message, lq.HuleRecord) and not message.hules[0].zimo
        is_triple_ron = isinstance(message, lq.LiuJu) and self._draw_reason(message) == "sanchaho"
        if self._declarer >= 0 and not (is_ron or is_triple_ron):
            self.events.append(m.ReachAccepted(actor=self._declarer))
            self._n_riichi += 1
        self._declarer = -1

    def _draw_reason(self, draw: lq.LiuJu) -> str:
        """Return why a draw was abortive, by the table; the number chooses among several."""
        if isinstance(last_tile(self.events), m.Tsumo):
            return "kyushukyuhai"
        kans = [each.actor for each in self.events if isinstance(each, _KANS)]
        holds = {
            "suchareach": self._n_riichi + (self._declarer >= 0) == 4,
            "sukaikan": len(kans) == 4 and len({*kans}) > 1,
            "sufonrenta": self._is_four_winds(),
            "sanchaho": self._is_three_rons(),
        }
        named = _DRAWS.get(draw.type, "")
        possible = [reason for reason, is_so in holds.items() if is_so] or [named]
        if not possible[0]:
            raise ValueError(f"RecordLiuJu.type: {draw.type} is no abortive draw")
        return named if named in possible else possible[0]

    def _is_four_winds(self) -> bool:
        if any(isinstance(event, _CALLS) for event in self.events):
            return False
        discards = [event.pai for event in self.events if isinstance(event, m.Dahai)]
        return len(discards) == 4 and len({*discards}) == 1 and discards[0] in WIND_NAMES

    def _is_three_rons(self) -> bool:
        last = last_tile(self.events)
        if self._players == 3 or not isinstance(last, m.Dahai | m.Kakan):
            return False
        others = [hand for seat, hand in enumerate(self._hands) if seat != last.actor]
        return all(last_waits(hand, self._players) >> _kind(last.pai) & 1 for hand in others)

    def _note_honours(self, seat: int, kind: int, source: int) -> None:
        """Note a meld of honours, and who is liable if it completes big dragons or big winds."""
        if kind < FIRST_HONOUR:
            return
        self._honours[seat].append(kind)
        dragons = sum(each >= FIRST_DRAGON for each in self._honours[seat])
        winds = len(self._honours[seat]) - dragons
        if source == seat:
            return
        if kind >= FIRST_DRAGON and dragons == 3:
            self._liable[seat] = (source, 1 << DAISANGEN)
        elif kind < FIRST_DRAGON and winds == 4:
            self._liable[seat] = (source, 1 << DAISUUSHII)

    def _turn_dora(self, message: _Turning) -> None:
        for text in message.doras[self._n_dora :]:
            self.events.append(m.Dora(dora_marker=_tile(text)))
            self._n_dora += 1

    def _discard(self, discard: lq.DiscardTile) -> None:
        seat, tile = discard.seat, _tile(discard.tile)
        if discard.is_liqi or discard.is_wliqi:
            self.events.append(m.Reach(actor=seat))
            self._declarer = seat
        self._turn_dora(discard)
        self._hands[seat].play(seat, [tile])
        self.events.append(m.Dahai(actor=seat, pai=tile, tsumogiri=discard.moqie))

    def _call(self, call: lq.ChiPengGang) -> None:
        seat, tiles = call.seat, [*map(_tile, call.tiles)]
        others = [at for at, source in enumerate(call.froms) if source != seat]
        size = 4 if call.type == 2 else 3
        if not len(tiles) == len(call.froms) == size or len(others) != 1:
            raise ValueError("RecordChiPengGang: does not name one tile of another seat")
        (at,) = others
        claimed = tiles.pop(at)
        self._hands[seat].play(seat, tiles)
        kind = {0: m.Chi, 1: m.Pon, 2: m.Daiminkan}[call.type]
        own = in_id_order(tiles)
        self._hands[seat].n_melds += 1
        if kind is not m.Chi:
            self._note_honours(seat, _kind(claimed), call.froms[at])
        self.events.append(kind(actor=seat, target=call.froms[at], pai=claimed, consumed=own))
        if kind is m.Pon:
            self._pons[seat, _kind(claimed)] = [claimed, *tiles]

    def _own_kan(self, kan: lq.AnGangAddGang) -> None:
        seat, kind = kan.seat, _kind(_tile(kan.tiles))
        held = [tile for tile in self._hands[seat].tiles if _kind(tile) == kind]
        pon = self._pons.get((seat, kind), [])
        self._hands[seat].play(seat, held)
        if kan.type == 3 and len(held) == 4:
            a, b, c, d = in_id_order(held)
            self._hands[seat].n_melds += 1
            self._note_honours(seat, kind, seat)
            self.events.append(m.Ankan(actor=seat, consumed=(a, b, c, d)))
        elif kan.type == 2 and len(held) == 1 and len(pon) == 3:
            a, b, c = in_id_order(pon)
            self.events.append(m.Kakan(actor=seat, pai=held[0], consumed=(a, b, c)))
        else:
            raise ValueError(f"RecordAnGangAddGang: seat {seat} has no such kan of {kan.tiles}")

    def _set_aside(self, north: lq.BaBei) -> None:
        if self._players == 4:
            raise ValueError("RecordBaBei: only three players set norths aside")
        self._hands[north.seat].play(north.seat, [TILE_NAMES[NORTH]])
        self.events.append(m.Kita(actor=north.seat, pai=TILE_NAMES[NORTH]))
        self._turn_dora(north)

    def _wins(self, record: lq.HuleRecord) -> Iterator[WinEntry]:
        """Yield the wins, nearest to the discarder first, which is who gets honba and sticks.

        The message has the sum of what they move.  A win has what the sum leaves after the others:
        the first, or else the first with a liable seat, as only the sum shows who pays for it.
        """
        loser = last_tile(self.events).actor
        wins = sorted(record.hules, key=lambda win: (win.seat - loser) % self._players)
        with_liable = [win for win in wins if self._liable.get(win.seat, (loser, 0))[0] != loser]
        rest_of = with_liable[0] if with_liable else wins[0]
        rest = _four(record.delta_scores)
        moved: dict[int, m.FourInts] = {}
        for hule in wins:
            if hule is not rest_of:
                moved[hule.seat] = self._payments(hule, loser, is_first=hule is wins[0])
                rest = paid(rest, by_seat(-points for points in moved[hule.seat]))
        moved[rest_of.seat] = rest
        for hule in wins:
            points = rest[hule.seat] - self._bonus() if hule.zimo else hule.point_rong
            liable = self._liable.get(hule.seat, (None, 0))[0] if hule.yiman else None
            yield _win(hule, loser, points, moved[hule.seat], liable)
        self.ura = next(
            (tuple(map(_tile, win.li_doras)) for win in record.hules if win.li_doras), ()
        )

    def _bonus(self) -> int:
        """Return what honba and sticks bring to the first winner."""
        honba = (self._players - 1) * self._rules.honba_points * self._deal.ben
        return honba + self._sticks() * self._rules.stick_points

    def _sticks(self) -> int:
        return self._deal.liqibang + self._n_riichi

    def _payments(self, hule: lq.Hule, loser: int, is_first: bool) -> m.FourInts:
        """Return what a ron moves by the rules, its points being known."""
        liable, yakuman = self._liable.get(hule.seat, (-1, 0))
        times = 6 if hule.seat == self._deal.ju else 4
        honba, sticks = (self._deal.ben, self._sticks()) if is_first else (0, 0)
        parties = Parties(hule.seat, loser, self._deal.ju, liable)
        rules = rule_set(self._rules)
        if hule.point_rong % times or not yakuman:
            moved = _moved(hule.point_rong, loser, hule.seat)
            bonus = _moved(self._rules.honba_points * (self._players - 1) * honba, loser, hule.seat)
            moved = paid(moved, bonus)
            won = self._rules.stick_points * sticks
            return paid(moved, by_seat(won * (seat == hule.seat) for seat in range(4)))
        deltas = payments(hule.point_rong // times, yakuman, parties, honba, sticks, rules)
        return by_seat(deltas.tolist())


def _moved(points: int, source: int, target: int) -> m.FourInts:
    return by_seat(points * ((seat == target) - (seat == source)) for seat in range(4))


def _win(
    hule: lq.Hule, source: int, points: int, deltas: m.FourInts, liable: int | None
) -> WinEntry:
    yakuman = sum(fan.val for fan in hule.fans)
    return WinEntry(
        winner=hule.seat,
        source=source,
        liable=liable,
        deltas=deltas,
        points=points,
        fu=hule.fu or None,
        yakus=None,
        fan=(YAKUMAN_FAN * yakuman if hule.yiman else hule.count) or None,
    )


def _exhaustive(record: lq.NoTile) -> DrawEntry:
    deltas: m.FourInts = (0, 0, 0, 0)
    for payment in record.scores:
        deltas = paid(deltas, _four(payment.delta_scores))
    reason = "nagashimangan" if record.liujumanguan else "fanpai"
    return DrawEntry(reason, reason, deltas)


def _kind(tile: str) -> int:
    return tile_kind(TILE_BY_NAME[tile])
