"""Models of the senses of one word."""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from handful.errors import DataError
from handful.persistence.schema import Maybe, Model, Names, Number, Plain, Record, Text, stored
from handful.registry import MethodSpec, get_method, register

_OTHERS = 200.0  # contexts that the mean over all words counts for; of 50 to 1,000, on CoarseWSD-20, seeds 0 to 2


Candidate = TypeVar("Candidate", bound=Hashable)


def pooled_choice(
    correct: Mapping[str, Mapping[Candidate, float]], n_contexts: Mapping[str, int]
) -> dict[str, Candidate]:
    """Choose one of several candidates for every word.

    With ten contexts, cross-validation of one word is mostly chance; that of all words together is not. A word with many
    contexts is decided by its own.

    Parameters
    ----------
    correct : mapping of str to mapping of candidate to float
        For each word and each candidate: contexts that it got right in cross-validation.
    n_contexts : mapping of str to int
        For each word: its contexts.

    Returns
    -------
    dict of str to candidate
        The one with the most correct contexts of the word, to which those of 200 contexts of an average word are added.
        Of equally good ones the first.

    Examples
    --------
    >>> few = {"bank": {1: 5, 3: 4}, "sea": {1: 2, 3: 8}}
    >>> pooled_choice(few, {"bank": 10, "sea": 10})
    {'bank': 3, 'sea': 3}
    >>> many = {"bank": {1: 500, 3: 400}, "sea": {1: 100, 3: 400}}
    >>> pooled_choice(many, {"bank": 1000, "sea": 500})
    {'bank': 1, 'sea': 3}
    """
    total = sum(n_contexts.values())
    mean: dict[Candidate, float] = defaultdict(float)
    for of_word in correct.values():
        for candidate, n in of_word.items():
            mean[candidate] += n / total

    def best(of_word: Mapping[Candidate, float]) -> Candidate:
        return max(of_word, key=lambda candidate: of_word[candidate] + _OTHERS * mean[candidate])

    return {word: best(of_word) for word, of_word in correct.items()}


def _kernel_pca(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
    from handful.neighbors.kernel_pca import KernelPCAClassifier

    return KernelPCAClassifier(**{name: value for name, value in params.items() if name != "margin"})


def _composite(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
    from handful.neighbors.kernel_pca import CompositeKernelPCA

    return CompositeKernelPCA(**params)


# The constants of these were chosen by five-fold cross-validation on the training part of Senseval-2, all words pooled.
def _linear_svm(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(C=1.0, random_state=0)


def _maximum_entropy(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=50.0, max_iter=1000)


def _naive_bayes(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
    from sklearn.naive_bayes import MultinomialNB

    return MultinomialNB(alpha=2.0)


def _most_frequent(n_features: int, seed: int, params: Mapping[str, Any]) -> Any:
    return None  # a word model without a classifier predicts its most frequent sense


_PAPER: dict[str, Any] = {"paper": "su2004", "unit_rows": True}
_UNLABELED: dict[str, Any] = {**_PAPER, "uses_unlabeled": True, "supervised_control": "kernel-pca", "cost": "slow"}
_PEER: dict[str, Any] = {"cost": "instant", "baseline": True}
_EMBEDDED: dict[str, Any] = {"cost": "quick", "views": ("vectors",)}
_METHODS: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "kernel-pca": ("Nearest contexts in the space of kernel PCA.", _kernel_pca, _PAPER),
    "semi-supervised-kernel-pca": (
        "Kernel PCA whose space is learned from unlabeled contexts too.",
        _kernel_pca,
        _UNLABELED,
    ),
    "composite-kernel-pca": (
        "Kernel PCA that uses its semi-supervised form where it is uncertain.",
        _composite,
        _UNLABELED,
    ),
    "embeddings": ("Linear SVM on the embedding of the words around (extra 'text').", _linear_svm, _EMBEDDED),
    "linear-svm": ("Linear SVM on the words around (scikit-learn).", _linear_svm, _PEER),
    "maximum-entropy": (
        "Logistic regression on the words around (scikit-learn).",
        _maximum_entropy,
        _PEER | {"cost": "quick"},
    ),
    "most-frequent": ("The most frequent sense of each word.", _most_frequent, _PEER),
    "naive-bayes": ("Naive Bayes on the words around (scikit-learn).", _naive_bayes, _PEER),
}
for _name, (_summary, _build, _fields) in _METHODS.items():
    register(MethodSpec(_name, "occurrences", summary=_summary, build=_build, **_fields))


def reads_embeddings(method: str) -> bool:
    """Tell whether a method gets embeddings of contexts instead of features."""
    return get_method(method, "occurrences").views == ("vectors",)


Features = Sequence[Mapping[str, float]] | np.ndarray
"""Features of contexts, or their embeddings as rows."""


def learn_names(labeled: Sequence[Mapping[str, float]], unlabeled: Sequence[Mapping[str, float]] = ()) -> list[str]:
    """Return the features worth a column, sorted: all of labeled contexts, and those that two unlabeled ones share.

    Examples
    --------
    >>> learn_names([{"a": 1.0}], [{"b": 1.0, "c": 1.0}, {"b": 1.0}])
    ['a', 'b']
    """
    counts = Counter(name for features in unlabeled for name in features)
    names = {name for features in labeled for name in features}
    return sorted(names | {name for name, count in counts.items() if count > 1})


def to_rows(features: Sequence[Mapping[str, float]], columns: Mapping[str, int], *, unit: bool) -> Any:
    """Turn features into a CSR matrix.

    Parameters
    ----------
    features : sequence of mappings
        Features of each context.
    columns : mapping of str to int
        Column of each feature; others are left out.
    unit : bool
        Whether to divide each row by its length, to which features without a column count as well: a context full of unknown
        words is far from everything.

    Returns
    -------
    csr_array
        One row for each context.

    Examples
    --------
    >>> to_rows([{"a": 3.0, "x": 4.0}], {"a": 0}, unit=True).toarray().tolist()
    [[0.6]]
    """
    indptr, indices, values = [0], [], []
    for named in features:
        length = sum(value * value for value in named.values()) ** 0.5 if unit else 1.0
        known = [name for name in named if name in columns]
        indices += [columns[name] for name in known]
        values += [named[name] / length for name in known]
        indptr.append(len(indices))
    arrays = np.array(values, dtype=np.float64), np.array(indices, dtype=np.int32), np.array(indptr, dtype=np.int32)
    rows = sparse.csr_array(arrays, shape=(len(features), len(columns)))
    rows.sort_indices()
    return rows


def settle_senses(answers: Sequence[Sequence[str]]) -> list[str]:
    """Choose one sense of each instance: of several correct ones the most frequent in the sample, then the first by name.

    Examples
    --------
    >>> settle_senses([("a",), ("P", "a"), ("P",), ("a",)])
    ['a', 'a', 'P', 'a']
    """
    counts = Counter(sense for senses in answers for sense in senses)
    return [min(senses, key=lambda sense: (-counts[sense], sense)) for senses in answers]


class WordModel:
    """Sense model of a single word, from features to senses.

    Parameters
    ----------
    method : str
        How senses are learned: a name of the catalogue, see `SenseClassifier`.
    settings : dict or None
        Parameters of the classifier behind it.

    Attributes
    ----------
    names_ : ndarray of str
        Feature of each column; none of embeddings.
    classifier_ : estimator or None
        None where the most frequent sense is the answer.
    most_frequent_ : str
        Most frequent sense in training.
    n_unlabeled_ : int
        Unlabeled contexts that took part.

    Examples
    --------
    >>> model = WordModel("naive-bayes").fit([{"bag bank": 1.0}, {"bag sea": 1.0}], ["money", "water"])
    >>> model.predict([{"bag sea": 1.0}]).tolist()
    ['water']
    """

    STATE = Record(
        stored(
            method=Text(),
            settings=Plain(),
            most_frequent_=Text(),
            n_unlabeled_=Number(int, low=0),
            names_=Names("d?", only_text=True),
            classifier_=Maybe(Model()),
        )
    )

    def __init__(self, method: str = "kernel-pca", settings: dict[str, Any] | None = None) -> None:
        self.method = method
        self.settings = settings

    def fit(self, labeled: Features, senses: Sequence[str], unlabeled: Sequence[Mapping[str, float]] = ()) -> WordModel:
        """Learn from the features of labeled contexts, and of unlabeled ones where the method takes them."""
        counts = Counter(senses)
        self.most_frequent_ = min(counts, key=lambda sense: (-counts[sense], sense))
        used = unlabeled if self._spec.uses_unlabeled else ()
        self.n_unlabeled_ = len(used)
        self.names_ = np.array([], dtype=np.str_)
        self.classifier_ = None if len(counts) == 1 else self._spec.make_estimator(0, params=self.settings)
        if self.classifier_ is not None:
            if not isinstance(labeled, np.ndarray):
                self.names_ = np.array(learn_names(labeled, used), dtype=np.str_)
            rows = self.rows([*labeled, *used] if len(used) else labeled)
            marks = np.array([*senses, *[None] * len(used)], dtype=object) if used else np.array(senses, dtype=np.str_)
            with warnings.catch_warnings():
                # A word may have as many senses as contexts; scikit-learn then suspects a regression problem.
                warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
                self.classifier_.fit(rows, marks)
        return self

    def predict(self, features: Features) -> np.ndarray:
        """Return the sense of each context."""
        if self.classifier_ is None:
            return np.full(len(features), self.most_frequent_)
        return np.asarray(self.classifier_.predict(self.rows(features)))

    @property
    def _spec(self) -> MethodSpec:
        return get_method(self.method, "occurrences")

    def rows(self, features: Features) -> Any:
        """Return features as rows of the classifier."""
        if isinstance(features, np.ndarray):
            return features
        columns = {name: i for i, name in enumerate(self.names_.tolist())}
        return to_rows(features, columns, unit=self._spec.unit_rows)

    def to_state(self) -> dict[str, Any]:
        """Return what a model file keeps."""
        return dict(vars(self))

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> WordModel:
        """Bring a model back from what `to_state` gave, refusing what no training could have left."""
        model = cls(state["method"], state["settings"])
        model.__dict__.update(state)
        width = 0 if reads_embeddings(model.method) else getattr(model.classifier_, "n_features_in_", 0)
        if model.names_.shape != (width,) or len(set(model.names_.tolist())) != width:
            raise DataError("WordModel: every column of the classifier must have a name.")
        return model
