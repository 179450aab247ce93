"""What a running bot reports of itself: counters, as JSON and in Prometheus's text format."""

import json
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

import mjbot
from mjbot.protocol.messages import ACK_STATUSES
from mjbot.runtime.files import whole_file
from mjbot.runtime.net.metrics import counters, escaped, family, memory
from mjbot.runtime.redaction import redacted
from mjbot.runtime.system import memory_bytes
from mjbot.strategy.faults import FAULT_KINDS

QUANTILES: Final = (0.5, 0.9, 0.99)
MOST_TIMES: Final = 10_000
"""Of how many decisions, the last ones, the quantiles are."""
ENDS: Final = ("finished", "void", "lost", "refused", "changed", "fault", "unreachable")
"""How an attempt at a game ended; see :class:`mjbot.play.service.bot.GameOutcome`."""


@dataclass
class LaneStatus:
    """One connection at a time: what it does, and since when (UTC, ISO 8601)."""

    state: str = "starting"
    since: str = ""
    game: int = 0


@dataclass
class Status:
    """The counters of a bot's service; ``clock`` returns seconds since the epoch."""

    clock: Callable[[], float]
    server: str = ""
    strategy: str = ""
    state: str = "starting"
    ends: Counter[str] = field(default_factory=Counter)
    ranks: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    acks: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    connects: int = 0
    reconnects: int = 0
    decisions: int = 0
    decisions_s: float = 0.0
    fallback_decisions: int = 0
    last_error: str = ""
    lanes: list[LaneStatus] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.started = self._now()
        self.is_changed = True
        self._times: deque[float] = deque(maxlen=MOST_TIMES)

    def _now(self) -> str:
        moment = datetime.fromtimestamp(self.clock(), UTC)
        return moment.isoformat(timespec="seconds").replace("+00:00", "Z")

    def set_lane(self, number: int, state: str) -> None:
        """Note what a lane does now."""
        while len(self.lanes) <= number:
            self.lanes.append(LaneStatus())
        lane = self.lanes[number]
        lane.state, lane.since = state, self._now()
        lane.game += state == "playing"
        self.is_changed = True

    def add_time(self, seconds: float) -> None:
        """Count a decision."""
        self.decisions += 1
        self.decisions_s += seconds
        self._times.append(seconds)

    def add_end(self, kind: str, rank: int | None, error: str) -> None:
        """Count how an attempt at a game ended; ``rank`` is 1 to 4."""
        self.ends[kind] += 1
        if rank is not None:
            self.ranks[rank - 1] += 1
        if error:
            self.last_error = f"{self._now()} {redacted(error)}"
        self.is_changed = True

    def quantiles_s(self) -> dict[float, float]:
        """Return quantiles of the last decisions' times, in seconds; empty if there were none."""
        times = sorted(self._times)
        return {q: times[min(len(times) - 1, int(q * len(times)))] for q in QUANTILES if times}

    def snapshot(self) -> dict[str, Any]:
        """Return everything as JSON's types."""
        games = sum(self.ranks)
        mean = sum(rank * count for rank, count in enumerate(self.ranks, 1)) / games if games else 0
        quantiles = {f"p{100 * q:g}": round(1000 * s, 2) for q, s in self.quantiles_s().items()}
        return {
            "program": f"mjbot {mjbot.__version__}",
            "server": self.server,
            "strategy": self.strategy,
            "state": self.state,
            "started": self.started,
            "updated": self._now(),
            "games": self.ends["finished"],
            "ranks": list(self.ranks),
            "mean_rank": round(mean, 4),
            "ends": {kind: self.ends[kind] for kind in ENDS},
            "acks": {status: self.acks[status] for status in (*ACK_STATUSES, "unknown")},
            "faults": {kind: self.faults[kind] for kind in FAULT_KINDS},
            "fallback_decisions": self.fallback_decisions,
            "decisions": self.decisions,
            "decision_ms": quantiles,
            "connects": self.connects,
            "reconnects": self.reconnects,
            "memory_mb": None if (size := memory_bytes()) is None else round(size / 1e6, 1),
            "last_error": self.last_error,
            "lanes": [asdict(lane) for lane in self.lanes],
        }

    def write(self, path: Path) -> None:
        """Write the snapshot to a file that is always whole; raises ``OSError``."""
        self.is_changed = False
        with whole_file(path) as file:
            text = msgspec.json.format(json.dumps(self.snapshot()), indent=1)  # json's own is slow
            file.write(text.encode() + b"\n")

    def metrics(self) -> str:
        """Return the counters in Prometheus's text format, version 0.0.4."""
        return "\n".join(self._metrics()) + "\n"

    def _metrics(self) -> Iterator[str]:
        yield from family("info", "gauge", "Version and strategy.")
        version, strategy = escaped(mjbot.__version__), escaped(self.strategy)
        yield f'mjbot_info{{version="{version}",strategy="{strategy}"}} 1'
        yield from counters(
            "games", "Attempts at a game by how they ended.", "end", self.ends, ENDS
        )
        ranks = {str(rank): count for rank, count in enumerate(self.ranks, 1)}
        yield from counters("ranks", "Finished games by the own rank.", "rank", ranks, ranks)
        acks = (*ACK_STATUSES, "unknown")
        yield from counters("acks", "Verdicts on answers.", "status", self.acks, acks)
        what = "Decisions that had to be replaced, by why."
        yield from counters("faults", what, "kind", self.faults, FAULT_KINDS)
        for name, what, count in (
            ("fallback_decisions", "Decisions of the fallback strategy.", self.fallback_decisions),
            ("connects", "Connections made.", self.connects),
            ("reconnects", "Attempts to connect after a failure.", self.reconnects),
        ):
            yield from family(f"{name}_total", "counter", what)
            yield f"mjbot_{name}_total {count}"
        yield from family("decision_seconds", "summary", "Time of decisions.")
        for quantile, seconds in self.quantiles_s().items():
            yield f'mjbot_decision_seconds{{quantile="{quantile:g}"}} {seconds:.6f}'
        yield f"mjbot_decision_seconds_sum {self.decisions_s:.6f}"
        yield f"mjbot_decision_seconds_count {self.decisions}"
        yield from family("playing", "gauge", "Games that are being played.")
        yield f"mjbot_playing {sum(lane.state == 'playing' for lane in self.lanes)}"
        yield from memory()
