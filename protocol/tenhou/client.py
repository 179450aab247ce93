"""A player's side of a conversation with Tenhou's server: no clock, no socket.

Send what :meth:`TenhouClient.open` returns, then feed whatever comes to
:meth:`TenhouClient.receive`: it returns our ordinary events with absolute seats, frames that are
to be sent at once (login, readiness), and what the player owes.  Whenever ``duty`` is ``MUST``,
call :meth:`TenhouClient.reply` with an ordinary action, and send its frames.

Events follow the server's tags: an own discard or call happens when the server repeats it.
There is one exception.  Over TCP a riichi is sent together with its discard, so there
:meth:`~TenhouClient.reply` to a ``reach`` emits the event itself and asks for the discard.

After a lost connection :meth:`TenhouClient.reconnect` logs in again.  The server then shows a
snapshot (``REINIT``) without the order of events: until the next deal there are no events,
``blind`` is true, and :meth:`TenhouClient.reply_safely` answers.
"""

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mjbot.protocol import messages as m
from mjbot.protocol.errors import LocalProtocolError, ProtocolError
from mjbot.protocol.masking import HIDDEN_HAND
from mjbot.protocol.seats import by_seat, riichi_deltas
from mjbot.protocol.sessions.client import Received
from mjbot.protocol.sessions.turns import Due, ReplyDuty
from mjbot.protocol.tenhou import results, tags
from mjbot.protocol.tenhou.calls import decode_call
from mjbot.protocol.tenhou.codec import SERVER_TAGS, Spelling, TagReader, tag_name, write
from mjbot.protocol.tenhou.game_type import GameType, check_playable, rules_of, time_limits
from mjbot.protocol.tenhou.hand import OwnHand, answering, call_event
from mjbot.protocol.tenhou.login import Login, TableType, auth_answer, read_name
from mjbot.protocol.tenhou.offers import NO_OFFER, Offer
from mjbot.protocol.tenhou.tiles import PLAIN_TILES, RED_TILES
from mjbot.protocol.tiles import WIND_NAMES

_ONCE: Final = (
    *(tags.DrawTag, tags.DiscardTag, tags.MeldTag, tags.Riichi),
    *(tags.DoraIndicator, tags.WinTag, tags.DrawnHandTag),
)
"""Tags that are never sent twice in a row: each names a piece or a step of its own."""


class TenhouStage(enum.Enum):
    """Where a conversation stands; the value completes the sentence "the client is ..."."""

    CONNECTED = "not logged in"
    LOBBY = "in the lobby"
    SEATED = "waiting for the first deal"
    PLAYING = "in a hand"
    BETWEEN = "between two hands"
    OVER = "done, the game is over"


@dataclass(frozen=True)
class TenhouReceived(Received):
    """The events received, and what they call for.

    ``frames`` are to be sent at once; ``notes`` are the tags that are no events.  ``deadline_ms``
    is the time for one action, without the bank.  ``blind``: the hand is only known from
    a snapshot, ``lapsed`` that the server went on without an answer that was owed, ``gap`` that of
    what happened before the deal or the end of the game in ``events`` something was missed.
    """

    frames: tuple[bytes, ...] = ()
    notes: tuple[tags.Tag, ...] = ()
    blind: bool = False
    lapsed: bool = False
    gap: bool = False


class GameGoneError(ProtocolError):
    """The game to which we wanted to come back is not there any more."""

    def __init__(self) -> None:
        super().__init__("GO", "the server has no game of ours to come back to")


class TenhouClient:
    """One player's conversation with one server for one game.

    ``seat`` is known from start_game on, ``stage`` is the state of the conversation, ``furiten``
    is the lamp, ``players`` how many play, ``hand`` the own hand by ids, ``tile_names`` the mjai
    tile of each id.  Raises :class:`ProtocolError` naming tag and attribute for what the server
    must not send; a ``lenient`` session lets unknown tags and attributes pass.
    """

    def __init__(
        self, login: Login, wanted: TableType, spelling: Spelling, *, lenient: bool = False
    ) -> None:
        self.spelling: Final = spelling
        self.seat: m.Seat | None = None
        self.names: tuple[str, ...] = ()
        self.stage = TenhouStage.CONNECTED
        self.furiten = False
        self.rules = wanted.type
        self.players = rules_of(wanted.type).players
        self.blind = False
        self._login: Final = login
        self._table_type: Final = wanted
        self._lenient: Final = lenient
        self._gpid: str | None = None
        self._names_by_seat: tuple[str | None, ...] = ()
        self._started = self._joined = self._coming_back = self._missed = False
        self._open_new_wire()
        self._start_hand((), RED_TILES, "INIT.hai")
        self._kyoku_open = False
        self._result_seen = False

    def _open_new_wire(self) -> None:
        self._reader = TagReader(self.spelling, SERVER_TAGS, lenient=self._lenient)
        self._due, self._duty, self._offer = Due.NOTHING, ReplyDuty.MUST_NOT, NO_OFFER
        self._declaring = self._declared = False
        self._newest: tags.Tag | None = None
        self._stray = False  # a guest in the lobby receives the hand of another player
        self._begin_answer()

    def _begin_answer(self) -> None:
        self._events: list[m.Event] = []
        self._frames: list[bytes] = []
        self._notes: list[tags.Tag] = []
        self._lapsed = self._gap = False

    # --- what the caller calls ---------------------------------------------------------------

    def open(self) -> tuple[bytes, ...]:
        """Return the frames that log in."""
        return (self._login_frame(None),)

    def reconnect(self) -> tuple[bytes, ...]:
        """Return the frames that log in again after the connection was lost in a game."""
        self._coming_back = self._missed = self.blind = True
        self.stage = TenhouStage.CONNECTED
        self._open_new_wire()
        return (self._login_frame(self._gpid if self._login.is_guest else None),)

    def keep_alive(self) -> bytes:
        """Return what is to be sent every ``KEEP_ALIVE_S`` seconds."""
        return write(tags.KeepAlive(), self.spelling)

    def receive(self, data: bytes) -> TenhouReceived:
        """Take in a piece of the stream, or a frame."""
        self._begin_answer()
        for tag in self._reader.feed(data):
            self._take(tag)
        return self._received()

    def finish(self) -> None:
        """Take note of the end of the stream; raises where it came inside a tag."""
        self._reader.finish()

    def reply(self, action: m.PlayerAction | None) -> TenhouReceived:
        """Return the frames of ``action`` (``None``: a pass), and what is due then.

        Raises :class:`LocalProtocolError` when it is not allowed now.
        """
        action_sent = m.Skip() if action is None else action
        self._check_reply(action_sent)
        self._begin_answer()
        self._due, self._duty = Due.NOTHING, ReplyDuty.MUST_NOT
        match action_sent:
            case m.Reach() if self.spelling is Spelling.XML:
                self._declaring = True
                self._events.append(m.Reach(actor=action_sent.actor))
                self._owe(Due.DISCARD)
            case m.Reach():
                self._send(tags.DeclareRiichi())
            case m.Dahai():
                self._send_discard(self.hand.discarding(action_sent))
            case _:
                self._send(answering(action_sent, self.hand))
        return self._received()

    def reply_safely(self) -> TenhouReceived:
        """Answer without knowing the table: a win that is offered, the drawn tile, a pass."""
        self._check_owed()
        self._begin_answer()
        due, offer = self._due, self._offer
        self._due, self._duty = Due.NOTHING, ReplyDuty.MUST_NOT
        if due is Due.TURN and offer & Offer.TSUMO:
            self._send(tags.OfferReply(type=7))
        elif due in (Due.TURN, Due.DISCARD):
            drawn = self.hand.drawn
            self._send_discard(tags.Discarding(p=max(self.hand.tiles) if drawn is None else drawn))
        else:
            self._send(tags.OfferReply(type=6 if offer & Offer.RON else None))
        return self._received()

    # --- replying ----------------------------------------------------------------------------

    def _check_owed(self) -> None:
        if self._duty is not ReplyDuty.MUST:
            raise LocalProtocolError("reply", "no reply is due now")

    def _check_reply(self, action: m.PlayerAction) -> None:
        self._check_owed()
        name = m.wire_name(action)
        if name not in self._due.value:
            wanted = " or ".join(self._due.value)
            raise LocalProtocolError("reply.type", f"{name} is not an answer here, only {wanted}")
        if action.actor not in (self.seat, None) or (action.actor is None and name != "none"):
            raise LocalProtocolError(
                f"{name}.actor", f"expected the own seat {self.seat}, got {action.actor}"
            )

    def _send_discard(self, frame: tags.Discarding) -> None:
        if self._declaring:
            self._send(tags.DeclareRiichi(hai=frame.p))
            self._declaring, self._declared = False, True
        self._send(frame)

    def _send(self, tag: tags.Tag) -> None:
        self._frames.append(write(tag, self.spelling))

    def _login_frame(self, gpid: str | None) -> bytes:
        old = self.spelling is Spelling.XML
        helo = tags.ClientHelo(
            name=self._login.name, tid="f0" if old else None, sx=self._login.sex, gpid=gpid
        )
        return write(helo, self.spelling)

    # --- receiving ---------------------------------------------------------------------------

    def _received(self) -> TenhouReceived:
        must = self._duty is ReplyDuty.MUST
        return TenhouReceived(
            events=tuple(self._events),
            frames=tuple(self._frames),
            notes=tuple(self._notes),
            due=self._due,
            duty=self._duty,
            offer=self._offer if must else NO_OFFER,
            deadline_ms=time_limits(self.rules).grace_ms if must else None,
            blind=self.blind,
            lapsed=self._lapsed,
            gap=self._gap,
        )

    def _take(self, tag: tags.Tag) -> None:
        match tag:
            case tags.ServerHelo():
                self._log_in(tag)
            case tags.Users():
                self._request_table()
            case tags.Rejoin():
                self._send(tags.JoinTable(t=tag.t))
            case tags.Go():
                self._take_rules(tag)
            case tags.Names() if tag.all.count(None) < 2:  # else one player that is back
                self._names_by_seat = tag.all
            case tags.Taikyoku():
                self._expect(tag, TenhouStage.SEATED)
                self._sit(-tag.oya, "TAIKYOKU.oya")
                self._send(tags.GoOk())
                self._send(tags.NextReady())
                self._start_game()
            case tags.Saikai():
                self._expect(tag, TenhouStage.SEATED)
                self._send(tags.GoOk())
            case tags.Furiten():
                self.furiten = tag.show == 1
                self._notes.append(tag)
            case tags.Init():
                self._deal(tag)
            case tags.Reinit():
                self._take_snapshot(tag)
            case _:
                self._take_in_hand(tag)

    def _take_in_hand(self, tag: tags.Tag) -> None:
        is_repeated = tag == self._newest
        if isinstance(tag, _ONCE):
            self._newest = tag
        if self._stray or is_repeated:
            self._notes.append(tag)
            return
        match tag:
            case tags.DrawTag():
                self._expect(tag, TenhouStage.PLAYING)
                self._take_draw(tag)
            case tags.DiscardTag():
                self._expect(tag, TenhouStage.PLAYING)
                self._take_discard(tag)
            case tags.MeldTag():
                self._expect(tag, TenhouStage.PLAYING)
                self._take_call(tag)
            case tags.Riichi():
                self._expect(tag, TenhouStage.PLAYING)
                self._take_riichi(tag)
            case tags.DoraIndicator():
                self._expect(tag, TenhouStage.PLAYING)
                self._emit(m.Dora(dora_marker=self.tile_names[tag.hai]))
            case tags.WinTag() | tags.DrawnHandTag():
                self._end_hand(tag)
            case _:
                self._notes.append(tag)

    def _expect(self, tag: tags.Tag, *stages: TenhouStage) -> None:
        if self.stage not in stages:
            raise ProtocolError(tag_name(tag), f"out of order, the client is {self.stage.value}")

    def _emit(self, *events: m.Event) -> None:
        if not self.blind:
            self._events += events

    def _owe(self, due: Due, offer: int | None = 0) -> None:
        self._lapsed = self._lapsed or self._duty is ReplyDuty.MUST
        self._due = due
        self._duty = ReplyDuty.MUST_NOT if due is Due.NOTHING else ReplyDuty.MUST
        self._offer = Offer(offer or 0)

    # --- login and lobby ---------------------------------------------------------------------

    def _log_in(self, tag: tags.ServerHelo) -> None:
        self._expect(tag, TenhouStage.CONNECTED)
        self.stage = TenhouStage.LOBBY
        if tag.auth:
            self._send(tags.Auth(val=auth_answer(tag.auth)))
        self._send(tags.AskUsers(v=1 if self._login.is_guest else 9))

    def _request_table(self) -> None:
        """Ask once it is plain that the server does not bring us back to a game."""
        if self.stage is not TenhouStage.LOBBY:
            return
        if self._coming_back:
            raise GameGoneError
        if self._joined:
            return
        self._joined = True
        self._send(tags.JoinTable(t=str(self._table_type)))

    def _take_rules(self, tag: tags.Go) -> None:
        self._expect(tag, TenhouStage.CONNECTED, TenhouStage.LOBBY)
        check_playable(tag.type, "GO.type", players=(3, 4))
        self.rules, self.players = tag.type, rules_of(tag.type).players
        self._gpid = tag.gpid or self._gpid
        self._stray = False
        self.stage = TenhouStage.SEATED

    def _start_game(self) -> None:
        if not self._started:
            self._started = True
            names = self._by_seat(self._names_by_seat)[: self.players]
            self.names = tuple([read_name(name or "") for name in names])
            rules = rules_of(self.rules).announced
            self._events.append(
                m.StartGame(id=self.seat, names=self.names or None, mjbot_rules=rules)
            )

    def _by_seat(self, names: Sequence[str | None]) -> Sequence[str | None]:
        return results.turned(names, self._own()) if len(names) == 4 else ()

    def _sit(self, seat: int, where: str) -> None:
        """Take the own seat; seats are counted by four: of three players the fourth is empty."""
        if seat % 4 >= self.players:
            raise ProtocolError(where, f"our seat would be {seat % 4} of {self.players} players")
        self.seat = seat % 4

    def _own(self) -> m.Seat:
        if self.seat is None:
            raise ProtocolError("TAIKYOKU", "missing: the own seat is not known")
        return self.seat

    # --- deals -------------------------------------------------------------------------------

    def _start_hand(self, hai: Sequence[int], names: Sequence[str], field: str) -> None:
        self.tile_names = names
        self.hand = OwnHand(hai, names, field)
        self._drawer: m.Seat | None = None
        self._discarder: m.Seat | None = None
        self._n_melds = [0, 0, 0, 0]
        self._result_seen = False
        self._declaring = self._declared = False

    def _names_of_ids(self) -> Sequence[str]:
        return PLAIN_TILES if self.rules & GameType.NO_RED_FIVES else RED_TILES

    def _deal(self, tag: tags.Init) -> None:
        self._expect(
            tag,
            TenhouStage.SEATED,
            TenhouStage.BETWEEN,
            *((TenhouStage.PLAYING,) if self.blind else ()),
        )
        dealer = tag.seed[0] % 4
        if self.seat is None:  # back between two hands
            self._sit(dealer - tag.oya, "INIT.oya")
        own = self._own()
        self._start_game()
        if results.absolute(tag.oya, own) != dealer:
            raise ProtocolError("INIT.oya", f"{tag.oya} does not deal hand {tag.seed[0]}")
        self.blind = self._coming_back = False
        self._gap, self._missed = self._missed, False
        self._end_kyoku()
        self._start_hand(tag.hai, self._names_of_ids(), "INIT.hai")
        self.stage = TenhouStage.PLAYING
        self._kyoku_open = True
        self.furiten = False
        self._owe(Due.NOTHING)
        self._emit(
            m.StartKyoku(
                bakaze=WIND_NAMES[tag.seed[0] // 4],
                kyoku=dealer + 1,
                honba=tag.seed[1],
                kyotaku=tag.seed[2],
                oya=dealer,
                dora_marker=self.tile_names[tag.seed[5]],
                tehais=self._dealt(tag.hai, own),
                scores=results.points(tag.ten, own),
            )
        )

    def _dealt(self, hai: Sequence[int], own: m.Seat) -> m.FourHands:
        shown = tuple([self.tile_names[tile] for tile in hai])
        return by_seat(shown if seat == own else HIDDEN_HAND for seat in range(4))

    def _take_snapshot(self, tag: tags.Reinit) -> None:
        """Continue from the table as it stands, without its history."""
        if self.stage is TenhouStage.LOBBY:
            self._stray = True
            self._notes.append(tag)
            return
        self._expect(tag, TenhouStage.SEATED)
        self._sit(tag.seed[0] - tag.oya, "REINIT.oya")
        self._start_game()
        self._end_kyoku()
        self._start_hand(tag.hai, self._names_of_ids(), "REINIT.hai")
        self.blind = True
        self._coming_back = False
        self.stage = TenhouStage.PLAYING
        self._owe(Due.NOTHING)

    def _end_kyoku(self) -> None:
        if self._kyoku_open:
            self._kyoku_open = False
            self._events.append(m.EndKyoku())

    # --- turns -------------------------------------------------------------------------------

    def _take_draw(self, tag: tags.DrawTag) -> None:
        seat = results.absolute(tag.seat, self._own())
        self._drawer = seat
        if (tag.seat == 0) != (tag.tile is not None):
            raise ProtocolError(tag_name(tag), "only the own draw shows its tile")
        if tag.tile is None:
            self._owe(Due.NOTHING)
            self._emit(m.Tsumo(actor=seat, pai="?"))
            return
        self.hand.draw(tag.tile)
        self._owe(Due.TURN, tag.t)
        self._emit(m.Tsumo(actor=seat, pai=self.tile_names[tag.tile]))

    def _take_discard(self, tag: tags.DiscardTag) -> None:
        seat = results.absolute(tag.seat, self._own())
        is_drawn = self.hand.discard(tag.tile) if tag.seat == 0 else tag.drawn
        self._drawer, self._discarder = None, seat
        self._declaring = self._declaring and tag.seat != 0
        self._owe(Due.CLAIM if tag.t and tag.seat else Due.NOTHING, tag.t)
        self._emit(m.Dahai(actor=seat, pai=self.tile_names[tag.tile], tsumogiri=is_drawn))

    def _take_riichi(self, tag: tags.Riichi) -> None:
        seat = results.absolute(tag.who, self._own())
        if tag.step == 2:
            scores = None if tag.ten is None else results.points(tag.ten, self._own())
            self._emit(m.ReachAccepted(actor=seat, deltas=riichi_deltas(seat), scores=scores))
        elif tag.who:
            self._emit(m.Reach(actor=seat))
        elif self._declared or self._declaring:
            self._declared = False  # already emitted
        else:
            self._owe(Due.DISCARD)
            self._emit(m.Reach(actor=seat))

    def _take_call(self, tag: tags.MeldTag) -> None:
        seat = results.absolute(tag.who, self._own())
        try:
            call = decode_call(tag.m, self.players)
        except ValueError as error:
            raise ProtocolError("N.m", str(error)) from None
        if call.kind not in ("kakan", "kita"):
            self._n_melds[seat] += 1
        self._drawer = None
        if tag.who == 0:
            self.hand.call(call)
            self._owe(Due.DISCARD if call.kind in ("chi", "pon") else Due.NOTHING)
        else:
            self._owe(Due.ROB if tag.t else Due.NOTHING, tag.t)
        event = call_event(call, seat, self.tile_names)
        target = getattr(event, "target", self._discarder)
        if target != self._discarder and not self.blind:
            raise ProtocolError("N.m", f"a call from seat {target}, which has not discarded")
        self._emit(event)

    # --- results -----------------------------------------------------------------------------

    def _end_hand(self, tag: tags.WinTag | tags.DrawnHandTag) -> None:
        again = (TenhouStage.BETWEEN,) if isinstance(tag, tags.WinTag) else ()  # a second winner
        self._expect(
            tag, TenhouStage.PLAYING, *again, *((TenhouStage.SEATED,) if self.blind else ())
        )
        own = self._own()
        self.stage = TenhouStage.BETWEEN
        self._owe(Due.NOTHING)
        if isinstance(tag, tags.WinTag):
            self._emit(results.read_win(tag, own, self.tile_names))
        elif not self.blind:
            melds, drawer = self._n_melds, self._drawer
            draw = results.read_draw(tag, own, self.tile_names, melds, drawer, self.players)
            self._emit(draw)
        if not self._result_seen:
            self._send(tags.NextReady())
            self._result_seen = True
        if (scores := results.final_scores(tag, own)) is not None:
            self._gap = self._missed
            self._end_kyoku()
            self._events.append(m.EndGame(scores=scores))
            self._send(tags.ClientBye())
            self.stage = TenhouStage.OVER
