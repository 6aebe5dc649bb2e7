"""A number with the word for what it counts."""

from __future__ import annotations

_HISSING = ("s", "x", "z", "ch", "sh")


def counted(number: int, what: str, verb: str = "") -> str:
    """Return a number and what it counts, in the plural unless it is one.

    Parameters
    ----------
    number : int
        How many.
    what : str
        One of them, in words.
    verb : str, default=""
        What one and several of them do, parted by a slash, if the number is the subject of a sentence.

    Returns
    -------
    str
        Both, with commas between thousands.

    Examples
    --------
    >>> counted(1, "new label"), counted(2000, "class"), counted(0, "row")
    ('1 new label', '2,000 classes', '0 rows')
    >>> counted(1, "row", "is/are"), counted(2, "row", "is/are")
    ('1 row is', '2 rows are')
    """
    one, _, several = verb.partition("/")
    ending = "" if number == 1 else "es" if what.endswith(_HISSING) else "s"
    told = one if number == 1 else several
    return f"{number:,} {what}{ending}{f' {told}' if told else ''}"
