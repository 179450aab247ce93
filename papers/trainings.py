"""The trainings of the papers' models: ``python -m papers train-NAME ...``.

What strategies play with is in ``mjbot/learning/models``; weights learned here go there by
``--out``.
"""

import os
from typing import Final

from rich.console import Console
from rich.table import Table

from mjbot.cli.train import print_learned, print_scores, print_weights
from mjbot.learning.training.requests import RankRequest
from mjbot.learning.training.runs import torch
from mjbot.runtime.requests import Subcommand
from papers.matsuda2021.requests import PaperRequest, ReinforceRequest
from papers.mizukami2013.training.requests import FoldRequest, HandRequest
from papers.takada2022.requests import GreedyRequest


def _train_hand(request: HandRequest) -> None:
    from papers.mizukami2013.training.hand import train

    learned = train(request)
    print(f"learned from {learned.manifest.data}")
    print_scores(learned)
    print(f"{sum(os.times()[:4]):.0f} s of processor time")
    print_weights(learned)


def _train_fold(request: FoldRequest) -> None:
    from papers.mizukami2013.training.fold import train

    print_learned(train(request))


def _train_greedy(request: GreedyRequest) -> None:
    from papers.takada2022.greedy import PAPER_PERCENT, percents_of, train

    learned, counted = train(request)
    table = Table(
        "shanten", "% [95 %]", "paper %", title="after 6 draws, one 3..7 of a number suit gone"
    )
    for n, percent in enumerate(percents_of(counted.row)):
        paper = str(PAPER_PERCENT.get(n, ""))
        table.add_row(str(n), percent.text(".1f"), paper)
    Console().print(table)
    print(f"{int(counted.row.sum())} such hands")
    hands = int(counted.hands[:, :, 0].sum())
    print(f"{request.games} games, {counted.kyoku} kyoku, {hands} hands, {counted.seconds:.1f} s")
    print_weights(learned)


def _train_rank(request: RankRequest) -> None:
    torch()
    from mjbot.learning.training.networks.rank import train
    from papers.matsuda2021.rank_controls import controls

    print_learned(train(request, controls, program="python -m papers train-rank"))


def _train_networks(request: PaperRequest) -> None:
    from papers.matsuda2021.training import train

    for learned in train(request):
        print_learned(learned)


def _train_reinforce(request: ReinforceRequest) -> None:
    from papers.matsuda2021.reinforcement import train

    learned = train(request)
    print_scores(learned[0])
    for network in learned:
        print(network.folder / f"{network.name}.npz")


COMMANDS: Final[dict[str, Subcommand]] = {
    "train-hand": Subcommand(
        "the hand evaluator of Mizukami 2013, from discards before a riichi",
        "Learn the hand evaluator from the discards before each kyoku's first riichi.",
        HandRequest,
        _train_hand,
    ),
    "train-fold": Subcommand(
        "when to fold (Mizukami 2013), from records",
        "Learn when to fold: labels from what players did under threat, an RBF support vector"
        " machine, C and gamma by cross-validation.",
        FoldRequest,
        _train_fold,
    ),
    "train-greedy": Subcommand(
        "what greedy players hold (Takada 2022), from games of our own",
        "Count what four greedy players hold: P(shanten | draws, discarded 3..7, blocks).",
        GreedyRequest,
        _train_greedy,
    ),
    "train-rank": Subcommand(
        "the rank model with the controls of Matsuda 2021, from columns",
        "As mjbot train rank; also train softmax regression and the paper's form, to compare with.",
        RankRequest,
        _train_rank,
    ),
    "train-networks": Subcommand(
        "the five networks of Matsuda 2021, from columns",
        "Train the networks of Matsuda and Ito 2021 for discard, riichi, pon, chi and kan.",
        PaperRequest,
        _train_networks,
    ),
    "train-reinforce": Subcommand(
        "the reinforcement of Matsuda 2021, from its five networks",
        "Let the five networks learn by play against three of themselves: deep Q-learning.",
        ReinforceRequest,
        _train_reinforce,
    ),
}
"""The modules of the trainings are imported only when they are asked for."""
