"""Strict replay names the rule that explains a win, or a game that goes on."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from mjbot.cli.main import main
from mjbot.game.records.mjai_log import log_line
from mjbot.game.referee import Position
from mjbot.protocol import messages as m
from mjbot.protocol.rules import Rules
from mjbot.runtime.errors import ExitCode
from tests.game.referee.scripted import Game

Made = list[m.Event]


def paid(game: Game, *deltas: int) -> Made:
    """Return a game up to its win, which pays this."""
    end = game.names().index("Hora")
    a, b, c, d = deltas
    win = replace(game.events[end], deltas=(a, b, c, d), hora_points=None, scores=None)
    return [*game.events[:end], win]


def kiriage() -> Made:
    game = Game(["5p", "234567m34p678s88p", "", ""], "1z", dora="7p")
    return paid(game.discard(0, "5p").do(1, "ron"), -8000, 8000, 0, 0)


def suuankou_tanki() -> Made:
    game = Game(["9s", "111m222p333s444p9s", "", ""], "1z", dora="7z")
    return paid(game.discard(0, "9s").do(1, "ron"), -64000, 64000, 0, 0)


def kokushi_thirteen() -> Made:
    game = Game(["1m", "19m19p19s1234567z", "", ""], "2m", dora="5p")
    return paid(game.discard(0, "1m").do(1, "ron"), -64000, 64000, 0, 0)


def yakuman_once() -> Made:
    game = Game(["7z", "111222333555z7z", "", ""], "5p", dora="5s")
    return paid(game.discard(0, "C").do(1, "ron"), -32000, 32000, 0, 0)


def pao_of_its_own() -> Made:
    game = Game(["567z", "147m1112556677z", "", "2z"])
    for dragon, tile in (("P", "1m"), ("F", "4m"), ("C", "7m")):
        game.discard(0, dragon).do(1, "pon").discard(1, tile)
    return paid(game.discard(3, "S").do(1, "ron"), -16000, 64000, 0, -48000)


def robbed_ankan() -> Made:
    game = Game(["1111m", "99m19p19s1234567z", "", ""], "2m", dora="5p")
    game.to_turn(0).do(0, "ankan")
    kan = game.names().index("Ankan") + 1
    return [*game.events[:kan], m.Hora(actor=1, target=0, pai="1m")]


def open_tanyao() -> Made:
    rules = Rules(open_tanyao=False)
    game = Game(["2m5p", "22m345678s34p88p9p", "", ""], "1z", dora="7z", rules=rules)
    game.discard(0, "2m").do(1, "pon").discard(1, "9p").discard(0, "5p")
    discards = [at for at, each in enumerate(game.events) if isinstance(each, m.Dahai)]
    last = next(at for at in discards if game.events[at].pai == "5p") + 1
    start = replace(game.events[0], mjbot_rules=rules.announced)
    return [start, *game.events[1:last], m.Hora(actor=1, target=0, pai="5p")]


def below_zero() -> Made:
    position = Position(scores=(1000, 33000, 33000, 33000))
    game = Game(["5p", "234567m34p678s88p", "", ""], "1z", dora="7p", position=position)
    game.discard(0, "5p").do(1, "ron")
    end = game.names().index("EndGame")
    deal = next(event for event in game.events if isinstance(event, m.StartKyoku))
    scores = game.last(m.Hora).scores
    return [*game.events[:end], replace(deal, kyoku=2, oya=1, scores=scores)]


SITE = "a rule of mahjong-soul: --rules mahjong-soul"
NAMED: dict[Callable[[], Made], str] = {
    kiriage: "kiriage mangan, right with --rules hanchan,kiriage=yes",
    suuankou_tanki: f"double yakuman, {SITE}",
    kokushi_thirteen: f"double yakuman, {SITE}",
    yakuman_once: "no several yakuman that add up, right with --rules hanchan,composite_yakuman=no",
    pao_of_its_own: f"pao for its own yakuman only, {SITE}",
    robbed_ankan: f"a concealed kan may not be robbed (docs/rules.md 4.5); {SITE}",
    open_tanyao: "open tanyao, right with --rules hanchan",
    below_zero: "no end below 0, right with --rules hanchan,bust=no",
}


@pytest.mark.parametrize("made", NAMED, ids=lambda made: made.__name__)
def test_the_rule_is_named(made: Callable[[], Made], tmp_path: Path, capsys) -> None:
    path = tmp_path / "a.mjson"
    path.write_bytes(b"".join(map(log_line, made())))
    assert main(["replay", str(path)]) == ExitCode.FAILED
    printed = capsys.readouterr()
    assert NAMED[made] in printed.err and "1 mismatch" in printed.out


def test_a_robbed_concealed_kan_of_an_export_is_read(tmp_path: Path, capsys) -> None:
    first = [11, 11, 11, 11, 12, 13, 14, 22, 23, 24, 32, 33, 34]
    orphans = [19, 19, 21, 29, 31, 39, 41, 42, 43, 44, 45, 46, 47]
    others = (
        [12, 12, 13, 13, 14, 14, 22, 22, 23, 23, 24, 24, 32],
        [32, 33, 33, 34, 34, 35, 35, 36, 36, 37, 37, 38, 38],
    )
    win = [1, 0, 1, "役満32000点", "国士無双(役満)"]
    hand = [[0, 0, 0], [25000] * 4, [25], [], first, [12], ["111111a11"], orphans, [], []]
    hand += [others[0], [], [], others[1], [], [], ["和了", [-32000, 32000, 0, 0], win]]
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"name": ["a", "b", "c", "d"], "log": [hand]}), "utf-8")
    assert main(["replay", str(path)]) == ExitCode.FAILED
    assert NAMED[robbed_ankan] in capsys.readouterr().err


@pytest.mark.parametrize("wrong", [1, 7699, 7700, 16000])
def test_a_payment_that_no_rule_explains_is_a_number(wrong: int, tmp_path: Path, capsys) -> None:
    events = kiriage()
    path = tmp_path / "a.mjson"
    win = replace(events[-1], deltas=(-wrong, wrong, 0, 0))
    path.write_bytes(b"".join(map(log_line, [*events[:-1], win])))
    status = main(["replay", str(path)])
    assert status == (ExitCode.OK if wrong == 7700 else ExitCode.FAILED)
    assert "right with" not in capsys.readouterr().err


def test_a_refused_win_without_payments_is_no_question_of_points(tmp_path: Path, capsys) -> None:
    game = Game(["5p", "234567m34p678s88p", "", ""], "1z", dora="7p")
    game.discard(0, "5p")
    events = [*game.events[: game.names().index("Dahai") + 1], m.Hora(actor=2, target=0, pai="5p")]
    path = tmp_path / "a.mjson"
    path.write_bytes(b"".join(map(log_line, events)))
    assert main(["replay", str(path)]) == ExitCode.FAILED
    assert "right " not in capsys.readouterr().err


def double_wind() -> Game:
    game = Game(["11z345m567p999s23s", "", "", ""], "9m4s", dora="5z", ura="5z")
    return game.riichi(0, "9m").do(0, "ron")


def saved(made: Made, folder: Path) -> str:
    path = folder / "a.mjson"
    path.write_bytes(b"".join(map(log_line, made)))
    return str(path)


def test_a_rule_of_two_values_is_named_by_its_value(tmp_path: Path, capsys) -> None:
    """Double riichi, ippatsu; 20 + 10 + 8 of a triplet and 4 of the pair are 50 fu, with 2 only 40.

    3 han 50 fu of the dealer are 9,600, 3 han 40 fu 7,700.
    """
    game = double_wind()
    made = paid(game, 7700 + 1000, -7700, 0, 0)
    assert main(["replay", saved(made, tmp_path)]) == ExitCode.FAILED
    assert "2 fu for the pair of a double wind" in (printed := capsys.readouterr().err)
    assert "double_wind_fu=2" in printed
    path = saved(paid(game, 9600 + 1000, -9600, 0, 0), tmp_path)
    assert main(["replay", "--rules", "double_wind_fu=2", path]) == ExitCode.FAILED
    assert "4 fu for the pair of a double wind" in capsys.readouterr().err


def test_a_concealed_kan_is_robbed_of_its_own_tile_only(tmp_path: Path, capsys) -> None:
    *before, win = robbed_ankan()
    path = saved([*before, replace(win, pai="9m")], tmp_path)
    assert main(["replay", path]) == ExitCode.FAILED
    assert "may not be robbed" not in capsys.readouterr().err


def test_a_riichi_without_its_ura_is_explained_by_no_rule(tmp_path: Path, capsys) -> None:
    """Four fewer points than its value are a number, whatever the hidden indicators are."""
    game = double_wind()
    *before, win = paid(game, 7700 + 1000, -7700, 0, 0)
    hidden = replace(win, uradora_markers=None, scores=(1, 2, 3, 4))
    assert main(["replay", saved([*before, hidden], tmp_path)]) == ExitCode.FAILED
    assert "--rules" not in capsys.readouterr().err


@pytest.mark.parametrize("reason", ["fanpai", None, "something"])
def test_an_exhaustive_draw_is_explained_by_no_abortive_one(reason, tmp_path, capsys) -> None:
    game = Game(["", "", "", ""]).finish_kyoku()
    end = game.names().index("Ryukyoku")
    wrong = replace(game.events[end], reason=reason, deltas=(3000, -3000, 0, 0), scores=None)
    main(["replay", saved([*game.events[:end], wrong], tmp_path)])
    assert "nine_terminals_draw" not in capsys.readouterr().err
