"""A pair sits down only where teams are allowed."""

import contextlib
import unicodedata
from urllib.parse import urlencode

import pytest
from websockets.exceptions import InvalidURI
from websockets.uri import parse_uri

from mjbot.play.chaos import Chaos, ChaosProxy
from mjbot.protocol.plain_text import has_letters
from mjbot.protocol.transports.address import is_loopback, parse_address
from mjbot.strategy.pair.fair_play import (
    FairPlayError,
    require_permission,
    require_permission_to_check,
    require_team_name,
    require_team_name_in,
    require_team_table,
    team_names,
)

INVISIBLE = [
    letter
    for letter in map(chr, range(0x110000))
    if unicodedata.category(letter)[0] in "CZM" or letter in "\u115f\u1160\u3164\uffa0\u2800"
]


def test_what_cannot_be_seen_is_no_permission():
    elsewhere = parse_address("tenhou://game.example:10080")
    server = parse_address("ws://game.example/ws")
    assert not any(map(has_letters, INVISIBLE))
    for who in ("", "".join(INVISIBLE), " ", "\u200b", "\u2800"):
        for require, address in (
            (require_permission, elsewhere),
            (require_permission_to_check, server),
        ):
            with pytest.raises(FairPlayError, match="without its operator's permission"):
                require(address, who)
    require_permission(elsewhere, "管理者\u200b")
    require_permission_to_check(server, "N.")


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
    with pytest.raises(FairPlayError, match="rate single players, --team-table or not; play there"):
        require_team_table(url, declared=[url])


def test_what_is_no_url_is_no_table():
    with pytest.raises(ValueError, match="expected mjsonp"):
        require_team_table("http://localhost/")


@pytest.mark.parametrize("scheme", ["mjsonp", "ws"])
@pytest.mark.parametrize(
    "host",
    [
        "localhost.example",
        "127.0.0.1.evil.com",
        "127.0.0.1%2eevil.com",
        "localhost%40evil.com",
        "0.0.0.0",
        "[::]",
        "127.0.0.1.",
    ],
)
def test_a_host_that_only_looks_local_is_refused(scheme, host):
    with pytest.raises(FairPlayError):
        require_team_table(f"{scheme}://{host}/x")


@pytest.mark.parametrize("scheme", ["mjsonp", "ws"])
@pytest.mark.parametrize(
    "place",
    [
        "localhost@evil.com",
        "127.0.0.1:80@evil.com",
        "localhost:x@evil.com:80",
        "localhost\\@evil.com",
        "localhost%40@evil.com",
        "evil.com@localhost",
        "a:b@127.0.0.1:81",
    ],
)
def test_a_user_in_a_url_is_refused_wherever_it_leads(scheme, place):
    with pytest.raises(ValueError, match="an account has no place in a URL") as refused:
        require_team_table(f"{scheme}://{place}/x")
    assert place not in str(refused.value)


@pytest.mark.parametrize("place", ["localhost#@evil.com", "localhost?@evil.com"])
def test_what_is_taken_for_local_is_where_the_websocket_goes(place):
    """Two parsers read the URL: ours judges, the library's connects."""
    url = f"ws://{place}"
    host = require_team_table(url).host
    with contextlib.suppress(InvalidURI):
        assert parse_uri(url).host == host
    assert is_loopback(host)


@pytest.mark.parametrize("name", ["crane (team 1/2)", "Team Crane", "crane-team"])
def test_a_name_that_says_team_is_one_for_a_pair(name):
    require_team_name(name, "--name")
    require_team_name_in(f"ws://localhost/ws?{urlencode({'room': 1, 'name': name})}")


@pytest.mark.parametrize(
    "name", ["", "alice", "steamboat", "teamster", "s\u200bteam", "team\u00adster", "team\x00ster"]
)
def test_a_name_that_hides_the_team_is_refused_with_a_cure(name):
    with pytest.raises(FairPlayError, match=r"^--name .*\(team 1/2\)") as caught:
        require_team_name(name, "--name")
    assert "\n" not in str(caught.value)
    cure = team_names("".join(filter(str.isprintable, name)) or "crane")[0]
    assert cure in str(caught.value)
    require_team_name(cure, "--name")


@pytest.mark.parametrize(
    "query", ["", "?name=", "?name=alice", "?%6eame=alice", "?name=a+team&name=alice", "?Name=team"]
)
def test_a_url_that_hides_the_team_is_refused(query):
    with pytest.raises(FairPlayError, match="name="):
        require_team_name_in(f"ws://localhost/ws{query}")


def test_the_names_say_team():
    for name in team_names("crane"):
        require_team_name(name, "--name")
    assert len(set(team_names("crane"))) == 2


def test_a_chaos_proxy_stands_only_before_this_machine():
    with pytest.raises(ValueError, match="only before servers of this machine"):
        ChaosProxy(Chaos(seed=0), "game.example", 11600)
