"""A bot of a few lines on standard input and output: ``pipe_bot.py lines|arrays|all SEAT [MODE]``.

``lines`` speaks where it is asked, as Mortal does, ``all`` after every event, ``arrays`` once for
each array.  It discards what it draws.  MODE, at its fifth own turn: ``dies`` by SIGKILL,
``quits``, is ``silent``, says its answer ``twice``, ``prints`` something else first, is
``illegal``, answers for ``another`` seat, or is ``late`` by 3 s.  ``early`` quits before the first
line.
"""

import json
import os
import signal
import sys
import threading


def main(kind, seat, mode="plays"):
    if mode == "early":
        sys.exit("no weights here")
    turns = 0
    for line in sys.stdin:
        output = json.loads(line)
        event = output[-1] if kind == "arrays" else output
        assert isinstance(output, list) == (kind == "arrays"), line
        reply = answer(event, kind, seat)
        if event["type"] == "tsumo" and event["actor"] == seat:
            turns += 1
            if turns == 5:
                reply = misdeed(reply, mode, seat)
        if reply is not None:
            say(reply)
        if event["type"] == "end_game":
            break


def say(reply):
    print(json.dumps(reply), flush=True)


def answer(event, kind, seat):
    """Return the reply to the event that was said last, ``None`` if nothing is to be said."""
    own = event.get("actor") == seat
    if event["type"] == "tsumo" and own:
        return {"type": "dahai", "actor": seat, "pai": event["pai"], "tsumogiri": True}
    asked = event["type"] in ("dahai", "kakan") and not own and event.get("can_act", True)
    return {"type": "none"} if asked or kind != "lines" else None


def misdeed(reply, mode, seat):
    if mode == "dies":
        print("about to die", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    if mode == "quits":
        sys.exit(7)
    if mode == "late":
        threading.Event().wait(3.0)
    if mode == "silent":
        threading.Event().wait()
    if mode == "prints":
        print("let me\x1b[2J think", flush=True)
    if mode == "twice":
        say(reply)
    if mode == "illegal":
        return {"type": "hora", "actor": seat, "target": seat}
    return reply | {"actor": (seat + 1) % 4} if mode == "another" else reply


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
