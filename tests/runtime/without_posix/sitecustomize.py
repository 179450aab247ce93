"""Takes away what Python lacks on Windows, in every process that has this folder on PYTHONPATH.

Where the standard library itself needs such a name on this system it keeps what the name stood for:
its own code for Windows cannot run here.
"""

import asyncio
import asyncio.unix_events
import multiprocessing.popen_fork
import os
import random  # noqa: F401  what forks hooks into is asked for when it is imported
import signal
import socket
import subprocess
import sys
import tempfile  # noqa: F401  so is O_NOFOLLOW

MODULES = ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty")
CALLS = """
    chown chroot fork forkpty getegid geteuid getgid getgroups getloadavg getpgid getpgrp
    getpriority getuid killpg lchown mkfifo mknod nice openpty posix_fadvise posix_spawn
    sched_getaffinity sched_setaffinity setpgid setsid sysconf ttyname
    O_CLOEXEC O_DIRECTORY O_NOFOLLOW O_NONBLOCK O_SYNC
"""
SIGNALS = """
    SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGPROF SIGQUIT SIGSTOP SIGTSTP SIGUSR1 SIGUSR2
    SIGVTALRM SIGWINCH ITIMER_PROF ITIMER_REAL SIG_BLOCK SIG_SETMASK SIG_UNBLOCK alarm getitimer
    pthread_kill pthread_sigmask setitimer siginterrupt sigpending sigwait
"""
ASYNCIO = "open_unix_connection start_unix_server"
LOOP = "add_reader add_signal_handler add_writer remove_reader remove_signal_handler"
KILL = 9


def _pair(*_: object) -> tuple[socket.socket, socket.socket]:
    """Return two sockets connected over loopback, as Windows has them."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ours = socket.create_connection(listener.getsockname())
        theirs, _address = listener.accept()
    return ours, theirs


def _not_implemented(*_: object) -> None:
    raise NotImplementedError


def _remove(module: object, names: str) -> None:
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)


subprocess.Popen.kill = lambda self: self.send_signal(KILL)  # type: ignore[method-assign]
multiprocessing.popen_fork.Popen.kill = lambda self: self._send_signal(KILL)  # type: ignore
socket.socketpair = _pair  # type: ignore[assignment]
for _name in LOOP.split():
    setattr(asyncio.SelectorEventLoop, _name, _not_implemented)
for _name in MODULES:
    sys.modules[_name] = None  # type: ignore[assignment]
_remove(os, CALLS)
_remove(signal, SIGNALS)
_remove(socket, "AF_UNIX SO_PEERCRED SO_REUSEPORT")
_remove(asyncio, ASYNCIO)
