"""Progress of long work: a bar on a terminal, a line now and then anywhere else."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from mjbot.runtime.languages import marked, translate

INTERVAL_S: Final = 30.0
"""Seconds between two lines where there is no terminal."""


_REFRESHES: Final = 5.0
"""Of a bar, per second; each takes 2 ms of what the work could have."""

_LEAST_DONE: Final = 0.05
"""Fraction of the work after which the time of the rest is estimated."""


class Step(Protocol):
    """Takes note that work got on."""

    def __call__(self, advance: float = 1, note: str = "") -> None:
        """Add ``advance`` to what is done; ``note`` is the current work (empty: as before)."""


@contextlib.contextmanager
def progress(
    console: Console,
    what: str,
    total: float | None = None,
    unit: str = "",
    *,
    is_bound: bool = False,
    interval_s: float = INTERVAL_S,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Step]:
    """Show how the work ``what`` gets on; yields the function to call with each step.

    ``what`` and ``unit`` are shown in the language of the process.  ``total`` is how many ``unit``
    ("games") there are, ``None`` if that is not known; with ``is_bound`` it is only an upper bound.
    On a terminal a bar that goes away at the end; else a line at once and one every ``interval_s``
    seconds, by a thread of its own, so that lines also come while nothing gets on.  ``clock`` gives
    seconds.
    """
    state = _ProgressState(translate(what), total, translate(unit), is_bound)
    is_bar = console.is_terminal
    show = _bar(console, state, clock) if is_bar else _lines(console, state, interval_s, clock)
    with show as step:
        yield step


@dataclass
class _ProgressState:
    what: str
    total: float | None
    unit: str
    is_bound: bool = False
    done: float = 0.0
    note: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def step(self, advance: float = 1, note: str = "") -> None:
        with self.lock:
            self.done += advance
            self.note = note or self.note

    def counted(self) -> str:
        """Return ``3/48 games``, ``3 of at most 48 games``, or what of that is known."""
        if self.total is None and not self.done:
            return ""
        done, total = f"{self.done:.0f}", f"{self.total or 0:.0f}"
        if self.total is None:
            return translate("{done} {unit}", done=done, unit=self.unit).strip()
        if self.is_bound:
            text = marked("{done} of at most {total} {unit}")
        else:
            text = marked("{done}/{total} {unit}")
        return translate(text, done=done, total=total, unit=self.unit).strip()

    def left(self, seconds: float) -> str:
        """Return about how long the rest takes if it goes on as in the first ``seconds``.

        That is unknown where ``total`` is only a bound.
        """
        if self.total is None or self.is_bound:
            return ""
        if self.done < _LEAST_DONE * self.total or self.done >= self.total:
            return ""
        rest = elapsed(seconds * (self.total / self.done - 1))
        return translate("about {time} left", time=rest)


@contextlib.contextmanager
def _bar(
    console: Console,
    state: _ProgressState,
    clock: Callable[[], float],
) -> Iterator[Step]:
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[counted]}", markup=False),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}", markup=False),
        TextColumn("{task.fields[note]}", style="dim", markup=False),
    )
    start = clock()
    with Progress(*columns, console=console, transient=True, refresh_per_second=_REFRESHES) as bar:
        task = bar.add_task(
            state.what, total=state.total, counted=state.counted(), note="", left=""
        )

        def step(advance: float = 1, note: str = "") -> None:
            state.step(advance, note)
            left = state.left(clock() - start)
            done, counted = state.done, state.counted()
            bar.update(task, completed=done, counted=counted, note=state.note, left=left)

        yield step


@contextlib.contextmanager
def _lines(
    console: Console, state: _ProgressState, interval_s: float, clock: Callable[[], float]
) -> Iterator[Step]:
    start = clock()
    over = threading.Event()

    def print_line(text: str) -> None:
        console.print(text, highlight=False, markup=False, soft_wrap=True)

    def print_lines() -> None:
        while not over.wait(interval_s):
            seconds = clock() - start
            parts = [state.counted(), elapsed(seconds), state.left(seconds), state.note]
            print_line(f"{state.what}: {', '.join([part for part in parts if part])}")

    print_line(f"{state.what} ...")
    printer = threading.Thread(target=print_lines, name="progress", daemon=True)
    printer.start()
    try:
        yield state.step
    finally:
        over.set()
        printer.join()


def elapsed(seconds: float) -> str:
    """Format a duration.

    >>> elapsed(9.7), elapsed(150), elapsed(7260)
    ('9 s', '2 min 30 s', '2 h 1 min')
    """
    minutes, rest = divmod(int(seconds), 60)
    if not minutes:
        return translate("{s} s", s=rest)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return translate("{h} h {min} min", h=hours, min=minutes)
    return translate("{min} min {s} s", min=minutes, s=rest)
