"""The number of processes by what the system and the control groups allow."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mjbot.runtime import processors
from mjbot.runtime.processors import processor_limit, worker_count

V2 = "0::/user.slice/mine\n"
V1 = "12:memory:/docker/ab\n4:cpu,cpuacct:/docker/ab\n1:name=systemd:/docker/ab\n"


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text + "\n")
    return root


def v1(folder: str, quota: str, period: str = "100000") -> dict[str, str]:
    return {f"{folder}/cpu.cfs_quota_us": quota, f"{folder}/cpu.cfs_period_us": period}


@pytest.mark.parametrize(
    ("membership", "files", "limit"),
    [
        pytest.param(V2, {"user.slice/mine/cpu.max": "150000 100000"}, 1.5, id="v2"),
        pytest.param(V2, {"user.slice/mine/cpu.max": "max 100000"}, None, id="v2 without limit"),
        pytest.param(V2, {"user.slice/cpu.max": "200000 100000"}, 2, id="v2, a group above"),
        pytest.param(
            V2,
            {"user.slice/mine/cpu.max": "400000 100000", "cpu.max": "50000 100000"},
            0.5,
            id="v2, the root is tighter",
        ),
        pytest.param("0::/\n", {"cpu.max": "100000 50000"}, 2, id="v2, root of a container"),
        pytest.param(
            "0::/../..\n",
            {"cpu.max": "100000 100000", "../cpu.max": "50000 100000"},
            1,
            id="v2, a path outside",
        ),
        pytest.param("0::/gone\n", {"cpu.max": "300000 100000"}, 3, id="v2, a group not seen"),
        pytest.param(V2, {}, None, id="v2 without files"),
        pytest.param(V1, v1("cpu,cpuacct/docker/ab", "250000"), 2.5, id="v1"),
        pytest.param(V1, v1("cpu/docker/ab", "100000", "50000"), 2, id="v1 by its short name"),
        pytest.param(V1, v1("cpu,cpuacct/docker", "100000"), 1, id="v1, a group above"),
        pytest.param(V1, v1("cpu,cpuacct", "50000"), 0.5, id="v1, root of a container"),
        pytest.param(V1, v1("cpu,cpuacct/docker/ab", "-1"), None, id="v1 without limit"),
        pytest.param(V1, v1("memory/docker/ab", "100000"), None, id="v1 of another controller"),
        pytest.param("3:cpuset:/a\n", v1("cpuset/a", "100000"), None, id="v1 cpuset is not cpu"),
        pytest.param(
            "0::/a\n2:cpu:/b\n",
            {"unified/a/cpu.max": "150000 100000", **v1("cpu/b", "200000")},
            1.5,
            id="both versions",
        ),
        pytest.param(None, {"cpu.max": "100000 100000"}, 1, id="no membership, v2"),
        pytest.param(None, v1("cpu", "200000"), 2, id="no membership, v1"),
        pytest.param(V2, {"user.slice/mine/cpu.max": "much"}, None, id="unknown words"),
        pytest.param(V2, {"user.slice/mine/cpu.max": "100000 0"}, None, id="a period of nothing"),
    ],
)
def test_limit_of_control_groups(
    membership: str | None, files: dict[str, str], limit: float | None, tmp_path: Path
) -> None:
    own = tmp_path / "cgroup"
    if membership is not None:
        own.write_text(membership)
    assert processor_limit(tree(tmp_path / "tree", files), own) == limit


@pytest.mark.parametrize(
    ("available", "limit", "count"),
    [(64, None, 64), (64, 1.0, 1), (64, 1.5, 2), (64, 0.2, 1), (2, 8.0, 2), (1, None, 1)],
)
def test_the_smaller_counts_and_one_is_left(
    available: int, limit: float | None, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processors, "available_processors", lambda: available)
    monkeypatch.setattr(processors, "processor_limit", lambda: limit)
    assert worker_count() == count


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity here")
def test_the_processors_of_the_process_count_not_those_of_the_machine() -> None:
    program = (
        "import os; os.sched_setaffinity(0, {max(os.sched_getaffinity(0))});"
        "from mjbot.runtime.processors import worker_count; print(worker_count())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.split() == [b"1"]


def test_without_affinity_the_processors_of_the_machine_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(processors, "processor_limit", lambda: None)
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    assert worker_count() == 5
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert worker_count() == 1
