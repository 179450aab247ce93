"""The PyPI package ``jansou`` (MIT) as dealer of games that we replay, and as judge of our wins."""

import json
import tempfile
from pathlib import Path
from typing import Final

from jansou.core.rules import PRESETS
from jansou.game.agents import SmartEfficiencyAgent
from jansou.game.environment import Environment
from jansou.io.from_game import paifu_from_game
from jansou.io.mjai import parse_mjai
from jansou.io.tenhou_json import dump_tenhou_json
from jansou.validation.check import check_paifu

from proof.answers import Report
from proof.foreign.majiang_records import mjbot

RULES: Final = "hanchan,tenpai_yame=no"
"""Tenhou's as its preset ``tenhou`` has them: a dealer in first place ends a game by a win only."""
PLAYERS: Final = ("fast-riichi-a", "fast-riichi-b", "fast-riichi-c", "fast-riichi-d")


def replay_jansou_games(seed: int, games: int, report: Report) -> None:
    """Replay games that jansou dealt and judged, as it writes them in Tenhou's JSON."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(seed, seed + games):
            environment = Environment(PRESETS["tenhou"], seed=number)
            environment.run([SmartEfficiencyAgent(4 * number + seat) for seat in range(4)])
            game = paifu_from_game(environment)
            Path(folder, f"{number}.json").write_text(json.dumps(dump_tenhou_json(game)), "utf-8")
            report.agreed["hanchan of jansou"] += 1
            report.agreed["kyoku"] += len(game.rounds)
        done = mjbot("replay", folder, "--rules", RULES)
        if done.returncode:
            report.differences.append(f"replay: {(done.stderr or done.stdout).strip()[-300:]}")


def judge_our_wins(seed: int, games: int, report: Report) -> None:
    """Let jansou score the wins of games at our table: value and fu."""
    with tempfile.TemporaryDirectory() as folder:
        options = ["--games", str(games), "--seed", str(seed), "--log-dir", folder]
        done = mjbot("match", *PLAYERS, *options)
        if done.returncode:
            report.differences.append(f"match: {(done.stderr or done.stdout).strip()[-300:]}")
        for record in sorted(Path(folder).rglob("*.mjson")):
            report.agreed["hanchan at our table"] += 1
            for verdict in check_paifu(parse_mjai(record)):
                where = f"{record.name}, seat {verdict.winner}"
                report.compare("value and fu of wins", where, "", verdict.detail)
