"""``PYTHONPATH=.ci python -m release``: build the artifacts of a release and check each of them.

The source distribution and the pure wheel are the same on every Python; the wheel with machine code
is for the Python that runs this.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from mjbot.runtime.compiler.machine_code import ReleaseError
from mjbot.runtime.errors import ExitCode
from mjbot.strategy.registry import built_in_names
from release.artifacts import machine_wheel, plain_artifacts
from release.installed import check, has_machine_code


def main(arguments: Sequence[str] | None = None) -> int:
    """Build and check, and print a line for each artifact."""
    parser = argparse.ArgumentParser(prog="python -m release", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("dist"), help="folder (default: dist)")
    parser.add_argument(
        "--only", choices=("plain", "machine"), help="build one kind of artifacts (default: both)"
    )
    parser.add_argument(
        "--strategies", nargs="+", metavar="NAME", help="shipped strategies (default: all)"
    )
    parser.add_argument("--no-check", action="store_true", help="install and play nothing")
    args = parser.parse_args(arguments)
    try:
        files = [] if args.only == "machine" else plain_artifacts(args.out)
        if args.only != "plain":
            files.append(machine_wheel(args.out, args.strategies or built_in_names()))
        for file in files:
            print(f"{file}: {file.stat().st_size / 1e6:.1f} MB", flush=True)
        if not args.no_check:
            _check(files)
    except ReleaseError as error:
        print(f"release: {error}", file=sys.stderr)
        return ExitCode.FAILED
    return ExitCode.OK


def _check(files: Sequence[Path]) -> None:
    """Check each file; pure wheel and source distribution have the same code, compiled once."""
    with tempfile.TemporaryDirectory() as name:
        for file in files:
            cache = "machine" if has_machine_code(file) else "plain"
            print(check(file, Path(name) / cache), flush=True)


if __name__ == "__main__":
    sys.exit(main())
