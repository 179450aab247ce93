"""A process that listens: ``tiny_server.py PORT clean|forks|careless|stays``.

It greets each connection and ends at SIGTERM.  The careless one does not tell the system that its
port may be taken again while lines of the process before it are still closing; the one that forks
leaves a process that holds the port; the one that stays ignores SIGTERM.
"""

import os
import signal
import socket
import sys


def main(port, kind):
    if kind == "stays":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    listener = socket.socket()
    if kind != "careless":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", int(port)))
    listener.listen()
    if kind == "forks" and not os.fork():
        signal.pause()
    lines = []
    while True:
        line, _ = listener.accept()
        line.sendall(b'{"type":"hello","protocol":"mjsonp","protocol_version":3}\n')
        lines.append(line)


if __name__ == "__main__":
    main(*sys.argv[1:])
