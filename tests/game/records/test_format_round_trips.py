"""Games that our own table played at random come back the same from every format."""

import json

import pytest

from mjbot.game.records.mjlog import Element
from mjbot.game.records.tenhou6.hands import hand_json, read_hand
from mjbot.game.records.tenhou6.writer import write_tenhou6
from mjbot.protocol.tenhou.calls import decode_call
from proof.peer.plots import WRITERS
from tests.game.records.formats import (
    CompleteGame,
    check_round_trips,
    random_game,
    tags_of,
)

GAMES = [(seed, None) for seed in range(4)] + [
    (number, writer) for number, writer in enumerate(WRITERS)
]


@pytest.fixture(
    scope="module",
    params=GAMES,
    ids=lambda game: f"{game[0]}-{getattr(game[1], '__name__', 'plain')}",
)
def game(request) -> CompleteGame:
    return random_game(*request.param)


def test_a_game_at_random_comes_back(game: CompleteGame) -> None:
    check_round_trips(game)


def test_an_id_is_drawn_once_and_leaves_the_hand_that_holds_it(game: CompleteGame) -> None:
    tags = tags_of(game)
    deals = [at for at, tag in enumerate(tags) if tag.name == "INIT"]
    for start, stop in zip(deals, [*deals[1:], len(tags)], strict=True):
        check_ids(tags[start:stop])


def check_ids(tags: list[Element]) -> None:
    deal, *others = tags
    hands = [deal.integers(f"hai{seat}") for seat in range(4)]
    seen = [tile for hand in hands for tile in hand] + [deal.integers("seed")[5]]
    offered = -1
    for tag in others:
        if tag.name[1:].isdigit():
            tile = int(tag.name[1:])
            if tag.name[0] in "TUVW":
                hands["TUVW".index(tag.name[0])].append(tile)
                seen.append(tile)
            else:
                hands["DEFG".index(tag.name[0])].remove(tile)
                offered = tile
        elif tag.name == "N":
            call = decode_call(tag.integers("m")[0])
            own = [call.tile] if call.kind == "kakan" else call.own
            for tile in own:
                hands[int(tag["who"])].remove(tile)
            assert call.kind in ("kakan", "ankan") or call.tile == offered
            offered = call.tile
        elif tag.name == "DORA":
            seen += tag.integers("hai")
        elif tag.name == "AGARI":
            won = tag.integers("hai")
            claimed = [] if tag["who"] == tag["fromWho"] else [tag.integers("machi")[0]]
            assert sorted(won) == sorted(hands[int(tag["who"])] + claimed)
            assert not claimed or claimed == [offered]
    ura = next((t.integers("doraHaiUra") for t in others if "doraHaiUra" in t.attributes), [])
    assert len({*seen, *ura}) == len(seen) + len(ura)


def test_every_hand_of_tenhou6_is_read_as_it_is_written(game: CompleteGame) -> None:
    for hand in json.loads(write_tenhou6(game))["log"]:
        assert hand_json(read_hand(hand)) == hand
