"""In how many parts of a chain each label, label pair and label triple stands, position by position."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

_MOST = 16


class PartShares:
    """The parts that occur in any legal labeling of a sentence.

    A part is a label with as many labels before it as `order` says and the sentence has. Positions with the same parts
    form a class: usually the first one, the second one and all others.

    Parameters
    ----------
    allowed : ndarray of bool, shape (n_labels, n_labels)
        Label pairs that may stand side by side.
    allowed_first : ndarray of bool, shape (n_labels,)
        Labels that a sentence may start with.
    order : {1, 2}
        Length of the label history.

    Attributes
    ----------
    n_classes : int
        Number of classes of positions.
    labels : ndarray of float64, shape (n_classes, n_labels)
        In how many parts a label stands last.
    pairs : ndarray of float64, shape (n_classes, n_labels, n_labels)
        In how many parts a label pair stands last.
    triples : ndarray of float64, shape (n_classes, n_labels, n_labels, n_labels)
        The same of label triples; no labels for order 1.
    n_parts : ndarray of float64, shape (n_classes,)
        Parts at a position.

    Notes
    -----
    Labels that cannot be reached from the start in so many steps, or from which the end cannot be reached, are in no
    part. Rules under which that never settles are followed for 16 positions from either end.

    Examples
    --------
    >>> shares = PartShares(np.array([[True, True], [True, False]]), np.array([True, False]), 1)
    >>> shares.classes(np.array([0, 3])).tolist(), shares.n_parts.tolist()
    ([0, 1, 2], [1.0, 2.0, 3.0])
    """

    def __init__(self, allowed: np.ndarray, allowed_first: np.ndarray, order: int) -> None:
        n, self.order = len(allowed), order
        starts = _settled(allowed_first, lambda reached: (reached[:, None] & allowed).any(axis=0))
        ends = _settled(np.ones(n, dtype=bool), lambda reached: (allowed & reached).any(axis=1))
        self._n_starts, self._n_ends = len(starts) + order, len(ends)
        self.n_classes = self._n_starts * self._n_ends
        self.labels, self.pairs = np.zeros((self.n_classes, n)), np.zeros((self.n_classes, n, n))
        self.triples = np.zeros((self.n_classes, n, n, n) if order == 2 else (self.n_classes, 0, 0, 0))
        for number in range(self.n_classes):
            position, rest = divmod(number, self._n_ends)
            start, end = starts[max(0, min(position - order, len(starts) - 1))], ends[rest]
            if position == 0:
                self.labels[number] = start & end
                continue
            pairs = (start[:, None] & allowed if order == 1 or position == 1 else allowed) & end
            if order == 2 and position > 1:
                self.triples[number] = (start[:, None] & allowed)[:, :, None] & pairs
                self.pairs[number] = self.triples[number].sum(axis=0)
            else:
                self.pairs[number] = pairs
            self.labels[number] = self.pairs[number].sum(axis=0)
        self.n_parts = self.labels.sum(axis=1)

    def classes(self, offsets: np.ndarray) -> np.ndarray:
        """Return the class of every token.

        Parameters
        ----------
        offsets : ndarray of int64
            Where each sentence starts.

        Returns
        -------
        ndarray of int64
            One class per token.
        """
        lengths = np.diff(offsets)
        position = np.arange(int(lengths.sum())) - np.repeat(offsets[:-1] - offsets[0], lengths)
        rest = np.repeat(lengths, lengths) - 1 - position
        start = np.minimum(position, self._n_starts - 1)
        return np.asarray(start * self._n_ends + np.minimum(rest, self._n_ends - 1))

    def shares(self, offsets: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """Return how much of a sentence's parts one labeling has, for every sentence.

        Parameters
        ----------
        offsets : ndarray of int64
            Where each sentence starts.
        classes : ndarray of int64
            Class of every token.

        Returns
        -------
        ndarray of float64
            One number per sentence: r-bar of Suzuki et al. (2011).
        """
        lengths = np.diff(offsets)
        number = np.repeat(np.arange(len(lengths)), lengths)
        n_parts = np.bincount(number, weights=self.n_parts[classes], minlength=len(lengths))
        return np.asarray(lengths / np.maximum(n_parts, 1.0))


def _settled(first: np.ndarray, step: Callable[[np.ndarray], np.ndarray]) -> list[np.ndarray]:
    """Return what a step leads to again and again, until it stays the same."""
    settled = [first]
    while len(settled) < _MOST:
        following = step(settled[-1])
        if (following == settled[-1]).all():
            break
        settled.append(following)
    return settled
