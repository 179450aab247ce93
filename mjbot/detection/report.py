"""What an operator reads: the verdicts as rows, and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from mjbot.detection.detectors import DETECTORS
from mjbot.detection.evidence import Position
from mjbot.detection.hidden import SCORES, HiddenTest
from mjbot.detection.verdicts import Verdict
from mjbot.text import plural

NOT_PROOF: Final = "not proof"
WARNING: Final = (
    "This is not proof. It says how far two players' play for each other departs from what"
    " strangers do by chance; friends of like style, a score that makes help honest, and chance"
    " itself do the same. Look at the positions before you ask anybody."
)
SURE: Final = 0.05
"""Adjusted p-value below which a pair is called conspicuous."""


@dataclass
class Finding:
    """A verdict and what closer looks have shown."""

    verdict: Verdict
    hidden: HiddenTest | None = None
    positions: list[Position] = field(default_factory=list)

    @property
    def is_conspicuous(self) -> bool:
        """Whether the adjusted p-value is below :data:`SURE`."""
        return self.verdict.adjusted < SURE


@dataclass(frozen=True)
class Report:
    """All verdicts of a run, the surest first; the first ones looked at closely."""

    records: str
    games: int
    players: int
    least: int
    findings: Sequence[Finding]
    left_out: str = ""

    @property
    def told(self) -> str:
        """What was tested, and how many are conspicuous."""
        found = sum(finding.is_conspicuous for finding in self.findings)
        return (
            f"{plural(self.games, 'game')} of {plural(self.players, 'player')};"
            f" {plural(len(self.findings), 'pair')} met in {self.least} games or more,"
            f" {found} with an adjusted p below {SURE:g}{self.left_out}"
        )


HEADS: Final = (
    "pair", "games", "points per hanchan [95 %]", "p", "adjusted p",
    "all tables", "same tables", "hidden hands: p", "",
)  # fmt: skip


def cells(finding: Finding) -> list[str]:
    """Return a row of the table, as plain text."""
    verdict, effect = finding.verdict, finding.verdict.effect
    told = f"{effect.value:+,.0f}"
    if effect.is_bounded:
        told += f" [{effect.low:+,.0f}, {effect.high:+,.0f}]"
    columns = verdict.parts.sum(axis=1)
    return [
        " + ".join(verdict.names),
        str(len(verdict.games)),
        told,
        p_value(verdict.p),
        p_value(verdict.adjusted),
        f"{columns[0]:+.1f}",
        f"{columns[1]:+.1f}",
        p_value(finding.hidden.p) if finding.hidden else "-",
        NOT_PROOF,
    ]


def p_value(p: float) -> str:
    """Return a p-value as it is read.

    >>> p_value(0.04321), p_value(0.00001234), p_value(1.0)
    ('0.043', '1.2e-05', '1')
    """
    return f"{p:.2g}"


def report_json(report: Report) -> dict[str, Any]:
    """Return all that is known, as plain values."""
    return {
        "warning": WARNING,
        "records": report.records,
        "games": report.games,
        "players": report.players,
        "least_games": report.least,
        "adjusted_by": "Holm",
        "pairs": [_pair_json(finding) for finding in report.findings],
    }


def _pair_json(finding: Finding) -> dict[str, Any]:
    verdict = finding.verdict
    told: dict[str, Any] = {
        "players": list(verdict.names),
        "note": NOT_PROOF,
        "games": len(verdict.games),
        "score": verdict.score,
        "p": verdict.p,
        "p_adjusted": verdict.adjusted,
        "points_per_hanchan": asdict(verdict.effect) if verdict.effect.is_bounded else None,
        "detectors": {
            detector.key: {
                "excess": float(verdict.excess[place]),
                "z_all_tables": float(verdict.z[0, place]),
                "z_same_tables": float(verdict.z[1, place]),
            }
            for place, detector in enumerate(DETECTORS)
        },
    }
    if finding.hidden is not None:
        hidden = finding.hidden
        told["hidden_hands"] = {
            "p": hidden.p,
            "decisions": hidden.decisions,
            **{
                name: {"real": hidden.real[k], "redrawn": hidden.redrawn[k], "z": hidden.z[k]}
                for k, name in enumerate(SCORES)
            },
        }
    told["positions"] = [
        {
            "game": position.game,
            "said": position.sentence,
            "watch": position.command,
            "weight": position.weight,
            **position.moment._asdict(),
        }
        for position in finding.positions
    ]
    return told
