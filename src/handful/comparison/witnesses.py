"""Fit with columns of cheap labels next to few reliable ones, and report where such columns err."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from handful.comparison.fit import fit_method
from handful.comparison.statistics import binomial_interval
from handful.comparison.tables import choose_view
from handful.data.columns import MISSING
from handful.data.table import Table, check_column
from handful.errors import DataError
from handful.models.witnesses import Witness, WitnessEnsemble, learn_witnesses

if TYPE_CHECKING:
    from handful.models.table_model import TableModel


@dataclass(frozen=True)
class WitnessError:
    """How often a witness has one label where people have another.

    Parameters
    ----------
    witness : str
        The column; for all labels together `says` and `label` are None.
    says, label : object
        The cell of the witness, and the label.
    n, n_labeled : int
        Rows with both, and rows with the label in which the witness has a cell.
    value, low, high : float
        Their ratio, with a 95% interval (Clopper and Pearson).
    """

    witness: str
    says: Any
    label: Any
    n: int
    n_labeled: int
    value: float
    low: float
    high: float


def witness_errors(table: Table, witnesses: Sequence[str]) -> list[WitnessError]:
    """Count where columns of cheap labels differ from the labels, names of their own as `witness_names` reads them.

    Parameters
    ----------
    table : Table
        Rows with labels.
    witnesses : sequence of str
        Columns with cheap labels, such as those of a large language model.

    Returns
    -------
    list of WitnessError
        For each witness a line of all its errors, then its errors by label, most frequent first.

    Examples
    --------
    >>> from handful.data.table import as_table
    >>> rows = {"size": [1, 2, 3, 4], "llm": ["a", "b", "b", "b"], "label": ["a", "a", "b", None]}
    >>> [(e.says, e.label, e.n, e.n_labeled) for e in witness_errors(as_table(rows, "label"), ["llm"])]
    [(None, None, 1, 3), ('b', 'a', 1, 2)]
    """
    errors: list[WitnessError] = []
    classes = [str(name) for name in table.classes.tolist()]
    own_names = witness_names(table, witnesses)
    for name, cells in _cells(table, witnesses).items():
        counts: dict[tuple[int, str], int] = {}
        for code, cell in zip(table.codes.tolist(), cells, strict=True):
            if code >= 0 and cell is not None:
                counts[code, cell] = counts.get((code, cell), 0) + 1
        n_of = {code: sum(n for (c, _), n in counts.items() if c == code) for code in range(len(classes))}
        own = own_names.get(name, {})
        wrong = {key: n for key, n in counts.items() if str(own.get(key[1], key[1])) != classes[key[0]]}
        if not counts:
            raise DataError(
                f"{table.source or 'table'}: {name!r} is empty in all labeled rows, so its errors are unknown."
            )
        errors.append(_error(name, None, None, sum(wrong.values()), sum(counts.values())))
        for code, cell in sorted(wrong, key=lambda key: (-wrong[key], key)):
            errors.append(_error(name, cell, table.classes[code].item(), wrong[code, cell], n_of[code]))
    return errors


def witness_names(table: Table, witnesses: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return which labels the names that witnesses use of their own stand for.

    Parameters
    ----------
    table : Table
        Rows with labels.
    witnesses : sequence of str
        Columns with cheap labels.

    Returns
    -------
    dict of str to dict
        For each witness with such names, the label of each.

    Examples
    --------
    >>> from handful.data.table import as_table
    >>> rows = {"size": range(20), "llm": ["spam", "fine"] * 10, "label": ["yes", "no"] * 10}
    >>> witness_names(as_table(rows, "label"), ["llm"])
    {'llm': {'fine': 'no', 'spam': 'yes'}}
    """
    classes = table.classes.tolist()
    learned, _ = learn_witnesses(table.codes, classes, _cells(table, witnesses))
    names = {witness.name: witness.own_names(classes) for witness in learned}
    return {name: {cell: classes[code] for cell, code in own.items()} for name, own in names.items() if own}


def _error(name: str, says: Any, label: Any, n: int, n_labeled: int) -> WitnessError:
    return WitnessError(name, says, label, n, n_labeled, n / n_labeled, *binomial_interval(n / n_labeled, n_labeled))


def fit_with_witnesses(
    table: Table, witnesses: Sequence[str], *, text: Any = "auto", random_state: int = 0
) -> tuple[TableModel, list[Witness]]:
    """Fit the ensemble to few labels, and to columns of cheap labels whose errors are learned.

    Parameters
    ----------
    table : Table
        Rows; labels are reliable, and held-out scores use them alone.
    witnesses : sequence of str
        Columns with cheap labels, such as those of a large language model or of rules. They are no features: new rows need none.
    text : {"auto", "lsa", "vectors"} or encoder, default="auto"
        How text columns are encoded; see `handful.fit`.
    random_state : int, default=0
        Seed.

    Returns
    -------
    model : TableModel
        Its ``training_`` has ``estimate``: accuracy on held-out labels, and ``estimate_alone``: that of the labels alone. Without a
        witness that is used, it is the ensemble.
    witnesses : list of Witness
        What was learned about each column. A column that is no better than chance is not used.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from handful.data.table import as_table
    >>> X, y = load_iris(return_X_y=True)
    >>> llm = np.where(np.arange(150) % 5 == 1, (y + 1) % 3, y)  # four of five are right
    >>> rows = {f"x{i}": X[:, i] for i in range(4)} | {"llm": llm.astype(str)}
    >>> table = as_table(rows | {"kind": [f"{k}" if i % 10 == 0 else None for i, k in enumerate(y)]}, "kind")
    >>> model, (llm,) = fit_with_witnesses(table, ["llm"])
    >>> llm.is_used, model.column_kinds.keys() == {"x0", "x1", "x2", "x3"}
    (True, True)
    """
    columns = _cells(table, witnesses)
    table = replace(table, columns=tuple(spec for spec in table.columns if spec.name not in columns))
    text = choose_view(table, text).text
    known, _ = learn_witnesses(table.codes, table.classes.tolist(), columns)
    used = {witness.name: columns[witness.name] for witness in known if witness.is_used}
    if not used:
        return fit_method(table, "ensemble", text=text, seed=random_state), known
    estimator = WitnessEnsemble(table.classes.tolist(), used, random_state)
    model = fit_method(table, estimator, params={}, text=text, seed=random_state)
    model.method = f"ensemble with {', '.join(used)}"
    fitted = model.estimator_
    fitted.columns = fitted.classes = None
    labels = table.codes[fitted.oof_rows_]
    if len(labels):
        model.training_["estimate"] = _estimate(fitted.oof_proba_, labels)
        model.training_["estimate_alone"] = _estimate(fitted.oof_alone_, labels)
    model.training_["selection"] = "named"
    model.training_["witnesses"] = list(used)
    return model, known


def _cells(table: Table, witnesses: Sequence[str]) -> dict[str, list[str | None]]:
    """Return the cells of witnesses as text, None where they are missing."""
    columns = {}
    for name in witnesses:
        check_column(table.source or "table", table.cells, name)
        if name == table.target:
            raise DataError(f"{table.source or 'table'}: {name!r} is the label column. Name other columns.")
        texts = [None if cell is None else str(cell).strip() for cell in table.cells[name].to_list()]
        columns[name] = [None if text is None or text in MISSING else text for text in texts]
    return columns


def _estimate(proba: np.ndarray, codes: np.ndarray) -> dict[str, Any]:
    value = float((proba.argmax(axis=1) == codes).mean())
    low, high = binomial_interval(value, len(codes))
    return {"metric": "accuracy", "value": value, "low": low, "high": high, "n": len(codes)}
