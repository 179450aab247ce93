"""A review as the page next to the board reads it, made of the review's JSON.

So the page of ``mjbot review`` and that of ``mjbot watch --review`` show the numbers of that JSON::

    {"seat": 0, "by": "strongest", "unit": "points", "names": [...],
     "decisions": [{"n": 241, "at": "E2-0:8", "loss": 1240.0, "sentence": "...", ...}, ...]}

A decision has the keys of a strategy's thought as well (:func:`mjbot.viewer.thoughts.thought`).
``n`` is the number of the event after which it is made; ``size`` is what it cost as text,
``cost_size`` the same as a number in the review's ``unit`` (null: not known), ``tags`` what the
page calls it in a word or two, and ``counts`` whether it is a mistake.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from mjbot.game.table.actions import ACTIONS, Action
from mjbot.protocol.errors import NOT_JSON
from mjbot.runtime.errors import MjbotError
from mjbot.runtime.languages import translate
from mjbot.strategy.explanation import Explanation, Rated, Term
from mjbot.viewer.thoughts import rounded, thought

Json = dict[str, Any]


class NoReviewError(MjbotError):
    """A file that holds no review, or one of another game."""


def read_review(path: Path) -> Json:
    """Return the JSON of a review; raises :class:`NoReviewError` and ``OSError``."""
    try:
        review = msgspec.json.decode(path.read_bytes())
        decisions = [entry for kyoku in review["review"]["kyokus"] for entry in kyoku["entries"]]
        needed = {"event", "position", "opponents", "counts"}
        complete = all(needed <= entry.keys() for entry in decisions)
    except (*NOT_JSON, KeyError, TypeError, AttributeError):
        raise NoReviewError(f"{path}: holds no review; mjbot review --json writes one") from None
    if not complete:
        cure = "write it again with mjbot review --json"
        raise NoReviewError(f"{path}: a review of another program or an older version; {cure}")
    return dict(review)


@contextmanager
def review_of(path: Path) -> Iterator[Json]:
    """Give a review to a block that reads it; raises as :func:`read_review`.

    What the block finds missing or of another type is a damaged review: no other error.
    """
    review = read_review(path)
    try:
        yield review
    except MjbotError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        cure = "write it again with mjbot review --json"
        raise NoReviewError(f"{path}: a damaged review ({error!r:.80}); {cure}") from None


def same_game(review: Json, events: Sequence[Json]) -> bool:
    """Return whether a review is of the game with these events, as messages."""
    own = review["mjai_log"]
    pairs = zip(own, events, strict=False)
    keys = ("type", "actor", "pai", "tehais")
    return len(own) == len(events) and all(
        _plain(one.get(key)) == _plain(other.get(key)) for one, other in pairs for key in keys
    )


def _plain(value: Any) -> Any:
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def page_data(review: Json) -> Json:
    """Return what the page needs of a review's JSON."""
    reviewed = review["review"]
    decisions = [
        decision_data(reviewed, kyoku, entry)
        for kyoku in reviewed["kyokus"]
        for entry in kyoku["entries"]
    ]
    return {
        "seat": review["player_id"],
        "by": reviewed["model_tag"],
        "unit": reviewed["size_unit"],
        "decisions": decisions,
    }


def decision_data(reviewed: Json, kyoku: Json, entry: Json) -> Json:
    """Return one decision for the page."""
    players = len(kyoku["relative_scores"])
    winds = [(seat - kyoku["kyoku"] % 4) % players for seat in range(players)]
    details = sorted(entry["details"], key=lambda detail: -(detail["q_value"] or -1e9))
    shown = thought(reviewed["model_tag"], _explanation(reviewed["unit"], details), winds)
    done = entry["actual_index"]
    actual = entry["details"][done] if done < len(entry["details"]) else None
    for rated, detail in zip(shown["rated"], details, strict=True):
        rated["accepted"] = " ".join(detail["accepted"])
        rated["done"] = detail is actual
    return {
        **shown,
        "n": entry["event"],
        "at": entry["position"],
        "equal": entry["is_equal"],
        "loss": entry["loss"],
        "counts": entry["counts"],
        "cost_size": entry["size"],
        "size": entry["size_text"],
        "sentence": entry["sentence"],
        "tags": _tags(entry),
        "cost": entry["playouts"],
        "comparison": _shown_comparison(entry["comparison"]),
        "opponents": [
            {**opponent, "deal_in": [round(chance, 2) for chance in opponent["deal_in"]]}
            for opponent in entry["opponents"]
        ],
    }


def _shown_comparison(comparison: Json | None) -> Json | None:
    """Return a comparison with the digits that the page shows."""
    if comparison is None:
        return None
    rows = [
        {
            **row,
            "yours": rounded(row["yours"], row["unit"]),
            "other": rounded(row["other"], row["unit"]),
            "gain": rounded(row["gain"], comparison["unit"]),
        }
        for row in comparison["rows"]
    ]
    return {**comparison, "rows": rows}


def _explanation(unit: str, details: Sequence[Json]) -> Explanation:
    rated = [_rated(detail) for detail in details]
    choice = next((option.action for option in rated if option.is_chosen), ACTIONS[0])
    return Explanation(choice, unit, rated)


def _rated(detail: Json) -> Rated:
    codes = detail["codes"]
    then: Action | None = ACTIONS[codes[1]] if len(codes) > 1 else None
    value = float("-inf") if detail["q_value"] is None else detail["q_value"]
    terms = [Term(**term) for term in detail["terms"]]
    return Rated(ACTIONS[codes[0]], value, detail["is_chosen"], then, terms)


def _tags(entry: Json) -> list[str]:
    mistake_class, playouts = entry["kind"], entry["playouts"]
    tags = [translate(mistake_class)] if mistake_class else []
    if entry["disputed"]:
        tags.append(translate("points and network disagree"))
    elif entry["about_equal"]:
        tags.append(translate("about equal"))
    if playouts:
        verdict = playouts["verdict"]
        tags.append(translate(verdict))
    return tags
