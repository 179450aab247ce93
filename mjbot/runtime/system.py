"""What differs between operating systems: signals, process groups, locks, sockets, limits.

Only this module names what a system may lack (``fcntl``, ``resource``, ``os.killpg``, ``SIGHUP``,
``AF_UNIX``, ...), and gives what takes its place there.  It looks for the name itself and not for
the name of the system, so that a test can take names away.

| Linux, macOS | Windows |
|---|---|
| a session, ended with ``killpg`` | a process group, ended with Ctrl-Break, then ``taskkill`` |
| ``flock`` | ``msvcrt.locking`` of a byte that no file reaches |
| an interval timer | a thread, which calls the handler in the main thread |
| SIGTERM, SIGHUP | SIGTERM, SIGBREAK (the console closes) |
| a Unix domain socket | TCP on loopback |
| ``prctl``, ``mallopt`` (Linux alone) | nothing |
"""

import _thread
import contextlib
import importlib
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from io import FileIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import asyncio

Handler = Callable[..., object]


def _module(name: str) -> Any:
    """Return a module that not every system has, or ``None``."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


# --- signals -------------------------------------------------------------------------------------


def _signal(*names: str) -> signal.Signals | None:
    return next((getattr(signal, name) for name in names if hasattr(signal, name)), None)


HANGUP: Final = _signal("SIGHUP")
"""A terminal that closes, and a service's order to reload; ``None``: the system has none."""

_BREAK: Final = _signal("SIGBREAK")

TERMINATIONS: Final = tuple(number for number in (signal.SIGTERM, _BREAK) if number is not None)
"""The signals that ask a program to end."""

ENDING_SIGNALS: Final = tuple(
    number for number in (signal.SIGINT, *TERMINATIONS, HANGUP) if number is not None
)

KILL: Final = _signal("SIGKILL", "SIGTERM") or signal.SIGTERM
"""Ends a process at once, by :func:`signal_group`."""

PAUSE: Final = _signal("SIGSTOP")
RESUME: Final = _signal("SIGCONT")
"""``None``: no process can be stopped for a while."""

_TICK: Final = _signal("SIGALRM", "SIGFPE")
"""Without timers no error of arithmetic is a signal to Python: the handler is free for ticks."""


@contextlib.contextmanager
def without_ctrl_c() -> Iterator[None]:
    """Let processes that are started inside ignore Ctrl-C from their first moment, where possible.

    A mask is inherited.  Without masks a process ignores Ctrl-C as soon as its own code runs.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # else it starts with the first, and unmasks the signal
    set_mask: Handler = signal.pthread_sigmask
    before = set_mask(_number("SIG_BLOCK"), {signal.SIGINT})
    try:
        yield
    finally:
        set_mask(_number("SIG_SETMASK"), before)


def _number(name: str) -> int:
    return int(getattr(signal, name))


def on_signal(
    loop: "asyncio.AbstractEventLoop", number: int, call: Callable[[], object]
) -> Callable[[], None]:
    """Call something in an event loop at a signal; return what ends that.

    Outside the main thread nothing is called.
    """
    if threading.current_thread() is not threading.main_thread():
        return lambda: None
    try:
        loop.add_signal_handler(number, call)
    except (NotImplementedError, AttributeError):
        before = signal.signal(number, lambda *_: loop.call_soon_threadsafe(call))
        return lambda: void(signal.signal(number, before))
    return lambda: void(loop.remove_signal_handler(number))


def void(_: object) -> None:
    """Return nothing."""


@contextlib.contextmanager
def ticking(every_s: float, strike: Handler) -> Iterator[None]:
    """Call ``strike`` as a signal handler of the main thread every so many seconds inside."""
    assert _TICK is not None
    before = signal.signal(_TICK, strike)
    over = threading.Event()
    timer: Handler | None = getattr(signal, "setitimer", None)
    if timer is not None:
        timer(_number("ITIMER_REAL"), every_s, every_s)
    else:
        threading.Thread(target=_tick, args=(every_s, over), daemon=True, name="ticks").start()
    try:
        yield
    finally:
        over.set()
        if timer is not None:
            timer(_number("ITIMER_REAL"), 0.0)
        signal.signal(_TICK, before)


def _tick(every_s: float, over: threading.Event) -> None:
    assert _TICK is not None
    while not over.wait(every_s):
        _thread.interrupt_main(_TICK)


class ProcessorAlarm:
    """Calls ``strike`` once this process has used some more seconds of processor time.

    ``strike`` ends the process: it is called in the main thread, or where no timer counts processor
    time in a thread of its own.
    """

    def __init__(self, strike: Handler, *, look_s: float = 0.5) -> None:
        self._strike: Final = strike
        self._look_s: Final = look_s
        self._due_s = 0.0
        self._timer: Final[Handler | None] = getattr(signal, "setitimer", None)
        self._thread: threading.Thread | None = None

    def set(self, seconds: float) -> None:
        """Begin anew; 0: never."""
        if self._timer is not None:
            signal.signal(_number("SIGPROF"), self._strike)
            self._timer(_number("ITIMER_PROF"), seconds)
            return
        self._due_s = time.process_time() + seconds if seconds else 0.0
        if self._thread is None and seconds:
            self._thread = threading.Thread(target=self._watch, daemon=True, name="alarm")
            self._thread.start()

    def _watch(self) -> None:
        while not self._due_s or time.process_time() < self._due_s:
            time.sleep(self._look_s)
        self._strike()


# --- processes -----------------------------------------------------------------------------------

_PR_SET_PDEATHSIG: Final = 1
_M_MMAP_THRESHOLD: Final = -3


def own_group(*, ends_with_us: bool = False) -> dict[str, Any]:
    """Return the arguments of ``Popen`` for a process that is the first of a group of its own.

    Ctrl-C is then for this process alone.  With ``ends_with_us`` it ends with this process however
    that ends; on Linux alone.
    """
    if flags := getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0):
        return {"creationflags": flags}
    is_linux = sys.platform == "linux"
    ending = {"preexec_fn": end_with_parent} if ends_with_us and is_linux else {}
    return {"start_new_session": True, **ending}


def signal_group(group: int, number: int) -> None:
    """Send a signal to all processes of a group, which can outlive its leader.

    ``group`` is the id of a process that was started with :func:`own_group`.  On Windows
    :data:`KILL` ends that process with all that it has started, and any other signal is
    Ctrl-Break.
    """
    send: Handler | None = getattr(os, "killpg", None)
    ctrl_break: int | None = getattr(signal, "CTRL_BREAK_EVENT", None)
    with contextlib.suppress(OSError):
        if send is not None:
            send(group, number)
        elif ctrl_break is not None and number != KILL:
            os.kill(group, ctrl_break)
        elif ctrl_break is None or not _end_tree(group):
            os.kill(group, number)


def _end_tree(process: int) -> bool:
    """Let Windows end a process with all that it has started; return whether it did."""
    command = ["taskkill", "/T", "/F", "/PID", str(process)]
    with contextlib.suppress(OSError):
        return subprocess.run(command, check=False, capture_output=True).returncode == 0
    return False


def end_with_parent() -> None:
    """Ask Linux to kill this process when its parent dies, even by SIGKILL."""
    if sys.platform == "linux":
        c_library().prctl(_PR_SET_PDEATHSIG, KILL)


def return_blocks_from(size: int) -> None:
    """Let the C library return each block of so many bytes to the system once it is freed.

    Where the C library is not glibc nothing is done.
    """
    with contextlib.suppress(AttributeError, OSError):
        if sys.platform == "linux":
            c_library().mallopt(_M_MMAP_THRESHOLD, size)


def c_library() -> Any:
    """Return the C library; raises ``TypeError`` or ``OSError`` where it cannot be had."""
    import ctypes

    return ctypes.CDLL(None)


def available_processors() -> int:
    """Return on how many processors the system lets this process run."""
    affinity: Callable[[int], set[int]] | None = getattr(os, "sched_getaffinity", None)
    return (len(affinity(0)) if affinity is not None else os.cpu_count()) or 1


def memory_bytes(process: int | None = None) -> int | None:
    """Return the memory that a process (default: this one) holds; ``None`` where it is unknown.

    Where only the peak of this process is known, that.
    """
    page: Handler | None = getattr(os, "sysconf", None)
    with contextlib.suppress(OSError, ValueError, IndexError):
        if page is not None:
            file = Path("/proc", str(process or "self"), "statm")
            return int(file.read_text("ascii").split()[1]) * int(str(page("SC_PAGE_SIZE")))
    peaks = None if process else peak_memory_bytes()
    return peaks[0] if peaks else None


def machine_memory_bytes() -> int | None:
    """Return the memory of this machine; ``None`` where it is unknown."""
    value: Handler | None = getattr(os, "sysconf", None)
    with contextlib.suppress(OSError, ValueError):
        if value is not None:
            return int(str(value("SC_PHYS_PAGES"))) * int(str(value("SC_PAGE_SIZE")))
    return None


def peak_memory_bytes() -> tuple[int, int] | None:
    """Return the peak memory of this process and of the largest that it has started."""
    resource = _module("resource")
    if resource is None:
        return None
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    unit = 1 if sys.platform == "darwin" else 1 << 10
    own, other = (resource.getrusage(whose).ru_maxrss * unit for whose in kinds)
    return own, other


# --- users and terminals -------------------------------------------------------------------------


def user_id() -> int | None:
    """Return the number of the user, ``None`` where users have none."""
    return _id("geteuid")


def group_id() -> int | None:
    """Return the number of the user's group, ``None`` where groups have none."""
    return _id("getegid")


def _id(name: str) -> int | None:
    function: Callable[[], int] | None = getattr(os, name, None)
    return None if function is None else function()


def terminal_name(descriptor: int) -> str:
    """Return the device of a terminal; empty if there is none."""
    function: Callable[[int], str] | None = getattr(os, "ttyname", None)
    with contextlib.suppress(OSError):
        return "" if function is None else function(descriptor)
    return ""


# --- files ---------------------------------------------------------------------------------------

_OWN_FILE: Final[int] = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
"""Flags of ``os.open``: follow no link, change no byte."""


def open_own_file(path: Path) -> FileIO:
    """Open a file of ours for reading and writing; it is made if missing, and is no link."""
    return FileIO(os.open(path, os.O_RDWR | os.O_CREAT | _OWN_FILE, 0o666), "r+")


_BEYOND: Final = 0x7FFF_FFF0
"""The byte that is locked on Windows, where others cannot read what is locked."""
_LOOK_S: Final = 0.05
_FOLDER_LOCK: Final = ".lock"


def lock_file(file: IO[Any] | int, *, wait: bool = False) -> bool:
    """Lock a file until it is closed; return false if another has it.

    With ``wait`` wait for the other one; raises ``OSError`` where that cannot be.  Where the system
    has no locks, a file counts as locked.
    """
    descriptor = file if isinstance(file, int) else file.fileno()
    if fcntl := _module("fcntl"):
        flags = fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB
        try:
            fcntl.flock(descriptor, flags)
        except OSError:
            if wait:
                raise
            return False
    elif msvcrt := _module("msvcrt"):
        while not _lock_far_byte(msvcrt, descriptor):
            if not wait:
                return False
            time.sleep(_LOOK_S)
    return True


def _lock_far_byte(msvcrt: Any, descriptor: int) -> bool:
    position = os.lseek(descriptor, 0, os.SEEK_CUR)
    os.lseek(descriptor, _BEYOND, os.SEEK_SET)
    try:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    except OSError:
        return False
    finally:
        os.lseek(descriptor, position, os.SEEK_SET)
    return True


@contextlib.contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Keep other processes out of a block that works in a folder; if it cannot be, do not.

    Where a folder cannot be opened, a file in it is locked.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            try:
                opened = os.open(folder, os.O_RDONLY)
            except PermissionError:
                opened = os.open(folder / _FOLDER_LOCK, os.O_RDWR | os.O_CREAT, 0o600)
            stack.callback(os.close, opened)
            lock_file(opened, wait=True)
        yield


# --- sockets of this machine ---------------------------------------------------------------------

_UNIX: Final[int | None] = getattr(socket, "AF_UNIX", None)
HAS_UNIX_SOCKETS: Final = _UNIX is not None
LONGEST_PATH_BYTES: Final = 107 if sys.platform == "linux" else 103
"""Of a Unix domain socket's file: ``sun_path`` has 108 bytes on Linux, 104 elsewhere."""
_CREDENTIALS: Final = struct.Struct("iII")
"""What ``SO_PEERCRED`` gives: process, user and group of the other side."""


def unix_socket(kind: socket.SocketKind = socket.SOCK_STREAM) -> socket.socket:
    """Return a new Unix domain socket; raises ``OSError`` where there are none."""
    if _UNIX is None:
        raise OSError("this system has no Unix domain sockets")
    return socket.socket(_UNIX, kind)


def peer_user(connection: Any) -> int | None:
    """Return the user at the other end of a Unix domain socket, where the system reports it."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None or connection.family != _UNIX:
        return None
    credentials = connection.getsockopt(socket.SOL_SOCKET, option, _CREDENTIALS.size)
    return int(_CREDENTIALS.unpack(credentials)[1])


async def start_unix_server(call: Handler, listener: socket.socket) -> "asyncio.Server":
    """As ``asyncio.start_unix_server`` with a socket that is bound."""
    import asyncio

    start: Any = getattr(asyncio, "start_unix_server", None)
    server: asyncio.Server = await start(call, sock=listener)
    return server


async def open_unix_connection(
    path: Path,
) -> "tuple[asyncio.StreamReader, asyncio.StreamWriter]":
    """As ``asyncio.open_unix_connection``; raises ``OSError`` where there are no such sockets."""
    import asyncio

    start: Any = getattr(asyncio, "open_unix_connection", None)
    if start is None:
        raise OSError("this system has no Unix domain sockets")
    streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] = await start(path)
    return streams
