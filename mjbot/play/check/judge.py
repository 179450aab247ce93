"""Judges one reply: the action that it means, or the check that it fails."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from mjbot.game.referee import Referee
from mjbot.game.table.actions import Action
from mjbot.game.table.hands import concealed_tiles
from mjbot.game.table.state import ACCEPTED
from mjbot.play.check.catalogue import CheckVerdict
from mjbot.play.server.offers import ReplyError
from mjbot.play.server.offers import read_reply as read_for_table
from mjbot.protocol.dialects import ARRAYS, LINES, LOCKSTEP, Dialect
from mjbot.protocol.messages import Event, PlayerAction, wire_name
from mjbot.protocol.plain_text import excerpt
from mjbot.protocol.reading import SPELLINGS_OF_KITA
from mjbot.protocol.rules import STICK_POINTS
from mjbot.protocol.sessions.lockstep_server import BadReplyError, read_reply
from mjbot.protocol.sessions.request_server import meant
from mjbot.protocol.sessions.turns import Due, due_after
from mjbot.protocol.tiles import TILE_NAMES, tile_names

MOST_BYTES: Final = 1 << 16
_CALLS: Final = ("chi", "pon", "daiminkan")
_KANS: Final = ("ankan", "kakan", "daiminkan")


@dataclass(frozen=True)
class Owed:
    """The last event sent to a seat, and its possible replies; ``legal`` is empty without a choice.

    ``due`` is what the event requires, ``offers`` the messages of ``legal``; ``may_act`` is
    whether any seat may act on the event.
    """

    dialect: Dialect
    seat: int
    event: Event
    due: Due
    legal: Sequence[Action]
    offers: Sequence[PlayerAction]
    referee: Referee
    may_act: bool

    @classmethod
    def after(
        cls, dialect: Dialect, seat: int, event: Event, referee: Referee, *, may_act: bool
    ) -> "Owed":
        """Return what the seat owes after an event."""
        legal = referee.asked.get(seat, ()) if may_act else ()
        offers = [referee.message(seat, action) for action in legal]
        return cls(dialect, seat, event, due_after(event, seat), legal, offers, referee, may_act)


@dataclass(frozen=True)
class Judgement:
    """``action`` is the choice; ``id``, ``verdict`` and ``problem`` describe what was wrong."""

    action: Action | None = None
    id: str = ""
    problem: str = ""
    verdict: CheckVerdict = CheckVerdict.OK
    occasions: tuple[str, ...] = ()
    is_print: bool = False
    """It was no protocol at all: the reply may still come."""


def judge(owed: Owed, line: bytes) -> Judgement:
    """Return the judgement on a line as the reply."""
    fields = _fields(owed, line)
    if isinstance(fields, Judgement):
        return fields
    action, problem = _accepted(owed, fields, line)
    if problem:
        id_ = failed_check(owed, fields)
        return Judgement(id=id_, problem=f"{excerpt(line)}: {problem}", verdict=CheckVerdict.FAILED)
    if strictness := _not_strict(owed, fields):
        id_, problem = strictness
        text = f"{excerpt(line)}: {problem}"
        return Judgement(action, id_, text, CheckVerdict.NON_STRICT, occasions_of(owed, fields))
    return Judgement(action, occasions=occasions_of(owed, fields))


def _fields(owed: Owed, line: bytes) -> dict[str, Any] | Judgement:
    """Return the fields of a line, or what is wrong with its form."""
    is_value = line.lstrip().startswith((b"{", b"[", b"\xef"))  # the last: a byte order mark
    if owed.dialect in (LINES, ARRAYS) and not is_value:
        problem = f"{excerpt(line)} is no protocol"
        return Judgement(id="B06", problem=problem, verdict=CheckVerdict.FAILED, is_print=True)
    try:
        if len(line) > MOST_BYTES:
            raise ValueError(f"{len(line)} bytes")
        line.decode("utf-8")
        fields = msgspec.json.decode(line, type=dict[str, Any])
        if not isinstance(fields.get("type"), str):
            raise ValueError("no type")
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        problem = f"{excerpt(line)} is no JSON object with a type: {error}"
        return Judgement(id="B05", problem=problem, verdict=CheckVerdict.FAILED)
    return fields


def _accepted(owed: Owed, fields: dict[str, Any], line: bytes) -> tuple[Action | None, str]:
    """Return the action, or what the receivers of this dialect have against it."""
    if owed.dialect is LOCKSTEP:
        try:
            players = owed.referee.rules.players
            reply = read_reply(line, owed.seat, owed.due, wire_name(owed.event), players)
            return read_for_table(owed.referee, owed.seat, reply, owed.legal), ""
        except (BadReplyError, ReplyError) as error:
            return None, str(error)
    if not owed.legal:
        return None, "" if fields["type"] == "none" else "nothing was to be decided"
    choice = meant(fields, owed.offers)
    if choice is None or fields.get("actor", owed.seat) != owed.seat:
        names = dict.fromkeys(wire_name(offer) for offer in owed.offers)
        return None, f"not allowed here, only {' or '.join(names)} of seat {owed.seat} as offered"
    return owed.legal[choice], ""


def _not_strict(owed: Owed, fields: dict[str, Any]) -> tuple[str, str] | None:
    """Return what some receivers might not take of an accepted reply."""
    name = fields["type"]
    if name == "reach" and "pai" in fields:
        return "B12", "reach with a pai: the original server lets it pass, its documents lack it"
    if name == "dahai" and owed.dialect in (LINES, ARRAYS):
        drawn = owed.referee.state["drawn"]
        held = tile_names(concealed_tiles(owed.referee.state, owed.seat))
        only_drawn = held.count(fields["pai"]) == 1 and int(drawn) >= 0
        is_drawn = int(drawn) >= 0 and TILE_NAMES[int(drawn)] == fields["pai"]
        if fields.get("tsumogiri") is not True and only_drawn and is_drawn:
            return "B09", "tsumogiri is not true, but the tile is the drawn one"
    return None


# --- the check that fails --------------------------------------------------------------------


def failed_check(owed: Owed, fields: dict[str, Any]) -> str:
    """Return the id of the check that a refused reply fails."""
    name = fields["type"]
    if owed.dialect in (LINES, ARRAYS) and fields.get("actor", owed.seat) != owed.seat:
        return "B01"  # its seat was an argument when it was started
    if owed.due is Due.TURN:
        return _failed_at_turn(owed, fields)
    if owed.due is Due.DISCARD:
        after_riichi = wire_name(owed.event) == "reach"
        if name != "dahai":
            return "B12" if after_riichi else "B11"
        return _failed_discard(owed, fields) or ("B12" if after_riichi else "B11")
    if name in _CALLS and wire_name(owed.event) in _KANS:
        return "B16"
    if owed.due in (Due.CLAIM, Due.ROB):
        ids = {"chi": "B15", "pon": "B15", "daiminkan": "B17", "hora": "B20"}
        return ids.get(name, "B07")
    return "B07"


def _failed_at_turn(owed: Owed, fields: dict[str, Any]) -> str:
    name = fields["type"]
    in_riichi = int(owed.referee.state["riichi"][owed.seat]) == ACCEPTED
    if name == "dahai":
        return _failed_discard(owed, fields) or ("B14" if in_riichi else "B08")
    if name == "reach":
        return "B13" if _too_poor_or_late(owed) else "B12"
    if name == "ankan" and in_riichi and "pai" not in fields:
        return "B14"
    ids = {"ankan": "B17", "kakan": "B17", "hora": "B20", "ryukyoku": "B21"}
    return (ids | dict.fromkeys(SPELLINGS_OF_KITA, "B34")).get(name, "B10")


def _failed_discard(owed: Owed, fields: dict[str, Any]) -> str | None:
    """Return the fault in tile or ``tsumogiri``, if that is it."""
    state = owed.referee.state
    drawn = int(state["drawn"]) if owed.due is Due.TURN or wire_name(owed.event) == "reach" else -1
    held = list(tile_names(concealed_tiles(state, owed.seat)))
    pai, tsumogiri = fields.get("pai"), fields.get("tsumogiri")
    if fields.get("actor", owed.seat) != owed.seat or pai not in held:
        return "B08"
    if owed.dialect is LOCKSTEP and (
        fields.get("actor") is None or not isinstance(tsumogiri, bool)
    ):
        return "B09" if fields.get("actor") == owed.seat else "B08"
    is_drawn = drawn >= 0 and TILE_NAMES[drawn] == pai
    if tsumogiri is True and not is_drawn and drawn >= 0 and TILE_NAMES[drawn][:2] == pai[:2]:
        return "B08"  # the red five for the other, or the other way round
    if tsumogiri is True and not is_drawn:
        return "B14" if int(state["riichi"][owed.seat]) == ACCEPTED else "B09"
    if tsumogiri is not True and is_drawn and held.count(pai) == 1:
        return "B09"
    return None


def _too_poor_or_late(owed: Owed) -> bool:
    state = owed.referee.state
    is_poor = int(state["scores"][owed.seat]) < STICK_POINTS
    return is_poor or int(state["wall_left"]) < owed.referee.rules.players


def occasions_of(owed: Owed, fields: dict[str, Any]) -> tuple[str, ...]:
    """Return the ids of the checks that an accepted reply has passed."""
    name = fields["type"]
    ids = ["B05"]
    if owed.dialect in (LINES, ARRAYS):
        ids.append("B06")
    if name == "dahai":
        ids += ["B08", "B09"]
        if int(owed.referee.state["riichi"][owed.seat]) == ACCEPTED:
            ids.append("B14")
        before = wire_name(owed.event)
        ids += {"reach": ["B12"], "chi": ["B11"], "pon": ["B11"]}.get(before, [])
    if owed.due is Due.TURN:
        ids.append("B10")
        if _too_poor_or_late(owed):
            ids.append("B13")
    if not owed.legal:
        ids.append("B07")
    if wire_name(owed.event) in _KANS:
        ids.append("B16")
    ids += {
        "chi": ["B15"], "pon": ["B15"], "daiminkan": ["B17"], "ankan": ["B17"], "kakan": ["B17"],
        "hora": ["B20"], "ryukyoku": ["B21"], "kita": ["B34"], "nukidora": ["B34"],
    }.get(name, [])  # fmt: skip
    return tuple(ids)
