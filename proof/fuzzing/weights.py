"""Weights and columns of numbers: files give arrays that fit or a line with the reason.

Bytes that were changed hardly ever unpack, so arrays are packed here as well, with a manifest to
which they fit: then it is for each model to see that they are not its own.
"""

import contextlib
import io
import itertools
import tempfile
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np

from mjbot.analysis.collusion import verdicts
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
_MANIFEST: Final = Manifest(data="none", command="none", seed=0, scores={})
_INFO: Final = {"data": "none", "command": "none", "games": 1, "rows": {}, "layout": layout()}
_RUN: Final = b'{"train":"hand"}\n'

_folders: Final = itertools.count()

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


@cache
def _parent() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="mjbot-fuzz-")


def check_weights(data: bytes) -> None:
    """A file of one kind or another, or arrays for each model.

    The first byte selects the kind (see the branches), the second the model.
    """
    choice, which, content = (data[0] % 6, data[1], data[2:]) if len(data) > 1 else (0, 0, b"")
    folder = Path(_parent().name) / str(next(_folders))
    folder.mkdir()
    try:
        if choice == 0:
            _check_arrays(folder, content, which)
        elif choice == 1:
            _check_arrays(folder, packed(content), which)
        elif choice == 2:
            (folder / "any.json").write_bytes(content)
            with contextlib.suppress(WeightsError):
                load_manifest("any", folder)
        elif choice == 5:
            (folder / "run.jsonl").write_bytes(_RUN + content if which % 2 else content)
            with contextlib.suppress(LogError):
                _read_run(folder / "run.jsonl")
        else:
            _check_columns(folder, content, choice == 3)
    finally:
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()


def packed(content: bytes) -> bytes:
    """Return an archive of members that are written one after the other (:data:`SEPARATOR`)."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as members:
        for part in content.split(SEPARATOR)[:16]:
            name, _, member = part.partition(b"\n")
            title = name.decode("ascii", "replace")[:40] or "none"
            members.writestr(zipfile.ZipInfo(f"{title}.npy"), member)
    return archive.getvalue()


def _check_arrays(folder: Path, archive: bytes, which: int) -> None:
    """Load arrays, and then again as those of a model, with a manifest that describes them."""
    name, load = MODELS[which % len(MODELS)]
    (folder / f"{name}.npz").write_bytes(archive)
    (folder / f"{name}.json").write_bytes(msgspec.json.encode(_MANIFEST))
    try:
        load_weights(name, folder)
    except WeightsError as error:
        if f"does not fit {name}.json" not in str(error):
            return
    with np.load(folder / f"{name}.npz", allow_pickle=False) as saved:
        arrays: dict[str, Any] = {key: saved[key] for key in saved.files}
    fitting = msgspec.structs.replace(_MANIFEST, digest=weights._digest(arrays))
    (folder / f"{name}.json").write_bytes(msgspec.json.encode(fitting))
    with contextlib.suppress(WeightsError):
        load(folder)
    _forget()


def _forget() -> None:
    """Forget the weights that loaders keep, so that they do not pile up."""
    for kept in (
        load_weights, danger.danger_weights, hand._load, policy._load,
        hidden_shanten.shanten_weights, verdicts.shipped_weights,
    ):  # fmt: skip
        kept.cache_clear()


def _check_columns(folder: Path, content: bytes, is_info: bool) -> None:
    info = content if is_info else msgspec.json.encode(_INFO)
    (folder / INFO_FILE).write_bytes(info)
    for what in ("states", "rows"):
        (folder / f"{DecisionKind.PON}-{what}.npy").write_bytes(content)
    with contextlib.suppress(DataError):
        open_decisions(folder, DecisionKind.PON)


def _read_run(path: Path) -> None:
    read_log(path, TrainingHeader, lambda line: msgspec.json.decode(line, type=Written),
             Cures("name another", "erase it"))  # fmt: skip
