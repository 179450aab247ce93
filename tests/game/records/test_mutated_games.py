"""Recorded games with one thing changed: the strict table refuses them, or the game is as good.

What may be changed is what a log need not say, and what is chance or choice: another tile drawn,
discarded or turned makes another game, which the rules allow as well.
"""

import io
import json
import random
from pathlib import Path

import pytest

from mjbot.game.records.game import RecordError
from mjbot.game.records.mjai_log import read_mjai_log
from mjbot.game.records.replay import MismatchError, ReplaySummary, replay
from mjbot.protocol.tiles import TILE_NAMES

LOGS = sorted((Path(__file__).parents[3] / "logs").glob("*.mjson"))
N_MUTATIONS = 60  # of each game; more: python -m proof mutations
N_STRICT = N_MUTATIONS // 2

UNTOLD = {
    "start_game": {"names", "id"},
    "start_kyoku": {"scores"},
    "reach_accepted": {"deltas", "scores"},
    "dahai": {"tsumogiri"},
    "hora": {
        "actor",  # the message is mjai-gateway's then, which does not tell who won
        "pai", "pao", "uradora_markers", "hora_tehais", "yakus", "fu", "fan", "hora_points",
        "deltas", "scores",
    },
    "ryukyoku": {"actor", "reason", "tehais", "tenpais", "deltas", "scores"},
    "end_game": {"scores"},
}  # fmt: skip
"""What a dialect may leave out."""
CHANCE_OR_CHOICE = {
    "start_game": {"names"},
    "start_kyoku": {"dora_marker", "tehais"},
    "tsumo": {"pai"},
    "dahai": {"pai", "tsumogiri"},
    "chi": {"consumed"},
    "pon": {"consumed"},
    "dora": {"dora_marker"},
    "hora": {"uradora_markers"},
    # a word of a server's own is as good as none, and nobody need be tenpai in an aborted kyoku
    "ryukyoku": {"tehais", "reason", "tenpais"},
}
"""What may be otherwise in a game that is as good."""
MAY_BE_MISSING = {"start_game", "end_kyoku", "end_game", "hora", "ryukyoku"}
"""Some servers never tell how a kyoku ended, and a log may begin and end inside a game."""


def changed(rng: random.Random, old: object) -> object:
    match old:
        case bool():
            return not old
        case int():
            return rng.choice([old + 1, old - 1, old + 1000, old - 1000, -1, 1 << 40])
        case str() if old in TILE_NAMES:
            return rng.choice(TILE_NAMES)
        case str():
            return rng.choice(["x", "fanpai", "sufonrenta", "5m"])
        case [*items] if items:
            place = rng.randrange(len(items))
            kind = rng.random()
            if kind < 0.2:
                return items[:place] + items[place + 1 :]
            if kind < 0.4:
                return [*items, items[place]]
            return [*items[:place], changed(rng, items[place]), *items[place + 1 :]]
    return rng.choice([None, 0, "x", []])


def mutate(rng: random.Random, events: list[dict]) -> tuple[list[dict], str, str, str]:
    """Return other events, and what was done to an event of which type, at which field."""
    place = rng.randrange(len(events))
    event = events[place]
    before, after = events[:place], events[place + 1 :]
    done = rng.choice(["left out", "twice", "swapped"] + 7 * ["changed", "field left out"])
    if done == "left out":
        return before + after, done, event.get("type", ""), ""
    if done == "twice":
        return [*before, event, event, *after], done, event.get("type", ""), ""
    if done == "swapped" and after:
        return [*before, after[0], event, *after[1:]], done, event.get("type", ""), after[0]["type"]
    field = rng.choice([name for name in event if name != "logs"])
    other = {name: value for name, value in event.items() if name != field}
    if done == "changed":
        other[field] = changed(rng, event[field])
        done = done if other[field] is not None else "field left out"
    return [*before, other, *after], done, event.get("type", ""), field


def is_as_good(done: str, kind: str, field: str) -> bool:
    match done:
        case "left out":
            return kind in MAY_BE_MISSING
        case "twice":
            return kind == "start_game"
        case "field left out":
            return field in UNTOLD.get(kind, ())
        case "changed" if field == "type":  # a message of a type that nobody knows says nothing
            return kind in MAY_BE_MISSING
        case "changed":
            return field in CHANCE_OR_CHOICE.get(kind, ())
    return False


def replayed(events: list[dict], *, strict: bool) -> str | None:
    """Return why a log is refused, ``None`` if it is not."""
    lines = b"".join(json.dumps(event).encode() + b"\n" for event in events)
    try:
        for game in read_mjai_log(io.BytesIO(lines), "game"):  # type: ignore[arg-type]
            replay(game, ReplaySummary(), strict)
            if game.hands.unreadable:
                return str(game.hands.unreadable[0])
    except (MismatchError, RecordError) as error:
        return str(error)
    return None


@pytest.mark.parametrize("log", LOGS, ids=lambda path: path.stem)
def test_what_the_strict_table_accepts_is_as_good_a_game(log: Path) -> None:
    events = [json.loads(line) for line in log.read_text().splitlines()]
    rng = random.Random(f"mutations of {log.stem}")
    refused = 0
    for _ in range(N_MUTATIONS):
        others, done, kind, field = mutate(rng, events)
        if others == events:
            continue
        problem = replayed(others, strict=True)
        refused += problem is not None
        assert problem or is_as_good(done, kind, field), (done, kind, field, others)
    assert refused > N_STRICT


@pytest.mark.parametrize("log", LOGS, ids=lambda path: path.stem)
def test_the_lenient_table_plays_on_past_anything_that_can_be_read(log: Path) -> None:
    events = [json.loads(line) for line in log.read_text().splitlines()]
    rng = random.Random(f"lenient mutations of {log.stem}")
    for _ in range(N_MUTATIONS // 4):
        others = events
        for _ in range(8):
            others = mutate(rng, others)[0]
        problem = replayed(others, strict=False)
        # what cannot be read names its line, three players are another game
        assert problem is None or problem.startswith(("game: line ", "game: is a three-player"))
