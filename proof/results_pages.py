"""Which tables of the results rest on strategies that play other games since they were measured.

A page of results has a comment above the tables that were measured by one commit::

    <!-- rests on (7b4c645d): collusion-mc=3f2a91c04e17 weights/rank=? -->

with the commit and its subjects: strategies with their options (``/3`` after the name: at a table
of three), and weights that ship, each with a digest.  Pages of which no figure
depends on what a strategy plays has ``<!-- rests on: no strategy -->``.

The digest of a strategy is that of a few fixed games that it plays with itself (:func:`games`): the
same seeds, the same games.  A refactoring changes none of them and makes no page stale.  ``?`` is a
subject whose games were not taken down when the page was measured.

Where a digest is not today's the page has a line under the comment
(:meth:`RestsOn.note`).  ``python -m proof results-pages`` fails where it does not, ``--write``
writes and removes these lines, ``--renewed PAGE:LINE`` takes down today's digests and commit for
the comment at that line, once the table has been measured again.
"""

import argparse
import hashlib
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from mjbot.game.referee.referee import Referee
from mjbot.game.table.state import State
from mjbot.learning.models.weights import SHIPPED
from mjbot.protocol.rules import Rules
from mjbot.runtime.files import plural
from mjbot.strategy.options import StrategyError
from mjbot.strategy.pair.member import PairMember, pair_up
from mjbot.strategy.registry import Spec
from mjbot.strategy.strategy import Strategy

ROOT: Final = Path(__file__).parents[1]
RESULTS: Final = "docs/results"
NOT_RESULTS: Final = ("docs/results/index.md",)

N_GAMES: Final = 4
SEED: Final = 20_261_128
DIGITS: Final = 12
QUICK: Final = {"collusion-mc": (1, ",deals=2,walls=2")}
"""By strategy: games fewer than the others', and options that make them quick."""

UNKNOWN: Final = "?"
NO_STRATEGY: Final = "no strategy"
WEIGHTS: Final = "weights/"
OF_THREE: Final = "/3"
COMMENT: Final = re.compile(r"<!-- rests on(?: \(([\w, ]+)\))?: (.*) -->")
NOTE: Final = "*Measured with earlier code"

Digest = Callable[[str], str]


class ResultsPageError(ValueError):
    """A comment that cannot be read; the text names page and line."""


@dataclass(frozen=True)
class RestsOn:
    """A comment of a page: where it is, what was measured and by which commit."""

    page: str
    line: int
    commit: str
    subjects: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        if not self.subjects:
            return f"<!-- rests on: {NO_STRATEGY} -->"
        subjects = " ".join(f"{name}={digest}" for name, digest in self.subjects)
        return f"<!-- rests on ({self.commit}): {subjects} -->"

    def note(self, digest: Digest) -> str:
        """Return the line that the page must have under the comment; "" if all is as it was."""
        unknown = [name for name, then in self.subjects if then == UNKNOWN]
        other = [n for n, then in self.subjects if then != UNKNOWN and then != digest(n)]
        parts = []
        if other:
            parts.append(f"changed since: {_listed(other)}")
        if unknown:
            parts.append(f"not compared with today's games: {_listed(unknown)}")
        return f"{NOTE} (commit {self.commit}); {'; '.join(parts)}.*" if parts else ""


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


# --- digests -----------------------------------------------------------------------------------


@cache
def digest_of(subject: str) -> str:
    """Return today's digest of a strategy's games or of shipped weights.

    Raises ``StrategyError`` and ``OSError`` for subjects that do not exist.
    """
    if subject.startswith(WEIGHTS):
        data = (SHIPPED / f"{subject.removeprefix(WEIGHTS)}.npz").read_bytes()
        return hashlib.sha256(data).hexdigest()[:DIGITS]
    digest = hashlib.sha256()
    for line in games(subject):
        digest.update(line.encode())
    return digest.hexdigest()[:DIGITS]


def games(subject: str) -> Iterator[str]:
    """Play the fixed games of a strategy with itself; yield a line for each kyoku.

    Allies are paired, the seats 0 and 2, 1 and 3.  The lines have the scores, rivers and melds of
    all seats, in numbers that do not depend on how records are written.  Two processors may round
    a network's numbers in another way: digests are of one kind of machine.
    """
    spec, players = subject.removesuffix(OF_THREE), 3 if subject.endswith(OF_THREE) else 4
    n_games, more = QUICK.get(Spec.read(spec).name, (N_GAMES, ""))
    for game in range(n_games):
        referee = Referee(SEED + game, Rules(length="tonpu", players=players))
        bots = [Spec.read(spec + more).make(seat) for seat in range(players)]
        for one, other in zip(bots[:2], bots[2:], strict=False):
            if isinstance(one, PairMember) and isinstance(other, PairMember):
                pair_up(one, other)
        yield from _kyoku_of(referee, bots)


def _kyoku_of(referee: Referee, bots: Sequence[Strategy]) -> list[str]:
    lines: list[str] = []
    for seat, bot in enumerate(bots):
        bot.start_game(seat, tuple(f"player {number}" for number in range(len(bots))))
    referee.play(bots, watch=lambda state, *_: lines.append(_line_of(state)))
    return lines


def _line_of(state: State) -> str:
    rivers = [river[:n].tolist() for river, n in zip(state["river"], state["n_river"], strict=True)]
    melds = [
        kind[:n].tolist() for kind, n in zip(state["meld_kind"], state["n_melds"], strict=True)
    ]
    return repr([state["scores"].tolist(), rivers, melds])


# --- pages -------------------------------------------------------------------------------------


def pages() -> list[str]:
    """Return the pages of results, and all others with such a comment."""
    found = []
    for path in sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]):
        page = path.relative_to(ROOT).as_posix()
        is_results = path.parent == ROOT / RESULTS and page not in NOT_RESULTS
        if is_results or COMMENT.search(path.read_text(encoding="utf-8")):
            found.append(page)
    return found


def comments_of(page: str, text: str) -> list[RestsOn]:
    """Return the comments of a page.  Raises :class:`ResultsPageError`."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if "<!-- rests on" not in line:
            continue
        match = COMMENT.fullmatch(line.strip())
        if not match:
            raise ResultsPageError(f"{page}:{number}: not <!-- rests on (COMMIT): NAME=DIGEST -->")
        if match[2] == NO_STRATEGY:
            found.append(RestsOn(page, number, "", ()))
            continue
        subjects = [part.rpartition("=")[::2] for part in match[2].split()]
        if not match[1] or not all(name and then for name, then in subjects):
            raise ResultsPageError(f"{page}:{number}: a commit and NAME=DIGEST are needed")
        found.append(RestsOn(page, number, match[1], tuple(subjects)))
    return found


def problems_of(page: str, text: str, digest: Digest = digest_of) -> list[str]:
    """Return what a page does not show and should, or shows and should not, each with its line."""
    comments = comments_of(page, text)
    if not comments:
        return [f"{page}: no <!-- rests on ... --> names what its figures depend on"]
    lines, problems = [*text.splitlines(), ""], []
    for comment in comments:
        note, shown = comment.note(digest), lines[comment.line]
        if note and shown != note:
            problems.append(f"{page}:{comment.line}: lacks the line: {note}")
        elif not note and shown.startswith(NOTE):
            problems.append(f"{page}:{comment.line}: is marked as old, and is not")
    return problems


def rewritten(
    page: str, text: str, digest: Digest = digest_of, renewed: Sequence[int] = (), commit: str = ""
) -> str:
    """Return a page with the lines that it must show; comments at ``renewed`` lines are today's."""
    lines, by_line = (
        text.splitlines(),
        {comment.line: comment for comment in comments_of(page, text)},
    )
    out: list[str] = []
    for number, line in enumerate(lines, 1):
        if line.startswith(NOTE) and number - 1 in by_line:
            continue
        comment = by_line.get(number)
        if comment is None:
            out.append(line)
            continue
        if number in renewed:
            today = tuple((name, digest(name)) for name, _ in comment.subjects)
            comment = RestsOn(page, number, commit, today)
        out += [str(comment), *filter(None, [comment.note(digest)])]
    return "\n".join(out) + "\n"


# --- command -----------------------------------------------------------------------------------


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of this proof."""
    parser.add_argument("--write", action="store_true", help="write and remove the lines")
    parser.add_argument(
        "--renewed", nargs="+", default=[], metavar="PAGE:LINE",
        help="comments of tables measured again, with the code of HEAD",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Check or rewrite the pages; 1 if a line is missing or wrong."""
    problems: list[str] = []
    left = dict.fromkeys(args.renewed)
    for page in pages():
        text, at = (ROOT / page).read_text(encoding="utf-8"), dict[str, int]()
        try:
            at |= {f"{page}:{comment.line}": comment.line for comment in comments_of(page, text)}
            renewed = [at[name] for name in args.renewed if name in at]
            if args.write or renewed:
                text = rewritten(page, text, renewed=renewed, commit=_head() if renewed else "")
                (ROOT / page).write_text(text, encoding="utf-8")
            problems += problems_of(page, text)
        except (ResultsPageError, StrategyError, OSError) as problem:
            problems.append(f"{page}: {problem}")
        for name in at:
            left.pop(name, None)
    problems += [f"--renewed {name}: no such page with a comment at that line" for name in left]
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"{plural(len(problems), 'table')} without the right line; --write mends the lines")
    return int(bool(problems))


def _head() -> str:
    command = ["git", "rev-parse", "--short=8", "HEAD"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout[:8]
