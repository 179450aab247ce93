"""``external:majiang``: the npm AI behind our Node bridge, as a command line.

``python -m mjbot.play.match.majiang URL`` seats it at any mjai TCP server.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from mjbot.play.match.node import CURE, NodeError, find_node, packages_folder, packages_ready


def majiang_command(url: str, *, games: int = 1, name: str = "majiang") -> list[str]:
    """Return the command that plays ``games`` games at ``url`` (``mjsonp://HOST:PORT/ROOM``).

    Raises :class:`~mjbot.play.match.node.NodeError` when Node or the packages are missing.
    """
    node = find_node()
    if not packages_ready():
        raise NodeError(f"the external AI is not installed in {packages_folder()}; {CURE}")
    bridge = Path(__file__).with_name("bridge.js")
    options = ["--packages", str(packages_folder()), "--name", name, "--games", str(games)]
    return [node.executable, str(bridge), *options, url]


def main(argv: Sequence[str] | None = None) -> int:
    """Replace this process by the bridge; return 3 with one line on stderr if it cannot run."""
    parser = argparse.ArgumentParser(prog="mjbot.play.match.majiang", description=__doc__)
    parser.add_argument("url", help="mjsonp://HOST:PORT/ROOM")
    parser.add_argument("--games", type=int, default=1)
    parser.add_argument("--name", default="majiang")
    args = parser.parse_args(argv)
    try:
        command = majiang_command(args.url, games=args.games, name=args.name)
    except NodeError as error:
        print(f"external:majiang: {error}", file=sys.stderr)
        return error.exit_code
    # exec, not a child: killing this process kills the AI.
    os.execv(command[0], command)


if __name__ == "__main__":
    sys.exit(main())
