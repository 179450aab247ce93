"""What is simulated: commands that play together, and what must hold of them at the end."""

import asyncio
import contextlib
import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Final

import mjbot.protocol.transports.websocket  # noqa: F401
from mjbot.play.client.pair_channel import SECRET_VARIABLE
from mjbot.runtime.errors import ExitCode
from proof.remains import damage
from proof.simulation.processes import Process
from proof.simulation.schedule import DISK, Kinds
from proof.simulation.visitors import impostor, intrudes, joins_and_leaves, repeater
from proof.simulation.world import EPOCH_S, World

LINES, FRAMES, TENHOU, TENHOU_WS, PAGE = 11600, 11601, 10080, 10081, 11680
CHANNEL, REPEATED = 4711, 4712
PAUSE_S, LONGEST_PAUSE_S = 5.0, 300.0
"""Between two starts of a client: a room that never opens must not cost minutes to simulate."""
LONGEST_S, DAY_S = 3_000.0, 1_200.0
"""After so long a server, and a service that waits for others, is asked to end, as by systemd."""
SHORT: Final = "tonpu,start_points=1000,target_points=1000"
"""A game that ends with the first win: a schedule costs a fifth of one of whole games."""
BOT: Final = ("--strategy", "fast-riichi-a")
EARLY_WALLS: Final = (
    1983, 29488, 3546, 47066, 16694, 30601, 55687, 23242, 31647, 11254, 33223, 36814, 5952, 17246,
)  # fmt: skip
"""Seeds of the server whose first games are short with such bots, the least of 60,000 (a win within
18 draws, not 50)."""
WALLS: Final = (*EARLY_WALLS, 118, 160, *(*EARLY_WALLS, 1983, 160) * 3)
"""One in 64 has drawn kyoku (118), which take five times as long."""
BUSTS: Final = (9100, 14496, 18888, 7569, 19646, 17029, 24853, 14019)
"""Seeds of tonpu games that end in the first kyoku with four such bots: a player has no points."""
FOUR: Final = ("ann", "ben", "cat", "dan")
EIGHT: Final = (*FOUR, "eve", "fay", "gil", "hal")
LEAVERS: Final = ("ivy", "jan")
TEAM: Final = ("crane (team 1/2)", "crane (team 2/2)")
FOREIGN: Final = (
    "2024-01-01-000000.mjson", "2026-09-21-133320-1.1.mjson", "best game.mjson", "bot.toml",
    "ann.log.gz", "ann.notes.log",
)  # fmt: skip
"""Files of the user in a folder in which programs of ours keep theirs."""
LEDGER: Final = f".mjbot-{hashlib.sha256(b'serve ').hexdigest()[:12]}.ledger"
TORN: Final = b'[1,"2026-09-20-120000.mjson",true]\n[2,"2026-09-20-12'
"""The ledger of records of a server with one table, as a power cut may leave it."""


@dataclass(frozen=True)
class Scenario:
    """``play`` runs it and returns what does not hold."""

    play: Callable[[World], Awaitable[list[str]]]
    kinds: Kinds


# --- scenarios -----------------------------------------------------------------------------------


async def tcp(world: World) -> list[str]:
    """A table of mjai lines with four clients that come back."""
    seed = world.schedule.seed
    on_fault = ("abort", "default", "chombo")[seed % 3]
    torn = {LEDGER: TORN} if seed % 4 == 3 else {}
    serve = _serve(
        *(world, "--no-ws", "--games", 1 if seed % 5 else 9, "--rules", SHORT, "--timeout-s", 10),
        *("--on-fault", on_fault, *_kept(seed)),
        earlier=torn,
    )
    url = f"mjsonp://127.0.0.1:{LINES}/default"
    if seed % 7 == 3:
        for name in LEAVERS[: 1 + seed % 2]:
            await joins_and_leaves(world, name, LINES)
    visits = [_visits(world, serve, name, url, *BOT) for name in FOUR]
    if not seed % 5:
        visits.append(_ends(serve, seed % 40, "SIGTERM"))
    return await _until_served(world, serve, visits)


async def tables(world: World) -> list[str]:
    """Two rooms over WebSocket with accounts, a page that is read, and one client by TCP lines."""
    seed = world.schedule.seed
    accounts = world.folder / "accounts"
    digests = {name: hashlib.sha256(f"token-{name}".encode()).hexdigest() for name in EIGHT}
    accounts.write_text("".join([f"{name} {digest}\n" for name, digest in digests.items()]))
    serve = _serve(
        *(
            world,
            "--games",
            1 + seed % 2,
            "--rules",
            SHORT,
            "--accounts",
            accounts,
            "--tables-port",
            PAGE,
        ),
        *("--more-rooms", "b", "--pairing", ("first-come", "rotate")[seed % 2]),
        *("--on-fault", "default", "--void-pause-s", 5, *_kept(seed)),
    )
    visits = [
        _visits(
            *(world, serve, name, f"ws://127.0.0.1:{FRAMES}/ws{'/b' if number % 2 else ''}"),
            *("--token-file", _token(world, name), *BOT),
        )
        for number, name in enumerate(EIGHT)
    ]
    visits.append(_visits(world, serve, "ann ", f"mjsonp://127.0.0.1:{LINES}/default"))
    return await _until_served(world, serve, [*visits, _reads_pages(world, serve)])


async def tenhou(world: World) -> list[str]:
    """A table on Tenhou's wire, over TCP and WebSocket, whose clients come back to their seat."""
    seed = world.schedule.seed
    serve = _serve(
        *(world, "--games", 1, "--length", "tonpu", "--no-ws", "--on-fault", "default"),
        *("--tenhou", TENHOU, "--tenhou-ws", TENHOU_WS, *_kept(seed)),
        walls=BUSTS,
    )
    urls = (f"tenhou://127.0.0.1:{TENHOU}/0?type=1", f"tenhou+ws://127.0.0.1:{TENHOU_WS}/0?type=1")
    visits = [
        _visits(world, serve, name, urls[number % 2], *BOT) for number, name in enumerate(FOUR)
    ]
    if seed % 8:  # where a fault changes the game, a whole one costs seconds
        visits.append(_ends(serve, (1.0 + seed % 16) * (1 if seed % 2 else 4), "SIGINT"))
    return await _until_served(world, serve, visits)


async def services(world: World) -> list[str]:
    """Four bots that play for days: hours, records, status, reloads, and a server that restarts."""
    seed, folder = world.schedule.seed, world.folder / "logs"
    token = world.folder / "token"
    folder.mkdir()
    foreign = _foreign_files(folder)
    games = 1 + seed % 2  # odd seeds also keep the last game alone
    bots = {name: _write_profile(world, name, token, folder, games=games) for name in FOUR}
    accounts = [f"{name} {hashlib.sha256(f'token-{name}'.encode()).hexdigest()}" for name in FOUR]
    (world.folder / "accounts").write_text("\n".join(accounts))
    serving = asyncio.create_task(_serves_on(world, folder))
    services = [world.process(name, "run", profile) for name, profile in bots.items()]
    if seed % 3 == 0:
        await asyncio.sleep(seed % 500)
        _write_profile(world, "ann", token, folder, games=1, is_broken=seed % 2 == 1)
        services[0].strike("SIGHUP")
    if not await world.end(*services, within_s=DAY_S):
        for service in services:
            service.strike("SIGTERM")
        await world.end(*services)
    serving.cancel()
    server = world.processes["serve"]
    while server.is_running:
        server.strike("SIGTERM")
        await world.end(server, within_s=100)
    return [
        *(problem for service in services for problem in _service_status(world, service)),
        *_records(world, folder),
        *_touched(world, folder, foreign),
    ]


def _service_status(world: World, service: Process) -> Iterator[str]:
    """Yield the end of a bot that its plan or a signal did not ask for."""
    has_connected = any("game over" in line for line in service.logged)
    allowed = {ExitCode.OK}
    if world.has(*DISK) and not has_connected:  # the profile's folder cannot be used
        allowed |= {ExitCode.UNREACHABLE, ExitCode.BAD_ARGUMENTS}
    if service.signals.count("SIGTERM") > 1:
        allowed.add(ExitCode.INTERRUPTED)
    if service.status not in allowed:
        yield f"{service.name}: status {service.status}: {_last(service)}"
    with contextlib.suppress(FileNotFoundError):
        text = (world.folder / "logs" / f"{service.name}.json").read_text()
        if not text.endswith("}\n"):
            yield f"{service.name}.json is cut off: {text[-80:]!r}"


async def pair(world: World) -> list[str]:
    """Two of a pair with their channel at a table with two others; most seeds have an intruder.

    It visits the host, or takes its port, without the secret; or it repeats hands as if they were
    of an earlier game.
    """
    intruder = (None, "guest", "host", "repeater")[world.schedule.seed % 4]
    serve = _serve(
        *(world, "--games", 1, "--rules", SHORT, "--no-ws", "--on-fault", "default"),
        *("--timeout-s", 10),
    )
    url = f"mjsonp://127.0.0.1:{LINES}/default"
    specs = ("yaku-evaluation", "combo-partner")
    visits = [_visits(world, serve, name, url, *BOT) for name in FOUR[:2]]
    ports = CHANNEL, REPEATED if intruder == "repeater" else CHANNEL
    for number, name in enumerate(TEAM):
        end = f"{('host', 'guest')[number]}:{ports[number]}"
        words = ("--strategy", specs[number], "--pair", end, "--ally", specs[1 - number])
        visits.append(_visits(world, serve, name, url, *words, secret="simulated" * 3))
    async with contextlib.AsyncExitStack() as listeners:
        if intruder == "guest":
            visits.append(intrudes(world, serve, CHANNEL))
        elif intruder == "host":
            await listeners.enter_async_context(impostor(world, CHANNEL))
        elif intruder == "repeater":
            await listeners.enter_async_context(repeater(REPEATED, CHANNEL))
        problems = await _until_served(world, serve, visits)
    return [*problems, *(_believed(world.folder / "logs") if intruder == "repeater" else ())]


def _believed(folder: Path) -> Iterator[str]:
    """Yield members of a pair whose remarks show that they have taken in a hand."""
    for path in sorted({*folder.glob("*.mjson")} - {folder / name for name in FOREIGN}):
        names, believers = [], set[int]()
        for line in path.read_bytes().splitlines():
            with contextlib.suppress(ValueError):  # a line that the disk has cut off
                event = json.loads(line)
                names = event.get("names", names)
                remarks = enumerate(event.get("logs", ()))
                believers |= {seat for seat, remark in remarks if '"ally":' in (remark or "")}
        for seat in sorted(believers):
            yield f"{path.name}: {names[seat]} has believed a hand of an earlier game"


async def statistics(world: World) -> list[str]:
    """Statistics written beside earlier ones, on a disk that fails."""
    folder, records = world.folder / "logs", world.folder / "records"
    for made in (folder, records):
        made.mkdir()
    played = {record.name: record.read_bytes() for record in RECORDS.glob("east-*.mjson")}
    for name, text in played.items():
        (records / name).write_bytes(text)
    foreign = _foreign_files(folder)
    page, rows = folder / "stats.html", folder / "stats.csv"
    for file in (page, rows):
        file.write_text("earlier\n")
    words = ("stats", records, "--html", page, "--csv", rows, "--jobs", 1)
    process = world.process("stats", *words, "--json")
    await world.end(process)
    allowed = {ExitCode.OK, *([ExitCode.UNREACHABLE] if world.struck else [])}
    if process.status not in allowed:
        world.problem(f"stats: exit status {process.status}: {_last(process)}")
    if not world.has("gone"):
        for file, ending in ((page, "</html>"), (rows, "\n")):
            text = file.read_text()
            if (
                text != "earlier\n"
                and not text.endswith(ending)
                and not text.endswith(ending + "\n")
            ):
                world.problem(f"{file.name} is cut off: {text[-80:]!r}")
            if process.status == ExitCode.OK and text == "earlier\n":
                world.problem(f"{file.name} was not written")
    return [
        *_records(world, folder),
        *_touched(world, folder, foreign),
        *_touched(world, records, played),
    ]


RECORDS: Final = Path(__file__).parents[2] / "logs"

_NETWORK: Final = {"late": 3, "cut": 3, "silent": 2, "drop": 2, "refuse": 1, "no-answer": 1}
_DISKS: Final = {"full": 2, "broken": 2, "read-only": 1, "gone": 1}
_ENDS: Final = {"SIGTERM": 2, "SIGHUP": 1, "SIGINT": 1}

SCENARIOS: Final = {
    "tcp": Scenario(
        tcp,
        Kinds(
            {**_NETWORK, **_DISKS, **_ENDS, "slow": 1, "fails": 1, "jump": 1},
            *(6, 3_000, 100, 1_200, 40, 45),
            ("serve", *FOUR),
        ),
    ),
    "tables": Scenario(
        tables,
        Kinds(
            {**_NETWORK, **_DISKS, **_ENDS, "slow": 1, "fails": 1, "jump": 1},
            *(12, 8_000, 200, 2_500, 90, 60),
            ("serve", "serve", *EIGHT),
        ),
    ),
    "tenhou": Scenario(
        tenhou,
        Kinds(
            {**_NETWORK, "cut": 5, **_ENDS, **_DISKS, "slow": 1, "jump": 1},
            *(6, 3_000, 120, 2_200, 70, 50),
            ("serve", *FOUR),
        ),
    ),
    "services": Scenario(
        services,
        Kinds(
            {**_NETWORK, **_DISKS, "SIGTERM": 2, "SIGHUP": 4, "slow": 1, "fails": 1, "jump": 2},
            *(8, 8_000, 1_000, 2_500, 90, 600),
            ("serve", *FOUR, *FOUR),
        ),
    ),
    "pair": Scenario(
        pair,
        Kinds(
            {**_NETWORK, "cut": 5, **_ENDS, "slow": 2, "fails": 1},
            *(6, 3_000, 60, 1_200, 40, 45),
            ("serve", *TEAM, *TEAM),
        ),
    ),
    "statistics": Scenario(statistics, Kinds(_DISKS, operations=12)),
}


# --- what they have in common --------------------------------------------------------------------


def _serve(
    world: World,
    *words: object,
    walls: Sequence[int] = WALLS,
    earlier: Mapping[str, bytes] = MappingProxyType({}),
) -> Process:
    """Start the server of a scenario; ``earlier`` are files of its earlier run."""
    folder = world.folder / "logs"
    folder.mkdir()
    world.foreign = _foreign_files(folder)
    for name, text in earlier.items():
        (folder / name).write_bytes(text)
    ports = ("--port", LINES, "--seed", walls[world.schedule.seed % len(walls)])
    return world.process("serve", "serve", *ports, "--log-dir", folder, *words)


def _kept(seed: int) -> Iterable[object]:
    return [*(["--evidence"] if seed % 2 else []), *(["--keep-games", 1] if seed % 4 > 1 else [])]


async def _visits(
    world: World, serve: Process, name: str, url: str, *words: object, secret: str = ""
) -> None:
    """Run a client again and again while the server is there."""
    pause_s = PAUSE_S
    while serve.is_running:
        environ = {SECRET_VARIABLE: secret} if secret else {}
        fixed = ("play", url, "--name", name, "--silence-s", 200)
        client = world.process(name, *fixed, *words, environ=environ)
        await world.end(client)
        if client.status not in CLIENT_STATUSES:
            world.problem(f"{name}: status {client.status}: {_last(client)}")
        world.blame_if_it_left(client)
        await asyncio.sleep(pause_s)
        pause_s = min(1.5 * pause_s, LONGEST_PAUSE_S)


CLIENT_STATUSES: Final = {
    ExitCode.OK, ExitCode.FAILED, ExitCode.UNREACHABLE, ExitCode.PROTOCOL_FAULT,
    ExitCode.INTERRUPTED,
}  # fmt: skip


async def _until_served(
    world: World, serve: Process, others: Iterable[Awaitable[None]]
) -> list[str]:
    """Wait until the server has ended; return what does not hold."""
    tasks = [asyncio.ensure_future(other) for other in others]
    if not await world.end(serve, within_s=LONGEST_S):
        if not world.excuses(serve):
            world.problem(f"the games were not played within {LONGEST_S:g} s: {_last(serve)}")
        serve.strike("SIGTERM")
        await world.end(serve)
    await asyncio.gather(*tasks)
    folder = world.folder / "logs"
    return [
        *_status(world, serve),
        *_results(world, serve),
        *_records(world, folder),
        *_touched(world, folder, world.foreign),
    ]


async def _ends(serve: Process, after_s: float, name: str) -> None:
    await asyncio.sleep(after_s)
    serve.strike(name)


def _status(world: World, serve: Process) -> Iterator[str]:
    """Yield an exit status that is not as documented (docs/operating.md)."""
    allowed = {ExitCode.OK, ExitCode.FAILED}
    if world.has(*DISK):
        allowed.add(ExitCode.UNREACHABLE)
    if {"SIGINT", "SIGHUP"} & {*serve.signals} or serve.signals.count("SIGTERM") > 1:
        allowed.add(ExitCode.INTERRUPTED)
    if any(re.search(r"game \d+: void", line) for line in serve.printed):
        allowed.discard(ExitCode.OK)
    if serve.status not in allowed:
        yield f"serve: exit status {serve.status}: {_last(serve)}"
    if not world.struck and not serve.signals and serve.status != ExitCode.OK:
        yield f"serve: exit status {serve.status} though nothing went wrong: {_last(serve)}"


def _results(world: World, serve: Process) -> Iterator[str]:
    """Yield games that were lost though nothing had happened to the player that is blamed."""
    if "SIGTERM" in serve.signals:
        later = serve.logged[serve.logged_before["SIGTERM"] :]
        if sum("begins:" in line for line in later) > 1:
            yield "games begin after SIGTERM"
    for line in serve.logged:
        for name in world.departed if "begins:" in line else ():
            if f" {name} (" in line:
                yield f"a game begins with {name}, who had left: {line.strip()}"
    for line in "".join(serve.printed).splitlines():
        is_lost = re.search(r"game \d+: void|\d fault", line)
        is_excused = any(name in line for name in world.blamed) or world.excuses(serve)
        if is_lost and not is_excused:
            yield f"a game was lost by a fault of ours: {line}"


def _records(world: World, folder: Path) -> Iterator[str]:
    """Yield files that are damaged, but for what docs/security.md names."""
    torn = [*_torn(world, folder)]
    ledger = folder / LEDGER
    if world.has(*DISK) and ledger.exists() and ledger.read_bytes() == TORN:  # never opened
        torn.append(lambda problem: problem.startswith(LEDGER))
    for problem in damage(folder):
        may_be = world.has("read-only") and ".unfinished" in problem  # not to be removed
        if not (may_be or problem.startswith(FOREIGN) or any(one(problem) for one in torn)):
            yield problem
    yield from _pruned(world, folder)


def _pruned(world: World, folder: Path) -> Iterator[str]:
    """Yield records that were removed before older ones, by the order in which they were closed."""
    if world.has("gone"):
        return
    for process in sorted({name for name, _ in world.disk.closed}):
        closed = [path for name, path in world.disk.closed if name == process]
        records = [path for path in closed if path.suffix == ".mjson" and folder in path.parents]
        order = list(dict.fromkeys(reversed(records)))  # a name may be taken again
        if order and not order[0].exists():
            yield f"{process} has removed its newest record: {order[0].name}"
        elif not world.has(*DISK):  # a file that cannot be removed stays
            for newer, older in pairwise(order):
                if older.exists() and not newer.exists():
                    yield f"{process} has removed {newer.name} and kept the older {older.name}"


def _torn(world: World, folder: Path) -> Iterator[Callable[[str], object]]:
    """Yield, for each file whose torn last line could not be cut away, what matches its problems.

    A file system that becomes read-only between a write that a full disk took half and the
    truncation leaves nothing that a program can do.
    """
    for path in world.disk.uncut:
        if path.exists() and path.is_relative_to(folder):
            last = path.read_bytes().count(b"\n") + 1
            ending = rf"(the last line is torn: |(.*: )?line {last}: .*truncated(; .*)?$)"
            yield re.compile(re.escape(f"{path.relative_to(folder)}: ") + ending).match


def _foreign_files(folder: Path) -> dict[str, bytes]:
    files = {name: f"the user's own {name}\n".encode() for name in FOREIGN}
    for name, text in files.items():
        (folder / name).write_bytes(text)
    return files


def _touched(world: World, folder: Path, foreign: dict[str, bytes]) -> Iterator[str]:
    """Yield files of others that were changed or removed."""
    for name, text in foreign.items():
        path = folder / name
        if not world.has("gone") and (not path.exists() or path.read_bytes() != text):
            yield f"a file of others was changed or removed: {name}"


def _last(process: Process) -> str:
    return "".join([*process.printed, *process.logged][-3:]).strip()[-400:]


def _token(world: World, name: str) -> Path:
    path = world.folder / f"{name}.token"
    path.write_text(f"token-{name}\n")
    return path


async def _reads_pages(world: World, serve: Process) -> None:
    """Read the pages of the tables, and the board of a finished game, as a browser does."""
    paths = ["/", "/tables", "/metrics"]
    while serve.is_running:
        for path in paths:
            status, body = await _page(path)
            if status not in (0, 200):
                world.problem(f"GET {path}: status {status}")
            if path == "/tables" and status == 200:
                played = [one for one in json.loads(body)["results"] if one["record"]]
                boards = [f"/board/{one['table']}/{one['record']}" for one in played[-1:]]
                paths = ["/", "/tables", "/metrics", *boards]
        await asyncio.sleep(30.0)


async def _page(path: str) -> tuple[int, bytes]:
    """Return status and body of a page; 0 where the connection broke."""
    with contextlib.suppress(OSError, asyncio.IncompleteReadError, TimeoutError):
        async with asyncio.timeout(30):
            reader, writer = await asyncio.open_connection("127.0.0.1", PAGE)
            try:
                head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{PAGE}\r\nConnection: close\r\n\r\n"
                writer.write(head.encode())
                lines, _, body = (await reader.read(-1)).partition(b"\r\n\r\n")
                return (int(lines.split()[1]), body) if body else (0, b"")
            finally:
                writer.close()
    return 0, b""


async def _serves_on(world: World, folder: Path) -> None:
    """Run a server again and again, as systemd does."""
    walls = WALLS[world.schedule.seed % len(WALLS)]
    while True:
        words = ("--port", LINES, "--games", 2, "--rules", SHORT, "--on-fault", "default")
        accounts = ("--accounts", world.folder / "accounts", "--seed", walls)
        records = ("--log-dir", folder / "served", "--tables-port", PAGE)
        server = world.process("serve", "serve", *words, *accounts, *records)
        await world.end(server)
        await asyncio.sleep(PAUSE_S)


def _write_profile(
    world: World, name: str, token: Path, folder: Path, *, games: int, is_broken: bool = False
) -> Path:
    """Write the profile of a bot, as a user does."""
    opens = datetime.fromtimestamp(EPOCH_S) + timedelta(minutes=5)
    seed, path = world.schedule.seed, world.folder / f"{name}.toml"
    hours = f"{opens:%H:%M}-{opens + timedelta(hours=9):%H:%M}"
    path.write_text(
        f"""
[server]
url = "ws://127.0.0.1:{FRAMES}/ws"
name = "{name}"
token_file = "{_token(world, name)}"
[bot]
strategy = "{"no-such-strategy" if is_broken else "fast-riichi-a"}"
{'fallback = "tsumogiri"' if seed % 2 else ""}
[play]
games = {games}
{f'hours = "{hours}"' if seed % 5 == 0 else ""}
on_version_change = "retry"
[connection]
longest_pause_s = 60
[logs]
log = "{folder / name}.log"
folder = "{folder}"
evidence = {"true" if seed % 3 else "false"}
keep_games = {seed % 2}
status = "{folder / name}.json"
"""
    )
    return path
