from pathlib import Path

import msgspec
import pytest

from mjbot.game.table.mirror.mirror import Mirror
from mjbot.protocol import messages as m
from mjbot.viewer.drawing.board_data import board_of, changed
from mjbot.viewer.game import fold_steps
from mjbot.viewer.library import Library, ReadGame

LOGS = Path(__file__).parents[3] / "logs"
ALL = range(4)
HANDS = (
    ("1m", "2m", "3m", "4p", "5p", "7p", "8p", "9p", "E", "E", "S", "W", "P"),
    ("5p", "5p", "2s", "3s", "4s", "6s", "7s", "8s", "N", "N", "N", "C", "C"),
    ("1p", "1p", "1p", "1p", "4s", "5s", "6s", "9s", "9s", "W", "W", "F", "F"),
    ("4m", "6m", "7m", "8m", "9m", "1s", "1s", "2s", "3s", "S", "S", "P", "P"),
)


@pytest.fixture
def short_game() -> ReadGame:
    return Library(LOGS / "east-extra-round.mjson").game(0)


def table_after(*events: m.Event, hands: tuple[tuple[str, ...], ...] = HANDS) -> Mirror:
    table = Mirror()
    deal = m.StartKyoku(
        bakaze="E", kyoku=1, honba=0, kyotaku=0, oya=0, dora_marker="9m", tehais=hands
    )
    for event in (m.StartGame(), deal, *events):
        table.apply(event)
    return table


def turn(actor: int, drawn: str, discard: str) -> tuple[m.Event, m.Event]:
    output = m.Dahai(actor=actor, pai=discard, tsumogiri=drawn == discard)
    return m.Tsumo(actor=actor, pai=drawn), output


def test_a_called_tile_is_turned_to_the_side_it_came_from() -> None:
    pon = m.Pon(actor=1, target=0, pai="5p", consumed=("5p", "5p"))
    across = m.Pon(actor=3, target=1, pai="P", consumed=("P", "P"))
    table = table_after(
        *turn(0, "6p", "5p"), pon, m.Dahai(actor=1, pai="C", tsumogiri=False), *turn(2, "2m", "2m"),
        *turn(3, "3p", "3p"), *turn(0, "4m", "4m"), *turn(1, "P", "P"), across,
    )  # fmt: skip
    seats = board_of(table.state, ALL)["seats"]
    assert seats[1]["melds"] == ["5p_ 5p 5p"]  # from the left
    assert seats[3]["melds"] == ["P P_ P"]  # from across
    assert seats[0]["river"] == ["5p^", "4m-"]
    assert seats[1]["river"] == ["C", "P-^"]


def test_after_a_claimed_riichi_tile_the_next_discard_that_stays_is_turned() -> None:
    tenpai = ("1m", "2m", "3m", "4p", "5p", "6p", "7p", "8p", "9p", "E", "E", "E", "5s")
    draw, discard = turn(0, "5p", "5p")
    pon = m.Pon(actor=1, target=0, pai="5p", consumed=("5p", "5p"))
    table = table_after(
        draw, m.Reach(actor=0), discard, m.ReachAccepted(actor=0), pon,
        m.Dahai(actor=1, pai="C", tsumogiri=False),
        *turn(2, "2m", "2m"), *turn(3, "3p", "3p"), *turn(0, "4m", "4m"),
        *turn(1, "P", "P"), *turn(2, "S", "S"), *turn(3, "9m", "9m"), *turn(0, "8m", "8m"),
        hands=(tenpai, *HANDS[1:]),
    )  # fmt: skip
    assert board_of(table.state, ALL)["seats"][0]["river"] == ["5p_-^", "4m_-", "8m-"]


def test_an_added_red_five_lies_upon_the_turned_tile() -> None:
    pon = m.Pon(actor=1, target=0, pai="5p", consumed=("5p", "5p"))
    events = [
        *turn(0, "6p", "5p"), pon, m.Dahai(actor=1, pai="C", tsumogiri=False), *turn(2, "2m", "2m"),
        *turn(3, "3p", "3p"), *turn(0, "4m", "4m"), m.Tsumo(actor=1, pai="5pr"),
    ]  # fmt: skip
    kakan = m.Kakan(actor=1, pai="5pr", consumed=("5p", "5p", "5p"))
    state = table_after(*events, kakan).state
    assert board_of(state, ALL, added=[(1, 35)])["seats"][1]["melds"] == ["5p_ 5pr+ 5p 5p"]


def test_a_concealed_kan_shows_its_two_middle_tiles() -> None:
    drawn = (*turn(0, "4m", "4m"), *turn(1, "2m", "2m"), m.Tsumo(actor=2, pai="N"))
    table = table_after(*drawn, m.Ankan(actor=2, consumed=("1p", "1p", "1p", "1p")))
    assert board_of(table.state, ALL)["seats"][2]["melds"] == ["1p# 1p 1p 1p#"]


def test_a_hidden_hand_is_not_on_the_board(short_game: ReadGame) -> None:
    everything = fold_steps(short_game.steps())
    public = fold_steps(short_game.steps(), seen=())
    assert len(public["kyoku"]) == len(everything["kyoku"])
    for kyoku in public["kyoku"]:
        board = kyoku["board"]
        assert [seat["hand"] for seat in board["seats"]] == [None] * 4
        for step in kyoku["steps"]:
            board = changed(board, step["change"])
            assert "choices" not in step
            assert "did" not in step
            if step["kind"] == "tsumo":
                assert step["text"] == "draws"
            shown = [at for at, seat in enumerate(board["seats"]) if seat["hand"] is not None]
            report = {seat["drawn"] for at, seat in enumerate(board["seats"]) if at not in shown}
            assert report <= {"", "?"}
            if not board["result"]:
                assert not shown
            for at, seat in enumerate(board["seats"]):
                if at not in shown:
                    assert (seat["waits"], seat["shanten"], seat["furiten"]) == ("", None, False)


def test_changes_lead_from_board_to_board(short_game: ReadGame) -> None:
    game = fold_steps(short_game.steps())
    kyoku = iter(game["kyoku"])
    board, steps = None, iter(())
    for step in short_game.steps():
        if isinstance(step.event, m.StartKyoku):
            current = next(kyoku)
            board, steps = current["board"], iter(current["steps"])
        elif board is not None:
            board = changed(board, next(steps)["change"])
        if board is not None:
            expected = board_of(step.table.state, ALL, board["result"])
            assert msgspec.json.encode(board) == msgspec.json.encode(expected)


def test_a_win_tells_its_yaku_fu_and_points(short_game: ReadGame) -> None:
    steps = [step for kyoku in fold_steps(short_game.steps())["kyoku"] for step in kyoku["steps"]]
    events = [entry.event for entry in short_game.entries if isinstance(entry.event, m.Hora)]
    wins = [step["change"]["result"]["wins"][0] for step in steps if step["kind"] == "hora"]
    assert len(wins) == len(events) > 2
    for win, event in zip(wins, events, strict=True):
        assert (win["fu"], win["han"], win["points"]) == (event.fu, event.fan, event.hora_points)
        assert sum(han for _, han in win["yaku"]) == event.fan


def test_a_feed_of_a_pair_is_marked(short_game: ReadGame, tmp_path: Path) -> None:
    events = [entry.event for entry in short_game.entries]
    at = next(i for i, event in enumerate(events) if _is_ron(event))
    names = ["x", "y", "z", "w"]
    names[events[at].actor], names[events[at].target] = "us (team 1/2)", "us (team 2/2)"
    start = msgspec.structs.replace(events[0], names=tuple(names))
    entries = [short_game.entries[0]._replace(event=start), *short_game.entries[1:]]
    steps = fold_steps(ReadGame("", entries).steps())["kyoku"]
    feeds = [
        step for kyoku in steps for step in kyoku["steps"] if "sashikomi" in step.get("feed", "")
    ]
    assert feeds[0]["n"] == at + 1
    assert feeds[0]["feed"].startswith("us (team 2/2) feeds us (team 1/2) a win (sashikomi): ")


def _is_ron(event: m.Event) -> bool:
    return isinstance(event, m.Hora) and event.actor != event.target


def test_what_players_remarked_is_told(tmp_path: Path) -> None:
    log = tmp_path / "talk.mjson"
    lines = (Path(__file__).parents[3] / "logs/east-extra-round.mjson").read_text().splitlines()
    lines[2] = lines[2].replace('"logs":[null,', '"logs":["I want \\u202e 3p",')
    log.write_text("\n".join(lines))
    game = Library(log).game(0)
    report = fold_steps(game.steps(), talk=[entry.talk for entry in game.entries])
    assert report["kyoku"][0]["steps"][0]["talk"] == [[0, "I want \\u202e 3p"]]
