"""``mjbot score HAND --ron TILE``: the value of a hand that is written down."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields

from mjbot.cli import arguments as a
from mjbot.game.table.hand_score import HandScore, WinningHand, score_hand
from mjbot.protocol.rules import RANKED, Rules
from mjbot.protocol.tiles import WIND_NAMES
from mjbot.runtime.errors import ExitCode
from mjbot.runtime.requests import argument, option


@dataclass(frozen=True, kw_only=True)
class ScoreRequest:
    """Arguments of ``mjbot score``."""

    hand: str = argument(
        "the tiles without the winning one, then the melds: 123m406p77z(123s)[1111z]; 0 is a red"
        " five, 1z to 7z are the honours, (...) is a chi, pon or open kan, [...] a concealed kan",
        metavar="HAND",
    )
    ron: str = option("", "winning tile, discarded by another seat", metavar="TILE")
    tsumo: str = option("", "winning tile, drawn", metavar="TILE")
    seat: str = option("E", "wind of the winner's seat; East is the dealer", choices=[*WIND_NAMES])
    round: str = option("E", "wind of the round", choices=[*WIND_NAMES])
    dora: str = option("", "dora indicators, as they are turned", metavar="TILES")
    ura: str = option("", "ura dora indicators", metavar="TILES")
    river: str = option("", "the winner's own discards, which make a ron furiten", metavar="TILES")
    riichi: bool = option(False, "the winner is in riichi")
    double_riichi: bool = option(False, "the winner is in riichi since the first discard")
    ippatsu: bool = option(False, "within one turn after riichi")
    haitei: bool = option(False, "tsumo of the last tile")
    houtei: bool = option(False, "ron of the last discard")
    rinshan: bool = option(False, "tsumo after a kan")
    chankan: bool = option(False, "ron of a tile that is added to a pon")
    first_turn: bool = option(
        False, "tsumo on the first draw, or ron before it (renhou), without a call before"
    )
    honba: int = option(0, "honba", type=int, metavar="N")
    sticks: int = option(0, "riichi sticks on the table, the winner's too", type=int, metavar="N")
    liable: str = option(
        "",
        "wind of the seat that answers for big three dragons or big four winds (pao), if it is not"
        " the discarder",
        choices=[*WIND_NAMES],
    )
    kita: int = option(0, "norths set aside by the winner, with players=3", type=int, metavar="N")
    rules: Rules | None = a.rules_option(players=(3, 4))
    json: bool = a.json_option()


def run(request: ScoreRequest) -> int:
    """Print the score."""
    hand = {each.name: getattr(request, each.name) for each in fields(WinningHand)}
    score = score_hand(WinningHand(**hand), request.rules or RANKED)
    print(json.dumps(_as_json(score)) if request.json else "\n".join(_lines(score)))
    return ExitCode.OK


def _as_json(score: HandScore) -> dict[str, object]:
    return {
        **asdict(score),
        "yaku": [{"name": name, "han": han} for name, han in score.yaku],
        "fu_parts": [part._asdict() for part in score.fu_parts],
    }


def _lines(score: HandScore) -> Iterator[str]:
    width = max(len(name) for name, _ in score.yaku)
    for name, han in score.yaku:
        yield f"{name:{width}}  {'yakuman' if score.yakuman else f'{han} han'}"
    if not score.yakuman:
        parts = " + ".join(f"{part.fu} {part.name}" for part in score.fu_parts)
        yield f"{score.han} han, {score.fu} fu = {parts}"
    yield f"{score.points:,} points{f', {score.limit}' if score.limit else ''}"
    payments = ", ".join(f"{payer} {points:,}" for payer, points in score.payments.items())
    yield f"paid by {payments}; received {score.received:,}"
