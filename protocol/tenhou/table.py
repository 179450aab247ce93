"""One seat of a game at our table, as Tenhou's server sends it: typed tags, no connection.

It takes the events that the seat may see (:func:`mjbot.protocol.masking.masked`) with what is open
to it, and gives their tags; of the seat's own tags it gives the action that they mean. It outlives
a connection: :meth:`SeatTable.snapshot` shows a hand to a player that has come back.

Events have no tile ids.  Each seat gets ids of its own: whatever it sees takes the lowest id that
it has not seen in this hand, so its world is sound and shows no more than the events do.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from mjbot.protocol import messages as m
from mjbot.protocol.errors import LocalProtocolError, ProtocolError
from mjbot.protocol.seats import by_seat, paid, riichi_deltas
from mjbot.protocol.tenhou import results as results_
from mjbot.protocol.tenhou import tags
from mjbot.protocol.tenhou.calls import Call, decode_call, encode_call
from mjbot.protocol.tenhou.game_type import GENERAL_HANCHAN, GameType, rules_of
from mjbot.protocol.tenhou.hand import OwnHand, ReplyTag, meant
from mjbot.protocol.tenhou.login import write_name
from mjbot.protocol.tenhou.offers import offered
from mjbot.protocol.tenhou.tiles import (
    N_IDS,
    PLAIN_COPIES,
    PLAIN_TILES,
    RED_COPIES,
    RED_TILES,
)
from mjbot.protocol.tiles import WIND_NAMES

_RIICHI_MARK: Final = 255
_SEXES: Final = {3: "MMMC", 4: "MMMM"}
"""``UN sx`` by absolute seat; an empty one is a computer's."""


class SeatTable:
    """What one seat has received of a game, and what it owes.

    ``rules`` is the table's type, ``gpid`` lets a guest come back.  ``asked``: an answer
    is awaited, ``held`` that a deal waits until the seat is ready for it.
    """

    def __init__(
        self, seat: m.Seat, rules: int = int(GENERAL_HANCHAN), gpid: str = "", lobby: int = 0
    ) -> None:
        self.seat: Final = seat
        self.rules: Final = rules
        self.gpid: Final = gpid
        self.lobby: Final = lobby
        self.names: tuple[str, ...] = ("",) * 4
        self._players: Final = rules_of(rules).players
        self._tiles: Final = PLAIN_TILES if rules & GameType.NO_RED_FIVES else RED_TILES
        self._copies: Final = PLAIN_COPIES if rules & GameType.NO_RED_FIVES else RED_COPIES
        self._ready = False
        self._held: list[tags.Tag] = []
        self._results: list[tags.WinTag | tags.DrawnHandTag] = []
        self._final: tuple[tags.Tag, ...] = ()
        self._open: tuple[m.PlayerAction, ...] = ()
        self._answer: m.PlayerAction | None = None
        self._received: ReplyTag | None = None
        self._early: tags.Discarding | None = None
        self._answered: ReplyTag | None = None
        """The last answer, which clients repeat: it may come when the next question is open."""
        self._late = False  # an answer may still come to what is no longer asked
        self._scores: m.FourInts = (0, 0, 0, 0)
        self._figures = [0] * 5  # hands, wins, deal-ins, hands with calls, riichi
        self._deal: m.StartKyoku | None = None
        self._clear()

    def _clear(self) -> None:
        self._free = set(range(N_IDS))
        self._hand = OwnHand((), self._tiles, "INIT.hai")
        self._calls: list[list[int]] = [[], [], [], []]
        self._pons: dict[tuple[m.Seat, int], Call] = {}
        self._rivers: list[list[int]] = [[], [], [], []]
        self._last: tuple[m.Seat, int] = (0, 0)
        self._declaring: m.Seat | None = None
        self._in_riichi = [False] * 4
        self._sticks = self._honba = 0
        self._dora: list[int] = []
        self._ura: tuple[int, ...] = ()
        self._over = True
        self._lamp = False
        self._unasked = False  # came back in mid-turn: it does not have its earlier replies

    # --- what the seat owes ------------------------------------------------------------------

    @property
    def is_over(self) -> bool:
        """Whether the result of the game has been sent."""
        return bool(self._final)

    @property
    def asked(self) -> bool:
        """Whether an answer is awaited."""
        return bool(self._open)

    @property
    def held(self) -> bool:
        """Whether a deal waits until the seat is ready, or the caller has no more patience."""
        return bool(self._held)

    def take_ready(self) -> tuple[tags.Tag, ...]:
        """Take note that the seat is ready (or late); return the deal that has waited."""
        self._ready = True
        held, self._held = self._held, []
        return tuple(held)

    def receive(self, tag: ReplyTag) -> None:
        """Take in an answer; one without a request is late or a repetition, and is ignored.

        Raises :class:`mjbot.protocol.errors.ProtocolError` where it is not open to the seat, unless
        it may answer a question that has expired.
        """
        if self._held:
            return  # the question is not sent yet: this answers one of the hand before, once more
        if not self._open:
            if isinstance(tag, tags.Discarding) and isinstance(self._received, tags.DeclareRiichi):
                self._early = tag
            return
        try:
            self._answer = meant(tag, self._open, self._hand, self._tiles)
        except ProtocolError:
            if self._late or tag == self._answered:
                return
            raise
        self._received, self._open, self._late = tag, (), False
        self._answered = tag

    def take_answer(self) -> m.PlayerAction | None:
        """Return the answer, once."""
        answer, self._answer = self._answer, None
        return answer

    def expire(self) -> None:
        """No client answers any more: the table acts for the seat."""
        self._late |= bool(self._open)
        self._open, self._received, self._early = (), None, None

    # --- what the seat receives ---------------------------------------------------------------

    def send(
        self,
        event: m.Event,
        open_actions: Sequence[m.PlayerAction] = (),
        furiten: bool | None = None,
    ) -> tuple[tags.Tag, ...]:
        """Return the tags of an event; ``open_actions`` is all that the seat may do about it.

        ``furiten`` is what the seat's lamp is to show (``None``: as before).  A deal is held back
        until the seat is ready.  Raises :class:`LocalProtocolError` while an answer is awaited.
        """
        if self._open:
            raise LocalProtocolError(m.wire_name(event), "the seat still owes an answer")
        self._unasked = self._unasked and not isinstance(event, m.Tsumo)
        own_turn_goes_on = isinstance(event, m.Reach | m.Chi | m.Pon) and event.actor == self.seat
        self._open = () if self._unasked and own_turn_goes_on else tuple(open_actions)
        self._answer = None
        tags_ = self._tags_for(event)
        if isinstance(event, m.Tsumo | m.Dahai) and furiten not in (None, self._lamp):
            self._lamp = not self._lamp
            tags_ = (tags.Furiten(show=int(self._lamp)), *tags_)
        if self._held and not isinstance(event, m.StartKyoku):
            self._held += tags_
            tags_ = ()
        if not isinstance(event, m.Dora | m.ReachAccepted):  # these come before the seat's reply
            self._received = None
        if self._early is not None and self._open:
            early, self._early = self._early, None
            self.receive(early)
        return tags_

    def _tags_for(self, event: m.Event) -> tuple[tags.Tag, ...]:
        match event:
            case m.StartGame():
                self.names = (*(event.names or ()), *self.names)[:4]
                return (*self.introduction(), tags.Taikyoku(oya=(4 - self.seat) % 4))
            case m.StartKyoku():
                return self._emit_deal(event)
            case m.Hora():
                self._emit_win(event)
                return ()
            case m.Ryukyoku():
                self._emit_draw(event)
                return ()
            case m.EndKyoku():
                return ()
            case m.EndGame():
                return self._emit_end(event)
            case _:
                return (self._emit_play(event),)

    def _emit_play(self, event: m.Event) -> tags.Tag:
        match event:
            case m.Tsumo():
                return self._emit_turn(event)
            case m.Dahai():
                return self._emit_discard(event)
            case m.Reach():
                self._declaring = event.actor
                self._figures[4] += event.actor == self.seat
                return tags.Riichi(who=self._relative(event.actor), step=1)
            case m.ReachAccepted():
                return self._emit_accepted(event)
            case m.Dora():
                self._dora.append(self._take(event.dora_marker))
                return tags.DoraIndicator(hai=self._dora[-1])
            case m.Chi() | m.Pon() | m.Daiminkan():
                return self._emit_call(event)
            case m.Ankan() | m.Kakan():
                return self._emit_own_kan(event)
            case m.Kita():
                return self._emit_kita(event)
        raise LocalProtocolError(m.wire_name(event), "is nothing that happens in a hand")

    def introduction(self) -> tuple[tags.Tag, tags.Tag]:
        """Return the tags that name the table and its players."""
        n0, n1, n2, n3 = (write_name(name) for name in results_.relative(self.names, self.seat))
        return (
            tags.Go(type=self.rules, lobby=self.lobby, gpid=self.gpid or None),
            tags.Names(
                n0=n0, n1=n1, n2=n2, n3=n3, dan="0,0,0,0", rate="1500.00,1500.00,1500.00,1500.00",
                sx=",".join(results_.relative(_SEXES[self._players], self.seat)),
            ),
        )  # fmt: skip

    def returning(self, seat: m.Seat) -> tags.Tag:
        """Return the tag for another player that is back."""
        attribute = f"n{self._relative(seat)}"
        return tags.Names(**{attribute: write_name(self.names[seat])})

    def leaving(self, seat: m.Seat) -> tags.Tag:
        """Return the tag for another player that has left."""
        return tags.ServerBye(who=self._relative(seat))

    def _relative(self, seat: m.Seat) -> int:
        return (seat - self.seat) % 4

    def _t(self) -> int | None:
        """Return the attribute ``t`` of what is open now."""
        return int(offered(self._open)) or None

    # --- ids ---------------------------------------------------------------------------------

    def _take(self, name: str) -> int:
        """Return the lowest id of a tile that the seat has not seen yet."""
        for tile in self._copies.get(name, ()):
            if tile in self._free:
                self._free.remove(tile)
                return tile
        raise LocalProtocolError("pai", f"a fifth {name} has appeared")

    def _take_all(self, names: Iterable[str]) -> list[int]:
        return [self._take(name) for name in names]

    def _from_hand(self, names: Sequence[str]) -> list[int]:
        """Return own tiles: those that the seat has named itself, or any that fit."""
        named = self._named()
        if sorted(self._tiles[tile] for tile in named) == sorted(names):
            return named
        return self._hand.pick(names, "pai")

    def _named(self) -> list[int]:
        received = [getattr(self._received, field, None) for field in ("p", "hai", "hai0", "hai1")]
        return [tile for tile in received if tile is not None]

    # --- a hand ------------------------------------------------------------------------------

    def _emit_deal(self, event: m.StartKyoku) -> tuple[tags.Tag, ...]:
        tags_ = self._take_results()
        self._clear()
        self._deal, self._over = event, False
        self._figures[0] += 1
        self._honba, self._sticks = event.honba, event.kyotaku
        self._scores = event.scores or self._scores
        self._dora = [self._take(event.dora_marker)]
        hai = self._take_all(event.tehais[self.seat])
        self._hand = OwnHand(hai, self._tiles, "INIT.hai")
        self._in_riichi = [False] * 4
        init = tags.Init(
            seed=self._seed(event), ten=self._ten(), oya=self._relative(event.oya), hai=tuple(hai)
        )
        if self._ready:
            return (*tags_, init)
        if self._held:  # the hand before ended, as by nine terminals, before the seat was ready
            self._held += [*tags_, init]
            return ()
        self._held = [init]
        return tags_

    def _seed(self, deal: m.StartKyoku) -> tuple[int, int, int, int, int, int]:
        kyoku = 4 * WIND_NAMES.index(deal.bakaze) + deal.kyoku - 1
        return kyoku, deal.honba, self._sticks, 0, 0, self._dora[0]

    def _ten(self) -> tuple[int, int, int, int]:
        return by_seat(score // 100 for score in results_.relative(self._scores, self.seat))

    def _emit_turn(self, event: m.Tsumo) -> tags.Tag:
        if event.actor != self.seat:
            return tags.DrawTag(seat=self._relative(event.actor))
        tile = self._take(event.pai)
        self._hand.draw(tile)
        return tags.DrawTag(seat=0, tile=tile, t=self._t())

    def _emit_discard(self, event: m.Dahai) -> tags.Tag:
        own = event.actor == self.seat
        if not own:
            tile = self._take(event.pai)
        elif event.tsumogiri and self._hand.drawn is not None:
            tile = self._hand.drawn
        else:
            (tile,) = self._from_hand((event.pai,))
        if own:
            self._hand.discard(tile)
        river = self._rivers[event.actor]
        if self._declaring == event.actor:
            river.append(_RIICHI_MARK)
            self._declaring = None
        river.append(tile)
        self._last = (event.actor, tile)
        drawn = event.tsumogiri and not own
        return tags.DiscardTag(
            seat=self._relative(event.actor), tile=tile, drawn=drawn, t=self._t()
        )

    def _emit_accepted(self, event: m.ReachAccepted) -> tags.Tag:
        self._scores = paid(self._scores, riichi_deltas(event.actor))
        self._sticks += 1
        self._in_riichi[event.actor] = True
        return tags.Riichi(who=self._relative(event.actor), ten=self._ten(), step=2)

    def _emit_call(self, event: m.Chi | m.Pon | m.Daiminkan) -> tags.Tag:
        own = event.actor == self.seat
        tiles = self._from_hand(event.consumed) if own else self._take_all(event.consumed)
        discarder, claimed = self._last
        self._rivers[discarder].remove(claimed)
        source = (event.target - event.actor) % 4
        if isinstance(event, m.Chi):
            call = Call("chi", source, claimed, tuple(sorted(tiles)))
        elif isinstance(event, m.Pon):
            call = Call("pon", source, claimed, tuple(sorted(tiles)))
            self._pons[event.actor, claimed // 4] = call
        else:
            call = Call("daiminkan", source, claimed, tuple(sorted(tiles)))
        return self._emit_meld(event.actor, call)

    def _emit_own_kan(self, event: m.Ankan | m.Kakan) -> tags.Tag:
        own = event.actor == self.seat
        if isinstance(event, m.Ankan):
            tiles = (
                self._hand.pick(event.consumed, "pai") if own else self._take_all(event.consumed)
            )
            quad = tuple(sorted(tiles))
            return self._emit_meld(event.actor, Call("ankan", 0, quad[0], quad))
        (tile,) = self._from_hand((event.pai,)) if own else (self._take(event.pai),)
        pon = self._pons[event.actor, tile // 4]
        trio = tuple(sorted((pon.tile, *pon.own)))
        self._calls[event.actor].remove(encode_call(pon))
        self._last = (event.actor, tile)
        return self._emit_meld(event.actor, Call("kakan", pon.source, tile, trio, pon.tile))

    def _emit_kita(self, event: m.Kita) -> tags.Tag:
        own = event.actor == self.seat
        (tile,) = self._from_hand((event.pai,)) if own else (self._take(event.pai),)
        self._last = (event.actor, tile)
        return self._emit_meld(event.actor, Call("kita", 0, tile, (tile,)))

    def _emit_meld(self, caller: m.Seat, call: Call) -> tags.Tag:
        if caller == self.seat:
            earlier = [decode_call(code, players=3).kind for code in self._calls[caller]]
            if call.kind not in ("ankan", "kita") and not set(earlier) - {"kita"}:
                self._figures[3] += 1
            self._hand.call(call)
        code = encode_call(call)
        self._calls[caller].append(code)
        is_rob = call.kind in ("kakan", "kita") and caller != self.seat
        return tags.MeldTag(who=self._relative(caller), m=code, t=self._t() if is_rob else None)

    # --- the end of a hand -------------------------------------------------------------------

    def _stakes(self) -> results_.Stakes:
        deal = self._deal
        assert deal is not None
        sticks = 0 if self._results else self._sticks
        wind = WIND_NAMES.index(deal.bakaze)
        return results_.Stakes(self._honba, sticks, self._scores, wind, deal.oya, self._players)

    def _emit_win(self, event: m.Hora) -> None:
        by_draw = event.actor == event.target
        concealed = list(event.hora_tehais or ())
        if event.actor == self.seat:
            hai = [*self._hand.tiles]
            machi = self._last[1] if self._hand.drawn is None else self._hand.drawn
        else:
            hai = self._take_all(concealed)
            machi = hai[-1] if by_draw else self._last[1]
        if not by_draw:
            hai.append(machi)
        if event.uradora_markers and not self._ura:
            self._ura = tuple(self._take_all(event.uradora_markers))
        ura = self._ura if self._in_riichi[event.actor] else ()
        calls = tuple(reversed(self._calls[event.actor]))
        shown = results_.ShownTiles(tuple(hai), machi, calls, tuple(self._dora), ura)
        self._figures[1] += event.actor == self.seat
        self._figures[2] += event.target == self.seat and not by_draw
        self._results.append(results_.write_win(event, shown, self._stakes(), self.seat))
        self._pay(event)

    def _emit_draw(self, event: m.Ryukyoku) -> None:
        hands: list[tuple[int, ...] | None] = []
        for seat, tiles in enumerate(event.tehais or ((),) * 4):
            if not tiles or "?" in tiles:
                hands.append(None)
            elif seat == self.seat:
                hands.append(tuple(sorted(self._hand.tiles)))
            else:
                hands.append(tuple(sorted(self._take_all(tiles))))
        self._results.append(results_.write_draw(event, hands, self._stakes(), self.seat))
        self._pay(event)

    def _pay(self, event: m.Hora | m.Ryukyoku) -> None:
        self._scores = paid(self._scores, event.deltas or (0, 0, 0, 0))

    def _take_results(self) -> tuple[tags.Tag, ...]:
        """Return what was held back until it was known whether the game continues."""
        results, self._results = self._results, []
        if results:
            self._ready, self._over = False, True
        return tuple(results)

    def _emit_end(self, event: m.EndGame) -> tuple[tags.Tag, ...]:
        self._scores = event.scores or self._scores
        owari = results_.write_final(self._scores, self.seat, self._players)
        *others, last = self._take_results()
        self._final = (*others, self._profile(), msgspec.structs.replace(last, owari=owari))
        return self._final

    def _profile(self) -> tags.Tag:
        counted = results_.final_points(self._scores, self._players)[self.seat]
        order = sorted(range(self._players), key=lambda seat: (-self._scores[seat], seat))
        places = [int(seat == self.seat) for seat in order] + [0] * (4 - self._players)
        bust = int(self._scores[self.seat] < 0)
        figures = [*places, bust, *self._figures]
        add = ",".join([f"{counted:.1f}", *map(str, figures)])
        return tags.Profile(lobby=self.lobby, type=self.rules, add=add)

    # --- coming back -------------------------------------------------------------------------

    def greeting_again(self) -> tuple[tags.Tag, ...]:
        """Return the seat of a player that has come back."""
        deal = self._deal
        oya = 0 if deal is None else deal.oya
        scores = results_.relative(self._scores, self.seat)
        sc = tuple([value for score in scores for value in (score // 100, 0)])
        saikai = tags.Saikai(ba=(self._honba, self._sticks), oya=self._relative(oya), sc=sc)
        return (*self.introduction(), saikai)

    def snapshot(self) -> tuple[tags.Tag, ...]:
        """Return the hand as it stands; between two hands nothing, the next deal follows.

        After the game it is the result, once more.

        What the seat has sent over its old connection may still happen.  If that is a riichi, a
        chi or a pon, the table discards for it: a returning client does not have it.
        """
        self._ready = self._unasked = True
        self._held = []
        self._received, self._early, self._late = None, None, False
        if self._final:
            return self._final
        if self._over or self._deal is None:
            return ()
        drawn = self._hand.drawn
        hai = sorted(tile for tile in self._hand.tiles if tile != drawn)
        calls = results_.relative([tuple(codes) or None for codes in self._calls], self.seat)
        rivers = results_.relative([tuple(river) or None for river in self._rivers], self.seat)
        tags_: list[tags.Tag] = [
            tags.Reinit(
                seed=self._seed(self._deal),
                ten=self._ten(),
                oya=self._relative(self._deal.oya),
                hai=tuple(hai),
                m0=calls[0], m1=calls[1], m2=calls[2], m3=calls[3],
                kawa0=rivers[0], kawa1=rivers[1], kawa2=rivers[2], kawa3=rivers[3],
            )
        ]  # fmt: skip
        tags_ += [tags.DoraIndicator(hai=tile) for tile in self._dora[1:]]
        tags_ += [tags.Furiten(show=1)] if self._lamp else []
        if drawn is not None:
            tags_.append(tags.DrawTag(seat=0, tile=drawn, t=self._t()))
        return tuple(tags_)
