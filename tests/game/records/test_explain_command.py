"""``mjbot explain``: the choices of a record, and what a strategy thinks of one."""

import json
import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from mjbot.cli.main import main
from mjbot.game.records.choices import recorded_decisions
from mjbot.game.records.game import Entry, Game
from mjbot.game.records.positions import recorded_view
from mjbot.game.records.sources import open_games
from mjbot.game.records.writers import FORMATS
from mjbot.runtime.errors import ExitCode
from mjbot.strategy.registry import built_in_names, strategy_class
from mjbot.viewer.thoughts import opponents_json
from tests.game.referee.played import game_of_three

LOG = str(Path(__file__).parents[3] / "logs" / "east-four-winds.mjson")

BOT = """
from mjbot import DataTable, Explanation, Rated, Strategy, Term

class Nosy(Strategy):
    '''Tells what it saw.'''

    def __init__(self):
        self.began = []

    def start_game(self, seat, names):
        self.began.append(f"seat {seat} of {len(names)}")

    def start_kyoku(self, view):
        self.began.append(f"hand of {view.state['hand_size'][view.seat]}")

    def decide(self, view):
        return view.default_action

    def explain(self, view):
        known = [seat for seat in range(4) if view.state["hand"][seat].any()]
        seen = f"sees the hands of {known}, {len(view.legal)} choices"
        one, other, *_ = view.discards
        rated = [Rated(one, 1.5, True, terms=[Term("luck", "%", 2)]), Rated(other, 3)]
        table = DataTable("[what]", ["a", "b"], [["[x]", 1], ["y", 0.25]])
        notes = [f"began: {self.began}", seen]
        return Explanation(self.decide(view), "luck", rated, notes, [table])
"""

BROKEN = """
from mjbot.strategy.strategy import Strategy

class Broken(Strategy):
    def decide(self, view):
"""


@pytest.fixture(scope="module")
def of_three(tmp_path_factory):
    """Return the file of a game of three."""
    path = tmp_path_factory.mktemp("three") / "game.mjson"
    entries = (Entry(number, event) for number, event in enumerate(game_of_three(2)))
    path.write_bytes(FORMATS["mjai"].encode(Game("own", "line", entries)))
    return path


@pytest.fixture
def nosy(tmp_path):
    (tmp_path / "nosy.py").write_text(BOT)
    return f"{tmp_path / 'nosy.py'}:Nosy"


def explain(*arguments: str) -> int:
    return main(["explain", LOG, *arguments])


def rows_of(text):
    """Return the cells of a printed table."""
    rows = [line.split("│")[1:-1] for line in text.splitlines() if "│" in line]
    return [[cell.strip() for cell in row] for row in rows]


def choices_of(text):
    """Return the columns of the grids of choices: what stands above, the numbers by term."""
    choices = []
    for grid in text.split("┏")[1:]:
        heads = [line.split("┃")[1:-1] for line in grid.splitlines() if "┃" in line]
        names = [" ".join(" ".join(words).split()) for words in zip(*heads, strict=True)]
        rows = rows_of(grid)
        if names[0] in ("choice", "選択肢", "选择", "選擇"):
            columns = enumerate(names[1:], 1)
            choices += [(name, {row[0]: row[place] for row in rows}) for place, name in columns]
    return choices


def test_without_a_position_it_lists_every_choice_beside_the_recorded_one(capsys):
    assert explain("--strategy", "tsumogiri") == ExitCode.OK
    out = capsys.readouterr().out
    first = rows_of(out)[0]
    assert first == [
        "3", "E1-0:1", "0", "draw 2p", "13", "S", "2p (drawn)", "differs",
    ]  # fmt: skip
    agreed = re.findall(r"tsumogiri agrees with seat (\d) (\S+) on (\d+) of (\d+) choices", out)
    assert [name for _, name, _, _ in agreed] == [
        "fast-riichi-b", "majiang-2", "majiang", "fast-riichi-d",
    ]  # fmt: skip
    assert sum(int(n) for *_, n in agreed) == len(rows_of(out))
    for seat, _, same, n in agreed:
        rows = [row for row in rows_of(out) if row[2] == seat]
        assert [row[-1] for row in rows].count("") == int(same)
        assert len(rows) == int(n)
        assert all((row[5].split()[0] == row[6].split()[0]) == (row[7] == "") for row in rows)


def test_of_one_seat_it_lists_its_own_choices(capsys):
    assert explain("--seat", "2", "--strategy", "tsumogiri") == ExitCode.OK
    rows = rows_of(capsys.readouterr().out)
    assert {row[2] for row in rows} == {"2"}
    of_the_first_kyoku = [row[1] for row in rows if row[1].startswith("E1-0:")]
    assert of_the_first_kyoku == [f"E1-0:{n}" for n in range(1, 1 + len(of_the_first_kyoku))]


def test_the_default_is_the_strongest_strategy(capsys):
    """The README names that strategy."""
    readme = (Path(LOG).parents[1] / "README.md").read_text(encoding="utf-8")
    (strongest,) = re.findall(r"strongest strategy is `([\w-]+)`", readme)
    assert explain("--at", "15") == ExitCode.OK
    report = capsys.readouterr()
    assert f"asking {strongest} ..." in report.err
    assert "Strongest: discard" in report.out


def test_a_choice_can_be_named_by_kyoku_and_number(capsys):
    assert explain("--seat", "0", "--strategy", "tsumogiri") == ExitCode.OK
    row = next(row for row in rows_of(capsys.readouterr().out) if row[1] == "E1-0:5")
    assert explain("--at", "E1-0:5", "--seat", "0", "--strategy", "tsumogiri") == ExitCode.OK
    by_kyoku = capsys.readouterr().out
    assert by_kyoku.startswith(f"event {row[0]}: ")
    assert explain("--at", row[0], "--seat", "0", "--strategy", "tsumogiri") == ExitCode.OK
    assert capsys.readouterr().out == by_kyoku


def test_the_position_names_the_players_and_no_line_of_it_is_broken(capsys):
    assert explain("--at", "446", "--strategy", "tsumogiri") == ExitCode.OK
    lines = capsys.readouterr().out.splitlines()
    assert re.match(r"[ESW]\d-\d+, \d+ tiles left", lines[1])
    names = [re.match(r"seat \d (\S+)( \(dealer\))?: river", line) for line in lines[3:7]]
    assert [found[1] for found in names] == [
        "fast-riichi-b", "majiang-2", "majiang", "fast-riichi-d",
    ]  # fmt: skip
    assert max(map(len, lines)) > 80
    assert len(lines) == 10


def test_opponents_have_the_chance_that_they_are_tenpai(capsys):
    """As the page of a review and the board show it."""
    view = recorded_view(Path(LOG), "E1-0:5", 0)
    assert explain("--at", "E1-0:5", "--seat", "0", "--strategy", "tsumogiri") == ExitCode.OK
    out = capsys.readouterr().out
    found = dict(re.findall(r"^seat (\d) .*estimated tenpai ([\d.]+)%", out, re.MULTILINE))
    expected = {each["seat"]: each["tenpai"] for each in opponents_json(view)}
    assert {int(seat): float(chance) for seat, chance in found.items()} == expected
    assert len(set(expected.values())) > 1


def test_of_three_players_each_choice_is_listed_and_a_kita_position_counted(of_three, capsys):
    """What is stated of the position is counted again from the events of the kyoku."""
    by = ("--strategy", "fast-policy")
    assert main(["explain", str(of_three), *by]) == ExitCode.OK
    out = capsys.readouterr().out
    rows, agreed = rows_of(out), re.findall(r"agrees with seat (\d) (.) on \d+ of (\d+)", out)
    assert [(seat, name) for seat, name, _ in agreed] == [("0", "a"), ("1", "b"), ("2", "c")]
    choices = sum(1 for _ in recorded_decisions(of_three))
    assert sum(int(n) for *_, n in agreed) == len(rows) == choices
    number, _, seat, *_ = [row for row in rows if row[5] == "kita"][-1]
    assert main(["explain", str(of_three), "--at", number, "--seat", seat, *by]) == ExitCode.OK
    lines = capsys.readouterr().out.splitlines()
    events = [json.loads(line) for line in of_three.read_text("utf-8").splitlines()][: int(number)]
    dealt = max(n for n, event in enumerate(events) if event["type"] == "start_kyoku")
    stated = [line for line in lines if re.match(r"seat \d.*: river", line)]
    assert [line[:6] for line in stated] == ["seat 0", "seat 1", "seat 2"]
    scores = events[dealt]["scores"][:3]
    for event in events[dealt:]:
        scores[event.get("actor", 0)] -= 1000 * (event["type"] == "reach_accepted")
    assert lines[1].endswith(f"scores {', '.join(map(str, scores))}")
    for line in stated:
        own = [event for event in events[dealt:] if event.get("actor") == int(line[5])]
        river = " ".join(event["pai"] for event in own if event["type"] == "dahai")
        norths = sum(event["type"] == "kita" for event in own)
        assert f"river {river or '-'}" in line
        assert ("norths set aside" in line) == (norths > 0)
        assert f"norths set aside {norths}" in line or not norths
    view = recorded_view(of_three, f"{number}", int(seat))
    tenpai = {each["seat"]: each["tenpai"] for each in opponents_json(view)}
    shown = set(re.findall(r"estimated tenpai ([\d.]+)%", "".join(stated)))
    assert len(tenpai) == 2 and shown <= {f"{chance:.2f}" for chance in tenpai.values()}
    assert "kita" in {head.split()[0] for head, _ in choices_of("\n".join(lines))}


def test_a_name_cannot_write_on_the_terminal(tmp_path, capsys):
    log = tmp_path / "named.mjson"
    text = Path(LOG).read_text().replace('"majiang-2"', r'"\u001b]0;title\u0007[red]\nforged"')
    log.write_text(text)
    for more in (["--at", "15"], []):
        assert main(["explain", str(log), "--strategy", "tsumogiri", *more]) == ExitCode.OK
        out = capsys.readouterr().out
        assert "\x1b]0" not in out
        assert "1 ]0;title[red]forged" in out


def test_riichi_is_rated_beside_the_discards_and_then_the_discards_in_riichi(capsys):
    log = str(Path(LOG).with_name("hanchan-open-kan-and-bust.mjson"))
    command = ["explain", log, "--strategy", "fold-recognition-plus", "--at"]
    assert main([*command, "455", "--all"]) == ExitCode.OK
    out = capsys.readouterr().out
    choices = choices_of(out)
    assert "FoldRecognitionPlus: riichi\n" in out
    chosen = [head for head, _ in choices if "chosen" in head]
    assert chosen == ["riichi, 5m chosen recorded"] == [choices[0][0]]
    assert {"5m", "8m", "6m", "4m", "7m"} < {head for head, _ in choices}
    assert main([*command, "456", "--all"]) == ExitCode.OK
    declared = choices_of(capsys.readouterr().out)
    rated = [numbers for head, numbers in choices if head.startswith("riichi, ")]
    assert [numbers for _, numbers in declared] == rated


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (
            "        return 1 // 0",
            "ZeroDivisionError: integer division or modulo by zero (broken.py",
        ),
        ("        return None", "it may not choose None"),
    ],
)
def test_a_strategy_that_fails_is_told_in_one_line(tmp_path, capsys, body, problem):
    (tmp_path / "broken.py").write_text(BROKEN + body + "\n")
    strategy = f"{tmp_path / 'broken.py'}:Broken"
    assert explain("--strategy", strategy) == ExitCode.FAILED
    report = capsys.readouterr().err.splitlines()
    assert report[-1].startswith(f"mjbot explain: {strategy} fails at event 3: {problem}")


def test_a_strategy_sees_what_its_seat_sees_from_the_start(nosy, capsys):
    assert explain("--at", "15", "--strategy", nosy) == ExitCode.OK
    out = capsys.readouterr().out
    assert "hand 4m 8m 9m 2p 2p 5pr 2s 3s 4s 9s + 7s" in out
    assert "melds PPP" in out
    assert 'recorded next: {"type":"dahai","actor":0,"pai":"4m","tsumogiri":false}' in out
    assert "began: ['seat 0 of 4', 'hand of 13']" in out
    assert "sees the hands of [0], 10 choices" in out


def test_any_strategy_tells_what_it_would_do(capsys):
    assert explain("--at", "6", "--strategy", "fast-riichi-b") == ExitCode.OK
    assert capsys.readouterr().out.splitlines()[-1] in ("FastRiichiB: pon", "FastRiichiB: pass")


@pytest.mark.parametrize(
    ("strategy", "unit"),
    [
        ("fast-riichi-a", "rating points"),
        ("fast-riichi-d", "rating points"),
        ("fold-recognition", "evaluator's score"),
        ("fold-recognition-plus", "points"),
    ],
)
def test_who_rates_discards_tells_them_best_first(strategy, unit, capsys):
    assert explain("--at", "15", "--strategy", strategy, "--all") == ExitCode.OK
    choices = choices_of(capsys.readouterr().out)
    worths = [float(numbers[f"value, {unit}"]) for _, numbers in choices]
    assert len(choices) == 10  # kinds of tiles in the hand
    assert len(set(worths)) > 5
    assert worths == sorted(worths, reverse=True)
    assert ["chosen" in head for head, _ in choices] == [True] + 9 * [False]


def test_who_does_not_rate_discards_tells_its_choice_and_what_would(capsys):
    assert explain("--at", "15", "--strategy", "tsumogiri") == ExitCode.OK
    out = capsys.readouterr().out
    assert out.splitlines()[-2:] == [
        "Tsumogiri: discard 7s (drawn)",
        "It does not rate its choices: add a method ratings(view) to its class.",
    ]


def test_the_parts_of_a_worth_are_told_beside_it(capsys):
    assert explain("--at", "100", "--strategy", "fold-recognition-plus") == ExitCode.OK
    out = capsys.readouterr().out
    assert "the terms with + add up to the value" in out
    assert "seat 0 fast-riichi-b, seat 2 majiang, seat 3 fast-riichi-d" in out
    choices = choices_of(out)
    terms = {term for _, numbers in choices for term in numbers}
    assert {"+ winning, points", "+ dealing in (seat 3), points", "+ placement, points"} <= terms
    assert "danger (seat 3), %" in terms
    for _, numbers in choices:
        parts = [float(n) for term, n in numbers.items() if term.startswith("+ ") and n]
        error = 0.5 * (1 + len(parts))
        assert float(numbers["value, points"]) == pytest.approx(sum(parts), abs=error)


WIDTHS = (80, 120, 200)
EXPLAINED = [name for name in built_in_names() if name != "tsumogiri"]


def printed(monkeypatch, capsys, columns, *arguments):
    """Return what ``explain`` prints at a width, and the most columns that a line of a grid has."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    assert main(["explain", *arguments]) == ExitCode.OK
    out = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out)
    return out, max(cell_len(line) for line in out.splitlines() if line[:1] in "┏┃┡│└")


@pytest.mark.parametrize("strategy", EXPLAINED)
@pytest.mark.parametrize("players", [4, 3])
def test_a_position_fits_the_terminal_with_nothing_cut(
    monkeypatch, capsys, of_three, players, strategy
):
    if players not in strategy_class(strategy).players:
        pytest.skip(f"{strategy} does not play at tables of {players}")
    place = (
        [LOG, "--at", "100"] if players == 4 else [str(of_three), "--at", "E1-0:2", "--seat", "0"]
    )
    quick = ",budget_s=0.05" if strategy == "collusion-mc" else ""
    command = [*place, "--strategy", strategy + quick]
    found = []
    for columns in WIDTHS:
        out, widest = printed(monkeypatch, capsys, columns, *command, "--all")
        assert widest <= columns
        assert "…" not in out
        found.append(sorted((head.split()[0], *terms) for head, terms in choices_of(out)))
    assert found[0] == found[1] == found[2] != []
    out, widest = printed(monkeypatch, capsys, WIDTHS[0], *command)
    assert widest <= WIDTHS[0]
    assert 2 <= len(choices_of(out)) <= 5


@pytest.mark.parametrize("players", [4, 3])
def test_the_list_fits_the_terminal_with_nothing_cut(monkeypatch, capsys, of_three, players):
    log = LOG if players == 4 else str(of_three)
    for columns in WIDTHS:
        out, widest = printed(monkeypatch, capsys, columns, log, "--strategy", "fast-riichi-b")
        assert widest <= columns
        assert "…" not in out


def test_the_best_three_are_shown_and_what_was_chosen_and_recorded(capsys):
    assert explain("--at", "100", "--strategy", "fold-recognition-plus", "--all") == ExitCode.OK
    everything = choices_of(capsys.readouterr().out)
    assert explain("--at", "100", "--strategy", "fold-recognition-plus") == ExitCode.OK
    out = capsys.readouterr().out
    shown = choices_of(out)
    assert [head for head, _ in shown] == ["6p chosen", "1p", "6m", "F recorded"]
    assert shown == [choice for choice in everything if choice in shown]
    assert everything[:3] == shown[:3]
    assert f"\n{len(everything) - 4} more choices: --all\n" in out


def test_of_whom_nothing_is_feared_there_are_no_columns(capsys):
    assert explain("--at", "15", "--strategy", "fold-recognition-plus") == ExitCode.OK
    out = capsys.readouterr().out
    choices = choices_of(out)
    assert choices and not any("seat" in term for _, numbers in choices for term in numbers)
    assert "-0" not in [number for _, numbers in choices for number in numbers.values()]


def test_all_that_a_strategy_tells_is_shown(nosy, capsys):
    assert explain("--at", "15", "--strategy", nosy) == ExitCode.OK
    out = capsys.readouterr().out
    choices = choices_of(out)
    assert [numbers for _, numbers in choices] == [
        {"value, luck": "3", "luck, %": ""},
        {"value, luck": "1.5", "luck, %": "2.00"},
    ]
    assert [head.split()[1:] for head, _ in choices] == [[], ["chosen", "recorded"]]
    assert rows_of(out)[2:] == [["[x]", "1"], ["y", "0.25"]]
    assert "Nosy: discard" in out
    assert "[what]" in out


def test_what_is_no_explanation_is_a_fault_of_the_strategy(tmp_path, capsys):
    body = "        return view.default_action\n\n    def explain(self, view):\n        yield 1\n"
    (tmp_path / "broken.py").write_text(BROKEN + body)
    strategy = f"{tmp_path / 'broken.py'}:Broken"
    assert explain("--at", "15", "--strategy", strategy) == ExitCode.FAILED
    report = "Broken.explain returned generator, no Explanation"
    assert report in capsys.readouterr().err


def test_the_events_of_all_games_are_counted(nosy, tmp_path, capsys):
    both = tmp_path / "both.mjson"
    text = Path(LOG).read_text()
    both.write_text(text + text)
    n = sum(1 for game in open_games(Path(LOG)) for _ in game.entries)
    assert main(["explain", str(both), "--at", str(n + 15), "--strategy", nosy]) == ExitCode.OK
    assert "hand 4m 8m 9m 2p 2p 5pr 2s 3s 4s 9s + 7s" in capsys.readouterr().out


def test_a_hidden_hand_cannot_be_explained(tmp_path, capsys):
    text = Path(LOG).read_text().splitlines(keepends=True)
    hidden = text[1].replace('["7m","3p","4p","4p","8p","3s","5s","8s","9s","E","P","F","F"]',
                             '["?","?","?","?","?","?","?","?","?","?","?","?","?"]')  # fmt: skip
    assert hidden != text[1]
    log = tmp_path / "hidden.mjson"
    log.write_text(text[0] + hidden + '{"type":"tsumo","actor":0,"pai":"2p"}\n')
    assert main(["explain", str(log), "--at", "3", "--strategy", "tsumogiri"]) == ExitCode.OK
    for at in (["--at", "3"], []):
        asked = ["explain", str(log), *at, "--seat", "1", "--strategy", "tsumogiri"]
        assert main(asked) == ExitCode.BAD_ARGUMENTS
        assert "does not show the hand" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["explain", "--seat", "3", "--strategy", "tsumogiri"],
        ["explain", "--seat", "3", "--at", "E1-0:1", "--strategy", "tsumogiri"],
        ["watch", "--seat", "3", "--out", "OUT.html"],
        ["watch", "--at", "3/0/1", "--out", "OUT.html"],
        ["draw", "--seat", "3", "--out", "OUT.svg"],
    ],
    ids=" ".join,
)
def test_a_seat_that_a_table_of_three_lacks_is_refused(of_three, tmp_path, capsys, words):
    words = [str(tmp_path / word) if word.startswith("OUT") else word for word in words]
    assert main([*words, str(of_three)]) == ExitCode.BAD_ARGUMENTS
    output, errors = capsys.readouterr()
    option = f"--at {words[2]}" if words[1] == "--at" else "--seat 3"
    assert errors == f"mjbot {words[0]}: {option}: the seats of 3 players are 0 to 2\n"
    assert not output and not [*tmp_path.iterdir()]
