"""Pages that need nothing else: escaped text, tables, the page around them and its style.

Names and other text of a record are untrusted: :func:`text` removes what cannot be shown (control
characters, marks that turn the reading direction) and escapes the rest.  A page's policy allows no
script but the one that it was made with, if any.
"""

import base64
import hashlib
from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

LONGEST: Final = 40
POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def page(title: str, body: Iterable[str], script: str = "", language: str = "en") -> str:
    """Return a page; ``title`` and ``body`` are HTML already, ``script`` runs at its end."""
    policy = POLICY
    if script:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        policy += f"; script-src 'sha256-{digest}'"
        body = [*body, f"<script>{script}</script>"]
    parts = [
        f"<!doctype html><html lang={language}><head><meta charset=utf-8>",
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name=viewport content="width=device-width,initial-scale=1">',
        f"<title>{title}</title><style>{STYLE}</style></head><body>",
        *body,
        "</body></html>\n",
    ]
    return "\n".join(parts)


def text(value: object, longest: int = LONGEST) -> str:
    """Return text as a page may hold it, cut to a length.

    >>> text("<b>\\u202eevil\\x07"), text("a" * 50, 3)
    ('&lt;b&gt;evil', 'aaa')
    """
    letters = [letter for letter in str(value) if letter.isprintable()]
    return escape("".join(letters)[:longest])


def name(value: str, longest: int = LONGEST) -> str:
    """Return a player's name, isolated from the direction of the surrounding text."""
    return f"<bdi>{text(value, longest) or '-'}</bdi>"


def element(tag: str, content: str) -> str:
    """Return an element; ``content`` is HTML already.

    >>> element("h3", "Deal-ins")
    '<h3>Deal-ins</h3>'
    """
    return f"<{tag}>{content}</{tag}>"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells that are HTML already; it scrolls by itself where it is too wide."""
    head = "".join([f"<th>{cell}</th>" for cell in heads])
    lines = ["<tr>" + "".join([f"<td>{cell}</td>" for cell in row]) + "</tr>" for row in rows]
    body = f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody>"
    return f"<div class=wide><table>{body}</table></div>"


STYLE: Final = """
:root{color-scheme:light dark;--ink:light-dark(#1c2430,#e3e8ef);--soft:light-dark(#5b6675,#98a3b3);
--paper:light-dark(#f5f6f3,#14181f);--card:light-dark(#fff,#1d232d);--line:light-dark(#dcdfd9,#323b49);
--bad:light-dark(#b3261e,#ff8a7a);--good:light-dark(#19703c,#6fd394);--mid:light-dark(#8a5a00,#e8b64c);
--s:.54;font:15px/1.5 system-ui,"DejaVu Sans",sans-serif}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);overflow-wrap:anywhere}
main{max-width:64rem;margin:0 auto;padding:1.2rem 1rem 4rem}
h1{font-size:1.55rem;margin:0 0 .2rem;line-height:1.25}
h2{font-size:1.1rem;margin:2rem 0 .6rem}
h3{font-size:1rem;margin:1.4rem 0 .5rem}
p{margin:.35rem 0}a{color:inherit}
.soft{color:var(--soft)}.bad{color:var(--bad)}.mid{color:var(--mid)}
code{font-size:.88em;overflow-wrap:anywhere}
.wide{overflow-x:auto;overflow-wrap:normal;contain:inline-size;background:var(--card);
border:1px solid var(--line);border-radius:.6rem}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:.32rem .7rem;text-align:right;border-top:1px solid var(--line);vertical-align:top}
td{white-space:nowrap}
thead th{border-top:0;font-size:.82rem;font-weight:600;color:var(--soft);vertical-align:bottom;
word-break:keep-all}
th:first-child,td:first-child{text-align:left}
.t{width:calc(48px*var(--s));height:calc(64px*var(--s));margin:0 1px 2px 0;vertical-align:middle;
overflow:visible}.t use{transform:scale(var(--s))}
.index{opacity:0}
.defs{position:absolute;width:0;height:0}
.t.drawn{margin-left:.5rem}
.meld{display:inline-block;margin-left:.6rem;white-space:nowrap}
details{background:var(--card);border:1px solid var(--line);border-left:.35rem solid var(--line);
border-radius:.5rem;margin:.4rem 0}
summary{cursor:pointer;padding:.4rem .7rem;display:flex;flex-wrap:wrap;gap:.25rem .8rem;
align-items:center}
.in{padding:.2rem .8rem .8rem}
.say{font-size:1.02rem;margin:.5rem 0}
.hand{margin:.5rem 0}
ol.worst{padding-left:1.6rem;margin:.4rem 0}ol.worst li{margin:.35rem 0}
@media (max-width:32rem){th{min-width:4.4rem}
td:first-child{white-space:normal;min-width:6em}
main{padding:.8rem .6rem 3rem}th,td{padding:.28rem .45rem}
:root{--s:.45}.hand .meld{margin-left:.3rem}}
@media print{:root{color-scheme:light;--paper:#fff;font-size:11px}main{max-width:none;padding:0}
details::details-content{content-visibility:visible;height:auto}
details,.wide,li,tr{break-inside:avoid}h2,h3{break-after:avoid}a{text-decoration:none}}
"""
