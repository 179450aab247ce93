"""``mjbot COMMAND ...``: finds the command's module and runs it."""

import argparse
import importlib
import logging
import os
import signal
import sys
from collections.abc import Callable, Container, Sequence
from contextlib import nullcontext, suppress
from dataclasses import fields
from typing import Any, Final, NoReturn, get_type_hints

import mjbot
from mjbot.cli.commands import AT_ONCE, COMMANDS, REMOVED, closing, module_of, overview
from mjbot.cli.outputs import check_outputs
from mjbot.cli.parser import Parser
from mjbot.cli.profile import RunProfile
from mjbot.protocol.plain_text import one_line
from mjbot.runtime.errors import EXPECTED_ERRORS, ArgumentError, ExitCode, error_report
from mjbot.runtime.interruption import (
    ending_at_once,
    take_signals_for_ctrl_c,
    take_signals_of_a_service,
)
from mjbot.runtime.languages import ENGLISH, default_language, using_language
from mjbot.runtime.redaction import RedactedStream
from mjbot.runtime.requests import RequestT, declare, request_of
from mjbot.runtime.streams import escape_unencodable


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    What ends it, and what a ``KeyboardInterrupt`` has kept, is printed in one line.
    """
    escape_unencodable()
    try:
        with ending_at_once():
            args = read_with_profile(list(sys.argv[1:] if argv is None else argv))
    except EXPECTED_ERRORS as error:  # what a command imports, or its profile, cannot be used
        text, status = error_report(error)
        print(f"mjbot: {one_line(text)}", file=sys.stderr)
        return status
    route_logging()
    return in_one_line(args.program, lambda: _run_command(args))


def _run_command(args: argparse.Namespace) -> int:
    ending = ending_at_once(f"mjbot {args.command}")
    with ending if args.command in AT_ONCE else nullcontext():
        run = importlib.import_module(module_of(args.command)).run
        request: Any = request_of(request_class(args.command), args)
        check_outputs(request)
        with using_language(_language_of(request)):
            return int(run(request))


def _language_of(request: Any) -> str:
    """Return the language that a request, or a part of it, asks for; English where none does."""
    parts = [request, *(getattr(request, part.name) for part in fields(request))]
    languages = [part.language for part in parts if hasattr(part, "language")]
    return ENGLISH if not languages else languages[0] or default_language()


def in_one_line(program: str, work: Callable[[], int]) -> int:
    """Return the exit status of ``work``.

    What ends it, and what a ``KeyboardInterrupt`` has kept, is printed in one line.
    """
    try:
        return work()
    except KeyboardInterrupt as interruption:
        if not interruption.args:
            return ExitCode.INTERRUPTED
        text = "; ".join(["interrupted", *map(str, interruption.args)])
        code: int = ExitCode.INTERRUPTED
    except EXPECTED_ERRORS as error:
        text, code = error_report(error)
    print(f"{program}: {one_line(text)}", file=sys.stderr)
    return code


LOGURU_DEFAULT: Final = 0
"""The handler that loguru has before anything is set up."""


class _ToLoguru(logging.Handler):
    """Passes on what our modules log, as if logged to loguru directly.

    Of a command that sets up no log, the message alone is printed.
    """

    def emit(self, record: logging.LogRecord) -> None:
        from mjbot.cli.log import logger  # only a command that logs waits for it

        with suppress(ValueError):  # a command that has a log of its own has removed it
            logger.remove(LOGURU_DEFAULT)
            logger.add(
                lambda line: print(line, end="", file=sys.stderr),
                format="{message}",
                diagnose=False,  # no values of variables: they may be secret
            )
        origin = {"name": record.name, "function": record.funcName, "line": record.lineno}
        patched = logger.patch(lambda to: to.update(origin))  # type: ignore[typeddict-item]
        patched.opt(exception=record.exc_info).log(record.levelname, "{}", record.getMessage())


def route_logging() -> None:
    """Send what our packages log to loguru, which the commands set up; once per process."""
    ours = logging.getLogger("mjbot")
    if not any(isinstance(handler, _ToLoguru) for handler in ours.handlers):
        ours.addHandler(_ToLoguru())
        ours.setLevel(logging.DEBUG)


def _refuse_removed(arguments: list[str]) -> None:
    """Raise ``ArgumentError`` for a command of an earlier version, with what takes its place."""
    given = arguments[1:] if arguments[:1] == ["help"] else arguments
    for command, replacement in REMOVED.items():
        words, _, flag = command.partition(" --")
        names = words.split()
        if given[: len(names)] == names and (not flag or f"--{flag}" in given):
            raise ArgumentError(f"{command} was removed; use {replacement}")


def _read(arguments: list[str]) -> argparse.Namespace:
    _refuse_removed(arguments)
    match arguments:
        case []:
            arguments = ["--help"]
        case ["help", *rest]:
            arguments = [*rest[:1], "--help"]
        case ["version"]:
            arguments = ["--version"]
    return make_parser(arguments[:1]).parse_args(arguments)


def read_with_profile(arguments: list[str]) -> argparse.Namespace:
    """Parse a command line; what it does not name is as in its profile or protocol, if any.

    Raises :class:`~mjbot.cli.profile.ProfileError` and ``OSError``.
    """
    args = _read(arguments)
    if path := getattr(args, "profile", None) or getattr(args, "protocol", None):
        requested = request_class(args.command)
        parser = make_parser([args.command])
        values = RunProfile(path).values(getattr(requested, "file_keys", requested))
        _subparser(parser, args.command).set_defaults(**values)
        args = parser.parse_args(arguments)
    args.command_line = tuple(arguments)
    return args


def make_parser(declared: Container[str] = COMMANDS) -> argparse.ArgumentParser:
    """Return the parser of all commands, with the arguments of those that are ``declared``.

    Only the modules of these are imported: ``--help`` and start-up stay fast.
    """
    parser = Parser(
        prog="mjbot",
        usage="mjbot COMMAND ...",
        description="a toolkit for riichi mahjong bots: an mjai and Tenhou client, a game server,"
        " an arena that measures playing strength, and review of recorded games",
        epilog=overview(),
    )
    parser.add_argument(
        "--version", action=_Version, nargs=0, help="print the version (also: mjbot version)"
    )
    subparsers = parser.add_subparsers(
        dest="command", prog="mjbot", required=True, metavar="COMMAND", help=argparse.SUPPRESS
    )
    for name, command in COMMANDS.items():
        subparser = subparsers.add_parser(
            name, help=command.summary, description=command.summary, epilog=closing(command)
        )
        subparser.set_defaults(program=subparser.prog)
        if name in declared:
            declare_command(name, subparser)
    return parser


def _subparser(parser: argparse.ArgumentParser, name: str) -> argparse.ArgumentParser:
    subparsers = [
        action for action in parser._actions if isinstance(action, argparse._SubParsersAction)
    ]
    subparser: argparse.ArgumentParser = subparsers[0].choices[name]
    return subparser


def read_again(request: RequestT, command_line: Sequence[str]) -> RequestT:
    """Return the request of a command line, its profile read anew; raises :class:`MjbotError`."""
    again = request_of(type(request), read_with_profile([*command_line]))
    check_outputs(again)
    return again


def declare_command(name: str, parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of a command."""
    requested = request_class(name)
    declare(parser, requested)
    if hasattr(requested, "listed"):
        parser.epilog = "\n\n".join(filter(None, [requested.listed(), parser.epilog]))


def request_class(name: str) -> type:
    """Return the class of requests that a command's ``run`` takes."""
    request: type = get_type_hints(importlib.import_module(module_of(name)).run)["request"]
    return request


def run_program(main: Callable[[], int] = main) -> NoReturn:
    """Run the command of this process and end the process; SIGTERM, SIGHUP do what Ctrl-C does.

    An interrupted process ends at once: a thread that compiles just then may hold locks of the
    compiler for good, and Python's own way out would wait for them.
    """
    sys.stdout, sys.stderr = RedactedStream(sys.stdout), RedactedStream(sys.stderr)
    try:
        take_signals(sys.argv[1:2])
        status = main()
    except KeyboardInterrupt:  # a second one, while the first is reported
        status = ExitCode.INTERRUPTED
    if status == ExitCode.INTERRUPTED:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    _leave_quietly(status)
    sys.exit(status)


def take_signals(command: Sequence[str]) -> None:
    """Let signals do from now on what they do to a command of this name, given as a list of one."""
    reloads = command == ["run"]
    take_signals_for_ctrl_c(hangup=not reloads)
    if command in (["run"], ["serve"]):
        take_signals_of_a_service(reloads=reloads)


def _leave_quietly(status: int) -> None:
    """Let a signal that comes while Python tidies up only shorten that: all is done and reported.

    Output that cannot be written (a full disk) ends the process with an error.
    """
    try:
        with suppress(BrokenPipeError, ValueError):
            sys.stdout.flush()
    except OSError as error:
        text, code = error_report(OSError(error.errno, error.strerror, "standard output"))
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
