"""All checks of a server that speaks the original server's lines, as its four clients."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from mjbot.check.catalogue import SERVER_CHECKS
from mjbot.check.four_clients import Connect, Decide, Heard, bare, play_table
from mjbot.check.report import Findings, Transcript
from mjbot.table.mirror.mirror import Table, TableError
from protocol.codec import encode
from protocol.dialects import LOCKSTEP
from protocol.errors import ProtocolError
from protocol.masking import masked
from protocol.messages import (
    Chi,
    Dahai,
    Daiminkan,
    EndGame,
    Event,
    Hora,
    Join,
    PlayerAction,
    Pon,
    Reach,
    ReachAccepted,
    Ryukyoku,
    Skip,
    StartKyoku,
    Tsumo,
)
from protocol.transports.base import Transport, TransportError, VanishedError

JOIN_S: Final = 10.0
"""How long a server may take to refuse a join, or to say that it is busy."""
_MOST_DRAWS: Final = 70
_BAD_JOINS: Final = (
    b'{"type":"join","name":"check","room":"no such room"}',
    b'{"type":"join","name":"","room":"default"}',
    b'{"type":"start_game","id":0}',
    b"[]",
    b"hello?",
)


@dataclass(frozen=True, kw_only=True)
class ServerSettings:
    """What is wanted: ``ids`` (empty: all), and the room that clients name."""

    ids: frozenset[str] = frozenset()
    room: str = "default"
    on_scene: Callable[[str], None] = lambda name: None


async def check_server(connect: Connect, settings: ServerSettings) -> Findings:
    """Join a server as four clients, game after game; return what was noticed."""
    return await _Checking(connect, settings).run()


class _Checking:
    def __init__(self, connect: Connect, settings: ServerSettings) -> None:
        self._connect: Final = connect
        self._settings: Final = settings
        self.findings: Final = Findings()

    async def run(self) -> Findings:
        if self._wants("S02"):
            await self._join_badly()
        if not await self._play_whole_game():
            for check in SERVER_CHECKS:
                self.findings.skip(check.id, "not reached: it does not play a game with us")
            return self.findings
        for id_, name, decide in _MISDEEDS:
            if self._wants(id_):
                await self._misbehave(id_, name, decide)
        return self.findings

    def _wants(self, id_: str) -> bool:
        return not self._settings.ids or id_ in self._settings.ids

    # --- joining -----------------------------------------------------------------------------

    async def _join_badly(self) -> None:
        for line in _BAD_JOINS:
            transcript = Transcript(f"a bad join: {line.decode()}")
            problem = await self._refusal(line, transcript)
            self.findings.occasion("S02")
            if problem:
                self.findings.add("S02", f"{line.decode()}: {problem}", transcript)

    async def _refusal(self, line: bytes, transcript: Transcript) -> str:
        """Join with a line that is none; return what is wrong with what follows."""
        try:
            async with await self._connect() as transport:
                transcript.said(await transport.receive(JOIN_S))
                transcript.heard(line)
                await transport.send(line)
                answer = await transport.receive(JOIN_S)
                transcript.said(answer)
                return "" if b'"error"' in answer else "it is not refused by an error"
        except VanishedError:
            return ""  # closed without a word: nothing demands one
        except (TransportError, ProtocolError) as error:
            return str(error)

    async def _fifth(self, started: asyncio.Event) -> None:
        """Join a game that has begun."""
        await started.wait()
        transcript = Transcript("a fifth join")
        join = encode(Join(name="fifth", room=self._settings.room), LOCKSTEP)
        self.findings.occasion("S03")
        if problem := await self._refusal(join, transcript):
            self.findings.add("S03", f"a fifth join: {problem}", transcript)

    # --- a whole game ------------------------------------------------------------------------

    async def _play_whole_game(self) -> bool:
        self._settings.on_scene("a whole game")
        transcript = Transcript("a whole game of four clients")
        started = asyncio.Event()
        fifth = asyncio.create_task(self._fifth(started))
        connect = _starting(self._connect, started)
        four = await play_table(connect, self._settings.room, transcript, {1: _odd_speller()})
        if not self._wants("S03") or not started.is_set():
            fifth.cancel()
        await asyncio.wait({fifth})
        self._note_game(four, transcript)
        return all(heard.events for heard in four)

    def _note_game(self, four: Sequence[Heard], transcript: Transcript) -> None:
        for heard in four:
            for id_, text in heard.problems:
                self.findings.add(id_, text, transcript)
        self.findings.occasion("S01")
        if not all(heard.greeted for heard in four):
            self.findings.add("S01", "the first line is no hello of mjsonp", transcript)
        if not all(heard.events for heard in four):
            return
        for id_ in ("S04", "S06", "S11"):
            self.findings.occasion(id_)
        for _ in range(sum(heard.compared for heard in four)):
            self.findings.occasion("S07")
        stopped = any(heard.problems for heard in four)
        if not stopped:
            self._note_end(four, transcript)
        seats = sorted(four, key=lambda heard: heard.seat)
        for id_, problem in _compared(seats, whole=not stopped):
            self.findings.add(id_, problem, transcript)
        for id_ in ("S05", "S12"):
            self.findings.occasion(id_)
        self._note_claims(seats, transcript)

    def _note_end(self, four: Sequence[Heard], transcript: Transcript) -> None:
        self.findings.occasion("S19")
        self.findings.occasion("S15")
        ends = [heard.events[-1] for heard in four]
        odd = [heard for heard in four if f"player {four[1].seat}'s" in heard.error]
        if odd:
            problem = f"JSON that is spelled otherwise is refused: {odd[0].error}"
            self.findings.add("S15", problem, transcript)
        elif not all(isinstance(end, EndGame) for end in ends) or len(set(ends)) > 1:
            problem = f"not all four hear the same end_game: {four[0].error or ends}"
            self.findings.add("S19", problem, transcript)

    def _note_claims(self, seats: Sequence[Heard], transcript: Transcript) -> None:
        for place in range(min(len(heard.replies) for heard in seats) - 1):
            if not isinstance(seats[0].events[place], Dahai):
                continue
            claims = [heard.replies[place] for heard in seats]
            after = [event for event in seats[0].events[place + 1 : place + 3]]
            made = [claim for claim in claims if not isinstance(claim, Skip)]
            if not made:
                continue
            self.findings.occasion("S10")
            if problem := _wrong_claim(made, after):
                self.findings.add("S10", problem, transcript)

    # --- what is not allowed -----------------------------------------------------------------

    async def _misbehave(self, id_: str, name: str, make: Callable[[], Decide]) -> None:
        self._settings.on_scene(name)
        transcript = Transcript(name)
        try:
            four = await play_table(self._connect, self._settings.room, transcript, {1: make()})
        except TransportError:
            return self.findings.skip(id_, "the server plays no further game")
        if not all(heard.events for heard in four):
            return self.findings.skip(id_, "the server plays no further game")
        self.findings.occasion(id_)
        others = [heard for number, heard in enumerate(four) if number != 1]
        culprit = four[1]
        for heard in others:
            if heard.silent:
                self.findings.add(id_, "the others hear nothing more", transcript)
            elif id_ in _UNDONE and _UNDONE[id_](culprit.seat, heard.events):
                self.findings.add(id_, f"{name}: it was carried out", transcript)
            elif (
                id_ in _NAMES
                and "player " in heard.error
                and f"player {culprit.seat}'s" not in heard.error
            ):
                self.findings.add(id_, f"another is blamed: {heard.error}", transcript)


def _starting(connect: Connect, started: asyncio.Event) -> Connect:
    """Tell when the fourth has been connected for a line: the game then begins."""
    count = 0

    async def connect_and_count() -> Transport:
        nonlocal count
        transport = await connect()
        count += 1
        if count == 4:
            asyncio.get_running_loop().call_soon(started.set)
        return transport

    return connect_and_count


# --- what four heard -------------------------------------------------------------------------


def _compared(seats: Sequence[Heard], *, whole: bool) -> list[tuple[str, str]]:
    """Hold against each other what the four heard, in the order of their seats."""
    if [heard.seat for heard in seats] != [0, 1, 2, 3]:
        return [("S05", f"the seats are {[heard.seat for heard in seats]}")]
    if whole and len({len(heard.events) for heard in seats}) > 1:
        return [("S05", f"they heard {[len(heard.events) for heard in seats]} events")]
    table, draws = Table(None), 0
    for place in range(min(len(heard.events) for heard in seats)):
        told = [bare(heard.events[place]) for heard in seats]
        event = _opened(told)
        for seat, said in enumerate(told):
            # What a seat is told beyond its mask is a leak, and told as one.
            if not isinstance(event, _OWN) and bare(masked(event, seat)) != masked(said, seat):
                return [("S05", f"seat {seat} hears {said!r}, another {event!r}")]
        draws = 0 if isinstance(event, StartKyoku) else draws + isinstance(event, Tsumo)
        if draws > _MOST_DRAWS:
            return [("S12", f"{draws} tiles are drawn in one kyoku")]
        try:
            table.apply(event)
        except TableError as error:
            return [("S12", str(error))] if whole else []
    return []


_OWN: Final = (EndGame,)


def _opened(told: Sequence[Event]) -> Event:
    """Return an event as somebody sees it who sees all hands."""
    first = told[0]
    if isinstance(first, Tsumo):
        return told[first.actor]
    if isinstance(first, StartKyoku):
        deals = [said for said in told if isinstance(said, StartKyoku)]
        if len(deals) == 4:
            a, b, c, d = (deal.tehais[seat] for seat, deal in enumerate(deals))
            return StartKyoku(
                bakaze=first.bakaze, kyoku=first.kyoku, honba=first.honba, kyotaku=first.kyotaku,
                oya=first.oya, dora_marker=first.dora_marker, scores=first.scores,
                tehais=(a, b, c, d),
            )  # fmt: skip
    return first


def _wrong_claim(claims: Sequence[PlayerAction], after: Sequence[Event]) -> str:
    """Return how a server chose wrongly among the claims of one tile."""
    chosen = next((event for event in after if not isinstance(event, ReachAccepted)), None)
    if chosen is None or isinstance(chosen, Ryukyoku):
        return ""
    for kinds in ((Hora,), (Pon, Daiminkan), (Chi,)):
        if any(isinstance(claim, kinds) for claim in claims):
            right = isinstance(chosen, kinds)
            return "" if right else f"{claims!r} were claimed, and then came {chosen!r}"
    return ""


# --- four clients, one of which misbehaves ---------------------------------------------------


def _usual(event: Event, legal: list[PlayerAction]) -> PlayerAction:
    for said in legal:
        if isinstance(said, Dahai):
            return next((one for one in legal if isinstance(one, Dahai) and one.tsumogiri), said)
    return Skip()


def _odd_speller() -> Decide:
    """Says what is legal in JSON as the standard allows it, but nobody writes it."""

    def decide(event: Event, legal: list[PlayerAction]) -> bytes:
        line = encode(_usual(event, legal), LOCKSTEP)
        return b" " + line.replace(b'":', b'" : ').replace(b'"type"', b'"\\u0074ype"') + b" \r"

    return decide


def _at_turn(say: Callable[[Tsumo], PlayerAction | bytes | None]) -> Callable[[], Decide]:
    """Do something else at the first own draw."""

    def make() -> Decide:
        def decide(event: Event, legal: list[PlayerAction]) -> PlayerAction | bytes | None:
            is_turn = isinstance(event, Tsumo) and event.pai != "?" and legal
            return say(event) if is_turn and isinstance(event, Tsumo) else _usual(event, legal)

        return decide

    return make


def _twice(event: Tsumo) -> bytes:
    line = encode(Dahai(actor=event.actor, pai=event.pai, tsumogiri=True), LOCKSTEP)
    return line + b"\n" + line


_MISDEEDS: Final[tuple[tuple[str, str, Callable[[], Decide]], ...]] = (
    ("S08", "a win without a hand",
     _at_turn(lambda event: Hora(actor=event.actor, target=event.actor, pai=event.pai))),
    ("S09", "a riichi without tenpai", _at_turn(lambda event: Reach(actor=event.actor))),
    ("S16", "two lines for one", _at_turn(_twice)),
    ("S18", "a client closes its line", _at_turn(lambda event: None)),
)  # fmt: skip


def _happened(kind: type[Event]) -> Callable[[int, Sequence[Event]], bool]:
    """Whether an event of a kind came from a seat in the first kyoku."""

    def happened(seat: int, events: Sequence[Event]) -> bool:
        return any(isinstance(one, kind) and getattr(one, "actor", None) == seat for one in events)

    return happened


_NAMES: Final = ("S08", "S16")
_UNDONE: Final = {"S08": _happened(Hora), "S09": _happened(Reach)}
