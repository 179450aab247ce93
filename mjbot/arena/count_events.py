"""The same counts from events: for games that somebody else's table plays, and as a check."""

from typing import Final

from mjbot.arena.counts import Counts, no_counts
from protocol import messages as m

EXHAUSTIVE_REASONS: Final = ("fanpai", "nagashimangan")


class EventCounter:
    """Takes the unmasked events of one game; :attr:`counts` are valid after each kyoku."""

    def __init__(self) -> None:
        self.counts: Final[Counts] = no_counts()
        self._riichi: set[int] = set()
        self._open: set[int] = set()
        self._discards = [0, 0, 0, 0]
        self._wins: list[m.Hora] = []

    def add(self, event: m.Event) -> None:
        """Take in one event."""
        match event:
            case m.StartKyoku():
                self._start_kyoku()
            case m.Dahai():
                self._discards[event.actor] += 1
            case m.Reach():
                self._riichi.add(event.actor)
            case m.Chi() | m.Pon() | m.Daiminkan():
                self._open.add(event.actor)
            case m.Hora():
                self._count_win(event)
            case m.Ryukyoku():
                self._count_draw(event)
            case _:
                pass

    def _start_kyoku(self) -> None:
        self._riichi.clear()
        self._open.clear()
        self._discards = [0, 0, 0, 0]
        self._wins.clear()

    def _count_win(self, event: m.Hora) -> None:
        if not self._wins:
            self._count_end()
        self._wins.append(event)
        winner, by_draw = event.actor, event.actor == event.target
        points = event.hora_points or 0
        self.counts["wins"][winner] += 1
        self.counts["win_points"][winner] += points
        self.counts["win_turns"][winner] += self._discards[winner] + by_draw
        if not by_draw:
            self.counts["deal_ins"][event.target] += len(self._wins) == 1
            self.counts["deal_in_points"][event.target] += points
            self.counts["fed"][event.target][winner] += 1

    def _count_draw(self, event: m.Ryukyoku) -> None:
        self._count_end()
        self.counts["no_win"] += 1
        if event.reason in EXHAUSTIVE_REASONS:
            self.counts["draws"] += 1
            self.counts["tenpai"] += [bool(flag) for flag in event.tenpais or (False,) * 4]

    def _count_end(self) -> None:
        self.counts["kyoku"] += 1
        self.counts["riichi"][list(self._riichi)] += 1
        self.counts["calls"][list(self._open)] += 1
