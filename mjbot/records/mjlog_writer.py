"""A game as Tenhou's mjlog.

A record names each of the 136 tiles, our events only what is printed on them.  Which copy of
equal tiles it is, is therefore free; but it stays the same from the deal or the draw to the
discard, call or win, so that whoever compares ids sees which tile was drawn and discarded.

Left out is what nobody told us: the seed of the wall, the players' grades and rates; the dice are
always 1 and 1.
"""

from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import quote

from mjbot.records.complete import CompleteGame
from mjbot.records.game import Entry, WinRecord
from mjbot.records.mjlog_tags import AGAINST_PEOPLE, HANCHAN, NO_REDS
from mjbot.rules.ruleset import PLACEMENT_POINTS, TARGET_POINTS
from mjbot.table.settle import seats_by_rank
from protocol import messages as m
from protocol.tenhou.calls import Call, encode_call
from protocol.tenhou.results import DRAW_REASONS
from protocol.tenhou.tiles import PLAIN_COPIES, RED_COPIES
from protocol.tiles import WIND_NAMES

_DRAW_TYPES: Final = {reason: kind for kind, reason in DRAW_REASONS.items()}


def write_mjlog(game: CompleteGame) -> bytes:
    """Return a game as a document.  Raises ``ValueError`` where scores are not in hundreds."""
    writer = _TagWriter(RED_COPIES if game.has_reds else PLAIN_COPIES)
    for entry in game.entries:
        writer.take(entry)
    rules = AGAINST_PEOPLE | HANCHAN * game.is_hanchan | NO_REDS * (not game.has_reds)
    names = " ".join(f'n{seat}="{quote(name, "")}"' for seat, name in enumerate(game.names))
    head = f'<GO type="{rules}" lobby="0"/><UN {names}/><TAIKYOKU oya="0"/>'
    return f'<mjloggm ver="2.3">{head}{"".join(writer.tags)}</mjloggm>'.encode()


def placement_points(scores: m.FourInts) -> list[float]:
    """Return what a game's final scores are worth, in thousands, without rounding.

    >>> placement_points((25000, 41300, 25000, 8700))
    [5.0, 51.3, -15.0, -41.3]
    """
    worth = [0.0] * 4
    for seat, bonus in zip(seats_by_rank(scores), PLACEMENT_POINTS, strict=True):
        worth[seat] = (scores[seat] - TARGET_POINTS + bonus) / 1000
    return worth


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

    def __init__(self, copies: Mapping[str, tuple[int, ...]]) -> None:
        self.tags: list[str] = []
        self._copies = copies
        self._ids = _Ids(copies)
        self._dora: list[int] = []
        self._ura: list[int] = []
        self._honba = self._sticks = 0

    def take(self, entry: Entry) -> None:
        """Write what an event says."""
        match entry.event:
            case m.StartKyoku():
                self._deal(entry.event)
            case m.Tsumo(actor=seat, pai=pai):
                self._say(f"{'TUVW'[seat]}{self._ids.draw(seat, pai)}")
            case m.Dahai(actor=seat, pai=pai, tsumogiri=tsumogiri):
                self._ids.offered = self._ids.play(seat, pai, tsumogiri)
                self._ids.drawn = -1
                self._say(f"{'DEFG'[seat]}{self._ids.offered}")
            case m.Chi() | m.Pon() | m.Daiminkan() | m.Kakan() | m.Ankan():
                call = self._call(entry.event)
                self._say("N", who=entry.event.actor, m=encode_call(call))
            case m.Reach(actor=seat):
                self._say("REACH", who=seat, step=1)
            case m.ReachAccepted(actor=seat, scores=scores):
                self._sticks += 1
                self._say("REACH", who=seat, ten=_hundreds(scores or ()), step=2)
            case m.Dora(dora_marker=marker):
                self._dora.append(self._ids.new(marker))
                self._say("DORA", hai=self._dora[-1])
            case m.Hora() if entry.win is not None:
                self._win(entry.event, entry.win)
            case m.Ryukyoku():
                self._draw(entry.event)
            case m.EndGame(scores=scores) if scores is not None:
                self._end(scores)

    def _say(self, name: str, **attributes: object) -> None:
        said = "".join(f' {key}="{value}"' for key, value in attributes.items())
        self.tags.append(f"<{name}{said}/>")

    def _deal(self, deal: m.StartKyoku) -> None:
        ids = self._ids = _Ids(self._copies)
        kyoku = 4 * WIND_NAMES.index(deal.bakaze) + deal.kyoku - 1
        hands: dict[str, object] = {}
        for seat, hand in enumerate(deal.tehais):
            hands[f"hai{seat}"] = _listed(ids.draw(seat, name) for name in hand)
        ids.drawn = -1
        self._dora, self._ura = [ids.new(deal.dora_marker)], []
        self._honba, self._sticks = deal.honba, deal.kyotaku
        seed = _listed((kyoku, deal.honba, deal.kyotaku, 0, 0, self._dora[0]))
        self._say("INIT", seed=seed, ten=_hundreds(deal.scores or ()), oya=deal.oya, **hands)

    def _call(self, event: m.Chi | m.Pon | m.Daiminkan | m.Kakan | m.Ankan) -> Call:
        ids, seat = self._ids, event.actor
        calls = ids.calls[seat]
        ids.drawn = -1
        if isinstance(event, m.Kakan):
            added = ids.play(seat, event.pai)
            place = next(at for at, call in enumerate(calls) if added // 4 == call.tile // 4)
            pon = calls[place]
            trio = (pon.tile, *pon.own)
            calls[place] = Call("kakan", pon.source, added, tuple(sorted(trio)), pon.tile)
            ids.offered = added
            return calls[place]
        own = tuple(sorted(ids.play(seat, name) for name in event.consumed))
        if isinstance(event, m.Ankan):
            call = Call("ankan", 0, own[0], own)
        else:
            kind = {m.Chi: "chi", m.Pon: "pon", m.Daiminkan: "daiminkan"}[type(event)]
            call = Call(kind, (event.target - seat) % 4, ids.offered, own)  # type: ignore[arg-type]
        calls.append(call)
        return call

    def _win(self, event: m.Hora, win: WinRecord) -> None:
        ids, seat = self._ids, win.winner
        machi = ids.drawn if win.winner == win.source else ids.offered
        hand = ids.concealed(seat) if win.winner == win.source else [*ids.concealed(seat), machi]
        told: dict[str, object] = {"ba": f"{win.honba},{win.sticks}", "hai": _listed(sorted(hand))}
        if ids.calls[seat]:
            told["m"] = _listed(encode_call(call) for call in reversed(ids.calls[seat]))
        told |= {"machi": machi, "ten": f"{win.fu},{win.hand_points},{win.limit}"}
        if win.yakuman:
            told["yakuman"] = _listed(win.yakuman)
        else:
            told["yaku"] = _listed(number for pair in win.yaku for number in pair)
        told["doraHai"] = _listed(self._dora)
        if win.ura_markers:
            self._ura = self._ura or [ids.new(marker) for marker in win.ura_markers]
            told["doraHaiUra"] = _listed(self._ura)
        told |= {"who": seat, "fromWho": win.source}
        if win.liable is not None:
            told["paoWho"] = win.liable
        self._say("AGARI", **told, sc=_payments(event))

    def _draw(self, event: m.Ryukyoku) -> None:
        kind = _DRAW_TYPES[event.reason or ""]
        told: dict[str, object] = {"type": kind} if kind else {}
        told |= {"ba": f"{self._honba},{self._sticks}", "sc": _payments(event)}
        for seat, hand in enumerate(event.tehais or ()):
            if "?" not in hand:
                told[f"hai{seat}"] = _listed(self._ids.concealed(seat))
        self._say("RYUUKYOKU", **told)

    def _end(self, scores: m.FourInts) -> None:
        worth = placement_points(scores)
        owari = ",".join(
            f"{_hundred(score)},{points:.1f}" for score, points in zip(scores, worth, strict=True)
        )
        last = self.tags[-1].removesuffix("/>")
        self.tags[-1] = f'{last} owari="{owari}"/>'


def _listed(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))


def _hundred(points: int) -> int:
    if points % 100:
        raise ValueError(f"{points} points cannot be told: an mjlog counts in hundreds")
    return points // 100


def _hundreds(points: Iterable[int]) -> str:
    return _listed(map(_hundred, points))


def _payments(event: m.Hora | m.Ryukyoku) -> str:
    """Return for each seat the points before and what they changed, in hundreds."""
    deltas, scores = event.deltas or (), event.scores or ()
    pairs = zip(scores, deltas, strict=True)
    return _hundreds(value for score, delta in pairs for value in (score - delta, delta))
