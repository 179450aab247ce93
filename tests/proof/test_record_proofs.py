"""The proofs on records and the wire hold on a sample, and notice what is falsified."""

import re
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from mjbot.game.records.game import Game
from mjbot.game.records.mjlog import read_mjlog
from mjbot.game.records.sources import games_of, list_sources
from proof.records import (
    Extras,
    RecordFindings,
    check_all,
    check_game,
    older_games,
    shared_folder,
)
from proof.round_trips import RoundTripError, check_round_trips
from proof.walls import read_walls
from proof.wire import check_session


def shared(name: str) -> Path:
    path = shared_folder() / "data" / name
    if not path.exists():
        pytest.skip(f"no {path}; MJBOT_SHARED names the shared folder")
    return path


def member(path: Path, number: int) -> bytes:
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.endswith((".mjlog", ".log"))]
        return archive.read(names[number])


def test_sampled_records_agree() -> None:
    sources = list_sources(shared("phoenix/hanchan-2020.zip"))[::50]
    findings = check_all(sources, jobs=1)
    assert findings.mismatches == []
    assert findings.checked["games"] == len(sources)
    assert findings.checked["win: yaku ids"] > 50
    assert findings.checked["win: fu"] > 50


def test_sampled_records_and_walls_of_three_players_agree() -> None:
    folder = shared("sanma")
    sources = list_sources(folder / "sanma-hanchan.zip")[::100]
    extras = Extras(read_walls(folder / "walls.zip"), older_games(folder / "sanma-hanchan.zip"))
    findings = check_all(sources, jobs=1, extras=extras)
    assert findings.mismatches == []
    assert findings.checked["games"] == len(sources)
    assert findings.checked["win: yaku ids"] > 50
    assert findings.checked["walls"] > 50


def test_sampled_records_come_back_from_every_format() -> None:
    sources = list_sources(shared("phoenix/hanchan-2020.zip"))[::150]
    findings = check_all(sources, jobs=1, round_trips=True)
    assert findings.mismatches == []
    for form in ("mjlog", "tenhou6"):
        assert findings.checked[f"{form}: games the same"] == len(sources)
        assert findings.checked[f"{form}: events the same"] > 500 * len(sources)


def test_a_game_that_comes_back_as_another_is_noticed() -> None:
    one, other = list_sources(shared("phoenix/hanchan-2020.zip"))[:2]
    (game,) = games_of(one)
    with pytest.raises(RoundTripError, match=r"mjlog: tag \d+, \w+: written, read: "):
        check_round_trips(other, game, Counter())


@pytest.mark.parametrize(
    ("report", "falsified", "problem"),
    [
        (r'(machi="\d+" ten=)"\d+,', r'\1"110,', "win: fu: ours"),
        (r'(machi="\d+" ten="\d+),\d+,', r"\1,99900,", "win: hand points: ours"),
        (r'yaku="1,1,', 'yaku="9,1,', "win: yaku ids: ours"),
        (r'yaku="1,1,', 'yaku="1,2,', "win: han: ours"),
        (r'doraHai="(\d+)', 'doraHai="135', "win: dora markers: ours"),
        (r',0" yaku=', ',1" yaku=', "win: limit: ours 0, the record's 1"),
        (r"<AGARI ", '<AGARI paoWho="0" ', "win: liable player: ours None, the record's 0"),
        (r'<AGARI ba="\d+', '<AGARI ba="77', "win: honba: ours"),
        (r'(<AGARI .*?sc="\d+,)-?\d+,', r"\g<1>77,", "sum of points and sticks: contradiction"),
        (r'(<RYUUKYOKU .*?) hai\d="[\d,]+"', r"\1", "tenpai list: ours"),
        (r"<RYUUKYOKU ", '<RYUUKYOKU type="nm" ', "draw: nagashi mangan: ours False"),
    ],
)
def test_a_falsified_result_is_noticed(report: str, falsified: str, problem: str) -> None:
    record = member(shared("phoenix/hanchan-2020.zip"), 0).decode()
    changed, count = re.subn(report, falsified, record, count=1)
    assert count == 1
    findings = RecordFindings()
    check_game(Game("game", "tag", read_mjlog(changed.encode(), "game")), findings)
    assert len(findings.mismatches) == 1
    assert problem in findings.mismatches[0]


def test_sampled_sessions_agree() -> None:
    path = shared("tenhou-wire/sessions-2018.zip")
    findings = RecordFindings()
    for number in range(0, 650, 65):
        check_session(member(path, number).decode(), str(number), findings)
    assert findings.mismatches == []
    assert findings.checked["offers"] > 2000
    assert findings.checked["furiten lamp"] > 2000
    assert findings.checked["offered RON"] > 10
    assert findings.checked["answers, byte for byte"] > 1000


@pytest.mark.parametrize(
    ("report", "falsified", "problem"),
    [
        (r' t="4"', "", "offers: ours CHI, the recorded nothing"),
        (r"(<[EFGefg]\d+)/>", r'\1 t="8"/>', "offers: ours nothing, the recorded RON"),
        (r'(<T\d+) t="32"/>', r'\1 t="16"/>', "offers: ours RIICHI, the recorded TSUMO"),
        (r'Send: <N type="3"', r'Send: <N type="1"', "N: type 1 is not open"),
    ],
)
def test_a_falsified_session_is_noticed(report: str, falsified: str, problem: str) -> None:
    path = shared("tenhou-wire/sessions-2018.zip")
    sessions = (member(path, number).decode() for number in range(100, 120))
    session = next(session for session in sessions if re.search(report, session))
    findings = RecordFindings()
    check_session(re.sub(report, falsified, session, count=1), "session", findings)
    assert problem in findings.mismatches[0]
