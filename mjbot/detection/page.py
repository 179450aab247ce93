"""The report as one HTML page that needs nothing else."""

from collections.abc import Iterator
from typing import Final

from mjbot.detection.detectors import DETECTORS
from mjbot.detection.evidence import Position
from mjbot.detection.report import HEADS, NOT_PROOF, WARNING, Finding, Report, cells
from mjbot.review.html import POLICY, STYLE, name, table, text

MOST_LETTERS: Final = 300
HOW: Final = (
    "<b>all tables</b> and <b>same tables</b> are what the two columns add to the score: all"
    " tables hold what the two did for each other against what each does and is done to"
    " everywhere, same tables against what each did to the third and fourth player of the very same"
    " games. <b>p</b> is the share of strangers with such a score after as many games;"
    " <b>adjusted p</b> allows for all pairs in the list (Holm). <b>hidden hands</b> holds the"
    " discards against the partner's real hand and 199 others that could have been there."
    " <b>points</b> are what such help is worth to two players by Phoenix games: no points that"
    " anybody was seen to win."
)


def page(report: Report) -> str:
    """Return the page."""
    parts = [
        "<!doctype html><html lang=en><head><meta charset=utf-8>",
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name=viewport content="width=device-width,initial-scale=1">',
        f"<title>Pairs in {text(report.records, 80)}</title><style>{STYLE}</style></head>",
        "<body><main><h1>Pairs that play for each other?</h1>",
        f"<p class=soft>{text(report.records, MOST_LETTERS)}</p>",
        f"<p>{text(report.told, MOST_LETTERS)}.</p><p class=mid><b>{text(WARNING, 600)}</b></p>",
        table(HEADS, [_row(finding, place) for place, finding in enumerate(report.findings)]),
        f"<p class=soft>{HOW}</p>",
        *[
            line
            for place, finding in enumerate(report.findings)
            for line in _closely(finding, place)
        ],
        "</main></body></html>\n",
    ]
    return "\n".join(parts)


def _row(finding: Finding, place: int) -> list[str]:
    told = [text(cell, MOST_LETTERS) for cell in cells(finding)]
    pair = _names(finding)
    told[0] = f'<a href="#pair-{place}">{pair}</a>' if finding.positions else pair
    if finding.is_conspicuous:
        told[4] = f"<b class=bad>{told[4]}</b>"
    return told


def _names(finding: Finding) -> str:
    return " + ".join([name(each) for each in finding.verdict.names])


def _closely(finding: Finding, place: int) -> Iterator[str]:
    if not finding.positions and finding.hidden is None:
        return
    verdict = finding.verdict
    yield f'<h2 id="pair-{place}">{_names(finding)} <span class=mid>({NOT_PROOF})</span></h2>'
    if finding.hidden is not None:
        hidden = finding.hidden
        yield (
            f"<p>Hidden hands: of {hidden.decisions} discards {hidden.real[0]:.0f} served a call of"
            f" the partner's real hand, {hidden.redrawn[0]:.1f} would have served redrawn ones"
            f" (z {hidden.z[0]:+.1f}); {hidden.real[1]:.0f} dealt in to a silent wait,"
            f" {hidden.redrawn[1]:.1f} to redrawn ones (z {hidden.z[1]:+.1f})."
            f" p = {hidden.p:.2g}.</p>"
        )
    yield "<ol class=worst>" if finding.positions else ""
    for position in finding.positions:
        yield _position(position)
    yield "</ol>" if finding.positions else ""
    rows = [
        [
            detector.label,
            f"{verdict.excess[k]:+.1f}",
            f"{verdict.z[0, k]:+.1f}",
            f"{verdict.z[1, k]:+.1f}",
        ]
        for k, detector in enumerate(DETECTORS)
    ]
    heads = ["detector", "hits beyond expectation", "z, all tables", "z, same tables"]
    yield f"<details><summary>all detectors</summary><div class=in>{table(heads, rows)}</div>"
    yield "</details>"


def _position(position: Position) -> str:
    said = text(position.sentence, MOST_LETTERS)
    where = f"{text(position.game, 120)}, kyoku {position.moment.kyoku + 1}"
    command = text(position.command, MOST_LETTERS)
    return f"<li>{said} <span class=soft>({where})</span><br><code>{command}</code></li>"
