"""Condense a fitted table model to a few rows, and measure what is lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import softmax
from sklearn.base import clone

from handful.comparison.statistics import binomial_interval
from handful.data.labels import UNLABELED, Labels, encode_labels
from handful.data.table import Table, as_frame
from handful.errors import DataError, HandfulError, ParameterError, Progress, Step
from handful.models.condensed_rows import CondensedModel, NearestRows
from handful.models.confidence import Confidence, HeldOut
from handful.models.ensemble import fit_temperature
from handful.preprocessing.table_encoder import TableEncoder

if TYPE_CHECKING:
    import polars as pl

    from handful.models.table_model import TableModel

_MOST_ROWS = 2_000
_MOST_AUTO = 60
_N_FOLDS = 5


def condense_model(
    model: TableModel,
    X: Any,
    y: Any = None,
    *,
    n_rows: int | Literal["auto"] = 40,
    random_state: int = 0,
    progress: Progress | None = None,
) -> CondensedModel:
    """Condense a fitted table model to a few rows.

    Parameters
    ----------
    model : TableModel
        The model.
    X : Table, data frame, or array of shape (n_rows, n_columns)
        Rows to choose from, labeled or not; of more than 2,000 a random sample is used, labeled rows first.
    y : array-like of shape (n_rows,), optional
        Labels, for an estimate of the accuracy; missing ones mark unlabeled rows. Those of a Table by default.
    n_rows : int or "auto", default=40
        Rows to keep; "auto" takes the fewest, up to 60, whose fidelity is within a standard error of the best (Breiman et
        al. 1984).
    random_state : int, default=0
        Seed.
    progress : callable, optional
        Receives a `Step` after each fold.

    Returns
    -------
    CondensedModel
        Its ``training_`` has ``fidelity``: the part of held-out rows for which it predicts what the model predicts, with a 95%
        interval; ``curve``: fidelity by number of rows; and, with labels, ``estimate`` and ``model_estimate``: accuracy on
        held-out labels of the rows and of the model.

    Notes
    -----
    All is estimated by 5-fold cross-validation. With labels, the model is refitted without those of each fold, so neither it nor
    the rows have seen the labels that score them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from handful.models.table_model import TableModel
    >>> X, y = load_iris(return_X_y=True)
    >>> few = np.where(np.arange(len(y)) % 5 == 0, y, -1)
    >>> small = condense_model(TableModel("logistic-regression").fit(X, few), X, few, n_rows=6)
    >>> len(small.kept_), small.training_["fidelity"]["value"] > 0.9
    (6, True)
    """
    if isinstance(model, CondensedModel):
        raise ParameterError(
            "condense_model: the model is condensed already. Condense the model that it was made from."
        )
    frame = model._frame(X.cells if isinstance(X, Table) else as_frame(X)).select(list(model.columns_))
    codes = _codes_of(X.labels if y is None and isinstance(X, Table) else y, model, frame.height)
    rng = np.random.default_rng(random_state)
    order = rng.permutation(frame.height)
    order = order[np.argsort(codes[order] < 0, kind="stable")]  # labeled rows first
    used = np.sort(order[:_MOST_ROWS])
    frame, codes = frame[used], codes[used]
    if frame.height < _N_FOLDS:
        raise DataError(f"condense_model: {frame.height} rows are too few; {_N_FOLDS} are needed. Add rows.")
    predictions = encode_labels(model.predict(frame))
    least = len(predictions.classes)
    most = min(_MOST_AUTO if n_rows == "auto" else int(n_rows), int(0.8 * frame.height))
    if most < least:
        raise ParameterError(f"condense_model: n_rows must be at least {least}, one for each class; got {n_rows}.")
    encoder = TableEncoder.learn(frame, TableEncoder(model.columns_).specs, text="words")
    fold = rng.permutation(frame.height) % _N_FOLDS
    held = _hold_out(model, frame, encoder, codes, fold, most, random_state, progress)
    curve, size = (held.predicted == held.expected).mean(axis=1), most
    if n_rows == "auto":
        best = float(curve.max())
        size = max(least, int(np.argmax(curve >= best - np.sqrt(best * (1 - best) / len(codes)))) + 1)
    small = CondensedModel(size, random_state=random_state).fit_rows(frame, encoder, predictions)
    small.kept_ = used[small.kept_]
    small.estimator_.temperature_ = fit_temperature(held.scores, held.expected)
    predicted = held.predicted[size - 1]
    if "text" in encoder.kinds.values():
        predicted = _of_kept_words(held, frame, encoder, model.classes_, small)
    small.training_ = {
        "condensed from": model.method_name,
        "fidelity": _estimate(predicted == held.expected),
        "curve": {str(n): float(curve[n - 1]) for n in range(least, most + 1)},
    }
    _limit_confidence(small, model, held, codes, predictions)
    if held.tested.any():
        tested, truth = held.tested, codes[held.tested]
        small.training_["estimate"] = _estimate(predicted[tested] == truth)
        small.training_["model_estimate"] = _estimate(held.expected[tested] == truth)
    return small


@dataclass(eq=False)
class _HeldOut:
    """What is predicted for each row by models that did not see it.

    Parameters
    ----------
    fold : ndarray of shape (n_rows,)
        Fold in which each row is held out.
    targets : ndarray of shape (n_folds, n_rows)
        What the model without the labels of a fold predicts for all rows.
    predicted : ndarray of shape (n_sizes, n_rows)
        What 1, 2, 3, ... kept rows predict.
    scores : ndarray of shape (n_rows, n_classes)
        Scores by the most rows.
    tested : ndarray of bool
        Rows with a label that neither the model nor the kept rows have seen.
    """

    fold: np.ndarray
    targets: np.ndarray
    predicted: np.ndarray
    scores: np.ndarray
    tested: np.ndarray

    @property
    def expected(self) -> np.ndarray:
        """What the model predicts for each row without its label."""
        return np.asarray(self.targets[self.fold, np.arange(len(self.fold))])


def _hold_out(
    model: TableModel,
    frame: pl.DataFrame,
    encoder: TableEncoder,
    codes: np.ndarray,
    fold: np.ndarray,
    most: int,
    seed: int,
    progress: Progress | None,
) -> _HeldOut:
    n, n_classes, encoded = frame.height, len(model.classes_), encoder.transform(frame)
    out = _HeldOut(
        fold=fold,
        targets=np.zeros((_N_FOLDS, n), dtype=np.int64),
        predicted=np.zeros((most, n), dtype=np.int64),
        scores=np.full((n, n_classes), -1e6),
        tested=np.zeros(n, dtype=bool),
    )
    for k in range(_N_FOLDS):
        held = out.fold == k
        refitted = _without_labels(model, frame, np.where(held, UNLABELED, codes))
        targets = out.targets[k] = np.searchsorted(model.classes_, (refitted or model).predict(frame))
        rows = NearestRows(max(most, len(np.unique(targets))), seed).fit(encoded[~held], targets[~held])
        distances = rows.distances(encoded[held])
        for size in range(most):
            out.predicted[size, held] = rows.classes_[rows.scores(distances[:, : size + 1]).argmax(axis=1)]
        out.scores[np.ix_(held, rows.classes_)] = rows.scores(distances)
        out.tested |= held & (codes >= 0) & (refitted is not None)
        if progress is not None:
            progress(Step("condense", k + 1, _N_FOLDS, {}))
    return out


def _limit_confidence(
    small: CondensedModel, model: TableModel, held: _HeldOut, codes: np.ndarray, predictions: Labels
) -> None:
    """Learn from held-out labels how often predictions of each confidence are correct; without them, only limit it."""
    labels, gold = codes[codes >= 0], codes[held.tested]
    small.n_labeled_ = len(labels) or model.n_labeled_
    small.n_unlabeled_ = len(codes) - len(labels)
    proba = softmax(small.estimator_.temperature_ * held.scores[held.tested], axis=1)
    answers = HeldOut(proba.max(axis=1), np.zeros(len(gold)), proba.argmax(axis=1) == gold, gold)
    frequencies = np.zeros(len(model.classes_))
    frequencies[np.searchsorted(model.classes_, predictions.classes)] = np.bincount(predictions.codes)
    learned = Confidence.learn(answers, None, labels, frequencies)
    small._confidence = learned or Confidence(1.0, 0.0, n_held=small.n_labeled_)
    small.confidence_ = small._confidence.state()


def _of_kept_words(
    held: _HeldOut, frame: pl.DataFrame, encoder: TableEncoder, classes: np.ndarray, small: CondensedModel
) -> np.ndarray:
    """Return what is predicted for held-out rows by models that keep the words of their rows alone."""
    predicted = np.zeros(len(held.fold), dtype=np.int64)
    for k, targets in enumerate(held.targets):
        test, rest = np.flatnonzero(held.fold == k), np.flatnonzero(held.fold != k)
        fitted = clone(small).fit_rows(frame[rest], encoder, Labels(targets[rest].astype(np.int32), classes))
        predicted[test] = np.searchsorted(classes, fitted.predict(frame[test]))
    return predicted


def _without_labels(model: TableModel, frame: pl.DataFrame, codes: np.ndarray) -> TableModel | None:
    """Return the same method fitted to some of the labels; None where these do not do."""
    if len(np.unique(codes[codes >= 0])) < len(model.classes_) or len(model.classes_) < 2:
        return None
    try:
        fitted: TableModel = clone(model).fit(frame, Labels(codes.astype(np.int32), model.classes_))
    except HandfulError:  # such as a method that is not known by name
        return None
    return fitted


def _codes_of(y: Any, model: TableModel, n_rows: int) -> np.ndarray:
    """Return labels as positions in the classes of the model; labels that it does not know count as unlabeled."""
    if y is None:
        return np.full(n_rows, UNLABELED)
    labels = encode_labels(y, who="condense_model", min_classes=0)
    if len(labels.codes) != n_rows:
        raise DataError(f"condense_model: {n_rows} rows but {len(labels.codes)} labels. Give one for each row.")
    place = {str(name): code for code, name in enumerate(model.classes_.tolist())}
    known = np.array([place.get(str(name), UNLABELED) for name in labels.classes.tolist()] + [UNLABELED])
    return np.asarray(known[labels.codes])


def _estimate(correct: np.ndarray) -> dict[str, Any]:
    value, n = float(correct.mean()), len(correct)
    low, high = binomial_interval(value, n)
    return {"metric": "accuracy", "value": value, "low": low, "high": high, "n": n}
