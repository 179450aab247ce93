"""The rule set of a game as a value: what may differ between tables (docs/rules.md, section 6).

The defaults are the ranked four-player rules of Tenhou, with ``players`` 3 its ranked three-player
rules; :data:`RULE_SETS` has other sets by name.  A rule set is written as TOML, as ``name=value``
pairs on a command line, and as the object ``mjbot_rules`` of ``start_game`` where it differs from
the defaults.
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
"""What a riichi costs by default."""
MOST_PAYMENT: Final = 30_000
"""The most points of a honba, a riichi stick or a noten payment."""


_OF_PLAYERS: Final[Any] = msgspec.UNSET
"""The default of what follows from the number of players."""
_DEFAULTS: Final[dict[int, dict[str, Any]]] = {
    3: {
        "start_points": 35_000,
        "target_points": 40_000,
        "uma": (20_000, 0, -20_000),
        "noten_points": (1000, 2000),
    },
    4: {
        "start_points": 25_000,
        "target_points": 30_000,
        "uma": (20_000, 10_000, -10_000, -20_000),
        "noten_points": (1000, 1500, 3000),
    },
}
_SOUL_RULES: Final = {
    "double_yakuman": True,
    "kokushi_ankan": True,
    "triple_ron_paid": True,
    "pao_part": True,
}
DEFAULT_SET: Final = "tenhou"
MAHJONG_SOUL: Final = "mahjong-soul"
SET: Final = "rule_set"
"""The key of an object of rules that names a set."""
RULE_SETS: Final[dict[str, dict[int, dict[str, Any]]]] = {
    DEFAULT_SET: {3: {}, 4: {}},
    MAHJONG_SOUL: {
        3: {**_SOUL_RULES, "return_points": 35_000, "uma": (15_000, 0, -15_000)},
        4: {**_SOUL_RULES, "return_points": 25_000, "uma": (15_000, 5_000, -5_000, -15_000)},
    },
}
"""The named rule sets: what each has instead of the defaults, by the number of players."""


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
    return_points: int = _OF_PLAYERS
    """The zero of placement, by default ``target_points``; first place gets what all lack to it."""
    uma: tuple[int, ...] = _OF_PLAYERS
    players: int = 4
    """How many play, 3 or 4."""
    tsumo_loss: bool = True
    """Whether the share of the missing fourth player is lost when one of three wins by draw."""
    north_calls: bool = True
    """Whether three players may pon and kan norths that are discarded."""
    double_yakuman: bool = False
    """Whether four yakuman count twice: thirteen orphans on thirteen waits, nine gates on nine,
    four concealed triplets on the pair, and big four winds."""
    composite_yakuman: bool = True
    """Whether several yakuman of a hand add up; else the greatest counts."""
    counted_yakuman: bool = True
    """Whether 13 han are a yakuman; else they are a sanbaiman."""
    kiriage: bool = False
    """Whether 4 han 30 fu and 3 han 60 fu are rounded up to a mangan."""
    double_wind_fu: Literal[2, 4] = 4
    """Fu of a pair of the wind that is both the seat's and the round's."""
    kokushi_ankan: bool = False
    """Whether thirteen orphans may rob a concealed kan."""
    triple_ron_paid: bool = False
    """Whether three rons are paid; else they are an abortive draw."""
    head_bump: bool = False
    """Whether of several rons only the one nearest to the discarder is paid."""
    pao_part: bool = False
    """Whether the liable seat answers for its own yakuman only, not for others on top."""
    nine_terminals_draw: bool = True
    """Whether nine kinds of terminals and honours may end a kyoku; the next three likewise."""
    four_winds_draw: bool = True
    four_kans_draw: bool = True
    four_riichi_draw: bool = True
    agari_yame: bool = True
    """Whether a dealer who has won in first place ends the game from its last round on."""
    tenpai_yame: bool = True
    """The same after an exhaustive draw in tenpai."""
    extension: bool = True
    """Whether the game is extended by a wind while no seat has ``target_points``."""
    last_discard_calls: bool = False
    """Whether chi and pon of the last discard are allowed."""
    least_han: Literal[1, 2, 4] = 1
    """Han of yaku that a win needs; dora do not count towards them."""
    ippatsu: bool = True
    ura_dora: bool = True
    kan_dora: bool = True
    """Whether a kan turns a dora indicator."""
    kan_ura: bool = True
    """Whether the ura indicators below those of kans count."""
    open_kan_dora_at_once: bool = False
    """Whether an open kan's indicator is turned before its replacement draw."""
    nagashi: bool = True
    """Whether there is a nagashi mangan."""
    agari_renchan: bool = True
    """Whether a dealer who has won stays the dealer."""
    tenpai_renchan: bool = True
    """Whether a dealer who is tenpai at an exhaustive draw stays the dealer."""
    honba_points: int = 100
    """What each payer of a self-draw adds for a honba, and a discarder for all of them."""
    stick_points: int = STICK_POINTS
    """What a riichi costs, and what its stick brings to the next winner."""
    noten_points: tuple[int, ...] = _OF_PLAYERS
    """What each seat that is not tenpai pays, by how many are: one, two, three."""
    renhou: Literal["no", "mangan", "yakuman"] = "no"
    """Whether a ron before the own first draw, without a call before, is a yaku of 5 han or a
    yakuman (blessing of man)."""
    two_red_5p: bool = False
    """Whether a second 5p is red: four red fives."""

    def __post_init__(self) -> None:
        if self.players not in _DEFAULTS:
            number = self.players
            raise ValueError(f"players: {number} is not implemented, games have three or four")
        for name, value in _DEFAULTS[self.players].items():
            if getattr(self, name) is _OF_PLAYERS:
                msgspec.structs.force_setattr(self, name, value)
        if self.return_points is _OF_PLAYERS:
            msgspec.structs.force_setattr(self, "return_points", self.target_points)
        if len(self.uma) != self.players:
            raise ValueError(f"uma: {list(self.uma)} must have {self.players} values")
        self._check_payments()
        for name in ("start_points", "target_points", "return_points"):
            value = getattr(self, name)
            if not 0 < value <= MOST_POINTS or value % 100:
                raise ValueError(f"{name}: {value} is not a multiple of 100 up to {MOST_POINTS}")
        for name in ("target_points", "return_points"):
            if getattr(self, name) < self.start_points:
                raise ValueError(f"{name}: must not be below start_points")
        if sum(self.uma) or max(map(abs, self.uma)) > MOST_POINTS:
            raise ValueError(f"uma: {list(self.uma)} must add up to 0")

    def _check_payments(self) -> None:
        for name in ("honba_points", "stick_points"):
            value = getattr(self, name)
            if not 0 <= value <= MOST_PAYMENT or value % 100:
                raise ValueError(f"{name}: {value} is not a multiple of 100 up to {MOST_PAYMENT}")
        if len(self.noten_points) != self.players - 1:
            values = list(self.noten_points)
            raise ValueError(f"noten_points: {values} must have {self.players - 1} values")
        for n_tenpai, value in enumerate(self.noten_points, 1):
            if not 0 <= value <= MOST_PAYMENT or value % 100 or value % n_tenpai:
                raise ValueError(
                    f"noten_points: {value} is not a multiple of 100 up to {MOST_PAYMENT}"
                    f" that {n_tenpai} seats can share"
                )
        if self.two_red_5p and (self.players == 3 or not self.red_fives):
            raise ValueError("two_red_5p: only four players with red fives have a second red 5p")

    @property
    def last_round(self) -> int:
        """The last scheduled round: 3 for East 4, 7 for South 4, of three players one before it."""
        return last_round(self.length, self.players)

    @property
    def oka(self) -> int:
        """What first place gets besides its uma: what all have put in, in points."""
        return self.players * (self.return_points - self.start_points)

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
        return self._beyond(DEFAULT_SET)

    def _beyond(self, name: str) -> dict[str, Any]:
        """Return what differs from a named rule set of the same length and players."""
        known = RULE_SETS[name][self.players]
        fields = msgspec.structs.asdict(self)
        usual = msgspec.structs.asdict(Rules(length=self.length, players=self.players, **known))
        usual["players"] = RANKED.players
        usual["return_points"] = known.get("return_points", self.target_points)
        return {field: value for field, value in fields.items() if value != usual[field]}

    def under(self, name: str, players: int | None = None) -> Self:
        """Return the rules of a named set with what differs here from the set that is nearest.

        >>> str(Rules(length="tonpu").under("mahjong-soul"))
        'mahjong-soul,tonpu'
        """
        players = players or self.players
        others = {
            field: value
            for field, value in self._beyond(self.set_name).items()
            if players == self.players or field not in ("players", *_DEFAULTS[players])
        }
        fields = RULE_SETS[name][players] | others | {"length": self.length, "players": players}
        return type(self)(**fields)

    @property
    def set_name(self) -> str:
        """The named rule set from which fewest rules differ.

        >>> Rules(players=3).set_name, Rules.read({"rule_set": "mahjong-soul"}).set_name
        ('tenhou', 'mahjong-soul')
        """
        return min(RULE_SETS, key=lambda name: len(self._beyond(name)))

    def __str__(self) -> str:
        """Return the rule set, the length and what differs, as the command line takes it.

        The default set is not named, nor is the length of another where it is a hanchan.

        >>> str(Rules()), str(Rules(bust=False, uma=(15000, 5000, -5000, -15000)))
        ('hanchan', 'hanchan,bust=no,uma=15000/5000/-5000/-15000')
        >>> str(Rules.read({"rule_set": "mahjong-soul", "kiriage": True}))
        'mahjong-soul,kiriage=yes'
        """
        name, length = self.set_name, self.length
        first = [length] if name == DEFAULT_SET else [name, length][: 1 + (length == "tonpu")]
        others = [f"{field}={spelled(value)}" for field, value in self._beyond(name).items()]
        return ",".join([*first, *others])

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

        :data:`SET` names the rule set of :data:`RULE_SETS` from which the others differ.
        ``players`` are the numbers of players that the caller implements.

        >>> Rules.read({"players": 3})
        Traceback (most recent call last):
        ValueError: players: 3 is not implemented, games have four players
        """
        if local := value.get("local_yaku"):
            raise ValueError(f"local_yaku: {local} is not implemented")
        known = {name: part for name, part in value.items() if name not in ("local_yaku", SET)}
        for name in known:
            if name not in cls.__struct_fields__:
                raise ValueError(f"{name}: {_unknown(name)}")
        named = RULE_SETS.get(value.get(SET, DEFAULT_SET))
        if named is None:
            raise ValueError(f"{SET}: {value[SET]!r} is unknown; known are {', '.join(RULE_SETS)}")
        if isinstance(renhou := known.get("renhou"), bool):
            if renhou:
                raise ValueError("renhou: expected mangan or yakuman, or no")
            known["renhou"] = "no"  # of a command line, where no is a truth value
        known = named.get(known.get("players", RANKED.players), {}) | known
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
    return announced_rule(start, "players")


def announced_rule(start: Mapping[str, Any] | None, name: str) -> int:
    """Return a number among the rules of the object ``mjbot_rules`` of a ``start_game``.

    >>> announced_rule({"players": 3}, "honba_points")
    100
    """
    return int((start or {}).get(name, getattr(RANKED, name)))


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
    "kiriage_mangan": "kiriage",
    "atamahane": "head_bump",
    "west_round": "extension",
    "kazoe_yakuman": "counted_yakuman",
    "return": "return_points",
    "fanfu": "least_han",
    "min_han": "least_han",
    "kan_ura_dora": "kan_ura",
    "nagashi_mangan": "nagashi",
    "noten": "noten_points",
    "honba": "honba_points",
    "riichi_points": "stick_points",
}
"""The Japanese names of rules, which players know."""


def _unknown(name: str) -> str:
    names = Rules.__struct_fields__
    known = {each: each for each in names} | _ALSO_CALLED
    near = difflib.get_close_matches(name.lower(), known, 1)
    hint = f"did you mean {known[near[0]]!r}?" if near else f"the rules: {', '.join(names)}"
    return f"unknown rule; {hint}"


def spelled(value: object) -> str:
    """Return the value of a rule as the command line takes it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "/".join(map(str, value)) if isinstance(value, tuple) else str(value)
