"""A coverage-guided fuzzer (atheris) for the readers of untrusted input.

``python -m proof fuzz TARGET`` resumes at the corpus of the target and ends after so many minutes
of processor time.  A finding ends it immediately: the input is kept, and the last line is the
command that repeats it.  ``--keep`` copies the few inputs that reach everything into the tests.
"""

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from proof.fuzzing.corpus import inputs_in, keep, kept_inputs, minimised, store
from proof.fuzzing.seeds import seeds
from proof.fuzzing.targets import TARGETS, Target, quiet

EVERY_S: Final = 30.0
MOST_KEPT: Final = 1800
"""Bytes of an input that is kept as a test."""
_STATUS: Final = re.compile(r"^#(\d+)\s+\w+\s+cov: (\d+) ft: (\d+) corp: (\d+)\S* .*rss: (\d+)Mb")
_NOISE: Final = ("INFO:", "WARNING: Failed to find", "Dictionary:")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof fuzz``."""
    parser.add_argument("target", choices=[*TARGETS, "all"], help="what is fuzzed")
    parser.add_argument("--minutes", type=float, default=24.0, help="of processor time each (24)")
    parser.add_argument(
        "--corpus", type=Path, default=Path("logs/runs/fuzz"), help="folder (logs/runs/fuzz)"
    )
    parser.add_argument("--input", type=Path, help="only run the target on this file")
    parser.add_argument("--keep", action="store_true", help="only bring the corpus into the tests")


def run(args: argparse.Namespace) -> int:
    """Fuzz one target after the other; return 1 if anything was found."""
    targets = [*TARGETS.values()] if args.target == "all" else [TARGETS[args.target]]
    if args.input is not None:
        return _repeat(targets, args.input)
    if not args.keep and importlib.util.find_spec("atheris") is None:
        print("proof: atheris is not installed; pip install -e '.[fuzz]'", file=sys.stderr)
        return 3
    for target in targets:
        if args.keep:
            _keep(target, args.corpus)
        elif not _fuzzed(target, args.corpus, args.minutes):
            return 1
    return 0


def _repeat(targets: list[Target], path: Path) -> int:
    data = path.read_bytes()
    for target in targets:
        target.check(data)  # a finding is a traceback
        print(f"{target.name}: {len(data)} bytes, nothing found")
    return 0


def _keep(target: Target, corpus: Path) -> None:
    """Add to the inputs that are kept: all findings, and what goes a new way."""
    quiet()
    findings = [path.read_bytes() for path in sorted(corpus.glob(f"found/{target.name}-*"))]
    folder = corpus / target.name
    inputs = [*inputs_in(folder)] if folder.is_dir() else []
    kept = [*kept_inputs(target.name), *findings]
    few = minimised(target, kept, inputs, MOST_KEPT)
    path = keep(target.name, few)
    print(f"{target.name}: {len(few)} inputs kept, {path.stat().st_size} bytes", flush=True)


# --- a run -----------------------------------------------------------------------------------


def _fuzzed(target: Target, corpus: Path, minutes: float) -> bool:
    """Fuzz; return whether nothing was found."""
    folder, found = corpus / target.name, corpus / "found"
    found.mkdir(parents=True, exist_ok=True)
    started = {*found.iterdir()}
    store(folder, [*seeds(target.name), *kept_inputs(target.name)])
    quiet()
    inputs = [*inputs_in(folder)]
    print(f"{target.name}: {target.summary}; {len(inputs)} inputs to begin with", flush=True)
    for data in inputs:
        target.check(data)  # here what they need is compiled, where no limit of time counts it
    command = [
        sys.executable, "-m", "proof.fuzzing.child", target.name, "--seconds", f"{60 * minutes}",
        "--folder", str(folder), "--found", str(found),
    ]  # fmt: skip
    environ = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    # The child ends without tidying up.
    with tempfile.TemporaryDirectory(prefix="mjbot-fuzz-") as scratch:
        child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", env=environ | {"TMPDIR": scratch},
        )  # fmt: skip
        try:
            _report(target, child)
        except BaseException:
            child.terminate()
            raise
        finally:
            child.wait()
    if child.returncode == 0:
        return True
    for path in sorted({*found.iterdir()} - started):
        again = f"python -m proof fuzz {target.name} --input {path}"
        print(f"{target.name}: a finding; repeat it with\n  {again}", flush=True)
    print(f"{target.name}: ended with status {child.returncode}", flush=True)
    return False


def _report(target: Target, child: "subprocess.Popen[str]") -> None:
    """Print the progress of a run from time to time, and the rest of its output."""
    started = reported = time.monotonic()
    last = None
    assert child.stdout is not None
    for line in child.stdout:
        if status := _STATUS.match(line):
            last = status
            if time.monotonic() - reported > EVERY_S:
                reported = time.monotonic()
                print(_progress(target, status, reported - started), flush=True)
        elif done := re.match(r"fuzzed (\d+) (\d+)", line):
            if last is not None:
                print(_progress(target, last, time.monotonic() - started))
            print(f"{target.name}: {done[1]} inputs in {done[2]} s of processor time, "
                  "nothing found", flush=True)  # fmt: skip
        elif not line.startswith(_NOISE) and line.strip():
            print(line.rstrip(), flush=True)


def _progress(target: Target, status: re.Match[str], seconds: float) -> str:
    runs, cov, features, corpus, rss = status.groups()
    return (
        f"{target.name}: {seconds:.0f} s, {runs} inputs, {cov} edges, {features} ways, "
        f"{corpus} in the corpus, {rss} MB"
    )
