"""The report as one HTML page that needs nothing else."""

from collections.abc import Iterator
from typing import Final

from mjbot.detection.evidence import EvidencePosition
from mjbot.detection.report import HEADS, NOT_PROOF, WARNING, DetectionReport, Finding, cells
from mjbot.report import html
from mjbot.report.html import name, table, text

MOST_LETTERS: Final = 300
HOW: Final = (
    "<b>p</b> is how likely two who do not know each other's hands have discards that fit those"
    " hands as well, whatever their style; <b>adjusted p</b> allows for all pairs in the list"
    " (Holm). <b>calls served</b>, <b>waits served</b> and <b>own waits</b> are deviates of what"
    " goes into it: discards that the other's real hand needed, more (+) or less (-) often than"
    " other hands that could have been there; and waiting for tiles that the other holds (-: for"
    " those that it does not)."
    " <b>points</b> are the average value of such help to two players in Phoenix games: not points"
    " that they were seen to win."
)


def page(report: DetectionReport) -> str:
    """Return the page."""
    parts = [
        "<main><h1>Pairs that play for each other?</h1>",
        f"<p class=soft>{text(report.records, MOST_LETTERS)}</p>",
        f"<p>{text(report.summary, MOST_LETTERS)}.</p><p class=mid><b>{text(WARNING, 600)}</b></p>",
        table(HEADS, [_row(finding, place) for place, finding in enumerate(report.findings)]),
        f"<p class=soft>{HOW}</p>",
        *[
            line
            for place, finding in enumerate(report.findings)
            for line in _closely(finding, place)
        ],
        "</main>",
    ]
    return html.page(f"Pairs in {text(report.records, 80)}", parts)


def _row(finding: Finding, place: int) -> list[str]:
    columns = [text(cell, MOST_LETTERS) for cell in cells(finding)]
    pair = _names(finding)
    columns[0] = f'<a href="#pair-{place}">{pair}</a>' if finding.positions else pair
    if finding.is_conspicuous:
        columns[4] = f"<b class=bad>{columns[4]}</b>"
    return columns


def _names(finding: Finding) -> str:
    return " + ".join([name(each) for each in finding.verdict.names])


def _closely(finding: Finding, place: int) -> Iterator[str]:
    if not finding.positions:
        return
    yield f'<h2 id="pair-{place}">{_names(finding)} <span class=mid>({NOT_PROOF})</span></h2>'
    yield "<ol class=worst>"
    for position in finding.positions:
        yield _position(position)
    yield "</ol>"


def _position(position: EvidencePosition) -> str:
    shown = text(position.sentence, MOST_LETTERS)
    where = f"{text(position.game, 120)}, kyoku {position.moment.kyoku + 1}"
    command = text(position.command, MOST_LETTERS)
    return f"<li>{shown} <span class=soft>({where})</span><br><code>{command}</code></li>"
