"""docs/explanation/network-input.md lists every group of the network's input where it is."""

import re
from pathlib import Path

import pytest

from mjbot.learning.models.networks import encoding

PAGE = Path(__file__).parents[4] / "docs" / "explanation" / "network-input.md"


@pytest.mark.parametrize(("part", "end"), [("planes", "N_PLANES"), ("scalars", "N_SCALARS")])
def test_every_group_of_the_input_is_listed_at_its_first_index(part, end):
    text = PAGE.read_text(encoding="utf-8")
    table = re.search(rf"<!-- {part} -->\n(.*?)<!-- /{part} -->", text, re.S)[1]
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \|", table, re.M)
    assert [(int(first), name) for first, name in rows] == [
        (getattr(encoding, name), name) for _, name in rows
    ]
    source = Path(encoding.__file__).read_text(encoding="utf-8")
    first, last = ("HAND", "N_PLANES") if part == "planes" else ("PHASE", "N_SCALARS")
    groups = re.findall(r"^([A-Z_]+): Final = ", source, re.M)
    groups = groups[groups.index(first) : groups.index(last)]
    inside = {"RIVER", "BY_HAND", "RECENT", "EARLY", "DECLARED", "SAFE", "MELD", "TRIPLET"}
    inside |= {"CHANCE", "LOSS", "OF_OPPONENT", "OF_ONE"}
    assert [name for _, name in rows] == [name for name in groups if name not in inside]
    assert f"{getattr(encoding, end)}" in text
