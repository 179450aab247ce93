"""Learned weights: small binary files that ship with the project, each with its manifest.

``mjbot/learning/models/weights/NAME.npz`` has the arrays, ``NAME.json`` describes the data they
were learned from and their scores (:class:`Manifest`).  Equal arrays give equal bytes.
"""

import hashlib
import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from mjbot.runtime.errors import ExitCode, MjbotError
from mjbot.runtime.files import first_line, whole_file
from mjbot.runtime.system import locked_folder

SHIPPED: Final = Path(__file__).parent / "weights"
"""The folder of the weights that are installed with the project."""

OF_PLAYERS: Final = {4: SHIPPED, 3: SHIPPED / "three-players"}
"""Where the weights are that were learned at tables of so many players."""

MAX_WEIGHTS_BYTES: Final = 1 << 26
"""Of all arrays of one file, unpacked; the largest that ship have 3 MB."""

Arrays = Mapping[str, NDArray[Any]]
Shape = tuple[int | None, ...]
"""Of an array; ``None`` is any size."""


@dataclass
class WeightsError(MjbotError, ValueError):
    """Weights that cannot be used; the text is one line that names the file and the cure."""

    exit_code = ExitCode.UNREACHABLE

    path: Path
    problem: str

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}"


class ArrayInfo(msgspec.Struct, frozen=True):
    """Shape and element type (numpy's name) of one array."""

    shape: tuple[int, ...]
    dtype: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """Origin of weights.

    ``data`` describes the records as text, ``command`` made the weights, ``scores`` are their
    results by name.  ``date`` (ISO, UTC), ``arrays`` and ``digest`` (SHA-256 of names,
    types, shapes and bytes) are filled in when the weights are saved.
    """

    data: str
    command: str
    seed: int
    scores: dict[str, float | int | str]
    date: str = ""
    arrays: dict[str, ArrayInfo] = {}
    digest: str = ""


def save_weights(name: str, arrays: Arrays, manifest: Manifest, folder: Path) -> Manifest:
    """Write ``NAME.npz`` and ``NAME.json`` into ``folder``; return the manifest as written.

    Both appear whole, or neither: the manifest lies on the disk before the arrays appear, so a
    full disk leaves the weights that were there.  ``OSError`` if they cannot be written.
    """
    complete = msgspec.structs.replace(
        manifest,
        date=manifest.date or datetime.now(UTC).date().isoformat(),
        arrays={key: ArrayInfo(value.shape, value.dtype.name) for key, value in arrays.items()},
        digest=_digest(arrays),
    )
    folder.mkdir(parents=True, exist_ok=True)
    text = msgspec.json.format(msgspec.json.encode(complete), indent=1)
    with locked_folder(folder), whole_file(folder / f"{name}.json") as file:
        file.write(text + b"\n")
        file.flush()
        with whole_file(folder / f"{name}.npz") as arrays_file:
            arrays_file.write(_packed(arrays))
    load_weights.cache_clear()
    return complete


@cache
def load_weights(name: str, folder: Path = SHIPPED) -> Arrays:
    """Return the arrays of ``NAME`` (read-only, shared by all callers in this process).

    Raises :class:`WeightsError` if they are missing or damaged.
    """
    path = folder / f"{name}.npz"
    manifest = load_manifest(name, folder)
    try:
        arrays = _unpacked(path)
    except FileNotFoundError:
        raise WeightsError(path, _missing(name)) from None
    except Exception as error:  # numpy, zipfile and zlib raise a dozen kinds over damaged bytes
        raise WeightsError(
            path, f"damaged ({first_line(error)}); fetch or train it again"
        ) from None
    if _digest(arrays) != manifest.digest:
        raise WeightsError(path, f"does not fit {name}.json; fetch or train both again")
    for key, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise WeightsError(path, f"{key} holds {array.dtype}, no numbers; train it again")
        array.setflags(write=False)
    return arrays


def shaped(arrays: Arrays, shapes: Mapping[str, Shape], path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of these names; :class:`WeightsError` if one is missing or of other shape.

    Compiled code does not check for reads beyond an array's end.
    """
    checked = {}
    for name, shape in shapes.items():
        array = arrays.get(name)
        if array is None or not _has_shape(array, shape):
            has = "missing" if array is None else f"of shape {array.shape}"
            wanted = tuple("any" if size is None else size for size in shape)
            raise WeightsError(path, f"{name} is {has}, not {wanted}; fetch or train it again")
        checked[name] = array
    return checked


def _has_shape(array: NDArray[Any], shape: Shape) -> bool:
    return len(array.shape) == len(shape) and all(
        wanted in (None, size) for size, wanted in zip(array.shape, shape, strict=True)
    )


def _unpacked(path: Path) -> dict[str, NDArray[Any]]:
    with zipfile.ZipFile(path) as archive:
        n_bytes = sum(member.file_size for member in archive.infolist())
    if n_bytes > MAX_WEIGHTS_BYTES:
        raise ValueError(f"{n_bytes} bytes unpacked, at most {MAX_WEIGHTS_BYTES} are read")
    with np.load(path, allow_pickle=False) as saved:
        arrays = {key: saved[key] for key in saved.files}
    for key, array in arrays.items():
        if not isinstance(array, np.ndarray):  # numpy hands out any other member as its bytes
            raise ValueError(f"{key} is no array")
    return arrays


def load_manifest(name: str, folder: Path = SHIPPED) -> Manifest:
    """Return the manifest of ``NAME``; :class:`WeightsError` if it is missing or damaged."""
    path = folder / f"{name}.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=Manifest)
    except FileNotFoundError:
        raise WeightsError(path, _missing(name)) from None
    except (OSError, ValueError, RecursionError) as error:
        raise WeightsError(path, f"damaged ({error}); fetch or train it again") from None


def shipped_digest() -> str:
    """Return a digest of all shipped weights: games depend on them as they do on source code."""
    digest = hashlib.sha256()
    for path in sorted(SHIPPED.rglob("*.npz")):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _missing(name: str) -> str:
    return f"there are no weights {name!r}; mjbot train makes them"


def _digest(arrays: Arrays) -> str:
    digest = hashlib.sha256()
    for key in sorted(arrays):
        array = np.ascontiguousarray(arrays[key])
        digest.update(f"{key} {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _packed(arrays: Arrays) -> bytes:
    # numpy's own savez stamps the time of day into the file.
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for key in sorted(arrays):
            member = io.BytesIO()
            np.save(member, np.ascontiguousarray(arrays[key]), allow_pickle=False)
            info = zipfile.ZipInfo(f"{key}.npy")
            archive.writestr(info, member.getvalue(), zipfile.ZIP_DEFLATED, 9)
    return packed.getvalue()
