"""Call all that is public with wrong arguments; a program, so that a crash ends a child process.

``python -m tests.wrong_arguments [SEED]`` prints each call before it is made and ends with ``done``
and their number.  A call must raise ``TypeError`` or ``ValueError`` with the name of a wrong
argument in its text; what returns is printed as a fault.
"""

import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np

import mjbot
import mjbot.learning.env as environments
from mjbot.game.records.positions import recorded_view
from mjbot.protocol.rules import RANKED

RECORD: Final = Path(mjbot.__file__).parents[1] / "logs" / "east-four-winds.mjson"
PAIRS: Final = 3
"""How many combinations of wrong values are drawn for each pair of arguments."""

NOTHING: Final = object()
NO_NUMBERS: Final = (
    None, 1.5, float("nan"), "1", b"1", [], {}, NOTHING, np.zeros(3, np.int8), True,
)  # fmt: skip
BIG: Final = (2**31, 2**63, -(2**63) - 1, 10**30, 10**5000)


def numbers(*wrong: int) -> tuple[object, ...]:
    """Return what is no number for an argument: no number at all, the wrong ones, huge ones."""
    return (*NO_NUMBERS, *wrong, np.int64(wrong[0]), *[big for big in BIG if abs(big) > max(wrong)])


def counts(of: int = 34) -> np.ndarray:
    return np.zeros(of, np.int8)


def no_counts() -> tuple[object, ...]:
    """Return what is no array of counts by kind at all."""
    negative, wide = counts(), np.zeros(34, np.int64)
    negative[5], wide[5] = -1, 2**40
    return (
        None, 5, "123m", b"1", NOTHING, {}, [1, [2]], counts(10), counts(35), counts(0),
        np.zeros((34, 34), np.int8), np.zeros(34), np.full(34, np.nan), np.zeros(34, "U1"),
        np.full(34, None), np.full(34, 10**30), np.zeros(34, bool), np.full(34, 127, np.int8),
        np.full(34, 5, np.int8), negative, wide, np.int8(3),
    )  # fmt: skip


SEATS: Final = numbers(-1, 4, 9, 99, 10**6)
TILES: Final = numbers(-1, 37, 99)
MASKS: Final = numbers(-1, 2**34)
MELDS: Final = numbers(-1, 5, 127)
HANDS: Final = (*no_counts(), counts(), np.full(34, 1, np.int8), np.full(34, 4, np.int8)[::-1])
NO_TEXTS: Final = (None, 5, 1.5, b"x", NOTHING, ["x"], ("x",), {}, np.zeros(2))
TEXTS: Final = (*NO_TEXTS, "x", "\0", "1" * 300, "\ud800")
MANY: Final = "1" * 256 + "m"
TILE_TEXTS: Final = (*TEXTS, MANY, "11111m", "8z", "\uff11m")
FLAGS: Final = (None, 5, 1.5, "no", NOTHING, [], np.zeros(2))
SEEDS: Final = numbers(-1, 2**63)
ANY_SEEDS: Final = (*NO_NUMBERS, *BIG[1:])
OBJECTS: Final = (None, 5, 1.5, "x", NOTHING, [], {}, np.zeros(2), int)
PATHS: Final = (None, 5, 1.5, NOTHING, [], "", "\0", b"x", np.zeros(2))


@dataclass
class Call:
    """A call with right arguments and, for each argument, values that are wrong."""

    name: str
    function: Callable[..., object]
    right: dict[str, Any]
    wrong: dict[str, tuple[object, ...]]
    prepare: Callable[[], object] = field(default=lambda: None)


def on_hands() -> Iterator[Call]:
    hand = mjbot.hand_counts("123m456p789s1122z")
    arguments = {"hand": hand, "n_melds": 0}
    wrong = {"hand": HANDS, "n_melds": MELDS}
    for name in ("shanten", "acceptance", "shanten_and_acceptance", "waits"):
        yield Call(name, getattr(mjbot, name), arguments, wrong)
    right: dict[str, Any] = {"mask": 5, "counts": counts()}
    yield Call("count_tiles", mjbot.count_tiles, right, {"mask": MASKS, "counts": no_counts()})
    yield Call("kinds_of", mjbot.kinds_of, {"mask": 5}, {"mask": MASKS})
    yield Call("hand_counts", mjbot.hand_counts, {"text": "123m"}, {"text": TILE_TEXTS})
    no_tiles = (*TEXTS, "8z", "\uff11m")
    yield Call("parse_tiles", mjbot.parse_tiles, {"text": "123m"}, {"text": no_tiles})
    yield Call("tile_kind", mjbot.tile_kind, {"tile": 36}, {"tile": TILES})
    yield Call("tile_name", mjbot.tile_name, {"tile": 36}, {"tile": numbers(-1, 38)})
    yield Call("compiled", mjbot.compiled, {"function": counts}, {"function": OBJECTS})


def on_records() -> Iterator[Call]:
    right: dict[str, Any] = {"path": RECORD, "at": 15, "seat": 0}
    ats = (None, 1.5, "x", "", b"1", NOTHING, [], -1, 0, 10**30, "E9-0:1", "\uff11", np.zeros(2))
    wrong = {"path": PATHS, "at": ats, "seat": SEATS}
    yield Call("recorded_view", mjbot.recorded_view, right, wrong)
    yield Call("recorded_decisions", mjbot.recorded_decisions, {"path": RECORD}, {"path": PATHS})
    events = [json.loads(line) for line in RECORD.read_bytes().splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        right = {"path": f"{folder}/game.mjson", "events": events}
        games = (
            None,
            5,
            "x",
            b"x",
            {},
            [],
            [5],
            [None],
            [{}],
            [{"type": "x"}],
            [{"x": NOTHING}],
            [{"type": float("nan")}],
            [{5: 5}],
            events[2:],
            [*events[:9], *events[12:]],
        )
        paths = (*PATHS, "x.txt", f"{folder}/x.docx")  # fmt: skip
        yield Call("write_record", mjbot.write_record, right, {"path": paths, "events": games})
    view = recorded_view(RECORD, 15, 0)
    names = (5, "abc", [1, 2, 3, 4], ["a"], NOTHING, [None] * 4)
    wrong = {"view": OBJECTS, "names": names, "index": FLAGS}
    yield Call(
        "view_svg", mjbot.view_svg, {"view": view, "names": list("abcd"), "index": True}, wrong
    )


def on_wins() -> Iterator[Call]:
    win = {"hand": "234m234p234567s8s", "ron": "8s", "honba": 1, "riichi": True, "river": "1m"}
    makers: dict[str, tuple[object, ...]] = {
        name: NO_TEXTS
        for name in ("hand", "ron", "tsumo", "seat", "round", "dora", "ura", "liable")
    }
    makers |= {name: ANY_SEEDS for name in ("honba", "sticks", "kita")}
    makers |= {name: FLAGS for name in ("riichi", "ippatsu", "haitei", "chankan", "first_turn")}
    yield Call("WinningHand", mjbot.WinningHand, win, makers)
    right = {"win": mjbot.WinningHand(**win), "rules": RANKED}
    yield Call("score_hand", mjbot.score_hand, right, {"win": OBJECTS, "rules": OBJECTS})
    values: dict[str, tuple[object, ...]] = {
        "honba": (-1, 10**6), "sticks": (-1, 10**6), "kita": (-1, 5), "seat": ("X", "EE"),
        "river": (MANY, "x"), "dora": ("x", "8z"), "hand": (MANY, "x"),
    }  # fmt: skip
    yield Call(
        "score_hand of a hand that is none",
        lambda **win: mjbot.score_hand(mjbot.WinningHand(**win)),
        win | {"dora": "1m"},
        values,
    )


def on_strategies() -> Iterator[Call]:
    right: dict[str, Any] = {"name": "tsumogiri", "options": {}, "seed": 1}
    options = (5, "x", ["x"], NOTHING, {"riichi": True}, {5: "x"}, {"x": "y"}, {None: None})
    wrong = {"name": TEXTS, "options": options, "seed": ANY_SEEDS}
    yield Call("make_strategy", mjbot.make_strategy, right, wrong)


def on_views() -> Iterator[Call]:
    view = recorded_view(RECORD, 15, 0)
    yield Call(
        "View", mjbot.View, {"state": view.state, "seat": 0}, {"state": OBJECTS, "seat": SEATS}
    )
    right: dict[str, Any] = {"source": 1, "tile": 5, "tsumogiri": False}
    wrong = {"source": SEATS, "tile": TILES, "tsumogiri": FLAGS}
    yield Call("View.after_discard", view.after_discard, right, wrong)
    for name in (
        "melds",
        "kita",
        "is_open",
        "river",
        "river_flags",
        "riichi",
        "genbutsu",
        "seat_wind",
    ):
        yield Call(f"View.{name}", getattr(view, name), {"seat": 3}, {"seat": SEATS})


def on_batches() -> Iterator[Call]:
    seeds = (
        *SEEDS,
        np.arange(3),
        np.array([-1, 0]),
        np.array([0.5, 1]),
        np.array([2**63, 1], "u8"),
    )
    rewards = (
        5,
        "points",
        None,
        NOTHING,
        [],
        lambda standings: None,
        lambda standings: np.full((1, 4), np.nan),
    )
    right: dict[str, Any] = {
        "n_tables": 2, "seed": 1, "length": "tonpu", "reward": "score", "players": None,
        "n_seats": 4, "pause": False, "one_game": False,
    }  # fmt: skip
    players = (
        5,
        "x",
        [0, 1],
        [0, 1, 2, -3],
        [0, 1, 2, 128],
        [0.5] * 4,
        [None] * 4,
        [[0] * 4],
        NOTHING,
    )
    wrong: dict[str, tuple[object, ...]] = {
        "n_tables": numbers(0, -1), "seed": seeds, "length": (*TEXTS, "east"), "reward": rewards,
        "players": players, "n_seats": numbers(2, 5), "pause": FLAGS, "one_game": FLAGS,
    }  # fmt: skip
    yield Call("BatchEnv", environments.BatchEnv, right, wrong)
    batch = environments.BatchEnv(2, 1, "tonpu")
    n = len(batch.reset().tables)
    yield Call(
        "BatchEnv.reset",
        batch.reset,
        {"seed": 1},
        {"seed": tuple(x for x in seeds if x is not None)},
    )
    actions = (None, 5, "x", NOTHING, [], [0], [0.5] * n, [None] * n, [True] * n, [-1] * n,
               [999] * n, [10**30] * n, np.full(n, 2**63, np.uint64),
               np.zeros((n, 1), int))  # fmt: skip
    legal = batch.rows.masks.argmax(1)
    yield Call("BatchEnv.step", batch.step, {"actions": legal}, {"actions": actions}, batch.reset)
    wrong = {"row": numbers(-1, n, 99), "action": numbers(-1, 46, 10**6)}
    yield Call("BatchEnv.check", batch.check, {"row": 0, "action": int(legal[0])}, wrong)
    planes, scalars = (
        np.empty(shape, np.float32)
        for shape in ((n, 34, environments.N_PLANES), (n, environments.N_SCALARS))
    )
    wrong = {"planes": (*arrays_beside(planes), 5, "x", [], NOTHING),
             "scalars": (*arrays_beside(scalars), 5, "x", [], NOTHING)}  # fmt: skip
    yield Call("BatchEnv.observe", batch.observe, {"planes": planes, "scalars": scalars}, wrong)
    rows = (
        5,
        "x",
        NOTHING,
        [n],
        [-1],
        [10**6],
        [0.5],
        [[0]],
        np.array([2**63], np.uint64),
        [10**30],
    )
    yield Call(
        "BatchEnv.fast_policy_actions", batch.fast_policy_actions, {"rows": [0]}, {"rows": rows}
    )
    wrong = {"table": numbers(-1, 2, 10**6), "seat": SEATS}
    yield Call("BatchEnv.view", batch.view, {"table": 0, "seat": 0}, wrong)
    policy = environments.StrategyPolicy("tsumogiri")
    yield Call(
        "StrategyPolicy()", policy, {"batch": batch, "rows": [0]}, {"batch": OBJECTS, "rows": rows}
    )


def arrays_beside(right: np.ndarray) -> Iterator[np.ndarray]:
    """Yield arrays that compiled code must not fill in place of a right one."""
    yield right[:-1]
    yield np.zeros(right.shape, np.float64)
    yield right[0]
    yield np.empty((*right.shape[:-1], right.shape[-1] - 1), right.dtype)
    yield np.empty((*right.shape[:-1], 2 * right.shape[-1]), right.dtype)[..., ::2]
    locked = right.copy()
    locked.flags.writeable = False
    yield locked


def on_environments() -> Iterator[Call]:
    for name in ("env", "raw_env"):
        right: dict[str, Any] = {"length": "tonpu", "reward": "score", "n_seats": 3}
        wrong: dict[str, tuple[object, ...]] = {
            "length": (*TEXTS, "east"), "reward": (5, "points", None, []),
            "n_seats": numbers(2, 5, 0),
        }  # fmt: skip
        yield Call(name, getattr(environments, name), right, wrong)
    game = environments.raw_env("tonpu")
    game.reset(seed=1)
    seeds = tuple(seed for seed in SEEDS if seed is not None)
    right = {"seed": 1, "options": {}}
    yield Call("env.reset", game.reset, right, {"seed": seeds, "options": (5, "x", [], NOTHING)})
    legal = int(game.last()[4]["action_mask"].argmax())
    actions = numbers(-1, 46, 10**6)
    yield Call(
        "env.step", game.step, {"action": legal}, {"action": actions}, lambda: game.reset(seed=1)
    )
    for name in ("observe", "observation_space", "action_space"):
        yield Call(
            f"env.{name}",
            getattr(game, name),
            {"agent": "player_0"},
            {"agent": (*TEXTS, "player_4")},
        )
    view = environments.BatchEnv(1, 1)
    row = view.reset()
    seen = view.view(0, int(row.seats[0]))
    wrong = {"view": OBJECTS, "encoder": OBJECTS[1:]}
    yield Call("observe", environments.observe, {"view": seen, "encoder": None}, wrong)
    none = (mjbot.Action(999, "pass"), mjbot.Action(-1, "pass"))
    right = {"action": seen.legal[0]}
    yield Call("action_number", environments.action_number, right, {"action": (*OBJECTS, *none)})
    yield Call("random_source", environments.random_source, {"seed": 1}, {"seed": SEEDS})
    masks = np.ones((2, 46), bool)
    right = {
        "masks": masks,
        "random": environments.random_source(0),
        "actions": np.empty(2, np.int64),
    }
    wrong = {
        "masks": (*OBJECTS, np.zeros((2, 46), bool), masks.astype(np.int8), masks[:, :5], masks[0]),
        "random": (*OBJECTS, np.zeros(0, np.uint64), np.zeros(1, np.int64), np.uint64(1)),
        "actions": (*OBJECTS, *arrays_beside(np.empty((2, 1), np.int64)), np.empty(1, np.int64)),
    }
    yield Call("random_actions", environments.random_actions, right, wrong)
    right = {"strategy": "tsumogiri", "seed": 1, "names": ("a", "b", "c", "d")}
    wrong = {
        "strategy": TEXTS,
        "seed": ANY_SEEDS,
        "names": (None, 5, "abcd", ["a"], [1] * 4, NOTHING),
    }
    yield Call("StrategyPolicy", environments.StrategyPolicy, right, wrong)
    yield from on_policies(seen)


def on_policies(view: mjbot.View) -> Iterator[Call]:
    class Policy(environments.PolicyStrategy):
        def logits(self, seen: environments.Observation) -> Any:
            return self.wrong

    def decide(logits: object) -> mjbot.Action:
        policy = Policy()
        vars(policy)["wrong"] = logits
        action = policy.decide(view)
        if action not in view.legal:
            raise AssertionError(action)
        return action

    right = {"logits": np.full(46, -np.inf)}
    wrong = (
        None,
        5,
        "x",
        [],
        NOTHING,
        np.zeros(45),
        np.zeros((2, 46)),
        np.full(46, np.nan),
        np.full(46, "x"),
    )
    yield Call("PolicyStrategy.decide", decide, right, {"logits": wrong})


GROUPS: Final = (
    on_hands, on_records, on_wins, on_strategies, on_views, on_batches, on_environments,
)  # fmt: skip

DATA: Final = {
    "Action", "DataTable", "DecisionRows", "Explanation", "FuPart", "HandScore", "Meld",
    "Observation", "Rated", "Strength", "Term",
}  # fmt: skip
"""Records that hold what they are given: what reads them checks it."""


def uncovered() -> set[str]:
    """Return what is public, can be called, and is in no call."""
    covered = {re.split(r"\W", call.name)[0] for group in GROUPS for call in group()}
    public = {}
    for module in (mjbot, environments):
        public |= {name: getattr(module, name) for name in module.__all__}
    bases = (Exception, int, mjbot.Strategy)
    called = {
        name
        for name, value in public.items()
        if callable(value) and not (isinstance(value, type) and issubclass(value, bases))
    }
    return called - covered - DATA


def cases(call: Call, random: Random) -> Iterator[dict[str, object]]:
    """Yield each wrong value alone, then some of two arguments at once."""
    for name, values in call.wrong.items():
        for value in values:
            yield {name: value}
    for one, other in product(call.wrong, repeat=2):
        if one < other:
            for _ in range(PAIRS):
                yield {name: random.choice(call.wrong[name]) for name in (one, other)}


def tried(call: Call, wrong: dict[str, object]) -> str:
    """Make a call; return what is wrong with how it ends, or nothing."""
    try:
        call.function(**(call.right | wrong))
    except (TypeError, ValueError) as error:
        text = str(error)
        if "\n" in text or len(text) > 1000:
            return f"raises more than a line: {text[:300]!r}"
        named = [re.search(rf"\b{name.rstrip('s')}", text) for name in wrong]
        named += [_quoted(value) in text for value in wrong.values()]
        return "" if any(named) else f"names none of its arguments: {text!r}"
    except Exception as error:
        return f"raises {error!r:.200}"
    return "returns"


def _quoted(value: object) -> str:
    """Return a text as a message shows it, which names the argument."""
    if isinstance(value, str) and len(value) > 1:
        return value[:20]
    return repr(value) if isinstance(value, str) else "no text"


def main() -> None:
    random, n = Random(int(sys.argv[1]) if sys.argv[1:] else 0), 0
    for call in (call for group in GROUPS for call in group()):
        print(f"{call.name} with right arguments", flush=True)
        call.prepare()
        call.function(**call.right)
        for wrong in cases(call, random):
            shown = ", ".join(f"{name}={_shown(value)}" for name, value in wrong.items())
            print(f"{call.name}({shown})", flush=True)
            call.prepare()
            if fault := tried(call, wrong):
                print(f"FAULT: {call.name}({shown}) {fault}", flush=True)
            n += 1
    print(f"uncovered: {sorted(uncovered())}")
    print(f"done: {n} calls")


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:
        text = "a huge number"
    return " ".join(text.encode("unicode_escape").decode().split())[:100]


if __name__ == "__main__":
    main()
