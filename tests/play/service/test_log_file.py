"""The log of a service: set aside at a size, and nothing else is removed."""

import errno
import os

import pytest

from mjbot.play.service.log_file import LogFile
from mjbot.runtime.redaction import CONCEALED, conceal

OTHERS = {
    "bot": ["bot.toml", "bot.token", "bot.log", "bot.2024-01-01_00-00-00.log", "bot.2"],
    "bot.log": ["bot.second.log", "bot.notes.log", "bot.log.md", "bot.log.gz", "bot.toml",
                "bot.2024-01-01_00-00-00_000000.second.log"],
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_only_its_own_files_set_aside_are_removed(tmp_path, name):
    for other in OTHERS[name]:
        (tmp_path / other).write_text("stays")
    log = LogFile(tmp_path / name, most_bytes=100, kept=2)
    for number in range(60):
        log.write(f"line {number:02} of the log\n")
    found = [path.name for path in tmp_path.iterdir() if path.name not in OTHERS[name]]
    assert len(found) == 3 and name in found
    assert all((tmp_path / other).read_text() == "stays" for other in OTHERS[name])
    assert "line 59" in (tmp_path / name).read_text()


def test_what_it_has_just_set_aside_stays_when_the_clock_was_set_back(tmp_path):
    (tmp_path / "bot.2999-01-01_00-00-00_000000.log").write_text("of the future\n")
    log = LogFile(tmp_path / "bot.log", most_bytes=10, kept=1)
    log.write("the first\n")
    log.write("the second\n")
    aside = [path for path in tmp_path.iterdir() if path.name != "bot.log"]
    assert [path.read_text() for path in aside] == ["the first\n"]


def test_a_link_of_that_form_is_not_followed_and_stays(tmp_path):
    link = tmp_path / "bot.2024-01-01_00-00-00_000000.log"
    link.symlink_to("nowhere")
    log = LogFile(tmp_path / "bot.log", most_bytes=10, kept=1)
    for _ in range(4):
        log.write("a long line\n")
    assert link.is_symlink()


def test_a_full_disk_is_reported_once_and_the_log_resumes(tmp_path, monkeypatch, capsys):
    log = LogFile(tmp_path / "bot.log", most_bytes=1000, kept=1)
    log.write("before\n")

    def full(file, path, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    with monkeypatch.context() as patch:
        patch.setattr("mjbot.play.service.log_file.write_all", full)
        for _ in range(3):
            log.write("lost\n")
    log.write("after\n")
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{tmp_path / 'bot.log'}: No space left on device" in line
    assert (tmp_path / "bot.log").read_text() == "before\nafter\n"


def test_a_folder_in_which_nothing_can_be_set_aside_costs_no_line(tmp_path, monkeypatch, capsys):
    log = LogFile(tmp_path / "bot.log", most_bytes=10, kept=1)

    def refuse(path, other):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(type(tmp_path), "rename", refuse)
    for _ in range(3):
        log.write("a long line\n")
    assert (tmp_path / "bot.log").read_text() == 3 * "a long line\n"
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_secret_and_a_lone_surrogate_are_written_as_text(tmp_path):
    conceal("log-SECRET-1")
    log = LogFile(tmp_path / "bot.log", most_bytes=1000, kept=1)
    log.write("Bearer log-SECRET-1 \ud800\n")
    log.stop()
    assert (tmp_path / "bot.log").read_text() == f"Bearer {CONCEALED} \\ud800\n"


def test_a_log_that_cannot_be_opened_is_named(tmp_path):
    with pytest.raises(OSError, match="no folder/bot"):
        LogFile(tmp_path / "no folder" / "bot.log", 10, 1)
