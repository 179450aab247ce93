"""Names as people read them: alike to the eye is one name, and what shows nothing is none."""

import asyncio
import json

import aiohttp
import pytest

from mjbot.play.server.lobby import TableRules
from mjbot.play.server.names import LOOKALIKES, name_key
from mjbot.play.server.server import TableServer
from mjbot.protocol.plain_text import is_name
from mjbot.protocol.sessions.lockstep_server import (
    BLANK_NAME,
    JoinRefusedError,
    LockstepSession,
)

HOST = "127.0.0.1"


@pytest.mark.parametrize(
    "name",
    [
        "BOT1", " b o t 1 ", "b\u00f3t1", "bo\u0301t1", "b\u00f8t1", "b0t1", "botl", "boti", "bot|",
        "\u0299ot1", "b\u0585t1", "b\u043et1", "b\u03bft1", "\uff42ot1", "\u24d1ot1", "\u0253ot1",
        "b\u200bot\ufe0f1", "\u0412\u041e\u04221", "\u13f4ot1", "b\u06f5t1", "b\u1d0ft1",
        "\U0001d41bot1", "b\u04e7t1", "bot\u04c0", "bot\u01c0",
    ],
)  # fmt: skip
def test_names_that_are_alike_to_the_eye_have_one_key(name):
    assert name_key(name) == name_key("bot1")


@pytest.mark.parametrize(
    "name", ["bot2", "rob1", "bat1", "\u9ebb\u96c0", "bot11", "\u0431\u043e\u0442"]
)
def test_other_names_are_others(name):
    assert name_key(name) != name_key("bot1")


def test_a_look_alike_with_an_accent_is_one_after_its_accent_is_gone():
    """Both normal forms are needed: casefold composes nothing, and lists have base letters."""
    for letter, latin in (("\u0450", "e"), ("\u0457", "l"), ("\u03ac", "a"), ("\u1f41", "o")):
        assert name_key(letter) == latin


def test_every_letter_of_the_list_has_the_key_of_its_latin_letter():
    table = json.loads(LOOKALIKES.read_text("utf-8"))
    assert sum(map(len, table.values())) > 400
    for latin, letters in table.items():
        for letter in letters:
            assert name_key(letter) == name_key(latin), (latin, letter)


@pytest.mark.parametrize("name", [" ", "\0", "a\0b", "\u200b", "\u2800\u3164", "a\x1b[2J", "\x85"])
def test_names_that_show_nothing_or_have_controls_are_refused_at_every_endpoint(name):
    assert not is_name(name)
    with pytest.raises(JoinRefusedError, match=BLANK_NAME):
        line = {"type": "join", "name": name, "room": "default"}
        LockstepSession().join(json.dumps(line).encode())

    async def main():
        async with TableServer(TableRules(seed=1)) as server:
            port = await server.open_websocket(HOST, 0)
            web = await server.open_tenhou_websocket(HOST, 0)
            async with aiohttp.ClientSession() as session:
                url = f"http://{HOST}:{port}/ws"
                with pytest.raises(aiohttp.WSServerHandshakeError, match="400"):
                    await session.ws_connect(url, params={"name": name})
                async with session.ws_connect(f"http://{HOST}:{web}/") as line:
                    await line.send_json({"tag": "HELO", "name": name, "sx": "M"})
                    answer = await line.receive()
                    is_guest = answer.type is aiohttp.WSMsgType.TEXT
                    assert is_guest is not bool(name.strip())  # Tenhou's own habit
            return server.lobby.waiting

    assert asyncio.run(main()) == []
