"""The rule set of a game as a value: what may differ between tables (docs/rules.md, section 6).

The defaults are the ranked four-player rules of Tenhou.  A rule set is written as TOML, as
``name=value`` pairs on a command line, and as the object ``mjbot_rules`` of ``start_game`` where it
differs from the defaults.
"""

import difflib
from collections.abc import Mapping
from typing import Any, Final, Literal, Self

import msgspec

Length = Literal["tonpu", "hanchan"]

LAST_ROUND: Final[dict[Length, int]] = {"tonpu": 3, "hanchan": 7}
"""The last scheduled round: East 4 or South 4."""

EXTENSION_ROUNDS: Final = 4
"""While no seat has the target, the game is extended by at most so many rounds."""

MOST_POINTS: Final = 1_000_000
STICK_POINTS: Final = 1000
"""What a riichi costs, and what its stick brings to the next winner."""


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
    start_points: int = 25_000
    target_points: int = 30_000
    """What first place needs to end the game after its last scheduled round."""
    uma: tuple[int, int, int, int] = (20_000, 10_000, -10_000, -20_000)
    players: int = 4
    """How many play; other numbers than four are not implemented."""

    def __post_init__(self) -> None:
        if self.players != 4:
            number = self.players
            raise ValueError(f"players: {number} is not implemented, games have four players")
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
        """The last scheduled round: 3 for East 4, 7 for South 4."""
        return LAST_ROUND[self.length]

    @property
    def oka(self) -> int:
        """What first place gets besides its uma: what all have put in, in points."""
        return self.players * (self.target_points - self.start_points)

    @property
    def placement_points(self) -> tuple[int, int, int, int]:
        """The points of each rank at the end: uma, and oka for first place."""
        first, *others = self.uma
        a, b, c = others
        return first + self.oka, a, b, c

    @property
    def differences(self) -> dict[str, Any]:
        """What differs from the defaults, the length of the game aside, by field.

        >>> Rules(length="tonpu").differences, Rules(red_fives=False).differences
        ({}, {'red_fives': False})
        """
        fields = msgspec.structs.asdict(self)
        usual = msgspec.structs.asdict(Rules(length=self.length))
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
    def read(cls, value: Mapping[str, Any]) -> Self:
        """Return the rule set of an object.  Raises ``ValueError`` that names the field.

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
            return msgspec.convert(known, cls)
        except msgspec.ValidationError as error:
            problem, _, path = str(error).partition(" - at `$.")
            name = path.rstrip("`")
            raise ValueError(f"{name}: {problem}" if name else problem) from None


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
