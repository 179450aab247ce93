"""A rehearsal before the first game, so that nothing is compiled while a server waits."""

from collections.abc import Callable
from typing import Final

from loguru import logger

from mjbot.client.thinking import CrashError, Thinker
from mjbot.strategy import Strategy
from mjbot.table.convert import to_message
from mjbot.table.table import Table
from protocol.codec import decode_line
from protocol.messages import Event

MakeStrategy = Callable[[int], Strategy]
"""Makes the player of game 0, 1, ...: a strategy's instance plays one game."""

Rehearsal = Callable[[], None]
"""Does once all that a game will need."""

_HIDDEN: Final = '["?","?","?","?","?","?","?","?","?","?","?","?","?"]'
_HAND: Final = '["2m","3m","4m","5m","6m","3p","4p","5p","8s","9s","9s","E","E"]'
_REHEARSAL: Final = f"""
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


def rehearsal() -> list[Event]:
    """Return one kyoku, seen by seat 0, that takes the table through all that can happen."""
    rows = _REHEARSAL.replace("\n  ", "").split()
    return [event for row in rows for event in decode_line(row) if isinstance(event, Event)]


async def warm_up(thinker: Thinker, rehearse: Rehearsal) -> None:
    """Rehearse in the thread that will think; a failure is logged."""
    try:
        await thinker.think(rehearse, None)
    except CrashError as crash:
        logger.error("the strategy failed while warming up with {}", crash)
        logger.opt(exception=crash.__cause__).debug("where it failed")


def rehearse_alone(strategy: Strategy) -> None:
    """Let a strategy that plays no game decide all that comes up in the rehearsal."""
    table = Table(0)
    for event in rehearsal():
        table.apply(event)
        view = table.view(0)
        for action in view.legal:
            to_message(table.state, 0, action)
        if len(view.legal) > 1:
            strategy.decide(view)
