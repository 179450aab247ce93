"""How numbers are put into words."""


def plural(number: int, noun: str) -> str:
    """Say how many.

    >>> plural(1, "game"), plural(2, "mismatch")
    ('1 game', '2 mismatches')
    """
    ending = "" if number == 1 else "es" if noun.endswith("h") else "s"
    return f"{number} {noun}{ending}"
