"""Raw text cut into tokens and sentences, with the place of every token in the text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import zip_longest
from typing import NamedTuple

from handful.core.errors import DataError

_APOSTROPHES = "'\u2019"
_APOSTROPHE = f"[{_APOSTROPHES}]"
_BEHIND_A_WORD = frozenset(",;:!?)]")
_ABBREVIATIONS = (
    "mr|mrs|ms|dr|prof|st|jr|sr|inc|corp|co|ltd|vs|etc|gen|sen|rep|gov|fig|approx|bzw|ca|usw|nr|str|mme|mlle"
)
# Accents that stand for themselves, vowel signs, and the hyphen and joiners that are not seen belong to their word.
_MARKS = "\u00ad\u200c\u200d" + "".join(
    filter(lambda c: unicodedata.category(c)[0] == "M", map(chr, range(0x300, 0xFFFF)))
)
_WORD = rf"\w+(?:[{_MARKS}]+\w*)*"
# A bracket that is opened inside an address is closed there, in brackets of its own kind at most two deep.
_BRACKETS = "|".join(
    rf'{low}(?:[^\s<>"{low}{high}]|{low}[^\s<>"{low}{high}]*{high})*{high}'
    for low, high in ((r"\(", r"\)"), (r"\[", r"\]"))
)
_ADDRESS = rf"""(?:https?://|www\.)(?:{_BRACKETS}|(?!{_BRACKETS})[^\s<>"])*(?:{_BRACKETS}|[^\s<>".,;:!?)\]'])"""
# To a sign belong its marks (a look, a color of skin, the tags of a flag) and what a joiner that is not seen ties to it.
_SIGN = rf"[^\w\s][{_MARKS}\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*"
_TOKEN = re.compile(
    rf"{_ADDRESS}"
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|[\U0001f1e6-\U0001f1ff]{2}|[0-9]\ufe0f?\u20e3"  # flags, numbers on keys
    r"|[@#]\w+"
    r"|(?:[^\W\d_]\.){2,}"  # U.S.
    rf"|\b(?:{_ABBREVIATIONS})\.(?=\s)"  # Dr., but not at the end of all
    r"|[:;=]-?[()DPp](?!\w)"  # faces
    r"|\d+(?:[.,:/]\d+)*(?:st|nd|rd|th)?(?!\w)"
    rf"|[^\W_]+?(?=n{_APOSTROPHE}t\b)|n{_APOSTROPHE}t\b|{_APOSTROPHE}(?:s|re|ve|d|ll|m)\b"  # did n't, it 's
    rf"|\b(?:aujourd{_APOSTROPHE}hui|quelqu{_APOSTROPHE}une?s?|o{_APOSTROPHE}\w+)\b"
    rf"|\b(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu){_APOSTROPHE}(?=\w)"  # l' homme
    rf"|{_WORD}(?:[-&_]{_WORD})*"
    r"|\.{2,}|-{2,}|!{2,}|\?{2,}|\${2,}|<{2,}|>{2,}|`{2}|'{2}|\u2026"
    rf"|{_SIGN}(?:(?<=\u200d){_SIGN})*|\S",
    re.IGNORECASE,
)
_ABBREVIATION = re.compile(rf"(?:{_ABBREVIATIONS}|no|al|m|e\.g|i\.e|[a-z])", re.IGNORECASE)
_ENDS = frozenset(
    {".", "!", "?", "!!", "!!!", "??", "???", "\u2026", "...", "..", "\u3002", "\uff01", "\uff1f", "\u061f", "\u0964"}
)
_MONTH = re.compile(  # after a German day, "3. Oktober", no sentence ends
    r"januar|jänner|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember", re.IGNORECASE
)
_STRAIGHT = frozenset("\"'")
_CLOSING = frozenset("\"')]\u201d\u2019\u00bb")
_PARAGRAPH = re.compile(r"\n\s*\n")
_LONGEST_MEAN = 5
_UNSPACED = (
    ("Chinese or Japanese", re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")),
    ("Thai", re.compile(r"[\u0e00-\u0e7f]")),
    ("Lao", re.compile(r"[\u0e80-\u0eff]")),
    ("Burmese", re.compile(r"[\u1000-\u109f]")),
    ("Khmer", re.compile(r"[\u1780-\u17ff]")),
)


class Token(NamedTuple):
    """A token with the characters ``start`` up to but not including ``end`` of its text."""

    text: str
    start: int
    end: int


def tokenize(text: str, cuts: Iterable[int] = (), abbreviations: Sequence[str] = ()) -> list[Token]:
    """Cut text into tokens.

    Parameters
    ----------
    text : str
        Any text. Words are cut at Unicode word boundaries, keep their hyphens, lose English and German (``n't``, ``'s``) and
        French (``l'``) contractions, and common abbreviations keep their point; every other sign is a token of its own, with the
        signs that are joined to it.
    cuts : iterable of int
        Places at which a token must end, such as the borders of labeled spans.
    abbreviations : sequence of str
        Tokens that keep their point, beside the usual ones, in small or capital letters.

    Returns
    -------
    list of Token
        From left to right; ``text[start:end]`` is the token, and all between tokens is white space.

    Examples
    --------
    >>> [token.text for token in tokenize("It didn't cost $3.50, l'homme!")]
    ['It', 'did', "n't", 'cost', '$', '3.50', ',', "l'", 'homme', '!']
    """
    borders = sorted(set(cuts))
    tokens: list[Token] = []
    for match in _pattern(tuple(abbreviations)).finditer(text):
        start, end = match.span()
        inside = [cut for cut in borders if start < cut < end] if borders else []
        for low, high in zip([start, *inside], [*inside, end], strict=True):
            tokens.append(Token(text[low:high], low, high))
    return tokens


@lru_cache(maxsize=8)
def _pattern(abbreviations: tuple[str, ...]) -> re.Pattern[str]:
    """Return what tokens look like; as with the usual ones, the point at the end of all is not that of an abbreviation."""
    if not abbreviations:
        return _TOKEN
    known = "|".join(map(re.escape, sorted(abbreviations, key=len, reverse=True)))
    return re.compile(rf"(?<!\w)(?:{known})(?=[\s,;:)\]])|{_TOKEN.pattern}", re.IGNORECASE)


def pieces_of(tokens: Sequence[str], abbreviations: Sequence[str] = ()) -> Iterator[list[str]]:
    """Tell how raw text is cut where it has some tokens, each as it stands beside the next one.

    Parameters
    ----------
    tokens : sequence of str
        The tokens of a sentence, which raw text has with blanks between them, but for those that an apostrophe joins to the
        next word and for marks behind a word.
    abbreviations : sequence of str
        As for `tokenize`.

    Yields
    ------
    list of str
        The pieces of each token, which are the token alone if it is not cut.

    Examples
    --------
    >>> list(pieces_of(["L'", "homme", "isn't", "Dr.", "Low"]))
    [["L'"], ['homme'], ['is', "n't"], ['Dr.'], ['Low']]
    """
    alone: dict[str, list[str]] = {}
    for token, after in zip_longest(tokens, tokens[1:], fillvalue=""):
        if token not in alone:
            alone[token] = [piece.text for piece in tokenize(token)]
        pieces = alone[token]
        if len(pieces) > 1:
            joined = token[-1] in _APOSTROPHES or after[:1] in _BEHIND_A_WORD
            first = tokenize(token + ("" if joined else " ") + after, abbreviations=abbreviations)[0].text
            pieces = [token] if first == token else pieces
        yield pieces


def sentences(text: str, cuts: Iterable[int] = (), abbreviations: Sequence[str] = ()) -> Iterator[list[Token]]:
    """Cut text into sentences of tokens.

    Parameters
    ----------
    text : str
        Any text; a blank line ends a sentence in any case.
    cuts, abbreviations
        As for `tokenize`.

    Yields
    ------
    list of Token
        A sentence ends after ``.``, ``!`` or ``?`` and what closes quotes or brackets, unless an abbreviation stands before
        the point, a small letter follows, or it stands between a day and a German month.

    Examples
    --------
    >>> [[token.text for token in part] for part in sentences("Dr. Low left. Why?")]
    [['Dr.', 'Low', 'left', '.'], ['Why', '?']]
    >>> [[token.text for token in part] for part in sentences("Il a env. 30 ans.", abbreviations=["env."])]
    [['Il', 'a', 'env.', '30', 'ans', '.']]
    """
    yield from into_sentences(text, tokenize(text, cuts, abbreviations))


def into_sentences(text: str, tokens: list[Token]) -> Iterator[list[Token]]:
    """Cut the tokens of a text into sentences; see `sentences`."""
    breaks = [match.end() for match in _PARAGRAPH.finditer(text)]
    part: list[Token] = []
    for place, token in enumerate(tokens):
        part.append(token)
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        if after is None or any(token.end <= border <= after.start for border in breaks) or _ends(tokens, place, after):
            yield part
            part = []


def _closes(tokens: list[Token], place: int) -> bool:
    """Tell whether a token closes a quote or bracket; a straight quote after a blank and before a word opens one."""
    token = tokens[place]
    if token.text not in _STRAIGHT or place == 0 or place + 1 == len(tokens):
        return token.text in _CLOSING
    return tokens[place - 1].end == token.start or token.end < tokens[place + 1].start


def _ends(tokens: list[Token], place: int, after: Token) -> bool:
    if _closes(tokens, place + 1) or after.text in _ENDS or after.text[:1].islower():
        return False
    last = place
    while last > 0 and _closes(tokens, last):
        last -= 1
    token = tokens[last]
    if token.text not in _ENDS:
        return False
    if token.text != "." or last == 0:
        return True
    before = tokens[last - 1]
    if before.text.isdigit() and _MONTH.fullmatch(after.text):
        return False
    return before.end != token.start or _ABBREVIATION.fullmatch(before.text) is None


def refuse_unspaced(who: str, text: str) -> None:
    """Raise if text is mostly of a script without blanks between words, and nobody has put them there.

    Parameters
    ----------
    who : str
        Where the text came from, for the message.
    text : str
        The text.

    Raises
    ------
    DataError
        That names the script.

    Examples
    --------
    >>> refuse_unspaced("a.txt", "Rome fell.")
    """
    n_letters = sum(map(str.isalpha, text)) or 1
    if n_letters <= _LONGEST_MEAN * len(text.split()):
        return  # somebody has cut it into words
    for script, pattern in _UNSPACED:
        if len(pattern.findall(text)) > n_letters / 2:
            raise DataError(
                f"{who}: text must have blanks between words, got {script}, which has none. "
                "Cut it into words first, with a tool for that language."
            )
