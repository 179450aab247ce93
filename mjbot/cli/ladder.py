"""``mjbot ladder``: how strong every strategy is, what its decisions cost, and how it plays."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mjbot.arena.ladder.ladder import Ladder, LadderPlan
from mjbot.arena.ladder.table import rates_of_records, report_lines
from mjbot.arena.runs import Runs
from mjbot.arena.setup import RUNS
from mjbot.cli.arguments import folder_option, jobs_option
from mjbot.runtime.files import write_text
from mjbot.runtime.processors import worker_count
from mjbot.runtime.requests import group


@dataclass(frozen=True, kw_only=True)
class LadderRequest:
    """Arguments of ``mjbot ladder``."""

    plan: LadderPlan = group(LadderPlan)
    jobs: int | None = jobs_option()
    out: Path = folder_option("folder of the runs' folders", RUNS)


def run(request: LadderRequest) -> int:
    """Play what is missing and print the tables; they are in ``--report`` after each line, too."""
    runs = Runs(request.out, request.jobs or worker_count())
    return runs.print_report("mjbot ladder", _lines(request, runs))


def _lines(request: LadderRequest, runs: Runs) -> Iterator[str]:
    plan = request.plan
    ladder = Ladder(plan, request.out)
    ladder.refuse_other_code()
    people = rates_of_records(plan.records, plan.players) if plan.records else None

    def report() -> list[str]:
        lines = [*report_lines(ladder, people)]
        if plan.report:
            plan.report.parent.mkdir(parents=True, exist_ok=True)
            write_text(plan.report, "\n".join(lines) + "\n")
        return lines

    if not plan.show:
        for _ in ladder.play(runs.play):
            if plan.report:
                report()
    yield from report()
