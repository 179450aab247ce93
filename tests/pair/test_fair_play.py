"""A pair sits down only where teams are allowed."""

import pytest

from mjbot.pair.fair_play import FairPlayError, require_team_table, team_names

LOOPBACK = ["mjsonp://localhost/x", "mjsonp://127.0.0.1:11600/x", "ws://[::1]:8000/ws"]
ELSEWHERE = ["mjsonp://192.168.0.7/x", "mjsonp://game.example:11600/x", "stdio:"]


@pytest.mark.parametrize("url", LOOPBACK)
def test_tables_of_this_machine_are_open(url):
    assert require_team_table(url).url == url


@pytest.mark.parametrize("url", ELSEWHERE)
def test_others_must_be_declared(url):
    with pytest.raises(FairPlayError) as caught:
        require_team_table(url, declared=["mjsonp://other.example/x"])
    assert url in str(caught.value)
    assert "operator" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert require_team_table(url, declared=[url]).url == url


def test_a_declared_server_is_meant_with_all_its_rooms_but_not_with_other_ports():
    declared = ["mjsonp://game.example:11600/teams"]
    assert require_team_table("mjsonp://game.example:11600/room-2", declared)
    with pytest.raises(FairPlayError):
        require_team_table("mjsonp://game.example:11601/teams", declared)


@pytest.mark.parametrize("url", ["wss://ladder.example/ws", "ws://ladder.example/ws"])
def test_a_live_server_is_refused_even_if_declared(url):
    with pytest.raises(FairPlayError, match="rate single players"):
        require_team_table(url, declared=[url])


def test_what_is_no_url_is_no_table():
    with pytest.raises(ValueError, match="expected mjsonp"):
        require_team_table("http://localhost/")


def test_a_host_that_only_looks_local_is_refused():
    with pytest.raises(FairPlayError):
        require_team_table("mjsonp://localhost.example/x")


def test_the_names_say_team():
    assert all("team" in name for name in team_names("crane"))
    assert len(set(team_names("crane"))) == 2
