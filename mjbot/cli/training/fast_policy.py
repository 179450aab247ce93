"""``mjbot train fast-policy`` and ``mjbot train fast-policy-play``."""

from typing import Final

from mjbot.cli.train import print_learned
from mjbot.learning.training.fast_policy.requests import FastSelfPlayRequest, ImitationRequest
from mjbot.runtime.requests import Subcommand


def _train_imitation(request: ImitationRequest) -> None:
    from mjbot.learning.training.fast_policy.imitation import train

    print_learned(train(request))


def _train_play(request: FastSelfPlayRequest) -> None:
    from mjbot.learning.training.fast_policy.self_play import train

    print_learned(train(request))


KINDS: Final[dict[str, Subcommand]] = {
    "fast-policy": Subcommand(
        "the fast policy's network, from columns",
        "Learn all five decisions of strong players with the small compiled network.",
        ImitationRequest,
        _train_imitation,
    ),
    "fast-policy-play": Subcommand(
        "the fast policy's network, refined by games against itself",
        "Refine the small network by policy gradient, with a critic that sees all hands.",
        FastSelfPlayRequest,
        _train_play,
    ),
}
