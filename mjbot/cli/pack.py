"""``mjbot pack NAME``: a strategy as the zip that mjai.app takes."""

import argparse
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from mjbot.cli.arguments import strategy
from mjbot.errors import ArgumentError, ExitCode
from mjbot.pack.contents import USERS, contents_for
from mjbot.pack.zipped import PYTHON, pack


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "spec",
        metavar="NAME",
        type=strategy,
        help="the strategy: NAME,KEY=VALUE,... or FILE.py:CLASS",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="default: NAME.zip here")
    parser.add_argument(
        "--beside",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="what your own strategy's file reads, from its folder or below",
    )
    parser.add_argument(
        "--python",
        default=f"python{PYTHON}",
        metavar="COMMAND",
        help="a Python of the container's version, which compiles (%(default)s)",
    )
    parser.add_argument(
        "--uncompiled",
        action="store_true",
        help="compile in the container: safe answers only, for its first minutes",
    )
    parser.add_argument(
        "--bare",
        action="store_true",
        help="uncompiled and without packages, for your own container",
    )


def run(args: argparse.Namespace) -> int:
    """Write the zip and say where it is."""
    contents = contents_for(args.spec, args.beside)
    out = args.out or Path(f"{args.spec.name.rpartition(':')[2]}.zip")
    if out.exists():
        raise ArgumentError(f"{out}: exists already; remove it, or name another with --out")
    if not out.parent.is_dir():
        raise ArgumentError(f"{out}: no folder {out.parent}")
    if yours := [place for place in contents.files if place.startswith(f"{USERS}/")]:
        _tell(f"your files in it: {', '.join(yours)}")
    python = None if args.uncompiled or args.bare else _python(args.python)
    size = pack(contents, out, python, bare=args.bare, tell=_tell)
    print(f"{out}: {size / 1e6:.1f} MB")
    return ExitCode.OK


def _tell(text: str) -> None:
    print(f"mjbot pack: {text}", file=sys.stderr, flush=True)


def _python(text: str) -> list[str]:
    """Return the command of the container's Python; raises ``ArgumentError`` if it is none."""
    command = shlex.split(text)
    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    found = ""
    if command and shutil.which(command[0]):
        done = subprocess.run(
            [*command, "-c", ask],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        found = done.stdout.strip()
    if found != PYTHON:
        raise ArgumentError(
            f"--python {text}: {f'is Python {found}' if found else 'cannot be run'}, and the"
            f" container has {PYTHON}, which must compile; name one, or pack --uncompiled"
        )
    return command
