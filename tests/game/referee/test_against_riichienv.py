"""Our referee beside the simulator RiichiEnv: same walls, same decisions (proof/peer)."""

from functools import cache

import pytest

from mjbot.protocol.rules import RANKED, Rules
from proof.answers import Report
from proof.peer.differences import ASKED_BEFORE_ABORT, ROBBED_SECOND_KAN, ROBBED_SECOND_KAN_VALUE
from proof.peer.lockstep import Lockstep
from proof.peer.plots import WRITERS, Writer

GAMES_A_CASE = 20
HANCHAN = "hanchan to the end, final points"


def play(seeds: range, writer: Writer | None = None, rules: Rules = RANKED) -> Report:
    report = Report()
    for seed in seeds:
        Lockstep(seed, report, writer, rules).play()
    assert report.differences == []
    assert report.agreed[HANCHAN] >= len(seeds) - report.explained[ROBBED_SECOND_KAN_VALUE]
    assert report.agreed["decisions"] > 50 * len(seeds)
    assert report.agreed["lists of offers as they are written"] > 50 * len(seeds)
    return report


@pytest.mark.parametrize("first", range(0, 40, GAMES_A_CASE))
def test_whole_games_agree(first):
    """On legal actions, events, payments, yaku, fu and han, final points."""
    report = play(range(first, first + GAMES_A_CASE))
    assert report.agreed["event hora"] > GAMES_A_CASE
    assert report.agreed["event reach_accepted"] > GAMES_A_CASE


def test_whole_games_of_three_players_agree():
    """The same, and on what three players alone have."""
    report = play(range(GAMES_A_CASE), rules=Rules(players=3))
    for name in ("event kita", "event hora", "event pon", "yaku dora", "yaku rinshankaiho"):
        assert report.agreed[name], name


STACKED = {
    "quads": ("event ryukyoku sukaikan", "event ankan", "event kakan", "event daiminkan"),
    "four_winds": ("event ryukyoku sufonrenta",),
    "many_rons": ("event ryukyoku sanchaho", "double ron"),
    "dragons": ("yaku daisangen",),
    "winds": ("yaku daisushi", "win with pao"),
    "orphans": ("yaku kokushimuso",),
    "nagashi": ("event ryukyoku nagashimangan",),
    "all_tenpai": ("event ryukyoku suchareach", "yaku double_reach"),
    "robbed_kans": ("yaku chankan",),
    "robbed_second_kans": ("yaku chankan",),
    "kan_in_riichi": ("event ankan", "yaku rinshankaiho"),
}


@cache
def stacked(writer: Writer) -> Report:
    return play(range(GAMES_A_CASE), writer)


@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.__name__)
def test_stacked_kyoku_agree(writer):
    """The same where something rare happens, which indeed it does."""
    report = stacked(writer)
    for name in STACKED[writer.__name__]:
        assert report.agreed[name], name


def test_each_known_difference_shows_up_where_it_is_expected():
    """One that no longer does is fixed there: take it off the list."""
    by_name = {writer.__name__: writer for writer in WRITERS}
    kans = stacked(by_name["quads"])
    assert set(kans.explained) == {ASKED_BEFORE_ABORT}
    robbed = stacked(by_name["robbed_second_kans"])
    assert {ROBBED_SECOND_KAN, ROBBED_SECOND_KAN_VALUE} <= set(robbed.explained)


@pytest.mark.parametrize("name", [None, "orphans", "dragons", "winds", "many_rons"])
def test_games_under_mahjong_souls_rules_agree(name: str | None) -> None:
    """Double yakuman, thirteen orphans on a concealed kan, three rons paid, pao in part."""
    writers = {writer.__name__: writer for writer in WRITERS}
    games = range(5 if name is None else GAMES_A_CASE)
    report = play(games, writers.get(name or ""), Rules().under("mahjong-soul"))
    assert not report.agreed["event ryukyoku sanchaho"]
    assert report.agreed[OF_MAHJONG_SOUL.get(name, HANCHAN)]


OF_MAHJONG_SOUL = {
    "orphans": "yaku kokushimuso",
    "dragons": "yaku daisangen",
    "winds": "win with pao",
    "many_rons": "double ron",
}
