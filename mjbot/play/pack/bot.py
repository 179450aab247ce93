"""The entry of a packed bot: ``bot.py SEAT``, arrays of events in, one answer a line out.

This file is copied to the root of the zip.  It needs nothing but the standard library of Python
3.8 or later.  The player is a process of its own.  Until that is ready, and whenever it is late or
gone, a safe answer goes out in its stead: the tile just drawn is discarded, nothing is called.
The beginning and end of that are logged to ``stderr``.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE_S = 1.5
"""For an answer; the simulator waits 2 or 3 s, by its version."""
PATIENCE_AT_START_S = 4.0
"""Where an array begins a game or a kyoku; the simulator waits 10 or 20 s there."""
PASS: dict[str, Any] = {"type": "none"}
SEATS = (0, 1, 2, 3)

_LATE = "is not ready: safe answers until it is"
_ENDED = "has ended: safe answers from here on"
_LOST = "passes where a discard is due: that is made"


class HandTracker:
    """What safe answers depend on: our own tiles, the tile just drawn, the call just made."""

    def __init__(self, seat: int) -> None:
        self.seat = seat
        self.tiles: list[str] = []
        self.drawn = ""
        self.called = ""

    def follow(self, events: list[dict[str, Any]]) -> dict[str, Any]:
        """Take in an array and return an answer to its last event: a pass if one is malformed."""
        try:
            for event in events:
                self.take(event)
            return self.safe_answer(events[-1]) if events else PASS
        except (AttributeError, LookupError, TypeError, ValueError) as problem:
            _log(f"a malformed event: {type(problem).__name__}")
            return PASS

    def take(self, event: dict[str, Any]) -> None:
        """Take in one event."""
        kind = event.get("type")
        if kind == "start_game":
            seat = event.get("id", self.seat)
            self.seat = seat if seat in SEATS else self.seat
        elif kind == "start_kyoku":
            self.tiles, self.drawn, self.called = list(event["tehais"][self.seat]), "", ""
        elif event.get("actor") == self.seat:
            self._take_own(event)

    def _take_own(self, event: dict[str, Any]) -> None:
        kind = event.get("type")
        if kind == "tsumo":
            self.drawn, self.called = event["pai"], ""
            self.tiles.append(self.drawn)
        elif kind in ("dahai", "kakan"):
            self._remove([event["pai"]])
        elif kind in ("chi", "pon", "daiminkan", "ankan"):
            self._remove(event["consumed"])
            self.called = event["pai"] if kind in ("chi", "pon") else ""

    def _remove(self, tiles: list[str]) -> None:
        self.drawn, self.called = "", ""
        for tile in tiles:
            if tile in self.tiles:
                self.tiles.remove(tile)

    def safe_answer(self, event: dict[str, Any]) -> dict[str, Any]:
        """Return an answer to ``event``, the last of an array.

        After a riichi of the player's own it may break the tenpai: that needs a player which ends
        between its riichi and the discard.
        """
        if event.get("actor") != self.seat:
            return PASS
        if event.get("type") in ("tsumo", "reach") and self.drawn:
            return self._discard(self.drawn, drawn=True)
        if event.get("type") in ("chi", "pon") and self.tiles:
            allowed = [tile for tile in self.tiles if not self._swaps(tile)]
            return self._discard((allowed or self.tiles)[-1], drawn=False)
        return PASS

    def _discard(self, tile: str, drawn: bool) -> dict[str, Any]:
        return {"type": "dahai", "actor": self.seat, "pai": tile, "tsumogiri": drawn}

    def _swaps(self, tile: str) -> bool:
        """Whether the rules may forbid a discard after a call: the called tile or its other end."""
        called = self.called
        if tile[:2] == called[:2]:
            return True
        same_suit = tile[1:2] == called[1:2] != ""
        return same_suit and abs(int(tile[0]) - int(called[0])) == 3


class StrategyProcess:
    """The process that plays; its answers come in the order of the lines that it is sent."""

    def __init__(self, spec: str, seat: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", os.path.join(HERE, "bot.py"), "--player", spec, str(seat)],
            cwd=HERE,  # a user's file is named from here
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._answers: queue.Queue[bytes] = queue.Queue()
        self._owed = 0
        self.is_gone = False
        for work in (self._write, self._read):
            threading.Thread(target=work, daemon=True).start()

    def _write(self) -> None:
        pipe = self._process.stdin
        while pipe is not None:
            try:
                pipe.write(self._lines.get())
                pipe.flush()
            except (OSError, ValueError):
                return

    def _read(self) -> None:
        for line in self._process.stdout or ():
            self._answers.put(line)
        self._answers.put(b"")

    def request(self, line: bytes, patience_s: float) -> bytes | None:
        """Return the player's answer to a line, or ``None`` where it is late or gone."""
        until = time.monotonic() + patience_s
        self._lines.put(line)
        self._owed += 1
        while self._owed and not self.is_gone:
            try:
                answer = self._answers.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                return None
            self.is_gone = not answer
            self._owed -= 1
        return None if self.is_gone else answer

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()


def play(spec: str, seat: int) -> None:
    """Answer every line of stdin until it ends."""
    player, hand = StrategyProcess(spec, seat), HandTracker(seat)
    began_s, last_news = time.monotonic(), ""
    try:
        for line in sys.stdin.buffer:
            events = _events(line)
            safe = hand.follow(events)
            answer = player.request(line, _patience_s(events)) if events else None
            if answer is None:
                news = _ENDED if player.is_gone else _LATE
            elif safe is not PASS and json.loads(answer) == PASS:
                answer, news = None, _LOST
            else:
                news = "plays"
            sys.stdout.buffer.write(answer or json.dumps(safe).encode() + b"\n")
            sys.stdout.buffer.flush()
            if news != last_news:
                _log(f"{time.monotonic() - began_s:.1f} s after the start: {spec} {news}")
                last_news = news
    finally:
        player.end()


def _events(line: bytes) -> list[dict[str, Any]]:
    """Return an array's events; none if it is no array of events."""
    try:
        events = json.loads(line)
    except (ValueError, RecursionError):
        events = None
    if isinstance(events, list) and all(isinstance(event, dict) for event in events):
        return events
    _log("a line that is no array of events: answered with a pass")
    return []


def _patience_s(events: list[dict[str, Any]]) -> float:
    at_start = events[0].get("type") in ("start_game", "start_kyoku")
    return PATIENCE_AT_START_S if at_start else PATIENCE_S


def _log(text: str) -> None:
    sys.stderr.write(f"bot.py: {text}\n")
    sys.stderr.flush()


# --- in the player's process ---------------------------------------------------------------------


def make_ready() -> None:
    """Let this process import what is packed, and keep in this folder what it compiles itself."""
    sys.path[:0] = [HERE, os.path.join(HERE, "packages")]
    if os.path.isdir(os.path.join(HERE, "mjbot", "compiled_code")):
        os.environ.setdefault("MJBOT_CACHE", os.path.join(HERE, "cache"))
    if sys.version_info < (3, 11):  # noqa: UP036  our code takes these from the library of 3.11
        import datetime
        import typing

        typing.Self = typing.Any
        typing.assert_never = _assert_never
        datetime.UTC = datetime.timezone.utc  # noqa: UP017


def _assert_never(value: object) -> None:
    raise AssertionError(f"cannot be: {value!r}")


def compile_player(spec: str) -> None:
    """Compile what the player's games will need, and print by which versions."""
    make_ready()
    from mjbot.runtime.compiler.portable import compile_portably

    compile_portably()
    from mjbot.play.pack.player import compile_all
    from mjbot.runtime.compiler.shipped import versions

    compile_all(spec)
    print(json.dumps(versions()))


def main() -> None:
    """Answer for a seat; ``--player SPEC SEAT`` is the player, ``--compile`` for the packer."""
    if sys.argv[1:2] == ["--player"]:
        make_ready()
        from mjbot.play.pack.player import play_lines

        play_lines(sys.argv[2], int(sys.argv[3]))
        return
    with open(os.path.join(HERE, "strategy.txt"), encoding="utf-8") as file:
        spec = file.read().strip()
    if sys.argv[1:2] == ["--compile"]:
        compile_player(spec)
    else:
        play(spec, int(sys.argv[1]))


if __name__ == "__main__":
    main()
