"""What a docstring or comment cites is in the repository: the page, and the section of it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("mjbot", "protocol", "strategies", "proof", "bench", "tests")
CITED = re.compile(r"([\w-]+(?:/[\w-]+)*\.md)(?:,? sections? (\d+(?:\.\d+)*)(?: to (\d+))?| \d)")
PAGE = re.compile(r"\bdocs/[\w/-]+\.md")
SOURCES = sorted(
    path for room in ROOMS for path in (ROOT / room).rglob("*.py") if path != Path(__file__)
)


def sections(page: Path) -> set[str]:
    return set(re.findall(r"^#+ (\d+(?:\.\d+)*)\.? ", page.read_text("utf-8"), re.M))


def problems(text: str) -> list[str]:
    """Return what a text cites and the repository does not have."""
    flat = re.sub(r"\s+", " ", text)
    found = [name for name in PAGE.findall(flat) if not (ROOT / name).is_file()]
    for name, *numbers in CITED.findall(flat):
        if not (ROOT / name).is_file():
            found.append(name)
            continue
        found += [f"{name} {n}" for n in numbers if n and n not in sections(ROOT / name)]
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_every_page_and_section_cited_exists(room):
    cited = {
        str(path.relative_to(ROOT)): wrong
        for path in SOURCES
        if path.is_relative_to(ROOT / room) and (wrong := problems(path.read_text("utf-8")))
    }
    assert cited == {}


@pytest.mark.parametrize(
    "text",
    [
        "mjai-protocol.md section 4.3",
        "tenhou.md 1.7",
        "docs/nothing.md",
        "docs/rules.md, section 99",
        "(docs/rules.md, sections 3 to 77)",
    ],
)
def test_what_is_not_there_is_noticed(text):
    assert problems(text)


def test_sections_are_cited():
    assert problems("docs/protocol.md, section 4.3; docs/rules.md, sections 3 to 5") == []
