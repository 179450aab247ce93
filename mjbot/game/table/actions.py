"""What a seat can do, as 157 small codes with one interned :class:`Action` each.

The codes leave out what the table has anyway (the discard on offer), so that an action travels
through compiled code as one integer; the functions here decode it there, the properties of
:class:`Action` everywhere else.
:mod:`mjbot.game.table.mirror.wire` turns actions into messages and back.
"""

from dataclasses import dataclass
from typing import Final, Literal

from mjbot.protocol.tiles import N_KINDS, N_TILES, TILE_NAMES
from mjbot.runtime.compiler.compiled import compiled

DISCARD: Final = 0  # + tile: from the hand
DISCARD_DRAWN: Final = 37  # + tile: tsumogiri
DECLARE_RIICHI: Final = 74
TSUMO: Final = 75
RON: Final = 76
NINE_TERMINALS: Final = 77
PASS: Final = 78
PON_PLAIN: Final = 79
PON_RED: Final = 80  # gives up a red five
CHI_LOW: Final = 81  # the claimed tile is the lowest of the run
CHI_MIDDLE: Final = 82
CHI_HIGH: Final = 83
CHI_LOW_RED: Final = 84  # the same, giving up a red five
CHI_MIDDLE_RED: Final = 85
CHI_HIGH_RED: Final = 86
CALL_KAN: Final = 87
CONCEALED_KAN: Final = 88  # + kind
ADDED_KAN: Final = 122  # + kind
KITA: Final = 156
N_ACTIONS: Final = 157

# The choices that a player decides on; the rest is left to its default action.
DECIDES_TURNS: Final = 1  # its own turns: discards, riichi, kans, nine terminals
DECIDES_WINS: Final = 2  # whenever it can win
DECIDES_CALLS: Final = 4  # pon, chi and kan of what others discard
DECIDES_ALL: Final = DECIDES_TURNS | DECIDES_WINS | DECIDES_CALLS

ActionName = Literal[
    "discard", "riichi", "tsumo", "ron", "nine terminals", "pass",
    "pon", "chi", "daiminkan", "ankan", "kakan", "kita",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Action:
    """One thing a seat may do.

    ``tile`` is the discarded tile (0..36) of a discard, the kind of an ankan or kakan, else -1.
    ``red`` is true for a chi or pon that gives up a red five.  ``offset`` is the position of the
    claimed tile in a chi's run (0 lowest, 2 highest), else -1.
    """

    code: int
    name: ActionName
    tile: int = -1
    tsumogiri: bool = False
    red: bool = False
    offset: int = -1

    @property
    def is_discard(self) -> bool:
        """Whether it discards a tile; declaring riichi is an action of its own before that."""
        return self.name == "discard"

    @property
    def is_riichi(self) -> bool:
        """Whether it declares riichi; which tile to discard is asked next."""
        return self.name == "riichi"

    @property
    def is_win(self) -> bool:
        """Whether it is a tsumo or a ron."""
        return self.name in ("tsumo", "ron")

    @property
    def is_nine_terminals(self) -> bool:
        """Whether it aborts the kyoku, which nine kinds of terminals and honours allow."""
        return self.name == "nine terminals"

    @property
    def is_pass(self) -> bool:
        """Whether it lets go what another discards."""
        return self.name == "pass"

    @property
    def is_call(self) -> bool:
        """Whether it takes another's discard into a meld: pon, chi or daiminkan."""
        return self.name in ("pon", "chi", "daiminkan")

    @property
    def is_kita(self) -> bool:
        """Whether it sets a north aside, which three players may."""
        return self.name == "kita"

    @property
    def is_kan(self) -> bool:
        """Whether it is a daiminkan, ankan or kakan."""
        return self.name in ("daiminkan", "ankan", "kakan")

    def __str__(self) -> str:
        if self.is_discard:
            return f"discard {TILE_NAMES[self.tile]}" + (" (drawn)" if self.tsumogiri else "")
        if self.name == "chi":
            position = ("low", "middle", "high")[self.offset]
            return f"chi {position}" + (" with red" if self.red else "")
        if self.name == "pon":
            return "pon with red" if self.red else "pon"
        return f"{self.name} {TILE_NAMES[self.tile]}" if self.tile >= 0 else self.name


def _all_actions() -> tuple[Action, ...]:
    actions = [Action(DISCARD + tile, "discard", tile) for tile in range(N_TILES)]
    actions += [
        Action(DISCARD_DRAWN + tile, "discard", tile, tsumogiri=True) for tile in range(N_TILES)
    ]
    actions += [
        Action(DECLARE_RIICHI, "riichi"),
        Action(TSUMO, "tsumo"),
        Action(RON, "ron"),
        Action(NINE_TERMINALS, "nine terminals"),
        Action(PASS, "pass"),
        Action(PON_PLAIN, "pon"),
        Action(PON_RED, "pon", red=True),
    ]
    actions += [
        Action(CHI_LOW + 3 * red + offset, "chi", red=bool(red), offset=offset)
        for red in range(2)
        for offset in range(3)
    ]
    actions.append(Action(CALL_KAN, "daiminkan"))
    actions += [Action(CONCEALED_KAN + kind, "ankan", kind) for kind in range(N_KINDS)]
    actions += [Action(ADDED_KAN + kind, "kakan", kind) for kind in range(N_KINDS)]
    actions.append(Action(KITA, "kita"))
    return tuple(actions)


@compiled
def is_discard_code(code: int) -> bool:
    """Whether the code is that of a discard."""
    return code < DECLARE_RIICHI


@compiled
def is_pon_code(code: int) -> bool:
    """Whether the code is that of a pon."""
    return code == PON_PLAIN or code == PON_RED


@compiled
def is_chi_code(code: int) -> bool:
    """Whether the code is that of a chi."""
    return CHI_LOW <= code < CALL_KAN


@compiled
def gives_red_code(code: int) -> bool:
    """Whether the code is that of a pon or chi that gives up a red five."""
    return code == PON_RED or CHI_LOW_RED <= code < CALL_KAN


ACTIONS: Final[tuple[Action, ...]] = _all_actions()
"""``ACTIONS[code].code == code``."""
