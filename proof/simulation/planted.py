"""Faults planted in our programs, each in place of one function: the simulation must find them.

A fault stands for a mistake of a programmer: what was awaited, closed, limited or checked no
longer is.  It is put in place while its schedules run, and nowhere else.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from mjbot.cli import serve as serve_command
from mjbot.play import kept_games
from mjbot.play.server import accounts, game_log, lobby, seats, tables_page
from mjbot.play.server import tcp as tcp_endpoint
from mjbot.play.service import bot, files, locks, status
from mjbot.protocol.transports import tcp
from mjbot.runtime import files as runtime_files
from mjbot.strategy.pair import session, socket_link

Owner = Any
MOST_SEEDS: Final = 300
"""In so many schedules a fault is looked for."""


@dataclass(frozen=True)
class Planted:
    """``instead`` makes the faulty function of the real one ``name`` of ``owner``.

    It is found where a problem has the words ``shown``, which only the judge of such faults
    writes; ``seed`` is a schedule in which it is, tried first.
    """

    scenario: str
    owner: Owner
    name: str
    instead: Callable[[Any], Any]
    shown: str
    seed: int

    @contextlib.contextmanager
    def in_place(self) -> Iterator[None]:
        """Put the fault in the place of the function."""
        original = vars(self.owner)[self.name]
        setattr(self.owner, self.name, self.instead(original))
        try:
            yield
        finally:
            setattr(self.owner, self.name, original)

    def seeds(self) -> Iterator[int]:
        """Yield the seeds of the schedules in which it is looked for."""
        yield self.seed
        yield from (seed for seed in range(MOST_SEEDS) if seed != self.seed)

    def shows_in(self, problems: Iterable[str]) -> bool:
        """Return whether one of the problems of a schedule is the one that it makes."""
        return any(self.shown in problem for problem in problems)


def _nothing(_: Any) -> Any:
    return lambda *args, **options: None


def _nothing_awaited(_: Any) -> Any:
    async def do(*args: Any, **options: Any) -> None:
        pass

    return do


def _true(_: Any) -> Any:
    return lambda *args, **options: True


def _in_place(_: Any) -> Any:
    @contextlib.contextmanager
    def whole_file(path: Path) -> Iterator[Any]:
        with path.open("wb") as file:
            yield file

    return whole_file


def _without_await(start: Any) -> Any:
    async def begin(self: Any) -> None:
        if self._idling is not None:
            self._idling.cancel()

    return begin


def _swallowing(append: Any) -> Any:
    def append_lines(*args: Any) -> None:
        with contextlib.suppress(OSError):
            append(*args)

    return append_lines


def _written_once(_: Any) -> Any:
    def write_all(file: Any, path: Path, data: bytes) -> None:
        with runtime_files.naming(path):
            file.write(data)

    return write_all


def _raising(_: Any) -> Any:
    def write(self: Any, ending: str, data: bytes) -> None:
        if ending not in self._files:
            self._files[ending] = self._created(self._kept.folder, ending)
        self._files[ending][1].write(data)

    return write


def _pruning_all(finish: Any) -> Any:
    def prune(self: Any, game: Any) -> None:
        finish(self, game)
        for path in sorted(self.folder.glob("*.mjson"))[: -max(1, self.limits.most_games)]:
            path.unlink()

    return prune


def _closed_later(close: Any) -> Any:
    def forget(self: Any) -> None:
        close(self)
        raise KeyError("results")

    return forget


async def _forever(*args: Any) -> bool:
    await asyncio.Future()
    return True


def _failing_page(_: Any) -> Any:
    async def page(self: Any, named: Any) -> Any:
        raise KeyError("table")

    return page


def _always_ok(serve: Any) -> Any:
    async def play(*args: Any) -> int:
        await serve(*args)
        return 0

    return play


def _trusting(_: Any) -> Any:
    def reload(self: Any) -> None:
        self._take(self._reread())

    return reload


def _torn(_: Any) -> Any:
    def append(file: Any, path: Path, data: bytes) -> None:
        runtime_files.write_all(file, path, data)

    return append


def _uncut(read: Any) -> Any:
    def read_only(self: Any, file: Any) -> None:
        read(self, BytesIO(file.read()))

    return read_only


def _newest_first(excess: Any) -> Any:
    def newest(self: Any) -> list[Any]:
        self._finished.reverse()
        try:
            return list(excess(self))
        finally:
            self._finished.reverse()

    return newest


def _keeping_the_oldest(_: Any) -> Any:
    def later(self: Any) -> list[Any]:
        return [game for game in self._finished[1:-1] if game.has_record]

    return later


def _without_comparison(module: Any) -> Any:
    return SimpleNamespace(new=module.new, compare_digest=_true(None))


def _with_a_beat(admit: Any) -> Any:
    def begin(self: Any, *streams: Any) -> None:
        admit(self, *streams)
        vars(self).setdefault("beats", []).append(asyncio.create_task(_beat()))

    return begin


async def _beat() -> None:
    await asyncio.Future()


def _failing(_: Any) -> Any:
    def fail(self: Any, guest: Any) -> None:
        raise KeyError("guest")

    return fail


PLANTED: Final = {
    "a lost await": Planted(
        "tcp",
        seats.TcpSeat,
        "start",
        _without_await,
        "read() called while another coroutine is already waiting",
        1,
    ),
    "a file written in place": Planted(
        "statistics", runtime_files, "whole_file", _in_place, "stats.html is cut off", 0
    ),
    "a swallowed error of a record": Planted(
        "tcp", game_log, "append_lines", _swallowing, "no seat may draw now", 9
    ),
    "a short write taken for a whole one": Planted(
        "tcp", runtime_files, "write_all", _written_once, "the last line is torn", 9
    ),
    "a record that is not closed": Planted(
        "tcp", game_log.GameLog, "__exit__", _nothing, "has left open: 2", 1
    ),
    "a connection that is not closed": Planted(
        "tcp", tcp.TcpTransport, "close", _nothing_awaited, "has left open: a connection", 1
    ),
    "an account that stays taken": Planted(
        "tables", accounts.Accounts, "leave", _nothing, "the games were not played within", 29
    ),
    "two connections of an account": Planted(
        "services", accounts.Accounts, "connect", _true, "two connections with one token", 33
    ),
    "locks that are not given back": Planted(
        "services", locks.TokenLocks, "keep_only", _nothing, "has left open: token-", 0
    ),
    "a room that is not opened again": Planted(
        "tables", lobby.Lobby, "reopen", _nothing, "a game was lost by a fault of ours", 1
    ),
    "a broken profile that is not refused": Planted(
        "services", bot.BotService, "reload", _trusting, "ProfileError", 3
    ),
    "SIGTERM without effect": Planted(
        "tcp", serve_command, "_drain", _nothing_awaited, "games begin after SIGTERM", 0
    ),
    "an unbounded wait of a closed table": Planted(
        "tables", lobby.Lobby, "closes_within", lambda _: _forever, "running: serve", 11
    ),
    "a full disk that ends a bot": Planted(
        "services", files.GameFiles, "_write", _raising, ".frames.jsonl: line ", 1
    ),
    "records of others removed": Planted(
        "services", kept_games.KeptGames, "finish", _pruning_all, "a file of others", 0
    ),
    "a status written in place": Planted(
        "services", status, "whole_file", _in_place, ".json is cut off", 27
    ),
    "a page that fails": Planted(
        "tables", tables_page._TablesPage, "json", _failing_page, "GET /tables: status 500", 1
    ),
    "an exit status that hides a void game": Planted(
        "tcp", serve_command, "_serve_table", _always_ok, "serve: exit status 0", 30
    ),
    "a channel that is not closed": Planted(
        "pair", socket_link.SocketLink, "_let_go", _closed_later, "client_connected_cb", 0
    ),
    "a callback that fails": Planted(
        "tcp", tcp_endpoint.Acceptor, "_forget", _failing, "Exception in callback Acceptor.admit", 1
    ),
    "a proof that is not compared": Planted(
        "pair", session, "hmac", _without_comparison, "sent to a guest without the secret", 1
    ),
    "a proof that a guest does not compare": Planted(
        "pair", session, "hmac", _without_comparison, "sent to a host without the secret", 2
    ),
    "a word of an earlier game": Planted(
        "pair",
        socket_link.SocketLink,
        "_answers",
        _true,
        "has believed a hand of an earlier game",
        7,
    ),
    "a seat kept by a player who has left": Planted(
        "tcp", lobby.Lobby, "leave", _true, "who had left", 3
    ),
    "a torn last line": Planted("tcp", game_log, "append_lines", _torn, "the last line is torn", 9),
    "a torn last line of a bot's record": Planted(
        "services", files, "append_lines", _torn, "the last line is torn", 79
    ),
    "a torn last line of a ledger": Planted(
        "tcp", kept_games, "append_lines", _torn, ".ledger: the last line is torn", 119
    ),
    "a torn last line kept in a ledger": Planted(
        "tcp", kept_games.KeptGames, "_read", _uncut, ".ledger: line 2", 3
    ),
    "the newest game pruned": Planted(
        "tcp", kept_games.KeptGames, "_excess", _newest_first, "has removed its newest record", 35
    ),
    "a bot's newest game pruned": Planted(
        "services",
        kept_games.KeptGames,
        "_excess",
        _newest_first,
        "has removed its newest record",
        1,
    ),
    "the oldest game never pruned": Planted(
        "tcp", kept_games.KeptGames, "_excess", _keeping_the_oldest, "and kept the older", 75
    ),
    "tasks of connections left": Planted(
        "tcp", tcp_endpoint.Acceptor, "admit", _with_a_beat, "has left tasks", 1
    ),
}
