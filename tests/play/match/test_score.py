"""The pair's figures and lines, from recorded games and from single events."""

import json
from pathlib import Path

import pytest
from rich.console import Console

from mjbot.game.records.game import Game
from mjbot.game.records.writers import FORMATS
from mjbot.play.match.pair_report import CALL, FEED, GAIN, LOSS, EventLines, PairScore, pair_table
from mjbot.play.match.remote_table import LogTailer, MergedLogs
from mjbot.protocol.codec import decode_line
from mjbot.protocol.masking import masked
from mjbot.protocol.messages import (
    Chi,
    EndGame,
    Event,
    Hora,
    Pon,
    Ryukyoku,
    StartGame,
    StartKyoku,
)
from mjbot.protocol.rules import Rules
from tests.game.records.formats import report
from tests.game.referee.scripted import random_game

LOGS = sorted((Path(__file__).parents[3] / "logs").glob("*.mjson"))
PAIR = ("crane (team 1/2)", "crane (team 2/2)")
LABELS = ("top", "partner")
HANDS = (("?",) * 13,) * 4


def events_of(log: Path, names: tuple[str, ...]) -> list[Event]:
    lines = log.read_bytes().splitlines()
    events = [event for line in lines for event in decode_line(line) if isinstance(event, Event)]
    assert isinstance(events[0], StartGame)
    return [StartGame(names=names), *events[1:]]


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
@pytest.mark.parametrize("top", range(4))
def test_the_figures_are_those_of_a_count_by_hand(log, top):
    partner = (top + 1) % 4
    names = ["x", "y", "z", "w"]
    names[top], names[partner] = PAIR
    events = events_of(log, tuple(names))
    score, as_seen = PairScore(PAIR), PairScore(PAIR)
    for event in events:
        score.add(event)
        as_seen.add(masked(event, top))
    (game,), (seen,) = score.games, as_seen.games
    wins = [row for row in map(json.loads, log.read_text().splitlines()) if row["type"] == "hora"]
    for place, seat in enumerate(game.seats):
        ally = game.seats[1 - place]
        assert game.counts["wins"][seat] == sum(win["actor"] == seat for win in wins)
        assert game.counts["fed"][seat][ally] == sum(
            (win["actor"], win["target"]) == (ally, seat) for win in wins
        )
    assert game.seats == (top, partner)
    assert (seen.counts == game.counts).all()
    assert seen.scores == game.scores
    assert sum(game.scores) == 100000
    assert sorted((*game.seats, *game.others())) == [0, 1, 2, 3]
    assert all(game.ally(game.ally(seat)) == seat != game.ally(seat) for seat in range(4))


def test_the_table_adds_up_over_games():
    score = PairScore(PAIR)
    for log in LOGS:
        for event in events_of(log, (PAIR[1], "x", PAIR[0], "y")):
            score.add(event)
    console = Console(width=80, record=True)
    console.print(pair_table(score, LABELS))
    lines = console.export_text().splitlines()
    top, partner, pair, others = (
        next(line for line in lines if line.startswith(name)).removeprefix(name).split()
        for name in (*LABELS, "the pair", "the others")
    )
    assert [int(one) + int(two) for one, two in zip(top[:4], partner[:4], strict=True)] == [
        int(both) for both in pair[:4]
    ]
    assert int(top[1]) == int(top[2]) + int(top[3])  # there is no double ron in these games
    places = [row[4].split("-") for row in (pair, others)]
    assert [int(a) + int(b) for a, b in zip(*places, strict=True)] == [len(LOGS)] * 4
    assert float(pair[5]) + float(others[5]) == 5  # means, not sums, as the heading says
    assert float(top[5]) + float(partner[5]) == pytest.approx(2 * float(pair[5]), abs=0.02)
    assert any("mean rank" in line for line in lines)
    assert min(float(top[5]), float(partner[5])) >= float(pair[6])
    assert abs(int(pair[7]) + int(others[7]) - 100000) <= 1


def test_a_game_in_which_only_one_of_them_is_named_does_not_count():
    score = PairScore(PAIR)
    for event in events_of(LOGS[0], (PAIR[0], "x", "y", "z")):
        score.add(event)
    assert (score.games, score.apart) == ([], 1)


def test_scores_that_the_server_does_not_tell_come_from_a_mirror():
    report, silent = PairScore(PAIR), PairScore(PAIR)
    for event in events_of(LOGS[0], (*PAIR, "x", "y")):
        report.add(event)
        silent.add(EndGame() if isinstance(event, EndGame) else event)
    assert silent.games[0].scores == report.games[0].scores


def test_a_log_is_read_line_by_line_while_it_is_written(tmp_path):
    lines = LOGS[0].read_bytes().splitlines(keepends=True)
    lines[4] = lines[4].replace(b'"logs":[null,', b'"logs":["so",')
    log, seen, report = tmp_path / "seen.mjson", [], []

    def hear(game, event, talk):
        seen.append((game, event))
        report.extend([(len(seen), *output) for output in talk])

    tailers = LogTailer(log, hear, 4)
    tailers.look()  # not there yet
    for _ in range(2):
        for line in lines:
            with log.open("ab") as file:
                file.write(line[:10])
            tailers.look()
            with log.open("ab") as file:
                file.write(line[10:])
        tailers.look()
    assert [event for _, event in seen] == 2 * [e for line in lines for e in decode_line(line)]
    assert [game for game, _ in seen] == [0] * len(lines) + [1] * len(lines)
    assert report == [(5, 0, "so"), (len(lines) + 5, 0, "so")]


def test_a_void_game_has_a_number_though_it_has_no_end(tmp_path):
    log, starts = tmp_path / "seen.mjson", []
    whole = LOGS[0].read_bytes()
    log.write_bytes(b"".join(whole.splitlines(keepends=True)[:5]) + whole)
    tailers = LogTailer(
        log, lambda game, event, talk: isinstance(event, StartGame) and starts.append(game), 4
    )
    tailers.look()
    assert starts == [0, 1]


def test_a_game_of_four_after_one_of_three_is_read_as_such(tmp_path):
    three = report(random_game(1, Rules(players=3, length="tonpu")))
    log, scores = tmp_path / "seen.mjson", []
    four = LOGS[0].read_bytes()
    log.write_bytes(four + FORMATS["mjai"].encode(Game("own", "line", three.entries)) + four)

    def hear(game, event, talk):
        if isinstance(event, StartKyoku):
            scores.append((game, event.scores[3] if event.scores else None))

    LogTailer(log, hear, 4).look()
    of_four = [score for game, score in scores if game == 0]
    assert [score for game, score in scores if game == 2] == of_four


def test_who_sits_where_comes_from_the_two_where_the_server_names_nobody():
    events, seen = events_of(LOGS[0], ("", "", "", "")), []
    tailers = MergedLogs(PAIR, lambda game, event, talk: seen.append((game, event)))
    for event in [StartGame(id=2), *events[1:4]]:
        tailers.one(0, event)
    assert seen == []  # not before the other has sat down, too
    tailers.other(0, StartGame(id=0))
    assert seen[0] == (0, StartGame(id=2, names=(PAIR[1], "seat 1", PAIR[0], "seat 3")))
    assert [event for _, event in seen[1:]] == events[1:4]
    named = StartGame(id=1, names=("x", *PAIR, "y"))
    tailers.one(1, named)
    assert seen[-1] == (1, named)
    tailers.one(2, StartGame(id=1))
    tailers.finish()
    assert seen[-1] == (2, StartGame(id=1))  # the other never came


# --- what is said ----------------------------------------------------------------------------


MJAI_YAKU = (("menzenchin_tsumoho", 1), ("tanyaochu", 1), ("akadora", 1))


@pytest.fixture(name="teller")
def teller_at_the_table() -> EventLines:
    teller = EventLines(PAIR, LABELS)
    deal = StartKyoku(bakaze="S", kyoku=2, honba=1, kyotaku=0, oya=1, dora_marker="E", tehais=HANDS)
    for event in (StartGame(names=("x", PAIR[1], "y", PAIR[0])), deal):
        assert teller.line(event) is None
    return teller


@pytest.mark.parametrize(
    ("event", "line", "style"),
    [
        (
            Hora(actor=3, target=1, pai="5p", hora_points=3900, yakus=(("reach", 1), ("dora", 2))),
            "S2-1  partner feeds top a win (sashikomi): 5p; 3,900 (riichi, dora 2)",
            FEED,
        ),
        (
            Hora(actor=1, target=3, pai="5p", hora_points=1000),
            "S2-1  top feeds partner a win (sashikomi): 5p; 1,000",
            FEED,
        ),
        (Hora(actor=3, target=0, hora_points=1000), "S2-1  top wins from x 1,000", GAIN),
        (Hora(actor=2, target=1, hora_points=1000), "S2-1  y wins from partner 1,000", LOSS),
        (
            Hora(actor=2, target=2, hora_points=8000, yakus=MJAI_YAKU),
            "S2-1  y draws it and wins 8,000 (fully concealed self-draw, all simples, red dora)",
            None,
        ),
        (Hora(actor=3, target=3, hora_points=1000), "S2-1  top draws it and wins 1,000", GAIN),
        (
            Pon(actor=3, target=1, pai="C", consumed=("C", "C")),
            "  S2-1  partner feeds top a pon: the red dragon",
            CALL,
        ),
        (
            Ryukyoku(reason="fanpai", tenpais=(True, False, False, True)),
            "S2-1  exhaustive draw, tenpai: x, top",
            None,
        ),
        (Ryukyoku(reason="sufonrenta"), "S2-1  abortive draw (sufonrenta)", None),
    ],
)
def test_what_happens_is_one_line(teller, event, line, style):
    output, its_style = teller.line(event)
    assert output == line
    assert style in (None, its_style)


def test_what_does_not_concern_the_pair_is_not_said(teller):
    assert teller.line(Chi(actor=1, target=0, pai="2m", consumed=("3m", "4m"))) is None
