"""Which labels may follow which: the rules of IOB-style encodings of spans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from handful.core.errors import DataError

Constraints = Literal["iob2", "iobes", "seen"]


def allowed_pairs(labels: Sequence[str], scheme: Literal["iob2", "iobes"]) -> tuple[np.ndarray, np.ndarray]:
    """Return the legal label pairs and the legal first labels of a span encoding.

    Parameters
    ----------
    labels : sequence of str
        ``O`` and labels such as ``B-PER``.
    scheme : {"iob2", "iobes"}
        ``iob2``: a span is B I*. ``iobes``: a span is S, or B I* E.

    Returns
    -------
    pairs : ndarray of bool, shape (n_labels, n_labels)
        Whether the second label may follow the first.
    first : ndarray of bool, shape (n_labels,)
        Whether a sentence may start with the label.

    Examples
    --------
    >>> pairs, first = allowed_pairs(["B-X", "I-X", "O"], "iob2")
    >>> pairs.tolist(), first.tolist()
    ([[True, True, True], [True, True, True], [True, False, True]], [True, False, True])
    """
    split = [_parted(label, scheme) for label in labels]
    first = np.array([mark not in ("I", "E") for mark, _ in split])
    pairs = np.empty((len(labels), len(labels)), dtype=bool)
    for i, (mark, kind) in enumerate(split):
        open_span = mark in ("B", "I") if scheme == "iobes" else False
        for j, (next_mark, next_kind) in enumerate(split):
            inside = next_mark in ("I", "E")
            joins = mark in ("B", "I") and kind == next_kind
            pairs[i, j] = joins if inside else not open_span
    return pairs, first


def _parted(label: str, scheme: Literal["iob2", "iobes"]) -> tuple[str, str]:
    """Return mark and kind of a label."""
    marks = "BI" if scheme == "iob2" else "BIES"
    mark, _, kind = label.partition("-")
    if label != "O" and (mark not in marks or not mark or not kind):
        raise DataError(
            f"CRF: with constraints={scheme!r} every tag must be O or start with one of "
            f"{', '.join(m + '-' for m in marks)}, got {label!r}."
        )
    return mark, kind


def seen_pairs(n_labels: int, before: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the label pairs and first labels that occur in data; see `allowed_pairs`.

    Examples
    --------
    >>> pairs, first = seen_pairs(2, np.array([-1, 0]), np.array([0, 1]))
    >>> pairs.tolist(), first.tolist()
    ([[False, True], [False, False]], [True, False])
    """
    pairs = np.zeros((n_labels, n_labels), dtype=bool)
    inner = before >= 0
    pairs[before[inner], codes[inner]] = True
    first = np.zeros(n_labels, dtype=bool)
    first[codes[~inner]] = True
    return pairs, first
