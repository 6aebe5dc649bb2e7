"""A team for texts with few labels: linear models of several views, spreading, and naive Bayes that learns on its own.

Works on what `handful.features.tables.TableEncoder` makes of a text column: latent semantic directions of words and
letters, perhaps vectors of an encoder, and counts of words.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import softmax

from handful.core.errors import DataError
from handful.core.params import Count, Positive, check_params
from handful.core.registry import method
from handful.core.schema import (
    Array,
    DictOf,
    Either,
    Flag,
    IfThere,
    ListOf,
    Maybe,
    Model,
    Number,
    Record,
    check_member,
    stored,
)
from handful.methods.near_rows import NearRows
from handful.methods.row_classifier import RowClassifier
from handful.methods.views import dense_rows

_HALF_DIMENSIONS = 50
_MANY_CLASSES = 20
_SPREADING, _SPREADING_ROUNDS = 0.8, 30
_SMOOTHING_ROUNDS = 10
_EM_ROUNDS = 10
_UNLABELED_WEIGHT = 0.5  # of a word in an unlabeled text
_ADDED_COUNT = 0.03
_MOST_EVIDENCE = 20  # a text counts as at most so many words, lest long ones be too sure
_SKEWED = 0.9  # entropy of the labels, as a share of its maximum, below which classes are not of equal size
_MOST_LEAN = 0.5  # toward the shares of the labels


@method("text-team", takes="table", learns_from=("labels", "unlabeled"), cost="quick")
class TextTeam(RowClassifier):
    """Ask linear models of words and letters, labels that spread among near texts, and naive Bayes trained by EM.

    Use it for texts of which few have a label. Without a text column it works on the columns as they are.

    Parameters
    ----------
    C : float, default=10.0
        Inverse strength of the penalty of the linear models.
    n_neighbors : int, default=15
        Texts that each text is linked to.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    bodies_ : list of dict
        Members on words and letters, and those on vectors, if there are any.
    share_ : float
        With vectors, the share of the words' answer; the rest is that of the vectors'.
    spans_ : dict of str to (int, int)
        Columns of each view.

    Notes
    -----
    The members: balanced logistic regression on all semantic directions, logistic regression on the first fifty and on
    letters, label spreading (alpha 0.8) over the graph of near texts; then multinomial naive Bayes that begins with the mean of
    their answers and learns from all texts by EM (Nigam et al. 2000). EM drifts to classes of equal size, so that
    it weighs seven members where labels are balanced (three where classes are more than twenty) and less than one where they
    are skewed. The answer is smoothed over the graph. Where labels are skewed and logistic regression does worse on held-out ones
    than the most frequent label, the answer leans toward the shares of the labels. With vectors of an encoder, the same is
    done with them in place of the directions, and both answers are put together by how well each does on held-out labels: the
    words' has a third where both do equally well, nothing where they are an eighth behind, and all where they are a quarter
    ahead.

    References
    ----------
    Nigam, K., McCallum, A., Thrun, S., Mitchell, T. (2000). Text classification from labeled and unlabeled documents using
    EM. Machine Learning 39.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.2, 0.9]])
    >>> TextTeam(n_neighbors=1).fit(X, ["pet", None, "sea", None]).predict(X).tolist()
    ['pet', 'pet', 'sea', 'sea']
    """

    STATE = stored(
        spans_=DictOf(ListOf(Number(int, low=0), "2"), "views"),
        word_columns_=Maybe(Number(int, low=0)),
        share_=Number(float, low=0, high=1),
        bodies_=ListOf(
            Record(
                stored(
                    C=Number(float),
                    n_neighbors=Number(int, low=1),
                    n_classes=Number(int, size="k"),
                    has_vectors=Flag(),
                    linear=ListOf(Either(Number(int, below="k"), Model("LogisticRegression")), "l"),
                    near=NearRows.STATE,
                    spread=Array("f8", "n", "k", low=0),
                    smooth=Array("f8", "n", "k", low=0),
                    powers=Array("f8", "members", low=0),
                    weights=Array("f8", "members", low=0),
                    bayes=Maybe(Array("f4", "words", "k")),
                    prior=Array("f8", "k"),
                    smoothing=Number(float, low=0, high=1),
                    lean=IfThere(Number(float, low=0, high=1)),
                    usual=IfThere(Array("f8", "k", low=0)),
                ),
                shared=("k",),
            ),
            "bodies",
        ),
    )

    def __init__(self, C: Positive = 10.0, n_neighbors: Count = 15) -> None:
        self.C = C
        self.n_neighbors = n_neighbors

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the members to labeled and unlabeled texts.

        Parameters
        ----------
        X : array-like or `handful.features.rows.Rows` of shape (n_rows, n_columns)
            Rows; a table encoder's carry counts of words.
        y : array-like of shape (n_rows,)
            Labels; None, NaN, or -1 among integers, for an unlabeled row.

        Returns
        -------
        self
        """
        check_params(self)
        words, spans = getattr(X, "words", None), dict(getattr(X, "spans", {}))
        rows = dense_rows(self._rows(X, reset=True))
        labels = self._labels(y, len(rows))
        codes = labels.codes.astype(np.int64)
        self.spans_ = spans or {"lsa": (0, rows.shape[1])}
        views = self._views(rows)
        self.word_columns_ = None if words is None else int(words.shape[1])
        bodies = [_Body(self.C, self.n_neighbors, len(self.classes_))]
        bodies[0].fit(views, words, codes)
        self.share_ = 1.0
        if "vectors" in self.spans_:
            vectors = _Body(self.C, self.n_neighbors, len(self.classes_), has_vectors=True)
            vectors.fit(views, words, codes)
            labeled = np.flatnonzero(codes >= 0)
            lead = _held_out(views["lsa"][labeled], codes[labeled], self.C)
            lead -= _held_out(views["vectors"][labeled], codes[labeled], self.C)
            self.share_ = float(np.clip((1 + 8 * lead) / 3, 0.0, 1.0))
            bodies.append(vectors)
        self._bodies = bodies
        self.bodies_ = [body.state() for body in bodies]
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the share of each class, in the order of ``classes_``.

        Parameters
        ----------
        X : array-like or `handful.features.rows.Rows` of shape (n_rows, n_columns)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Shares.
        """
        words = getattr(X, "words", None)
        views = self._views(dense_rows(self._rows(X)))
        if self.word_columns_ is not None and (words is None or words.shape[1] != self.word_columns_):
            raise DataError("TextTeam: rows must carry the words of their texts, as they did in training.")
        answers = [body.answers(views, words) for body in self._bodies]
        if len(answers) == 1:
            return answers[0]
        return np.asarray((1 - self.share_) * answers[1] + self.share_ * answers[0])

    def _views(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        return {name: rows[:, start:stop] for name, (start, stop) in self.spans_.items()}

    def _check_state(self) -> None:
        if "lsa" not in self.spans_ or any(not 0 <= a < b <= self.n_features_in_ for a, b in self.spans_.values()):
            raise DataError("TextTeam: views must be columns of the rows.")
        widths = {name: np.zeros((1, stop - start)) for name, (start, stop) in self.spans_.items()}
        self._bodies = [_Body.from_state(state, widths) for state in self.bodies_]
        if any(body.bayes is not None and self.word_columns_ != len(body.bayes) for body in self._bodies):
            raise DataError("TextTeam: every word must have its weights.")


class _Body:
    """The members on one kind of view, and how their answers become one."""

    def __init__(self, C: float, n_neighbors: int, n_classes: int, *, has_vectors: bool = False) -> None:
        self.C = C
        self.n_neighbors = n_neighbors
        self.n_classes = n_classes
        self.has_vectors = has_vectors

    def fit(self, views: dict[str, np.ndarray], words: Any, codes: np.ndarray) -> None:
        """Fit members, then naive Bayes, then smooth."""
        labeled = np.flatnonzero(codes >= 0)
        given = np.eye(self.n_classes)[codes[labeled]]
        parts = self._parts(views)
        self.linear = [
            _logistic(part[labeled], codes[labeled], self.C, balanced)
            for part, balanced in zip(parts, self._balanced(views), strict=True)
        ]
        self.near = NearRows.learn(parts[0], self.n_neighbors)
        self.spread = self.near.spread(labeled, given, _SPREADING, _SPREADING_ROUNDS)
        members = [_shares(model, part, self.n_classes) for model, part in zip(self.linear, parts, strict=True)]
        members.append(self.spread)
        self.powers = np.array([_power(shares) for shares in members])
        level = [_leveled(shares, power) for shares, power in zip(members, self.powers, strict=True)]
        self.weights = np.ones(len(level))
        if self.has_vectors:
            self.weights[:2], self.weights[2:] = 2.0, 0.0
        self.bayes: np.ndarray | None = None
        self.prior = np.zeros(self.n_classes)
        if words is not None and words.shape[1]:
            start = np.mean(level, axis=0)
            rounds = 1 if self.has_vectors else _EM_ROUNDS
            self.bayes, self.prior = _em_bayes(words, labeled, given, start, rounds)
            shares = self._bayes_shares(words)
            self.powers = np.append(self.powers, _power(shares))
            level.append(_leveled(shares, self.powers[-1]))
            weight = _bayes_weight(codes[labeled], self.n_classes)
            self.weights = np.append(self.weights, 0.5 * weight if self.has_vectors else weight)
        mean = np.average(level, axis=0, weights=self.weights)
        counts = given.sum(axis=0) + 0.5
        self.usual = counts / counts.sum()
        self.lean = _lean(parts[0][labeled], codes[labeled], self.usual, self.C)
        self.smoothing = 0.2 if self.has_vectors or self.n_classes > _MANY_CLASSES else 0.5
        self.smooth = self.near.smooth(mean, self.smoothing, _SMOOTHING_ROUNDS)

    def answers(self, views: dict[str, np.ndarray], words: Any) -> np.ndarray:
        """Return the shares of new rows, smoothed with those of the training rows near them."""
        parts = self._parts(views)
        links = self.near.links(parts[0])
        members = [_shares(model, part, self.n_classes) for model, part in zip(self.linear, parts, strict=True)]
        members.append(_normal(links @ self.spread))
        if self.bayes is not None:
            members.append(self._bayes_shares(words))
        level = [_leveled(shares, power) for shares, power in zip(members, self.powers, strict=True)]
        mean = np.average(level, axis=0, weights=self.weights)
        near = np.asarray(links.sum(axis=1)).ravel() > 0
        mean[near] = (1 - self.smoothing) * mean[near] + self.smoothing * _normal(links[near] @ self.smooth)
        return _normal((1 - self.lean) * _normal(mean) + self.lean * self.usual)

    def state(self) -> dict[str, Any]:
        """Return what a model file keeps."""
        return {**{name: value for name, value in vars(self).items() if name != "near"}, "near": self.near.state()}

    @classmethod
    def from_state(cls, state: dict[str, Any], views: dict[str, np.ndarray]) -> _Body:
        """Bring it back, refusing what no fit could have left; `views` are rows of the right widths."""
        body = cls(state["C"], state["n_neighbors"], state["n_classes"], has_vectors=state["has_vectors"])
        body.bayes = None
        body.lean, body.usual = 0.0, np.full(body.n_classes, 1 / body.n_classes)  # files of 0.2 have none
        vars(body).update({name: value for name, value in state.items() if name != "near" and value is not None})
        body.near = NearRows.from_state(state["near"])
        parts = body._parts(views) if not body.has_vectors or "vectors" in views else []
        n_members = len(body.linear) + 1 + (body.bayes is not None)
        if len(parts) != len(body.linear):
            raise DataError("TextTeam: every view must have its member.")
        if len(body.powers) != n_members or not body.weights.sum() > 0 or body.near.rows.shape[1] != parts[0].shape[1]:
            raise DataError("TextTeam: the members must agree about rows and classes.")
        for model, part in zip(body.linear, parts, strict=True):
            if not isinstance(model, int):
                check_member("TextTeam", model, part.shape[1], body.n_classes)
        return body

    def _parts(self, views: dict[str, np.ndarray]) -> list[np.ndarray]:
        if self.has_vectors:
            return [views["vectors"], views["vectors"]]
        lsa = views["lsa"]
        parts = [lsa, _unit(lsa[:, :_HALF_DIMENSIONS])]
        return [*parts, views["letters"]] if "letters" in views else parts

    def _balanced(self, views: dict[str, np.ndarray]) -> list[bool]:
        return [True, *[False] * (len(self._parts(views)) - 1)]

    def _bayes_shares(self, words: Any) -> np.ndarray:
        total = np.asarray(words.sum(axis=1)).ravel()
        evidence = np.minimum(1.0, _MOST_EVIDENCE / np.maximum(total, 1.0))[:, None]
        return np.asarray(softmax((words @ self.bayes) * evidence + self.prior, axis=1))


def _logistic(rows: np.ndarray, codes: np.ndarray, C: float, balanced: bool) -> Any:
    from sklearn.linear_model import LogisticRegression

    if len(np.unique(codes)) < 2:
        return int(codes[0])  # nothing to tell apart
    return LogisticRegression(C=C, max_iter=1_000, class_weight="balanced" if balanced else None).fit(rows, codes)


def _shares(model: Any, rows: np.ndarray, n_classes: int) -> np.ndarray:
    shares = np.zeros((len(rows), n_classes))
    if isinstance(model, int):
        shares[:, model] = 1.0
    else:
        shares[:, model.classes_] = model.predict_proba(rows)
    return shares


def _em_bayes(
    words: Any, labeled: np.ndarray, given: np.ndarray, start: np.ndarray, rounds: int
) -> tuple[np.ndarray, np.ndarray]:
    """Train multinomial naive Bayes by EM; unlabeled words count half."""
    counts = sparse.csr_matrix(words)
    spare = np.setdiff1d(np.arange(counts.shape[0]), labeled)
    evidence = np.minimum(1.0, _MOST_EVIDENCE / np.maximum(np.asarray(counts.sum(axis=1)).ravel(), 1.0))[:, None]
    known, unknown, shares = counts[labeled], counts[spare], start[spare]
    for _ in range(rounds + 1):
        total = known.T @ given + _UNLABELED_WEIGHT * (unknown.T @ shares) + _ADDED_COUNT
        logs = np.log(total / total.sum(axis=0))
        sizes = given.sum(axis=0) + 1 + _UNLABELED_WEIGHT * shares.sum(axis=0)
        prior = np.log(sizes / sizes.sum())
        shares = softmax((unknown @ logs) * evidence[spare] + prior, axis=1)
    return np.asarray(logs, dtype=np.float32), np.asarray(prior)


def _bayes_weight(codes: np.ndarray, n_classes: int) -> float:
    """Return 7 (or 3 of many classes) where the labels are balanced, 0.7 where they are skewed."""
    most = 3.0 if n_classes > _MANY_CLASSES else 7.0
    return float(np.clip(0.7 + 10 * (most - 0.7) * (_evenness(codes, n_classes) - _SKEWED + 0.1), 0.7, most))


def _evenness(codes: np.ndarray, n_classes: int) -> float:
    """Return the entropy of the labels, as a share of its maximum."""
    shares = np.bincount(codes, minlength=n_classes) / len(codes)
    shares = shares[shares > 0]
    return float(-(shares * np.log(shares)).sum() / np.log(n_classes)) if n_classes > 1 else 1.0


def _lean(rows: np.ndarray, codes: np.ndarray, usual: np.ndarray, C: float) -> float:
    """Return how far an answer should lean toward the shares of skewed labels: as far as words tell less than these do."""
    if _evenness(codes, len(usual)) > _SKEWED:
        return 0.0
    behind = float(usual.max()) - _held_out(rows, codes, C)
    return float(np.clip(10 * behind, 0.0, _MOST_LEAN))


def _held_out(rows: np.ndarray, codes: np.ndarray, C: float) -> float:
    """Return the accuracy of logistic regression on labels that were held out: one at a time, or a third if many."""
    fold = np.arange(len(codes))
    if len(codes) > 60:
        fold[np.argsort(codes, kind="stable")] = np.arange(len(codes)) % 3
    n_right = 0
    for part in np.unique(fold):
        train, test = fold != part, fold == part
        model = _logistic(rows[train], codes[train], C, balanced=False)
        n_right += int((_shares(model, rows[test], int(codes.max()) + 1).argmax(axis=1) == codes[test]).sum())
    return n_right / len(codes)


def _power(shares: np.ndarray) -> float:
    """Return the power that brings the mean of the largest shares to the middle between chance and one."""
    goal, low, high = 0.5 + 0.5 / shares.shape[1], 0.05, 20.0
    if shares.shape[1] < 2:
        return 1.0
    for _ in range(12):
        middle = float(np.sqrt(low * high))
        if _leveled(shares, middle).max(axis=1).mean() < goal:
            low = middle
        else:
            high = middle
    return middle


def _leveled(shares: np.ndarray, power: float) -> np.ndarray:
    return _normal(np.maximum(shares, 1e-6) ** power)


def _normal(shares: np.ndarray) -> np.ndarray:
    shares = np.asarray(shares) + 1e-12
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _unit(rows: np.ndarray) -> np.ndarray:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9))
