"""Tables in a given position, told in the shorthand of protocol.tiles."""

from collections.abc import Callable

import pytest

from mjbot.game.table.mirror.mirror import Mirror
from mjbot.protocol import messages as m
from mjbot.protocol.tiles import parse_tiles, tile_name

HIDDEN = ("?",) * 13


def names(text: str) -> tuple[str, ...]:
    return tuple(tile_name(tile) for tile in parse_tiles(text))


class Story:
    """A table and short words for what happens at it."""

    def __init__(self, hands: list[str | None], *, dora: str = "1z", seat: int | None = None):
        self.table = Mirror(seat=seat)
        tehais = tuple(HIDDEN if hand is None else names(hand) for hand in hands)
        assert all(len(tehai) == 13 for tehai in tehais), "thirteen tiles a hand"
        self.say(m.StartGame(names=("a", "b", "c", "d")))
        self.say(
            m.StartKyoku(
                bakaze="E",
                kyoku=1,
                honba=0,
                kyotaku=0,
                oya=0,
                dora_marker=names(dora)[0],
                tehais=(tehais[0], tehais[1], tehais[2], tehais[3]),
                scores=(25000, 25000, 25000, 25000),
            )
        )

    def say(self, event: m.Event) -> "Story":
        self.table.apply(event)
        return self

    def draw(self, seat: int, tile: str) -> "Story":
        return self.say(m.Tsumo(actor=seat, pai="?" if tile == "?" else names(tile)[0]))

    def discard(self, seat: int, tile: str, drawn: bool = False) -> "Story":
        return self.say(m.Dahai(actor=seat, pai=names(tile)[0], tsumogiri=drawn))

    def turn(self, seat: int, tile: str) -> "Story":
        """Draw a tile and discard it."""
        return self.draw(seat, tile).discard(seat, tile, drawn=True)

    def pon(self, seat: int, target: int, tile: str, used: str) -> "Story":
        a, b = names(used)
        pai = names(tile)[0]
        return self.say(m.Pon(actor=seat, target=target, pai=pai, consumed=(a, b)))

    def chi(self, seat: int, target: int, tile: str, used: str) -> "Story":
        a, b = names(used)
        pai = names(tile)[0]
        return self.say(m.Chi(actor=seat, target=target, pai=pai, consumed=(a, b)))

    def legal(self, seat: int) -> list[str]:
        return [str(action) for action in self.table.legal(seat)]

    def calls(self, seat: int) -> list[str]:
        return [text for text in self.legal(seat) if not text.startswith("discard")]


@pytest.fixture
def story() -> Callable[..., Story]:
    return Story
