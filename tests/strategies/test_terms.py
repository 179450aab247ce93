"""The terms in which strategies say what they think: what must hold of all of them."""

from pathlib import Path

import numpy as np
import pytest

from mjbot.game.records.choices import steps
from mjbot.game.table.view import Sealed, View
from mjbot.strategy.explanation import DANGER, PERCENT, ROUNDING, VALUE
from mjbot.strategy.registry import make_strategy

LOG = Path(__file__).parents[2] / "logs" / "hanchan-open-kan-and-bust.mjson"
RATERS = [
    "fast-riichi-a",
    "fast-riichi-b",
    "fast-riichi-c",
    "fast-riichi-d",
    "fold-recognition",
    "fold-recognition-off",
    "fold-recognition-plus",
    "yaku-evaluation",
    "combo-partner",
    "strongest",
    "supervised",
    "papers.matsuda2021.supervised_paper:SupervisedPaper",
]
EVERY = 8


def decisions(every=EVERY):
    """Yield views of one in so many of the record's choices; each is good until the next."""
    sealed, n = Sealed(), 0
    for step in steps(LOG):
        for seat in range(4):
            n += bool(step.choices(seat))
            if step.choices(seat) and n % every == 0:
                yield sealed.view(View(step.table.state, seat))


@pytest.mark.parametrize("name", RATERS)
def test_terms_add_up_chances_are_chances_and_only_the_legal_is_rated(name):
    bot, n_sums = make_strategy(name), 0
    for view in decisions():
        report = bot.explain(view)
        for rated in report.rated:
            assert rated.action in view.legal
            for total in {term.adds_to for term in rated.terms} - {""}:
                whole = rated.value if total == VALUE else rated.term(total).value
                parts = sum(term.value for term in rated.parts(total))
                assert parts == pytest.approx(whole, rel=ROUNDING, abs=ROUNDING)
                n_sums += 1
            shares = [term.value for term in rated.terms if term.unit == PERCENT]
            assert all(-ROUNDING <= share <= 100 + ROUNDING for share in shares)
        assert sum(rated.is_chosen for rated in report.rated) <= 1
        if report.choice.is_discard and report.rated:
            assert sum(rated.is_chosen for rated in report.rated) == 1
    has_sums = name.startswith("fast-riichi") or name in (
        "fold-recognition-plus", "combo-partner", "strongest", "supervised",
    )  # fmt: skip
    assert (n_sums > 100) is has_sums


@pytest.mark.parametrize(
    ("name", "players"), [("fast-policy", 4), ("fast-policy", 3), ("strongest", 3)]
)
def test_the_share_of_a_tile_drawn_again_is_not_lost(position, name, players):
    """The network discards the drawn one of equal tiles: that is the share of both."""
    view = position("147p258s9s19m1235z", drawn="9s", players=players)
    report = make_strategy(name).explain(view)
    discards = [rated for rated in report.rated if rated.action.is_discard]
    nines = [rated for rated in discards if rated.action.tile == 26]
    assert len(nines) == 1
    assert nines[0].value > 0
    (chosen,) = [rated for rated in report.rated if rated.is_chosen]
    assert chosen.value == max(rated.value for rated in discards)
    assert sum(rated.value for rated in report.rated) == pytest.approx(100, abs=0.1)


def test_what_nobody_can_win_on_is_no_danger():
    bot, n_safe = make_strategy("fold-recognition-plus"), 0
    for view in decisions():
        others = [seat for seat in range(4) if seat != view.seat]
        safe = np.bitwise_and.reduce([view.genbutsu(seat) for seat in others])
        for rated in bot.ratings(view):
            if rated.action.is_discard:
                dangers = [rated.term(DANGER, seat).value for seat in others]
                is_safe = bool(safe >> min(rated.action.tile, 33) & 1) and rated.action.tile < 34
                n_safe += is_safe
                assert not is_safe or dangers == [0, 0, 0]
                for seat, danger in zip(others, dangers, strict=True):
                    if rated.action.tile < 34 and view.genbutsu(seat) >> rated.action.tile & 1:
                        assert danger == 0
    assert n_safe > 0


@pytest.mark.parametrize(
    "name", ["strongest", "supervised", "fold-recognition-plus", "fast-riichi-b", "fast-riichi-d"]
)
def test_a_declared_strength_is_the_documented_one(name):
    strength = make_strategy(name).strength
    documents = Path(LOG).parents[1].joinpath("docs").rglob("*.md")
    report = f"{strength.rank:.3f} ± {strength.half_width:.3f}"
    assert any(report in path.read_text(encoding="utf-8") for path in documents)
    assert strength.command.startswith("mjbot arena ")
