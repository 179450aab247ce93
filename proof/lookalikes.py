"""Write the letters that look like Latin ones: ``python -m proof.lookalikes CONFUSABLES.json``.

The source is Unicode's ``confusables.txt`` (Technical Standard #39) as the package
``confusable-homoglyphs`` 3.3.1 has it (``confusables.json``).  Kept are single letters and digits
of other alphabets that look like one Latin letter and that Unicode's own normal forms do not make
one (:func:`mjbot.play.server.names.name_key`).
"""

import json
import sys
import unicodedata
from pathlib import Path

from mjbot.play.server.names import LOOKALIKES, plain_form


def lookalikes(confusables: dict[str, list[dict[str, str]]]) -> dict[str, str]:
    """Return the letters that look like a Latin one, by that letter."""
    found: dict[str, str] = {}
    for letter, others in confusables.items():
        if len(letter) > 1 or letter.isascii() or unicodedata.category(letter)[0] not in "LN":
            continue
        latin = sorted({each["c"].lower() for each in others} & {*"abcdefghijklmnopqrstuvwxyz"})
        if latin and not plain_form(letter).isascii():
            found[latin[0]] = found.get(latin[0], "") + letter
    return {latin: "".join(sorted(found[latin])) for latin in sorted(found)}


if __name__ == "__main__":
    table = lookalikes(json.loads(Path(sys.argv[1]).read_text("utf-8")))
    LOOKALIKES.write_text(json.dumps(table, ensure_ascii=False, indent=0) + "\n", "utf-8")
