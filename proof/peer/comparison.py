"""Compares two referees: offers, events, wins and final points."""

from typing import Any, Final

import msgspec
from riichienv import RiichiEnv

from mjbot.game.rules.yaku_table import DORA, RED_DORA, URA_DORA
from mjbot.game.table.actions import ACTIONS, Action
from mjbot.game.table.mirror.wire import to_message, wire_yakus
from mjbot.game.table.state import State
from mjbot.play.client.server_offers import disagreement
from mjbot.protocol import messages as m
from mjbot.protocol.seats import seated
from mjbot.protocol.sessions.request_server import terse_hint
from mjbot.protocol.tiles import WIND_NAMES
from mjbot.protocol.yaku import YAKUMAN_FAN
from proof.answers import Report
from proof.peer import differences
from proof.peer.env import Plain, plain, plain_peer
from proof.riichienv_answers import tenhou_ids

END: Final = ("EndKyoku",)
BONUS_IDS: Final = {"dora": DORA, "uradora": URA_DORA, "akadora": RED_DORA}


class DifferenceError(Exception):
    """The referees differ for no known reason."""


class Comparison:
    """Books in ``report`` what one game's referees agree on; raises :class:`DifferenceError`."""

    def __init__(self, env: RiichiEnv, report: Report) -> None:
        self.report: Final = report
        self._env: Final = env
        self._players: Final[int] = env.num_players
        self._seen = 0
        self._events: list[Plain] = []
        self._horas: list[m.Hora] = []

    def offers(
        self, state: State, asked: dict[int, tuple[Action, ...]], offered: dict[int, dict[int, Any]]
    ) -> None:
        """Compare the legal actions of all seats (``offered``: theirs, by our codes)."""
        aborts = differences.ends_in_four_kans(state)
        for seat in range(4):
            ours = {action.code for action in asked.get(seat, ())}
            theirs = set(offered.get(seat, ()))
            if ours == theirs:
                self.report.agreed["decisions"] += bool(ours)
                self.report.agreed["legal actions"] += len(ours)
            elif aborts and differences.only_calls_missing(ours, theirs):
                self.report.explained[differences.ASKED_BEFORE_ABORT] += 1
            else:
                raise DifferenceError(
                    f"seat {seat} may {_texts(ours - theirs)} only with us,"
                    f" {_texts(theirs - ours)} only with them; after {self._events[-3:]}"
                )

    def wire(
        self,
        state: State,
        asked: dict[int, tuple[Action, ...]],
        offered: dict[int, dict[int, Any]],
        observations: dict[int, Any],
    ) -> None:
        """Compare how the offers are written where they are the same."""
        for seat, actions in asked.items():
            if {action.code for action in actions} != set(offered.get(seat, ())):
                continue
            messages = [to_message(state, seat, action) for action in actions]
            written = [action.to_mjai() for action in observations[seat].legal_actions()]
            hints = [msgspec.json.decode(text, type=m.Hint) for text in written]
            if problem := disagreement(hints, messages, complete=True):
                raise DifferenceError(f"seat {seat}: {problem}")
            ours = {msgspec.json.encode(terse_hint(each, seat)) for each in messages}
            theirs = {msgspec.json.encode(hint) for hint in hints}
            if ours != theirs:
                raise DifferenceError(f"seat {seat}: {ours ^ theirs} are written otherwise")
            self.report.agreed["lists of offers as they are written"] += 1

    def take(self, events: list[m.Event]) -> bool:
        """Take in our events; return whether a kyoku has ended."""
        self._horas += [event for event in events if isinstance(event, m.Hora)]
        self._events += [plain(seated(event, self._players)) for event in events]
        return END in self._events

    def kyoku(self) -> bool:
        """Compare the kyoku that has ended; return whether its payments are the same, too."""
        ours, theirs = self._cut()
        same_points = True
        if ours != theirs:
            theirs, same_points = self._without_known_fault(ours, theirs)
        if ours != theirs and same_points:
            raise DifferenceError(_first_difference(ours, theirs))
        self.report.agreed.update(map(_event_name, ours))
        if same_points:
            self._wins(ours[0 if ours[0][0] == "start_kyoku" else 1])
        self._horas = []
        return same_points

    def realign(self) -> None:
        """The other referee was reset to our position: its log starts again."""
        self._seen = 1

    def end(self, scores: list[int]) -> None:
        """Compare the end of the game and its final ``scores``, leftover sticks included."""
        scores = scores[: self._players]
        rest = [plain_peer(event) for event in self._env.mjai_log[self._seen :]]
        if not self._env.done() or rest != self._events:
            raise DifferenceError(f"the game ends with {self._events} here, {rest} there")
        if list(self._env.scores()) != scores:
            raise DifferenceError(f"final points {scores} here, {self._env.scores()} there")
        self.report.agreed["hanchan to the end, final points"] += 1

    # --- inside ------------------------------------------------------------------------------

    def _cut(self) -> tuple[list[Plain], list[Plain]]:
        """Return both lists of events up to the end of the kyoku; keep what follows."""
        end = self._events.index(END) + 1
        ours, self._events = self._events[:end], self._events[end:]
        theirs = [plain_peer(event) for event in self._env.mjai_log[self._seen :]]
        if END in theirs:
            theirs = theirs[: theirs.index(END) + 1]
        self._seen += len(theirs)
        return ours, theirs

    def _without_known_fault(
        self, ours: list[Plain], theirs: list[Plain]
    ) -> tuple[list[Plain], bool]:
        """Return their events without the known fault, and whether the points are the same."""
        cleaned = differences.without_early_marker(ours, theirs)
        if cleaned is theirs:
            return theirs, True
        self.report.explained[differences.ROBBED_SECOND_KAN] += 1
        if ours == cleaned or not differences.same_but_points(ours, cleaned):
            return cleaned, True
        self.report.explained[differences.ROBBED_SECOND_KAN_VALUE] += 1
        return cleaned, False

    def _wins(self, start: Plain) -> None:
        """Compare yaku, fu and han, as far as the other referee still reports them."""
        self.report.agreed["double ron"] += len(self._horas) == 2
        round_wind, dealer = WIND_NAMES.index(start[1]), start[5]
        for hora in self._horas:
            self.report.agreed["win with pao"] += hora.pao is not None
            for name, _ in hora.yakus or ():
                self.report.agreed[f"yaku {name}"] += 1
            if result := self._env.win_results.get(hora.actor):
                seat_wind = (hora.actor - dealer) % self._players
                ours, theirs = _our_value(hora), _their_value(result, seat_wind, round_wind)
                if ours != theirs:
                    raise DifferenceError(f"win of {ours} here, {theirs} there: {hora}")
                self.report.agreed["ron with equal yaku, fu, han and liable seat"] += 1


def _texts(codes: set[int]) -> str:
    return ", ".join(str(ACTIONS[code]) for code in sorted(codes)) or "nothing"


def _first_difference(ours: list[Plain], theirs: list[Plain]) -> str:
    index = next(
        (index for index, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]),
        min(len(ours), len(theirs)),
    )
    after = ours[max(0, index - 3) : index]
    return f"{ours[index:][:2]} here, {theirs[index:][:2]} there; after {after}"


def _event_name(event: Plain) -> str:
    return f"event {event[0]}" + (f" {event[1]}" if event[0] == "ryukyoku" else "")


Value = tuple[int, int, int | None, frozenset[str]]


def _our_value(hora: m.Hora) -> Value:
    han, fu = hora.fan or 0, hora.fu or 0
    names = frozenset(name for name, _ in hora.yakus or ())
    return han, 0 if han >= YAKUMAN_FAN else fu, hora.pao, names


def _their_value(result: Any, seat_wind: int, round_wind: int) -> Value:
    """Return the same of their ``WinResult``."""
    ids = tenhou_ids(result.yaku, seat_wind, round_wind)
    bonus = (1, 1, 1)  # names only: how many dora there are is in the han
    names = frozenset(
        name
        for name, _ in wire_yakus(sum(1 << yaku for yaku in ids), False, bonus)
        if BONUS_IDS.get(name, 0) in {0, *ids}
    )
    han = result.han // 13 * YAKUMAN_FAN if result.yakuman else result.han
    return han, 0 if result.yakuman else result.fu, result.pao_payer, names
