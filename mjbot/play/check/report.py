"""What was found: a verdict for each check, with the conversation that led to a failure.

As text, as JSON and as JUnit's XML.
"""

import json
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from xml.etree import ElementTree

from mjbot.play.check.catalogue import Check, CheckVerdict
from mjbot.protocol.dialects import Dialect
from mjbot.protocol.plain_text import one_line
from mjbot.runtime.files import plural

KEPT_LINES: Final = 400
SHOWN_LINES: Final = 12
_QUOTED: Final = 1000
_WORST_FIRST: Final = (
    CheckVerdict.FAILED,
    CheckVerdict.NON_STRICT,
    CheckVerdict.INFO,
    CheckVerdict.OK,
)


class Transcript:
    """The last lines of one conversation: ``<-`` lines of the table, ``->`` lines of the client."""

    def __init__(self, title: str) -> None:
        self.title: Final = title
        self._lines: deque[tuple[str, str | bytes]] = deque(maxlen=KEPT_LINES)

    def sent(self, line: bytes, to: str = "") -> None:
        """Note a line of ours."""
        self._lines.append((f"{to}<-", line))

    def received(self, line: bytes, of: str = "") -> None:
        """Note a line of theirs."""
        self._lines.append((f"{of}->", line))

    def note(self, text: str) -> None:
        """Note an event that is no line."""
        self._lines.append(("==", text))

    def lines(self) -> tuple[str, ...]:
        """Return the lines so far."""
        shown = [f"{arrow} {_readable(line)}" for arrow, line in self._lines]
        return (f"== {self.title}", *shown)


def _readable(line: str | bytes) -> str:
    text = line.decode("utf-8", "replace") if isinstance(line, bytes) else line
    return one_line(text, _QUOTED)


@dataclass(frozen=True)
class CheckObservation:
    """One thing that was noticed."""

    verdict: CheckVerdict
    text: str
    transcript: tuple[str, ...] = ()


@dataclass
class CheckFindings:
    """Everything noticed, by check.

    ``occasions`` counts how often a check could have failed: without any there is no verdict.
    """

    observations: dict[str, list[CheckObservation]] = field(default_factory=dict)
    occasions: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    lost: str = ""
    """Why hardly anything could be checked, if that is so."""
    interrupted: str = ""
    """After what the check was interrupted, as text; empty if it ran to its end."""

    def occasion(self, id_: str) -> None:
        """Note that a check had its chance to fail."""
        self.occasions[id_] = self.occasions.get(id_, 0) + 1

    def add(
        self,
        id_: str,
        text: str,
        transcript: Transcript | None,
        verdict: CheckVerdict = CheckVerdict.FAILED,
    ) -> None:
        """Note what was noticed; the first of a verdict, which is shown, with its transcript."""
        self.occasion(id_)
        observed = self.observations.setdefault(id_, [])
        is_first = all(one.verdict is not verdict for one in observed)
        lines = transcript.lines() if transcript is not None and is_first else ()
        observed.append(CheckObservation(verdict, text, lines))

    def skip(self, id_: str, reason: str) -> None:
        """Note why a check has no verdict."""
        self.reasons.setdefault(id_, reason)

    def give_up(self, checks: Iterable[Check], reason: str) -> None:
        """Note why no check that is left has a verdict."""
        self.lost = reason
        for check in checks:
            self.skip(check.id, f"not reached: {reason}")

    def interrupt(self, checks: Iterable[Check], after: str) -> None:
        """Note that the check was interrupted; what was not reached has no verdict."""
        self.interrupted = after
        for check in checks:
            self.skip(check.id, f"not reached: interrupted {after}")

    def failed(self, id_: str, text: str | None = None) -> bool:
        """Whether a check has failed so far; with ``text`` by just that."""
        return any(
            observed.verdict is CheckVerdict.FAILED and text in (None, observed.text)
            for observed in self.observations.get(id_, ())
        )


@dataclass(frozen=True)
class Result:
    """The verdict on one check."""

    check: Check
    verdict: CheckVerdict
    text: str
    transcript: tuple[str, ...]
    repeat: str

    def is_fault(self, *, strict: bool) -> bool:
        """Whether the exit status reports it: a MUST; strictly, everything not OK."""
        if self.verdict is CheckVerdict.FAILED:
            return strict or self.check.level == "MUST"
        return strict and self.verdict is CheckVerdict.NON_STRICT


def results(checks: Iterable[Check], findings: CheckFindings, command: str) -> list[Result]:
    """Return the verdicts; ``command`` repeats one of them when its id is added."""
    return [_result(check, findings, command) for check in checks]


def _result(check: Check, findings: CheckFindings, command: str) -> Result:
    repeat = f"{command} --only {check.id}"
    observed = findings.observations.get(check.id, [])
    for verdict in _WORST_FIRST:
        worst = [one for one in observed if one.verdict is verdict]
        if worst:
            more = f" (and {len(worst) - 1} more)" if len(worst) > 1 else ""
            return Result(check, verdict, worst[0].text + more, worst[0].transcript, repeat)
    if check.id in findings.reasons and not findings.occasions.get(check.id):
        reason = findings.reasons[check.id]
        return Result(check, CheckVerdict.NOT_APPLICABLE, reason, (), repeat)
    if not findings.occasions.get(check.id):
        reason = "it had no occasion: it never chose to"
        return Result(check, CheckVerdict.NOT_APPLICABLE, reason, (), repeat)
    return Result(
        check, CheckVerdict.OK, plural(findings.occasions[check.id], "occasion"), (), repeat
    )


def profile_of(dialect: Dialect) -> str:
    """Return the name of the dialect profile that a check is of.

    >>> from mjbot.protocol.dialects import ARRAYS
    >>> profile_of(ARRAYS)
    'stdio-arrays: arrays over pipes, an answer to each (mjai.app)'
    """
    return f"{dialect.traits.word}: {dialect.traits.title}"


def text_report(
    target: str, dialect: Dialect, results: Sequence[Result], interrupted: str = ""
) -> str:
    """Return the report for a terminal; ``interrupted`` as in :class:`CheckFindings`."""
    lines = [f"{one_line(target)}:", f"dialect profile {profile_of(dialect)}"]
    for result in results:
        check = result.check
        lines.append(f"{check.id} {check.level:<6} {result.verdict.value:<14} {check.title}")
        if result.verdict is not CheckVerdict.OK:
            lines.append(f"    {one_line(result.text)}")
        if result.verdict is CheckVerdict.FAILED:
            lines.append(f"    rests on: {check.document}")
            lines += [f"      {line}" for line in shown(result.transcript)]
            lines.append(f"    repeat: {result.repeat}")
    if interrupted:
        lines.append(f"INTERRUPTED {interrupted}: these verdicts are partial")
    return "\n".join([*lines, summary(results)])


def shown(transcript: Sequence[str]) -> list[str]:
    """Return the title of a transcript and its last lines."""
    return [*transcript[:1], *transcript[1:][-SHOWN_LINES:]]


def summary(results: Sequence[Result]) -> str:
    """Count the verdicts in one line."""
    counts = [
        f"{sum(result.verdict is verdict for result in results)} {verdict.value}"
        for verdict in CheckVerdict
    ]
    return ", ".join(counts)


def json_report(
    target: str, dialect: Dialect, results: Sequence[Result], interrupted: str = ""
) -> str:
    """Return everything, transcripts whole; ``interrupted`` as in :class:`CheckFindings`."""
    entries: list[dict[str, Any]] = [
        {
            "id": result.check.id,
            "level": result.check.level,
            "verdict": result.verdict.value,
            "title": result.check.title,
            "document": result.check.document,
            "text": result.text,
            "transcript": list(result.transcript),
            "repeat": result.repeat,
        }
        for result in results
    ]
    status = f"interrupted {interrupted}" if interrupted else "complete"
    profile = profile_of(dialect)
    report = {"target": target, "profile": profile, "status": status, "checks": entries}
    return json.dumps(report, indent=1, ensure_ascii=False)


def junit_report(
    target: str,
    dialect: Dialect,
    results: Sequence[Result],
    interrupted: str = "",
    *,
    strict: bool,
) -> str:
    """Return JUnit's XML: a test case for each check, skipped where it does not apply.

    An interrupted check has one more case, with an error.
    """
    suite = ElementTree.Element("testsuite", name=f"mjbot check {one_line(target)}")
    properties = ElementTree.SubElement(suite, "properties")
    ElementTree.SubElement(properties, "property", name="profile", value=profile_of(dialect))
    for result in results:
        check = result.check
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=f"mjbot.play.check.{check.level}",
            name=f"{check.id} {check.title}",
        )
        if result.is_fault(strict=strict):
            fault = ElementTree.SubElement(case, "failure", message=one_line(result.text))
            fault.text = "\n".join([*shown(result.transcript), f"repeat: {result.repeat}"])
        elif result.verdict is CheckVerdict.NOT_APPLICABLE:
            ElementTree.SubElement(case, "skipped", message=one_line(result.text))
        elif result.verdict is not CheckVerdict.OK:
            output = ElementTree.SubElement(case, "system-out")
            output.text = f"{result.verdict.value}: {one_line(result.text)}"
    if interrupted:
        case = ElementTree.SubElement(
            suite, "testcase", classname="mjbot.play.check", name="complete"
        )
        ElementTree.SubElement(case, "error", message=f"interrupted {interrupted}")
    suite.set("tests", str(len(suite.findall("testcase"))))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(len(suite.findall(f"*/{tag}"))))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)
