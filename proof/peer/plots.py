"""Stacked first kyoku that bring about what random walls hardly ever do."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.referee.referee import Position
from mjbot.game.rules.wall_plan import FOUR_PLAYERS as WALL
from mjbot.protocol.tiles import FIVE_KINDS, N_KINDS, RED_FIVES, parse_tiles
from proof.peer.habits import Habit, random_habit

FULL_SET: Final = tuple(
    tile
    for kind in range(N_KINDS)
    for tile in [kind] * (3 if kind in FIVE_KINDS else 4)
    + ([RED_FIVES[FIVE_KINDS.index(kind)]] if kind in FIVE_KINDS else [])
)
"""The 136 tiles."""


@dataclass
class KyokuSetup:
    """What the first kyoku deals: its wall int8[136] and the players' habits."""

    wall: NDArray[np.int8]
    habits: list[Habit]


@dataclass
class Script:
    """What is sure of a kyoku: tiles of each hand from the dealer on, the first draws, habits."""

    hands: list[list[int]]
    draws: list[int]
    habits: list[Habit]
    rinshan: list[int] = field(default_factory=list)

    def plot(self, rng: Random, dealer: int) -> KyokuSetup:
        """Fill up the rest at random."""
        rest = list(FULL_SET)
        for tiles in (*self.hands, self.draws, self.rinshan):
            for tile in tiles:
                rest.remove(tile)
        rng.shuffle(rest)
        wall = np.full(136, -1, np.int8)
        parts = {13 * ((dealer + place) % 4): hand for place, hand in enumerate(self.hands)}
        for start, tiles in (
            parts | {WALL["live"]: self.draws, WALL["rinshan"]: self.rinshan}
        ).items():
            wall[start : start + len(tiles)] = tiles
        wall[wall < 0] = rest
        return KyokuSetup(wall, [self.habits[(seat - dealer) % 4] for seat in range(4)])


def _script(rng: Random, hands: list[str], draws: str = "", **habit: float) -> Script:
    tiles = [parse_tiles(text) for text in hands]
    return Script(tiles, parse_tiles(draws), [replace(random_habit(rng), **habit)] * 4)


def _rotated(rng: Random, hands: list[str], draws: str = "", **habit: float) -> Script:
    """The same, with any seat as the first."""
    shift = rng.randrange(4)
    return _script(rng, [*hands[shift:], *hands[:shift]], draws, **habit)


def _middles(rng: Random) -> list[int]:
    """Return the tiles that are neither terminals nor honours nor red, shuffled."""
    middles = [tile for tile in FULL_SET if tile < 27 and tile % 9 not in (0, 8)]
    rng.shuffle(middles)
    return middles


def quads(rng: Random) -> Script:
    """Pairs and triples in one to four hands, their other copies among the first draws."""
    owners = rng.choice(((0,), (0, 1), (0, 1, 2), (0, 1, 2, 3)))
    script = _script(rng, [""] * 4, kan=1.0, call=rng.choice((0.0, 1.0)), win=0.5)
    plain_kinds = [kind for kind in range(N_KINDS) if kind not in FIVE_KINDS]
    for index, kind in enumerate(rng.sample(plain_kinds, rng.randint(4, 6))):
        hand = script.hands[owners[index % len(owners)]]
        copies = rng.choice((2, 3, 3, 4))
        if len(hand) + copies <= 13:
            hand += [kind] * copies
            script.draws += [kind] * (4 - copies)
    rng.shuffle(script.draws)
    return script


def four_winds(rng: Random) -> Script:
    """The same wind in every hand and few other honours; all players discard honours first."""
    wind, other = rng.sample(range(27, 31), 2)
    middles = _middles(rng)
    script = _script(rng, [""] * 4, edges_first=1.0, call=0.0, abort=0.0)
    script.hands = [[wind, *(middles.pop() for _ in range(12))] for _ in range(4)]
    script.hands[rng.randrange(4)][0] = rng.choice((wind, other))
    script.draws = [middles.pop() for _ in range(8)]
    return script


def many_rons(rng: Random) -> Script:
    """The dealer draws what two or three others wait for, and has a ready hand already."""
    others = ["234567m234p22s78s", "345678p345s88m78s", "345678m45677p78s"]
    if rng.random() < 0.3:
        others[rng.randrange(3)] = ""
    hands = ["123456m123p44z11s", *others]
    draws = rng.choice(("9s", "6s", "2p6s", "2p1p1p1p6s"))
    return _script(rng, hands, draws, win=rng.choice((1.0, 1.0, 0.9)), call=0.0, greed=1.0)


def _collector(rng: Random, hand: str, kinds: str) -> Script:
    """One hand collects honours; the others throw their copies of ``kinds`` and stay quiet."""
    script = _script(rng, [""] * 4, call=0.0, win=0.2, abort=0.0, riichi=0.0, kan=0.0)
    seat = rng.randrange(4)
    others = [script.hands[other] for other in range(4) if other != seat]
    habit = script.habits[seat]
    script.habits = [replace(habit, edges_first=rng.choice((0.0, 1.0, 1.0)))] * 4
    script.habits[seat] = replace(habit, call=1.0, win=1.0, greed=1.0, kan=rng.choice((0.0, 1.0)))
    script.hands[seat] = parse_tiles(hand)
    for kind in parse_tiles(kinds):
        for _ in range(4 - script.hands[seat].count(kind)):
            rng.choice(others).append(kind)
    return script


def dragons(rng: Random) -> Script:
    """Pairs and triples of dragons in one hand: big and small three dragons, pao."""
    tails = ("345m67p8s", "34m678p8s", "222m33p4s", "12399s4m", "23488m5p")
    heads = ("556677z", "556677z", "555667z", "556667z")
    return _collector(rng, rng.choice(heads) + rng.choice(tails), "567z")


def winds(rng: Random) -> Script:
    """Pairs and triples of winds in one hand: big and small four winds, pao."""
    hands = ("11223344z44m", "111223344z44m", "1112223344z4m", "11222334455z", "111222334z44m")
    return _collector(rng, rng.choice(hands), "1234z")


def orphans(rng: Random) -> Script:
    """Thirteen orphans ready or nearly, and other seats that kan what it waits for."""
    hands, draws = rng.choice(
        (
            (["19m19p19s123456z3m", "777z", "22m", "33p"], "2468p2s7z"),
            (["9m19p19s1234567z5p", "111m", "22m", "33p"], "246p21m"),
            (["19m19p19s1234567z", "", "", ""], ""),
            (["9m19p19s1234567z5p", "11m", "1m", "33p"], "246p2s1m"),
        )
    )
    return _rotated(rng, hands, draws, kan=1.0, call=1.0, abort=0.0, win=rng.choice((1.0, 0.5)))


def nagashi(rng: Random) -> Script:
    """One or two hands of terminals and honours with draws to match; no calls or wins."""
    edges = [tile for tile in FULL_SET if tile >= 27 or tile % 9 in (0, 8)]
    edges = [tile for tile in edges if tile < N_KINDS]
    middles = _middles(rng)
    rng.shuffle(edges)
    script = _script(rng, [""] * 4, edges_first=1.0, call=0.0, win=0.0, abort=0.0, kan=0.0)
    script.habits = [replace(script.habits[0], riichi=rng.choice((0.0, 1.0)))] * 4
    first, second = rng.randrange(4), rng.randrange(4)
    script.hands[first] = [edges.pop() for _ in range(13)]
    if second != first:
        script.hands[second] = [edges.pop() for _ in range(13)]
    script.draws = [(edges if turn % 4 == first else middles).pop() for turn in range(24)]
    return script


def all_tenpai(rng: Random) -> Script:
    """Four ready hands: four riichi, and wins at once."""
    hands = ["123456m123p2299s", "456789p456s11m78m", "123789s1144z77p1z", "234678m678p33s46s"]
    win = rng.choice((0.0, 0.5, 1.0))
    return _rotated(rng, hands, win=win, riichi=1.0, call=0.0, greed=1.0)


def robbed_kans(rng: Random) -> Script:
    """A pon of the dealer's first discard and the fourth tile soon after.

    Another hand waits for it without yaku, so that it may rob the kan but not take the discard.
    """
    hands = ["456789m123p44z11s", "13m456789p123s55z", "22m88s147p369s23z", ""]
    draws = rng.choice(("2m6z7z6z2m", "2m6z8s7z2m8s", "2m1z6z7z3z2m"))
    return _script(rng, hands, draws, call=1.0, kan=1.0, riichi=0.0, win=1.0, greed=1.0)


def robbed_second_kans(rng: Random) -> Script:
    """Two pons, two added kans in one turn, and another hand waits for the second."""
    hands = ["456789m123p44z11s", "456789m79p123s55z", "22m88p147369s123z", ""]
    draws = "2m6z8p7z6z7z2m"
    script = _script(rng, hands, draws, call=1.0, kan=1.0, riichi=0.0, win=1.0, greed=1.0)
    script.rinshan = parse_tiles("8p")
    return script


def kan_in_riichi(rng: Random) -> Script:
    """Closed triples next to runs: which of them may become a kan after riichi?"""
    hands = (
        *("111m22233344p55s", "222333444m67p88s", "111222m33s45678p", "3334666m77899p7z"),
        *("777888999p2345s", "2223456m222p444s", "1112223334447z", "666m678m333p4488s"),
    )
    hand = rng.choice(hands)
    tiles = parse_tiles(hand)
    fourth = [kind for kind in set(tiles) - set(FIVE_KINDS) if tiles.count(kind) == 3]
    rng.shuffle(fourth)
    win = rng.choice((0.0, 1.0))
    texts = [hand, "", "", ""]
    script = _rotated(rng, texts, win=win, riichi=1.0, kan=1.0, call=0.0, greed=1.0)
    useless = [tile for tile in FULL_SET if tile not in tiles]
    rng.shuffle(useless)
    while fourth:
        own = len(script.draws) % 4 == script.hands.index(tiles) and rng.random() < 0.7
        script.draws.append((fourth if own else useless).pop())
    return script


Writer = Callable[[Random], Script]

WRITERS: Final[tuple[Writer, ...]] = (
    *(quads, four_winds, many_rons, dragons, winds),
    *(orphans, nagashi, all_tenpai, kan_in_riichi),
    *(robbed_kans, robbed_second_kans),
)


def random_position(rng: Random) -> Position:
    """Draw where a game may stand, often near its end; 100,000 points with the sticks."""
    round_ = rng.choice((0, 3, 4, 7, 7, 8, 9, 10, 11, 11))
    sticks = rng.choice((0, 0, 1, 3))
    near = rng.choice((0, 900, 1000, 3000, 10000))
    scores = [near, 25000, 100 * rng.randint(150, 299)]
    scores.append(100000 - 1000 * sticks - sum(scores))
    rng.shuffle(scores)
    a, b, c, d = scores
    return Position(round_, rng.choice((0, 0, 1, 5)), sticks, (a, b, c, d))
