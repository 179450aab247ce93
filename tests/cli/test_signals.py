"""What a signal does to a program in any of its phases; small programs, so that they start fast."""

import signal
import subprocess
import sys
import textwrap

import pytest

from mjbot.runtime.errors import ExitCode

GUARD_S = 300
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
HEAD = """
import asyncio, ctypes, os, signal, sys, threading, time
from mjbot.runtime.interruption import ending_at_once, run_until_signalled

def say(text):
    print(text, flush=True)

def forever():
    while True:
        try:
            time.sleep(1000)
        except BaseException:
            say("swallowed")

def to_the_end(main):
    try:
        with ending_at_once():
            run_until_signalled(main)
    except KeyboardInterrupt:
        say("interrupted")
        os._exit(130)
    say("done")
"""


class Process:
    """Says, line by line, how far it is."""

    def __init__(self, *words):
        self.process = subprocess.Popen(
            [sys.executable, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def expect(self, line):
        received = self.process.stdout.readline()
        assert received == f"{line}\n"

    def send(self, number):
        self.process.send_signal(number)

    def end(self):
        """Return what else it says, once it has ended."""
        rest, _ = self.process.communicate(timeout=GUARD_S)
        return rest


class Program(Process):
    """A few lines of Python, after those that all of them need."""

    def __init__(self, source):
        super().__init__("-c", HEAD + textwrap.dedent(source))


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_signal_cancels_and_what_is_open_is_tidied(number):
    program = Program("""
        async def main():
            try:
                say("waiting")
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)
                say("tidied")
        to_the_end(main())
    """)
    program.expect("waiting")
    program.send(number)
    assert program.end() == "tidied\ninterrupted\n"
    assert program.process.returncode == ExitCode.INTERRUPTED


@pytest.mark.parametrize(
    ("error", "has_traceback"), [("OSError('full')", False), ("KeyError('seat')", True)]
)
def test_an_error_of_what_tidies_is_logged(error, has_traceback):
    program = Program(f"""
        async def main():
            try:
                say("waiting")
                await asyncio.Event().wait()
            finally:
                raise {error}
        to_the_end(main())
    """)
    program.expect("waiting")
    program.send(signal.SIGINT)
    *logged, last = program.end().splitlines()
    assert last == "interrupted"
    assert logged[0].startswith("at the end after a signal: ")
    assert ("Traceback (most recent call last):" in logged) is has_traceback
    assert program.process.returncode == ExitCode.INTERRUPTED


@pytest.mark.parametrize("number", SIGNALS)
def test_the_second_signal_ends_what_will_not_end(number):
    program = Program("""
        async def main():
            while True:
                say("waiting")
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    pass
        to_the_end(main())
    """)
    for _ in range(2):
        program.expect("waiting")
        program.send(number)
    assert program.end() == ""
    assert program.process.returncode == ExitCode.INTERRUPTED


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize(
    "where",
    ["ctypes.CFUNCTYPE(None)(work)()", "type('Dying', (), {'__del__': lambda self: work()})()"],
    ids=["callback", "del"],
)
def test_while_nothing_is_open_no_code_can_swallow_a_signal(where, number):
    program = Program(f"""
        def work():
            say("working")
            forever()
        with ending_at_once():
            {where}
    """)
    program.expect("working")
    program.send(number)
    assert program.end() == ""
    assert program.process.returncode == ExitCode.INTERRUPTED


def test_a_second_signal_ends_even_a_main_thread_that_does_not_come_back():
    program = Program("""
        async def main():
            say("working")
            try:
                time.sleep(1000)
            finally:
                say("left")
        signal.signal(signal.SIGWINCH, lambda *_: say("awake"))
        to_the_end(main())
    """)
    program.expect("working")
    program.send(signal.SIGTERM)
    program.send(signal.SIGWINCH)
    program.expect("awake")  # the first was handled before: its number is lower
    program.send(signal.SIGTERM)
    assert program.end() == ""
    assert program.process.returncode == ExitCode.INTERRUPTED


def test_a_signal_that_another_thread_gets_wakes_the_loop():
    program = Program("""
        async def main():
            asyncio.get_running_loop().call_soon(threading.Thread(target=hit).start)
            await asyncio.Event().wait()
        def hit():
            signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
        to_the_end(main())
    """)
    assert program.end() == "interrupted\n"
    assert program.process.returncode == ExitCode.INTERRUPTED


def test_a_name_that_is_never_looked_up_keeps_nobody_from_ending():
    program = Program("""
        async def main():
            await asyncio.to_thread(looking_up)
        def looking_up():
            say("looking up")
            threading.Event().wait()
        to_the_end(main())
    """)
    program.expect("looking up")
    program.send(signal.SIGTERM)
    assert program.end() == "interrupted\n"
    assert program.process.returncode == ExitCode.INTERRUPTED


def test_a_signal_wins_over_what_goes_wrong_because_of_it():
    program = Program("""
        async def main():
            try:
                say("waiting")
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                raise ConnectionError("the line is gone") from None
        to_the_end(main())
    """)
    program.expect("waiting")
    program.send(signal.SIGINT)
    assert program.end() == "interrupted\n"
    assert program.process.returncode == ExitCode.INTERRUPTED


def test_what_the_program_was_told_to_ignore_it_ignores():
    """As ``nohup`` does."""
    source = """
        async def main():
            say("waiting")
            await asyncio.to_thread(sys.stdin.readline)
        to_the_end(main())
    """
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        program = Program(source)
    finally:
        signal.signal(signal.SIGHUP, before)
    program.expect("waiting")
    program.send(signal.SIGHUP)
    program.process.stdin.write("go on\n")
    assert program.end() == "done\n"
    assert program.process.returncode == ExitCode.OK


@pytest.mark.parametrize(("signals", "status"), [(1, ExitCode.FAILED), (2, ExitCode.INTERRUPTED)])
def test_sigterm_after_the_work_of_a_service_leaves_it_its_status_once(signals, status):
    program = Program(f"""
        from mjbot.runtime.interruption import take_signals_of_a_service

        def terminate():
            os.kill(os.getpid(), signal.SIGTERM)

        async def late():
            try:
                await asyncio.Event().wait()
            finally:
                terminate()

        async def main():
            main.late = asyncio.create_task(late())
            await asyncio.sleep(0)
            return 1

        take_signals_of_a_service(reloads=False)
        with ending_at_once():
            status = run_until_signalled(main(), lambda: None)
        if {signals} > 1:
            terminate()
        sys.exit(status)
    """)
    assert program.end() == ""
    assert program.process.returncode == status


def test_handlers_are_given_back():
    program = Program("""
        def handlers():
            numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
            return [signal.getsignal(number) for number in numbers], signal.set_wakeup_fd(-1)
        async def main():
            pass
        before = handlers()
        to_the_end(main())
        assert handlers() == before
    """)
    assert program.end() == "done\n"
    assert program.process.returncode == ExitCode.OK


@pytest.mark.parametrize(
    ("command", "number"),
    [
        (["play", "mjsonp://127.0.0.1:9/x", "--strategy"], signal.SIGINT),
        (["match", "tsumogiri", "tsumogiri", "tsumogiri"], signal.SIGTERM),
        (["duo", "--top"], signal.SIGINT),
    ],
    ids=lambda words: words[0] if isinstance(words, list) else words.name,
)
def test_getting_ready_is_ended_even_while_compiled_code_calls_back(command, number, tmp_path):
    (tmp_path / "stuck.py").write_text(
        "import ctypes, time\n"
        "def work():\n"
        "    print('working', flush=True)\n"
        "    while True:\n"
        "        time.sleep(1000)\n"
        "ctypes.CFUNCTYPE(None)(work)()\n"
    )
    process = Process("-m", "mjbot", *command, f"{tmp_path / 'stuck.py'}:Stuck")
    process.expect("working")
    process.send(number)
    assert process.end() == ""
    assert process.process.returncode == ExitCode.INTERRUPTED


@pytest.mark.parametrize("number", SIGNALS[:2])
def test_a_signal_while_our_modules_are_imported_ends_without_a_word(number):
    program = Program("""
        class Importer:
            def find_spec(name, path, target=None):
                if name == "mjbot.cli.main":
                    say("importing")
                    forever()
        sys.meta_path.insert(0, Importer)
        from mjbot.__main__ import run
        run()
    """)
    program.expect("importing")
    program.send(number)
    assert program.end() == ""
    assert program.process.returncode == ExitCode.INTERRUPTED


@pytest.mark.parametrize("number", SIGNALS[:2])
def test_a_signal_after_the_work_only_shortens_the_way_out(number):
    program = Program("""
        import atexit
        from mjbot.cli import main as command

        def leave():
            say("leaving")
            while True:
                signal.pause()

        atexit.register(leave)
        command.run_program(lambda: 3)
    """)
    program.expect("leaving")
    program.send(number)
    assert program.end() == ""
    assert program.process.returncode == 3
