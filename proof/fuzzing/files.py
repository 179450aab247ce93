"""Files: records of every format, packed files, evidence, weights, columns and logs of runs.

A game that is read can be written in each format, or a line gives the reason; and the output is
read and written again to the same bytes.  Arrays fit, or a line gives the reason.  Bytes that were
changed hardly ever unpack, so files are packed here as well, and get a manifest to which they fit:
then it is for each model to see that they are not its own.
"""

import contextlib
import gzip
import io
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np

from mjbot.analysis.collusion import verdicts
from mjbot.game.records.evidence import read_evidence
from mjbot.game.records.game import Game, RecordError
from mjbot.game.records.mjai_log import read_mjai_log
from mjbot.game.records.mjlog import read_mjlog
from mjbot.game.records.replay import ReplaySummary, replay
from mjbot.game.records.sources import open_games
from mjbot.game.records.tenhou6.reader import read_tenhou6
from mjbot.game.records.writers import FORMATS
from mjbot.learning.models import danger, fold, hand, weights
from mjbot.learning.models.networks import hidden_shanten, policy, rank
from mjbot.learning.models.weights import Manifest, WeightsError, load_manifest, load_weights
from mjbot.learning.training.networks.decisions import (
    INFO_FILE,
    DataError,
    DecisionKind,
    layout,
    open_decisions,
)
from mjbot.learning.training.runs import TrainingHeader, Written
from mjbot.runtime.append_log import Cures, LogError, read_log
from papers.matsuda2021.networks import PaperNetwork

SEPARATOR: Final = b"\n--\n"
"""Between the members of an archive that is packed here; the first line of each is its name."""
MANIFEST: Final = Manifest(data="none", command="none", seed=0, scores={})
INFO: Final = {"data": "none", "command": "none", "games": 1, "rows": {}, "layout": layout()}
RUN: Final = b'{"train":"hand"}\n'
_NAME: Final = "record"

READERS: Final[dict[str, Callable[[bytes], Iterable[Game]]]] = {
    "mjai": lambda data: read_mjai_log(stream(data), _NAME),
    "mjlog": lambda data: [Game(_NAME, "tag", read_mjlog(data, _NAME))],
    "tenhou6": lambda data: read_tenhou6(stream(data), _NAME),
}
"""By the name of the format."""

MODELS: Final[tuple[tuple[str, Callable[[Path], object]], ...]] = (
    ("danger", danger.danger_weights),
    ("fold", fold.FoldRecogniser.load),
    ("hand-paper", lambda folder: hand.HandEvaluator.load("paper", folder)),
    ("paper-riichi", lambda folder: PaperNetwork.load("riichi", folder)),
    ("policy", policy.Policy.load),
    ("rank", rank.RankModel.load),
    ("shanten", hidden_shanten.shanten_weights),
    ("detection", verdicts.shipped_weights),
)
"""Names of weights, and what takes them from a folder."""


def stream(data: bytes) -> io.BufferedReader:
    """Return bytes as an open file of them."""
    return io.BufferedReader(io.BytesIO(data))  # type: ignore[arg-type]


def check_record(name: str, data: bytes) -> None:
    """Read a record in the format of this name, replay it and write it in each format."""
    with contextlib.suppress(RecordError):
        for game in READERS[name](data):
            entries = list(game.entries)
            # the lenient table plays on past anything that can be read
            replay(replace(game, entries=entries), ReplaySummary(), strict=False)
            for written_name in FORMATS:
                _check_written(replace(game, entries=entries), written_name)


def _check_written(game: Game, name: str) -> None:
    """Write a game that was read: this may be refused, but what is written is good."""
    try:
        written = FORMATS[name].encode(game)
    except RecordError:
        return
    if written:
        again = [FORMATS[name].encode(other) for other in READERS[name](written)]
        assert b"".join(again) == written, (name, written, again)


# --- packed files ----------------------------------------------------------------------------


def check_packed(choice: int, data: bytes) -> None:
    """Files: plain, gzipped, in a zip, damaged, of other kinds; and evidence.

    The choice is whether the data are a file as it is (0), or are to be packed for it: gzip (1), a
    zip (2), gzip in a zip (3); 4 is a file of evidence.
    """
    choice %= 5
    if choice in (1, 3):
        data = gzip.compress(data, 1, mtime=0)
    if choice in (2, 3):
        data = _zipped([("a/game.mjlog", data)])
    with _scratch() as folder, contextlib.suppress(RecordError):
        path = folder / "any.json"
        path.write_bytes(data)
        if choice == 4:
            list(read_evidence(path))
        else:
            for game in open_games(path):
                list(game.entries)


@contextlib.contextmanager
def _scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="mjbot-fuzz-") as folder:
        yield Path(folder)


def _zipped(members: Iterable[tuple[str, bytes]]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content)
    return file.getvalue()


# --- weights, columns, runs ------------------------------------------------------------------


def check_weights(choice: int, data: bytes) -> None:
    """A file of one kind or another (the choice), or arrays for each model (the first byte)."""
    which, content = (data[0], data[1:]) if data else (0, b"")
    refusal, check = _KINDS[choice % len(_KINDS)]
    with _scratch() as folder, contextlib.suppress(refusal):
        check(folder, content, which)


def _check_arrays(folder: Path, archive: bytes, which: int) -> None:
    """Load arrays, and then again as those of a model, with a manifest that describes them."""
    name, load = MODELS[which % len(MODELS)]
    (folder / f"{name}.npz").write_bytes(archive)
    (folder / f"{name}.json").write_bytes(msgspec.json.encode(MANIFEST))
    try:
        load_weights(name, folder)
    except WeightsError as error:
        if f"does not fit {name}.json" not in str(error):
            return
    with np.load(folder / f"{name}.npz", allow_pickle=False) as saved:
        arrays: dict[str, Any] = {key: saved[key] for key in saved.files}
    fitting = msgspec.structs.replace(MANIFEST, digest=weights._digest(arrays))
    (folder / f"{name}.json").write_bytes(msgspec.json.encode(fitting))
    with contextlib.suppress(WeightsError):
        load(folder)
    for loader in (
        load_weights, danger.danger_weights, hand._load, policy._load,
        hidden_shanten.shanten_weights, verdicts.shipped_weights,
    ):  # fmt: skip
        loader.cache_clear()  # what loaders keep would pile up


def _check_packed_arrays(folder: Path, content: bytes, which: int) -> None:
    members = []
    for part in content.split(SEPARATOR)[:16]:
        name, _, member = part.partition(b"\n")
        title = name.decode("ascii", "replace")[:40] or "none"
        members.append((f"{title}.npy", member))
    _check_arrays(folder, _zipped(members), which)


def _check_manifest(folder: Path, content: bytes, which: int) -> None:
    (folder / "any.json").write_bytes(content)
    load_manifest("any", folder)


def _check_info(folder: Path, content: bytes, which: int) -> None:
    _open_columns(folder, content, content)


def _check_columns(folder: Path, content: bytes, which: int) -> None:
    _open_columns(folder, msgspec.json.encode(INFO), content)


def _open_columns(folder: Path, info: bytes, column: bytes) -> None:
    (folder / INFO_FILE).write_bytes(info)
    for part in ("states", "rows"):
        (folder / f"{DecisionKind.PON}-{part}.npy").write_bytes(column)
    open_decisions(folder, DecisionKind.PON)


def _check_run(folder: Path, content: bytes, which: int) -> None:
    """A log of a training run; for an odd ``which`` with a good header."""
    (folder / "run.jsonl").write_bytes(RUN + content if which % 2 else content)
    read_log(
        folder / "run.jsonl", TrainingHeader, lambda line: msgspec.json.decode(line, type=Written),
        Cures("name another", "erase it"),
    )  # fmt: skip


_Check = Callable[[Path, bytes, int], None]
_KINDS: Final[tuple[tuple[type[Exception], _Check], ...]] = (
    (WeightsError, _check_arrays),
    (WeightsError, _check_packed_arrays),
    (WeightsError, _check_manifest),
    (DataError, _check_info),
    (DataError, _check_columns),
    (LogError, _check_run),
)
"""What a file of each kind may be refused with, and what reads it."""
