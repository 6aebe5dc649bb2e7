"""Observations in words that need no knowledge of templates."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from handful.features.batch import PAD_NAMES
from handful.features.cluster_words import ClusterWords
from handful.features.language import Atom

_FIRES = {"hyphen": "has a hyphen", "digit": "has a digit", "capital": "starts with a capital"}
_CAPITALS = {"I": "a capital first", "A": "capitals only", "M": "capitals inside", "-": ""}
_DIGITS = {"A": "digits only", "S": "some digits", "-": ""}
_MARKS = {"A": "punctuation only", "S": "some punctuation", "-": ""}


def in_words(
    slot: Sequence[Atom],
    values: Sequence[str],
    clusters: Mapping[str, ClusterWords] | None = None,
    without: Collection[str] = (),
) -> str:
    """Say what was observed.

    Parameters
    ----------
    slot : sequence of Atom
        What was looked at.
    values : sequence of str
        What was found there.
    clusters : mapping of str to ClusterWords, optional
        Words of clusters, by the name of the table that was looked into.
    without : collection of str
        Words that are no examples of a cluster, such as those of the sentence.

    Returns
    -------
    str
        A phrase.

    Examples
    --------
    >>> from handful.features import parse_templates
    >>> in_words(parse_templates(["word.lower[-1]|word.type[0]"])[0].atoms, ["in", "I--"])
    'the word before is "in", and the word has a capital first'
    >>> clusters = {"brown": ClusterWords({"monday": "1110", "friday": "1110"})}
    >>> in_words(parse_templates(["brown.prefix4[1]"])[0].atoms, ["1110"], clusters)
    'the word after is of a cluster with "monday", "friday" (brown 1110)'
    """
    phrases = [_phrase(atom, value, clusters or {}, without) for atom, value in zip(slot, values, strict=True)]
    return ", and ".join(phrases) or "the tag itself, whatever the words"


def _phrase(atom: Atom, value: str, clusters: Mapping[str, ClusterWords], without: Collection[str]) -> str:
    if value in PAD_NAMES and (atom.first or atom.last):
        return f"the sentence {'begins' if atom.last < 0 else 'ends'} {_distance(atom)} the word"
    place = _place(atom)
    subject = place if atom.column == "word" else f"{atom.column} of {place}"
    if atom.column in clusters and set(value) <= set("01"):
        shared = ", ".join(f'"{word}"' for word in clusters[atom.column].sharing(value, without))
        return (
            f"{place} is of {f'a cluster with {shared}' if shared else 'one cluster of words'} ({atom.column} {value})"
        )
    function = atom.functions[-1] if atom.functions else ""
    if function in _FIRES:
        return f"{subject} {_FIRES[function]}"
    if function == "type":
        told = [kind[letter] for kind, letter in zip((_CAPITALS, _DIGITS, _MARKS), value, strict=True) if kind[letter]]
        return f"{subject} has {' and '.join(told) or 'small letters only'}"
    verb = "starts with" if function.startswith("prefix") else "ends in" if function.startswith("suffix") else "is"
    if function in ("shape", "pattern"):
        verb = "is written like"
    return f'{subject} {verb} "{value}"'


def _place(atom: Atom) -> str:
    if atom.first != atom.last:
        side = "before" if atom.last < 0 else "after" if atom.first > 0 else "around"
        return f"one of the {atom.last - atom.first + 1} words {side}"
    if atom.first == 0:
        return "the word"
    side = "before" if atom.first < 0 else "after"
    nth = {1: "word", 2: "second word"}.get(abs(atom.first), f"word {abs(atom.first)} places")
    return f"the {nth} {side}"


def _distance(atom: Atom) -> str:
    side = "before" if atom.first < 0 else "after"
    return f"right {side}" if abs(atom.first) == 1 else f"less than {abs(atom.first)} words {side}"
