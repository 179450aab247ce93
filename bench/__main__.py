"""``python -m bench NAME [--rounds N] [--json]``: run one benchmark.

A benchmark is a module here with ``contests() -> list[Contest]`` (:mod:`bench.measure`), or with
``report(rounds)`` and ``print_report(report)`` where there is no peer to compare with.  One with
``add_arguments(parser)`` and ``run(args) -> int`` has options of its own.
"""

import argparse
import importlib
import json
import sys
from pathlib import Path

from bench.measure import measure, print_table


def main() -> int:
    """Run the named benchmark; exit code 1 if a required ratio is not reached."""
    folder = Path(__file__).parent
    sources = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.py")}
    names = [
        name for name in sorted(sources) if name != "__main__" and _is_benchmark(sources[name])
    ]
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("name", choices=names)
    chosen = "".join(sys.argv[1:2])
    if chosen in names and "def add_arguments(" in sources[chosen]:
        module = importlib.import_module(f"bench.{chosen}")
        module.add_arguments(parser)
        return int(module.run(parser.parse_args()))
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--rounds", type=int, default=7, help="rounds, all contenders in each")
    args = parser.parse_args()
    try:
        module = importlib.import_module(f"bench.{args.name}")
        if hasattr(module, "contests"):
            report, show = measure(module.contests(), args.rounds), print_table
        else:
            report, show = module.report(args.rounds), module.print_report
    except ModuleNotFoundError as error:
        print(f"bench: no package {error.name}; pip install -e '.[dev]'", file=sys.stderr)
        return 2
    if args.json:
        print(json.dumps(report, indent=2))
    else:
        show(report)
    return 0 if all(result["reached"] for result in report["results"]) else 1


def _is_benchmark(source: str) -> bool:
    return any(f"def {name}(" in source for name in ("contests", "report", "add_arguments"))


if __name__ == "__main__":
    sys.exit(main())
