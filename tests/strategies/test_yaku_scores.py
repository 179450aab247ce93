"""The eight scores of yaku-evaluation: by hand, and against plain enumeration."""

import argparse

import numpy as np
import pytest

from mjbot.game.rules.kinds import hand_counts
from mjbot.strategies.evaluation.yaku.choices import call_scores, discard_scores, hand_scores
from mjbot.strategies.evaluation.yaku.scores import YAKU_NAMES
from proof import yaku_evaluation as proof

EAST_DEALER = 1 << 27 | 7 << 31
NO_MELDS = np.zeros((2, 34), np.int8)


def melds_of(text: str) -> np.ndarray:
    melds = np.zeros((2, 34), np.int8)
    for meld in text.split():
        counts = hand_counts(meld)
        melds[int(counts.max() >= 3), int(counts.argmax())] += 1
    return melds


def scores_of(hand: str, melds: str = "", seen: str = "") -> dict[str, int]:
    """With nothing in sight but the own hand, the melds and ``seen``."""
    counts = hand_counts(hand)
    unseen = 4 - counts - hand_counts(melds.replace(" ", "")) - hand_counts(seen)
    scores = hand_scores(counts, unseen.astype(np.int8), melds_of(melds), EAST_DEALER)
    return dict(zip(YAKU_NAMES, scores.tolist(), strict=True))


@pytest.mark.parametrize(
    ("yaku", "hand", "melds", "score"),
    [
        # 234m 55p heads and runs: 3 x 20; taatsu 67s waits on 4 + 4 tiles, pair 88s on 2.
        ("tanyao", "234m55p678p67s88s9s", "", 20 + 2 * 20 + 2 * 8 + 2 * 2),
        ("tanyao", "1m9p1s9s1234567z12s", "", 0),  # one tile of 2..8 is not enough
        ("tanyao", "23m1m9p1s9s1234567z", "", 2 * 7),  # 1m is held once: 3 + 4 tiles
        ("tanyao", "1m", "222m 333p 444s 678s", 80),
        ("tanyao", "2m", "222p 333p 444s 789s", 0),
        # 55z is worth 5 x 2, dearer than 2 x 2 for a pair; 66z then is the head.
        ("yakuhai", "5566z1m4m7m1p4p7p1s4s7s", "", 20 + 5 * 2),
        ("yakuhai", "777z1m4m7m1p4p7p1s4s7s2z", "", 80),
        ("yakuhai", "222z1m4m7m1p4p7p1s4s7s3z", "", 20),
        ("yakuhai", "1m4m7m1p4p7p1s", "555z 333s", 80 + 20),
        # 123m 789s 11z head; 46p are dropped, 79p waits on 8p.
        ("chanta", "123m789s11z4679p5s2z", "", 3 * 20 + 2 * 4),
        ("chanta", "45m456p456s55566m6p", "", 0),
        ("chanta", "123m11z79p5s2z3z", "789s", 3 * 20 + 2 * 4),
        ("chanta", "123m11z79p5s2z3z", "345s", 0),
        # 456m 20, 46p lacks 5p (4 unseen) 8, 4s 2; beside them 99m head 10 and 123s 10.
        ("sanshoku doujun", "456m99m46p4s123s1z2z", "", 20 + 8 + 2 + 10 + 10),
        ("sanshoku doujun", "99m46p4s123s1z2z", "456m", 20 + 8 + 2 + 10 + 10),
        # A foreign meld is the one block beside: 123s no longer counts.
        ("sanshoku doujun", "99m46p4s123s3z", "456m 777p", 20 + 8 + 2 + 10 + 10),
        ("sanshoku doujun", "99m46p4s", "456m 777p 111z", 0),
        # 123m 20, 46m lacks 5m 8, 9m 2; beside them the head 44p 10, the taatsu 67s 1 x 8.
        ("ittsuu", "123469m44p67s1z2z3z", "", 20 + 8 + 2 + 10 + 8),
        ("ittsuu", "469m44p67s1z2z3z", "123m", 20 + 8 + 2 + 10 + 8),
        # Triplets 111m 333p, head and two pairs with 2 unseen each; no taatsu, no runs.
        ("toitoi", "111m333p55s99s22z4s", "", 2 * 20 + 20 + 2 * 2 * 2),
        ("toitoi", "333p55s99s22z4s", "111m", 2 * 20 + 20 + 2 * 2 * 2),
        ("toitoi", "333p55s99s22z4s", "123m", 0),
        # 222m 20, 22p 2 x 2, 2s 2; beside them 99s head 10 and 456m 10.
        ("sanshoku doukou", "222m22p2s456m99s1z2z", "", 20 + 4 + 2 + 10 + 10),
        ("sanshoku doukou", "22p2s456m99s1z2z", "222m", 20 + 4 + 2 + 10 + 10),
        # Of sou and honours: 123s 20, 11z 20, 99s 2 x 2, 5s and 8s nothing.
        ("honitsu", "123s99s5s11z5m6m2p9p1p", "", 20 + 20 + 2 * 2),
        ("honitsu", "123s99s5s11z5m6p", "555z", 20 + 20 + 20 + 2 * 2),
        ("honitsu", "123s99s11z", "555m 777p", 0),
    ],
)
def test_scores_worked_out_by_hand(yaku, hand, melds, score):
    assert scores_of(hand, melds)[yaku] == score


def test_only_unseen_tiles_complete_a_block():
    hand = "67s1m4m1p4p9p1z2z3z4z5z6z"
    assert scores_of(hand)["honitsu"] == 2 * 8
    assert scores_of(hand, seen="5558s")["honitsu"] == 2 * 4


def test_no_more_than_four_blocks_and_a_head_count():
    assert scores_of("1122334455667z")["toitoi"] == 20 + 4 * 2 * 2  # of six pairs
    assert scores_of("111222333444z1m")["toitoi"] == 80


def test_random_hands_score_as_enumerated(capsys):
    # python -m proof yaku-evaluation takes 10,000
    assert proof.run(argparse.Namespace(hands=1000, seed=5)) == 0
    assert "all equal" in capsys.readouterr().out


def test_the_proof_notices_a_wrong_score(monkeypatch, capsys):
    monkeypatch.setattr(proof, "compiled_scores", lambda case: [1] * len(YAKU_NAMES))
    assert proof.run(argparse.Namespace(hands=3, seed=5)) == 1
    assert "scores differ" in capsys.readouterr().out


@pytest.mark.parametrize("seed", range(3))
def test_scores_by_discard_are_those_of_what_is_left(seed):
    random = np.random.default_rng(seed)
    pool = np.repeat(np.arange(34 if seed else 9), 4)
    hand = np.bincount(random.permutation(pool)[:14], minlength=34).astype(np.int8)
    unseen = (4 - hand).astype(np.int8)
    scores = discard_scores(hand, unseen, NO_MELDS, EAST_DEALER)
    for kind in range(34):
        rest = hand.copy()
        rest[kind] -= 1
        expected = (
            hand_scores(rest, unseen, NO_MELDS, EAST_DEALER) if hand[kind] else np.full(8, -1)
        )
        assert scores[kind].tolist() == expected.tolist()


def test_a_call_scores_as_the_best_hand_after_it_that_kuikae_allows():
    hand = hand_counts("3456m55p678s1z")
    unseen = (4 - hand).astype(np.int8)
    melds = melds_of("222p")
    scores = call_scores(hand, unseen, melds, EAST_DEALER, 5)  # 6m
    assert scores.tolist()[:2] == [-1, -1]  # no 7m
    after = melds_of("222p 456m")
    rest = hand_counts("36m55p678s1z")
    allowed = discard_scores(rest, unseen, after, EAST_DEALER)
    allowed[[2, 5]] = -1  # 3m and 6m: the other end of the run and the same tile
    assert scores[2] == allowed.max()
    assert scores[3] == -1
