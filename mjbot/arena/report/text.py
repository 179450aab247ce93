"""The outcome as text and tables, for the terminal and for other programs."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from rich.table import Table

from mjbot.arena.run import RunOutcome
from mjbot.arena.setup import labels
from mjbot.arena.workers.fault_files import fault_lines
from mjbot.game.statistics import figures as f
from mjbot.game.statistics.estimate_text import format_estimate
from mjbot.game.statistics.estimates import CONFIDENCE, Estimate
from mjbot.game.statistics.sequential import TestOutcome, confidence_sequence
from mjbot.runtime.files import plural

MOST_VOID_LISTED: Final = 3


TableRows = tuple[list[str], list[list[str]]]
"""The heads and the rows of a table."""


def figure_rows(figures: Sequence[f.Figure], names: Sequence[str], sums: f.WallSums) -> TableRows:
    """Return the figures of each name, and of two their paired differences."""
    heads = ["", *names, *([f"{names[0]} less {names[1]}"] if len(names) == 2 else [])]
    rows = []
    for figure in figures:
        estimates = [figure.estimate(sums[:, k]) for k in range(len(names))]
        cells = [format_estimate(estimate, figure.kind) for estimate in estimates]
        if len(names) == 2:
            less = figure.difference(sums[:, 0], sums[:, 1])
            cells.append(format_estimate(less, figure.kind, signed=True))
        rows.append([figure.label, *cells])
    return heads, rows


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(*heads)
    for row in rows:
        table.add_row(*row)
    return table


def figures_table(outcome: RunOutcome) -> Table:
    """Return the figures of all strategies, and of two their paired differences."""
    return _table(*figure_rows(outcome.figures, labels(outcome.plan.setup.specs), outcome.rows))


def pairs_table(outcome: RunOutcome) -> Table:
    """Return the figures of the pairs, and of two their paired differences."""
    return _table(*figure_rows(f.PAIR_FIGURES, pair_names(outcome), outcome.pairs))


def difference_rows(outcome: RunOutcome) -> TableRows:
    """Return heads and rows of the paired rank differences of all strategies."""
    names = labels(outcome.plan.setup.specs)
    rows = []
    for one, name in enumerate(names[:-1]):
        less = [
            f.FIGURES[0].difference(outcome.rows[:, one], outcome.rows[:, other])
            for other in range(one + 1, len(names))
        ]
        rows.append(
            [
                name,
                *[""] * one,
                *[format_estimate(difference, "mean", signed=True) for difference in less],
            ]
        )
    return ["average rank, row less column", *names[1:]], rows


def differences_table(outcome: RunOutcome) -> Table:
    """Return the paired rank differences of all strategies (row less column)."""
    return _table(*difference_rows(outcome))


def pair_names(outcome: RunOutcome) -> list[str]:
    """Return what the tables call the pairs."""
    names = labels(outcome.plan.setup.specs)
    pairs = outcome.plan.setup.seating.pairs
    return [f"2 x {names[a]}" if a == b else f"{names[a]} + {names[b]}" for a, b in pairs]


def verdict_line(outcome: RunOutcome) -> str:
    """Compare the first two: by the sequential test if that was asked for."""
    return sequential_line(outcome) if outcome.plan.until_sure else fixed_line(outcome)


def fixed_line(outcome: RunOutcome) -> str:
    """Describe what the 95% interval of the rank difference shows on these walls."""
    first, second = labels(outcome.plan.setup.specs)[:2]
    less = rank_difference(outcome)
    estimate = f"average rank {format_estimate(less, 'mean', signed=True)}"
    if not less.is_bounded:
        return f"too few walls to compare {first} with {second} ({estimate})"
    if less.is_alike and not less.value:
        return f"{first} and {second} came in alike on every wall"
    if less.leaves_out_zero:
        word = "better" if less.value < 0 else "worse"
        return f"{first} is {word} than {second}: {estimate}, which leaves out 0"
    return f"no significant difference between {first} and {second}: {estimate}, which holds 0"


def rank_difference(outcome: RunOutcome) -> Estimate:
    """Return the paired difference of the first two strategies' average ranks."""
    return f.FIGURES[0].difference(outcome.rows[:, 0], outcome.rows[:, 1])


def fixed_verdict(outcome: RunOutcome) -> TestOutcome:
    """Return the verdict of :func:`fixed_line` in a word."""
    less = rank_difference(outcome)
    if not (less.is_bounded and less.leaves_out_zero):
        return "open"
    return "better" if less.value < 0 else "worse"


def sequential_line(outcome: RunOutcome) -> str:
    """Describe the result of the sequential test, with its chance of error."""
    first, second = labels(outcome.plan.setup.specs)[:2]
    rates = outcome.plan.rates
    low, high = sequence_interval(outcome)
    interval = f"rank difference in {low:+.3f} .. {high:+.3f} at all looks"
    where = f"after {plural(outcome.test_walls, 'wall')}"
    match outcome.verdict:
        case "better" | "worse" as word:
            known = f"{first} is {word} than {second}"
            return f"sure {where}: {known} (error at most {100 * rates.error:g} %; {interval})"
        case "equal":
            known = f"{first} and {second} differ by less than {rates.margin:g} ranks"
            return f"sure {where}: {known} (error at most {50 * rates.error:g} %; {interval})"
        case _:
            return f"not sure {where} which of {first} and {second} is better ({interval})"


def trouble_lines(outcome: RunOutcome) -> list[str]:
    """Return a line for each strategy that had faults, and for the first walls that are void.

    Raises :class:`~mjbot.arena.workers.fault_files.FaultFileError`.
    """
    lines = fault_lines(outcome.plan.folder, outcome.plan.setup, outcome.faults)
    void = sorted(outcome.void.items())
    lines += [f"wall {wall} does not count: {why}" for wall, why in void[:MOST_VOID_LISTED]]
    if len(void) > MOST_VOID_LISTED:
        lines.append(f"{len(void)} walls in all do not count")
    return lines


def pairing_line(outcome: RunOutcome) -> str:
    """Describe the gain of the shared walls."""
    share = f.pairing_ratio(outcome.rows, 0, 1)
    if len(outcome.rows) < 2:
        return "a single wall has no spread"
    if math.isnan(share):
        return "the ranks are the same in every game"
    return f"shared walls leave {share:.2f} of the variance of their rank difference"


def sequence_interval(outcome: RunOutcome) -> tuple[float, float]:
    """Return the interval of the first two strategies' rank difference that always holds."""
    bound = outcome.plan.setup.seating.rank_bound
    differences = f.rank_differences(outcome.rows, 0, 1)
    return confidence_sequence(differences, bound, outcome.plan.rates.error)


def json_records(outcome: RunOutcome) -> Iterator[dict[str, Any]]:
    """Return the run, every strategy, every pair and every difference as plain records."""
    setup = outcome.plan.setup
    names = labels(setup.specs)
    asked = outcome.plan.until_sure
    yield {
        "record": "run",
        "strategies": setup.strategies,
        "format": setup.format,
        "length": setup.length,
        "rules": setup.rules,
        "seed": setup.seed,
        "walls": setup.walls,
        "games": outcome.games,
        "complete_walls": len(outcome.rows),
        "faults": sum(outcome.faults),
        "void_walls": sorted(outcome.void),
        "verdict": outcome.verdict if asked else fixed_verdict(outcome),
        "verdict_by": "sequential test" if asked else "95 % interval",
        "verdict_walls": outcome.test_walls if asked else len(outcome.rows),
        "error": outcome.plan.rates.error if asked else round(1 - CONFIDENCE, 3),
        "margin": outcome.plan.rates.margin if asked else None,
        "rank_difference_always": sequence_interval(outcome) if asked else None,
        "variance_left_by_pairing": _number(f.pairing_ratio(outcome.rows, 0, 1)),
        **_protocol_record(outcome),
    }
    for k, name in enumerate(names):
        record = _json_record("strategy", name, outcome.figures, outcome.rows[:, k])
        yield {**record, "faults": outcome.faults[k]}
    for one in range(len(names)):
        for other in range(one + 1, len(names)):
            label = f"{names[one]} less {names[other]}"
            less = outcome.rows[:, one], outcome.rows[:, other]
            yield _json_difference(label, outcome.figures, *less)
    for k, name in enumerate(pair_names(outcome)):
        yield _json_record("pair", name, f.PAIR_FIGURES, outcome.pairs[:, k])
    if len(setup.seating.pairs) == 2:
        label = " less ".join(pair_names(outcome))
        yield _json_difference(label, f.PAIR_FIGURES, outcome.pairs[:, 0], outcome.pairs[:, 1])


def _protocol_record(outcome: RunOutcome) -> dict[str, Any]:
    if (check := outcome.protocol) is None:
        return {}
    return {
        "protocol": check.protocol.digest,
        "protocol_fixed": check.protocol.fixed,
        "exploratory": check.deviations,
    }


def _json_record(
    record: str, name: str, figures: tuple[f.Figure, ...], sums: f.WallSums
) -> dict[str, Any]:
    estimates = {figure.key: _plain(figure.estimate(sums)) for figure in figures}
    return {"record": record, "name": name, "games": int(sums["games"].sum()), **estimates}


def _json_difference(
    name: str, figures: tuple[f.Figure, ...], one: f.WallSums, other: f.WallSums
) -> dict[str, Any]:
    estimates = {figure.key: _plain(figure.difference(one, other)) for figure in figures}
    return {"record": "difference", "name": name, **estimates}


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _plain(estimate: Estimate) -> list[float] | None:
    """Return value, low and high; nothing if nothing was observed."""
    if math.isnan(estimate.value):
        return None
    return [estimate.value, estimate.low, estimate.high]
