"""Ensembles of model files of version 0.2: they load and predict, but are not fitted any more."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import softmax

from handful.errors import DataError
from handful.models.adapters import RowClassifier, dense_rows
from handful.persistence.schema import (
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
    Text,
    check_member,
    stored,
)
from handful.registry import method

_FLOOR = 0.02
_CHUNK = 1_000
_CLIP = 3.0
_LEAST_SCALE = 1e-30  # of stored moments


_NEAR = Record(stored(rows=Array("f2", "n", "_"), n_neighbors=Number(int, low=1)), shared=("n",))


def _all_classes(model: Any, rows: Any, n_classes: int) -> np.ndarray:
    proba = np.zeros((len(rows), n_classes))
    if isinstance(model, int):
        proba[:, model] = 1.0
    else:
        proba[:, np.asarray(model.classes_).astype(np.int64)] = model.predict_proba(rows)
    return proba


def _normalized(proba: Any) -> np.ndarray:
    proba = np.asarray(proba) + 1e-12
    return np.asarray(proba / proba.sum(axis=1, keepdims=True))


class _Unfitted(RowClassifier):
    def fit(self, X: Any, y: Any) -> Any:
        """Refuse to fit."""
        raise DataError(f"{type(self).__name__}: models of this kind are only read from files. Use method 'ensemble'.")


class TableViews:
    """Views of rows as a file describes them.

    ``plain`` has numbers as they are and indicators of height 1; ``clip`` has numbers clipped at three standard
    deviations, and every categorical column as a centered block of variance 1; ``rank`` has numbers as normal scores of their
    ranks, and the same blocks; ``white`` has clipped numbers turned and scaled so that they are uncorrelated.
    """

    STATE = Record(
        stored(
            width=Number(int, size="w"),
            numeric=Array("i8", "n?", below="w"),
            nominal=ListOf(Array("i8", "_", below="w"), "m?"),
            clips=Array("f8", "n?", 4),
            directions=IfThere(Array("f8", "n?", "r?")),
            knots=ListOf(Array("f8", "_"), "n?"),
            scores=ListOf(Array("f8", "_"), "n?"),
            kept=ListOf(Array("i8", "_", below="w"), "m?"),
            means=ListOf(Array("f8", "_"), "m?"),
            spreads=Array("f8", "m?"),
        )
    )

    def __init__(self, state: dict[str, Any]) -> None:
        self.state = state

    def transform(self, X: np.ndarray, view: str) -> np.ndarray:
        """Return rows in one view."""
        state = self.state
        numbers = X[:, state["numeric"]]
        if view == "plain":
            return np.hstack([numbers, *((X[:, block] > 0).astype(np.float64) for block in state["nominal"])])
        if view == "rank":
            numbers = self.ranks(X)
        else:
            center, scale, center_2, scale_2 = state["clips"].T
            numbers = (np.clip((numbers - center) / scale, -_CLIP, _CLIP) - center_2) / scale_2
        if view == "white" and state.get("directions") is not None:
            numbers = numbers @ state["directions"]
        blocks = [
            ((X[:, block] > 0) - mean) / spread
            for block, mean, spread in zip(state["kept"], state["means"], state["spreads"], strict=True)
        ]
        return np.hstack([numbers, *blocks])

    def ranks(self, X: np.ndarray) -> np.ndarray:
        """Return the normal scores of the numbers."""
        numbers = X[:, self.state["numeric"]]
        columns = [
            np.interp(numbers[:, i], knots, scores)
            for i, (knots, scores) in enumerate(zip(self.state["knots"], self.state["scores"], strict=True))
        ]
        return np.array(columns).reshape(-1, len(X)).T

    def levels(self, X: np.ndarray) -> np.ndarray:
        """Return the place of each row's indicator in every categorical column; the last place is none of them."""
        columns = []
        for block in self.state["nominal"]:
            on = X[:, block] > 0
            columns.append(np.where(on.any(axis=1), on.argmax(axis=1), len(block)))
        return np.array(columns, dtype=np.int64).reshape(-1, len(X)).T

    def width(self, view: str) -> int:
        """Return the number of columns of a view."""
        blocks = self.state["nominal" if view == "plain" else "kept"]
        turned = self.state.get("directions") if view == "white" else None
        return (len(self.state["numeric"]) if turned is None else turned.shape[1]) + sum(map(len, blocks))

    def is_whole(self) -> bool:
        """Tell whether columns agree, and no view can have a number that is too large for single precision."""
        state = self.state
        columns = np.concatenate([state["numeric"], *state["nominal"]])
        _, scale, center_2, scale_2 = state["clips"].T
        large = [state.get("directions"), *state["scores"]]
        return bool(
            len(columns) == state["width"]  # before a list is made of what may be any number
            and sorted(columns.tolist()) == list(range(state["width"]))
            and all(len(a) == len(b) > 0 for a, b in zip(state["knots"], state["scores"], strict=True))
            and all(set(k.tolist()) <= set(b.tolist()) for k, b in zip(state["kept"], state["nominal"], strict=True))
            and all(len(k) == len(m) for k, m in zip(state["kept"], state["means"], strict=True))
            and (scale > 0).all()
            and (np.abs(center_2) <= _CLIP).all()
            and (scale_2 >= _LEAST_SCALE).all()
            and (state["spreads"] >= _LEAST_SCALE).all()
            and all((np.abs(part) <= 1 / _LEAST_SCALE).all() for part in large if part is not None)
            and all((np.abs(means) <= 1).all() for means in state["means"])
        )


@method("shrunk-bayes", task="model")
class ShrunkBayes(_Unfitted):
    """Naive Bayes on ranks and categories, a member of ensembles of version 0.2."""

    STATE = stored(
        views_=TableViews.STATE,
        means_=Array("f8", "k", "_"),
        variances_=Array("f8", "k", "_", low=0),
        frequencies_=ListOf(Array("f8", "k", "_", low=0)),
    )

    def __init__(self, shrinkage: float = 3.0) -> None:
        self.shrinkage = shrinkage

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, in the order of ``classes_``."""
        rows = dense_rows(self._rows(X))
        Z, levels = self._views.ranks(rows), self._views.levels(rows)
        odds = np.zeros((len(rows), len(self.classes_)))
        for code, (mean, variance) in enumerate(zip(self.means_, self.variances_, strict=True)):
            odds[:, code] = -0.5 * (np.log(variance) + (Z - mean) ** 2 / variance).sum(axis=1)
        for column, frequencies in enumerate(self.frequencies_):
            odds += np.log(frequencies).T[levels[:, column]]
        n_columns = Z.shape[1] + levels.shape[1]
        return np.asarray(softmax(odds / max(n_columns, 1) ** 0.5, axis=1))

    def _check_state(self) -> None:
        self._views = TableViews(self.views_)
        n_classes = len(self.classes_)
        shape = (n_classes, len(self.views_["numeric"]))
        fine = (
            self._views.is_whole()
            and self.views_["width"] == self.n_features_in_
            and self.means_.shape == self.variances_.shape == shape
            and len(self.frequencies_) == len(self.views_["nominal"])
            and all(
                f.shape == (n_classes, len(block) + 1)
                for f, block in zip(self.frequencies_, self.views_["nominal"], strict=True)
            )
        )
        if not fine:
            raise DataError("ShrunkBayes: every column must have its distributions.")


@method("team", task="model")
class Team(_Unfitted):
    """Mean log-probabilities of the members of an ensemble of version 0.2."""

    STATE = stored(
        members_=IfThere(ListOf(Text(), "m")),
        estimators_=IfThere(ListOf(Model(can=("predict_proba",)), "m")),
        weights_=IfThere(Array("f8", "m", low=0.0, high=1.0)),
        voices_=IfThere(Array("f8", "m", low=0.0, high=1.0)),
        text_say_=IfThere(Number(float, low=0.0, high=1.0)),
        shift_=IfThere(Array("f8", "k")),
        balance_shift_=IfThere(Array("f8", "k")),
        views_=IfThere(TableViews.STATE),
        text_=Maybe(Model("TextTeam")),
        kept_columns_=Array("i8", "c?", below="d"),
        projection_=IfThere(Array("f8", "c", "_")),
    )

    def __init__(
        self,
        members: Any = None,
        share_power: float = 1.0,
        balance: float = 0.0,
        n_trees: int = 100,
        class_names: Any = None,
        random_state: int | None = 0,
    ) -> None:
        self.members, self.share_power, self.balance = members, share_power, balance
        self.n_trees, self.class_names, self.random_state = n_trees, class_names, random_state

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, in the order of ``classes_``."""
        checked = self._rows(X)
        scores = np.zeros((checked.shape[0], len(self.classes_)))
        weight = 0.0
        if self.text_ is not None:
            weight = self.text_say_ if len(self.kept_columns_) else 1.0
            scores += weight * np.log(self.text_.predict_proba(X) + _FLOOR)
        if weight < 1:
            rows = checked[:, self.kept_columns_]
            rows = dense_rows(rows) if self.projection_ is None else np.asarray(rows @ self.projection_)
            for factor, member, estimator in zip(
                self.weights_ * self.voices_, self.members_, self.estimators_, strict=True
            ):
                view = self._views.transform(rows, _view_of(member))
                scores += (1 - weight) * factor * np.log(_all_classes(estimator, view, len(self.classes_)) + _FLOOR)
            scores += (1 - weight) * self.shift_
        return np.asarray(softmax(scores + self.balance_shift_, axis=1))

    def _check_state(self) -> None:
        n_classes = len(self.classes_)
        if not hasattr(self, "balance_shift_"):  # a file of an earlier version
            self.balance_shift_ = np.zeros(n_classes)
        if self.text_ is not None:
            check_member("Team", self.text_, self.n_features_in_, n_classes)
            if len(self.text_.classes_) != n_classes:
                raise DataError("Team: the members must agree about the classes, but those of the file do not.")
        if not len(self.kept_columns_):
            if self.text_ is None:
                raise DataError("Team: there must be columns that somebody reads.")
            return
        self._views = TableViews(self.views_)
        if not hasattr(self, "weights_"):  # a file of an earlier version
            self.weights_, self.text_say_ = np.full(len(self.members_), 1 / len(self.members_)), 0.5
        if not hasattr(self, "voices_"):
            self.voices_ = np.ones(len(self.members_))
        n_columns = len(self.kept_columns_) if self.projection_ is None else self.projection_.shape[1]
        if not self._views.is_whole() or self.views_["width"] != n_columns or self.shift_ is None:
            raise DataError("Team: the members must agree about rows and classes, but those of the file do not.")
        for text, estimator in zip(self.members_, self.estimators_, strict=True):
            check_member("Team", estimator, self._views.width(_view_of(text)), n_classes)


def _view_of(member: str) -> Any:
    """Return the view in ``name@view parameter=value ...``."""
    return member.split()[0].partition("@")[2] or "plain"


@method("text-team", task="model")
class TextTeam(_Unfitted):
    """Linear models, label spreading and naive Bayes of an ensemble for texts of version 0.2."""

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
                    near=_NEAR,
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

    def __init__(self, C: float = 10.0, n_neighbors: int = 15) -> None:
        self.C, self.n_neighbors = C, n_neighbors

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, in the order of ``classes_``."""
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
        self._bodies = [_Body(state, widths) for state in self.bodies_]
        if any(body.bayes is not None and self.word_columns_ != len(body.bayes) for body in self._bodies):
            raise DataError("TextTeam: every word must have its weights.")


class _Body:
    """The members on one kind of view, as a file holds them; `views` are rows of the right widths."""

    def __init__(self, state: dict[str, Any], views: dict[str, np.ndarray]) -> None:
        self.n_classes, self.has_vectors = state["n_classes"], state["has_vectors"]
        self.linear, self.spread, self.smooth = state["linear"], state["spread"], state["smooth"]
        self.powers, self.weights, self.bayes = state["powers"], state["weights"], state["bayes"]
        self.prior, self.smoothing, self.lean = state["prior"], state["smoothing"], state.get("lean") or 0.0
        usual = state.get("usual")
        self.usual = np.full(self.n_classes, 1 / self.n_classes) if usual is None else usual
        self.rows = np.asarray(state["near"]["rows"], dtype=np.float32)
        self.n_neighbors = int(state["near"]["n_neighbors"])
        parts = self._parts(views) if not self.has_vectors or "vectors" in views else []
        if len(parts) != len(self.linear):
            raise DataError("TextTeam: every view must have its member.")
        n_members = len(self.linear) + 1 + (self.bayes is not None)
        if len(self.powers) != n_members or not self.weights.sum() > 0 or self.rows.shape[1] != parts[0].shape[1]:
            raise DataError("TextTeam: the members must agree about rows and classes.")
        for model, part in zip(self.linear, parts, strict=True):
            if not isinstance(model, int):
                check_member("TextTeam", model, part.shape[1], self.n_classes)

    def answers(self, views: dict[str, np.ndarray], words: Any) -> np.ndarray:
        """Return the probabilities of rows, smoothed with those of the training rows near them."""
        parts = self._parts(views)
        links = self._links(parts[0])
        members = [_all_classes(model, part, self.n_classes) for model, part in zip(self.linear, parts, strict=True)]
        members.append(_normalized(links @ self.spread))
        if self.bayes is not None:
            total = np.asarray(words.sum(axis=1)).ravel()
            evidence = np.minimum(1.0, 20 / np.maximum(total, 1.0))[:, None]
            members.append(np.asarray(softmax((words @ self.bayes) * evidence + self.prior, axis=1)))
        level = [_normalized(np.maximum(p, 1e-6) ** power) for p, power in zip(members, self.powers, strict=True)]
        mean = np.average(level, axis=0, weights=self.weights)
        near = np.asarray(links.sum(axis=1)).ravel() > 0
        mean[near] = (1 - self.smoothing) * mean[near] + self.smoothing * _normalized(links[near] @ self.smooth)
        return _normalized((1 - self.lean) * _normalized(mean) + self.lean * self.usual)

    def _parts(self, views: dict[str, np.ndarray]) -> list[np.ndarray]:
        if self.has_vectors:
            return [views["vectors"], views["vectors"]]
        half = views["lsa"][:, :50]
        parts = [views["lsa"], half / np.maximum(np.linalg.norm(half, axis=1, keepdims=True), 1e-9)]
        return [*parts, views["letters"]] if "letters" in views else parts

    def _links(self, rows: np.ndarray) -> Any:
        """Return the cosines of rows with their nearest stored ones."""
        n, k = len(self.rows), min(self.n_neighbors, len(self.rows))
        unit = np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9), dtype=np.float32)
        parts = []
        for start in range(0, len(unit), _CHUNK):
            cosines = unit[start : start + _CHUNK] @ self.rows.T
            nearest = np.argpartition(-cosines, k - 1, axis=1)[:, :k]
            values = np.maximum(np.take_along_axis(cosines, nearest, axis=1), 0.0).ravel()
            indptr = np.arange(0, len(cosines) * k + 1, k)
            parts.append(sparse.csr_matrix((values, nearest.ravel(), indptr), shape=(len(cosines), n)))
        return sparse.csr_matrix(sparse.vstack(parts)) if parts else sparse.csr_matrix((0, n))
