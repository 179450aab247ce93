"""The JSON of a review follows the schema that ships, and the schema allows nothing else."""

import copy
import json
from pathlib import Path

import jsonschema
import pytest

import mjbot.analysis.review
from mjbot.analysis.review.mjai_json import review_json
from mjbot.analysis.review.reasons import MistakeClass
from mjbot.protocol.tiles import tile_kind
from mjbot.strategy.explanation import DANGER
from mjbot.viewer.thoughts import explained

SCHEMA = json.loads(
    Path(mjbot.analysis.review.__file__).with_name("review.schema.json").read_text()
)


@pytest.fixture(scope="module")
def validator():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    return jsonschema.Draft202012Validator(SCHEMA)


def whole(review):
    return json.loads(json.dumps(review_json(review), allow_nan=False))


@pytest.fixture(scope="module")
def short(by_points):
    """Return a review with one decision: each check of a whole one takes a second."""
    made = whole(by_points)
    made["mjai_log"] = made["mjai_log"][:2]
    made["review"]["kyokus"] = made["review"]["kyokus"][:1]
    made["review"]["kyokus"][0]["entries"] = made["review"]["kyokus"][0]["entries"][:1]
    return made


@pytest.mark.parametrize("reviewed", ["by_points", "by_shares", "of_three"])
def test_a_review_follows_the_schema(validator, reviewed, request):
    review = request.getfixturevalue(reviewed)
    assert not [error.message[:200] for error in validator.iter_errors(whole(review))]


@pytest.mark.parametrize(
    "break_it",
    [
        lambda it: it.pop("names"),
        lambda it: it.update(more=1),
        lambda it: it["review"].update(rating="high"),
        lambda it: it["review"]["kyokus"][0]["entries"][0].update(position="East 1"),
        lambda it: it["review"]["kyokus"][0]["entries"][0]["opponents"].clear(),
        lambda it: it["review"]["kyokus"][0]["entries"][0]["details"][0].update(prob=1.5),
        lambda it: it["review"]["summary"]["by_kind"]["calls"].pop("shown"),
    ],
)
def test_what_does_not_follow_it_is_found(validator, short, break_it):
    assert validator.is_valid(short)
    broken = copy.deepcopy(short)
    break_it(broken)
    assert not validator.is_valid(broken)


def test_the_schema_has_the_classes_of_mistakes():
    kinds = SCHEMA["$defs"]["entry"]["properties"]["kind"]["enum"]
    assert set(MistakeClass) <= set(kinds)


def test_review_watch_and_explain_show_the_same_numbers(by_shares):
    """Read a decision's values, terms and dangers as the three show them."""
    kyokus = whole(by_shares)["review"]["kyokus"]
    entries = [entry for each in kyokus for entry in each["entries"]]
    n_dangers = 0
    for decision, entry in zip(by_shares.decisions, entries, strict=True):
        board = explained("supervised", decision.explanation, decision.view)
        assert board["opponents"] == entry["opponents"]
        by_code = {detail["codes"][0]: detail for detail in entry["details"]}
        for rated, shown in zip(decision.explanation.best_first, board["rated"], strict=True):
            detail = by_code.get(rated.action.code)
            if detail is None:  # of equal tiles the drawn one stands for both
                continue
            assert shown["worth"] == pytest.approx(detail["q_value"], rel=1e-5, abs=1e-6)
            assert shown["share"] == pytest.approx(detail["prob"], abs=1e-4)
            for term, said in zip(rated.terms, detail["terms"], strict=True):
                assert (term.name, term.about) == (said["name"], said["about"])
                assert said["value"] == pytest.approx(term.value, abs=1e-6)
                if term.name == DANGER and rated.action.is_discard:
                    of = next(o for o in entry["opponents"] if o["seat"] == term.about)
                    kind = tile_kind(rated.action.tile)
                    assert of["deal_in"][kind] == pytest.approx(said["value"], rel=0.006, abs=1e-6)
                    n_dangers += 1
    assert n_dangers > 1000
