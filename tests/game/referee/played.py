"""Games that strategies play at one referee."""

from random import Random

from mjbot.game.referee import Referee
from mjbot.protocol import messages as m
from mjbot.protocol.rules import Rules
from mjbot.strategy.registry import make_strategy

RULES = Rules(players=3, length="tonpu")


def game_of_three(seed: int, names: tuple[str, str, str] = ("a", "b", "c")) -> list[m.Event]:
    """Return a tonpu of three that strategies play; norths are kept and set aside by chance."""
    referee, random = Referee(seed, RULES), Random(seed)
    bots = [make_strategy("fast-riichi-d") for _ in range(3)]
    events = [m.StartGame(names=names, mjbot_rules=RULES.announced), *referee.start()[1:]]
    while asked := referee.asked:
        choices = {seat: bots[seat].decide(referee.view(seat)) for seat in asked}
        for seat, legal in asked.items():
            by_chance = [action for action in legal if action.is_kita or action.is_discard]
            if any(action.is_kita for action in legal) and not choices[seat].is_win:
                choices[seat] = random.choice(by_chance)
        events += referee.step(choices)
    return events
