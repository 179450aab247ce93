"""Arguments and defaults of the training: :mod:`mjbot.learning.training.requests`."""

from dataclasses import dataclass
from pathlib import Path

from mjbot.learning.training import runs
from mjbot.learning.training.requests import length_field
from mjbot.protocol.rules import Length
from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.requests import option


@dataclass(frozen=True, kw_only=True)
class GreedyRequest:
    """``python -m papers train-greedy``: what greedy players hold, counted over ``games``."""

    games: int = option(1000, "games to play", type=int)
    seed: int = option(0, "seed of the first game's walls", type=int)
    length: Length = length_field()
    out: Path | None = runs.out_field()

    def __post_init__(self) -> None:
        if self.games < 2:
            raise ArgumentError("--games: at least 2, for the intervals")
