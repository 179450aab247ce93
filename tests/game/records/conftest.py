"""Small mjlog texts made up for these tests; no real record is in here."""

import sys
from collections.abc import Iterable
from types import ModuleType

import pytest

from mjbot.protocol.tenhou.calls import Call, encode_call
from tests.game.referee.scripted import Game

HEAD = '<UN n0="%E6%9D%B1" n1="b" n2="c" n3="d" dan="1,1,1,1"/><TAIKYOKU oya="0"/>'


def hand_of(seat: int) -> str:
    """Return ids of 1m..9m 1p..4p, the copy of each numbered like the seat."""
    return ",".join(str(4 * kind + seat) for kind in range(13))


def deal(seed: str = "0,0,0,1,2,132", ten: str = "250,250,250,250", oya: int = 0) -> str:
    """Return an INIT tag; the dora indicator is C unless told otherwise."""
    hands = " ".join(f'hai{seat}="{hand_of(seat)}"' for seat in range(4))
    return f'<INIT seed="{seed}" ten="{ten}" oya="{oya}" {hands}/>'


def mjlog(*tags: str, rules: int = 169) -> bytes:
    """Return a document; ``D52`` stands for the tag ``<D52/>``."""
    inside = (tag if tag.startswith("<") else f"<{tag}/>" for tag in tags)
    start = f'<mjloggm ver="2.3"><GO type="{rules}" lobby="0"/>{HEAD}'
    return f"{start}{''.join(inside)}</mjloggm>".encode()


def chi_code(tiles: Iterable[int], called: int) -> int:
    """Encode a chi of three ids."""
    return encode_call(Call("chi", 3, called, tuple(t for t in tiles if t != called)))


def pon_code(fourth: int, called: int, source: int, kakan: bool = False) -> int:
    """Encode a pon of the three copies beside ``fourth``, or the kakan that adds it."""
    kind = fourth // 4
    trio = tuple(tile for tile in range(4 * kind, 4 * kind + 4) if tile != fourth)
    if kakan:
        return encode_call(Call("kakan", source, fourth, trio, called))
    own = tuple(tile for tile in trio if tile != called)
    return encode_call(Call("pon", source, called, own))


def kan_code(tile: int, source: int) -> int:
    """Encode an ankan (source 0) or daiminkan."""
    return tile << 8 | source


def call(who: int, code: int) -> str:
    """Return an N tag."""
    return f'<N who="{who}" m="{code}"/>'


DRAWN = '<RYUUKYOKU ba="0,0" sc="250,0,250,0,250,0,250,0"/>'
OVER = (
    '<RYUUKYOKU ba="0,0" sc="250,0,250,0,250,0,250,0" owari="250,15.0,250,5.0,250,-5.0,250,-15.0"/>'
)


@pytest.fixture(scope="session")
def scripted() -> type[Game]:
    """The class of scripted games of our own table."""
    return Game


@pytest.fixture
def tenhou() -> ModuleType:
    """Return these helpers (test modules cannot import a conftest)."""
    return sys.modules[__name__]


def small_game(number: int = 0) -> bytes:
    """Return a whole game of one hand; ``number`` sets the hand's index."""
    return mjlog(deal(f"{number % 8},0,0,1,2,132", oya=number % 4), "T60", "D60", "U64", OVER)


def four_winds(number: int = 0, discard: str = "E109") -> bytes:
    """Return a game whose only hand is legal throughout: all four discard an east wind."""
    hands = " ".join(
        f'hai{seat}="{",".join(str(4 * kind + seat) for kind in range(12))},{108 + seat}"'
        for seat in range(4)
    )
    init = f'<INIT seed="0,0,0,1,2,132" ten="250,250,250,250" oya="0" {hands}/>'
    kaze4 = '<RYUUKYOKU type="kaze4" ba="0,0" sc="250,0,250,0,250,0,250,0"/>'
    turns = ("T60", "D108", "U64", discard, "V68", "F110", f"W{72 + number % 4}", "G111")
    return mjlog(init, *turns, kaze4)
