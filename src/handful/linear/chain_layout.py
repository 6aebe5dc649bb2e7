"""Numbering of the features of a linear chain, and the parts of its legal labelings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np

from handful.errors import DataError
from handful.persistence.schema import Array, Number, Record, check_state, is_rising, stored
from handful.preprocessing.extractor import Predicates


@dataclass(frozen=True, eq=False)
class ChainLayout:
    """Numbering of the features of a chain.

    The weight vector holds the features of predicates with a label, then of predicates with a label pair, then of bare
    label pairs, then of label triples.

    Parameters
    ----------
    n_labels : int
        Labels.
    node_offsets, node_targets : ndarray
        Predicate p has the label features ``node_offsets[p]`` to ``node_offsets[p + 1]``, whose labels are
        `node_targets`, rising.
    edge_offsets, edge_targets : ndarray
        The same for label pairs, each pair written ``before * n_labels + label``.
    pairs : ndarray of int64
        Label pairs that have a weight of their own, in the same writing, rising.
    triples : ndarray of int64
        Label triples that have a weight, written ``(first * n_labels + second) * n_labels + third``, rising.
    """

    n_labels: int
    node_offsets: np.ndarray
    node_targets: np.ndarray
    edge_offsets: np.ndarray
    edge_targets: np.ndarray
    pairs: np.ndarray
    triples: np.ndarray

    @property
    def starts(self) -> np.ndarray:
        """Where the four groups of features start, and their end."""
        sizes = [len(self.node_targets), len(self.edge_targets), len(self.pairs), len(self.triples)]
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    @property
    def n_features(self) -> int:
        """Length of the weight vector."""
        return int(self.starts[-1])

    @property
    def n_predicates(self) -> int:
        """Number of predicates."""
        return len(self.node_offsets) - 1

    def split(self, weights: np.ndarray) -> list[np.ndarray]:
        """Return views of the four groups of a weight vector."""
        starts = self.starts
        return [weights[a:b] for a, b in pairwise(starts)]

    def pair_matrix(self, weights: np.ndarray) -> np.ndarray:
        """Return the weights of bare label pairs as a matrix."""
        matrix = np.zeros(self.n_labels**2)
        matrix[self.pairs] = self.split(weights)[2]
        return matrix.reshape(self.n_labels, self.n_labels)

    def triple_tensor(self, weights: np.ndarray) -> np.ndarray:
        """Return the weights of label triples as a tensor."""
        tensor = np.zeros(self.n_labels**3)
        tensor[self.triples] = self.split(weights)[3]
        return tensor.reshape((self.n_labels,) * 3)

    def predicate_of(self) -> np.ndarray:
        """Return the predicate of each feature; -1 for bare label pairs and triples."""
        numbers = np.arange(self.n_predicates)
        node = np.repeat(numbers, np.diff(self.node_offsets))
        edge = np.repeat(numbers, np.diff(self.edge_offsets))
        return np.concatenate([node, edge, np.full(len(self.pairs) + len(self.triples), -1)])

    def targets(self) -> np.ndarray:
        """Return what each feature goes with: its label, label pair or label triple, as written in the groups."""
        return np.concatenate([self.node_targets, self.edge_targets, self.pairs, self.triples]).astype(np.int64)

    def keep(self, kept: np.ndarray, *, all_predicates: bool = False) -> tuple[ChainLayout, np.ndarray]:
        """Return the layout of some features only.

        Parameters
        ----------
        kept : ndarray of bool, shape (n_features,)
            Which features to keep.
        all_predicates : bool
            Keep the numbers of predicates that have no feature left.

        Returns
        -------
        layout : ChainLayout
            Without the other features.
        predicates : ndarray of bool
            Which predicates are left.
        """
        node, edge, pair, triple = self.split(kept)
        node_count = _per_row(node, self.node_offsets)
        edge_count = _per_row(edge, self.edge_offsets)
        left = ((node_count + edge_count) > 0) | all_predicates
        layout = ChainLayout(
            self.n_labels,
            _offsets(node_count[left]),
            self.node_targets[node],
            _offsets(edge_count[left]),
            self.edge_targets[edge],
            self.pairs[pair],
            self.triples[triple],
        )
        return layout, left

    STATE = Record(
        stored(
            n_labels=Number(int, size="k", high=30000),
            node_offsets=Array("i8", "p+1", low=0, below="node+1"),
            node_targets=Array("i4", "node?", below="k"),
            edge_offsets=Array("i8", "p+1", low=0, below="edge+1"),
            edge_targets=Array("i4", "edge?", below="k^2"),
            pairs=Array("i8", "_", low=0, below="k^2", rising=True),
            triples=Array("i8", "_", low=0, below="k^3", rising=True),
        ),
        shared=("k",),
    )

    def state(self) -> dict[str, Any]:
        """Return the fields as a dictionary, for a model file."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> ChainLayout:
        """Rebuild from `state`, refusing what would point outside the arrays."""
        check_state("ChainLayout", cls.STATE.fields, state)
        layout = cls(**state)
        checks = [
            _closed(layout.node_offsets, layout.node_targets),
            _closed(layout.edge_offsets, layout.edge_targets),
        ]
        if not all(checks):
            raise DataError("ChainLayout: the stored features are damaged.")
        return layout


def build_layout(
    n_predicates: int,
    n_labels: int,
    node: Predicates,
    edge: Predicates,
    codes: np.ndarray,
    *,
    order: int = 1,
    pairs: bool = True,
    all_labels: bool = False,
    allowed: np.ndarray | None = None,
) -> ChainLayout:
    """Give numbers to the features that labeled sentences show.

    Parameters
    ----------
    n_predicates, n_labels : int
        Sizes.
    node, edge : Predicates
        What was observed at each token, to go with labels and with label pairs.
    codes : ndarray of int32, shape (n_tokens,)
        Label of each token.
    order : {1, 2}
        With 2, label triples have weights.
    pairs : bool
        Whether bare label pairs have weights.
    all_labels : bool
        Give every predicate a feature with every label and legal pair, not only with those seen together.
    allowed : ndarray of bool, shape (n_labels, n_labels), optional
        Legal label pairs.

    Returns
    -------
    ChainLayout
        The numbering.

    Examples
    --------
    >>> node = Predicates.of(np.array([[0], [1], [0]]), np.array([0, 3]))
    >>> layout = build_layout(2, 2, node, Predicates.of(np.empty((3, 0)), np.array([0, 3])), np.array([0, 1, 1]))
    >>> layout.node_targets.tolist(), layout.pairs.tolist(), layout.n_features
    ([0, 1, 1], [1, 3], 5)
    """
    legal = np.ones((n_labels, n_labels), dtype=bool) if allowed is None else allowed
    pair, triple = pairs_and_triples(node.offsets, codes, n_labels)
    if all_labels:
        legal_pairs = np.flatnonzero(legal.ravel())
        node_keys = (_known(node)[:, None] * n_labels + np.arange(n_labels)).ravel()
        edge_predicates = _known(edge)
        edge_keys = (edge_predicates[:, None] * n_labels**2 + legal_pairs).ravel()
        seen_pairs = legal_pairs
        seen_triples = np.flatnonzero((legal[:, :, None] & legal[None, :, :]).ravel())
    else:
        node_keys = _seen(node, codes.astype(np.int64), n_labels)
        edge_keys = _seen(edge, pair, n_labels**2)
        seen_pairs = np.unique(pair[pair >= 0])
        seen_triples = np.unique(triple[triple >= 0])
    none = np.empty(0, dtype=np.int64)
    return ChainLayout(
        n_labels,
        _offsets(np.bincount(node_keys // n_labels, minlength=n_predicates)),
        (node_keys % n_labels).astype(np.int32),
        _offsets(np.bincount(edge_keys // n_labels**2, minlength=n_predicates)),
        (edge_keys % n_labels**2).astype(np.int32),
        seen_pairs if pairs else none,
        seen_triples if order == 2 else none,
    )


def labels_before(offsets: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return for each token the code of the token before it in its sentence, -1 at the start.

    Examples
    --------
    >>> labels_before(np.array([0, 2, 3]), np.array([5, 6, 7])).tolist()
    [-1, 5, -1]
    """
    before = np.full(len(codes), -1, dtype=np.int64)
    before[1:] = codes[:-1]
    starts = offsets[:-1]
    before[starts[starts < len(codes)]] = -1
    return before


def pairs_and_triples(offsets: np.ndarray, codes: np.ndarray, n_labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the label pair and the label triple that end at each token, written as in `ChainLayout`; -1 for none.

    Examples
    --------
    >>> pair, triple = pairs_and_triples(np.array([0, 3]), np.array([1, 0, 1]), 2)
    >>> pair.tolist(), triple.tolist()
    ([-1, 2, 1], [-1, -1, 5])
    """
    before = labels_before(offsets, codes)
    two_before = labels_before(offsets, before)
    pair = np.where(before >= 0, before * n_labels + codes, -1)
    return pair, np.where(two_before >= 0, two_before * n_labels**2 + pair, -1)


def _seen(observed: Predicates, targets: np.ndarray, n_targets: int) -> np.ndarray:
    """Return the distinct combinations of predicate and target, rising."""
    seen = [np.empty(0, dtype=np.int64)]
    fires = targets >= 0
    for column in observed.direct.T:
        here = fires & (column >= 0)
        seen.append(np.unique(column[here].astype(np.int64) * n_targets + targets[here]))
    for column in observed.rows.T:
        pairs = np.unique(column[fires].astype(np.int64) * n_targets + targets[fires])
        rows, own_targets = np.divmod(pairs, n_targets)
        counts = np.diff(observed.row_offsets)[rows]
        first = np.repeat(observed.row_offsets[rows], counts)
        within = np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts)
        seen.append(observed.row_ids[first + within].astype(np.int64) * n_targets + np.repeat(own_targets, counts))
    return np.unique(np.concatenate(seen))


def _known(observed: Predicates) -> np.ndarray:
    """Return the predicates that are observed at all, rising."""
    seen = np.unique(np.concatenate([observed.row_ids, observed.direct.ravel()]))
    return seen[seen >= 0].astype(np.int64)


def _offsets(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _per_row(flags: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    return np.diff(np.concatenate([[0], np.cumsum(flags)])[offsets])


def _closed(offsets: np.ndarray, targets: np.ndarray) -> bool:
    return bool(offsets[0] == 0 and offsets[-1] == len(targets) and is_rising(offsets, strictly=False))


_MAX_STEPS = 16


class LegalParts:
    """The parts that occur in any legal labeling of a sentence.

    A part is a label with as many labels before it as `order` says and the sentence has. Positions with the same parts
    form a class: usually the first one, the second one and all others.

    Parameters
    ----------
    allowed : ndarray of bool, shape (n_labels, n_labels)
        Legal pairs of neighboring labels.
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
    Labels that cannot be reached from the start in that number of steps, or from which the end cannot be reached, are in no
    part. Rules under which that never settles are followed for 16 positions from either end.

    Examples
    --------
    >>> parts = LegalParts(np.array([[True, True], [True, False]]), np.array([True, False]), 1)
    >>> parts.classes(np.array([0, 3])).tolist(), parts.n_parts.tolist()
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

    def r_bar(self, offsets: np.ndarray, classes: np.ndarray) -> np.ndarray:
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
    while len(settled) < _MAX_STEPS:
        following = step(settled[-1])
        if (following == settled[-1]).all():
            break
        settled.append(following)
    return settled
