"""The page and the JSON of a review of every held-out game: faults, sizes and time.

    python -m proof review-pages --out review-pages.jsonl

Of each game all decisions of all seats are judged, and one seat (the game's number modulo 4) is
reviewed as ``mjbot review --playouts 0 --json`` does.  A fault is an exception; a page of
:data:`LARGEST` bytes or more, one that refers to something outside itself, or one whose packed game
cannot be read; a JSON that does not follow ``review.schema.json``.

The chances to deal in that the JSON states are compared with what happened: of the seat's discards
the sum of the chances that any opponent wins on them, and the number that were won on.
"""

import argparse
import json
import re
import time
import traceback
from collections.abc import Iterator, Sequence
from functools import partial
from html.parser import HTMLParser
from math import prod
from pathlib import Path
from typing import Any, Final

import jsonschema
import numpy as np

import mjbot.analysis.review
from mjbot.analysis.review.decisions import judge
from mjbot.analysis.review.mjai_json import review_json
from mjbot.analysis.review.page import page
from mjbot.analysis.review.players import SeatedPlayers
from mjbot.analysis.review.summary import Review, Reviewer, known_seats
from mjbot.game.records.choices import steps_of
from mjbot.game.records.game import Game
from mjbot.game.records.sources import Source, games_of
from mjbot.game.statistics.estimates import ratio
from mjbot.game.statistics.markdown import head, row
from mjbot.protocol.tiles import TILE_BY_NAME, tile_kind
from mjbot.runtime.languages import ENGLISH, LANGUAGES, using_language
from mjbot.strategy.registry import Spec
from mjbot.viewer.pages import game_of_page
from proof.game_lines import (
    HELD_OUT,
    Line,
    add_record_arguments,
    complete_lines,
    recorded_games,
    with_seats_in_turn,
)

LARGEST: Final = 400_000
"""Bytes that a page must stay below."""
MOST_SHOWN: Final = 20
SCHEMA: Final = Path(mjbot.analysis.review.__file__).with_name("review.schema.json")
LINKS: Final = ("href", "src", "srcset", "action", "formaction", "poster", "background", "data")
LOADED: Final = re.compile(
    r"""@import|url\((?!["']?(?:#|data:))|https?://(?!www\.w3\.org/2000/svg)"""
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof review-pages``."""
    add_record_arguments(parser, "strongest", HELD_OUT)
    parser.add_argument("--language", choices=LANGUAGES, default=ENGLISH, help="of pages (en)")
    parser.add_argument("--out", type=Path, default=Path("review-pages.jsonl"), help="the file")


def run(args: argparse.Namespace) -> int:
    """Review the games that the file does not have yet, print the report; 1 if there are faults."""
    sources = recorded_games(args, HELD_OUT)
    if sources is None:
        return 3
    by = Spec.read(args.by)
    reviewer = PageReviewer(by, SeatedPlayers(by, 0))
    seats = with_seats_in_turn(sources)
    with using_language(args.language):
        lines = complete_lines(args.out, seats, partial(_lines_of, reviewer))
    for text in report(lines):
        print(text)
    return 1 if any(line["faults"] for line in lines) else 0


def _lines_of(reviewer: "PageReviewer", _name: str, game: tuple[int, Source]) -> Iterator[Line]:
    seat, source = game
    try:
        for read in games_of(source):
            yield reviewer.line(read, seat)
    except Exception:  # what a user would see as a traceback is what is looked for
        yield {"faults": [traceback.format_exc(limit=-3)]}


class PageReviewer:
    """Writes pages and JSON of reviews and checks both."""

    def __init__(self, by: Spec, players: SeatedPlayers) -> None:
        self._by: Final = by
        self._players: Final = players
        self._schema: Final = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text("utf-8")))

    def line(self, game: Game, seat: int) -> Line:
        """Return the sizes and faults of the review of a seat."""
        start = time.process_time()
        events = [entry.event for entry in game.entries]
        judged = judge(events, self._players, known_seats(events), [seat])
        review = Review(game.name, seat, Reviewer.of(self._by), judged)
        shown = review_json(review)
        html, data = page(review, shown), json.dumps(shown, allow_nan=False)
        seconds, size = time.process_time() - start, len(html.encode())
        found = json.loads(data)
        faults = [*page_faults(html, found)]
        faults += [error.message[:200] for error in self._schema.iter_errors(found)]
        return {
            "seat": seat,
            "kyoku": len(judged.kyoku),
            "steps": sum(1 for _ in steps_of(events)),
            "judged": len(judged.decisions),
            "decisions": len(review.decisions),
            "page": size,
            "json": len(data.encode()),
            "seconds": round(seconds, 3),
            **_deal_ins(found["review"]),
            "faults": faults,
        }


def _deal_ins(review: Any) -> Line:
    """Return of the seat's discards the chances to deal in as stated, summed, and the deal-ins."""
    entries = [entry for kyoku in review["kyokus"] for entry in kyoku["entries"]]
    chances = {}
    for entry in entries:
        if entry["actual"]["type"] == "dahai":
            kind = tile_kind(TILE_BY_NAME[entry["actual"]["pai"]])
            safe = prod(1 - each["deal_in"][kind] / 100 for each in entry["opponents"])
            chances[entry["event"]] = 1 - safe
    won_on = {each["event"] for each in review["summary"]["deal_ins"]}
    return {"chances": round(sum(chances.values()), 4), "deal_ins": len(won_on & chances.keys())}


def page_faults(html: str, review: Any) -> Iterator[str]:
    """Yield what is wrong with the page of a review."""
    if (size := len(html.encode())) >= LARGEST:
        yield f"the page has {size:,} bytes"
    yield from [f"the page refers to {each}" for each in sorted(set(_outside(html)))]
    if 'id="data"' not in html:
        yield "the page holds no game"
        return
    shown = [each["n"] for each in game_of_page(html)["review"]["decisions"]]
    kyokus = review["review"]["kyokus"]
    if shown != [entry["event"] for kyoku in kyokus for entry in kyoku["entries"]]:
        yield "the page shows other decisions than the JSON"


def _outside(html: str) -> Iterator[str]:
    """Yield what a page refers to outside itself."""
    links: list[str] = []

    class Links(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            links.extend(value or "" for name, value in attrs if name in LINKS)

    Links().feed(html)
    yield from [link for link in links if not link.startswith(("#", "data:"))]
    yield from [match[0] for match in LOADED.finditer(html)]


# --- the report --------------------------------------------------------------------------------


def report(lines: Sequence[Line]) -> Iterator[str]:
    """Yield sizes and times, and the faults."""
    whole = [line for line in lines if "page" in line]
    faults = [f"{line['game']}: {fault}" for line in lines for fault in line["faults"]]
    judged = sum(line["judged"] for line in whole)
    yield f"{len(lines)} games, {judged:,} decisions judged, {len(faults)} faults"
    yield from faults[:MOST_SHOWN]
    if not whole:
        return
    yield from head(["of a game", "median", "largest", "of which game"])
    for key, label in (
        ("decisions", "decisions of the seat"),
        ("page", "page, bytes"),
        ("json", "JSON, bytes"),
        ("seconds", "processor time, s"),
    ):
        values = [line[key] for line in whole]
        most = max(whole, key=lambda line: float(line[key]))
        where = f"{Path(most['game']).stem}, {most['kyoku']} kyoku"
        yield row([label, f"{np.median(values):,.4g}", f"{most[key]:,}", where])
    pairs = np.array([(line["chances"], line["deal_ins"]) for line in whole if "chances" in line])
    if len(pairs) > 1:
        apart = ratio(pairs[:, 1] - pairs[:, 0], np.ones(len(pairs)))
        yield ""
        stated, counted = pairs.sum(axis=0)
        yield f"deal-ins in {len(pairs)} games: {stated:.1f} as stated, {counted:.0f} counted"
        yield f"counted less stated, of a game: {apart.value:+.3f} ± {apart.half_width:.3f}"
