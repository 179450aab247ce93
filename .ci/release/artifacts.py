"""The artifacts of a release: source distribution, pure wheel, and wheels with machine code.

Each is made of a copy of the files that git tracks, since setuptools leaves files where it builds.
Equal sources give equal bytes.
"""

import base64
import gzip
import hashlib
import os
import shutil
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from mjbot.runtime.compiler.machine_code import ReleaseError, add_machine_code, output_of
from mjbot.runtime.processes import own_module

ROOT: Final = Path(__file__).parents[2]
MOST_BYTES: Final = 200 * 1000 * 1000
"""Of an artifact; those of today have a tenth of it."""
COMPILER: Final = Path(__file__).with_name("compile_strategies.py")
_DATE: Final = (1980, 1, 1, 0, 0, 0)
_SECONDS: Final = 315532800
"""The same date, as a time."""
_SDIST: Final = (
    "import sys; from setuptools.build_meta import build_sdist; build_sdist(sys.argv[1])"
)


def plain_artifacts(out: Path) -> list[Path]:
    """Write the source distribution and the pure wheel into ``out``, and return their paths.

    Raises ``ReleaseError`` where one cannot be built, or where the source distribution gives
    another wheel than the checkout.
    """
    with tempfile.TemporaryDirectory() as name:
        stage = Path(name)
        source = copy_of_sources(stage / "source")
        wheel = build_wheel(source, stage / "wheel")
        sdist = stage / build_sdist(source, stage / "sdist").name
        write_tar(unpack(stage / "sdist" / sdist.name, stage / "dated"), sdist)
        again = build_wheel(unpack(sdist, stage / "unpacked"), stage / "again")
        if different := differences(wheel, again):
            raise ReleaseError(
                f"{sdist.name} gives another wheel than the checkout: {different[0]}"
            )
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(stage / "tree")
        out.mkdir(parents=True, exist_ok=True)
        write_zip(stage / "tree", out / wheel.name)
        with _whole_file(out / sdist.name, MOST_BYTES) as target:
            target.write(sdist.read_bytes())
        return [out / sdist.name, out / wheel.name]


def machine_wheel(out: Path, strategies: Sequence[str]) -> Path:
    """Write the wheel with machine code for this Python into ``out``, and return its path.

    The code that each strategy's games need is compiled and added
    (:mod:`mjbot.runtime.compiler.machine_code`); it fits the versions of numba and llvmlite in this
    environment.  Raises ``ReleaseError`` where something cannot be compiled or built.
    """
    with tempfile.TemporaryDirectory() as name:
        stage = Path(name)
        wheel = build_wheel(copy_of_sources(stage / "source"), stage)
        tree = stage / "tree"
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(tree)
        add_machine_code(tree, [sys.executable, "-s", str(COMPILER), *strategies], stage / "caches")
        tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
        tag = f"{tag}-{tag}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
        retag(tree, tag)
        target = out / wheel.name.replace("py3-none-any", tag)
        out.mkdir(parents=True, exist_ok=True)
        write_zip(tree, target)
        return target


def copy_of_sources(target: Path) -> Path:
    """Copy the files that git tracks, links as links, and return the folder."""
    listed = output_of(
        ["git", "-C", str(ROOT), "ls-files", "-z"], "listing the files of the checkout"
    )
    for name in filter(None, listed.split("\0")):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copy2(ROOT / name, target / name, follow_symlinks=False)
        except FileNotFoundError as problem:
            raise ReleaseError(f"{name}: git tracks it, and it is not there") from problem
    return target


def build_wheel(source: Path, out: Path) -> Path:
    """Build the pure wheel of a folder with sources, as ``pip install`` would."""
    command = [*own_module("pip"), "wheel", "-q", "--no-deps", "--no-build-isolation"]
    output_of([*command, "-w", str(out), str(source)], "building the wheel", folder=source.parent)
    (wheel,) = out.glob("*.whl")
    return wheel


def build_sdist(source: Path, out: Path) -> Path:
    """Build the source distribution of a folder with sources."""
    out.mkdir()
    command = [sys.executable, "-P", "-c", _SDIST, str(out)]
    output_of(command, "building the source distribution", folder=source)
    (sdist,) = out.glob("*.tar.gz")
    return sdist


def unpack(sdist: Path, target: Path) -> Path:
    """Unpack a source distribution and return its one folder."""
    with tarfile.open(sdist) as archive:
        archive.extractall(target, filter="data")
    (folder,) = target.iterdir()
    return folder


def differences(one: Path, other: Path) -> list[str]:
    """Return the files in which two wheels differ."""
    with zipfile.ZipFile(one) as first, zipfile.ZipFile(other) as second:
        names = {*first.namelist()}, {*second.namelist()}
        differing = [name for name in names[0] & names[1] if first.read(name) != second.read(name)]
    return sorted([*(names[0] ^ names[1]), *differing])


@contextmanager
def _whole_file(out: Path, most_bytes: int) -> Iterator[IO[bytes]]:
    """Open a file that appears when it is written, and not if it is larger than ``most_bytes``."""
    temporary = out.with_name(f".{out.name}.{os.getpid()}")
    target = temporary.open("xb")  # follows no link that another user has put there
    try:
        with target:
            yield target
        size = temporary.stat().st_size
        if size > most_bytes:
            most = f"and an artifact has at most {most_bytes / 1e6:.0f}"
            raise ReleaseError(f"{out}: {size / 1e6:.0f} MB, {most}")
        temporary.replace(out)
    finally:
        temporary.unlink(missing_ok=True)


def write_zip(folder: Path, out: Path, most_bytes: int = MOST_BYTES) -> None:
    """Write all files of ``folder`` in order and without their dates: equal files, equal bytes.

    It appears when it is whole.  Raises ``ReleaseError`` where it is larger than ``most_bytes``.
    """
    with (
        _whole_file(out, most_bytes) as target,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive,
    ):
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                _add(archive, file, file.relative_to(folder).as_posix())


def _add(archive: zipfile.ZipFile, file: Path, name: str) -> None:
    member = zipfile.ZipInfo(name, _DATE)
    member.compress_type = zipfile.ZIP_DEFLATED
    member.external_attr = 0o100644 << 16
    member.file_size = file.stat().st_size
    with file.open("rb") as source, archive.open(member, "w") as target:
        shutil.copyfileobj(source, target)


def write_tar(folder: Path, out: Path, most_bytes: int = MOST_BYTES) -> None:
    """Write ``folder`` as a compressed archive, as :func:`write_zip` does."""

    def undated(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        member.mtime = _SECONDS
        member.mode = 0o755 if member.mode & 0o100 else 0o644
        return member

    with (
        _whole_file(out, most_bytes) as target,
        gzip.GzipFile("", "wb", 6, target, mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                name = file.relative_to(folder.parent).as_posix()
                archive.add(file, name, recursive=False, filter=undated)


def retag(tree: Path, tag: str) -> None:
    """Name the one Python and platform that the wheel is for, and list all files."""
    (info,) = tree.glob("*.dist-info")
    lines = (info / "WHEEL").read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not line.startswith(("Tag:", "Root-Is-Purelib:"))]
    text = "\n".join([*kept[:2], "Root-Is-Purelib: false", f"Tag: {tag}", *kept[2:], ""])
    (info / "WHEEL").write_text(text, encoding="utf-8")
    record = info / "RECORD"
    rows = [f"{record.relative_to(tree).as_posix()},,"]
    for file in sorted(tree.rglob("*")):
        if file.is_file() and file != record:
            data = file.read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append(f"{file.relative_to(tree).as_posix()},sha256={digest},{len(data)}")
    record.write_text("\n".join([*rows, ""]), encoding="utf-8")
