"""``python -m proof NAME``: run one of the proofs."""

import argparse
import importlib
import sys
from types import ModuleType

PROOFS = {
    "records": "every recorded Phoenix game through the strict table",
    "review-pages": "page and JSON of a review of every held-out game: faults, sizes and time",
    "cost-spread": "how far true costs of different choices scatter: the prior of reviews",
    "search-margin": "which overrides of a search are right, played on to the end of the game",
    "gradient-noise": "how much of the fast policy's self-play gradient is signal",
    "one-against-others": "ranks of one fast policy among others: a self-play run's curve",
    "drawn-choices": "rank of a large network among three of another, choices drawn",
    "calibration": "how often hands win of which a chance to win is reported, held-out games",
    "wire": "our client session in the place of 654 recorded clients of Tenhou's server",
    "tenhou-door": "our clients at our Tenhou listener: 200 hanchan, 100 cut connections",
    "strangers": "every outside program of the registries, each way round, in ten minutes",
    "riichienv": "our referee compared with the simulator RiichiEnv, 10,000 hanchan",
    "mjai-simulator": "bots in a hanchan of mjai.app's own simulator",
    "fuzz": "readers of lines, records, weights and a pair's channel on bytes that find new ways",
    "state-machines": "sessions, the table and the channel under all that can happen, in any order",
    "mutations": "10,000 changed conversations, and 10,000 changed messages of a server",
    "check": "`mjbot check` fails no bot and no server that keeps to the documents, under load",
    "helpers": "how soon `mjbot detect --helpers` finds made helpers, and whom it names wrongly",
    "simulation": "our programs under simulated time, network, disk and signals, by seed",
    "endurance": "services, killed processes and signals, for hours: four subjects",
    "ray": "the arena over two Ray nodes on loopback: a killed node, a token, other code",
    "pages": "the commands of the documentation, run as the pages show them",
    "results-pages": "which tables rest on strategies that play other games by now",
    "board": "what the page draws at every event of recorded games, in a real browser",
    "known-answers": "hands with known yaku, points and shanten",
    "pair-failures": "200 games in which a bot of the pair is killed or its channel cut",
    "dependencies": "the suite with the oldest or newest versions of the dependencies",
    "plain-numba": "a hanchan of every strategy, and tests, with numba's public options alone",
    "yaku-evaluation": "the eight yaku scores of random hands against plain enumeration",
}


def main() -> int:
    """Run the named proof and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m proof")
    subparsers = parser.add_subparsers(dest="name", required=True, metavar="NAME")
    for name, summary in PROOFS.items():
        subparser = subparsers.add_parser(name, help=summary, description=summary)
        if name in sys.argv[1:2]:
            _module(name).add_arguments(subparser)
    args = parser.parse_args()
    return int(_module(args.name).run(args))


def _module(name: str) -> ModuleType:
    return importlib.import_module("proof." + name.replace("-", "_"))


if __name__ == "__main__":
    sys.exit(main())
