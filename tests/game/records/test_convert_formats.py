"""``mjbot convert --to``: every format into every other, and what cannot be told whole."""

import gzip
import itertools
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from mjbot.cli.main import main
from mjbot.game.records.complete import complete
from mjbot.game.records.mjai_log import log_line
from mjbot.game.records.mjlog_writer import write_mjlog
from mjbot.game.records.sources import open_games
from mjbot.game.records.tenhou6.writer import write_tenhou6
from mjbot.game.referee import Position, Referee
from mjbot.learning.training.positions import collect, index_games
from mjbot.protocol import messages as m
from mjbot.protocol.masking import masked
from mjbot.protocol.rules import Rules
from mjbot.runtime.errors import ExitCode
from tests.game.records.formats import check_round_trips, events_of, report

LOG = Path(__file__).parents[3] / "logs" / "east-four-winds.mjson"
FORMATS = ("mjai", "mjlog", "tenhou6")
ENDINGS = {"mjai": ".mjson", "mjlog": ".mjlog", "tenhou6": ".json"}


def whole(path: Path) -> list:
    (game,) = open_games(path)
    return events_of(complete(game), in_order=True)


def lines(events: Iterable[m.Event]) -> bytes:
    return b"".join(map(log_line, events))


def events_in(path: Path) -> list[m.Event]:
    return [entry.event for game in open_games(path) for entry in game.entries]


@pytest.fixture(scope="module")
def each(tmp_path_factory) -> dict[str, Path]:
    """The same game in every format."""
    folder = tmp_path_factory.mktemp("each")
    paths = {name: folder / f"game{ENDINGS[name]}" for name in FORMATS}
    for name, path in paths.items():
        assert main(["convert", str(LOG), str(path), "--to", name]) == ExitCode.OK
    return paths


@pytest.mark.parametrize(("one", "other"), list(itertools.permutations(FORMATS, 2)))
def test_every_format_becomes_every_other(each, tmp_path: Path, one: str, other: str) -> None:
    out = tmp_path / "out"
    assert main(["convert", str(each[one]), str(out), "--to", other]) == ExitCode.OK
    assert [path.name for path in out.iterdir()] == [f"game{ENDINGS[other]}"]
    assert whole(out / f"game{ENDINGS[other]}") == whole(LOG)


@pytest.mark.parametrize("name", ["mjlog", "tenhou6"])
def test_what_reads_records_reads_it_whatever_it_is_called(
    each, name: str, tmp_path, capsys
) -> None:
    path = str(tmp_path / "record.txt")
    Path(path).write_bytes(each[name].read_bytes())
    assert main(["convert", path, str(tmp_path / "out.mjson")]) == ExitCode.OK
    assert whole(tmp_path / "out.mjson") == whole(LOG)
    capsys.readouterr()
    assert main(["replay", path]) == ExitCode.OK
    assert capsys.readouterr().out.startswith("1 game, ")
    assert main(["explain", path, "--at", "E1-0:1", "--seat", "0"]) == ExitCode.OK
    games = index_games([Path(path)])
    assert list(collect(games, count_discards)) == [count_discards_in(LOG)]


def count_discards(steps) -> int:
    return sum(isinstance(step.event, m.Dahai) for step in steps)


def count_discards_in(path: Path) -> int:
    return sum(isinstance(event, m.Dahai) for event in events_in(path))


def test_the_ending_asks_for_mjlog(tmp_path: Path) -> None:
    for name in ("a.mjlog", "a.xml", "a.xml.gz"):
        out = tmp_path / name
        assert main(["convert", str(LOG), str(out)]) == ExitCode.OK
        data = out.read_bytes()
        data = gzip.decompress(data) if name.endswith("gz") else data
        assert data.startswith(b"<mjloggm ")


@pytest.mark.parametrize("out", ["games.zip", "games.json", "games.json.gz", "folder"])
def test_many_games_of_tenhou6(tenhou, tmp_path: Path, out: str) -> None:
    many = tmp_path / "many"
    many.mkdir()
    for number in range(3):
        (many / f"{number}.mjlog").write_bytes(tenhou.four_winds(number))
    target = tmp_path / out
    assert main(["convert", str(many), str(target), "--to", "tenhou6"]) == ExitCode.OK
    assert sum(1 for _ in open_games(target)) == 3


def test_a_file_of_mjlog_holds_one_game(tenhou, tmp_path: Path, capsys) -> None:
    source, out = tmp_path / "two.jsonl", tmp_path / "out.mjlog"
    source.write_bytes(2 * LOG.read_bytes())
    assert main(["convert", str(source), str(out)]) == ExitCode.BAD_ARGUMENTS
    assert "a file of mjlog holds one game: name a folder or a .zip" in capsys.readouterr().err
    assert not out.exists()
    assert main(["convert", str(source), str(tmp_path / "out.zip"), "--to", "mjlog"]) == ExitCode.OK


# --- what cannot be told whole ---------------------------------------------------------------


def cut_off(events: list[m.Event]) -> list[m.Event]:
    return events[: len(events) // 2]


def hidden(events: list[m.Event]) -> list[m.Event]:
    return [masked(event, 2) for event in events]


def without_ura(events: list[m.Event]) -> list[m.Event]:
    return [
        m.Hora(actor=event.actor, target=event.target) if isinstance(event, m.Hora) else event
        for event in events
    ]


def without_deal(events: list[m.Event]) -> list[m.Event]:
    return [event for event in events if not isinstance(event, m.StartKyoku)]


def stolen(events: list[m.Event]) -> list[m.Event]:
    first = next(at for at, event in enumerate(events) if isinstance(event, m.Dahai))
    wrong = m.Dahai(actor=events[first].actor, pai="C", tsumogiri=True)
    return [*events[:first], wrong, *events[first + 1 :]]


def chombo(events: list[m.Event]) -> list[m.Event]:
    last = next(at for at, event in enumerate(events) if isinstance(event, m.Hora | m.Ryukyoku))
    return [*events[:last], m.Ryukyoku(reason="error", deltas=(0, 0, 0, 0)), m.EndKyoku()]


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (cut_off, "the log ends inside a hand"),
        (hidden, "the hand of seat 0 is hidden"),
        (without_ura, "the ura dora markers of a win after riichi are missing"),
        (without_deal, "no kyoku is under way"),
        (stolen, "tsumogiri is true, but C is not the drawn tile"),
        (chombo, "ryukyoku.reason is 'error', which Tenhou does not know"),
    ],
)
@pytest.mark.parametrize("form", ["mjlog", "tenhou6"])
def test_a_game_that_cannot_be_told_is_named_and_counted(
    tmp_path: Path, capsys, spoil, problem: str, form: str
) -> None:
    good = events_in(LOG)
    source, out = tmp_path / "in.jsonl", tmp_path / "out"
    source.write_bytes(lines([*good, *spoil(good), *good]))
    assert main(["convert", str(source), str(out), "--to", form]) == ExitCode.FAILED
    output = capsys.readouterr()
    assert f"{source}#2: line " in output.err
    assert problem in output.err
    assert "damaged" not in output.err
    skipped = "1 game that cannot be shown whole skipped"
    assert output.out == f"2 games written to {out} as {form}, {skipped}\n"
    assert len(list(out.iterdir())) == 2


@pytest.mark.parametrize("name", ["out", "out.json", "out.json.gz", "out.zip"])
def test_where_nothing_could_be_written_nothing_lies(tmp_path: Path, capsys, name: str) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / name
    source.write_bytes(lines(cut_off(events_in(LOG))))
    assert main(["convert", str(source), str(out), "--to", "tenhou6"]) == ExitCode.FAILED
    assert capsys.readouterr().out.startswith(f"0 games written to {out} as tenhou6, 1 game that")
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_remarks_of_players_stay_in_mjai_and_are_counted_elsewhere(tmp_path: Path, capsys) -> None:
    first, *rest = events_in(LOG)
    talkative = log_line(first, [(0, "well"), (2, "hm")]) + lines(rest)
    source, again, other = (tmp_path / name for name in ("in.mjson", "out.mjson", "out.mjlog"))
    source.write_bytes(talkative)
    assert main(["convert", str(source), str(again)]) == ExitCode.OK
    assert again.read_bytes() == talkative
    assert "left out" not in capsys.readouterr().err
    assert main(["convert", str(source), str(other)]) == ExitCode.OK
    report = capsys.readouterr().err
    assert report.endswith("convert: 2 remarks of players left out: mjlog has no place for them\n")


@pytest.mark.parametrize(
    ("rules", "output", "counted"),
    [
        (0x209, "is a table of parlour rules", "1 game that cannot be shown whole"),
    ],
)
def test_games_that_are_not_played_here_are_named_and_counted(
    tenhou, tmp_path: Path, capsys, rules: int, output: str, counted: str
) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    good = tenhou.four_winds()
    (folder / "a.mjlog").write_bytes(good)
    (folder / "b.mjlog").write_bytes(good.replace(b'type="169"', b'type="%d"' % rules))
    assert main(["convert", str(folder), str(out), "--to", "tenhou6"]) == ExitCode.FAILED
    report = capsys.readouterr()
    assert re.search(rf"^mjbot convert: {folder}/b\.mjlog: .*{output}", report.err, re.M)
    assert report.out == f"1 game written to {out} as tenhou6, {counted} skipped\n"


@pytest.mark.parametrize(
    ("damaged", "n_written", "loss"),
    [
        (b'"start_game"', 2, "1 damaged file"),  # costs its game
        (b'"tsumo"', 3, "1 hand that cannot be read"),  # costs its hand
    ],
)
def test_a_damaged_game_in_a_file_of_many_leaves_the_others(
    tmp_path: Path, capsys, damaged: bytes, n_written: int, loss: str
) -> None:
    good = LOG.read_bytes()
    source, out = tmp_path / "in.jsonl", tmp_path / "out"
    number = 1 + good[: good.index(damaged)].count(b"\n") + good.count(b"\n")
    source.write_bytes(good + good.replace(damaged, b"1" + damaged, 1) + good)
    assert main(["convert", str(source), str(out)]) == ExitCode.FAILED
    report = capsys.readouterr()
    assert report.out == f"{n_written} games written to {out} as mjai, {loss} skipped\n"
    assert f"{source}: line {number}: " in report.err
    assert main(["replay", str(source)]) == ExitCode.FAILED
    report = capsys.readouterr()
    assert report.out.endswith(f"no mismatch, {loss}\n")
    assert f"{source}: line {number}: " in report.err


def test_what_servers_leave_unsaid_the_rules_fill_in() -> None:
    good = events_in(LOG)
    bare = []
    for event in good:
        match event:
            case m.StartKyoku():
                fields = {name: getattr(event, name) for name in event.__struct_fields__}
                bare.append(m.StartKyoku(**fields | {"scores": None}))
            case m.ReachAccepted(actor=seat):
                bare.append(m.ReachAccepted(actor=seat))
            case m.Hora(actor=seat, target=target, uradora_markers=ura):
                bare.append(m.Hora(actor=seat, target=target, uradora_markers=ura))
            case m.Ryukyoku():
                bare.append(m.Ryukyoku())
            case m.EndGame():
                bare.append(m.EndGame())
            case _:
                bare.append(event)
    assert events_of(report(bare)) == events_of(report(good))


def test_scores_that_are_not_in_hundreds_are_no_mjlog(scripted, tmp_path: Path, capsys) -> None:
    position = Position(scores=(25050, 24950, 25000, 25000))
    game = scripted(["19m19p19s123z2345m"], "5p", position=position).do(0, "nine terminals")
    source, out = tmp_path / "in.mjson", tmp_path / "out.mjlog"
    source.write_bytes(lines(game.events[: game.names().index("EndKyoku") + 1]))
    assert main(["convert", str(source), str(out)]) == ExitCode.FAILED
    assert "25050 points cannot be written: an mjlog counts in hundreds" in capsys.readouterr().err
    assert main(["convert", str(source), str(tmp_path / "x"), "--to", "tenhou6"]) == ExitCode.OK


@pytest.mark.parametrize(
    "rules",
    [Rules(length="tonpu", open_tanyao=False), Rules(length="tonpu", red_fives=False)],
    ids=["closed tanyao", "no red fives"],
)
def test_the_rules_of_a_game_come_through_every_format(rules: Rules) -> None:
    referee = Referee(3, rules)
    events = referee.start()
    while not referee.over:
        choices = {seat: referee.view(seat).default_action for seat in referee.asked}
        events += referee.step(choices)
    game = report(events)
    assert game.rules == rules
    check_round_trips(game)


def test_rules_that_tenhou_does_not_have_are_named() -> None:
    (game,) = open_games(LOG)
    game = replace(complete(game), rules=Rules(bust=False))
    for write in (write_mjlog, write_tenhou6):
        with pytest.raises(ValueError, match="no tables with the rules bust=no"):
            write(game)
