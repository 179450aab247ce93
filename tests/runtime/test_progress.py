"""Long work says what it does, on a terminal and where its output is a file or a pipe."""

import io
import itertools
import threading

from rich.console import Console

from mjbot.runtime.progress import _ProgressState, progress


class _Paper(io.StringIO):
    """A file that says when it has been written to so many lines."""

    def __init__(self, lines):
        super().__init__()
        self._lines = lines
        self.full = threading.Event()

    def write(self, text):
        written = super().write(text)
        if self.getvalue().count("\n") >= self._lines:
            self.full.set()
        return written


def test_in_a_file_there_is_a_line_at_once_and_then_lines_while_nothing_gets_on():
    paper = _Paper(3)
    ticks = itertools.chain([0.0, 31.0], itertools.repeat(95.0))
    with progress(Console(file=paper), "playing", interval_s=0.001, clock=lambda: next(ticks)):
        assert paper.getvalue().startswith("playing ...\n")
        assert paper.full.wait(300)
    assert paper.getvalue().splitlines()[:3] == [
        "playing ...",
        "playing: 31 s",
        "playing: 1 min 35 s",
    ]


def test_a_line_says_how_much_of_how_much_is_done_and_what_is_being_done():
    paper = io.StringIO()
    once = _Once()
    with progress(
        Console(file=paper), "playing", 48, "games", interval_s=0.001, clock=once.clock
    ) as step:
        step()
        step(2, note="[B] against C")
        once.go_on()
        assert once.asked_again.wait(300)
    assert "playing: 3/48 games, 7 s, about 1 min 45 s left, [B] against C\n" in paper.getvalue()


class _Once:
    """A clock that stands still until it is told to go on."""

    def __init__(self):
        self._start = True
        self._may = threading.Event()
        self.asked_again = threading.Event()
        self._asked = 0

    def go_on(self):
        self._may.set()

    def clock(self):
        if self._start:
            self._start = False
            return 0.0
        self._may.wait(300)
        self._asked += 1
        if self._asked > 2:
            self.asked_again.set()
        return 7.0


def test_an_upper_bound_is_shown_as_one():
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100, color_system=None)
    with progress(console, "compiling", 390, "functions", is_bound=True) as step:
        step(117)
    assert "117 of at most 390 functions" in screen.getvalue()
    assert "left" not in screen.getvalue()


def test_the_time_that_is_left_is_estimated_once_enough_is_done():
    state = _ProgressState("compiling", 400, "functions")
    state.step(19)
    assert state.left(5.0) == ""
    state.step(181)
    assert state.left(20.0) == "about 20 s left"
    state.step(200)
    assert state.left(40.0) == ""


def test_the_work_s_own_failure_goes_through_and_no_line_comes_after_it():
    paper = io.StringIO()
    try:
        with progress(Console(file=paper), "playing", interval_s=300):
            raise KeyError("own")
    except KeyError as error:
        assert error.args == ("own",)
    assert paper.getvalue() == "playing ...\n"
    assert not [thread for thread in threading.enumerate() if thread.name == "progress"]


def test_on_a_terminal_a_bar_shows_the_work_and_goes_away():
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100, color_system=None)
    with progress(console, "playing", 4, "games") as step:
        step(3, note="the third")
    shown = screen.getvalue()
    assert "playing" in shown
    assert "3/4 games" in shown
    assert "playing ..." not in shown
