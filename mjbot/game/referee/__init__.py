"""The referee: walls, turns, claims and payments under Tenhou's ranked rules."""

from mjbot.game.referee.referee import IllegalActionError, Position, Referee

__all__ = ["IllegalActionError", "Position", "Referee"]
