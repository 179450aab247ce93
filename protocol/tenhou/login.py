"""Logins at Tenhou."""

from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote_to_bytes

from mjbot.protocol.errors import ProtocolError
from mjbot.protocol.tenhou.game_type import GENERAL_HANCHAN

GUEST: Final = "NoName"


@dataclass(frozen=True)
class Login:
    """An account, or a guest.  ``name`` opens the account: it is a secret, and is not shown.

    ``plays_as_guest`` means that it opens none: a table of our own shows it to the others.
    """

    name: str = field(default=GUEST, repr=False)
    sex: str = "M"
    plays_as_guest: bool = False

    @property
    def is_guest(self) -> bool:
        """Whether it is no account."""
        return self.plays_as_guest or self.name == GUEST


GUEST_LOGIN: Final = Login()


@dataclass(frozen=True)
class TableType:
    """A requested table; ``type`` is a :class:`~mjbot.protocol.tenhou.game_type.GameType`."""

    lobby: int = 0
    type: int = int(GENERAL_HANCHAN)

    def __str__(self) -> str:
        return f"{self.lobby},{self.type}"


def guest_named(name: str) -> Login:
    """Return the login of a guest with a name, which only a table of our own takes.

    >>> guest_named("a b").name
    '%61%20%62'
    """
    return Login(write_name(name), plays_as_guest=True)


def parse_table_type(text: str | None) -> TableType | None:
    """Return what ``JOIN t`` asks for; ``None`` where it takes a wish back.

    >>> parse_table_type("0,9,r"), parse_table_type(None)
    (TableType(lobby=0, type=9), None)
    """
    if text is None:
        return None
    lobby, _, rest = text.partition(",")
    rules, _, again = rest.partition(",")
    try:
        if again not in ("", "r"):
            raise ValueError
        return TableType(int(lobby), int(rules))
    except ValueError:
        raise ProtocolError("JOIN.t", f"expected lobby,type, got {text[:40]!r}") from None


def write_name(name: str) -> str:
    """Return a name as ``UN`` and ``HELO`` spell it: every byte of its UTF-8 by number.

    >>> write_name("a b"), read_name(write_name("打"))
    ('%61%20%62', '打')
    """
    return "".join(f"%{byte:02X}" for byte in name.encode("utf-8", "replace"))


def read_name(text: str) -> str:
    """Return a percent-encoded name."""
    return unquote_to_bytes(text).decode("utf-8", "replace")


# The values are known from clients of before December 2020.
_AUTH_TABLE: Final = (
    63006, 9570, 49216, 45888, 9822, 23121, 59830, 51114, 54831, 4189, 580, 5203, 42174,
    59972, 55457, 59009, 59347, 64456, 8673, 52710, 49975, 2006, 62677, 3463, 17754, 5357,
)  # fmt: skip


def auth_answer(challenge: str) -> str:
    """Return the answer to ``HELO auth``, which servers asked for until December 2020.

    >>> auth_answer("20180117-e7b5e83e"), auth_answer("20160318-54ebe070")
    ('20180117-c1ebb26f', '20160318-72b5ba21')
    """
    date, _, secret = challenge.partition("-")
    try:
        if len(date) != 8 or len(secret) != 8:
            raise ValueError
        index = 2 * (int("2" + date[2:]) % (12 - int(date[7])))
        high, low = int(secret[:4], 16), int(secret[4:], 16)
    except ValueError:
        raise ProtocolError("HELO.auth", "is no date and eight hex digits") from None
    return f"{date}-{high ^ _AUTH_TABLE[index]:2x}{low ^ _AUTH_TABLE[index + 1]:2x}"
