"""Condensed features (Suzuki, Isozaki and Nagata 2011)."""

from __future__ import annotations

import copy
import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from handful.data.labels import codes_among
from handful.errors import DataError, ParameterError, Progress
from handful.kernels.hashing import merge_sums
from handful.linear.batch import log_loss, minimize
from handful.linear.multiclass import Multiclass
from handful.linear.online import OnlineRule, train_online
from handful.linear.recorder import Recorder
from handful.linear.structure import Tied, feature_counts
from handful.parallel import Engine
from handful.params import Count, check_params
from handful.persistence.model_file import Storable
from handful.persistence.schema import Record, stored
from handful.registry import method
from handful.representations.counts import (
    FeatureCounts,
    Preparing,
    Ready,
    ShardReading,
    count_features,
    expected_pieces,
    shards_of,
)
from handful.representations.potency import (
    Condensable,
    Discount,
    FeatureSpace,
    Resolution,
    Step,
    Tying,
    condense_levels,
    discounted,
    quantized,
)
from handful.representations.text_stream import Counting, count_blocks

_BATCH_ROWS = 1 << 13
_INTERCEPT = "(intercept)"


class FlatSpace:
    """Columns of a matrix with the labels of a linear classifier; see `handful.representations.potency`.

    Feature ``column * n_labels + label`` has the value of the column where the label is chosen.

    Parameters
    ----------
    model : fitted classifier
        With ``coef_``, ``intercept_`` and ``classes_``.

    Notes
    -----
    A classifier of two classes has one row of weights w; it is read as two, -w/2 and +w/2, which gives the same
    decisions. An intercept is the last column, always 1, of a separate type.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"])
    >>> space = FlatSpace(model)
    >>> chosen, basis = np.zeros(space.n_features), np.zeros(space.n_basis)
    >>> space.count(np.array([[2.0, 0.0]]), chosen, basis)
    1
    >>> chosen.tolist(), space.type_names
    ([2.0, 0.0, 0.0, 0.0, 1.0, 0.0], ['columns', '(intercept)'])
    """

    def __init__(self, model: Any) -> None:
        weights, intercept, self.classes = _outputs(model)
        self.model = model
        self.has_intercept = bool(getattr(model, "fit_intercept", bool(intercept.any())))
        self.n_columns = weights.shape[0]
        self.n_labels = len(self.classes)
        if self.has_intercept:
            weights = np.concatenate([weights, intercept[None, :]])
        self._weights = np.ascontiguousarray(weights).ravel()
        self.n_basis = len(weights)
        self.n_features = len(self._weights)
        self.type_names = ["columns", _INTERCEPT] if self.has_intercept else ["columns"]
        self._types = np.zeros(self.n_basis, dtype=np.int64)
        self._types[self.n_columns :] = 1
        described = self._weights.tobytes() + self._types.tobytes() + repr(self.classes.tolist()).encode()
        self.fingerprint = hashlib.sha256(described).hexdigest()

    def state(self) -> dict[str, Any]:
        """Return what a model file needs besides the base model."""
        return {}

    def batches(self, part: Any) -> Iterator[Any]:
        """Cut rows."""
        for start in range(0, part.shape[0], _BATCH_ROWS):
            yield part[start : start + _BATCH_ROWS]

    def count(self, inputs: Any, chosen: np.ndarray, basis: np.ndarray) -> int:
        """Count columns with the label that the model gives each row."""
        rows = Multiclass(self._rows(inputs), self.n_labels)
        chosen += feature_counts(rows, rows.argmax(self._weights))
        basis += np.bincount(rows.X.indices, weights=rows.X.data, minlength=self.n_basis)
        return int(rows.n_inputs)

    def even(self, basis: np.ndarray, start: int, stop: int) -> np.ndarray:
        """Return A: every label gets the same share of a column's sum."""
        return np.asarray(basis[np.arange(start, stop) // self.n_labels] / self.n_labels)

    def types(self, ids: np.ndarray) -> np.ndarray:
        """Return the type of each feature's column."""
        return np.asarray(self._types[ids // self.n_labels])

    def describe(self, ids: np.ndarray) -> list[tuple[str, tuple[str, ...]]]:
        """Return columns and labels in words."""
        columns, labels = np.divmod(ids, self.n_labels)
        return [(self._name(c), (str(self.classes[y]),)) for c, y in zip(columns.tolist(), labels, strict=True)]

    def seen(self, ids: np.ndarray, inputs: Any) -> np.ndarray:
        """Tell which columns are not empty."""
        filled = np.zeros(self.n_basis, dtype=bool)
        filled[self._rows(inputs).indices] = True
        return np.asarray(filled[ids // self.n_labels])

    def structure(self, ids: np.ndarray, inputs: Any) -> Multiclass:
        """Return the rows with some features alone."""
        return Multiclass(self._rows(inputs), self.n_labels, ids)

    def encode(self, inputs: Any, outputs: Any) -> np.ndarray:
        """Return labels as codes."""
        labels = np.asarray(outputs)
        codes = codes_among(labels, self.classes)
        if (codes < 0).any():
            odd = labels[codes < 0][0]
            raise DataError(f"CondensedFeatures: labels must be those of the base model, got {odd!r}.")
        return codes

    def base_weights(self, ids: np.ndarray) -> np.ndarray:
        """Return weights of the base model."""
        return np.asarray(self._weights[ids])

    def build(self, ids: np.ndarray, weights: np.ndarray) -> Any:
        """Return the base model with other weights."""
        folded = np.zeros(self.n_features)
        folded[ids] = weights
        table: np.ndarray = folded.reshape(self.n_basis, self.n_labels)
        model = copy.copy(self.model)
        if self.model.coef_.shape[0] == 1:
            table = table[:, 1:] - table[:, :1]
        model.coef_ = np.ascontiguousarray(table[: self.n_columns].T)
        model.intercept_ = table[-1].copy() if self.has_intercept else np.zeros(table.shape[1])
        return model

    def _name(self, column: int) -> str:
        if column == self.n_columns:
            return _INTERCEPT
        return f"column {column}"

    def _rows(self, inputs: Any) -> Any:
        rows = sparse.csr_array(inputs, dtype=np.float64)
        if rows.shape[1] != self.n_columns:
            raise DataError(f"CondensedFeatures: rows must have {self.n_columns} columns, got {rows.shape[1]}.")
        if len(rows.data) and not rows.data.min() >= 0.0:
            raise DataError(
                "CondensedFeatures: values must not be negative or missing, because potency counts them. Split columns "
                "into a positive and a negative part, as CondensedFeatureClassifier does."
            )
        if self.has_intercept:
            rows = sparse.hstack([rows, sparse.csr_array(np.ones((rows.shape[0], 1)))], format="csr")
        return rows


def _outputs(model: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return weights (n_columns, n_labels), intercepts and labels of a linear classifier."""
    if not hasattr(model, "coef_") or not hasattr(model, "classes_"):
        raise DataError(
            f"CondensedFeatures: base_model must be a fitted CRF, DependencyParser or linear classifier with coef_ and "
            f"classes_, got {type(model).__name__}. Fit it first."
        )
    weights = model.coef_.toarray() if sparse.issparse(model.coef_) else np.asarray(model.coef_, dtype=np.float64)
    classes = np.asarray(model.classes_)
    intercept = np.broadcast_to(np.asarray(getattr(model, "intercept_", 0.0), dtype=np.float64), (len(weights),))
    if len(classes) == 2 and len(weights) == 1:
        weights, intercept = np.concatenate([-weights, weights]) / 2, np.concatenate([-intercept, intercept]) / 2
    return weights.T, intercept, classes


_MAX_KEYS = 1 << 26


@runtime_checkable
class Keyed(Protocol):
    """A space of features that only outputs tell, such as those of arcs: the base model's outputs say what is frequent."""

    def keys_chosen(self, inputs: Any) -> np.ndarray:
        """Return the keys of all features of the base model's outputs, as often as they are there."""
        ...

    def with_keys(self, keys: np.ndarray) -> FeatureSpace:
        """Return the space with further features."""
        ...


def widen(
    space: FeatureSpace, shards: Iterable[Any], reading: ShardReading, min_count: int, counting: Counting
) -> FeatureSpace:
    """Add every feature that the base model's outputs have often enough in unlabeled text to a space that is `Keyed`.

    Parameters
    ----------
    space : FeatureSpace
        The space of the labeled data.
    shards : iterable
        The shards of the text.
    reading : ShardReading
        From a shard to sentences.
    min_count : int
        Least number of occurrences.
    counting : Counting
        Where it runs.

    Returns
    -------
    FeatureSpace
        The wider space. Beyond 64 million different features the rarest are given up.
    """
    if not isinstance(space, Keyed):
        raise ParameterError(f'{_WHO}: vocabulary="all" is for parsers, got another base model. Use "labeled".')
    name = f"keys {space.fingerprint} {reading.fingerprint}"
    keys, counts, _ = count_blocks(
        _Keys(space, reading), shards, max_keys=_MAX_KEYS, fingerprint=name, counting=counting
    )
    return space.with_keys(keys[counts >= min_count])


@dataclass(frozen=True, eq=False)
class _Keys:
    """Features of the outputs that the base model gives a shard."""

    space: Any
    reading: ShardReading

    def __call__(self, shard: Any) -> dict[str, np.ndarray]:
        keys, counts = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        for batch in self.space.batches(self.reading(shard)):
            keys, counts = merge_sums(keys, counts, *np.unique(self.space.keys_chosen(batch), return_counts=True))
        return {"keys": keys, "counts": counts}


_BLOCK = 1 << 16


class FeatureRecord(NamedTuple):
    """One original feature: what it is, its counts, and where it fell."""

    type: str
    name: str
    labels: tuple[str, ...]
    chosen: float
    even: float
    potency: float
    bin: int


_WHO = "CondensedFeatures"
_MAX_ITERATIONS, _MAX_PASSES = 1000, 15
# Condensed features depend on each other much; while they are few, remembering more steps costs nothing and saves many.
_FEW, _LONG_MEMORY, _MEMORY = 10_000, 50, 6
_FIRST_PHI = 0.1
_RARE = 0.01  # as much as this is what the unlabeled data lack


@method("condensed-features", paper="suzuki2011", task="model", uses_unlabeled=True)
class CondensedFeatures(Storable, BaseEstimator):  # type: ignore[misc]
    """Put the features of a linear model together by how its decisions on unlabeled data use them.

    Use it to make a tagger, a parser or a text classifier far smaller, and its weights better founded: features that
    the model chooses about as much more often (or less often) than chance share one weight.

    Parameters
    ----------
    base_model : fitted CRF, DependencyParser or linear classifier
        Any scikit-learn classifier with ``coef_`` and ``classes_`` will do; columns must not be negative.
    discount : float, default=1.0
        Features whose count differs from chance by no more than this are dropped.
    resolution : float, default=1.0
        Bins per unit of potency; more bins, more condensed features.
    vocabulary : {"labeled", "all"}, default="labeled"
        ``labeled`` knows the observations of the labeled data (pass them to `fit`). ``all``, for a parser, knows also
        those that the trees which it gives unlabeled text have at least `min_count` times; see Notes.
    min_count : int, default=5
        Cut-off for ``vocabulary="all"``.
    count_labeled : bool, default=False
        Count the labeled inputs as well.
    base_step : float or None, default=None
        Keep what the base model learned besides the potency: features share a weight only if their base weights, rounded
        to multiples of this, are equal too. See Notes.

    Attributes
    ----------
    n_condensed_ : int
        Condensed features, without phi.
    condensed_types_, condensed_bins_, condensed_levels_ : ndarray of int64, shape (n_condensed,)
        Type (an index into `type_names_`), bin, and base weight in steps of `base_step` (0 without it) of each.
    type_names_ : list of str
        Feature types.
    kept_ : ndarray of int64
        Original features that fell into a bin; with `base_step` also those with a base weight, in bin 0.
    members_ : ndarray of int64
        Condensed feature of each of them.
    potency_ : ndarray of float64, shape (n_features,)
        V' of every original feature; 0 for dropped ones. For a classifier, feature ``column * n_classes + label``; an
        intercept is one more column, of ones, with a separate type.
    bins_ : ndarray of int64, shape (n_features,)
        V* of every original feature; 0 for dropped ones.
    counts_ : FeatureCounts
        What was counted.

    Notes
    -----
    ========  ===================  =====================================================================
    symbol    here                 meaning
    ========  ===================  =====================================================================
    R, A      ``chosen, even``     count in the model's best outputs; count if outputs were picked evenly
    C         ``discount``         see above
    delta     ``resolution``       see above
    V', V*    ``potency_, bins_``  potency after the discount; its bin
    h_m       a (type, bin) pair   condensed feature: the sum of its members
    phi       one per type         sum of all condensed features times their bin / delta
    ========  ===================  =====================================================================

    Choices where the paper is silent: one phi per type, illegal label pairs are no parts, features without labels (bare
    label, label pair) are types like others, R + C is at least 1e-6. A CRF forgets observations of weight 0
    (many with an L1 penalty, some where constraints leave one label only); pass the labeled inputs to `fit`, so that they
    can gain potency too. Every observation counts with every label, whether or not training saw them together.

    With ``vocabulary="all"`` the text is read twice. The labeled features of a parser are those of right arcs, so that in
    training a right arc has all of its features in bins and a wrong one few: the bins may learn that to be known is to be
    right, which is not so in new text.

    Beyond the paper: with `base_step` a feature's weight is what its bin adds, plus its rounded base weight times a number
    that its type has instead of phi; `retrain` learns both, so that far fewer numbers are learned than there are
    condensed features. Base weights know the answers of the inputs that they were learned from. So train on others: fit a
    base model to a part of the labeled data, `retrain` on the rest, and `carry` what was learned over to the condensed
    features of a base model that has seen all.

    Cost: decoding of the unlabeled inputs. Memory of a worker: 8 bytes for each of the `n_features` features of the space
    (observations times labels, and times legal label pairs where templates ask for them), and one batch.

    References
    ----------
    Suzuki, J., Isozaki, H., Nagata, M. (2011). Learning condensed feature representations from large unsupervised data
    sets for supervised learning. ACL.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.array([[2.0, 0, 1], [1, 0, 0], [0, 3, 1], [0, 1, 0]]), ["a", "a", "b", "b"]
    >>> features = CondensedFeatures(LogisticRegression(fit_intercept=False).fit(X, y), discount=0.5).fit(X)
    >>> features.potency_.round(2).tolist(), features.bins_.tolist()
    ([0.51, -1.1, -1.39, 0.56, 0.0, 0.0], [1, -2, -2, 1, 0, 0])
    >>> model = features.retrain(X, y)
    >>> model.n_active_condensed_, model.predict([[1.0, 0.0, 3.0]]).tolist()
    (2, ['a'])
    """

    STATE = stored(counts_=Record(FeatureCounts.STATE))
    DROPPED: ClassVar[dict[str, Any]] = {"global_phi": False, "types": None, "decisions": "best"}

    def __init__(
        self,
        base_model: Any,
        discount: Discount = 1.0,
        resolution: Resolution = 1.0,
        *,
        vocabulary: Literal["labeled", "all"] = "labeled",
        min_count: Count = 5,
        count_labeled: bool = False,
        base_step: Step | None = None,
    ) -> None:
        self.base_model = base_model
        self.discount = discount
        self.resolution = resolution
        self.vocabulary = vocabulary
        self.min_count = min_count
        self.count_labeled = count_labeled
        self.base_step = base_step

    def fit(
        self,
        unlabeled: Any,
        y: Any = None,
        *,
        labeled: Any = None,
        prepare: Preparing | None = None,
        n_jobs: int | None = None,
        engine: Engine = None,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Count features over unlabeled inputs and put them into bins.

        Parameters
        ----------
        unlabeled : list of sentences, path or list of paths of text files, or matrix
            Files hold one sentence a line, tokens between spaces; gzip, bzip2 and xz are read. They are read as a
            stream.
        y : None
            Not used.
        labeled : sequence, optional
            Inputs of the labeled data; their observations join the vocabulary.
        prepare : callable or list of callables, optional
            Applied, one after the other, to lists of unlabeled sentences as they are read, for example to add a column
            (`handful.tagging.TagColumn`). With several processes it must be picklable.
        n_jobs, engine, checkpoint, progress
            See `handful.parallel.map_parts`.

        Returns
        -------
        CondensedFeatures
            Itself.
        """
        check_params(self)
        if self.count_labeled and labeled is None:
            raise ParameterError(f"{_WHO}: count_labeled=True needs the labeled inputs. Pass labeled=... to fit.")
        reading = ShardReading(prepare)
        with Counting(n_jobs, engine, checkpoint, progress).opened() as counting:
            space = self._new_space(labeled)
            if self.vocabulary == "all":
                if isinstance(unlabeled, Iterator):
                    raise DataError(
                        f'{_WHO}: vocabulary="all" reads the text several times, got an iterator. Pass a list.'
                    )
                space = widen(space, self._shards(unlabeled, labeled), reading, self.min_count, counting)
            shards, expected = self._shards(unlabeled, labeled), _expected(unlabeled, progress)
            counts = count_features(space, shards, reading, counting, expected=expected)
        if counts.size == 0:
            raise DataError(f"{_WHO}: there must be unlabeled inputs, got none.")
        return self._bin(space, counts)

    def extend(
        self,
        unlabeled: Any,
        *,
        prepare: Preparing | None = None,
        n_jobs: int | None = None,
        engine: Engine = None,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Count more unlabeled inputs and bin again.

        Parameters
        ----------
        unlabeled, prepare, n_jobs, engine, checkpoint, progress
            See `fit`. The vocabulary stays as it is; pieces of files that have been counted before are left out.

        Returns
        -------
        CondensedFeatures
            Itself, as if both had been counted at once with this vocabulary.
        """
        check_is_fitted(self, "counts_")
        with Counting(n_jobs, engine, checkpoint, progress).opened() as counting:
            shards = shards_of(unlabeled, _WHO)
            expected = _expected(unlabeled, progress)
            reading = ShardReading(prepare)
            counts = count_features(self._space, shards, reading, counting, self.counts_, expected=expected)
        return self._bin(self._space, counts)

    def save_counts(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to a file for `fit_counts`.

        Parameters
        ----------
        path : path-like
            Where to write.
        """
        check_is_fitted(self, "counts_")
        self.counts_.save(path)

    def fit_counts(self, paths: Any) -> Self:
        """Take counts from files instead of counting, and put features into bins.

        Parameters
        ----------
        paths : path-like, FeatureCounts, or list of them
            Files that `save_counts` wrote, or such counts, with this base model and one vocabulary; they are added.

        Returns
        -------
        CondensedFeatures
            Itself.
        """
        check_params(self)
        several = [paths] if isinstance(paths, str | os.PathLike | FeatureCounts) else list(paths)
        if not several:
            raise ParameterError(f"{_WHO}: at least one file of counts must be given, got none.")
        read = [path if isinstance(path, FeatureCounts) else FeatureCounts.load(path) for path in several]
        counts = reduce(FeatureCounts.plus, read)
        return self._bin(self._stored_space(counts), counts)

    def rebin(
        self, *, discount: float | None = None, resolution: float | None = None, base_step: float | None = None
    ) -> CondensedFeatures:
        """Return condensed features of the same counts with another discount, resolution or step.

        Parameters
        ----------
        discount, resolution, base_step : float, optional
            New values; a `base_step` of 0 is none.

        Returns
        -------
        CondensedFeatures
            New, with the counts in common.
        """
        check_is_fitted(self, "counts_")
        other = CondensedFeatures(**self.get_params(deep=False))
        other.discount = self.discount if discount is None else discount
        other.resolution = self.resolution if resolution is None else resolution
        other.base_step = self.base_step if base_step is None else base_step or None
        check_params(other)
        return other._bin(self._space, self.counts_)

    def features(self, ids: Iterable[int] | None = None) -> Iterator[FeatureRecord]:
        """Tell about original features, one at a time.

        Parameters
        ----------
        ids : iterable of int, optional
            Which; by default all that fell into a bin.

        Yields
        ------
        FeatureRecord
            Type, name, labels, R, A, potency and bin.
        """
        check_is_fitted(self, "counts_")
        wanted = self.kept_ if ids is None else np.asarray(list(ids), dtype=np.int64)
        for start in range(0, len(wanted), _BLOCK):
            yield from self._records(wanted[start : start + _BLOCK])

    def top(self, type: str, n: int = 10, *, lowest: bool = False) -> list[FeatureRecord]:
        """Return the features of a type with the biggest potency.

        Parameters
        ----------
        type : str
            One of `type_names_`.
        n : int
            How many.
        lowest : bool
            The most negative ones instead.

        Returns
        -------
        list of FeatureRecord
            Biggest first.
        """
        number = self._type(type)
        ids = self.kept_[self.condensed_types_[self.members_] == number]
        potency = discounted(*self.counts_.of(self._space, ids), self.discount)
        order = np.argsort(potency if lowest else -potency, kind="stable")[:n]
        return [next(iter(self._records(ids[k : k + 1]))) for k in order]

    def _records(self, ids: np.ndarray) -> list[FeatureRecord]:
        order = np.argsort(ids, kind="stable")
        rising = ids[order]
        chosen, even = self.counts_.of(self._space, rising)
        potency = discounted(chosen, even, self.discount)
        bins, types = quantized(potency, self.resolution), self._space.types(rising)
        words = self._space.describe(rising)
        records = [
            FeatureRecord(self.type_names_[t], *word, *figures)
            for t, word, *figures in zip(
                types.tolist(), words, chosen.tolist(), even.tolist(), potency.tolist(), bins.tolist(), strict=True
            )
        ]
        back = np.empty(len(ids), dtype=np.int64)
        back[order] = np.arange(len(ids))
        return [records[k] for k in back]

    def _type(self, name: str) -> int:
        check_is_fitted(self, "counts_")
        if name not in self.type_names_:
            known = ", ".join(map(repr, self.type_names_[:20]))
            raise ParameterError(f"CondensedFeatures: type must be one of {known}, got {name!r}.")
        return self.type_names_.index(name)

    @property
    def potency_(self) -> np.ndarray:
        """V' of every original feature."""
        check_is_fitted(self, "counts_")
        blocks = [discounted(chosen, even, self.discount) for _, chosen, even in self.counts_.blocks(self._space)]
        return np.concatenate([np.empty(0), *blocks])

    @property
    def bins_(self) -> np.ndarray:
        """V* of every original feature."""
        check_is_fitted(self, "counts_")
        bins = np.zeros(self._space.n_features, dtype=np.int64)
        bins[self.kept_] = self.condensed_bins_[self.members_]
        return bins

    def transform(self, inputs: Any, outputs: Any = None) -> sparse.csr_array:
        """Return the condensed features of inputs together with outputs.

        Parameters
        ----------
        inputs : sequence or matrix
            Inputs as the base model takes them.
        outputs : sequence, optional
            Their outputs; what the base model predicts by default.

        Returns
        -------
        csr_array of shape (n_inputs, n_condensed + n_phi)
            How much of each condensed feature there is; the phi features stand last. With `base_step`: how much there is
            of each pair of type and bin, and the rounded base weights summed by type.
        """
        check_is_fitted(self, "counts_")
        outputs = self._space.encode(inputs, self.base_model.predict(inputs) if outputs is None else outputs)
        steps = Tied(self._space.structure(self.kept_, inputs), self._tying.ties(self.members_))
        parts = [steps.joint_features_at(number, steps.take(number, outputs)) for number in range(steps.n_inputs)]
        rows = np.repeat(np.arange(len(parts)), [len(ids) for ids, _ in parts])
        ids = np.concatenate([np.empty(0, dtype=np.int64), *(ids for ids, _ in parts)])
        values = np.concatenate([np.empty(0), *(values for _, values in parts)])
        return sparse.csr_array((values, (rows, ids)), shape=(len(parts), steps.n_features))

    def retrain(
        self,
        inputs: Any,
        outputs: Any,
        *,
        penalty: Literal["l2", "l1"] = "l2",
        strength: float = 1.0,
        algorithm: Literal["lbfgs", "pa", "fobos"] = "lbfgs",
        max_iter: int | None = None,
        rate: float = 0.1,
        phi_scale: float = 1.0,
        start: Literal["zero", "potency", "base"] | None = None,
        tol: float = 1e-5,
        random_state: int = 0,
        progress: Progress | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Any:
        """Train on labeled data with the condensed features instead of the original ones.

        Parameters
        ----------
        inputs, outputs : sequence
            The labeled data, as the base model's ``fit`` takes them.
        penalty, strength, algorithm, max_iter, tol, random_state
            As for `handful.tagging.CRF`; strengths speak of the weights of condensed features.
        rate : float
            Step size of ``fobos`` in its first pass.
        phi_scale : float
            Online learners see phi (with `base_step`: the base weights) times this. All features of a type share its phi,
            so that steps that are right for the others may be far too long for phi; 0.1 makes its steps a hundredth. With
            0 there is no phi, so that an L1 penalty can set condensed features to 0, which phi would keep alive.
        start : {"zero", "potency", "base"} or None
            First weights, which saves iterations: ``potency`` starts with 0.1 for every phi, good where bins are few,
            ``base`` with the mean weight that the base model gives the members of a bin, good where they are many. With
            `base_step`, ``base`` are the rounded base weights. None is ``zero``, with `base_step` ``base``.
        progress, checkpoint
            As for `handful.tagging.CRF.fit`.

        Returns
        -------
        model
            Of the base model's kind, on original features with folded weights ``w'_m = w_m + w_phi u_m / delta``. Its
            `condensed_weights_` are the w' of all condensed features, its `n_active_condensed_` is how many are not 0. With
            `base_step`, its `tied_weights_` are what was learned: one number per pair of type and bin, one per type.
        """
        check_is_fitted(self, "counts_")
        if not (strength > 0.0 and rate > 0.0 and phi_scale >= 0.0):
            values = f"strength {strength}, rate {rate}, phi_scale {phi_scale}"
            raise ParameterError(f"{_WHO}: strength and rate must be above 0, phi_scale not below 0, got {values}.")
        space, codes = self._space, self._space.encode(inputs, outputs)
        seen = np.flatnonzero(space.seen(self.kept_, inputs))
        ids, ties = self.kept_[seen], self._tying.ties(self.members_[seen])
        start = start or ("zero" if self.base_step is None else "base")
        first = self._first_weights(start)
        problem = f"{self._fingerprint()} {start}"
        if algorithm == "lbfgs":
            objective = log_loss(Tied(space.structure(ids, inputs), ties), codes)
            l1, l2 = (strength, 0.0) if penalty == "l1" else (0.0, strength)
            memory = _LONG_MEMORY if ties.n_tied <= _FEW else _MEMORY
            limit = max_iter or _MAX_ITERATIONS
            recorder = Recorder(progress, checkpoint, problem)
            fitted = minimize(objective, first, l1=l1, l2=l2, tol=tol, memory=memory, max_iter=limit, recorder=recorder)
            weights, n_iter = fitted.weights, fitted.n_iter
        else:
            scaled = replace(ties, value=ties.value * phi_scale)
            first[self._tying.n_pairs :] /= phi_scale or 1.0
            learned = train_online(
                Tied(space.structure(ids, inputs), scaled),
                codes,
                OnlineRule(algorithm, 1.0 / strength, l1=strength, rate=rate),
                max_passes=max_iter or _MAX_PASSES,
                seed=random_state,
                start=first,
                recorder=Recorder(progress, checkpoint, f"{problem} {phi_scale!r}"),
            )
            weights, n_iter = learned.weights, learned.n_passes
            weights[self._tying.n_pairs :] *= phi_scale
        model = self.fold(weights)
        model.n_iter_ = n_iter
        return model

    def fold(self, weights: np.ndarray) -> Any:
        """Return a model of the base model's kind from weights of condensed features.

        Parameters
        ----------
        weights : ndarray of float64
            One weight for each column of `transform`; with `base_step` the last ones are 1 where the base model is trusted
            as it is.

        Returns
        -------
        model
            See `retrain`.
        """
        check_is_fitted(self, "counts_")
        weights = np.asarray(weights, dtype=np.float64)
        if weights.shape != (self._tying.n_tied,) or not np.isfinite(weights).all():
            raise ParameterError(
                f"{_WHO}: weights must be {self._tying.n_tied:,} finite numbers, one per column of transform, "
                f"got an array of shape {weights.shape}."
            )
        model = self._built(self._tying.fold(weights))
        if self.base_step is not None:
            model.tied_weights_ = weights
        return model

    def carry(self, model: Any, features: CondensedFeatures) -> Any:
        """Return a model with the weights that another one has for the same types and potencies.

        What a bin is worth does not depend on which features fell into it. Where the labeled inputs are counted, a
        rare feature owes its potency to its own label, and training on the same inputs trusts it too much. So learn the
        weights from inputs that neither the base model nor the counts have seen, and carry them over to the features
        that have seen all.

        Parameters
        ----------
        model : model
            What `retrain` of `features` returned.
        features : CondensedFeatures
            With the same types; both with `base_step` or both without it.

        Returns
        -------
        model
            See `retrain`. A bin that `features` lack lies on the line between its neighbors of the same type, or takes
            the weight of the last one.
        """
        check_is_fitted(self, "counts_")
        if not isinstance(features, CondensedFeatures):
            raise ParameterError(f"{_WHO}: features must be CondensedFeatures, got {type(features).__name__}.")
        check_is_fitted(features, "counts_")
        if features.type_names_ != self.type_names_:
            raise ParameterError(f"{_WHO}: weights can be carried between features of the same types, got other types.")
        kept = [("with" if each.base_step else "without") + " base_step" for each in (features, self)]
        if kept[0] != kept[1]:
            raise ParameterError(f"{_WHO}: weights learned {kept[0]} cannot be carried to features {kept[1]}.")
        wanted = features.n_condensed_ if self.base_step is None else features._tying.n_tied
        name = "condensed_weights_" if self.base_step is None else "tied_weights_"
        if len(getattr(model, name, ())) != wanted or len(model.condensed_weights_) != features.n_condensed_:
            raise ParameterError(f"{_WHO}: model must be what retrain of these features returned, got another model.")
        firsts = features._tying.condensed.firsts
        learned = model.condensed_weights_ if self.base_step is None else model.tied_weights_[: len(firsts)]
        folded = np.zeros(self.n_condensed_)
        for number in np.unique(features.condensed_types_):
            own, theirs = self.condensed_types_ == number, features.condensed_types_[firsts] == number
            potency = features.condensed_bins_[firsts][theirs] / features.resolution
            folded[own] = np.interp(self.condensed_bins_[own] / self.resolution, potency, learned[theirs])
        if self.base_step is None:
            return self._built(folded)
        return self._built(folded + self._tying.shares(model.tied_weights_[len(firsts) :]))

    def damped(self, model: Any, share: float) -> Any:
        """Return a model that has gone only a part of the way from the base model to another one.

        Parameters
        ----------
        model : model
            What `retrain` or `fold` of these features returned; they must have a `base_step`.
        share : float
            The part of the way: 0 is the base model with rounded weights, 1 the other model.

        Returns
        -------
        model
            See `retrain`.
        """
        if self.base_step is None:
            raise ParameterError(f"{_WHO}: damped needs a base_step, got none.")
        first = self._first_weights("base")
        return self.fold(first + share * (model.tied_weights_ - first))

    def without_small(self, model: Any, drop: float) -> Any:
        """Return a model without the features whose weight is nearer to 0 than `drop`.

        Parameters
        ----------
        model : model
            What `retrain`, `fold` or `carry` of these features returned.
        drop : float
            Least weight that is kept.

        Returns
        -------
        model
            See `retrain`.
        """
        folded = model.condensed_weights_
        return self._built(np.where(np.abs(folded) < drop, 0.0, folded))

    def thinned(self, model: Any, drop: float, step: float) -> Any:
        """Return a model without light and rare features, whose weights are rounded.

        Parameters
        ----------
        model : model
            What `retrain`, `fold` or `carry` of these features returned.
        drop : float
            Least importance that is kept, in parts of the root mean square of all. The importance of a feature is its weight
            times the fourth root of how much of it chance would give in the unlabeled data: what is hardly there can
            hardly be missed.
        step : float
            Weights are rounded to multiples of this, in parts of their root mean square; 0 leaves them as they are.

        Returns
        -------
        model
            Of the base model's kind. It has fewer features, not only fewer weights, and so a smaller file.
        """
        weights = model.condensed_weights_[self.members_]
        _, even = self.counts_.of(self._space, self.kept_)
        importance = np.abs(weights) * (even + _RARE) ** 0.25
        if step > 0.0:
            unit = step * _usual(weights)
            weights = np.round(weights / unit) * unit if unit > 0.0 else weights
        left = (weights != 0.0) & (importance >= drop * _usual(importance))
        thin = self._space.build(self.kept_[left], weights[left])
        thin.n_active_condensed_ = len(np.unique(self.members_[left]))
        return thin

    def _first_weights(self, start: str) -> np.ndarray:
        weights, n = np.zeros(self._tying.n_tied), self._tying.n_pairs
        if start == "potency":
            if self.base_step is not None:
                raise ParameterError(f'{_WHO}: start must be "base" or "zero" with base_step, got "potency".')
            weights[n:] = _FIRST_PHI
        elif start == "base" and self.base_step is not None:
            weights[n:] = 1.0
        elif start == "base":
            # how often a feature can be there at all tells how much its weight matters
            _, even = self.counts_.of(self._space, self.kept_)
            sums = np.bincount(self.members_, weights=even * self._space.base_weights(self.kept_), minlength=n)
            weights[:n] = sums / np.bincount(self.members_, weights=even, minlength=n)
        return weights

    def _built(self, folded: np.ndarray) -> Any:
        original = folded[self.members_]
        active = original != 0.0
        model = self._space.build(self.kept_[active], original[active])
        model.n_active_condensed_ = int(np.count_nonzero(folded))
        model.condensed_weights_ = folded
        return model

    def _new_space(self, labeled: Any) -> FeatureSpace:
        if isinstance(self.base_model, Condensable):
            return self.base_model.feature_space(labeled)
        return FlatSpace(self.base_model)

    def _stored_space(self, counts: FeatureCounts) -> FeatureSpace:
        space: FeatureSpace | None
        try:
            if isinstance(self.base_model, Condensable):
                space = self.base_model.stored_space(counts.space)
            else:
                space = FlatSpace(self.base_model)
        except (DataError, AttributeError, LookupError, TypeError, ValueError):
            # What a space stores makes sense to its own base model alone.
            space = None
        if space is None or space.fingerprint != counts.fingerprint or space.n_basis != len(counts.basis):
            raise DataError(f"{_WHO}: the counts must be of this base model, got those of another. Count again.")
        if len(counts.chosen_ids) and counts.chosen_ids[-1] >= space.n_features:
            raise DataError(f"{_WHO}: the stored counts are damaged.")
        return space

    def _shards(self, unlabeled: Any, labeled: Any) -> Iterator[Any]:
        own: Sequence[Any] = [Ready(labeled)] if self.count_labeled else []
        return chain(shards_of(unlabeled, _WHO), own)

    def _bin(self, space: FeatureSpace, counts: FeatureCounts) -> Self:
        kept, bins, levels = ([np.empty(0, dtype=np.int64)] for _ in range(3))
        steps = np.zeros(0)
        if self.base_step is not None:
            steps = np.rint(space.base_weights(np.arange(space.n_features)) / self.base_step)
        for start, chosen, even in counts.blocks(space):
            potency = discounted(chosen, even, self.discount)
            level = np.zeros(len(potency), dtype=np.int64)
            if self.base_step is not None:
                level = steps[start : start + len(potency)].astype(np.int64)
            telling = np.flatnonzero((potency != 0.0) | (level != 0))
            kept.append(start + telling)
            bins.append(quantized(potency[telling], self.resolution))
            levels.append(level[telling])
        self._space, self.counts_ = space, counts
        self.kept_ = np.concatenate(kept)
        condensed = condense_levels(space.types(self.kept_), np.concatenate(bins), np.concatenate(levels))
        self.condensed_types_, self.condensed_bins_, self.condensed_levels_ = (
            condensed.types,
            condensed.bins,
            condensed.levels,
        )
        self.members_ = condensed.member_of
        self.n_condensed_ = len(condensed)
        self.type_names_ = list(space.type_names)
        amounts = condensed.bins / self.resolution if self.base_step is None else condensed.levels * self.base_step
        self._tying = Tying(condensed, amounts, len(self.type_names_))
        return self

    def _fingerprint(self) -> str:
        settings = self.discount, self.resolution, self.base_step
        return " ".join([self.counts_.fingerprint, str(self.counts_.size), *map(repr, settings)])

    def _state(self) -> dict[str, Any]:
        params: dict[str, Any] = self.get_params(deep=False)
        return params | {"counts_": self.counts_._state()}

    def _check_state(self) -> None:
        counts = FeatureCounts._from_state(self.counts_)  # type: ignore[arg-type]
        self._bin(self._stored_space(counts), counts)


def _usual(values: np.ndarray) -> float:
    """Return the root mean square of values that are not 0."""
    return float(np.sqrt((values[values != 0.0] ** 2).mean())) if values.any() else 0.0


def _expected(unlabeled: Any, progress: Progress | None) -> int | None:
    return None if progress is None else expected_pieces(unlabeled)
