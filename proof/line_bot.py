"""Bots of a few lines that keep to the documents, each with a habit of its own.

``line_bot.py HABIT SEAT [--start-s S] [--answer-s S]`` runs one on its standard input and output,
in a process of its own.  It discards the tile that it draws and passes everything else.

``all`` answers every line, ``no-end`` every line but ``end_game``, at which it ends, ``quiet``
decisions alone until the end of its input, and ``arrays`` each array once.
"""

import argparse
import json
import sys
import time
from typing import Any


def main() -> None:
    """Play one game."""
    parser = argparse.ArgumentParser()
    parser.add_argument("habit", choices=["all", "no-end", "quiet", "arrays"])
    parser.add_argument("seat", type=int)
    parser.add_argument("--start-s", type=float, default=0.0, help="before the first line is read")
    parser.add_argument("--answer-s", type=float, default=0.0, help="before each discard")
    args = parser.parse_args()
    time.sleep(args.start_s)
    for line in sys.stdin:
        read = json.loads(line)
        event = read[-1] if args.habit == "arrays" else read
        ends = event["type"] == "end_game"
        if ends and args.habit == "no-end":
            break
        answer = _answer(event, args.seat)
        if answer is not None:
            time.sleep(args.answer_s)
        if answer is not None or args.habit != "quiet" or _must_answer(event, args.seat):
            print(json.dumps(answer or {"type": "none"}), flush=True)
        if ends and args.habit != "quiet":
            break


def _answer(event: dict[str, Any], seat: int) -> dict[str, Any] | None:
    if event["type"] == "tsumo" and event["actor"] == seat:
        return {"type": "dahai", "actor": seat, "pai": event["pai"], "tsumogiri": True}
    return None


def _must_answer(event: dict[str, Any], seat: int) -> bool:
    """Whether a discard or a kan of another seat leaves this one a choice."""
    is_claim = event["type"] in ("dahai", "kakan") and event["actor"] != seat
    return is_claim and bool(event.get("can_act", True))


if __name__ == "__main__":
    main()
