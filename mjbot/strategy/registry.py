"""Strategies by name: found, made with options from text, and listed.

A name is ``fast-riichi-b`` (the module ``strategies/fast_riichi_b.py``), ``my_bot:MyBot`` (the file
``my_bot.py`` in the current folder, or any module that can be imported), a class of a file as
``path/to/my_bot.py:MyBot``, or what an installed distribution calls a strategy of its own in the
entry points :data:`GROUP`.  No strategy is imported before it is requested.

A :class:`Spec` is how the command line names a player: ``NAME``, ``NAME,KEY=VALUE,...`` or
``external:COMMAND``.
"""

import difflib
import importlib
import importlib.util
import inspect
import pkgutil
import re
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import EntryPoint, entry_points
from os.path import isfile
from pathlib import Path
from types import ModuleType
from typing import Final

from mjbot.runtime.checked_arguments import shown, text, type_error, whole_number
from mjbot.strategy.faults import error_summary
from mjbot.strategy.options import Option, StrategyError, options_of, read_options, split_options
from mjbot.strategy.strategy import Strategy

BUILT_IN: Final = "mjbot.strategies"
GROUP: Final = "mjbot.strategies"
"""Of the entry points ``NAME = MODULE:CLASS`` of other people's distributions."""
UNTIL_0_3: Final = ("protocol", "strategies")
"""Packages that had these names at the top level, and are within ``mjbot`` now."""
MOVED: Final = {"supervised-paper": "papers.matsuda2021.supervised_paper:SupervisedPaper"}
"""Names of earlier versions -> what names the strategy in a checkout."""
MOST_NAMES: Final = 3
"""How many names an error message lists."""


@dataclass(frozen=True)
class StrategyInfo:
    """What the list shows of a strategy; ``problem`` is why it cannot be loaded, or empty.

    ``origin`` is its file or, with the version, the distribution that offers it.
    """

    name: str
    origin: str
    thesis: str
    options: tuple[Option, ...] = ()
    players: tuple[int, ...] = ()
    problem: str = ""


def make_strategy(name: str, options: Mapping[str, str] | None = None, seed: int = 0) -> Strategy:
    """Return a new instance of a strategy.  Raises :class:`StrategyError`.

    ``seed`` sets the field ``seed`` of strategies that have one, unless the options name it.
    """
    whole_number("seed", seed)
    if options is not None and not isinstance(options, Mapping):
        raise type_error("options", "a dictionary of texts", options)
    for key, value in (options or {}).items():
        text(f"options: {shown(key)}", value)
    cls = strategy_class(text("name", name))
    values = read_options(cls, options or {})
    if any(option.name == "seed" for option in options_of(cls)):
        values.setdefault("seed", seed)
    try:
        return cls(**values)
    except Exception as problem:
        raise StrategyError(
            f"strategy {name!r} cannot be made: {error_summary(problem, cls)}"
        ) from problem


def strategy_class(name: str) -> type[Strategy]:
    """Return the class of a strategy.  Raises :class:`StrategyError`."""
    place, colon, class_name = name.rpartition(":")
    if not colon:
        return _class_called(name)
    if not place or not class_name:
        raise StrategyError(f"strategy {name!r}: expected MODULE:CLASS or FILE.py:CLASS")
    return _class_in(_module(place), name, place, class_name)


def _class_in(module: ModuleType, name: str, place: str, class_name: str) -> type[Strategy]:
    cls = getattr(module, class_name, None)
    if cls is None:
        has = _some([cls.__name__ for cls in _classes(module)], ", ") or "none"
        raise StrategyError(f"strategy {name!r}: no class {class_name} in {place}, only: {has}")
    if not (inspect.isclass(cls) and issubclass(cls, Strategy)):
        raise StrategyError(f"strategy {name!r}: {class_name} is not a mjbot.Strategy")
    return _deciding(name, cls, _classes(module))


def strategy_info(name: str) -> StrategyInfo:
    """Return a strategy's description, also when it cannot be loaded."""
    try:
        cls = strategy_class(name)
        origin, thesis = _origin(name, cls), thesis_of(cls)
        return StrategyInfo(name, origin, thesis, options_of(cls), cls.players)
    except StrategyError as problem:
        return StrategyInfo(name, "", "", problem=str(problem))


def _origin(name: str, cls: type[Strategy]) -> str:
    entry = None if ":" in name else _entry_point(name)
    return _distribution(entry) if entry else inspect.getfile(cls)


def all_strategies() -> tuple[StrategyInfo, ...]:
    """Return the strategies in the folder ``strategies`` and then those of distributions."""
    return tuple(strategy_info(name) for name in (*built_in_names(), *_offered_names()))


def built_in_names() -> tuple[str, ...]:
    """Return the names of our strategies, sorted."""
    return tuple(sorted(_built_in()))


def _built_in() -> dict[str, str]:
    """Return the modules of our strategies by name."""
    package = importlib.import_module(BUILT_IN)
    modules = [each.name for each in pkgutil.iter_modules(package.__path__) if not each.ispkg]
    return {_dashed(name): f"{BUILT_IN}.{name}" for name in modules}


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def thesis_of(cls: type[Strategy]) -> str:
    """Return the first sentence of the class's own docstring, or nothing."""
    text = vars(cls).get("__doc__") or ""
    if text.startswith(f"{cls.__name__}("):  # what @dataclass writes if there is none
        return ""
    paragraph = " ".join(inspect.cleandoc(text).split("\n\n")[0].split())
    return re.split(r"(?<=[.!?])\s", paragraph)[0]


# --- modules ---------------------------------------------------------------------------------

_ours: Final[dict[str, type[Strategy]]] = {}
"""Classes of ours asked for before: looking into the folder takes longer than making a player."""


def _class_called(name: str) -> type[Strategy]:
    """Return the class of a bare name: ours, or one that a distribution offers."""
    if name in _ours:
        return _ours[name]
    if place := _built_in().get(_dashed(name)):
        module = _imported(place)
        return _ours.setdefault(name, _deciding(name, _only_class(module)))
    entry = _entry_point(name)
    if entry is None:
        raise _unknown(name)
    try:
        return _class_in(_imported(entry.module), entry.value, entry.module, entry.attr)
    except StrategyError as problem:
        problem_text = f"{problem} ({_distribution(entry)} offers it as {name!r})"
        raise StrategyError(problem_text) from problem


def _entry_point(name: str) -> EntryPoint | None:
    """Return what a distribution offers by that name, unless the name is that of one of ours."""
    if _dashed(name) in built_in_names():
        return None
    found = [entry for entry in entry_points(group=GROUP) if _dashed(entry.name) == _dashed(name)]
    if len(found) > 1:
        them = " and ".join(f"{_distribution(entry)} ({entry.value})" for entry in found)
        problem_text = f"{them} offer one of that name: use MODULE:CLASS"
        raise StrategyError(f"strategy {name!r}: {problem_text}")
    return found[0] if found else None


def _offered_names() -> list[str]:
    """Return what distributions offer under names that are not ours."""
    offered = {_dashed(entry.name) for entry in entry_points(group=GROUP)}
    return sorted(offered.difference(built_in_names()))


def _distribution(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value


def _unknown(name: str) -> StrategyError:
    if moved := MOVED.get(_dashed(name)):
        return StrategyError(f"unknown strategy {name!r}; in a checkout it is {moved}")
    if isfile(f"{name.removesuffix('.py')}.py"):
        return StrategyError(f"strategy {name!r}: name the class in that file too, {name}:CLASS")
    if name.endswith(".py") or "/" in name:
        return StrategyError(f"strategy {name!r}: no such file here; write FILE.py:CLASS")
    near = difflib.get_close_matches(name, [*built_in_names(), *_offered_names()])
    others = f"the nearest: {', '.join(near)}" if near else "mjbot strategies lists them"
    return StrategyError(f"unknown strategy {name!r}; {others}")


def _module(place: str) -> ModuleType:
    file = Path(place if place.endswith(".py") else f"{place}.py")
    if isfile(file):  # False, too, of a name that no file can have
        return _loaded(file.resolve())
    if place.endswith(".py") or "/" in place:
        raise StrategyError(f"strategy {place!r}: no such file {file}")
    _add_to_path(Path.cwd())
    return _imported(place)


def _imported(module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except (Exception, SystemExit) as problem:
        if isinstance(problem, ModuleNotFoundError) and _is_within(module, problem.name):
            hint = f"no file {module}.py here and no module of that name{_new_name(problem)}"
            raise StrategyError(f"strategy {module!r}: {hint}") from problem
        raise StrategyError(
            f"strategy {module!r}: {error_summary(problem)}{_new_name(problem)}"
        ) from problem


def _new_name(problem: BaseException) -> str:
    """Return today's name of a module of ours that a bot imports by its old one, or nothing."""
    name = (problem.name or "") if isinstance(problem, ModuleNotFoundError) else ""
    if name.partition(".")[0] not in UNTIL_0_3 or not _is_ours(f"mjbot.{name}"):
        return ""
    return f"; since mjbot 0.4 its package is mjbot.{name}"


def _is_ours(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # of a package above it
        return False


def _is_within(module: str, parent: str | None) -> bool:
    return parent is not None and f"{module}.".startswith(f"{parent}.")


def _loaded(file: Path) -> ModuleType:
    """Load a file once, as the module of its name unless that is taken."""
    module = sys.modules.get(file.stem)
    if module and getattr(module, "__file__", None) == str(file):
        return module
    name = file.stem if module is None else f"{file.stem}@{file.parent}"
    if name in sys.modules:
        return sys.modules[name]
    _add_to_path(file.parent)
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise StrategyError(f"strategy {file}: not a Python file")
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as problem:
        del sys.modules[name]
        text = f"strategy {file.name!r}: {error_summary(problem)}{_new_name(problem)}"
        raise StrategyError(text) from problem
    return module


def _add_to_path(folder: Path) -> None:
    """Let a strategy's file import its neighbours, behind everything installed."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


# --- classes ---------------------------------------------------------------------------------


def _classes(module: ModuleType) -> list[type[Strategy]]:
    return [
        cls
        for cls in vars(module).values()
        if inspect.isclass(cls) and issubclass(cls, Strategy) and cls.__module__ == module.__name__
    ]


def _deciding(
    name: str, cls: type[Strategy], others: Iterable[type[Strategy]] = ()
) -> type[Strategy]:
    """Return the class; refuse a base, which would play nothing but default actions."""
    if not _are_players(cls.players):
        stated = f"{cls.__name__}.players is {cls.players!r}"
        raise StrategyError(f"strategy {name!r}: {stated}; expected (3,), (4,) or (3, 4)")
    if cls.decide is not Strategy.decide:
        return cls
    able = [other.__name__ for other in others if other.decide is not Strategy.decide]
    meant = _some(able, " or ")
    hint = f"; did you mean {meant}?" if meant else ""
    raise StrategyError(f"strategy {name!r}: {cls.__name__} has no decide of its own{hint}")


def _are_players(stated: object) -> bool:
    return isinstance(stated, Collection) and bool(stated) and all(n in (3, 4) for n in stated)


def _only_class(module: ModuleType) -> type[Strategy]:
    classes = _classes(module)
    if len(classes) != 1:
        found = _some([cls.__name__ for cls in classes], ", ") or "none"
        raise StrategyError(f"{module.__name__}: expected one strategy class, found: {found}")
    return classes[0]


def require_players(strategy: type[Strategy], players: int) -> None:
    """Raise :class:`StrategyError` if a strategy cannot play at a table of so many players."""
    if players in strategy.players:
        return
    able = [name for name in built_in_names() if players in _players_of(name)]
    package, _, module = strategy.__module__.rpartition(".")
    name, stated = _dashed(module), ""
    if package != BUILT_IN:
        name, stated = strategy.__name__, f" (its class states players = {strategy.players})"
    problem_text = f"plays no table of {players} players{stated}; of ours these do"
    raise StrategyError(f"strategy {name!r} {problem_text}: {', '.join(able)}")


def _players_of(name: str) -> tuple[int, ...]:
    try:
        return strategy_class(name).players
    except StrategyError:
        return ()


def _some(names: Sequence[str], between: str) -> str:
    """Return the first few names as a text.

    >>> _some(["A", "B", "C", "D", "E"], " or ")
    'A or B or C or 2 others'
    """
    first = [*names[:MOST_NAMES]]
    if more := len(names) - len(first):
        first.append(f"{more} others")
    return between.join(first)


def made_of(spec: "Spec") -> list[type[Strategy]]:
    """Return the class of a strategy of ours or of the user's, and of all of ours it is made of.

    These are its options that name strategies (``base=NAME``) and the ``built_on`` of the classes.
    Raises :class:`StrategyError`.
    """
    found: dict[type[Strategy], None] = {}
    waiting = [spec.name, *spec.options.values()]
    known = built_in_names()
    for place, name in enumerate(waiting):  # which grows
        if place == 0 or _dashed(name) in known:
            cls = strategy_class(name)
            if cls not in found:
                found[cls] = None
                waiting += cls.built_on
    return [*found]


EXTERNAL: Final = "external:"
PIPED: Final = ("external-lines:", "external-arrays:")
EXTERNALS: Final = (EXTERNAL, *PIPED)
"""A foreign program: one that connects to a table, and those that use standard input and output."""


@dataclass(frozen=True)
class Spec:
    """A player as the user names it; of an external one ``name`` is all of the text.

    >>> Spec.read("fast-riichi-a,lookahead=text")
    Spec(name='fast-riichi-a', options={'lookahead': 'text'})
    >>> Spec.read("my_bot.py:MyBot,luck=3").label
    'MyBot,luck=3'
    >>> str(Spec.read("fast-riichi-a,block-points=40"))
    'fast-riichi-a,block_points=40'
    """

    name: str
    options: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return the text that names it."""
        return ",".join([self.name, *[f"{key}={value}" for key, value in self.options.items()]])

    def __hash__(self) -> int:
        return hash(str(self))

    @classmethod
    def read(cls, text: str) -> "Spec":
        """Split a text.

        Raises :class:`~mjbot.strategy.options.StrategyError` if an option is no ``KEY=VALUE``.
        """
        if text.startswith(EXTERNALS):
            return cls(text)
        name, *options = text.split(",")
        return cls(name, split_options(options))

    @property
    def is_external(self) -> bool:
        """Whether it is a foreign program, which plays over a line."""
        return self.name.startswith(EXTERNALS)

    @property
    def is_outside(self) -> bool:
        """Whether it is a class of another file, module or distribution than ours."""
        if self.is_external:
            return False
        return ":" in self.name or _entry_point(self.name) is not None

    @property
    def label(self) -> str:
        """What tables call it: without the file of a class, or ``external:``."""
        if self.is_external:
            return self.name.partition(":")[2]
        return str(replace(self, name=self.name.rpartition(":")[2]))

    def require_players(self, players: int) -> None:
        """Raise ``StrategyError`` if it, or one of ours that an option names, plays no such table.

        >>> Spec.read("combo-partner,base=supervised").require_players(3)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        mjbot.strategy.options.StrategyError: strategy 'supervised' plays no table of 3 players...
        """
        known = built_in_names()
        named = [value for value in self.options.values() if _dashed(value) in known]
        for name in (self.name, *named):
            require_players(strategy_class(name), players)

    def check(self) -> None:
        """Raise ``StrategyError`` if there is no such strategy, or it has no such options."""
        read_options(strategy_class(self.name), self.options)

    def make(self, seed: int = 0) -> Strategy:
        """Return a player of the strategy for one game.  Raises ``StrategyError``."""
        return make_strategy(self.name, self.options, seed)
