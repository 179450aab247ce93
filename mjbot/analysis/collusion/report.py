"""The verdicts for an operator: as rows, as JSON, and as one self-contained HTML page."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from math import sqrt
from typing import Any, Final

import numpy as np

from mjbot.analysis.collusion.evidence import EvidencePosition
from mjbot.analysis.collusion.hidden import CALL, NEXT_CALL, OWN, RIICHI, SCORES, WAIT, Floats
from mjbot.analysis.collusion.verdicts import PairVerdict
from mjbot.runtime.files import plural
from mjbot.viewer import html
from mjbot.viewer.html import name, table, text

NOT_PROOF: Final = "not proof"
WARNING: Final = (
    "These results are not proof. They show how much better the discards of two players fit each"
    " other's concealed hands than those of unrelated players do by chance. Chance and unusual"
    " styles of play have that effect, too. Review the positions before you contact a player."
)
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
SURE: Final = 0.05
"""Adjusted p-value below which a pair is called conspicuous."""


@dataclass
class Finding:
    """A verdict, and the positions that weigh most if the pair's games were evaluated closely."""

    verdict: PairVerdict
    positions: list[EvidencePosition] = field(default_factory=list)

    @property
    def is_conspicuous(self) -> bool:
        """Whether the adjusted p-value is below :data:`SURE`."""
        return self.verdict.adjusted < SURE


@dataclass(frozen=True)
class DetectionReport:
    """All verdicts of a run, the surest first; the first ones with positions."""

    records: str
    games: int
    players: int
    least: int
    findings: Sequence[Finding]
    left_out: str = ""
    duplicates: int = 0

    @property
    def summary(self) -> str:
        """What was tested, and how many are conspicuous."""
        found = sum(finding.is_conspicuous for finding in self.findings)
        return (
            f"{plural(self.games, 'game')} of {plural(self.players, 'player')};"
            f" {plural(len(self.findings), 'pair')} met in {self.least} games or more,"
            f" {found} with an adjusted p below {SURE:g}{self.left_out}"
        )


HEADS: Final = (
    "pair", "games", "points per hanchan [95%]", "p", "adjusted p",
    "calls served", "waits served", "own waits", "",
)  # fmt: skip


def cells(finding: Finding) -> list[str]:
    """Return a row of the table, as plain text."""
    verdict, effect = finding.verdict, finding.verdict.effect
    z = verdict.z
    return [
        " + ".join(verdict.names),
        str(len(verdict.games)),
        effect.text("+,.0f") if effect.is_bounded else f"{effect.value:+,.0f}",
        p_value(verdict.p),
        p_value(verdict.adjusted),
        f"{_together(z[[CALL, NEXT_CALL]]):+.1f}",
        f"{_together(z[[WAIT, RIICHI]]):+.1f}",
        f"{z[OWN]:+.1f}",
        NOT_PROOF,
    ]


def _together(z: Floats) -> float:
    """Return the deviate of scores together; one that was never counted is 0 (three do not chi)."""
    return float(z.sum()) / sqrt(max(int(np.count_nonzero(z)), 1))


def p_value(p: float) -> str:
    """Return a p-value as it is read.

    >>> p_value(0.04321), p_value(0.00001234), p_value(1.0)
    ('0.043', '1.2e-05', '1')
    """
    return f"{p:.2g}"


def report_json(report: DetectionReport) -> dict[str, Any]:
    """Return all that is known, as plain values."""
    return {
        "warning": WARNING,
        "records": report.records,
        "games": report.games,
        "duplicates": report.duplicates,
        "players": report.players,
        "least_games": report.least,
        "adjusted_by": "Holm",
        "pairs": [_pair_json(finding) for finding in report.findings],
    }


def _pair_json(finding: Finding) -> dict[str, Any]:
    verdict = finding.verdict
    document: dict[str, Any] = {
        "players": list(verdict.names),
        "note": NOT_PROOF,
        "games": len(verdict.games),
        "score": verdict.score,
        "p": verdict.p,
        "p_adjusted": verdict.adjusted,
        "points_per_hanchan": asdict(verdict.effect) if verdict.effect.is_bounded else None,
        "hidden_hands": {
            score: {"beyond_chance": float(verdict.residuals[k]), "z": float(verdict.z[k])}
            for k, score in enumerate(SCORES)
        },
    }
    document["positions"] = [
        {
            **position.moment._asdict(),
            "game": position.game,
            "said": position.sentence,
            "watch": position.command,
        }
        for position in finding.positions
    ]
    return document


# --- as a page -------------------------------------------------------------------------------


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
