"""A first bot: fewest tiles to go, then most tiles that help; and how it does.

    python examples/first_bot.py --games 40

plays it against ``fast-riichi-a`` and prints its average rank.  The bot alone, in any command:

    mjbot match examples/first_bot.py:FirstBot fast-riichi-a fast-riichi-a tsumogiri
"""

import argparse

from mjbot import Action, Strategy, View, count_tiles, shanten_and_acceptance, tile_kind
from mjbot.arena.report.text import verdict_line
from mjbot.arena.tournament import play_arena, statistics_of
from mjbot.game.statistics.estimate_text import format_estimate


class FirstBot(Strategy):
    """Minimizes shanten, then maximizes acceptance; declares riichi and never calls."""

    players = (3, 4)

    def decide(self, view: View) -> Action:
        """Win if possible, else declare riichi or kita, else make the best discard, else pass."""
        for action in view.legal:
            if action.is_win or action.is_riichi or action.is_kita:
                return action
        if not view.discards:  # somebody's discard is on offer
            return view.default_action
        return min(view.discards, key=lambda discard: self.cost(view, discard))

    def cost(self, view: View, discard: Action) -> float:
        """Return the shanten after a discard, less a little for each tile that decreases it."""
        hand = view.hand.copy()
        hand[tile_kind(discard.tile)] -= 1
        shanten, accepted = shanten_and_acceptance(hand, view.n_melds)
        return shanten - count_tiles(accepted, view.unseen) / 1000


def main() -> None:
    """Play the bot against another one."""
    parser = argparse.ArgumentParser(description=FirstBot.__doc__)
    parser.add_argument("--games", type=int, default=40)
    parser.add_argument("--rival", default="fast-riichi-a")
    args = parser.parse_args()
    outcome = play_arena([f"{__file__}:FirstBot", args.rival], games=args.games)
    rank = statistics_of(outcome)["FirstBot"]["rank"]
    print(f"average rank {format_estimate(rank, 'mean')} (95% interval)")
    print(verdict_line(outcome))


if __name__ == "__main__":
    main()
