"""``python -m mjbot.pack.release``: a wheel with the machine code of the shipped strategies.

The wheel is built as usual; then the code that each strategy's games need is compiled for each kind
of processor in :data:`mjbot.compiler.shipped.VARIANTS`, in one process, and added with a manifest.
It fits one version of Python and those of numba and llvmlite in this environment.
"""

import argparse
import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from mjbot.compiler.shipped import FOLDER, MANIFEST, OFF_VARIABLE, PREPARED, VARIANTS, versions
from mjbot.errors import ExitCode
from mjbot.pack.zipped import PackError, write_zip
from mjbot.strategy.registry import Spec, built_in_names

ROOT: Final = Path(__file__).parents[2]
MOST_BYTES: Final = 200 * 1000 * 1000
PAIR: Final = "combo-partner,base=strongest"
"""What ``mjbot duo`` plays without options."""

_SOURCES: Final = ("mjbot", "protocol", "strategies", "pyproject.toml", "README.md", "LICENSE")
_PROGRAM: Final = """
from mjbot.compiler.portable import leave_out_places
leave_out_places()  # before an import compiles anything
from mjbot.pack.release import compile_all
compile_all()
"""
_SKIPPED: Final = shutil.ignore_patterns("__pycache__", "node_modules", FOLDER.name, "*.egg-info")


def build(out: Path, names: Sequence[str]) -> Path:
    """Write the wheel into ``out`` and return its path.

    Raises ``PackError`` where something cannot be compiled or built.
    """
    with tempfile.TemporaryDirectory() as name:
        stage = Path(name)
        wheel = _plain_wheel(stage)
        tree = stage / "tree"
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(tree)
        code = tree / FOLDER.relative_to(ROOT)
        for variant in VARIANTS:
            _compile(variant, tree, code / variant, names)
        _write_manifest(code)
        tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
        tag = f"{tag}-{tag}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
        _retag(tree, tag)
        target = out / wheel.name.replace("py3-none-any", tag)
        out.mkdir(parents=True, exist_ok=True)
        write_zip(tree, target, MOST_BYTES)
        return target


def _plain_wheel(stage: Path) -> Path:
    """Build the wheel of the sources, copied: setuptools leaves files where it builds."""
    copy = stage / "source"
    copy.mkdir()
    for name in _SOURCES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=_SKIPPED)
        else:
            shutil.copyfile(source, copy / name)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    _run([*command, "-w", str(stage), str(copy)], "building the wheel", {}, stage)
    return next(stage.glob("*.whl"))


def _compile(variant: str, tree: Path, folder: Path, names: Sequence[str]) -> None:
    """Compile in a process of its own with the wheel's files, and copy what that kept."""
    cache = tree.parent / f"cache-{variant}"
    environ = {
        "MJBOT_CACHE": str(cache),
        OFF_VARIABLE: "off",
        "NUMBA_CPU_NAME": variant,
        "NUMBA_CPU_FEATURES": "",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": str(tree),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-c", _PROGRAM, str(folder / PREPARED), *names]
    _run(command, f"compiling for {variant}", environ, tree.parent)
    for file in sorted(cache.rglob("*")):
        if file.is_file() and file.name != ".lock":
            parts = file.relative_to(cache).parts
            target = folder.joinpath(*parts[-2:] if len(parts) > 1 else parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            if bytes(tree) in (data := file.read_bytes()):
                raise PackError(f"compiling: {file.name} names this machine's folders")
            target.write_bytes(data)


def _run(command: Sequence[str], what: str, environ: dict[str, str], folder: Path) -> None:
    done = subprocess.run(
        command,
        env={**os.environ, **environ},
        cwd=folder,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise PackError(f"{what} failed: {lines[-1]}")


def _write_manifest(code: Path) -> None:
    files = {
        file.relative_to(code).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(code.rglob("*"))
        if file.is_file()
    }
    manifest = {
        "versions": versions(),
        "variants": [name for name in VARIANTS if (code / name).is_dir()],
        "files": files,
    }
    (code / MANIFEST).write_text(json.dumps(manifest, indent=1, sort_keys=True), encoding="utf-8")


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

    Its first argument is a folder, which gets an empty file for each job of
    :mod:`mjbot.precompile` that was done.
    """
    from mjbot.pack import player
    from mjbot.precompile import Job, key_of_release, play_job

    folder, names = Path(sys.argv[1]), sys.argv[2:]

    folder.mkdir(parents=True)
    specs = [Spec.read(name) for name in names]
    jobs = [Job((), "table")]
    jobs += [Job((spec,), use) for spec in specs for use in ("client", "arena", "explain")]
    if {"combo-partner", "strongest"} <= {*names}:
        jobs.append(Job((Spec.read(PAIR), Spec.read(PAIR)), "client"))
    for job in jobs:
        play_job(job)
        (folder / key_of_release(job)).touch()
    player.compile_all(names[0])  # what a client's process calls besides


def main() -> int:
    """Build the wheel and print its path and size."""
    parser = argparse.ArgumentParser(prog="python -m mjbot.pack.release", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("dist"), help="folder (default: dist)")
    parser.add_argument(
        "--strategies", nargs="+", metavar="NAME", help="shipped strategies (default: all)"
    )
    args = parser.parse_args()
    try:
        wheel = build(args.out, args.strategies or sorted(built_in_names()))
    except PackError as error:
        print(f"release: {error}", file=sys.stderr)
        return ExitCode.FAILED
    print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB")
    return ExitCode.OK


if __name__ == "__main__":
    sys.exit(main())
