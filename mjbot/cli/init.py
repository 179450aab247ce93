"""``mjbot init FILE``: write a commented profile with every key and its default."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mjbot.cli.arguments import program
from mjbot.cli.profile import template
from mjbot.cli.run import RunRequest
from mjbot.cli.serve import ServeRequest
from mjbot.runtime.errors import ArgumentError, ExitCode
from mjbot.runtime.files import write_text
from mjbot.runtime.requests import argument, option

RUN: Final[Mapping[str, str]] = {
    "server.url": '"ws://127.0.0.1:11601/ws"',
    "bot.strategy": '"fast-riichi-d"',
    "bot.fallback": '"tsumogiri"',
    "logs.folder": '"games"',
    "logs.status": '"status.json"',
}
"""What a new profile sets: a server of this machine, for no live one is a default."""
SERVE: Final[Mapping[str, str]] = {"log_dir": '"games"', "games": "100000"}


@dataclass(frozen=True, kw_only=True)
class InitRequest:
    """Arguments of ``mjbot init``."""

    file: Path = argument(
        "file to write (default: mjbot.toml)",
        type=Path,
        nargs="?",
        default=Path("mjbot.toml"),
        metavar="FILE",
        writes=(".toml",),
    )
    serve: bool = option(False, "write a profile for `mjbot serve --profile FILE`")
    force: bool = option(False, "overwrite the file if it exists")


def run(request: InitRequest) -> int:
    """Write the profile."""
    if request.file.exists() and not request.force:
        raise ArgumentError(f"{request.file} exists; name another file, or use --force")
    name = request.file.name
    request_type: type
    if request.serve:
        request_type, given, use, page = ServeRequest, SERVE, f"serve --profile {name}", "operating"
    else:
        request_type, given, use, page = RunRequest, RUN, f"run {name}", "profiles"
    meaning = 'a key with # shows its default ("": not set)'
    title = f"A profile of mjbot: `mjbot {use}` (docs/{page}.md); {meaning}."
    write_text(request.file, template(request_type, title, given))
    print(f"{request.file} written; use it with: {program()} {use}")
    return ExitCode.OK
