"""``python -m mjbot.play.release``: a wheel with the machine code of the shipped strategies.

The wheel is built as usual; then the code that each strategy's games need is compiled and added
(:mod:`mjbot.runtime.compiler.machine_code`).  It fits one version of Python and those of numba and
llvmlite in this environment.
"""

import argparse
import asyncio
import base64
import hashlib
import json
import os
import shutil
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from mjbot.play.client.player import ClientPlayer
from mjbot.play.startup.precompile import BUDGET, Job, key_of_release, play_job
from mjbot.play.startup.warm_up import scripted_events
from mjbot.protocol.codec import encode
from mjbot.protocol.dialects import ARRAYS
from mjbot.protocol.messages import Hora
from mjbot.protocol.sessions.client import ClientSession
from mjbot.runtime.compiler.cache import cache_folder
from mjbot.runtime.compiler.machine_code import ReleaseError, add_machine_code, output_of
from mjbot.runtime.compiler.shipped import FOLDER, PREPARED, versions
from mjbot.runtime.errors import ExitCode
from mjbot.runtime.processes import own_module
from mjbot.strategy.options import options_of
from mjbot.strategy.registry import Spec, built_in_names, strategy_class

ROOT: Final = Path(__file__).parents[2]
MOST_BYTES: Final = 200 * 1000 * 1000
"""Of a wheel; those of today have a tenth of it."""
PAIR: Final = "combo-partner,base=strongest"
"""What ``mjbot duo`` plays without options."""
QUICK: Final = "fast-riichi-d"
"""A strategy that decides at once."""
_SOURCES: Final = (
    "mjbot", "protocol", "strategies", "pyproject.toml", "setup.py", "README.md", "LICENSE",
)  # fmt: skip
_PROGRAM: Final = """
from mjbot.runtime.compiler.portable import compile_portably
compile_portably()  # before an import compiles anything
from mjbot.play.release import compile_all
compile_all()
"""
_DATE: Final = (1980, 1, 1, 0, 0, 0)
_SKIPPED: Final = shutil.ignore_patterns("__pycache__", "node_modules", FOLDER.name, "*.egg-info")


def build(out: Path, names: Sequence[str]) -> Path:
    """Write the wheel into ``out`` and return its path.

    Raises ``ReleaseError`` where something cannot be compiled or built.
    """
    with tempfile.TemporaryDirectory() as name:
        stage = Path(name)
        wheel = _plain_wheel(stage)
        tree = stage / "tree"
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(tree)
        command = [sys.executable, "-s", "-c", _PROGRAM, *names]
        add_machine_code(tree, command, stage / "caches")
        tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
        tag = f"{tag}-{tag}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
        _retag(tree, tag)
        target = out / wheel.name.replace("py3-none-any", tag)
        out.mkdir(parents=True, exist_ok=True)
        write_zip(tree, target)
        return target


def _plain_wheel(stage: Path) -> Path:
    """Build the wheel of the sources, copied: setuptools leaves files where it builds."""
    copy = stage / "source"
    copy.mkdir()
    for name in _SOURCES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=_SKIPPED, symlinks=True)
        else:
            shutil.copyfile(source, copy / name)
    command = [*own_module("pip"), "wheel", "-q", "--no-deps", "--no-build-isolation"]
    output_of([*command, "-w", str(stage), str(copy)], "building the wheel", folder=stage)
    return next(stage.glob("*.whl"))


def write_zip(folder: Path, out: Path, most_bytes: int = MOST_BYTES) -> None:
    """Write all files of ``folder`` in order and without their dates: equal files, equal bytes.

    It appears when it is whole.  Raises ``ReleaseError`` where it is larger than ``most_bytes``.
    """
    temporary = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        with (
            temporary.open("xb") as target,  # follows no link that another user has put there
            zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive,
        ):
            for file in sorted(folder.rglob("*")):
                if file.is_file():
                    _add(archive, file, file.relative_to(folder).as_posix())
        size = temporary.stat().st_size
        if size > most_bytes:
            most = f"and a wheel has at most {most_bytes / 1e6:.0f}"
            raise ReleaseError(f"{out}: {size / 1e6:.0f} MB, {most}")
        temporary.replace(out)
    finally:
        temporary.unlink(missing_ok=True)


def _add(archive: zipfile.ZipFile, file: Path, name: str) -> None:
    member = zipfile.ZipInfo(name, _DATE)
    member.compress_type = zipfile.ZIP_DEFLATED
    member.external_attr = 0o100644 << 16
    member.file_size = file.stat().st_size
    with file.open("rb") as source, archive.open(member, "w") as target:
        shutil.copyfileobj(source, target)


def _retag(tree: Path, tag: str) -> None:
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


def compile_all() -> None:
    """Compile in this process all that the command line's strategies need, into the cache.

    There an empty file is left for each job of :mod:`mjbot.play.startup.precompile` that was done.
    The last line on the standard output is what the code was made with.
    """
    names = sys.argv[1:]
    jobs = [Job((), "table")]
    for use in ("client", "arena", "explain"):
        jobs += [Job((Spec.read(name),), use) for name in names]
    if {"combo-partner", "strongest"} <= {*names}:
        jobs.append(Job((Spec.read(PAIR), Spec.read(PAIR)), "client"))
    done = cache_folder() / PREPARED
    done.mkdir()
    for job in jobs:
        play_job(replace(job, specs=tuple(map(_quick, job.specs))))
        (done / key_of_release(job)).touch()
    asyncio.run(_play_as_client(Spec.read(QUICK if QUICK in names else names[0])))
    print(json.dumps(versions()))


async def _play_as_client(spec: Spec) -> None:
    """Play the kyoku of the warm-up with what a client calls besides the strategy."""
    session = ClientSession(ARRAYS, seat=0)
    player = ClientPlayer(spec.make, ARRAYS, strict=False, deadline_s=None)
    await player.warm_up()
    for event in scripted_events():
        if isinstance(event, Hora):  # no server that sends arrays sends one
            continue
        received = session.receive(b"[%b]" % encode(event, ARRAYS))
        for each in received.events:
            await player.take(each, 0)
        session.reply(await player.answer(received))


def _quick(spec: Spec) -> Spec:
    """Return a player that runs the same code with as little search as possible."""
    has_budget = any(option.name == BUDGET for option in options_of(strategy_class(spec.name)))
    return replace(spec, options={**spec.options, BUDGET: "0.01"}) if has_budget else spec


def main() -> int:
    """Build the wheel and print its path and size."""
    parser = argparse.ArgumentParser(prog="python -m mjbot.play.release", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("dist"), help="folder (default: dist)")
    parser.add_argument(
        "--strategies", nargs="+", metavar="NAME", help="shipped strategies (default: all)"
    )
    args = parser.parse_args()
    try:
        wheel = build(args.out, args.strategies or built_in_names())
    except ReleaseError as error:
        print(f"release: {error}", file=sys.stderr)
        return ExitCode.FAILED
    print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB")
    return ExitCode.OK


if __name__ == "__main__":
    sys.exit(main())
