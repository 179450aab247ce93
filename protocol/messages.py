"""Every mjai message, one frozen type each.

Field names are the wire's.  Tiles are wire strings (:mod:`mjbot.protocol.tiles`), seats are
absolute 0..3, scores and deltas are points.  ``None`` in an optional field means that the speaker's
dialect does not have it.  The codec (:mod:`mjbot.protocol.codec`) reads every dialect into these
types and writes the spelling that a dialect demands; nothing above it sees a dict.
"""

from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from mjbot.protocol.tiles import TILE_NAMES

if TYPE_CHECKING:
    Tile = str
else:  # msgspec lets only these 38 names through
    Tile = Literal[TILE_NAMES]
Seat = Annotated[int, msgspec.Meta(ge=0, le=3)]
MOST_POINTS = 1_000_000_000
"""More than any score: what goes beyond it is damage, and two of it still fit into 32 bits."""
MOST_STICKS = 10_000
"""More than a game has kyoku: riichi sticks and honba beyond it are damage."""
WirePoints = Annotated[int, msgspec.Meta(ge=-MOST_POINTS, le=MOST_POINTS)]
Sticks = Annotated[int, msgspec.Meta(ge=0, le=MOST_STICKS)]
FourInts = tuple[WirePoints, WirePoints, WirePoints, WirePoints]
DealtHand = Annotated[tuple[Tile, ...], msgspec.Meta(min_length=13, max_length=13)]
FourHands = tuple[DealtHand, DealtHand, DealtHand, DealtHand]


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """Any message.

    ``can_act`` is false when Mortal's feeder only lets its bot catch up: apply it and send
    nothing.
    """

    can_act: bool = True


class PlayerMessage(Message, frozen=True, kw_only=True):
    """Something a player may answer with.  ``log`` is a note for the TCP server's log file."""

    log: str | None = None


class Hint(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entry of ``possible_actions``: an action of which a server may leave anything out.

    ``type`` is the action's wire name; ``None`` stands for an absent field.
    """

    type: str
    reason: str | None = None
    actor: Seat | None = None
    target: Seat | None = None
    pai: Tile | None = None
    consumed: tuple[Tile, ...] | None = None
    tsumogiri: bool | None = None


class Unknown(Message, frozen=True, kw_only=True, tag="?"):
    """A message of an unknown type; only sessions see it, for the reply it is owed."""

    name: str


# --- session ---------------------------------------------------------------------------------


class Hello(Message, frozen=True, kw_only=True, tag="hello"):
    """First line of a TCP server."""

    protocol: str = "mjsonp"
    protocol_version: int = 3


class Join(Message, frozen=True, kw_only=True, tag="join"):
    """A TCP client's answer to hello."""

    name: str
    room: str


class Error(Message, frozen=True, kw_only=True, tag="error"):
    """The speaker gives up; in the TCP dialect the game is void."""

    message: str


class StartGame(Message, frozen=True, kw_only=True, tag="start_game"):
    """``id`` is the receiver's seat; seat 0 is the first dealer.

    ``mjbot_rules`` is the object of :class:`mjbot.protocol.rules.Rules`, from tables of mjbot whose
    rules are not the default ones.  ``kyoku_first`` is akochan's way to announce the length: the
    first kyoku of eight, so 4 for East only.
    """

    id: Seat | None = None
    names: tuple[str, ...] | None = None
    kyoku_first: int | None = None
    mjbot_rules: dict[str, Any] | None = None


class EndGame(Message, frozen=True, kw_only=True, tag="end_game"):
    """``scores`` include the leftover riichi sticks."""

    scores: FourInts | None = None


class RequestAction(Message, frozen=True, kw_only=True, tag="request_action"):
    """RiichiLab asks for a decision; the answer carries the same ``request_id``."""

    request_id: int | None = None
    possible_actions: tuple[Hint, ...] | None = None
    grace_ms: int | None = None
    bank_ms: int | None = None
    deadline_ms: int | None = None


ACK_STATUSES = ("accepted", "rejected", "unparseable", "stale", "defaulted")
"""RiichiLab's verdicts on a reply."""


class ActionAck(Message, frozen=True, kw_only=True, tag="action_ack"):
    """RiichiLab's verdict on a reply; ``status`` is one of :data:`ACK_STATUSES`.

    ``bank_ms`` is what is left of the time bank, ``bank_consumed_ms`` what the reply took of it,
    ``legal_types`` the types of what would have been accepted.
    """

    status: str
    request_id: int | None = None
    elapsed_ms: int | None = None
    bank_consumed_ms: int | None = None
    bank_ms: int | None = None
    reason: str | None = None
    legal_types: tuple[str, ...] | None = None


class ValidationResult(Message, frozen=True, kw_only=True, tag="validation_result"):
    """RiichiLab's verdict on a validation game."""

    passed: bool
    reason: str | None = None


# --- a kyoku ---------------------------------------------------------------------------------


class StartKyoku(Message, frozen=True, kw_only=True, tag="start_kyoku"):
    """Deal.  ``kyotaku`` counts riichi sticks; hands that may not be seen are 13 x ``?``.

    ``num_players`` is how many play where ``start_game`` did not state it: a client's session adds
    it by the lists that it reads.
    """

    bakaze: Tile
    kyoku: Annotated[int, msgspec.Meta(ge=1, le=4)]
    honba: Sticks
    kyotaku: Sticks
    oya: Seat
    dora_marker: Tile
    tehais: FourHands
    scores: FourInts | None = None
    num_players: Annotated[int, msgspec.Meta(ge=3, le=4)] | None = None


class EndKyoku(Message, frozen=True, kw_only=True, tag="end_kyoku"):
    """The kyoku is over and paid."""


class Tsumo(Message, frozen=True, kw_only=True, tag="tsumo"):
    """A draw."""

    actor: Seat
    pai: Tile
    possible_actions: tuple[Hint, ...] | None = None


class Dora(Message, frozen=True, kw_only=True, tag="dora"):
    """One more dora marker is turned."""

    dora_marker: Tile


class ReachAccepted(Message, frozen=True, kw_only=True, tag="reach_accepted"):
    """The riichi stick is paid."""

    actor: Seat
    deltas: FourInts | None = None
    scores: FourInts | None = None


# --- what players do -------------------------------------------------------------------------


class Skip(PlayerMessage, frozen=True, kw_only=True, tag="none"):
    """No reply, or a pass."""

    actor: Seat | None = None


class Dahai(PlayerMessage, frozen=True, kw_only=True, tag="dahai"):
    """A discard; ``tsumogiri`` when it is the tile just drawn."""

    actor: Seat
    pai: Tile
    tsumogiri: bool
    possible_actions: tuple[Hint, ...] | None = None


class Chi(PlayerMessage, frozen=True, kw_only=True, tag="chi"):
    """Call a run from the player to the left."""

    actor: Seat
    target: Seat
    pai: Tile
    consumed: tuple[Tile, Tile]
    cannot_dahai: tuple[Tile, ...] | None = None


class Pon(PlayerMessage, frozen=True, kw_only=True, tag="pon"):
    """Call a triplet."""

    actor: Seat
    target: Seat
    pai: Tile
    consumed: tuple[Tile, Tile]
    cannot_dahai: tuple[Tile, ...] | None = None


class Daiminkan(PlayerMessage, frozen=True, kw_only=True, tag="daiminkan"):
    """Call a quad from a discard."""

    actor: Seat
    target: Seat
    pai: Tile
    consumed: tuple[Tile, Tile, Tile]


class Kakan(PlayerMessage, frozen=True, kw_only=True, tag="kakan"):
    """Add ``pai`` to the pon ``consumed``."""

    actor: Seat
    pai: Tile
    consumed: tuple[Tile, Tile, Tile]
    possible_actions: tuple[Hint, ...] | None = None


class Ankan(PlayerMessage, frozen=True, kw_only=True, tag="ankan"):
    """Declare a concealed quad."""

    actor: Seat
    consumed: tuple[Tile, Tile, Tile, Tile]


class Kita(PlayerMessage, frozen=True, kw_only=True, tag="kita"):
    """Set a north aside, which only three players may; a draw from the dead wall follows."""

    actor: Seat
    pai: Tile


class Reach(PlayerMessage, frozen=True, kw_only=True, tag="reach"):
    """Declare riichi; the discard follows as its own message."""

    actor: Seat
    cannot_dahai: tuple[Tile, ...] | None = None


class Hora(PlayerMessage, frozen=True, kw_only=True, tag="hora"):
    """A win: by draw when ``target == actor``.  The fields after ``pai`` are the server's.

    ``hora_points`` excludes honba and sticks, ``deltas`` include both.  ``yakus`` pairs each
    name with its han; a yakuman counts 100 fan in the TCP dialect.
    """

    actor: Seat
    target: Seat
    pai: Tile | None = None
    pao: Seat | None = None
    uradora_markers: tuple[Tile, ...] | None = None
    hora_tehais: tuple[Tile, ...] | None = None
    yakus: tuple[tuple[str, int], ...] | None = None
    fu: int | None = None
    fan: int | None = None
    hora_points: int | None = None
    deltas: FourInts | None = None
    scores: FourInts | None = None


class ScoresOnly(Message, frozen=True, kw_only=True, tag="hora"):
    """mjai-gateway's ``hora``, which has no winner; no event, sessions use its scores."""

    scores: FourInts


class Ryukyoku(PlayerMessage, frozen=True, kw_only=True, tag="ryukyoku"):
    """A drawn kyoku.  As a player's answer it is the nine-terminals abort.

    ``reason`` is one of :data:`DRAW_REASONS`, another server text, or ``None``.
    """

    actor: Seat | None = None
    reason: str | None = None
    tehais: tuple[tuple[Tile, ...], ...] | None = None
    tenpais: tuple[bool, bool, bool, bool] | None = None
    deltas: FourInts | None = None
    scores: FourInts | None = None


DRAW_REASONS = (
    "fanpai",
    "nagashimangan",
    "kyushukyuhai",
    "sufonrenta",
    "sukaikan",
    "suchareach",
    "sanchaho",
    "error",
)
"""Canonical draw reasons (as in the TCP dialect); the codec maps all other spellings here."""

PlayerAction = Skip | Dahai | Chi | Pon | Daiminkan | Kakan | Ankan | Kita | Reach | Hora | Ryukyoku
Event = (
    StartGame
    | StartKyoku
    | Tsumo
    | Dahai
    | Chi
    | Pon
    | Daiminkan
    | Kakan
    | Ankan
    | Kita
    | Reach
    | ReachAccepted
    | Dora
    | Hora
    | Ryukyoku
    | EndKyoku
    | EndGame
)
"""What happens at a table, in the order in which it happens; what a log is made of."""


def hint(action: PlayerAction) -> Hint:
    """Return the ``possible_actions`` entry with all fields of the action.

    >>> hint(Pon(actor=1, target=0, pai="E", consumed=("E", "E"))).type
    'pon'
    """
    values = msgspec.structs.asdict(action)
    fields = {name: values[name] for name in Hint.__struct_fields__ if name in values}
    return Hint(type=wire_name(action), **fields)


def wire_name(message: Message) -> str:
    """Return the message's ``type`` on the wire."""
    return name_of(type(message))


@cache
def name_of(message_type: type[Message]) -> str:
    """Return the ``type`` on the wire of all messages of a type."""
    return str(message_type.__struct_config__.tag)
