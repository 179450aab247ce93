"""A game in one kyoku, an eighth of the time of a tonpu that nobody wins."""

from mjbot.game.referee import Position, Referee
from mjbot.protocol.messages import Event
from mjbot.protocol.rules import last_round


class LastKyoku(Referee):
    """Begins in the last round of a hanchan, South 4, with which a tonpu ends at the latest."""

    def start(self, position: Position | None = None) -> list[Event]:
        return super().start(Position(round=last_round("hanchan", self.rules.players)))
