"""``python -m papers NAME ...``: a paper's experiment or training, in a checkout.

Without a name it lists them.  An error is one line.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mjbot.cli.main import in_one_line, route_logging, run_program
from mjbot.cli.outputs import check_outputs
from mjbot.cli.parser import Parser
from mjbot.cli.train import carry_out
from mjbot.runtime.interruption import ending_at_once
from mjbot.runtime.requests import Subcommand, declare, request_of, subcommand
from mjbot.runtime.streams import escape_unencodable
from papers import PROGRAM, trainings
from papers.experiments import experiments


def commands() -> dict[str, Subcommand]:
    """Return the experiments and trainings by name."""
    return experiments() | trainings.COMMANDS


@dataclass(frozen=True, kw_only=True)
class PapersRequest:
    """Arguments of ``python -m papers``: a name of :func:`commands`, and a request of its class."""

    what: tuple[str, Any] = subcommand(commands, "NAME")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; what ends it is printed in one line."""
    escape_unencodable()
    arguments = list(sys.argv[1:] if argv is None else argv)
    parser = Parser(prog=PROGRAM, description="a paper's experiment or training")
    declare(parser, PapersRequest)
    args = parser.parse_args(arguments or ["--help"])
    route_logging()

    def work() -> int:
        with ending_at_once(args.program):
            request = request_of(PapersRequest, args)
            check_outputs(request)
            return carry_out(commands(), *request.what)

    return in_one_line(args.program, work)


if __name__ == "__main__":
    run_program(main)
