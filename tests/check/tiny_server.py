"""A process that listens: ``tiny_server.py PORT clean|careless``.

It greets each connection and ends at SIGTERM.  The careless one does not tell the system that its
port may be taken again while lines of the process before it are still closing.
"""

import socket
import sys


def main(port, kind):
    listener = socket.socket()
    if kind == "clean":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", int(port)))
    listener.listen()
    lines = []
    while True:
        line, _ = listener.accept()
        line.sendall(b'{"type":"hello","protocol":"mjsonp","protocol_version":3}\n')
        lines.append(line)


if __name__ == "__main__":
    main(*sys.argv[1:])
