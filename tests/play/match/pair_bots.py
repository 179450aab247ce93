"""Two small bots of a pair, so that processes start fast.

With WITNESS_PORT set their process holds a connection to that port for as long as it lives.
"""

import os
import socket
import sys
from dataclasses import dataclass

from mjbot.strategy.pair.member import PairMember

# a command in the test's own process imports this file, too, and would hold it to the end
if (port := os.environ.get("WITNESS_PORT")) and "pytest" not in sys.modules:
    HELD = socket.create_connection(("127.0.0.1", int(port)))


@dataclass
class Talker(PairMember):
    """Tells what it holds; wins and declares riichi when it can."""

    players = (3, 4)
    luck: int = 0

    def decide(self, view):
        wanted = [a for a in view.legal if a.is_win or a.is_riichi]
        action = (wanted or [view.default_action])[0]
        self.send_hand(view, action, None, ())
        return action


@dataclass
class Listener(PairMember):
    """Gives what its ally wins on, and otherwise discards what it drew."""

    players = (3, 4)

    def decide(self, view):
        ally = self.receive_hand(view)
        for action in view.legal:
            if ally and action.is_discard and ally.waits >> min(action.tile, 33) & 1:
                return action
        return view.default_action
