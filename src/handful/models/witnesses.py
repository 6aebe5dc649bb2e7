"""Columns of cheap labels (witnesses), such as those of a large language model or of rules, next to few reliable labels.

How a witness errs is learned by EM as of Dawid and Skene (1979), with the classes of the labeled rows fixed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import gammaln, softmax

from handful.data.columns import MISSING
from handful.data.table import Table, check_column
from handful.errors import DataError
from handful.models.adapters import RowClassifier
from handful.models.ensemble import Ensemble, fit_temperature, fit_weights
from handful.persistence.schema import Array, ListOf, Model, Text, check_member, stored
from handful.registry import method

_STRENGTH = 4.0  # rows that the prior of a class counts as; chosen by simulation, see benchmarks/witnesses.py
_N_ROUNDS = 50
_LEAST_POSTERIOR = 0.01  # classes of a row that are less probable are left out
_N_FOLDS = 5
_N_ORDERS = 100  # of the labels, in the permutation test
_LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class Witness:
    """A column of cheap labels, and how it errs.

    Parameters
    ----------
    name : str
        The column.
    values : ndarray of str
        Its different cells.
    votes : ndarray of int64
        Position of each row's cell among the values, -1 where it is empty.
    counts : ndarray of shape (n_classes, n_values)
        Labeled rows by label and cell.
    confusion : ndarray of shape (n_classes, n_values)
        Estimated probability of each cell in rows of a class.
    evidence : float
        Logarithm of the Bayes factor of "cells depend on the class" against "they do not"; at most by how much it is above
        that of 95% of random orders of the labels.
    """

    name: str
    values: np.ndarray
    votes: np.ndarray
    counts: np.ndarray
    confusion: np.ndarray
    evidence: float

    @property
    def is_used(self) -> bool:
        """Whether its cells depend on the class, as far as the labeled rows show."""
        return self.evidence > 0

    def own_names(self, classes: Sequence[Any]) -> dict[str, int]:
        """Return the position of the class that each cell stands for, of cells that are no names of classes.

        Parameters
        ----------
        classes : sequence
            The classes.

        Returns
        -------
        dict of str to int
            The class in whose rows the cell is most probable, among the classes whose names are never a cell. Empty if
            there are none, or if the witness is not used.
        """
        names = [str(name) for name in classes]
        values = self.values.tolist()
        free = [code for code, name in enumerate(names) if name not in values]
        if not free or not self.is_used:
            return {}
        best = self.confusion[free].argmax(axis=0)
        return {value: free[at] for value, at in zip(values, best, strict=True) if value not in names}


def learn_witnesses(
    codes: np.ndarray, classes: Sequence[Any], columns: Mapping[str, Sequence[Any]]
) -> tuple[list[Witness], np.ndarray]:
    """Learn how columns of cheap labels err, and what they say about each row.

    Parameters
    ----------
    codes : ndarray of int
        Class of each row, -1 where unlabeled.
    classes : sequence
        The classes.
    columns : dict of str to sequence
        Cells of each witness, None where it is silent. Cells need not be names of classes.

    Returns
    -------
    witnesses : list of Witness
        In the order of the columns.
    posterior : ndarray of shape (n_rows, n_classes)
        Probability of each class: 1 for the label of a labeled row; zeros where there is neither a label nor a witness in use.

    Notes
    -----
    The prior of a class is a Dirichlet distribution that counts as four rows. Its mean is the cell that names the class, with
    the probability that this witness agrees with labels, and else the frequencies of all cells. A witness is used if the Bayes
    factor against independence is above 1 (Gûnel and Dickey 1974), and above that of 95 of 100 random orders of the labels: by
    chance, a column of nearly as many values as rows has a high factor.

    References
    ----------
    Dawid, A. P., Skene, A. M. (1979). Maximum likelihood estimation of observer error-rates using the EM algorithm. Applied
    Statistics 28.

    Examples
    --------
    >>> codes = np.array([0] * 10 + [1] * 10 + [-1])
    >>> cells = ["a"] * 9 + ["b"] + ["b"] * 8 + ["a"] * 2 + ["b"]
    >>> (witness,), posterior = learn_witnesses(codes, ["a", "b"], {"llm": cells})
    >>> witness.counts.tolist(), witness.is_used, bool(posterior[-1, 1] > 0.7)
    ([[9, 1], [2, 8]], True, True)
    """
    codes, names = np.asarray(codes), [str(name) for name in classes]
    read = {name: _read(cells) for name, cells in columns.items()}
    evidence = {name: _beyond_chance(codes, votes, values, names) for name, (values, votes) in read.items()}
    priors = {name: _prior(codes, votes, values, names) for name, (values, votes) in read.items()}
    used = [name for name in read if evidence[name] > 0]
    confusions, posterior = _expectation_maximization(
        codes, len(names), [read[n][1] for n in used], [priors[n] for n in used]
    )
    learned = dict(zip(used, confusions, strict=True))
    witnesses = []
    for name, (values, votes) in read.items():
        counts = _counts(codes, votes, (len(names), len(values)))
        confusion = learned.get(name, (counts + priors[name]) / (counts + priors[name]).sum(axis=1, keepdims=True))
        witnesses.append(Witness(name, values, votes, counts, confusion, evidence[name]))
    return witnesses, posterior


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
    if not len(table.labeled):
        raise DataError(f"{table.source or 'table'}: no labels in {table.target!r}. Label some rows first.")
    errors: list[WitnessError] = []
    classes = [str(name) for name in table.classes.tolist()]
    own_names = witness_names(table, witnesses)
    for name, cells in witness_cells(table, witnesses).items():
        counts: dict[tuple[int, str], int] = {}
        for code, cell in zip(table.codes.tolist(), cells, strict=True):
            if code >= 0 and cell is not None:
                counts[code, cell] = counts.get((code, cell), 0) + 1
        n_of = {code: sum(n for (c, _), n in counts.items() if c == code) for code in range(len(classes))}
        own = own_names.get(name, {})
        wrong = {key: n for key, n in counts.items() if str(own.get(key[1], key[1])) != classes[key[0]]}
        if not counts:
            raise DataError(
                f"{table.source or 'table'}: {name!r} is empty in all labeled rows. Label rows that have it."
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
    learned, _ = learn_witnesses(table.codes, classes, witness_cells(table, witnesses))
    names = {witness.name: witness.own_names(classes) for witness in learned}
    return {name: {cell: classes[code] for cell, code in own.items()} for name, own in names.items() if own}


def _error(name: str, says: Any, label: Any, n: int, n_labeled: int) -> WitnessError:
    from scipy.stats import binomtest

    interval = binomtest(n, n_labeled).proportion_ci()
    return WitnessError(name, says, label, n, n_labeled, n / n_labeled, float(interval.low), float(interval.high))


def witness_cells(table: Table, witnesses: Sequence[str]) -> dict[str, list[str | None]]:
    """Return the cells of witnesses as text, None where they are missing."""
    columns = {}
    for name in witnesses:
        check_column(table.source or "table", table.cells, name)
        if name == table.target:
            raise DataError(f"{table.source or 'table'}: {name!r} is the label column. Name other columns.")
        texts = [None if cell is None else str(cell).strip() for cell in table.cells[name].to_list()]
        columns[name] = [None if text is None or text in MISSING else text for text in texts]
    return columns


def _read(cells: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
    texts = np.array(["" if cell is None else str(cell).strip() for cell in cells])
    values, votes = np.unique(texts[texts != ""], return_inverse=True)
    every = np.full(len(texts), -1)
    every[texts != ""] = votes
    return values, every


def _counts(codes: np.ndarray, votes: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    both = (codes >= 0) & (votes >= 0)
    counts = np.zeros(shape, dtype=np.int64)
    np.add.at(counts, (codes[both], votes[both]), 1)
    return counts


def _evidence(codes: np.ndarray, votes: np.ndarray, values: np.ndarray, names: Sequence[str]) -> float:
    counts = _counts(codes, votes, (len(names), len(values)))
    if not counts.sum():
        return 0.0
    agreeing = np.array([[name == value for value in values.tolist()] for name in names])
    prior = 1.0 / len(values) + agreeing
    apart = sum(_log_marginal(line, alpha) for line, alpha in zip(counts, prior, strict=True))
    return float(apart - _log_marginal(counts.sum(axis=0), prior.mean(axis=0)))


def _beyond_chance(codes: np.ndarray, votes: np.ndarray, values: np.ndarray, names: Sequence[str]) -> float:
    """Return the evidence, or less: by how much it is above that of most random orders of the labels."""
    both = (codes >= 0) & (votes >= 0)
    codes, votes = codes[both], votes[both]
    evidence = _evidence(codes, votes, values, names)
    if evidence <= 0:
        return evidence
    rng = np.random.default_rng(0)
    by_chance = [_evidence(rng.permutation(codes), votes, values, names) for _ in range(_N_ORDERS)]
    return min(evidence, evidence - float(np.quantile(by_chance, 1 - _LEVEL)) - 1e-9)


def _log_marginal(counts: np.ndarray, alpha: np.ndarray) -> float:
    """Return the log-probability of counts under a Dirichlet prior, but for a constant of the counts' order."""
    return float(
        gammaln(alpha.sum()) - gammaln((counts + alpha).sum()) + (gammaln(counts + alpha) - gammaln(alpha)).sum()
    )


def _prior(codes: np.ndarray, votes: np.ndarray, values: np.ndarray, names: Sequence[str]) -> np.ndarray:
    counts = _counts(codes, votes, (len(names), len(values)))
    agreeing = np.array([[name == value for value in values.tolist()] for name in names], dtype=bool).reshape(
        counts.shape
    )
    agreement = (counts[agreeing].sum() + 1) / (counts.sum() + 2)
    frequencies = np.bincount(votes[votes >= 0], minlength=len(values)) + 1.0
    frequencies /= frequencies.sum()
    is_named = agreeing.any(axis=1, keepdims=True)
    mean = np.where(is_named, agreement * agreeing + (1 - agreement) * frequencies, frequencies)
    return np.asarray(_STRENGTH * mean)


def _expectation_maximization(
    codes: np.ndarray, n_classes: int, votes: Sequence[np.ndarray], priors: Sequence[np.ndarray]
) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the confusion of each witness, and the probability of each class in rows with a label or a vote."""
    labeled, voted = codes >= 0, np.zeros(len(codes), dtype=bool)
    for part in votes:
        voted |= part >= 0
    gold = np.zeros((len(codes), n_classes))
    gold[labeled, codes[labeled]] = 1.0
    posterior, confusions = gold, list[np.ndarray]()
    for _ in range(_N_ROUNDS if votes else 1):
        classes = posterior.sum(axis=0) + 1.0
        log_proba = np.tile(np.log(classes / classes.sum()), (len(codes), 1))
        confusions = []
        for part, prior in zip(votes, priors, strict=True):
            said = part >= 0
            one_hot = sparse.csr_matrix(
                (np.ones(said.sum()), (part[said], np.flatnonzero(said))), shape=(prior.shape[1], len(codes))
            )
            counts = (one_hot @ posterior).T + prior
            confusions.append(counts / counts.sum(axis=1, keepdims=True))
            log_proba[said] += np.log(confusions[-1][:, part[said]]).T
        posterior = np.where(labeled[:, None], gold, softmax(log_proba, axis=1) * voted[:, None])
    return confusions, posterior


@method("witness-ensemble", task="model", uses_unlabeled=True)
class WitnessEnsemble(RowClassifier):
    """The ensemble of the labeled rows, and members that learn from witnesses, weighted by held-out labels.

    Parameters
    ----------
    classes : sequence
        The classes.
    columns : dict of str to sequence
        Cells of each witness; see `learn_witnesses`.
    random_state : int
        Seed.

    Attributes
    ----------
    weights_, temperatures_ : ndarray
        Weight of each member in the mean, and what its log-probabilities are multiplied by before; the first is the ensemble.
    oof_rows_, oof_proba_, oof_alone_ : ndarray
        Labeled rows, and their out-of-fold probabilities by all members and by the ensemble of the labels alone; not in files.

    Notes
    -----
    Rows that a witness has labeled train members with the posterior as weights. To predict a held-out row neither its label nor
    its witnesses are used, and the confusions are learned without it. Members of witnesses are left out if the mean
    log-likelihood of held-out labels is lower with them than with the ensemble alone, by more than its standard error.
    """

    STATE = stored(
        estimators_=ListOf(Model(can=("predict_proba",)), "m"),
        views_=ListOf(Text("rows", "words"), "m"),
        weights_=Array("f8", "m", low=0, high=1),
        temperatures_=Array("f8", "m", low=0),
        class_priors_=Array("f8", "k", low=0, high=1),
    )

    def __init__(self, classes: Any = None, columns: Any = None, random_state: int = 0) -> None:
        self.classes = classes
        self.columns = columns
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to encoded rows and codes of classes, -1 where unlabeled."""
        self._rows(X, reset=True)
        codes = self._labels(y, X.shape[0]).codes
        n_classes = len(self.classes_)
        alone = Ensemble(random_state=self.random_state).fit(X, y)
        held, known = alone.oof_rows_, codes[alone.oof_rows_]
        self.views_ = ["rows", "rows", "words"] if getattr(X, "words", None) is not None else ["rows", "rows"]
        _, posterior = learn_witnesses(codes, self.classes, self.columns)
        self.estimators_ = [alone, *(_fit_soft(view, X, posterior, self.random_state) for view in self.views_[1:])]
        oof = np.zeros((len(self.views_), len(held), n_classes))
        oof[0] = alone.oof_proba_
        order = np.random.default_rng(self.random_state).permutation(len(held))
        for k in range(_N_FOLDS):
            part = np.sort(order[k::_N_FOLDS])
            if not len(part):
                continue
            shown = np.ones(len(codes), dtype=bool)
            shown[held[part]] = False
            cells = {
                name: [c for c, s in zip(column, shown, strict=True) if s] for name, column in self.columns.items()
            }
            _, posterior_k = learn_witnesses(codes[shown], self.classes, cells)
            rows = np.flatnonzero(shown)
            for m, view in enumerate(self.views_[1:], 1):
                member = _fit_soft(view, X[rows], posterior_k, self.random_state)
                oof[m, part] = _proba(member, view, X[held[part]], n_classes)
        floor = 1e-3 / n_classes
        logs = np.log(oof + floor)
        self.temperatures_ = np.array([fit_temperature(log, known) for log in logs])
        proba = softmax(self.temperatures_[:, None, None] * logs, axis=2)
        likelihoods = proba[:, np.arange(len(known)), known]
        self.weights_ = fit_weights(likelihoods)
        frequencies = posterior.sum(axis=0) + 1e-9
        self.class_priors_ = frequencies / frequencies.sum()
        gains = np.log(self.weights_ @ likelihoods) - np.log(likelihoods[0])
        if len(gains) > 1 and gains.mean() < -gains.std(ddof=1) / np.sqrt(len(gains)):
            self.estimators_, self.views_ = self.estimators_[:1], self.views_[:1]
            self.temperatures_, self.weights_, proba = self.temperatures_[:1], np.ones(1), proba[:1]
            self.class_priors_ = alone.class_priors_
        mean = np.tensordot(self.weights_, proba, axes=1)
        self.oof_rows_, self.oof_proba_, self.oof_alone_ = held, self._limited(mean), oof[0]
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the weighted mean of the members' calibrated probabilities."""
        self._rows(X)
        n_classes = len(self.classes_)
        total = np.zeros((X.shape[0], n_classes))
        members = zip(self.estimators_, self.views_, self.weights_, self.temperatures_, strict=True)
        for estimator, view, weight, temperature in members:
            log_proba = np.log(_proba(estimator, view, X, n_classes) + 1e-3 / n_classes)
            total += weight * softmax(temperature * log_proba, axis=1)
        return self._limited(total)

    def _limited(self, proba: np.ndarray) -> np.ndarray:
        """Apply the rule of succession, as the ensemble does."""
        n = max(self.estimators_[0].n_held_out_, 1)
        return np.asarray((n * proba + 2.0 / proba.shape[1]) / (n + 2.0))

    def _state(self) -> dict[str, Any]:
        state = {name: value for name, value in super()._state().items() if not name.startswith("oof_")}
        return {**state, "classes": None, "columns": None}

    def _check_state(self) -> None:
        if abs(self.weights_.sum() - 1) > 1e-6:
            raise DataError("WitnessEnsemble: the weights of the file must sum to 1.")
        if not isinstance(self.estimators_[0], Ensemble):
            raise DataError("WitnessEnsemble: the first model of the file must be the ensemble.")
        for view, estimator in zip(self.views_, self.estimators_, strict=True):
            width = estimator.n_features_in_ if view == "words" else self.n_features_in_
            check_member("WitnessEnsemble", estimator, width, len(self.classes_))


def _fit_soft(view: str, X: Any, posterior: np.ndarray, seed: int) -> Any:
    """Fit a classifier to rows that belong to each class with a probability."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import MultinomialNB

    rows, codes = np.nonzero(posterior > _LEAST_POSTERIOR)
    estimator = MultinomialNB(alpha=0.3) if view == "words" else LogisticRegression(C=3.0, max_iter=300)
    return estimator.fit(_seen(view, X)[rows], codes, sample_weight=posterior[rows, codes])


def _seen(view: str, X: Any) -> Any:
    if view != "words":
        return np.asarray(X) if isinstance(X, np.ndarray) else X
    if not hasattr(X, "words"):
        raise DataError("WitnessEnsemble: a member reads words, but the rows have none.")
    return X.words


def _proba(estimator: Any, view: str, X: Any, n_classes: int) -> np.ndarray:
    proba = np.zeros((X.shape[0], n_classes))
    # The ensemble needs the words that rows carry.
    proba[:, np.asarray(estimator.classes_)] = estimator.predict_proba(
        X if isinstance(estimator, Ensemble) else _seen(view, X)
    )
    return proba
