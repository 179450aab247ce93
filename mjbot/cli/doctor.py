"""``mjbot doctor``: what a report of a fault needs, and what is wrong with this installation."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mjbot.play.doctor import Diagnosis, examine
from mjbot.runtime.errors import ExitCode
from mjbot.runtime.requests import option


@dataclass(frozen=True, kw_only=True)
class DoctorRequest:
    """Arguments of ``mjbot doctor``."""

    json: bool = option(False, "print the report as JSON")


def run(request: DoctorRequest) -> int:
    """Print the report; fail if something stops work."""
    diagnosis = examine()
    if request.json:
        print(json.dumps(diagnosis.as_json(), indent=1))
    else:
        print("\n".join(_lines(diagnosis)))
    return ExitCode.OK if diagnosis.is_well else ExitCode.FAILED


def _lines(diagnosis: Diagnosis) -> Iterator[str]:
    width = max(map(len, diagnosis.facts))
    for name, fact in diagnosis.facts.items():
        yield f"{name:{width}}  {_text(fact)}"
    yield ""
    yield from map(str, diagnosis.findings)
    if diagnosis.is_well:
        yield "all is well" if not diagnosis.findings else "nothing stops work"


def _text(fact: Any) -> str:
    if isinstance(fact, dict):
        return ", ".join(f"{name} {_text(value)}" for name, value in fact.items()) or "none"
    return "none" if fact is None else str(fact)
