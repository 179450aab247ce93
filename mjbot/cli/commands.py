"""The commands: what each does, its examples and its page; what ``mjbot help`` prints.

Nothing of a command is imported here: ``mjbot help`` and start-up stay fast.
"""

from typing import Final, NamedTuple


class Command(NamedTuple):
    """A command, as the help shows it; ``page`` is its page of the documentation."""

    summary: str
    page: str
    examples: tuple[str, ...]


def _command(summary: str, page: str, *examples: str) -> Command:
    return Command(summary, page, examples)


GROUPS: Final[dict[str, dict[str, Command]]] = {
    "play": {
        "play": _command(
            "connect a bot, or yourself in the browser, to a server", "docs/howto/connect.md",
            "mjbot play mjsonp://127.0.0.1:11600/default --strategy fast-riichi-b",
            "mjbot play mjsonp://127.0.0.1:11600/default --strategy human",
        ),
        "match": _command(
            "play games between four players at a table of its own", "docs/strategies.md",
            "mjbot match fast-riichi-b fast-riichi-d strongest tsumogiri --games 4",
            "mjbot match human strongest strongest strongest --length tonpu",
        ),
        "duo": _command(
            "play games with two bots that share their hands", "docs/howto/pair.md",
            "mjbot duo", "mjbot duo --rivals fast-riichi-d fast-riichi-d --games 4 --watch",
        ),
        "strategies": _command(
            "list the strategies, or the options of some", "docs/strategies.md", "mjbot strategies",
            "mjbot strategies fast-riichi-d",
        ),
    },
    "measure": {
        "arena": _command(
            "compare strategies over thousands of games, with 95% intervals", "docs/arena.md",
            "mjbot arena fast-riichi-b fast-riichi-d --games 2000",
            "mjbot arena my_bot.py:MyBot tsumogiri --games 2 --jobs 1 --deadline-s 0",
        ),
        "ladder": _command(
            "measure all strategies against the same opponents: strength, cost of a decision",
            "docs/arena.md", "mjbot ladder --games 200",
            "mjbot ladder --lines my_bot.py:MyBot fast-riichi-d --report ladder.md",
        ),
        "check": _command(
            "check a bot or a server for protocol compliance", "docs/check.md",
            "mjbot check fast-riichi-d", "mjbot check 'external-lines:python mortal.py {seat}'",
        ),
    },
    "learn": {
        "train": _command(
            "learn weights from recorded games", "docs/learning.md",
            "mjbot train danger games.zip --games 0:4000 --validate 4000:",
            "mjbot train data games.zip --folder columns",
        ),
    },
    "look at games": {
        "watch": _command(
            "show a recorded or running game in the browser, or write it as one file",
            "docs/watch.md", "mjbot watch logs",
            "mjbot watch logs/east-four-winds.mjson --out game.html",
        ),
        "review": _command(
            "review every decision of a seat, or all games of a player: what it cost, and why",
            "docs/review.md", "mjbot review logs/hanchan-thirteen-kyoku.mjson --seat 0",
            "mjbot review logs --player majiang --out player.html",
        ),
        "explain": _command(
            "print how a strategy evaluates the positions of a recorded game", "docs/review.md",
            "mjbot explain logs/east-four-winds.mjson --at 15",
            "mjbot explain logs/east-four-winds.mjson --seat 0 --strategy fast-riichi-d",
        ),
        "draw": _command(
            "draw a position of a recorded game as SVG or PNG", "docs/watch.md",
            "mjbot draw logs/east-four-winds.mjson --at 200 --out board.svg",
            "mjbot draw logs/east-four-winds.mjson --seat 0 --at E2-0:5 --out board.svg",
        ),
        "score": _command(
            "score a winning hand: its yaku, its fu part by part, and who pays what",
            "docs/howto/score-a-hand.md",
            "mjbot score 123m406p789s55z67s --ron 5s --riichi --dora 4p",
            "mjbot score '99m45s(678p)(1111z)[2222m]' --tsumo 6s --seat S --honba 1",
        ),
    },
    "work on records": {
        "replay": _command(
            "check recorded games strictly against the rules", "docs/rules.md", "mjbot replay logs",
            "mjbot replay games.zip --keep-going",
        ),
        "convert": _command(
            "convert records between mjai lines, mjlog and tenhou.net/6, and from Mahjong Soul's",
            "docs/tenhou.md",
            "mjbot convert mjlogs.zip games.jsonl.gz", "mjbot convert logs out --to tenhou6",
        ),
        "stats": _command(
            "report figures of players over recorded games, by week, opponent, seat and more",
            "docs/howto/statistics.md", "mjbot stats games.zip --html stats.html",
            "mjbot stats logs --compare bot-1.2 bot-1.3 --by opponent",
        ),
        "detect": _command(
            "look for players that play as a pair, in many recorded games", "docs/detection.md",
            "mjbot detect games.zip", "mjbot detect games.zip --html pairs.html",
        ),
    },
    "operate": {
        "init": _command(
            "write a commented profile for run, or for serve", "docs/profiles.md",
            "mjbot init bot.toml", "mjbot init server.toml --serve",
        ),
        "run": _command(
            "run a bot for days by a profile: reconnect, pauses, hours, status",
            "docs/profiles.md", "mjbot run bot.toml --check", "mjbot run bot.toml --games 20",
        ),
        "serve": _command(
            "open a table for four mjai or Tenhou clients", "docs/operating.md",
            "mjbot serve", "mjbot serve --length tonpu --seed 7 --log-dir games",
        ),
        "chaos": _command(
            "start a fault-injection proxy in front of a server, reproducible by its seed",
            "docs/check.md", "mjbot chaos mjsonp://127.0.0.1:11600/default",
            "mjbot chaos mjsonp://127.0.0.1:11600/default --seed 4",
        ),
        "setup-node": _command(
            "install Node (if missing) and the external AI's packages", "docs/start/install.md",
            "mjbot setup-node", "mjbot setup-node --check",
        ),
        "doctor": _command(
            "report versions, system, cache and one timed kyoku, what is wrong, and the cure",
            "docs/howto/troubleshooting.md", "mjbot doctor", "mjbot doctor --json",
        ),
        "completion": _command(
            "print a shell script that completes commands, options and strategies",
            "docs/start/install.md", "mjbot completion bash",
            "mjbot completion zsh",
        ),
    },
}  # fmt: skip

COMMANDS: Final = {name: command for group in GROUPS.values() for name, command in group.items()}
"""By name; the command ``a-b`` lives in ``mjbot.cli.a_b`` (:func:`module_of`), which has
``run(request: Class) -> int``; the class is the declaration of its arguments."""

REMOVED: Final = {
    "experiment strength": "mjbot ladder",
    "experiment": "`python -m papers NAME` in a checkout (docs/papers.md)",
    **{
        f"train {name}": f"`python -m papers train-{moved}` in a checkout (docs/learning.md)"
        for name, moved in (
            ("hand", "hand"),
            ("fold", "fold"),
            ("greedy", "greedy"),
            ("rank --controls", "rank"),
            ("networks-paper", "networks"),
            ("reinforce", "reinforce"),
        )
    },
    "pack": "a bot.py that starts `mjbot play stdio-arrays: SEAT` (docs/howto/connect.md)",
}
"""Commands and options of earlier versions, with what takes their place; the longest first."""

ON_RECORDS: Final = ("replay", "explain", "review", "detect", "draw", "watch", "convert", "stats")
"""What takes recorded games and lives in ``mjbot.cli.records``."""

AT_ONCE: Final = ("ladder", "train", "explain", "replay", "review", "detect", "stats")
"""What has nothing to tidy up when it is interrupted."""


def module_of(command: str) -> str:
    """Return the name of a command's module."""
    room = "records." if command in ON_RECORDS else ""
    return f"mjbot.cli.{room}{command.replace('-', '_')}"


def overview() -> str:
    """Return the commands by what they are for, a line each."""
    width = max(map(len, COMMANDS))
    lines: list[str] = []
    for title, group in GROUPS.items():
        lines += ["", f"{title}:"]
        lines += [f"  {name:{width}}  {command.summary}" for name, command in group.items()]
    lines += ["", "mjbot help COMMAND shows a command's options and examples."]
    lines += ["Start with: mjbot duo (a game of two bots against two others), README.md"]
    return "\n".join(lines[1:])


def closing(command: Command) -> str:
    """Return how the help of a command ends."""
    examples = "\n".join(f"  {example}" for example in command.examples)
    word = "examples" if len(command.examples) > 1 else "example"
    return f"{word}:\n{examples}\n\ndocumentation: {command.page}"
