"""Recorded games as columns: every choice of the five kinds, and the table that was seen.

``mjbot train data RECORDS --folder FOLDER`` writes for each kind of decision, as memory-mapped
``.npy`` files of equal length n::

    KIND-states.npy   STATE[n]      the table just before the choice, all hands as recorded
        KIND-rows.npy     DECISION[n]   seat, legal choices and choice, and how the game ended

and for each kyoku a row of ``kyoku-rows.npy`` (KYOKU).  :func:`open_decisions` opens them, and
reads them once to compare their checksums; games are in order, so games ``start:stop`` are a slice
(:meth:`Decisions.of_games`).

Which choices count (as in the fourth section of the paper's data, exact here):

* discard: every discard of a seat whose riichi is not accepted; ``choice`` is a kind 0..33.
* riichi: every discard or declaration where riichi could be declared; 1: it was.
* pon, chi: every discard of another that could be called; 0 is no, 1 yes, for chi 1 + the place
  of the claimed tile in the run (1 lowest, 2 middle, 3 highest).
* kan: the same, with ``form`` daiminkan, and on the own turn ankan or kakan (:class:`MeldType`);
  of three players also kita, ``form`` -1, before a kan that could be made at the same time.

The answer of a seat is unknown if another player won on the tile, and for chi (and a pon next to a
daiminkan) if a call of higher priority took it: such choices are left out.
"""

import contextlib
import hashlib
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple, Self

import msgspec
import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from mjbot.game.table.actions import (
    ADDED_KAN,
    CALL_KAN,
    CHI_LOW,
    CHI_LOW_RED,
    CONCEALED_KAN,
    DECLARE_RIICHI,
    DISCARD_DRAWN,
    KITA,
    N_ACTIONS,
    is_chi_code,
    is_discard_code,
    is_pon_code,
)
from mjbot.game.table.hands import kind_of
from mjbot.game.table.legal import legal_codes
from mjbot.game.table.seats import seat_after
from mjbot.game.table.settle import ranks_of
from mjbot.game.table.state import ACCEPTED, ANKAN, DAIMINKAN, KAKAN, STATE, State
from mjbot.learning.env import DecisionRows
from mjbot.learning.env.actions import CHI, KAN, PASS, PON, RIICHI, WIN
from mjbot.learning.models.networks.encoding import (
    N_PLANES,
    N_SCALARS,
    Encoder,
    encode,
    new_encoder,
)
from mjbot.learning.training.positions import GameStep, collect
from mjbot.learning.training.requests import DataRequest
from mjbot.learning.training.runs import TrainingRequest
from mjbot.protocol import messages as m
from mjbot.protocol.tiles import FIVE_KINDS, N_KINDS, TILE_BY_NAME, tile_kind
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import Int8, Int8s, Int16, Int32, Int32s, Int64, Record
from mjbot.runtime.errors import ArgumentError, ExitCode, MjbotError
from mjbot.runtime.files import first_line, naming, plural, whole_file
from mjbot.runtime.progress import progress
from mjbot.runtime.requests import command_of


class DecisionKind(StrEnum):
    """What is decided."""

    DISCARD = "discard"
    RIICHI = "riichi"
    PON = "pon"
    CHI = "chi"
    KAN = "kan"


KINDS: Final = tuple(DecisionKind)
N_CHOICES: Final[Mapping[DecisionKind, int]] = dict(zip(KINDS, (34, 2, 2, 4, 2), strict=True))
"""How many classes a decision has."""

_DISCARD: Final = 0
_RIICHI: Final = 1
_PON: Final = 2
_CHI: Final = 3
_KAN: Final = 4

N_INPUTS: Final = N_KINDS * N_PLANES + N_SCALARS
ENCODED_AT_ONCE: Final = 4096
INFO_FILE: Final = "decisions.json"
UNKNOWN: Final = -1
FIRST_SIZE: Final = 2048
MOST_ROWS: Final = 16
"""Choices at one moment: three seats that could pon, chi or kan, or one on its own turn."""


class DecisionRow(Record, align=False):
    """One choice; ``ranks`` are the final ranks 1..4 of the seats."""

    legal: Int64  # bit per class (a discard's kinds, a chi's 0..3)
    game: Int32  # number in the records
    kyoku: Int16  # number in the game
    seat: Int8
    kind: Int8  # place in KINDS
    choice: Int8
    form: Int8  # of a kan: MeldType, else -1
    ranks: Annotated[Int8s, 4]


class KyokuRow(Record, align=False):
    """The start of a kyoku and its result; ``change`` are the points won in it."""

    game: Int32
    kyoku: Int16
    honba: Int16
    sticks: Int16  # riichi sticks on the table
    round: Int8  # 0 East 1 .. 11 West 4
    dealer: Int8
    scores: Annotated[Int32s, 4]
    change: Annotated[Int32s, 4]
    ranks: Annotated[Int8s, 4]


DECISION: Final = DecisionRow.dtype
KYOKU: Final = KyokuRow.dtype

Records = NDArray[np.void]


class GameRows(NamedTuple):
    """What one game gives: by kind of decision the tables and the choices, and its kyoku."""

    states: tuple[Records, ...]
    rows: tuple[Records, ...]
    kyoku: Records


@dataclass(frozen=True)
class Decisions:
    """The decisions of one kind: ``states`` STATE[n] and ``rows`` DECISION[n], memory-mapped."""

    kind: DecisionKind
    states: Records
    rows: Records

    def of_games(self, start: int, stop: int) -> "Decisions":
        """Return those of games ``start:stop``."""
        first, last = np.searchsorted(self.rows["game"], (start, stop))
        return Decisions(self.kind, self.states[first:last], self.rows[first:last])

    def arrays(self, start: int = 0, stop: int | None = None) -> "Arrays":
        """Return rows ``start:stop`` as arrays to learn from; 10 kB a row."""
        states = bytes_of(self.states)[start:stop].view(self.states.dtype)[:, 0]
        rows = np.asarray(self.rows[start:stop])
        x = np.empty((len(rows), N_INPUTS), np.float32)
        encoder, seats = new_encoder(), rows["seat"].astype(np.int64)
        for first in range(0, len(rows), ENCODED_AT_ONCE):
            part = slice(first, first + ENCODED_AT_ONCE)
            n = len(rows[part])
            planes = np.empty((n, N_KINDS, N_PLANES), np.float32)
            scalars = np.empty((n, N_SCALARS), np.float32)
            encode_rows(states[part], seats[part], np.arange(n), encoder, planes, scalars)
            x[part, :-N_SCALARS] = planes.reshape(n, -1)
            x[part, -N_SCALARS:] = scalars
        classes = np.arange(N_CHOICES[self.kind])
        mask = (rows["legal"][:, None] >> classes & 1).astype(np.bool_)
        return Arrays(x, rows["choice"].astype(np.int64), mask)


class Arrays(NamedTuple):
    """Decisions of one kind to learn from: what was seen, what was chosen, what was legal.

    A row of ``x`` is an observation of the environments: 34 x N_PLANES numbers, kind by kind
    (``x[:, :-N_SCALARS].reshape(-1, 34, N_PLANES)``), and N_SCALARS.
    """

    x: NDArray[np.float32]  # float32[n, N_INPUTS]
    y: NDArray[np.int64]  # int64[n], a class of N_CHOICES
    mask: NDArray[np.bool_]  # bool[n, classes]


class DataInfo(msgspec.Struct, frozen=True, kw_only=True):
    """``decisions.json``: what the columns were made of and by; ``layout`` names their types.

    ``digests`` has one of each game (:func:`~mjbot.game.records.game.game_identity`, hexadecimal):
    so no game is learned from in one folder and checked with in another.  ``checksums`` has one of
    each file of columns, ``checksum`` is that of all the rest here; columns of mjbot before 0.4
    have none.
    """

    data: str
    command: str
    games: int
    players: int = 4
    rows: dict[str, int]
    layout: str
    digests: tuple[str, ...] = ()
    checksums: dict[str, str] = {}
    checksum: str = ""

    @property
    def own_checksum(self) -> str:
        """What :attr:`checksum` has to be."""
        rest = msgspec.structs.replace(self, checksum="")
        return f"{zlib.crc32(msgspec.json.encode(rest)):08x}"


def layout() -> str:
    """Return what changes with the layout of the columns: twelve letters and digits."""
    answered = f"{STATE.descr} {DECISION.descr} {KYOKU.descr}"
    return hashlib.sha256(answered.encode()).hexdigest()[:12]


def open_decisions(folder: Path, kind: DecisionKind) -> Decisions:
    """Open the columns of a kind; :class:`DataError` names what cannot be used."""
    info = check_data(folder)
    states = _open(folder / f"{kind}-states.npy", STATE, info)
    rows = _open(folder / f"{kind}-rows.npy", DECISION, info)
    if len(states) != len(rows):
        raise DataError(folder / f"{kind}-rows.npy", f"{len(rows)} rows for {len(states)} tables")
    return Decisions(kind, states, rows)


def open_kyoku(folder: Path) -> Records:
    """Open the starts of all kyoku: KYOKU[n]."""
    return _open(folder / "kyoku-rows.npy", KYOKU, check_data(folder))


def check_data(folder: Path) -> DataInfo:
    """Return the description in a folder; :class:`DataError` if it is not ours."""
    path = folder / INFO_FILE
    try:
        info = msgspec.json.decode(path.read_bytes(), type=DataInfo)
    except FileNotFoundError:
        problem = "is missing; `mjbot train data RECORDS --folder FOLDER` makes the columns"
        raise DataError(path, problem) from None
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(path, f"cannot be read: {error}") from None
    if info.layout != layout():
        raise DataError(path, "the columns are of another version of mjbot; make them again")
    if info.checksum and info.checksum != info.own_checksum:
        raise DataError(path, "is not as it was written; make the columns again")
    return info


def check_distinct(folders: Sequence[Path], players: Collection[int] = (4,)) -> None:
    """Raise :class:`DataError` for a folder of columns that has a game of one before it.

    Columns of earlier versions do not name their games.  ``players`` are the numbers of players
    of which the caller trains a model; other columns are refused, too, and a mixture.
    """
    seen: set[str] = set()
    first: int | None = None
    for folder in folders:
        info = check_data(folder)
        first = first or info.players
        if info.players not in players:
            problem = f"columns of {info.players} players; make them of games of four"
            raise DataError(folder, problem)
        if info.players != first:
            problem = f"columns of {info.players} players after columns of {first}; name one kind"
            raise DataError(folder, problem)
        digests = set(info.digests)
        if common := len(digests & seen):
            verb = "is" if common == 1 else "are"
            problem = f"{plural(common, 'game')} of it {verb} in a folder before it, too"
            raise DataError(folder, f"{problem}; name columns of other records")
        seen |= digests


def _open(path: Path, dtype: np.dtype[Any], info: DataInfo) -> Records:
    try:
        found: Records = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # numpy raises a dozen kinds over a damaged header
        raise DataError(
            path, f"cannot be read ({first_line(error)}); make the columns again"
        ) from None
    # numpy hands out an archive whatever the file is called
    if not isinstance(found, np.ndarray) or found.dtype != dtype or found.ndim != 1:
        raise DataError(path, "holds other columns; make them again")
    checksum = info.checksums.get(path.name)
    if checksum and checksum != f"{zlib.crc32(found.view(np.uint8).data):08x}":
        raise DataError(path, "is not as it was written (its checksum differs); make them again")
    aligned: Records = found.view(dtype)  # a file does not store the alignment
    return aligned


@dataclass
class DataError(MjbotError):
    """Columns that cannot be used; the text is one line that names the file and the cure."""

    exit_code = ExitCode.UNREACHABLE

    path: Path
    problem: str

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}"


def write_decisions(request: DataRequest) -> DataInfo:
    """Replay the requested games and write all columns; ``decisions.json`` is written last.

    Raises ``OSError`` and :class:`~mjbot.runtime.errors.MjbotError`; nothing that stands is
    overwritten.
    """
    folder = request.folder
    if folder.exists() and any(folder.iterdir()):
        raise ArgumentError(f"{folder} is not empty; name another --folder, or erase it")
    records = TrainingRequest(
        records=request.records, left_out=request.left_out, players=request.players
    )
    games, _ = records.split()
    folder.mkdir(parents=True, exist_ok=True)
    console = Console(stderr=True)
    n_games = 0
    with contextlib.ExitStack() as stack:
        names = [f"{kind}-{what}" for kind in KINDS for what in ("states", "rows")]
        columns = [
            stack.enter_context(_Column(folder / f"{name}.npy", dtype))
            for name, dtype in zip(names, [STATE, DECISION] * len(KINDS), strict=True)
        ]
        kyoku = stack.enter_context(_Column(folder / "kyoku-rows.npy", KYOKU))
        step = stack.enter_context(progress(console, "replaying", len(games), "games"))
        for found in collect(games, decisions_of, request.jobs, request.left_out):
            for place in range(len(KINDS)):
                columns[2 * place].append(found.states[place])
                columns[2 * place + 1].append(found.rows[place])
            kyoku.append(found.kyoku)
            n_games += 1
            step()
        rows = {str(kind): columns[2 * place].n for place, kind in enumerate(KINDS)}
        rows["kyoku"] = kyoku.n
        checksums = {column.path.name: column.checksum for column in [*columns, kyoku]}
    files = ", ".join(path.name for path in request.records)
    info = DataInfo(
        data=f"games : of {files}{request.left_out}",
        command=command_of("mjbot train data", request),
        games=n_games,
        players=request.players,
        rows=rows,
        layout=layout(),
        digests=tuple(sorted(records.distinct.copies.digests)),
        checksums=checksums,
    )
    info = msgspec.structs.replace(info, checksum=info.own_checksum)
    with whole_file(folder / INFO_FILE) as file:
        file.write(msgspec.json.format(msgspec.json.encode(info)) + b"\n")
    return info


class _Column:
    """A ``.npy`` file that grows at its end."""

    def __init__(self, path: Path, dtype: np.dtype[Any]) -> None:
        self.path: Final = path
        self._dtype = dtype
        self._crc = 0
        self.n = 0
        with naming(path):
            self._file = path.open("xb")
            self._write_header()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with naming(self.path), self._file:
            self._file.seek(0)
            self._write_header()

    def append(self, records: Records) -> None:
        data = records.view(np.uint8).data
        with naming(self.path):
            self._file.write(data)
        self._crc = zlib.crc32(data, self._crc)
        self.n += len(records)

    @property
    def checksum(self) -> str:
        """The checksum of all records so far."""
        return f"{self._crc:08x}"

    def _write_header(self) -> None:
        """Write the same number of bytes for any number of records: numpy leaves room for it."""
        descr = np.lib.format.dtype_to_descr(self._dtype)
        header = {"descr": descr, "fortran_order": False, "shape": (self.n,)}
        np.lib.format.write_array_header_1_0(self._file, header)


# --- one game ----------------------------------------------------------------------------------


def decisions_of(game: Iterator[GameStep]) -> GameRows:
    """Collect all choices of one game."""
    collector = _Collector()
    state: Any = None
    for number, event, state in game:
        collector.note(number, event, state)
    return collector.found(state)


class _Collector:
    """Rows and tables of one game in one array each, whose first part is taken at the end."""

    def __init__(self) -> None:
        self._states: Any = np.zeros(FIRST_SIZE, STATE)
        self._rows: Any = np.zeros(FIRST_SIZE, DECISION)
        self._n = 0
        self._codes = np.empty(N_ACTIONS, np.uint8)
        self._discarded = False  # a tile is on offer
        self._offered = -1  # end of the rows whose answers are pending, -1: not collected
        self._kyoku: list[Records] = []
        self._dealt_at: list[int] = []  # rows before each kyoku
        self._dealt = False

    def note(self, game: int, event: Any, state: State) -> None:
        """Take note of an event and the table before it."""
        if self._dealt:
            self._start_kyoku(game, state)
            self._dealt = False
        if self._discarded:
            if self._offered < self._n:
                self._make_room()
                self._offered = note_offers(state, self._codes, self._rows, self._states, self._n)
            if not isinstance(event, m.ReachAccepted | m.Dora):
                self._answer(event)
        match event:
            case m.Dahai(actor=actor, pai=pai):
                self._own(state, actor, _DISCARD, tile_kind(TILE_BY_NAME[pai]))
                self._discarded, self._offered = True, -1
            case m.StartKyoku():
                self._dealt = True
            case m.Reach(actor=actor):
                self._own(state, actor, _RIICHI, 1)
            case m.Ankan(actor=actor) | m.Kakan(actor=actor):
                self._own(state, actor, _KAN, 1)
            case m.Kita(actor=actor):
                self._own(state, actor, _KAN, KITA)
            case _:
                pass

    def _own(self, state: State, seat: int, kind: int, choice: int) -> None:
        self._make_room()
        self._n = note_turn(
            state, seat, self._codes, kind, choice, self._rows, self._states, self._n
        )

    def _answer(self, event: Any) -> None:
        """Note the answers of the seats that were offered a tile."""
        self._discarded = False
        if self._offered == self._n:
            return
        caller, answered, chi = -1, UNKNOWN, -1
        match event:
            case m.Tsumo():
                pass
            case m.Chi(actor=caller, pai=pai, consumed=consumed):
                answered = _CHI
                kinds = sorted(tile_kind(TILE_BY_NAME[tile]) for tile in (pai, *consumed))
                chi = 1 + kinds.index(tile_kind(TILE_BY_NAME[pai]))
            case m.Pon(actor=caller):
                answered = _PON
            case m.Daiminkan(actor=caller):
                answered = _KAN
            case _:
                return  # won, or drawn: the other answers are unknown
        self._n = answer(self._rows, self._states, self._n, self._offered, caller, answered, chi)

    def _make_room(self) -> None:
        if self._n + MOST_ROWS > len(self._rows):
            self._rows = _twice(self._rows)
            self._states = _twice(self._states)

    def _start_kyoku(self, game: int, state: State) -> None:
        kyoku = np.zeros(1, KYOKU)[0]
        kyoku["game"], kyoku["kyoku"] = game, len(self._kyoku)
        for field in ("honba", "sticks", "round", "dealer", "scores"):
            kyoku[field] = state[field]
        self._kyoku.append(kyoku)
        self._dealt_at.append(self._n)

    def found(self, end: State | None) -> GameRows:
        """Return all, with the ranks at the end."""
        rows, states = self._rows[: self._n], self._states[: self._n]
        kyoku = np.array(self._kyoku, KYOKU)
        rows["kyoku"] = np.searchsorted(self._dealt_at, np.arange(self._n), "right") - 1
        if end is not None and len(kyoku):
            rows["game"] = kyoku["game"][0]
            players = int(end["rules"]["players"])
            ranks = ranks_of(end["scores"][:players])
            rows["ranks"][:, :players] = kyoku["ranks"][:, :players] = ranks
            kyoku["change"][:-1] = kyoku["scores"][1:] - kyoku["scores"][:-1]
            kyoku["change"][-1:] = end["scores"] - kyoku["scores"][-1:]
        places = [np.flatnonzero(rows["kind"] == kind) for kind in range(len(KINDS))]
        return GameRows(
            tuple(taken(states, chosen) for chosen in places),
            tuple(taken(rows, chosen) for chosen in places),
            kyoku,
        )


def _twice(records: Records) -> Records:
    larger = np.zeros(2 * len(records), records.dtype)
    larger[: len(records)] = records
    return larger


def taken(records: Records, places: NDArray[np.int64]) -> Records:
    """Return ``records[places]``, copied as bytes: numpy copies records field by field."""
    found: Records = bytes_of(records)[places].view(records.dtype)[:, 0]
    return found


def bytes_of(records: Records) -> NDArray[np.uint8]:
    """Return the same memory as uint8[n, bytes of a record]."""
    return records.view(np.uint8).reshape(len(records), records.dtype.itemsize)


# --- in compiled code --------------------------------------------------------------------------


@compiled
def note_turn(
    state: State,
    seat: int,
    codes: NDArray[np.uint8],
    kind: int,
    choice: int,
    rows: Records,
    states: Records,
    n: int,
) -> int:
    """Write the choices that a seat had on its own turn, when it chose ``kind``, from place n on.

    Returns the place after them.  A declaration of riichi is no discard, so that one follows.  The
    ``choice`` of a kan is 1, of a kita its code.
    """
    n_codes = legal_codes(state, seat, codes)
    discards, riichi, form, has_kan = 0, False, -1, False
    for place in range(n_codes):
        code = codes[place]
        if is_discard_code(code):
            tile = code - DISCARD_DRAWN if code >= DISCARD_DRAWN else code
            discards |= 1 << kind_of(tile)
        elif code == DECLARE_RIICHI:
            riichi = True
        elif code >= CONCEALED_KAN:
            has_kan = True
            form = -1 if code == KITA else ANKAN if code < ADDED_KAN else KAKAN
    if has_kan:
        made = kind == _KAN and (choice == KITA) == (form < 0)
        n = _write(state, seat, _KAN, int(made), 3, rows, states, n)
        rows[n - 1].form = form
    if riichi and kind != _KAN:
        n = _write(state, seat, _RIICHI, int(kind == _RIICHI), 3, rows, states, n)
    if kind == _DISCARD and state.riichi[seat] != ACCEPTED:
        n = _write(state, seat, _DISCARD, choice, discards, rows, states, n)
    return n


@compiled
def note_offers(
    state: State, codes: NDArray[np.uint8], rows: Records, states: Records, n: int
) -> int:
    """Write what each seat might do with a discard, not yet what it chose, from place n on.

    Returns the place after them.
    """
    for step in range(1, state.rules.players):
        seat = seat_after(state, state.turn, step)
        pon, chi, kan = False, 0, False
        for place in range(legal_codes(state, seat, codes)):
            code = codes[place]
            pon |= is_pon_code(code)
            kan |= code == CALL_KAN
            if is_chi_code(code):
                chi |= 2 << ((code - CHI_LOW) % (CHI_LOW_RED - CHI_LOW))
        if pon:
            n = _write(state, seat, _PON, UNKNOWN, 3, rows, states, n)
        if chi:
            n = _write(state, seat, _CHI, UNKNOWN, chi | 1, rows, states, n)
        if kan:
            n = _write(state, seat, _KAN, UNKNOWN, 3, rows, states, n)
            rows[n - 1].form = DAIMINKAN
    return n


@compiled
def _write(
    state: State,
    seat: int,
    kind: int,
    choice: int,
    legal: int,
    rows: Records,
    states: Records,
    n: int,
) -> int:
    states[n] = state
    row = rows[n]
    row.seat, row.kind, row.choice, row.legal, row.form = seat, kind, choice, legal, -1
    return n + 1


@compiled
def answer(
    rows: Records,
    states: Records,
    start: int,
    stop: int,
    caller: int,
    answered: int,
    chi_choice: int,
) -> int:
    """Fill in the answers to a tile: ``caller`` took it by ``answered``, or -1, none did.

    Of rows ``start:stop`` those with an unknown answer are dropped; returns the new end.
    """
    kept = start
    for place in range(start, stop):
        row = rows[place]
        choice = 0
        if row.seat == caller and row.kind == answered:
            choice = chi_choice if answered == _CHI else 1
        elif (answered in (_PON, _KAN) and row.kind == _CHI) or (
            answered == _KAN and row.kind == _PON
        ):
            continue
        row.choice = choice
        if kept != place:
            rows[kept] = rows[place]
            states[kept] = states[place]
        kept += 1
    return kept


@compiled
def encode_rows(
    states: Records,
    seats: NDArray[np.int64],
    places: NDArray[np.int64],
    encoder: Encoder,
    planes: NDArray[np.float32],
    scalars: NDArray[np.float32],
) -> None:
    """Encode some of many tables: ``planes`` [n, 34, N_PLANES], ``scalars`` [n, N_SCALARS]."""
    for place in places:
        encode(states[place], seats[place], encoder, planes[place], scalars[place])


# --- decisions of an environment's rows --------------------------------------------------------

Ints = NDArray[np.int64]
Legal = NDArray[np.bool_]
"""bool[n, classes] of one kind."""

ORDER: Final = tuple(
    KINDS.index(kind)
    for kind in (
        DecisionKind.RIICHI,
        DecisionKind.KAN,
        DecisionKind.PON,
        DecisionKind.CHI,
        DecisionKind.DISCARD,
    )
)
_YES: Final = {DecisionKind.RIICHI: RIICHI, DecisionKind.KAN: KAN, DecisionKind.PON: PON}

Answer = Callable[[int, Ints, Any, Legal], Ints]
"""``answer(kind, rows, planes, legal)`` returns a legal class for each of those rows, int64[n];
``kind`` is an index of :data:`KINDS`."""


def actions_of(
    rows: DecisionRows, at_kan: NDArray[np.bool_], planes: NDArray[Any], answer: Answer
) -> Ints:
    """Return an action 0..45 of each row of the environment: int64[rows].

    A network with one output per kind of decision answers riichi, kan, pon, chi and discard
    in this order, each only where it can be answered in two ways; "no" leads to the next.
    ``at_kan`` bool[rows]: the kind of a kan is chosen; ``planes``: what the network sees of each
    row.
    """
    masks = rows.masks
    actions = np.full(len(masks), -1, np.int64)
    actions[at_kan] = masks[at_kan].argmax(axis=1)
    actions[masks[:, WIN]] = WIN
    for kind in ORDER:
        legal = legal_classes(kind, masks)
        asked = np.flatnonzero((actions < 0) & (legal.sum(axis=1) > 1))
        if len(asked):
            choices = answer(kind, asked, planes[asked], legal[asked])
            actions[asked] = _actions(KINDS[kind], choices, masks[asked])
    left = actions < 0
    actions[left] = np.where(masks[left, PASS], PASS, masks[left].argmax(axis=1))
    return actions


def legal_classes(kind: int, masks: NDArray[np.bool_]) -> Legal:
    """Return which classes of a kind masks bool[n, 46] allow; "no" always is."""
    n = len(masks)
    if KINDS[kind] == DecisionKind.DISCARD:
        legal = masks[:, :N_KINDS].copy()
        legal[:, FIVE_KINDS] |= masks[:, N_KINDS:RIICHI]
        return legal
    legal = np.ones((n, N_CHOICES[KINDS[kind]]), np.bool_)
    if KINDS[kind] == DecisionKind.CHI:
        legal[:, 1:] = masks[:, CHI:PON]
    else:
        legal[:, 1] = masks[:, _YES[KINDS[kind]]]
    return legal


def _actions(kind: DecisionKind, choices: Ints, masks: NDArray[np.bool_]) -> Ints:
    """Return the actions 0..45 that classes mean, -1 for "no"; a red five goes last."""
    match kind:
        case DecisionKind.DISCARD:
            has = masks[np.arange(len(choices)), choices]
            red = N_KINDS + np.searchsorted(FIVE_KINDS, choices)
            return np.where(has, choices, red)
        case DecisionKind.CHI:
            return np.where(choices > 0, CHI - 1 + choices, -1)
        case _:
            return np.where(choices > 0, _YES[kind], -1)
