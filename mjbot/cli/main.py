"""``mjbot COMMAND ...``: finds the command's module and runs it."""

import argparse
import importlib
import logging
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from typing import Any, Final, NoReturn

import mjbot
from mjbot.errors import TOLD, ExitCode, MjbotError, told
from mjbot.interruption import ending_at_once, take_sigterm_for_ctrl_c
from protocol.plain_text import one_line

COMMANDS: Final[dict[str, str]] = {
    "play": "connect one bot to an mjai server",
    "serve": "open a table for four clients, of mjai or of Tenhou's wire",
    "match": "start a table and four players, and keep the score",
    "duo": "two bots that play as a pair, at a table of their own or at another's",
    "arena": "play thousands of games and compare strategies, with intervals",
    "experiment": "play a paper's experiment again, with intervals",
    "train": "learn weights from recorded games",
    "check": "hold a bot or a server against the documents, check by check",
    "pack": "write a strategy as the zip that mjai.app takes",
    "chaos": "stand before a server and break its conversations, by seed",
    "replay": "check recorded games strictly against the rules",
    "explain": "tell what a strategy thinks of a recorded position",
    "review": "judge every decision of a seat, and say what each cost and why",
    "detect": "look for players who play together, in many recorded games",
    "draw": "draw a position of a recorded game as a picture",
    "watch": "show a recorded game, or one that is being played, in the browser",
    "convert": "turn records into another format: mjai lines, mjlog or tenhou.net/6",
    "strategies": "list the strategies and what each believes",
    "setup-node": "fetch Node (if missing) and the external AI's packages",
}
"""Command -> help line; the command ``a-b`` lives in ``mjbot.cli.a_b``, which has
``add_arguments(parser)`` and ``run(args) -> int``."""

ON_RECORDS: Final = ("replay", "explain", "review", "detect", "draw", "watch", "convert")
"""What takes recorded games and lives in ``mjbot.cli.records``."""

AT_ONCE: Final = ("experiment", "train", "explain", "replay", "review", "detect")
"""What has nothing to tidy up when it is interrupted."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    What ends it, and what a ``KeyboardInterrupt`` says is kept, is told in one line.
    """
    try:
        with ending_at_once():
            args = _read(list(sys.argv[1:] if argv is None else argv))
    except MjbotError as error:  # what a command imports cannot be used
        print(f"mjbot: {one_line(str(error))}", file=sys.stderr)
        return error.exit_code
    _route_logging()
    ending = ending_at_once(f"mjbot {args.command}")
    try:
        with ending if args.command in AT_ONCE else nullcontext():
            return int(importlib.import_module(module_of(args.command)).run(args))
    except KeyboardInterrupt as interruption:
        if not interruption.args:
            return ExitCode.INTERRUPTED
        text = "; ".join(["interrupted", *map(str, interruption.args)])
        code: int = ExitCode.INTERRUPTED
    except TOLD as error:
        text, code = told(error)
    print(f"{args.program}: {one_line(text)}", file=sys.stderr)
    return code


class _ToLoguru(logging.Handler):
    """Hands on what our modules log, as they would have said it to loguru themselves."""

    def emit(self, record: logging.LogRecord) -> None:
        from loguru import logger  # only a command that logs waits for it

        place = {"name": record.name, "function": record.funcName, "line": record.lineno}
        said = logger.patch(lambda to: to.update(place))  # type: ignore[typeddict-item]
        said.opt(exception=record.exc_info).log(record.levelname, "{}", record.getMessage())


def _route_logging() -> None:
    """Send what our packages log to loguru, which the commands set up; once per process."""
    ours = logging.getLogger("mjbot")
    if not any(isinstance(handler, _ToLoguru) for handler in ours.handlers):
        ours.addHandler(_ToLoguru())
        ours.setLevel(logging.DEBUG)


def _read(arguments: list[str]) -> argparse.Namespace:
    parser = _Parser(
        prog="mjbot", description="riichi-mahjong bots that speak mjai, alone and in pairs"
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="say which version this is")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    # Only the named command's module is imported: --help and start-up stay fast.
    for name, summary in COMMANDS.items():
        subparser = subparsers.add_parser(name, help=summary, description=summary)
        subparser.set_defaults(program=subparser.prog)
        if name in arguments[:1]:
            importlib.import_module(module_of(name)).add_arguments(subparser)
    return parser.parse_args(arguments)


class _Parser(argparse.ArgumentParser):
    """Refuses in one line, like everything else; the usage would be a page."""

    def error(self, message: str) -> NoReturn:
        problem = one_line(message)
        self.exit(ExitCode.BAD_ARGUMENTS, f"{self.prog}: error: {problem} (see --help)\n")


def run_program() -> NoReturn:
    """Run the command of this process and end the process; SIGTERM does what Ctrl-C does.

    Who is interrupted ends at once: a thread that compiles just then may hold locks of the
    compiler for good, and Python's own way out would wait for them.
    """
    try:
        take_sigterm_for_ctrl_c()
        status = main()
    except KeyboardInterrupt:  # a second one, while we tell of the first
        status = ExitCode.INTERRUPTED
    if status == ExitCode.INTERRUPTED:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    _leave_quietly(status)
    sys.exit(status)


def _leave_quietly(status: int) -> None:
    """Let a signal that comes while Python tidies up only shorten that: all is done and told.

    Output that cannot be written (a full disk) ends the process with an error.
    """
    try:
        with suppress(BrokenPipeError, ValueError):
            sys.stdout.flush()
    except OSError as error:
        text, code = told(OSError(error.errno, error.strerror, "standard output"))
        print(f"mjbot: {text}", file=sys.stderr, flush=True)
        os._exit(status or code)
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda *_: os._exit(status))


class _Version(argparse.Action):
    """Prints the version of the installed package; looked up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        print(f"mjbot {mjbot.__version__}")
        parser.exit()


def module_of(command: str) -> str:
    """Return the name of a command's module."""
    room = "records." if command in ON_RECORDS else ""
    return f"mjbot.cli.{room}{command.replace('-', '_')}"
