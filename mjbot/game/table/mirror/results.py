"""Scores, payments and the order of kyoku: the events against the rules."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.ruleset import rule_set
from mjbot.game.table import apply as do
from mjbot.game.table import settle
from mjbot.game.table.assume import name_drawn, set_last_round, set_position, show_ura
from mjbot.game.table.mirror.check import check_draw_reason, situation
from mjbot.game.table.mirror.wire import tile_code, wire_yakus
from mjbot.game.table.seats import is_seated
from mjbot.game.table.state import DRAWN, GAME_OVER, IDLE, WON, State, copy_state
from mjbot.protocol import messages as m
from mjbot.protocol.rules import LAST_ROUND, Length, Rules, last_round
from mjbot.protocol.seats import by_seat, paid, riichi_deltas
from mjbot.protocol.tiles import UNKNOWN, WIND_NAMES

_RESULTS: Final = (WON, DRAWN)

SeatPoints = NDArray[np.int32]
"""Points by seat, int32[4]: what everybody gets or, below zero, gives."""


def _points(values: Any) -> tuple[int, ...]:
    return tuple(int(value) for value in values)


def announced_rules(event: m.StartGame) -> Rules:
    """Return the rules that a table announces, else the default ones.  Raises ``ValueError``."""
    return Rules.read(event.mjbot_rules or {}, players=(3, 4))


def expected_length(event: m.StartGame) -> Length | None:
    """Return the length that a server gives by akochan's field, if it does: 4 is East only."""
    return "tonpu" if event.kyoku_first == 4 else None


class Ledger:
    """What was paid and what comes next, checked wherever the state is known.

    The check of a result returns what the rules pay for it, ``None`` where that is not known; its
    ``apply`` takes that.  A check that raises has returned nothing, so nothing is paid by it.

    Unless the table announces a length, the ledger keeps both lengths until the course of the game
    excludes one; until then ``length`` is expected, what the caller was given, else a hanchan.
    """

    def __init__(self, state: State, length: Length | None = None) -> None:
        self._state = state
        self._length = length
        self._last_rounds: set[int] = set(LAST_ROUND.values())
        self._scores_known = False
        self._result_seen = False
        self._kyoku_played = 0
        self._start_is_named = False
        self._expect(length)

    # --- game and kyoku ----------------------------------------------------------------------

    def start_game(self, event: m.StartGame) -> None:
        """All seats have the starting points.

        A game without rules is one of the default rules.  If they name no length, it is the one
        that the server suggests, if any.
        """
        rules = announced_rules(event)
        self._scores_known = self._result_seen = False
        self._kyoku_played = 0
        self._start_is_named = "start_points" in (event.mjbot_rules or {})
        do.apply_start_game(self._state, rule_set(rules))
        if "length" in (event.mjbot_rules or {}):
            self._last_rounds = {rules.last_round}
            return
        self._last_rounds = {last_round(each, rules.players) for each in LAST_ROUND}
        self._expect(expected_length(event) or self._length)

    def take_players(self, event: m.StartKyoku) -> None:
        """The game begins by the default rules of as many players as its first deal shows."""
        players, expected = event.num_players, int(self._state["rules"]["players"])
        if players is None or players == expected:
            return
        if self._kyoku_played:
            raise ValueError(f"num_players is {players}, expected {expected}")
        self.start_game(m.StartGame(mjbot_rules={"players": players}))

    def _expect(self, length: Length | None) -> None:
        players = int(self._state["rules"]["players"])
        self._expected = last_round(length or "hanchan", players)
        set_last_round(self._state, self._expected)

    def check_start_kyoku(self, event: m.StartKyoku) -> None:
        """Round, honba, sticks and scores follow from the kyoku before, if its end was seen."""
        state = self._state
        if int(state["phase"]) not in (IDLE, *_RESULTS):
            raise ValueError(f"a kyoku starts, but {situation(state)}")
        self._check_first_deal(event)
        if not self._result_is_seen():
            return
        if self._scores_known and event.scores not in (None, _points(state["scores"])):
            raise ValueError(f"scores are {event.scores}, expected {_points(state['scores'])}")
        if event.kyotaku != int(state["sticks"]):
            raise ValueError(f"kyotaku is {event.kyotaku}, expected {state['sticks']}")
        if int(state["dealer_stays"]) < 0:
            return
        self._check_round(event)
        going_on = {last for last in self._last_rounds if not self._ends_with(last)}
        if self._scores_known and not going_on:
            raise ValueError("a kyoku starts, but the game is over")
        self._narrow(going_on)

    def _check_first_deal(self, event: m.StartKyoku) -> None:
        """All seats begin with the points that the rules name."""
        begins = (event.bakaze, event.kyoku, event.honba, event.kyotaku) == ("E", 1, 0, 0)
        if self._kyoku_played or not (self._start_is_named and begins):
            return
        expected = _points(self._state["scores"])
        if event.scores not in (None, expected):
            points = int(self._state["rules"]["start_points"])
            raise ValueError(
                f"scores are {event.scores}, but the rules begin with {points} each (start_points)"
            )

    def _result_is_seen(self) -> bool:
        # a log may lack its end_kyoku
        return self._result_seen or int(self._state["phase"]) in _RESULTS

    def _check_round(self, event: m.StartKyoku) -> None:
        expected, honba = settle.next_kyoku(self._state)
        value = 4 * WIND_NAMES.index(event.bakaze) + event.kyoku - 1
        if value != expected:
            name = f"{WIND_NAMES[expected // 4]}{expected % 4 + 1}"
            raise ValueError(f"round is {event.bakaze}{event.kyoku}, expected {name}")
        if event.honba != honba:
            raise ValueError(f"honba is {event.honba}, expected {honba}")

    def _ends_with(self, last_round: int) -> bool:
        supposed = copy_state(self._state)
        set_last_round(supposed, last_round)
        return bool(settle.game_ends(supposed))

    def _narrow(self, last_rounds: set[int]) -> None:
        if last_rounds:
            self._last_rounds = last_rounds
            known = self._expected in last_rounds
            set_last_round(self._state, self._expected if known else max(last_rounds))

    def start_kyoku(self, event: m.StartKyoku) -> None:
        """Take over the scores if the event has them."""
        if int(self._state["phase"]) != IDLE:
            self.end_kyoku()
        if event.scores is not None:
            set_position(self._state, event.scores, event.kyotaku)
        # Without scores (TCP dialect) ours are right from the first kyoku on.
        self._scores_known = (
            event.scores is not None or self._scores_known or not self._kyoku_played
        )
        self._kyoku_played += 1
        self._result_seen = False

    def forget_result(self) -> None:
        """What follows the last kyoku is not known."""
        self._result_seen = False

    def check_end_kyoku(self) -> None:
        """There is a kyoku to end."""
        if int(self._state["phase"]) in (IDLE, GAME_OVER):
            raise ValueError("no kyoku is under way")

    def end_kyoku(self) -> None:
        """The kyoku is over; some servers do not report its result."""
        self._result_seen = int(self._state["phase"]) in _RESULTS
        if not self._result_seen:
            self._scores_known = False
        do.apply_end_kyoku(self._state)

    def check_end_game(self, event: m.EndGame) -> None:
        """The game may end here, and the leftover sticks went to first place."""
        state = self._state
        if int(state["phase"]) == GAME_OVER:
            raise ValueError("the game is over already")
        if not (self._result_is_seen() and self._scores_known):
            return
        one_kyoku = self._kyoku_played == 1
        if int(state["dealer_stays"]) >= 0 and not one_kyoku:
            over = {last for last in self._last_rounds if self._ends_with(last)}
            if not over:
                raise ValueError("the game ends, but by the rules it continues")
            self._narrow(over)
        final = copy_state(state)
        do.apply_end_game(final)
        if event.scores not in (None, _points(final["scores"])):
            raise ValueError(f"scores are {event.scores}, expected {_points(final['scores'])}")

    def end_game(self) -> None:
        """Leftover sticks go to first place."""
        do.apply_end_game(self._state)

    # --- wins --------------------------------------------------------------------------------

    def reveal(self, event: m.Hora) -> None:
        """Fill in what a win shows: the ura markers, and the hand where the event shows it."""
        state = self._state
        markers = [tile_code(name) for name in event.uradora_markers or ()]
        if event.uradora_markers is not None and state["riichi"][event.actor]:
            expected = int(do.ura_due(state))
            if len(markers) != expected:
                raise ValueError(f"uradora_markers has {len(markers)} tiles, expected {expected}")
        show_ura(state, markers)
        if event.hora_tehais is None or state["hand_known"][event.actor]:
            return
        tiles = [tile_code(name) for name in event.hora_tehais]
        if len(tiles) != int(state["hand_size"][event.actor]):
            raise ValueError(
                f"hora_tehais has {len(tiles)} tiles, expected {state['hand_size'][event.actor]}"
            )
        drawn = int(state["drawn"])
        if event.target == event.actor and drawn == UNKNOWN:
            name_drawn(state, tiles[-1] if event.pai is None else tile_code(event.pai))
        do.apply_reveal(state, event.actor, np.array(tiles, np.int8))

    def check_hora(self, event: m.Hora) -> SeatPoints | None:
        """Payments and value are what our scoring gives, as far as the hand is known."""
        state, winner = self._state, event.actor
        due = state["riichi"][winner] and state["rules"]["ura_dora"]
        hidden_ura = due and event.uradora_markers is None
        if not state["hand_known"][winner] or hidden_ura:
            self._check_scores(event)
            return None
        by_draw = event.target == winner
        tile = int(state["drawn" if by_draw else "last_tile"])
        win: Any = np.zeros(1, settle.PAYMENT)[0]
        settle.win_payment(state, winner, tile, by_draw, win)
        self._check_value(event, win)
        self._check_yakus(event, win)
        self._check_scores(event)
        paid: SeatPoints = win["deltas"]
        return paid

    def _check_value(self, event: m.Hora, win: Any) -> None:
        yakuman = int(win["yakuman"])
        liable = int(win["liable"])
        expected: dict[str, Any] = {
            "deltas": _points(win["deltas"]),
            "hora_points": int(win["points"]),
            "fan": 100 * yakuman if yakuman else int(win["han"]),
            "pao": liable if liable >= 0 else None,
        }
        if not yakuman:
            expected["fu"] = int(win["fu"])
        for field, ours in expected.items():
            value = getattr(event, field)
            if value not in (None, ours):
                raise ValueError(f"{field} is {value}, expected {ours}")

    def _check_yakus(self, event: m.Hora, win: Any) -> None:
        if event.yakus is None:
            return
        bonus = (int(win["dora"]), int(win["ura"]), int(win["red"]))
        is_open = bool(self._state["is_open"][event.actor])
        ours = wire_yakus(int(win["yaku_mask"]), is_open, bonus)
        # Servers differ in whether they list an empty bonus.
        if {yaku for yaku in event.yakus if yaku[1]} != {yaku for yaku in ours if yaku[1]}:
            raise ValueError(f"yakus are {event.yakus}, expected {ours}")

    def apply_hora(self, event: m.Hora, ours: SeatPoints | None) -> None:
        """Pay what the event states, else what :meth:`check_hora` returned."""
        do.apply_hora(self._state, event.actor, self._paid(event, ours))

    def check_riichi_accepted(self, event: m.ReachAccepted) -> None:
        """The stick is what is paid, and the reported scores are ours without it."""
        stick = riichi_deltas(event.actor, int(self._state["rules"]["stick_points"]))
        if event.deltas not in (None, stick):
            raise ValueError(f"deltas are {event.deltas}, expected {stick}")
        if event.scores is None or not self._scores_known:
            return
        ours = paid(by_seat(_points(self._state["scores"])), stick)
        if event.scores != ours:
            raise ValueError(f"scores are {event.scores}, expected {ours}")

    # --- draws -------------------------------------------------------------------------------

    def check_ryukyoku(self, event: m.Ryukyoku) -> SeatPoints | None:
        """The reason holds and the payments follow from it, as far as hands are known."""
        check_draw_reason(self._state, event)
        ours = self._drawn_payment(event)
        if ours is not None and event.reason != "error":
            expected = _points(ours)
            if event.deltas not in (None, expected):
                raise ValueError(f"deltas are {event.deltas}, expected {expected}")
        self._check_scores(event)
        return ours

    def _drawn_payment(self, event: m.Ryukyoku) -> SeatPoints | None:
        deltas: SeatPoints = np.zeros(4, np.int32)
        if self._is_abort(event):
            return deltas
        tenpai = self._tenpai(event)
        if -1 in tenpai:
            return None
        nagashi = bool(settle.exhaustive_deltas(self._state, np.array(tenpai, np.int8), deltas))
        if event.reason == "fanpai" and nagashi:
            raise ValueError("reason is 'fanpai', but there is a nagashi mangan")
        return deltas

    def _is_abort(self, event: m.Ryukyoku) -> bool:
        if event.reason in ("fanpai", "nagashimangan"):
            return False
        return event.reason is not None or int(self._state["wall_left"]) > 0

    def _tenpai(self, event: m.Ryukyoku) -> list[int]:
        """Return 1 tenpai, 0 not, -1 not known, per seat."""
        return [self._is_tenpai(seat, event) for seat in range(4)]

    def _is_tenpai(self, seat: int, event: m.Ryukyoku) -> int:
        state = self._state
        if state["hand_known"][seat] or not is_seated(state, seat):
            return int(state["waits"][seat] != 0)
        if event.tenpais is not None:
            return int(event.tenpais[seat])
        nagashi = any(settle.has_nagashi(state, other) for other in range(4))
        if event.deltas is not None and any(event.deltas) and not nagashi:
            return int(event.deltas[seat] > 0)
        return -1

    def apply_ryukyoku(self, event: m.Ryukyoku, ours: SeatPoints | None) -> None:
        """Pay what the event states, else what :meth:`check_ryukyoku` returned."""
        aborted = self._is_abort(event)
        stays = 1 if aborted else self._tenpai(event)[int(self._state["dealer"])]
        if event.reason == "error":
            stays = -1  # servers disagree on the dealer after a chombo
        do.apply_ryukyoku(self._state, self._paid(event, ours), aborted, stays)

    # --- both --------------------------------------------------------------------------------

    def _check_scores(self, event: m.Hora | m.Ryukyoku) -> None:
        if event.scores is None or event.deltas is None or not self._scores_known:
            return
        before = _points(self._state["scores"])
        ours = tuple(score + delta for score, delta in zip(before, event.deltas, strict=True))
        if event.scores != ours:
            raise ValueError(f"scores are {event.scores}, expected {ours}")

    def _paid(self, event: m.Hora | m.Ryukyoku, ours: SeatPoints | None) -> SeatPoints:
        paid: SeatPoints = np.zeros(4, np.int32)
        if event.deltas is not None:
            paid[:] = event.deltas
        elif event.scores is not None:
            paid[:] = event.scores - self._state["scores"]
        elif ours is not None:
            paid[:] = ours
        else:
            self._scores_known = False
        return paid
