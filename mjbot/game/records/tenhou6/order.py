"""The order of events in a hand of tenhou.net/6, which its columns do not contain.

Each seat's columns are in order; the order between seats follows from turns and calls.  A call
names the seat and the tile that it claimed, but not the discard: that seat may have discarded such
a tile twice before the caller's next entry.  So the search takes every call as early as possible,
and backtracks where that fails.

At most one order uses up all columns.  Suppose two did, and d is the discard, of seat s, after
which they differ: next acts A in the one and B in the other, by a call of d or as the seat after s
that draws.  B's next entry waits for a discard of s, so in the first order B stands still until s
discards again, and so does A in the second.  Before that s has an entry, the same in both orders,
which needs a discard of another seat Z since d: one that s claims, or that of the seat before s.
Z acts in both orders, so it is neither A nor B.  What Z does first needs a discard since d as
well, and identifies it: in the first order only A can have made it, in the second only B.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from mjbot.game.records.complete import in_id_order
from mjbot.game.records.tenhou6.hands import (
    Claim,
    HandColumns,
    NorthAside,
    Nothing,
    OwnKan,
    RiverEntry,
)
from mjbot.protocol import messages as m
from mjbot.protocol.tiles import NORTH, TILE_NAMES

MOST_EVENTS: Final = 100_000
"""Steps of the search through one hand.  A hand has some 150; only a made-up one needs many."""


ANY_SEAT: Final = 4


def orders(hand: HandColumns, ronned: int) -> Iterator[list[m.Event]]:
    """Yield every order of events, from the first draw on, in which all columns are used up: one.

    ``ronned`` is the seat whose last tile was won by another, -1 for none, :data:`ANY_SEAT` where
    it is unknown: a riichi declared with that tile is not accepted.  Raises ``ValueError``
    with how far the columns fit if no order does.
    """
    search = _Search(hand, ronned)
    found = False
    for events in search.run():
        found = True
        yield events
    if not found:
        raise ValueError(search.furthest[1])


class _DeadEndError(ValueError):
    """The columns do not continue like this."""


def _four_zeros() -> list[int]:
    return [0, 0, 0, 0]


@dataclass
class _Branch:
    """One way to read the columns so far; ``seat`` draws next."""

    seat: int
    events: list[m.Event] = field(default_factory=list)
    drawn_at: list[int] = field(default_factory=_four_zeros)
    played_at: list[int] = field(default_factory=_four_zeros)
    n_dora: int = 1
    owed_dora: int = 0
    is_over: bool = False

    def copy(self) -> "_Branch":
        return replace(
            self,
            events=self.events.copy(),
            drawn_at=self.drawn_at.copy(),
            played_at=self.played_at.copy(),
        )


class _Search:
    def __init__(self, hand: HandColumns, ronned: int) -> None:
        self._hand = hand
        self._ronned = ronned
        self._looked_at = 0
        self.furthest = (-1, "no tile is drawn")
        """How many events fitted at most, and what did not fit then."""

    def run(self) -> Iterator[list[m.Event]]:
        waiting = [_Branch(self._hand.kyoku % 4)]
        while waiting:
            branch = waiting.pop()
            try:
                following = self._turn(branch)
            except _DeadEndError as problem:
                self.furthest = max(self.furthest, (len(branch.events), str(problem)))
                continue
            if branch.is_over:
                yield branch.events
            waiting += reversed(following)

    # --- one turn ----------------------------------------------------------------------------

    def _turn(self, branch: _Branch) -> list[_Branch]:
        """Play to the next discard; return the possible continuations, none at the end."""
        called = isinstance(branch.events[-1], m.Chi | m.Pon) if branch.events else False
        while True:
            self._looked_at += 1
            if self._looked_at > MOST_EVENTS:
                raise ValueError("too many orders of events would have to be tried")
            drawn = None if called else self._draw(branch)
            called = False
            if self._is_used_up(branch):
                return self._ended(branch)
            play = self._next_play(branch)
            if isinstance(play, RiverEntry):
                return self._discard(branch, play, drawn)
            if self._kita(branch) if isinstance(play, NorthAside) else self._kan(branch, play):
                return self._ended(branch)

    def _draw(self, branch: _Branch) -> str:
        seat = branch.seat
        draws = self._hand.seats[seat].draws
        at = branch.drawn_at[seat]
        if at == len(draws):
            raise _DeadEndError(f"seat {seat} is to draw, but its {at} draws are used up")
        tile = draws[at]
        if isinstance(tile, Claim):
            raise _DeadEndError(f"seat {seat} is to draw, but its draw {at} is a call")
        branch.drawn_at[seat] += 1
        branch.events.append(m.Tsumo(actor=seat, pai=tile))
        return tile

    def _next_play(self, branch: _Branch) -> RiverEntry | OwnKan | NorthAside:
        seat = branch.seat
        plays = self._hand.seats[seat].plays
        at = branch.played_at[seat]
        if at == len(plays):
            raise _DeadEndError(f"seat {seat} is to discard, but its {at} discards are used up")
        play = plays[at]
        if isinstance(play, Nothing):
            raise _DeadEndError(f"seat {seat} is to discard, but its discard {at} is 0")
        branch.played_at[seat] += 1
        return play

    def _kan(self, branch: _Branch, kan: OwnKan) -> bool:
        """Declare a kan; return whether it was robbed: a kakan, or elsewhere an ankan, too."""
        seat = branch.seat
        if not isinstance(branch.events[-1], m.Tsumo):
            raise _DeadEndError(f"seat {seat} declares a kan right after a call")
        if kan.kind == "ankan":
            a, b, c, d = in_id_order((kan.tile, *kan.own))
            branch.events.append(m.Ankan(actor=seat, consumed=(a, b, c, d)))
            if self._is_used_up(branch):
                return True
            branch.owed_dora += 1
            self._turn_dora(branch)
            return False
        a, b, c = in_id_order(kan.own)
        branch.events.append(m.Kakan(actor=seat, pai=kan.tile, consumed=(a, b, c)))
        if self._is_used_up(branch):
            return True
        self._turn_dora(branch)
        branch.owed_dora += 1
        return False

    def _kita(self, branch: _Branch) -> bool:
        """Set a north aside; return whether it was won."""
        if not isinstance(branch.events[-1], m.Tsumo):
            raise _DeadEndError(f"seat {branch.seat} sets a north aside right after a call")
        branch.events.append(m.Kita(actor=branch.seat, pai=TILE_NAMES[NORTH]))
        if self._is_used_up(branch):
            return True
        self._turn_dora(branch)
        return False

    def _discard(self, branch: _Branch, discard: RiverEntry, drawn: str | None) -> list[_Branch]:
        seat = branch.seat
        tile = discard.tile or drawn
        if tile is None:
            raise _DeadEndError(f"seat {seat} discards what it drew, but it has called")
        if discard.riichi:
            branch.events.append(m.Reach(actor=seat))
        self._turn_dora(branch)
        branch.events.append(m.Dahai(actor=seat, pai=tile, tsumogiri=discard.tile is None))
        ended = self._is_used_up(branch)
        if discard.riichi and not (ended and self._ronned in (seat, ANY_SEAT)):
            branch.events.append(m.ReachAccepted(actor=seat))
        return self._ended(branch) if ended else self._after_discard(branch, tile)

    def _turn_dora(self, branch: _Branch) -> None:
        dora = self._hand.dora
        for _ in range(branch.owed_dora):
            if branch.n_dora == len(dora):
                raise _DeadEndError(f"[2]: has {len(dora)} dora indicators, one more is turned")
            branch.events.append(m.Dora(dora_marker=dora[branch.n_dora]))
            branch.n_dora += 1
        branch.owed_dora = 0

    # --- continuations -----------------------------------------------------------------------

    def _after_discard(self, branch: _Branch, tile: str) -> list[_Branch]:
        """Return a branch for each seat that may have claimed the tile, and one for none."""
        following = [
            self._claimed(branch, caller, claim)
            for step in (1, 2, 3)
            if (claim := self._claim_of(branch, caller := (branch.seat + step) % 4, tile))
        ]
        nobody = branch.copy() if following else branch
        nobody.seat = (branch.seat + 1) % self._hand.players
        following.sort(key=lambda one: isinstance(one.events[-1], m.Chi))
        return [*following, nobody]

    def _claim_of(self, branch: _Branch, seat: int, tile: str) -> Claim | None:
        """Return the next entry of the seat if it claims this tile."""
        draws = self._hand.seats[seat].draws
        at = branch.drawn_at[seat]
        claim = draws[at] if at < len(draws) else None
        if not isinstance(claim, Claim) or (seat + claim.source) % 4 != branch.seat:
            return None
        return claim if claim.tile == tile else None

    def _claimed(self, branch: _Branch, caller: int, claim: Claim) -> _Branch:
        claimed = branch.copy()
        claimed.drawn_at[caller] += 1
        target, claimed.seat = branch.seat, caller
        own = in_id_order(claim.own)
        kind = {"chi": m.Chi, "pon": m.Pon, "daiminkan": m.Daiminkan}[claim.kind]
        claimed.events.append(kind(actor=caller, target=target, pai=claim.tile, consumed=own))
        if claim.kind == "daiminkan":
            claimed.owed_dora = 1
            plays, at = self._hand.seats[caller].plays, claimed.played_at[caller]
            claimed.played_at[caller] += at < len(plays) and isinstance(plays[at], Nothing)
        return claimed

    def _is_used_up(self, branch: _Branch) -> bool:
        return all(
            branch.drawn_at[seat] == len(columns.draws)
            and branch.played_at[seat] == len(columns.plays)
            for seat, columns in enumerate(self._hand.seats)
        )

    def _ended(self, branch: _Branch) -> list[_Branch]:
        if branch.n_dora != len(self._hand.dora):
            n_known, turned = len(self._hand.dora), branch.n_dora
            raise _DeadEndError(f"[2]: has {n_known} dora indicators, but {turned} are turned")
        branch.is_over = True
        return []
