"""The page of a server's tables: players, standings, the last results, and their boards.

``/`` is the page, ``/tables`` the same as JSON, ``/metrics`` its counters for Prometheus,
``/board/TABLE/RECORD`` a game.  Of a running one only kyoku that have ended are shown: its record
has all hands.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import mjbot
from mjbot.game.records.choices import steps_of
from mjbot.game.table.settle import ranks_of, seats_by_rank
from mjbot.play.server.reply_faults import fault_of_void
from mjbot.play.server.standings import Standing
from mjbot.play.server.tables import TABLE_STATES, TableResult, Tables
from mjbot.protocol.messages import EndKyoku
from mjbot.runtime.errors import MjbotError
from mjbot.runtime.net.http import LoopbackServer, Page
from mjbot.runtime.net.metrics import METRICS_TYPE, counters, escaped, family, memory
from mjbot.strategy.faults import FAULT_KINDS
from mjbot.viewer import html
from mjbot.viewer.game import fold_steps
from mjbot.viewer.library import Library
from mjbot.viewer.pages import game_page

LONGEST_REASON: Final = 200
MOST_STANDINGS: Final = 500
"""How many players the page shows."""
_ORDINALS: Final = ("1st", "2nd", "3rd", "4th")


def tables_server(tables: Tables) -> LoopbackServer:
    """Return the server of the page."""
    page = _TablesPage(tables)
    routes = {
        "/": page.index,
        "/tables": page.json,
        "/metrics": page.metrics,
        "/board/{table}/{record}": page.board,
    }
    return LoopbackServer("tables", routes)


class _TablesPage:
    def __init__(self, tables: Tables) -> None:
        self._tables: Final = tables
        self._places: Final = _ORDINALS[: tables.hall.places]

    async def index(self, _: Mapping[str, str]) -> Page:
        """Return the page."""
        hall = self._tables.hall
        queues = [f"{html.text(room)}: {hall.queue_length(room)}" for room in hall.rooms]
        state = "closed: no further game begins" if hall.is_closed else "open"
        rows = [
            [html.text(table["table"]), _state_text(table), _names(table), _running(table)]
            for table in self._state()
        ]
        results = [self._row(played) for played in reversed(self._tables.results)]
        body = [
            "<main><h1>Tables</h1>",
            f"<p>{state}; {self._tables.count:,} games played since the start,"
            f" {self._tables.void_count:,} void; waiting in {', '.join(queues)}</p>",
            html.table(["table", "state", "players", "game"], rows),
            "<h2>Standings</h2>",
            html.table(
                ["player", "games", "mean rank", *self._places, "uma", "last game"],
                [self._standing_row(standing) for standing in self._standings()],
            ),
            "<h2>Results</h2>",
            html.table(["game", "ended", "table", *self._places, "board"], results),
            "</main>",
        ]
        return html.page("mjbot: tables", body), "text/html"

    async def json(self, _: Mapping[str, str]) -> Page:
        """Return what the page shows as JSON."""
        hall = self._tables.hall
        waiting = {room: hall.queue_length(room) for room in hall.rooms}
        state = {
            "games": self._tables.count,
            "void": self._tables.void_count,
            "closed": hall.is_closed,
            "waiting": waiting,
            "tables": self._state(),
            "standings": [
                {
                    "name": standing.name,
                    "games": standing.games,
                    "ranks": standing.ranks[: hall.places],
                    "mean_rank": round(standing.mean_rank, 4),
                    "uma": round(standing.uma, 1),
                    "last": standing.last,
                }
                for standing in self._standings()
            ],
            "results": list(map(_result, self._tables.results)),
        }
        return json.dumps(state), "application/json"

    async def metrics(self, _: Mapping[str, str]) -> Page:
        """Return the counters for Prometheus."""
        return server_metrics(self._tables), METRICS_TYPE

    async def board(self, named: Mapping[str, str]) -> Page | None:
        """Return the board of a game that the page lists; of a running one the ended kyoku."""
        table, record = named["table"], named["record"]
        for played in self._tables.results:
            log = played.result.log
            if log is not None and (played.table, log.name) == (table, record):
                title = f"{played.table}, game {played.number}"
                return await asyncio.to_thread(_board, log, title), "text/html"
        server = self._tables.servers.get(table)
        running = server.running if server is not None else None
        if running is None or running.log is None or running.log.name != record:
            return None
        title = f"{table}, game {running.number} (it is being played)"
        return await asyncio.to_thread(_board, running.log, title, is_running=True), "text/html"

    def _standings(self) -> list[Standing]:
        return self._tables.history.standings()[:MOST_STANDINGS]

    def _state(self) -> list[dict[str, Any]]:
        tables = []
        for name, lobby in self._tables.lobbies.items():
            running = self._tables.servers[name].running
            table = {
                "table": name,
                "state": lobby.state,
                "reason": lobby.problem or None,
                "players": lobby.names,
                "game": running.number if running else None,
                "record": running.log.name if running and running.log else None,
            }
            tables.append(table)
        return tables

    def _standing_row(self, standing: Standing) -> list[str]:
        return [
            html.name(standing.name),
            f"{standing.games:,}",
            f"{standing.mean_rank:.2f}",
            *[f"{count:,}" for count in standing.ranks[: len(self._places)]],
            f"{standing.uma:+,.1f}",
            _moment(standing.last),
        ]

    def _row(self, played: TableResult) -> list[str]:
        result = played.result
        head = [f"{played.number:,}", _moment(played.ended), html.text(played.table)]
        if result.void:
            reason = html.text(fault_of_void(result.names, result.faults), LONGEST_REASON)
            return [*head, "void", reason, *[""] * (len(self._places) - 1)]
        places = [
            f"{html.name(result.names[seat])} {result.scores[seat]:,}"
            for seat in seats_by_rank(result.scores)
        ]
        places += [""] * (len(self._places) - len(places))  # it was a table of three
        log = _record(played)
        return [*head, *places, "" if log is None else _link(played.table, log.name, "board")]


def _result(played: TableResult) -> dict[str, Any]:
    """Return a result as JSON's types."""
    result = played.result
    by = fault_of_void(result.names, result.faults) if result.void else None
    log = _record(played)
    return {
        "game": played.number,
        "ended": played.ended or None,
        "table": played.table,
        "names": list(result.names),
        "scores": None if result.void else list(result.scores),
        "ranks": None if result.void else list(ranks_of(result.scores)),
        "void": result.void,
        "by": by,
        "record": log.name if log else None,
    }


def _record(played: TableResult) -> Path | None:
    """Return the record of a game, if there is one and it was not removed."""
    log = played.result.log
    return log if log is not None and log.is_file() else None


def _moment(text: str) -> str:
    """Return a moment (UTC, ISO 8601) as local time; nothing for an empty or damaged one.

    >>> _moment("yesterday"), len(_moment("2026-11-28T12:00:00Z"))
    ('', 16)
    """
    try:
        return f"{datetime.fromisoformat(text).astimezone():%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):
        return ""


def _link(table: str, record: str, text: str) -> str:
    return f'<a href="/board/{quote(table)}/{quote(record)}">{text}</a>'


def _running(table: Mapping[str, Any]) -> str:
    number = table["game"]
    if number is None or table["record"] is None:
        return "" if number is None else f"{number:,}"
    return _link(table["table"], table["record"], f"{number:,}")


def _state_text(table: Mapping[str, Any]) -> str:
    reason = f": {html.text(table['reason'], LONGEST_REASON)}" if table["reason"] else ""
    return f"{table['state']}{reason}"


def _names(table: Mapping[str, Any]) -> str:
    return ", ".join([html.name(name) for name in table["players"]])


def _board(log: Path, title: str, *, is_running: bool = False) -> str:
    try:
        game = Library(log).game(0)
    except (MjbotError, OSError) as error:
        return _notice(title, html.text(error, 200))
    entries = list(game.entries)
    if is_running:
        ends = [at for at, entry in enumerate(entries, 1) if isinstance(entry.event, EndKyoku)]
        entries = entries[: ends[-1]] if ends else []
        if not entries:
            return _notice(title, "No kyoku (hand) of this game has ended yet.")
    steps = steps_of([entry.event for entry in entries], strict=False)
    folded = fold_steps(steps, talk=[entry.talk for entry in entries])
    return game_page(folded, {"subject": title})


def _notice(title: str, text: str) -> str:
    return html.page(html.text(title), [f"<main><p>{text}</p></main>"])


def server_metrics(tables: Tables) -> str:
    """Return the counters of a server in Prometheus's text format, version 0.0.4."""
    return "\n".join(_metrics(tables)) + "\n"


def _metrics(tables: Tables) -> Iterator[str]:
    yield from family("info", "gauge", "Version.")
    yield f'mjbot_info{{version="{escaped(mjbot.__version__)}"}} 1'
    games = {"finished": tables.count, "void": tables.void_count}
    yield from counters("games", "Games by how they ended.", "end", games, games)
    what = "Replies that were replaced, or made a game void, by why."
    yield from counters("faults", what, "kind", tables.faults, FAULT_KINDS)
    states = [lobby.state for lobby in tables.lobbies.values()]
    yield from family("tables", "gauge", "Tables by what they do.")
    for state in TABLE_STATES:
        yield f'mjbot_tables{{state="{state}"}} {states.count(state)}'
    yield from family("waiting", "gauge", "Players that wait for a table, by room.")
    for room in tables.hall.rooms:
        yield f'mjbot_waiting{{room="{escaped(room)}"}} {tables.hall.queue_length(room)}'
    yield from memory()
