"""Any table model condensed to a few real rows: a new row gets the prediction of the nearest of them.

The rows are chosen so that they predict what the model predicts, not what the labels are: medoids of each predicted class
first, then the rows that bring the most other rows nearer to their own class than to the others (condensed nearest neighbors,
Hart 1968, with the model as labeler; prototype selection, Bien and Tibshirani 2011).
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from handful.data.labels import Labels, encode_labels
from handful.data.records import Explanation, NearRow
from handful.data.table import as_table, one_row
from handful.errors import DataError, ParameterError
from handful.models.adapters import RowClassifier
from handful.models.confidence import Confidence
from handful.models.table_model import TableModel
from handful.params import Count, check_params
from handful.persistence.model_file import Storable
from handful.persistence.schema import Array, DictOf, ListOf, Maybe, Number, Text, stored
from handful.preprocessing.table_encoder import TableEncoder
from handful.registry import method

if TYPE_CHECKING:
    import polars as pl

_CLIP = 3.0  # standard deviations, as in the ensemble
_MOST_ROWS = 2_000  # rows whose predictions are to be kept
_MOST_CANDIDATES = 500  # rows to choose from
_SMOOTH = 0.1  # width of a margin in median distances; see benchmarks/condensed_rows.py
_N_NEAR = 2  # rows that an explanation names


@method("nearest-rows", task="model")
class NearestRows(RowClassifier):
    """Nearest of a few rows, with squared differences weighted by the importance of each column.

    Parameters
    ----------
    n_rows : int
        Rows to keep.
    random_state : int
        Seed.

    Attributes
    ----------
    kept_ : ndarray of int64
        The rows, in the order of choice: the first n of them are those of a smaller model.
    rows_ : ndarray of shape (n_rows, n_columns)
        Their weighted columns.
    codes_ : ndarray of int64
        Position of each row's class in ``classes_``.
    weights_ : ndarray of shape (n_columns,)
        Square root of each column's importance in a forest that predicts the same labels.
    temperature_ : float
        What negative squared distances are multiplied by before their softmax.

    Notes
    -----
    The rows minimize, one after the other, the sum over all rows of log(1 + exp(m / s)), where the margin m is the distance to
    the nearest chosen row of the own class minus that to the nearest of another one, and s a tenth of the median distance.
    Cost: O(n_rows x 500 x 2,000).

    Examples
    --------
    >>> model = NearestRows(2).fit(np.array([[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]]), [0, 0, 0, 1, 1, 1])
    >>> model.kept_.tolist(), model.predict(np.array([[0.4]])).tolist()
    ([1, 4], [0])
    """

    STATE = stored(
        kept_=Array("i8", "s", low=0),
        rows_=Array("f8", "s", "d", low=-1e100, high=1e100),
        codes_=Array("i8", "s", below="k"),
        weights_=Array("f8", "d", low=0, high=1e100),
        temperature_=Number(float, low=0, high=1e100),
    )

    def __init__(self, n_rows: Count = 40, random_state: int = 0) -> None:
        self.n_rows = n_rows
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Choose rows that predict `y` for all rows."""
        check_params(self)
        checked = self._rows(X, reset=True)
        codes = self._labels(y, checked.shape[0]).codes.astype(np.int64)
        if len(self.classes_) > self.n_rows:
            raise ParameterError(f"NearestRows: n_rows must be at least {len(self.classes_)}, one for each class.")
        self.weights_ = _importances(checked, codes, self.random_state)
        rng = np.random.default_rng(self.random_state)
        used = np.sort(rng.permutation(len(codes))[:_MOST_ROWS])
        firsts = np.unique(codes[used], return_index=True)[1]
        candidates = np.unique(np.concatenate([firsts, rng.permutation(len(used))[:_MOST_CANDIDATES]]))
        weighted = self._weighted(checked[used])
        distances = _distances(weighted[candidates], weighted)
        chosen = candidates[_choose(distances, codes[used], candidates, min(self.n_rows, len(candidates)))]
        self.kept_ = used[chosen]
        rows = weighted[chosen]
        self.rows_, self.codes_ = np.asarray(rows.toarray() if sparse.issparse(rows) else rows), codes[self.kept_]
        self.temperature_ = 1.0
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the softmax of the negative squared distance to the nearest row of each class."""
        return np.asarray(softmax(self.temperature_ * self.scores(self.distances(X)), axis=1))

    def distances(self, X: Any) -> np.ndarray:
        """Return the distance of each row to each of the kept rows."""
        return _distances(self._weighted(self._rows(X)), self.rows_)

    def scores(self, distances: np.ndarray) -> np.ndarray:
        """Return the negative squared distance to the nearest of the first rows of each class."""
        codes = self.codes_[: distances.shape[1]]
        scores = np.full((len(distances), len(self.classes_)), -1e6)
        for code in np.unique(codes):
            scores[:, code] = -(distances[:, codes == code].min(axis=1) ** 2)
        return scores

    def _weighted(self, rows: Any) -> Any:
        if sparse.issparse(rows):
            return sparse.csr_matrix(rows.minimum(_CLIP).maximum(-_CLIP) @ sparse.diags(self.weights_))
        return np.clip(rows, -_CLIP, _CLIP) * self.weights_

    def _check_state(self) -> None:
        if not len(self.codes_):
            raise DataError("NearestRows: it must keep a row.")


def _importances(rows: Any, codes: np.ndarray, seed: int) -> np.ndarray:
    from sklearn.ensemble import ExtraTreesClassifier

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of many classes
        forest = ExtraTreesClassifier(100, min_samples_leaf=3, random_state=seed).fit(rows, codes)
    importances = np.maximum(forest.feature_importances_, 0.0)  # rounding leaves some below
    mean = importances.mean()
    return np.sqrt(importances / mean) if mean > 0 else np.ones(len(importances))


def _distances(first: Any, second: Any) -> np.ndarray:
    from sklearn.metrics import euclidean_distances

    return np.asarray(euclidean_distances(first, second))


def _choose(distances: np.ndarray, codes: np.ndarray, candidates: np.ndarray, n_rows: int) -> list[int]:
    """Return which candidates to keep, in the order of choice."""
    own = codes[candidates]
    is_own = own[:, None] == codes
    scale = _SMOOTH * float(np.median(distances)) or 1.0
    chosen: list[int] = []
    same, other = np.full(len(codes), np.inf), np.full(len(codes), np.inf)

    def keep(candidate: int) -> None:
        nonlocal same, other
        chosen.append(candidate)
        same = np.where(is_own[candidate], np.minimum(same, distances[candidate]), same)
        other = np.where(is_own[candidate], other, np.minimum(other, distances[candidate]))

    for code in np.unique(codes):
        of_class = np.flatnonzero(own == code)
        keep(int(of_class[distances[of_class][:, codes == code].sum(axis=1).argmin()]))
    farthest = 2 * float(distances.max()) + 1.0  # of a single class, which has no other
    while len(chosen) < n_rows:
        outer = np.minimum(other, farthest)
        margins = np.where(is_own, np.minimum(same, distances) - outer, same - np.minimum(outer, distances))
        loss = np.logaddexp(0.0, margins / scale).sum(axis=1)
        loss[chosen] = np.inf
        keep(int(loss.argmin()))
    return chosen


@method("condensed-rows", task="model")
class CondensedModel(TableModel):
    """Classifier of table rows that keeps a few of them, which people can read.

    Parameters
    ----------
    n_rows : int, default=40
        Rows to keep.
    random_state : int, default=0
        Seed.

    Attributes
    ----------
    kept_ : ndarray of int64
        Numbers of the rows in the table of the fit, in the order of choice.
    covers_ : ndarray of int64
        How many rows of that table each is nearest to.
    cells_ : dict of str to list
        Their cells.

    See Also
    --------
    condense_model : Condense a fitted model, with an estimate.

    Notes
    -----
    The file of this model holds the cells of the rows. Texts are compared by their weighted words.

    Examples
    --------
    >>> rows = {"size": [1.0, 1.5, 2.0, 8.0, 8.5, 9.0], "color": ["red", "red", "blue", "blue", "blue", "red"]}
    >>> model = CondensedModel(2).fit(rows, ["small", "small", "small", "large", "large", "large"])
    >>> model.predict({"size": [3.0], "color": ["red"]}).tolist(), model.cells_["size"]
    (['small'], ['8.5', '1.5'])
    """

    STATE = stored(
        kept_=Array("i8", "s", low=0),
        covers_=Array("i8", "s", low=0),
        cells_=DictOf(ListOf(Maybe(Text()), "s")),
    )
    method = "condensed-rows"
    params = kinds = shares = None
    text = "words"
    use_unlabeled = True

    def __init__(self, n_rows: Count = 40, *, random_state: int = 0) -> None:
        self.n_rows = n_rows
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Choose rows of a table.

        Parameters
        ----------
        X : data frame or array of shape (n_rows, n_columns)
            Rows.
        y : array-like of shape (n_rows,)
            What is to be predicted for each row, such as the predictions of another model.

        Returns
        -------
        self
        """
        table = as_table(X, encode_labels(y, who="CondensedModel"))
        assert table.labels is not None
        return self.fit_rows(table.cells, TableEncoder.learn(table.values(), table.columns, text="words"), table.labels)

    def fit_rows(self, cells: pl.DataFrame, encoder: TableEncoder, labels: Labels) -> Self:
        """Choose rows whose columns have been learned; see `fit`."""
        check_params(self)
        labeled = labels.labeled
        encoded = encoder.transform(cells[labeled])
        self.classes_ = labels.classes
        self.estimator_ = NearestRows(self.n_rows, self.random_state).fit(encoded, labels.codes[labeled])
        nearest = self.estimator_.distances(encoded).argmin(axis=1)
        self.covers_ = np.bincount(nearest, minlength=len(self.estimator_.kept_))
        self.kept_ = labeled[self.estimator_.kept_]
        texts = {name: cells[name].cast(str, strict=False)[self.kept_].to_list() for name in encoder.kinds}
        self.cells_ = texts
        self._keep_words(encoder)
        self.feature_names_in_ = np.array(list(self.columns_), dtype=object)
        self.n_labeled_, self.n_unlabeled_ = len(labeled), 0
        self.rows_ = self.shift_ = None
        self._confidence = Confidence(1.0, 0.0, n_held=len(labeled))
        self.confidence_ = self._confidence.state()
        self.training_ = {}
        return self

    def _keep_words(self, encoder: TableEncoder) -> None:
        """Forget the words of texts that are in none of the kept rows; no distance depends on them."""
        estimator, kept = self.estimator_, np.ones(encoder.width, dtype=bool)
        columns: dict[str, Any] = {}
        for name, column in encoder.state().items():
            columns[name] = dict(column)
            if column["kind"] == "text":
                places = encoder.places(name)
                kept[places] = estimator.rows_[:, places].any(axis=0)
                known = kept[places]
                columns[name]["words"] = [word for word, keep in zip(column["words"], known, strict=True) if keep]
                columns[name]["weights"] = column["weights"][known]
        self.columns_ = columns
        self._encoder = TableEncoder(columns)
        estimator.rows_ = np.ascontiguousarray(estimator.rows_[:, kept])
        estimator.weights_ = estimator.weights_[kept]
        estimator.n_features_in_ = int(kept.sum())

    def explain(self, row: Any) -> Explanation:
        """Name the nearest kept rows of the predicted class, and the nearest of another one."""
        check_is_fitted(self)
        frame = self._frame(one_row(row, list(self.columns_)))
        label, confidence = (part[0] for part in self.predict_with_confidence(frame))
        distances = self.estimator_.distances(self._encoder.transform(frame))[0]
        order = np.argsort(distances, kind="stable")
        labels = self.classes_[self.estimator_.codes_]
        others = [at for at in order if labels[at] != label][:1]
        near = [
            self._near_row(at, distances[at]) for at in [at for at in order if labels[at] == label][:_N_NEAR] + others
        ]
        runner_up = labels[others[0]] if others else None
        return Explanation(label, float(confidence), runner_up, (), "distance to the kept rows", tuple(near))

    def _near_row(self, at: int, distance: float) -> NearRow:
        cells = {name: column[at] for name, column in self.cells_.items() if column[at] is not None}
        return NearRow(int(self.kept_[at]), self.classes_[self.estimator_.codes_[at]], float(distance), cells)

    def rows(self) -> pl.DataFrame:
        """Return the kept rows: number (from 1), prediction, how many rows are nearest to it, and the cells."""
        import polars as pl

        labels = self.classes_[self.estimator_.codes_]
        columns = {"row": self.kept_ + 1, "prediction": labels.astype(str), "covers": self.covers_}
        names = {name: f"{name} (cell)" if name in columns else name for name in self.cells_}
        return pl.DataFrame({**columns, **{names[name]: cells for name, cells in self.cells_.items()}})

    def _state(self) -> dict[str, Any]:
        return Storable._state(self)

    def _check_state(self) -> None:
        super()._check_state()
        if self._confidence is None:  # a file from before confidence was limited
            self._confidence = Confidence(1.0, 0.0, n_held=self.n_labeled_)
        if set(self.cells_) != set(self.columns_) or len(self.kept_) != len(self.estimator_.codes_):
            raise DataError("CondensedModel: every kept row must have a cell for each column.")
        if any(
            "\ud800" <= letter <= "\udfff" for cells in self.cells_.values() for letter in "".join(filter(None, cells))
        ):
            raise DataError("CondensedModel: the cells of the file must be whole characters.")


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
