"""The page of a server of several tables: the players, the last results, and their boards.

``/`` is the page, ``/tables`` the same as JSON, ``/metrics`` its counters for Prometheus,
``/board/TABLE/RECORD`` a finished game.  Records of running games, which have all hands, are not
shown.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import mjbot
from mjbot.game.table.settle import ranks_of, seats_by_rank
from mjbot.play.server.reply_faults import fault_of_void
from mjbot.play.server.tables import TABLE_STATES, TableResult, Tables
from mjbot.runtime.errors import MjbotError
from mjbot.runtime.net.http import LoopbackServer, Page
from mjbot.runtime.net.metrics import METRICS_TYPE, counters, escaped, family, memory
from mjbot.strategy.faults import FAULT_KINDS
from mjbot.viewer import html
from mjbot.viewer.game import fold_steps
from mjbot.viewer.library import Library
from mjbot.viewer.pages import game_page

LONGEST_REASON: Final = 200


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

    async def index(self, _: Mapping[str, str]) -> Page:
        """Return the page."""
        hall = self._tables.hall
        queues = [f"{html.text(room)}: {hall.queue_length(room)}" for room in hall.rooms]
        state = "closed: no further game begins" if hall.is_closed else "open"
        rows = [
            [html.text(table["table"]), _state_text(table), _names(table)]
            for table in self._state()
        ]
        results = [self._row(played) for played in reversed(self._tables.results)]
        body = [
            "<main><h1>Tables</h1>",
            f"<p>{state}; {self._tables.count} games played, {self._tables.void_count} void;"
            f" waiting in {', '.join(queues)}</p>",
            html.table(["table", "state", "players"], rows),
            "<h2>Results</h2>",
            html.table(["game", "table", "1st", "2nd", "3rd", "4th", "board"], results),
            "</main>",
        ]
        return html.page("mjbot: tables", body), "text/html"

    async def json(self, _: Mapping[str, str]) -> Page:
        """Return what the page shows as JSON."""
        results = [
            {
                "game": played.number,
                "table": played.table,
                "names": list(played.result.names),
                "scores": None if played.result.void else list(played.result.scores),
                "ranks": None if played.result.void else list(ranks_of(played.result.scores)),
                "void": played.result.void,
                "by": fault_of_void(played.result.names, played.result.faults)
                if played.result.void
                else None,
                "record": played.result.log.name if played.result.log else None,
            }
            for played in self._tables.results
        ]
        hall = self._tables.hall
        waiting = {room: hall.queue_length(room) for room in hall.rooms}
        state = {
            "games": self._tables.count,
            "void": self._tables.void_count,
            "closed": hall.is_closed,
            "waiting": waiting,
            "tables": self._state(),
            "results": results,
        }
        return json.dumps(state), "application/json"

    async def metrics(self, _: Mapping[str, str]) -> Page:
        """Return the counters for Prometheus."""
        return server_metrics(self._tables), METRICS_TYPE

    async def board(self, named: Mapping[str, str]) -> Page | None:
        """Return the board of a finished game that the page lists."""
        for played in self._tables.results:
            log = played.result.log
            if log is not None and (played.table, log.name) == (named["table"], named["record"]):
                title = f"{played.table}, game {played.number}"
                return await asyncio.to_thread(_board, log, title), "text/html"
        return None

    def _state(self) -> list[dict[str, Any]]:
        return [
            {
                "table": name,
                "state": lobby.state,
                "reason": lobby.problem or None,
                "players": lobby.names,
            }
            for name, lobby in self._tables.lobbies.items()
        ]

    def _row(self, played: TableResult) -> list[str]:
        result = played.result
        head = [str(played.number), html.text(played.table)]
        if result.void:
            return [
                *head,
                "void",
                html.text(fault_of_void(result.names, result.faults), LONGEST_REASON),
                "",
                "",
                "",
            ]
        places = [
            f"{html.name(result.names[seat])} {result.scores[seat]}"
            for seat in seats_by_rank(result.scores)
        ]
        log = result.log
        link = "" if log is None else f'<a href="/board/{played.table}/{log.name}">board</a>'
        return [*head, *places, link]


def _state_text(table: Mapping[str, Any]) -> str:
    reason = f": {html.text(table['reason'], LONGEST_REASON)}" if table["reason"] else ""
    return f"{table['state']}{reason}"


def _names(table: Mapping[str, Any]) -> str:
    return ", ".join([html.name(name) for name in table["players"]])


def _board(log: Path, title: str) -> str:
    try:
        game = Library(log).game(0)
    except (MjbotError, OSError) as error:
        return html.page(html.text(title), [f"<main><p>{html.text(error, 200)}</p></main>"])
    folded = fold_steps(game.steps(), talk=[entry.talk for entry in game.entries])
    return game_page(folded, {"title": title})


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
