"""What all tests need."""

import contextlib
import multiprocessing
import os
import resource
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule

TESTS = Path(__file__).parent
# hundreds of processes start here: each would read all our sources anew where images forbid it
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# torch's threads wait for each other actively, which tests in parallel turn into minutes
os.environ.setdefault("OMP_NUM_THREADS", "1")
# on an empty cache none of the processes that test at once compiles what another is compiling
CLAIMS = "" if "MJBOT_CLAIMS" in os.environ else tempfile.mkdtemp(prefix="mjbot-claims-")
os.environ.setdefault("MJBOT_CLAIMS", CLAIMS)

from hypothesis import HealthCheck, settings  # noqa: E402  pytest rewrites and keeps it, too

# on a busy machine or an empty cache of compiled code any example may take long
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


class Doctests:
    """Collects doctests where there are any, in modules of ours.

    The collector imports each module that it is given, torch with some of them, and skips a test
    module that cannot be imported.
    """

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path):
        found = yield
        if TESTS not in file_path.parents and b">>>" in file_path.read_bytes():
            return found
        return [each for each in found if not isinstance(each, DoctestModule)]


def pytest_configure(config):
    """Filter what is collected outside this folder, too, where its own hooks are not called."""
    config.pluginmanager.register(Doctests())


def pytest_unconfigure():
    """Remove the folder of the claims, if it was made here."""
    if CLAIMS:
        shutil.rmtree(CLAIMS, ignore_errors=True)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown():
    """Remove loguru's sinks: commands write to the stderr of their test, which closes with it."""
    if loguru := sys.modules.get("loguru"):
        loguru.logger.remove()


@pytest.fixture(autouse=True)
def own_secrets(monkeypatch):
    """Let a test begin without secrets, as a process does: one's would be hidden in another."""
    if redaction := sys.modules.get("mjbot.runtime.redaction"):
        monkeypatch.setattr(redaction, "_known", set())
        redaction._pattern.cache_clear()
    yield
    if redaction:
        redaction._pattern.cache_clear()


@contextlib.contextmanager
def _limited_files(most_bytes):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, before[1]))
    sys.dont_write_bytecode = True  # modules imported now would leave their bytecode cut off
    try:
        yield
    finally:
        sys.dont_write_bytecode = False
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def limited_files():
    """Return a context manager in which no file grows beyond some bytes, as on a full disk.

    Writing beyond them fails with an ``OSError`` ("File too large").
    """
    return _limited_files


def _fork_workers(monkeypatch):
    from mjbot.runtime.processes import WorkerProcess

    if "fork" in multiprocessing.get_all_start_methods():
        monkeypatch.setattr(WorkerProcess, "start_method", "fork")


@pytest.fixture(scope="session")
def fork_workers():
    """Return what forks the worker processes: they need not import what this process has."""
    return _fork_workers


@pytest.fixture
def forked_workers(monkeypatch):
    """Fork the worker processes of this process."""
    _fork_workers(monkeypatch)


@pytest.fixture(scope="module")  # while it is open, this thread can run no other event loop
def browser():
    """Open a real browser."""
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    from proof.board import browser_path, open_browser

    if browser_path() is None:
        pytest.skip("no chromium on this machine")
    with open_browser() as browser:
        yield browser


@pytest.fixture
def short_games(monkeypatch):
    """Let the tables of this process play the last kyoku of a tonpu only."""
    from mjbot.play.server import server
    from tests.play.last_kyoku import LastKyoku

    monkeypatch.setattr(server, "Referee", LastKyoku)


@pytest.fixture(scope="session", autouse=True)
def heed_signals():
    """Let our child processes be interrupted even where nobody could interrupt us.

    A shell in the background ignores SIGINT and ``nohup`` SIGHUP, and what is ignored stays ignored
    in every child.
    """
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, signal.default_int_handler),
        signal.SIGHUP: signal.signal(signal.SIGHUP, lambda *_: None),
    }
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
