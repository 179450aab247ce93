"""``mjbot explain``: the choices of a record, and what a strategy thinks of one."""

from pathlib import Path

import pytest

from mjbot import exit_codes
from mjbot.cli.main import main
from mjbot.records.sources import open_games

LOG = str(Path(__file__).parents[2] / "logs" / "east-four-winds.mjson")

BOT = """
from mjbot.strategy import Strategy

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
        yield f"began: {self.began}"
        yield f"sees the hands of {known}, {len(view.legal)} choices"
"""


@pytest.fixture
def nosy(tmp_path):
    (tmp_path / "nosy.py").write_text(BOT)
    return f"{tmp_path / 'nosy.py'}:Nosy"


def explain(*arguments: str) -> int:
    return main(["explain", LOG, *arguments])


def test_without_a_position_it_lists_where_there_is_a_choice(capsys):
    assert explain() == exit_codes.OK
    rows = [line.split("│") for line in capsys.readouterr().out.splitlines() if "│" in line]
    first = [cell.strip() for cell in rows[0][1:5]]
    assert first == ["3", "E1", "tsumo seat 0 2p", "seat 0: 13"]
    assert explain("--seat", "2") == exit_codes.OK
    of_one_seat = capsys.readouterr().out
    assert "seat 2: 10" in of_one_seat
    assert "seat 0:" not in of_one_seat


def test_a_strategy_sees_what_its_seat_sees_from_the_start(nosy, capsys):
    assert explain("--at", "15", "--strategy", nosy) == exit_codes.OK
    out = capsys.readouterr().out
    assert "hand 4m 8m 9m 2p 2p 5pr 2s 3s 4s 9s + 7s" in out
    assert "melds PPP" in out
    assert 'recorded next: {"type":"dahai","actor":0,"pai":"4m","tsumogiri":false}' in out
    assert "began: ['seat 0 of 4', 'hand of 13']" in out
    assert "sees the hands of [0], 10 choices" in out


def test_any_strategy_tells_what_it_would_do(capsys):
    assert explain("--at", "6", "--strategy", "fast-riichi-b") == exit_codes.OK
    assert capsys.readouterr().out.splitlines()[-1] in ("FastRiichiB: pon", "FastRiichiB: pass")


@pytest.mark.parametrize(
    "strategy", ["fast-riichi-a", "fast-riichi-d", "fold-recognition", "fold-recognition-plus"]
)
def test_who_rates_discards_tells_them_best_first(strategy, capsys):
    assert explain("--at", "15", "--strategy", strategy) == exit_codes.OK
    rows = [line.split("│") for line in capsys.readouterr().out.splitlines() if "│" in line]
    worths = [float(row[2]) for row in rows]
    assert len(rows) == 10  # kinds of tiles in the hand
    assert len(set(worths)) > 5
    assert worths == sorted(worths, reverse=True)
    assert [row[3].strip() for row in rows] == ["chosen"] + 9 * [""]


def test_who_does_not_rate_discards_tells_its_choice(capsys):
    assert explain("--at", "15", "--strategy", "tsumogiri") == exit_codes.OK
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == "Tsumogiri: discard 7s (drawn)"
    assert "worth" not in out


def test_the_events_of_all_games_are_counted(nosy, tmp_path, capsys):
    both = tmp_path / "both.mjson"
    text = Path(LOG).read_text()
    both.write_text(text + text)
    n = sum(1 for game in open_games(Path(LOG)) for _ in game.entries)
    assert main(["explain", str(both), "--at", str(n + 15), "--strategy", nosy]) == exit_codes.OK
    assert "hand 4m 8m 9m 2p 2p 5pr 2s 3s 4s 9s + 7s" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--at", "4"], "--at 4: nobody has a choice there"),
        (["--at", "15", "--seat", "2"], "--at 15: seat 2 has no choice there; seat 0 has one"),
        (["--at", "5000"], "the log has the events 1 to 452"),
        (["--at", "0"], "the log has the events 1 to 452"),
    ],
)
def test_where_there_is_no_choice_it_says_so(arguments, problem, capsys):
    assert explain(*arguments, "--strategy", "tsumogiri") == exit_codes.BAD_ARGUMENTS
    err = capsys.readouterr().err
    assert err.startswith("mjbot explain: ")
    assert problem in err


def test_a_hidden_hand_cannot_be_explained(tmp_path, capsys):
    text = Path(LOG).read_text().splitlines(keepends=True)
    hidden = text[1].replace('["7m","3p","4p","4p","8p","3s","5s","8s","9s","E","P","F","F"]',
                             '["?","?","?","?","?","?","?","?","?","?","?","?","?"]')  # fmt: skip
    assert hidden != text[1]
    log = tmp_path / "hidden.mjson"
    log.write_text(text[0] + hidden + '{"type":"tsumo","actor":0,"pai":"2p"}\n')
    assert main(["explain", str(log), "--at", "3", "--strategy", "tsumogiri"]) == exit_codes.OK
    asked = ["explain", str(log), "--at", "3", "--seat", "1", "--strategy", "tsumogiri"]
    assert main(asked) == exit_codes.BAD_ARGUMENTS
    assert "does not show the hand" in capsys.readouterr().err


def test_what_cannot_be_read(tmp_path, capsys):
    assert main(["explain", str(tmp_path / "none")]) == exit_codes.UNREACHABLE
    assert main(["explain", LOG, "--at", "15", "--strategy", "nobody"]) == exit_codes.BAD_ARGUMENTS
    broken = tmp_path / "broken.mjson"
    broken.write_text(Path(LOG).read_text()[:700] + "\n")
    assert main(["explain", str(broken)]) == exit_codes.FAILED
    assert capsys.readouterr().err.count("mjbot explain: ") == 3
