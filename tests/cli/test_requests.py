"""A request is what was parsed, and nothing of argparse is left in it."""

import argparse
import dataclasses
import importlib
from dataclasses import dataclass
from pathlib import Path

import pytest

from mjbot.cli.commands import COMMANDS, module_of
from mjbot.requests import argument, command_of, declare, group, option, request_of


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
    request = getattr(importlib.import_module(module_of(name)), "REQUEST", None)
    if request is None:
        assert name in ("serve", "check", "train", "review", "explain", "draw", "watch",
                        "experiment", "strategies", "setup-node")  # fmt: skip
    else:
        assert request.__dataclass_params__.frozen
        assert dataclasses.fields(request)


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
