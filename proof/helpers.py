"""How soon `mjbot detect --helpers` finds made helpers, and whom it names wrongly.

Bots play at tables of the arena, each strategy with a seat.  Their games are put together to
leagues: a strategy's seat is given to one of several accounts that play it, drawn for each game.
In a league with a helper, an account ``X`` and an account ``helper`` meet in so many games of the
table at which the helper helps; both also play others, where the helper plays as all of its kind.
Games of people are put together in the same way, to leagues in which nobody is anybody's helper.

The walls below :data:`FIRST_WALL` were looked at while the test was made; they are left out.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from mjbot.analysis.collusion.conduct import Conduct, observe
from mjbot.analysis.collusion.helpers import (
    SURE,
    HelperVerdict,
    PairConduct,
    judge_helpers,
    judge_targets,
)
from mjbot.analysis.stats.counted_games import each_game
from mjbot.arena.run_folder import RECORDS_FOLDER
from mjbot.cli.main import main
from mjbot.game.records.sources import list_sources
from mjbot.game.statistics.markdown import head, row
from mjbot.runtime.progress import progress

BOTS: Final = Path(__file__).with_name("helper_bots.py")
HELPERS: Final = ("FoldsFor", "DealsInLate", "HalfAgainst")
HELPED: Final = "fast-riichi-d"
FIRST_WALL: Final = 10
SEATINGS: Final = {4: 24, 3: 6}
ACCOUNTS: Final = 6
"""Of each strategy in a league of bots."""
OTHER_GAMES: Final = 12
"""Games of a league in which nobody helps, per game with a helper: X plays 1.5 of them."""
MEETINGS: Final = (20, 50, 200)
LEVELS: Final = (0.05, 0.01, 0.001)
MANY_PAIRS: Final = 100_000
MANY_HELPERS: Final = 5
FEW_GAMES: Final = 10

HONEST: Final[Mapping[int, Mapping[str, Sequence[str]]]] = {
    4: {
        "honest1": ("fast-riichi-a", "fast-riichi-b", "fast-riichi-c", "fast-riichi-d"),
        "honest2": ("fast-riichi-d", "fast-riichi-d", "fast-riichi-b", "yaku-evaluation"),
        "honest3": ("fast-riichi-d", "fast-riichi-b", "tsumogiri", "yaku-evaluation"),
        "honest4": ("fast-riichi-d", "fast-riichi-d", "fast-riichi-b", "fast-riichi-c"),
    },
    3: {
        "honest1": ("fast-riichi-b", "fast-riichi-c", "fast-riichi-d"),
        "honest2": ("fast-riichi-d", "fast-policy", "fast-riichi-a"),
        "honest3": ("fast-riichi-d", "fast-policy", "tsumogiri"),
    },
}
"""Tables of so many bots of unequal strength; the first is also that of all leagues with a helper.
"""

Rng = np.random.Generator
Games = Sequence[Conduct]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--out", type=Path, default=Path("logs/runs/helpers"), help="folder of the games"
    )
    parser.add_argument(
        "--walls", type=int, default=40, help="walls of each table, in all seatings (40)"
    )
    parser.add_argument("--players", type=int, choices=(3, 4), default=4, help="of a table (4)")
    parser.add_argument("--records", type=Path, nargs="*", default=[], help="games of people")
    parser.add_argument("--groups", type=int, default=200, help="leagues of each kind (200)")
    parser.add_argument("--jobs", type=int, default=1, help="processes that play and read (1)")


def run(args: argparse.Namespace) -> int:
    """Play what is missing, then judge; print the tables."""
    if not play(args.out, args.walls, args.jobs, args.players):
        return 1
    names = all_tables(args.players)
    tables = {name: read(args.out / name / RECORDS_FOLDER, args.jobs) for name in names}
    people = [game for path in args.records for game in read(path, args.jobs, first=0)]
    for lines in (
        false_alarms(tables, people, args.groups),
        power(tables, args.groups),
        many_helpers(tables, args.groups),
    ):
        for line in lines:
            print(line, flush=True)
        print()
    return 0


def all_tables(players: int) -> Mapping[str, Sequence[str]]:
    """Return the strategies of each table; the helper, if there is one, sits first."""
    seats = (HELPED, "fast-riichi-b", "fast-riichi-c")[: players - 1]
    made = {name: (f"{BOTS}:{name},ally={HELPED}", *seats) for name in HELPERS}
    return {**HONEST[players], **made}


def play(out: Path, walls: int, jobs: int, players: int) -> bool:
    """Play all tables, or what an earlier call has left; return whether all could be played."""
    for seed, (name, strategies) in enumerate(all_tables(players).items(), 100):
        words = ["--format", "each", "--games", str(walls * SEATINGS[players]), "--seed", str(seed)]
        words += ["--rules", "players=3"] if players == 3 else []
        where = ["--record", "--deadline-s", "0", "--jobs", str(jobs), "--out", str(out / name)]
        stdout, sys.stdout = sys.stdout, sys.stderr
        try:
            if main(["arena", *strategies, *words, *where]):
                return False
        finally:
            sys.stdout = stdout
    return True


def read(path: Path, jobs: int, first: int = FIRST_WALL) -> list[Conduct]:
    """Return what everybody sees of the games at a path, those of the first walls left out."""
    sources = [source for source in list_sources(path) if not first or _wall(source.path) >= first]
    found: list[Conduct] = []
    with progress(Console(stderr=True), f"reading {path}", unit="games") as step:
        for batch in each_game(sources, observe, jobs, players=(3, 4)):
            found += [game.conduct for game in batch.games if game.conduct is not None]
            step(len(batch.games))
    return found


def _wall(record: Path) -> int:
    return int(record.name.partition("-")[0])


# --- leagues ----------------------------------------------------------------------------------


def league_of_people(games: Games, rng: Rng, met: int) -> list[HelperVerdict]:
    """Return the verdicts on made-up players, each of whose games is another person's.

    None if there are too few games.
    """
    n = 12 if met < 200 else 8
    n_games = _games_of(n, met, games)
    if n_games > len(games):
        return []
    meetings = PairConduct()
    for index in rng.choice(len(games), n_games, replace=False):
        seated = rng.choice(n, len(games[index].names), replace=False)
        names = tuple([f"player {number}" for number in seated])
        meetings.add(games[index]._replace(names=names))
    return judge_helpers(meetings.table())


def _games_of(players: int, met: int, games: Games) -> int:
    """Return in how many games of a league two players have met so often on average."""
    seats = len(games[0].names)
    return players * (players - 1) * met // (seats * (seats - 1))


@dataclass
class BotLeague:
    """A league of accounts; a strategy's seat goes to one that plays it."""

    rng: Rng
    accounts: int = ACCOUNTS

    def __post_init__(self) -> None:
        self.meetings = PairConduct()
        self.further: dict[str, list[str]] = {}

    def add(
        self, games: Games, places: NDArray[np.int64], fixed: Mapping[str, str] | None = None
    ) -> None:
        """Add games; ``fixed`` has the account of some strategies."""
        known = fixed or {}
        for index in places:
            names: list[str] = []
            for strategy in games[index].names:
                taken = [*names, *known.values()]
                names.append(known.get(strategy) or self._account(strategy, taken))
            self.meetings.add(games[index]._replace(names=tuple(names)))

    def _account(self, strategy: str, taken: Sequence[str]) -> str:
        """Return an account that plays a strategy (a second seat of one is ``name (2)``)."""
        own = strategy.partition(" (")[0]
        names = [f"{own}/{number}" for number in range(self.accounts)] + self.further.get(own, [])
        free = [name for name in names if name not in taken]
        return free[int(self.rng.integers(len(free)))]

    def verdicts(self) -> list[HelperVerdict]:
        """Return the verdicts on all pairs that met often enough."""
        return judge_helpers(self.meetings.table())


def honest_league(games: Games, rng: Rng, met: int) -> list[HelperVerdict]:
    """Return the verdicts on a league of bots, in which two have met so often on average."""
    league = BotLeague(rng)
    n = ACCOUNTS * len({name.partition(" (")[0] for game in games[:200] for name in game.names})
    league.add(games, rng.integers(len(games), size=_games_of(n, met, games)))
    return league.verdicts()


def helper_league(
    helped: Games, honest: Games, rng: Rng, met: int, helpers: int = 1
) -> list[HelperVerdict]:
    """Return the verdicts on a league in which each helper meets ``X`` in ``met`` games."""
    league = BotLeague(rng)
    names = [f"helper {number}" for number in range(helpers)]
    league.further[HELPED] = ["X", *names]
    league.add(honest, rng.integers(len(honest), size=OTHER_GAMES * met * helpers))
    chosen = rng.choice(len(helped), met * helpers, replace=met * helpers > len(helped))
    label = next(name for name in helped[0].names if name.startswith(HELPERS))
    for name, places in zip(names, chosen.reshape(helpers, met), strict=True):
        league.add(helped, places, {label: name, HELPED: "X"})
    return league.verdicts()


# --- tables -----------------------------------------------------------------------------------


def false_alarms(tables: Mapping[str, Games], people: Games, groups: int) -> Iterator[str]:
    """Yield how often p is below each level where nobody helps, and how often a list names one."""
    yield from head([
        "nobody helps", "games together", "ordered pairs", *[f"p < {level}" for level in LEVELS],
        "lists that name anybody (Holm)",
    ])  # fmt: skip
    leagues: dict[str, Callable[[Rng, int], list[HelperVerdict]]] = {}
    if people:
        leagues[f"people ({len(people)} hanchan)"] = lambda rng, met: league_of_people(
            people, rng, met
        )
    honest = HONEST[len(tables["honest1"][0].names)]
    mixed = [game for name in honest for game in tables[name]]
    kinds = {**{", ".join(honest[name]): tables[name] for name in honest}, "all of these": mixed}
    for name, games in kinds.items():
        leagues[f"{name} ({len(games)} hanchan)"] = lambda rng, met, games=games: honest_league(
            games, rng, met
        )  # fmt: skip
    for name, league in leagues.items():
        for met in MEETINGS:
            many = groups if name.startswith("people") else max(groups // 20, 1)
            many = many if met < 200 else max(many // 5, 1)
            lists = [league(np.random.default_rng([met, number]), met) for number in range(many)]
            if all(lists):
                yield _alarms_row(name, met, lists)


def _alarms_row(name: str, met: int, lists: Sequence[Sequence[HelperVerdict]]) -> str:
    p = np.array([verdict.p for verdicts in lists for verdict in verdicts])
    named = sum(verdicts[0].adjusted < SURE for verdicts in lists)
    shares = [f"{(p < level).mean():.4f}" for level in LEVELS]
    return row([name, str(met), f"{len(p):,}", *shares, f"{named} of {len(lists)}"])


def power(tables: Mapping[str, Games], groups: int) -> Iterator[str]:
    """Yield how often each helper is found, by games together."""
    yield from head([
        "helper", "games together", "leagues", "ordered pairs", "ranked first, %",
        "found (adjusted p < 0.05), %", f"found among {MANY_PAIRS:,} pairs, %",
        "lists that name others", "most conspicuous sign",
    ])  # fmt: skip
    for name in HELPERS:
        for met in MEETINGS:
            many = max(groups // (5 if met < 200 else 20), 1)
            lists = [
                helper_league(
                    tables[name], tables["honest1"], np.random.default_rng([met, number]), met
                )
                for number in range(many)
            ]
            yield _power_row(name, met, lists)


def _power_row(name: str, met: int, lists: Sequence[Sequence[HelperVerdict]]) -> str:
    own = [next(v for v in verdicts if _is_pair(v)) for verdicts in lists]
    first = [verdicts[0] is v for verdicts, v in zip(lists, own, strict=True)]
    found = [v.adjusted < SURE for v in own]
    among_many = [v.p < SURE / MANY_PAIRS for v in own]
    others = [
        any(v.adjusted < SURE and {v.helper, v.helped} != {"helper 0", "X"} for v in verdicts)
        for verdicts in lists
    ]
    signs = [v.sign for v in own]
    shares = [f"{100 * float(np.mean(part)):.0f}" for part in (first, found, among_many)]
    pairs = f"{np.mean([len(verdicts) for verdicts in lists]):.0f}"
    sign = max(set(signs), key=signs.count)
    return row([name, str(met), str(len(lists)), pairs, *shares, f"{sum(others)}", sign])


def _is_pair(verdict: HelperVerdict) -> bool:
    return (verdict.helper, verdict.helped) == ("helper 0", "X")


def many_helpers(tables: Mapping[str, Games], groups: int) -> Iterator[str]:
    """Yield how often a player with several helpers is found, each of whom it met a few times."""
    yield from head([
        "helpers of one player", "games with each", "leagues", "a helper named, %",
        "the player named, %", "other players named, lists",
    ])  # fmt: skip
    for name in HELPERS:
        lists = [
            helper_league(
                tables[name], tables["honest1"], np.random.default_rng([7, number]), FEW_GAMES,
                MANY_HELPERS,
            )
            for number in range(max(groups // 5, 1))
        ]  # fmt: skip
        named = [any(v.adjusted < SURE and v.helped == "X" for v in found) for found in lists]
        targets = [[t.player for t in judge_targets(found) if t.adjusted < SURE] for found in lists]
        shares = [named, ["X" in players for players in targets]]
        others = sum(bool(set(players) - {"X"}) for players in targets)
        yield row([
            f"{MANY_HELPERS} x {name}", str(FEW_GAMES), str(len(lists)),
            *[f"{100 * float(np.mean(share)):.0f}" for share in shares], str(others),
        ])  # fmt: skip
