"""Book-keeping over a game's events, independent of our rules: tiles and points are conserved.

It checks the reader of records on its own, without the table that the records prove.
"""

from collections import Counter
from collections.abc import Iterable

from mjbot.game.rules.wall_plan import wall_plan
from mjbot.protocol import messages as m
from mjbot.protocol.rules import RANKED, Rules


class LedgerError(ValueError):
    """The events cannot all be true."""


class PointsLedger:
    """Follows one unmasked game with all scores; ``counts`` has the number of each check."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._hands: list[list[str]] = [[], [], [], []]
        self._seen: Counter[str] = Counter()
        self._rules = RANKED
        self._scores = [RANKED.start_points] * 4
        self._sticks = 0
        self._draws = 0
        self._drawn: tuple[int, str] | None = None  # in hand, not yet discarded
        self._claimable: tuple[int, str] | None = None

    def apply(self, event: m.Event) -> None:
        """Book one event; raise :class:`LedgerError` if it contradicts an earlier one."""
        match event:
            case m.StartKyoku():
                self._deal(event)
            case m.Tsumo(actor=seat, pai=tile):
                self._draws += 1
                self._see(tile)
                self._hands[seat].append(tile)
                self._drawn, self._claimable = (seat, tile), None
            case m.Dahai(actor=seat, pai=tile, tsumogiri=tsumogiri):
                self._discard(seat, tile, tsumogiri)
            case m.Chi() | m.Pon() | m.Daiminkan():
                self._check("claimed tiles", self._claimable == (event.target, event.pai))
                self._take(event.actor, event.consumed)
            case m.Ankan(actor=seat, consumed=tiles):
                self._take(seat, tiles)
            case m.Kakan(actor=seat, pai=tile) | m.Kita(actor=seat, pai=tile):
                self._take(seat, (tile,))
            case m.Dora(dora_marker=tile):
                self._see(tile)
            case m.ReachAccepted() | m.Hora() | m.Ryukyoku():
                self._pay(event)
            case m.EndGame(scores=scores):
                self._end(scores)
            case m.StartGame(mjbot_rules=rules) if rules is not None:
                self._rules = Rules.read(rules, (3, 4))
                seated = range(4)[: self._rules.players]
                self._scores = [self._rules.start_points * (seat in seated) for seat in range(4)]
            case m.Reach() | m.StartGame() | m.EndKyoku():
                pass

    def _deal(self, event: m.StartKyoku) -> None:
        self._seen.clear()
        self._draws = 0
        self._hands = [list(hand) for hand in event.tehais]
        hands = event.tehais[: self._rules.players]
        for tile in (event.dora_marker, *(tile for hand in hands for tile in hand)):
            self._see(tile)
        self._check("scores of the next hand", event.scores == tuple(self._scores))
        self._check("sticks of the next hand", event.kyotaku == self._sticks)

    def _see(self, tile: str) -> None:
        self._seen[tile] += 1
        most = 1 if tile.endswith("r") else 3 if tile in ("5m", "5p", "5s") else 4
        self._check("tiles (no fifth copy)", self._seen[tile] <= most)

    def _take(self, seat: int, tiles: Iterable[str]) -> None:
        for tile in tiles:
            self._check("tiles given up were held", tile in self._hands[seat])
            self._hands[seat].remove(tile)
        self._drawn = self._claimable = None

    def _discard(self, seat: int, tile: str, tsumogiri: bool) -> None:
        if tsumogiri:
            self._check("tsumogiri is the drawn tile", self._drawn == (seat, tile))
        self._take(seat, (tile,))
        self._claimable = (seat, tile)

    def _pay(self, event: m.ReachAccepted | m.Hora | m.Ryukyoku) -> None:
        if isinstance(event, m.ReachAccepted):
            self._sticks += 1
        elif isinstance(event, m.Hora):
            self._sticks = 0
        deltas = event.deltas or (0, 0, 0, 0)
        self._scores = [score + delta for score, delta in zip(self._scores, deltas, strict=True)]
        self._check("scores given", event.scores in (None, tuple(self._scores)))
        total = sum(self._scores) + self._rules.stick_points * self._sticks
        dealt = self._rules.players * self._rules.start_points
        self._check("sum of points and sticks", total == dealt)
        if isinstance(event, m.Ryukyoku) and event.reason in ("fanpai", "nagashimangan"):
            self._check("draws of an exhausted wall", self._draws == self._n_live)

    @property
    def _n_live(self) -> int:
        return int(wall_plan(self._rules.players)["n_live"])

    def _end(self, scores: m.FourInts | None) -> None:
        top = self._scores.index(max(self._scores[: self._rules.players]))
        self._scores[top] += self._rules.stick_points * self._sticks
        self._check("final scores", scores == tuple(self._scores))

    def _check(self, what: str, holds: bool) -> None:
        self.counts[what] += 1
        if not holds:
            raise LedgerError(f"{what}: contradiction")
