"""The PyPI package ``jansou`` (MIT) as dealer of games that we replay, and as judge of our wins.

Its writer of Tenhou's JSON has Tenhou's words for draws, but its games have others, and all of them
are written as exhaustive draws.  So a draw gets Tenhou's word, and the payments that it lacks.
"""

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Final

from jansou.core.rules import PRESETS
from jansou.game.agents import SmartEfficiencyAgent
from jansou.game.environment import Environment
from jansou.io.from_game import paifu_from_game
from jansou.io.mjai import parse_mjai
from jansou.io.paifu import Paifu, RoundLog, Ryuukyoku
from jansou.io.tenhou_json import dump_tenhou_json
from jansou.validation.check import check_paifu

from proof.answers import Report
from proof.foreign.majiang_records import mjbot

RULES: Final = "hanchan,tenpai_yame=no"
"""Tenhou's as its preset ``tenhou`` has them: a dealer in first place ends a game by a win only."""
DRAWS: Final = {
    "exhaustive": "流局",
    "nm": "流し満貫",
    "yao9": "九種九牌",
    "reach4": "四家立直",
    "ron3": "三家和了",
    "kaze4": "四風連打",
    "kan4": "四開槓",
}
"""Tenhou's words for its kinds of draws."""
UNREAD: Final = "the other hands are read"
OPEN_KAN: Final = "is a call from no seat"
"""It marks the third tile of four as taken from the player to the right, Tenhou the fourth."""
PLAYERS: Final = ("fast-riichi-a", "fast-riichi-b", "fast-riichi-c", "fast-riichi-d")


def replay_jansou_games(seed: int, games: int, report: Report) -> None:
    """Replay games that jansou dealt and judged, as it writes them in Tenhou's JSON."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(seed, seed + games):
            environment = Environment(PRESETS["tenhou"], seed=number)
            environment.run([SmartEfficiencyAgent(4 * number + seat) for seat in range(4)])
            game = _as_tenhou(paifu_from_game(environment))
            Path(folder, f"{number}.json").write_text(json.dumps(dump_tenhou_json(game)), "utf-8")
            report.agreed["hanchan of jansou"] += 1
            report.agreed["kyoku"] += len(game.rounds)
        done = mjbot("replay", folder, "--rules", RULES)
    if "no mismatch" not in done.stdout:
        report.differences.append(f"replay: {(done.stdout or done.stderr).strip()[-300:]}")
    for line in done.stderr.splitlines():
        if UNREAD in line and OPEN_KAN in line:
            report.explained["kyoku with an open kan that it writes as from no seat"] += 1
        elif UNREAD in line:
            report.differences.append(line)


def _as_tenhou(game: Paifu) -> Paifu:
    return replace(game, rounds=tuple(map(_with_word, game.rounds)))


def _with_word(kyoku: RoundLog) -> RoundLog:
    draw = kyoku.outcome
    if not isinstance(draw, Ryuukyoku):
        return kyoku
    named = replace(draw, kind=DRAWS[draw.kind], deltas=draw.deltas or (0,) * 4)
    return replace(kyoku, outcome=named)


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
