"""Weights that all labels of one type of span share: what speaks for ``B-PER`` speaks for ``I-PER``, too."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from handful.linear import ChainLayout
from handful.linear.shared_weights import Ties


def share_types(layout: ChainLayout, labels: Sequence[str]) -> tuple[ChainLayout, Ties]:
    """Give every observation, beside its weights with labels, one with each type of span, which its labels share.

    Parameters
    ----------
    layout : ChainLayout
        Numbering of the features.
    labels : sequence of str
        The labels: ``O``, ``B-PER``, ``I-PER`` and so on.

    Returns
    -------
    layout : ChainLayout
        Every observation that goes with one label of a type goes with all of them.
    ties : Ties
        The weight of an observation with a label is its own plus that with the type. Label pairs have their own only.

    Examples
    --------
    >>> none, label = np.empty(0, dtype=np.int64), np.array([0], dtype=np.int32)
    >>> seen = ChainLayout(3, np.array([0, 1]), label, np.array([0, 0]), none, none, none)
    >>> layout, ties = share_types(seen, ["B-PER", "I-PER", "O"])
    >>> layout.node_targets.tolist(), ties.spread(np.array([1.0, 0.0, 0.5])).tolist()
    ([0, 1], [1.5, 0.5])
    """
    n_labels = layout.n_labels
    names, type_of = np.unique([label.partition("-")[2] or label for label in labels], return_inverse=True)
    predicates = np.repeat(np.arange(layout.n_predicates), np.diff(layout.node_offsets))
    # All pairs of a seen (observation, type) and a label of this type, as rising keys of (observation, label).
    seen = np.unique(predicates * len(names) + type_of[layout.node_targets])
    rows, columns = np.nonzero((seen % len(names))[:, None] == type_of)
    keys = (seen // len(names))[rows] * n_labels + columns
    rising = np.argsort(keys)
    keys, rows = keys[rising], rows[rising]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(keys // n_labels, minlength=layout.n_predicates))])
    wider = ChainLayout(
        n_labels,
        offsets.astype(np.int64),
        (keys % n_labels).astype(np.int32),
        layout.edge_offsets,
        layout.edge_targets,
        layout.pairs,
        layout.triples,
    )
    n = wider.n_features
    shared, value = np.zeros(n, dtype=np.int64), np.zeros(n)
    shared[: len(keys)], value[: len(keys)] = n + rows, 1.0
    return wider, Ties(n + len(seen), np.arange(n), shared, value)
