"""Recorded games as choices: after each event, the seats with a choice, and their actions."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, takewhile
from os import PathLike
from pathlib import Path
from typing import Final

from mjbot.game.records.game import HandProblem, hand_problems, rules_text
from mjbot.game.records.other_rules import named_problem
from mjbot.game.records.sources import open_games
from mjbot.game.table.actions import ACTIONS, DISCARD, DISCARD_DRAWN, PASS, Action
from mjbot.game.table.mirror.mirror import Mirror, TableError
from mjbot.game.table.mirror.wire import to_action
from mjbot.game.table.state import CHANKAN, REACTION, State
from mjbot.game.table.view import Sealed, View
from mjbot.protocol import messages as m
from mjbot.protocol.rules import Rules
from mjbot.protocol.tiles import TILE_BY_NAME, WIND_NAMES
from mjbot.runtime.checked_arguments import path_of

AHEAD: Final = 3
"""Events examined after a position: so many may win on one tile."""
PLAYED_OUT: Final = ("fanpai", "nagashimangan")
"""Draws in which no seat has taken the last tile."""

# Of several calls of a tile the highest gets it, but every ron counts.
_CHI: Final = 1
_PON: Final = 2
_RON: Final = 3
_WISHES: Final = {"chi": _CHI, "pon": _PON, "daiminkan": _PON, "ron": _RON}


@dataclass(frozen=True)
class ReplayStep:
    """An event, its number from 1, the table after it, and the (at most three) events to come."""

    number: int
    event: m.Event
    table: Mirror
    following: tuple[m.Event, ...]

    @property
    def next(self) -> m.Event | None:
        """The next event, ``None`` at the end of the log."""
        return self.following[0] if self.following else None

    def choices(self, seat: int) -> tuple[Action, ...]:
        """Return the choices of a seat whose hand is known, if there are any."""
        legal = self.table.legal(seat)
        return legal if len(legal) > 1 else ()

    def recorded(self, seat: int) -> Action | None:
        """Return the choice of the seat, which has one; ``None`` where it is unknown."""
        if self.next is None:
            return None
        try:
            if int(self.table.state["phase"]) in (REACTION, CHANKAN):
                return self._choice(seat)
            return to_action(self.table.state, seat, self.next)
        except ValueError:
            return None

    def discard_after(self, seat: int) -> Action | None:
        """Return the discard with which the seat followed its riichi, pon or chi."""
        if len(self.following) < 2 or isinstance(self.following[0], m.Dahai | m.Tsumo):
            return None
        first, second = self.following[:2]
        if not isinstance(second, m.Dahai) or second.actor != seat:
            return None
        if getattr(first, "actor", None) != seat:
            return None
        return ACTIONS[(DISCARD_DRAWN if second.tsumogiri else DISCARD) + TILE_BY_NAME[second.pai]]

    def _choice(self, seat: int) -> Action | None:
        """Return the seat's answer to a tile on offer, unless another's call may have hidden it.

        A possible chi is unknown after another's pon; a seat that could only win has passed.
        """
        if isinstance(self.next, m.Ryukyoku) and self.next.reason not in PLAYED_OUT:
            return None
        passed = list(takewhile(_takes, self.following))
        for event in passed:
            if getattr(event, "actor", None) == seat:
                return to_action(self.table.state, seat, event)
        hidden = 0
        if passed:
            hidden = _CHI if isinstance(passed[0], m.Chi) else _PON
        wishes = [_WISHES[action.name] for action in self.choices(seat) if not action.is_pass]
        return ACTIONS[PASS] if min(wishes) > hidden else None


def _takes(event: m.Event) -> bool:
    return isinstance(event, m.Hora | m.Chi | m.Pon | m.Daiminkan)


def steps(
    log: Path, problems: list[HandProblem] | None = None, rules: Rules | None = None
) -> Iterator[ReplayStep]:
    """Return the events of all games of a log; a step's table is good until the next one.

    What is wrong with single hands is added to ``problems``, game by game; ``rules`` replace those
    of the games.
    Raises ``OSError``, :class:`~mjbot.game.records.game.RecordError` and
    :class:`~mjbot.game.table.mirror.mirror.TableError`.
    """
    return steps_of(_events(log, [] if problems is None else problems, rules))


def _events(log: Path, problems: list[HandProblem], rules: Rules | None) -> Iterator[m.Event]:
    for game in open_games(log, rules):
        for entry in game.entries:
            yield entry.event
        if game.hands.rules:
            text = rules_text(game.hands.rules, game.name)
            problems.append(HandProblem(text, is_loss=False))
        problems += hand_problems(game)


def steps_of(events: Iterable[m.Event], strict: bool = True) -> Iterator[ReplayStep]:
    """Yield the same for events; a table that is not strict plays on past a contradiction."""
    coming = iter(events)
    table = Mirror(strict=strict)
    before: m.Event | None = None
    ahead = deque(islice(coming, 1 + AHEAD))
    number = 0
    while ahead:
        number += 1
        event = ahead.popleft()
        if isinstance(event, m.StartGame):
            table = Mirror(strict=strict)
        try:
            table.apply(event)
        except TableError as error:
            raise TableError(named_problem(error, table.state, before), event) from None
        before = before if isinstance(event, m.Dora) else event
        yield ReplayStep(number, event, table, tuple(ahead))
        ahead.extend(islice(coming, 1))


def recorded_decisions(path: str | PathLike[str]) -> Iterator[tuple[View, Action]]:
    """Return every choice in the records at ``path``: what the seat saw, and what it chose.

    ``path`` is a file, a folder or a zip of any format.  Choices that no record can show (whether
    a seat would have called a tile that another took) and those of hidden hands are left out.  A
    view stays as it is.  Raises as :func:`steps`.
    """
    return _decisions(path_of(path))  # a wrong argument is refused here, not at the first choice


def _decisions(path: Path) -> Iterator[tuple[View, Action]]:
    numbering = Numbering()
    for step in steps(path):
        for seat in numbering.choosers(step):
            action = step.recorded(seat)
            if action is not None:
                yield Sealed().view(step.table.view(seat)), action


class Numbering:
    """Numbers each seat's choices in a kyoku; to be shown every step."""

    def __init__(self) -> None:
        self._chosen: Counter[int] = Counter()

    def choosers(self, step: ReplayStep) -> dict[int, int]:
        """Return seat -> the number, from 1 in each kyoku, of the choice that it has now.

        An accepted riichi and a turned dora do not change the choice: the choice comes after
        them.
        """
        if isinstance(step.event, m.StartKyoku):
            self._chosen.clear()
        if isinstance(step.next, m.ReachAccepted | m.Dora):
            return {}
        able = [seat for seat in range(4) if step.choices(seat)]
        self._chosen.update(able)
        return {seat: self._chosen[seat] for seat in able}


def kyoku_name(state: State) -> str:
    """Return ``E2-1`` for East 2 honba 1."""
    wind, number = divmod(int(state["round"]), 4)
    return f"{WIND_NAMES[wind % 4]}{number + 1}-{int(state['honba'])}"
