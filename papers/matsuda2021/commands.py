"""``mjbot train networks-paper`` and ``mjbot train reinforce``, in a checkout."""

from typing import Final

from mjbot.cli.train import print_learned, print_scores
from mjbot.runtime.requests import Subcommand
from papers.matsuda2021.requests import PaperRequest, ReinforceRequest


def _train_networks_paper(request: PaperRequest) -> None:
    from papers.matsuda2021.training import train

    for learned in train(request):
        print_learned(learned)


def _train_reinforce(request: ReinforceRequest) -> None:
    from papers.matsuda2021.reinforcement import train

    learned = train(request)
    print_scores(learned[0])
    for network in learned:
        print(network.folder / f"{network.name}.npz")


KINDS: Final[dict[str, Subcommand]] = {
    "networks-paper": Subcommand(
        "the five networks of Matsuda and Ito 2021, from columns",
        "Train the networks of Matsuda and Ito 2021 for discard, riichi, pon, chi and kan.",
        PaperRequest,
        _train_networks_paper,
    ),
    "reinforce": Subcommand(
        "the reinforcement of Matsuda and Ito 2021, from their five networks",
        "Let the five networks learn by play against three of themselves: deep Q-learning.",
        ReinforceRequest,
        _train_reinforce,
    ),
}
