"""Counters as JSON and as metrics, over loopback only."""

import asyncio
import json
import re
import urllib.error
import urllib.request

import pytest

from mjbot.play.service.locks import TokenLocks, secrets_of
from mjbot.play.service.reporting import metrics_server, report
from mjbot.play.service.status import Status
from mjbot.protocol.tenhou.login import GUEST_LOGIN, Login, guest_named
from mjbot.runtime.compiler.cache import locks_folder
from proof.leaping_time import in_leaping_time

SAMPLE = re.compile(r'^mjbot_[a-z_]+(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? -?\d+(\.\d+)?$')


def made_status():
    status = Status(lambda: 1_700_000_000.0)
    status.strategy = 'a "b"\\'
    for rank in (1, 1, 4):
        status.add_end("finished", rank, "")
    status.add_end("lost", None, "the other side closed the connection")
    for number in range(1, 101):
        status.add_time(number / 1000)
    status.acks["accepted"] += 7
    status.set_lane(0, "playing")
    return status


def test_the_snapshot_counts_what_happened(tmp_path):
    status = made_status()
    status.write(tmp_path / "status.json")
    read = json.loads((tmp_path / "status.json").read_text())
    assert (read["games"], read["ranks"], read["mean_rank"]) == (3, [2, 0, 0, 1], 2.0)
    assert read["ends"]["lost"] == 1
    assert read["acks"] == {
        "accepted": 7, "rejected": 0, "unparseable": 0, "stale": 0, "defaulted": 0, "unknown": 0
    }  # fmt: skip
    assert read["decision_ms"] == {"p50": 51.0, "p90": 91.0, "p99": 100.0}
    assert read["last_error"] == "2023-11-14T22:13:20Z the other side closed the connection"
    assert read["lanes"] == [{"state": "playing", "since": "2023-11-14T22:13:20Z", "game": 1}]


def test_metrics_have_a_type_for_every_sample():
    typed = set()
    for line in made_status().metrics().splitlines():
        if line.startswith("# TYPE"):
            typed.add(line.split()[2])
        elif not line.startswith("#") and not line.startswith("mjbot_info"):
            assert SAMPLE.match(line), line
            name = line.partition("{")[0].partition(" ")[0]
            assert name.removesuffix("_sum").removesuffix("_count") in typed
    text = made_status().metrics()
    assert 'mjbot_info{version="' in text
    assert 'strategy="a \\"b\\"\\\\"}' in text
    assert 'mjbot_ranks_total{rank="1"} 2\n' in text
    assert "mjbot_decision_seconds_count 100\n" in text


def test_metrics_are_served_to_requests_that_name_this_host():
    status = made_status()

    async def main():
        server = metrics_server(status)
        port = await server.open(0)
        try:
            ask = asyncio.to_thread
            text, kind = await ask(fetched, f"http://127.0.0.1:{port}/metrics")
            assert text.startswith("# HELP mjbot_info")
            assert kind == "text/plain; version=0.0.4; charset=utf-8"
            snapshot, _ = await ask(fetched, f"http://localhost:{port}/status")
            assert json.loads(snapshot)["games"] == 3
            with pytest.raises(urllib.error.HTTPError, match="403"):
                await ask(fetched, f"http://127.0.0.1:{port}/metrics", "game.example")
        finally:
            await server.close()

    asyncio.run(main())


def fetched(url, host=None):
    request = urllib.request.Request(url, headers={"Host": host} if host else {})
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
        return answer.read().decode(), answer.headers["Content-Type"]


def test_the_status_file_follows_changes_and_is_refreshed(tmp_path):
    status, file, moments = made_status(), tmp_path / "status.json", []

    async def main():
        loop = asyncio.get_running_loop()
        write = status.write

        def noted(path):
            moments.append(loop.time())
            write(path)

        status.write = noted
        task = asyncio.create_task(report(status, file, lambda: "x", moments.append))
        await asyncio.sleep(10)
        status.set_lane(0, "queueing")
        await asyncio.sleep(60)
        task.cancel()
        await asyncio.wait({task})

    in_leaping_time(main())
    assert moments == pytest.approx([0, 11, 41, 70], abs=1)
    assert json.loads(file.read_text())["lanes"][0]["state"] == "queueing"


def test_a_full_disk_does_not_end_the_reports(tmp_path):
    problems = []

    async def main():
        task = asyncio.create_task(
            report(made_status(), tmp_path / "none" / "status.json", lambda: "x", problems.append)
        )
        await asyncio.sleep(40)
        assert not task.done()
        task.cancel()
        await asyncio.wait({task})

    in_leaping_time(main())
    assert len(problems) == 3
    assert "the status file cannot be written" in problems[0]


def test_the_locks_lie_in_one_place_whatever_the_cache(monkeypatch, tmp_path):
    before = locks_folder()
    monkeypatch.setenv("MJBOT_CACHE", str(tmp_path))
    assert locks_folder() == before


def test_an_account_has_a_lock_and_a_guest_none(tmp_path):
    held, late = TokenLocks(tmp_path / "locks"), TokenLocks(tmp_path / "locks")
    held.hold(secrets_of([None], Login("ID0123")))
    late.hold(secrets_of(["other"], GUEST_LOGIN))
    late.hold(secrets_of([], guest_named("a")))
    with pytest.raises(ValueError, match="uses this token or account"):
        late.hold(secrets_of([], Login("ID0123")))


def test_one_token_has_one_holder(tmp_path):
    first, second = TokenLocks(tmp_path / "locks"), TokenLocks(tmp_path / "locks")
    first.hold(["alpha", "beta"])
    first.hold(["alpha"])  # its own
    second.hold(["gamma"])
    with pytest.raises(ValueError, match="another mjbot uses this token or account") as refused:
        second.hold(["beta"])
    assert "beta" not in str(refused.value)
    assert not any("alpha" in path.name for path in (tmp_path / "locks").iterdir())
    first.keep_only(())
    second.hold(["beta"])


def test_no_strategy_s_name_forges_a_metric():
    status = Status(lambda: 0.0, strategy='a"b\\c\nmjbot_games_total{end="finished"} 99')
    text = status.metrics()
    assert 'strategy="a\\"b\\\\c\\nmjbot_games_total{end=\\"finished\\"} 99"' in text
    assert 'mjbot_games_total{end="finished"} 99' not in text.splitlines()
