"""Shots: the few labeled rows that represent a table best, such as for the prompt of a language model."""

from __future__ import annotations

from typing import Any

import numpy as np

from handful.data.labels import encode_labels
from handful.data.table import as_table
from handful.errors import ParameterError
from handful.models.condensed_rows import NearestRows
from handful.preprocessing.table_encoder import TableEncoder


def shots(X: Any, y: Any = None, n: int = 16) -> np.ndarray:
    """Choose labeled rows that represent all labeled rows, every class among them.

    Parameters
    ----------
    X : Table, data frame, list of texts, or array of shape (n_rows, n_columns)
        Rows.
    y : array-like of shape (n_rows,), optional
        Labels; missing ones mark unlabeled rows, which are not chosen. Those of a Table by default.
    n : int, default=16
        How many.

    Returns
    -------
    ndarray of int64
        Numbers of the rows, most representative first: the medoid of each class, the most frequent class first, and then
        the rows with which a nearest neighbor errs least. The first rows of more shots are the same rows.

    See Also
    --------
    condense_model : Rows that predict what a model predicts.

    Examples
    --------
    >>> rows = {"size": [1.0, 1.1, 1.2, 5.0, 9.0, 9.1]}
    >>> shots(rows, ["small", "small", "small", None, "large", "large"], n=2).tolist()
    [1, 4]
    """
    table = as_table(X, None if y is None else encode_labels(y, who="shots"))
    if table.labels is None:
        raise ParameterError("shots: no labels. Give y, or a table with a target.")
    labeled, codes = table.labeled, table.codes[table.labeled].astype(np.int64)
    counts = np.bincount(codes)
    n_classes = int((counts > 0).sum())
    if n < n_classes:
        raise ParameterError(f"shots: n must be at least {n_classes}, one row for each class; got {n}.")
    encoder = TableEncoder.learn(table.values(), table.columns, text="words")
    kept = NearestRows(n).fit(encoder.transform(table.cells[labeled]), codes).kept_
    medoids = sorted(kept[:n_classes].tolist(), key=lambda row: (-counts[codes[row]], row))
    return np.asarray(labeled[[*medoids, *kept[n_classes:].tolist()]], dtype=np.int64)
