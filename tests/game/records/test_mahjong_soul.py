"""Decoded records of Mahjong Soul: our own games in that form come back as they were."""

import json
from pathlib import Path
from typing import Any

import pytest

from mjbot.cli.main import main
from mjbot.game.records.complete import CompleteGame, complete
from mjbot.game.records.game import ForeignRecordError, RecordError
from mjbot.game.records.sources import open_games
from mjbot.runtime.errors import ExitCode
from protocol import messages as m
from tests.game.records.formats import events_of, first_kyoku, random_game
from tests.game.records.soul_form import messages_of, record, with_actions


def saved(value: Any, folder: Path, indent: int | None = None) -> Path:
    path = folder / "record.json"
    path.write_text(json.dumps(value, indent=indent, ensure_ascii=False), "utf-8")
    return path


def reread(value: Any, folder: Path, indent: int | None = None) -> CompleteGame:
    (game,) = open_games(saved(value, folder, indent))
    completed = complete(game)
    assert not game.hands.unreadable
    return completed


@pytest.mark.parametrize("seed", range(6))
def test_a_random_game_comes_back_as_it_was(seed: int, tmp_path: Path) -> None:
    game = random_game(seed)
    mode = 1 if game.rules.length == "tonpu" else 2
    value = record(game, mode)
    assert events_of(reread(value, tmp_path)) == events_of(game)
    assert events_of(reread(with_actions(value), tmp_path, indent=1)) == events_of(game)
