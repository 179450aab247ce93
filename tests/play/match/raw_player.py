"""An mjai client of a few lines, started by tests as ``raw_player.py [MODE] URL``.

MODE: ``play``; ``die`` by SIGKILL, ``quit`` or ``cheat`` at the third own draw; ``ponder``: tells
the witness there and never answers; ``absent``: tells the witness and never joins; ``unable``:
ends at once; ``stubborn``: ignores SIGTERM and the end of the game; ``default``: names that room,
whatever the URL says; ``nameless``: joins without a name; ``cheat-once``: cheats unless the file
in CHEATED exists, and makes it.  With WITNESS_PORT set it holds a connection to that port, the
witness, for as long as it lives.
"""

import json
import os
import signal
import socket
import sys
import threading
from urllib.parse import urlsplit


def main() -> None:
    mode = sys.argv[1] if len(sys.argv) > 2 else "play"
    witness = os.environ.get("WITNESS_PORT")
    held = socket.create_connection(("127.0.0.1", int(witness))) if witness else None
    if mode == "unable":
        sys.exit("I am not able to")
    if mode == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    url = urlsplit(sys.argv[-1])
    if mode == "absent" and held:
        held.sendall(b"?")
    if mode != "absent":
        play(mode, url, held)
    if mode in ("absent", "stubborn"):
        threading.Event().wait()
    if held:
        held.close()


def play(mode, url, held):
    address, room = (url.hostname, url.port), url.path[1:]
    with socket.create_connection(address) as line, line.makefile("rw") as stream:
        seat, draws = None, 0
        for text in stream:
            event = json.loads(text)
            reply = {"type": "none"}
            if event["type"] == "hello":
                reply = {"type": "join", "name": f"raw-{mode}", "room": room}
                if mode == "default":
                    reply["room"] = "default"
                if mode == "nameless":
                    del reply["name"]
            elif event["type"] == "start_game":
                seat = event["id"]
            elif event["type"] in ("end_game", "error"):
                return
            elif event["type"] == "tsumo" and event["actor"] == seat:
                draws += 1
                reply = {"type": "dahai", "actor": seat, "pai": event["pai"], "tsumogiri": True}
                if draws == 3:
                    reply = misdeed(mode, reply, held)
            stream.write(json.dumps(reply) + "\n")
            stream.flush()


def misdeed(mode, reply, held):
    if mode == "ponder":
        held.sendall(b"?")
        threading.Event().wait()
    if mode == "die":
        print("about to die", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    if mode == "quit":
        sys.exit("enough of this")
    if mode == "cheat-once" and not os.path.exists(os.environ["CHEATED"]):
        open(os.environ["CHEATED"], "x").close()
        mode = "cheat"
    return {"type": "none", "log": "\x1b[2J" + 5000 * "x"} if mode == "cheat" else reply


if __name__ == "__main__":
    main()
