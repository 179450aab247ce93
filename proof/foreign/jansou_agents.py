"""The agents of the PyPI package ``jansou`` (MIT) as strategies for tables of three players.

Besides a random one they are the only ones that registries offer for three players; in the
package's own words they show its interface, "none is a strong player".

    pip install jansou==0.14.0
    mjbot arena proof/foreign/jansou_agents.py:SmartEfficiency fast-riichi-a --rules players=3

A choice is the package's: here its events are made of what a seat sees, and its actions of what the
table allows.  An agent keeps of the events only sums (its hand, its melds, the tiles discarded), so
that each decision is made by a new one, with events in another order than at the table.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import ClassVar, Final

from jansou.core.hand import MeldType as TheirMeld
from jansou.core.tiles import Tile, TileKind, Wind
from jansou.game import actions as theirs
from jansou.game.agents import EfficiencyAgent, SmartEfficiencyAgent
from jansou.game.events import Call, DealStart, Discard, Draw, Event, IndicatorReveal
from jansou.game.flow import DecisionKind

from mjbot import RED_FIVES, Action, Meld, MeldType, Phase, Strategy, View, tile_kind
from mjbot.game.rules.tile_sets import shanten_of

MELDS: Final = {
    MeldType.PON: TheirMeld.PON,
    MeldType.KAKAN: TheirMeld.PON,
    MeldType.DAIMINKAN: TheirMeld.DAIMINKAN,
    MeldType.ANKAN: TheirMeld.ANKAN,
}

PLAIN: Final = {
    "tsumo": theirs.Tsumo(),
    "ron": theirs.Ron(),
    "nine terminals": theirs.NineTerminals(),
    "pass": theirs.Pass(),
    "daiminkan": theirs.OpenKan(),
    "kita": theirs.Nuki(),
}


@dataclass
class Efficiency(Strategy):
    """Discards for the widest acceptance and never calls: ``EfficiencyAgent`` of jansou."""

    seed: int = 0
    """Of the draw among discards that are alike."""

    players = (3,)
    agent: ClassVar[type[EfficiencyAgent]] = EfficiencyAgent

    def __post_init__(self) -> None:
        self._random: Final = Random(self.seed)
        self._riichi_tile = -1

    def decide(self, view: View) -> Action:
        """Return what the agent chooses."""
        if view.phase == Phase.RIICHI:
            return next(action for action in view.discards if action.tile == self._riichi_tile)
        agent = self.agent(self._random.getrandbits(32))
        for event in _events(view):
            agent.observe(event)
        offers = {offer: action for action in view.legal for offer in _offers(view, action)}
        kind = DecisionKind.SELF if view.discards else DecisionKind.DISCARD_REACTION
        chosen = agent.act(view.seat, kind, [*offers])
        if isinstance(chosen, theirs.Riichi):
            tiles = [action.tile for action in view.discards]
            self._riichi_tile = next(tile for tile in tiles if _tile(tile) == chosen.tile)
        return offers[chosen]


class SmartEfficiency(Efficiency):
    """Counts the tiles it sees, and calls for value and shanten: ``SmartEfficiencyAgent``."""

    agent = SmartEfficiencyAgent


def _tile(tile: int) -> Tile:
    return Tile(TileKind(tile_kind(tile)), tile in RED_FIVES)


def _events(view: View) -> Iterator[Event]:
    """Yield a kyoku that leads to what the seat sees.

    Its hand is dealt with all that it has discarded and melded since; norths that are set aside are
    in no sum.  The tile on offer is discarded last.
    """
    melds = view.melds(view.seat)
    drawn, hand = view.drawn, view.tiles
    if drawn >= 0:
        hand.remove(drawn)
    own = view.river(view.seat).tolist()
    others = {seat: view.river(seat).tolist() for seat in range(view.players) if seat != view.seat}
    dealt = [*hand, *own, *[tile for meld in melds for tile in _from_hand(meld)]]
    hands: list[tuple[Tile, ...] | None] = [None] * view.players
    hands[view.seat] = tuple(map(_tile, dealt))
    first, *markers = map(_tile, view.dora_markers.tolist())
    wind, scores = Wind(view.round_wind), tuple(view.scores[: view.players].tolist())
    yield DealStart(view.dealer, wind, 1, view.honba, 0, scores, tuple(hands), first)
    yield from map(IndicatorReveal, markers)
    for meld in melds:
        if meld.called >= 0:
            others[meld.source].remove(meld.called)
            yield Discard(meld.source, _tile(meld.called))
        yield from _calls(view.seat, meld)
    for tile in own:
        yield Discard(view.seat, _tile(tile))
    for seat in sorted(others, key=lambda seat: seat == view.turn):
        for tile in others[seat]:
            yield Discard(seat, _tile(tile))
    if drawn >= 0:
        yield Draw(view.seat, _tile(drawn))


def _from_hand(meld: Meld) -> list[int]:
    tiles = meld.tiles
    if meld.called >= 0:
        tiles.remove(meld.called)
    return tiles


def _calls(seat: int, meld: Meld) -> Iterator[Call]:
    called = [meld.called] if meld.called >= 0 else []
    tiles = tuple(map(_tile, [*called, *_from_hand(meld)]))
    source = meld.source if called else seat
    added = meld.type is MeldType.KAKAN
    yield Call(MELDS[meld.type], seat, source, tiles[:3] if added else tiles)
    if added:
        yield Call(TheirMeld.SHOUMINKAN, seat, seat, tiles)


def _offers(view: View, action: Action) -> Iterator[theirs.Action]:
    """Yield an action as theirs; a riichi has one for each tile that keeps the hand tenpai."""
    match action.name:
        case "discard":
            yield theirs.Discard(_tile(action.tile), action.tsumogiri)
        case "riichi":
            for discard in view.discards:
                hand = view.hand.copy()
                hand[tile_kind(discard.tile)] -= 1
                if shanten_of(hand, view.n_melds, view.players) == 0:
                    yield theirs.Riichi(_tile(discard.tile), discard.tsumogiri)
        case "pon":
            kind = tile_kind(view.claim_tile)
            plain, red = Tile(TileKind(kind)), Tile(TileKind(kind), action.red)
            yield theirs.Pon((plain, red))
        case "ankan":
            yield theirs.ClosedKan(TileKind(action.tile))
        case "kakan":
            yield theirs.AddedKan(Tile(TileKind(action.tile)))
        case name:
            yield PLAIN[name]
