"""The parties that the checks are proved with."""

import importlib.util
from pathlib import Path

import pytest


def _load(name):
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PARTIES = _load("parties")


@pytest.fixture(scope="session")
def parties():
    return PARTIES
