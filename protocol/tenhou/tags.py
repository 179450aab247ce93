"""Every tag of Tenhou's wire that a player's conversation needs, one frozen type each.

Attribute names are the wire's, seats are relative to the receiver (0 itself, 1 right, 2 across,
3 left), tiles are ids (:mod:`mjbot.protocol.tenhou.tiles`), scores are in hundreds.  ``None`` in an
optional field means that the attribute is absent.  The order of the fields is the order in which
Tenhou writes the attributes.  Spectating is not spoken here.
"""

from typing import Annotated, Final

import msgspec
from msgspec import Meta, field

LARGEST: Final = 10_000_000
"""Of any number on the wire: points are in hundreds, and all else is far smaller."""

Number = Annotated[int, Meta(ge=-LARGEST, le=LARGEST)]
WireCount = Annotated[int, Meta(ge=0, le=LARGEST)]
TileId = Annotated[int, Meta(ge=0, le=135)]
RelativeSeat = Annotated[int, Meta(ge=0, le=3)]
Tiles = tuple[TileId, ...]
FourNumbers = tuple[Number, Number, Number, Number]
Pairs = Annotated[tuple[Number, ...], Meta(min_length=8, max_length=16)]
"""By seat: score before and change.  A three-player draw was seen with eight empty ones more."""
Calls = tuple[Annotated[int, Meta(ge=0, le=0xFFFF)], ...]
RiverTile = Annotated[int, Meta(ge=0, le=255)]
Echoed = Annotated[str, Meta(pattern=r'^[^"<>\x00]*$')]
"""Text that the client sends back, so it must fit into an attribute."""
Seed = tuple[
    Annotated[int, Meta(ge=0, le=15)],
    Annotated[int, Meta(ge=0, le=10_000)],
    Annotated[int, Meta(ge=0, le=10_000)],
    Annotated[int, Meta(ge=0, le=5)],
    Annotated[int, Meta(ge=0, le=5)],
    TileId,
]
"""Kyoku (East 1 is 0, South 1 is 4), honba, riichi sticks, two dice less one, dora indicator."""


class Tag(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A tag; in a plain tag an unknown attribute is an error."""


class OpenTag(Tag, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """A tag around the game, in which new attributes appear over the years; they are ignored."""


class Other(Tag, frozen=True, kw_only=True):
    """A tag of an unknown name, where a lenient reader lets it pass."""

    name: str


# --- what the server sends around a game --------------------------------------------------------


class ServerHelo(OpenTag, frozen=True, kw_only=True):
    """The login is accepted.  ``auth`` was sent until December 2020, and is to be answered."""

    uname: str = ""
    auth: Echoed | None = None
    nintei: str | None = None
    pf3: str | None = field(default=None, name="PF3")
    pf4: str | None = field(default=None, name="PF4")
    expire: str | None = None
    expiredays: str | None = None
    ratingscale: str | None = None
    rr: str | None = None


class Users(OpenTag, frozen=True, kw_only=True):
    """``LN``: how many are online, wait and play, in a coding of its own."""

    n: str = ""
    j: str = ""
    g: str = ""


class Rejoin(OpenTag, frozen=True, kw_only=True):
    """No table has formed; a client that still requests one sends ``JOIN`` with this ``t``."""

    t: Echoed


class Ranking(OpenTag, frozen=True, kw_only=True):
    """Where an account stands; without effect on a game."""

    v2: str | None = None


class ServerChat(OpenTag, frozen=True, kw_only=True):
    """Chat, or the answer to a change of lobby."""

    uname: str | None = None
    text: str | None = None
    lobby: str | None = None


class ServerEcho(OpenTag, frozen=True, kw_only=True):
    """The answer to a client's ``ECHO``."""


class Go(OpenTag, frozen=True, kw_only=True):
    """A table has formed.  ``type`` is its rules, ``gpid`` lets a guest come back to it."""

    type: WireCount
    lobby: Number = 0
    gpid: Echoed | None = None


class Names(OpenTag, frozen=True, kw_only=True):
    """``UN``: the players, percent-encoded.  One name alone is a player that has come back."""

    n0: str | None = None
    n1: str | None = None
    n2: str | None = None
    n3: str | None = None
    dan: str | None = None
    rc: str | None = None
    gold: str | None = None
    rate: str | None = None
    sx: str | None = None

    @property
    def all(self) -> tuple[str | None, ...]:
        """The four names by relative seat."""
        return self.n0, self.n1, self.n2, self.n3


class Taikyoku(OpenTag, frozen=True, kw_only=True):
    """The first dealer, absolute seat 0."""

    oya: RelativeSeat
    log: str | None = None


class Saikai(OpenTag, frozen=True, kw_only=True):
    """The receiver is back at a table; ``ba`` counts honba and sticks."""

    ba: tuple[WireCount, WireCount]
    oya: RelativeSeat
    sc: Pairs


class Profile(OpenTag, frozen=True, kw_only=True):
    """``PROF``: the receiver's own result.

    ``add``: points; first, second, third, fourth, bust as 0 or 1; hands, wins, deal-ins, hands
    with calls, riichi.
    """

    lobby: Number = 0
    type: WireCount = 0
    add: str = ""


class ServerBye(OpenTag, frozen=True, kw_only=True):
    """A player has left; the server plays for it."""

    who: RelativeSeat


# --- what the server sends in a hand ------------------------------------------------------------


class Init(Tag, frozen=True, kw_only=True):
    """A deal; ``hai`` are the receiver's thirteen tiles."""

    seed: Seed
    ten: FourNumbers
    chip: FourNumbers | None = None
    oya: RelativeSeat
    hai: Annotated[Tiles, Meta(min_length=13, max_length=13)]


class RecordedInit(Tag, frozen=True, kw_only=True):
    """A deal in a record, where the hands of all seats are open; ``hai3`` is empty with three."""

    seed: Seed
    ten: FourNumbers
    chip: FourNumbers | None = None
    oya: RelativeSeat
    hai0: Annotated[Tiles, Meta(min_length=13, max_length=13)]
    hai1: Annotated[Tiles, Meta(min_length=13, max_length=13)]
    hai2: Annotated[Tiles, Meta(min_length=13, max_length=13)]
    hai3: Annotated[Tiles, Meta(max_length=13)]


class Reinit(Tag, frozen=True, kw_only=True):
    """A hand as it stands, for a player that has come back.

    ``m0..m3`` are calls, ``kawa0..kawa3`` rivers without the tiles that were called; in them 255
    means that the next tile declared riichi.
    """

    seed: Seed
    ten: FourNumbers
    chip: FourNumbers | None = None
    oya: RelativeSeat
    hai: Annotated[Tiles, Meta(min_length=1, max_length=14)]
    m0: Calls | None = None
    m1: Calls | None = None
    m2: Calls | None = None
    m3: Calls | None = None
    kawa0: tuple[RiverTile, ...] | None = None
    kawa1: tuple[RiverTile, ...] | None = None
    kawa2: tuple[RiverTile, ...] | None = None
    kawa3: tuple[RiverTile, ...] | None = None


class DrawTag(Tag, frozen=True, kw_only=True):
    """``T`` and an id, ``U``, ``V``, ``W``: a draw; only the receiver's own shows its tile."""

    seat: RelativeSeat
    tile: TileId | None = None
    t: WireCount | None = None


class DiscardTag(Tag, frozen=True, kw_only=True):
    """``D``, ``E``, ``F``, ``G`` and an id; a small letter means the drawn tile.

    The receiver's own is always a capital.
    """

    seat: RelativeSeat
    tile: TileId
    drawn: bool = False
    t: WireCount | None = None


class MeldTag(Tag, frozen=True, kw_only=True):
    """``N``: a call (:mod:`mjbot.protocol.tenhou.calls`); ``t`` offers to rob a kakan."""

    who: RelativeSeat
    m: Annotated[int, Meta(ge=0, le=0xFFFF)]
    t: WireCount | None = None


class Riichi(Tag, frozen=True, kw_only=True):
    """``REACH``: declared (step 1), or paid for (step 2, with the scores after it)."""

    who: RelativeSeat
    ten: FourNumbers | None = None
    step: Annotated[int, Meta(ge=1, le=2)]


class DoraIndicator(Tag, frozen=True, kw_only=True):
    """``DORA``: one more indicator."""

    hai: TileId


class Furiten(Tag, frozen=True, kw_only=True):
    """The receiver's own furiten lamp."""

    show: Annotated[int, Meta(ge=0, le=1)]


class WinTag(Tag, frozen=True, kw_only=True):
    """``AGARI``; ``sc`` has scores before and changes, ``owari`` ends the game."""

    ba: tuple[WireCount, WireCount]
    hai: Annotated[Tiles, Meta(min_length=2, max_length=14)]
    m: Calls | None = None
    machi: TileId
    ten: tuple[Number, Number, Number]
    yaku: tuple[Number, ...] | None = None
    yakuman: tuple[Number, ...] | None = None
    dora_hai: Tiles = field(name="doraHai")
    dora_hai_ura: Tiles | None = field(default=None, name="doraHaiUra")
    who: RelativeSeat
    from_who: RelativeSeat = field(name="fromWho")
    pao_who: RelativeSeat | None = field(default=None, name="paoWho")
    sc: Pairs
    owari: str | None = None
    chip: str | None = None
    ratio: str | None = None


class DrawnHandTag(Tag, frozen=True, kw_only=True):
    """``RYUUKYOKU``; without ``type`` the wall is exhausted, ``hai0..3`` are shown hands."""

    type: str | None = None
    ba: tuple[WireCount, WireCount]
    sc: Pairs
    hai0: Tiles | None = None
    hai1: Tiles | None = None
    hai2: Tiles | None = None
    hai3: Tiles | None = None
    owari: str | None = None
    chip: str | None = None
    ratio: str | None = None

    @property
    def hands(self) -> tuple[Tiles | None, ...]:
        """The shown hands by relative seat."""
        return self.hai0, self.hai1, self.hai2, self.hai3


SERVER_TAGS: Final[dict[str, type[Tag]]] = {
    "HELO": ServerHelo,
    "LN": Users,
    "REJOIN": Rejoin,
    "RANKING": Ranking,
    "CHAT": ServerChat,
    "ECHO": ServerEcho,
    "GO": Go,
    "UN": Names,
    "TAIKYOKU": Taikyoku,
    "SAIKAI": Saikai,
    "PROF": Profile,
    "BYE": ServerBye,
    "INIT": Init,
    "REINIT": Reinit,
    "N": MeldTag,
    "REACH": Riichi,
    "DORA": DoraIndicator,
    "FURITEN": Furiten,
    "AGARI": WinTag,
    "RYUUKYOKU": DrawnHandTag,
}
"""The server's tags by name; draws and discards have their tile in the name."""

RECORD_TAGS: Final[dict[str, type[Tag]]] = {
    **{
        name: SERVER_TAGS[name]
        for name in ("GO", "UN", "TAIKYOKU", "N", "REACH", "DORA", "AGARI", "RYUUKYOKU")
    },
    "INIT": RecordedInit,
}
"""What a record (mjlog) has of a game: the server's tags with the hands of all four seats.

Seats are absolute, every draw names its tile, and every discard has a capital letter.
"""


# --- what a client sends ------------------------------------------------------------------------


class ClientHelo(Tag, frozen=True, kw_only=True):
    """Log in.  ``name`` is ``NoName`` for a guest, else a secret that opens the account."""

    name: str
    tid: str | None = None
    sx: str = "M"
    gpid: str | None = None


class Auth(Tag, frozen=True, kw_only=True):
    """The answer to ``HELO auth`` until December 2020."""

    val: str


class AskUsers(Tag, frozen=True, kw_only=True):
    """``PXR``: ask for ``LN``; ``V`` (or ``v``) is whose ranking is on show."""

    v: Number | None = field(default=None, name="V")
    small_v: Number | None = field(default=None, name="v")


class KeepAlive(Tag, frozen=True, kw_only=True):
    """``Z``: still here."""


class ClientEcho(OpenTag, frozen=True, kw_only=True):
    """Ask for an ``ECHO``."""


class JoinTable(Tag, frozen=True, kw_only=True):
    """``JOIN``: request table ``t="lobby,type"`` (``,r`` after ``REJOIN``); none without ``t``."""

    t: str | None = None


class ClientChat(Tag, frozen=True, kw_only=True):
    """Talk; ``/lobby N`` changes the lobby in the old client."""

    text: str


class ChangeLobby(Tag, frozen=True, kw_only=True):
    """``LOBBY`` of the browser client."""

    id: Number


class GoOk(Tag, frozen=True, kw_only=True):
    """``GOK``: has taken note of the table."""


class NextReady(Tag, frozen=True, kw_only=True):
    """Ready for the next deal."""


class ClientBye(Tag, frozen=True, kw_only=True):
    """Leaves."""


class Discarding(Tag, frozen=True, kw_only=True):
    """``D``: discard a tile."""

    p: TileId


class DeclareRiichi(Tag, frozen=True, kw_only=True):
    """``REACH``; the old client names the tile and discards at once, the new one waits."""

    hai: TileId | None = None


class OfferReply(Tag, frozen=True, kw_only=True):
    """``N``: what is done about an offer, or a kan; without a type a pass."""

    type: Annotated[int, Meta(ge=1, le=10)] | None = None
    hai: TileId | None = None
    hai0: TileId | None = None
    hai1: TileId | None = None


CLIENT_TAGS: Final[dict[str, type[Tag]]] = {
    "HELO": ClientHelo,
    "AUTH": Auth,
    "PXR": AskUsers,
    "Z": KeepAlive,
    "ECHO": ClientEcho,
    "JOIN": JoinTable,
    "CHAT": ClientChat,
    "LOBBY": ChangeLobby,
    "GOK": GoOk,
    "NEXTREADY": NextReady,
    "BYE": ClientBye,
    "D": Discarding,
    "REACH": DeclareRiichi,
    "N": OfferReply,
}
"""The client's tags by name."""
