"""From the features of one word's contexts to sparse rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse


def learn_names(labeled: Sequence[Mapping[str, float]], unlabeled: Sequence[Mapping[str, float]] = ()) -> list[str]:
    """Return the features worth a column, sorted: all of labeled contexts, and those that two unlabeled ones share.

    Examples
    --------
    >>> learn_names([{"a": 1.0}], [{"b": 1.0, "c": 1.0}, {"b": 1.0}])
    ['a', 'b']
    """
    counts = Counter(name for features in unlabeled for name in features)
    names = {name for features in labeled for name in features}
    return sorted(names | {name for name, count in counts.items() if count > 1})


def to_rows(features: Sequence[Mapping[str, float]], columns: Mapping[str, int], *, unit: bool) -> Any:
    """Turn features into a CSR matrix.

    Parameters
    ----------
    features : sequence of mappings
        Features of each context.
    columns : mapping of str to int
        Column of each feature; others are left out.
    unit : bool
        Whether to divide each row by its length, to which features without a column count as well: a context full of unknown
        words is far from everything.

    Returns
    -------
    csr_array
        One row for each context.

    Examples
    --------
    >>> to_rows([{"a": 3.0, "x": 4.0}], {"a": 0}, unit=True).toarray().tolist()
    [[0.6]]
    """
    indptr, indices, values = [0], [], []
    for named in features:
        length = sum(value * value for value in named.values()) ** 0.5 if unit else 1.0
        for name, value in named.items():
            column = columns.get(name)
            if column is not None:
                indices.append(column)
                values.append(value / length)
        indptr.append(len(indices))
    rows = sparse.csr_array(
        (np.array(values, dtype=np.float64), np.array(indices, dtype=np.int32), np.array(indptr, dtype=np.int32)),
        shape=(len(features), len(columns)),
    )
    rows.sort_indices()
    return rows
