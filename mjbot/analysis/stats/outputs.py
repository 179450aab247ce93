"""The tables and the comparison as lines for a terminal, JSON, CSV and Parquet."""

import csv
import io
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mjbot.analysis.stats.breakdown import PLAYER, Breakdown, StatsRow
from mjbot.analysis.stats.counted_games import UNKNOWN
from mjbot.analysis.stats.ratings import EXTRA
from mjbot.analysis.stats.strength import Adjusted
from mjbot.analysis.stats.sums import PLAYER_FIGURES, player_figures
from mjbot.game.statistics.estimate_text import compact, estimate_json, format_estimate
from mjbot.game.statistics.estimates import NOTHING, Estimate
from mjbot.game.statistics.figures import Figure
from mjbot.protocol.plain_text import one_line
from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.files import whole_file, write_text
from mjbot.runtime.languages import marked, translate, translate_count

FIGURE: Final = {figure.key: figure for figure in PLAYER_FIGURES}
SHORT: Final = {
    "rank": marked("rank"),
    "first": marked("1st %"),
    "fourth": marked("4th %"),
    "uma": marked("uma"),
    "win": marked("win %"),
    "deal_in": marked("deal-in %"),
    "riichi": marked("riichi %"),
    "call": marked("open %"),
    "tsumo": marked("tsumo %"),
    "win_points": marked("avg win"),
    "deal_in_points": marked("avg loss"),
}
"""The figures of the player table on a terminal and their heads; files have all of them."""
SHORTER: Final = ("rank", "first", "fourth", "uma", "win", "deal_in", "riichi", "call")
"""Those of the other tables."""
HEADS: Final = {
    "week": marked("week"),
    "month": marked("month"),
    "seat": marked("seat"),
    "length": marked("length"),
    "kyoku": marked("kyoku"),
    "opponent": marked("opponent"),
    "opponent-class": marked("opponent class"),
    "opponent-strength": marked("opponent strength"),
}
"""The head of what the games are broken down by."""
MOST_RULES: Final = 6
"""Sets of rules that the summary names."""


@dataclass(frozen=True)
class StatsReport:
    """All that was counted; ``least``: rows with fewer finished games are left out."""

    records: str
    breakdown: Breakdown
    least: int = 1

    def rows(self, table: str, players: int | None = None) -> list[StatsRow]:
        """Return a table's rows; with ``players``, those of so many with most games."""
        sums = self.breakdown.tables[table].sums
        rows = [
            row
            for row in self.breakdown.rows(table)
            if sums.count(row.group, "games") >= self.least
        ]
        shown = set(list(dict.fromkeys(row.name for row in rows))[:players])
        return [row for row in rows if row.name in shown]

    def figures(self, rules: str | None = None) -> tuple[Figure, ...]:
        """Return the figures of games under some rules, by default under any: three have no 4th."""
        seats = self.breakdown.seats
        return player_figures(seats[rules] if rules else max(seats.values(), default=4))

    def estimate(self, row: StatsRow, figure: Figure) -> Estimate:
        """Return a figure of a row."""
        if figure not in self.figures(row.rules):
            return NOTHING
        return self.breakdown.tables[row.table].sums.estimate(row.group, figure)

    def count(self, row: StatsRow, field: str) -> int:
        """Return a count of a row."""
        return self.breakdown.tables[row.table].sums.count(row.group, field)

    @property
    def summary(self) -> str:
        """What was read, and what of it could not be used."""
        breakdown = self.breakdown
        n = len({name for name, _, _ in breakdown.tables[PLAYER].groups})
        games = translate_count("{n} game", "{n} games", breakdown.games)
        players = translate_count("{n} player", "{n} players", n)
        parts = [translate("{games} of {players}", games=games, players=players)]
        counted = (
            (breakdown.unfinished, marked("{n} did not end (no rank)")),
            (breakdown.without_day if self._has_days else 0, marked("{n} without a date")),
            (breakdown.duplicates, marked("{n} duplicates counted once")),
            (
                breakdown.renamed,
                marked("{n} have the events of another under other names and count too"),
            ),
            (breakdown.no_result, marked("{n} kyoku without a result, which do not count")),
            (breakdown.no_kyoku, marked("{n} games without a kyoku left out")),
            (
                self.n_hidden,
                marked("{n} rows of players with fewer than {least} finished games left out"),
            ),
            (breakdown.unreadable_games, marked("{n} games that cannot be read left out")),
            (breakdown.unreadable_files, marked("{n} files that cannot be read left out")),
        )
        parts += [translate(what, n=n, least=self.least) for n, what in counted if n]
        if self.is_mixed:
            by_games = sorted(breakdown.rules.items(), key=lambda item: (-item[1], item[0]))
            shown = [f"{rules} ({number})" for rules, number in by_games[:MOST_RULES]]
            more = ", ..." if len(breakdown.rules) > MOST_RULES else ""
            text = marked("rows of their own for each set of rules: {rules}")
            parts.append(translate(text, rules=f"{', '.join(shown)}{more}"))
        return "; ".join(parts)

    @property
    def n_hidden(self) -> int:
        """Rows of the first table that have too few finished games."""
        return len(self.breakdown.tables[PLAYER].groups) - len(self.rows(PLAYER))

    @property
    def is_mixed(self) -> bool:
        """Whether games were played under different rules, or are of both lengths."""
        return len(self.breakdown.rules) > 1

    def label(self, row: StatsRow) -> str:
        """Return a row's player, with the rules where they differ."""
        return f"{row.name}, {row.rules}" if self.is_mixed else row.name

    @property
    def _has_days(self) -> bool:
        return bool({"week", "month"} & set(self.breakdown.tables))

    @property
    def versions(self) -> bool:
        """Whether any name has a version."""
        return any(row.version for row in self.breakdown.rows(PLAYER))


def heads(report: StatsReport, table: str) -> list[str]:
    """Return the heads of a table on a terminal or a page."""
    key = [] if table == PLAYER else [HEADS[table]]
    rules = [marked("rules")] if report.is_mixed else []
    figures = [SHORT[name] for name in _columns_of(report, table)]
    return [translate(head) for head in (PLAYER, *rules, *key, marked("games"), *figures)]


def key_text(key: str) -> str:
    """Return by what a row was broken down, as it is shown."""
    return translate(key) if key == UNKNOWN else key


def cells(report: StatsReport, row: StatsRow) -> list[str]:
    """Return a row under these heads, as plain text.

    The value comes with half the length of its 95 % interval.
    """
    key = [] if row.table == PLAYER else [key_text(row.key)]
    figures = [FIGURE[name] for name in _columns_of(report, row.table)]
    estimates = [compact(report.estimate(row, figure), figure.kind) for figure in figures]
    rules = [row.rules] if report.is_mixed else []
    return [row.name, *rules, *key, str(report.count(row, "games")), *estimates]


def _columns_of(report: StatsReport, table: str) -> list[str]:
    """Return the keys of a table's figures."""
    names = SHORT if table == PLAYER else SHORTER
    return [name for name in names if FIGURE[name] in report.figures()]


# --- the comparison ---------------------------------------------------------------------------


def comparison_rows(report: StatsReport) -> Iterator[tuple[str, str]]:
    """Yield each figure's difference, the first side less the second."""
    sides = report.breakdown.sides
    for figure in report.figures(report.breakdown.compared_rules):
        yield (
            translate(figure.label),
            format_estimate(sides.difference(figure), figure.kind, signed=True),
        )


def comparison_lines(report: StatsReport) -> Iterator[str]:
    """Yield what is compared, and the difference adjusted for the opponents' strength."""
    breakdown = report.breakdown
    if breakdown.plan.sides is None:
        return
    one, other = map(str, breakdown.plan.sides)
    games = [breakdown.sides.count(side, "games") for side in (0, 1)]
    counted = [translate_count("{n} game", "{n} games", n) for n in games]
    yield translate(
        "{one} ({games}) less {other} ({its_games})",
        one=one,
        games=counted[0],
        other=other,
        its_games=counted[1],
    )
    if report.is_mixed:
        text = marked("compared: games of {rules}, those under other rules are left out")
        yield translate(text, rules=breakdown.compared_rules)
    adjusted = breakdown.adjusted()
    if adjusted is None:
        reason = translate("no chain of games connects {one} and {other}", one=one, other=other)
        yield translate("not adjusted for the opponents' strength: {reason}", reason=reason)
    else:
        yield from _adjusted_lines(adjusted, one, other)


def _adjusted_lines(adjusted: Adjusted, one: str, other: str) -> Iterator[str]:
    yield translate(
        "average rank, adjusted for the opponents' strength: {rank}",
        rank=format_estimate(adjusted.rank, "mean", signed=True),
    )
    yield translate(
        "{one} finishes ahead of {other} in {share} of games",
        one=one,
        other=other,
        share=format_estimate(adjusted.ahead, "rate"),
    )
    yield translate(
        "the opponents of {one} finish ahead of those of {other} in {share} % of games",
        one=one,
        other=other,
        share=f"{100 * adjusted.opponents_ahead:.1f}",
    )


# --- for other programs -----------------------------------------------------------------------


def report_json(report: StatsReport) -> dict[str, Any]:
    """Return everything as plain values; what is unknown or unbounded is ``None``."""
    breakdown = report.breakdown
    return {
        "records": report.records,
        "games": breakdown.games,
        "unfinished": breakdown.unfinished,
        "without_date": breakdown.without_day,
        "duplicates": breakdown.duplicates,
        "renamed": breakdown.renamed,
        "kyoku_without_result": breakdown.no_result,
        "games_without_kyoku": breakdown.no_kyoku,
        "rules": dict(breakdown.rules),
        "unreadable": {"files": breakdown.unreadable_files, "games": breakdown.unreadable_games},
        "confidence": 0.95,
        "tables": {
            name: [_row_json(report, row) for row in report.rows(name)] for name in breakdown.tables
        },
        "comparison": _comparison_json(report),
    }


def _row_json(report: StatsReport, row: StatsRow) -> dict[str, Any]:
    return {
        "player": row.player,
        "version": row.version or None,
        "key": row.key or None,
        "rules": row.rules,
        "games": report.count(row, "games"),
        "kyoku": report.count(row, "kyoku"),
        "figures": {
            figure.key: estimate_json(report.estimate(row, figure))
            for figure in report.figures(row.rules)
        },
    }


def _comparison_json(report: StatsReport) -> dict[str, Any] | None:
    breakdown = report.breakdown
    if breakdown.plan.sides is None:
        return None
    adjusted = breakdown.adjusted()
    return {
        "sides": [str(side) for side in breakdown.plan.sides],
        "games": [breakdown.sides.count(side, "games") for side in (0, 1)],
        "differences": {
            figure.key: estimate_json(breakdown.sides.difference(figure))
            for figure in report.figures(breakdown.compared_rules)
        },
        "rules": breakdown.compared_rules,
        "adjusted": adjusted
        and {
            "rank": estimate_json(adjusted.rank),
            "ahead": estimate_json(adjusted.ahead),
            "opponents_ahead": adjusted.opponents_ahead,
        },
    }


def columns(report: StatsReport) -> dict[str, list[Any]]:
    """Return all rows of all tables as columns: ``rank``, ``rank_low``, ``rank_high``, ..."""
    rows = [row for name in report.breakdown.tables for row in report.rows(name)]
    values: dict[str, list[Any]] = {
        "table": [row.table for row in rows],
        "player": [row.player for row in rows],
        "version": [row.version for row in rows],
        "key": [row.key for row in rows],
        "rules": [row.rules for row in rows],
        "games": [report.count(row, "games") for row in rows],
        "kyoku": [report.count(row, "kyoku") for row in rows],
    }
    for figure in report.figures():
        estimates = [estimate_json(report.estimate(row, figure)) or {} for row in rows]
        for suffix, part in (("", "value"), ("_low", "low"), ("_high", "high")):
            values[f"{figure.key}{suffix}"] = [estimate.get(part) for estimate in estimates]
    return values


def write_csv(path: Path, report: StatsReport) -> None:
    """Write all rows as CSV; raises ``OSError`` with its path."""
    values = columns(report)
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(values)
    writer.writerows(map(_safe_cells, zip(*values.values(), strict=True)))
    write_text(path, text.getvalue())


def _safe_cells(row: Sequence[Any]) -> list[Any]:
    """Return cells of which no spreadsheet makes a formula: names are untrusted."""
    return [_safe_text(cell) if isinstance(cell, str) else cell for cell in row]


def _safe_text(cell: str) -> str:
    """Return text as one line that shows every letter, and that begins no formula.

    Some spreadsheets take full-width signs for plain ones.

    >>> _safe_text("=1"), _safe_text("bot-1")
    ("'=1", 'bot-1')
    """
    shown = one_line(cell)
    starts = unicodedata.normalize("NFKC", shown.lstrip())[:1] in set("=+-@|")
    return f"'{shown}" if starts else shown


def require_parquet() -> None:
    """Raise :class:`~mjbot.runtime.errors.ArgumentError` where Parquet cannot be written."""
    try:
        import polars  # noqa: F401
    except ImportError:
        raise ArgumentError(f"--parquet needs polars: pip install '{EXTRA}'") from None


def write_parquet(path: Path, report: StatsReport) -> None:
    """Write all rows as Parquet; raises ``OSError`` with its path."""
    import polars

    values = columns(report)
    numbers = {name: polars.Float64 for name in list(values)[7:]}
    with whole_file(path) as file:
        polars.DataFrame(values, schema_overrides=numbers).write_parquet(file)
