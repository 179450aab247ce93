"""``mjbot setup-node``: fetch Node (if missing) and the external AI's packages."""

from dataclasses import dataclass

from mjbot.play.match import node as nodes
from mjbot.runtime.errors import ExitCode
from mjbot.runtime.requests import option


@dataclass(frozen=True, kw_only=True)
class SetupNodeRequest:
    """Arguments of ``mjbot setup-node``."""

    check: bool = option(False, "print what is installed, and install nothing")


def run(request: SetupNodeRequest) -> int:
    """Install what is missing."""
    return _check() if request.check else _install()


def _check() -> int:
    node = nodes.find_node()
    if not nodes.packages_ready():
        raise nodes.NodeError(f"packages missing in {nodes.packages_folder()}; {nodes.CURE}")
    print(f"Node {node.version} ({node.executable}), packages in {nodes.packages_folder()}")
    return ExitCode.OK


def _install() -> int:
    try:
        node = nodes.find_node()
    except nodes.NodeError:
        print(f"no Node found: installing {nodes.NODE_WHEEL} with pip")
        nodes.install_node()
        node = nodes.find_node()
    if not nodes.packages_ready():
        nodes.install_packages(node)
    return _check()
