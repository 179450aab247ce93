"""Each check of a bot is failed by the bot made for it, and by nothing else that it does."""

import asyncio
import functools

import pytest

from mjbot.play.check.bot_scenes import SCENES
from mjbot.play.check.bots import BotSettings, check_bot
from mjbot.play.check.catalogue import BOT_CHECKS, CHECKS, CheckVerdict
from mjbot.play.check.report import results
from mjbot.protocol.dialects import ARRAYS, LINES, LOCKSTEP, REQUESTS

NUMBERS = [check.id for check in BOT_CHECKS if check.id != "B34"]  # of three players


def checked(parties, kind, dialect, ids=(), at_once=0, players=4):
    bot = parties.MemoryBot(kind, dialect)
    settings = BotSettings(ids=frozenset(ids), at_once=at_once, players=players)
    findings = asyncio.run(check_bot(bot, settings))
    return {result.check.id: result for result in results(BOT_CHECKS, findings, "mjbot check x")}


def failed(found):
    return {id_ for id_, result in found.items() if result.verdict is CheckVerdict.FAILED}


@pytest.fixture(scope="module")
def found_of_the_good_one(parties):
    return functools.cache(lambda dialect: checked(parties, parties.Player, dialect, at_once=2))


@pytest.mark.parametrize("dialect", [LOCKSTEP, LINES, ARRAYS, REQUESTS])
def test_a_bot_that_keeps_to_the_documents_fails_nothing(found_of_the_good_one, dialect):
    found = found_of_the_good_one(dialect)
    assert not failed(found), [found[id_].text for id_ in failed(found)]
    assert not [result for result in found.values() if result.verdict is CheckVerdict.NON_STRICT]


def test_an_eager_bot_gives_every_check_its_occasion(found_of_the_good_one):
    found = found_of_the_good_one(LOCKSTEP)
    idle = {id_ for id_, one in found.items() if one.verdict is CheckVerdict.NOT_APPLICABLE}
    assert idle == {"B04", "B06", "B27", "B34"}  # those of other dialects, and of three players


@pytest.mark.parametrize("dialect", [LOCKSTEP, LINES, ARRAYS, REQUESTS])
def test_a_bot_that_keeps_to_the_documents_fails_nothing_among_three(parties, dialect):
    found = checked(parties, parties.Player, dialect, at_once=2, players=3)
    assert not failed(found), [found[id_].text for id_ in failed(found)]
    assert found["B34"].verdict is CheckVerdict.OK
    assert "--players 4" in found["B22"].text


def test_a_north_from_nowhere_fails_the_check_of_kita_and_no_other(parties):
    found = checked(parties, parties.NorthFromNowhere, LOCKSTEP, players=3)
    assert failed(found) == {"B34"}


def test_a_bot_that_answers_every_line_owes_none_for_the_end(parties):
    found = checked(parties, parties.AnswersAll, LINES, {"B04", "B08", "B29"})
    assert not failed(found), [found[id_].text for id_ in failed(found)]
    assert found["B04"].verdict is CheckVerdict.NON_STRICT


@pytest.mark.parametrize("dialect", [LOCKSTEP, LINES])
def test_a_pass_at_the_end_is_no_extra_line(parties, dialect):
    found = checked(parties, parties.AnswersTheEnd, dialect, {"B03", "B04", "B29"})
    assert not failed(found), [found[id_].text for id_ in failed(found)]


@pytest.mark.parametrize("id_", NUMBERS)
def test_each_check_is_failed_by_the_bot_made_for_it_and_by_no_other_fault(parties, id_):
    kind, dialect = parties.BROKEN[id_]
    found = checked(parties, kind, dialect, at_once=2)
    if CHECKS[id_].level == "INFO":
        assert found[id_].verdict is CheckVerdict.INFO and "differ" in found[id_].text
        assert not failed(found)
        return
    assert failed(found) == {id_}, {one: found[one].text for one in failed(found)}
    result = found[id_]
    assert result.repeat == f"mjbot check x --only {id_}"
    assert result.transcript[0].startswith("== scene ")
    arrows = {line.partition(" ")[0] for line in result.transcript}
    assert {"<-", "->"} <= arrows or id_ == "B29"


def test_a_long_game_is_failed_by_an_end_that_no_other_check_has_named(parties):
    kind, dialect = parties.BROKEN["B24"]
    found = checked(parties, kind, dialect, {"B24", "B33"})
    assert (failed(found), found["B33"].text) == ({"B24"}, "not reached: the bot ended as in B24")
    assert failed(checked(parties, kind, dialect, {"B33"})) == {"B33"}


def test_a_bot_that_ends_in_the_plain_game_is_given_up(parties):
    class Ends(parties.Player):
        def note(self, event):
            super().note(event)
            if event["type"] == "start_kyoku":
                raise SystemExit("out of memory")

    findings = asyncio.run(check_bot(parties.MemoryBot(Ends), BotSettings()))
    assert findings.lost == "it does not get through a plain game"
    found = {result.check.id: result for result in results(BOT_CHECKS, findings, "mjbot check x")}
    assert found["B12"].verdict is CheckVerdict.NOT_APPLICABLE
    assert found["B12"].text == f"not reached: {findings.lost}"


@pytest.mark.parametrize("scene", SCENES, ids=[scene.name for scene in SCENES])
def test_nothing_is_forced_upon_the_bot(scene):
    assert not [deal for deal in scene.deals if deal is not None and scene.bot in deal.wishes]


def test_a_false_tsumogiri_in_riichi_fails_the_check_of_riichi_alone(parties):
    found = checked(parties, parties.LiesInRiichi, LOCKSTEP, {"B09", "B14"})
    assert failed(found) == {"B14"}


@pytest.mark.parametrize("dialect", [LOCKSTEP, ARRAYS])
@pytest.mark.parametrize("ids", [(), ("B12", "B31"), ("B30",)])
def test_each_scene_is_reported_and_counted(parties, dialect, ids):
    begun = []
    settings = BotSettings(ids=frozenset(ids), at_once=2, on_scene=begun.append)
    asyncio.run(check_bot(parties.MemoryBot(parties.Player, dialect), settings))
    assert len(begun) == len(set(begun)) == settings.scene_count(dialect)
