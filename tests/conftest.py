"""What all tests need."""

import signal

import pytest
from hypothesis import HealthCheck, settings

# on a busy machine or an empty cache of compiled code any example may take long
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


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
