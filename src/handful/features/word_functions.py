"""Functions from a word to a string that a template may name: ``lower``, ``suffix3``, ``shape`` and so on."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from handful.core.errors import ParameterError

WordFunction = Callable[[str], str | None]

_REMEMBERED = 1 << 16  # words: most of a text are old acquaintances, and looking at every letter takes long
_PATTERN = 8  # characters
_DIGITS = re.compile(r"\d")
_AFFIX = re.compile(r"(prefix|suffix)([1-9]\d?)")


def lower(word: str) -> str:
    """Return the word in lower case.

    Examples
    --------
    >>> lower("Rome")
    'rome'
    """
    return word.lower()


def digits(word: str) -> str:
    """Replace every digit by 0.

    Examples
    --------
    >>> digits("1996-08-22")
    '0000-00-00'
    """
    return _DIGITS.sub("0", word)


@lru_cache(_REMEMBERED)
def shape(word: str) -> str:
    """Describe the characters by A, a, 0 and themselves, runs shortened to one.

    Examples
    --------
    >>> shape("McDonald's"), shape("3.50")
    ("AaAa'a", '0.0')
    """
    out: list[str] = []
    for char in word:
        kind = _kind_of(char)
        if not out or out[-1] != kind:
            out.append(kind)
    return "".join(out)


@lru_cache(_REMEMBERED)
def pattern(word: str) -> str:
    """Describe the first eight characters by A, a, 0 and themselves: `shape` with the length of short words.

    Examples
    --------
    >>> pattern("F-16"), pattern("to"), pattern("Constantinople")
    ('A-00', 'aa', 'Aaaaaaaa')
    """
    return "".join(_kind_of(char) for char in word[:_PATTERN])


def _kind_of(char: str) -> str:
    return "0" if char.isdigit() else "A" if char.isupper() else "a" if char.isalpha() else char


@lru_cache(_REMEMBERED)
def kind(word: str) -> str:
    """Tell the class of a word by capitals, digits and punctuation.

    Returns
    -------
    str
        Three letters: capitals (``I`` initial, ``A`` all, ``M`` inside, ``-`` none), digits (``A`` all, ``S`` some,
        ``-`` none), punctuation (``A`` all, ``S`` some, ``-`` none).

    Examples
    --------
    >>> kind("Rome"), kind("NATO"), kind("1996"), kind("F-16"), kind("...")
    ('I--', 'A--', '-A-', 'ISS', '--A')
    """
    n_digits = sum(c.isdigit() for c in word)
    n_marks = sum(not c.isalnum() for c in word)
    return _capitals(word) + _share(n_digits, len(word)) + _share(n_marks, len(word))


def _capitals(word: str) -> str:
    letters = [c for c in word if c.isalpha()]
    n_upper = sum(c.isupper() for c in letters)
    if n_upper == 0:
        return "-"
    if n_upper == len(letters) and n_upper > 1:
        return "A"
    return "I" if word[0].isupper() and n_upper == 1 else "M"


def _share(count: int, total: int) -> str:
    return "-" if count == 0 else "A" if count == total else "S"


def initial_capital(word: str) -> str | None:
    """Fire on words with a capital first.

    Examples
    --------
    >>> initial_capital("Rome"), initial_capital("fell")
    ('yes', None)
    """
    return "yes" if word[:1].isupper() else None


def hyphen(word: str) -> str | None:
    """Fire on words with a hyphen inside.

    Examples
    --------
    >>> hyphen("well-known"), hyphen("known")
    ('yes', None)
    """
    return "yes" if "-" in word else None


def digit(word: str) -> str | None:
    """Fire on words with a digit.

    Examples
    --------
    >>> digit("F16"), digit("F")
    ('yes', None)
    """
    return "yes" if _DIGITS.search(word) else None


_NAMED: dict[str, WordFunction] = {
    "lower": lower,
    "digits": digits,
    "shape": shape,
    "pattern": pattern,
    "type": kind,
    "capital": initial_capital,
    "hyphen": hyphen,
    "digit": digit,
}


def word_function(name: str) -> WordFunction:
    """Return the function of a name.

    Parameters
    ----------
    name : str
        ``lower``, ``digits``, ``shape``, ``pattern``, ``type``, ``capital``, ``hyphen``, ``digit``, or ``prefixN`` and ``suffixN``
        with a number: the first or last N characters of words that have at least N.

    Returns
    -------
    callable
        From a word to a string, or None where nothing fires.

    Examples
    --------
    >>> word_function("suffix2")("fell"), word_function("prefix9")("fell")
    ('ll', None)
    """
    affix = _AFFIX.fullmatch(name)
    if affix:
        size = int(affix[2])
        if affix[1] == "prefix":
            return lambda word: word[:size] if len(word) >= size else None
        return lambda word: word[-size:] if len(word) >= size else None
    if name not in _NAMED:
        known = ", ".join([*_NAMED, "prefixN", "suffixN"])
        raise ParameterError(f"templates: there is no function {name!r}. The functions are: {known}.")
    return _NAMED[name]
