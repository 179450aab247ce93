"""A pair: two bots that show each other their hands, and one trick.

    python examples/pair.py --games 100

Both play as ``fast-riichi-a``.  While an opponent is in riichi and the own hand is not tenpai, a
bot discards a tile on which its partner wins, if it holds one.  The pair plays against two that
send their hands as well and do nothing with them, so that the difference is the trick.
In 600 games (2026-11-25, ``--games 600 --seed 1``) the sum of both ranks was alike, -0.02 ± 0.10,
and the better one was 1.61 instead of 1.68, -0.07 ± 0.06.  One game at a table, in the browser:

    mjbot duo --top examples/pair.py:Feeder --partner examples/pair.py:Feeder --watch

Pairs play where teams are allowed, and nowhere else (docs/strategies/pair.md).
"""

import argparse
from dataclasses import dataclass, field

from mjbot import Action, View, make_strategy, tile_kind
from mjbot.arena.tournament import play_arena
from mjbot.game.statistics.estimate_text import format_estimate
from mjbot.game.statistics.figures import PAIR_FIGURES
from mjbot.strategy.pair.member import Ally, PairMember


@dataclass
class Feeder(PairMember):
    """Plays as fast-riichi-a, and feeds its partner a win before an opponent takes it."""

    feeds: bool = field(default=True, metadata={"unit": "discard what the partner wins on"})

    def __post_init__(self) -> None:
        self._base = make_strategy("fast-riichi-a")

    def decide(self, view: View) -> Action:
        """Return a tile on which the partner wins, if it is time, else what the base chooses."""
        action, ally = self._base.decide(view), self.receive_hand(view)
        if self.feeds and ally and action.is_discard and self.gives_up(view, ally):
            fed = [each for each in view.discards if ally.waits >> tile_kind(each.tile) & 1]
            action = fed[0] if fed else action
        self.send_hand(view, action, None, [])  # sends the hand that is left after a discard
        return action

    def gives_up(self, view: View, ally: Ally) -> bool:
        """Whether a rival is in riichi while the own hand is not tenpai."""
        rivals = {0, 1, 2, 3} - {view.seat, ally.seat}
        return view.shanten > 0 and any(view.riichi(seat) for seat in rivals)


def main() -> None:
    """Play pairs that feed against pairs that do not."""
    parser = argparse.ArgumentParser(description=Feeder.__doc__)
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    names = [f"{__file__}:Feeder", f"{__file__}:Feeder,feeds=no"]
    outcome = play_arena(names, games=args.games, format="pair", seed=args.seed)
    feeding, silent = outcome.pairs[:, 0], outcome.pairs[:, 1]
    print(f"{outcome.games} games on {len(outcome.rows)} walls, 95% intervals")
    for figure in PAIR_FIGURES:
        of_each = [
            format_estimate(figure.estimate(sums), figure.kind) for sums in (feeding, silent)
        ]
        less = format_estimate(figure.difference(feeding, silent), figure.kind, signed=True)
        print(f"{figure.label}: feeding {of_each[0]}, not feeding {of_each[1]}; difference {less}")


if __name__ == "__main__":
    main()
