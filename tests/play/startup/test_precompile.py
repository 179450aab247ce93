"""Before anything else starts, one process compiles, is seen, and names what cannot play."""

import io
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from queue import SimpleQueue
from uuid import uuid4

import pytest
from rich.console import Console

from mjbot.game.referee import Referee
from mjbot.play.startup import precompile as preparation
from mjbot.play.startup.precompile import DONE_VARIABLE, QUIET_DECISIONS, Problem, prepare
from mjbot.runtime.compiler.events import on_compiled
from mjbot.runtime.compiler.missing import missing_functions
from mjbot.runtime.errors import ExitCode
from mjbot.strategy.registry import Spec, make_strategy

BOTS = Path(__file__).with_name("precompile_bots.py")
GUARD_S = 300
TINY = """
from mjbot.runtime.compiler.compiled import compiled
from mjbot.strategy.strategy import Strategy

@compiled
def tiny_sum(x):
    return x + 1

class Tiny(Strategy):
    def decide(self, view):
        assert tiny_sum(1) == 2
        return view.default_action
"""


STUCK = """
import signal
from mjbot.strategy.strategy import Strategy

class Stuck(Strategy):
    def decide(self, view):
        with open("ready", "w") as ready:
            ready.write("!"); ready.flush(); signal.pause()
"""
"""It reports that it is being prepared, which then never ends."""


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    """Nothing was tried before, and code is kept where it always is, notes of it are not."""
    monkeypatch.delenv(DONE_VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)


def output(specs, **how):
    paper = io.StringIO()
    problems = prepare([Spec.read(spec) for spec in specs], Console(file=paper), **how)
    return problems, paper.getvalue()


def test_what_was_prepared_once_is_not_prepared_again(tmp_path, monkeypatch):
    (tmp_path / "tiny_bot.py").write_text(f"{TINY}# {uuid4()}\n")  # notes of it outlive us
    problems, text = output(["tiny_bot.py:Tiny"], use="client")
    assert problems == ()
    assert text.startswith("warming up (compiles once; kept for later starts) ...\n")
    monkeypatch.delenv(DONE_VARIABLE)
    assert output(["tiny_bot.py:Tiny"], use="client") == ((), "")
    # Bulk play compiles what strategies from outside need in their first game: its clock waits.
    assert output(["tiny_bot.py:Tiny"], use="arena") == ((), "")


def test_the_bar_shows_how_many_functions_are_left_to_compile_at_most(tmp_path):
    """The table's own are compiled before every test; the bot's one function is not."""
    name = f"tiny_{uuid4().hex}"
    (tmp_path / f"{name}.py").write_text(TINY)
    specs = [Spec.read(f"{name}.py:Tiny")]
    prepare([Spec("tsumogiri")], Console(file=io.StringIO()), use="client")
    before = missing_functions(["mjbot.play.startup.warm_up"])
    screen = io.StringIO()
    prepare(specs, Console(file=screen, force_terminal=True, width=150), use="client")
    most = re.findall(r"(\d+) of at most (\d+) functions", screen.getvalue())
    assert most[-1][1] == str(before + 1)
    assert int(most[-1][0]) <= before + 1


def test_each_strategy_that_cannot_play_is_named_and_the_others_are_prepared():
    names = ["Demanding", "Raising", "Leaving", "Quiet"]
    problems, text = output([f"{BOTS}:{name}" for name in names], use="client")
    assert [problem.is_made for problem in problems] == [False, True, True]
    for problem, name, words in zip(
        problems,
        names,
        [
            "missing 1 required positional argument: 'depth'",
            "KeyError: 'plan'",
            "ended the process",
        ],
        strict=False,
    ):
        assert problem.spec == f"{BOTS}:{name}"
        assert words in problem.text
        assert f"{problem}\n" in text
    assert f"{BOTS}:Quiet" not in text


def test_what_failed_is_not_tried_again_by_the_processes_that_we_start():
    problems, _ = output([f"{BOTS}:Raising"], use="client")
    assert len(problems) == 1
    script = (
        "from rich.console import Console; from mjbot.play.startup.precompile import prepare;"
        "from mjbot.strategy.registry import Spec;"
        f"print(prepare([Spec({str(BOTS) + ':Raising'!r})], Console(), use='client'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=GUARD_S, check=True
    )
    assert done.stdout == "()\n"


def test_a_decision_without_end_is_named(monkeypatch, tmp_path):
    (tmp_path / "endless.py").write_text(
        "import mjbot.play.startup.precompile\n"
        "from mjbot.strategy.strategy import Strategy\n"
        "mjbot.play.startup.precompile.MOST_DECISION_S = 0.5\n"
        "class Endless(Strategy):\n"
        "    def decide(self, view):\n"
        "        while True:\n"
        "            pass\n"
    )
    problems, _ = output(["endless.py:Endless"], use="client")
    expected = "no decision after 0.5 s of processor time"
    assert problems == (Problem("endless.py:Endless", expected),)


def test_a_pair_is_prepared_as_a_pair():
    bots = Path(__file__).parents[1] / "match" / "pair_bots.py"
    talker, listener, other = map(Spec, (f"{bots}:Talker", f"{bots}:Listener", "tsumogiri"))
    assert output([], use="client", pair=[talker, listener])[0] == ()
    problems, _ = output([], use="client", pair=[other, listener])
    assert "Tsumogiri is no strategy for a pair" in problems[0].text


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("strongest", ["supervised", "fold-recognition-plus"]),
        ("combo-partner,base=strongest", ["supervised", "fold-recognition-plus"]),
        ("combo-partner", ["fold-recognition-plus"]),
        ("fast-riichi-d", []),
        ("no-such-strategy", []),
    ],
)
def test_what_a_strategy_is_built_on_is_compiled_in_processes_of_its_own(monkeypatch, spec, parts):
    begun = []
    monkeypatch.setattr(preparation, "_is_done", lambda job: False)
    monkeypatch.setattr(preparation, "_run", lambda jobs, *_: begun.extend(jobs) or ())
    monkeypatch.delenv(DONE_VARIABLE, raising=False)
    output([], use="client", pair=[Spec.read(spec), Spec.read(spec)])
    assert [job.names for job in begun] == [(part,) for part in parts] + [(spec, spec)]
    assert all(job.use == "client" for job in begun)


def test_a_release_needs_no_other_code_for_another_time_to_search():
    keys = [
        preparation.key_of_release(
            preparation.Job((Spec.read(f"collusion-mc{options}"),), "client")
        )
        for options in ("", ",budget_s=0.05", ",mode=paper", ",budget_s=0.05,mode=paper")
    ]
    assert keys[0] == keys[1] != keys[2] == keys[3]


def test_a_game_of_the_fast_policy_compiles_nothing_once_it_is_prepared():
    assert output(["fast-policy"], use="arena")[0] == ()
    compiled = []
    on_compiled.append(compiled.append)
    try:
        Referee(1, "tonpu").play([make_strategy("fast-policy") for _ in range(4)])
    finally:
        on_compiled.remove(compiled.append)
    assert compiled == []


def test_foreign_programs_are_not_prepared():
    assert output(["external:majiang", "external:no-such-program"]) == ((), "")


@pytest.mark.parametrize("blow", [signal.SIGINT, signal.SIGTERM])
def test_whoever_interrupts_it_ends_both_processes_at_once(tmp_path, blow):
    os.mkfifo(tmp_path / "ready")
    (tmp_path / "stuck.py").write_text(STUCK)
    command = [sys.executable, "-m", "mjbot", "match", *["stuck.py:Stuck"] * 4]
    match = subprocess.Popen(
        [*command, "--log-dir", str(tmp_path / "runs")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path,
    )  # fmt: skip
    guard = threading.Timer(GUARD_S, match.kill)
    guard.start()
    try:
        with open(tmp_path / "ready") as ready:  # its end: the strategy's process is gone, too
            assert ready.read(1) == "!"
            match.send_signal(blow)
            out, err = match.communicate()
            assert ready.read() == ""
    finally:
        guard.cancel()
        match.kill()
    assert match.returncode == ExitCode.INTERRUPTED
    assert b"Traceback" not in out + err


def test_preparing_ends_with_whoever_asked_for_it(tmp_path):
    os.mkfifo(tmp_path / "ready")
    (tmp_path / "stuck.py").write_text(STUCK)
    script = (
        "from rich.console import Console; from mjbot.play.startup.precompile import prepare;"
        "from mjbot.strategy.registry import Spec;"
        "prepare([Spec('stuck.py:Stuck')], Console(), use='client')"
    )
    asking = subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path)
    with open(tmp_path / "ready") as ready:
        assert ready.read(1) == "!"
        asking.kill()
        asking.wait()
        assert ready.read() == ""


def test_only_one_process_compiles_at_a_time(monkeypatch, tmp_path):
    fcntl = pytest.importorskip("fcntl")
    folder = preparation._folder()
    folder.mkdir(parents=True, exist_ok=True)
    paper = io.StringIO()
    waits = threading.Event()

    def step(advance=1, note=""):
        if note == preparation._WAITING:
            waits.set()

    (tmp_path / "tiny_too.py").write_text(f"{TINY}# {uuid4()}\n")
    jobs = [preparation.Job((Spec("tiny_too.py:Tiny"),), "client")]
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        asking = threading.Thread(target=preparation._run, args=(jobs, Console(file=paper), step))
        asking.start()
        assert waits.wait(GUARD_S)
        assert not preparation._is_done(jobs[0])
    asking.join()
    assert preparation._is_done(jobs[0])
    assert paper.getvalue() == ""


@pytest.mark.parametrize("held", ["a file in place of the folder", "a folder in place of the lock"])
def test_where_no_lock_can_be_had_all_prepare_side_by_side(monkeypatch, tmp_path, held):
    """On a full or read-only disk, say: nothing is kept, and nobody is kept waiting."""
    monkeypatch.setenv("MJBOT_CACHE", str(tmp_path / "cache"))
    place = preparation._folder()
    if held.startswith("a file"):
        place = place.parent
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
    else:
        (place / ".lock").mkdir(parents=True)
    entered = []
    with preparation._one_at_a_time(lambda: pytest.fail("it waits")):
        entered.append("one")
        with preparation._one_at_a_time(lambda: pytest.fail("the other waits")):
            entered.append("the other")
    assert entered == ["one", "the other"]


def test_a_strategy_that_only_waits_is_given_up(tmp_path, monkeypatch):
    """The next start would wait for it, too."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "waiting_bot.py").write_text(
        "import threading\n"
        "import mjbot.play.startup.precompile\n"
        "from mjbot.strategy.strategy import Strategy\n\n"
        "mjbot.play.startup.precompile.IDLE_S = 0.5\n"
        "class Waiting(Strategy):\n"
        "    def decide(self, view):\n"
        "        threading.Event().wait()\n"
    )
    (problem,), _ = output(["waiting_bot.py:Waiting"], use="client")
    assert problem.is_made
    assert problem.text == "waited for 0.5 s and decided nothing"


def test_what_a_strategy_has_started_ends_with_its_process(tmp_path, monkeypatch):
    fifo = tmp_path / "held"
    os.mkfifo(fifo)
    program = "import subprocess; subprocess.run(['sh', '-c', 'exec sleep 1000 >\"$0\"', {!r}])"
    monkeypatch.setattr(preparation, "_PROGRAM", program)
    monkeypatch.setattr(preparation, "_ROOT", str(fifo))
    child = preparation._Child(preparation.Job((), ()), tmp_path, SimpleQueue())
    with fifo.open("rb") as held:  # opens once the strategy's process has it
        child.end()
        assert held.read() == b""


@pytest.mark.parametrize(
    ("specs", "own", "level"),
    [(("tsumogiri",), "", "1"), (("tsumogiri",), "2", "2"), ((f"{BOTS}:Quiet",), "", "numba's")],
)
def test_our_own_code_is_optimised_at_a_level_of_its_own(tmp_path, monkeypatch, specs, own, level):
    monkeypatch.delenv("NUMBA_OPT", raising=False)
    if own:
        monkeypatch.setenv("NUMBA_OPT", own)
    fifo = tmp_path / "level"
    os.mkfifo(fifo)
    program = "import os; open({!r}, 'w').write(os.environ.get('NUMBA_OPT', \"numba's\"))"
    monkeypatch.setattr(preparation, "_PROGRAM", program)
    monkeypatch.setattr(preparation, "_ROOT", str(fifo))
    job = preparation.Job(tuple(map(Spec.read, specs)), "client")
    child = preparation._Child(job, tmp_path, SimpleQueue())
    assert fifo.read_text() == level  # once the process has written it
    child.end()


def processes_of(jobs, monkeypatch, tmp_path):
    """Return how many processes did the jobs, one at a time."""
    begun = []
    start = preparation._Child.__init__

    def count(child, *how):
        begun.append(child)
        start(child, *how)

    monkeypatch.setattr(preparation._Child, "__init__", count)
    monkeypatch.setattr(preparation, "_CHILDREN", 1)
    kinds = [kind for _, (kind, *_) in preparation._messages(jobs, tmp_path)]
    assert kinds.count("done") == len(jobs)
    return len(begun)


def test_one_process_does_all_jobs_of_our_own_code(monkeypatch, tmp_path):
    specs = [(), (Spec("tsumogiri"),), (Spec("tsumogiri"),)]
    jobs = [preparation.Job(each, "client") for each in specs]
    assert processes_of(jobs, monkeypatch, tmp_path) == 1


@pytest.mark.parametrize("spec", ["tiny_bot.py:Tiny", "combo-partner,base=tiny_bot.py:Tiny"])
def test_a_users_file_gets_a_process_of_its_own(monkeypatch, tmp_path, spec):
    """Who does the jobs does not matter here."""
    program = "import sys; root = {!r}; [print('[\"done\"]', flush=True) for _ in sys.stdin]"
    monkeypatch.setattr(preparation, "_PROGRAM", program)
    ours, users = (Spec("tsumogiri"),), (Spec.read(spec),)
    jobs = [preparation.Job(each, "client") for each in (ours, users, ours, ours)]
    assert processes_of(jobs, monkeypatch, tmp_path) == 3


def test_a_release_plays_by_decisions_not_by_the_clock(monkeypatch, tmp_path):
    """Otherwise two builds could compile different functions."""
    (tmp_path / "tiny_bot.py").write_text(TINY)
    monkeypatch.setattr(preparation, "ENOUGH_DECISIONS", 20)
    monkeypatch.setattr(preparation, "ENOUGH_S", -1.0)
    decisions = []
    decide = preparation._Watched.decide

    def count(player, view):
        decisions.append(view.turn)
        return decide(player, view)

    monkeypatch.setattr(preparation._Watched, "decide", count)
    job = preparation.Job((Spec("tiny_bot.py:Tiny"),), "arena")
    preparation.play_job(job)  # compiles what is missing
    decisions.clear()
    preparation.play_job(job)
    assert len(decisions) == 21


COUNTING = """
import time
from mjbot.runtime.compiler.compiled import compiled
from mjbot.strategy.strategy import Strategy

@compiled
def own_sum(x):
    return x + 1

class Plain(Strategy):
    def decide(self, view):
        with open({asked!r}, "a") as file:
            file.write("x")
        return view.default_action

class Compiling(Plain):
    def decide(self, view):
        assert own_sum(1) == 2
        return super().decide(view)

class Slow(Plain):
    def decide(self, view):
        time.sleep(0.02)
        return super().decide(view)

class Inheriting(Strategy):
    def __init__(self):
        with open({made!r}, "a") as file:
            file.write("x")

    def decide(self, view):
        return view.default_action
"""


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [("Plain", 1, 1), ("Slow", 1, 1), ("Compiling", 2, QUIET_DECISIONS + 5)],
)
def test_a_users_strategy_is_asked_once_unless_its_decisions_compile(tmp_path, name, least, most):
    """A made hanchan would cost time, money or a file for nothing."""
    asked = tmp_path / "asked"
    source = COUNTING.format(asked=str(asked), made=str(tmp_path / "made"))
    (tmp_path / "counting.py").write_text(f"{source}# {uuid4()}\n")
    problems, text = output([f"{tmp_path}/counting.py:{name}"], use="client")
    assert problems == () and text.startswith("warming up")
    assert least <= len(asked.read_text()) <= most


def test_a_users_strategy_is_made_once_for_the_warm_up(tmp_path):
    made = tmp_path / "made"
    source = COUNTING.format(asked=str(tmp_path / "asked"), made=str(made))
    (tmp_path / "counting.py").write_text(f"{source}# {uuid4()}\n")
    assert output([f"{tmp_path}/counting.py:Inheriting"], use="client")[0] == ()
    assert made.read_text() == "x"
