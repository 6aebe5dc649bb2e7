"""What is odd about labels, so that a score may not mean what it seems to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

import numpy as np

from handful.core.counted import counted

RARE_SHARE = 0.1
"""A class with a smaller share of the labels is rare."""

LOPSIDED = 0.8
"""Where one class has more of the labels than this share, methods are compared by balanced accuracy unless told otherwise."""

_OFTEN = 5


def label_suspicions(codes: np.ndarray, classes: Any) -> list[str]:
    """Return a sentence for each thing about the labels that a user should look at.

    Parameters
    ----------
    codes : ndarray of int
        Class of each row, -1 where unlabeled.
    classes : sequence
        Label of each code.

    Returns
    -------
    list of str
        About labels that differ in case alone, labels that may be misspelled, classes of one label each, and rare classes.

    Examples
    --------
    >>> label_suspicions(np.array([0] * 8 + [1] * 8 + [2]), ["cat", "dog", "dgo"])[0]
    "The label 'dgo' occurs once. If 'dog' was meant, correct it: it counts as a class of its own."
    >>> label_suspicions(np.array([0] * 40 + [1] * 40 + [2]), ["cat", "dog", "bird"])[0].split(".")[0]
    "Rare: 'bird' (1 label) of 81"
    """
    notes = [*_alike(classes), *_typos(codes, classes)]
    if (np.bincount(codes[codes >= 0], minlength=len(classes)) == 1).all():
        notes.append(
            f"Every one of the {len(classes):,} classes has a single label, so none can be held out: how often answers are right "
            "cannot be told, and no method can be chosen by it. Two labels of each class would do."
        )
    rare = rare_classes(codes, classes)
    if rare:
        told = ", ".join(f"{str(label)!r} ({counted(n, 'label')})" for label, n in list(rare.items())[:3])
        notes.append(
            f"Rare: {told} of {int((codes >= 0).sum()):,}. Plain accuracy would hardly notice them{_advice(codes)}"
        )
    return notes


def is_lopsided(codes: np.ndarray) -> bool:
    """Tell whether one class has nearly all labels; codes are -1 where unlabeled.

    Examples
    --------
    >>> is_lopsided(np.array([0] * 9 + [1])), is_lopsided(np.array([0, 1, -1]))
    (True, False)
    """
    counts = np.bincount(codes[codes >= 0], minlength=1)
    return bool(counts.max() > LOPSIDED * counts.sum())


def _advice(codes: np.ndarray) -> str:
    if is_lopsided(codes):
        return ", so methods are compared by balanced accuracy, unless --metric says otherwise."
    return '; balanced accuracy does, and the team then finds more of them: --metric "balanced accuracy".'


def _alike(classes: Any) -> Iterator[str]:
    """Tell of labels that are one to a reader, and two to a machine."""
    spellings: dict[str, list[str]] = {}
    for label in classes:
        spellings.setdefault(str(label).casefold(), []).append(str(label))
    for same in spellings.values():
        if len(same) > 1:
            yield f"The labels {' and '.join(map(repr, same))} differ in case alone and count as {len(same)} classes."


def _typos(codes: np.ndarray, classes: Any) -> Iterator[str]:
    """Tell of a label that occurs once and is written much like a frequent one; numbers in names are names."""
    counts = np.bincount(codes[codes >= 0], minlength=len(classes))
    frequent = [str(label) for label, n in zip(classes, counts, strict=True) if n >= _OFTEN]
    for label, n in zip(classes, counts, strict=True):
        name = str(label)
        near = get_close_matches(name, frequent, n=1, cutoff=0.6) if n == 1 and len(name) > 2 else []
        if near and re.sub(r"\d", "", name) != re.sub(r"\d", "", near[0]) and name.casefold() != near[0].casefold():
            yield f"The label {name!r} occurs once. If {near[0]!r} was meant, correct it: it counts as a class of its own."


def rare_classes(codes: np.ndarray, classes: Any) -> dict[Any, int]:
    """Return the classes with less than a tenth of the labels that they would have in a balanced table of two classes.

    Parameters
    ----------
    codes : ndarray of int
        Class of each row, -1 where unlabeled.
    classes : sequence
        Label of each code.

    Returns
    -------
    dict of label to int
        Number of labels of each rare class, the rarest first.

    Examples
    --------
    >>> rare_classes(np.array([0] * 19 + [1]), ["fair", "fraud"])
    {'fraud': 1}
    """
    counts = np.bincount(codes[codes >= 0], minlength=len(classes))
    # With many classes a tenth of all labels is plenty; what counts is the share of an even one.
    least = RARE_SHARE * 2 * counts.sum() / max(len(classes), 2)
    order = np.argsort(counts, kind="stable")
    return {classes[code]: int(counts[code]) for code in order if 0 < counts[code] < least}
