"""Shanten, acceptance and scoring against ``riichienv``, ``xiangting`` and ``cmajiang``.

Each contender gets the hands in the form it likes best, made beforehand, and before any timing
its answers are compared with ours.
"""

import random
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import riichienv
import xiangting
from numpy.typing import NDArray
from riichienv._riichienv import HandEvaluator

from bench.measure import Contest
from mjbot.game.rules import wins
from mjbot.game.rules.acceptance import acceptance_many
from mjbot.game.rules.kinds import count_kinds
from mjbot.game.rules.scoring import score_many, score_win
from mjbot.game.rules.shanten import Counts, shanten, shanten_many
from mjbot.game.rules.shapes import CHI, PON
from mjbot.game.rules.wins import WIN
from proof.made_hands import MadeHand
from proof.made_wins import MadeWin, meld_kinds
from proof.oracles import as_riichienv, riichienv_arguments, riichienv_score

Arguments = tuple[list[int], list[Any], tuple[Any, ...]]

N_HANDS = 2000
FOUR = xiangting.PlayerCount.FOUR


def contests() -> list[Contest]:
    """Return the contests with the ratios that they must reach."""
    source = random.Random(2026)
    ids = [sorted(source.sample(range(136), 14)) for _ in range(N_HANDS)]
    counts = [count_kinds(tile // 4 for tile in hand) for hand in ids]
    lists = [hand.tolist() for hand in counts]
    hands, n_melds = np.array(counts), np.zeros(N_HANDS, np.int8)
    made = [made_win(source) for _ in range(N_HANDS)]
    records = np.array([each.record() for each in made], WIN)
    arguments = [riichienv_arguments(each) for each in made]
    _compare(ids, counts, made)
    unseen = 4 - hands
    return [
        Contest(
            "shanten, one hand per call",
            "hands",
            partial(_each_shanten, counts),
            "riichienv",
            partial(_riichienv_shanten, ids),
            0.5,
        ),
        Contest(
            "shanten, many hands",
            "hands",
            lambda: len(shanten_many(hands, n_melds)),
            "riichienv",
            partial(_riichienv_shanten, ids),
            2.5,
        ),
        Contest(
            "acceptance of every discard",
            "hands",
            lambda: len(acceptance_many(hands, n_melds, unseen)[0]),
            "xiangting",
            partial(_xiangting_acceptance, lists),
            2,
        ),
        Contest(
            "scoring, many wins",
            "wins",
            lambda: len(score_many(records)[0]),
            "riichienv",
            partial(_riichienv_scores, arguments),
            3,
        ),
        *(_against_cmajiang(ids, hands, made, records) if find_spec("cmajiang") else ()),
    ]


def _against_cmajiang(
    ids: list[list[int]], hands: NDArray[np.int8], made: list[MadeWin], records: NDArray[np.void]
) -> list[Contest]:
    """Return the contests with a package that has no wheels for some systems."""
    import cmajiang

    from proof.cmajiang_answers import (
        cmajiang_hand,
        cmajiang_shanten,
        cmajiang_value,
        hule_arguments,
    )

    drawn = [MadeHand(tuple(hand), 0) for hand in ids]
    for hand, count in zip(drawn, hands, strict=True):
        theirs = cmajiang_shanten(hand)
        assert shanten(count, 0) == theirs or (count.max() == 4 and shanten(count, 0) == theirs + 1)
    for each in made:
        han, fu, _, yakuman = score_win(each.record())
        assert cmajiang_value(each) == ((0, 0, yakuman) if yakuman else (han, fu, 0))
    theirs_of_hands = [cmajiang_hand(hand) for hand in drawn]
    arguments = [hule_arguments(each) for each in made]

    def each_shanten() -> int:
        for hand in theirs_of_hands:
            cmajiang.xiangting(hand)
        return len(theirs_of_hands)

    def each_score() -> int:
        for positional, named in arguments:
            cmajiang.hule(*positional, **named)
        return len(arguments)

    one_by_one = partial(_each_shanten, [*hands])
    many_wins = lambda: len(score_many(records)[0])  # noqa: E731
    return [
        Contest("shanten, one hand per call", "hands", one_by_one, "cmajiang", each_shanten, 5),
        Contest("scoring, many wins", "wins", many_wins, "cmajiang", each_score, 20),
    ]


def _each_shanten(hands: list[Counts]) -> int:
    for hand in hands:
        shanten(hand, 0)
    return len(hands)


def _riichienv_shanten(hands: list[list[int]]) -> int:
    for hand in hands:
        riichienv.calculate_shanten(hand)
    return len(hands)


def _xiangting_acceptance(hands: list[list[int]]) -> int:
    for hand in hands:
        for kind in range(34):
            if hand[kind]:
                hand[kind] -= 1
                xiangting.calculate_necessary_tiles(hand, FOUR)
                hand[kind] += 1
    return len(hands)


def _riichienv_scores(arguments: list[Arguments]) -> int:
    for tiles, melds, win in arguments:
        HandEvaluator(tiles, melds).calc(*win)
    return len(arguments)


def made_win(source: random.Random) -> MadeWin:
    """Return a random win of four blocks and a pair, about half of them closed."""
    while True:
        pair = source.randrange(34)
        concealed, melds = [pair, pair], []
        is_open = source.random() < 0.5
        for _ in range(4):
            meld_type, kind = CHI, source.choice([k for k in range(25) if k % 9 < 7])
            if source.random() < 0.25:
                meld_type, kind = PON, source.randrange(34)
            if is_open and source.random() < 0.5:
                melds.append((meld_type, kind))
            else:
                concealed += meld_kinds(meld_type, kind)
        held = count_kinds(concealed)
        for meld in melds:
            held += count_kinds(meld_kinds(*meld))
        if held.max() <= 4:
            break
    closed = not melds
    flags = source.choice([0, wins.TSUMO]) | (source.choice([0, wins.RIICHI]) if closed else 0)
    return MadeWin(
        tuple(concealed),
        tuple(melds),
        source.choice(concealed),
        flags,
        source.randrange(4),
        source.randrange(2),
        (source.randrange(34),),
        (source.randrange(34),) if flags & wins.RIICHI else (),
        frozenset({source.randrange(3)}),
    )


def _compare(ids: list[list[int]], counts: list[Counts], made: list[MadeWin]) -> None:
    """Raise if a peer answers otherwise than we do: then the contest would mean nothing."""
    many = np.array(counts)
    shantens, masks, _ = acceptance_many(many, np.zeros(len(many), np.int8), 4 - many)
    for index, (hand, count) in enumerate(zip(ids, counts, strict=True)):
        assert shanten(count, 0) == riichienv.calculate_shanten(hand)
        kind = hand[0] // 4
        count[kind] -= 1
        assert xiangting.calculate_necessary_tiles(count.tolist(), FOUR) == (
            shantens[index, kind] + 1,
            masks[index, kind],
        )
        count[kind] += 1
    for each in made:
        assert as_riichienv(score_win(each.record())) == riichienv_score(each)
