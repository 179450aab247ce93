"""A game in one kyoku, an eighth of the time of a tonpu that nobody wins."""

from mjbot.game.referee import Position, Referee
from protocol.messages import Event

SOUTH_4 = Position(round=7)


class LastKyoku(Referee):
    """Begins in South 4, with which a tonpu ends at the latest."""

    def start(self, position: Position = SOUTH_4) -> list[Event]:
        return super().start(SOUTH_4)
