"""Proof on offers: what Tenhou's server offered its clients is what our rules allow, exactly.

In the recorded sessions the server marks each discard, added kan and own draw with what the
client may do: pon, chi, open kan, ron, win by draw, riichi, nine terminals.  It also lights a
furiten lamp.  Both are compared with our legal actions at every such tag.
"""

import argparse
import sys
import time
import zipfile
from pathlib import Path
from typing import Final

from mjbot.records.mjlog_tags import THREE_PLAYERS, Tag
from mjbot.table.actions import Action
from mjbot.table.legal import is_furiten
from mjbot.table.mirror.mirror import Table, TableError
from proof.records import Findings, print_table, shared_folder
from proof.wire import WireReader, absolute, own_seat, received_tags
from protocol.messages import Dahai, Event, Hora, Kakan, Tsumo
from protocol.tiles import TILE_BY_NAME, tile_kind

PARLOUR: Final = 0x0E00
CLAIM_BITS: Final = {"pon": 1, "daiminkan": 2, "chi": 4, "ron": 8}
OWN_TURN_BITS: Final = (("tsumo", 16), ("nine terminals", 64), ("riichi", 32))
BIT_NAMES: Final = {1: "pon", 2: "open kan", 4: "chi", 8: "ron", 16: "win by draw"} | {
    32: "riichi",
    64: "nine terminals",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof offers``."""
    parser.add_argument("--limit", type=int, default=None, help="only the first N sessions")
    parser.add_argument("--data", type=Path, default=None, help="the zip of sessions")


def run(args: argparse.Namespace) -> int:
    """Check all sessions, print the table, return 1 if any offer differs."""
    path = args.data or shared_folder() / "data" / "tenhou-wire" / "sessions-2018.zip"
    start = time.monotonic()
    findings = Findings()
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.endswith(".log")]
            for name in names[: args.limit]:
                check_session(archive.read(name).decode(), name, findings)
    except OSError as error:
        print(f"proof: {error.filename}: {error.strerror}; see --data", file=sys.stderr)
        return 3
    print_table(findings, time.monotonic() - start)
    return 1 if findings.mismatches else 0


def check_session(session: str, name: str, findings: Findings) -> None:
    """Check one client's session."""
    observer = _Observer(name, findings)
    for tag in received_tags(session):
        observer.observe(tag)


class _Observer:
    """Follows the tags of one session at the client's seat."""

    def __init__(self, name: str, findings: Findings) -> None:
        self._name = name
        self._findings = findings
        self._reader = WireReader()
        self._table = Table(strict=True)
        self._own = -1  # unknown, or this hand cannot be followed
        self._lamp = False
        self._usual_rules = True

    def observe(self, tag: Tag) -> None:
        """Take in one tag and compare what it offers."""
        match tag.name:
            case "GO":
                self._own = -1
                self._usual_rules = not tag.integer("type") & (PARLOUR | THREE_PLAYERS)
            case "INIT":
                self._start_hand(tag)
            case "REINIT" | "SAIKAI":
                self._own = -1  # a snapshot does not tell the order of events
            case "FURITEN":
                self._lamp = tag["show"] == "1"
        if self._own >= 0:
            self._follow(tag)

    def _start_hand(self, tag: Tag) -> None:
        if self._own < 0:
            self._reader, self._table = WireReader(), Table(strict=True)
        self._own = own_seat(tag) if self._usual_rules else -1
        self._lamp = False

    def _follow(self, tag: Tag) -> None:
        try:
            for event in self._reader.read(absolute(tag, self._own)):
                if self._is_swap(event):
                    return
                self._table.apply(event)
                self._check_lamp(event)
                self._findings.checked["events"] += 1
                self._findings.checked["wins"] += isinstance(event, Hora)
                self._check_offer(tag, event)
        except (TableError, ValueError) as error:
            self._own = -1
            self._findings.mismatches.append(f"{self._name}: line {tag.number}: {error}")

    def _is_swap(self, event: Event) -> bool:
        """Whether the client discards a kuikae tile, which the server of 2018 let it do."""
        state = self._table.state
        if not isinstance(event, Dahai) or event.actor != self._own:
            return False
        if not int(state["kuikae"]) >> tile_kind(TILE_BY_NAME[event.pai]) & 1:
            return False
        self._own = -1
        self._findings.checked["known difference: kuikae discard, which the server let pass"] += 1
        return True

    def _check_lamp(self, event: Event) -> None:
        """Once somebody draws, the lamp shows what the last discard left of the own furiten."""
        if isinstance(event, Tsumo):
            ours = bool(is_furiten(self._table.state, self._own))
            self._expect("furiten lamp", ours, self._lamp)

    def _check_offer(self, tag: Tag, event: Event) -> None:
        offered = tag.integer("t") if "t" in tag.attributes else 0
        legal = self._table.legal(self._own)
        if isinstance(event, Tsumo) and event.actor == self._own:
            ours = _own_turn_bits(legal)
        elif isinstance(event, Dahai | Kakan) and event.actor != self._own:
            ours = sum({CLAIM_BITS[action.name] for action in legal if action.name != "pass"})
        else:
            return
        self._expect("offers", ours, offered)
        for bit, name in BIT_NAMES.items():
            self._findings.checked[f"offered {name}"] += bool(ours & bit)

    def _expect(self, what: str, ours: object, told: object) -> None:
        if ours != told:
            raise ValueError(f"{what}: ours {ours}, the server's {told}")
        self._findings.checked[what] += 1


def _own_turn_bits(legal: tuple[Action, ...]) -> int:
    """The server of 2018 named one choice only, the dearest first."""
    names = {action.name for action in legal}
    return next((bit for name, bit in OWN_TURN_BITS if name in names), 0)
