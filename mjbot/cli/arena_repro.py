"""``mjbot arena --repro FILE``: one recorded decision, made again."""

from pathlib import Path

from mjbot import exit_codes
from mjbot.arena.faults import read_fault
from mjbot.arena.repro import replay_decision
from mjbot.referee.narrate import concealed_tiles
from mjbot.table.view import View
from protocol.tiles import TILE_NAMES, WIND_NAMES


def repeat(path: Path) -> int:
    """Show the table and the decision; FAILED if it goes wrong again."""
    file = read_fault(path)
    print(f"{file.strategy}, seat {file.seat}, decision {file.decision} of game", end=" ")
    print(f"{file.setup.game_seed(file.unit.wall)}: {file.kind}, {file.problem}")
    again = replay_decision(file, _announce)
    if not again.as_recorded:
        print("the game went another way this time: a new player decided on the recorded table")
    if again.trace:
        print(again.trace, end="")
        return exit_codes.FAILED
    limit = file.setup.deadline_s
    late = f", allowed are {limit:g} s" if limit and again.seconds > limit else ""
    print(f"chose {again.chosen} after {again.seconds:.3f} s{late}")
    allowed = again.chosen in [str(action) for action in again.view.legal]
    return exit_codes.OK if allowed and not late else exit_codes.FAILED


def _announce(view: View) -> None:
    wind = WIND_NAMES[view.round // 4]
    hand = " ".join([TILE_NAMES[tile] for tile in concealed_tiles(view.state, view.seat)])
    print(f"{wind}{view.round % 4 + 1}-{view.honba}, {view.wall_left} tiles left; hand: {hand}")
    print(f"it may: {', '.join([str(action) for action in view.legal])}", flush=True)
