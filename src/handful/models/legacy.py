"""Ensembles of model files of version 0.2: they load and predict, but are not fitted any more."""

from __future__ import annotations

from typing import Any

import numpy as np
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
_LEAST, _MOST = 1e-30, 1e30  # of stored moments: no view is too large for single precision


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
            directions=IfThere(Array("f8", "n?", "r?", low=-_MOST, high=_MOST)),
            knots=ListOf(Array("f8", "_"), "n?"),
            scores=ListOf(Array("f8", "_", low=-_MOST, high=_MOST), "n?"),
            kept=ListOf(Array("i8", "_", below="w"), "m?"),
            means=ListOf(Array("f8", "_", low=-1, high=1), "m?"),
            spreads=Array("f8", "m?", low=_LEAST),
        )
    )

    def __init__(self, state: dict[str, Any]) -> None:
        self.numeric, self.nominal, self.clips = state["numeric"], state["nominal"], state["clips"]
        self.knots, self.scores, self.directions = state["knots"], state["scores"], state.get("directions")
        self.kept, self.means, self.spreads = state["kept"], state["means"], state["spreads"]
        columns = np.concatenate([self.numeric, *self.nominal])
        lengths = [*zip(self.knots, self.scores, strict=True), *zip(self.kept, self.means, strict=True)]
        _, scale, center_2, scale_2 = self.clips.T
        fine = (
            len(columns) == state["width"]  # before a list is made of what may be any number
            and sorted(columns.tolist()) == list(range(state["width"]))
            and all(len(a) == len(b) for a, b in lengths)
            and all(len(knots) for knots in self.knots)
            and ((scale > 0) & (np.abs(center_2) <= _CLIP) & (scale_2 >= _LEAST)).all()
        )
        if not fine:
            raise DataError("ensemble of version 0.2: every column must have its distributions.")

    def transform(self, X: np.ndarray, view: str) -> np.ndarray:
        """Return rows in one view."""
        if view == "plain":
            return np.hstack([X[:, self.numeric], *((X[:, block] > 0).astype(np.float64) for block in self.nominal)])
        if view == "rank":
            numbers = self.ranks(X)
        else:
            center, scale, center_2, scale_2 = self.clips.T
            numbers = (np.clip((X[:, self.numeric] - center) / scale, -_CLIP, _CLIP) - center_2) / scale_2
        if view == "white" and self.directions is not None:
            numbers = numbers @ self.directions
        blocks = zip(self.kept, self.means, self.spreads, strict=True)
        return np.hstack([numbers, *(((X[:, block] > 0) - mean) / spread for block, mean, spread in blocks)])

    def ranks(self, X: np.ndarray) -> np.ndarray:
        """Return the normal scores of the numbers."""
        columns = zip(self.numeric, self.knots, self.scores, strict=True)
        return np.array([np.interp(X[:, j], *known) for j, *known in columns]).reshape(-1, len(X)).T

    def levels(self, X: np.ndarray) -> np.ndarray:
        """Return the place of each row's indicator in every categorical column; the last place is none of them."""
        on = [X[:, block] > 0 for block in self.nominal]
        columns = [np.where(part.any(axis=1), part.argmax(axis=1), part.shape[1]) for part in on]
        return np.array(columns, dtype=np.int64).reshape(-1, len(X)).T

    def width(self, view: str) -> int:
        """Return the number of columns of a view."""
        rows = np.zeros((1, len(np.concatenate([self.numeric, *self.nominal]))))
        return int(self.transform(rows, view).shape[1])


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
        squares = (Z[:, None, :] - self.means_) ** 2 / self.variances_
        odds = -0.5 * (np.log(self.variances_) + squares).sum(axis=2)
        for column, frequencies in enumerate(self.frequencies_):
            odds += np.log(frequencies).T[levels[:, column]]
        n_columns = Z.shape[1] + levels.shape[1]
        return np.asarray(softmax(odds / max(n_columns, 1) ** 0.5, axis=1))

    def _check_state(self) -> None:
        self._views = TableViews(self.views_)
        shape = (len(self.classes_), len(self._views.numeric))
        widths = [len(block) + 1 for block in self._views.nominal]
        fine = self.views_["width"] == self.n_features_in_ and self.means_.shape == self.variances_.shape == shape
        if not fine or [part.shape[1] for part in self.frequencies_] != widths:
            raise DataError("ShrunkBayes: every column must have its distributions.")


@method("team", task="model")
class Team(_Unfitted):
    """Mean log-probabilities of the members of an ensemble of version 0.2."""

    STATE = stored(
        members_=IfThere(ListOf(Text(), "m")),
        estimators_=IfThere(ListOf(Model(can=("predict_proba",)), "m")),
        weights_=IfThere(Array("f8", "m", low=0.0, high=1.0)),
        voices_=IfThere(Array("f8", "m", low=0.0, high=1.0)),
        text_say_=Number(float, low=0.0, high=1.0),
        shift_=IfThere(Array("f8", "k")),
        balance_shift_=Array("f8", "k"),
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
            factors = self.weights_ * self.voices_
            for factor, member, estimator in zip(factors, self.members_, self.estimators_, strict=True):
                view = self._views.transform(rows, _view_of(member))
                scores += (1 - weight) * factor * np.log(_all_classes(estimator, view, len(self.classes_)) + _FLOOR)
            scores += (1 - weight) * self.shift_
        return np.asarray(softmax(scores + self.balance_shift_, axis=1))

    def _check_state(self) -> None:
        n_classes, n_columns = len(self.classes_), len(self.kept_columns_)
        if self.text_ is not None:
            check_member("Team", self.text_, self.n_features_in_, n_classes)
            if len(self.text_.classes_) != n_classes:
                raise DataError("Team: the members must agree about the classes, but those of the file do not.")
        if not n_columns and self.text_ is not None:
            return
        needed = ("views_", "shift_", "weights_", "voices_", "members_", "estimators_")
        if any(getattr(self, name, None) is None for name in needed):
            raise DataError("Team: there must be members that read the columns.")
        self._views = TableViews(self.views_)
        n_columns = n_columns if self.projection_ is None else self.projection_.shape[1]
        if self.views_["width"] != n_columns:
            raise DataError("Team: the members must agree about rows and classes, but those of the file do not.")
        for text, estimator in zip(self.members_, self.estimators_, strict=True):
            check_member("Team", estimator, self._views.width(_view_of(text)), n_classes)


def _view_of(member: str) -> str:
    """Return the view in ``name@view parameter=value ...``."""
    return member.split()[0].partition("@")[2] or "plain"


def _all_classes(model: Any, rows: Any, n_classes: int) -> np.ndarray:
    proba = np.zeros((len(rows), n_classes))
    if isinstance(model, int):
        proba[:, model] = 1.0
    else:
        proba[:, np.asarray(model.classes_).astype(np.int64)] = model.predict_proba(rows)
    return proba


_NEAR = Record(stored(rows=Array("f2", "n", "_"), n_neighbors=Number(int, low=1)), shared=("n",))


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
                    lean=Number(float, low=0, high=1),
                    usual=Array("f8", "k", low=0),
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
        if self.word_columns_ is not None and (words is None or words.shape[1] != self.word_columns_):
            raise DataError("TextTeam: rows must carry the words of their texts, as they did in training.")
        rows = dense_rows(self._rows(X))
        proba = [self._body_proba(body, rows, words) for body in self.bodies_]
        return proba[0] if len(proba) == 1 else np.asarray((1 - self.share_) * proba[1] + self.share_ * proba[0])

    def _parts(self, body: dict[str, Any], rows: np.ndarray) -> list[np.ndarray]:
        """Return what the linear members of one kind of view read."""
        views = {name: rows[:, start:stop] for name, (start, stop) in self.spans_.items()}
        if body["has_vectors"]:
            return [views["vectors"], views["vectors"]]
        parts = [views["lsa"], _unit(views["lsa"][:, :50])]
        return [*parts, views["letters"]] if "letters" in views else parts

    def _body_proba(self, body: dict[str, Any], rows: np.ndarray, words: Any) -> np.ndarray:
        """Return the probabilities of rows, smoothed with those of the training rows near them."""
        parts, n_classes = self._parts(body, rows), body["n_classes"]
        spread, smooth, near = _near_sums(body, parts[0])
        members = [_all_classes(model, part, n_classes) for model, part in zip(body["linear"], parts, strict=True)]
        members.append(_normalized(spread))
        if body["bayes"] is not None:
            total = np.asarray(words.sum(axis=1)).ravel()
            evidence = np.minimum(1.0, 20 / np.maximum(total, 1.0))[:, None]
            members.append(np.asarray(softmax((words @ body["bayes"]) * evidence + body["prior"], axis=1)))
        level = [_normalized(np.maximum(p, 1e-6) ** power) for p, power in zip(members, body["powers"], strict=True)]
        mean = np.average(level, axis=0, weights=body["weights"])
        mean[near] = (1 - body["smoothing"]) * mean[near] + body["smoothing"] * _normalized(smooth[near])
        return _normalized((1 - body["lean"]) * _normalized(mean) + body["lean"] * body["usual"])

    def _check_state(self) -> None:
        if "lsa" not in self.spans_ or any(not 0 <= a < b <= self.n_features_in_ for a, b in self.spans_.values()):
            raise DataError("TextTeam: views must be columns of the rows.")
        for body in self.bodies_:
            parts = (
                []
                if body["has_vectors"] and "vectors" not in self.spans_
                else self._parts(body, np.zeros((1, self.n_features_in_)))
            )
            n_members = len(parts) + 1 + (body["bayes"] is not None)
            fine = (
                body["n_classes"] == len(self.classes_)
                and 0 < len(parts) == len(body["linear"])
                and len(body["powers"]) == n_members
                and body["weights"].sum() > 0
                and body["near"]["rows"].shape[1] == parts[0].shape[1]
                and (body["bayes"] is None or self.word_columns_ == len(body["bayes"]))
            )
            if not fine:
                raise DataError("TextTeam: the members must agree about rows, words and classes.")
            for model, part in zip(body["linear"], parts, strict=True):
                if not isinstance(model, int):
                    check_member("TextTeam", model, part.shape[1], body["n_classes"])


def _unit(rows: np.ndarray) -> np.ndarray:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9))


def _normalized(proba: Any) -> np.ndarray:
    proba = np.asarray(proba) + 1e-12
    return np.asarray(proba / proba.sum(axis=1, keepdims=True))


def _near_sums(body: dict[str, Any], rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what the nearest stored rows pass on, weighted by their cosines, and which rows have a near one."""
    stored_rows = body["near"]["rows"].astype(np.float32)
    k, unit = min(body["near"]["n_neighbors"], len(stored_rows)), _unit(rows).astype(np.float32)
    spread, smooth = np.zeros((2, len(rows), body["n_classes"]))
    near = np.zeros(len(rows), dtype=bool)
    for part in np.array_split(np.arange(len(rows)), len(rows) // _CHUNK + 1):
        cosines = unit[part] @ stored_rows.T
        nearest = np.argpartition(-cosines, k - 1, axis=1)[:, :k]
        values = np.maximum(np.take_along_axis(cosines, nearest, axis=1), 0.0)
        spread[part] = np.einsum("rk,rkc->rc", values, body["spread"][nearest])
        smooth[part] = np.einsum("rk,rkc->rc", values, body["smooth"][nearest])
        near[part] = values.any(axis=1)
    return spread, smooth, near
