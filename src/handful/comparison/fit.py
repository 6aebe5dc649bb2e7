"""Fit a model to a table, with an estimate of its score by repeated cross-validation."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from handful.comparison.compare import Comparison, table_experiment, why_not_best
from handful.comparison.search import SuccessiveHalving, run_search, usual_params
from handful.comparison.statistics import binomial_interval
from handful.comparison.tables import choose_params, labeled_table
from handful.comparison.trials import DEFAULT_METHOD, Limits, quiet_single_thread
from handful.data.labels import encode_labels
from handful.data.table import Table, are_texts
from handful.errors import DataError, counted
from handful.models.confidence import known_shift
from handful.models.table_model import TableModel, spec_for
from handful.models.witnesses import Witness, WitnessEnsemble, learn_witnesses, witness_cells
from handful.preprocessing.table_encoder import EncodedTable, choose_text
from handful.registry import method_names

_N_SPLITS = 10  # two repetitions of five-fold cross-validation
_FEW_LABELS = 100  # up to which the default ensemble is fitted without a search
_CANDIDATES = (
    *("extra-trees", "random-forest", "hist-gradient-boosting", "logistic-regression"),
    *("svm-rbf", "kernel-ridge", "label-spreading", "k-nn"),
)
_MANY_CLASSES = 100  # of one label each; trees would store a probability of each at every leaf


def fit(
    X: Any,
    y: Any = None,
    *,
    method: Any = "auto",
    limits: Limits | None = None,
    metric: str = "auto",
    columns: Any = None,
    text: Any = "auto",
    class_priors: Mapping[Any, float] | None = None,
) -> TableModel:
    """Fit a classifier to rows of which few have a label, and estimate its score.

    Parameters
    ----------
    X : path, data frame, array of shape (n_rows, n_columns), sparse matrix, or list of texts
        A table in a file, or rows in memory.
    y : array-like of shape (n_rows,), or str
        Labels; ``None``, ``NaN`` or (among integers) -1 mark unlabeled rows. Or the name of the label column.
    method : str or classifier, default="auto"
        Name of a method (``handful methods`` lists them) or a scikit-learn classifier. ``"auto"`` is an ensemble for up to
        100 labels; with more labels, the best of about eight candidates.
    limits : Limits, optional
        Time, trials, processes, seed, and the number of unlabeled rows. By default two minutes in this process.
    metric : {"auto", "accuracy", "balanced_accuracy", "f1_macro"}, default="auto"
        What is estimated and aimed at. ``"auto"`` is accuracy, or balanced accuracy if more than four fifths of the labels are
        of one class.
    columns : mapping of str to {"numeric", "categorical", "datetime", "text", "skip"}, optional
        Kinds of columns, where the inferred ones are wrong.
    text : {"auto", "words", "lsa", "vectors"}, path, name or encoder, default="auto"
        How text columns are encoded: weighted words, LSA, or embeddings. ``"auto"`` is embeddings where an encoder is installed
        that knows the language, and else LSA.
    class_priors : mapping of label to float, optional
        How frequent the classes really are, if that is known: labels that were picked class by class do not show it.

    Returns
    -------
    TableModel
        With ``predict`` and ``predict_proba``. ``training_["estimate"]`` has the score that is expected on new rows, with a 95%
        interval from repeated cross-validation; ``training_["selection"]`` says why this model was selected.

    See Also
    --------
    handful.compare : A thorough comparison of all methods.

    Examples
    --------
    Fit a model to 15 labels and 135 unlabeled rows:

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> few = np.where(np.arange(len(y)) % 10 == 0, y, -1)
    >>> model = fit(X, few, method="self-training")
    >>> bool((model.predict(X) == y).mean() > 0.8)
    True
    >>> model.training_["estimate"]["metric"], model.training_["estimate"]["n_splits"]
    ('accuracy', 10)
    """
    limits = limits or Limits()
    table = labeled_table(X, y, columns=columns, max_unlabeled=limits.max_unlabeled, seed=limits.seed, who="fit")
    return fit_selected(table, method, metric=metric, text=text, class_priors=class_priors, limits=limits)[0]


def fit_selected(
    table: Table,
    method: Any = "auto",
    *,
    params: Mapping[str, Any] | None = None,
    candidates: Sequence[Any] = (),
    metric: str = "auto",
    text: Any = "auto",
    class_priors: Mapping[Any, float] | None = None,
    limits: Limits | None = None,
) -> tuple[TableModel, Comparison | None]:
    """Select a model by cross-validation, and fit it to a table that has been read.

    Parameters
    ----------
    table : Table
        The table.
    method, metric, text, class_priors, limits
        See `fit`.
    params : mapping of str to value, optional
        Parameters of the method.
    candidates : sequence of classifier
        Further candidates.

    Returns
    -------
    model : TableModel
        The fitted model.
    comparison : Comparison or None
        The candidates; None where the labels do not allow cross-validation, so there is no estimate.
    """
    if class_priors is not None:  # an error before the work
        known_shift(class_priors, table.classes.tolist(), np.bincount(table.codes[table.labeled]))
    limits = limits or Limits()
    limits = replace(limits, splits=min(limits.splits, _N_SPLITS))
    is_auto = isinstance(method, str) and method == "auto"
    methods = _candidates(table, candidates) if is_auto else [method]
    try:
        comparison = _cross_validate(table, methods, params, metric=metric, text=text, limits=limits)
        best = comparison.selected
    except DataError as error:
        use = _unmeasured(table) if is_auto else method
        text, table = choose_text(table, text, seconds=limits.seconds_left, seed=limits.seed)
        model = fit_method(table, use, params=params, text=text, class_priors=class_priors, seed=limits.seed)
        reason = str(error).removeprefix("compare: ")
        model.training_ = {"selection": f"{model.method_name}; its score could not be estimated: {reason}"}
        model.notices_ = table.notices
        return model, None
    experiment: Any = comparison.experiment
    results = comparison.search.results_of(best.method)
    if limits.watch is not None:
        n_labels = counted(len(table.labeled), "label")
        message = f"Fitting {best.method} to all {n_labels}."
        limits.watch(comparison.search.snapshot(time.monotonic() - limits.started, message))
    model = fit_method(
        experiment.table,
        experiment.method(best.method),
        params={**usual_params(results), **(params or {})},
        text=experiment.text,
        class_priors=class_priors,
        seed=limits.seed,
    )
    model.training_ = {"selection": _selection(comparison, is_auto), "estimate": _estimate(comparison)}
    model.notices_ = experiment.table.notices
    return model, comparison


def fit_method(
    table: Table,
    method: Any,
    *,
    params: Mapping[str, Any] | None = None,
    text: Any = "lsa",
    class_priors: Mapping[Any, float] | None = None,
    seed: int = 0,
) -> TableModel:
    """Fit one method to all rows of a table, without an estimate.

    Parameters
    ----------
    table : Table
        The table.
    method : str or classifier
        Name of a method, or a scikit-learn classifier.
    params : mapping of str to value, optional
        Its parameters; chosen by cross-validation among the labeled rows by default.
    text : {"words", "lsa", "vectors"} or encoder
        How text columns are encoded.
    class_priors : mapping of label to float, optional
        See `fit`.
    seed : int
        Seed.

    Returns
    -------
    TableModel
        The fitted model.
    """
    spec = spec_for(method)
    with quiet_single_thread():
        encoded = EncodedTable.learn(table.values(), table.columns, encode_labels(table.labels), text=text)
        if params is None:
            params = choose_params(spec, encoded, table.codes.astype(np.int64), seed)
        model = TableModel(
            method, params=params, kinds=dict(table.kinds), text=text, shares=class_priors, random_state=seed
        )
        return model.fit_table(encoded).calibrate_on(encoded)


def _candidates(table: Table, more: Sequence[Any]) -> list[Any]:
    """Return the default ensemble, and further candidates where labels are enough to select."""
    known = method_names("table")
    few = len(table.labeled) <= _FEW_LABELS
    return [DEFAULT_METHOD, *(() if few else (name for name in _CANDIDATES if name in known)), *more]


def _unmeasured(table: Table) -> str:
    """Return the method to take where labels do not allow cross-validation."""
    return DEFAULT_METHOD if len(table.classes) <= _MANY_CLASSES else "k-nn"


def _cross_validate(
    table: Table, methods: Sequence[Any], params: Mapping[str, Any] | None, *, limits: Limits, **options: Any
) -> Comparison:
    experiment, names = table_experiment(table, methods, limits=limits, **options)
    if params:
        experiment.set_params(names[0] if names else "", params)
    lines = experiment.lines(names, controls=False)
    search = SuccessiveHalving(lines, experiment.design, limits.splits, preferred=DEFAULT_METHOD)
    n_trial = min(len(table.codes), experiment.splits.n_labels + experiment.max_unlabeled)

    def reserve(search: SuccessiveHalving) -> float:
        """Return the seconds that the last fit takes, by the slowest candidate that is left."""
        slowest = max([search.seconds(name) for name in search.remaining] or [0.0])
        return 1.0 + slowest * len(table.codes) / n_trial

    return Comparison(experiment, search, run_search(experiment, search, limits, reserve), limits.command)


def _selection(comparison: Comparison, is_auto: bool) -> str:
    best, n_candidates = comparison.selected, sum(line.candidate for line in comparison.search.lines)
    if not is_auto:
        return "named"
    if n_candidates == 1:
        return f"{best.method}, the default for up to {_FEW_LABELS} labels."
    n_scored = len(comparison.scores)
    cut = "" if n_scored == n_candidates else f", of which {n_scored} were scored before the time was up"
    return f"{best.method}, selected among {n_candidates} candidates{cut}.{why_not_best(comparison.scores)}"


def _estimate(comparison: Comparison) -> dict[str, Any]:
    """Return the cross-validated score of the selected model."""
    best, experiment = comparison.selected, comparison.experiment
    return {
        "metric": experiment.metric,
        "value": best.mean,
        "low": best.low,
        "high": best.high,
        "n_splits": best.n_splits,
        "n_folds": experiment.design.n_folds,
        "n_methods": len(comparison.scores),
        "n_fits": len(comparison.search.results),
    }


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
        What was learned about each column. A column that is no better than chance is not used, and none is if held-out labels
        are less likely with them; ``training_["witnesses"]`` names those in use.

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
    columns = witness_cells(table, witnesses)
    table = replace(table, columns=tuple(spec for spec in table.columns if spec.name not in columns))
    text, table = choose_text(table, text)
    known, _ = learn_witnesses(table.codes, table.classes.tolist(), columns)
    used = {witness.name: columns[witness.name] for witness in known if witness.is_used}
    if not used:
        return fit_method(table, "ensemble", text=text, seed=random_state), known
    estimator = WitnessEnsemble(table.classes.tolist(), used, random_state)
    model = fit_method(table, estimator, params={}, text=text, seed=random_state)
    fitted = model.estimator_
    used = used if len(fitted.estimators_) > 1 else {}
    model.method = f"ensemble with {', '.join(used)}" if used else "ensemble"
    fitted.columns = fitted.classes = None
    labels = table.codes[fitted.oof_rows_]
    if len(labels):
        model.training_["estimate"] = _held_out_accuracy(fitted.oof_proba_, labels)
        model.training_["estimate_alone"] = _held_out_accuracy(fitted.oof_alone_, labels)
    model.training_["selection"] = "named"
    model.training_["witnesses"] = list(used)
    return model, known


def _held_out_accuracy(proba: np.ndarray, codes: np.ndarray) -> dict[str, Any]:
    value = float((proba.argmax(axis=1) == codes).mean())
    low, high = binomial_interval(value, len(codes))
    return {"metric": "accuracy", "value": value, "low": low, "high": high, "n": len(codes)}


class HandfulClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classifier for few labels and many unlabeled rows, in scikit-learn's style.

    Parameters
    ----------
    method : str or classifier, default="auto"
        Name of a method, a scikit-learn classifier, or ``"auto"``; see `handful.fit`.
    metric : {"auto", "accuracy", "balanced_accuracy", "f1_macro"}, default="auto"
        What is estimated and aimed at.
    class_priors : mapping of label to float, optional
        True class frequencies, if known.
    estimate : bool, default=True
        Whether to estimate the score by cross-validation (and to search, with more than 100 labels); without, only one model
        is fitted.
    minutes : float, default=2.0
        Time limit of the search.
    n_jobs : int, default=1
        Worker processes.
    random_state : int or None, default=None
        Seed; None is 0.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    model_ : TableModel
        The fitted model, which `handful.save` stores.
    estimate_ : dict or None
        Estimated score on new rows with its 95% interval.
    n_features_in_ : int
        Number of columns.

    See Also
    --------
    handful.fit : The same as a function, which also reads files.

    Notes
    -----
    In `fit`, ``None``, ``NaN`` or (among integers) -1 in `y` marks unlabeled rows, as in `sklearn.semi_supervised`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> few = np.where(np.arange(len(y)) % 10 == 0, y, -1)
    >>> model = HandfulClassifier("logistic-regression").fit(X, few)
    >>> bool(model.score(X, y) > 0.85), model.estimate_["metric"]
    (True, 'accuracy')
    """

    def __init__(
        self,
        method: Any = "auto",
        *,
        metric: str = "auto",
        class_priors: Mapping[Any, float] | None = None,
        estimate: bool = True,
        minutes: float = 2.0,
        n_jobs: int = 1,
        random_state: int | None = None,
    ) -> None:
        self.method = method
        self.metric = metric
        self.class_priors = class_priors
        self.estimate = estimate
        self.minutes = minutes
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to labeled and unlabeled rows.

        Parameters
        ----------
        X : data frame, array of shape (n_rows, n_columns), sparse matrix, or list of texts
            Rows.
        y : array-like of shape (n_rows,)
            Labels; ``None``, ``NaN`` or -1 mark unlabeled rows.

        Returns
        -------
        self
        """
        X = self._checked(X, reset=True)
        if y is None:
            raise ValueError("HandfulClassifier requires y to be passed, but the target y is None.")
        labels = encode_labels(column_or_1d(y, warn=True), who="y", min_classes=2)
        check_classification_targets(labels.classes)
        table, seed = labeled_table(X, labels), self.random_state or 0
        if self.estimate:
            limits = Limits(minutes=self.minutes, n_jobs=self.n_jobs, seed=seed)
            options: dict[str, Any] = {"metric": self.metric, "class_priors": self.class_priors, "limits": limits}
            self.model_, _ = fit_selected(table, self.method, **options)
        else:
            method = DEFAULT_METHOD if isinstance(self.method, str) and self.method == "auto" else self.method
            self.model_ = fit_method(table, method, class_priors=self.class_priors, seed=seed)
        self.classes_ = self.model_.classes_
        self.estimate_ = self.model_.training_.get("estimate")
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted class of each row."""
        check_is_fitted(self)
        return self.model_.predict(self._checked(X, reset=False))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, in the order of ``classes_``."""
        check_is_fitted(self)
        return self.model_.predict_proba(self._checked(X, reset=False))

    def explain(self, row: Any) -> Any:
        """Explain the prediction of one row; see `handful.models.table_model.TableModel.explain`."""
        check_is_fitted(self)
        return self.model_.explain(row)

    def _checked(self, X: Any, *, reset: bool) -> Any:
        """Return rows as scikit-learn wants them checked; frames and texts as they are."""
        if are_texts(X) or (isinstance(X, Mapping) and not hasattr(X, "tocsr")):
            return X
        if hasattr(X, "columns"):
            if hasattr(X, "iloc"):
                validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        array = X if hasattr(X, "dtype") or hasattr(X, "tocsr") else np.asarray(X)
        has_names = getattr(array, "dtype", None) is not None and array.dtype.kind in "OUS" and _any_text(array)
        kind = None if has_names else "numeric"
        finite: Any = False if has_names else "allow-nan"
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=kind, ensure_all_finite=finite)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        return tags


def _any_text(array: Any) -> bool:
    return array.dtype.kind in "US" or any(isinstance(cell, str) for cell in np.asarray(array, dtype=object).ravel())
