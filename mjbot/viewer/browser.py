"""Opens a page in the user's browser without its key on a command line.

Every user of a machine can list the command lines of all processes, and a page's key shows hands
and plays a person's seat.  So the browser gets the path of a file that only this user can read, and
the file sends it on.
"""

import atexit
import os
import shutil
import sys
import tempfile
import webbrowser
from html import escape
from pathlib import Path
from typing import Final, TextIO

REDIRECT: Final = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={url}">
<title>mjbot</title>
<a href="{url}">Open the page</a>
"""


def redirect_file(url: str) -> Path:
    """Write a page, readable by this user alone, that leads to ``url``; removed at exit."""
    folder = Path(tempfile.mkdtemp(prefix="mjbot-page-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / "open.html"
    opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(opened, "w", encoding="utf-8") as file:
        file.write(REDIRECT.format(url=escape(url)))
    return path


def open_page(url: str) -> None:
    """Open ``url`` in the browser, if there is one."""
    webbrowser.open(redirect_file(url).as_uri())


def show_page(url: str, *, no_browser: bool, to: TextIO | None = None) -> None:
    """Print the page's URL, on stdout unless ``to`` is another stream, and open it."""
    print(f"watch {url} (Ctrl-C ends it)", file=to or sys.stdout, flush=True)
    if not no_browser:
        open_page(url)
