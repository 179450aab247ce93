"""``mjbot setup-node``: fetch Node (if missing) and the external AI's packages."""

import argparse

from mjbot.errors import ExitCode
from mjbot.match import node as nodes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "--check", action="store_true", help="print what is installed, and install nothing"
    )


def run(args: argparse.Namespace) -> int:
    """Install what is missing."""
    return _check() if args.check else _install()


def _check() -> int:
    found = nodes.find_node()
    if not nodes.packages_ready():
        raise nodes.NodeError(f"packages missing in {nodes.packages_folder()}; {nodes.CURE}")
    print(f"Node {found.version} ({found.executable}), packages in {nodes.packages_folder()}")
    return ExitCode.OK


def _install() -> int:
    try:
        found = nodes.find_node()
    except nodes.NodeError:
        print(f"no Node found: installing {nodes.NODE_WHEEL} with pip")
        nodes.install_node()
        found = nodes.find_node()
    if not nodes.packages_ready():
        nodes.install_packages(found)
    return _check()
