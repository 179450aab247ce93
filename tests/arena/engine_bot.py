"""An external AI for the tests: discards what it draws, in a process of its own, one game long.

``python engine_bot.py [late|gone|wrong|default] URL``: from its fifth turn on it is silent, gone,
or discards what it does not hold; ``default`` names that room, whatever the URL says.
"""

import json
import os
import socket
import sys


def main() -> None:
    habit = sys.argv[1] if len(sys.argv) > 2 else ""
    host, _, port = sys.argv[-1].removeprefix("mjsonp://").partition("/")[0].partition(":")
    with socket.create_connection((host, int(port))) as line:
        turns = 0
        seat = -1
        for text in line.makefile():
            event = json.loads(text)
            reply: dict[str, object] = {"type": "none"}
            if event["type"] == "hello":
                reply = {"type": "join", "name": "foreign", "room": "default"}
                if habit != "default":
                    reply["room"] = sys.argv[-1].rpartition("/")[2]
            elif event["type"] == "end_game":
                return
            elif event["type"] == "start_game":
                seat = event["id"]
            elif event["type"] == "tsumo" and event["actor"] == seat:
                turns += 1
                reply = {"type": "dahai", "actor": seat, "pai": event["pai"], "tsumogiri": True}
                if turns == 5 and habit == "late":
                    continue
                if turns == 5 and habit == "gone":
                    print("I have had enough", file=sys.stderr, flush=True)
                    os._exit(1)  # the connection ends with the process, not before it
                if turns == 5 and habit == "wrong":
                    reply["pai"] = "P" if event["pai"] != "P" else "F"
            line.sendall(json.dumps(reply).encode() + b"\n")


if __name__ == "__main__":
    main()
