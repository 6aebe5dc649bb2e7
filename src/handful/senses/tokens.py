"""Cutting contexts into tokens and finding the sentence around a word."""

from __future__ import annotations

import re
from functools import lru_cache

from handful.core.records import Occurrence

_ENTITY = re.compile(r"\[([A-Za-z]+)\]")
_SIGNS = {
    "bquo": '"',
    "equo": '"',
    "ldquo": '"',
    "rdquo": '"',
    "quot": '"',
    "lsquo": "'",
    "rsquo": "'",
    "mdash": " -- ",
}
_SIGNS |= {
    "ndash": "-",
    "hellip": " ... ",
    "dash": "-",
    "pound": "#",
    "percnt": "%",
    "amp": "&",
    "lsqb": "(",
    "rsqb": ")",
}
_ACCENTED = re.compile(r"([A-Za-z])(acute|grave|uml|circ|cedil|tilde|ring|caron|slash)")
_PIECE = re.compile(
    r"--+|\.\.\.+|[A-Za-z]\.(?:[A-Za-z]\.)+|\d[\d.,:/]*\d|"
    r"[^\W_]+?(?=n't\b)|n't\b|'(?:s|re|ve|d|ll|m)\b|"
    r"[^\W_]+(?:[-&/_][^\W_]+)*|\S",
    re.IGNORECASE,
)
_ABBREVIATION = re.compile(r"(?:[A-Z]|Mr|Mrs|Ms|Dr|St|Inc|Corp|Co|Ltd|Jr|Sr|No|vs|etc|Prof|Gen|Sen|Rep|Gov)\.")
_ENDS = frozenset(".!?")
_CLOSING = frozenset("\"')")


@lru_cache(maxsize=200_000)
def split_token(token: str) -> tuple[str, ...]:
    """Cut punctuation and clitics off a token that stood between blanks, and resolve entity names in brackets.

    Parameters
    ----------
    token : str
        A token without blanks.

    Returns
    -------
    tuple of str
        At least one token.

    Examples
    --------
    >>> split_token('rave.[equo]'), split_token("didn't"), split_token("Mr."), split_token("U.S.")
    (('rave', '.', '"'), ('did', "n't"), ('Mr.',), ('U.S.',))
    """
    if token.isalpha():
        return (token,)
    text = _ENTITY.sub(_resolved, token)
    if _ABBREVIATION.fullmatch(text):
        return (text,)
    return tuple(_PIECE.findall(text)) or (token,)


def _resolved(match: re.Match[str]) -> str:
    name = match.group(1)
    accented = _ACCENTED.fullmatch(name)
    if accented:
        return accented.group(1)
    return _SIGNS.get(name, f" {name} ")


def tokenize(occurrence: Occurrence) -> Occurrence:
    """Cut every token of a context further, keeping track of the word and its satellites.

    Parameters
    ----------
    occurrence : Occurrence
        A context whose tokens stood between blanks.

    Returns
    -------
    Occurrence
        The same with finer tokens. Of a target that is cut, the first piece made of letters is the target.

    Examples
    --------
    >>> o = tokenize(Occurrence("art.n", "1", ("(Modern", "art.)", "Yes!"), 1))
    >>> o.tokens, o.target
    (('(', 'Modern', 'art', '.', ')', 'Yes', '!'), 2)
    """
    pieces = [split_token(token) for token in occurrence.tokens]
    starts = [0]
    for piece in pieces:
        starts.append(starts[-1] + len(piece))

    def moved(old: int) -> int:
        inside = next((i for i, piece in enumerate(pieces[old]) if piece[:1].isalnum()), 0)
        return starts[old] + inside

    return Occurrence(
        occurrence.word,
        occurrence.id,
        tuple(piece for cut in pieces for piece in cut),
        moved(occurrence.target),
        occurrence.senses,
        tuple(moved(s) for s in occurrence.satellites),
        occurrence.source,
    )


def sentence_bounds(tokens: tuple[str, ...], position: int, limit: int = 60) -> tuple[int, int]:
    """Return start and end of the sentence around a token, at most `limit` tokens to either side.

    Examples
    --------
    >>> sentence_bounds(("Rome", "fell", ".", '"', "So", "what", "?"), 4)
    (3, 7)
    """
    start = position
    while start > max(0, position - limit) and tokens[start - 1] not in _ENDS:
        start -= 1
    end = position + 1
    while end < min(len(tokens), position + limit) and tokens[end - 1] not in _ENDS:
        end += 1
    while end < len(tokens) and tokens[end] in _CLOSING and tokens[end - 1] in _ENDS | _CLOSING:
        end += 1
    return start, end
