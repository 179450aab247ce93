"""One connection of one token on this machine."""

from types import SimpleNamespace

import pytest

from mjbot.cli.run import _locked
from mjbot.play.service.locks import TokenLocks
from mjbot.runtime.compiler import cache
from mjbot.runtime.errors import ArgumentError

pytest.importorskip("fcntl")


def can_hold(folder, *tokens):
    locks = TokenLocks(folder)
    try:
        locks.hold(tokens)
    except ArgumentError:
        return False
    locks.keep_only(())
    return True


@pytest.mark.parametrize("tokens", [("a", "b"), ("b",), ("x", "c"), ("c",)])
def test_every_token_is_locked_and_not_the_first_alone(tmp_path, tokens):
    locks = TokenLocks(tmp_path)
    locks.hold(("a", "b", "c"))
    assert not can_hold(tmp_path, *tokens)
    locks.keep_only(())
    assert can_hold(tmp_path, *tokens)


def test_a_token_that_is_taken_gives_back_what_was_taken_before_it(tmp_path):
    other, locks = TokenLocks(tmp_path), TokenLocks(tmp_path)
    other.hold(["taken"])
    locks.hold(["mine"])
    with pytest.raises(ArgumentError, match="another mjbot uses this token or account"):
        locks.hold(["mine", "new", "taken"])
    assert can_hold(tmp_path, "new") and not can_hold(tmp_path, "mine")


def test_a_block_that_fails_gives_back_the_new_locks_alone(tmp_path):
    locks = TokenLocks(tmp_path)
    locks.hold(["old"])
    with pytest.raises(OSError, match="no log"), locks.holding(["old", "new"]):
        raise OSError("no log")
    assert can_hold(tmp_path, "new") and not can_hold(tmp_path, "old")


def test_the_tokens_that_are_kept_stay_locked(tmp_path):
    locks = TokenLocks(tmp_path)
    locks.hold(["old", "both", None])
    locks.keep_only(["both", "later"])
    assert can_hold(tmp_path, "old") and not can_hold(tmp_path, "both")


def test_no_token_is_in_the_name_of_a_lock(tmp_path):
    TokenLocks(tmp_path).hold(["SECRET"])
    assert not [path for path in tmp_path.iterdir() if "SECRET" in path.name or path.read_bytes()]


class Server:
    token_shared = False


class Request:
    server = Server()


class Login:
    def __init__(self, name):
        self.name, self.is_guest = name, name == "NoName"


class Plan:
    play = SimpleNamespace(at_once=2)
    tokens = ("a", "b", "c")

    def __init__(self, account="NoName"):
        self.settings = type("Settings", (), {"login": Login(account)})()


def test_a_service_locks_a_token_for_each_game_at_once_and_its_account(monkeypatch):
    assert _locked(Request, Plan()) == ["a", "b"]
    assert _locked(Request, Plan("ID1234")) == ["a", "b", "ID1234"]
    monkeypatch.setattr(Server, "token_shared", True)
    assert _locked(Request, Plan()) == []


@pytest.mark.parametrize("home", ["usual", "missing", "no folder"])
def test_locks_are_a_user_s_whatever_its_cache_and_its_home(home, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    (tmp_path / "home").mkdir()
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    places = {"usual": tmp_path / "home", "missing": "", "no folder": tmp_path / "file" / "x"}
    monkeypatch.setenv("HOME", str(places[home]))
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "tmp"))
    monkeypatch.setattr(
        "os.path.expanduser", lambda text: text.replace("~", str(places[home]) or "~")
    )
    found = []
    for variable in ("one", "two"):
        monkeypatch.setenv("MJBOT_CACHE", str(tmp_path / variable))
        cache._folder_of_user.cache_clear()
        found.append(cache.locks_folder())
    cache._folder_of_user.cache_clear()
    assert found[0] == found[1]
    assert found[0].is_relative_to(tmp_path / ("home" if home == "usual" else "tmp"))
