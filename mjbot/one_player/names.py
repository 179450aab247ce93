"""Players by name, and a digest of all that their games depend on."""

import hashlib
from typing import Final

from mjbot.arena.dependencies import code_digest
from mjbot.compiled import source_digest
from mjbot.learning.hand_evaluator import weights_name
from mjbot.learning.hand_features import FEATURE_SETS, FeatureSet
from mjbot.learning.weights import WeightsError, load_manifest
from mjbot.one_player.players import GreedyPlayer, Player, RandomPlayer
from mjbot.one_player.search import SearchPlayer
from mjbot.one_player.seated import EvaluatorPlayer, SeatedStrategy
from mjbot.one_player.uct import UctPlayer
from mjbot.registry import strategy_class
from mjbot.strategy_options import StrategyError
from mjbot.strategy_spec import Spec

STRATEGY: Final = "strategy"
EVALUATOR: Final = "evaluator"
MOST_PLAYOUTS: Final = 100_000
KNOWN: Final = "random, greedy, search, uct:PLAYOUTS, evaluator:FEATURES, strategy:NAME[,KEY=VALUE]"


class PlayerError(ValueError):
    """There is no such player; the text is one line."""


def make_player(name: str) -> Player:
    """Return a player.  Raises :class:`PlayerError`.

    >>> type(make_player("greedy")).__name__
    'GreedyPlayer'
    """
    kind, _, rest = name.partition(":")
    try:
        match kind:
            case "random":
                return RandomPlayer()
            case "greedy":
                return GreedyPlayer()
            case "search":
                return SearchPlayer()
            case "uct":
                return UctPlayer(_playouts(rest))
            case "evaluator":
                return EvaluatorPlayer(_features(rest))
            case "strategy":
                return SeatedStrategy(rest)
            case _:
                raise PlayerError(f"player {name!r}: expected {KNOWN}")
    except (StrategyError, WeightsError) as error:
        raise PlayerError(str(error)) from None


def digest_of(name: str) -> str:
    """Return a digest of the player's source, its weights and the rules.

    Raises :class:`PlayerError`.
    """
    digest = hashlib.sha256(source_digest(type(make_player(name)).__module__).encode())
    kind, _, rest = name.partition(":")
    if kind == STRATEGY:
        spec = Spec.read(rest)
        code = code_digest([rest]) if spec.is_outside else _source_of(spec)
        digest.update(code.encode())
    if kind == EVALUATOR:
        digest.update(load_manifest(weights_name(_features(rest))).digest.encode())
    return digest.hexdigest()[:12]


def _source_of(spec: Spec) -> str:
    return source_digest(strategy_class(spec.name).__module__)


def _features(text: str) -> FeatureSet:
    for features in FEATURE_SETS:
        if features == text:
            return features
    raise PlayerError(f"player evaluator:{text}: expected one of {', '.join(FEATURE_SETS)}")


def _playouts(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MOST_PLAYOUTS:
        raise PlayerError(f"player uct:{text}: expected 1 to {MOST_PLAYOUTS} playouts")
    return int(text)
