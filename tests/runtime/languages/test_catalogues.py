"""All catalogues are complete, hold nothing else, and keep the placeholders of each text."""

import re
import string
from pathlib import Path

import pytest
from babel.messages.extract import extract_from_file

from mjbot.game.rules.yaku_table import YAKU
from mjbot.game.table.actions import ACTIONS
from mjbot.runtime import languages
from mjbot.runtime.languages import (
    LANGUAGES,
    catalogue,
    default_language,
    language,
    read_catalogue,
    set_language,
    translate,
    translate_count,
    using_language,
)
from mjbot.viewer.pages import FOLDER, MODULES
from mjbot.viewer.thoughts import CHOICES

ROOT = Path(__file__).parents[3]
OTHERS = [name for name in LANGUAGES if name != "en"]
KEYWORDS = {"translate": None, "marked": None, "translate_count": (1, 2)}
TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|(, \{|[()])')
LETTERS = frozenset("ESWN")


def python_keys(path):
    """Yield the texts of a module; Babel does not see those inside f-strings before Python 3.12."""
    for _, texts, _, _ in extract_from_file("python", str(path), keywords=KEYWORDS):
        yield texts if isinstance(texts, str) else texts[0]


def script_keys(text):
    for call in re.finditer(r"\bt\(", text):
        depth = 1
        for key, mark in TOKEN.findall(text, call.end()):
            depth += {"(": 1, ")": -1}.get(mark, 0)
            if not depth or mark == ", {":  # the values of the placeholders follow
                break
            if key and depth == 1:
                yield key
    for table in re.findall(r"const (?:NAMES|KYOKU|WINDS) = (\{.*?\});", text, re.DOTALL):
        yield from re.findall(r': "([^"]*)"', table)


def page_keys():
    html = (FOLDER / "index.html").read_text(encoding="utf-8")
    yield from re.findall(r"\[\[(.+?)\]\]", html)
    for name in MODULES:
        yield from script_keys((FOLDER / name).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def keys():
    found = {each.name for each in YAKU} | LETTERS
    found.update(page_keys())
    for path in [*(ROOT / "mjbot").rglob("*.py"), *(ROOT / "strategies").rglob("*.py")]:
        if "languages" not in path.parts:
            found.update(python_keys(path))
    return found


def placeholders(text):
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_the_keys_are_found_in_python_scripts_and_html(keys):
    assert len(keys) > 350
    assert {"You {done}; {better} was better", "risks more later on", "Mistake"} <= keys
    assert {"makes the hand slower", "{honba} honba, 1 stick", "East {number}", "nobody"} <= keys


@pytest.mark.parametrize("name", OTHERS)
def test_a_catalogue_has_all_texts_and_no_others(name, keys):
    texts = catalogue(name)
    assert not sorted(keys - set(texts))
    assert not sorted(set(texts) - keys)


@pytest.mark.parametrize("name", OTHERS)
def test_placeholders_and_markup_are_those_of_the_english(name):
    for key, text in catalogue(name).items():
        if key in (one for one, _ in PLURALS):
            assert placeholders(text) == {"n"}
        assert placeholders(text) == placeholders(key), key
        assert sorted(re.findall(r"<[^>]+>", text)) == sorted(re.findall(r"<[^>]+>", key)), key


COMMON = re.compile(
    r"\{\w*\}|&\w+;|<[^>]+>|--[a-z-]+(?: [A-Z]+)?|Tab|Enter|OpenSkill|fold-recognition-plus"
)
"""What is the same in all languages: placeholders, markup, options, keys, names."""


@pytest.mark.parametrize("name", OTHERS)
def test_no_english_is_left_in_a_translation(name):
    for key, text in catalogue(name).items():
        assert not re.findall(r"[A-Za-z]{3,}", COMMON.sub("", text)), key


PLURALS = [
    ("{n} decision", "{n} decisions"),
    ("{n} game", "{n} games"),
    ("{n} seat", "{n} seats"),
]


@pytest.mark.parametrize("name", OTHERS)
def test_a_po_file_has_each_text_once_and_says_its_language(name):
    text = (languages.FOLDER / f"{name}.po").read_text(encoding="utf-8")
    found = [line for line in text.splitlines() if line.startswith("msgid ")]
    assert len(found) == len(set(found))
    assert f"Language: {name}\\n" in text
    assert "fuzzy" not in text


def test_terms_are_those_of_players():
    terms = {
        "riichi": {"ja": "立直", "zh-Hans": "立直", "zh-Hant": "立直"},
        "push/fold": {"ja": "押し引き", "zh-Hans": "攻守判断", "zh-Hant": "攻守判斷"},
        "efficiency": {"ja": "牌効率", "zh-Hans": "牌效率", "zh-Hant": "牌效率"},
        "{n}-shanten": {"ja": "{n}向聴", "zh-Hans": "{n}向听", "zh-Hant": "{n}向聽"},
        "Deal-ins": {"ja": "放銃", "zh-Hans": "放铳", "zh-Hant": "放銃"},
        "deal-in rate": {"ja": "放銃率", "zh-Hans": "放铳率", "zh-Hant": "放銃率"},
        "call rate": {"ja": "副露率", "zh-Hans": "副露率", "zh-Hant": "副露率"},
        "no win": {"ja": "流局", "zh-Hans": "流局", "zh-Hant": "流局"},
    }
    for key, texts in terms.items():
        for name, text in texts.items():
            assert catalogue(name)[key] == text


def test_simplified_and_traditional_are_told_apart():
    simplified = "".join(catalogue("zh-Hans").values())
    traditional = "".join(catalogue("zh-Hant").values())
    assert not set("東萬張聽點銃對們選擇損") & set(simplified)
    assert not set("东万张听点铳对们选择损") & set(traditional)


def test_every_choice_has_a_name():
    texts = {str(action).removesuffix(" (drawn)") for action in ACTIONS if action.tile < 0}
    assert texts <= set(CHOICES)
    assert {action.name for action in ACTIONS} <= set(CHOICES)


def test_a_text_that_a_catalogue_lacks_stays_english():
    with using_language("ja"):
        assert translate("no such text {n}", n=3) == "no such text 3"
        assert translate_count("{n} cow", "{n} cows", 2) == "2 cows"
    assert language() == "en"
    with pytest.raises(languages.ArgumentError, match="expected one of en, ja"):
        set_language("tlh")


def test_the_first_variable_that_is_set_counts():
    assert default_language({"LANG": "zh_TW.UTF-8", "MJBOT_LANGUAGE": "ja"}) == "ja"
    assert default_language({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}) == "en"
    assert default_language({"LANG": "de_DE.UTF-8"}) == "en"
    assert default_language({}) == "en"


def test_a_po_file_is_read_with_its_plurals_and_long_texts():
    text = """
# a comment
msgid ""
msgstr "Language: xx\\n"

msgid "{n} game"
msgid_plural "{n} games"
msgstr[0] "{n} Z"

msgid "a long "
"text"
msgstr "lang \\"T\\""

msgid "open"
msgstr ""
"""
    assert read_catalogue(text) == {"{n} game": "{n} Z", "a long text": 'lang "T"'}
