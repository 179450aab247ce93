"""What a server of tables reports in Prometheus's text format, at ``/metrics`` of its page."""

from collections.abc import Iterator

import mjbot
from mjbot.play.server.tables import TABLE_STATES, Tables
from mjbot.play.service.status import FAULT_KINDS, counters, escaped, family, memory_bytes


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
    yield from family("resident_memory_bytes", "gauge", "Memory of the process.")
    yield f"mjbot_resident_memory_bytes {memory_bytes()}"
