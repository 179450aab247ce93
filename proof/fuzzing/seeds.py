"""What a fuzzer begins with: games and conversations of our own, one kyoku each."""

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Final

import msgspec
import numpy as np

from mjbot.analysis.collusion import verdicts
from mjbot.game.records.game import Entry, Game
from mjbot.game.records.mjai_log import log_line, read_mjai_log
from mjbot.game.records.writers import FORMATS
from mjbot.game.referee import Referee
from mjbot.learning.models.weights import SHIPPED
from mjbot.learning.training.networks.decisions import DECISION
from mjbot.protocol import messages as m
from mjbot.protocol.rules import Rules
from mjbot.strategy.pair.messages import GameHello, PairHello, Proof, SharedHand, encode
from papers.matsuda2021.networks import WEIGHTS
from proof.conversations import at_random
from proof.fuzzing.files import INFO, MANIFEST, MODELS, RUN, SEPARATOR, stream

ROOT: Final = Path(__file__).parents[2]
_TALK: Final = ROOT / "tests" / "protocol"
_TURN: Final = re.compile(r"^(?:<-|->) (?:t=[\d.]+ )?(.*)$", re.M)
_TAG: Final = re.compile(r"^(Get|Send): (.*)$", re.M)


@cache
def games() -> Sequence[Game]:
    """Return our recorded games."""
    paths = sorted((ROOT / "logs").glob("*.mjson"))
    return [
        replace(game, entries=list(game.entries))
        for path in paths
        for game in read_mjai_log(stream(path.read_bytes()), path.name)
    ]


@cache
def kyokus() -> Sequence[Game]:
    """Return the kyoku of our games, recorded and of three players, each as a game of its own."""
    entries = [list(game.entries) for game in games()]
    return [kyoku for game in [*entries, _of_three()] for kyoku in _split(game)]


def _of_three() -> list[Entry]:
    """Return a game of three players that was made by chance."""
    referee, random = Referee(1, Rules(length="tonpu", players=3)), Random(1)
    events = referee.start()
    while not referee.over:
        choices = {seat: at_random(random, legal) for seat, legal in referee.asked.items()}
        events += referee.step(choices)
    return [Entry(number, event) for number, event in enumerate(events, 1)]


def _split(entries: list[Entry]) -> Iterator[Game]:
    start = entries[0]
    starts = [at for at, entry in enumerate(entries) if isinstance(entry.event, m.StartKyoku)]
    for first, last in zip(starts, [*starts[1:], len(entries)], strict=True):
        yield Game("seed", "line", [start, *entries[first:last]])


@cache
def encoded(name: str) -> list[bytes]:
    """Return our kyoku in a format of records."""
    return [FORMATS[name].encode(game) for game in kyokus()]


def mjai_lines() -> list[bytes]:
    """Return the lines of our conversations and of some kyoku, each after a dialect's number."""
    talks = [
        [line.encode() for line in _TURN.findall(path.read_text(encoding="utf-8"))]
        for path in sorted((_TALK / "transcripts").glob("*.txt"))
    ]
    lines = {line for talk in talks for line in talk}
    whole = [b"\n".join(talk[start : start + 30]) for talk in talks for start in (0, 20)]
    events = {log_line(entry.event) for game in kyokus()[:6] for entry in game.entries}
    found = [*sorted(lines), *whole, *sorted(events)]
    return [bytes([at % 5]) + parts for at, parts in enumerate(found)]


def tenhou_tags() -> list[bytes]:
    """Return recorded tags of Tenhou and its clients in both spellings, each after a choice."""
    found = []
    for path in sorted((_TALK / "tenhou" / "recorded").glob("*.log")):
        parts = _TAG.findall(path.read_text(encoding="utf-8"))
        for who, choice in (("Get", 0), ("Send", 2)):
            tags = [tag.encode() for speaker, tag in parts if speaker == who]
            found += [bytes([choice]) + tag + b"\0" for tag in tags]
            found += [bytes([choice]) + b"\0".join(tags[:60]) + b"\0"]
            frames = [_as_json(tag) for tag in tags]
            found += [bytes([choice | 1]) + frame for frame in frames]
            found += [bytes([choice | 1]) + b"\n".join(frames[:60])]
    return sorted(set(found))


def _as_json(tag: bytes) -> bytes:
    name, *_ = re.findall(rb"<(\w+)", tag)
    parts = {key.decode(): value.decode() for key, value in re.findall(rb'(\w+)="([^"]*)"', tag)}
    return msgspec.json.encode({"tag": name.decode(), **parts})


def packed_files() -> list[bytes]:
    """Return beginnings of records, what is none, and a line of evidence, after a choice."""
    plain = [b"", b"<html>", b"[1]", b'{"error":"x"}', b"PK\x05\x06" + bytes(18), b"{}\n{}"]
    for name in FORMATS:
        plain += [data[:1500] for data in encoded(name)[:3]] + encoded(name)[-1:]
    reply = (
        b'{"line":3,"seat":0,"at":"2026-01-01T00:00:00","took_ms":1.5,"raw":"{}",'
        b'"bytes":2,"verdict":"accepted"}\n'
    )
    return [bytes([choice]) + data for data in plain for choice in range(4)] + [b"\4" + reply]


def weight_files() -> list[bytes]:
    """Return files of each kind, and weights of each model, each after two choices."""
    array = io.BytesIO()
    np.save(array, np.arange(6, dtype=np.float32).reshape(2, 3))
    rows = io.BytesIO()
    np.save(rows, np.zeros(2, DECISION))
    found = [
        b"\2\0" + msgspec.json.encode(MANIFEST),
        b"\3\0" + msgspec.json.encode(INFO),
        b"\4\0" + rows.getvalue(),
        b"\5\1" + b'{"file":"x.npz"}\n',
        b"\5\0" + RUN,
    ]
    folders = (SHIPPED, verdicts.SHIPPED, WEIGHTS)
    for which, (name, _) in enumerate(MODELS):
        folder = next(folder for folder in folders if (folder / f"{name}.npz").exists())
        found += [b"\0" + bytes([which]) + (folder / f"{name}.npz").read_bytes()]
        with np.load(folder / f"{name}.npz") as saved:
            parts = [key.encode() + b"\n" + array.getvalue() for key in saved.files]
        found += [b"\1" + bytes([which]) + SEPARATOR.join(parts)]
    return found


def pair_lines() -> list[bytes]:
    """Return the messages of a pair, alone and together, each after a choice."""
    holding = SharedHand(
        game="0123456789abcdef", answers="0" * 16, kyoku=0, honba=0, turn=1, seat=2,
        hand=("1m",) * 4 + ("5pr",) + ("E",) * 3 + ("9s",) * 4 + ("P",),
        waits=("1m", "9s"), aim="tanyao", helps=("E",),
    )  # fmt: skip
    melded = SharedHand(
        game="x", kyoku=3, honba=1, turn=4, seat=1, hand=("2m",) * 10, melds=(("E",) * 3,)
    )
    parts = [
        encode(PairHello(challenge="a" * 64)),
        encode(Proof(digest="b" * 64)),
        encode(GameHello(game="c" * 16)),
        encode(holding),
        encode(melded),
    ]
    return [bytes([choice]) + line for choice in range(4) for line in [*parts, b"\n".join(parts)]]
