"""One module knows what systems differ in; what takes the place of a missing name works."""

import ast
import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from mjbot.runtime import system

ROOT = Path(__file__).parents[2]
HOME = ROOT / "mjbot" / "runtime" / "system.py"
SHIPPED = [
    path
    for folder in ("mjbot", "protocol", "strategies", "papers", "examples")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if path != HOME
]
MODULES = {"_posixsubprocess", "_winapi", "fcntl", "grp", "msvcrt", "nt", "posix", "pty", "pwd"}
MODULES |= {"resource", "syslog", "termios", "tty", "winreg"}
NAMES = {
    name
    for line in """
    killpg getpgid getpgrp setpgid setpgrp setsid getsid fork forkpty fork_exec vfork wait3 wait4
    waitpid waitid WNOHANG getuid geteuid getgid getegid getgroups setuid setgid getlogin
    sched_getaffinity sched_setaffinity cpu_count process_cpu_count sysconf getloadavg nice
    getpriority setpriority mkfifo mknod chown fchown lchown chroot statvfs fstatvfs posix_fadvise
    posix_spawn ttyname openpty ctermid pidfd_open getrusage setrlimit getrlimit flock lockf locking
    pthread_sigmask pthread_kill sigwait sigpending siginterrupt setitimer getitimer alarm
    add_signal_handler remove_signal_handler interrupt_main CDLL WinDLL windll prctl
    mallopt create_unix_server create_unix_connection sendmsg
    preexec_fn start_new_session process_group creationflags startupinfo pass_fds dir_fd
    SIGKILL SIGHUP SIGALRM SIGPROF SIGVTALRM SIGSTOP SIGCONT SIGTSTP SIGUSR1 SIGUSR2 SIGQUIT SIGPIPE
    SIGCHLD SIGWINCH SIGBREAK CTRL_C_EVENT CTRL_BREAK_EVENT ITIMER_REAL ITIMER_PROF SIG_BLOCK
    SIG_SETMASK SIG_UNBLOCK AF_UNIX SO_PEERCRED SO_REUSEPORT O_NOFOLLOW O_DIRECTORY O_NONBLOCK
    O_CLOEXEC O_BINARY O_SYNC RUSAGE_SELF RUSAGE_CHILDREN CREATE_NEW_PROCESS_GROUP LOCK_EX LOCK_NB
    """.splitlines()
    for name in line.split()
}


def named(path: Path) -> set[str]:
    """Return what a file imports, and each name, argument and string that it has."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Import():
                found |= {f"import {alias.name}" for alias in node.names}
            case ast.ImportFrom():
                found |= {f"import {node.module}", *(alias.name for alias in node.names)}
            case ast.Attribute(attr=name) | ast.Name(id=name) | ast.keyword(arg=str(name)):
                found.add(name)
            case ast.Constant(value=str(name)):
                found.add(name)
    return found


def test_no_other_module_names_what_a_system_may_lack() -> None:
    unwanted = NAMES | {f"import {module}" for module in MODULES}
    assert {path: hits for path in SHIPPED if (hits := named(path) & unwanted)} == {}


def test_the_module_that_may_is_read_by_the_same_test() -> None:
    assert {"sched_getaffinity", "killpg", "CDLL", "SIGHUP", "AF_UNIX"} <= named(HOME)


@pytest.mark.parametrize("folder", ["bench", "proof"])
def test_long_checks_count_processors_as_commands_do(folder: str) -> None:
    files = [*(ROOT / folder).rglob("*.py")]
    assert [path for path in files if {"cpu_count", "process_cpu_count"} & named(path)] == []
    assert "cpu_count" not in (ROOT / "Makefile").read_text("utf-8")


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A system without POSIX's modules and calls."""
    for module in ("fcntl", "msvcrt", "resource"):
        monkeypatch.setitem(sys.modules, module, None)
    for name in ("killpg", "sysconf", "ttyname", "geteuid", "getegid", "sched_getaffinity"):
        monkeypatch.delattr(os, name, raising=False)
    monkeypatch.delattr(asyncio, "open_unix_connection", raising=False)
    monkeypatch.setattr(system, "_UNIX", None)
    return monkeypatch


# --- locks ---------------------------------------------------------------------------------------


class FakeMsvcrt(SimpleNamespace):
    """Locks of bytes, of which any descriptor holds one or none, as Windows has them."""

    LK_NBLCK = 2

    def __init__(self) -> None:
        super().__init__(held={}, positions=[])

    def locking(self, descriptor: int, mode: int, n_bytes: int) -> None:
        assert (mode, n_bytes) == (self.LK_NBLCK, 1)
        status, position = os.fstat(descriptor), os.lseek(descriptor, 0, os.SEEK_CUR)
        self.positions.append(position)
        if self.held.setdefault((status.st_ino, position), descriptor) != descriptor:
            raise PermissionError(13, "Permission denied")


@pytest.fixture(params=["fcntl", "msvcrt"])
def locks(request: pytest.FixtureRequest) -> FakeMsvcrt | None:
    if request.param == "fcntl":
        pytest.importorskip("fcntl")
        return None
    monkeypatch = request.getfixturevalue("bare")
    fake = FakeMsvcrt()
    monkeypatch.setitem(sys.modules, "msvcrt", fake)
    return fake


def test_a_locked_file_is_refused_and_reads_as_before(
    locks: FakeMsvcrt | None, tmp_path: Path
) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"one\ntwo\n")
    with path.open("a+b", buffering=0) as first, path.open("a+b", buffering=0) as second:
        first.seek(4)
        assert system.lock_file(first) and not system.lock_file(second)
        assert first.read() == b"two\n", "the position is kept"
        assert path.read_bytes() == b"one\ntwo\n"
        assert locks is None or min(locks.positions) > 2**30, "others can read what is there"


def test_a_closed_file_is_no_longer_locked(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    with (tmp_path / "lock").open("wb") as second:
        with (tmp_path / "lock").open("wb") as first:
            assert system.lock_file(first) and not system.lock_file(second)
        assert system.lock_file(second, wait=True)


def test_windows_waits_until_the_lock_is_free(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake = FakeMsvcrt()
    bare.setitem(sys.modules, "msvcrt", fake)
    bare.setattr(system.time, "sleep", lambda _: fake.held.clear())
    with (tmp_path / "lock").open("wb") as first, (tmp_path / "lock").open("wb") as second:
        assert system.lock_file(first) and system.lock_file(second, wait=True)


def test_a_system_without_locks_counts_a_file_as_locked(
    bare: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with (tmp_path / "lock").open("wb") as first, (tmp_path / "lock").open("wb") as second:
        assert system.lock_file(first) and system.lock_file(second)


def test_a_folder_that_cannot_be_opened_is_locked_by_a_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    open_ = os.open

    def windows_open(path: Path, *arguments: int) -> int:
        if Path(path).is_dir():
            raise PermissionError(13, "Permission denied", str(path))
        return open_(path, *arguments)

    monkeypatch.setattr(os, "open", windows_open)
    with system.locked_folder(tmp_path), (tmp_path / ".lock").open("rb") as file:
        assert not system.lock_file(file)
    with (tmp_path / ".lock").open("rb") as file:
        assert system.lock_file(file)


# --- processes -----------------------------------------------------------------------------------


def test_process_groups_of_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []
    monkeypatch.setattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0x200, raising=False)
    monkeypatch.setattr(signal, "CTRL_BREAK_EVENT", 1, raising=False)
    monkeypatch.delattr(os, "killpg", raising=False)
    monkeypatch.setattr(os, "kill", lambda *call: calls.append(call))
    status = 0

    def run(command: list[str], **_: object) -> SimpleNamespace:
        calls.append(command)
        return SimpleNamespace(returncode=status)

    monkeypatch.setattr(subprocess, "run", run)
    assert system.own_group(ends_with_us=True) == {"creationflags": 0x200}
    system.signal_group(71, signal.SIGTERM)
    system.signal_group(71, system.KILL)
    ended = ["taskkill", "/T", "/F", "/PID", "71"]
    assert calls == [(71, 1), ended]
    status = 128  # not there, or no such program
    system.signal_group(71, system.KILL)
    assert calls[2:] == [ended, (71, system.KILL)]


def test_without_groups_the_process_alone_is_ended(bare: pytest.MonkeyPatch) -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    system.signal_group(child.pid, system.KILL)
    child.communicate()
    assert child.returncode == -system.KILL
    system.signal_group(child.pid, system.KILL)  # it is gone: nothing is raised


def test_memory_is_unknown_without_the_system(bare: pytest.MonkeyPatch) -> None:
    assert system.memory_bytes() is None and system.peak_memory_bytes() is None
    assert system.user_id() is None and system.group_id() is None
    assert system.terminal_name(0) == ""


def test_without_unix_sockets_they_are_refused(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no Unix domain sockets"):
        system.unix_socket()
    with pytest.raises(OSError, match="no Unix domain sockets"):
        asyncio.run(system.open_unix_connection(tmp_path))


# --- signals and timers --------------------------------------------------------------------------


class _LateError(BaseException):
    pass


def _raise(*_: object) -> None:
    raise _LateError


@pytest.mark.parametrize("has_timer", [True, False])
def test_ticks_interrupt_the_main_thread(has_timer: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if has_timer and not hasattr(signal, "setitimer"):
        pytest.skip("no timer here")
    if not has_timer:
        monkeypatch.delattr(signal, "setitimer", raising=False)
        monkeypatch.setattr(system, "_TICK", signal.SIGFPE)
    before = signal.getsignal(signal.SIGFPE)
    with pytest.raises(_LateError), system.ticking(0.005, _raise):
        threads = [one for one in threading.enumerate() if one.name == "ticks"]
        until = time.monotonic() + 30
        while time.monotonic() < until:
            pass
    assert signal.getsignal(signal.SIGFPE) == before
    assert len(threads) == (not has_timer)
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()


@pytest.mark.parametrize("has_timer", [True, False])
def test_an_alarm_counts_processor_time(has_timer: bool) -> None:
    removal = "" if has_timer else "del signal.setitimer"
    program = f"""
import os, signal, time
{removal}
from mjbot.runtime.system import ProcessorAlarm
alarm = ProcessorAlarm(lambda *_: os._exit(5), look_s=0.01)
alarm.set(0.05)
alarm.set(0.0)
until = time.process_time() + 0.2
while time.process_time() < until: pass
print("not yet", flush=True)
alarm.set(0.05)
until = time.process_time() + 30
while time.process_time() < until: pass
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (5, b"not yet\n")


@pytest.mark.parametrize("has_handlers", [True, False])
def test_a_signal_calls_into_the_event_loop(
    has_handlers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = signal.getsignal(signal.SIGTERM)

    async def main() -> None:
        loop, came = asyncio.get_running_loop(), asyncio.Event()
        if not has_handlers:
            monkeypatch.setattr(loop, "add_signal_handler", _not_implemented)
        forget = system.on_signal(loop, signal.SIGTERM, came.set)
        signal.raise_signal(signal.SIGTERM)
        await asyncio.wait_for(came.wait(), 30)
        forget()

    asyncio.run(main())
    assert signal.getsignal(signal.SIGTERM) == (signal.SIG_DFL if has_handlers else before)


def _not_implemented(*_: object) -> None:
    raise NotImplementedError


def test_closing_the_console_is_a_termination() -> None:
    program = """
import signal
for name in ("SIGHUP", "SIGKILL", "SIGALRM"): delattr(signal, name)
signal.SIGBREAK = 21
import mjbot.runtime.system as system
print(system.ENDING_SIGNALS == (2, 15, 21), system.TERMINATIONS, system.HANGUP, system.KILL)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, cwd=ROOT
    )
    assert done.stdout.decode().strip() == "True (<Signals.SIGTERM: 15>, 21) None 15"
