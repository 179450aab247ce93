"""The same AGARI or RYUUKYOKU gives the same message from a live game and from its record."""

import zipfile

import pytest

from mjbot.game.records.mjlog import read_mjlog
from mjbot.protocol.messages import Hora, Ryukyoku
from mjbot.protocol.tenhou.results import yaku_order
from proof.records import shared_folder
from proof.round_trips import live_results

HANDS = ",".join(str(4 * kind) for kind in range(13))
SC = 'ba="0,0" sc="250,0,250,0,250,0,250,0"'


def both(document: bytes, seat: int) -> list[tuple[object, object]]:
    return list(live_results(document, list(read_mjlog(document, "game")), seat))


@pytest.mark.parametrize("seat", range(4))
def test_dora_of_a_win_come_in_one_order(tenhou, seat: int) -> None:
    win = (
        f'<AGARI {SC} hai="0,1,4" machi="4" ten="30,8000,1" '
        'yaku="1,1,8,1,52,1,54,2,53,1" doraHai="2" doraHaiUra="3" who="1" fromWho="0"/>'
    )
    ((recorded, live),) = both(tenhou.mjlog(tenhou.deal(), "T4", "D4", win), seat)
    assert isinstance(live, Hora)
    assert recorded == live
    names = [name for name, _ in live.yakus or ()]
    assert names == ["dora", "uradora", "akadora", "reach", "tanyaochu"]


@pytest.mark.parametrize("seat", range(4))
@pytest.mark.parametrize(
    ("kind", "shown", "tenpais"),
    [
        ("reach4", (0, 1, 2, 3), (True,) * 4),
        ("ron3", (0, 1, 3), (True, True, False, True)),
        ("kaze4", (), (False,) * 4),
        ("kan4", (), (False,) * 4),
        ("yao9", (0,), (False,) * 4),
        ("nm", (2,), (False, False, True, False)),
        (None, (), (False,) * 4),
    ],
)
def test_draws_are_read_alike(tenhou, seat: int, kind, shown, tenpais) -> None:
    hands = " ".join(f'hai{at}="{HANDS}"' for at in shown)
    report = f'type="{kind}"' if kind else ""
    draw = f"<RYUUKYOKU {report} {SC} {hands}/>"
    ((recorded, live),) = both(tenhou.mjlog(tenhou.deal(), "T60", draw), seat)
    assert isinstance(recorded, Ryukyoku)
    assert isinstance(live, Ryukyoku)
    unknown = kind == "nm" and seat not in shown  # nothing says whether the receiver was tenpai
    assert live.tenpais == (None if unknown else tenpais)
    assert live == recorded


@pytest.mark.parametrize("seat", range(4))
def test_the_receivers_tenpai_follows_from_the_payments(tenhou, seat: int) -> None:
    draw = f'<RYUUKYOKU ba="0,0" sc="250,15,250,-15,250,15,250,-15" hai0="{HANDS}" hai2="{HANDS}"/>'
    ((recorded, live),) = both(tenhou.mjlog(tenhou.deal(), "T60", draw), seat)
    assert isinstance(live, Ryukyoku)
    assert recorded == live
    assert live.tenpais == (True, False, True, False)


def test_yaku_stand_in_tenhous_order() -> None:
    order = yaku_order([])
    real = [1, 2, 3, 7, 54, 53]
    assert sorted(real, key=order.index) == real
    assert order.index(30) < order.index(29)


def test_real_records_read_as_live_games() -> None:
    archives = sorted((shared_folder() / "data" / "phoenix").glob("*.zip"))
    if not archives:
        pytest.skip("no records in ../shared/data/phoenix")
    for archive in map(zipfile.ZipFile, archives):
        for name in archive.namelist()[:10]:
            for seat in range(4):
                for recorded, live in both(archive.read(name), seat):
                    assert live == recorded
