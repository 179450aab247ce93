"""What a hand that is written down is worth: yaku, fu and payments, without a game.

All that a table would know is in :class:`WinningHand`; what no table could hold is refused with
the cause.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from itertools import chain
from typing import Final, TypeVar

import numpy as np

from mjbot.game.rules import wins
from mjbot.game.rules.fu_parts import FuPart, fu_parts
from mjbot.game.rules.hand_notation import MAX_MELDS, WrittenHand, read_hand, read_tiles
from mjbot.game.rules.kinds import N_COPIES, count_any_kinds, count_kinds, kinds_of
from mjbot.game.rules.points import MANGAN, YAKUMAN_BASE, Parties, base_points, win_deltas
from mjbot.game.rules.ruleset import rule_set
from mjbot.game.rules.scoring import Score, score_win
from mjbot.game.rules.shapes import ANKAN, CHI, DAIMINKAN
from mjbot.game.rules.tile_sets import shanten_of, waits_of, write_tiles
from mjbot.game.rules.wall_plan import HAND_TILES, MAX_MARKERS
from mjbot.game.rules.wins import Win, new_win
from mjbot.game.rules.yaku_table import YAKU, yaku_han
from mjbot.game.table.hands import red_copies
from mjbot.game.table.observe import dora_kind
from mjbot.game.table.settle import payments
from mjbot.protocol.messages import MOST_STICKS
from mjbot.protocol.rules import RANKED, Rules
from mjbot.protocol.tiles import (
    FIRST_DRAGON,
    FIRST_HONOUR,
    N_KINDS,
    NORTH,
    RED_FIVES,
    WIND_NAMES,
    tile_kind,
    tile_name,
)
from mjbot.runtime.checked_arguments import flag, text, type_error, whole_number
from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.files import plural
from mjbot.runtime.languages import marked

Read = TypeVar("Read")

DISCARDER: Final = marked("discarder")
YAKUMAN: Final = marked("yakuman")
_LIMITS: Final = (
    (YAKUMAN_BASE, YAKUMAN),
    (3 * MANGAN, marked("sanbaiman")),
    (2 * MANGAN, marked("baiman")),
    (3 * MANGAN // 2, marked("haneman")),
    (MANGAN, marked("mangan")),
)
_PAO: Final = ({*range(FIRST_DRAGON, N_KINDS)}, {*range(FIRST_HONOUR, FIRST_DRAGON)})
"""The kinds of big three dragons and of big four winds."""
_FLAGS: Final = {
    "riichi": wins.RIICHI,
    "double_riichi": wins.DOUBLE_RIICHI,
    "ippatsu": wins.IPPATSU,
    "rinshan": wins.RINSHAN,
    "chankan": wins.CHANKAN,
    "haitei": wins.HAITEI,
    "houtei": wins.HOUTEI,
    "first_turn": wins.FIRST_TURN,
}


@dataclass(frozen=True, kw_only=True)
class WinningHand:
    """A win as it is written down.

    ``hand`` are the 13 tiles without the winning one, of which a meld counts as three
    (:mod:`mjbot.game.rules.hand_notation`); ``ron`` or ``tsumo`` is the winning tile.  ``seat`` and
    ``round`` are winds, ``E`` to ``N``.  ``dora`` and ``ura`` are the indicators, ``river`` the own
    discards, by which a ron may be furiten.  ``first_turn``: on the own first draw, without a call
    before.  ``sticks`` are the riichi sticks on the table, the own one included.  ``liable`` is the
    wind of the seat that answers for big three dragons or big four winds (pao), if it is not the
    discarder.  ``kita`` are the norths that the winner has set aside, with three players.
    """

    hand: str
    ron: str = ""
    tsumo: str = ""
    seat: str = "E"
    round: str = "E"
    dora: str = ""
    ura: str = ""
    river: str = ""
    riichi: bool = False
    double_riichi: bool = False
    ippatsu: bool = False
    haitei: bool = False
    houtei: bool = False
    rinshan: bool = False
    chankan: bool = False
    first_turn: bool = False
    honba: int = 0
    sticks: int = 0
    liable: str = ""
    kita: int = 0

    def __post_init__(self) -> None:
        for part in fields(self):
            _CHECKS[type(part.default)](part.name, getattr(self, part.name))


_CHECKS: Final[Mapping[type, Callable[[str, object], object]]] = {
    bool: flag,
    int: whole_number,
    str: text,
    type(MISSING): text,  # the hand has no default
}


@dataclass(frozen=True, kw_only=True)
class HandScore:
    """The score of a win.

    ``yaku`` are English names with their han, dora included, a yakuman with 13, a double one with
    26; ``fu_parts`` add up to ``fu``.  ``limit`` is ``mangan`` to ``yakuman`` or empty; ``yakuman``
    counts them, 0 for one of 13 ordinary han.  ``points`` are those of the hand; ``payments`` are
    what each payer gives, honba included, by its seat wind or :data:`DISCARDER`; ``received`` is
    their sum and the sticks.  Norths that are set aside count as dora.
    """

    yaku: tuple[tuple[str, int], ...]
    han: int
    fu: int
    fu_parts: tuple[FuPart, ...]
    limit: str
    yakuman: int
    points: int
    payments: dict[str, int]
    received: int


def limit_name(base: int) -> str:
    """Return the limit that a hand of so many base points reaches, empty below a mangan.

    >>> limit_name(1920), limit_name(2000), limit_name(16000)
    ('', 'mangan', 'yakuman')
    """
    return next((name for least, name in _LIMITS if base >= least), "")


def score_hand(win: WinningHand, rules: Rules = RANKED) -> HandScore:
    """Return the score of a win.

    Raises :class:`~mjbot.runtime.errors.ArgumentError`, a ``ValueError``, with the cause for what
    is no hand or no win.

    >>> score = score_hand(WinningHand(hand="234m234p234567s8s", ron="8s", riichi=True, seat="S"))
    >>> score.yaku, score.fu, score.payments
    ((('riichi', 1), ('all simples', 1), ('mixed triple run', 2)), 40, {'discarder': 8000})
    """
    if not isinstance(win, WinningHand):
        raise type_error("win", "a WinningHand", win)
    if not isinstance(rules, Rules):
        raise type_error("rules", "a mjbot.protocol.rules.Rules", rules)
    try:
        written = _read(win)
    except ValueError as error:
        raise ArgumentError(str(error)) from None
    for problem in chain(
        _tile_problems(written, rules),
        _seat_problems(written, rules.players),
        _situation_problems(win, written),
        _rule_problems(win, written, rules),
        _win_problems(written, rules.players),
    ):
        raise ArgumentError(problem)
    record = _record(win, written, rules)
    score = score_win(record)
    if not score[0]:
        raise ArgumentError(_no_win(rules))
    return _paid(win, record, written, score, rules)


def _paid(
    win: WinningHand, record: Win, written: "_Written", score: Score, rules: Rules
) -> HandScore:
    han, fu, mask, yakuman = score
    flags, record_of_rules = int(record["flags"]), rule_set(rules)
    base = base_points(han, fu, yakuman, flags)
    bonus = (int(record["dora"]), int(record["ura"]), int(record["red"]))
    winner, liable = written.seat_wind, written.liable
    others = (seat for seat in range(rules.players) if seat not in (winner, liable))
    parties = Parties(winner, winner if win.tsumo else next(others), 0, liable)
    deltas = payments(base, mask, parties, win.honba, win.sticks, record_of_rules).tolist()
    return HandScore(
        yaku=tuple(
            [
                (YAKU[yaku].name, value)
                for yaku, value in yaku_han(mask, written.hand.is_open, bonus, flags)
            ]
        ),
        han=han,
        fu=fu,
        fu_parts=fu_parts(record, score),
        limit=limit_name(base),
        yakuman=yakuman,
        points=int(win_deltas(base, parties, 0, 0, record_of_rules)[winner]),
        payments={
            DISCARDER if seat == parties.loser else WIND_NAMES[seat]: -points
            for seat, points in enumerate(deltas)
            if points < 0
        },
        received=deltas[winner],
    )


# --- what is written ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Written:
    """The tiles of a :class:`WinningHand`, 0..36, and its winds, 0..3; ``liable`` -1 for none."""

    hand: WrittenHand
    tile: int
    by_draw: bool
    dora: list[int]
    ura: list[int]
    river: list[int]
    seat_wind: int
    round_wind: int
    liable: int
    kita: int

    @property
    def own(self) -> list[int]:
        """All tiles of the hand, the winning one and the norths set aside included."""
        return [*self.hand.tiles, self.tile, *[NORTH] * self.kita]


def _read(win: WinningHand) -> _Written:
    if bool(win.ron) == bool(win.tsumo):
        raise ValueError("the winning tile: give one, by ron or by tsumo")
    tile = _tiles("ron" if win.ron else "tsumo", win)
    if len(tile) != 1:
        raise ValueError(f"the winning tile {win.ron or win.tsumo!r}: expected one tile")
    for name, most in (("honba", MOST_STICKS), ("sticks", MOST_STICKS), ("kita", N_COPIES)):
        if not 0 <= getattr(win, name) <= most:
            raise ValueError(f"{name}: {getattr(win, name)} is not 0 to {most}")
    return _Written(
        hand=_named("hand", read_hand, win.hand),
        tile=tile[0],
        by_draw=bool(win.tsumo),
        dora=_tiles("dora", win),
        ura=_tiles("ura", win),
        river=_tiles("river", win),
        seat_wind=_wind("seat", win.seat),
        round_wind=_wind("round", win.round),
        liable=_wind("liable", win.liable) if win.liable else -1,
        kita=win.kita,
    )


def _tiles(name: str, win: WinningHand) -> list[int]:
    return _named(name, read_tiles, getattr(win, name))


def _named(name: str, read: Callable[[str], Read], text: str) -> Read:
    try:
        return read(text)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _wind(name: str, wind: str) -> int:
    if len(wind) != 1 or wind not in WIND_NAMES:
        raise ValueError(f"{name}: {wind!r} is no wind; expected E, S, W or N")
    return WIND_NAMES.index(wind)


def _record(win: WinningHand, written: _Written, rules: Rules) -> Win:
    record = new_win()
    record["hand"] = count_kinds([*written.hand.concealed, written.tile])
    record["win_kind"] = tile_kind(written.tile)
    record["n_melds"] = len(written.hand.melds)
    for index, meld in enumerate(written.hand.melds):
        record["meld_type"][index], record["meld_kind"][index] = meld.type, meld.kind
    record["seat_wind"], record["round_wind"] = written.seat_wind, written.round_wind
    held = count_kinds(written.own)
    record["dora"] = sum(held[dora_kind(marker, rules.players)] for marker in written.dora)
    record["dora"] += written.kita
    record["ura"] = sum(held[dora_kind(marker, rules.players)] for marker in written.ura)
    record["red"] = sum(tile >= N_KINDS for tile in written.own)
    record["flags"] = sum(flag for name, flag in _FLAGS.items() if getattr(win, name))
    record["flags"] += (wins.TSUMO if win.tsumo else 0) | int(rule_set(rules)["scoring"])
    return record


# --- what cannot be ------------------------------------------------------------------------------


def _tile_problems(written: _Written, rules: Rules) -> Iterator[str]:
    shown = Counter([*written.own, *written.dora, *written.ura, *written.river])
    tiles = np.empty(N_COPIES * N_KINDS, np.int8)
    copies = count_kinds(tiles[: write_tiles(rules.players, tiles)]).tolist()
    for kind, count in enumerate(count_any_kinds(shown.elements())):
        if count > copies[kind]:
            yield (
                f"{plural(count, 'tile')} of {tile_name(kind)} in hand, indicators and river,"
                f" but the game has {copies[kind]}"
            )
    for red in RED_FIVES:
        most = int(red_copies(rule_set(rules), red - N_KINDS)) if rules.red_fives else 0
        if shown[red] > most:
            there = ("the rules have none", "there is one", "there are two")[most]
            yield f"{plural(shown[red], 'red five')} {tile_name(red)}, but {there}"
    n_melds = len(written.hand.melds)
    if n_melds > MAX_MELDS:
        yield f"{n_melds} melds, but a hand has {MAX_MELDS} at most"
    count, due = len(written.hand.concealed), HAND_TILES - 3 * n_melds
    if count != due:
        yield (
            f"wrong number of tiles: {plural(count, 'concealed tile')} without the winning one,"
            f" but with {plural(n_melds, 'meld')} there are {due}"
        )
    if len(written.dora) > MAX_MARKERS or len(written.ura) > len(written.dora):
        yield (
            f"{len(written.dora)} dora and {len(written.ura)} ura indicators: at most"
            f" {MAX_MARKERS}, and no more ura than dora"
        )


def _seat_problems(written: _Written, players: int) -> Iterator[str]:
    melds = {meld.kind: meld.type for meld in written.hand.melds}
    open_kinds = {kind for kind, type_ in melds.items() if type_ != ANKAN}
    can_be_liable = any(kinds <= melds.keys() and kinds & open_kinds for kinds in _PAO)
    if max(written.seat_wind, written.liable) >= players:
        yield f"impossible: a seat {WIND_NAMES[players]} of three players"
    if written.liable == written.seat_wind:
        yield "impossible: the winner as the liable seat"
    if written.liable >= 0 and not can_be_liable:
        yield (
            "impossible: a liable seat without melds of all dragons or all winds, one of them"
            " called"
        )
    if written.kita and players == 4:
        yield "impossible: kita with four players"
    if players == 3 and any(meld.type == CHI for meld in written.hand.melds):
        yield "impossible: a chi with three players"


def _situation_problems(win: WinningHand, written: _Written) -> Iterator[str]:
    hand, by_draw = written.hand, written.by_draw
    in_riichi = win.riichi or win.double_riichi
    has_kan = written.kita or any(meld.type >= DAIMINKAN for meld in hand.melds)
    copies = count_kinds(written.own)[tile_kind(written.tile)]
    impossible = (
        (in_riichi and hand.is_open, "riichi with an open hand"),
        (win.ippatsu and not in_riichi, "ippatsu without riichi"),
        (win.ippatsu and win.rinshan, "ippatsu after the own kan"),
        (bool(written.ura) and not in_riichi, "ura dora without riichi"),
        (win.haitei and not by_draw, "haitei by ron: the last discard is houtei"),
        (win.houtei and by_draw, "houtei by tsumo: the last draw is haitei"),
        (
            win.rinshan and not (by_draw and has_kan),
            "rinshan without a tsumo after an own kan or kita",
        ),
        (win.rinshan and win.haitei, "rinshan and haitei: the tile is not of the live wall"),
        (win.chankan and by_draw, "chankan by tsumo"),
        (win.chankan and win.houtei, "chankan and houtei: the last discard is no kan"),
        (win.chankan and copies > 1, "chankan of a tile of which the robbed kan has the others"),
        (
            win.first_turn and bool(hand.melds or written.river or in_riichi or written.kita),
            "first turn after a call, a discard or riichi",
        ),
        (win.first_turn and (win.haitei or win.rinshan), "first turn on a last or a kan's tile"),
    )
    yield from (f"impossible: {what}" for applies, what in impossible if applies)


def _rule_problems(win: WinningHand, written: _Written, rules: Rules) -> Iterator[str]:
    most_ura = len(written.dora) if rules.kan_ura else 1
    by_ron = win.first_turn and not written.by_draw
    excluded = (
        (win.ippatsu and not rules.ippatsu, "ippatsu", "ippatsu=no"),
        (bool(written.ura) and not rules.ura_dora, "ura dora", "ura_dora=no"),
        (rules.ura_dora and len(written.ura) > most_ura, "ura dora of kans", "kan_ura=no"),
        (len(written.dora) > 1 and not rules.kan_dora, "dora of kans", "kan_dora=no"),
    )
    yield from (f"the rules have no {what} ({rule})" for applies, what, rule in excluded if applies)
    if by_ron and rules.renhou == "no":
        yield (
            "impossible: first turn by ron: tenhou and chiihou are drawn, and the rules have no"
            " blessing of man (renhou=no)"
        )
    if by_ron and written.seat_wind == 0:
        yield "impossible: first turn by ron of the dealer, who discards first"
    if by_ron and (win.chankan or win.houtei):
        yield "impossible: first turn on a robbed kan or the last discard"


def _no_win(rules: Rules) -> str:
    if rules.least_han == 1:
        return "no yaku: the hand is complete, but dora alone are no win"
    return (
        f"too few yaku: the rules need {rules.least_han} han of yaku (least_han), to which dora do"
        " not count"
    )


def _win_problems(written: _Written, players: int) -> Iterator[str]:
    counts, n_melds = count_kinds(written.hand.concealed), len(written.hand.melds)
    waiting = waits_of(counts, n_melds, players)
    if not waiting >> tile_kind(written.tile) & 1:
        distance = shanten_of(counts, n_melds, players)
        names = " ".join(tile_name(kind) for kind in kinds_of(waiting))
        state = f"it waits on {names}" if waiting else f"it is {distance}-shanten"
        yield f"not a winning hand with {tile_name(written.tile)}: {state}"
    furiten = waiting & sum({1 << tile_kind(tile) for tile in written.river})
    if furiten and not written.by_draw:
        names = " ".join(tile_name(kind) for kind in kinds_of(furiten))
        yield f"furiten: {names} is among the own discards, so the hand wins by tsumo only"
