"""Strategies that misbehave, each in its own way, and one that plays at random."""

import os
import random
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from mjbot.game.table.actions import Action
from mjbot.game.table.view import View
from mjbot.runtime.compiler.compiled import compiled
from mjbot.strategy.strategy import Strategy


@dataclass
class Dice(Strategy):
    """Chooses at random, but wins when it can: two of them differ by nothing but luck."""

    players: ClassVar[tuple[int, ...]] = (3, 4)
    seed: int = 0

    def __post_init__(self) -> None:
        self._dice = random.Random(self.seed)

    def decide(self, view: View) -> Action:
        wins = [action for action in view.legal if action.name in ("tsumo", "ron")]
        return wins[0] if wins else self._dice.choice(view.legal)


class DiceForThree(Dice):
    players = (3,)


@dataclass
class Troubled(Strategy):
    """Discards what it drew; from its ``at``-th decision on, ``times`` times, goes wrong."""

    players: ClassVar[tuple[int, ...]] = (3, 4)
    at: int = 5
    times: int = 1

    def __post_init__(self) -> None:
        self.decisions = 0

    def decide(self, view: View) -> Action:
        self.decisions += 1
        if self.at <= self.decisions < self.at + self.times:
            return self.go_wrong(view)
        return view.default_action

    def go_wrong(self, view: View) -> Action:
        raise NotImplementedError


class Crashing(Troubled):
    def go_wrong(self, view: View) -> Action:
        raise KeyError("no such plan")


class Leaving(Troubled):
    def go_wrong(self, view: View) -> Action:
        raise SystemExit(3)


class Cheating(Troubled):
    def go_wrong(self, view: View) -> Action:
        return Action(75, "tsumo")


class Silent(Troubled):
    def go_wrong(self, view: View) -> Action:
        return None  # type: ignore[return-value]


class Slow(Troubled):
    """Is late for good, and does not even let itself be interrupted the usual way."""

    def go_wrong(self, view: View) -> Action:
        while True:
            try:
                time.sleep(60)
            except Exception:
                continue


@dataclass
class Dying(Strategy):
    """Discards what it drew, but its process ends when East 1 comes to 33 tiles on its turn."""

    def decide(self, view: View) -> Action:
        if view.round == 0 and view.wall_left == 33 and view.drawn >= 0:
            return self.end(view)
        return view.default_action

    def end(self, view: View) -> Action:
        os._exit(7)


class Stuck(Dying):
    """Loops there in compiled code, where no signal gets through."""

    def end(self, view: View) -> Action:
        return view.legal[_for_ever(1)]


class Assassin(Strategy):
    """Discards what it drew, and sends the arena a signal when a file asks for it.

    ``send-NUMBER`` in the current folder holds the file of games to watch and how many lines it
    must have first; it is gone before the signal is sent.
    """

    def decide(self, view: View) -> Action:
        for order in Path.cwd().glob("send-*"):
            watched, lines = contents(order).split()
            if contents(Path(watched)).count("\n") >= int(lines):
                order.unlink()
                os.kill(os.getppid(), int(order.name.split("-")[1]))
        return view.default_action


class Chatty(Strategy):
    """Tells the world what it does."""

    def decide(self, view: View) -> Action:
        print("I discard what I drew")
        return view.default_action


class Unstartable(Strategy):
    def start_game(self, seat: int, names: tuple[str, ...]) -> None:
        raise RuntimeError("not today")

    def decide(self, view: View) -> Action:
        return view.default_action


class Deaf(Dying):
    """Sleeps there for good, and swallows every interruption."""

    def end(self, view: View) -> Action:
        while True:
            try:
                time.sleep(60)
            except BaseException:
                continue


class Interrupting(Troubled):
    def go_wrong(self, view: View) -> Action:
        raise KeyboardInterrupt


class Forking(Troubled):
    def go_wrong(self, view: View) -> Action:
        os.fork()
        return view.default_action


class Careless(Troubled):
    """Counts in the hand that it was shown."""

    def go_wrong(self, view: View) -> Action:
        left = view.hand
        left[view.legal[0].tile % 34] = 0
        return view.default_action


class Forging(Troubled):
    """Gives itself points, through the record."""

    def go_wrong(self, view: View) -> Action:
        view.state["scores"][view.seat] += 10_000
        return view.default_action


class Hanging(Strategy):
    """Never comes to a decision."""

    def decide(self, view: View) -> Action:
        while True:
            pass


class Needy(Strategy):
    """Cannot be made without being told how deep to think."""

    def __init__(self, depth: int) -> None:
        self.depth = depth

    def decide(self, view: View) -> Action:
        return view.default_action


class Endless(Strategy):
    """Is never made."""

    def __init__(self) -> None:
        while True:
            pass

    def decide(self, view: View) -> Action:
        return view.default_action


class Deadly(Strategy):
    """Ends its process at once, in every game."""

    def decide(self, view: View) -> Action:
        os._exit(7)


@compiled
def _for_ever(step: int) -> int:
    n = 0
    while n >= 0:
        n = (n + step) & 1023
    return n


def contents(path: Path) -> str:
    """Read a file that is not among what the games depend on: it is open for writing."""
    with path.open("r+") as file:
        return file.read()


class Relabelling(Troubled):
    """Writes a tsumo into the list of what is legal, and chooses it."""

    def go_wrong(self, view: View) -> Action:
        tsumo = Action(75, "tsumo")
        vars(view).update(codes=bytes([tsumo.code]), legal=(tsumo,))
        return tsumo
