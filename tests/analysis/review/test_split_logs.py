"""The game of a review as the usual viewer of mjai-reviewer's JSON reads it: tenhou.net/6 by kyoku.

The rules are those of the viewer's parser: ``split_logs[N].log[0]`` is kyoku N; its first field
gives round, honba and sticks; then scores, dora, ura, of each seat hand, draws and discards, and
the result.  It walks the columns: a call in a seat's draws says by the place of its letter whom it
came from; 60 is the drawn tile; a kan in the draws skips one discard.
"""

import json
import re
from pathlib import Path

import pytest

from mjbot.analysis.review.mjai_json import review_json
from mjbot.game.records.sources import open_games
from mjbot.protocol.messages import Ankan, Chi, Daiminkan, Kakan, Pon, StartKyoku
from tests.analysis.review.conftest import review_by

LOGS = Path(__file__).parents[3] / "logs"
WINDS = "ESWN"
FILES = ("hanchan-open-kan-and-bust.mjson", "east-four-winds.mjson", "east-extra-round.mjson")


def kind(tile):
    return {51: 15, 52: 25, 53: 35}.get(tile, tile)


class Walk:
    """Plays one kyoku as the viewer does; counts calls and discards."""

    def __init__(self, log):
        (self.round, self.honba, self.sticks), self.scores, self.dora, _ura = log[:4]
        self.hands = [sorted(log[4 + 3 * seat]) for seat in range(4)]
        self.draws = [log[5 + 3 * seat] for seat in range(4)]
        self.discards = [log[6 + 3 * seat] for seat in range(4)]
        self.result = log[16]
        self.next_draw, self.next_discard = [0] * 4, [0] * 4
        self.calls = []
        self.play()

    def play(self):
        seat = self.round % 4
        while self.next_draw[seat] < len(self.draws[seat]):
            draw = self.draws[seat][self.next_draw[seat]]
            self.next_draw[seat] += 1
            if isinstance(draw, str):
                self.call(seat, draw)
                if "m" in draw:
                    assert self.discards[seat][self.next_discard[seat]] == 0
                    self.next_discard[seat] += 1
                    continue
            else:
                self.hands[seat].append(draw)
            if self.next_discard[seat] >= len(self.discards[seat]):
                return
            done = self.discards[seat][self.next_discard[seat]]
            self.next_discard[seat] += 1
            if isinstance(done, str) and re.search("[ak]", done):
                self.call(seat, done)
                continue
            tile = int(done[1:]) if isinstance(done, str) else done
            if tile == 60:
                tile = draw
            self.hands[seat].remove(tile)
            seat = self.whose_turn(seat, tile)

    def call(self, seat, text):
        letter = re.search("[a-z]", text)
        tiles = [int(pair) for pair in re.findall("..", text.replace(letter[0], ""))]
        self.calls.append(letter[0])
        at = letter.start() // 2
        own = [tiles[at]] if letter[0] == "k" else tiles if letter[0] == "a" else None
        for tile in own if own is not None else [*tiles[:at], *tiles[at + 1 :]]:
            self.hands[seat].remove(tile)

    def whose_turn(self, seat, tile):
        for other in range(4):
            offset = (other - seat - 1) % 4
            rest = self.draws[other][self.next_draw[other] :]
            if other != seat and offset and rest and isinstance(rest[0], str):
                letter = re.search("[a-z]", rest[0])
                tiles = [int(pair) for pair in re.findall("..", rest[0].replace(letter[0], ""))]
                at = letter.start() // 2
                if min(at, 2) == offset and kind(tiles[at]) == kind(tile):
                    return other
        return (seat + 1) % 4


@pytest.fixture(params=FILES)
def made(request):
    (game,) = open_games(LOGS / request.param)
    events = [entry.event for entry in game.entries]
    return events, review_json(review_by("fast-riichi-d", events, 0, [0]))


def test_the_viewer_walks_through_every_kyoku(made):
    events, told = made
    starts = [event for event in events if isinstance(event, StartKyoku)]
    logs = json.loads(json.dumps(told["split_logs"]))
    assert len(logs) == len(starts) == len(told["review"]["kyokus"])
    calls = 0
    for each, start, kyoku in zip(logs, starts, told["review"]["kyokus"], strict=True):
        assert each["name"] == told["names"] and each["rule"]["disp"]
        walk = Walk(each["log"][0])
        assert walk.round == 4 * WINDS.index(start.bakaze) + start.kyoku - 1 == kyoku["kyoku"]
        assert (walk.honba, walk.sticks) == (start.honba, start.kyotaku)
        assert walk.scores[0] == kyoku["relative_scores"][0]
        assert walk.result[0]
        for seat in range(4):  # nothing is left over
            assert walk.next_draw[seat] == len(walk.draws[seat])
            assert len(walk.discards[seat]) - walk.next_discard[seat] == 0
        calls += len(walk.calls)
    assert calls == sum(isinstance(e, Chi | Pon | Daiminkan | Ankan | Kakan) for e in events) > 0


def test_a_kyoku_that_was_cut_off_is_left_out():
    (game,) = open_games(LOGS / FILES[1])
    events = [entry.event for entry in game.entries]
    second = [place for place, event in enumerate(events) if isinstance(event, StartKyoku)][1]
    told = review_json(review_by("fast-riichi-d", events[: second + 12], 0, [0]))
    assert len(told["split_logs"]) == 1


def test_where_hands_are_hidden_there_is_none():
    (game,) = open_games(LOGS / FILES[1])
    events = []
    for entry in game.entries:
        event = entry.event
        if isinstance(event, StartKyoku):
            tehais = (event.tehais[0], *[("?",) * 13] * 3)
            event = StartKyoku(**{**{f: getattr(event, f) for f in event.__struct_fields__},
                                  "tehais": tehais})  # fmt: skip
            events.append(event)
            break
        events.append(event)
    assert review_json(review_by("fast-riichi-d", events, 0, [0]))["split_logs"] == []
