"""A classifier of table rows as they stand in a file: columns are encoded, then one method answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from handful.data.columns import Kind, unread_cells
from handful.data.labels import Labels, encode_labels
from handful.data.table import Table, are_texts, as_frame, as_table, frame_like, one_row
from handful.errors import DataError, Notice, ParameterError
from handful.models.confidence import LEAST_HELD, Confidence, hold_out, kept_rows, known_shift, own_shares
from handful.params import check_params
from handful.persistence.model_file import Storable
from handful.persistence.schema import Array, IfThere, Model, Names, Number, Training, check_member, stored
from handful.preprocessing.table_encoder import EncodedTable, TableEncoder, warn_of_unread
from handful.registry import MethodSpec, get_method
from handful.registry import method as registered

if TYPE_CHECKING:
    import polars as pl

    from handful.data.records import Explanation

_BATCH = 8_192
_POOL = 1_000  # unlabeled rows that are asked how frequent the classes are


@registered("table-model", task="model", uses_unlabeled=True)
class TableModel(Storable, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classifier of table rows as they stand in a file: it encodes the columns, then asks a method.

    Parameters
    ----------
    method : str or classifier, default="ensemble"
        Name of a method for tables; ``handful methods`` lists them. Or any classifier in scikit-learn's manner.
    params : mapping of str to value, optional
        Parameters of the method.
    kinds : mapping of str to {"numeric", "categorical", "datetime", "text", "skip"}, optional
        Kind of each feature column; columns that are not named are left out. None infers them by the rule of
        `handful.data.table.read_table`.
    text : {"words", "lsa", "vectors"} or encoder, default="lsa"
        As what text columns come to the method: weighted words, leading directions of words and letters learned from all
        texts, or vectors of an encoder next to them. See
        `handful.preprocessing.table_encoder` and `handful.preprocessing.sentence_encoders`.
    use_unlabeled : bool, default=True
        Whether rows without a label take part.
    shares : mapping of label to float, optional
        How frequent the classes really are, where that is known: labels that were picked class by class do not tell it.
    random_state : int, default=0
        Seed, where the method has one.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    feature_names_in_ : ndarray of str
        The columns that it was fitted on.
    columns_ : dict
        What was learned about each column.
    estimator_ : estimator
        The fitted method; its classes are positions in ``classes_``.
    rows_ : ndarray of int64 or None
        Rows of the table that the method saw; None where it saw all.
    n_labeled_, n_unlabeled_ : int
        Rows it was fitted on.
    shift_ : ndarray of shape (n_classes,) or None
        What known `shares` add to the log-share of each class.
    confidence_ : dict or None
        What `calibrate` learned about how far the method's own shares may be trusted.
    training_ : dict
        How it was trained, in words, for `handful inspect`.
    notices_ : tuple of Notice
        What to know about the rows it was trained on; not in model files.

    Examples
    --------
    >>> import polars as pl
    >>> rows = pl.DataFrame({"size": [1.0, 9.0, 2.0, 8.0], "color": ["red", "blue", "red", "blue"]})
    >>> model = TableModel("k-nn").fit(rows, ["small", "large", None, None])
    >>> model
    <TableModel k-nn: 2 classes, 2 labeled and 0 unlabeled rows>
    >>> model.predict(rows).tolist()
    ['small', 'large', 'small', 'large']
    """

    STATE = stored(
        classes_=Names("k"),
        columns_=TableEncoder.STATE,
        estimator_=Model(),
        n_labeled_=Number(int, low=0),
        n_unlabeled_=Number(int, low=0),
        feature_names_in_=IfThere(Names("columns?")),
        confidence_=IfThere(Confidence.STATE),
        rows_=IfThere(Array("i8", "_", low=0)),
        shift_=IfThere(Array("f8", "k")),
        training_=Training(),
    )

    def __init__(
        self,
        method: Any = "ensemble",
        *,
        params: Mapping[str, Any] | None = None,
        kinds: Mapping[str, Kind] | None = None,
        text: Any = "lsa",
        use_unlabeled: bool = True,
        shares: Mapping[Any, float] | None = None,
        random_state: int = 0,
    ) -> None:
        self.method = method
        self.params = params
        self.kinds = kinds
        self.text = text
        self.use_unlabeled = use_unlabeled
        self.shares = shares
        self.random_state = random_state

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        if not hasattr(self, "estimator_"):
            return str(super().__repr__(N_CHAR_MAX))
        name = self.method if isinstance(self.method, str) else type(self.method).__name__
        rows = f"{self.n_labeled_:,} labeled and {self.n_unlabeled_:,} unlabeled rows"
        text = f"<TableModel {name}: {len(self.classes_)} classes, {rows}"
        score = getattr(self, "training_", {}).get("estimate") or {}
        if {"metric", "value", "low", "high"} <= score.keys():
            text += f", estimated {score['metric']} {score['value']:.0%} ({score['low']:.0%} to {score['high']:.0%})"
        return f"{text}>"

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the columns from all rows, and the classes from the labeled ones (or more, if the method can).

        Parameters
        ----------
        X : data frame or array of shape (n_rows, n_columns)
            Rows.
        y : array-like of shape (n_rows,)
            Labels; ``None``, ``NaN`` or (among integers) -1 mark unlabeled rows.

        Returns
        -------
        self

        Warns
        -----
        UnreadableWarning
            If cells of numeric columns are infinite, or no numbers: these count as missing.
        """
        if isinstance(X, Table):
            table = as_table(X, y)
        else:
            labels = encode_labels(y, who="TableModel", min_classes=2)
            kinds = self.kinds or dict.fromkeys(["text"] if are_texts(X) else [], "text")
            table = as_table(X, labels, columns=kinds)
        labels = encode_labels(table.labels, who="TableModel", min_classes=2)
        columns = [spec for spec in table.columns if not self.kinds or spec.name in self.kinds]
        values = table.values()
        warn_of_unread(unread_cells(as_frame(X) if not isinstance(X, Table) else X.cells, columns))
        return self.fit_table(EncodedTable.learn(values, columns, labels, text=self.text))

    def fit_table(self, table: EncodedTable) -> Self:
        """Learn from a table whose columns have been learned; see `fit`.

        Parameters
        ----------
        table : EncodedTable
            Rows with labels of two classes or more.

        Returns
        -------
        self
        """
        check_params(self)
        chosen = spec_for(self.method)
        labels, n_rows = table.labels, table.frame.height
        everything = chosen.uses_unlabeled and self.use_unlabeled
        rows = np.arange(n_rows) if everything else labels.labeled
        encoded = table[rows]
        self.classes_ = labels.classes
        self.feature_names_in_ = np.array(list(table.encoder.kinds), dtype=object)
        self.columns_ = table.encoder.state()
        self.confidence_: dict[str, Any] | None = None
        self._confidence: Confidence | None = None
        self.estimator_ = chosen.make_estimator(encoded.shape[1], self.random_state, dict(self.params or {}))
        self._tell_about_classes(labels)
        fit_in_content_order(self.estimator_, encoded, labels.codes[rows].astype(np.int64))
        self.rows_ = None if len(rows) == n_rows else rows
        self.n_labeled_ = len(labels.labeled)
        self.n_unlabeled_ = len(rows) - self.n_labeled_ if len(rows) > self.n_labeled_ else 0
        self.training_: dict[str, Any] = {}
        self.notices_: tuple[Notice, ...] = ()
        self._encoder = table.encoder
        return self

    def _tell_about_classes(self, labels: Labels) -> None:
        """Learn known class priors; a method that estimates them does not then."""
        self.shift_ = None
        known = self.estimator_.get_params(deep=False)
        if self.shares is not None:
            counts = np.bincount(labels.codes[labels.labeled], minlength=len(self.classes_))
            self.shift_ = known_shift(self.shares, self.classes_.tolist(), counts)
            if "class_priors" in known:
                self.estimator_.set_params(class_priors="labels")  # the shift is relative to the labels

    def calibrate(self, X: Any, y: Any) -> Self:
        """Learn from labeled rows that were held out how sure one may be of answers.

        Parameters
        ----------
        X, y
            The rows that the model was fitted on, and their labels.

        Returns
        -------
        self
            A confidence now is the share of such answers that were right; with fewer than six labels held out, at most what
            they can support (`Confidence.of_few`). The answers stay.

        Examples
        --------
        >>> import polars as pl
        >>> rows = pl.DataFrame({"size": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]})
        >>> labels = ["small", "small", "large", "small", "large", "small", "large", "large"]
        >>> model = TableModel("k-nn").fit(rows, labels)
        >>> between = pl.DataFrame({"size": [4.5]})
        >>> model.predict_with_confidence(between)[1].item()
        1.0
        >>> model.calibrate(rows, labels).predict_with_confidence(between)[1].item() < 0.9
        True
        """
        check_is_fitted(self)
        return self.calibrate_on(EncodedTable(as_frame(X), encode_labels(y, who="TableModel"), self._encoder))

    def calibrate_on(self, table: EncodedTable) -> Self:
        """Learn from a table whose columns have been learned how sure one may be of answers; see `calibrate`.

        Parameters
        ----------
        table : EncodedTable
            The rows that the model was fitted on, and their labels.

        Returns
        -------
        self
        """
        chosen = spec_for(self.method)
        if len(getattr(self.estimator_, "oof_rows_", ())) >= LEAST_HELD:
            return self._use_out_of_fold(table)
        uses_unlabeled = chosen.uses_unlabeled and self.use_unlabeled
        labels = table.labels
        pool = np.random.default_rng(self.random_state).permutation(labels.unlabeled)[:_POOL]
        used = np.concatenate([labels.labeled, pool])
        rows, codes = table[used], labels.codes[used].astype(np.int64)
        held = hold_out(
            lambda: chosen.make_estimator(rows.shape[1], self.random_state, dict(self.params or {})),
            rows,
            codes,
            uses_unlabeled=uses_unlabeled,
            seed=self.random_state,
        )
        self._confidence = None
        if held is not None:
            shares = (
                self._shares(rows[len(labels.labeled) :]).sum(axis=0) if len(pool) else np.zeros(len(self.classes_))
            )
            known = slice(0, len(labels.labeled))
            self._confidence = Confidence.learn(held, rows[known], codes[known], shares, self.random_state)
            kept = kept_rows(self.estimator_, np.arange(len(self.classes_)))
            if kept is not None and self._confidence is not None and self._confidence.near is not None:
                self._confidence.near = kept  # a condensed model stores no other labeled row
        if self._confidence is None:
            self._confidence = Confidence.of_few(labels.codes[labels.labeled], len(self.classes_))
        self.confidence_ = self._confidence.state()
        return self

    def _use_out_of_fold(self, table: EncodedTable) -> Self:
        """Take the estimator as calibrated, and count its out-of-fold predictions that are confident."""
        rows = self.estimator_.oof_rows_ if self.rows_ is None else self.rows_[self.estimator_.oof_rows_]
        codes = table.labels.codes[rows]
        self._confidence = Confidence.calibrated(self._shift(self.estimator_.oof_proba_), codes)
        self.confidence_ = self._confidence.state()
        return self

    @property
    def method_name(self) -> str:
        """Name of the method, for people."""
        return self.method if isinstance(self.method, str) else spec_for(self.method).name

    @property
    def column_kinds(self) -> dict[str, str]:
        """Kind of each column that it was fitted on."""
        return dict(self._encoder.kinds)

    @property
    def n_features_in_(self) -> int:
        """Number of columns that it was fitted on."""
        return len(self.columns_)

    def get_feature_names_out(self) -> np.ndarray:
        """Return the names of the columns that the method sees: a number as such, a name as ``column=value``."""
        check_is_fitted(self)
        return self._encoder.get_feature_names_out()

    def predict(self, X: Any) -> np.ndarray:
        """Return the label of each row; cells of numeric columns that are no numbers count as missing, with a warning."""
        frame = self._frame(X)
        warn_of_unread(self.unread(frame))
        return self.predict_with_confidence(frame)[0]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, in the order of ``classes_``; warns as `predict` does."""
        frame = self._frame(X)
        warn_of_unread(self.unread(frame))
        return self._by_batches(frame, self._shares)

    def _frame(self, X: Any) -> pl.DataFrame:
        check_is_fitted(self)
        return frame_like(X, self.columns_)

    def own_proba(self, X: Any) -> np.ndarray:
        """Return the method's own share of each class: before `calibrate`, which makes many of them alike."""
        return self._by_batches(X, self._own_shares)

    def _by_batches(self, X: Any, shares: Callable[[Any], np.ndarray]) -> np.ndarray:
        frame, encoder = self._frame(X), self._encoder
        parts = [shares(encoder.transform(frame[start : start + _BATCH])) for start in range(0, frame.height, _BATCH)]
        return np.concatenate(parts) if parts else np.zeros((0, len(self.classes_)))

    def predict_with_confidence(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the label of each row, and how sure the method is of it.

        Parameters
        ----------
        X : data frame or array of shape (n_rows, n_columns)
            Rows.

        Returns
        -------
        labels : ndarray
            The answers.
        confidence : ndarray of float64
            Share of the answer between 0 and 1.
        """
        frame, encoder = self._frame(X), self._encoder
        labels, confidence = [self.classes_[:0]], [np.zeros(0)]
        for start in range(0, frame.height, _BATCH):
            encoded = encoder.transform(frame[start : start + _BATCH])
            codes, proba = self.predict_encoded(encoded)
            labels.append(self.classes_[codes])
            confidence.append(proba[np.arange(len(codes)), codes])
        return np.concatenate(labels), np.concatenate(confidence)

    def predict_encoded(self, encoded: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the predicted codes and the probabilities of rows that its encoder has encoded."""
        own = self._own_shares(encoded)
        return self._codes(encoded, own), self._calibrated(own, encoded)

    @property
    def encoders(self) -> list[str]:
        """Name and hash of each encoder whose vectors it needs."""
        marks = [column["encoder"] for column in self.columns_.values() if "encoder" in column]
        return list(dict.fromkeys(f"{mark['name']} ({mark['hash']})" for mark in marks))

    def unread(self, X: Any) -> dict[str, tuple[int, int]]:
        """Count the cells of numeric and datetime columns that cannot be read and count as missing, and all filled ones.

        Parameters
        ----------
        X : data frame or array of shape (n_rows, n_columns)
            Rows.

        Returns
        -------
        dict of str to (int, int)
            Columns that have such cells; see `handful.data.columns.unread_cells`.
        """
        return unread_cells(self._frame(X), self._encoder.specs)

    def explain(self, row: Any) -> Explanation:
        """Tell why a row gets its label.

        Parameters
        ----------
        row : mapping of str to value, list of values, or data frame or array of one row
            The row; a list has the values of the columns in the order of ``feature_names_in_``.

        Returns
        -------
        Explanation
            Cells and words that support the prediction, and the deciding rows of a method that votes by nearness.

        Examples
        --------
        >>> import polars as pl
        >>> rows = pl.DataFrame({"size": [1.0, 9.0, 2.0, 8.0]})
        >>> model = TableModel("k-nn").fit(rows, ["small", "large", None, None])
        >>> explanation = model.explain({"size": 7.5})
        >>> explanation.label, explanation.near[0].cells
        ('large', {'size': 9.0})
        """
        from handful.models.explain import explain_row

        check_is_fitted(self)
        return explain_row(self, self._frame(one_row(row, list(self.columns_))), self._encoder)

    def table_row(self, row: int) -> int | None:
        """Return the row of the table that a row of the method's training was; None in files that do not tell."""
        if not hasattr(self, "rows_"):
            return None
        return row if self.rows_ is None else int(self.rows_[row])

    def _codes(self, encoded: Any, own: np.ndarray) -> np.ndarray:
        """Return the codes of predictions, from the probabilities of the method where these decide."""
        if self.shift_ is not None:
            return np.asarray(own.argmax(axis=1))
        if hasattr(self.estimator_, "decide"):
            return np.asarray(self.estimator_.decide(own[:, self.estimator_.classes_])).astype(np.int64)
        return np.asarray(self.estimator_.predict(encoded)).astype(np.int64)

    def _own_shares(self, encoded: Any) -> np.ndarray:
        """Return the method's own shares, moved by what is known of the classes."""
        own = np.zeros((encoded.shape[0], len(self.classes_)))
        own[:, np.asarray(self.estimator_.classes_).astype(np.int64)] = own_shares(self.estimator_, encoded)
        return self._shift(own)

    def _shift(self, proba: np.ndarray) -> np.ndarray:
        """Correct probabilities for known class priors."""
        if self.shift_ is None:
            return proba
        proba = proba * np.exp(self.shift_ - self.shift_.max())
        return np.asarray(proba / np.maximum(proba.sum(axis=1, keepdims=True), 1e-300))

    def _shares(self, encoded: Any) -> np.ndarray:
        return self._calibrated(self._own_shares(encoded), encoded)

    def _calibrated(self, own: np.ndarray, encoded: Any) -> np.ndarray:
        return own if self._confidence is None else self._confidence.shares(own, encoded)

    def _state(self) -> dict[str, Any]:
        # An encoder is not stored, since the columns name it; nor is a classifier that is not fitted.
        state = super()._state() | {"method": self.method_name}
        state["text"] = self.text if isinstance(self.text, str) else "vectors"
        return {name: value for name, value in state.items() if name != "notices_"}

    def _check_state(self) -> None:
        self.notices_ = ()
        self._encoder = TableEncoder(self.columns_)
        self.columns_ = self._encoder.state()
        self.feature_names_in_ = np.array(list(self.columns_), dtype=object)  # files of 0.1 hold no names
        self.__dict__.setdefault("shift_", None)
        learned = self.__dict__.setdefault("confidence_", None)
        self._confidence = None if learned is None else Confidence.from_state(learned, len(self.classes_))
        words = [word for column in self.columns_.values() for word in column.get("words", ())]
        if not _is_unicode([*self.columns_, *map(str, words)]):
            raise DataError("TableModel: names of columns and words must be valid Unicode.")
        check_member("TableModel", self.estimator_, self._encoder.width, len(self.classes_))
        if learned is not None and learned["near"] is not None and learned["near"][0].shape[1] != self._encoder.width:
            raise DataError("TableModel: rows for confidence must have the columns of its method.")
        rows = getattr(self, "rows_", None)
        kept = np.max(getattr(self.estimator_, "kept_", ()), initial=-1)
        if rows is not None and len(rows) < max(self.n_labeled_, kept + 1):
            raise DataError("TableModel: the rows that the method saw must be given by their numbers.")


def spec_for(method: Any) -> MethodSpec:
    """Return the spec of a method by its name, or one for a classifier.

    Examples
    --------
    >>> spec_for("k-nn").name
    'k-nn'
    """
    if isinstance(method, str):
        return get_method(method, "table")
    from handful.models.adapters import classifier_spec

    return classifier_spec(method)


def check_settings(method: Any, params: Mapping[str, Any]) -> None:
    """Check parameters of a method before any work.

    Parameters
    ----------
    method : str or classifier
        Its name, or a classifier in scikit-learn's manner.
    params : mapping of str to value
        Its parameters.

    Raises
    ------
    ParameterError
        If the method has no such parameter, or not with such a value.

    Examples
    --------
    >>> check_settings("k-nn", {"n_neighbors": 3})
    >>> check_settings("svm-rbf", {"gamma": 1})
    Traceback (most recent call last):
    ...
    handful.errors.ParameterError: svm-rbf: parameters must be of the method, which has C; got 'gamma'.
    """
    spec = spec_for(method)
    known = sorted(spec.make_estimator(1, 0, {}).get_params(deep=False))
    strange = next((name for name in params if name.partition("__")[0] not in known), None)
    if strange is not None:
        near = get_close_matches(strange, known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        has = f"which has {', '.join(known)}" if known else "which has none"
        raise ParameterError(f"{spec.name}: parameters must be of the method, {has}; got {strange!r}.{hint}")
    try:
        made = spec.make_estimator(1, 0, params)
        if type(made).__module__.startswith("handful."):
            check_params(made)
        elif hasattr(made, "_validate_params"):
            made._validate_params()
    except ParameterError:
        raise
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{spec.name}: {' '.join(str(error).split())}") from None


def _is_unicode(words: list[str]) -> bool:
    try:
        "".join(words).encode()
    except UnicodeEncodeError:  # half of a character, as JSON can hold
        return False
    return True


_RANDOM_TREES = ("ExtraTreesClassifier", "RandomForestClassifier", "HistGradientBoostingClassifier")


def fit_in_content_order(estimator: Any, X: Any, y: np.ndarray) -> None:
    """Fit an estimator; one of scikit-learn that draws rows or columns by number gets them in an order of their content.

    So its predictions do not depend on the order in the file.
    """
    kind = type(estimator).__name__
    if kind not in (*_RANDOM_TREES, "SVC") or not isinstance(X, np.ndarray):
        estimator.fit(X, y)
        return
    from handful.models.ensemble import content_order

    columns, keys = content_order(X)
    rows = np.lexsort((y, keys))
    if kind == "SVC":
        estimator.fit(X[rows], y[rows])
        return
    estimator.fit(X[np.ix_(rows, columns)], y[rows])
    if kind == "HistGradientBoostingClassifier":
        for tree in (tree for trees in estimator._predictors for tree in trees):
            tree.nodes["feature_idx"] = columns[tree.nodes["feature_idx"]]
        return
    for member in estimator.estimators_:
        features = member.tree_.feature
        features[features >= 0] = columns[features[features >= 0]]
