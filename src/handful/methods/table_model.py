"""A classifier of table rows as they stand in a file: columns are encoded, then one method answers."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from handful.core.catalogue import get_card
from handful.core.errors import DataError, ParameterError
from handful.core.labels import Labels, encode_labels
from handful.core.params import check_params
from handful.core.records import Kind
from handful.core.registry import Card
from handful.core.registry import method as register
from handful.core.schema import Array, IfThere, Model, Names, Number, Plain, check_member, stored
from handful.core.store import Storable
from handful.corpora.tables import table_of
from handful.features.frames import are_texts, as_frame, frame_like, one_row
from handful.features.tables import TableEncoder, warn_of_unreadable
from handful.methods.class_shares import known_shift
from handful.methods.confidence import Confidence, HeldOut, hold_out, own_shares
from handful.methods.encoded_table import EncodedTable

if TYPE_CHECKING:
    import polars as pl

    from handful.core.explanation import Explanation
    from handful.core.number_forms import Form
    from handful.features.new_forms import NewForms

_BATCH = 8_192
_POOL = 1_000  # unlabeled rows that are asked how frequent the classes are


@register("table-model", takes="model", learns_from=("labels", "unlabeled"))
class TableModel(Storable, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classifier of table rows as they stand in a file: it encodes the columns, then asks a method.

    Parameters
    ----------
    method : str or classifier, default="k-nn"
        Name of a method for tables; ``handful methods`` lists them. Or any classifier in scikit-learn's manner.
    params : mapping of str to value, optional
        Parameters of the method.
    kinds : mapping of str to {"numeric", "nominal", "text"}, optional
        Kind of each feature column; columns that are not named are left out. None tells them by the rule of
        `handful.corpora.tables.read_table`.
    text : {"words", "lsa", "vectors"} or encoder, default="lsa"
        As what text columns come to the method: weighted words, leading directions of words and letters learned from all
        texts, or vectors of an encoder beside them. See `handful.features.tables` and `handful.features.vectors`.
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

    Examples
    --------
    >>> import polars as pl
    >>> rows = pl.DataFrame({"size": [1.0, 9.0, 2.0, 8.0], "color": ["red", "blue", "red", "blue"]})
    >>> model = TableModel("k-nn").fit(rows, ["small", "large", None, None])
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
        training_=Plain(),
    )

    def __init__(
        self,
        method: Any = "k-nn",
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
        labels = encode_labels(y, who="TableModel", min_classes=2)
        frame = as_frame(X)
        if frame.height != len(labels.codes):
            raise DataError(f"TableModel: X and y must be of one length, got {frame.height} and {len(labels.codes)}.")
        table = EncodedTable.learn(frame, self.kinds or _kinds(X, frame), labels, text=self.text)
        warn_of_unreadable(table.encoder.unreadable(frame), frame.height)
        return self.fit_table(table)

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
        chosen = card_for(self.method)
        labels, n_rows = table.labels, table.frame.height
        everything = chosen.uses_unlabeled and self.use_unlabeled
        rows = np.arange(n_rows) if everything else labels.labeled
        encoded = table[rows]
        self.classes_ = labels.classes
        self.feature_names_in_ = np.array(list(table.encoder.kinds), dtype=object)
        self.columns_ = table.encoder.state()
        self.confidence_: dict[str, Any] | None = None
        self._confidence: Confidence | None = None
        self.estimator_ = chosen.make(encoded.shape[1], self.random_state, dict(self.params or {}))
        self._tell_about_classes(labels)
        self.estimator_.fit(encoded, labels.codes[rows].astype(np.int64))
        self.rows_ = None if len(rows) == n_rows else rows
        self.n_labeled_ = len(labels.labeled)
        self.n_unlabeled_ = len(rows) - self.n_labeled_ if len(rows) > self.n_labeled_ else 0
        self.training_: dict[str, Any] = {}
        self._encoder = table.encoder
        return self

    def _tell_about_classes(self, labels: Labels) -> None:
        """Learn known shares of the classes; tell a method that estimates them whether it should, and by what names."""
        self.shift_ = None
        known = self.estimator_.get_params(deep=False)
        if "class_names" in known:
            self.estimator_.set_params(class_names=self.classes_.tolist())  # it is fitted to codes
        if self.shares is not None:
            counts = np.bincount(labels.codes[labels.labeled], minlength=len(self.classes_))
            self.shift_ = known_shift(self.shares, self.classes_.tolist(), counts)
            if "share_power" in known:
                self.estimator_.set_params(share_power=0.0)

    def calibrate(self, X: Any, y: Any, held: HeldOut | None = None) -> Self:
        """Learn from labeled rows that were held out how sure one may be of answers.

        Parameters
        ----------
        X, y
            The rows that the model was fitted on, and their labels.
        held : HeldOut, optional
            Answers of the same method to rows that were held out. By default it is fitted three times more for that.

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
        return self.calibrate_on(EncodedTable(as_frame(X), encode_labels(y, who="TableModel"), self._encoder), held)

    def calibrate_on(self, table: EncodedTable, held: HeldOut | None = None) -> Self:
        """Learn from a table whose columns have been learned how sure one may be of answers; see `calibrate`.

        Parameters
        ----------
        table : EncodedTable
            The rows that the model was fitted on, and their labels.
        held : HeldOut, optional
            See `calibrate`.

        Returns
        -------
        self
        """
        chosen = card_for(self.method)
        uses_unlabeled = chosen.uses_unlabeled and self.use_unlabeled
        labels = table.labels
        pool = np.random.default_rng(self.random_state).permutation(labels.unlabeled)[:_POOL]
        used = np.concatenate([labels.labeled, pool])
        rows, codes = table[used], labels.codes[used].astype(np.int64)
        if held is None:
            held = hold_out(
                lambda: chosen.make(rows.shape[1], self.random_state, dict(self.params or {})),
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
        if self._confidence is None:
            self._confidence = Confidence.of_few(labels.codes[labels.labeled], len(self.classes_))
        self.confidence_ = self._confidence.state()
        return self

    @property
    def method_name(self) -> str:
        """Name of the method, for people."""
        return self.method if isinstance(self.method, str) else card_for(self.method).name

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
        frame, encoder = self._read(X)
        warn_of_unreadable(encoder.unreadable(frame), frame.height, encoder.filled(frame))
        return self.predict_with_confidence(frame)[0]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the share of each class, in the order of ``classes_``; warns as `predict` does."""
        frame, encoder = self._read(X)
        warn_of_unreadable(encoder.unreadable(frame), frame.height, encoder.filled(frame))
        return self._by_batches(frame, self._shares)

    def _frame(self, X: Any) -> pl.DataFrame:
        check_is_fitted(self)
        return frame_like(X, self.columns_)

    def _read(self, X: Any) -> tuple[pl.DataFrame, TableEncoder]:
        """Return rows as a frame, and the encoder that reads numbers as they are written there."""
        frame = self._frame(X)
        if getattr(self, "_is_settled", False):
            return frame, self._encoder
        return frame, self._encoder.reading(self._encoder.forms_of_new(frame).forms)

    def forms_of_new(self, X: Any) -> NewForms:
        """Tell how numbers of new rows are written: with decimal commas or points, dates day or month first.

        Parameters
        ----------
        X : data frame or array of shape (n_rows, n_columns)
            Rows.

        Returns
        -------
        NewForms
            For `reading`.
        """
        return self._encoder.forms_of_new(self._frame(X))

    def reading(self, forms: Mapping[str, Form]) -> TableModel:
        """Return this model for rows whose numbers are written in known forms, as for a file that comes piece by piece.

        Parameters
        ----------
        forms : mapping of str to str
            Form of numeric columns; others are read as they were in training. Without this, each call of `predict` and
            the like takes the forms from its own rows.

        Returns
        -------
        TableModel
            It shares all with this one but how it reads.

        Examples
        --------
        >>> import polars as pl
        >>> rows = pl.DataFrame({"size": [1.25, 9.5, 2.25, 8.5]})
        >>> model = TableModel("k-nn").fit(rows, ["small", "large", None, None])
        >>> new = pl.DataFrame({"size": ["8,125", "1,5"]})
        >>> forms = model.forms_of_new(new).forms
        >>> forms, model.reading(forms).predict(new[:1]).tolist()
        ({'size': 'decimal comma'}, ['large'])
        """
        other = copy.copy(self)
        other._encoder = self._encoder.reading(forms)
        other._is_settled = True
        return other

    def own_proba(self, X: Any) -> np.ndarray:
        """Return the method's own share of each class: before `calibrate`, which makes many of them alike."""
        return self._by_batches(X, self._own_shares)

    def _by_batches(self, X: Any, shares: Callable[[Any], np.ndarray]) -> np.ndarray:
        frame, encoder = self._read(X)
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
        frame, encoder = self._read(X)
        labels, confidence = [self.classes_[:0]], [np.zeros(0)]
        for start in range(0, frame.height, _BATCH):
            encoded = encoder.transform(frame[start : start + _BATCH])
            codes = self._codes(encoded)
            labels.append(self.classes_[codes])
            confidence.append(self._shares(encoded)[np.arange(len(codes)), codes])
        return np.concatenate(labels), np.concatenate(confidence)

    @property
    def encoders(self) -> list[str]:
        """Name and hash of each encoder whose vectors it needs."""
        marks = [column["encoder"] for column in self.columns_.values() if "encoder" in column]
        return list(dict.fromkeys(f"{mark['name']} ({mark['hash']})" for mark in marks))

    def unreadable(self, X: Any) -> dict[str, int]:
        """Count the cells of numeric columns that are no number, by column; they are answered like empty ones.

        Parameters
        ----------
        X : data frame or array of shape (n_rows, n_columns)
            Rows.

        Returns
        -------
        dict of str to int
            Columns that have such cells, and how many.
        """
        frame, encoder = self._read(X)
        return encoder.unreadable(frame)

    def filled(self, X: Any) -> dict[str, int]:
        """Count the cells of numeric columns that are not empty, by column; see `unreadable`."""
        return self._encoder.filled(self._frame(X))

    def explain(self, row: Any) -> Explanation:
        """Tell why a row gets its label.

        Parameters
        ----------
        row : mapping of str to value, list of values, or data frame or array of one row
            The row; a list has the values of the columns in the order of ``feature_names_in_``.

        Returns
        -------
        Explanation
            Cells and words that speak for the answer, and the deciding rows of a method that votes by nearness.

        Examples
        --------
        >>> import polars as pl
        >>> rows = pl.DataFrame({"size": [1.0, 9.0, 2.0, 8.0]})
        >>> model = TableModel("k-nn").fit(rows, ["small", "large", None, None])
        >>> told = model.explain({"size": 7.5})
        >>> told.label, told.near[0].cells
        ('large', {'size': 9.0})
        """
        from handful.methods.explaining import explain_row

        check_is_fitted(self)
        frame, encoder = self._read(one_row(row, list(self.columns_)))
        return explain_row(self, frame, encoder)

    def table_row(self, row: int) -> int | None:
        """Return the row of the table that a row of the method's training was; None in files that do not tell."""
        if not hasattr(self, "rows_"):
            return None
        return row if self.rows_ is None else int(self.rows_[row])

    def _codes(self, encoded: Any) -> np.ndarray:
        """Return the code of each answer."""
        if self.shift_ is not None:
            return np.asarray(self._own_shares(encoded).argmax(axis=1))
        return np.asarray(self.estimator_.predict(encoded)).astype(np.int64)

    def _own_shares(self, encoded: Any) -> np.ndarray:
        """Return the method's own shares, moved by what is known of the classes."""
        own = np.zeros((encoded.shape[0], len(self.classes_)))
        own[:, np.asarray(self.estimator_.classes_).astype(np.int64)] = own_shares(self.estimator_, encoded)
        if self.shift_ is not None:
            own *= np.exp(self.shift_ - self.shift_.max())
            own /= np.maximum(own.sum(axis=1, keepdims=True), 1e-300)
        return own

    def _shares(self, encoded: Any) -> np.ndarray:
        own = self._own_shares(encoded)
        return own if self._confidence is None else self._confidence.shares(own, encoded)

    def _state(self) -> dict[str, Any]:
        # An encoder is not stored, since the columns name it; nor is a classifier that is not fitted.
        text = self.text if isinstance(self.text, str) else "vectors"
        return {**super()._state(), "text": text, "method": self.method_name}

    def _check_state(self) -> None:
        self._encoder = TableEncoder(self.columns_)
        self.feature_names_in_ = np.array(list(self.columns_), dtype=object)  # files of 0.1 hold no names
        self.__dict__.setdefault("shift_", None)
        learned = self.__dict__.setdefault("confidence_", None)
        self._confidence = None if learned is None else Confidence.from_state(learned, len(self.classes_))
        check_member("TableModel", self.estimator_, self._encoder.width, len(self.classes_))
        if learned is not None and learned["near"] is not None and learned["near"][0].shape[1] != self._encoder.width:
            raise DataError("TableModel: rows that confidence is told by must have the columns of its method.")
        rows = getattr(self, "rows_", None)
        if rows is not None and len(rows) < self.n_labeled_:
            raise DataError("TableModel: the rows that the method saw must be told by their numbers.")


def card_for(method: Any) -> Card:
    """Return the card of a method by its name, or one for a classifier.

    Examples
    --------
    >>> card_for("k-nn").name
    'k-nn'
    """
    if isinstance(method, str):
        return get_card(method, "table")
    from handful.methods.classifiers import classifier_card

    return classifier_card(method)


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
    handful.core.errors.ParameterError: svm-rbf: parameters must be of the method, which has C; got 'gamma'.
    """
    card = card_for(method)
    known = sorted(card.make(1, 0, {}).get_params(deep=False))
    strange = next((name for name in params if name.partition("__")[0] not in known), None)
    if strange is not None:
        near = get_close_matches(strange, known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        has = f"which has {', '.join(known)}" if known else "which has none"
        raise ParameterError(f"{card.name}: parameters must be of the method, {has}; got {strange!r}.{hint}")
    try:
        made = card.make(1, 0, params)
        if type(made).__module__.startswith("handful."):
            check_params(made)
        elif hasattr(made, "_validate_params"):
            made._validate_params()
    except ParameterError:
        raise
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{card.name}: {' '.join(str(error).split())}") from None


def _kinds(X: Any, frame: pl.DataFrame) -> Mapping[str, Kind]:
    return {"text": "text"} if are_texts(X) else table_of("X", frame).kinds
