"""The rule set of a game as a value: what may differ between tables (docs/rules.md, section 6).

The defaults are the ranked four-player rules of Tenhou, with ``players`` 3 its ranked three-player
rules.  A rule set is written as TOML, as ``name=value`` pairs on a command line, and as the object
``mjbot_rules`` of ``start_game`` where it differs from the defaults.
"""

import difflib
from collections.abc import Collection, Mapping
from typing import Any, Final, Literal, Self

import msgspec

Length = Literal["tonpu", "hanchan"]

LAST_ROUND: Final[dict[Length, int]] = {"tonpu": 3, "hanchan": 7}
"""The last scheduled round of four players: East 4 or South 4."""

EXTENSION_ROUNDS: Final = 4
"""While no seat has the target, the game is extended by at most one wind, of so many rounds.

A wind has four numbers, however many play: round 2, East 3, of three players is followed by 4.
"""

MOST_POINTS: Final = 1_000_000
STICK_POINTS: Final = 1000
"""What a riichi costs, and what its stick brings to the next winner."""


_OF_PLAYERS: Final[Any] = msgspec.UNSET
"""The default of what follows from the number of players."""
_DEFAULTS: Final[dict[int, dict[str, Any]]] = {
    3: {"start_points": 35_000, "target_points": 40_000, "uma": (20_000, 0, -20_000)},
    4: {
        "start_points": 25_000,
        "target_points": 30_000,
        "uma": (20_000, 10_000, -10_000, -20_000),
    },
}


class Rules(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One rule set.  Points are whole points, ``uma`` is by placement.

    Raises ``ValueError`` for values that no game can be played with.
    """

    length: Length = "hanchan"
    red_fives: bool = True
    """One red five in each suit, or none."""
    open_tanyao: bool = True
    """Whether all simples counts in an open hand."""
    bust: bool = True
    """Whether the game ends when a score is below 0."""
    start_points: int = _OF_PLAYERS
    target_points: int = _OF_PLAYERS
    """What first place needs to end the game after its last scheduled round."""
    uma: tuple[int, ...] = _OF_PLAYERS
    players: int = 4
    """How many play, 3 or 4."""
    tsumo_loss: bool = True
    """Whether the share of the missing fourth player is lost when one of three wins by draw."""
    north_calls: bool = True
    """Whether three players may pon and kan norths that are discarded."""

    def __post_init__(self) -> None:
        if self.players not in _DEFAULTS:
            number = self.players
            raise ValueError(f"players: {number} is not implemented, games have three or four")
        for name, value in _DEFAULTS[self.players].items():
            if getattr(self, name) is _OF_PLAYERS:
                msgspec.structs.force_setattr(self, name, value)
        if len(self.uma) != self.players:
            raise ValueError(f"uma: {list(self.uma)} must have {self.players} values")
        for name in ("start_points", "target_points"):
            value = getattr(self, name)
            if not 0 < value <= MOST_POINTS or value % 100:
                raise ValueError(f"{name}: {value} is not a multiple of 100 up to {MOST_POINTS}")
        if self.target_points < self.start_points:
            raise ValueError("target_points: must not be below start_points")
        if sum(self.uma) or max(map(abs, self.uma)) > MOST_POINTS:
            raise ValueError(f"uma: {list(self.uma)} must add up to 0")

    @property
    def last_round(self) -> int:
        """The last scheduled round: 3 for East 4, 7 for South 4, of three players one before it."""
        return last_round(self.length, self.players)

    @property
    def oka(self) -> int:
        """What first place gets besides its uma: what all have put in, in points."""
        return self.players * (self.target_points - self.start_points)

    @property
    def placement_points(self) -> tuple[int, ...]:
        """The points of each rank at the end: uma, and oka for first place.

        >>> Rules(players=3).placement_points
        (35000, 0, -20000)
        """
        first, *others = self.uma
        return (first + self.oka, *others)

    @property
    def differences(self) -> dict[str, Any]:
        """What differs from the defaults of so many players, the length aside, by field.

        >>> Rules(length="tonpu").differences, Rules(red_fives=False).differences
        ({}, {'red_fives': False})
        >>> Rules(players=3).differences
        {'players': 3}
        """
        fields = msgspec.structs.asdict(self)
        usual = msgspec.structs.asdict(Rules(length=self.length, players=self.players))
        usual["players"] = RANKED.players
        return {name: value for name, value in fields.items() if value != usual[name]}

    def __str__(self) -> str:
        """Return the length, and what differs from the defaults, as the command line takes it.

        >>> str(Rules()), str(Rules(bust=False, uma=(15000, 5000, -5000, -15000)))
        ('hanchan', 'hanchan,bust=no,uma=15000/5000/-5000/-15000')
        """
        return ",".join([self.length, *(f"{n}={_spelled(v)}" for n, v in self.differences.items())])

    @property
    def announced(self) -> dict[str, Any] | None:
        """The object ``mjbot_rules`` of ``start_game``; ``None`` for a hanchan under default rules.

        >>> Rules().announced, Rules(length="tonpu").announced
        (None, {'length': 'tonpu'})
        """
        return None if self == RANKED else {"length": self.length, **self.differences}

    @classmethod
    def read(cls, value: Mapping[str, Any], players: Collection[int] = (4,)) -> Self:
        """Return the rule set of an object.  Raises ``ValueError`` that names the field.

        ``players`` are the numbers of players that the caller implements.

        >>> Rules.read({"players": 3})
        Traceback (most recent call last):
        ValueError: players: 3 is not implemented, games have four players
        """
        if local := value.get("local_yaku"):
            raise ValueError(f"local_yaku: {local} is not implemented")
        known = {name: part for name, part in value.items() if name != "local_yaku"}
        for name in known:
            if name not in cls.__struct_fields__:
                raise ValueError(f"{name}: {_unknown(name)}")
        try:
            rules = msgspec.convert(known, cls)
        except msgspec.ValidationError as error:
            problem, _, path = str(error).partition(" - at `$.")
            name = path.rstrip("`")
            raise ValueError(f"{name}: {problem}" if name else problem) from None
        if rules.players not in players:
            number = rules.players
            raise ValueError(f"players: {number} is not implemented, games have four players")
        return rules


def announced_players(start: Mapping[str, Any] | None) -> int:
    """Return how many play by the object ``mjbot_rules`` of a ``start_game``.

    >>> announced_players(None), announced_players({"players": 3})
    (4, 3)
    """
    return int((start or {}).get("players", RANKED.players))


def last_round(length: Length, players: int = 4) -> int:
    """Return the last scheduled round of a game.

    >>> last_round("hanchan"), last_round("hanchan", 3)
    (7, 6)
    """
    return LAST_ROUND[length] - (4 - players)


RANKED: Final = Rules()


_ALSO_CALLED: Final = {
    "kuitan": "open_tanyao",
    "aka": "red_fives",
    "akadora": "red_fives",
    "tobi": "bust",
}
"""The Japanese names of rules, which players know."""


def _unknown(name: str) -> str:
    names = Rules.__struct_fields__
    known = {each: each for each in names} | _ALSO_CALLED
    near = difflib.get_close_matches(name.lower(), known, 1)
    hint = f"did you mean {known[near[0]]!r}?" if near else f"the rules: {', '.join(names)}"
    return f"unknown rule; {hint}"


def _spelled(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "/".join(map(str, value)) if isinstance(value, tuple) else str(value)
