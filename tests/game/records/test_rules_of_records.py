"""Records under rules by name: made hands, each replayed under its rules and refused under others.

What a hand moves is not computed by mjbot: it is what PyPI ``mahjong`` answers for the same hand
with the rule as an option, or a number of published rules (sources: docs/rules.md).  The record
is of Mahjong Soul, and its room names the rules.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mjbot.cli.main import main
from mjbot.game.records.complete import CompleteGame, complete
from mjbot.game.records.sources import open_games
from mjbot.game.records.tenhou6.writer import write_tenhou6
from mjbot.game.table.hand_score import WinningHand
from mjbot.protocol import messages as m
from mjbot.protocol.rules import Rules
from mjbot.protocol.tiles import parse_tiles, tile_name
from mjbot.runtime.errors import ExitCode
from proof.oracles import mahjong_payments
from tests.game.records.formats import report
from tests.game.records.soul_form import record
from tests.game.referee.scripted import Game
from tests.game.referee.test_abortive_draws import NINE_KINDS, declare_three, four_kans_by_two
from tests.game.referee.test_end_of_game import NOTEN, after_a_draw, after_a_win
from tests.game.referee.test_exhaustive_draws import edge_draws
from tests.game.referee.test_wins import four_winds
from tests.game.table.test_hand_score import made_of

Play = Callable[[Rules], Game]
SITE = "mahjong-soul"
NAMED = {
    "double_yakuman": "double yakuman",
    "composite_yakuman": "several yakuman that add up",
    "counted_yakuman": "13 han as a yakuman",
    "kiriage": "kiriage mangan",
    "double_wind_fu": "fu for the pair of a double wind",
    "pao_part": "pao for its own yakuman only",
    "tsumo_loss": "tsumo loss",
    "open_tanyao": "open tanyao",
    "kokushi_ankan": "a concealed kan may not be robbed",
    "triple_ron_paid": "three rons",
    "head_bump": "one ron is paid",
    "nine_terminals_draw": "nine terminals",
    "four_winds_draw": "four equal winds",
    "four_riichi_draw": "four riichi",
    "four_kans_draw": "four kans",
    "agari_yame": "end by the dealer's win",
    "tenpai_yame": "end by the dealer's tenpai",
    "extension": "extension by a wind",
    "bust": "end below 0",
    "last_discard_calls": "last_discard_calls",
}
"""What a refusal calls a rule."""


@dataclass(frozen=True)
class Made:
    """A hand: the rule under which it is right, and what it moves.

    With the other value of the rule it is wrong.  All other rules are the site's.
    """

    rule: str
    value: Any
    play: Play
    moved: Sequence[int]
    goes_on: bool = False
    """Whether the record continues to the end of the next hand."""
    refused: bool = True
    """Whether the other value contradicts the record; a game may end before it has to."""

    def __str__(self) -> str:
        return f"{self.rule}={self.value}"

    def rules(self, value: Any) -> Rules:
        """Return the rules with a value of the rule."""
        players = len(self.moved)
        fields = {"rule_set": SITE, "players": players, self.rule: value}
        return Rules.read(fields, players=(players,))


# --- wins that the package scores ----------------------------------------------------------------


def won(hand: str, tile: str, dora: str = "9p", by: int = 1) -> Play:
    """Return the play of a ron on the first discard of the seat before."""

    def play(rules: Rules) -> Game:
        hands = ["", "", "", ""]
        hands[by - 1], hands[by] = tile, hand
        (thrown,) = parse_tiles(tile)
        game = Game(hands, dora=dora, rules=rules)
        return game.discard((by - 1) % 4, tile_name(thrown)).do(by, "ron")

    return play


def scored(rule: str, value: Any, hand: str, tile: str, dora: str = "9p") -> Made:
    """Return a row whose points are those of ``mahjong`` under the same rules."""
    win = WinningHand(hand=hand, ron=tile, seat="S", dora=dora)
    made = Made(rule, value, won(hand, tile, dora), (0, 0, 0, 0))
    points, _, _ = mahjong_payments(made_of(win), 0, 0, made.rules(value))
    return replace(made, moved=(-points, points, 0, 0))


TANKI = ("111m222p333s444p9s", "9s")
FOUR_HAN = ("234567m34p678s88p", "5p", "7p")
MANY_HAN = ("2233445566778m", "8m", "1m")
SCORED = (
    scored("double_yakuman", True, *TANKI),
    scored("double_yakuman", True, "19m19p19s1234567z", "1m", "5p"),
    scored("double_yakuman", True, "1112345678999m", "5m"),
    scored("double_yakuman", True, "111222333z44z55m", "4z"),
    scored("double_yakuman", False, *TANKI),
    scored("kiriage", True, *FOUR_HAN),
    scored("kiriage", True, "111m999s555z234p8p", "8p"),
    scored("kiriage", False, *FOUR_HAN),
    scored("counted_yakuman", False, *MANY_HAN),
    scored("counted_yakuman", True, *MANY_HAN),
)


# --- wins of published numbers -------------------------------------------------------------------


def open_tanyao(rules: Rules) -> Game:
    game = Game(["2m5p", "22m345678s34p88p9p", "", ""], "1z", dora="7z", rules=rules)
    return game.discard(0, "2m").do(1, "pon").discard(1, "9p").discard(0, "5p").do(1, "ron")


def robbed_ankan(rules: Rules) -> Game:
    game = Game(["1111m", "99m19p19s1234567z", "", ""], "2m", dora="5p", rules=rules)
    return game.to_turn(0).do(0, "ankan").do(1, "ron")


ON_FIVE_PIN = ["5p", "234m678m345s46p22s", "234m567m234s46p88s", "345m678s567s46p88m"]


def rons(*seats: int) -> Play:
    def play(rules: Rules) -> Game:
        game = Game(ON_FIVE_PIN, "7z", dora="1z", rules=rules)
        return game.discard(0, "5p").together(dict.fromkeys(seats, "ron"))

    return play


def liable(after: str, thrown: str = "") -> Play:
    """Seat 1 has four winds, of which the last was called from seat 3, and nothing but honours."""

    def play(rules: Rules) -> Game:
        game = four_winds(partial(Game, rules=rules), after)
        return game.discard(2, thrown).do(1, "ron") if thrown else game.do(1, "tsumo")

    return play


def missing_share(winner: int) -> Play:
    def play(rules: Rules) -> Game:
        hands = ["", "", ""]
        hands[winner] = "12399p456s66778s"
        game = Game(hands, "1z2z1z2z5s"[2 - 2 * winner :], dora="7z", rules=rules)
        return game.do(winner, "tsumo")

    return play


HONOURS = liable("5z", "P")
EAST_PAIR = "234m567p555z78s11z"
NUMBERS = (
    Made("open_tanyao", True, open_tanyao, (-1000, 1000, 0, 0)),
    Made("kokushi_ankan", True, robbed_ankan, (-32000, 32000, 0, 0)),
    Made("triple_ron_paid", True, rons(1, 2, 3), (-3900, 1300, 1300, 1300)),
    Made("triple_ron_paid", False, rons(1, 2, 3), (0, 0, 0, 0)),
    Made("head_bump", False, rons(1, 2), (-2600, 1300, 1300, 0)),
    Made("pao_part", True, HONOURS, (0, 96000, -64000, -32000)),
    Made("pao_part", True, liable("3p3p3p5z"), (-16000, 96000, -8000, -72000)),
    Made("composite_yakuman", False, HONOURS, (0, 64000, -32000, -32000)),
    Made("double_wind_fu", 2, won(EAST_PAIR, "9s", by=0), (2000, 0, 0, -2000)),
    Made("double_wind_fu", 4, won(EAST_PAIR, "9s", by=0), (2400, 0, 0, -2400)),
    Made("tsumo_loss", False, missing_share(1), (-900, 1500, -600)),
    Made("tsumo_loss", False, missing_share(0), (2200, -1100, -1100)),
    Made("tsumo_loss", True, missing_share(1), (-700, 1100, -400)),
)


# --- draws and ends ------------------------------------------------------------------------------

Table = Callable[..., Game]


def kept(play: Callable[[Table], Game]) -> Play:
    """Return a play of the referee's tests, with rules."""
    return lambda rules: play(partial(Game, rules=rules)).finish_kyoku()


def equal_winds(table: Table) -> Game:
    game = table([NOTEN] * 4)
    for seat in range(4):
        game.discard(seat, "S")
    return game


def last_pon(table: Table) -> Game:
    hands = [NOTEN, NOTEN, "55z147m369p369s12z", NOTEN]
    return table(hands, last="5z").do(2, "pon").discard(2, "E")


def tenpai(*seats: int) -> Play:
    hands = ["123456789m55z44z", "123456789p66z11s", "123456789s77z33m", "1122334455p66m1z"]
    placed = [hands[seat] if seat in seats else "" for seat in range(4)]
    return kept(lambda table: table([*placed]))


LEVEL = (25000,) * 4
TOP = (20000, 25000, 25000, 30000)
LOW = (25000, 25000, 49100, 900)
NOBODY, SEAT_3, SEAT_0 = (0,) * 4, (-1000, -1000, -1000, 3000), (3000, -1000, -1000, -1000)
PLAYS = {
    "nine terminals": kept(lambda table: table([NINE_KINDS, "", "", ""]).do(0, "nine terminals")),
    "four winds": kept(equal_winds),
    "four riichi": kept(lambda table: declare_three(table, "1z3z1z3z").riichi(3, "W")),
    "four kans": kept(lambda table: four_kans_by_two(table).discard(1, "9p")),
    "triple ron": rons(1, 2, 3),
    "nagashi": kept(lambda table: table([NOTEN] * 2 + ["", ""], edge_draws((1,), [NOTEN] * 2))),
    "one": kept(lambda table: after_a_draw(table, 0, LEVEL, ready=0)),
    "all": tenpai(0, 1, 2, 3),
    "none": kept(lambda table: after_a_draw(table, 0, LEVEL)),
}
LAST_WIN = kept(lambda table: after_a_win(table, TOP, 3))
LAST_TENPAI = kept(lambda table: after_a_draw(table, 7, TOP, ready=3))
NO_TARGET = kept(lambda table: after_a_draw(table, 7, LEVEL, ready=0))
BELOW_ZERO = kept(lambda table: after_a_draw(table, 4, LOW, ready=0))
ENDS = (
    Made("nine_terminals_draw", True, PLAYS["nine terminals"], NOBODY),
    Made("four_winds_draw", True, PLAYS["four winds"], NOBODY),
    Made("four_winds_draw", False, PLAYS["four winds"], NOBODY),
    Made("four_riichi_draw", True, PLAYS["four riichi"], NOBODY),
    Made("four_riichi_draw", False, PLAYS["four riichi"], NOBODY),
    Made("four_kans_draw", True, PLAYS["four kans"], NOBODY),
    Made("agari_yame", True, LAST_WIN, (0, 0, -2900, 2900), refused=False),
    Made("agari_yame", False, LAST_WIN, (0, 0, -2900, 2900), goes_on=True),
    Made("tenpai_yame", True, LAST_TENPAI, SEAT_3, refused=False),
    Made("tenpai_yame", False, LAST_TENPAI, SEAT_3, goes_on=True),
    Made("extension", True, NO_TARGET, SEAT_0, goes_on=True),
    Made("extension", False, NO_TARGET, SEAT_0, refused=False),
    Made("bust", True, BELOW_ZERO, SEAT_0, refused=False),
    Made("bust", False, BELOW_ZERO, SEAT_0, goes_on=True),
    Made("last_discard_calls", True, kept(last_pon), NOBODY),
)


# --- the records ---------------------------------------------------------------------------------


def results(events: Iterable[m.Event]) -> list[m.Hora | m.Ryukyoku]:
    return [event for event in events if isinstance(event, m.Hora | m.Ryukyoku)]


def moved(events: Iterable[m.Event]) -> tuple[int, ...]:
    deltas = [event.deltas or () for event in results(events)]
    return tuple(map(sum, zip(*deltas, strict=True)))


def played(made: Made, rules: Rules) -> tuple[CompleteGame, CompleteGame]:
    """Return the hand that was made, and the record of it: up to its end, or that of the next."""
    game = made.play(rules)
    events, referee = game.events, game.referee
    while not referee.over and names_of(events).count("EndKyoku") < 1 + made.goes_on:
        choices = {seat: referee.view(seat).default_action for seat in referee.asked}
        events = [*events, *referee.step(choices)]
    ends = [at for at, name in enumerate(names_of(events), 1) if name == "EndKyoku"]
    size = ends[made.goes_on]
    size += names_of(events)[size : size + 1] == ["EndGame"]
    return report(events[: ends[0]]), report(events[:size])


def names_of(events: Iterable[m.Event]) -> list[str]:
    return [type(event).__name__ for event in events]


def replayed(path: Path, rules: Rules | None, capsys) -> tuple[int, str]:
    status = main(["replay", str(path), *(["--rules", str(rules)] if rules else [])])
    return status, capsys.readouterr().err


MADE = (*SCORED, *NUMBERS, *ENDS)
WITHOUT_SWITCH = ("pao_part", "last_discard_calls")
"""Rules that no room of the site names."""


@pytest.mark.parametrize("made", MADE, ids=str)
def test_a_record_is_right_under_its_rules_and_names_them_under_others(
    made: Made, tmp_path: Path, capsys
) -> None:
    right = made.rules(made.value)
    hand, game = played(made, right)
    assert moved(entry.event for entry in hand.entries)[: right.players] == tuple(made.moved)
    path = tmp_path / "record.json"
    path.write_text(json.dumps(record(game)), "utf-8")
    named = right if made.rule in WITHOUT_SWITCH else None
    assert replayed(path, named, capsys)[0] == ExitCode.OK
    wrong = made.rules(not made.value if isinstance(made.value, bool) else 6 - made.value)
    status, problem = replayed(path, wrong, capsys)
    assert (status == ExitCode.FAILED) is made.refused
    assert NAMED[made.rule] in problem or not made.refused


# --- words of draws ------------------------------------------------------------------------------

WORDS = [
    (word, play)
    for play, words in {
        "one": ("流局", "荒牌平局", "Ryuukyoku", "Exhaustive Draw"),
        "all": ("流局", "全員聴牌", "ryuukyoku"),
        "none": ("流局", "全員不聴", "EXHAUSTIVE DRAW"),
        "nagashi": ("流し満貫", "Nagashi Mangan", "Mangan at Draw"),
        "nine terminals": ("九種九牌", "Kyuushu Kyuuhai", "Nine Terminal Abortion"),
        "four winds": ("四風連打", "Suufon Renda", "Four Wind Abortion"),
        "four riichi": ("四家立直", "Suucha Riichi", "Four Riichi Abortion"),
        "four kans": ("四槓散了", "四開槓", "Suukaikan", "Four Kan Abortion"),
        "triple ron": ("三家和了", "三家和", "Sanchahou", "Three Ron Abortion"),
    }.items()
    for word in words
]
PAID = {"one": SEAT_0, "nagashi": (-4000, 8000, -2000, -2000)}


@pytest.mark.parametrize(("word", "play"), WORDS)
def test_a_draw_is_read_by_every_name_that_exporters_write(
    word: str, play: str, tmp_path: Path, capsys
) -> None:
    hand, _ = played(Made("", None, PLAYS[play], NOBODY), Rules())
    value = json.loads(write_tenhou6(hand))
    result = value["log"][0][16]
    result[0] = word
    result[1:] = [list(PAID.get(play, NOBODY))] * (len(result) > 1 or play in PAID)
    path = tmp_path / "export.json"
    path.write_text(json.dumps(value), "utf-8")
    assert replayed(path, None, capsys)[0] == ExitCode.OK
    (game,) = open_games(path)
    drawn = results(entry.event for entry in complete(game).entries)
    assert [event.deltas for event in drawn] == [PAID.get(play, NOBODY)]
