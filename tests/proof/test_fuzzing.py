"""What the fuzzer has found interesting, and what it has found, through the same readers again."""

import sys
from random import Random

import pytest
from numba.core.dispatcher import Dispatcher

from mjbot.game.records.game import RecordError
from proof.fuzzing.child import unmarked
from proof.fuzzing.files import READERS
from proof.fuzzing.mutating import mutated
from proof.fuzzing.seeds import encoded
from proof.fuzzing.subjects import SUBJECTS, keep, minimised


@pytest.mark.parametrize("name", SUBJECTS)
@pytest.mark.filterwarnings("ignore")
def test_each_subject_bears_its_corpus(name, caplog):
    caplog.set_level("CRITICAL")
    subject = SUBJECTS[name]
    assert len(subject.kept) > 5
    for data in [*subject.kept, *subject.seeds[:2]]:
        subject.read(data)


def test_the_corpora_are_small():
    sizes = [sum(map(len, subject.kept)) for subject in SUBJECTS.values()]
    assert sum(sizes) < 200_000


def test_a_broken_promise_leaves_a_subject(monkeypatch):
    def refuse(data):
        raise KeyError("not documented")

    monkeypatch.setitem(READERS, "mjai", refuse)
    with pytest.raises(KeyError):
        SUBJECTS["mjai"].read(b"{}")
    monkeypatch.setitem(READERS, "mjai", lambda data: [][data[0]])
    with pytest.raises(IndexError):
        SUBJECTS["mjai"].read(b"{}")
    monkeypatch.setitem(READERS, "mjai", _refused)
    SUBJECTS["mjai"].read(b"{}")


def _refused(data):
    raise RecordError("record", "", "is none")


def test_of_inputs_that_go_the_same_ways_the_first_is_kept(tmp_path, monkeypatch):
    subject = SUBJECTS["channel"]
    inputs = [b"\0{}", b"\0{} ", b"\0[]", b"\2{}", bytes(5000)]
    few = minimised(subject, [b"\1"], inputs, 100)
    assert few[0] == b"\1" and b"\2{}" in few
    assert b"\0{} " not in few and bytes(5000) not in few
    monkeypatch.setattr("proof.fuzzing.subjects.KEPT", tmp_path)
    keep(subject, [b"\xff\0", b"text\n"])
    assert subject.kept == [b"\xff\0", b"text\n"]


@pytest.mark.parametrize("name", READERS)
def test_changes_come_by_seed_and_change_something(name):
    data = encoded(name)[0]
    made = [mutated(data, Random(seed)) for seed in range(40)]
    assert made == [mutated(data, Random(seed)) for seed in range(40)]
    assert sum(changed != data for changed, _ in made) > 30
    assert all(done for _, done in made)
    for changed, _ in made[:10]:
        SUBJECTS[name].read(changed)  # read or refused


def test_nothing_that_is_compiled_gets_the_fuzzers_marks():
    modules = [module for name, module in [*sys.modules.items()] if name.startswith("mjbot.")]
    compiled = [
        one for module in modules for one in vars(module).values() if isinstance(one, Dispatcher)
    ]
    written_in = {one.py_func.__module__ for one in compiled}
    assert "mjbot.protocol.tiles" in written_in
    for subject in SUBJECTS.values():
        assert written_in <= {*unmarked(subject.rooms)}
