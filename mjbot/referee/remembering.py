"""A referee that remembers what happened, for records of games played in bulk."""

from collections.abc import Sequence
from typing import Any

from mjbot.referee import flow, narrate
from mjbot.referee.referee import IllegalActionError, Player, Referee
from mjbot.table.state import DRAWN, WON
from mjbot.table.view import View
from protocol import messages as m


class RememberingReferee(Referee):
    """Plays the very same games as :class:`Referee`, event by event.

    ``events`` are those of :meth:`play` so far; ``names`` go into ``start_game``.
    """

    def __init__(self, *args: Any, names: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.events: list[m.Event] = [m.StartGame(names=tuple(names) or None)]

    def _deal_tiles(self, round_: int, honba: int) -> None:
        super()._deal_tiles(round_, honba)
        self.events.append(narrate.start_kyoku(self.state))

    def _play_kyoku(self, players: Sequence[Player]) -> None:
        state, desk = self.state, self._desk
        while True:
            before = narrate.four(state["scores"])
            flow.advance(state, desk)
            log = list(narrate.log_events(desk["log"][: desk["n_rows"]], before))
            self.events += log
            if int(state["phase"]) in (WON, DRAWN):
                after_sticks = narrate.scores_after(log, before)
                self.events += narrate.ending(state, desk["outcome"], desk["wins"], after_sticks)
                return
            asked = flow.settle_choices(state, desk)
            for seat in range(4):
                if asked >> seat & 1:
                    desk["choices"][seat] = self._checked(seat, players[seat])

    def _checked(self, seat: int, player: Player) -> int:
        action = player.decide(View(self.state, seat))
        if action not in self.asked[seat]:
            raise IllegalActionError(seat, action, self.state)
        return action.code

    def _close(self) -> None:
        super()._close()
        self.events.append(m.EndGame(scores=narrate.four(self.state["scores"])))
