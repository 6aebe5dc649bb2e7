"""Checks of what a prototype tagger is taught by: word lists and labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from handful.core.errors import DataError
from handful.core.labels import UNLABELED, code_of

Given = Sequence[Sequence[str | None] | None]


def check_lists(lists: Any, name: str) -> dict[str, list[str]]:
    """Check lists of words by label; return them with each word once.

    Parameters
    ----------
    lists : mapping of str to sequence of str, or None
        Words of each label.
    name : str
        Name of the parameter, for errors.

    Returns
    -------
    dict of str to list of str
        The same, empty for None.

    Examples
    --------
    >>> check_lists({"N": ["dog", "cat", "dog"]}, "prototypes")
    {'N': ['dog', 'cat']}
    >>> check_lists({"N": "dog"}, "prototypes")
    Traceback (most recent call last):
    ...
    handful.core.errors.DataError: PrototypeTagger: prototypes must map each label to a list of words, got 'dog' for 'N'.
    """
    if lists is None:
        return {}
    if not isinstance(lists, Mapping):
        raise DataError(f"PrototypeTagger: {name} must map each label to a list of words, got {type(lists).__name__}.")
    checked: dict[str, list[str]] = {}
    for label, words in lists.items():
        if not isinstance(label, str) or not label:
            raise DataError(f"PrototypeTagger: the labels of {name} must be filled strings, got {label!r}.")
        if isinstance(words, str) or not hasattr(words, "__iter__"):
            raise DataError(
                f"PrototypeTagger: {name} must map each label to a list of words, got {words!r} for {label!r}."
            )
        checked[label] = list(dict.fromkeys(words))
        for word in checked[label]:
            if not isinstance(word, str) or not word:
                raise DataError(
                    f"PrototypeTagger: the words of {name} must be filled strings, got {word!r} for {label!r}."
                )
    return checked


def check_labels(labels: Any) -> set[str]:
    """Check a list of labels; return them as a set.

    Examples
    --------
    >>> check_labels(None), check_labels(["X"])
    (set(), {'X'})
    """
    if labels is None:
        return set()
    if isinstance(labels, str) or not hasattr(labels, "__iter__"):
        raise DataError(f"PrototypeTagger: labels must be a list of strings, got {labels!r}.")
    bad = [label for label in labels if not isinstance(label, str) or not label]
    if bad:
        raise DataError(f"PrototypeTagger: labels must be filled strings, got {bad[0]!r}.")
    return set(labels)


def merge_lists(*lists: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the words that any of several lists has under each label.

    Examples
    --------
    >>> merge_lists({"N": ["dog"]}, {"N": ["cat", "dog"], "V": ["barks"]})
    {'N': ['dog', 'cat'], 'V': ['barks']}
    """
    merged: dict[str, list[str]] = {}
    for one in lists:
        for label, words in one.items():
            merged[label] = list(dict.fromkeys([*merged.get(label, ()), *words]))
    return merged


def check_given(given: Any, offsets: np.ndarray, name: str) -> Given | None:
    """Check labels that are known of some tokens.

    Parameters
    ----------
    given : sequence of (sequence of (str or None) or None), or None
        One entry per sentence.
    offsets : ndarray of int64
        Where each sentence starts.
    name : str
        Name of the parameter, for errors.

    Returns
    -------
    sequence or None
        The same.

    Examples
    --------
    >>> check_given([["D", None], None], np.array([0, 2, 3]), "tags")
    [['D', None], None]
    """
    if given is None:
        return None
    if isinstance(given, str) or not hasattr(given, "__len__"):
        raise DataError(f"PrototypeTagger: {name} must be a list of lists of strings, got {type(given).__name__}.")
    lengths = np.diff(offsets).tolist()
    if len(given) != len(lengths):
        raise DataError(
            f"PrototypeTagger: {name} must have one entry per sentence, got {len(lengths)} sentences and {len(given)} entries."
        )
    for number, (tags, length) in enumerate(zip(given, lengths, strict=True)):
        if tags is None:
            continue
        if isinstance(tags, str) or not hasattr(tags, "__len__"):
            raise DataError(f"PrototypeTagger: {name} of sentence {number} must be a list or None, got {tags!r}.")
        if len(tags) != length:
            raise DataError(
                f"PrototypeTagger: {name} must have one entry per token, but sentence {number} has {length} tokens "
                f"and {len(tags)} entries. Use None for a token without a label."
            )
        bad = next((tag for tag in tags if tag is not None and (not isinstance(tag, str) or not tag)), None)
        if bad is not None or "" in tags:
            raise DataError(
                f"PrototypeTagger: {name} must be filled strings or None, got {bad!r} in sentence {number}."
            )
    checked: Given = given
    return checked


def flat_tags(given: Given | None, offsets: np.ndarray) -> np.ndarray:
    """Return the label of every token as an object array, None where none is given.

    Examples
    --------
    >>> flat_tags([["D", None], None], np.array([0, 2, 3])).tolist()
    ['D', None, None]
    """
    flat = np.full(int(offsets[-1]), None, dtype=object)
    for start, tags in zip(offsets[:-1].tolist(), given or (), strict=given is not None):
        if tags is not None:
            flat[start : start + len(tags)] = tags
    return flat


def flat_codes(given: Given | None, offsets: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the code of every token's label, -1 where none is given.

    Examples
    --------
    >>> flat_codes([["D", None], None], np.array([0, 2, 3]), np.array(["D", "N"])).tolist()
    [0, -1, -1]
    """
    numbers = code_of(classes) | {None: UNLABELED}
    return np.array([numbers[tag] for tag in flat_tags(given, offsets)], dtype=np.int32)
