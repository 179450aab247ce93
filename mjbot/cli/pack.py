"""``mjbot pack NAME``: a strategy as the zip that mjai.app takes."""

import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from mjbot.cli.arguments import output_option, strategy
from mjbot.play.pack.contents import USERS, contents_for
from mjbot.play.pack.zipped import PYTHON, pack
from mjbot.runtime.errors import ArgumentError, ExitCode
from mjbot.runtime.requests import argument, option
from mjbot.strategy.registry import Spec


@dataclass(frozen=True, kw_only=True)
class PackRequest:
    """What ``mjbot pack`` is asked for."""

    spec: Spec = argument(
        "strategy: NAME,KEY=VALUE,... or FILE.py:CLASS", metavar="NAME", type=strategy
    )
    out: Path | None = output_option("zip to write (default: NAME.zip in this folder)", ".zip")
    beside: tuple[Path, ...] = option(
        (),
        "files that your own strategy's file reads, from its folder or below (default: none)",
        type=Path,
        nargs="+",
        metavar="FILE",
    )
    python: str = option(
        f"python{PYTHON}", "a Python of the container's version, to compile", metavar="COMMAND"
    )
    uncompiled: bool = option(
        False, "compile in the container: safe answers only, for its first minutes"
    )
    bare: bool = option(False, "uncompiled and without packages, for your own container")


def run(request: PackRequest) -> int:
    """Write the zip and print where it is."""
    contents = contents_for(request.spec, request.beside)
    out = request.out or Path(f"{request.spec.name.rpartition(':')[2]}.zip")
    if out.exists():
        raise ArgumentError(f"{out}: exists already; remove it, or name another with --out")
    if not out.parent.is_dir():
        raise ArgumentError(f"{out}: no folder {out.parent}")
    if yours := [place for place in contents.files if place.startswith(f"{USERS}/")]:
        _print_line(f"your files in it: {', '.join(yours)}")
    python = None if request.uncompiled or request.bare else _python(request.python)
    size = pack(contents, out, python, bare=request.bare, log=_print_line)
    print(f"{out}: {size / 1e6:.1f} MB")
    return ExitCode.OK


def _print_line(text: str) -> None:
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
