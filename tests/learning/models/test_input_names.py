"""The names of a network's input: one for each number, and each on the number that it names."""

import re
from pathlib import Path

import numpy as np

from mjbot import Phase, recorded_decisions
from mjbot.learning.env import PLANE_NAMES, SCALAR_NAMES, observe
from mjbot.learning.models.fast_policy.reading import CONTEXT
from mjbot.learning.models.networks import encoding

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/explanation/network-input.md").read_text(encoding="utf-8")


def test_every_number_has_a_name_of_its_own():
    assert len(set(PLANE_NAMES)) == len(PLANE_NAMES) == encoding.N_PLANES
    assert len(set(SCALAR_NAMES)) == len(SCALAR_NAMES) == encoding.N_SCALARS
    assert len(set(CONTEXT.names)) == CONTEXT.size


def test_the_names_mean_what_the_view_shows():
    encoder, plane, scalar = encoding.new_encoder(), PLANE_NAMES.index, SCALAR_NAMES.index
    seen_opponents = 0
    for view, _ in recorded_decisions(ROOT / "logs" / "east-four-winds.mjson"):
        planes, scalars, _ = observe(view, encoder)
        assert (planes[:, plane("1 or more in the hand")] == (view.hand > 0)).all()
        assert (planes[:, plane("2 or more unseen")] == (view.unseen > 1)).all()
        assert (planes[:, plane("dora /2")] == view.dora / 2).all()
        legal = {encoding.kind_of(each.tile) for each in view.discards}
        assert set(np.flatnonzero(planes[:, plane("legal discard")]).tolist()) == legal
        assert scalars[scalar("wall left /70")] == np.float32(view.wall_left / 70)
        assert scalars[scalar("phase: reaction")] == (view.phase == Phase.REACTION)
        assert scalars[scalar("phase: riichi declared")] == (view.phase == Phase.RIICHI)
        assert scalars[scalar("honba /4")] == view.honba / 4
        lead = (view.scores[view.seat] - view.scores[(view.seat + 1) & 3]) / 16000
        assert scalars[scalar("lead on right /16000")] == np.float32(lead)
        assert scalars[scalar("legal: riichi")] == any(each.is_riichi for each in view.legal)
        names = {each.name for each in view.legal}
        assert scalars[scalar("legal: pon")] == ("pon" in names)
        assert scalars[scalar("own furiten")] == view.furiten
        assert scalars[scalar("own melds /4")] == view.n_melds / 4
        for step, whom in enumerate(("right", "across", "left"), 1):
            seat = (view.seat + step) & 3
            assert scalars[scalar(f"{whom}: riichi")] == view.riichi(seat)
            river = {encoding.kind_of(tile) for tile in view.river(seat).tolist()}
            shown = np.flatnonzero(planes[:, plane(f"{whom}: discarded")])
            assert set(shown.tolist()) == river
            seen_opponents += bool(river)
    assert seen_opponents > 100


def test_groups_begin_where_the_page_says():
    """The first name of each group of the page is at the group's number."""
    first = {
        "DRAWN": "drawn", "CLAIM": "on offer", "HONOUR": "honour", "OWN_RIVER": "in the own river",
        "ACCEPTED": "accepted by the hand", "AFTER_CALL": "accepted after pon",
        "OPPONENT": "right: discarded", "ACCEPTS": "tiles accepted after the discard /40",
    }  # fmt: skip
    for name, text in first.items():
        (at,) = re.findall(rf"^\| (\d+) \| `{name}` ", PAGE, re.M)
        assert PLANE_NAMES[int(at)] == text
    scalars = {
        "CLOCK": "wall left /70", "OWN": "own melds /4", "SHANTEN": "shanten 0",
        "CALLS": "pon: shanten gained", "OPPONENTS": "right: riichi",
        "DECLARE": "riichi: tiles waited for /12", "PLANS": "plans: to all simples /4",
        "AFTER": "after pon: to all simples /4", "AFTER_KAN": "after a kan: shanten lost",
    }  # fmt: skip
    for name, text in scalars.items():
        (at,) = re.findall(rf"^\| (\d+) \| `{name}` ", PAGE, re.M)
        assert SCALAR_NAMES[int(at)] == text
