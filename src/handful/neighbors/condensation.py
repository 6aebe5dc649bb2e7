"""Condensation of labeled rows, and what can be said about a condensed set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from handful.core.counted import counted
from handful.core.errors import DataError
from handful.core.labels import code_of, encode_labels
from handful.core.schema import Array, Names, stored
from handful.kernels.condense import condense
from handful.kernels.distances import Rows
from handful.kernels.nearest import no_neighbors
from handful.neighbors.rows import distinct, n_rows, take
from handful.neighbors.stored import StoredRowsClassifier
from handful.neighbors.votes import Rule, ask

REASONS = np.array(["first", "wrong", "unsure"])


@dataclass(frozen=True, eq=False)
class Condensed:
    """A condensed set.

    Parameters
    ----------
    kept : ndarray of int64
        Positions among the visits, in the order of storing.
    reasons : ndarray of str
        Why each was stored: the store was empty (``first``), it was predicted ``wrong``, or its share of the votes was
        too small (``unsure``).
    passes : ndarray of int32
        In which pass each was stored.
    n_passes : int
        Passes over the rows.
    """

    kept: np.ndarray
    reasons: np.ndarray
    passes: np.ndarray
    n_passes: int


def condense_rows(
    rows: Rows,
    visits: np.ndarray,
    codes: np.ndarray,
    k: int,
    rule: Rule,
    *,
    min_confidence: float = 0.0,
    max_passes: int | None = 1,
    max_kept: int | None = None,
) -> Condensed:
    """Condense labeled rows; identical rows share one memory of their neighbors.

    Parameters
    ----------
    rows : Rows
        A table.
    visits : ndarray of int64
        Row numbers in the order of visiting.
    codes : ndarray of int32
        Label of each visit.
    k : int
        Number of neighbors, or of distinct distances.
    rule : Rule
        Who votes and how.
    min_confidence, max_passes, max_kept
        See `handful.neighbors.CondensedNN`.

    Returns
    -------
    Condensed
        The condensed set.
    """
    first, which = distinct(rows)
    if len(first) < n_rows(rows):
        rows = take(rows, first)
    n_labels = int(codes.max()) + 1
    near = no_neighbors(len(first), min(k, len(visits)), n_labels, rule.all_ties)
    kept, reasons, passes, n_passes = condense(
        rows,
        np.ascontiguousarray(which[visits], dtype=np.int64),
        np.ascontiguousarray(codes, dtype=np.int32),
        near,
        rule.metric,
        rule.vote,
        rule.all_ties,
        float(min_confidence),
        max_passes or 0,
        max_kept or len(visits),
    )
    return Condensed(kept, REASONS[reasons], passes, int(n_passes))


@dataclass(frozen=True, eq=False)
class Certificate:
    """What a condensed set is worth on a labeled table, usually the one it was made from.

    Parameters
    ----------
    n_rows : int
        Labeled rows of the table.
    n_kept : int
        Stored rows.
    reasons : dict of str to int
        How many were stored for which reason.
    accuracy : float
        Share of the labeled rows that the stored rows predict right: training consistency.
    wrong : ndarray of int64
        Row numbers of the others.
    """

    n_rows: int
    n_kept: int
    reasons: dict[str, int]
    accuracy: float
    wrong: np.ndarray

    @property
    def consistent(self) -> bool:
        """Whether every labeled row is predicted right."""
        return len(self.wrong) == 0


class CondensedClassifier(StoredRowsClassifier):
    """Base of the classifiers whose stored rows are a condensed set.

    Attributes
    ----------
    kept_ : ndarray of int64
        Stored rows of the table of the fit, in the order of storing.
    kept_labels_ : ndarray
        Their labels.
    reasons_ : ndarray of str
        Why each was stored: ``first``, ``wrong`` or ``unsure``.
    """

    STATE = stored(kept_=Array("i8", "s", low=0), kept_labels_=Names("s"), reasons_=Names("s", only_text=True))

    kept_: np.ndarray
    kept_labels_: np.ndarray
    reasons_: np.ndarray

    def certify(self, X: Any, y: Any) -> Certificate:
        """Check the stored rows against a labeled table.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows, usually those of the fit.
        y : array-like of shape (n_samples,)
            Their labels; unlabeled rows are left out.

        Returns
        -------
        Certificate
            Consistency and the reasons why rows were kept.
        """
        truth = self._truth(y)
        predicted = self._ask(X).codes
        labeled = np.flatnonzero(truth != -1)
        wrong = labeled[predicted[labeled] != truth[labeled]]
        names, counts = np.unique(self.reasons_, return_counts=True)
        reasons = dict(zip(names.tolist(), counts.tolist(), strict=True))
        accuracy = 1.0 - len(wrong) / len(labeled)
        return Certificate(len(labeled), len(self.stored_codes_), reasons, accuracy, wrong)

    def curve(self, X: Any, y: Any, sizes: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Tell how accuracy grows with the number of stored rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows, best such that were not used in the fit.
        y : array-like of shape (n_samples,)
            Their labels; unlabeled rows are left out.
        sizes : sequence of int or None
            How many of the first stored rows to use; None for 1, 2, 4, ... and all.

        Returns
        -------
        sizes : ndarray of int64
            Numbers of stored rows, ascending.
        accuracy : ndarray of float64
            Accuracy with so many.
        """
        n_kept = len(self.stored_codes_)
        wanted = [2**e for e in range(n_kept.bit_length())] if sizes is None else list(sizes)
        used = np.unique(np.array([*wanted, n_kept] if sizes is None else wanted, dtype=np.int64))
        if len(used) == 0 or used[0] < 1 or used[-1] > n_kept:
            raise DataError(
                f"{type(self).__name__}: sizes must lie between 1 and the {counted(n_kept, 'stored row')}, got {wanted}."
            )
        truth = self._truth(y)
        labeled = np.flatnonzero(truth != -1)
        rows, stored = take(self._encode(X), labeled), self._stored()
        accuracy = np.empty(len(used))
        for i, size in enumerate(used):
            answer = ask(
                take(stored, np.arange(size)),
                self.stored_codes_[:size],
                len(self.classes_),
                rows,
                self.n_neighbors_,
                self._rule(),
            )
            accuracy[i] = np.mean(answer.codes == truth[labeled])
        return used, accuracy

    def _truth(self, y: Any) -> np.ndarray:
        """Encode labels by the classes of the fit; -1 is unlabeled, -2 a label that the fit has not seen."""
        labels = encode_labels(y, who=type(self).__name__)
        known = code_of(self.classes_)
        translated = np.array([*(known.get(label, -2) for label in labels.classes.tolist()), -1])
        return np.asarray(translated[labels.codes])
