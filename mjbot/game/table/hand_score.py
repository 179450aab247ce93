"""What a hand that is written down is worth: yaku, fu and payments, without a game.

All that a table would know is in :class:`WinningHand`; what no table could hold is refused with
the cause.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final

from mjbot.game.rules import wins
from mjbot.game.rules.acceptance import waits
from mjbot.game.rules.fu_parts import FuPart, fu_parts
from mjbot.game.rules.hand_notation import MAX_MELDS, WrittenHand, read_hand, read_tiles
from mjbot.game.rules.kinds import N_COPIES, count_kinds, kinds_of
from mjbot.game.rules.points import MANGAN, YAKUMAN_BASE, Parties, base_points, win_deltas
from mjbot.game.rules.ruleset import rule_set
from mjbot.game.rules.scoring import Score, score_win
from mjbot.game.rules.shanten import shanten
from mjbot.game.rules.shapes import DAIMINKAN
from mjbot.game.rules.wall_plan import HAND_TILES, MAX_MARKERS
from mjbot.game.rules.wins import Win, new_win
from mjbot.game.rules.yaku_table import YAKU, yaku_han
from mjbot.game.table.observe import dora_kind
from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.files import plural
from mjbot.runtime.languages import marked
from protocol.messages import MOST_STICKS
from protocol.rules import RANKED, Rules
from protocol.tiles import N_KINDS, RED_FIVES, WIND_NAMES, tile_kind, tile_name

DISCARDER: Final = "discarder"
_LIMITS: Final = (
    (YAKUMAN_BASE, marked("yakuman")),
    (3 * MANGAN, marked("sanbaiman")),
    (2 * MANGAN, marked("baiman")),
    (3 * MANGAN // 2, marked("haneman")),
    (MANGAN, marked("mangan")),
)
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
    before.  ``sticks`` are the riichi sticks on the table, the own one included.
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


@dataclass(frozen=True, kw_only=True)
class HandScore:
    """The score of a win.

    ``yaku`` are English names with their han, dora included, a yakuman with 13, a double one with
    26; ``fu_parts`` add up to ``fu``.  ``limit`` is ``mangan`` to ``yakuman`` or empty; ``yakuman``
    counts them, 0 for one of 13 ordinary han.  ``points`` are those of the hand; ``payments`` are
    what each payer gives, honba included, by its seat wind or :data:`DISCARDER`; ``received`` is
    their sum and the sticks.
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
    try:
        written = _read(win)
    except ValueError as error:
        raise ArgumentError(str(error)) from None
    for problem in chain(
        _tile_problems(written, rules), _situation_problems(win, written), _win_problems(written)
    ):
        raise ArgumentError(problem)
    record = _record(win, written, rules)
    score = score_win(record)
    if not score[0]:
        raise ArgumentError("no yaku: the hand is complete, but dora alone are no win")
    return _paid(win, record, written.hand.is_open, score, rules)


def _paid(win: WinningHand, record: Win, is_open: bool, score: Score, rules: Rules) -> HandScore:
    han, fu, mask, yakuman = score
    flags, record_of_rules = int(record["flags"]), rule_set(rules)
    base = base_points(han, fu, yakuman, flags)
    bonus = (int(record["dora"]), int(record["ura"]), int(record["red"]))
    winner = int(record["seat_wind"])
    parties = Parties(winner, winner if win.tsumo else (winner + 1) % rules.players, 0, -1)
    deltas = win_deltas(base, parties, win.honba, win.sticks, record_of_rules).tolist()
    return HandScore(
        yaku=tuple(
            [(YAKU[yaku].name, value) for yaku, value in yaku_han(mask, is_open, bonus, flags)]
        ),
        han=han,
        fu=fu,
        fu_parts=fu_parts(record, score),
        limit=limit_name(base),
        yakuman=yakuman,
        points=int(win_deltas(base, parties, 0, 0, record_of_rules)[winner]),
        payments={
            WIND_NAMES[seat] if win.tsumo else DISCARDER: -points
            for seat, points in enumerate(deltas)
            if points < 0
        },
        received=deltas[winner],
    )


# --- what is written ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Written:
    """The tiles of a :class:`WinningHand`, 0..36, and its winds, 0..3."""

    hand: WrittenHand
    tile: int
    by_draw: bool
    dora: list[int]
    ura: list[int]
    river: list[int]
    seat_wind: int
    round_wind: int

    @property
    def own(self) -> list[int]:
        """All tiles of the hand, the winning one included."""
        return [*self.hand.tiles, self.tile]


def _read(win: WinningHand) -> _Written:
    if bool(win.ron) == bool(win.tsumo):
        raise ValueError("the winning tile: give one, by ron or by tsumo")
    tile = read_tiles(win.ron or win.tsumo)
    if len(tile) != 1:
        raise ValueError(f"the winning tile {win.ron or win.tsumo!r}: expected one tile")
    for name in ("honba", "sticks"):
        if not 0 <= getattr(win, name) <= MOST_STICKS:
            raise ValueError(f"{name}: {getattr(win, name)} is not 0 to {MOST_STICKS}")
    return _Written(
        hand=read_hand(win.hand),
        tile=tile[0],
        by_draw=bool(win.tsumo),
        dora=read_tiles(win.dora),
        ura=read_tiles(win.ura),
        river=read_tiles(win.river),
        seat_wind=_wind("seat", win.seat),
        round_wind=_wind("round", win.round),
    )


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
    record["ura"] = sum(held[dora_kind(marker, rules.players)] for marker in written.ura)
    record["red"] = sum(tile >= N_KINDS for tile in written.own)
    record["flags"] = sum(flag for name, flag in _FLAGS.items() if getattr(win, name))
    record["flags"] += (wins.TSUMO if win.tsumo else 0) | int(rule_set(rules)["scoring"])
    return record


# --- what cannot be ------------------------------------------------------------------------------


def _tile_problems(written: _Written, rules: Rules) -> Iterator[str]:
    shown = Counter([*written.own, *written.dora, *written.ura, *written.river])
    for kind, count in enumerate(count_kinds(shown.elements()).tolist()):
        if count > N_COPIES:
            yield (
                f"{count} tiles of {tile_name(kind)} in hand, indicators and river,"
                f" but there are {N_COPIES} of a kind"
            )
    for red in RED_FIVES:
        if shown[red] > rules.red_fives:
            there = "there is one" if rules.red_fives else "the rules have none"
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


def _situation_problems(win: WinningHand, written: _Written) -> Iterator[str]:
    hand, by_draw = written.hand, written.by_draw
    in_riichi = win.riichi or win.double_riichi
    has_kan = any(meld.type >= DAIMINKAN for meld in hand.melds)
    copies = count_kinds(written.own)[tile_kind(written.tile)]
    impossible = (
        (in_riichi and hand.is_open, "riichi with an open hand"),
        (win.ippatsu and not in_riichi, "ippatsu without riichi"),
        (win.ippatsu and win.rinshan, "ippatsu after the own kan"),
        (bool(written.ura) and not in_riichi, "ura dora without riichi"),
        (win.haitei and not by_draw, "haitei by ron: the last discard is houtei"),
        (win.houtei and by_draw, "houtei by tsumo: the last draw is haitei"),
        (win.rinshan and not (by_draw and has_kan), "rinshan without a tsumo after an own kan"),
        (win.rinshan and win.haitei, "rinshan and haitei: the tile is not of the live wall"),
        (win.chankan and by_draw, "chankan by tsumo"),
        (win.chankan and win.houtei, "chankan and houtei: the last discard is no kan"),
        (win.chankan and copies > 1, "chankan of a tile of which the robbed kan has the others"),
        (win.first_turn and not by_draw, "first turn by ron: tenhou and chiihou are drawn"),
        (
            win.first_turn and bool(hand.melds or written.river or in_riichi),
            "first turn after a call, a discard or riichi",
        ),
        (win.first_turn and (win.haitei or win.rinshan), "first turn on a last or a kan's tile"),
    )
    yield from (f"impossible: {what}" for applies, what in impossible if applies)


def _win_problems(written: _Written) -> Iterator[str]:
    counts, n_melds = count_kinds(written.hand.concealed), len(written.hand.melds)
    waiting = waits(counts, n_melds)
    if not waiting >> tile_kind(written.tile) & 1:
        distance = shanten(counts, n_melds)
        names = " ".join(tile_name(kind) for kind in kinds_of(waiting))
        state = f"it waits on {names}" if waiting else f"it is {distance}-shanten"
        yield f"not a winning hand with {tile_name(written.tile)}: {state}"
    furiten = waiting & sum({1 << tile_kind(tile) for tile in written.river})
    if furiten and not written.by_draw:
        names = " ".join(tile_name(kind) for kind in kinds_of(furiten))
        yield f"furiten: {names} is among the own discards, so the hand wins by tsumo only"
