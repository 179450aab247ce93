"""A game as Tenhou's mjlog.

A record names each of the 136 tiles, our events only what is printed on them.  Which copy of
equal tiles it is, is therefore free; but it stays the same from the deal or the draw to the
discard, call or win, so that ids show which tile was drawn and discarded.

The seed of the wall and the players' grades and rates are unknown and left out; the dice are
always 1 and 1.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from mjbot.game.records.complete import CompleteGame
from mjbot.game.records.game import Entry, WinRecord
from mjbot.protocol import messages as m
from mjbot.protocol.seats import by_seat
from mjbot.protocol.tenhou import tags
from mjbot.protocol.tenhou.calls import Call, encode_call
from mjbot.protocol.tenhou.codec import Spelling, write
from mjbot.protocol.tenhou.game_type import game_type
from mjbot.protocol.tenhou.results import DRAW_TYPES, write_final
from mjbot.protocol.tenhou.tiles import PLAIN_COPIES, RED_COPIES
from mjbot.protocol.tiles import WIND_NAMES


def write_mjlog(game: CompleteGame) -> bytes:
    """Return a game as a document.  Raises ``ValueError`` where scores are not in hundreds,
    or for rules that Tenhou has no table for.
    """
    type_ = game_type(game.rules)
    copies = RED_COPIES if game.rules.red_fives else PLAIN_COPIES
    writer = _TagWriter(copies, game.rules.players)
    for entry in game.entries:
        writer.take(entry)
    n0, n1, n2, n3 = (quote(name, "") for name in game.names)
    head = (
        tags.Go(type=int(type_)),
        tags.Names(n0=n0, n1=n1, n2=n2, n3=n3),
        tags.Taikyoku(oya=0),
    )
    elements = (write(tag, Spelling.XML).removesuffix(b"\0") for tag in (*head, *writer.tags))
    return b"".join((b'<mjloggm ver="2.3">', *elements, b"</mjloggm>"))


class _Ids:
    """Which copy of a tile lies where in one hand."""

    def __init__(self, copies: Mapping[str, tuple[int, ...]]) -> None:
        self._left = {name: list(ids) for name, ids in copies.items()}
        self.hands: list[list[tuple[str, int]]] = [[], [], [], []]
        self.calls: list[list[Call]] = [[], [], [], []]
        self.drawn = -1
        """What was drawn and not yet discarded."""
        self.offered = -1
        """The tile that was discarded or added last."""

    def new(self, name: str) -> int:
        """Return the next copy of a tile that appears."""
        left = self._left[name]
        if not left:
            raise ValueError(f"one {name} more has appeared than there are")
        return left.pop(0)

    def draw(self, seat: int, name: str) -> int:
        tile = self.new(name)
        self.hands[seat].append((name, tile))
        self.drawn = tile
        return tile

    def play(self, seat: int, name: str, drawn: bool | None = None) -> int:
        """Take a tile from a hand: the drawn one, another, or (``None``) any of that name."""
        for held in self.hands[seat]:
            if held[0] == name and drawn in (None, held[1] == self.drawn):
                self.hands[seat].remove(held)
                return held[1]
        raise ValueError(f"seat {seat} does not hold the {name} that it plays")

    def concealed(self, seat: int) -> list[int]:
        return sorted(tile for _, tile in self.hands[seat])


class _TagWriter:
    """Collects the tags of a game from its events."""

    def __init__(self, copies: Mapping[str, tuple[int, ...]], players: int) -> None:
        self._players = players
        self.tags: list[tags.Tag] = []
        self._copies = copies
        self._ids = _Ids(copies)
        self._dora: list[int] = []
        self._ura: list[int] = []
        self._honba = self._sticks = 0

    def take(self, entry: Entry) -> None:
        """Add the tags of an event."""
        match entry.event:
            case m.StartKyoku():
                self._deal(entry.event)
            case m.Tsumo(actor=seat, pai=pai):
                self.tags.append(tags.DrawTag(seat=seat, tile=self._ids.draw(seat, pai)))
            case m.Dahai(actor=seat, pai=pai, tsumogiri=tsumogiri):
                self._ids.offered = self._ids.play(seat, pai, tsumogiri)
                self._ids.drawn = -1
                self.tags.append(tags.DiscardTag(seat=seat, tile=self._ids.offered))
            case m.Chi() | m.Pon() | m.Daiminkan() | m.Kakan() | m.Ankan():
                call = self._call(entry.event)
                self.tags.append(tags.MeldTag(who=entry.event.actor, m=encode_call(call)))
            case m.Kita(actor=seat, pai=pai):
                self.tags.append(tags.MeldTag(who=seat, m=encode_call(self._kita(seat, pai))))
            case m.Reach(actor=seat):
                self.tags.append(tags.Riichi(who=seat, step=1))
            case m.ReachAccepted(actor=seat, scores=scores):
                self._sticks += 1
                self.tags.append(tags.Riichi(who=seat, ten=_hundreds(scores), step=2))
            case m.Dora(dora_marker=marker):
                self._dora.append(self._ids.new(marker))
                self.tags.append(tags.DoraIndicator(hai=self._dora[-1]))
            case m.Hora() if entry.win is not None:
                self.tags.append(self._win(entry.event, entry.win))
            case m.Ryukyoku():
                self.tags.append(self._draw(entry.event))
            case m.EndGame(scores=scores) if scores is not None:
                _hundreds(scores)
                last: Any = self.tags[-1]
                self.tags[-1] = msgspec.structs.replace(
                    last, owari=write_final(scores, 0, self._players)
                )

    def _deal(self, deal: m.StartKyoku) -> None:
        ids = self._ids = _Ids(self._copies)
        kyoku = 4 * WIND_NAMES.index(deal.bakaze) + deal.kyoku - 1
        hands = [
            tuple([ids.draw(seat, name) for name in hand])
            for seat, hand in enumerate(deal.tehais[: self._players])
        ]
        hands += [()] * (4 - self._players)
        ids.drawn = -1
        self._dora, self._ura = [ids.new(deal.dora_marker)], []
        self._honba, self._sticks = deal.honba, deal.kyotaku
        self.tags.append(
            tags.RecordedInit(
                seed=(kyoku, deal.honba, deal.kyotaku, 0, 0, self._dora[0]),
                ten=_hundreds(deal.scores),
                oya=deal.oya,
                hai0=hands[0],
                hai1=hands[1],
                hai2=hands[2],
                hai3=hands[3],
            )
        )

    def _call(self, event: m.Chi | m.Pon | m.Daiminkan | m.Kakan | m.Ankan) -> Call:
        ids, seat = self._ids, event.actor
        calls = ids.calls[seat]
        ids.drawn = -1
        if isinstance(event, m.Kakan):
            added = ids.play(seat, event.pai)
            index = next(at for at, call in enumerate(calls) if added // 4 == call.tile // 4)
            pon = calls[index]
            trio = (pon.tile, *pon.own)
            calls[index] = Call("kakan", pon.source, added, tuple(sorted(trio)), pon.tile)
            ids.offered = added
            return calls[index]
        own = tuple(sorted(ids.play(seat, name) for name in event.consumed))
        if isinstance(event, m.Ankan):
            call = Call("ankan", 0, own[0], own)
        else:
            kind = {m.Chi: "chi", m.Pon: "pon", m.Daiminkan: "daiminkan"}[type(event)]
            call = Call(kind, (event.target - seat) % 4, ids.offered, own)  # type: ignore[arg-type]
        calls.append(call)
        return call

    def _kita(self, seat: int, pai: str) -> Call:
        ids = self._ids
        ids.offered = ids.play(seat, pai, (pai, ids.drawn) in ids.hands[seat] or None)
        ids.drawn = -1
        call = Call("kita", 0, ids.offered, (ids.offered,))
        ids.calls[seat].append(call)
        return call

    def _win(self, event: m.Hora, win: WinRecord) -> tags.WinTag:
        ids, seat = self._ids, win.winner
        by_draw = win.winner == win.source
        machi = ids.drawn if by_draw else ids.offered
        hand = ids.concealed(seat) if by_draw else [*ids.concealed(seat), machi]
        if win.ura_markers:
            self._ura = self._ura or [ids.new(marker) for marker in win.ura_markers]
        pairs = tuple([number for pair in win.yaku for number in pair])
        return tags.WinTag(
            ba=(win.honba, win.sticks),
            hai=tuple(sorted(hand)),
            m=tuple([encode_call(call) for call in reversed(ids.calls[seat])]) or None,
            machi=machi,
            ten=(win.fu, win.hand_points, win.limit),
            yaku=None if win.yakuman else pairs,
            yakuman=win.yakuman or None,
            dora_hai=tuple(self._dora),
            dora_hai_ura=tuple(self._ura) if win.ura_markers else None,
            who=seat,
            from_who=win.source,
            pao_who=win.liable,
            sc=_payments(event),
        )

    def _draw(self, event: m.Ryukyoku) -> tags.DrawnHandTag:
        hands = [
            None if "?" in hand else tuple(self._ids.concealed(seat))
            for seat, hand in enumerate(event.tehais or (("?",),) * 4)
        ]
        return tags.DrawnHandTag(
            type=DRAW_TYPES[event.reason or ""],
            ba=(self._honba, self._sticks),
            sc=_payments(event),
            hai0=hands[0],
            hai1=hands[1],
            hai2=hands[2],
            hai3=hands[3],
        )


def _hundreds(points: m.FourInts | None) -> m.FourInts:
    return by_seat(map(_hundred, points or (0, 0, 0, 0)))


def _hundred(points: int) -> int:
    if points % 100:
        raise ValueError(f"{points} points cannot be written: an mjlog counts in hundreds")
    return points // 100


def _payments(event: m.Hora | m.Ryukyoku) -> tuple[int, ...]:
    """Return for each seat the points before and what they changed, in hundreds."""
    pairs = zip(event.scores or (), event.deltas or (), strict=True)
    return tuple([_hundred(value) for score, delta in pairs for value in (score - delta, delta)])
