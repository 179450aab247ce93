"""Games of a real pair whose channel is cut after East 4: found before it, and not after it."""

from itertools import combinations
from pathlib import Path

from mjbot.analysis.collusion.games import count_games
from mjbot.analysis.collusion.verdicts import PairVerdict, judge, shipped_weights
from mjbot.game.referee import Referee
from mjbot.learning.training.positions import index_games
from mjbot.protocol.codec import encode
from mjbot.protocol.dialects import OWN_LOG
from mjbot.protocol.messages import EndGame, Event, StartGame
from mjbot.strategy.pair.member import pair_up
from mjbot.strategy.registry import make_strategy

GAMES = 24
LAST_LINKED = 3
"""The round, East 4, after whose first kyoku the channel is cut."""
PAIR = "one", "other"
NAMES = *PAIR, "third", "fourth"
PLACES = tuple(combinations(range(4), 2))


def played(number: int) -> tuple[list[Event], list[Event]]:
    """Play a hanchan; return its events before and after the channel is cut."""
    places = PLACES[number % len(PLACES)]
    seats = [*places, *(seat for seat in range(4) if seat not in places)]
    players = [make_strategy("combo-partner") for _ in (0, 1)]
    links = pair_up(*players)
    players += [make_strategy("fast-riichi-d") for _ in (0, 1)]
    seated = dict(zip(seats, zip(players, NAMES, strict=True), strict=True))
    names = tuple(seated[seat][1] for seat in range(4))
    record: list[Event] = []
    lengths: list[int] = []

    def cut(state, outcome, wins):
        if state["round"] >= LAST_LINKED and not lengths:
            links[0].cut()
            lengths.append(len(record))

    for seat, (player, _) in seated.items():
        player.start_game(seat, names)
    in_order = [seated[seat][0] for seat in range(4)]
    Referee(seed=41_000 + number).play(in_order, watch=cut, record=record)
    first = StartGame(names=names)
    (until,) = lengths or [len(record)]
    return [first, *record[:until]], [first, *record[until:]]


def written(games: list[list[Event]], folder: Path) -> Path:
    folder.mkdir()
    for number, events in enumerate(games):
        lines = b"\n".join(encode(event, OWN_LOG) for event in [*events, EndGame()])
        (folder / f"{number:02}.mjson").write_bytes(lines + b"\n")
    return folder


def verdicts(folder: Path) -> dict[tuple[str, str], PairVerdict]:
    weights = shipped_weights()
    games = count_games(index_games([folder]), {4: weights.model})
    return {verdict.names: verdict for verdict in judge(games, weights)}


def test_a_pair_is_found_until_its_channel_is_cut_and_nobody_after_it(tmp_path):
    games = [played(number) for number in range(GAMES)]
    linked = verdicts(written([before for before, _ in games], tmp_path / "linked"))
    cut = verdicts(written([after for _, after in games], tmp_path / "cut"))
    assert linked[PAIR].p < 0.01
    assert min(verdict.p for names, verdict in linked.items() if names != PAIR) == 1
    assert len(cut[PAIR].games) > GAMES - 5  # few end before South
    assert cut[PAIR].p == 1
    assert min(verdict.p for verdict in cut.values()) > 0.5
