"""The same figures counted apart: raw tags and raw JSON lines into tables of polars.

Nothing of mjbot reads or counts here.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import polars as pl

_TAG = re.compile(r"<([A-Za-z]+)\d*([^>]*)/>")
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')


def kyoku_of_mjlog(text: str, game: int) -> Iterator[dict[str, Any]]:
    """Yield a row per seat and kyoku; the last ones of a game have its final scores."""
    names: list[str] = []
    rows: list[dict[str, Any]] = []
    results: list[list[dict[str, Any]]] = []
    for name, rest in re.findall(r"<([A-Za-z]+)((?:\s[^>]*)?)/>", text):
        tag = dict(_ATTRIBUTE.findall(rest))
        if name == "UN" and not names:
            names = [tag[f"n{seat}"] for seat in range(4)]
        elif name == "INIT":
            rows = [empty(game, names[seat], seat) for seat in range(4)]
            results.append(rows)
        elif name == "REACH" and tag["step"] == "1":
            rows[int(tag["who"])]["riichi"] = 1
        elif name == "N":
            code = int(tag["m"])
            is_ankan = not code & 0b111100 and not code & 0b11
            if not is_ankan:
                rows[int(tag["who"])]["open"] = 1
        elif name == "AGARI":
            points = int(tag["ten"].split(",")[1])
            win(rows, int(tag["who"]), int(tag["fromWho"]), points)
        if "owari" in tag:
            scores = [100 * int(part) for part in tag["owari"].split(",")[::2]]
            finish(rows, scores)
    for each in results:
        yield from each


def kyoku_of_lines(text: str, game: int) -> Iterator[dict[str, Any]]:
    """The same of one game of mjai lines."""
    names: list[str] = []
    rows: list[dict[str, Any]] = []
    results: list[list[dict[str, Any]]] = []
    for line in text.splitlines():
        event = json.loads(line)
        match event["type"]:
            case "start_game":
                names = event["names"]
            case "start_kyoku":
                rows = [empty(game, names[seat], seat) for seat in range(4)]
                results.append(rows)
            case "reach":
                rows[event["actor"]]["riichi"] = 1
            case "chi" | "pon" | "daiminkan":
                rows[event["actor"]]["open"] = 1
            case "hora":
                win(rows, event["actor"], event["target"], event["hora_points"])
            case "end_game":
                finish(rows, event["scores"])
    for each in results:
        yield from each


def empty(game: int, name: str, seat: int) -> dict[str, Any]:
    fields = (
        "win",
        "win_points",
        "deal_in",
        "deal_in_points",
        "riichi",
        "open",
        "tsumo",
        "game_end",
    )
    nothing = dict.fromkeys((*fields, "rank", "score"), 0)
    return {"game": game, "name": name, "seat": seat, **nothing}


def win(rows: list[dict[str, Any]], winner: int, source: int, points: int) -> None:
    rows[winner]["win"] += 1
    rows[winner]["win_points"] += points
    rows[winner]["tsumo"] += winner == source
    if winner != source:
        rows[source]["deal_in"] = 1
        rows[source]["deal_in_points"] += points


def finish(rows: list[dict[str, Any]], scores: list[int]) -> None:
    order = sorted(range(4), key=lambda seat: (-scores[seat], seat))
    for rank, seat in enumerate(order, 1):
        rows[seat] |= {"game_end": 1, "rank": rank, "score": scores[seat]}


def figures(rows: Iterable[dict[str, Any]], *by: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Return the figures of each group, by the values of the columns ``by``."""
    ended = pl.col("game_end") == 1
    found = (
        pl.DataFrame(list(rows))
        .group_by(by)
        .agg(
            games=pl.col("game_end").sum(),
            rank=pl.col("rank").filter(ended).mean(),
            first=(pl.col("rank").filter(ended) == 1).mean(),
            fourth=(pl.col("rank").filter(ended) == 4).mean(),
            score=pl.col("score").filter(ended).mean(),
            win=pl.col("win").mean(),
            deal_in=pl.col("deal_in").mean(),
            riichi=pl.col("riichi").mean(),
            call=pl.col("open").mean(),
            tsumo=pl.col("tsumo").sum() / pl.col("win").sum(),
            win_points=pl.col("win_points").sum() / pl.col("win").sum(),
            deal_in_points=pl.col("deal_in_points").sum() / pl.col("deal_in").sum(),
        )
    )
    return {tuple(row[name] for name in by): row for row in found.to_dicts()}
