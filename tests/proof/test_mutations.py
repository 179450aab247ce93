"""A few changed conversations of those that ``python -m proof mutations`` runs."""

import pytest

from mjbot.play.server.core import OnFault
from mjbot.protocol.transports.base import VanishedError
from proof.__main__ import main
from proof.conversations import DIALECTS, record, replay_to_server, run_client
from proof.mutations import MOST_MB, peak_mb


@pytest.mark.parametrize("players", [3, 4])
@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.traits.word)
def test_a_conversation_told_again_unchanged_goes_as_it_went(dialect, players):
    talk = record(dialect, 1, players)
    assert replay_to_server(talk, talk.client, OnFault.ABORT) == "played"
    with pytest.raises(VanishedError):
        run_client(talk, talk.server, strict=True)


@pytest.mark.parametrize("players", ["3", "4"])
def test_some_changed_ones_are_borne_or_refused(capsys, monkeypatch, players):
    monkeypatch.setattr("proof.mutations.MOST_MB", max(MOST_MB, 2 * peak_mb()))
    monkeypatch.setattr("proof.mutations.WALLS", 1)
    monkeypatch.setattr("proof.mutations.quiet", lambda: None)
    counts = ["--conversations", "20", "--messages", "20"]
    monkeypatch.setattr("sys.argv", ["proof", "mutations", *counts, "--players", players])
    assert main() == 0
    report = capsys.readouterr().out
    assert "messages: 20 borne or refused" in report
    assert "conversations: 20 borne or refused" in report and "0 findings" in report
