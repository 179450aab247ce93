"""Games in memory before the first real one: what comes up in them is compiled and loaded after.

A bot warms up while it waits for its first game, a server while its players are on their way.
Compiling is done before even that, and once: :mod:`mjbot.play.startup.precompile` warms up in a
process of its own.  Only strategies of mjbot, which are compiled, decide in a warm-up here; for
another one it is what its :meth:`~mjbot.strategy.strategy.Strategy.warm_up` does.
"""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import Final

from mjbot.game.referee import Referee
from mjbot.game.referee.referee import Player
from mjbot.game.table.actions import Action
from mjbot.game.table.mirror.mirror import Mirror
from mjbot.game.table.mirror.wire import to_message
from mjbot.protocol.codec import decode_line
from mjbot.protocol.masking import masked
from mjbot.protocol.messages import Event, StartGame, StartKyoku
from mjbot.runtime.worker import Worker
from mjbot.strategy.pair.member import pair_up
from mjbot.strategy.strategy import Strategy

WarmUp = Callable[[], None]
"""Does once all that a game will need."""

Make = Callable[[], Strategy]

SEED: Final = 2017
NAMES: Final = ("own", "rival", "ally", "rival")
OWN, ALLY = 0, 2

_HIDDEN: Final = '["?","?","?","?","?","?","?","?","?","?","?","?","?"]'
_HAND: Final = '["2m","3m","4m","5m","6m","3p","4p","5p","8s","9s","9s","E","E"]'
_EVENTS: Final = f"""
{{"type":"start_game","id":0,"names":["a","b","c","d"]}}
{{"type":"start_kyoku","bakaze":"E","kyoku":1,"honba":0,"kyotaku":0,"oya":0,"dora_marker":"N",
  "scores":[25000,25000,25000,25000],"tehais":[{_HAND},{_HIDDEN},{_HIDDEN},{_HIDDEN}]}}
{{"type":"tsumo","actor":0,"pai":"9p"}}
{{"type":"dahai","actor":0,"pai":"9p","tsumogiri":true}}
{{"type":"chi","actor":1,"target":0,"pai":"9p","consumed":["7p","8p"]}}
{{"type":"dahai","actor":1,"pai":"E","tsumogiri":false}}
{{"type":"pon","actor":0,"target":1,"pai":"E","consumed":["E","E"]}}
{{"type":"dahai","actor":0,"pai":"8s","tsumogiri":false}}
{{"type":"tsumo","actor":1,"pai":"?"}}
{{"type":"dahai","actor":1,"pai":"C","tsumogiri":true}}
{{"type":"pon","actor":2,"target":1,"pai":"C","consumed":["C","C"]}}
{{"type":"dahai","actor":2,"pai":"W","tsumogiri":false}}
{{"type":"tsumo","actor":3,"pai":"?"}}
{{"type":"reach","actor":3}}
{{"type":"dahai","actor":3,"pai":"2p","tsumogiri":false}}
{{"type":"reach_accepted","actor":3}}
{{"type":"tsumo","actor":0,"pai":"1p"}}
{{"type":"dahai","actor":0,"pai":"1p","tsumogiri":true}}
{{"type":"tsumo","actor":1,"pai":"?"}}
{{"type":"dahai","actor":1,"pai":"P","tsumogiri":true}}
{{"type":"daiminkan","actor":2,"target":1,"pai":"P","consumed":["P","P","P"]}}
{{"type":"tsumo","actor":2,"pai":"?"}}
{{"type":"dora","dora_marker":"1s"}}
{{"type":"kakan","actor":2,"pai":"C","consumed":["C","C","C"]}}
{{"type":"tsumo","actor":2,"pai":"?"}}
{{"type":"dora","dora_marker":"2s"}}
{{"type":"dahai","actor":2,"pai":"S","tsumogiri":false}}
{{"type":"tsumo","actor":3,"pai":"?"}}
{{"type":"ankan","actor":3,"consumed":["F","F","F","F"]}}
{{"type":"dora","dora_marker":"3s"}}
{{"type":"tsumo","actor":3,"pai":"?"}}
{{"type":"dahai","actor":3,"pai":"1m","tsumogiri":true}}
{{"type":"hora","actor":0,"target":3,"pai":"1m"}}
{{"type":"end_kyoku"}}
"""


def scripted_events() -> list[Event]:
    """Return one kyoku, seen by seat 0, that takes the table through all that can happen."""
    rows = _EVENTS.replace("\n  ", "").split()
    return [event for row in rows for event in decode_line(row) if isinstance(event, Event)]


def is_ours(strategy: Strategy) -> bool:
    """Return whether a strategy is one of mjbot, and no user's: a decision of it costs nothing."""
    return type(strategy).__module__.partition(".")[0] == "mjbot"


def warm_up_alone(strategy: Strategy) -> None:
    """Warm up a strategy that plays no game; one of mjbot decides all that comes up in a kyoku."""
    strategy.warm_up()
    decides = is_ours(strategy)
    table = Mirror(0)
    for event in scripted_events():
        table.apply(event)
        view = table.view(0)
        for action in view.legal:
            to_message(table.state, 0, action)
        if len(view.legal) > 1 and decides:
            strategy.decide(view)


def warm_up_pair(make_own: Make, make_ally: Make) -> None:
    """Play a kyoku of the two allies against two players like the ally.

    What comes up later in a game takes some 10 ms to load; to play all of it would take 0.3 s.
    Raises ``TypeError`` if one of the two cannot be one of a pair.
    """
    players = [make_own(), make_ally(), make_ally(), make_ally()]
    pair_up(players[OWN], players[ALLY])
    for seat, player in enumerate(players):
        player.start_game(seat, NAMES)
    play_with_mirrors(players, Referee(SEED, "tonpu"), 1)


def warm_up_referee() -> None:
    """Deal, and take one decision, as a table server does."""
    referee = Referee(seed=0)
    referee.start()
    referee.step({seat: referee.view(seat).default_action for seat in referee.asked})


def play_with_mirrors(
    players: Sequence[Player], referee: Referee, most_kyoku: int | None = None
) -> None:
    """Play a game in which each player sees a mirror of the table, as in a client.

    The game has already started for the players; it ends after ``most_kyoku``.
    """
    begun = 0
    tables = [Mirror(seat) for seat in range(4)]
    events = [StartGame(names=NAMES), *referee.start()[1:]]
    while True:
        for event in events:
            begun += isinstance(event, StartKyoku)
            if most_kyoku is not None and begun > most_kyoku:
                return
            for seat, (player, table) in enumerate(zip(players, tables, strict=True)):
                table.apply(masked(event, seat))
                if isinstance(event, StartKyoku):
                    player.start_kyoku(table.view(seat))
        if referee.over:
            return
        choices: dict[int, Action] = {}
        for seat, legal in referee.asked.items():
            view = tables[seat].view(seat)
            choices[seat] = players[seat].decide(view) if len(legal) > 1 else legal[0]
        events = referee.step(choices)


async def warm_up_server() -> None:
    """Return when the referee's compiled code is ready: 0.2 s.

    Without :func:`mjbot.play.startup.precompile.prepare` it takes longer, the very first time:
    compiling inside a game would make the table deaf, and players would give up on their
    handshakes.  So it runs in a daemon thread; meanwhile listeners open, and Ctrl-C ends the
    program at once.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def finish(error: Exception | None) -> None:
        if done.cancelled():
            return
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)

    def work() -> None:
        problem: Exception | None = None
        try:
            warm_up_referee()
        except Exception as error:
            problem = error
        with contextlib.suppress(RuntimeError):  # an interrupted program has closed its loop
            loop.call_soon_threadsafe(finish, problem)

    Worker("warm-up").put(work)
    await done
