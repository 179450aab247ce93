"""What a bot's service does: its plan, whose parts are the groups of a profile.

The fields with an option are keys of the profile, as ``mjbot run`` reads it (`docs/profiles.md`).
"""

import argparse
from dataclasses import dataclass, field
from typing import Literal

from mjbot.play.client.play import Settings
from mjbot.play.client.player import MakeStrategy
from mjbot.play.service.files import Keeping
from mjbot.play.service.pacing import Hours
from mjbot.runtime.argument_types import count, games, patience, seconds
from mjbot.runtime.requests import option


def _hours(text: str) -> Hours:
    try:
        return Hours.read(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


@dataclass(frozen=True, kw_only=True)
class PlayPlan:
    """When and how often it plays."""

    games: int = option(0, "number of games; 0: without end", type=games)
    at_once: int = option(1, "games at the same time, each with a token of its own", type=count)
    pause_s: float = option(0.0, "pause between two games, in seconds", type=patience)
    hours: Hours | None = option(
        None, "local hours in which games begin, as 08:00-23:30 (default: always)", type=_hours
    )
    on_game_end: Literal["requeue", "stop"] = option(
        "requeue", "after a game: play the next, or end", choices=["requeue", "stop"]
    )
    on_disconnect: Literal["reconnect", "stop"] = option(
        "reconnect", "if the connection is lost in a game", choices=["reconnect", "stop"]
    )
    on_version_change: Literal["stop", "retry"] = option(
        "stop",
        "if a message does not fit the dialect or the rules: end, or wait and try again",
        choices=["stop", "retry"],
    )
    retry_s: float = option(3600.0, "pause of on_version_change = retry, in seconds", type=seconds)


@dataclass(frozen=True, kw_only=True)
class ConnectionPlan:
    """How it connects again after a failure."""

    silence_s: float | None = option(
        None, "time without a message, in seconds (default: the dialect's)", type=seconds
    )
    first_pause_s: float = option(
        1.0, "first pause; each further one is up to twice as long", type=seconds
    )
    longest_pause_s: float = option(300.0, "longest pause, in seconds", type=seconds)
    per_hour: int = option(30, "most attempts an hour after failures", type=count)


@dataclass(frozen=True, kw_only=True)
class ServicePlan:
    """What a bot's service does.

    ``tokens`` has a bearer token (or ``None``) for each connection.
    """

    settings: Settings
    make_strategy: MakeStrategy
    make_fallback: MakeStrategy | None = None
    fallback_s: float = 0.5
    strategy: str = ""
    tokens: tuple[str | None, ...] = field(default=(None,), repr=False)
    play: PlayPlan = field(default_factory=PlayPlan)
    connection: ConnectionPlan = field(default_factory=ConnectionPlan)
    keeping: Keeping = field(default_factory=Keeping)
