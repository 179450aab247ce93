"""A dialect is one file: nobody else asks which one is spoken, but what it is like."""

import re
from pathlib import Path

import pytest

from mjbot.protocol.dialects import DEMANDED, UNSAID, Dialect

ROOT = Path(__file__).parents[2]
MAY_NAME_THEM = {"protocol/dialects.py", "protocol/transports/address.py"}


def test_no_module_names_a_dialect_but_the_table_of_them_and_that_of_addresses():
    named = {
        str(file.relative_to(ROOT))
        for package in ("protocol", "mjbot", "strategies", "papers")
        for file in (ROOT / package).rglob("*.py")
        if re.search(r"\bDialect\.[A-Z]", file.read_text(encoding="utf-8"))
    }
    assert named == MAY_NAME_THEM


@pytest.mark.parametrize("dialect", Dialect)
def test_every_dialect_is_described_whole(dialect):
    assert dialect in UNSAID and dialect in DEMANDED
    assert dialect.traits.deadline_s > 0
    assert repr(dialect) == f"<Dialect.{dialect.name}: '{dialect.traits.word}'>"
