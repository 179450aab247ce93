"""A review as JSON: the keys of mjai-reviewer, so that its front ends load it, and our own.

Of theirs, ``q_value`` is the reviewer's value in its own unit and ``prob`` its probability where it
reports one, else a softmax of values over ``temperature``; ``split_logs`` has the game as
tenhou.net/6, a document for each kyoku.  Ours are listed in docs/review.md.
"""

import itertools
import json
from collections.abc import Sequence
from dataclasses import asdict
from math import isfinite
from typing import Any, Final

import msgspec

import mjbot
from mjbot.analysis.review.comparison import compare_choices
from mjbot.analysis.review.decisions import ReviewedDecision
from mjbot.analysis.review.playouts import Shown
from mjbot.analysis.review.reasons import reasons
from mjbot.analysis.review.sentences import choice_text, sentence, size_text
from mjbot.analysis.review.summary import (
    Loss,
    Review,
    SeatSummary,
    by_class,
    by_kyoku,
    by_seat,
    looked,
    loss_of,
    rating,
)
from mjbot.game.records.complete import complete
from mjbot.game.records.game import Entry, Game
from mjbot.game.records.tenhou6.writer import write_tenhou6
from mjbot.game.rules.kinds import kinds_of
from mjbot.game.rules.tile_sets import acceptance_of
from mjbot.game.statistics.estimates import Estimate
from mjbot.game.table.mirror.wire import to_message
from mjbot.game.table.state import MeldType, Phase
from mjbot.game.table.view import Meld, View
from mjbot.protocol.messages import Chi, EndGame, EndKyoku, Kakan, Message, Pon, Reach, StartKyoku
from mjbot.protocol.rules import Rules
from mjbot.protocol.seats import seated
from mjbot.protocol.tiles import TILE_NAMES, tile_kind, tile_names
from mjbot.runtime.languages import language
from mjbot.strategy.explanation import Rated, Term, same_choice, shares_of, temperature_of
from mjbot.viewer.thoughts import opponents_json

Json = dict[str, Any]

HANCHAN_ROUNDS: Final = 4
DIGITS: Final = 6


def review_json(review: Review) -> Json:
    """Return the whole review, fit for ``json.dumps``."""
    judged, unit = review.judged, review.by.unit
    whole = rating(review.decisions)
    kyokus = [_kyoku(review, index) for index in range(len(judged.kyoku))]
    reviewed = {
        "total_reviewed": len(review.decisions),
        "total_matches": sum(decision.is_equal for decision in review.decisions),
        "rating": _finite(whole.value),
        "temperature": temperature_of(unit),
        "kyokus": kyokus,
        "relative_phi_matrix": [_turned(kyoku.chances, review.seat) for kyoku in judged.kyoku],
        "model_tag": review.by.name,
        "rating_interval": _interval(whole),
        "unit": unit,
        "loss_unit": review.unit,
        "size_unit": review.size_unit,
        "strength": asdict(review.by.strength) if review.by.strength else None,
        "summary": _summary(review),
    }
    longest = max((kyoku.round for kyoku in judged.kyoku), default=0)
    return {
        "engine": review.by.name,
        "game_length": "Hanchan" if longest >= HANCHAN_ROUNDS else "Tonpuu",
        "loading_time": "0s",
        "review_time": f"{review.seconds:.3f}s",
        "show_rating": whole.is_bounded,
        "version": f"mjbot {mjbot.__version__}",
        "review": reviewed,
        "player_id": review.seat,
        "split_logs": split_logs(review),
        "mjai_log": [_event(seated(event, judged.players)) for event in judged.events],
        "lang": language(),
        "names": list(judged.names),
        "game": review.game,
    }


def split_logs(review: Review) -> list[Json]:
    """Return the game as tenhou.net/6, one document for each kyoku, as its viewers read it.

    A kyoku at the end that was cut off is left out.  Empty where a record does not show all hands,
    or was played by rules that the site has no table for: tenhou.net/6 has no place for either.
    """
    events = review.judged.events
    ends = [number for number, event in enumerate(events, 1) if isinstance(event, EndKyoku)]
    whole = events if isinstance(events[-1], EndGame) else events[: ends[-1] if ends else 0]
    entries = itertools.starmap(Entry, enumerate(whole, 1))
    try:
        document = json.loads(write_tenhou6(complete(Game(review.game, "line", entries))))
    except ValueError:
        return []
    shared = {key: value for key, value in document.items() if key not in ("log", "sc")}
    return [{**shared, "log": [kyoku]} for kyoku in document["log"]]


def _summary(review: Review) -> Json:
    names = [kyoku.name for kyoku in review.judged.kyoku]
    return {
        "all": _loss(loss_of(review.decisions, review.shown)),
        "by_kind": {name: _loss(loss) for name, loss in by_class(review).items()},
        "by_kyoku": [
            {"kyoku": name, **_loss(loss)}
            for name, loss in zip(names, by_kyoku(review), strict=True)
        ],
        "by_seat": [_seat(seat) for seat in by_seat(review)],
        "costliest": [decision.event for decision in review.costliest],
        "deal_ins": [
            {
                "kyoku": deal_in.name,
                "tile": TILE_NAMES[deal_in.tile],
                "winner": deal_in.winner,
                "paid": deal_in.paid,
                "danger": looked(deal_in),
                "held": tile_names(deal_in.held),
                "deadly": tile_names(deal_in.deadly),
                "event": deal_in.decision.event if deal_in.decision else None,
            }
            for deal_in in review.deal_ins
        ],
        "unknown": review.unknown,
        "playouts_by": review.by.playouts_by or None,
    }


def _seat(seat: SeatSummary) -> Json:
    return {
        "seat": seat.seat,
        "name": seat.name,
        "place": seat.final_rank,
        "score": seat.score,
        "decisions": seat.decisions,
        "agreed": seat.agreed,
        "rating": _interval(seat.rating),
    }


def _loss(loss: Loss) -> Json:
    return {
        key: _interval(value) if isinstance(value, Estimate) else value
        for key, value in vars(loss).items()
    }


def _kyoku(review: Review, index: int) -> Json:
    kyoku = review.judged.kyoku[index]
    return {
        "kyoku": kyoku.round,
        "honba": kyoku.honba,
        "end_status": [_event(seated(event, review.judged.players)) for event in kyoku.results],
        "relative_scores": _turned(kyoku.scores, review.seat),
        "entries": [
            _entry(review, decision) for decision in review.decisions if decision.kyoku == index
        ],
    }


def _entry(review: Review, decision: ReviewedDecision) -> Json:
    view, unit = decision.view, decision.explanation.unit
    rated = _once(decision)
    probs = shares_of([option.value for option in rated], unit)
    details = [
        _detail(view, option, prob, decision) for option, prob in zip(rated, probs, strict=True)
    ]
    is_actual = [same_choice(option.action, decision.actual) for option in rated]
    reaction = view.phase in (Phase.REACTION, Phase.CHANKAN)
    tile = view.claim_tile if reaction or view.drawn < 0 else view.drawn
    return {
        "junme": decision.turn,
        "tiles_left": view.wall_left,
        "last_actor": int(view.turn),
        "tile": TILE_NAMES[tile] if tile >= 0 else "?",
        "state": {"tehai": tile_names(view.tiles), "fuuros": _melds(view)},
        "at_self_chi_pon": isinstance(decision.asked, Chi | Pon) and not reaction,
        "at_self_riichi": isinstance(decision.asked, Reach),
        "at_opponent_kakan": isinstance(decision.asked, Kakan),
        "expected": _event(to_message(view.state, view.seat, decision.expected)),
        "actual": _event(to_message(view.state, view.seat, decision.actual)),
        "is_equal": decision.is_equal,
        "details": details,
        "shanten": view.shanten,
        "at_furiten": view.furiten,
        "actual_index": is_actual.index(True) if True in is_actual else len(rated),
        "event": decision.event,
        "legal": [str(action) for action in view.legal],
        "position": decision.at,
        "loss": _finite(decision.loss),
        "loss_points": _finite(decision.points),
        "loss_worth": _finite(decision.value_loss),
        "about_equal": decision.is_close,
        "disputed": decision.is_disputed,
        "counts": review.counts(decision),
        "size": _finite(review.size(decision)),
        "size_text": size_text(decision, review.shown.get(decision)),
        "kind": None if decision.is_equal else review.mistake_class(decision),
        "sentence": sentence(decision),
        "reasons": [asdict(reason) for reason in reasons(decision)],
        "playouts": _shown(review.shown.get(decision)),
        "comparison": _comparison(decision),
        "opponents": opponents_json(view),
    }


def _once(decision: ReviewedDecision) -> list[Rated]:
    """Return what was rated, best first, each action once: of several discards after it the best.

    What is shown as ``done`` stays the one that was done.
    """
    once: list[Rated] = []
    first = [rated for rated in (decision.done, decision.better) if rated]
    for rated in [*first, *decision.explanation.best_first]:
        if not any(same_choice(rated.action, other.action) for other in once):
            once.append(rated)
    return sorted(once, key=lambda rated: -rated.value)


def _detail(view: View, rated: Rated, prob: float, decision: ReviewedDecision) -> Json:
    return {
        "action": _event(to_message(view.state, view.seat, rated.action)),
        "q_value": _finite(rated.value),
        "prob": prob,
        "then": TILE_NAMES[rated.then.tile] if rated.then else None,
        "codes": [rated.action.code, *([rated.then.code] if rated.then else [])],
        "accepted": accepted_kinds(view, rated),
        "is_chosen": same_choice(rated.action, decision.expected),
        "terms": [_term(term) for term in rated.terms],
    }


def _term(term: Term) -> Json:
    fields = {name: getattr(term, name) for name in Term.__slots__}
    return {**fields, "value": round(term.value, DIGITS)}


def accepted_kinds(view: View, rated: Rated) -> tuple[str, ...]:
    """Return the kinds that the hand accepts after a discard, in tenpai its waits; else nothing.

    Kinds of which the seat sees all copies are left out.
    """
    discard = rated.then if rated.action.is_riichi else rated.action
    if discard is None or not discard.is_discard:
        return ()
    hand = view.hand.copy()
    hand[tile_kind(discard.tile)] -= 1
    mask = acceptance_of(hand, view.n_melds, view.players)[1]
    return tile_names([kind for kind in kinds_of(mask) if view.unseen[kind]])


def _comparison(decision: ReviewedDecision) -> Json | None:
    comparison = compare_choices(decision)
    if comparison is None:
        return None
    rows = [
        {key: _finite(value) if isinstance(value, float) else value for key, value in row.items()}
        for row in map(asdict, comparison.rows)
    ]
    choices = [choice_text(rated) for rated in (comparison.yours, comparison.other)]
    return {"choices": choices, "unit": comparison.unit, "rows": rows}


def _shown(shown: Shown | None) -> Json | None:
    if shown is None:
        return None
    return {
        "points": _interval(shown.points),
        "ranks": _interval(shown.ranks),
        "mean": _finite(shown.gain.ranks),
        "error": _finite(shown.gain.error),
        "first_mean": _finite(shown.first.ranks),
        "first_error": _finite(shown.first.error),
        "deals": shown.deals,
        "verdict": shown.verdict,
        "better": str(shown.better) if shown.better else None,
        "better_then": str(shown.better_then) if shown.better_then else None,
    }


def _melds(view: View) -> list[Json]:
    return [meld_json(meld) for meld in view.melds(view.seat)]


def meld_json(meld: Meld) -> Json:
    """Return a meld in the form of mjai-reviewer."""
    names = tile_names(meld.tiles)
    if meld.type == MeldType.ANKAN:
        return {"type": "ankan", "consumed": names}
    called = TILE_NAMES[meld.called]
    rest = [*names]
    rest.remove(called)
    if meld.type != MeldType.KAKAN:
        meld_type = meld.type.name.lower()
        return {"type": meld_type, "target": meld.source, "pai": called, "consumed": rest}
    added = TILE_NAMES[meld.kind]  # a red five that was added is not marked: the pon had it
    rest.remove(added)
    return {
        "type": "kakan",
        "pai": added,
        "previous_pon_target": meld.source,
        "previous_pon_pai": called,
        "consumed": rest,
    }


def _turned(of_seats: Sequence[Any], seat: int) -> list[Any]:
    """Return what belongs to the seats from the given one on, as mjai-reviewer orders it."""
    return [*of_seats[seat:], *of_seats[:seat]]


def _event(message: Message) -> Any:
    fields = msgspec.to_builtins(message)
    if isinstance(message, StartKyoku) and fields.get("scores") is None:
        players = len(message.tehais)
        fields["scores"] = [Rules(players=players).start_points] * players
    fields = {key: value for key, value in fields.items() if value is not None}
    return {**fields, "type": "none"} if fields.get("type") == "skip" else fields


def _interval(estimate: Estimate) -> list[float | None]:
    """Return value, low and high end; ``None`` for what is not known."""
    return [_finite(end) for end in (estimate.value, estimate.low, estimate.high)]


def _finite(value: float | None) -> float | None:
    return round(float(value), DIGITS) if value is not None and isfinite(value) else None
