"""What happens in a pair's game, in one line each."""

from collections.abc import Sequence
from typing import Final

from mjbot.arena.count_events import EXHAUSTIVE_REASONS
from mjbot.duo.score import seats_of
from protocol.messages import (
    Chi,
    Daiminkan,
    Event,
    Hora,
    Pon,
    Ryukyoku,
    StartGame,
    StartKyoku,
    wire_name,
)

FEED: Final = "bold green"
CALL: Final = "green"
GAIN: Final = "cyan"
LOSS: Final = "red"
OTHER: Final = "dim"


class Teller:
    """Says what the two do for each other, and how each kyoku ends.

    ``names`` are the pair's names at the table, ``labels`` what they are called here.
    """

    def __init__(self, names: Sequence[str], labels: Sequence[str]) -> None:
        self._names: Final = tuple(names)
        self._labels: Final = tuple(labels)
        self._at_table: tuple[str, ...] = ()
        self._pair: tuple[int, ...] = ()
        self._where = ""

    def line(self, event: Event) -> tuple[str, str] | None:
        """Return what to say of an event, and in which style; ``None`` if nothing."""
        match event:
            case StartGame(names=names):
                self._sit_down(names or ("?",) * 4)
            case StartKyoku():
                self._where = f"{event.bakaze}{event.kyoku}-{event.honba}"
            case Chi() | Pon() | Daiminkan() if self._allied(event.actor, event.target):
                text = f"{self._who(event.target)} gives {event.pai}, {self._who(event.actor)}"
                return f"  {self._where}  {text} calls {wire_name(event)}", CALL
            case Hora():
                text, style = self._win(event)
                return f"{self._where}  {text}", style
            case Ryukyoku():
                return f"{self._where}  {self._draw(event)}", OTHER
        return None

    def _sit_down(self, names: Sequence[str]) -> None:
        self._pair = seats_of(self._names, names) or ()
        here = dict(zip(self._names, self._labels, strict=True))
        self._at_table = tuple([here.get(name, name) for name in names])

    def _who(self, seat: int) -> str:
        return self._at_table[seat]

    def _allied(self, one: int, other: int) -> bool:
        return one != other and one in self._pair and other in self._pair

    def _win(self, win: Hora) -> tuple[str, str]:
        winner = self._who(win.actor)
        worth = "" if win.hora_points is None else f" {win.hora_points}"
        yaku = " ".join([name for name, _ in win.yakus or ()])
        what = f"{worth} ({yaku})" if yaku else worth
        loser = self._who(win.target)
        if self._allied(win.actor, win.target):
            # Whether it was meant does not show at the table.
            return f"SASHIKOMI: {loser} deals in to its ally {winner} {win.pai or ''}:{what}", FEED
        style = GAIN if win.actor in self._pair else LOSS if win.target in self._pair else OTHER
        if win.actor == win.target:
            return f"{winner} draws it and wins{what}", style
        return f"{winner} wins from {loser}{what}", style

    def _draw(self, draw: Ryukyoku) -> str:
        if draw.reason not in (None, *EXHAUSTIVE_REASONS):
            return f"abortive draw ({draw.reason})"
        tenpai = [self._who(seat) for seat in range(4) if draw.tenpais and draw.tenpais[seat]]
        return f"exhaustive draw, tenpai: {', '.join(tenpai) or 'nobody'}"
