"""Three players: kita, and what else differs from four (docs/rules.md, section 8)."""

from collections import Counter

import numpy as np
import pytest
from msgspec.structs import replace

from mjbot.game.referee import Position, Referee
from mjbot.game.referee.bulk import RANDOM, TSUMOGIRI, play_games, playouts
from mjbot.game.rules.ruleset import rule_set
from mjbot.game.table.assume import deal_in_wall
from mjbot.game.table.mirror.mirror import Mirror, TableError
from mjbot.game.table.observe import dora_kind
from mjbot.game.table.state import copy_state
from mjbot.protocol import messages as m
from mjbot.protocol.rules import Rules
from mjbot.protocol.tiles import tile_names
from tests.game.referee.scripted import Game, random_game

THREE = Rules(players=3)
FAR = "147p147s123567z"
"""Twelve tiles far from tenpai."""
STRAIGHT = "123456789p235s"
"""A discard of the 5s, or another 5s, leaves it tenpai."""
NORTH_PAIRS = "1133557799p11s4z"
"""Waits on the north with seven pairs."""
NORTH_SINGLE = "123567p345789s4z"
"""Waits on the north without a yaku."""


def game(hands: list[str], draws: str = "", rules: Rules = THREE, **parts: object) -> Game:
    parts.setdefault("dora", "6z")
    return Game(hands, draws, rules=rules, **parts)  # type: ignore[arg-type]


def yakus(played: Game) -> dict[str, int]:
    return dict(played.last(m.Hora).yakus or ())


def since_kita(played: Game) -> list[str]:
    names = played.names()
    return names[names.index("Kita") :]


def until(played: Game, wall_left: int) -> Game:
    while played.referee.state["wall_left"] > wall_left:
        played.tsumogiri()
    return played


# --- kita ----------------------------------------------------------------------------------------


def test_a_north_is_set_aside_for_a_tile_of_the_dead_wall() -> None:
    played = game(["4z" + FAR], "1p", rinshan="2s").do(0, "kita")
    assert since_kita(played) == ["Kita", "Tsumo"]
    assert played.last(m.Tsumo) == m.Tsumo(actor=0, pai="2s")
    state, view = played.referee.state, played.referee.view(1)
    assert state["kita"].tolist() == [1, 0, 0, 0]
    assert state["wall_left"] == 53
    assert view.kita(0) == 1
    assert view.unseen[30] + view.hand[30] == 3
    assert not view.unseen[1:8].any()


def test_it_is_a_dora_and_a_win_on_its_tile_is_after_a_kan_with_a_closed_hand() -> None:
    played = game(["4z" + STRAIGHT], "5s", rinshan="1s", dora="9s").do(0, "kita").do(0, "tsumo")
    assert yakus(played) == {
        "rinshankaiho": 1, "menzenchin_tsumoho": 1, "pinfu": 1, "ikkitsukan": 2, "dora": 2,
    }  # fmt: skip
    assert played.last(m.Hora).fu == 20
    assert played.last(m.Hora).deltas == (12000, -6000, -6000, 0)


@pytest.mark.parametrize(("marker", "dora"), [("2z", 1), ("3z", 2)])
def test_a_west_indicator_counts_each_kita_once_more(marker: str, dora: int) -> None:
    played = game(["4z" + STRAIGHT], "5s", rinshan="1s", dora=marker).do(0, "kita")
    assert yakus(played.do(0, "tsumo"))["dora"] == dora


def test_so_does_one_among_the_ura_markers() -> None:
    played = game(["4z" + STRAIGHT], "5s6z6z1s", rinshan="7z", ura="3z").do(0, "kita")
    played.riichi(0, "C").do(0, "tsumo")
    assert (yakus(played)["dora"], yakus(played)["uradora"]) == (1, 1)


def test_it_is_robbed_with_another_yaku_and_without_that_of_a_robbed_kan() -> None:
    played = game(["4z" + FAR, NORTH_PAIRS]).do(0, "kita").do(1, "ron")
    won = played.last(m.Hora)
    assert (won.actor, won.target, won.pai) == (1, 0, "N")
    assert yakus(played) == {"chitoitsu": 2}
    assert won.deltas == (-1600, 1600, 0, 0)
    assert since_kita(played)[:2] == ["Kita", "Hora"]


@pytest.mark.parametrize("waiting", [NORTH_PAIRS, NORTH_SINGLE])
def test_a_passed_kita_is_furiten_also_without_a_yaku(waiting: str) -> None:
    played = game(["4z" + FAR, waiting]).do(0, "kita")
    assert ("ron" in played.legal(1)) == (waiting == NORTH_PAIRS)
    if waiting == NORTH_PAIRS:
        played.do(1, "pass")
    assert since_kita(played) == ["Kita", "Tsumo"]
    assert played.referee.view(1).furiten


def test_ippatsu_lasts_until_a_kita_is_not_robbed() -> None:
    yaku = {"double_reach": 2, "ippatsu": 1, "chitoitsu": 2}
    played = game(["9s" + FAR, NORTH_PAIRS], "1z6z5z4z").riichi(1, "F")
    assert yakus(played.do(0, "kita").do(1, "ron")) == yaku
    played = game(["", "123456789p2355s"], "1z6z4z5z1s", rinshan="5z").riichi(1, "F")
    played.do(2, "kita").do(1, "tsumo")
    assert "double_reach" in yakus(played)
    assert "ippatsu" not in yakus(played)


def test_in_riichi_only_the_north_that_was_drawn() -> None:
    played = game(["44z123456789p23s"], "2s1z1z1p2z2z4z").do(0, "riichi")
    assert "kita" not in played.legal(0)
    played.discard(0, "2s").to_turn(0)
    assert played.legal(0) == {"discard 1p (drawn)"}
    played.tsumogiri().to_turn(0)
    assert played.legal(0) == {"discard N (drawn)", "kita"}


def test_not_after_a_call_and_not_with_an_empty_wall() -> None:
    played = game(["1p", "11p4z"]).discard(0, "1p").do(1, "pon")
    assert "kita" not in played.legal(1)
    played = until(game([FAR, FAR, FAR], last="4z4z"), 1)
    assert {"kita", "discard N (drawn)"} <= played.legal(2)
    played = until(game([FAR, FAR, FAR], last="4z4z"), 0)
    assert "kita" not in played.legal(0)


@pytest.mark.parametrize("kita", [False, True])
def test_any_kita_ends_the_first_go_around(kita: bool) -> None:
    played = game(["4z" + FAR, "123456789p2355s", "19p19s19m123567z2p"], "1z6z4z")
    played = played.do(0, "kita") if kita else played
    played.riichi(1, "F").to_turn(2)
    assert played.referee.state["double_riichi"][1] == (not kita)
    assert ("nine terminals" in played.legal(2)) == (not kita)


def test_the_marker_of_an_open_kan_turns_between_a_kita_and_its_draw() -> None:
    played = game(["1p", "111p4z"]).discard(0, "1p").do(1, "daiminkan").do(1, "kita")
    assert since_kita(played) == ["Kita", "Dora", "Tsumo"]


# --- what else differs from four players ---------------------------------------------------------


def test_the_indicators_of_man() -> None:
    assert [dora_kind(marker, 3) for marker in (0, 8)] == [8, 0]
    assert [dora_kind(marker, 4) for marker in (0, 8)] == [1, 0]


def test_no_chi_but_pon_from_both_others() -> None:
    played = game(["1p", "11p23p", ""]).discard(0, "1p")
    assert played.legal(1) == {"pass", "pon"}
    played = game(["1p", "", "11p23p"]).discard(0, "1p")
    assert played.legal(2) == {"pass", "pon"}


@pytest.mark.parametrize("north_calls", [True, False])
def test_whether_norths_are_called_is_a_rule(north_calls: bool) -> None:
    rules = Rules(players=3, north_calls=north_calls)
    played = game(["4z" + FAR, "444z"], rules=rules).discard(0, "N")
    assert ({"pon", "daiminkan"} <= played.legal(1)) is north_calls


def test_riichi_needs_three_tiles_in_the_wall() -> None:
    hands = ["123456789p2355s", "123456789s2355p", FAR]
    assert "riichi" in until(game(hands), 3).legal(0)
    assert "riichi" not in until(game(hands), 2).legal(1)


def test_three_riichi_are_no_draw() -> None:
    hands = ["123456789p22s77z", "123456789s33p66z", "111999m444p88p55z"]
    played = game(hands, "1z1z1z", dora="2z").riichi(0, "E").riichi(1, "E").riichi(2, "E")
    assert played.names()[-2:] == ["ReachAccepted", "Tsumo"]


def test_a_draw_moves_two_thousand_points() -> None:
    played = game([FAR, "123456789p2255s", FAR]).finish_kyoku()
    assert played.last(m.Ryukyoku).deltas == (-1000, 2000, -1000, 0)
    assert played.last(m.Ryukyoku).tenpais == (False, True, False, False)


def test_nagashi_mangan_in_spite_of_a_kita() -> None:
    edges = "1m1m1m1m9m9m9m9m1p1p1p1p9p9p9p9p1s1s1s"
    others = "".join(f"{rank}{suit}" * 4 for rank in (2, 3, 4, 6, 7) for suit in "ps")[:72]
    draws = "".join(edges[2 * at : 2 * at + 2] + others[4 * at : 4 * at + 4] for at in range(18))
    played = game(["4z"], draws, rinshan="9s").do(0, "kita").finish_kyoku()
    drawn = played.last(m.Ryukyoku)
    assert (drawn.reason, drawn.deltas) == ("nagashimangan", (8000, -4000, -4000, 0))


@pytest.mark.parametrize(
    ("round_", "top", "following"),
    [(2, 60_000, ("S", 1)), (6, 38_000, ("W", 1)), (6, 40_000, None), (10, 35_000, None)],
)
def test_each_wind_has_three_hands(round_: int, top: int, following: tuple[str, int]) -> None:
    scores = (top, (105_000 - top) // 2, (105_000 - top) // 2, 0)
    played = game([FAR, FAR, FAR], position=Position(round_, scores=scores)).finish_kyoku()
    assert played.referee.over is (following is None)
    if following:
        deal = played.last(m.StartKyoku)
        assert ((deal.bakaze, deal.kyoku), deal.oya, deal.honba) == (following, 0, 1)


def test_a_round_that_no_player_deals_is_refused() -> None:
    with pytest.raises(ValueError, match="round 7: no player deals it"):
        Referee(0, Rules(players=3)).start(Position(round=7))


def test_a_score_below_zero_ends_the_game() -> None:
    hands = [FAR, "123456789p2255s", FAR]
    for points, over in ((900, True), (1000, False)):
        position = Position(0, scores=(points, 104_000 - points, 1000, 0))
        assert game(hands, position=position).finish_kyoku().referee.over is over


# --- whole games ---------------------------------------------------------------------------------


def test_the_strict_table_agrees_with_whole_games() -> None:
    seen: Counter[str] = Counter()
    for seed in range(8):
        mirror = Mirror()
        for event in random_game(seed, THREE):
            mirror.apply(event)
            seen[m.wire_name(event)] += 1
        assert mirror.state["scores"].sum() == 105_000
    assert min(seen[name] for name in ("kita", "pon", "dora", "reach", "end_game")) > 0
    assert not seen["chi"]


def test_the_first_deal_may_state_how_many_play() -> None:
    _, deal, *events = random_game(0, THREE)
    mirror = Mirror()
    for event in (m.StartGame(), replace(deal, num_players=3), *events):
        mirror.apply(event)
    assert mirror.state["scores"].sum() == 105_000
    four = Referee(0).start()
    mirror = Mirror()
    for event in (four[0], four[1], m.Ryukyoku(reason="error"), m.EndKyoku()):
        mirror.apply(event)
    with pytest.raises(TableError, match="num_players is 3, expected 4"):
        mirror.apply(replace(four[1], num_players=3))


def test_games_in_bulk_are_those_of_the_referee() -> None:
    seeds = np.arange(4)
    scores = play_games(np.full(4, TSUMOGIRI, np.int8), seeds, rule_set(THREE))
    for seed, ours in zip(seeds.tolist(), scores.tolist(), strict=True):
        referee = Referee(seed, THREE)
        referee.start()
        while not referee.over:
            defaults = {seat: referee.view(seat).default_action for seat in referee.asked}
            referee.step(defaults)
        assert referee.state["scores"].tolist() == ours
    scores = play_games(np.full(4, RANDOM, np.int8), np.arange(40), rule_set(THREE))
    assert (scores.sum(axis=1) == 105_000).all()
    assert not scores[:, 3].any()


def test_unseen_tiles_are_laid_into_the_places_that_are_left() -> None:
    played = game(["1111p4z"], rinshan="2p").do(0, "ankan 1p").do(0, "kita")
    state = copy_state(played.referee.state)
    before = state["wall"].copy()
    taken = {98, 96, 100, 101}  # two markers, two replacements
    places = [place for place in range(39 + 1, 108) if place not in taken]
    tiles = before[places][::-1].copy()
    deal_in_wall(state, tiles)
    assert state["wall"][places].tolist() == tiles.tolist()
    assert tile_names(state["wall"][[98, 96]].tolist()) == tile_names(before[[98, 96]].tolist())
    scores = playouts(state, np.full(4, RANDOM, np.int8), 20, 1)
    assert (scores.sum(axis=1) % 1000 == 0).all()
    assert scores.shape == (20, 4)
