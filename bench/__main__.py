"""``python -m bench NAME [--rounds N] [--json]``: run one benchmark.

A benchmark is a module here with ``contests() -> list[Contest]`` (:mod:`bench.measure`).
"""

import argparse
import importlib
import json
import sys
from pathlib import Path

from bench.measure import measure, print_table


def main() -> int:
    """Run the named benchmark; exit code 1 if a required ratio is not reached."""
    names = sorted(
        path.stem
        for path in Path(__file__).parent.glob("*.py")
        if "def contests(" in path.read_text(encoding="utf-8") and path.stem != "__main__"
    )
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("name", choices=names)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--rounds", type=int, default=7, help="rounds, all contenders in each")
    args = parser.parse_args()
    try:
        contests = importlib.import_module(f"bench.{args.name}").contests()
    except ModuleNotFoundError as error:
        print(f"bench: no package {error.name}; install mjbot[dev]", file=sys.stderr)
        return 2
    report = measure(contests, args.rounds)
    if args.json:
        print(json.dumps(report, indent=2))
    else:
        print_table(report)
    return 0 if all(result["reached"] for result in report["results"]) else 1


if __name__ == "__main__":
    sys.exit(main())
