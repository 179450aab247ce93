"""What an operator reads of helpers: rows, JSON and a page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mjbot.analysis.collusion.helpers import SIGNS, SURE, HelperVerdict, TargetVerdict
from mjbot.analysis.collusion.report import NOT_PROOF, p_value
from mjbot.runtime.files import plural
from mjbot.viewer import html
from mjbot.viewer.html import name, table, text

WARNING: Final = (
    "This is not proof. It shows which players treat one opponent unlike all others, beyond what"
    " the style of the one and the strength of the other explain. Review the games before you"
    " contact a player."
)
HEADS: Final = ("helper", "helped", "games", "p", "adjusted p", "q", "most conspicuous", "excess")
TARGET_HEADS: Final = ("helped", "partners", "with p < 0.05", "p", "adjusted p", "who")
MOST_ROWS: Final = 200
MOST_NAMES: Final = 6
MOST_LETTERS: Final = 300


@dataclass(frozen=True)
class HelpersReport:
    """All verdicts of a run, the surest first."""

    records: str
    games: int
    players: int
    least: int
    verdicts: Sequence[HelperVerdict]
    targets: Sequence[TargetVerdict]
    left_out: str = ""

    @property
    def summary(self) -> str:
        """What was tested, and how many are conspicuous."""
        found = sum(verdict.adjusted < SURE for verdict in self.verdicts)
        helped = sum(target.adjusted < SURE for target in self.targets)
        return (
            f"{plural(self.games, 'game')} of {plural(self.players, 'player')};"
            f" {len(self.verdicts)} ordered pairs met in {self.least} games or more, {found} with"
            f" an adjusted p below {SURE:g}; {plural(len(self.targets), 'player')} with enough"
            f" partners, {helped} with an adjusted p below {SURE:g}{self.left_out}"
        )

    @property
    def conspicuous_targets(self) -> list[TargetVerdict]:
        """The players with too many helpers."""
        return [target for target in self.targets if target.adjusted < SURE]


def helper_cells(verdict: HelperVerdict) -> list[str]:
    """Return a row of the table, as plain text."""
    place = SIGNS.index(verdict.sign)
    return [
        verdict.helper,
        verdict.helped,
        str(verdict.games),
        p_value(verdict.p),
        p_value(verdict.adjusted),
        p_value(verdict.q),
        verdict.sign,
        f"{abs(verdict.excess[place]):.1f}",
    ]


def target_cells(target: TargetVerdict) -> list[str]:
    """Return a row of the table of players with many helpers."""
    names = ", ".join(target.helpers[:MOST_NAMES])
    more = len(target.helpers) - MOST_NAMES
    return [
        target.player,
        str(target.partners),
        str(target.close),
        p_value(target.p),
        p_value(target.adjusted),
        f"{names} and {more} more" if more > 0 else names,
    ]


def helpers_json(report: HelpersReport) -> dict[str, Any]:
    """Return all that is known, as plain values."""
    return {
        "warning": WARNING,
        "records": report.records,
        "games": report.games,
        "players": report.players,
        "least_games": report.least,
        "adjusted_by": "Holm",
        "q_by": "Benjamini-Hochberg",
        "helpers": [
            {
                "helper": verdict.helper,
                "helped": verdict.helped,
                "note": NOT_PROOF,
                "games": verdict.games,
                "p": verdict.p,
                "p_adjusted": verdict.adjusted,
                "q": verdict.q,
                "signs": {
                    sign: {"p": p, "excess": excess}
                    for sign, p, excess in zip(SIGNS, verdict.signs, verdict.excess, strict=True)
                },
            }
            for verdict in report.verdicts
        ],
        "helped": [
            {
                "player": target.player,
                "partners": target.partners,
                "close_partners": list(target.helpers),
                "p": target.p,
                "p_adjusted": target.adjusted,
            }
            for target in report.targets
        ],
    }


def helpers_page(report: HelpersReport) -> str:
    """Return the page."""
    title = f"Helpers in {text(report.records, 80)}"
    return html.page(title, ["<main>", *_parts(report), "</main>"])


def _parts(report: HelpersReport) -> Iterator[str]:
    yield "<h1>Players that help others?</h1>"
    yield f"<p class=soft>{text(report.records, MOST_LETTERS)}</p>"
    yield f"<p>{text(report.summary, MOST_LETTERS)}.</p>"
    yield f"<p class=mid><b>{text(WARNING, 600)}</b></p>"
    yield table(HEADS, [_row(verdict) for verdict in report.verdicts[:MOST_ROWS]])
    if len(report.verdicts) > MOST_ROWS:
        yield f"<p class=soft>{len(report.verdicts) - MOST_ROWS} more pairs: --json has them.</p>"
    if report.conspicuous_targets:
        yield "<h2>Many helpers of one player</h2>"
        rows = [[text(cell, MOST_LETTERS) for cell in target_cells(target)]
                for target in report.conspicuous_targets]  # fmt: skip
        yield table(TARGET_HEADS, rows)
    yield (
        "<p class=soft><b>excess</b>: how much more, or less, of it than expected in all games"
        " together. <b>adjusted p</b>: for all ordered pairs (Holm); <b>q</b>: share of wrong names"
        " among all rows up to this one (Benjamini and Hochberg).</p>"
    )


def _row(verdict: HelperVerdict) -> list[str]:
    cells = helper_cells(verdict)
    shown = [name(cells[0]), name(cells[1]), *[text(cell, MOST_LETTERS) for cell in cells[2:]]]
    if verdict.adjusted < SURE:
        shown[4] = f"<b class=bad>{shown[4]}</b>"
    return shown
