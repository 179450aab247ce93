"""What a package index and those who cite or report read: complete, true, in agreement."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
README, CHANGES, CITATION, SECURITY, INDEX = [
    (ROOT / name).read_text(encoding="utf-8")
    for name in ("README.md", "CHANGELOG.md", "CITATION.cff", "SECURITY.md", "docs/index.md")
]
HEADINGS = ["Incompatible", "New", "Fixed"]
RELEASES = re.split(r"^## ", CHANGES, flags=re.M)[1:]


def first_sentence(text):
    """Return the first sentence below a page's title."""
    return " ".join(text.split("\n\n")[1].split()).partition(". ")[0].rstrip(".") + "."


def test_one_sentence_describes_mjbot_everywhere():
    assert PROJECT["description"] == first_sentence(README) == first_sentence(INDEX)
    abstract = re.search(r"^abstract: >-\n((?:  .+\n)+)", CITATION, re.M)[1]
    assert " ".join(abstract.split()) == PROJECT["description"]


def test_the_licence_is_an_expression_with_its_file():
    assert PROJECT["license"] == "MIT"
    assert PROJECT["license-files"] == ["LICENSE"]
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("MIT License")
    assert "\nlicense: MIT\n" in CITATION
    assert not [each for each in PROJECT["classifiers"] if each.startswith("License ::")]


def test_nothing_keeps_it_from_an_index():
    assert not [each for each in PROJECT["classifiers"] if each.startswith("Private ::")]
    assert [each for each in PROJECT["classifiers"] if each.startswith("Topic ::")]
    assert PROJECT["classifiers"] == sorted({*PROJECT["classifiers"]})
    assert PROJECT["keywords"] == sorted({*PROJECT["keywords"]})


def test_the_pythons_are_those_that_versions_md_lists_and_the_release_builds_for():
    pythons = re.findall(r"Python :: (3\.\d+)\n", "\n".join([*PROJECT["classifiers"], ""]))
    assert PROJECT["requires-python"] == f">={pythons[0]}"
    versions = (ROOT / "docs" / "versions.md").read_text(encoding="utf-8")
    assert f"supports Python {', '.join(pythons[:-1])} and {pythons[-1]}." in versions
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert f"\nRELEASED := {' '.join(f'python{each}' for each in pythons)}\n" in makefile


@pytest.mark.parametrize("text", [str(PROJECT.get("urls", "")), CITATION, SECURITY], ids=len)
def test_no_address_is_invented(text):
    """The project has no home yet: what looks like an address would be another's."""
    assert not re.search(r"https?://|\bwww\.|[\w.]+@[\w.]+", text)


def test_the_version_is_the_same_everywhere():
    version = PROJECT["version"]
    assert RELEASES[0].startswith("Next\n")
    assert RELEASES[1].startswith(f"{version}\n\n")
    (date,) = re.findall(r"^(\d{4}-\d\d-\d\d)$", RELEASES[1], re.M)
    assert f"\nversion: {version}\n" in CITATION
    assert f'\ndate-released: "{date}"\n' in CITATION
    minor = version.rpartition(".")[0]
    assert f"\n| {minor} | yes |\n" in SECURITY
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md")]
    named = {
        name
        for text in (README, *texts)
        for name in re.findall(r"\bmjbot-(\d[\d.]*\d)(?=-py|-cp|\.tar)", text)
    }
    assert named == {version}


@pytest.mark.parametrize("release", RELEASES, ids=lambda text: text.partition("\n")[0])
def test_each_release_has_the_headings_in_order_and_entries_only_below_them(release):
    headings = re.findall(r"^### (.+)$", release, re.M)
    assert headings == [each for each in HEADINGS if each in headings] != []
    before, *parts = re.split(r"^### .+$", release, flags=re.M)
    assert "\n* " not in before
    is_next = release.startswith("Next\n")
    assert is_next or all(part.lstrip().startswith("* ") for part in parts)
    for line in "".join(parts).splitlines():
        assert re.match(r"\* \S|  \S|$", line), line


def test_the_citation_is_valid():
    command = ["--builtin-schema", "vendor.citation-file-format", str(ROOT / "CITATION.cff")]
    checker = pytest.importorskip("check_jsonschema")
    assert checker.main(command, standalone_mode=False) in (0, None)


@pytest.mark.parametrize("page", ["README.md", "docs/start/install.md", "docs/operating.md"])
def test_what_a_page_installs_is_a_checkout_or_a_file_of_a_release(page):
    """Not a name that no index has, and no file that `make release` does not build."""
    text = (ROOT / page).read_text(encoding="utf-8")
    version = re.escape(PROJECT["version"])
    files = rf"mjbot-{version}(?:-py3-none-any\.whl|-cp(3\d\d)-cp\1-linux_x86_64\.whl|\.tar\.gz)"
    installed = re.findall(r"^(?: {4}|sudo )?[\w./-]+/pip install (.+?)(?: +#.*)?$", text, re.M)
    assert installed
    for what in installed:
        assert what == "." or re.fullmatch(files, what), what
