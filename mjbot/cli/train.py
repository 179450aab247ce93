"""``mjbot train WHAT ...``: learn weights from recorded games, or from games of our own."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mjbot.analysis.collusion.learning import DetectionRequest
from mjbot.learning.models.weights import SHIPPED
from mjbot.learning.training import requests as r
from mjbot.learning.training.fast_policy.requests import FastSelfPlayRequest, ImitationRequest
from mjbot.learning.training.positions import LeftOut
from mjbot.learning.training.runs import Learned, torch
from mjbot.runtime.errors import ExitCode
from mjbot.runtime.requests import Subcommand, subcommand


def run(request: "TrainRequest") -> int:
    """Train, save the weights and print their figures; FAILED if records were left out."""
    return carry_out(KINDS, *request.what)


def carry_out(kinds: Mapping[str, Subcommand], name: str, own: Any) -> int:
    """Carry out a subcommand and return the exit status; FAILED if records were left out."""
    left_out: LeftOut = getattr(own, "left_out", LeftOut())
    status = kinds[name].run(own)
    if left_out.duplicates:
        print(left_out.duplicates_text.removeprefix("; "))
    if left_out:
        print(str(left_out).removeprefix("; "))
    return ExitCode.FAILED if left_out else status or ExitCode.OK


# --- what is done ------------------------------------------------------------------------------


def _train_data(request: r.DataRequest) -> None:
    from mjbot.learning.training.networks.decisions import write_decisions

    info = write_decisions(request)
    for kind, n in info.rows.items():
        print(f"{kind}: {n} rows")
    total = sum(info.rows.values())
    print(f"{info.games} games, {total} rows, {_processor_s():.0f} s of processor time")
    print(f"columns: {request.folder}")


def _train_rank(request: r.RankRequest) -> None:
    from mjbot.learning.training.networks.rank import train

    print_learned(train(request))


def _train_policy(request: r.PolicyRequest) -> None:
    torch()
    from mjbot.learning.training.networks.policy import train

    print_learned(train(request))


def _train_danger(request: r.DangerRequest) -> None:
    from mjbot.learning.training.danger import train

    _print_calibrated(*train(request))


def _train_detection(request: DetectionRequest) -> None:
    from mjbot.analysis.collusion.learning import train
    from mjbot.analysis.collusion.verdicts import SHIPPED as DETECTS

    learned = train(request)
    print_scores(learned)
    print(f"{learned.folder / learned.name}.npz; mjbot detect uses those in {DETECTS}")


def _train_shanten(request: r.ShantenRequest) -> None:
    torch()
    from mjbot.learning.training.networks.hidden_shanten import train

    _print_calibrated(*train(request))


def _print_calibrated(learned: Learned, calibration: list[str]) -> None:
    for line in calibration:
        print(line)
    print_learned(learned)


def _train_self_play(request: r.SelfPlayRequest) -> None:
    torch()
    from mjbot.learning.training.networks.self_play import train

    print_learned(train(request))


def _processor_s() -> float:
    return sum(os.times()[:4])


def print_learned(learned: Learned) -> None:
    """Print how good the weights are, and where they were written."""
    print_scores(learned)
    print_weights(learned)


def print_scores(learned: Learned) -> None:
    """Print how good the weights are: the scores of their manifest."""
    for what, figure in learned.manifest.scores.items():
        print(f"{what}: {figure}")


def print_weights(learned: Learned) -> None:
    """Print where weights were written, and how to play with them."""
    file = learned.folder / f"{learned.name}.npz"
    size_kb = file.stat().st_size / 1000
    print(f"{file}: {size_kb:.0f} kB, digest {learned.manifest.digest[:12]}")
    if learned.folder.resolve() != SHIPPED.resolve():
        print(f"strategies play with those in {_shipped()}; to put these there: --out {_shipped()}")


def _shipped() -> Path:
    """Return the folder of the weights that ship, from here if it is below."""
    here = Path.cwd()
    return SHIPPED.relative_to(here) if SHIPPED.is_relative_to(here) else SHIPPED


def _train_imitation(request: ImitationRequest) -> None:
    from mjbot.learning.training.fast_policy.imitation import train

    print_learned(train(request))


def _train_fast_play(request: FastSelfPlayRequest) -> None:
    from mjbot.learning.training.fast_policy.self_play import train

    print_learned(train(request))


KINDS: Final[dict[str, Subcommand]] = {
    "data": Subcommand(
        "columns of all choices in records, for the learned players",
        "Write every discard, riichi, pon, chi and kan in records as memory-mapped columns.",
        r.DataRequest,
        _train_data,
    ),
    "rank": Subcommand(
        "the rank model, from columns",
        "Learn where the four seats may end from what stands at the start of each kyoku.",
        r.RankRequest,
        _train_rank,
    ),
    "policy": Subcommand(
        "the learned player's network, from columns",
        "Learn all five decisions of strong players with one network.",
        r.PolicyRequest,
        _train_policy,
    ),
    "self-play": Subcommand(
        "the learned player's network, from games against itself",
        "Continue the training of the learned player by play: PPO with a critic of all hands.",
        r.SelfPlayRequest,
        _train_self_play,
    ),
    "danger": Subcommand(
        "how dangerous a tile is, from records",
        "Fit how likely each tile is to deal in to each opponent, what that costs, and how soon"
        " others win, from all discards in records.",
        r.DangerRequest,
        _train_danger,
    ),
    "detection": Subcommand(
        "weights of the pair detector, from honest records and games of known pairs",
        "Learn the weights of mjbot detect: unrelated players, and how known pairs differ.",
        DetectionRequest,
        _train_detection,
    ),
    "shanten": Subcommand(
        "how far hidden hands are from tenpai, from records",
        "Learn how far a seat is from tenpai by what all can see of it, from all discards in"
        " records.",
        r.ShantenRequest,
        _train_shanten,
    ),
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
        _train_fast_play,
    ),
}
"""The modules of :mod:`mjbot.learning.training` are imported only when they are asked for."""


@dataclass(frozen=True, kw_only=True)
class TrainRequest:
    """Arguments of ``mjbot train``: a name of :data:`KINDS`, and a request of its class."""

    what: tuple[str, Any] = subcommand(lambda: KINDS, "WHAT")
