"""One game through the strict table, with the further checks that a record allows."""

from collections import Counter
from typing import Any, Final, NoReturn

import numpy as np

from mjbot.game.records.game import Entry, WinRecord
from mjbot.game.rules.yaku_table import DORA, RED_DORA, URA_DORA, yaku_ids
from mjbot.game.table.actions import ACTIONS, NINE_TERMINALS
from mjbot.game.table.assume import show_ura
from mjbot.game.table.legal import can_ron, can_tsumo
from mjbot.game.table.mirror.check import allowed_actions
from mjbot.game.table.mirror.mirror import Mirror
from mjbot.game.table.mirror.wire import tile_code
from mjbot.game.table.seats import steps_between
from mjbot.game.table.settle import PAYMENT, abort_reason, game_ends, has_nagashi, win_payment
from mjbot.game.table.state import (
    ACCEPTED,
    ANKAN,
    CHANKAN,
    REACTION,
    RINSHAN,
    TURN,
    State,
    copy_state,
)
from mjbot.protocol import messages as m
from mjbot.protocol.tiles import TILE_NAMES, tile_kind

_MANGAN_BASE: Final = 2000


class ContradictionError(ValueError):
    """The record contradicts our rules."""


class Witness:
    """Follows one game; ``checked`` counts what held.

    ``apply`` raises :class:`ContradictionError` or the table's ``TableError``.  ``older``: of a
    time without tenpai-yame, so that games may go on where the table ends them.
    """

    def __init__(self, checked: Counter[str], older: bool = False) -> None:
        self._older = older
        self._checked = checked
        self._table = Mirror(strict=True)
        self._win: Any = np.zeros(1, PAYMENT)[0]
        self._winners: list[int] = []

    def apply(self, entry: Entry) -> None:
        """Check one event and let the table take it in."""
        event, state = entry.event, self._table.state
        self._check_claims(state, event)
        match event:
            case m.StartKyoku():
                self._winners = []
            case m.Dora():
                self._expect("dora markers turned when owed", int(state["pending_dora"]) > 0, True)
            case m.Tsumo() | m.Dahai():
                self._check_owed_markers(state, event)
            case m.Hora() if entry.win:
                self._check_win(state, event, entry.win)
            case m.Ryukyoku():
                self._check_draw(state, event)
        if self._older and isinstance(event, m.StartKyoku) and self._ends_by_tenpai_yame(state):
            self._checked["games of before tenpai-yame that continue where it ends them"] += 1
            self._table.forget_result()
        self._table.apply(event)
        self._checked[f"event {m.wire_name(event)} in our rules"] += 1
        if isinstance(event, m.ReachAccepted) and event.scores:  # older records lack them
            ours = tuple(state["scores"].tolist())
            self._expect("scores after a riichi stick", event.scores, ours)

    def _ends_by_tenpai_yame(self, state: State) -> bool:
        return not int(state["wins"]) and int(state["dealer_stays"]) == 1 and game_ends(state)

    def _check_claims(self, state: State, event: m.Event) -> None:
        """Count wins that were not taken; no draw was due if play continues."""
        phase = int(state["phase"])
        if isinstance(event, m.Hora | m.ReachAccepted | m.Ryukyoku):
            return
        if phase in (REACTION, CHANKAN):
            turn = int(state["turn"])
            for seat in range(4):
                if seat != turn and can_ron(state, seat):
                    in_riichi = int(state["riichi"][seat]) == ACCEPTED
                    self._checked[f"ron passed up{' in riichi' if in_riichi else ''}"] += 1
            if phase == REACTION:
                self._expect("no abortive draw where play continues", int(abort_reason(state)), 0)
        elif phase == TURN and isinstance(event, m.Dahai) and can_tsumo(state, event.actor):
            self._checked["win by draw passed up"] += 1

    def _check_owed_markers(self, state: State, event: m.Tsumo | m.Dahai) -> None:
        """Before a discard no marker is owed, before a rinshan draw only an open kan's own."""
        owed = 0
        if isinstance(event, m.Tsumo) and int(state["phase"]) == RINSHAN:
            seat = int(state["turn"])
            last = int(state["n_melds"][seat]) - 1
            owed = int(state["meld_type"][seat][last] != ANKAN)
        self._expect("no dora marker late", int(state["pending_dora"]), owed)

    # --- wins --------------------------------------------------------------------------------

    def _check_win(self, state: State, event: m.Hora, record: WinRecord) -> None:
        by_draw = record.winner == record.source
        self._check_showing(state, event, record, by_draw)
        ours = self._win
        copy = copy_state(state)
        show_ura(copy, [tile_code(name) for name in record.ura_markers])
        tile = int(state["drawn"] if by_draw else state["last_tile"])
        win_payment(copy, record.winner, tile, by_draw, ours)
        if record.yakuman:
            ids = set(yaku_ids(int(ours["yaku_mask"])))
            self._expect("win: yakuman ids", ids, set(record.yakuman))
        else:
            self._check_yaku(ours, record)
            self._expect("win: fu", int(ours["fu"]), record.fu)
        self._expect("win: limit", _limit(ours), record.limit)
        self._expect("win: hand points", int(ours["points"]), record.hand_points)
        self._expect("win: payments", tuple(ours["deltas"].tolist()), record.deltas)
        liable = int(ours["liable"])
        self._expect("win: liable player", None if liable < 0 else liable, record.liable)

    def _check_showing(self, state: State, event: m.Hora, record: WinRecord, by_draw: bool) -> None:
        """What a win shows of the table: tile, markers, honba, sticks, hand, order of winners."""
        tile = TILE_NAMES[int(state["drawn"] if by_draw else state["last_tile"])]
        self._expect("win: tile", tile, record.winning_tile)
        markers = [TILE_NAMES[marker] for marker in state["dora_markers"][: int(state["n_dora"])]]
        self._expect("win: dora markers", tuple(markers), record.dora_markers)
        in_riichi = int(state["riichi"][record.winner]) == ACCEPTED
        n_ura = len(markers) if in_riichi else 0
        self._expect("win: number of ura markers", n_ura, len(record.ura_markers))
        self._expect("win: honba", int(state["honba"]), record.honba)
        self._expect("win: sticks", int(state["sticks"]), record.sticks)
        hand = np.zeros(34, np.int8)
        for name in event.hora_tehais or ():
            hand[tile_kind(tile_code(name))] += 1
        self._expect("win: hand", state["hand"][record.winner].tolist(), hand.tolist())
        distance = int(steps_between(state, record.source, record.winner))
        self._winners.append(distance)
        self._expect("win: order of winners", sorted(self._winners), self._winners)
        self._checked["wins"] += 1
        self._checked["wins with a second winner"] += len(self._winners) == 2

    def _check_yaku(self, ours: Any, record: WinRecord) -> None:
        bonus = {DORA: int(ours["dora"]), URA_DORA: int(ours["ura"]), RED_DORA: int(ours["red"])}
        ids = set(yaku_ids(int(ours["yaku_mask"]))) - bonus.keys()
        recorded = {yaku: han for yaku, han in record.yaku if han}
        self._expect("win: yaku ids", ids, recorded.keys() - bonus.keys())
        bonus_given = {yaku: recorded.get(yaku, 0) for yaku in bonus}
        self._expect("win: dora, ura and red counts", bonus, bonus_given)
        self._expect("win: han", int(ours["han"]), sum(recorded.values()))

    # --- draws -------------------------------------------------------------------------------

    def _check_draw(self, state: State, event: m.Ryukyoku) -> None:
        if event.reason == "kyushukyuhai":
            actions = allowed_actions(state, int(state["turn"]))
            self._expect("draw: nine terminals", ACTIONS[NINE_TERMINALS] in actions, True)
        elif event.reason in ("fanpai", "nagashimangan"):
            tenpai = tuple((state["waits"] != 0).tolist())
            self._expect("draw: tenpai list", tenpai, event.tenpais)
            nagashi = any(has_nagashi(state, seat) for seat in range(4))
            self._expect("draw: nagashi mangan", nagashi, event.reason == "nagashimangan")
        self._checked[f"draw {event.reason}"] += 1

    def _expect(self, what: str, ours: object, recorded: object) -> None:
        if ours != recorded:
            _contradict(f"{what}: ours {ours}, the record's {recorded}")
        self._checked[what] += 1


def _limit(win: Any) -> int:
    """Return Tenhou's limit number: 0 none, 1 mangan, ... 5 yakuman."""
    han, fu = int(win["han"]), int(win["fu"])
    if win["yakuman"] or han >= 13:
        return 5
    thresholds = ((11, 4), (8, 3), (6, 2), (5, 1))
    for least, limit in thresholds:
        if han >= least:
            return limit
    return int(fu * 2 ** (2 + han) >= _MANGAN_BASE)


def _contradict(problem: str) -> NoReturn:
    raise ContradictionError(problem)
