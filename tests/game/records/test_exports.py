"""Exports of Mahjong Soul's games as tenhou.net/6, with what their writers do differently.

Words of draws are in ``test_bad_hands``, addresses and reviews in ``test_other_shapes``.
"""

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from mjbot.cli.main import main
from mjbot.game.records.complete import complete
from mjbot.game.records.sources import Source, content_digest, games_of, list_sources, open_games
from mjbot.game.records.tenhou6.writer import write_tenhou6
from mjbot.protocol import messages as m
from mjbot.protocol.rules import Rules
from mjbot.runtime.errors import ExitCode
from tests.game.records.formats import events_of, first_kyoku, random_game, report
from tests.game.referee.scripted import Game
from tests.game.referee.scripted import random_game as game_at_random

GAME = random_game(0)
EXPORT = json.loads(write_tenhou6(GAME))
SITE = "mahjong-soul"
SOUTH = Rules().under(SITE).announced
EAST = Rules(length="tonpu").under(SITE).announced


def events(value: Any, folder: Path, players: tuple[int, ...] = (4,)) -> list[Any]:
    path = folder / "a.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    (game,) = games_of(Source(path), players)
    return events_of(complete(game))


@pytest.mark.parametrize(
    ("rule", "announced"),
    [
        ({"disp": "玉の間南喰", "aka51": 1, "aka52": 1, "aka53": 1}, SOUTH),
        ({"disp": "王座の間東喰赤", "aka51": 1, "aka52": 1, "aka53": 1}, EAST),
        ({"disp": "友人戦南喰赤", "aka51": 1, "aka52": 2, "aka53": 1}, SOUTH),
        ({"disp": "Jade Room East Red Fives"}, EAST),
        ({"disp": "Throne Room South", "aka": 1}, SOUTH),
        ({"disp": "Friendly South Aka Nashi"}, {**SOUTH, "red_fives": False}),
        ({"disp": "Friendly East No Red Fives"}, {**EAST, "red_fives": False}),
        (
            {"disp": "大会戦南喰", "aka51": 0, "aka52": 0, "aka53": 0},
            {**SOUTH, "red_fives": False},
        ),
        ({"disp": "", "aka51": 1, "aka52": 1, "aka53": 1}, Rules().under(SITE).differences),
        ({"disp": "a room of somebody's"}, None),
    ],
    ids=lambda rule: rule.get("disp", "") if isinstance(rule, dict) and "disp" in rule else "",
)
def test_a_room_is_read_by_the_end_of_its_name(rule: Any, announced: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({**EXPORT, "rule": rule}), "utf-8")
    (game,) = open_games(path)
    assert next(iter(game.entries)).event.mjbot_rules == announced


def test_ranks_as_text_and_computed_payments_change_nothing(tmp_path: Path) -> None:
    value = json.loads(json.dumps(EXPORT))
    value |= {"dan": ["雀聖★1", "", "Saint 2", "AI"], "rate": [0.5] * 4, "sx": ["C"] * 4}
    value |= {"ratingc": "PF4", "lobby": 0, "title": ["玉の間南", 1780333343], "ref": "x"}
    for hand in value["log"]:
        hand[16][1::2] = [[float(points) for points in deltas] for deltas in hand[16][1::2]]
    assert events(value, tmp_path) == events(EXPORT, tmp_path)


# --- words of a win --------------------------------------------------------------------------


def tsumo() -> dict[str, Any]:
    game = Game(["", "234567m34p678s88p", "", ""], "1z2z3z4z5z5p", dora="1z")
    value: dict[str, Any] = json.loads(write_tenhou6(first_kyoku(game.do(1, "tsumo"))))
    return value


@pytest.mark.parametrize(
    ("text", "yaku"),
    [
        ("20Fu3Han700-1300Points", ["Fully Concealed Hand(1飜)", "Pinfu(1飜)"]),
        ("20符3飜700-1300点", ["Menzen Tsumo(1飜)", "Pinfu(1飜)", "Tanyao(1飜)"]),
        ("20符3飜700-1300点", ["役牌:自風牌(1飜)"]),
        ("700-1300点", []),
    ],
)
def test_the_value_of_a_win_in_other_words(text: str, yaku: list[str], tmp_path: Path) -> None:
    value = tsumo()
    own = events(value, tmp_path)
    parts = value["log"][0][16][2]
    value["log"][0][16] = ["Agari", value["log"][0][16][1], [*parts[:3], text, *yaku]]
    assert events(value, tmp_path) == own


def test_a_yakuman_that_is_listed_twice_is_a_double_one(tmp_path: Path, capsys) -> None:
    game = Game(["9s", "111m222p333s444p9s", "", ""], "1z", dora="7z")
    value = json.loads(write_tenhou6(first_kyoku(game.discard(0, "9s").do(1, "ron"))))
    win = [1, 0, 1, "役満64000点", *["四暗刻単騎(役満)"] * 2]
    value["log"][0][16] = ["和了", [-64000, 64000, 0, 0], win]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(value), "utf-8")
    assert main(["replay", str(path)]) == ExitCode.FAILED
    assert "double yakuman, a rule of mahjong-soul: --rules mahjong-soul" in capsys.readouterr().err
    assert main(["replay", "--rules", "mahjong-soul", str(path)]) == ExitCode.OK


# --- single hands ----------------------------------------------------------------------------


def hands() -> list[dict[str, Any]]:
    return [{**EXPORT, "log": [hand]} for hand in EXPORT["log"]]


FORMS = {
    "lines": lambda values: "\n".join(map(json.dumps, values)),
    "an array": json.dumps,
    "addresses": lambda values: "\n".join(
        f"https://tenhou.net/6/#json={quote(json.dumps(value))}" for value in values
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_single_hands_are_joined_into_their_game(form: str, tmp_path: Path) -> None:
    assert len(EXPORT["log"]) > 3
    assert events(FORMS[form](hands()), tmp_path) == events(EXPORT, tmp_path)


def files_of(values: Sequence[Any], folder: Path) -> list[Path]:
    """Write each value into a file; the names are not in the order of play."""
    paths = [folder / f"{9 - number}.json" for number in range(len(values))]
    for path, value in zip(paths, values, strict=True):
        path.write_text(json.dumps(value, indent=1), "utf-8")
    return paths


def test_hands_in_files_of_a_folder_or_a_zip_are_joined(tmp_path: Path) -> None:
    three = json.loads(write_tenhou6(report(game_at_random(1, Rules(players=3)))))
    values = [*hands(), *({**three, "log": [hand]} for hand in three["log"]), EXPORT]
    folder = tmp_path / "games"
    folder.mkdir()
    with zipfile.ZipFile(tmp_path / "games.zip", "w") as archive:
        for path in files_of(values, folder):
            archive.write(path, path.name)
    own = [events(value, tmp_path, players=(3, 4)) for value in (EXPORT, three)]
    for place in (folder, tmp_path / "games.zip"):
        sources = list_sources(place)
        assert len({content_digest(each) for each in sources}) == 3
        games = [game for each in sources for game in games_of(each, players=(3, 4))]
        read = [events_of(complete(game)) for game in games]
        assert [read.count(game) for game in own] == [2, 1]


def test_hands_in_several_files_are_one_game_of_a_command(tmp_path: Path, capsys) -> None:
    paths = list(map(str, files_of(hands(), tmp_path)))
    assert main(["replay", *paths]) == ExitCode.OK
    assert "1 game" in capsys.readouterr().out
    assert main(["stats", *paths, "--json"]) == ExitCode.OK
    assert json.loads(capsys.readouterr().out)["games"] == 1


def test_hands_that_do_not_continue_a_game_are_games(tmp_path: Path) -> None:
    one, two, three, *_ = hands()
    others = {**two, "name": ["w", "x", "y", "z"]}
    path = tmp_path / "a.json"
    path.write_text(FORMS["lines"]([one, others, one, three, three, {**EXPORT}, two]), "utf-8")
    counts = []
    for game in open_games(path):
        deals = [entry for entry in game.entries if isinstance(entry.event, m.StartKyoku)]
        counts.append(len(deals))
    assert counts == [1, 1, 1, 1, 1, len(EXPORT["log"]), 1]
