"""What all tests need."""

import signal

import pytest
from hypothesis import HealthCheck, settings

# on a busy machine or an empty cache of compiled code any example may take long
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


@pytest.fixture(scope="session", autouse=True)
def heed_ctrl_c():
    """Let our child processes be interrupted even where the shell runs us in the background.

    Such a shell ignores SIGINT, and what is ignored stays ignored in every child.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
