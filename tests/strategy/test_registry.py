"""Strategies by name, options from text, and what users are told when it does not work."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

import mjbot
from mjbot.cli.main import main
from mjbot.runtime.errors import ExitCode
from mjbot.strategy.faults import error_summary
from mjbot.strategy.options import StrategyError, options_of, read_options, split_options
from mjbot.strategy.registry import (
    UNTIL_0_3,
    Spec,
    all_strategies,
    built_in_names,
    make_strategy,
    require_players,
    strategy_class,
    strategy_info,
    thesis_of,
)
from mjbot.strategy.strategy import Strategy

BOT = '''
from dataclasses import dataclass, field
from mjbot import Strategy

@dataclass
class {name}(Strategy):
    """{thesis}

    More about it.
    """

    seed: int = 0

    def decide(self, view):
        return view.default_action
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


@pytest.fixture
def elsewhere(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a user, who has no checkout on the path."""
    root = Path(mjbot.__file__).parents[1]
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if Path(entry) != root])
    yield folder
    for name in [*sys.modules]:
        if name.partition(".")[0] in (*UNTIL_0_3, "old"):
            del sys.modules[name]


def write_bot(file: Path, name: str = "MyBot", thesis: str = "Sits still.") -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(BOT.format(name=name, thesis=thesis))


def problem_of(name: str) -> str:
    with pytest.raises(StrategyError) as caught:
        make_strategy(name)
    message = str(caught.value)
    assert "\n" not in message
    return message


# --- names -----------------------------------------------------------------------------------


def test_every_module_directly_inside_strategies_is_one():
    modules = Path(strategy_class("tsumogiri").__module__.replace(".", "/")).parent
    assert modules.name == "strategies"
    assert set(built_in_names()) >= {"tsumogiri", *(f"fast-riichi-{x}" for x in "abcd")}
    for info in all_strategies():
        assert not info.problem
        assert info.thesis.endswith((".", "?", "!")), info.name


def test_dashes_and_underscores_name_the_same_strategy():
    assert strategy_class("fast-riichi-b") is strategy_class("fast_riichi_b")
    assert strategy_class("mjbot.strategies.fast_riichi_b:FastRiichiB") is strategy_class(
        "fast-riichi-b"
    )


def test_a_file_in_the_current_folder_is_found(folder):
    write_bot(folder / "sits_here.py")
    bot = make_strategy("sits_here:MyBot", seed=7)
    assert type(bot).__name__ == "MyBot"
    assert bot.seed == 7
    assert make_strategy("sits_here:MyBot", {"seed": "8"}, seed=7).seed == 8


def test_a_module_in_a_package_is_found(folder):
    write_bot(folder / "some_package" / "bots" / "quiet.py")
    assert strategy_class("some_package.bots.quiet:MyBot").__name__ == "MyBot"


def test_files_of_one_name_in_two_folders_are_two_strategies(folder):
    write_bot(folder / "one" / "same_name.py", thesis="Is the first.")
    write_bot(folder / "two" / "same_name.py", thesis="Is the second.")
    first = strategy_class("one/same_name.py:MyBot")
    second = strategy_class(f"{folder}/two/same_name.py:MyBot")
    assert (thesis_of(first), thesis_of(second)) == ("Is the first.", "Is the second.")
    assert strategy_class("one/same_name.py:MyBot") is first


def test_a_file_may_import_its_neighbour(folder):
    (folder / "sub").mkdir()
    (folder / "sub" / "neighbour_of_bot.py").write_text("ANSWER = 42\n")
    write_bot(folder / "sub" / "importing_bot.py")
    with (folder / "sub" / "importing_bot.py").open("a") as file:
        file.write("\nimport neighbour_of_bot\nMyBot.answer = neighbour_of_bot.ANSWER\n")
    assert strategy_class("sub/importing_bot.py:MyBot").answer == 42


# --- of other distributions ------------------------------------------------------------------


@pytest.fixture
def site(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of which what is installed there can be imported."""
    site = folder / "site"
    monkeypatch.syspath_prepend(str(site))
    return site


def install(site: Path, name: str, entries: str) -> None:
    report = site / f"{name}-1.5.dist-info"
    report.mkdir(parents=True)
    (report / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n")
    (report / "entry_points.txt").write_text(f"[mjbot.strategies]\n{entries}\n")


def test_a_distribution_offers_strategies_by_name(site, capsys):
    write_bot(site / "their_bots" / "quiet.py", "Quiet")
    install(site, "their-bots", "quiet_bot = their_bots.quiet:Quiet")
    assert type(make_strategy("quiet-bot", seed=3)).__module__ == "their_bots.quiet"
    assert strategy_class("quiet_bot") is strategy_class("their_bots.quiet:Quiet")
    assert strategy_info("quiet-bot").origin == "their-bots 1.5"
    assert all_strategies()[-1].name == "quiet-bot"
    assert Spec.read("quiet-bot,seed=4").is_outside
    assert not Spec.read("tsumogiri").is_outside
    assert problem_of("quiet-bit").endswith("the nearest: quiet-bot")
    assert main(["strategies"]) == ExitCode.OK
    out = capsys.readouterr().out
    assert "from their-bots 1.5:" in out
    assert f"from {Path(sys.modules['mjbot.strategies'].__path__[0])}:" in out


def test_what_a_distribution_offers_in_vain_is_told_with_its_name(site, capsys):
    install(site, "their-bots", "gone = no_such_module_of_theirs:Bot\npath = pathlib:Path")
    assert problem_of("path") == (
        "strategy 'pathlib:Path': Path is not a mjbot.Strategy (their-bots 1.5 offers it as 'path')"
    )
    assert problem_of("gone").endswith("(their-bots 1.5 offers it as 'gone')")
    assert main(["strategies"]) == ExitCode.FAILED
    assert "their-bots 1.5 offers it as 'gone'" in " ".join(capsys.readouterr().out.split())


def test_of_two_strategies_of_one_name_ours_is_meant_or_else_none(site):
    write_bot(site / "their_bots" / "loud.py", "Loud")
    install(site, "their-bots", "tsumogiri = their_bots.loud:Loud\nloud = their_bots.loud:Loud")
    install(site, "more-bots", "loud = their_bots.loud:Loud")
    assert strategy_class("tsumogiri").__module__ == "mjbot.strategies.tsumogiri"
    message = problem_of("loud")
    assert "their-bots 1.5 (their_bots.loud:Loud)" in message
    assert "more-bots 1.5 (their_bots.loud:Loud)" in message
    assert message.endswith("offer one of that name: use MODULE:CLASS")


# --- what goes wrong -------------------------------------------------------------------------


def test_an_unknown_name_gets_the_nearest_ones(folder):
    message = problem_of("fast-richi-b")
    assert "fast-richi-b" in message
    assert "fast-riichi-b" in message
    assert problem_of("zzz") == "unknown strategy 'zzz'; mjbot strategies lists them"


def test_a_file_that_is_not_there_is_no_strategy_of_an_odd_name(folder):
    for name in ("mybot.py", "bots/mybot"):
        assert problem_of(name) == f"strategy {name!r}: no such file here; write FILE.py:CLASS"


def test_of_many_classes_only_a_few_are_named(folder):
    for number in range(9):
        write_bot(folder / "one.py", f"Bot{number}")
        with (folder / "many_bots.py").open("a") as file:
            file.write((folder / "one.py").read_text())
    with (folder / "many_bots.py").open("a") as file:
        file.write("class Base(Strategy):\n    pass\n")
    few = problem_of("many_bots:Base")
    assert few.endswith("did you mean Bot0 or Bot1 or Bot2 or 6 others?")
    assert problem_of("many_bots:Other").endswith("only: Bot0, Bot1, Bot2, 7 others")


@pytest.mark.parametrize("place", ["strategies/old.py", "old"])
@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("import strategies.fast_riichi_b", "strategies"),
        ("from protocol.tiles import parse_tiles", "protocol"),
    ],
)
def test_a_bot_that_imports_an_old_name_is_told_the_new_one(elsewhere, place, line, name):
    folder = elsewhere
    file = folder / ("old.py" if place == "old" else "strategies/old.py")
    write_bot(file)
    file.write_text(f"{line}\n{file.read_text()}")
    message = problem_of(f"{place}:FastRiichiB")
    assert message.endswith(f"; since mjbot 0.4 its package is mjbot.{name}")


def test_a_strategy_of_ours_under_its_old_name_is_told_the_new_one(elsewhere):
    message = problem_of("strategies.fast_riichi_b:FastRiichiB")
    assert message.endswith("; since mjbot 0.4 its package is mjbot.strategies")


def test_a_module_of_the_users_that_is_missing_has_no_other_name(elsewhere):
    folder = elsewhere
    write_bot(folder / "strategies" / "mine.py")
    assert strategy_class("strategies.mine:MyBot").__name__ == "MyBot"
    assert "since mjbot" not in problem_of("strategies.nowhere:MyBot")
    assert "since mjbot" not in problem_of("protocols:MyBot")


def test_a_file_without_its_class_is_told_how(folder):
    write_bot(folder / "lonely.py")
    assert "lonely:CLASS" in problem_of("lonely")
    assert "lonely.py:CLASS" in problem_of("lonely.py")
    assert "MODULE:CLASS" in problem_of("lonely:")


def test_a_missing_file_module_or_class_is_named(folder):
    write_bot(folder / "has_my_bot.py")
    assert "no/such.py" in problem_of("no/such.py:MyBot")
    assert "no_such_module.py" in problem_of("no_such_module:MyBot")
    assert "MyBot" in problem_of("has_my_bot:YourBot")
    assert "Path is not a mjbot.Strategy" in problem_of("pathlib:Path")


def test_a_base_that_decides_nothing_is_no_bot(folder):
    write_bot(folder / "with_bases.py")
    with (folder / "with_bases.py").open("a") as file:
        file.write("\nfrom mjbot.strategies.evaluation.fast_riichi.steps import FastRiichi\n")
    for base in ("Strategy", "FastRiichi"):
        message = problem_of(f"with_bases:{base}")
        assert message.endswith(f"{base} has no decide of its own; did you mean MyBot?")
    assert "FastRiichi has no decide" in problem_of(
        "mjbot.strategies.evaluation.fast_riichi.steps:FastRiichi"
    )


def test_a_class_of_four_players_is_refused_with_what_it_states(folder):
    write_bot(folder / "plays_four.py")
    with pytest.raises(StrategyError, match=r"'MyBot' plays no .* states players = \(4,\)\); of"):
        require_players(strategy_class("plays_four:MyBot"), 3)


@pytest.mark.parametrize("players", ["3", "()", "'3'", "(3, 2)", "None"])
def test_numbers_of_players_that_no_table_has_are_refused(folder, players):
    file = folder / f"plays_{abs(hash(players))}.py"
    write_bot(file)
    file.write_text(f"{file.read_text()}\n\nMyBot.players = {players}\n")
    message = problem_of(f"{file.stem}:MyBot")
    assert message.endswith(f"MyBot.players is {players}; expected (3,), (4,) or (3, 4)")


@pytest.mark.parametrize(
    ("text", "error_summary"),
    [
        ("def broken(:\n", "SyntaxError"),
        ("x = 1\nimport no_such_thing_at_all\n", "no_such_thing_at_all"),
        ("x = 1\ny = x / 0\n", "line 2"),
        ("raise SystemExit(3)\n", "SystemExit"),
    ],
)
def test_a_broken_file_is_blamed_on_one_line(folder, text, error_summary):
    file = folder / "broken_bot.py"
    file.write_text(text)
    message = problem_of("broken_bot.py:MyBot")
    assert "broken_bot.py" in message
    assert error_summary in message
    assert strategy_info("broken_bot.py:MyBot").problem == message
    write_bot(file)
    assert strategy_class("broken_bot.py:MyBot").__name__ == "MyBot"


def test_a_strategy_that_cannot_be_made_is_blamed(folder):
    write_bot(folder / "needs_more.py")
    with (folder / "needs_more.py").open("a") as file:
        file.write("\n    def __post_init__(self):\n        raise RuntimeError('no weights')\n")
    assert "no weights" in problem_of("needs_more:MyBot")


# --- options ---------------------------------------------------------------------------------


@dataclass
class Many(Strategy):
    """Has an option of every kind. And a second sentence."""

    whole: int = 1
    real: float = 0.5
    yes: bool = True
    word: str = "a"
    one_of: Literal["x", "y"] = "x"
    level: Literal[1, 2] = 1
    maybe: int | None = None
    other: tuple[int, ...] = ()


def test_options_are_read_by_the_types_of_the_fields():
    texts = ["whole=-3", "real=1e-3", "yes=no", "word=b=c", "one-of=y", "level=2", "maybe=4"]
    values = read_options(Many, split_options(texts))
    assert values == {
        "whole": -3, "real": 1e-3, "yes": False, "word": "b=c", "one_of": "y", "level": 2,
        "maybe": 4,
    }  # fmt: skip
    assert read_options(Many, {"maybe": "none"}) == {"maybe": None}


@pytest.mark.parametrize(
    ("text", "report"),
    [
        ("whole=x", "'whole': 'x' is not a whole number"),
        ("whole=1.5", "'whole'"),
        ("real=x", "a number"),
        ("yes=perhaps", "yes or no"),
        ("one_of=z", "one of x, y"),
        ("maybe=x", "a whole number or none"),
        ("other=1", "'other'"),
        ("no_such=1", "whole, real, yes, word, one_of, level, maybe, other"),
        ("whole", "KEY=VALUE"),
        ("=1", "KEY=VALUE"),
    ],
)
def test_a_bad_option_is_named_with_what_it_may_be(text, report):
    with pytest.raises(StrategyError) as caught:
        read_options(Many, split_options([text]))
    assert report in str(caught.value)


def test_a_strategy_without_options_says_so():
    with pytest.raises(StrategyError, match="has no options"):
        make_strategy("tsumogiri", {"lookahead": "text"})


def test_lookahead_is_an_option_of_the_paper_strategies():
    assert make_strategy("fast-riichi-d", {"lookahead": "text"}).lookahead == "text"
    with pytest.raises(StrategyError, match="one of appendix, text"):
        make_strategy("fast-riichi-d", {"lookahead": "both"})


def test_names_that_options_had_before_are_unknown():
    for old in ("ron", "claims", "swing", "going_round", "taste", "near_taste"):
        with pytest.raises(StrategyError, match=f"option '{old}': FoldRecognitionPlus has only"):
            make_strategy("fold-recognition-plus", {old: "1"})


def test_options_have_units():
    for name in built_in_names():
        for option in options_of(strategy_class(name)):
            assert option.unit, f"{name}: {option.name}"


# --- the list --------------------------------------------------------------------------------


def test_the_thesis_is_the_first_sentence():
    assert thesis_of(Many) == "Has an option of every kind."

    @dataclass
    class Silent(Strategy):
        number: int = 1

    assert thesis_of(Silent) == ""


def test_defaults_are_shown_as_they_may_be_given():
    shown = [str(option) for option in options_of(Many)]
    assert shown[2] == "yes=yes"
    assert shown[6] == "maybe=none"
    for option in options_of(Many)[:7]:
        read_options(Many, split_options([str(option)]))


def test_the_command_lists_names_and_theses(capsys):
    assert main(["strategies"]) == ExitCode.OK
    printed = capsys.readouterr().out
    for info in all_strategies():
        assert info.name in printed
        assert info.thesis.split()[0] in printed
    assert "block_points" not in printed
    assert "mjbot strategies NAME" in printed
    assert len(printed.splitlines()) < 4 * len(all_strategies())  # at 80 columns


def test_the_command_shows_the_options_of_those_named(capsys):
    assert main(["strategies", "fast-riichi-d", "fold-recognition-plus"]) == ExitCode.OK
    printed = capsys.readouterr().out
    assert "block_points=50 (points per meld or head)" in printed
    assert "calls=yes (pon and chi)" in printed
    assert "tsumogiri" not in printed


def test_the_command_shows_ones_own_strategy_and_fails_on_a_broken_one(folder, capsys):
    write_bot(folder / "shown_bot.py", thesis="Sits quite still.")
    assert main(["strategies", "shown_bot:MyBot"]) == ExitCode.OK
    assert "Sits quite still." in capsys.readouterr().out
    assert main(["strategies", "shown_bot:NoBot", "tsumogiri"]) == ExitCode.BAD_ARGUMENTS
    out, err = capsys.readouterr()
    assert err.startswith("mjbot strategies: ") and "NoBot" in err and err.count("\n") == 1
    assert out.startswith("tsumogiri")  # the others are shown all the same


NEEDY = """
from dataclasses import dataclass
from mjbot import Strategy


@dataclass
class Needs(Strategy):
    depth: int

    def decide(self, view):
        return view.default_action


class NoView(Strategy):
    def decide(self):
        return None
"""


def test_arguments_that_a_bot_does_not_take_are_blamed_on_its_file(folder):
    (folder / "needy.py").write_text(NEEDY)
    with pytest.raises(StrategyError, match=r"missing 1 .* 'depth' \(needy\.py, line 6\)"):
        make_strategy("needy.py:Needs")
    strategy = make_strategy("needy.py:NoView")
    with pytest.raises(TypeError) as called_by_us:
        strategy.explain(None)
    assert error_summary(called_by_us.value, strategy).endswith("(needy.py, line 14)")
    with pytest.raises(TypeError) as called_here:
        strategy.decide(None)
    assert "(test_registry.py, line " in error_summary(called_here.value, strategy)
