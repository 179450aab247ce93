"""``mjbot score HAND --ron TILE``: the value of a hand that is written down."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from typing import Final

from rich.cells import cell_len, set_cell_size

from mjbot.cli import arguments as a
from mjbot.game.rules.fu_parts import FuPart
from mjbot.game.table.hand_score import YAKUMAN, HandScore, WinningHand, score_hand
from mjbot.protocol.rules import RANKED, Rules
from mjbot.protocol.tiles import FIRST_DRAGON, TILE_BY_NAME, WIND_NAMES
from mjbot.runtime.errors import ExitCode
from mjbot.runtime.languages import marked, translate
from mjbot.runtime.requests import argument, option
from mjbot.viewer.drawing.tiles import tile_text

YAKUMAN_HAN: Final = 13
_DRAGONS: Final = {
    FIRST_DRAGON: marked("white dragons"),
    FIRST_DRAGON + 1: marked("green dragons"),
    FIRST_DRAGON + 2: marked("red dragons"),
}


@dataclass(frozen=True, kw_only=True)
class ScoreRequest:
    """Arguments of ``mjbot score``."""

    hand: str = argument(
        "the tiles without the winning one, then the melds: 123m406p77z(123s)[1111z]; 0 is a red"
        " five, 1z to 7z are the honours, (...) is a chi, pon or open kan, [...] a concealed kan;"
        " also in kanji, as 一二三萬赤五筒東東白發中",
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
    language: str | None = a.language_option()


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
    names = [translate(name) for name, _ in score.yaku]
    width = max(map(cell_len, names))
    for name, (_, han) in zip(names, score.yaku, strict=True):
        value = _yakuman(han // YAKUMAN_HAN) if score.yakuman else translate("{n} han", n=han)
        yield f"{set_cell_size(name, width)}  {value}"
    if not score.yakuman:
        parts = " + ".join(f"{part.fu} {_fu_part(part)}" for part in score.fu_parts)
        yield translate("{han} han, {fu} fu = {parts}", han=score.han, fu=score.fu, parts=parts)
    points = translate("{n} points", n=f"{score.points:,}")
    limit = _limit(score)
    yield translate("{points}, {limit}", points=points, limit=limit) if limit else points
    payments = [f"{_payer(payer)} {points:,}" for payer, points in score.payments.items()]
    yield translate(
        "paid by {payments}; received {received}",
        payments=translate(", ").join(payments),
        received=f"{score.received:,}",
    )


def _yakuman(n: int) -> str:
    """Return a yakuman's value; ``n`` is how many it counts as.

    >>> _yakuman(1), _yakuman(2), _yakuman(5)
    ('yakuman', 'double yakuman', '5x yakuman')
    """
    names = (marked("yakuman"), marked("double yakuman"), marked("triple yakuman"))
    return translate(names[n - 1]) if n <= len(names) else translate("{n}x yakuman", n=n)


def _limit(score: HandScore) -> str:
    if score.yakuman:
        return _yakuman(score.yakuman)
    return translate(marked("counted yakuman") if score.limit == YAKUMAN else score.limit)


def _fu_part(part: FuPart) -> str:
    name = translate(part.block)
    if part.tile is None:
        return name
    tile = translate(_DRAGONS[part.tile]) if part.tile in _DRAGONS else tile_text(part.tile)
    return translate("{block} of {tile}", block=name, tile=tile)


def _payer(payer: str) -> str:
    """Return who pays: a seat by its wind, or the discarder."""
    if payer in WIND_NAMES:
        return tile_text(TILE_BY_NAME[payer])
    return translate(payer)
