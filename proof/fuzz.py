"""A coverage-guided fuzzer (atheris) for the readers of untrusted input.

``python -m proof fuzz SUBJECT`` resumes at the corpus of the subject and ends after so many minutes
of processor time.  A finding ends it immediately: the input is kept, and the last line is the
command that repeats it.  ``--keep`` copies the few inputs that reach everything into the tests.
"""

import argparse
import contextlib
import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from proof.fuzzing.subjects import SUBJECTS, Subject, keep, minimised, quiet

EVERY_S: Final = 30.0
MOST_KEPT: Final = 1800
"""Bytes of an input that is kept as a test."""
_NOISE: Final = ("INFO:", "WARNING: Failed to find", "Dictionary:")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof fuzz``."""
    parser.add_argument("subject", choices=[*SUBJECTS, "all"], help="what is fuzzed")
    parser.add_argument("--minutes", type=float, default=24.0, help="of processor time each (24)")
    parser.add_argument(
        "--corpus", type=Path, default=Path("logs/runs/fuzz"), help="folder (logs/runs/fuzz)"
    )
    parser.add_argument("--input", type=Path, help="only run the subject on this file")
    parser.add_argument("--keep", action="store_true", help="only bring the corpus into the tests")


def run(args: argparse.Namespace) -> int:
    """Fuzz one subject after the other; return 1 if anything was found."""
    subjects = [*SUBJECTS.values()] if args.subject == "all" else [SUBJECTS[args.subject]]
    if not (args.input or args.keep) and importlib.util.find_spec("atheris") is None:
        print("proof: atheris is not installed; pip install -e '.[fuzz]'", file=sys.stderr)
        return 3
    for subject in subjects:
        if args.input is not None:
            data = args.input.read_bytes()
            subject.read(data)  # a finding is a traceback
            print(f"{subject.name}: {len(data)} bytes, nothing found")
        elif args.keep:
            _keep(subject, args.corpus)
        elif not _fuzzed(subject, args.corpus, args.minutes):
            return 1
    return 0


# --- corpora ---------------------------------------------------------------------------------


def _keep(subject: Subject, corpus: Path) -> None:
    """Add to the inputs that are kept: all findings, and what goes a new way."""
    quiet()
    findings = [path.read_bytes() for path in sorted(corpus.glob(f"found/{subject.name}-*"))]
    kept = [*subject.kept, *findings]
    few = minimised(subject, kept, _inputs_in(corpus / subject.name), MOST_KEPT)
    path = keep(subject, few)
    print(f"{subject.name}: {len(few)} inputs kept, {path.stat().st_size} bytes", flush=True)


def _inputs_in(folder: Path) -> list[bytes]:
    """Return the inputs in a folder, the short ones first."""
    inputs = []
    for path in folder.glob("*"):
        with contextlib.suppress(FileNotFoundError):  # a fuzzer at work replaces them
            inputs.append(path.read_bytes())
    return sorted(inputs, key=lambda data: (len(data), data))


def _store(folder: Path, inputs: Iterable[bytes]) -> None:
    """Put inputs into a folder, named as libFuzzer names them."""
    folder.mkdir(parents=True, exist_ok=True)
    for data in inputs:
        (folder / hashlib.sha1(data, usedforsecurity=False).hexdigest()).write_bytes(data)


# --- a run -----------------------------------------------------------------------------------


def _fuzzed(subject: Subject, corpus: Path, minutes: float) -> bool:
    """Fuzz; return whether nothing was found."""
    folder, found = corpus / subject.name, corpus / "found"
    found.mkdir(parents=True, exist_ok=True)
    earlier = {*found.iterdir()}
    _store(folder, [*subject.seeds, *subject.kept])
    quiet()
    inputs = _inputs_in(folder)
    print(f"{subject.name}: {subject.summary}; {len(inputs)} inputs to begin with", flush=True)
    for data in inputs:
        subject.read(data)  # here what they need is compiled, where no limit of time counts it
    status = _run_child(subject, folder, found, minutes)
    if status == 0:
        return True
    for path in sorted({*found.iterdir()} - earlier):
        again = f"python -m proof fuzz {subject.name} --input {path}"
        print(f"{subject.name}: a finding; repeat it with\n  {again}", flush=True)
    print(f"{subject.name}: ended with status {status}", flush=True)
    return False


def _run_child(subject: Subject, folder: Path, found: Path, minutes: float) -> int:
    """Fuzz in a process of its own; return its exit status."""
    command = [
        sys.executable, "-m", "proof.fuzzing.child", subject.name, "--rooms", *subject.rooms,
        "--seconds", f"{60 * minutes}", "--folder", str(folder), "--found", str(found),
    ]  # fmt: skip
    environ = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    # The child ends without tidying up.
    with tempfile.TemporaryDirectory(prefix="mjbot-fuzz-") as scratch:
        child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", env=environ | {"TMPDIR": scratch},
        )  # fmt: skip
        try:
            _report(subject, child)
        except BaseException:
            child.terminate()
            raise
        finally:
            child.wait()
    return child.returncode


def _report(subject: Subject, child: "subprocess.Popen[str]") -> None:
    """Print libFuzzer's status (edges, ways, corpus, MB) at intervals, and the other output."""
    reported, status = time.monotonic(), ""
    assert child.stdout is not None
    for text in child.stdout:
        if text.startswith("#"):
            status = text
            if time.monotonic() - reported > EVERY_S:
                reported = time.monotonic()
                print(f"{subject.name}: {status.rstrip()}", flush=True)
        elif not text.startswith(_NOISE) and text.strip():
            print(text.rstrip(), flush=True)
    print(f"{subject.name}: {status.rstrip()}", flush=True)
