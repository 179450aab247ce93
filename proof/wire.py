"""Proof on the wire: our client session in the place of the client of 654 recorded sessions.

It must accept every tag, the table must mirror every hand strictly, an answer must be owed exactly
where one was given, each recorded action must be legal, and what our session writes for it must be
the bytes that were sent.  The server's offers and its furiten lamp are compared with our legal
actions as well.
"""

import argparse
import re
import sys
import time
import zipfile
from pathlib import Path
from typing import Final

from mjbot.game.table.legal import is_furiten
from mjbot.game.table.mirror.mirror import Mirror, TableError
from mjbot.game.table.mirror.wire import to_message
from mjbot.protocol.errors import ProtocolError
from mjbot.protocol.messages import (
    Dahai,
    Event,
    Hora,
    Kakan,
    PlayerAction,
    StartKyoku,
    Tsumo,
    wire_name,
)
from mjbot.protocol.sessions.turns import Due, ReplyDuty
from mjbot.protocol.tenhou import tags
from mjbot.protocol.tenhou.client import TenhouClient, TenhouReceived
from mjbot.protocol.tenhou.codec import (
    CLIENT_TAGS,
    SERVER_TAGS,
    Spelling,
    TagReader,
    tag_name,
    write,
)
from mjbot.protocol.tenhou.hand import ReplyTag, meant
from mjbot.protocol.tenhou.login import Login, TableType, parse_table_type
from mjbot.protocol.tenhou.offers import NO_OFFER, Offer, dearest, offered
from mjbot.protocol.tenhou.tiles import PLAIN_TILES
from mjbot.protocol.tiles import TILE_BY_NAME, tile_kind
from proof.records import RecordFindings, print_table, shared_folder

_TAG: Final = re.compile(r"<[^>]*>")
_GAME: Final = (tags.Discarding, tags.DeclareRiichi, tags.OfferReply)
_CHALLENGE: Final = "20180117-e7b5e83e"
"""Recorded ones are masked; any that is well formed stands in."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof wire``."""
    parser.add_argument("--limit", type=int, default=None, help="only the first N sessions")
    parser.add_argument("--data", type=Path, default=None, help="the zip of sessions")


def run(args: argparse.Namespace) -> int:
    """Check all sessions, print the table, return 1 if anything differs."""
    path = args.data or shared_folder() / "data" / "tenhou-wire" / "sessions-2018.zip"
    start = time.monotonic()
    findings = RecordFindings()
    try:
        with zipfile.ZipFile(path) as archive:
            texts = {name: archive.read(name).decode() for name in sorted(archive.namelist())}
    except OSError as error:
        print(f"proof: {error.filename}: {error.strerror}; see --data", file=sys.stderr)
        return 3
    sessions = {name: text for name, text in texts.items() if "Send: <HELO" in text}
    for name in [*sessions][: args.limit]:
        check_session(sessions[name], name, findings)
    print_table(findings, time.monotonic() - start)
    return 1 if findings.mismatches else 0


def check_session(session: str, name: str, findings: RecordFindings) -> None:
    """Check one client's session: lines ``Get:`` and ``Send:``, each with one tag or more."""
    first = re.search(r'Send: <JOIN t="([^"]*)"', session)
    replay = Replay(findings, parse_table_type(first and first[1]) or TableType())
    findings.checked["sessions"] += 1
    for number, line in enumerate(session.splitlines(), 1):
        side, _, reply = line.partition(": ")
        try:
            for xml in _TAG.findall(reply) if side in ("Get", "Send") else ():
                (replay.from_server if side == "Get" else replay.from_client)(xml)
        except (ProtocolError, TableError, ValueError) as error:
            findings.mismatches.append(f"{name}: line {number}: {error}")
            return


class Replay:
    """One recorded session; raises ``ValueError`` where our session or table differs from it."""

    def __init__(self, findings: RecordFindings, wanted: TableType) -> None:
        self._checked: Final = findings.checked
        self._wanted: Final = wanted
        self._client = TenhouClient(Login(), wanted, Spelling.XML)
        self._table: Mirror | None = None  # None: this hand cannot be followed
        self._received = TenhouReceived()
        self._played = True
        self._sent: list[bytes] = []  # what our session sends by itself
        self._written: list[tuple[ReplyTag, bytes]] = []  # answers of the client, not yet compared

    # --- lines of the server -----------------------------------------------------------------

    def from_server(self, xml: str) -> None:
        """Take in a tag of the server's."""
        (tag,) = TagReader(Spelling.XML, SERVER_TAGS).feed(xml.encode() + b"\0")
        self._checked["tags of the server read"] += 1
        same = write(tag, Spelling.XML) == xml.encode() + b"\0"
        self._checked[
            "tags of the server written again" + ("" if same else " but for a space")
        ] += 1
        if isinstance(tag, tags.ServerHelo) and tag.auth:
            xml = xml.replace('auth="x"', f'auth="{_CHALLENGE}"')
        if isinstance(tag, tags.Go):
            self._played = not tag.type & 0x10
            self._checked["games" if self._played else "games of three players, not played"] += 1
        if not self._played:
            return
        before, owed = self._received.due, self._received.duty is ReplyDuty.MUST
        received = self._client.receive(xml.encode() + b"\0")
        self._received = received
        self._checked["tags taken in by the session"] += 1
        self._sent += received.frames
        if isinstance(tag, tags.Reinit):
            own = "" if self._client.blind else " that are not ours, in the lobby"
            self._checked[f"snapshots of hands{own}"] += 1
        if received.lapsed and owed:
            self._checked[f"owed but not given: {before.name} until {_what(tag)}"] += 1
        for event in received.events:
            self._follow(event)
        if received.events and not received.blind:
            self._check_offer(received)

    def _follow(self, event: Event) -> None:
        if isinstance(event, StartKyoku) and self._table is None:
            self._table = Mirror(self._client.seat)
        if self._table is None:
            return
        if self._is_swap(self._table, event):
            self._table = None
            return
        self._table.apply(event)
        self._checked["events mirrored"] += 1
        self._checked["hands"] += isinstance(event, StartKyoku)
        self._checked["wins"] += isinstance(event, Hora)
        if isinstance(event, Tsumo):
            ours = bool(is_furiten(self._table.state, self._client.seat))
            self._expect("furiten lamp", ours, self._client.furiten)

    def _is_swap(self, table: Mirror, event: Event) -> bool:
        """Whether the client discards a kuikae tile, which the server of 2018 let it do."""
        if not isinstance(event, Dahai) or event.actor != self._client.seat:
            return False
        return bool(int(table.state["kuikae"]) >> tile_kind(TILE_BY_NAME[event.pai]) & 1)

    def _check_offer(self, received: TenhouReceived) -> None:
        last, seat = received.events[-1], self._client.seat
        if self._table is None or not isinstance(last, Tsumo | Dahai | Kakan):
            return
        if isinstance(last, Tsumo) != (last.actor == seat):
            return
        ours = dearest(offered(self._legal()))
        self._expect(
            "offers", ours.name or "nothing", (received.offer or NO_OFFER).name or "nothing"
        )
        for bit in Offer:
            self._checked[f"offered {bit.name}"] += bool(ours & bit)

    def _legal(self) -> list[PlayerAction]:
        seat = self._client.seat
        if self._table is None or seat is None:
            return []
        return [to_message(self._table.state, seat, reply) for reply in self._table.legal(seat)]

    # --- lines of the client -----------------------------------------------------------------

    def from_client(self, xml: str) -> None:
        """Compare the recorded client's tag with that of our session."""
        (tag,) = TagReader(Spelling.XML, CLIENT_TAGS).feed(xml.encode() + b"\0")
        self._checked["tags of the client read"] += 1
        if isinstance(tag, tags.ClientHelo):
            self._log_in(tag)
        elif isinstance(tag, _GAME) and self._played:
            self._check_answer(tag, xml)
        elif isinstance(tag, tags.JoinTable | tags.GoOk | tags.NextReady | tags.Auth):
            self._check_own_tag(tag, xml)

    def _log_in(self, tag: tags.ClientHelo) -> None:
        self._client = TenhouClient(Login(tag.name, tag.sx), self._wanted, Spelling.XML)
        self._received, self._table, self._played = TenhouReceived(), None, True
        self._expect("logins, byte for byte", self._client.open(), (write(tag, Spelling.XML),))
        self._sent = []

    def _check_own_tag(self, tag: tags.Tag, xml: str) -> None:
        """Login, lobby and readiness: our session sends them by itself."""
        name = tag_name(tag)
        ours = [frame for frame in self._sent if frame.startswith(f"<{name} ".encode())]
        if not ours:
            self._checked[f"{name} sent more often than by our session"] += 1
            return
        self._sent.remove(ours[0])
        if not isinstance(tag, tags.Auth):  # recorded ones are masked
            self._expect(f"{name}, byte for byte", ours[0], xml.encode() + b"\0")

    def _check_answer(self, tag: ReplyTag, xml: str) -> None:
        received, client = self._received, self._client
        if received.duty is not ReplyDuty.MUST:
            self._checked[f"sent though not owed: {_what(tag)}"] += 1
            return
        if received.blind and isinstance(tag, tags.DeclareRiichi):
            return  # its discard follows
        where = "an offer" if received.due in (Due.CLAIM, Due.ROB) else "the own turn"
        self._checked[f"owed and given on {where}"] += 1
        if received.blind or self._table is None:
            self._received = client.reply_safely()
            self._checked["answers in hands that are not mirrored"] += 1
            return
        action = self._meant(tag)
        if action is None:
            self._received = client.reply_safely()
            self._written = []
            return
        self._checked[f"legal: {wire_name(action)}"] += 1
        self._received = client.reply(action)
        for event in self._received.events:
            self._table.apply(event)
        self._written.append((tag, xml.encode() + b"\0"))
        if self._received.frames:
            self._check_bytes()

    def _meant(self, tag: ReplyTag) -> PlayerAction | None:
        assert self._table is not None
        names = self._client.tile_names
        if isinstance(tag, tags.Discarding):
            kind = tag.p // 4
            if int(self._table.state["kuikae"]) >> kind & 1:
                self._checked["known difference: kuikae discard, which the server let pass"] += 1
                return None
        return meant(tag, self._legal(), self._client.hand, names)

    def _check_bytes(self) -> None:
        """Our frames are the recorded ones, but for the copy of a tile and a space at the end."""
        written, self._written = self._written, []
        for frame, (tag, theirs) in zip(self._received.frames, written, strict=True):
            (ours,) = TagReader(Spelling.XML, CLIENT_TAGS).feed(frame)
            if frame == theirs:
                self._checked["answers, byte for byte"] += 1
            elif ours == tag:
                self._checked["answers but for a space"] += 1
            elif self._tiles(ours) == self._tiles(tag):
                self._checked[f"answers but for the copy of an equal tile: {_what(tag)}"] += 1
            else:
                raise ValueError(f"answer: ours {frame!r}, the recorded {theirs!r}")

    def _tiles(self, tag: tags.Tag) -> tuple[object, ...]:
        """Return the meaning of a frame, with equal tiles and the four of an ankan as one."""
        names = PLAIN_TILES if getattr(tag, "type", None) == 4 else self._client.tile_names
        reply = [getattr(tag, field, None) for field in ("p", "hai", "hai0", "hai1")]
        tiles = sorted("" if tile is None else names[tile] for tile in reply)
        return type(tag), getattr(tag, "type", None), tiles

    def _expect(self, what: str, ours: object, theirs: object) -> None:
        if ours != theirs:
            raise ValueError(f"{what}: ours {ours}, the recorded {theirs}")
        self._checked[what] += 1


def _what(tag: tags.Tag) -> str:
    name = tag_name(tag)
    letter = name[0] if name[1:].isdigit() else name
    kind = getattr(tag, "type", None)
    return f"{letter} type {kind}" if isinstance(tag, tags.OfferReply) and kind else letter
