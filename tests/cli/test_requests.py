"""A request is what was parsed, and nothing of argparse is left in it."""

import argparse
import dataclasses
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from mjbot.cli.commands import COMMANDS
from mjbot.cli.main import request_class
from mjbot.runtime.requests import (
    Subcommand,
    argument,
    command_of,
    declare,
    group,
    option,
    request_of,
    subcommand,
)

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, kw_only=True)
class Part:
    """Options of several commands."""

    time_s: float = option(5.0, "time", type=float)
    urls: tuple[str, ...] = option((), "servers", action="append")


@dataclass(frozen=True, kw_only=True)
class Whole:
    """A command's request."""

    names: tuple[str, ...] = argument("names", nargs="*")
    loud: bool = option(False, "print more")
    end: str | None = option(None, "end of a channel", flag="--pair")
    part: Part = group(Part, "a part", time_s=20.0)


def parsed(*words: str) -> tuple[Whole, str]:
    parser = argparse.ArgumentParser()
    declare(parser, Whole)
    return request_of(Whole, parser.parse_args(words)), parser.format_help()


def test_what_is_not_named_has_the_defaults_of_the_class_and_its_group():
    request, help_ = parsed()
    assert request == Whole() == Whole(part=Part(time_s=20.0))
    assert "(default: 20)" in " ".join(help_.split())
    assert "a part:" in help_


def test_lists_become_tuples_and_repeated_options_begin_anew_each_time():
    for _ in range(2):
        request, _ = parsed("a", "b", "--urls", "x", "--urls", "y", "--pair", "host", "--loud")
        part = Part(time_s=20.0, urls=("x", "y"))
        assert request == Whole(names=("a", "b"), loud=True, end="host", part=part)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_requests_of_commands_cannot_be_changed(name):
    request = request_class(name)
    assert request.__dataclass_params__.frozen
    assert dataclasses.fields(request)


def test_argparse_goes_no_further_than_the_parser():
    files = [file for room in ("mjbot", "papers") for file in (ROOT / room).rglob("*.py")]
    users = {
        str(file.relative_to(ROOT))
        for file in files
        if re.search(r"\bNamespace\b", file.read_text("utf-8"))
    }
    assert users == {"mjbot/cli/main.py", "mjbot/runtime/requests.py"}


@dataclass(frozen=True, kw_only=True)
class Built:
    size: int = option(1, "size", type=int, flag="--side")
    file: Path | None = option(None, "file", type=Path)


@dataclass(frozen=True, kw_only=True)
class Outer:
    what: tuple[str, object] = subcommand(
        lambda: {
            "build": Subcommand("build", "Build.", Built, print),
            "all": Subcommand("all", "All.", Whole, print),
        },
        "WHAT",
    )


def test_a_subcommand_is_its_name_and_its_request():
    parser = argparse.ArgumentParser(prog="x")
    declare(parser, Outer)
    args = parser.parse_args(["build", "--side", "2"])
    assert request_of(Outer, args) == Outer(what=("build", Built(size=2)))
    assert args.program == "x build"
    assert request_of(Outer, parser.parse_args(["all", "a"])).what[1] == Whole(names=("a",))


def test_a_command_quotes_its_words_and_names_whole_paths_where_asked():
    request = Built(size=2, file=Path("a b") / "c d")
    assert command_of("x", request) == "x --side 2 --file 'c d'"
    assert command_of("x", request, whole_paths=True) == "x --side 2 --file 'a b/c d'"


@dataclass(frozen=True, kw_only=True)
class Two:
    part: Part = group(Part, "one")
    other: Part = group(Part, "two")
    more: tuple[str, ...] = option((), "words", action="extend", nargs="+")


def test_an_option_of_two_groups_is_one_and_set_in_both():
    parser = argparse.ArgumentParser()
    declare(parser, Two)
    request = request_of(Two, parser.parse_args(["--time-s", "3", "--more", "a", "--more", "b"]))
    assert request == Two(part=Part(time_s=3.0), other=Part(time_s=3.0), more=("a", "b"))


@dataclass(frozen=True, kw_only=True)
class Trained:
    records: tuple[Path, ...] = argument("records", nargs="+", type=Path)
    seed: int = option(0, "seed", type=int)
    shares: tuple[float, ...] = option((0.5, 0.5), "shares", type=float, nargs=2)
    check: Path | None = option(None, "check", type=Path)
    quick: bool = option(False, "quick")
    jobs: int = option(2, "processes", type=int, shown=False)


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["/a/b.mjson"], "mjbot train x b.mjson --seed 0 --shares 0.5 0.5"),
        (
            ["b", "c", "--quick", "--check", "d/e", "--jobs", "9", "--seed", "3"],
            "mjbot train x b c --seed 3 --shares 0.5 0.5 --check e --quick",
        ),
    ],
)
def test_a_command_is_made_of_a_request_and_makes_it_again(words: list[str], command: str) -> None:
    parser = argparse.ArgumentParser()
    declare(parser, Trained)
    request = request_of(Trained, parser.parse_args(words))
    assert command_of("mjbot train x", request) == command
    again = request_of(Trained, parser.parse_args(command.split()[3:]))
    assert command_of("mjbot train x", again) == command
