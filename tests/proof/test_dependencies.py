"""Which versions are tried: those that pyproject.toml names, and what came of it is told."""

import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest

from proof.dependencies import oldest, requirements, summary, versions

PYPROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
REPORT = """
<testsuites><testsuite time="90.0">
<testcase classname="tests.a" name="good"/>
<testcase classname="tests.a" name="bad"><failure message="no"/></testcase>
<testcase classname="tests.b" name="worse"><error message="no fixture"/></testcase>
<testcase classname="tests.b" name="x"><skipped message="torch is not here"/></testcase>
<testcase classname="tests.b" name="y"><skipped message="torch is not here"/></testcase>
</testsuite></testsuites>
"""


def test_the_oldest_is_what_a_requirement_allows_at_least():
    wanted = ["numba>=0.59,<0.69", "ray[client]>=2.9", "torch==2.13.0"]
    assert oldest(wanted) == ["numba==0.59", "ray==2.9", "torch==2.13.0"]


@pytest.mark.parametrize("line", ["numpy", "numpy<3", "ray[client]"])
def test_a_requirement_that_names_no_oldest_version_is_refused(line):
    with pytest.raises(ValueError, match="names no oldest version; write NAME>=VERSION"):
        oldest([line])


def test_all_that_the_project_needs_names_its_oldest_version():
    extras = PYPROJECT["project"]["optional-dependencies"]
    wanted = requirements(PYPROJECT, extras)
    assert len(oldest(wanted)) == len(wanted) > len(extras)
    assert set(requirements(PYPROJECT, [])) == set(PYPROJECT["project"]["dependencies"])


def test_of_all_that_is_installed_what_was_asked_for_is_told():
    installed = [
        {"name": "import-linter", "version": "2.0"},
        {"name": "grimp", "version": "3.19"},
        {"name": "ray", "version": "2.9.0"},
    ]
    assert versions(["import_linter>=2", "Ray[client]>=2.9"], installed) == [
        "import-linter 2.0",
        "ray 2.9.0",
    ]


def test_the_summary_counts_names_failures_and_tells_why_tests_were_skipped():
    assert summary(ElementTree.ElementTree(ElementTree.fromstring(REPORT))) == [
        "1 passed, 2 failed, 2 skipped in 2 min",
        "skipped 2: torch is not here",
        "failed: tests.a::bad",
        "failed: tests.b::worse",
    ]
