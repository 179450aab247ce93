"""Where the external AI is, if this machine has it."""

import pytest

from mjbot.play.match.node import NodeError, find_node, packages_folder, packages_ready


@pytest.fixture
def node():
    """The command of a usable Node."""
    try:
        return find_node().executable
    except NodeError as error:
        pytest.skip(str(error))


@pytest.fixture
def packages(node):
    """The folder with the AI's packages."""
    if not packages_ready():
        pytest.skip("the external AI is not installed; run: mjbot setup-node")
    return packages_folder()
