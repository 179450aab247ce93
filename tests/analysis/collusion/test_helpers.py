"""Helpers without a channel: what is counted, how sure one may be, and whom nobody may accuse."""

import json
from pathlib import Path

import numpy as np
import pytest

from mjbot.analysis.collusion.conduct import (
    CHIS,
    COUNTS,
    DEAL_INS,
    PONS,
    PUSHES,
    RANKS,
    WINS,
    Conduct,
    observe,
)
from mjbot.analysis.collusion.helpers import (
    SIGNS,
    HelperVerdict,
    PairConduct,
    above,
    below,
    judge_helpers,
    judge_targets,
)
from mjbot.analysis.collusion.helpers_report import HelpersReport, helpers_json, helpers_page
from mjbot.cli.main import main
from mjbot.game.records.sources import open_games
from mjbot.game.table.hands import kind_of
from mjbot.game.table.mirror.wire import tile_code
from mjbot.game.table.observe import genbutsu
from mjbot.game.table.state import ACCEPTED
from mjbot.learning.training.positions import replay_trusted
from mjbot.protocol import messages as m
from tests.game.records.formats import game_of_three

pytestmark = pytest.mark.usefixtures("forked_workers")

ROOT = Path(__file__).parents[3]
LOGS = sorted((ROOT / "logs").glob("*.mjson"))
FIELD = len(COUNTS)


@pytest.mark.parametrize("log", [*LOGS, None], ids=lambda log: log.stem if log else "three")
def test_a_game_is_counted_as_the_table_knows_it(log: Path | None) -> None:
    """Genbutsu are those of the table's state, all else that of the events."""
    players = 4 if log else 3
    counts, chances = np.zeros((4, 4, FIELD)), np.zeros((4, 4, FIELD))
    kyoku, wins = 0, np.zeros(4)
    for step in replay_trusted(next(iter(open_games(log))) if log else game_of_three()):
        event, state = step.event, step.state
        kyoku += isinstance(event, m.StartKyoku)
        if isinstance(event, m.Hora):
            wins[event.actor] += 1
            if event.actor != event.target:
                counts[event.target, event.actor, DEAL_INS] += 1
        elif isinstance(event, m.Pon | m.Daiminkan):
            counts[event.target, event.actor, PONS] += 1
        elif isinstance(event, m.Chi):
            counts[event.target, event.actor, CHIS] += 1
        elif isinstance(event, m.Dahai) and state["riichi"][event.actor] != ACCEPTED:
            for other in range(players):
                if other != event.actor and state["riichi"][other] == ACCEPTED:
                    safe = int(genbutsu(state, other)) >> kind_of(tile_code(event.pai)) & 1
                    counts[event.actor, other, PUSHES] += not safe
                    chances[event.actor, other, PUSHES] += 1
    found = observe(next(iter(open_games(log))) if log else game_of_three()).conduct
    assert found is not None
    assert len(found.names) == players
    assert chances[:, :, PUSHES].any() or log
    for count in (DEAL_INS, PONS, CHIS, PUSHES):
        assert found.counts[:, :, count].tolist() == counts[:, :, count].tolist(), COUNTS[count]
    assert found.chances[:, :, PUSHES].tolist() == chances[:, :, PUSHES].tolist()
    apart = ~np.eye(4, dtype=bool)
    apart[players:] = apart[:, players:] = False
    assert (found.chances[:, :, CHIS].sum(axis=1) == kyoku * (players == 4)).all()
    assert not found.chances[~apart].any()
    assert (found.chances[:, :, WINS][apart] == kyoku).all()
    assert (found.counts[:, :, WINS] == wins[:, None] * apart).all()
    assert sorted(found.counts[:, :, RANKS].max(axis=1)[:players].tolist()) == [
        *range(1, players + 1)
    ]


def test_tails_are_those_of_the_negative_binomial() -> None:
    nbinom = pytest.importorskip("scipy.stats").nbinom
    for mean, shape in ((0.4, 3.0), (5.0, 8.0), (40.0, 12.5), (200.0, 400.0)):
        p = shape / (shape + mean)
        for observed in (0, 1, 5, 40, 90, 400):
            assert below(observed, mean, shape) == pytest.approx(nbinom.cdf(observed, shape, p))
            assert above(observed, mean, shape) == pytest.approx(nbinom.sf(observed - 1, shape, p))


# --- made leagues -----------------------------------------------------------------------------


class League:
    """Games whose counts are drawn: each player deals in, calls, pushes and wins at its rate."""

    def __init__(self, seed: int, players: int, seats: int = 4) -> None:
        self.seats = seats
        self.rng = np.random.default_rng(seed)
        self.names = [f"p{number}" for number in range(players)]
        spread = self.rng.lognormal(0.0, 0.35, (2, players, 3))
        self.style = {name: spread[:, number] for number, name in enumerate(self.names)}
        self.push = {name: self.rng.uniform(0.2, 0.6) for name in self.names}
        self.meetings = PairConduct()

    def play(self, names: list[str], helpers: tuple[str, ...] = (), helped: str = "") -> None:
        """Add a game; helpers deal in to, feed and push against the helped one twice as often."""
        counts, chances = np.zeros((4, 4, FIELD)), np.zeros((4, 4, FIELD))
        wins = self.rng.poisson(2.0, self.seats)
        ranks = 1 + self.rng.permutation(self.seats)
        for i, one in enumerate(names):
            for j, other in enumerate(names):
                if i != j:
                    times = 2.2 if one in helpers and other == helped else 1.0
                    rates = np.array([0.4, 1.0, 1.2]) * self.style[one][0] * self.style[other][1]
                    chances[i, j] = 10, 10, 10 * (self.seats == 4 and j == (i + 1) % 4), 8, 10, 1
                    counts[i, j, :3] = self.rng.poisson(times * rates)
                    counts[i, j, CHIS] *= chances[i, j, CHIS] > 0
                    counts[i, j, PUSHES] = self.rng.binomial(8, self.push[one])
                    counts[i, j, WINS], counts[i, j, RANKS] = wins[i], ranks[i]
        self.meetings.add(Conduct(tuple(names), counts, chances))

    def play_many(self, games: int, helpers: tuple[str, ...] = (), helped: str = "") -> None:
        for _ in range(games):
            names = self.rng.choice(self.names, self.seats, replace=False).tolist()
            self.play(names, helpers, helped)

    def verdicts(self) -> list[HelperVerdict]:
        return judge_helpers(self.meetings.table())


@pytest.mark.parametrize(("seats", "games"), [(4, 400), (3, 800)])
def test_players_of_unequal_style_and_strength_are_not_accused(seats: int, games: int) -> None:
    below_level, pairs, lists = 0, 0, 0
    for seed in range(6):
        league = League(seed, 14, seats)
        league.play_many(games)
        verdicts = league.verdicts()
        pairs += len(verdicts)
        below_level += sum(verdict.p < 0.05 for verdict in verdicts)
        lists += verdicts[0].adjusted < 0.05
    assert pairs == 6 * 14 * 13
    assert below_level / pairs < 0.05
    assert lists <= 1  # of 6, each with a chance of 0.05 at most


def test_styles_that_meet_only_some_others_are_not_accused() -> None:
    """At each table sits one of each style; two styles never call, so only two feed each other."""
    league = League(9, 20)
    for number, name in enumerate(league.names):
        if number % 4 < 2:
            league.style[name][1][1:] = 0.0
    for _ in range(1500):
        own = league.rng.integers(5, size=4)
        league.play([f"p{4 * place + style}" for style, place in enumerate(own)])
    verdicts = league.verdicts()
    assert len(verdicts) > 200
    assert verdicts[0].adjusted > 0.05


@pytest.mark.parametrize(("seats", "games"), [(4, 600), (3, 1200)])
def test_a_planted_helper_is_named_alone_with_what_it_does(seats: int, games: int) -> None:
    league = League(3, 14, seats)
    league.play_many(games)
    for _ in range(60):
        others = league.rng.choice(league.names[2:], seats - 2, replace=False).tolist()
        league.play(league.rng.permutation(["p0", "p1", *others]).tolist(), ("p0",), "p1")
    named = [verdict for verdict in league.verdicts() if verdict.adjusted < 0.05]
    assert [(verdict.helper, verdict.helped) for verdict in named] == [("p0", "p1")]
    assert named[0].sign in SIGNS[:2] and named[0].excess[SIGNS.index(named[0].sign)] > 0


def test_many_helpers_are_found_at_the_one_they_help() -> None:
    """Of seven helpers with 30 games each hardly one is named, but the one that they help is."""
    league = League(4, 20)
    helpers = tuple(league.names[1:8])
    league.play_many(950, helpers, "p0")
    verdicts = league.verdicts()
    targets = judge_targets(verdicts)
    assert targets[0].player == "p0" and targets[0].adjusted < 0.01
    assert len(set(targets[0].helpers) & set(helpers)) >= 3
    assert all(target.adjusted > 0.05 for target in targets[1:])


def test_the_order_of_seats_and_names_changes_no_verdict() -> None:
    league, turned = League(5, 9), PairConduct()
    add = league.meetings.add

    def add_both(conduct: Conduct) -> None:
        add(conduct)
        names = tuple([f"z{9 - int(name[1:])}" for name in conduct.names[::-1]])
        turned.add(Conduct(names, conduct.counts[::-1, ::-1], conduct.chances[::-1, ::-1]))

    league.meetings.add = add_both  # type: ignore[method-assign]
    league.play_many(150)
    found = {(v.helper, v.helped): v.p for v in league.verdicts()}
    other = {(v.helper, v.helped): v.p for v in judge_helpers(turned.table())}
    assert len(found) == len(other) > 50
    for (helper, helped), p in found.items():
        same = f"z{9 - int(helper[1:])}", f"z{9 - int(helped[1:])}"
        assert other[same] == pytest.approx(p)


def test_with_too_few_opponents_nobody_is_judged() -> None:
    league = League(6, 6)
    league.play_many(200)
    assert league.verdicts() == []


# --- the command ------------------------------------------------------------------------------


def test_the_command_counts_a_game_once_and_names_nobody_of_two_games(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "copy.mjson").write_bytes(LOGS[0].read_bytes())
    page = tmp_path / "helpers.html"
    words = ["detect", str(ROOT / "logs"), str(tmp_path / "copy.mjson"), "--helpers", "--jobs", "1"]
    assert main([*words, "--json", "--html", str(page)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["games"], report["players"], report["helpers"]) == (2, 4, [])
    assert "1 duplicate" in page.read_text()


def test_the_report_has_every_sign_and_escapes_names() -> None:
    verdict = HelperVerdict(
        "<b>", "x", 20, 1e-9, 1e-7, 1e-7, tuple(10.0**-k for k in range(7)), (1.0,) * 7
    )
    report = HelpersReport("r", 30, 12, 10, [verdict], [])
    assert list(helpers_json(report)["helpers"][0]["signs"]) == list(SIGNS)
    written = helpers_page(report)
    assert "<bdi>&lt;b&gt;</bdi>" in written and SIGNS[-1] in written


def test_the_made_helpers_play_by_the_rules(tmp_path: Path) -> None:
    """A fault of any of them would end the arena with another status."""
    names = ("FoldsFor", "DealsInLate", "HalfAgainst")
    bots = [f"{ROOT / 'proof/helper_bots.py'}:{name},ally=fast-riichi-d" for name in names]
    how = ["--format", "each", "--games", "24", "--length", "tonpu", "--jobs", "1"]
    how += ["--deadline-s", "0", "--out", str(tmp_path / "run")]
    assert main(["arena", *bots, "fast-riichi-d", *how]) == 0
