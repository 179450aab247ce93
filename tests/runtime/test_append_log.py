"""What is kept line by line survives any end of the program, and is nobody else's."""

import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from mjbot.runtime.append_log import AppendLog, Cures, LogError, emptied, read_log

CURES = Cures("name another folder", "begin anew")
CURE = "delete that line, and its work is done again, or begin anew"


class Header(msgspec.Struct, frozen=True):
    work: str
    seed: int = 0


class Line(msgspec.Struct, frozen=True):
    number: int


def decode(text: bytes) -> Line:
    line = msgspec.json.decode(text, type=Line)
    if line.number < 0:
        raise ValueError(f"number is {line.number}")
    return line


DIGGING = Header("digging")


def opened(path: Path, header: Header = DIGGING) -> AppendLog[Header, Line]:
    return AppendLog(path, header, CURES, decode=decode)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "deep" / "work.jsonl"
    with opened(path) as log:
        for number in range(3):
            log.append(Line(number))
    return path


def test_a_file_cut_anywhere_goes_on_from_its_whole_lines(path: Path) -> None:
    text = path.read_bytes()
    for end in range(len(text) + 1):
        path.write_bytes(text[:end])
        n = max(0, text[:end].count(b"\n") - 1)
        if n or text[:end].endswith(b"\n"):
            assert read_log(path, Header, decode, CURES) == [Line(number) for number in range(n)]
        with opened(path) as log:
            assert log.lines == [Line(number) for number in range(n)]
            for number in range(n, 3):
                log.append(Line(number))
        assert path.read_bytes() == text


@pytest.mark.parametrize(
    ("damage", "report"),
    [
        (b'{"number":"1"}', f"line 3: Expected `int`, got `str` - at `$.number`; {CURE}"),
        (b'{"number":-1}', f"line 3: number is -1; {CURE}"),
        (b'{"number":1', f"line 3: Input data was truncated; {CURE}"),
        (b"", f"line 3: Input data was truncated; {CURE}"),
        (b"\0\0\0", "line 3: JSON is malformed"),
        (b'{"a":' * 100_000, f"line 3: nested too deeply; {CURE}"),
    ],
)
def test_a_damaged_line_is_named_with_its_cure(path: Path, damage: bytes, report: str) -> None:
    path.write_bytes(path.read_bytes().replace(b'{"number":1}', damage))
    before = path.read_bytes()
    with pytest.raises(LogError) as error:
        opened(path)
    assert str(error.value).startswith(f"{path}, {report}")
    assert "\n" not in str(error.value)
    with pytest.raises(LogError, match="line 3"):
        read_log(path, Header, decode, CURES)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("text", "report"),
    [
        (b'{"work":"digging","seed":1}\n', "holds a run with seed 1; name another folder or begin"),
        (b'{"work":"dancing","seed":0}\n', "holds a run with work 'dancing'"),
        (b'{"dear":"diary"}\n', "line 1: Object missing required field `work`; name another"),
        (b"dear diary\n", "line 1: JSON is malformed"),
        (b"dear diary", "is no log of ours; name another folder"),
    ],
)
def test_what_is_somebody_elses_is_left_alone(tmp_path: Path, text: bytes, report: str) -> None:
    path = tmp_path / "work.jsonl"
    path.write_bytes(text)
    with pytest.raises(LogError) as error:
        opened(path)
    assert report in str(error.value)
    assert path.read_bytes() == text


def test_two_processes_cannot_write_into_one_file(path: Path) -> None:
    with opened(path):
        with pytest.raises(LogError, match="another process is writing there; wait for its end"):
            opened(path)
        with (
            pytest.raises(LogError, match="another process is writing there"),
            emptied(path, Header, decode, CURES.elsewhere),
        ):
            pytest.fail("nothing may be erased")
    opened(path).close()


KILLED = """
import os, signal, sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from test_append_log import Line, opened

log = opened(Path(sys.argv[1]))
for number in range(5):
    log.append(Line(number))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_was_appended_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "work.jsonl"
    command = [sys.executable, "-c", KILLED, str(path), str(Path(__file__).parent)]
    ended = subprocess.run(command, check=False, timeout=300)
    assert ended.returncode == -signal.SIGKILL
    assert read_log(path, Header, decode, CURES) == [Line(number) for number in range(5)]


FULL = """
import resource, signal, sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from mjbot.runtime.append_log import LogError
from test_append_log import Line, opened

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (60, 60))
try:
    with opened(Path(sys.argv[1])) as log:
        for number in range(100):
            log.append(Line(number))
except LogError as error:
    print(error)
"""


def test_a_file_that_cannot_grow_is_one_line_and_goes_on_later(tmp_path: Path) -> None:
    path = tmp_path / "work.jsonl"
    command = [sys.executable, "-c", FULL, str(path), str(Path(__file__).parent)]
    ended = subprocess.run(command, check=False, timeout=300, capture_output=True, text=True)
    assert ended.stdout == f"{path}: File too large\n"
    assert path.read_bytes().endswith(b'{"number":1}\n')  # the limit is in the line after it
    with opened(path) as log:
        assert log.lines == [Line(0), Line(1)]


def test_emptying_gives_what_can_be_read_and_leaves_an_empty_file(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'{"number":1}', b"damaged") + b'{"numb')
    with emptied(path, Header, decode, CURES.elsewhere) as lines:
        assert lines == [Line(0), Line(2)]
    assert path.read_bytes() == b""
    with opened(path, Header("digging", 5)) as log:
        assert log.lines == []
