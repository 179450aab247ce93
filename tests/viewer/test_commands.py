"""The commands ``watch`` and ``draw``."""

import gzip
import io
import json
import re
import socket
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mjbot.cli.main import main
from mjbot.game.records.choices import Numbering, steps
from mjbot.viewer.library import Library
from mjbot.viewer.seat import SeatServer

LOG = Path(__file__).parents[2] / "logs" / "east-extra-round.mjson"


def test_a_game_is_written_as_one_file_with_what_a_strategy_thinks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "game.html"
    command = ["watch", str(LOG), "--out", str(out), "--seat", "1", "--by", "fast-riichi-a"]
    assert main(command) == 0
    assert str(out) in capsys.readouterr().out
    assert out.stat().st_size < 150_000
    assert "default-src 'none'" in out.read_text()


def test_a_position_is_drawn(tmp_path: Path) -> None:
    out = tmp_path / "board.svg"
    assert main(["draw", str(LOG), "--at", "80", "--out", str(out), "--seat", "2"]) == 0
    drawing = ElementTree.parse(out)
    hands = [group for group in drawing.iter() if group.get("id") in ("hand1", "hand2", "hand3")]
    hidden = [use.get("href") for hand in hands for use in hand if use.get("href") == "#t?"]
    assert len(hidden) >= 30


def config_of(page: Path) -> dict[str, object]:
    found = re.search(r'id="config"[^>]*>(.*?)</script>', page.read_text(encoding="utf-8"))
    assert found
    return dict(json.loads(found[1]))


def test_a_file_opens_where_a_position_is_named(tmp_path: Path) -> None:
    """The same moment: by the seat's choice, by its event and by the page's address."""
    numbering, out = Numbering(), tmp_path / "game.html"
    events = [step for step in steps(LOG) if 2 in numbering.choosers(step)]
    number = events[4].number  # the fifth choice, in the first kyoku
    for at in ("E1-0:5", str(number), f"2/0/{number - 2}"):
        assert main(["watch", str(LOG), "--at", at, "--seat", "2", "--out", str(out)]) == 0
        assert config_of(out)["place"] == f"2/0/{number - 2}"
    drawings = []
    for at in ("E1-0:5", str(number)):
        picture = tmp_path / "board.svg"
        assert main(["draw", str(LOG), "--at", at, "--seat", "2", "--out", str(picture)]) == 0
        drawings.append(picture.read_text(encoding="utf-8"))
    assert drawings[0] == drawings[1]


def test_an_arena_run_is_shown_by_its_records(tmp_path: Path) -> None:
    (tmp_path / "games.jsonl").write_text("{}\n")
    (tmp_path / "figures.jsonl").write_text('{"type": "figure"}\n')
    records = tmp_path / "records"
    records.mkdir()
    (records / "0000000-00.jsonl.gz").write_bytes(gzip.compress(LOG.read_bytes()))
    library = Library(tmp_path)
    assert library.names == ["0000000-00.jsonl.gz"]
    assert len(library.game(0).entries) == 299


def test_a_request_in_another_thread_changes_no_answer(tmp_path: Path) -> None:
    """Another thread may come between any two assignments: here it comes after each."""
    logs = ("east-four-winds.mjson", "hanchan-thirteen-kyoku.mjson")
    for log in logs:
        (tmp_path / log).write_bytes((LOG.parent / log).read_bytes())

    class Shared(Library):
        inside = True

        def __setattr__(self, name: str, value: object) -> None:
            super().__setattr__(name, value)
            if not self.inside:
                super().__setattr__("inside", True)
                other = self.game(1)
                super().__setattr__("inside", False)
                assert other.name.endswith(logs[1])

    library = Shared(tmp_path)
    library.inside = False
    for _ in range(2):
        assert library.game(0).name.endswith(logs[0])
    assert library.game(1).name.endswith(logs[1])


@pytest.mark.parametrize("words", [["-"], ["{address}"]])
def test_an_address_is_read_from_standard_input_and_its_key_not_printed(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    address = "http://127.0.0.1:9/?key=SECRET"
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{address}\n"))
    words = [word.format(address=address) for word in words]
    assert main(["watch", *words, "--no-browser"]) == 3
    output = capsys.readouterr()
    assert "http://127.0.0.1:9: shows no table" in output.err
    assert "SECRET" not in output.out + output.err


def test_standard_input_that_holds_no_address_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("game.mjson\n"))
    with pytest.raises(SystemExit):
        main(["watch", "-"])
    assert "expected an address http://... on standard input" in capsys.readouterr().err


@pytest.mark.parametrize("given", [False, True])
def test_the_key_of_a_person_s_seat_is_printed_where_it_is_made_and_nowhere_else(
    given: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a player of a match prints goes into a file of the match, which other users can read."""

    async def arrived(self: SeatServer) -> None:
        return None

    monkeypatch.setattr(SeatServer, "arrival", arrived)
    if given:
        monkeypatch.setenv("MJBOT_SEAT_KEY", "SECRET")
    with socket.socket() as taken:  # it is bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        url = f"mjsonp://127.0.0.1:{taken.getsockname()[1]}/default"
        seat = ["--strategy", "human", "--no-browser", "--wait-s", "0"]
        assert main(["play", url, *seat]) == 3
    output = capsys.readouterr()
    assert ("key=" in output.err) != given
    assert "SECRET" not in output.out + output.err
