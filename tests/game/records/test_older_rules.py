"""A game of years before the records that were checked may end later than today's rules say."""

from pathlib import Path

import pytest
from msgspec.structs import replace as changed

from mjbot.cli.main import main
from mjbot.game.records.game import Entry, Game
from mjbot.game.records.mjai_log import log_line
from mjbot.game.records.replay import MismatchError, OlderRulesError, ReplaySummary, replay
from mjbot.game.records.sources import open_games
from mjbot.game.records.writers import FORMATS
from mjbot.game.referee import Position
from mjbot.play.check.made_games import CLOSING, Deal, MadeGame
from mjbot.protocol import messages as m

LOGS = Path(__file__).parents[3] / "logs"
OLD = "2009022011gm-00a9-0000-00000000&tw=0.mjlog"
NEW = "2024022011gm-00a9-0000-00000000&tw=0.mjlog"
SCORES = (20_000, 20_000, 20_000, 40_000)


@pytest.fixture(scope="module")
def events():
    """South 4 is drawn, its dealer is first and in tenpai, and yet another kyoku begins."""
    game = MadeGame(0, [Deal({3: CLOSING})], position=Position(round=7, scores=SCORES))
    report = game.start()
    while not game.over:
        report += game.step(None)
    deal = next(event for event in report if isinstance(event, m.StartKyoku))
    drawn = next(event for event in report if isinstance(event, m.Ryukyoku))
    assert drawn.tenpais[3] and isinstance(report[-1], m.EndGame)
    again = changed(deal, honba=1, kyotaku=0, scores=drawn.scores)
    return [*report[:-1], again]


def game_of(events, name, ref=""):
    entries = [Entry(number, event) for number, event in enumerate(events, 1)]
    return Game(name, "line", entries, ref)


@pytest.mark.parametrize(("name", "ref"), [(OLD, ""), ("a.json", OLD)])
def test_a_dated_game_goes_on_under_older_rules(events, name, ref):
    with pytest.raises(OlderRulesError, match=r"older rules \(2009-02\), without tenpai-yame"):
        replay(game_of(events, name, ref), ReplaySummary())


@pytest.mark.parametrize(("name", "ref"), [(NEW, ""), ("a.json", "")])
def test_a_newer_game_or_one_without_a_date_does_not_match(events, name, ref):
    with pytest.raises(MismatchError, match="the game is over") as caught:
        replay(game_of(events, name, ref), ReplaySummary())
    assert not isinstance(caught.value, OlderRulesError)


def test_wrong_points_of_an_old_game_are_no_older_rule(events):
    wrong = changed(events[-1], scores=SCORES)
    with pytest.raises(MismatchError, match="scores are") as caught:
        replay(game_of([*events[:-1], wrong], OLD), ReplaySummary())
    assert not isinstance(caught.value, OlderRulesError)


@pytest.mark.parametrize(("name", "status"), [(OLD, 0), (NEW, 1)])
def test_replay_names_an_older_game_and_counts_no_mismatch(tmp_path, capsys, events, name, status):
    file = tmp_path / name
    file.write_bytes(b"".join(map(log_line, events)))
    assert main(["replay", str(file)]) == status
    out = capsys.readouterr()
    assert ("no mismatch, 1 game played under older rules" in out.out) == (status == 0)
    assert "the game is over" in out.err


def test_the_id_in_a_tenhou6_record_dates_it(tmp_path):
    (game,) = open_games(LOGS / "east-four-winds.mjson")
    data = FORMATS["tenhou6"].encode(game)
    file = tmp_path / "a.json"
    file.write_bytes(data.replace(b"{", b'{"ref":"%s",' % OLD.encode(), 1))
    (game,) = open_games(file)
    assert game.month == "2009-02"
