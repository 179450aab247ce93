"""What must hold in any game: conservation, derived fields, and the mirrors of the four seats."""

from random import Random

import numpy as np
import pytest

from mjbot.game.referee import Position, Referee
from mjbot.game.rules.wall_plan import FOUR_PLAYERS as WALL
from mjbot.game.table.assume import hide
from mjbot.game.table.mirror.mirror import Mirror
from mjbot.game.table.state import CHI, PON, copy_state
from mjbot.protocol import messages as m
from mjbot.protocol.masking import masked
from mjbot.protocol.tiles import tile_kind
from proof.peer.habits import HabitPlayer
from proof.peer.plots import WRITERS
from tests.game.table.derived import check_derived

MIRRORED = (
    *("scores", "round", "dealer", "honba", "sticks", "phase", "turn", "drawn", "last_tile"),
    *("after_kan", "calls_made", "chankan", "wall_left", "rinshan_taken", "kans", "kuikae"),
    *("pending_dora", "n_dora", "dora_markers", "hand_size", "hand", "red", "n_melds", "is_open"),
    *("discarded", "passed", "n_river", "riichi", "double_riichi", "ippatsu", "waits", "missed"),
    *("pao_dragons", "pao_winds", "draws", "n_discards"),
)
PARTS = (
    *("meld_type", "meld_kind", "meld_red", "meld_called", "meld_from"),
    *("river", "river_flags", "river_turn"),
)


def play(seed, watch, writer=None):
    """Play one game of oddly assorted players; ``watch(referee, new events)`` after each step."""
    rng = Random(seed)
    players = [HabitPlayer(Random(rng.random())) for _ in range(4)]
    walls = None
    if writer:
        plot = writer(rng).plot(rng, 0)
        ordinary = Referee(seed)._walls
        first = iter([plot.wall])

        def walls(round_, honba, wall):
            ordinary(round_, honba, wall)
            wall[:] = next(first, wall)

    referee = Referee(seed, "tonpu", walls=walls)
    watch(referee, referee.start())
    while not referee.over:
        choices = {
            seat: players[seat].choose(referee.state, seat, [action.code for action in actions])
            for seat, actions in referee.asked.items()
        }
        events = referee.step(choices)
        watch(referee, events)
        if any(isinstance(event, m.EndKyoku) for event in events):
            for player in players:
                player.start_kyoku()
    return referee


GAMES = [pytest.param(seed, None, id=f"game {seed}") for seed in range(6)] + [
    pytest.param(number, writer, id=writer.__name__) for number, writer in enumerate(WRITERS)
]


@pytest.mark.parametrize(("seed", "writer"), GAMES)
def test_points_and_tiles_are_conserved(seed, writer):
    def watch(referee, events):
        state = referee.state
        assert state["scores"].sum() + 1000 * state["sticks"] == 100_000
        if not referee.over:
            assert all_tiles(state).tolist() == [4] * 34

    play(seed, watch, writer)


def all_tiles(state):
    """Count every tile at its place: hands, melds, rivers, what is left of the walls."""
    counts = state["hand"].sum(axis=0).astype(int)
    for seat in range(4):
        for place in range(state["n_melds"][seat]):
            kind, type_ = state["meld_kind"][seat, place], state["meld_type"][seat, place]
            called = state["meld_called"][seat, place]
            if type_ == CHI:
                counts[kind : kind + 3] += 1
            else:
                counts[kind] += 3 if type_ == PON else 4
            if called >= 0:  # still lies in the river it came from
                counts[tile_kind(int(called))] -= 1
        for tile in state["river"][seat][: state["n_river"][seat]]:
            counts[tile_kind(int(tile))] += 1
    drawn = int(state["draws"].sum())
    wall = state["wall"]
    rest = [
        *wall[WALL["live"] + drawn : WALL["live"] + WALL["n_live"]],
        *wall[WALL["dora"] : WALL["rinshan"]],
    ]
    rest += [*wall[WALL["rinshan"] + int(state["rinshan_taken"]) :]]
    for tile in rest:
        counts[tile_kind(int(tile))] += 1
    return counts


@pytest.mark.parametrize(("seed", "writer"), GAMES)
def test_what_is_stored_is_what_can_be_derived(seed, writer):
    """After every event, in a table that sees everything."""
    table = Mirror()

    def watch(referee, events):
        for event in events:
            table.apply(event)
            check_derived(table.state)

    play(seed, watch, writer)


@pytest.mark.parametrize(("seed", "writer"), GAMES)
def test_the_mirror_of_each_seat_agrees(seed, writer):
    """Fed with what its seat may see, each mirror offers and shows what the referee does."""
    mirrors = [Mirror(seat) for seat in range(4)]

    def watch(referee, events):
        for event in events:
            for seat, mirror in enumerate(mirrors):
                mirror.apply(masked(event, seat))
        asked = referee.asked
        for seat, mirror in enumerate(mirrors):
            assert mirror.legal(seat) == asked.get(seat, ())
            if not referee.over:
                check_mirror(mirror.state, referee.state, seat)

    play(seed, watch, writer)


def check_mirror(mirror, state, seat):
    honest = copy_state(state)
    hide(honest, seat)
    seen = copy_state(mirror)
    hide(seen, seat)
    for name in MIRRORED:
        assert np.array_equal(seen[name], honest[name]), name
    for other in range(4):
        for name in PARTS:
            size = int(state["n_melds" if name.startswith("meld") else "n_river"][other])
            assert np.array_equal(seen[name][other][:size], honest[name][other][:size]), name


def test_the_same_seed_gives_the_same_game():
    def final(seed):
        events = []
        play(seed, lambda referee, new: events.extend(new))
        return events

    assert final(3) == final(3)
    assert final(3) != final(4)


def test_a_game_can_start_anywhere():
    referee = Referee(5)
    position = Position(9, honba=2, sticks=1, scores=(30000, 20000, 24000, 25000))
    start = referee.start(position)[1]
    assert isinstance(start, m.StartKyoku)
    assert (start.bakaze, start.kyoku, start.honba, start.kyotaku) == ("W", 2, 2, 1)
    assert start.scores == (30000, 20000, 24000, 25000)
