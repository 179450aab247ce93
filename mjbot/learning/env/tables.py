"""Many tables, all stepped in one compiled loop: from decisions to decisions.

A table waits for decisions (``asked`` has their seats' bits) or stands between two kyoku (``asked``
is 0).  Each table is visited once in a step: what was chosen is carried out, ended kyoku are noted,
the next decisions written down.  Rewards are computed elsewhere.
"""

from typing import Annotated, Any, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.referee.flow import advance, deal, settle_choices
from mjbot.game.referee.step import StepBuffer
from mjbot.game.referee.wall import shuffle_wall
from mjbot.game.table.apply import apply_end_game, apply_start_game
from mjbot.game.table.default_action import default_code
from mjbot.game.table.seats import seat_after
from mjbot.game.table.settle import OVER, kyoku_left, next_kyoku
from mjbot.game.table.state import GAME_OVER, IDLE, State
from mjbot.learning.env.actions import (
    ILLEGAL,
    N_ACTIONS,
    SEVERAL_KANS,
    code_of,
    is_one_action,
    write_mask,
)
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import (
    Float32s,
    Float64s,
    Int8,
    Int8s,
    Int32s,
    Int64,
    Record,
    UInt8s,
    UInt64s,
)
from mjbot.runtime.compiler.splitmix import mix, next_below

Ints = NDArray[np.int64]
Values = NDArray[np.float64]

TSUMOGIRI: Final = -1
"""As a player: discards what it drew, lets everything else pass."""
RANDOM: Final = -2
"""As a player: any of its legal codes, all equally likely."""

MOST_ROWS: Final = 3
"""Of one table: a discard can concern three seats."""
MOST_ENDS: Final = 4
"""Of one table in a step; more than one happens only where seats are not asked."""


class EnvTable(Record):
    """One table and the environment's state of it."""

    state: State
    buffer: StepBuffer
    value: Annotated[Float64s, 4]  # of where the game stood before this kyoku
    seed: Int64  # of the game under way
    random: Annotated[UInt64s, 1]  # of the RANDOM players
    players: Annotated[Int8s, 4]  # 0 and above is asked, below that TSUMOGIRI or RANDOM
    pauses: Int8  # 1: once a kyoku has ended, the next step deals, not this one
    stops: Int8  # 1: no game follows the first one
    asked: Int8  # a bit per seat
    at_kan: Int8  # 1 while the kind of a kan is chosen
    # of the last step:
    kyoku_ends: Int8
    done: Int8  # 1: a game ended
    rewards: Annotated[Float32s, 4]
    final_scores: Annotated[Int32s, 4]  # of the last game that ended, in points


class Row(Record):
    """A decision that is waited for."""

    table: Int64
    seat: Int64
    mask: Annotated[UInt8s, N_ACTIONS]


class GameStanding(Record):
    """Where a game stands after a kyoku."""

    table: Int64
    scores: Annotated[Int32s, 4]  # points; after a game the sticks are given out
    round: Int64  # of the next kyoku: 0 East 1 .. 15
    honba: Int64
    sticks: Int64
    left: Int64  # kyoku that follow at least, by the schedule; 0: the game is over
    last_round: Int64  # 3 tonpu, 7 hanchan; of three players 2 and 6


TABLE: Final = EnvTable.dtype
ROW: Final = Row.dtype
STANDING: Final = GameStanding.dtype

EnvTables = NDArray[Any]  # TABLE[n]
RowRecords = NDArray[Any]  # ROW[n]: by table, of one table from the next seat on
Standings = NDArray[Any]  # STANDING[n]: by table, of one table in order


@compiled
def step(
    tables: EnvTables,
    rows: RowRecords,
    n: int,
    actions: Ints,
    following: RowRecords,
    ends: Standings,
) -> tuple[int, int]:
    """Carry out the actions int64[n] of the first ``n`` rows; write down the following decisions.

    Returns how many decisions follow and how many kyoku ended; with an illegal action in a row
    ``(-1, row)``, nothing having been done.
    """
    for row in range(n):
        if not _is_legal(tables, rows[row], actions[row]):
            return -1, row
    row, n_rows, n_ends = 0, 0, 0
    for index in range(len(tables)):
        table = tables[index]
        is_waiting = table.asked != 0
        _clear_results(table)
        while row < n and rows[row].table == index:
            _take(table, rows[row].seat, actions[row])
            row += 1
        if is_waiting and not table.at_kan:
            _play_on(table)
            n_ends = _note_end(table, index, ends, n_ends)
        n_ends = _go_on(table, index, len(tables), is_waiting, ends, n_ends)
        n_rows = _write_rows(table, index, following, n_rows)
    return n_rows, n_ends


@compiled
def _is_legal(tables: EnvTables, row: Row, action: int) -> bool:
    if 0 <= action < N_ACTIONS:
        return bool(row.mask[action])
    table = tables[row.table]
    codes, n = table.buffer.codes[row.seat], table.buffer.n_codes[row.seat]
    return code_of(codes, n, table.at_kan != 0, action) != ILLEGAL


@compiled
def _clear_results(table: EnvTable) -> None:
    table.kyoku_ends = 0
    table.done = 0
    for seat in range(4):
        table.rewards[seat] = 0


@compiled
def _take(table: EnvTable, seat: int, action: int) -> None:
    codes, n = table.buffer.codes[seat], table.buffer.n_codes[seat]
    code = code_of(codes, n, table.at_kan != 0, action)
    table.at_kan = code == SEVERAL_KANS
    if code != SEVERAL_KANS:
        table.buffer.choices[seat] = code


@compiled
def _go_on(
    table: EnvTable, number: int, n_tables: int, is_waiting: bool, ends: Standings, n_ends: int
) -> int:
    """Deal, where a table stands between two kyoku, until a seat is asked.

    A table that pauses, and any after MOST_ENDS kyoku, is dealt at again in the next step only.
    """
    kyoku = 1 if is_waiting else 0
    while table.asked == 0 and kyoku < (1 if table.pauses else MOST_ENDS):
        if table.stops and table.state.phase == GAME_OVER:
            break
        _deal_next(table, n_tables)
        n_ends = _note_end(table, number, ends, n_ends)
        kyoku += 1
    return n_ends


@compiled
def _deal_next(table: EnvTable, n_tables: int) -> None:
    """Deal the next kyoku, or the first one of a game, and play up to a decision or its end."""
    round_, honba = 0, 0
    if table.state.phase == GAME_OVER or table.state.phase == IDLE:
        if table.state.phase == GAME_OVER:
            table.seed += n_tables
        apply_start_game(table.state, table.state.rules)
        table.random[0] = mix(np.uint64(table.seed))
    else:
        round_, honba = next_kyoku(table.state)
    shuffle_wall(table.seed, round_, honba, table.state.wall, table.state.rules.players)
    deal(table.state, table.buffer, round_, honba)
    table.at_kan = 0
    _play_on(table)


@compiled
def _note_end(table: EnvTable, number: int, ends: Standings, n: int) -> int:
    """Note that the kyoku has ended, if it has, and how the game stands; return how many have."""
    if table.asked:
        return n
    state, standing = table.state, ends[n]
    standing.table = number
    standing.left = kyoku_left(state)
    standing.round, standing.honba = next_kyoku(state)
    standing.last_round = state.rules.last_round
    if standing.left == OVER:
        apply_end_game(state)
    standing.sticks = state.sticks
    for seat in range(4):
        standing.scores[seat] = state.scores[seat]
    return n + 1


@compiled
def _write_rows(table: EnvTable, number: int, rows: RowRecords, n: int) -> int:
    """Write down the decisions that the table waits for after the first ``n`` rows."""
    if table.asked == 0:
        return n
    buffer, at_kan = table.buffer, table.at_kan != 0
    for steps in range(1, table.state.rules.players + 1):
        seat = seat_after(table.state, table.state.turn, steps)
        if (table.asked >> seat) & 1:
            rows[n].table = number
            rows[n].seat = seat
            write_mask(buffer.codes[seat], buffer.n_codes[seat], at_kan, rows[n].mask)
            n += 1
    return n


@compiled
def _play_on(table: EnvTable) -> None:
    """Carry out what was chosen and continue to a decision of a player, or the kyoku's end."""
    advance(table.state, table.buffer)
    asked = _settle(table)
    while table.buffer.asked and not asked:
        advance(table.state, table.buffer)
        asked = _settle(table)
    table.asked = asked


@compiled
def _settle(table: EnvTable) -> int:
    """Choose for the seats that need no decision; return the mask of the others."""
    asked = settle_choices(table.state, table.buffer)
    for seat in range(4):
        if (asked >> seat) & 1 and _choose(table, seat):
            asked ^= 1 << seat
    return asked


@compiled
def _choose(table: EnvTable, seat: int) -> bool:
    """Choose for a seat that can do one thing only, or is not asked; return whether that is so."""
    buffer = table.buffer
    n, player = int(buffer.n_codes[seat]), table.players[seat]
    if player == TSUMOGIRI:
        buffer.choices[seat] = default_code(table.state, seat)
    elif player == RANDOM:
        buffer.choices[seat] = buffer.codes[seat, next_below(table.random, n)]
    elif is_one_action(buffer.codes[seat], n):
        buffer.choices[seat] = buffer.codes[seat, n - 1]
    else:
        return False
    return True


@compiled
def add_up(tables: EnvTables, ends: Standings, values: Values, opening: Values) -> None:
    """Reward each ended kyoku with the values after it, float64[k, 4], less those before it.

    ``opening`` float64[4] is the value of a game's beginning.
    """
    for end in range(len(values)):
        standing = ends[end]
        table = tables[standing.table]
        table.kyoku_ends += 1
        for seat in range(4):
            table.rewards[seat] += values[end, seat] - table.value[seat]
            table.value[seat] = values[end, seat]
        if standing.left == OVER:
            table.done = 1
            for seat in range(4):
                table.value[seat] = opening[seat]
                table.final_scores[seat] = standing.scores[seat]


@compiled
def random_actions(masks: NDArray[np.bool_], random: NDArray[np.uint64], actions: Ints) -> None:
    """Fill int64[rows] with a legal action of each row, all equally likely.

    ``random`` uint64[1] is the state of the random numbers and is updated.
    """
    legal = np.empty(N_ACTIONS, np.int64)
    for row in range(len(masks)):
        n = 0
        for action in range(N_ACTIONS):
            legal[n] = action
            n += masks[row, action]
        actions[row] = legal[next_below(random, n)]
