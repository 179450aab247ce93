"""What a bot imports: all of it from ``mjbot``, told in ``docs/api.md``, loaded when asked for."""

import importlib
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import mjbot
import mjbot.learning.env
from mjbot.cli.main import main
from mjbot.runtime.errors import ExitCode

ROOT = Path(mjbot.__file__).parents[1]
API = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
WITH_BOTS = ["README.md", "docs/api.md"]
GUARD_S = 300


def python(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT, capture_output=True, text=True, timeout=GUARD_S, check=True,
    )  # fmt: skip
    return done.stdout.strip()


def bot_in(document: str) -> str:
    text = (ROOT / document).read_text(encoding="utf-8")
    return re.search(r"```python\n(.*?)```", text, re.S)[1]


def test_the_document_names_all_that_can_be_imported():
    for name in mjbot.__all__:
        assert getattr(mjbot, name) is not None
        assert re.search(rf"`{name}\b", API), name


@pytest.mark.parametrize("name", ["Action", "Explanation", "Meld", "Rated", "Strategy", "View"])
def test_the_document_names_what_bots_ask_these(name):
    cls = getattr(mjbot, name)
    for member in {*vars(cls), *getattr(cls, "__slots__", ())}:
        assert member.startswith("_") or re.search(rf"`{member}\b", API), f"{name}.{member}"


@pytest.mark.parametrize("document", WITH_BOTS)
def test_bots_in_documents_import_from_the_package_alone(document):
    modules = re.findall(r"^(?:from|import) +([\w.]+)", bot_in(document), re.M)
    ours = {name for name in modules if name.split(".")[0] == "mjbot"}
    assert ours == {"mjbot"}


def test_the_bot_in_the_document_plays_has_options_and_can_be_explained(tmp_path, capsys):
    (tmp_path / "my_bot.py").write_text(bot_in("docs/api.md"))
    name = f"{tmp_path / 'my_bot.py'}:MyBot"
    log = str(ROOT / "logs" / "east-four-winds.mjson")
    asked = ["explain", log, "--at", "15", "--strategy", f"{name},riichi=no"]
    assert main(asked) == ExitCode.OK
    assert "value, tiles that help" in capsys.readouterr().out
    assert main(["explain", log, "--strategy", name]) == ExitCode.OK


def test_nothing_is_loaded_before_it_is_asked_for():
    loaded = "import sys; print({'numpy', 'mjbot.api'} & set(sys.modules))"
    for before in ("import mjbot", "import mjbot.runtime.errors"):
        assert python("-c", f"{before}; {loaded}") == "set()"


def test_a_player_loads_no_page_no_review_and_nothing_that_prints_tables():
    names = (
        "aiohttp",
        "mjbot.learning.playouts",
        "mjbot.analysis.review",
        "numpy.ma",
        "rich",
        "websockets",
    )
    loaded = f"import sys, mjbot.cli.main, mjbot.cli.play; print({{*{names}}} & set(sys.modules))"
    assert python("-c", loaded) == "set()"


def test_the_version_is_told_by_package_and_command():
    assert re.fullmatch(r"\d+\.\d+\.\d+", mjbot.__version__)
    assert python("-m", "mjbot", "--version") == f"mjbot {mjbot.__version__}"


def test_a_name_that_is_not_there_is_refused_with_the_place_to_look():
    with pytest.raises(AttributeError, match=r"mjbot has no 'Estrategy'; docs/api\.md lists"):
        mjbot.Estrategy  # noqa: B018
    assert not hasattr(mjbot, "_private")
    assert {*mjbot.__all__, "__version__"} <= set(dir(mjbot))


def test_names_of_the_version_before_still_work_and_warn():
    with pytest.warns(DeprecationWarning, match="WANTS_TURNS is now DECIDES_TURNS"):
        assert mjbot.WANTS_TURNS == mjbot.DECIDES_TURNS
    with pytest.warns(DeprecationWarning, match="wants is now decides"):
        old = type("Old", (mjbot.Strategy,), {"wants": 3})
    assert old.decides == 3
    with pytest.warns(DeprecationWarning, match=r"Rated\.worth is now Rated\.value"):
        assert mjbot.Rated(None, 2.5).worth == 2.5
    with pytest.warns(DeprecationWarning, match="adds_to='worth'"):
        term = mjbot.Term("x", "points", 1.0, adds_to="worth")
    assert mjbot.Rated(None, 1.0, terms=[term]).parts() == [term]
    with pytest.warns(DeprecationWarning, match="Rows is now DecisionRows"):
        assert mjbot.learning.env.Rows is mjbot.learning.env.DecisionRows


RELEASED = {
    "0.3.0": {
        "mjbot": """
            DECIDES_ALL DECIDES_CALLS DECIDES_TURNS DECIDES_WINS N_KINDS N_TILES
            RED_FIVES TILE_BY_NAME TILE_NAMES Action DataTable Explanation FuPart
            HandScore Meld MeldType Phase Rated RiichiState RiverFlag Strategy
            StrategyError Strength Term View WinningHand acceptance compiled
            count_tiles hand_counts kinds_of make_strategy parse_tiles
            recorded_decisions recorded_view score_hand shanten
            shanten_and_acceptance tile_kind tile_name view_svg waits WANTS_ALL
            WANTS_CALLS WANTS_TURNS WANTS_WINS
        """,
        "mjbot.learning.env": """
            ACTION_NAMES ACTION_OF_CODE BatchEnv DecisionRows Observation PLANE_NAMES PolicyStrategy
            Rows SCALAR_NAMES StrategyPolicy action_number env observe
        """,
        "mjbot.learning.training.networks.decisions": "open_decisions",
        "mjbot.arena.tournament": "play_arena statistics_of",
        "mjbot.arena.report.page": "notebook_html",
        "mjbot.analysis.review.summary": "review_record",
        "mjbot.analysis.review.sentences": "sentence",
    },
}
"""Public names by release and module (docs/api.md): each works in the next minor version.

When a version is released its names are added here, and those of two minor versions before go.
"""


@pytest.mark.parametrize(
    ("release", "module", "name"),
    [
        (release, module, name)
        for release, modules in RELEASED.items()
        for module, names in modules.items()
        for name in names.split()
    ],
)
def test_a_name_of_the_last_release_works_or_warns_with_the_new_one(release, module, name):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert getattr(importlib.import_module(module), name) is not None, release
    is_listed = name in mjbot.__all__ if module == "mjbot" else f"`{module}" in API
    texts = [str(each.message) for each in caught if name in str(each.message)]
    assert (
        re.fullmatch(rf"(?:{re.escape(module)}\.)?{name} is now \w+", texts[0])
        if texts
        else is_listed
    )


def test_the_names_of_the_last_release_are_known():
    (last,) = {release.rpartition(".")[0] for release in RELEASED}
    minor = mjbot.__version__.split(".")[1]
    assert int(minor) - int(last.split(".")[1]) <= 1
    assert f"public names of {last}.0 work in 0.{minor}.0" in API


def test_the_public_modules_are_those_of_the_document():
    table = API[API.index("## Environments, arena") : API.index("## Stability")]
    modules = {*re.findall(r"`(mjbot(?:\.\w+)+)`:", table)} | {"mjbot.analysis.review.sentences"}
    assert modules >= {*RELEASED["0.3.0"]} - {"mjbot"}


@pytest.mark.parametrize(
    "text",
    ["\uff11\uff12\uff13m", "\uff11\uff12\uff13\uff4d", "\xb9\xb2\xb3m", "\u0661m", "123\uff4d"],
)
def test_digits_of_other_scripts_are_no_tiles(text):
    with pytest.raises(ValueError, match="expected digits followed by m, p, s or z"):
        mjbot.parse_tiles(text)


@pytest.mark.parametrize("text", ["11111m", "00555m", "123m77777z"])
def test_a_hand_has_at_most_four_tiles_of_a_kind(text):
    with pytest.raises(ValueError, match=r"5 tiles of \w+, but there are 4 of a kind") as caught:
        mjbot.shanten(mjbot.hand_counts(text), 0)
    assert text in str(caught.value) and "\n" not in str(caught.value)
