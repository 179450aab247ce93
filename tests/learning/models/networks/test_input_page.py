"""docs/explanation/network-input.md lists every group of the network's input where it is."""

import re
from pathlib import Path

import pytest

from mjbot.learning.models.networks.layout import PLANES, SCALARS

PAGE = Path(__file__).parents[4] / "docs" / "explanation" / "network-input.md"


@pytest.mark.parametrize(("part", "layout"), [("planes", PLANES), ("scalars", SCALARS)])
def test_every_group_of_the_input_is_listed_at_its_first_index(part, layout):
    text = PAGE.read_text(encoding="utf-8")
    table = re.search(rf"<!-- {part} -->\n(.*?)<!-- /{part} -->", text, re.S)[1]
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \|", table, re.M)
    assert [(int(first), name) for first, name in rows] == [
        (layout.first(name), name) for name in layout.groups
    ]
    assert f"{layout.size}" in text
