"""A token and an account have one connection: a lock of this machine, also for ``play``."""

import pytest

from mjbot.cli.main import main
from mjbot.play.service import locks
from mjbot.play.service.locks import TokenLocks
from mjbot.runtime.errors import ExitCode

PERMITTED = ["--permitted-by", "its operator"]


@pytest.fixture
def held(monkeypatch, tmp_path):
    monkeypatch.setattr(locks, "locks_folder", lambda: tmp_path / "locks")
    held = TokenLocks()
    held.hold(["TOKEN-1", "ID0123"])
    yield held
    held.keep_only(())


@pytest.mark.parametrize(
    ("url", "variable", "secret", "words"),
    [
        # 0.0.0.0 is this machine, but no name of it for us
        ("ws://0.0.0.0:1/ws", "MJBOT_TOKEN", "TOKEN-1", []),
        ("tenhou://0.0.0.0:1/0", "MJBOT_TENHOU_ACCOUNT", "ID0123", PERMITTED),
        ("tenhou://127.0.0.1:1/0", "MJBOT_TENHOU_ACCOUNT", "ID0123", []),
        ("tenhou+ws://127.0.0.1:1/0", "MJBOT_TENHOU_ACCOUNT", "ID0123", []),
    ],
)
def test_play_does_not_use_what_another_process_uses(
    held, monkeypatch, capfd, url, variable, secret, words
):
    monkeypatch.setenv(variable, secret)
    command = ["play", url, "--wait-s", "0", *words]
    assert main(command) == ExitCode.BAD_ARGUMENTS
    reported = capfd.readouterr().err
    assert "another mjbot uses this token or account" in reported and secret not in reported
    held.keep_only(())
    assert main(command) == ExitCode.UNREACHABLE


@pytest.mark.parametrize("url", ["ws://127.0.0.1:1/ws", "mjsonp://0.0.0.0:1/x"])
def test_a_token_of_all_players_here_and_one_that_is_not_sent_need_no_lock(held, monkeypatch, url):
    monkeypatch.setenv("MJBOT_TOKEN", "TOKEN-1")
    assert main(["play", url, "--wait-s", "0"]) == ExitCode.UNREACHABLE


def test_run_locks_the_account_of_its_profile(held, tmp_path, capfd):
    (tmp_path / "account").write_text("ID0123\n")
    profile = tmp_path / "bot.toml"
    profile.write_text(
        '[server]\nurl = "tenhou://127.0.0.1:1/0"\n'
        f'account_file = "{tmp_path / "account"}"\n[play]\ngames = 1\n'
    )
    assert main(["run", str(profile)]) == ExitCode.BAD_ARGUMENTS
    assert "another mjbot uses this token or account" in capfd.readouterr().err
