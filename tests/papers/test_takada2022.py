"""``python -m papers takada2022``: the two positions, and last hands, on few runs."""

from pathlib import Path

import pytest

from mjbot.game.table.state import CALLED, CHI, PON, TURN
from mjbot.protocol.tiles import TILE_NAMES
from mjbot.strategy.registry import Spec
from papers.__main__ import main
from papers.takada2022 import experiment as takada2022
from papers.takada2022.last_hands import LastHand, play_last_hand, ranks_and_bonus

WHITE = 31


def test_figure_6_is_what_the_paper_tells_of_it():
    view = takada2022.position("figure6.jsonl", 0)
    assert view.phase == TURN
    melds = view.melds(2)
    assert [meld.type for meld in melds] == [PON] * 3
    assert sorted(meld.kind for meld in melds) == [WHITE, WHITE + 1, WHITE + 2]
    assert view.dealer != 2  # so that daisangen pays 32,000
    assert {meld.type for meld in view.melds(0)} == {PON, CHI}
    assert {"4p", "7s"} <= {TILE_NAMES[action.tile] for action in view.legal}
    for seat in (0, 2):
        middle = [tile for tile in view.river(seat).tolist() if tile < 27 and 2 <= tile % 9 <= 6]
        assert len(middle) >= 0.7 * len(view.river(seat))
    assert 12 in view.river(2).tolist()  # 4p is safe from the daisangen, 7s is not
    assert 24 not in view.river(2).tolist()


def test_figure_2_is_what_the_paper_tells_of_it():
    view = takada2022.position("figure2.jsonl", 2)
    assert (view.phase, view.round, view.last_round) == (CALLED, 7, 7)
    assert view.scores.tolist() == [33_100, 16_700, 24_200, 26_000]
    assert view.dora[7] == 1
    assert view.hand[7] == 1
    assert view.melds(2)[-1].kind == 19


def figure_6_choices(options: str, seeds: range) -> set[str]:
    view = takada2022.position(takada2022.FIGURE_6, takada2022.FIGURE_6_SEAT)
    spec = Spec.read(takada2022.FULL + options + takada2022.FIGURE_6_RULES)
    return {TILE_NAMES[spec.make(seed).decide(view).tile] for seed in seeds}


def test_the_default_player_asks_for_help_in_figure_6_and_without_the_lists_it_does_not():
    assert figure_6_choices(",deals=250", range(2021, 2024)) == {"7s"}
    assert "7s" not in figure_6_choices(",deals=250,lists=off", range(2021, 2023))


def test_all_players_are_asked_of_both_positions(capsys: pytest.CaptureFixture[str], monkeypatch):
    monkeypatch.setattr(takada2022, "FULL", "collusion-mc,budget_s=0.01")
    assert main(["takada2022", "--games", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = [line for line in lines if line.startswith(("| paper", "| full"))]
    assert len(rows) == 12 and sum(", lists off" in line for line in rows) == 6
    for row in rows:
        assert sum(int(cell) for cell in row.strip("| ").split(" | ")[1:]) == 2


def test_last_hands_are_played_once_and_told_with_intervals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch
):
    quick = "collusion-mc,deals=2"
    papers = "collusion-mc,mode=paper,deals=1,walls=1"
    monkeypatch.setattr(takada2022, "ARMS", {"full": quick, "paper, lists off": papers})
    command = ["takada2022", "--part", "arena", "--games", "2", "--jobs", "1"]
    assert main([*command, "--out", str(tmp_path)]) == 0
    first = capsys.readouterr().out
    files = list(tmp_path.glob("takada2022-*/*.jsonl"))
    assert [len(file.read_text().splitlines()) for file in files] == [1 + 8, 1 + 8]
    kept = files[0].read_bytes()
    files[0].write_bytes(kept[:-9])  # killed while writing
    assert main([*command, "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out == first
    assert files[0].read_bytes() == kept
    files[0].write_bytes(kept.replace(b'"ending":', b'"end":', 1))
    assert main([*command, "--out", str(tmp_path)]) == 3
    text = capsys.readouterr().err.splitlines()[-1]
    assert text.startswith(f"python -m papers takada2022: {files[0]}, line 2: ")
    assert text.endswith("; delete that line, and its work is done again, or move the file away")
    assert "| points with bonus |" in first


def test_a_last_hand_ends_the_game_with_all_points_on_the_table():
    hand = LastHand("fast-riichi-d", "fast-riichi-d", 5, 2, (24_200, 33_100, 26_000, 16_700))
    ending = play_last_hand(hand)
    assert sum(ending.scores) == 100_000
    assert ending == play_last_hand(hand)


def test_of_equal_scores_the_earlier_seat_ranks_first():
    bonus = (50_000, 10_000, -10_000, -30_000)
    level = [ranks_and_bonus((25_000,) * 4, seat, bonus) for seat in range(4)]
    assert level == [(1, 75_000), (2, 35_000), (3, 15_000), (4, -5_000)]
    pair = [ranks_and_bonus((20_000, 30_000, 20_000, 30_000), seat, bonus)[0] for seat in range(4)]
    assert pair == [3, 1, 4, 2]
