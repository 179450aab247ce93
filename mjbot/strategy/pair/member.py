"""What makes a strategy one of a pair: it sends its hand and receives the partner's."""

from collections.abc import Sequence

import numpy as np

from mjbot.game.table.actions import Action
from mjbot.game.table.apply import apply_reveal
from mjbot.game.table.assume import assume_riichi, hide
from mjbot.game.table.observe import offered_since
from mjbot.game.table.settle import has_yaku
from mjbot.game.table.state import State, copy_state
from mjbot.game.table.view import View
from mjbot.protocol.tiles import N_KINDS, TILE_BY_NAME, tile_names
from mjbot.strategy.pair.link import Link, MemoryLink, NoLink, memory_links
from mjbot.strategy.pair.messages import SharedHand, deal_fingerprint, fits_table, game_fingerprint
from mjbot.strategy.pair.remarks import Help, PairRemark
from mjbot.strategy.strategy import Strategy


class PairMember(Strategy):
    """Mixed into a strategy.  Until it is given a link it plays alone.

    Only the commands that seat a pair hand out links, after :mod:`mjbot.strategy.pair.fair_play`.
    """

    _link: Link = NoLink()
    _table = game_fingerprint(())
    _game = _table
    _ally_seat: int | None = None
    _remark = PairRemark()

    def join_pair(self, link: Link) -> None:
        """Be one of a pair from now on."""
        self._link = link

    @property
    def is_paired(self) -> bool:
        """Whether it was given a link; the partner may be lost all the same."""
        return not isinstance(self._link, NoLink)

    def start_game(self, seat: int, names: tuple[str, ...]) -> None:
        """Take note of which game it is, and forget what was received before."""
        super().start_game(seat, names)
        self._game = self._table = game_fingerprint(names)
        self._ally_seat = None
        self._link.start_game()

    def start_kyoku(self, view: View) -> None:
        """Take note of the deal, too: two games of the same four differ in it."""
        super().start_kyoku(view)
        self._game = deal_fingerprint(self._table, view)

    def send_hand(
        self,
        view: View,
        action: Action,
        aim: str | None,
        helps: Sequence[int],
        done: Help | None = None,
    ) -> None:
        """Send the hand after ``action``, a discard; other actions are not sent.

        ``helps`` are kinds.  The discard that declares riichi counts as accepted.  ``done`` is
        what the action does for the ally, for the remark in the log.
        """
        holding = None
        if action.is_discard:
            after = view.after_discard(view.seat, action.tile, action.tsumogiri)
            holding = holding_of(after, self._game, aim, helps)
            self._link.send(holding)
        self._remark = PairRemark()
        if self.is_paired and holding is not None:
            shared = holding.hand, holding.aim, holding.waits, holding.helps
            self._remark = PairRemark(self._ally_seat, done, *shared)
        elif self.is_paired:
            self._remark = PairRemark(self._ally_seat, done)

    def remark(self) -> str:
        """Return what was last shared with the partner or done for it, once."""
        remark, self._remark = self._remark, PairRemark()
        return str(remark)

    def receive_hand(self, view: View) -> "Ally | None":
        """Return what the partner holds, or ``None`` where nothing is known of it now."""
        game, ally_seat = self._game, self._ally_seat
        if ally_seat is not None and not len(view.river(ally_seat)):
            return None  # it sends after its discards: there is nothing yet to wait for
        holding = self._link.newest(lambda message: fits_table(message, view, game))
        if holding is None:
            return None
        self._ally_seat = holding.seat
        return Ally(view, holding)


class Ally:
    """The partner at this moment.

    ``state`` is the table as both see it together: our hand and the ally's.
    ``waits`` is the mask of kinds on which the ally would win by ron now, ``shape`` that of kinds
    that complete its hand, ``helps`` that of kinds it would call.
    """

    def __init__(self, view: View, holding: SharedHand) -> None:
        self.seat = holding.seat
        self.aim = holding.aim
        self.helps = _mask(holding.helps)
        self.state: State = copy_state(view.state)
        hide(self.state, view.seat)
        tiles = np.array([TILE_BY_NAME[name] for name in holding.hand], np.int8)
        apply_reveal(self.state, self.seat, tiles)
        self.shape = int(self.state["waits"][self.seat])
        missed = self.shape & (view.genbutsu(self.seat) | offered_since(view.state, self.seat))
        houtei = view.wall_left == 0  # then any complete hand has a yaku
        self.waits = 0 if missed else self.shape & (self.shape if houtei else _mask(holding.waits))

    @property
    def view(self) -> View:
        """The ally's own view of the table."""
        return View(self.state, self.seat)


def pair_up(one: Strategy, other: Strategy) -> tuple[MemoryLink, MemoryLink]:
    """Link two strategies of one process; raises ``TypeError`` for those that cannot pair."""
    links = memory_links()
    for member, link in zip((one, other), links, strict=True):
        if not isinstance(member, PairMember):
            raise TypeError(f"{type(member).__name__} is no strategy for a pair")
        member.join_pair(link)
    return links


def holding_of(view: View, game: str, aim: str | None, helps: Sequence[int]) -> SharedHand:
    """Return the message of a seat that has just discarded."""
    seat = view.seat
    return SharedHand(
        game=game,
        kyoku=view.round,
        honba=view.honba,
        turn=len(view.river(seat)),
        seat=seat,
        hand=tile_names(view.tiles),
        kita=view.kita(seat),
        melds=tuple(tile_names(meld.tiles) for meld in view.melds(seat)),
        waits=tile_names(winning_kinds(view)),
        aim=aim,
        helps=tile_names(helps),
    )


def winning_kinds(view: View) -> list[int]:
    """Return the kinds on which the seat, having discarded, can win by ron: a yaku, no furiten."""
    state, seat = view.state, view.seat
    waits = int(state["waits"][seat])
    if waits == 0 or view.furiten:
        return []
    state = copy_state(state)
    if view.riichi(seat):
        assume_riichi(state, seat)
    return [
        kind for kind in range(N_KINDS) if waits >> kind & 1 and has_yaku(state, seat, kind, False)
    ]


def _mask(names: Sequence[str]) -> int:
    return sum(1 << TILE_BY_NAME[name] for name in set(names) if TILE_BY_NAME[name] < N_KINDS)
