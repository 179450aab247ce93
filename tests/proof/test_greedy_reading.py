"""The proof of how hands are read counts every discard outside riichi once."""

import argparse
import re
from pathlib import Path

from mjbot.records.sources import open_games
from proof.greedy_table import run
from protocol.messages import Dahai, Reach, StartKyoku

LOG = Path(__file__).parents[2] / "logs" / "east-four-winds.mjson"


def test_every_hand_outside_riichi_is_counted_once(capsys) -> None:
    assert run(argparse.Namespace(records=LOG, games=1)) == 0
    rows = [line.split("│") for line in capsys.readouterr().out.splitlines() if "│" in line]
    plural = sum(int(row[3]) for row in rows)
    riichi: set[int] = set()
    expected = 0
    for game in open_games(LOG):
        for entry in game.entries:
            match entry.event:
                case StartKyoku():
                    riichi = set()
                case Reach(actor=actor):
                    riichi.add(actor)
                case Dahai(actor=actor):
                    expected += actor not in riichi
    assert plural == expected
    assert all(re.fullmatch(r"\s*\d+\.\d\s*", cell) for row in rows for cell in row[6:8])
